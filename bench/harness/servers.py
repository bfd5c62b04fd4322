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


class NotStarted(Exception):
    """Says what was tried."""


class Server:
    """A redis-server of its own, without persistence; it answers when the constructor returns."""

    def __init__(self, core=None):
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
        """(commands carried out, those inside scripts too; seconds of processor time) so far."""
        stats, cpu = _fields(self.ask("INFO stats")), _fields(self.ask("INFO cpu"))
        return (int(stats["total_commands_processed"]),
                float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"]))

    def stop(self):
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
