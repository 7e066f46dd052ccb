"""What kbd costs as a home grows: `python benchmarks/growth.py [--sizes 100,1000,10000]`.

For each size a home is made (benchmarks/_homes.py) as a watched folder leaves one, and the real
daemon is asked what people and programs ask it: to start, with and without its index; for the
newest workbenches and runs; to search; to follow all logs; to verify; to back up. Beside that
stands what anything like it costs at the least: a bare round trip, the same rows out of SQLite, a
walk over the logs, a process of Python that does nothing.

With `--home FOLDER` the homes stay there, by their sizes, for the next time. Everything is in the
system's cache, for it was just written: a first start after a boot waits for the disk, too.
"""

import argparse
import contextlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchmarks._daemon import Daemon, running
from benchmarks._growth import (
    Figures,
    Held,
    children_cpu_s,
    cpu_s,
    event_costs,
    follow_all,
    held,
    shown,
    timed,
    until_read,
    walk_logs,
)
from benchmarks._homes import MadeHome, make_home
from kbd.client.blocking import Client, RemoteError

SIZES = "100,1000"
TURNS, CALLS, EVENTS = 3, 15, 200
FEW = 1000
"""Up to so many workbenches what goes over all of them is done more than once, and backed up."""

PAGE = {"limit": 50, "descending": True}
FIRST, AGAIN = "WorkbenchList, 50 newest, first", "WorkbenchList, 50 newest, again"
STATUS = "kbd status, first"
RUNS, STARTED = "RunList, 50 newest", "start until it answers, with an index"
ALONE, HEARD = "an event, daemon's processor", "an event to one follower of *, the same"
EMPTY = "start over an empty home"
PROCESSOR = ", its processor"
ALL = ("WorkbenchList", "RunList")
GOAL_SIZE, MEMORY_MIB = 10_000, 200

KBD = str(Path(sys.executable).with_name("kbd"))


class Grown(msgspec.Struct, frozen=True):
    """What was found at one size.

    Args:
        figures: The times.
        held: What the daemon held at which moment.
        notes: What else was found, a line each.
    """

    figures: Figures
    held: dict[str, Held]
    notes: list[str]


@contextmanager
def served(home: Path, figures: Figures, what: str) -> Iterator[Daemon]:
    """Run the daemon of a home, and note how long it took until it answered."""
    begun = time.perf_counter()
    with running(home) as daemon:
        with Client(daemon.path) as client:
            client.send("EngineGetInfo", timeout=600)
        figures.note(what, time.perf_counter() - begun)
        figures.note(f"{what}{PROCESSOR}", cpu_s(daemon.pid))
        yield daemon


def kbd(home: Path, *words: str) -> float:
    """Run a command to its end; return the seconds."""
    command = [KBD, "--home", str(home), *words]

    def run() -> None:
        # What it says is of no interest here; 1 is its answer, for the home has damaged logs.
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, check=False, stdout=quiet, stderr=quiet)
        assert done.returncode in (0, 1)

    return timed(run)


# The parts.


def anew(made: MadeHome, found: Grown) -> None:
    """Start without an index, first without a snapshot of the daemon's state, too."""
    turns, used, read = TURNS if len(made.ids) <= FEW else 1, 0.0, 0.0
    for what in ("start, no index, no snapshot", *["start, no index"] * turns):
        for path in (made.home / "daemon").glob("index.sqlite3*"):
            path.unlink()
        if "snapshot" in what:
            shutil.rmtree(made.home / "daemon" / "snap", ignore_errors=True)
        with (
            served(made.home, found.figures, what) as daemon,
            Client(daemon.path) as client,
        ):
            before = cpu_s(daemon.pid)
            found.figures.note("all logs read into the index", until_read(client, found.figures))
            used = cpu_s(daemon.pid) - before
            # The reader ends a moment after its last row.
            while not (read := children_cpu_s(daemon.pid)):
                time.sleep(0.05)
            found.held["while it is made anew, after"] = held(daemon)
    told = f"{shown(read)} of the reader's processor, {shown(used)} of the daemon's"
    found.notes.append(f"reading all logs took {told}")


def first_lists(made: MadeHome, found: Grown) -> None:
    """Start with an index, and ask for the first list in each of the ways."""
    figures = found.figures
    for _ in range(TURNS):
        with (
            tempfile.TemporaryDirectory(prefix="kbd-") as folder,
            served(Path(folder, "h"), figures, EMPTY),
        ):
            pass
        with served(made.home, figures, STARTED) as daemon, Client(daemon.path) as client:
            figures.note(FIRST, timed(partial(client.send, "WorkbenchList", PAGE)))
            found.held["after a first list"] = held(daemon)
        with served(made.home, figures, STARTED):
            figures.note(STATUS, kbd(made.home, "status"))
            figures.note("kbd status, again", kbd(made.home, "status"))


def calls(client: Client, made: MadeHome, figures: Figures) -> None:
    """Ask for lists over a connection, many times."""
    number = len(made.ids) // 2
    word = f"statement-{number // 10:06}"
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "EngineGetInfo (a bare round trip)": ("EngineGetInfo", {}),
        AGAIN: ("WorkbenchList", PAGE),
        RUNS: ("RunList", PAGE),
        "WorkbenchList, 50 found by a name": ("WorkbenchList", {**PAGE, "query": word}),
        "RunList, 50 found by a word of all": ("RunList", {**PAGE, "query": "sort day"}),
        "RunList, found by a name": ("RunList", {**PAGE, "query": word}),
        "WorkbenchList, drafts": ("WorkbenchList", {**PAGE, "status": ["draft"]}),
        "RunList, 50 newest that failed": ("RunList", {**PAGE, "status": ["failed"]}),
    }
    for _ in range(CALLS):
        for what, (method, params) in asked.items():
            figures.note(what, timed(partial(client.send, method, params)))
    for method in ALL:
        figures.note(f"{method}, all rows", timed(partial(client.send, method, {}, 600)))


def commands(made: MadeHome, figures: Figures) -> None:
    """Run the commands that list, each a process."""
    for words in (("runs",), ("wb", "list")):
        for _ in range(TURNS):
            figures.note(f"kbd {' '.join(words)}", kbd(made.home, *words))
    for _ in range(TURNS):
        bare = partial(subprocess.run, [sys.executable, "-c", "pass"], check=True)
        figures.note("python -c pass", timed(bare))


def following(daemon: Daemon, made: MadeHome, found: Grown) -> None:
    """Follow all logs, and record events with a follower of all and without."""
    figures, ends, size_mb = found.figures, dict[str, int](), 0.0
    for _ in range(TURNS if len(made.ids) <= FEW else 1):
        seconds, size_mb, ends = follow_all(daemon, {})
        figures.note("follow * from nothing until synced", seconds)
    found.notes.append(f"following all logs from nothing took {size_mb:,.0f} MB")
    found.held["after follow * from nothing"] = held(daemon)
    for _ in range(TURNS):
        figures.note("follow * with all cursors until synced", follow_all(daemon, ends)[0])
    with Client(daemon.path) as client:
        bench = client.send("WorkbenchCreate", {"name": "messages"})["workbench_id"]
        for _ in range(TURNS):
            figures.note(ALONE, event_costs(daemon, bench, None, EVENTS)[0])
            ends = follow_all(daemon, ends)[2]
            used, seconds = event_costs(daemon, bench, ends, EVENTS)
            figures.note(HEARD, used)
            figures.note("an event until one follower of * has it", seconds)
        client.send("WorkbenchDelete", {"workbench_id": bench}, 60)


def whole(daemon: Daemon, made: MadeHome, found: Grown) -> None:
    """Verify a workbench and, if there are few, back up the home."""
    sound = made.ids[len(made.ids) // 2]
    with Client(daemon.path) as client:
        for _ in range(TURNS):
            verify = partial(client.send, "LogVerify", {"workbench_id": sound}, 60)
            found.figures.note("LogVerify of one workbench", timed(verify))
        if len(made.ids) > FEW:
            found.notes.append(f"backup is measured up to {FEW:,} workbenches")
            return
        target = made.folder / "backup"
        backup = partial(client.send, "BackupCreate", {"target": str(target)}, 1200)
        try:
            found.figures.note("backup of the home", timed(backup))
        except RemoteError as error:
            found.notes.append(f"the backup failed: {error}")
    shutil.rmtree(target, ignore_errors=True)
    copied = timed(partial(shutil.copytree, made.home / "workbenches", target))
    found.figures.note("  a bare copy of the workbenches, not synced", copied)
    shutil.rmtree(target)


def raw_limits(made: MadeHome, found: Grown) -> None:
    """Do the least that the same answers cost, without a daemon."""
    figures = found.figures
    # From a copy: another process that reads the file would keep it from being tidied up.
    with tempfile.TemporaryDirectory() as folder:
        for path in (made.home / "daemon").glob("index.sqlite3*"):
            shutil.copy(path, folder)
        size_mib = (Path(folder) / "index.sqlite3").stat().st_size / 2**20
        with closing(sqlite3.connect(f"{folder}/index.sqlite3")) as index:
            for table, order in (("workbenches", "created_at_us"), ("runs", "started_at_us")):
                rows = f"SELECT row FROM {table} ORDER BY {order} DESC LIMIT 50"
                count = f"SELECT COUNT(*) FROM {table}"
                for _ in range(CALLS):
                    read = timed(lambda rows=rows: index.execute(rows).fetchall())  # type: ignore[misc]
                    figures.note(f"bare SQLite: 50 rows of {table}", read)
                    read = timed(lambda count=count: index.execute(count).fetchall())  # type: ignore[misc]
                    figures.note(f"bare SQLite: how many {table}", read)
    found.notes.append(f"the index has {size_mib:.1f} MiB")
    walked = walk_logs(made.home)
    for _ in range(TURNS):
        walked = walk_logs(made.home)
        figures.note("bare: names and sizes of all logs", walked.scanned_s)
        figures.note("bare: all logs read", walked.read_s)
    found.notes.append(f"the logs have {walked.size_bytes / 1e6:,.0f} MB")


def measure(made: MadeHome) -> Grown:
    """Measure all at one size."""
    found = Grown(Figures(), {}, [])
    held_at = found.held
    anew(made, found)
    first_lists(made, found)
    with served(made.home, found.figures, STARTED) as daemon:
        held_at["after a start"] = held(daemon)
        with Client(daemon.path) as client:
            calls(client, made, found.figures)
            held_at["after the lists"] = held(daemon)
            for _ in range(TURNS):
                approvals = partial(client.send, "ApprovalList", {}, 600)
                found.figures.note("ApprovalList", timed(approvals))
            held_at["after ApprovalList"] = held(daemon)
        commands(made, found.figures)
        held_at["after the commands"] = held(daemon)
        following(daemon, made, found)
        held_at["after the events"] = held(daemon)
        whole(daemon, made, found)
        held_at["at the end"] = held(daemon)
    raw_limits(made, found)
    return found


# What is printed.


def show(made: MadeHome, found: Grown) -> None:
    """Print the table of one size."""
    print(f"\n{len(made.ids):,} workbenches", flush=True)
    found.figures.show()
    heads = f"{'MiB':>7} {'most MiB':>9} {'fds':>5} {'threads':>8} {'children':>9} {'open':>5}"
    print(f"  {'the daemon holds':<38} {heads}")
    for when, each in found.held.items():
        memory = f"{each.rss_mib:>7.1f} {each.peak_mib:>9.1f} {each.descriptors:>5}"
        others = f"{each.threads:>8} {each.children:>9} {each.workbenches:>5}"
        print(f"  {when:<38} {memory} {others}")
    print("".join(f"  {note}\n" for note in found.notes), end="", flush=True)


def judge(grown: dict[int, Grown]) -> None:
    """Print which of the goals are held by the largest home; they are set for `GOAL_SIZE`."""
    size = max(grown)
    found, least = grown[size], grown[min(grown)]
    figures, at = found.figures, found.held
    start, lists = at["after a start"], at["after the lists"]
    peak_mib = max(each.peak_mib for each in at.values())
    more = lists.descriptors - least.held["after the lists"].descriptors
    start_s, list_s, status_s, runs_s = map(figures.median, (STARTED, FIRST, STATUS, RUNS))
    empty_s, start_cpu_s = figures.median(EMPTY), figures.median(f"{STARTED}{PROCESSOR}")
    start_told = f"{shown(start_s)}, {shown(start_cpu_s)} of processor"
    event_s, event_there_s = figures.least(HEARD), least.figures.least(HEARD)
    costs = f"{shown(event_s)}, there {shown(event_there_s)}"
    goals = {
        f"a start within 1 s: {start_told}; over an empty home {shown(empty_s)}": start_s <= 1,
        f"a first list within 0.3 s: {shown(list_s)}": list_s <= 0.3,
        f"a first kbd status within 0.3 s: {shown(status_s)}": status_s <= 0.3,
        f"50 runs within 20 ms: {shown(runs_s)}": runs_s <= 0.02,
        f"no workbench opened for a list: {lists.workbenches}": lists.workbenches == 0,
        f"descriptors flat over the lists: from {start.descriptors} to {lists.descriptors}": (
            lists.descriptors <= start.descriptors + 1  # the client that asked
        ),
        f"memory under {MEMORY_MIB} MiB: at most {peak_mib:.0f}": peak_mib < MEMORY_MIB,
        f"as many descriptors as over the smallest home: {more:+}": abs(more) <= 4,
        f"an event costs what it costs there: {costs}": event_s <= 1.25 * event_there_s,
    }
    print(f"\nGoals for {GOAL_SIZE:,} workbenches, here at {size:,} (times are medians)")
    for what, is_held in goals.items():
        print(f"  {'held  ' if is_held else 'MISSED'} {what}")


# The homes.


@contextmanager
def home_of(count: int, kept: Path | None) -> Iterator[MadeHome]:
    """Make a home, or take the one that was kept."""
    with contextlib.ExitStack() as left:
        if kept is None:
            folder = Path(left.enter_context(tempfile.TemporaryDirectory(prefix="kbd-")), "h")
        else:
            folder = kept / str(count)
        told = folder / "made.json"
        if told.exists():
            made = msgspec.json.decode(told.read_bytes(), type=MadeHome, dec_hook=_path)
        else:
            made = make_home(folder, count)
            told.write_bytes(msgspec.json.encode(made, enc_hook=str))
        size = f"{made.disk_bytes / 2**20:,.0f} MiB, {made.inodes:,} files and folders"
        print(f"\na home of {count:,} took {made.seconds:.1f} s to make: {size}", flush=True)
        yield made


def _path(kind: type[Path], text: str) -> Path:
    return kind(text)


def main() -> None:
    """Measure each size, print, and judge."""
    parser = argparse.ArgumentParser(description="What kbd costs as a home grows.")
    parser.add_argument("--sizes", default=SIZES, help="how many workbenches, by commas")
    parser.add_argument("--home", type=Path, help="keep the homes in this folder; a short path")
    given = parser.parse_args()
    grown: dict[int, Grown] = {}
    for count in map(int, given.sizes.split(",")):
        with home_of(count, given.home.absolute() if given.home else None) as made:
            grown[count] = measure(made)
            show(made, grown[count])
    judge(grown)


if __name__ == "__main__":
    main()
