"""What a long log costs: `python benchmarks/long_logs.py [--sizes 10000,1000000]`.

For each size the log of one workbench is written: a run that a real daemon did, again and again,
with numbers and times of its own (what it did to files is left out). Then the real daemon is asked
what people and programs ask: to open the workbench, with and without its snapshots, for the last
events, for those of a type or a run, for pages of the conversation and the steps of a run, and to
record a message and to do one more run. Beside each figure stands how many times as long it took
as with the shortest log. That everything is flat is the goal, and 100 ms to open.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from benchmarks._daemon import running
from benchmarks._growth import Held, held, shown, timed
from benchmarks._history import Unsynced
from benchmarks._homes import ROWS
from kbd.client.blocking import Client
from kbd.events import EventLog, Recorded, drafts
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded

SIZES = "10000,1000000"
TURNS = 7
GOAL_S, FLAT = 0.1, 3.0
LEAST_GROWN_S = 0.002
"""What takes less longer than this has not grown: other work on the machine does as much."""

TIMEOUT_S = 3600.0
OPEN = "open, from its snapshot"
MINUTE_US = 60_000_000

KBD = str(Path(sys.executable).with_name("kbd"))

_OF_FILES = (
    drafts.DraftOpened,
    drafts.FileChanged,
    drafts.PublishIntended,
    drafts.PublishCompleted,
    drafts.CheckpointCreated,
    drafts.ReceiptMade,
)


class Measured(msgspec.Struct, frozen=True):
    """What was found at one size: times in seconds, what the daemon held, what lies on disk."""

    times: dict[str, float]
    held: Held
    log_bytes: int
    snapshot_bytes: int


def do_job(home: Path, folder: Path) -> Path:
    """Have a real daemon do a run; return its workbench's folder."""
    table = folder / "sums.csv"
    table.write_text(ROWS, encoding="utf-8")
    command = [KBD, "--home", str(home), "run", "total of Sum by Kind", str(table)]
    subprocess.run([*command, "--model", "offline:planner"], check=False, capture_output=True)
    subprocess.run([KBD, "--home", str(home), "stop"], check=True, capture_output=True)
    (workbench,) = (home / "workbenches").iterdir()
    return workbench


def again(records: Sequence[Recorded], number: int, entries: int) -> Iterator[Recorded]:
    """Yield a run's events once more, as those of another run."""
    for record in records:
        data = record.data
        match data:
            case UserMessageAdded() | AssistantMessageAdded():
                data = msgspec.structs.replace(data, message_id=f"{data.message_id}-{number}")
            case ToolCalled() | ToolReturned():
                data = msgspec.structs.replace(data, entry_id=data.entry_id + entries)
            case _ if hasattr(data, "message_id"):
                data = msgspec.structs.replace(data, message_id=f"{data.message_id}-{number}")
            case _:
                pass
        yield msgspec.structs.replace(
            record,
            data=data,
            run=number if record.run else 0,
            ts_us=record.ts_us + number * MINUTE_US,
        )


def write_log(workbench: Path, events: int) -> int:
    """Write a workbench's log anew, of so many events; return how many runs it has."""
    records: list[Recorded] = []
    EventLog.view(workbench / "log").replay(lambda _seq, record: records.append(record))
    begin = next(n for n, each in enumerate(records) if isinstance(each.data, UserMessageAdded))
    run = [each for each in records[begin:] if not isinstance(each.data, _OF_FILES)]
    calls = max((e.data.entry_id for e in run if isinstance(e.data, ToolReturned)), default=0)
    shutil.rmtree(workbench / "log")
    log, number = EventLog.open(workbench / "log", disk=Unsynced()), 0
    log.append(records[:begin])
    while log.seq < events:
        made = list(again(run, number + 1, number * calls))
        for first in range(0, len(made), 4):
            log.append(made[first : first + 4])
        number += 1
    log.close()
    # A closed workbench has only those in which something lies.
    for name in ("snap", "meta", "cache"):
        if (workbench / name).exists():
            shutil.rmtree(workbench / name)
    return number


def questions(workbench_id: str, events: int, runs: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return what is asked, by what it is called."""
    here = {"workbench_id": workbench_id}
    newest = {"limit": 50, "descending": True}
    return {
        "the last 50 events": ("EventsRead", {**here, **newest}),
        "50 events in the middle": ("EventsRead", {**here, "after": events // 2, "limit": 50}),
        "the last 20 of a type": (
            "EventsRead",
            {**here, **newest, "limit": 20, "types": ["RunFinished"]},
        ),
        "a type that there is none of": ("EventsRead", {**here, "types": ["RunFailed"]}),
        "the events of a run in the middle": (
            "EventsRead",
            {**here, "run_id": f"{workbench_id}-{runs // 2}", "limit": 30},
        ),
        "the newest page of the conversation": ("WorkshopGetConversation", {**here, **newest}),
        "the first page of the conversation": ("WorkshopGetConversation", {**here, "limit": 50}),
        "the steps of a run in the middle": (
            "ReplaySteps",
            {"run_id": f"{workbench_id}-{runs // 2}", "limit": 20},
        ),
        "a run in the middle": ("RunGet", {"run_id": f"{workbench_id}-{runs // 2}"}),
        "how the workbench stands": ("WorkshopGetState", here),
    }


def asked(client: Client, method: str, params: dict[str, Any]) -> None:
    """Ask, and take the answer."""
    client.send(method, params, TIMEOUT_S)


def opened(home: Path, workbench_id: str) -> float:
    """Return how long it takes until a workbench that is closed says how it stands."""
    with running(home) as daemon, Client(daemon.path) as client:
        params = {"workbench_id": workbench_id}
        return timed(partial(asked, client, "WorkshopGetState", params))


def measure(folder: Path, events: int) -> Measured:
    """Write a log, and ask."""
    home = folder / "home"
    workbench = do_job(home, folder)
    runs = write_log(workbench, events)
    times = {"open, without a snapshot": opened(home, workbench.name)}
    # Closed in order, it has a snapshot up to its end.
    found = sorted(opened(home, workbench.name) for _ in range(3))
    times[OPEN] = median(found)
    with running(home) as daemon, Client(daemon.path) as client:
        asked(client, "WorkshopGetState", {"workbench_id": workbench.name})
        for what, (method, params) in questions(workbench.name, events, runs).items():
            work = partial(asked, client, method, params)
            times[what] = median(timed(work) for _ in range(TURNS))
        times |= go_on(client, workbench.name)
        seen = held(daemon)
    sizes = [
        sum(each.stat().st_size for each in (workbench / name).glob("*"))
        for name in ("log", "snap")
    ]
    return Measured(times, seen, *sizes)


def go_on(client: Client, workbench_id: str) -> dict[str, float]:
    """Send messages, and have one more run done."""
    here = {"workbench_id": workbench_id}
    say = partial(asked, client, "WorkshopSendUserMessage", {**here, "text": "total of Sum by Day"})
    sent = median(timed(say) for _ in range(TURNS))
    agent = {**here, "wait": True, "model_id": "offline:planner"}
    return {
        "a message": sent,
        "one more run, to its end": timed(partial(asked, client, "WorkshopRunAgent", agent)),
    }


def show(found: dict[int, Measured]) -> None:
    """Print a table: a row a question, a column a size."""
    sizes = sorted(found)
    least = found[sizes[0]].times
    print(f"\n{'':<38}" + "".join(f"{size:>14,} events" for size in sizes))
    for what, base in least.items():
        cells = (
            f"{shown(found[size].times[what]):>12} {found[size].times[what] / base:>5.1f}x"
            for size in sizes
        )
        print(f"  {what:<36}" + "  ".join(cells))
    facts: dict[str, Callable[[Measured], str]] = {
        "log": lambda one: f"{one.log_bytes / 2**20:,.0f} MiB",
        "snapshots": lambda one: f"{one.snapshot_bytes / 2**20:,.1f} MiB",
        "daemon, memory": lambda one: f"{one.held.rss_mib:,.0f} MiB",
        "daemon, memory at most": lambda one: f"{one.held.peak_mib:,.0f} MiB",
        "daemon, descriptors": lambda one: f"{one.held.descriptors}",
    }
    for what, fact in facts.items():
        print(f"  {what:<36}" + "".join(f"{fact(found[size]):>21}" for size in sizes))
    longest = found[sizes[-1]].times
    verdict = "met" if longest[OPEN] <= GOAL_S else "MISSED"
    print(f"\n{OPEN} at {sizes[-1]:,}: {shown(longest[OPEN])}, goal {shown(GOAL_S)}: {verdict}")
    growing = [
        f"{what} {longest[what] / base:.1f}x"
        for what, base in least.items()
        if longest[what] > max(FLAT * base, base + LEAST_GROWN_S) and "without" not in what
    ]
    print(f"more than {FLAT:.0f} times the shortest log's: {', '.join(growing) or 'nothing'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default=SIZES, help="events of a log, with commas")
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    found: dict[int, Measured] = {}
    for size in sorted(sizes):
        with tempfile.TemporaryDirectory() as name:
            found[size] = measure(Path(name), size)
        print(f"{size:,} events: opened in {shown(found[size].times[OPEN])}", flush=True)
    show(found)


if __name__ == "__main__":
    main()
