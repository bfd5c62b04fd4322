"""Plays a match: every contestant in every round, one after the other, on the same servers."""
import collections
import contextlib
import os
import signal
import subprocess
import tempfile
import time

from . import children, servers
from .figures import Cost, Figures
from .matches import PEER_DRIVERS
from .team import Failed, Team


WARM_UP = 1.5  # seconds: what the slowest just-in-time compiler here needs
SPARE = 2 << 30  # bytes of memory that are left to the machine


def _spent(nodes):
    """By all together."""
    total = collections.Counter()
    for node in nodes:
        total.update(node.spent())
    return total


def _warm_up(match, who, rounds, seconds):
    """How many seconds the first round of a contestant takes, which does not count."""
    if rounds == 1:
        return seconds
    return max(seconds, WARM_UP, match.peers_warm_up if who.driver in PEER_DRIVERS else 0)


def _memory_left():
    with open("/proc/meminfo") as lines:
        return next(1024 * int(line.split()[1]) for line in lines
                    if line.startswith("MemAvailable"))


class Referee:
    """drivers: command by name; programs: the directory of what bench/CMakeLists.txt builds.
    report(text) is told who drops out, and why; `dropped` has them all."""

    def __init__(self, drivers, programs, holdfast, report):
        self._drivers, self._programs, self._holdfast = drivers, programs, holdfast
        self._report = report
        self.dropped = []

    @staticmethod
    def estimate(match, rounds, seconds):
        """How many seconds the rounds of a match take."""
        seconds = max(seconds, match.seconds)
        return sum(_warm_up(match, who, rounds, seconds) + rounds * seconds
                   for who in match.contestants)

    def play(self, match, rounds, seconds):
        """Figures by contestant, in the order of the match, of those that played a round."""
        seconds = max(seconds, match.seconds)
        with contextlib.ExitStack() as cleaning:
            nodes = cleaning.enter_context(servers.running(match.nodes, match.core))
            teams = self._arrive(match, self._urls(match, nodes, cleaning), cleaning)
            results = {who: Figures(match.critical_us / 1e6) for who in teams}
            self._round(teams, lambda who: _warm_up(match, who, rounds, seconds))
            self._wound(match, nodes)
            if match.fault in ("dead", "silent"):
                self._round(teams, lambda who: seconds)  # whoever must notice, notices
            counted = nodes[:1] if match.fault else nodes
            for number in range(rounds):
                self._count_round(match, teams, results, seconds, counted, number % 2 == 1)
            return {who: figures for who, figures in results.items() if figures.per_second}

    def _arrive(self, match, urls, cleaning):
        """One after the other: what starts slowly keeps nobody else waiting."""
        teams = {}
        for number, who in enumerate(match.contestants):
            if who.driver not in self._drivers:
                continue
            if _memory_left() < SPARE:
                self._report(f"{who.name} is left out: there is not enough memory")
                continue
            team = self._enter(match, who, number, urls, cleaning)
            if self._try(teams, who, team.arrive) is not None:
                teams[who] = team
        return teams

    def _urls(self, match, nodes, cleaning):
        urls = [node.url for node in nodes]
        if match.nodes > 1:
            vouch = [self._holdfast, "enlist", "--fresh"]
            for url in urls:
                vouch += ["--url", url]
            children.run(vouch, capture_output=True, text=True)
        if match.fault != "slow":
            return urls
        proxy = children.start(
            [os.path.join(self._programs, "holdfast-bench-proxy"), "1000",
             *[str(node.port) for node in nodes]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cleaning.enter_context(proxy)
        cleaning.callback(proxy.stdin.close)
        return [f"redis://127.0.0.1:{proxy.stdout.readline().strip()}" for _ in nodes]

    def _enter(self, match, who, number, urls, cleaning):
        workers, work = who.workers or match.workers, who.work or match.work
        command = self._drivers[who.driver] + [
            who.variant, work, str(workers), str(match.critical_us),
            self._last_holder(work, cleaning), f"bench:{number}", *urls]
        team = Team(command, who.processes or match.processes, match.core)
        cleaning.callback(team.close)
        return team

    @staticmethod
    def _last_holder(work, cleaning):
        if work != "shared":
            return "-"
        file = cleaning.enter_context(tempfile.NamedTemporaryFile(prefix="holdfast-last-"))
        file.write(bytes(8))
        file.flush()
        return file.name

    def _round(self, teams, seconds_of):
        """One that does not count."""
        for who, team in list(teams.items()):
            self._try(teams, who, lambda: team.play(seconds_of(who)))

    def _count_round(self, match, teams, results, seconds, counted, backwards):
        """counted: the servers whose cost is counted. Every other round goes backwards, so that a
        machine that grows slower, or faster, favours nobody."""
        order = list(teams.items())
        for who, team in reversed(order) if backwards else order:
            found = self._try(teams, who, lambda: self._cost(match, team, seconds, counted))
            if found:
                results[who].add(seconds, *found)

    @staticmethod
    def _cost(match, team, seconds, counted):
        """What the processes print, and a Cost."""
        memory = []

        def look():
            memory.append((team.memory(), int(counted[0].info("memory")["used_memory"])))

        before, processor, begin = _spent(counted), team.processor_seconds(), time.monotonic()
        lines = team.play(seconds, look if match.memory else None)
        cost = Cost(time.monotonic() - begin, team.processor_seconds() - processor, {},
                    *memory)
        after = _spent(counted)
        cost.server = {name: (after[name] - before[name]) / len(counted) for name in after}
        return lines, cost

    def _try(self, teams, who, work):
        """None, if it dropped out instead."""
        try:
            return work() or True
        except Failed as reason:
            self._report(f"{who.name} dropped out: {reason}")
            self.dropped.append(who)
            teams.pop(who, None)
            return None

    @staticmethod
    def _wound(match, nodes):
        if match.fault == "dead":
            nodes[-1].process.kill()
            nodes[-1].process.wait()
        elif match.fault == "silent":  # connections are accepted, nothing is answered
            nodes[-1].process.send_signal(signal.SIGSTOP)
