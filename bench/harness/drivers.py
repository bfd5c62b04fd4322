"""Builds a small program in another language, and what it needs from its package registry.

A driver is a directory with the manifest of its language; it is built below `work`, so that the
source tree stays clean. What is missing raises Missing, what is broken Broken: both say what.
"""
import pathlib
import shutil
import subprocess
import sys

BUILD_BOUND = 600  # seconds


class Missing(Exception):
    """The toolchain is not installed: the driver is skipped."""


class Broken(Exception):
    """The toolchain is there, but the driver could not be built."""


def build(source, work, program):
    """Returns the command that runs `program` (a name without its suffix) of the driver."""
    source, place = pathlib.Path(source), pathlib.Path(work) / pathlib.Path(source).name
    for manifest, way in WAYS.items():
        if (source / manifest).exists():
            shutil.copytree(source, place, dirs_exist_ok=True)
            return way(place, program)
    raise Broken(f"{source} has no manifest")


def _python(place, program):
    python = place / "venv" / "bin" / "python"
    if not python.exists():
        _run([sys.executable, "-m", "venv", "venv"], place)
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
          "requirements.txt"], place)
    return [str(python), str(place / f"{program}.py")]


def _node(place, program):
    _need("node", "npm")
    _run(["npm", "install", "--silent", "--no-audit", "--no-fund"], place)
    return ["node", str(place / f"{program}.js")]


def _go(place, program):
    _need("go")
    _run(["go", "build", "-o", program, "."], place)
    return [str(place / program)]


def _maven(place, program):
    _need("java", "mvn")
    _run(["mvn", "--quiet", "--batch-mode", "package"], place)
    return ["java", "-jar", str(place / "target" / f"{program}.jar")]


WAYS = {"requirements.txt": _python, "package.json": _node, "go.mod": _go, "pom.xml": _maven}


def _need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def _run(command, place):
    try:
        done = subprocess.run([str(word) for word in command], cwd=place, capture_output=True,
                              text=True, timeout=BUILD_BOUND, check=False)
    except subprocess.TimeoutExpired:
        raise Broken(f"`{_words(command)}` did not end in {BUILD_BOUND} s") from None
    if done.returncode != 0:
        raise Broken(f"`{_words(command)}` failed:\n    " + "\n    ".join(_complaint(done)))


def _complaint(done):
    """Maven's reason stands first among its errors, that of the others last of all."""
    said = (done.stderr + done.stdout).strip().splitlines()
    errors = [line for line in said if line.startswith("[ERROR]")]
    return errors[:4] or said[-8:]


def _words(command):
    return " ".join(pathlib.Path(str(word)).name for word in command[:4])
