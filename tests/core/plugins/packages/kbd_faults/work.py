"""Functions that go wrong, each in its own way; called in a worker."""

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from os import system
from pathlib import Path
from typing import Any

from kbd.errors import NotFound

__all__ = ["system"]


def echo(value: Any) -> Any:
    """Return what was given."""
    return value


def environment() -> dict[str, Any]:
    """Return what a call can see of its process."""
    return {
        "environ": dict(os.environ),
        "cwd": os.getcwd(),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "session": os.getsid(0) == os.getpid(),
        "fds": [number for number in range(1024) if _is_open(number)],
        "umask": os.umask(0o077),
    }


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def segv() -> None:
    """Read where nothing is."""
    ctypes.string_at(0)


def kill(number: int) -> None:
    """Kill this very process."""
    os.kill(os.getpid(), number)
    time.sleep(60)


def write_and_die(target: str, number: int) -> None:
    """Begin a file, and kill this very process."""
    Path(target).write_text("half")
    kill(number)


def die_of(path: str, statement: str) -> None:
    """Kill this very process, as a statement may that reads a file."""
    del path, statement
    os.kill(os.getpid(), signal.SIGABRT)


def leave(status: int) -> None:
    """Exit behind Python's back."""
    os._exit(status)


def exit_politely() -> None:
    """Exit as a script would."""
    sys.exit(3)


def interrupt() -> None:
    """Raise what Ctrl-C raises."""
    raise KeyboardInterrupt


def memory() -> int:
    """Take a lot of memory."""
    return len(bytearray(8 * 1024**3))


def spin() -> None:
    """Use the processor for ever."""
    while True:
        pass


def print_noise(size: int) -> str:
    """Print on both streams, by descriptor and by Python."""
    for descriptor in (1, 2):
        os.write(descriptor, b"\x93" * size)
    print("more")
    return "done"


def print_descriptors() -> list[str]:
    """Return what the standard streams lead to."""
    return [os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)]


def powers() -> int:
    """Return the capabilities that the process has, as bits."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("CapEff:")[2].split()[0], 16)


def fail_as(code: str, size: int) -> None:
    """Raise an error of kbd under a code, with a message of so many characters."""
    error = NotFound("x" * size)
    error.code = code  # type: ignore[misc]  # as code that has taken a worker over does
    raise error


def fill(target: str, count: int, size: int) -> None:
    """Fill the folder of a file with others, and wait for the end."""
    for number in range(count):
        Path(f"{target}{number}").write_bytes(b"x" * size)
    time.sleep(600)


def child_reads() -> str:
    """Have a child process read standard input to its end, and print."""
    done = subprocess.run([sys.executable, "-c", "import sys; print(len(sys.stdin.read()))"],
                          stdout=subprocess.PIPE, check=True)  # fmt: skip
    return done.stdout.decode().strip()


def unserialisable() -> Any:
    """Return what cannot be sent."""
    return object()


def enormous(size: int) -> bytes:
    """Return many bytes."""
    return b"x" * size


def deep() -> Any:
    """Return lists within lists, too many."""
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def missing() -> None:
    """Raise an error of kbd."""
    msg = "no such thing"
    raise NotFound(msg, actions=("look elsewhere",), detail={"name": "thing"})


def read(path: str) -> str:
    """Return a file's text."""
    return Path(path).read_text()


def write(target: str, size: int) -> None:
    """Write a file of some size."""
    Path(target).write_bytes(b"x" * size)


def garbage() -> None:
    """Write something that is no answer to the call's channel, and leave."""
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\x00\x00\x00\x02\xff\xff")
    os._exit(0)


def announce(size: int, sent: int) -> None:
    """Say that the answer has so many bytes, send some of them, and leave."""
    data = size.to_bytes(4) + b"\x90" * sent
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, data)
    os._exit(0)


def linger(pids: str, *, apart: bool) -> None:
    """Start a process that would live on, note its number, and sleep."""
    code = "import time; time.sleep(60)"
    if apart:
        # A double fork with a session of its own: out of the group, out of the parentage.
        note = f"open({pids!r}, 'w').write(str(os.getpid()))"
        code = f"import os\nif os.fork(): os._exit(0)\nos.setsid()\n{note}\n{code}"
        subprocess.run([sys.executable, "-c", code], check=True)
    else:
        process = subprocess.Popen([sys.executable, "-c", code])
        Path(pids).write_text(str(process.pid))
    time.sleep(60)


def kill_zygote() -> None:
    """Kill the parent."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def zygote() -> int:
    """Return the parent's number."""
    return os.getppid()
