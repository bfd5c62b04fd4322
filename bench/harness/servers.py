"""Real servers for drivers in any language: each on a port that the kernel chose."""
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time

from . import children

PROGRAM = os.environ.get("HOLDFAST_TEST_SERVER", "redis-server")
START_BOUND = 10  # seconds until a server must answer
START_TRIES = 5  # another process may take the port between our look and the server's

SCRIPTS = ("eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro")


class NotStarted(Exception):
    """Says what was tried."""


class Server:
    """A redis-server of its own, without persistence; it answers when the constructor returns."""

    def __init__(self, core=None):
        self._wire = None
        self.directory = tempfile.mkdtemp(prefix="holdfast-server-")
        for _ in range(START_TRIES):
            self.port = _free_port()
            self.process = children.start(self._command(), core, stdout=subprocess.DEVNULL)
            if self._answers():
                return
            self.process.kill()
            self.process.wait()
        self.stop()
        raise NotStarted(f"{PROGRAM} did not answer on {START_TRIES} ports, last of them "
                         f"{self.port}, within {START_BOUND} s each")

    def _command(self):
        return [PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                "--dir", self.directory]

    def _answers(self):
        give_up = time.monotonic() + START_BOUND
        while time.monotonic() < give_up and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self.ask("PING").startswith("+PONG"):
                    return True
            time.sleep(0.01)
        return False

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def ask(self, line):
        """The first answer to an inline command, as it stands on the wire."""
        with socket.create_connection(("127.0.0.1", self.port), 1) as wire:
            wire.settimeout(1)
            wire.sendall(line.encode() + b"\r\n")
            return wire.recv(65536).decode()

    def spent(self):
        """What it did so far: commands, those inside scripts too; scripts; pushes; and seconds of
        processor time.

        No server counts its pushes, of CLIENT TRACKING or PUBLISH. Each read of a request leads to one
        write of its answers, so writes beyond reads went to somebody who had not asked: what is
        pushed to one client in one turn of the server, or along with an answer, is one write."""
        calls = {name.removeprefix("cmdstat_"): int(value.split(",")[0].removeprefix("calls="))
                 for name, value in self.info("commandstats").items()}
        stats, cpu = self.info("stats"), self.info("cpu")
        return {"commands": sum(calls.values()) - calls.get("info", 0),
                "scripts": sum(calls.get(name, 0) for name in SCRIPTS),
                "pushes": (int(stats.get("total_writes_processed", 0))
                           - int(stats.get("total_reads_processed", 0))),
                "seconds": float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])}

    def info(self, section):
        """Through a connection that stays: what it costs itself is the same each time."""
        if not self._wire:
            self._wire = socket.create_connection(("127.0.0.1", self.port), 5).makefile("rwb")
        self._wire.write(f"INFO {section}\r\n".encode())
        self._wire.flush()
        length = int(self._wire.readline()[1:])
        return _fields(self._wire.read(length + 2).decode())

    def stop(self):
        if self._wire:
            with contextlib.suppress(OSError):
                self._wire.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


@contextlib.contextmanager
def running(count, core=None):
    """So many servers, stopped whatever happens."""
    started = []
    try:
        for _ in range(count):
            started.append(Server(core))
        yield started
    finally:
        for server in started:
            server.stop()


def _fields(info):
    return dict(line.split(":", 1) for line in info.split("\r\n") if ":" in line)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
