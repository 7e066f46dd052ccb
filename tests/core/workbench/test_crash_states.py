"""Power cuts at every write, sync and rename of a publish, an undo and a restore: all, or nothing.

Each moment of each operation is built as a disk may have it then, in two models (`crash_states`),
opened and recovered by the real code, and looked at. A second power cut during the recovery is
one of the moments, too. Rules taken out in turn show that the tests see them.
"""

import errno
import os
import random
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from crash_states import CrashStates, Lie, Model, TracedDisk
from kbd.core.domain.commands import ConfirmDeletions, SendMessage
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.runtime.secrets import Secrets
from kbd.core.sessions.recovery import close_workbench, open_workbench, recover_workbench
from kbd.core.store.redaction import Redaction
from kbd.core.workbench.publish import discard, publish
from kbd.core.workbench.rewind import restore_checkpoint, rewind_to
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, KbdError
from kbd.events.disk import DISK, Disk
from kbd.types import FileName, WorkbenchId
from supervised import CLOCK, add, draft, files_in

WORKBENCH = WorkbenchId("0123456789abcdef")

CHANGED = tuple(f"changed{number}.txt" for number in range(12))
DELETED = tuple(f"deleted{number}.txt" for number in range(4))
MADE = ("new0.txt", "new1.txt", "sub/new2.txt", "sub/deep/new3.txt")
"""Twenty files."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where that is to be had: a state is written, read and forgotten."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kbd-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def _opened(root: Path, disk: Disk = DISK) -> AsyncIterator[OpenWorkbench]:
    """Open and recover a workbench, and close it in order."""
    folders = WorkbenchFolders(WORKBENCH, root)
    secrets = Secrets(Home(folder=root, socket=root / "s"), {})
    bench = await open_workbench(folders, CLOCK, Redaction(secrets), disk)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bench.keeper.run)
        await recover_workbench(bench, CLOCK, WORKBENCH, "test")
        yield bench
        tasks.cancel_scope.cancel()
    await close_workbench(bench)


async def _added(root: Path) -> None:
    """Make a workbench with files."""
    async with _opened(root) as bench:
        for name in (*CHANGED, *DELETED):
            await add(bench, name, f"old {name}\n" * 100)
        await bench.keeper.submit(SendMessage("m" * 16, "work"))


async def _edit(bench: OpenWorkbench) -> None:
    """Make a draft of twenty files."""
    changes: dict[str, str | None] = {name: f"new {name}\n" * 150 for name in CHANGED + MADE}
    await draft(bench, **changes, **dict.fromkeys(DELETED))
    await bench.keeper.submit(ConfirmDeletions(tuple(map(FileName, DELETED))))


async def _drafted(root: Path) -> None:
    await _added(root)
    async with _opened(root) as bench:
        await _edit(bench)


async def _edit_and_publish(bench: OpenWorkbench) -> None:
    await _edit(bench)
    await _publish(bench)


async def _publish(bench: OpenWorkbench) -> None:
    await publish(
        bench, CLOCK, names=None, keep_both=False, accept_external=False, progress=lambda _: None
    )


async def _published(root: Path) -> None:
    await _drafted(root)
    async with _opened(root) as bench:
        await _publish(bench)


async def _undo(bench: OpenWorkbench) -> None:
    await rewind_to(bench, CLOCK, "m" * 16)


async def _restore(bench: OpenWorkbench) -> None:
    await restore_checkpoint(bench, CLOCK, bench.state.checkpoints[0].checkpoint_id)


Work = Callable[[OpenWorkbench], Awaitable[None]]
Made = Callable[[Path], Awaitable[None]]

WORKS: dict[str, tuple[Made, Work]] = {
    "publish": (_drafted, _publish),
    "edit and publish": (_added, _edit_and_publish),
    "undo": (_published, _undo),
    "restore": (_published, _restore),
}


class Explored(msgspec.Struct):
    """What was found: how many states, and what was wrong with the bad ones."""

    states: int = 0
    bad: list[str] = []


async def _traced(root: Path, work: Work, lie: Lie) -> tuple[CrashStates, TracedDisk, int]:
    """Trace a work; return with it the moment at which it was acknowledged."""
    disk = TracedDisk(lie)
    disk.note_tree(root)
    states = CrashStates(root)
    async with _opened(root, disk) as bench:
        await work(bench)
        acknowledged = len(disk.trace)
    return states, disk, acknowledged


async def _explore(
    place: Path, name: str, model: Model, seed: int, *, step: int = 1, lie: Lie | None = None
) -> Explored:
    """Look at each n-th moment of a work, in one model."""
    made, work = WORKS[name]
    root = place / "root"
    root.parent.mkdir(exist_ok=True)
    await made(root)
    before = files_in(root / "published")
    states, disk, acknowledged = await _traced(root, work, lie or (lambda kind, path: False))
    after = files_in(root / "published")
    coin, found = random.Random(seed), Explored()
    # The last one always: what was acknowledged is there, whatever the cut takes.
    for moment in (*range(seed % step, len(disk.trace), step), len(disk.trace)):
        crashed = place / "crashed"
        states.build(disk.trace, moment, model, coin, crashed)
        if coin.random() < 0.2:
            await _crash_again(crashed, place / "again", model, coin)
        found.states += 1
        fault = await _look(crashed, before, after, must=moment >= acknowledged)
        if fault:
            found.bad.append(f"{name}, {model}, moment {moment} of {len(disk.trace)}: {fault}")
        shutil.rmtree(crashed)
    return found


async def _crash_again(root: Path, place: Path, model: Model, coin: random.Random) -> None:
    """Recover a state on a traced disk, and leave what a power cut during that may leave."""
    disk = TracedDisk()
    disk.note_tree(root)
    states = CrashStates(root)
    try:
        async with _opened(root, disk):
            pass
    except (KbdError, BaseExceptionGroup):
        return  # What is wrong with it is found when it is looked at.
    states.build(disk.trace, coin.randint(0, len(disk.trace)), model, coin, place)
    shutil.rmtree(root)
    os.rename(place, root)


async def _look(
    root: Path, before: dict[str, str], after: dict[str, str], *, must: bool
) -> str | None:
    """Recover a state and return what is wrong with it."""
    try:
        async with _opened(root) as bench:
            found = files_in(root / "published")
            wanted = "new" if must else "old or new"
            if found not in ((after,) if must else (before, after)):
                mixed = {
                    path for path in found if found[path] not in (before.get(path), after.get(path))
                }
                return f"published/ is not {wanted[0]}; strange: {sorted(mixed)[:3]}"
            if bench.damage is not None or bench.state.publish is not None:
                return f"open: {bench.damage}, {bench.state.publish}"
            named = {entry.blob for entry in bench.state.files.values()}
            drafted = bench.state.draft.files.values() if bench.state.draft else ()
            named |= {each.blob for each in drafted if each.blob}
            looked = bench.blobs.store.verify(named)
            if looked.damaged or looked.missing:
                return f"blobs: {len(looked.damaged)} damaged, {len(looked.missing)} missing"
            stated = {
                name: bench.blobs.path(entry.blob).read_text()
                for name, entry in bench.state.files.items()
            }
            if stated != found:
                return "the log says another thing than the disk"
            if list((root / "stage").iterdir()):
                return "the stage is not empty"
    except (KbdError, BaseExceptionGroup) as fault:
        return f"it does not open: {fault!r}"
    return None


@pytest.mark.anyio
@pytest.mark.parametrize("model", ["ordered", "weak"])
@pytest.mark.parametrize("name", WORKS)
async def test_a_power_cut_leaves_all_or_nothing(place: Path, name: str, model: Model) -> None:
    """Some moments of each work here; `make test-full` looks at each."""
    found = await _explore(place, name, model, seed=5, step=6)

    assert found.bad == []
    assert found.states > 10


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ["ordered", "weak"])
@pytest.mark.parametrize("name", WORKS)
async def test_a_power_cut_at_each_moment_leaves_all_or_nothing(
    place: Path, name: str, model: Model, seed: int
) -> None:
    """At every write, sync and rename."""
    found = await _explore(place, name, model, seed)

    assert found.bad == []


def _lies(wanted: str, part: str) -> Lie:
    return lambda kind, path: kind == wanted and part in path


RULES: dict[str, Lie] = {
    "the log before the answer": _lies("file", "/log/"),
    "staged bytes before the rename": _lies("file", "/stage/publish-"),
    "the folder before the outcome": _lies("folder", "/published"),
    "blobs before the event that names them": _lies("file", "/blobs/"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("rule", RULES)
async def test_a_rule_taken_out_is_seen(place: Path, rule: str) -> None:
    """Without one of its syncs, a publish leaves states that are bad."""
    bad: list[str] = []
    for seed in range(12):
        found = await _explore(
            place / str(seed), "edit and publish", "weak", seed, step=40, lie=RULES[rule]
        )
        bad += found.bad
        if bad:
            break

    assert bad


class _FaultyDisk(Disk):
    """A disk on which from some call on there is no space, or on which one call fails.

    Args:
        after: How many calls succeed before.
        error: What it fails with.
        is_lasting: Whether all calls fail from then on.
    """

    def __init__(self, after: int, error: int, *, is_lasting: bool) -> None:
        self._left, self._error, self._is_lasting = after, error, is_lasting
        self.is_armed = False
        self.has_failed = False

    def _tick(self) -> None:
        if not self.is_armed:
            return
        self._left -= 1
        if self._left == -1 or (self._left < 0 and self._is_lasting):
            self.has_failed = True
            raise OSError(self._error, os.strerror(self._error))

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write, or fail."""
        self._tick()
        return super().pwrite(fd, data, offset)

    def create(self, name: str, folder: int, mode: int = 0o600) -> int:
        """Create, or fail."""
        self._tick()
        return super().create(name, folder, mode)

    def make_folder(self, name: str, folder: int) -> None:
        """Make a folder, or fail."""
        self._tick()
        super().make_folder(name, folder)

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move, or fail."""
        self._tick()
        super().move(source, target)

    def move_new(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move, or fail."""
        self._tick()
        super().move_new(source, target)

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        """Exchange, or fail."""
        self._tick()
        return super().exchange(one, other)


async def _fail_at(root: Path, after: int, *, is_lasting: bool, ends: str) -> bool:
    """Publish on a disk that fails at a call, then discard or publish; False if it did not fail."""
    await _drafted(root)
    old = files_in(root / "published")
    new = {name: f"new {name}\n" * 150 for name in CHANGED + MADE}
    disk = _FaultyDisk(after, errno.ENOSPC, is_lasting=is_lasting)
    async with _opened(root, disk) as bench:
        disk.is_armed, refusal = True, None
        try:
            await _publish(bench)
        except DiskFull as fault:
            refusal = fault
        if refusal is not None:
            disk.is_armed = False
            # Where not even a rename goes through any more the publish is still under way.
            is_open = bench.state.publish is not None
            assert ("nothing was published" in refusal.message) <= (not is_open)
            assert is_open or files_in(root / "published") == old
            await (discard(bench) if ends == "discard" else _publish(bench))
            wanted = old if ends == "discard" else new
            assert (files_in(root / "published"), bench.state.draft) == (wanted, None)
        assert bench.state.publish is None
        assert list((root / "stage").iterdir()) == []
    return disk.has_failed


@pytest.mark.anyio
@pytest.mark.sampled(4)
@pytest.mark.parametrize("ends", ["discard", "publish"])
@pytest.mark.parametrize("is_lasting", [False, True])
async def test_a_full_disk_leaves_all_or_nothing(place: Path, is_lasting: bool, ends: str) -> None:
    """At whatever call it is full: nothing is published or all is; then a discard works."""
    after = 0
    while await _fail_at(place / str(after), after, is_lasting=is_lasting, ends=ends):
        shutil.rmtree(place / str(after))
        after += 1

    assert after > 50
