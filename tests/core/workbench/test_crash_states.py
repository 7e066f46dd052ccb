"""Power cuts at every write, sync and rename of what changes files or the draft: all, or nothing.

That is a publish, an undo, a restore, a recovery of a draft and a rebase. Each moment of each is
built as a disk may have it then, in two models (`crash_states`), opened and recovered by the real
code, and looked at. A second power cut during the recovery is one of the moments, too. Rules taken
out in turn show that the tests see them.

What a disk holds does not hang on the event loop. So the first tier takes some moments, the second
each one on one of the loops, and the third all of them on both (`stride`).
"""

import errno
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from backends import BACKENDS, WHOLE, Stride, on_trio, share_of
from crash_states import CrashStates, Lie, Model, TracedDisk
from crash_works import (
    CHANGED,
    MADE,
    WORKS,
    View,
    Work,
    drafted,
    named_blobs,
    opened,
    publish_draft,
    view,
)
from kbd.core.workbench.publish import discard
from kbd.errors import DiskFull, KbdError
from kbd.events.disk import Disk
from supervised import files_in


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder in memory, where that is to be had: a state is written, read and forgotten."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="kbd-", dir=memory if memory.is_dir() else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Explored(msgspec.Struct):
    """What was found: how many states, and what was wrong with the bad ones."""

    states: int = 0
    bad: list[str] = []


class Traced(msgspec.Struct, frozen=True):
    """A work that was carried out.

    Args:
        states: Builds what a power cut may leave of it.
        disk: What was done.
        views: What was there before, and after each step.
        acknowledged: After how many calls all of it was.
    """

    states: CrashStates
    disk: TracedDisk
    views: list[View]
    acknowledged: int


async def _traced(root: Path, works: tuple[Work, ...], lie: Lie) -> Traced:
    """Trace a work."""
    disk = TracedDisk(lie)
    disk.note_tree(root)
    states = CrashStates(root)
    async with opened(root, disk) as bench:
        views = [view(bench)]
        for work in works:
            await work(bench)
            views.append(view(bench))
        acknowledged = len(disk.trace)
    return Traced(states, disk, views, acknowledged)


async def _explore(
    place: Path, name: str, model: Model, seed: int, stride: Stride, lie: Lie | None = None
) -> Explored:
    """Look at some moments of a work, in one model; of a short one at all or at a loop's share."""
    made, works = WORKS[name]
    root = place / "root"
    root.parent.mkdir(exist_ok=True)
    await made(root)
    traced = await _traced(root, works, lie or (lambda kind, path: False))
    trace, views = traced.disk.trace, traced.views
    assert views[0] != views[1]
    assert views[-1].published == views[-1].stated
    coin, found = random.Random(seed), Explored()
    moments = [*range(stride.start, len(trace), stride.step)]
    # Of a short work more than one outcome each.
    if len(trace) <= 60:
        start, step = stride if stride.step <= len(BACKENDS) else WHOLE
        moments = [*range(start, len(trace), step)] * 3
    # The last one always: what was acknowledged is there, whatever the cut takes.
    for moment in (*moments, len(trace)):
        crashed = place / "crashed"
        traced.states.build(trace, moment, model, coin, crashed)
        if coin.random() < 0.2:
            await _crash_again(crashed, place / "again", model, coin)
        found.states += 1
        fault = await _look(crashed, views[-1:] if moment >= traced.acknowledged else views)
        if fault:
            found.bad.append(f"{name}, {model}, moment {moment} of {len(trace)}: {fault}")
        shutil.rmtree(crashed)
    return found


async def _crash_again(root: Path, place: Path, model: Model, coin: random.Random) -> None:
    """Recover a state on a traced disk, and leave what a power cut during that may leave."""
    disk = TracedDisk()
    disk.note_tree(root)
    states = CrashStates(root)
    try:
        async with opened(root, disk):
            pass
    except (KbdError, BaseExceptionGroup):
        return  # What is wrong with it is found when it is looked at.
    states.build(disk.trace, coin.randint(0, len(disk.trace)), model, coin, place)
    shutil.rmtree(root)
    os.rename(place, root)


async def _look(root: Path, views: list[View]) -> str | None:
    """Recover a state and return what is wrong with it; one of the views must be there."""
    try:
        async with opened(root) as bench:
            if bench.damage is not None or bench.state.publish is not None:
                return f"open: {bench.damage}, {bench.state.publish}"
            looked = bench.blobs.store.verify(await named_blobs(bench))
            if looked.damaged or looked.missing:
                return f"blobs: {len(looked.damaged)} damaged, {len(looked.missing)} missing"
            found = view(bench)
            if found not in views:
                return f"not one of {len(views)} views: {_differences(found, views[-1])}"
            drafted = found.draft[1] if found.draft else {}
            shown = {name: text for name, text in drafted.items() if text is not None}
            if files_in(root / "draft") != shown:
                return "draft/ says another thing than the log"
            if list((root / "stage").iterdir()):
                return "the stage is not empty"
    except (KbdError, BaseExceptionGroup) as fault:
        return f"it does not open: {fault!r}"
    return None


def _differences(found: View, wanted: View) -> str:
    """Return which parts of a view are not the wanted ones."""
    parts = ("published", "stated", "draft", "ended")
    return ", ".join(part for part in parts if getattr(found, part) != getattr(wanted, part))


SOME: list[tuple[str, Model]] = [
    ("edit and publish", "weak"), ("undo", "ordered"), ("rebase", "weak")
]  # fmt: skip
"""Works for the first tier, with their models."""


@pytest.mark.sampled(3)
@pytest.mark.anyio
@pytest.mark.parametrize(("name", "model"), SOME)
async def test_a_power_cut_leaves_all_or_nothing(place: Path, name: str, model: Model) -> None:
    """Some moments of some works here; `make test-full` looks at each of all."""
    found = await _explore(place, name, model, 5, Stride(5, 6))

    assert found.bad == []
    assert found.states > 10


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))]
)
@pytest.mark.parametrize("model", ["ordered", "weak"])
@pytest.mark.parametrize("name", WORKS)
async def test_a_power_cut_at_each_moment_leaves_all_or_nothing(
    place: Path, anyio_backend: str, name: str, model: Model, seed: int
) -> None:
    """At every write, sync and rename: with the first seed on one of the loops, else on both."""
    stride = WHOLE if seed else share_of(anyio_backend)
    found = await _explore(place, name, model, seed, stride)

    assert found.bad == []


def _lies(wanted: str, part: str) -> Lie:
    return lambda kind, path: kind == wanted and part in path


RULES: dict[str, tuple[str, Lie]] = {
    "the log before the answer": ("edit and publish", _lies("file", "/log/")),
    "staged bytes before the rename": ("edit and publish", _lies("file", "/stage/publish-")),
    "the folder before the outcome": ("edit and publish", _lies("folder", "/published")),
    "blobs before the event that names them": ("edit and publish", _lies("file", "/blobs/")),
    "the log before a recovery is answered": ("discard and recover", _lies("file", "/log/")),
    "the log before a rebase is answered": ("rebase", _lies("file", "/log/")),
    "adopted bytes before the frame": ("rebase", _lies("file", "/blobs/incoming-")),
    "bytes of calls made again before the frame": ("rebase", _lies("file", "/stage/")),
    "names of blobs before the frame": ("rebase", _lies("folder", "/blobs")),
}
"""Each with the work that needs it, and the syncs that it is."""


@on_trio
@pytest.mark.anyio
@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", RULES)
async def test_a_rule_taken_out_is_seen(place: Path, rule: str) -> None:
    """Without one of its syncs, a work leaves states that are bad, and the look at them sees it."""
    (name, lie), bad = RULES[rule], list[str]()
    for seed in range(12):
        found = await _explore(place / str(seed), name, "weak", seed, Stride(seed, 40), lie)
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

    def rename(self, source: Path, target: Path) -> None:
        """Rename, or fail: a name may need room, too."""
        self._tick()
        super().rename(source, target)

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
    await drafted(root)
    old = files_in(root / "published")
    new = {name: f"new {name}\n" * 150 for name in CHANGED + MADE}
    disk = _FaultyDisk(after, errno.ENOSPC, is_lasting=is_lasting)
    async with opened(root, disk) as bench:
        disk.is_armed, refusal = True, None
        try:
            await publish_draft(bench)
        except DiskFull as fault:
            refusal = fault
        if refusal is not None:
            disk.is_armed = False
            # Where not even a rename goes through any more the publish is still under way.
            is_open = bench.state.publish is not None
            assert ("nothing was published" in refusal.message) <= (not is_open)
            assert is_open or files_in(root / "published") == old
            await (discard(bench) if ends == "discard" else publish_draft(bench))
            wanted = old if ends == "discard" else new
            assert (files_in(root / "published"), bench.state.draft) == (wanted, None)
        assert bench.state.publish is None
        assert list((root / "stage").iterdir()) == []
    return disk.has_failed


@pytest.mark.anyio
@pytest.mark.full
@pytest.mark.parametrize("ends", ["discard", "publish"])
@pytest.mark.parametrize("is_lasting", [False, True])
async def test_a_full_disk_leaves_all_or_nothing(
    place: Path, stride: Stride, is_lasting: bool, ends: str
) -> None:
    """At whatever call it is full: nothing is published or all is; then a discard works."""
    after = stride.start
    while await _fail_at(place / str(after), after, is_lasting=is_lasting, ends=ends):
        shutil.rmtree(place / str(after))
        after += stride.step

    assert after > 50


async def _fail_work_at(root: Path, name: str, after: int, *, is_lasting: bool) -> View | None:
    """Take a work's last step on a disk that is full at a call, and complete it after a start.

    Returns:
        What is there in the end; None if the disk never failed.
    """
    made, (*firsts, last) = WORKS[name]
    await made(root)
    disk = _FaultyDisk(after, errno.ENOSPC, is_lasting=is_lasting)
    async with opened(root, disk) as bench:
        for first in firsts:
            await first(bench)
        before, is_refused, disk.is_armed = view(bench), False, True
        try:
            await last(bench)
        except DiskFull:
            is_refused = True
        disk.is_armed = False
        # What cannot even be brought back is under way, and the next start completes it.
        is_open = bench.state.publish is not None
        assert is_open or (view(bench) == before) is is_refused
    async with opened(root) as bench:
        if is_refused and not is_open:
            assert view(bench) == before
            await last(bench)
        found = view(bench)
        assert (bench.damage, bench.state.publish) == (None, None)
        assert found != before
        assert found.published == found.stated
        looked = bench.blobs.store.verify(await named_blobs(bench))
        assert (looked.damaged, looked.missing) == ((), ())
        assert list((root / "stage").iterdir()) == []
    return found if disk.has_failed else None


async def _fill_at_each(place: Path, name: str, stride: Stride, *, is_lasting: bool) -> int:
    """Have the disk full at calls of a work; return at how many it can be, rounded up to a step."""
    after, ends = stride.start, list[View]()
    while True:
        root = place / str(after)
        found = await _fail_work_at(root, name, after, is_lasting=is_lasting)
        shutil.rmtree(root)
        if found is None:
            break
        after += stride.step
        # A new draft has a new name each time.
        drafted = ("", found.draft[1]) if found.draft else None
        ends.append(msgspec.structs.replace(found, draft=drafted))
    assert all(end == ends[0] for end in ends)
    return after


FILLED = {"undo": 50, "discard and recover": 1, "rebase": 8}
"""Works on a full disk, with the least number of calls at which it can be full."""


@pytest.mark.anyio
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("is_lasting", [False, True])
async def test_a_full_disk_takes_nothing_of_a_draft(
    place: Path, name: str, is_lasting: bool
) -> None:
    """Refused, all is as it was; once there is room the same is made of it. Here at some calls."""
    stride = Stride(0, {"undo": 12, "rebase": 4}.get(name, 1))
    assert await _fill_at_each(place, name, stride, is_lasting=is_lasting) >= 1


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("is_lasting", [False, True])
async def test_a_full_disk_at_each_call_takes_nothing_of_a_draft(
    place: Path, stride: Stride, name: str, is_lasting: bool
) -> None:
    """At every call that may need room."""
    calls = await _fill_at_each(place, name, stride, is_lasting=is_lasting)
    print(f"{name}: {calls} calls")
    assert calls >= FILLED[name]
