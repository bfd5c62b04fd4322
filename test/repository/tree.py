"""What belongs to the repository: the files of a source tree that the checks look at."""
import pathlib
import subprocess


def files(root, *suffixes):
    """Every file under `root` that git tracks or would track, sorted, as paths relative to it.

    Without git (an unpacked archive, a test's temporary directory): every file outside build/.
    With `suffixes`, only files whose names end in one of them.
    """
    root = pathlib.Path(root)
    names = _from_git(root)
    if names is None:
        names = _from_disk(root)
    chosen = (pathlib.PurePosixPath(name) for name in names)
    return sorted(
        path
        for path in chosen
        if (not suffixes or path.name.endswith(suffixes)) and (root / path).is_file()
    )


def _from_git(root):
    # A directory that merely lies inside somebody's repository is not a repository.
    if not (root / ".git").exists():
        return None
    command = ["git", "-c", f"safe.directory={root.resolve()}", "-C", str(root), "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, check=False)
    return listing.stdout.decode().split("\0")[:-1] if listing.returncode == 0 else None


def _from_disk(root):
    for path in root.rglob("*"):
        relative = path.relative_to(root)
        if relative.parts[0] not in ("build", ".git"):
            yield relative.as_posix()
