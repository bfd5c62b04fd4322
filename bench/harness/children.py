"""Whatever is started here goes when this process goes, however that happens."""
import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
_library = ctypes.CDLL(None)
_parent = os.getpid()


def _end_with_parent():
    _library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != _parent:  # gone before it could be asked for
        os.kill(os.getpid(), signal.SIGKILL)


def start(command, core=None, **how):
    """A Popen, pinned to a core if one is given. REQUIRES: the main thread, to whose life the
    kernel ties that of the child."""
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    return subprocess.Popen(pinned + command, preexec_fn=_end_with_parent, **how)


def run(command, **how):
    return subprocess.run(command, check=True, preexec_fn=_end_with_parent, **how)


def finish(command, seconds, **how):
    """Returns the exit code, and all that was said. What takes longer, or is broken off, is ended
    together with whatever it started."""
    process = subprocess.Popen(command, preexec_fn=_end_with_parent, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    try:
        said, _ = process.communicate(timeout=seconds)
        return process.returncode, said
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def _leave(number, _frame):
    """Once: a second Ctrl-C must not break off the cleaning up."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


@contextlib.contextmanager
def household():
    """Signals end the block in good order, and with it goes whatever anybody, children too, put
    into the directory for temporary files."""
    for each in ENDING:
        if signal.getsignal(each) != signal.SIG_IGN:  # nohup stays nohup
            signal.signal(each, _leave)
    place = tempfile.mkdtemp(prefix="holdfast-bench-")
    os.environ["TMPDIR"] = tempfile.tempdir = place
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)
