"""Power cuts at every call of a prune that archives one workbench and removes another.

Each moment is built as a disk may have it then, in two models (`crash_states`), and a daemon is
started on it: each workbench is whole, as a folder or as an archive, or is gone and the daemon's
log says why. The next prune does the rest. Rules taken out show that the tests see them.
"""

import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from backends import WHOLE, Stride, halved
from crash_states import CrashStates, Lie, Model, TracedDisk
from kbd.core.audit.home_logs import verify_home_log
from kbd.core.runtime.clock import SystemClock
from kbd.core.sessions import workbenches
from kbd.core.sessions.retention import Pruned
from kbd.core.workbench.publish import publish
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError
from kbd.events.base import Actor
from kbd.events.workbenches import WorkbenchArchived, WorkbenchDeleted
from kbd.types import Seq, WorkbenchId
from retained_landings import PERSON, MovedClock, recorded
from supervised import Supervised, draft, supervised

pytestmark = pytest.mark.anyio

DAY_S = 86_400

ASKED = "kbd prune asked for it: 1 days, "


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
    """A home with one workbench of each fate.

    Args:
        home: Its folder.
        clock: Its time.
        removed: An archive that a prune removes.
        archived: A workbench that it archives.
        unseen: An archive that it keeps: nobody looked at what is in it.
        drafted: A workbench that it keeps: a draft is open.
        ends: The last event of each.
    """

    home: Path
    clock: MovedClock
    removed: WorkbenchId
    archived: WorkbenchId
    unseen: WorkbenchId
    drafted: WorkbenchId
    ends: dict[WorkbenchId, Seq]


async def _published(running: Supervised, clock: SystemClock, actor: Actor | None) -> OpenWorkbench:
    bench = await running.bench(own__txt="added")
    await draft(bench, a__txt="published", sub__txt="x" * 3000)
    await publish(
        bench.acting(actor), clock, names=None, keep_both=False, accept_external=False,
        progress=lambda _: None,
    )  # fmt: skip
    return bench


async def _make(home: Path) -> _Made:
    clock = MovedClock()
    async with supervised(home, clock=clock) as running:
        removed = await _published(running, clock, PERSON)
        unseen = await _published(running, clock, None)
        for bench in (removed, unseen):
            await running.benches.archives.archive(bench.id, "it was asked for", PERSON)
        archived, drafted = await _published(running, clock, PERSON), await running.bench()
        await draft(drafted, a__txt="waits")
    clock.move(2 * DAY_S)
    ends = {bench.id: bench.state.seq for bench in (removed, archived, unseen, drafted)}
    return _Made(home, clock, removed.id, archived.id, unseen.id, drafted.id, ends)


async def _prune(running: Supervised) -> Pruned:
    return await running.retention.prune(DAY_S, archives=True, dry_run=False, actor=PERSON)


async def _explained(running: Supervised) -> set[tuple[str, WorkbenchId]]:
    """Return what the daemon's log says was done with which workbench because of a prune."""
    archived = await recorded(running, WorkbenchArchived)
    deleted = await recorded(running, WorkbenchDeleted)
    told = {("archived", each.workbench_id) for each in archived if each.reason.startswith(ASKED)}
    return told | {
        ("deleted", each.workbench_id) for each in deleted if each.reason.startswith(ASKED)
    }


def _fault(running: Supervised, made: _Made, workbench_id: WorkbenchId) -> str:
    """Return what is wrong with a workbench; "" for nothing."""
    home, known = running.home, running.benches.daemon.state.workbenches.get(workbench_id)
    has_folder, has_archive = home.workbench(workbench_id).root, home.archive(workbench_id)
    found = (has_folder.exists(), has_archive.exists())
    if known is None:
        return "" if found == (False, False) else f"it is deleted, and {found} is left"
    if found != (known.archive is None, known.archive is not None):
        return f"it is archived: {known.archive is not None}, and {found} is there"
    verified = verify_home_log(home, workbench_id, archive=known.archive)
    if not verified.ok:
        return verified.faults[0].message
    return "" if verified.seq == made.ends[workbench_id] else f"it ends with {verified.seq}"


async def _faults(running: Supervised, made: _Made) -> list[str]:
    """Return what is wrong with a home, whatever of the prune was done in it."""
    known, explained = running.benches.daemon.state.workbenches, await _explained(running)
    wrong = [f"{each}: {fault}" for each in made.ends if (fault := _fault(running, made, each))]
    kept = (made.archived, made.unseen, made.drafted)
    wrong += [f"{each} is gone" for each in kept if each not in known]
    archived = {each for each in made.ends if each in known and known[each].archive is not None}
    if not {made.unseen} <= archived <= {made.unseen, made.archived, made.removed}:
        wrong.append("what is held was touched")
    if made.removed not in known and ("deleted", made.removed) not in explained:
        wrong.append("nothing says why it was removed")
    if made.archived in archived and ("archived", made.archived) not in explained:
        wrong.append("nothing says why it was archived")
    left = (running.home.archives / "stage").glob("*")
    return [*wrong, *(f"{each.name} is left" for each in left)]


async def _look(home: Path, made: _Made) -> list[str]:
    """Start a daemon on a home that a crash left, and prune once more; return what is wrong."""
    wrong: list[str] = []
    try:
        async with supervised(home, clock=made.clock) as running:
            wrong += await _faults(running, made)
            before = await _explained(running)
            done = await _prune(running)
            wrong += [f"after the next one {each}" for each in await _faults(running, made)]
            wanted = {("archived", made.archived), ("deleted", made.removed)}
            if await _explained(running) != wanted:
                wrong.append("the next one does not finish it")
            if done.counts["archive"] + done.counts["remove"] != len(wanted - before):
                wrong.append("something is done twice")
    except* KbdError as faults:
        wrong.append(str(faults.exceptions))
    return wrong


async def _explore(
    place: Path, model: Model, stride: Stride, lie: Lie | None = None
) -> tuple[int, list[str]]:
    """Look at moments of a prune; return how many there are, and what is wrong."""
    made = await _make(place / "home")
    disk = TracedDisk(lie or (lambda kind, path: False))
    disk.note_tree(made.home)
    states = CrashStates(made.home)
    async with supervised(made.home, clock=made.clock, disk=disk) as running:
        first = len(disk.trace)
        done = await _prune(running)
        last = len(disk.trace)
    assert (done.counts["archive"], done.counts["remove"], done.counts["keep"]) == (1, 1, 2)
    wrong: list[str] = []
    for moment in range(first + stride.start, last + 1, stride.step):
        home = place / f"{moment}"
        states.build(disk.trace, moment, model, random.Random(moment), home)
        wrong += [f"{moment}: {each}" for each in await _look(home, made)]
        shutil.rmtree(home)
        if wrong and lie is not None:
            break
    return last - first, wrong


@pytest.mark.parametrize("model", [pytest.param("ordered", marks=pytest.mark.full), "weak"])
async def test_a_power_cut_leaves_each_workbench_as_one_thing(
    place: Path, model: Model, stride: Stride
) -> None:
    """After each call: what must stay is whole, what went is told, the next prune does the rest."""
    moments, wrong = await _explore(place, model, stride)
    assert wrong == []
    assert moments > 40


RULES: dict[str, Lie] = {
    "the event before what it tells": lambda kind, path: "/daemon/log/" in path and kind == "file",
    "the archive's bytes before its event": lambda kind, path: path.endswith(".packing"),
    "the archive's name before its event": lambda kind, path: path.endswith("/stage"),
}
"""Each with the syncs that it is."""


@halved
@pytest.mark.full
@pytest.mark.parametrize("rule", RULES)
async def test_each_rule_is_needed(place: Path, rule: str) -> None:
    """Without one of its syncs a prune leaves states that are bad, and the walk sees them."""
    _, wrong = await _explore(place, "weak", WHOLE, RULES[rule])
    assert wrong != []
