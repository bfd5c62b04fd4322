"""The processes of one contestant, which play a round when told to."""
import json
import os
import selectors
import subprocess
import tempfile
import time

from . import children

PATIENCE = 45  # seconds that a round may take beyond its length


class Failed(Exception):
    """A driver ended, or did not answer. Says what it wrote last."""


class Team:
    def __init__(self, command, processes, core=None):
        self._errors = tempfile.TemporaryFile()
        self._members = []
        for _ in range(processes):
            self._members.append(children.start(
                command, core, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, bufsize=0))

    def play(self, seconds):
        """All at once; returns what each process printed."""
        for member in self._members:
            try:
                member.stdin.write(f"{seconds}\n".encode())
            except OSError:
                raise Failed(self._last_words()) from None
        give_up = time.monotonic() + seconds + PATIENCE
        return [json.loads(self._line(member, give_up)) for member in self._members]

    def _line(self, member, give_up):
        line = b""
        with selectors.DefaultSelector() as ready:
            ready.register(member.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not ready.select(max(0, give_up - time.monotonic())):
                    raise Failed(f"no answer within {PATIENCE} s of the end of the round")
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
