"""Holdfast beside its floor and its peers: tables, the same as JSON, and as a picture.

Started by `holdfast bench`, which says where everything is; its --help explains the options. All
contestants of a match are alive at once and take turns, round by round, after a round that does not
count. What needs no peer is holdfast-bench's: its tables and figures are taken over.
"""
import dataclasses
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from harness import children, drivers, picture, remarks, servers, table, wish as wishes  # noqa: E402
from harness.referee import Referee  # noqa: E402

DROPPED_OUT, UNAVAILABLE, SYSTEM = 1, 69, 71

SOURCES = {"redis-py": ("redis-py", []), "node-redlock": ("node-redlock", []),
           "redsync": ("go", ["redsync"]), "rueidislock": ("go", ["rueidislock"]),
           "redisson": ("redisson", [])}
FIRST_VARIANTS = ("holdfast", "plain", "unawaited", "plain-unawaited", "floor")


def complain(text):
    print(f"holdfast: bench: {text}", file=sys.stderr, flush=True)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            complain(f"{program} is not there, and it is needed")
            raise SystemExit(UNAVAILABLE)


def known_variants(driver):
    """Of another build of Holdfast. Version 0.1 cannot say."""
    asked = subprocess.run([driver, "--variants"], capture_output=True, text=True)
    return asked.stdout.split() if asked.returncode == 0 else FIRST_VARIANTS


def possible(games, builds):
    """The matches without what another build of Holdfast cannot do. builds: driver by its name. This
    build can do everything: what it does not know drops out, and is not passed over in silence."""
    known = {name: known_variants(driver) for name, driver in builds.items()}
    return [dataclasses.replace(match, contestants=tuple(
        who for who in match.contestants
        if who.driver not in known or who.variant.split(":")[0] in known[who.driver]))
        for match in games]


def built(wanted, builds, say):
    """The command of every driver that can be had."""
    found = {name: [str(driver)] for name, driver in builds.items()}
    for name, (directory, first) in SOURCES.items():
        if name not in wanted:
            continue
        try:
            found[name] = drivers.build(wishes.PEERS / directory, wishes.peers_built_in(), "bench",
                                        say) + first
        except (drivers.Missing, drivers.Broken) as reason:
            say(f"{name} is left out: {reason}")
    return found


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.machine())
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release()}


class Run:
    """Everything that was asked for, and what was found."""

    def __init__(self, wish):
        self._wish = wish
        self._tables = sys.stdout if wish.document else sys.stderr  # the other is for the document
        self._games, self._own = wishes.games(wish), wishes.own_parts(wish)
        self._begun = 0
        self._record = {"machine": machine(), "quick": wish.quick, "rounds": wish.rounds,
                        "seconds": wish.seconds, "parts": [],
                        "beside": {name: str(path) for name, path in wish.builds.items()}}

    def whole(self):
        """Whether nobody of ours dropped out."""
        self._prepare()
        others = {f"beside {name}": path for name, path in self._wish.builds.items()}
        self._games = possible(self._games, others)
        builds = {"ours": self._wish.programs / wishes.DRIVER, **others}
        wanted = {who.driver for match in self._games for who in match.contestants}
        referee = Referee(built(wanted, builds, self._say), self._wish.programs,
                          str(self._wish.command), lambda text: self._say(f"  {text}"))
        self._say("{cores} cores, {processor}, Linux {kernel}".format(**self._record["machine"])
                  + f"; medians of {self._wish.rounds} rounds of {self._wish.seconds} s, in turns")
        for match in self._games:
            self._play(match, referee)
        for part in self._own:
            self._take_over(part)
        self._finish()
        return all(who.driver != "ours" for who in referee.dropped)

    def _prepare(self):
        """What cannot be written should be known before the work is done."""
        for path in filter(None, (self._wish.document, self._wish.picture)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a").close()

    def _say(self, text):
        print(text, file=self._tables, flush=True)

    def _progress(self, what):
        self._begun += 1
        print(f"[{self._begun} of {len(self._games) + len(self._own)}] {what}", file=sys.stderr,
              flush=True)

    def _play(self, match, referee):
        rounds, seconds = self._wish.rounds, self._wish.seconds
        self._progress(f"part {match.part}, {len(match.contestants)} contestants, about "
                       f"{referee.estimate(match, rounds, seconds):.0f} s")
        results = referee.play(match, rounds, seconds)
        rows, found = table.rows(match, results), remarks.of(match, results)
        self._say("\n".join(filter(None, (table.text(match, rows), remarks.text(found)))))
        self._add([{"part": match.part, "title": match.title, "contestants": rows,
                    "comparisons": found}])

    def _take_over(self, part):
        """What holdfast-bench finds, as its document has it."""
        self._progress(f"part {wishes.OWN[part]}, holdfast-bench {part}")
        with tempfile.NamedTemporaryFile() as document:
            quick = ["--quick"] if self._wish.quick else []
            children.run([self._wish.programs / "holdfast-bench", *quick, "--json", document.name,
                          part], stdout=self._tables)
            self._add(json.load(document)["parts"])

    def _add(self, tables):
        """Kept at once: a run that is broken off leaves what it found."""
        self._record["parts"] += tables
        if self._wish.document:
            self._wish.document.write_text(self._text())
        if self._wish.picture:
            self._wish.picture.write_text(picture.draw(self._record))

    def _text(self):
        return json.dumps(self._record, indent=1) + "\n"

    def _finish(self):
        if not self._wish.document:
            print(self._text(), end="", flush=True)
        written = filter(None, (self._wish.document, self._wish.picture))
        self._say("\nwritten: " + (", ".join(map(str, written)) or "to standard output"))


def main():
    try:
        with children.household():
            wish = wishes.read()
            need(servers.PROGRAM, "taskset", wish.command,
                 *(wish.programs / f"holdfast-bench{name}" for name in ("", "-driver", "-proxy")))
            need(*(["redis-benchmark"] if "server" in wishes.own_parts(wish) else []))
            return 0 if Run(wish).whole() else DROPPED_OUT
    except subprocess.CalledProcessError as error:
        complain(f"{pathlib.Path(error.cmd[0]).name} failed ({error.returncode}) "
                 f"{error.stderr or ''}".strip())
        return DROPPED_OUT
    except servers.NotStarted as error:
        complain(error)
        return UNAVAILABLE
    except BrokenPipeError:  # nobody reads on: | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return SYSTEM
    except OSError as error:
        complain(error)
        return SYSTEM


if __name__ == "__main__":
    sys.exit(main())
