"""Whether a daemon stays as it is for hours: `python benchmarks/soak.py [--minutes 120]`.

A daemon on a home of its own gets, all at once and for as long as it is told:

    runs       workbenches with a table, which a run sorts; the draft is published, undone, or
               discarded, and the workbench is deleted, at once or some nights later
    landings   files in a watched folder, each of which has a run that is published by itself; what
               is done is archived and removed by the rule, a day after each other
    followers  clients that follow all logs for a while, and read lists meanwhile
    clients    short connections, every third one hung up in the middle of a request

Now and then there is a night, in which nobody works: the daemon's clock is moved on by a day
(benchmarks/_moved_daemon.py), blobs are collected, what is due is archived and removed, all is
verified by the scrubber, and whoever wakes first has an archive unpacked and all pruned that rests.

Each minute a line says what the daemon has: memory, descriptors, threads, processes below it,
processor time and disk, with and without the daemon's own log, which keeps what happened. At the
end the last quarter is compared with the second one; what has grown by more than its allowance is
named, and so is what belongs to the mix and was never done. Then it exits with 1. `--home FOLDER`
keeps the home.
"""

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks._daemon import Daemon, running
from benchmarks._landings import Told, disk_bytes, read_told
from benchmarks._moved_daemon import Order, order
from kbd.client.blocking import Client, ConnectionLostError, RemoteError

ROWS = "Day,Kind,Sum\n" + "".join(
    f"2024-01-{28 - row % 28:02},Kind {row % 5},{row * 3.25:.2f}\n" for row in range(55)
)
MODEL, PROMPT = "offline:planner", "sort by Day"

SAMPLES = 40
"""The least number of samples, however short it is."""

MINUTE_S = 60.0
KEPT_LANDED = 10
"""So many files stay in the watched folder."""

DAY_S = 86_400.0
NIGHTS, LEAST_APART_S = 40, 45.0
"""So many nights, if they are so far apart."""

ASLEEP_S = 60.0
"""Within it whatever is under way when a night begins has come to its end."""

SCRUBBED_S = 8.0
"""Within it the scrubber looks, finds that nobody works, and verifies what is due."""

KEPT_NIGHTS = 2
"""After so many a workbench is deleted whose draft was undone: its blobs are collected by then."""

SETTINGS = """\
[scrub]
days = 1

[retention]
archive_after_days = 1
remove_after_days = 1
discarded_after_days = 1
"""


class Sample(msgspec.Struct, frozen=True):
    """What a daemon has at a moment.

    Args:
        at_s: When, from the beginning on.
        rss_mib: Its memory.
        anonymous_mib: That part of it that no file has.
        descriptors: Its open ones.
        threads: Its threads.
        processes: Those below it.
        cpu_s: The processor time that it has used.
        disk_mib: What the home takes.
        rest_mib: That of it that is not the daemon's log.
    """

    at_s: float
    rss_mib: float
    anonymous_mib: float
    descriptors: int
    threads: int
    processes: int
    cpu_s: float
    disk_mib: float
    rest_mib: float


class Allowance(msgspec.Struct, frozen=True):
    """By how much a figure may grow from the second quarter to the last.

    Args:
        name: The figure.
        factor: Times as much.
        more: And so much more.
    """

    name: str
    factor: float
    more: float


ALLOWANCES = (
    Allowance("rss_mib", 1.05, 6.0),
    Allowance("anonymous_mib", 1.05, 6.0),
    Allowance("descriptors", 1.05, 6.0),
    Allowance("threads", 1.0, 4.0),
    Allowance("processes", 1.0, 4.0),
    Allowance("rest_mib", 1.1, 4.0),
)
CPU_FACTOR, CPU_MORE = 1.3, 0.05
"""The same of the processor's share."""


# What is done.


class Load:
    """Work for a daemon, by threads that go on until they are told to end.

    Args:
        daemon: The daemon.
        folder: Where the files are made.

    Attributes:
        failures: What failed, and why.
        counts: How often what was done.
    """

    def __init__(self, daemon: Daemon, folder: Path) -> None:
        self.failures: list[str] = []
        self.counts: dict[str, int] = {}
        self._path, self._folder = daemon.path, folder
        self._ended, self._night = threading.Event(), threading.Event()
        self._busy = threading.Semaphore(0)
        self._threads: list[threading.Thread] = []
        # Workbenches whose drafts were undone, with the night before.
        self._undone: list[tuple[str, int]] = []

    def start(self) -> None:
        """Begin."""
        for work in (self.run_once, self.land_once, self.follow_once, self.connect_once):
            thread = threading.Thread(target=self._repeat, args=(work,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """End, once what is under way is done."""
        self._ended.set()
        for thread in self._threads:
            thread.join(60)

    def pass_night(self, orders: Path) -> None:
        """Have all pause, the day end, and the first to wake have an archive unpacked and prune.

        Args:
            orders: The daemon's socket for orders.
        """
        self._night.set()
        try:
            for _ in self._threads:
                if not self._busy.acquire(timeout=ASLEEP_S):
                    self.failures.append("night: somebody does not come to an end")
            self._attempt("night", lambda: self._end_day(orders))
        finally:
            self._night.clear()

    def _end_day(self, orders: Path) -> None:
        order(orders, Order(DAY_S))
        time.sleep(SCRUBBED_S)
        with Client(self._path) as client:
            while self._undone and self._undone[0][1] + KEPT_NIGHTS <= self.counts.get("night", 0):
                client.send("WorkbenchDelete", {"workbench_id": self._undone.pop(0)[0]})
            asked = {"query": "landed", "status": ["archived"], "limit": 1}
            for row in client.send("WorkbenchList", asked)["workbenches"]:
                client.send("WorkbenchUnarchive", {"workbench_id": row["id"]}, 60)
            client.send("StoragePrune", {"older_s": 0}, 600)

    def _repeat(self, work: Callable[[int], None]) -> None:
        number = 0
        while not self._ended.is_set():
            if self._night.is_set():
                self._busy.release()
                while self._night.is_set():
                    self._ended.wait(0.05)
            number += 1
            self._attempt(work.__name__, lambda number=number: work(number))  # type: ignore[misc]

    def _attempt(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
            self.counts[name] = self.counts.get(name, 0) + 1
        except (RemoteError, ConnectionLostError, OSError) as error:
            self.failures.append(f"{name} {self.counts.get(name, 0) + 1}: {error}")
            self._ended.wait(1)

    def run_once(self, number: int) -> None:
        """Make a workbench, run in it, end the draft in one of four ways, and delete it."""
        source = self._folder / "sales.csv"
        source.write_text(ROWS, encoding="utf-8")
        with Client(self._path) as client:
            made = client.send("WorkbenchCreate", {"name": f"soak {number}"})
            bench = {"workbench_id": made["workbench_id"]}
            client.send("WorkbenchFilesAdd", {**bench, "source_paths": [str(source)]})
            message = client.send("WorkshopSendUserMessage", {**bench, "text": PROMPT})
            named = {**bench, "message_id": message["message_id"]}
            client.send("WorkshopRunAgent", {**bench, "model_id": MODEL}, 120)
            match number % 8:
                case 0:
                    # What only its draft had is collected a day later, and it is deleted then.
                    client.send("WorkshopUndoToMessage", named)
                    self._undone.append((made["workbench_id"], self.counts.get("night", 0)))
                    return
                case 1 | 2 | 3:
                    client.send("DraftPublish", bench)
                    client.send("WorkshopUndoToMessage", named)
                case 4 | 5:
                    client.send("DraftPublish", bench)
                case _:
                    client.send("DraftDiscard", bench)
            client.send("WorkbenchDelete", bench)
        self._ended.wait(0.5)

    def land_once(self, number: int) -> None:
        """Have a file land; its workbench is archived in the next night, and removed in another."""
        inbox = self._folder / "inbox"
        if number == 1:
            inbox.mkdir()
            rule = {
                "folder": str(inbox), "prompt": PROMPT, "publish": "auto", "quiet_s": 0.1,
                "limits": {"runs_per_hour": 100_000}, "model_id": MODEL, "name": "landed",
                "retention": {"archive_after_days": 1, "remove_after_days": 1},
            }  # fmt: skip
            with Client(self._path) as client:
                client.send("WatchAdd", rule, 300)
        file = inbox / f"landed-{number:06}.csv"
        # Content that landed before, under a name that is gone, would have been moved: no run.
        file.write_text(f"{ROWS}2024-02-01,Kind 1,{number}.00\n", encoding="utf-8")
        self._ended.wait(4)
        if number > KEPT_LANDED:
            (inbox / f"landed-{number - KEPT_LANDED:06}.csv").unlink()

    def follow_once(self, number: int) -> None:
        """Follow all logs for a while, with lists in between."""
        del number
        until = time.monotonic() + 10
        with Client(self._path) as follower, Client(self._path) as lister:
            for _ in follower.follow_all({}):
                lister.send("WorkbenchList", {"limit": 50, "descending": True})
                lister.send("RunList", {"limit": 50, "descending": True})
                if time.monotonic() > until or self._ended.is_set() or self._night.is_set():
                    break
                time.sleep(0.02)

    def connect_once(self, number: int) -> None:
        """Connect, ask, and go; or hang up in the middle."""
        if number % 3:
            with Client(self._path) as client:
                client.send("EngineGetInfo")
                client.send("DaemonGetMetrics")
        else:
            line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "RunList", "params": {}})
            with socket.socket(socket.AF_UNIX) as hung_up:
                hung_up.connect(self._path)
                hung_up.sendall(line.encode()[: 20 if number % 2 else None])
        self._ended.wait(0.3)


# What is seen.


def take_sample(daemon: Daemon, begun_s: float) -> Sample:
    """Look at a daemon and its home."""
    status = Path(f"/proc/{daemon.pid}/status").read_text("ascii")

    def field(name: str) -> int:
        return int(status.partition(f"{name}:")[2].split()[0])

    fields = Path(f"/proc/{daemon.pid}/stat").read_text("ascii").rpartition(")")[2].split()
    disk_kib = subprocess.run(
        ["du", "-sk", str(daemon.home)],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ).stdout.split()  # fmt: skip
    disk_mib = int(disk_kib[0]) / 1024
    return Sample(
        at_s=time.monotonic() - begun_s,
        rss_mib=field("VmRSS") / 1024,
        anonymous_mib=field("RssAnon") / 1024,
        descriptors=len(os.listdir(f"/proc/{daemon.pid}/fd")),
        threads=field("Threads"),
        processes=_processes_below(daemon.pid),
        cpu_s=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
        disk_mib=disk_mib,
        rest_mib=disk_mib - disk_bytes(daemon.home / "daemon" / "log") / 2**20,
    )


def _processes_below(pid: int) -> int:
    count, left = 0, [pid]
    while left:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{left.pop()}/task").iterdir():
                children = (task / "children").read_text("ascii").split()
                count += len(children)
                left += map(int, children)
    return count


def show(sample: Sample, before: Sample | None) -> None:
    """Print a sample as a line."""
    share = _cpu_share((before, sample)) if before is not None else 0.0
    print(
        f"{sample.at_s / 60:>6.1f} {sample.rss_mib:>9.1f} {sample.anonymous_mib:>9.1f}"
        f" {sample.descriptors:>6} {sample.threads:>7} {sample.processes:>9}"
        f" {100 * share:>7.1f}% {sample.disk_mib:>9.1f} {sample.rest_mib:>7.1f}",
        flush=True,
    )


def _cpu_share(samples: Sequence[Sample]) -> float:
    """Return what part of a processor was used from the first sample to the last."""
    first, last = samples[0], samples[-1]
    return (last.cpu_s - first.cpu_s) / max(last.at_s - first.at_s, 0.001)


def judge(samples: Sequence[Sample]) -> bool:
    """Compare the last quarter with the second; say what has grown, return whether all is flat."""
    size = len(samples) // 4
    second, last = samples[size : 2 * size], samples[-size:]
    is_flat = True
    for allowed in ALLOWANCES:
        was, is_now = (
            statistics.median(msgspec.structs.asdict(each)[allowed.name] for each in quarter)
            for quarter in (second, last)
        )
        most = was * allowed.factor + allowed.more
        is_flat = _tell(allowed.name, was, is_now, most) and is_flat
    was, is_now = _cpu_share(second), _cpu_share(last)
    return _tell("processor", was, is_now, was * CPU_FACTOR + CPU_MORE) and is_flat


def _tell(name: str, was: float, is_now: float, most: float) -> bool:
    is_flat = is_now <= most
    mark = "flat " if is_flat else "GROWS"
    print(f"  {mark} {name:<14} {was:>9.2f} -> {is_now:>9.2f} (at most {most:.2f})")
    return is_flat


def mixed(told: Told, scrubbed: int) -> bool:
    """Print how often the home was tidied up, and return whether all of that was done."""
    done = {
        "archived by a rule": sum("archive_after_days" in each for each in told.archived.values()),
        "archived by a prune": sum("kbd prune" in each for each in told.archived.values()),
        "archives removed by a rule": sum("remove_after_days" in e for e in told.removed.values()),
        "archives unpacked": told.counts.get("WorkbenchUnarchived", (0, 0))[0],
        "copies of landed files collected": told.reclaimed.get("landed", 0),
        "versions of drafts that ended collected": told.reclaimed.get("discarded", 0),
        "logs scrubbed": scrubbed,
    }
    for what, count in done.items():
        print(f"  {'done ' if count else 'NEVER'} {what:<40} {count:>7,}")
    return all(done.values())


def scrubbed_logs(path: str) -> int:
    """Return how many logs the daemon's scrubber has found whole."""
    with Client(path) as client:
        text: str = client.send("DaemonGetMetrics")["text"]
    found = text.partition('kbd_scrub_logs_total{result="whole"} ')[2].split("\n", 1)[0]
    return int(float(found or 0))


def soak(folder: Path, minutes: float) -> bool:
    """Let a daemon work for so long; return whether it stays as it is."""
    interval_s = min(MINUTE_S, minutes * 60 / SAMPLES)
    apart_s = max(LEAST_APART_S, minutes * 60 / NIGHTS)
    samples: list[Sample] = []
    home, orders = folder / "h", folder / "orders"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    words = ["-m", "benchmarks._moved_daemon", str(home), str(orders), "--scrub"]
    print(" minute       RSS anonymous  files threads processes processor      disk    rest")
    with running(home, {"KBD_SEARCH_EMBEDDER": "none"}, words) as daemon:
        load, begun_s, shown = Load(daemon, folder), time.monotonic(), None
        load.start()
        night_s = begun_s + apart_s
        try:
            while time.monotonic() - begun_s < minutes * 60:
                time.sleep(interval_s)
                samples.append(take_sample(daemon, begun_s))
                if shown is None or samples[-1].at_s - shown.at_s >= MINUTE_S - interval_s / 2:
                    show(samples[-1], shown)
                    shown = samples[-1]
                if time.monotonic() >= night_s:
                    load.pass_night(orders)
                    night_s += apart_s
        finally:
            load.stop()
        scrubbed = scrubbed_logs(daemon.path)
        told = read_told(home / "daemon" / "log")
    print("  done:", ", ".join(f"{count} {name}" for name, count in load.counts.items()))
    for failure in load.failures[:20]:
        print(f"  FAILED {failure}")
    is_mixed = mixed(told, scrubbed)
    return judge(samples) and is_mixed and not load.failures


def main() -> int:
    """Soak; return 1 if something grows or fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0, help="how long")
    parser.add_argument("--home", type=Path, help="an empty folder, which stays")
    arguments = parser.parse_args()
    if arguments.home is not None:
        arguments.home.mkdir(parents=True, exist_ok=True)
        return 0 if soak(arguments.home, arguments.minutes) else 1
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder:
        return 0 if soak(Path(folder), arguments.minutes) else 1


if __name__ == "__main__":
    sys.exit(main())
