"""Plays a match: every contestant in every round, one after the other, on the same servers."""
import contextlib
import os
import signal
import subprocess
import tempfile

from . import children, servers
from .figures import Figures
from .team import Failed, Team


WARM_UP = 1.5  # seconds: what the slowest just-in-time compiler here needs


def _spent(nodes):
    """Commands and seconds of processor time of all together."""
    return [sum(column) for column in zip(*(node.spent() for node in nodes))] or [0, 0]


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
        first = max(seconds, WARM_UP) if rounds > 1 else seconds
        return len(match.contestants) * (first + rounds * seconds)

    def play(self, match, rounds, seconds):
        """Figures by contestant, in the order of the match, of those that played a round."""
        with contextlib.ExitStack() as cleaning:
            nodes = cleaning.enter_context(servers.running(match.nodes, match.core))
            urls = self._urls(match, nodes, cleaning)
            teams = {}
            for number, who in enumerate(match.contestants):
                if who.driver in self._drivers:
                    teams[who] = self._enter(match, who, number, urls, cleaning)
            results = {who: Figures() for who in teams}
            self._round(teams, results, max(seconds, WARM_UP) if rounds > 1 else seconds, None)
            self._wound(match, nodes)
            if match.fault in ("dead", "silent"):
                self._round(teams, results, seconds, None)  # whoever must notice, notices
            counted = nodes[:1] if match.fault else nodes
            for _ in range(rounds):
                self._round(teams, results, seconds, counted)
            return {who: figures for who, figures in results.items() if figures.per_second}

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
        workers = who.workers or match.workers
        command = self._drivers[who.driver] + [
            who.variant, match.work, str(workers), str(match.critical_us),
            self._last_holder(match, cleaning), f"bench:{number}", *urls]
        team = Team(command, who.processes or match.processes, match.core)
        cleaning.callback(team.close)
        return team

    @staticmethod
    def _last_holder(match, cleaning):
        if match.work != "shared":
            return "-"
        file = cleaning.enter_context(tempfile.NamedTemporaryFile(prefix="holdfast-last-"))
        file.write(bytes(8))
        file.flush()
        return file.name

    def _round(self, teams, results, seconds, counted):
        """counted: the servers whose cost is counted; None: nothing counts."""
        for who in list(teams):
            before = _spent(counted or [])
            try:
                lines = teams[who].play(seconds)
            except Failed as reason:
                self._report(f"{who.name} dropped out: {reason}")
                self.dropped.append(who)
                del teams[who]
                continue
            if counted is not None:
                after = _spent(counted)
                cost = [(now - then) / len(counted) for now, then in zip(after, before)]
                results[who].add(seconds, lines, *cost)

    @staticmethod
    def _wound(match, nodes):
        if match.fault == "dead":
            nodes[-1].process.kill()
            nodes[-1].process.wait()
        elif match.fault == "silent":  # connections are accepted, nothing is answered
            nodes[-1].process.send_signal(signal.SIGSTOP)
