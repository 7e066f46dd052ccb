"""What a snapshot saves, and what finding an event's fold costs: `python benchmarks/snapshot.py`.

By processor time, on a log of a million events of 10,000 runs, eight events a commit:

    full replay     EventLog.open, then the fold of every event
    snapshot, tail  the newest snapshot read and decoded, EventLog.open that trusts it, its chain
                    value compared, then the fold of the last thousand events

and, without a log, `fold_workbench` against calling the same folds from a dict by type.
"""

import gc
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from benchmarks._measure import gate, interleave, table
from benchmarks.replay import Unsynced, event
from kbd.core.domain.fold import FOLDS, fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.snapshot_files import load_snapshot, save_snapshot
from kbd.events import EventLog, codec
from kbd.events.base import Recorded
from kbd.events.workbenches import ModelChosen, UserMessageAdded
from kbd.types import Seq

EVENTS, TAIL, RUNS, COMMIT = 1_000_000, 1_000, 10_000, 8
SCHEMA = "benchmark"
FOLDED = 20_000


class Told(msgspec.Struct):
    """What is known of a run."""

    status: str = "running"
    events: int = 0
    last: int = 0
    kinds: dict[str, int] = {}


class State(msgspec.Struct):
    """What is folded: some facts of each run."""

    seq: int = 0
    runs: dict[int, Told] = {}


def fold(state: State, seq: int, record: Recorded) -> None:
    """Count an event in."""
    told = state.runs.get(record.run)
    if told is None:
        told = state.runs[record.run] = Told()
    kind = type(record.data).__name__
    told.kinds[kind] = told.kinds.get(kind, 0) + 1
    told.events += 1
    told.last = state.seq = seq


def replayed(directory: Path, state: State, trusted: int = 0) -> State:
    """Open a log and fold what comes after a state."""
    log = EventLog.open(directory, trusted=Seq(trusted), disk=Unsynced())
    log.replay(lambda seq, record: fold(state, seq, record), Seq(state.seq))
    log.close()
    return state


def restored(directory: Path, folder: Path) -> State:
    """Begin with the newest snapshot, as a start does."""
    found = load_snapshot(folder, SCHEMA)
    assert found is not None
    log = EventLog.open(directory, trusted=found.seq, disk=Unsynced())
    assert log.chain_at(found.seq) == found.head
    state = msgspec.msgpack.decode(found.payload, type=State)
    log.replay(lambda seq, record: fold(state, seq, record), found.seq)
    log.close()
    return state


def make(directory: Path, folder: Path) -> None:
    """Write the log, and a snapshot before its tail."""
    log, state = EventLog.open(directory, disk=Unsynced()), State()
    each = EVENTS // RUNS
    for first in range(0, EVENTS, COMMIT):
        records = []
        for n in range(first, first + COMMIT):
            made = event(n)
            records.append(codec.wrap_event(made.data, made.ts_us, n // each, n))
        log.append(records)
        for seq, record in enumerate(records, first + 1):
            fold(state, seq, record)
        if state.seq == EVENTS - TAIL:
            payload = msgspec.msgpack.encode(state)
            assert save_snapshot(folder, Seq(state.seq), log.head, SCHEMA, payload)
    log.close()


def spent(work: Callable[[], object]) -> float:
    """Processor time, in milliseconds."""
    gc.collect()
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def dispatched(call: Callable[[WorkbenchState, Seq, Recorded], None]) -> None:
    """Fold the same small events again and again."""
    kinds = (ModelChosen("p:m"), UserMessageAdded("u", "t"))
    records = [codec.wrap_event(data, 1) for data in kinds]
    state = WorkbenchState()
    for n in range(FOLDED):
        call(state, Seq(n + 1), records[n % 2])


def by_dict(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    """Do the same with nothing between the table and the fold."""
    FOLDS[type(record.data)](state, seq, record)
    state.seq = seq
    state.updated_at_us = record.ts_us


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        directory, folder = Path(name, "log"), Path(name, "snap")
        make(directory, folder)
        assert restored(directory, folder) == replayed(directory, State())
        found = interleave(
            {
                "full replay": partial(spent, lambda: replayed(directory, State())),
                "snapshot, tail": partial(spent, lambda: restored(directory, folder)),
            },
            rounds,
        )
    table(f"state of {EVENTS:,} events in {RUNS:,} runs", "ms", found, "full replay")
    gate("full replay against snapshot", found["full replay"] / found["snapshot, tail"], least=20)
    folds = interleave(
        {
            "fold_workbench": partial(spent, partial(dispatched, fold_workbench)),
            "a dict by type": partial(spent, partial(dispatched, by_dict)),
        },
        5 * rounds,
    )
    table(f"{FOLDED:,} folds", "ms", folds, "a dict by type")
    share = folds["a dict by type"] / folds["fold_workbench"]
    gate("fold_workbench against a dict by type", share, least=0.9)


if __name__ == "__main__":
    main()
