"""What is asked for: the options of `holdfast bench`, whose --help explains them."""
import argparse
import dataclasses
import os
import pathlib
import sys

from . import matches

USAGE = 64

LETTERS = "abcdefghij"
# What needs no peer is measured by holdfast-bench: its parts, and the letters that they belong to.
OWN = {"server": "a", "coroutines": "c", "quorum": "e", "votes": "e", "held": "f",
       "replication": "i"}

BENCH = pathlib.Path(__file__).resolve().parent.parent
IN_SOURCES = (BENCH.parent / "script" / "bench").exists()
PEERS = BENCH / "peers"
DRIVER = "holdfast-bench-driver"


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"holdfast: bench: {message}\nTry 'holdfast bench --help'.", file=sys.stderr)
        raise SystemExit(USAGE)


def _part(word):
    if word in OWN or word and set(word) <= set(LETTERS):
        return word
    raise argparse.ArgumentTypeError(
        f"there is no part '{word}': letters of {LETTERS}, or one of {', '.join(OWN)}")


def _positive(kind):
    def read(word):
        try:
            value = kind(word)
        except ValueError:
            value = 0
        if not 0 < value < 1e6:
            raise argparse.ArgumentTypeError(f"'{word}' is not a number above 0 and below a "
                                             "million")
        return value
    return read


def _build(text):
    """The driver of another build: itself, or the directory in which it was built."""
    path = pathlib.Path(text)
    for found in (path, path / DRIVER, path / "bench" / DRIVER):
        if found.is_file() and os.access(found, os.X_OK):
            return found.resolve()
    raise argparse.ArgumentTypeError(f"there is no {DRIVER} in '{text}'")


def _beside(word):
    name, _, path = word.partition("=")
    if not name or not path:
        raise argparse.ArgumentTypeError(f"'{word}' is not NAME=PATH")
    return name, _build(path)


def read():
    parser = _Parser(add_help=False, allow_abbrev=False)
    # Where holdfast-bench and the like are, and the command itself: said by `holdfast bench`.
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--command", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--beside", type=_beside, action="append", default=[])
    parser.add_argument("--before", type=_build)
    parser.add_argument("--rounds", type=_positive(int))
    parser.add_argument("--seconds", type=_positive(float))
    parser.add_argument("--json", "--output", default=_default_output())
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--part", type=_part)
    parser.add_argument("word", metavar="PART", type=_part, nargs="?")
    wish = parser.parse_args()
    wish.part = wish.word or wish.part
    if wish.before and (wish.part or wish.beside):
        parser.error("--before is a measurement of its own: without PART and --beside")
    wish.rounds = wish.rounds or (1 if wish.quick else 40 if wish.before else 7)
    wish.seconds = wish.seconds or (0.1 if wish.quick else 0.3 if wish.before else 0.5)
    wish.builds = dict([("before", wish.before)] if wish.before else wish.beside)
    wish.document = None if wish.json == "-" else pathlib.Path(wish.json)
    if wish.document and not wish.document.name:
        parser.error(f"--json: '{wish.json}' is not the name of a file")
    if wish.document and not wish.picture:
        wish.picture = wish.document.with_suffix(".svg")
    if wish.document and wish.document == wish.picture:
        parser.error(f"the JSON and the picture cannot both be {wish.document}")
    if not games(wish) and not own_parts(wish):
        parser.error("nothing that is asked for exists: see --part, --match and --only")
    return wish


def _default_output():
    return str(BENCH.parent / "build" / "bench.json" if IN_SOURCES else "holdfast-bench.json")


def peers_built_in():
    if IN_SOURCES:
        return BENCH.parent / "build" / "peers"
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "holdfast" / "peers"


def games(wish):
    """The matches that are asked for, each with the contestants that are."""
    letters = "" if wish.part in OWN else wish.part or LETTERS
    found = []
    for match in matches.server() if wish.before else matches.everything(wish.quick):
        match = matches.beside(match, wish.builds)
        named = not wish.match or any(text in match.title for text in wish.match)
        field = tuple(who for who in match.contestants if _is_asked_for(wish, who))
        if (wish.before or match.part in letters) and named and field:
            found.append(dataclasses.replace(match, contestants=field))
    return found


def _is_asked_for(wish, who):
    named = not wish.only or any(who.name.startswith(name) for name in wish.only)
    return named and (who.driver not in matches.PEER_DRIVERS or not wish.no_peers)


def own_parts(wish):
    """Of holdfast-bench, which cannot be narrowed down further."""
    if wish.part in OWN:
        return [wish.part]
    if wish.only or wish.match or wish.before:
        return []
    return [part for part, letter in OWN.items() if letter in (wish.part or LETTERS)]
