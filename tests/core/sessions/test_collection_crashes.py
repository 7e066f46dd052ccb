"""Power cuts and faults of the disk at every call of a collection: nothing is missed or left.

Each moment of a collection is built as a disk may have it then, in two models (`crash_states`), and
looked at by the real code: the log is whole and names nothing that is not there and not said to be
collected. The next collection removes what is left. Rules taken out show that the tests see them.
"""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from backends import halved
from crash_states import CrashStates, Lie, Model, TracedDisk
from kbd.core.audit.home_logs import verify_home_log
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.settings import RetentionSettings, Settings
from kbd.core.sessions import workbenches
from kbd.core.sessions.blob_collector import BlobCollector
from kbd.core.workbench.publish import discard
from kbd.errors import KbdError
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK, Disk
from kbd.types import BlobHash, WorkbenchId
from supervised import Supervised, draft, supervised

pytestmark = pytest.mark.anyio

MONTH = Settings(retention=RetentionSettings(discarded_after_days=30))


class _Later(SystemClock):
    """A clock that is two months ahead."""

    def now_us(self) -> int:
        """Return the time, so much later."""
        return super().now_us() + 60 * 86_400_000_000


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a workbench be idle as soon as nothing is under way in it."""
    monkeypatch.setattr(workbenches, "IDLE_S", 0.0)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where that is to be had."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kbd-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class _Made(msgspec.Struct, frozen=True):
    """A home with a workbench in which something can be collected, and what is to stay of it."""

    home: Path
    workbench_id: WorkbenchId
    stays: frozenset[BlobHash]


async def _make(home: Path) -> _Made:
    async with supervised(home, MONTH) as running:
        bench = await running.bench(a__txt="published", b__txt="too")
        await draft(bench, a__txt="drafted", b__txt="drafted, too")
        await discard(bench)
        await bench.blobs.put(b"left over")
        stays = frozenset(entry.blob for entry in bench.state.files.values())
    return _Made(home, bench.id, stays)


def _collector(running: Supervised, disk: Disk = DISK) -> BlobCollector:
    context = msgspec.structs.replace(running.context, clock=_Later())
    return BlobCollector(context, running.benches, disk)


async def _look(home: Path, made: _Made) -> list[str]:
    """Open a home that a crash left, and collect once more; return what is wrong."""
    wrong: list[str] = []
    async with supervised(home, MONTH) as running:
        await running.benches.open(made.workbench_id)
        found = verify_home_log(running.home, made.workbench_id)
        wrong += [fault.message for fault in found.faults]
        store = BlobStore(running.home.workbench(made.workbench_id).blobs)
        wrong += [f"{blob} is lost" for blob in made.stays - {*store.stored()}]
        try:
            await _collector(running).collect(made.workbench_id)
        except KbdError as fault:
            return [*wrong, fault.message]
        left = {*store.stored()} - made.stays
        wrong += [f"{blob} was not collected" for blob in left]
    return wrong


async def _explore(place: Path, model: Model, lie: Lie | None = None) -> tuple[int, list[str]]:
    """Look at every moment of a collection; return how many there are, and what is wrong."""
    made = await _make(place / "home")
    root = made.home / "workbenches" / made.workbench_id
    disk = TracedDisk(lie or (lambda kind, path: False))
    disk.note_tree(root)
    states = CrashStates(root)
    async with supervised(made.home, MONTH) as running:
        collected = await _collector(running, disk).collect(made.workbench_id)
    assert sum(each.count for each in collected.removed) == 3
    wrong: list[str] = []
    for moment in range(len(disk.trace) + 1):
        home = place / f"{moment}"
        shutil.copytree(made.home, home, ignore=shutil.ignore_patterns(root.name))
        target = home / "workbenches" / made.workbench_id
        states.build(disk.trace, moment, model, random.Random(moment), target)
        wrong += [f"{moment}: {each}" for each in await _look(home, made)]
        shutil.rmtree(home)
    return len(disk.trace), wrong


@halved
@pytest.mark.parametrize("model", ["ordered", "weak"])
async def test_a_power_cut_loses_nothing_and_leaves_nothing(place: Path, model: Model) -> None:
    """After each call: the log says of all that is gone that it was collected."""
    moments, wrong = await _explore(place, model)
    assert wrong == []
    assert moments >= 8


@halved
@pytest.mark.parametrize("rule", ["the event is durable first", "there is an event"])
async def test_each_rule_is_needed(place: Path, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """With a rule taken out the same walk finds file versions, or events, that are missing."""

    async def record_nothing(*_: object) -> None:
        pass

    if rule == "there is an event":
        monkeypatch.setattr(BlobCollector, "_record", record_nothing)
        _, wrong = await _explore(place, "ordered")
    else:
        _, wrong = await _explore(place, "weak", lambda kind, path: path.endswith(".kbl"))
    assert any("is not there" in each or "missing" in each for each in wrong)


class _FailingDisk(Disk):
    """A disk of which one removal or sync fails.

    Args:
        after: How many succeed before.
    """

    def __init__(self, after: int) -> None:
        self._left, self.has_failed = after, False

    def _tick(self) -> None:
        self._left -= 1
        if self._left == -1:
            self.has_failed = True
            raise OSError(5, "Input/output error")

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write, or fail."""
        self._tick()
        return super().pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        """Sync, or fail."""
        self._tick()
        super().fsync(fd)

    def fdatasync(self, fd: int) -> None:
        """Sync, or fail."""
        self._tick()
        super().fdatasync(fd)

    def unlink(self, name: str, folder: int, *, is_folder: bool = False) -> None:
        """Unlink, or fail."""
        self._tick()
        super().unlink(name, folder, is_folder=is_folder)


@halved
@pytest.mark.parametrize("half", [0, 1])
async def test_a_failing_disk_loses_nothing(place: Path, half: int) -> None:
    """At each call in turn: what was not removed is, once the disk works again."""
    made = await _make(place / "home")
    after, has_failed = half, True
    while has_failed:
        home = place / f"{after}"
        shutil.copytree(made.home, home)
        disk = _FailingDisk(after)
        try:
            async with supervised(home, MONTH) as running:
                await _collector(running, disk).collect(made.workbench_id)
        except* KbdError:
            pass
        has_failed = disk.has_failed
        assert await _look(home, made) == []
        shutil.rmtree(home)
        after += 2
    assert after > 8
