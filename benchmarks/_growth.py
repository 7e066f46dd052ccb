"""What a daemon over a large home costs to look at, for `benchmarks/growth.py`."""

import os
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchmarks._daemon import Daemon
from kbd.client.blocking import Client

__all__ = [
    "Figures",
    "Held",
    "Walked",
    "children_cpu_s",
    "cpu_s",
    "event_costs",
    "follow_all",
    "held",
    "timed",
    "until_read",
    "walk_logs",
]

CHUNK_BYTES = 1 << 20
SYNCED = b'"method":"EventsSynced"'
_PAUSE_S = 0.2
"""Between two lists while logs are read."""


class Figures:
    """Seconds by what took them, several of each."""

    def __init__(self) -> None:
        self._found: dict[str, list[float]] = {}

    def note(self, what: str, seconds: float) -> None:
        """Note one turn."""
        self._found.setdefault(what, []).append(seconds)

    def least(self, what: str) -> float:
        """Return the least of the turns; infinite if there are none."""
        return min(self._found.get(what, [float("inf")]))

    def median(self, what: str) -> float:
        """Return the median of the turns; infinite if there are none."""
        return statistics.median(self._found.get(what, [float("inf")]))

    def show(self) -> None:
        """Print all, in the order in which they came first."""
        print(f"  {'':<54} {'turns':>5} {'minimum':>12} {'median':>12}")
        for what, found in self._found.items():
            least, median = shown(min(found)), shown(statistics.median(found))
            print(f"  {what:<54} {len(found):>5} {least:>12} {median:>12}")


def shown(seconds: float) -> str:
    """Return a time in the unit that it is read best in."""
    return f"{seconds:,.2f} s" if seconds >= 1 else f"{seconds * 1e3:,.2f} ms"


def timed(work: Callable[[], object]) -> float:
    """Return how long something took, in seconds."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


# The daemon's process.


class Held(msgspec.Struct, frozen=True):
    """What the daemon holds of the system.

    Args:
        rss_mib: Its memory.
        peak_mib: The most that it had.
        descriptors: Its open ones.
        threads: Its threads.
        children: The processes that it started and that live.
        workbenches: How many are open, by their marks.
    """

    rss_mib: float
    peak_mib: float
    descriptors: int
    threads: int
    children: int
    workbenches: int


def held(daemon: Daemon) -> Held:
    """Look at a daemon."""
    pid = daemon.pid
    status = Path(f"/proc/{pid}/status").read_text("ascii")

    def field(name: str) -> int:
        return int(status.partition(f"{name}:")[2].split()[0])

    children = sum(
        len((task / "children").read_text("ascii").split())
        for task in Path(f"/proc/{pid}/task").iterdir()
    )
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    memory = field("VmRSS") / 1024, field("VmHWM") / 1024
    with os.scandir(daemon.home / "workbenches") as folders:
        workbenches = sum(os.access(f"{each.path}/open", os.F_OK) for each in folders)
    return Held(*memory, descriptors, field("Threads"), children, workbenches)


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has used, in seconds; it counts hundredths."""
    return _ticks(pid, 11)


def children_cpu_s(pid: int) -> float:
    """Return the same of the processes that it started and that have ended."""
    return _ticks(pid, 13)


def _ticks(pid: int, at: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[at]) + int(fields[at + 1])) / os.sysconf("SC_CLK_TCK")


def until_read(client: Client, figures: Figures) -> float:
    """Wait until all logs are in the index, with lists meanwhile; return the seconds."""
    begun = time.perf_counter()
    while True:
        asked = time.perf_counter()
        found = client.send("WorkbenchList", {"limit": 50, "descending": True}, 600)
        if not found["unread"]:
            return time.perf_counter() - begun
        figures.note("50 workbenches while all logs are read", time.perf_counter() - asked)
        time.sleep(_PAUSE_S)


# Following.


@contextmanager
def _connected(path: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.settimeout(600)
        yield client


def _subscribe(client: socket.socket, cursors: dict[str, int]) -> tuple[int, dict[str, int]]:
    """Follow all logs until told that this is all; return the bytes, and where the logs end.

    The events are taken and not decoded: the client's own JSON is not the daemon's cost.
    """
    params = {"workbench_id": "*", "cursors": cursors}
    call = {"jsonrpc": "2.0", "id": 1, "method": "EventsSubscribe", "params": params}
    client.sendall(msgspec.json.encode(call) + b"\n")
    size, tail = 0, b""
    while SYNCED not in tail or not tail.endswith(b"\n"):
        chunk = client.recv(CHUNK_BYTES)
        if not chunk or b'"error"' in chunk[:200]:
            raise ConnectionError(chunk[:2000])
        size += len(chunk)
        # The mark is the beginning of the last line, which is long where there are many logs.
        tail = tail + chunk if SYNCED in tail else tail[-len(SYNCED) :] + chunk
    last: dict[str, Any] = msgspec.json.decode(tail[tail.rindex(b"\n", 0, -1) + 1 :])
    return size, last["params"]["cursors"]


def follow_all(daemon: Daemon, cursors: dict[str, int]) -> tuple[float, float, dict[str, int]]:
    """Follow all logs from some cursors; return seconds, MB, and where the logs end."""
    with _connected(daemon.path) as client:
        begun = time.perf_counter()
        size, ends = _subscribe(client, cursors)
        return time.perf_counter() - begun, size / 1e6, ends


def event_costs(
    daemon: Daemon, workbench_id: str, cursors: dict[str, int] | None, events: int
) -> tuple[float, float]:
    """Record events one by one, with or without a follower of all logs that hears each.

    Args:
        daemon: The daemon.
        workbench_id: The workbench; each event is a message in it.
        cursors: Where the logs end, for the follower; None for no follower.
        events: How many.

    Returns:
        The daemon's processor time of one event, and the time until all had heard of it.
    """
    with Client(daemon.path) as sender, _connected(daemon.path) as follower:
        if cursors is not None:
            _subscribe(follower, cursors)
        begun, used = time.perf_counter(), cpu_s(daemon.pid)
        for number in range(events):
            text = f"message {number} of many"
            sender.send("WorkshopSendUserMessage", {"workbench_id": workbench_id, "text": text})
            heard = b""
            while cursors is not None and text.encode() not in heard:
                heard += follower.recv(CHUNK_BYTES)
        seconds = time.perf_counter() - begun
        return (cpu_s(daemon.pid) - used) / events, seconds / events


# The raw limits.


class Walked(msgspec.Struct, frozen=True):
    """What a bare walk over the logs of a home takes.

    Args:
        scanned_s: To look at the names and sizes in all folders of logs.
        read_s: To read all logs.
        size_bytes: What they hold.
    """

    scanned_s: float
    read_s: float
    size_bytes: int


def walk_logs(home: Path) -> Walked:
    """Look at all logs, and then read them."""
    begun, paths = time.perf_counter(), []
    with os.scandir(home / "workbenches") as workbenches:
        for each in workbenches:
            with os.scandir(f"{each.path}/log") as files:
                paths += [file.path for file in files if file.stat().st_size]
    scanned, size = time.perf_counter(), 0
    for path in paths:
        with open(path, "rb", buffering=0) as log:
            size += len(log.read())
    return Walked(scanned - begun, time.perf_counter() - scanned, size)
