"""A daemon with a home of its own, for benchmarks that measure it as a client sees it."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import msgspec

from kbd.client.blocking import Client, ConnectionLostError

__all__ = ["Daemon", "PeakMemory", "running", "started", "written_bytes"]

_POLL_S = 0.01
"""How exactly the time of a start is seen."""


class Daemon(msgspec.Struct, frozen=True):
    """A daemon that runs: its socket, its process, its home, and what it wrote to its log."""

    path: str
    pid: int
    home: Path
    log: Path


@contextmanager
def started(environment: Mapping[str, str] | None = None) -> Iterator[Daemon]:
    """Start a daemon, wait until it answers, and end it."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder, "h"), environment) as daemon:
        yield daemon


@contextmanager
def running(
    home: Path, environment: Mapping[str, str] | None = None, words: Sequence[str] = ()
) -> Iterator[Daemon]:
    """Start the daemon of a home that stays, wait until it answers, and end it in order.

    Args:
        home: The home; what the daemon says is written beside it.
        environment: What it gets beside this process's own.
        words: What Python runs, if it is not kbd itself.
    """
    path, log = str(home / "kbd.sock"), home.with_name("log")
    command = [sys.executable, *(words or ("-m", "kbd", "--home", str(home), "daemon"))]
    variables = {**os.environ, **(environment or {})}
    with (
        log.open("wb") as said,
        subprocess.Popen(command, stderr=said, env=variables) as daemon,
    ):
        try:
            while not _answers(path):
                if daemon.poll() is not None:
                    sys.exit(f"the daemon did not start: {log.read_text(errors='replace')}")
                time.sleep(_POLL_S)
            yield Daemon(path, daemon.pid, home, log)
        finally:
            daemon.terminate()


def _answers(path: str) -> bool:
    """Return whether somebody listens there."""
    try:
        Client(path).close()
    except ConnectionLostError:
        return False
    return True


class PeakMemory:
    """The most memory that a process and all that it started had at a time, in bytes.

    It is looked at every 5 ms, so that a shorter peak may be missed; memory that processes share is
    counted once, in equal parts (`proc(5)`, Pss).
    """

    def __init__(self, pid: int) -> None:
        self.peak_bytes = 0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.005):
            held = sum(_bytes_of(pid) for pid in _family(self._pid))
            self.peak_bytes = max(self.peak_bytes, held)


def _family(pid: int) -> Iterator[int]:
    """Yield a process and those that it started, and so on."""
    yield pid
    try:
        # A thread has the children that it started, not its process.
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return
    for child in children:
        yield from _family(int(child))


def _bytes_of(pid: int) -> int:
    """Return what a process has of memory; 0 when it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0
    return int(text.partition("\nPss:")[2].split(maxsplit=1)[0] or 0) * 1024 if text else 0


def written_bytes(pid: int) -> int:
    """Return what a process and all that it started have had the system write to disks.

    The system counts pages (4 KiB mostly) when they are first changed since they were last written,
    and of files that were removed before that nothing (`proc(5)`, io); a process that has ended and
    was waited for is counted with its parent.
    """
    total = 0
    for each in _family(pid):
        # One that has ended meanwhile is counted with its parent by the next look.
        with suppress(OSError):
            lines = Path(f"/proc/{each}/io").read_text("ascii").splitlines()
            fields = dict(line.split(": ") for line in lines)
            total += int(fields["write_bytes"]) - int(fields["cancelled_write_bytes"])
    return total
