"""Builds a small program in another language, and what it needs from its package registry.

A driver is a directory with the manifest of its language; it is built below `work`, so that the
source tree stays clean. What is missing raises Missing, what is broken Broken: both say what.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys

from . import children

BUILD_BOUND = 600  # seconds


class Missing(Exception):
    """The toolchain is not installed: the driver is skipped."""


class Broken(Exception):
    """The toolchain is there, but the driver could not be built."""


def build(source, work, program, report=lambda text: None):
    """Returns the command that runs `program` (a name without its suffix) of the driver.
    report(text) is told what will take a while."""
    source, place = pathlib.Path(source), pathlib.Path(work) / pathlib.Path(source).name
    manifest = next(name for name in WAYS if (source / name).exists())
    prepare, command = WAYS[manifest]
    mark, contents = place / "built", _digest(source)
    if not mark.exists() or mark.read_text() != contents:
        report(f"building {place}")
        shutil.copytree(source, place, dirs_exist_ok=True)
        prepare(place, program)
        mark.write_text(contents)
    return command(place, program)


def _digest(source):
    """Of every file: what was built from the same need not be built again."""
    total = hashlib.sha256()
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        total.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def _prepare_python(place, program):
    python = place / "venv" / "bin" / "python"
    if not python.exists():
        _run([sys.executable, "-m", "venv", "venv"], place)
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
          "requirements.txt"], place)


def _prepare_node(place, program):
    _need("node", "npm")
    _run(["npm", "install", "--silent", "--no-audit", "--no-fund"], place)


def _prepare_go(place, program):
    _need("go")
    _run(["go", "build", "-o", program, "."], place)


def _prepare_maven(place, program):
    _need("java", "mvn")
    _run(["mvn", "--quiet", "--batch-mode", "package"], place)


WAYS = {  # how it is built, and how it is run
    "requirements.txt": (_prepare_python, lambda place, program: [
        str(place / "venv" / "bin" / "python"), str(place / f"{program}.py")]),
    "package.json": (_prepare_node, lambda place, program: [
        "node", str(place / f"{program}.js")]),
    "go.mod": (_prepare_go, lambda place, program: [str(place / program)]),
    "pom.xml": (_prepare_maven, lambda place, program: [
        "java", "-jar", str(place / "target" / f"{program}.jar")]),
}


def _need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def _run(command, place):
    try:
        code, said = children.finish([str(word) for word in command], BUILD_BOUND, cwd=place)
    except subprocess.TimeoutExpired:
        raise Broken(f"`{_words(command)}` did not end in {BUILD_BOUND} s") from None
    if code != 0:
        raise Broken(f"`{_words(command)}` failed:\n    " + "\n    ".join(_complaint(said)))


def _complaint(said):
    """Maven's reason stands first among its errors, that of the others last of all."""
    lines = said.strip().splitlines()
    errors = [line for line in lines if line.startswith("[ERROR]")]
    return errors[:4] or lines[-8:]


def _words(command):
    return " ".join(pathlib.Path(str(word)).name for word in command[:4])
