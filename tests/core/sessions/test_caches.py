"""Snapshots, caches and projections: used when they fit, and worth nothing but time."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.log_outline import LogOutline
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.snapshot_files import load_snapshot, save_snapshot
from kbd.core.store.snapshots import (
    CLOSED_EVENTS,
    LogFold,
    workbench_snapshots,
)
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.workbenches import ModelChosen
from kbd.types import Seq
from supervised import draft, files_in, supervised

pytestmark = pytest.mark.anyio

_SCHEMA = workbench_snapshots(Path(), Path())._schema()


async def _busy(folder: Path, count: int = CLOSED_EVENTS) -> tuple[OpenWorkbench, WorkbenchState]:
    """Make a workbench with so many events and return it, closed, with its last state."""
    async with supervised(folder) as running:
        bench = await running.bench(a__txt="x")
        await draft(bench, a__txt="changed", b__txt="made")
        for first in range(0, count, 500):
            chosen = tuple(ModelChosen(f"p:{first + offset}") for offset in range(500))
            await bench.keeper.submit(RecordFacts(chosen))
    return bench, bench.state


async def _state(folder: Path, bench: OpenWorkbench) -> WorkbenchState:
    async with supervised(folder) as again:
        return (await again.benches.open(bench.id)).state


def _save(snap: Path, state: WorkbenchState, head: bytes) -> None:
    fold = LogFold(state, LogOutline(seq=state.seq))
    assert workbench_snapshots(snap.parent / "log", snap).save(fold, head)


def _snap(folder: Path, bench: OpenWorkbench) -> Path:
    return folder / "workbenches" / bench.id / "snap"


async def test_a_snapshot_is_taken_at_close_and_used(tmp_path: Path) -> None:
    """The state from it is the state from the log; that it was used shows in what it alone says."""
    bench, state = await _busy(tmp_path / "h")
    snap = _snap(tmp_path / "h", bench)
    assert [path.name for path in snap.iterdir()] == [f"{state.seq:020}.snap"]
    assert await _state(tmp_path / "h", bench) == state

    found = load_snapshot(snap, _SCHEMA)
    assert found is not None
    _save(snap, msgspec.structs.replace(state, name="from the snapshot"), found.head)
    assert (await _state(tmp_path / "h", bench)).name == "from the snapshot"


async def test_what_came_after_the_snapshot_is_folded(tmp_path: Path) -> None:
    """A snapshot of an earlier moment and the log's rest are the whole."""
    bench, _ = await _busy(tmp_path / "h")
    async with supervised(tmp_path / "h") as again:
        opened = await again.benches.open(bench.id)
        await opened.keeper.submit(RecordFacts((ModelChosen("p:last"),)))
        state = opened.state
    assert [path.suffix for path in _snap(tmp_path / "h", bench).iterdir()] == [".snap"]

    assert await _state(tmp_path / "h", bench) == state
    assert state.model_id == "p:last"


async def test_little_is_not_worth_a_snapshot(tmp_path: Path) -> None:
    """A short log is replayed faster than a snapshot is written."""
    bench, _ = await _busy(tmp_path / "h", 500)

    assert not _snap(tmp_path / "h", bench).exists()


def _flipped(snap: Path, state: WorkbenchState) -> None:
    path = next(snap.iterdir())
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def _of_another_schema(snap: Path, state: WorkbenchState) -> None:
    found = load_snapshot(snap, _SCHEMA)
    assert found is not None
    _save(snap, WorkbenchState(name="wrong", seq=found.seq), found.head)
    wrong = load_snapshot(snap, _SCHEMA)
    assert wrong is not None
    save_snapshot(snap, found.seq, found.head, "another", wrong.payload)


def _of_another_log(snap: Path, state: WorkbenchState) -> None:
    _save(snap, WorkbenchState(name="wrong", seq=state.seq), b"\1" * 32)


def _from_the_future(snap: Path, state: WorkbenchState) -> None:
    _save(snap, WorkbenchState(name="wrong", seq=Seq(state.seq + 1000)), b"\1" * 32)


def _empty(snap: Path, state: WorkbenchState) -> None:
    next(snap.iterdir()).write_bytes(b"")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "spoil", [_flipped, _of_another_schema, _of_another_log, _from_the_future, _empty]
)
async def test_a_snapshot_that_does_not_fit_is_not_used(
    tmp_path: Path, spoil: Callable[[Path, WorkbenchState], None]
) -> None:
    """Damaged, of another kbd, of another log, from a future that was cut off: the log counts."""
    bench, state = await _busy(tmp_path / "h")
    spoil(_snap(tmp_path / "h", bench), state)

    assert await _state(tmp_path / "h", bench) == state


async def test_everything_but_log_and_blobs_can_be_deleted(tmp_path: Path) -> None:
    """State, published/, draft/ and the readable copies come back as they were."""
    bench, state = await _busy(tmp_path / "h")
    root = tmp_path / "h" / "workbenches" / bench.id
    kept = {name: files_in(root / name) for name in ("published", "draft", "meta")}
    assert kept["draft"] == {"a.txt": "changed", "b.txt": "made"}
    (root / "cache").mkdir(exist_ok=True)
    for folder in ("snap", "cache", "stage", "published", "draft", "meta"):
        shutil.rmtree(root / folder)

    assert await _state(tmp_path / "h", bench) == state
    assert {name: files_in(root / name) for name in kept} == kept
