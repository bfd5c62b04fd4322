"""What a machine has that was minimal until script/bootstrap ran: from dpkg's records.

Whatever else happens to be installed does not count. All of it is read from dpkg: neither the
network nor apt's lists are needed.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess

# Used where they are installed, and not needed: nobody may rely on them.
OPTIONAL = re.compile(r"ccache|sudo|valkey-server|clang\+\+(-\d+)?")

PROGRAM_DIRECTORIES = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
ALTERNATIVES = "/etc/alternatives/"

Package = collections.namedtuple("Package", "name given provides needs")


class Unknown(Exception):
    """Nothing can be said about this machine; the text tells why."""


def is_here():
    return shutil.which("dpkg-query") is not None


def wanted(root):
    """What script/bootstrap of the tree `root` installs."""
    command = [str(pathlib.Path(root) / "script/bootstrap"), "--list"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def ask(*arguments):
    answer = subprocess.run(["dpkg-query", *arguments], capture_output=True, text=True, check=False)
    return answer.stdout


def installed():
    """Every installed package by its name."""
    fields = "${db:Status-Status}\t${Package}\t${Essential}\t${Priority}\t${Provides}\t"
    found = {}
    for line in ask("-W", "-f", fields + "${Pre-Depends}, ${Depends}\n").splitlines():
        status, name, essential, priority, provides, needs = line.split("\t")
        if status == "installed":
            given = essential == "yes" or priority == "required"
            found[name] = Package(name, given, _names(provides), _alternatives(needs))
    return found


def _names(field):
    """The names of "a (>= 1), b:any"."""
    return [re.split(r"[\s(:]", item.strip())[0] for item in field.split(",") if item.strip()]


def _alternatives(field):
    """For "a, b | c": [["a"], ["b", "c"]]."""
    return [_names(item.replace("|", ",")) for item in field.split(",") if item.strip()]


def closure(packages, wanted):
    """Those of `packages` that a minimal machine has after `wanted` were installed: their names.

    Of alternatives the first counts, as apt takes it: another that is here need not be there. A
    name that several packages provide counts only through one that is needed anyway; where none
    is, through all that are here.
    """
    chosen, open_choices = set(), []
    waiting = [package.name for package in packages.values() if package.given] + list(wanted)
    while waiting or open_choices:
        if not waiting:
            waiting = _providers(packages, chosen, open_choices.pop())
            continue
        name = waiting.pop()
        if name in chosen or name not in packages:
            continue
        chosen.add(name)
        for alternatives in packages[name].needs:
            first = alternatives[0]
            (waiting if first in packages else open_choices).append(first)
    return chosen


def _providers(packages, chosen, name):
    able = [package.name for package in packages.values() if name in package.provides]
    return [] if chosen & set(able) else able


def normal(path):
    """`path` without links and ".." among its directories; a link at its end stays."""
    head, tail = os.path.split(path)
    return os.path.join(os.path.realpath(head), tail)


class Machine:
    """REQUIRES: is_here(). Raises Unknown if a package of `wanted` is not installed."""

    def __init__(self, wanted):
        packages = installed()
        absent = [name for name in wanted if name not in packages]
        if absent:
            raise Unknown(f"script/bootstrap names {' '.join(absent)}, not installed here: run it")
        directories = {}
        self.files = set()
        for path in ask("-L", *sorted(closure(packages, wanted))).splitlines():
            if path.startswith("/"):
                head, tail = os.path.split(path)
                if head not in directories:
                    directories[head] = os.path.realpath(head)
                self.files.add(os.path.join(directories[head], tail))

    def has(self, path):
        """Whether `path`, and each file that it leads to, would be there."""
        path = normal(path)
        while path in self.files or _is_alternative(path):
            if not os.path.islink(path):
                return path in self.files
            path = normal(os.path.join(os.path.dirname(path), os.readlink(path)))
        return False

    def has_program(self, name):
        return any(self.has(path) for path in _places(name, PROGRAM_DIRECTORIES))

    def stray_programs(self, search_path):
        """Programs in `search_path` that would not be there: a path for each name."""
        found = {}
        for directory in search_path:
            for path in pathlib.Path(directory).glob("*"):
                if path.name not in found and os.access(path, os.X_OK) and path.is_file():
                    found[path.name] = str(path)
        return {name: path for name, path in found.items()
                if not OPTIONAL.fullmatch(name) and not self.has_program(name)}


def _places(name, directories):
    places = (f"{directory}/{name}" for directory in directories)
    return [place for place in places if os.path.lexists(place)]


def _is_alternative(path):
    """Links of update-alternatives belong to no package; what they lead to does."""
    return os.path.islink(path) and (
        path.startswith(ALTERNATIVES) or os.readlink(path).startswith(ALTERNATIVES))


def owners(paths):
    """For each path the package that has it, as text; "no package" if none has."""
    wanted = {path: {normal(path), os.path.realpath(path)} for path in paths}
    # Packages from before /bin and /usr/bin became one say /bin.
    names = {name for several in wanted.values() for name in several}
    said = ask("-S", *sorted(names | {name.removeprefix("/usr") for name in names})) if names else ""
    having = collections.defaultdict(set)
    for line in said.splitlines():
        packages, _, path = line.rpartition(": ")
        having[normal(path)].update(_names(packages))
    return {path: " and ".join(sorted(set().union(*(having[name] for name in several)))) or "no package"
            for path, several in wanted.items()}
