"""The processes of one contestant, which play a round when told to."""
import json
import os
import selectors
import subprocess
import tempfile
import time

from . import children

PATIENCE = 45  # seconds that a round may take beyond its length
START_PATIENCE = 3  # and a process of the slowest language to start, on one core


class Failed(Exception):
    """A driver ended, or did not answer. Says what it wrote last."""


def _processor_clock(process):
    """What clock_getcpuclockid(3) returns, which Python does not have."""
    return ~process << 3 | 2


def _anonymous_bytes(process):
    with open(f"/proc/{process}/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


class Team:
    def __init__(self, command, processes, core=None):
        self._errors = tempfile.TemporaryFile()
        self._members = []
        for _ in range(processes):
            self._members.append(children.start(
                command, core, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, bufsize=0))

    def arrive(self):
        """Until each has started, and connected: a round of next to nothing, one process after the
        other. Who waits polls until its client is subscribed, and a look costs the server what the line
        is long: 10,000 who came first at one moment kept it from answering anybody for seconds."""
        give_up = time.monotonic() + PATIENCE + START_PATIENCE * len(self._members)
        for member in self._members:
            self._tell(member, 0.01)
            self._line(member, give_up)

    def play(self, seconds, halfway=None):
        """All at once; returns what each process printed. halfway is called in the middle."""
        for member in self._members:
            self._tell(member, seconds)
        give_up = time.monotonic() + seconds + PATIENCE
        if halfway:
            time.sleep(seconds / 2)
            halfway()
        return [json.loads(self._line(member, give_up)) for member in self._members]

    def processor_seconds(self):
        """Of all processes so far, threads that have ended included."""
        return self._sum(lambda process: time.clock_gettime(_processor_clock(process)))

    def memory(self):
        """Bytes that belong to these processes alone: no pages of files."""
        return self._sum(_anonymous_bytes)

    def _sum(self, measure):
        try:
            return sum([measure(member.pid) for member in self._members])
        except (OSError, StopIteration):  # one has ended
            raise Failed(self._last_words()) from None

    def _tell(self, member, seconds):
        try:
            member.stdin.write(f"{seconds}\n".encode())
        except OSError:
            raise Failed(self._last_words()) from None

    def _line(self, member, give_up):
        line = b""
        with selectors.DefaultSelector() as ready:
            ready.register(member.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not ready.select(max(0, give_up - time.monotonic())):
                    raise Failed("no answer long after the end of the round")
                part = os.read(member.stdout.fileno(), 1 << 20)
                if not part:
                    raise Failed(self._last_words())
                line += part
        return line

    def _last_words(self):
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else "it ended without a word"

    def close(self):
        for member in self._members:
            member.kill()
        for member in self._members:
            member.wait()
            member.stdin.close()
            member.stdout.close()
        self._errors.close()
