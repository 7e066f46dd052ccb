"""What watched folders cost: `python benchmarks/watch.py [--files 100] [--minutes 2]`.

Three figures, each beside the least that anything like it can cost:

    a file is closed until its run starts   the real daemon, with the shortest quiet time and with
                                            the default one, whose runs sort a small table; the
                                            quiet time, which is waited for on purpose, is shown
                                            apart. Beside it inotify, and watchfiles as it comes,
                                            each with one synced event and nothing else
    idle                                    the real daemon with 10 watches over 100,000 files, in
                                            percent of a core, beside a bare walk of the same trees
                                            as often
    a rescan of 100,000 files               an inbox that knows all of them, beside a bare walk

The disk and the scheduler are not ours, so the gates are ratios in the same run, but for what is
small beside the quiet time, or beside a core.
"""

import argparse
import ctypes
import os
import re
import select
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import watchfiles

from benchmarks._measure import gate, table
from benchmarks._watching import Look
from benchmarks.commands import answers
from kbd.client.blocking import Client

SHORT_S, DEFAULT_S = 0.1, 2.0
"""The shortest quiet time that a rule may have, and the one of a rule that does not say."""

WATCHES, FILES = 10, 10_000
RESCAN_S = 60.0
"""How often the daemon looks through a folder whose changes the system tells of, by default."""

START_SECONDS = 60.0
CLOSE_WRITE = 0x8
ROWS = "Day,Kind,Sum\n2024-01-02,Food,1.50\n2024-01-01,Rent,700.00\n"
MANY = {"runs_per_hour": 100_000}


class Daemon:
    """The real daemon in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "kbd.sock")
        place = ["--home", str(folder / "home"), "--socket", self.socket]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kbd", *place, "daemon"], stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.socket):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the daemon did not start")
            time.sleep(0.02)

    def cpu_s(self) -> float:
        """The processor seconds that it used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2]
        user, system = fields.split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def rss_mib(self) -> float:
        """The memory that it has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def daemon(folder: Path) -> Iterator[Daemon]:
    """Run a daemon for as long as the block lasts."""
    served = Daemon(folder)
    try:
        yield served
    finally:
        served.process.terminate()
        served.process.wait()


def watch(client: Client, folder: Path, quiet_s: float) -> str:
    """Watch a folder, made if it is missing; return the watch once the system tells of changes."""
    folder.mkdir(exist_ok=True)
    asked = {"folder": str(folder), "prompt": "sort by Day", "quiet_s": quiet_s, "limits": MANY}
    watch_id = client.send("WatchAdd", {**asked, "model_id": "offline:planner"}, 300)["watch_id"]
    while client.send("WatchGet", {"watch_id": watch_id})["watch"]["hints"] != "system":
        time.sleep(0.05)
    return str(watch_id)


def closed(folder: Path, number: int) -> float:
    """Write a small file; return when it was closed."""
    with (folder / f"{number}.csv").open("w", encoding="utf-8") as file:
        file.write(f"{ROWS}2024-01-03,File,{number}.00\n")
    return time.perf_counter()


# A file is closed until its run starts.


class Started:
    """When the daemon told of the starts of runs: of the job on a file, and of the model's run."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._events: list[tuple[float, dict[str, Any]]] = []
        client.on_notification = self._heard

    def _heard(self, method: str, params: dict[str, Any]) -> None:
        now = time.perf_counter()
        if method == "EventsAppended":
            self._events += [(now, event) for event in params["events"]]

    def _wait_for(self, kind: str) -> float:
        while True:
            for now, event in self._events:
                if event["type"] == kind:
                    return now
            self._client.wait()

    def once(self, folder: Path, number: int) -> tuple[float, float]:
        """Have a file land; return how long its job, and its model's run, took to start."""
        self._events.clear()
        begun = closed(folder, number)
        job, run = self._wait_for("WatchRunStarted"), self._wait_for("RunStarted")
        self._wait_for("WatchRunFinished")
        return job - begun, run - begun


def synced(log: int) -> float:
    """Record one event of about 200 bytes; return when it is on the disk."""
    os.write(log, b"x" * 200)
    os.fdatasync(log)
    return time.perf_counter()


@contextmanager
def inotify(folder: Path, log: int) -> Iterator[Callable[[int], float]]:
    """The raw limit: the kernel tells that a file was closed, and one event is synced."""
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_CLOEXEC)
    libc.inotify_add_watch(fd, os.fsencode(folder), CLOSE_WRITE)

    def once(number: int) -> float:
        begun = closed(folder, number)
        select.select([fd], [], [])
        (length,) = struct.unpack_from("I", os.read(fd, 4096), 12)
        if not length:
            sys.exit("inotify told of no name")
        return synced(log) - begun

    yield once
    os.close(fd)


@contextmanager
def bare_watchfiles(folder: Path, log: int) -> Iterator[Callable[[int], float]]:
    """The library that kbd takes its hints from, as it comes, and one synced event."""
    folder.mkdir()
    stop, heard = threading.Event(), threading.Semaphore(0)
    ended: list[float] = []

    def listen() -> None:
        for changes in watchfiles.watch(
            folder, stop_event=stop, rust_timeout=500, yield_on_timeout=True
        ):
            if changes:
                ended.append(synced(log))
                heard.release()

    thread = threading.Thread(target=listen)
    thread.start()
    time.sleep(1.0)  # Nothing tells when it listens.

    def once(number: int) -> float:
        begun = closed(folder, number)
        heard.acquire()
        return ended[-1] - begun

    yield once
    stop.set()
    thread.join()


def ranked(found: list[float], share: float) -> float:
    """Return the time, in ms, that so large a share of the times does not pass."""
    return sorted(found)[min(len(found) - 1, int(share * len(found)))] * 1000


def latencies(folder: Path, files: int) -> bool:
    """Measure from close to start."""
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    few = max(10, files // 4)
    jobs: dict[float, list[float]] = {SHORT_S: [], DEFAULT_S: []}
    runs: dict[float, list[float]] = {SHORT_S: [], DEFAULT_S: []}
    raw: dict[str, list[float]] = {"inotify": [], "watchfiles": []}
    with (
        daemon(folder) as served,
        Client(served.socket) as client,
        inotify(folder / "raw", log) as told,
        bare_watchfiles(folder / "bare", log) as hinted,
    ):
        for quiet_s in jobs:
            watch(client, folder / f"quiet-{quiet_s}", quiet_s)
        started = Started(client)
        client.send("EventsSubscribe", {"workbench_id": "*", "cursors": {}})
        for quiet_s, count in ((SHORT_S, files), (DEFAULT_S, few)):
            for number in range(count + 1):
                job, run = started.once(folder / f"quiet-{quiet_s}", number)
                if number:  # The first one warms up.
                    jobs[quiet_s].append(job)
                    runs[quiet_s].append(run)
                if quiet_s == SHORT_S:
                    raw["inotify"].append(told(number))
                    raw["watchfiles"].append(hinted(number))
    os.close(log)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        figures = {each: ranked(found, share) for each, found in raw.items()}
        for quiet_s, found in jobs.items():
            whole = ranked(found, share)
            figures[f"kbd, quiet {quiet_s} s"] = whole
            figures[f"kbd, quiet {quiet_s} s, less that"] = whole - quiet_s * 1000
            figures[f"until the model's run, quiet {quiet_s} s"] = ranked(runs[quiet_s], share)
        counts = f"{files} files, {few} with quiet {DEFAULT_S} s"
        table(f"file closed to run started, {name} ({counts})", "ms", figures, "watchfiles")
    ours = ranked(jobs[SHORT_S], 0.5) - SHORT_S * 1000
    return gate("what kbd adds to its quiet time, p50, s", ours / 1000, most=0.5)


# Idle.


def trees(folder: Path) -> None:
    """Make the trees: small files, some below each other."""
    for tree in range(WATCHES):
        for number in range(FILES):
            place = folder / f"tree-{tree}" / f"{number % 20:02}"
            if number < 20:
                place.mkdir(parents=True)
            (place / f"{number:05}.csv").write_text(ROWS, encoding="utf-8")


def idle(folder: Path, minutes: float) -> bool:
    """Measure what a daemon uses that has nothing to do."""
    with daemon(folder) as served, Client(served.socket) as client:
        time.sleep(3)
        lone_mib, begun, spent = served.rss_mib(), time.perf_counter(), served.cpu_s()
        time.sleep(15)
        lone = (served.cpu_s() - spent) / (time.perf_counter() - begun) * 100
        begun = time.perf_counter()
        for tree in range(WATCHES):
            watch(client, folder / "trees" / f"tree-{tree}", DEFAULT_S)
        added_s = time.perf_counter() - begun
        time.sleep(20)  # The scans that come first are over then.
        begun, spent = time.perf_counter(), served.cpu_s()
        time.sleep(minutes * 60)
        busy = (served.cpu_s() - spent) / (time.perf_counter() - begun) * 100
        mib = served.rss_mib()
    bare = look("bare", folder / "trees")
    figures = {
        "bare walk every 60 s": bare.cpu_seconds / RESCAN_S * 100,
        "kbd, no watch": lone,
        f"kbd, {WATCHES} watches": busy,
    }
    title = f"idle, {WATCHES} watches over {bare.files:,} files, {minutes:g} minutes"
    table(title, "% of core", figures, "bare walk every 60 s")
    memory = {"kbd, no watch": lone_mib, f"kbd, {WATCHES} watches": mib}
    table("memory (RSS)", "MiB", memory, "kbd, no watch")
    begun = time.perf_counter()
    with daemon(folder):
        again_s = time.perf_counter() - begun
    print(f"  {WATCHES} watches were added in {added_s:.1f} s; started again in {again_s:.2f} s")
    return gate("idle, % of a core", busy, most=5)


def look(who: str, folder: Path) -> Look:
    """Look through a folder in a process of its own."""
    command = [sys.executable, "-m", "benchmarks._watching", who, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Look)


def rescan(folder: Path) -> bool:
    """Measure a look through all files."""
    found = {"bare walk": look("bare", folder), "kbd": look("kbd", folder)}
    title = f"rescan of {found['kbd'].files:,} files"
    table(title, "s", {name: each.seconds for name, each in found.items()}, "bare walk")
    spent = {name: each.cpu_seconds for name, each in found.items()}
    table(f"{title}, processor time", "s", spent, "bare walk")
    ratio = spent["kbd"] / spent["bare walk"]
    return gate("a rescan against a bare walk, processor time", ratio, most=5)


def main() -> int:
    """Measure all; 1 if a gate is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=2.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        (folder / "first").mkdir(mode=0o700)  # As a socket needs it.
        met = [latencies(folder / "first", asked.files)]
        trees(folder / "trees")
        met += [idle(folder, asked.minutes), rescan(folder / "trees")]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
