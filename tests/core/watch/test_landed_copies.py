"""Copies of landed files: exactly those of landings that are not done, also after a crash."""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from backends import halved
from crash_states import CrashStates, Lie, Model, TracedDisk
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.watch_decisions import RemoveWatch
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.settings import Settings
from kbd.core.watch import watcher
from kbd.core.watch.ingest import LandedCopies
from kbd.core.watch.job import JobResult, WatchJob
from kbd.core.watch.watcher import Watcher
from kbd.events.blobs import BlobStore
from kbd.events.retention import StorageReclaimed
from kbd.events.watches import LandingsParked
from kbd.types import BlobHash, WatchId
from landings import DaemonLog, daemon_log

pytestmark = pytest.mark.anyio

WATCH, REMOVED, UNKNOWN = "1" * 16, "2" * 16, "3" * 16


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where that is to be had."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kbd-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


async def _tell_nobody(count: int, size_bytes: int) -> None:
    del count, size_bytes


async def _work(folder: Path, disk: TracedDisk) -> tuple[set[BlobHash], list[int]]:
    """Take copies and sweep them as landings come to their end; return what is needed, and since.

    Returns:
        What is needed from the first copy on, and after how many calls its copies were there.
    """
    copies = LandedCopies(folder, disk)
    async with copies.copying() as store:
        kept = [store.put_bytes(f"parked {number}".encode()) for number in range(3)]
        since = [len(disk.trace)]
        gone = [store.put_bytes(f"done {number}".encode()) for number in range(3)]
    for count in range(len(gone)):
        await copies.sweep(lambda: {*kept, *gone[count + 1 :]}, _tell_nobody)  # noqa: B023 - now
    return set(kept), since


async def _explore(place: Path, model: Model, lie: Lie | None = None) -> tuple[int, list[str]]:
    """Look at every moment: return how many there are, and what was wrong after the next sweep."""
    folder = place / "landed"
    folder.mkdir()
    disk = TracedDisk(lie or (lambda kind, path: False))
    disk.note_tree(folder)
    states = CrashStates(folder)
    kept, (since,) = await _work(folder, disk)
    wrong: list[str] = []
    for moment in range(since, len(disk.trace) + 1):
        target = place / f"{moment}"
        states.build(disk.trace, moment, model, random.Random(moment), target)
        assert await LandedCopies(target).sweep(lambda: kept, _tell_nobody)
        store = BlobStore(target)
        looked = store.verify(kept)
        wrong += [f"{moment}: {blob} is lost" for blob in (*looked.damaged, *looked.missing)]
        wrong += [f"{moment}: {blob} is left" for blob in {*store.stored()} - kept]
        wrong += [f"{moment}: {name} is left" for name in store.strangers()]
        wrong += [f"{moment}: {path.name} is left" for path in target.glob("incoming-*")]
    return len(disk.trace) - since, wrong


@halved
@pytest.mark.parametrize("model", ["ordered", "weak"])
async def test_a_crash_at_any_call_leaves_what_is_needed(place: Path, model: Model) -> None:
    """While others are copied, and while they are swept; the next sweep takes the rest."""
    moments, wrong = await _explore(place, model)
    assert wrong == []
    assert moments >= 20


@halved
async def test_a_copy_that_was_not_synced_is_seen(place: Path) -> None:
    """With the syncs taken out the same walk finds copies that are lost."""
    _, wrong = await _explore(place, "weak", lambda kind, path: True)
    assert any("is lost" in each for each in wrong)


def _put(log: DaemonLog, watch_id: str, *texts: str) -> None:
    store = BlobStore(log.home.landed(WatchId(watch_id)))
    for text in texts:
        store.put_bytes(text.encode())


async def _sweep_at_start(log: DaemonLog) -> None:
    """Run a watcher until it has swept what an earlier one left."""

    async def run_job(job: WatchJob) -> JobResult:
        raise AssertionError(job)

    async def notify(*_: object) -> tuple[int | None, str]:
        return 0, ""

    moved = Notifier()
    log.keeper.observe(lambda _seq, _record: moved.ring())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Watcher(log.keeper, log.home, Settings(), run_job, notify).run)
        with anyio.fail_after(30):
            # It is told before it is done: the folder of the second one goes last.
            while len(await log.recorded(StorageReclaimed)) < 2 or not _is_swept(log):
                with anyio.move_on_after(0.02):
                    await moved.wait()
        tasks.cancel_scope.cancel()


def _is_swept(log: DaemonLog) -> bool:
    (needed,) = {landing.sha256 for landing in log.watch(WATCH).landings.values()}
    stored = BlobStore(log.home.landed(WatchId(WATCH))).stored()
    return stored == [needed] and not log.home.landed(WatchId(REMOVED)).exists()


async def test_a_start_sweeps_what_a_crash_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of landings that are done, and of removed watches; what is parked or unknown stays."""
    monkeypatch.setattr(watcher, "_SWEEP_PAUSE_S", 0.01)
    async with daemon_log(tmp_path / "home") as log:
        for watch_id in (WATCH, REMOVED):
            await log.add(watch_id)
            await log.land(watch_id, "parked")
        (landing,) = log.watch(WATCH).landings.values()
        parked = LandingsParked(WatchId(WATCH), (landing.landing_id,), "NO", "no")
        await log.keeper.submit(RecordDaemon((parked,)))
        await log.keeper.submit(RemoveWatch(WatchId(REMOVED)))
        _put(log, REMOVED, "parked", "done")
        _put(log, UNKNOWN, "of somebody's")
        needed = BlobHash(landing.sha256)
        # What lands by command has a hash that is no copy's: here it is the name that counts.
        folder = log.home.landed(WatchId(WATCH))
        _put(log, WATCH, "done", "done, too")
        (folder / needed[:2]).mkdir(exist_ok=True)
        (folder / needed[:2] / needed).write_text("parked")
        await _sweep_at_start(log)

        assert BlobStore(folder).stored() == [needed]
        assert len(BlobStore(log.home.landed(WatchId(UNKNOWN))).stored()) == 1
        told = {each.watch_id: each for each in await log.recorded(StorageReclaimed)}
        assert told == {
            WATCH: StorageReclaimed("", "landed", 2, 13, "their landings are done", WATCH),
            REMOVED: StorageReclaimed("", "landed", 2, 10, "the watch was removed", REMOVED),
        }
