"""A run of twelve items is cut, cancelled or refused at every point, and ends the same each time.

A frame lands whole or not at all, so a cut after any of its events leaves the log before it: the
points of a run are the ends of its frames.
"""

import copy
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from agent_rig import Play, Rig, open_rig
from backends import on_asyncio
from kbd.core.agent import run_agent
from kbd.core.domain.commands import AddFiles, InterruptRun, RequestCancel, StartRun
from kbd.core.domain.run_state import ItemState, Plan, RunStatus
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.core.store.history import plain_state
from kbd.errors import ProviderRateLimited
from kbd.events.base import Recorded
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ModelReplied,
    ModelRequested,
    RunCancelled,
    RunCancelRequested,
    ToolCalled,
    ToolReturned,
)
from kbd.events.workbenches import FileAdded
from kbd.providers import ModelReply, ModelRequest
from kbd.types import FileName, Seq
from whole.twelve_items import FAILED, ITEMS, REQUEST, play, table

pytestmark = pytest.mark.anyio

Tools = tuple[Catalog, WorkerPool]

LIMITS = RunLimits(retry_s=(1.0, 2.0))
EVERY_DAY = 4
"""How many cuts `make test` makes; `make soak` makes all."""


class End(msgspec.Struct, frozen=True):
    """What a run came to: its texts, its items, its files, its draft, its tool log."""

    status: RunStatus
    research: str | None
    plan: Plan
    summary: str | None
    blobs: dict[str, str]
    changes: list[tuple[str, list[int]]]
    entries: list[int]


class Recording(msgspec.Struct, frozen=True):
    """A run that nothing disturbed.

    Args:
        folder: Where it ran; its blobs are shared.
        records: Its events.
        cuts: After how many events a frame ends, from the run's start.
        end: What it came to.
    """

    folder: Path
    records: tuple[Recorded, ...]
    cuts: tuple[int, ...]
    end: End


@asynccontextmanager
async def _tools() -> AsyncIterator[Tools]:
    plugins = Plugins.discover(Settings())
    async with WorkerPool(plugins, Settings()) as workers:
        yield Catalog(plugins), workers


def _end(rig: Rig) -> End:
    run, draft = rig.run, rig.state.draft
    assert run.plan is not None
    assert draft is not None
    return End(
        run.status, run.research, copy.deepcopy(run.plan), run.summary,
        {str(seen.name): str(seen.blob) for seen in rig.state.current_files()},
        [(str(name), file.items) for name, file in sorted(draft.files.items())],
        sorted(rig.state.entries),
    )  # fmt: skip


async def _record(folder: Path, tools: Tools) -> Recording:
    async with open_rig(folder, play, limits=LIMITS, tools=tools) as rig:
        # Each end of a command is the end of a frame where the machine stalls there.
        rig.each_alone = True
        blob, size = await rig.blobs.put_file(table(folder / "sales.csv"))
        await rig.keeper.submit(AddFiles((FileAdded(FileName("sales.csv"), blob, size),), 1))
        run = await rig.go(REQUEST)
        assert run.status is RunStatus.FINISHED
        records = tuple(record for _, record in rig.records())
        firsts = [int(first) for first, _ in rig.keeper.journal.log.frames()]
        begun = 1 + sum(record.run == 0 for record in records)
        cuts = [first - 1 for first in firsts if first - 1 >= begun]
        return Recording(folder, records, (*cuts, len(records)), _end(rig))


def _check_recording(recording: Recording) -> None:
    """All that can happen to items did happen: a cut has something to lose."""
    seen = Counter(type(record.data).__name__ for record in recording.records)
    assert seen["ItemCompleted"] == ITEMS
    for kind in (ItemRetried, ItemFailed, ItemsAdded, ItemsRefused):
        assert seen[kind.__name__] >= 1, kind
    states = [item.state for item in recording.end.plan.items]
    assert states.count(ItemState.FAILED) == 1
    assert states[FAILED - 1] is ItemState.FAILED
    causes = [r.data.cause for r in recording.records if isinstance(r.data, FileChanged)]
    assert causes.count("rollback") >= 3
    assert max(len(r.data.calls) for r in recording.records if isinstance(r.data, ModelReplied)) > 2


@asynccontextmanager
async def _cut(
    recording: Recording, cut: int, folder: Path, tools: Tools, model: Play = play
) -> AsyncIterator[Rig]:
    """Open what a crash after so many events leaves."""
    _share_blobs(recording.folder, folder)
    events = recording.records[:cut]
    async with open_rig(folder, model, limits=LIMITS, tools=tools, events=events) as rig:
        yield rig


def _share_blobs(whole: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "blobs").symlink_to(whole / "blobs")


async def _check_end(recording: Recording, rig: Rig, where: str) -> None:
    """Go on to the end: the same end as undisturbed, every call answered once, the log readable."""
    await rig.go()
    assert _end(rig) == recording.end, where
    records = [record for _, record in rig.records()]
    asked = [c.id for r in records if isinstance(r.data, ModelReplied) for c in r.data.calls]
    ended = [r.data.call_id for r in records if isinstance(r.data, ToolReturned)]
    assert len(set(ended)) == len(ended), where
    assert sorted(asked) == sorted(ended), where
    state = plain_state(rig.state)
    async with open_rig(rig.folder, play) as again:
        assert plain_state(again.state) == state, where


async def _cut_everywhere(recording: Recording, cuts: Sequence[int], tools: Tools) -> None:
    for cut in cuts:
        folder = recording.folder.parent / f"cut{cut}"
        async with _cut(recording, cut, folder, tools) as rig:
            await _check_end(recording, rig, f"cut after event {cut}")


class _Stopper:
    """Cancels a run as soon as an event lands, as the supervisor does when it is asked to."""

    def __init__(self, rig: Rig, after: Seq) -> None:
        self._rig, self._after = rig, after
        self._landed, self._scope = anyio.Event(), anyio.CancelScope()
        rig.keeper.observe(self._see)

    def _see(self, seq: Seq, record: Recorded) -> None:
        if seq >= self._after:
            self._landed.set()
        if isinstance(record.data, RunCancelRequested):
            self._scope.cancel()

    async def run(self) -> None:
        """Run, be cancelled, and be recorded as that."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ask)
            with self._scope:
                await run_agent(self._rig.context())
            tasks.cancel_scope.cancel()
        await self._rig.keeper.submit(InterruptRun("cancelled"))

    async def _ask(self) -> None:
        await self._landed.wait()
        await self._rig.keeper.submit(RequestCancel())


async def _cancel_everywhere(recording: Recording, cuts: Sequence[int], tools: Tools) -> int:
    """Go on from each cut, cancel at the first event that follows, and go on to the end."""
    cancelled = 0
    for cut in cuts:
        folder = recording.folder.parent / f"cancel{cut}"
        async with _cut(recording, cut, folder, tools) as rig:
            await rig.keeper.submit(InterruptRun("restart"))
            outcome = await rig.keeper.submit(StartRun(None, "scripted:script"))
            if outcome.events:
                await _Stopper(rig, Seq(rig.state.seq + 1)).run()
                cancelled += _check_cancelled(rig, cut)
            await _check_end(recording, rig, f"cancelled after event {cut}")
    return cancelled


def _check_cancelled(rig: Rig, cut: int) -> bool:
    """After the acknowledgement nothing is recorded but that the run was cancelled."""
    events = rig.events()
    asked = [place for place, e in enumerate(events) if isinstance(e, RunCancelRequested)]
    if not asked:
        # What was left was one frame: the run had ended before it could be cancelled.
        assert rig.run.status is RunStatus.FINISHED, cut
        return False
    assert [type(e) for e in events[asked[0] + 1 :]] == [RunCancelled], cut
    assert rig.run.status is RunStatus.CANCELLED
    assert rig.run.error is None
    return True


async def _refuse_everywhere(recording: Recording, cuts: Sequence[int], tools: Tools) -> None:
    """At each model call every attempt is refused with 429; then the provider is well again."""
    for cut in cuts:
        limited = [True]

        def model(request: ModelRequest, limited: list[bool] = limited) -> ModelReply:
            if limited[0]:
                raise ProviderRateLimited("too many requests")
            return play(request)

        folder = recording.folder.parent / f"limit{cut}"
        async with _cut(recording, cut, folder, tools, model) as rig:
            before = [] if rig.run.plan is None else [i.state for i in rig.run.plan.items]
            run = await rig.go()
            assert run.status is RunStatus.FAILED
            assert run.error is not None
            assert run.error.code == "PROVIDER_RATE_LIMITED"
            assert rig.slept == [1.0, 2.0]
            assert before == ([] if run.plan is None else [i.state for i in run.plan.items])
            assert run.summary is None
            limited[0] = False
            await _check_end(recording, rig, f"rate limit after event {cut}")


def _before_turns(recording: Recording) -> list[int]:
    """Return the cuts that leave a request open: the model is asked next."""
    asked = [n for n, r in enumerate(recording.records, 1) if isinstance(r.data, ModelRequested)]
    return [n for n in asked if n in recording.cuts]


def _telling(recording: Recording) -> list[int]:
    """Return late cuts that are worth it each time: in a call, a write, a request, near the end."""
    records, late = recording.records, recording.cuts[-60]

    def last(kind: type) -> int:
        found = [n for n, r in enumerate(records, 1) if isinstance(r.data, kind)]
        return found[-1]

    return sorted({late, last(ToolCalled), last(ToolReturned), last(ModelRequested)})


@on_asyncio
@pytest.mark.full  # In the first tier a shorter run goes on from a cut (core/agent/test_resume).
async def test_a_run_of_twelve_items_goes_on_from_a_cut(tmp_path: Path) -> None:
    """Real tools; cut, cancelled and refused at some points near the end: the same bytes."""
    async with _tools() as tools:
        recording = await _record(tmp_path / "whole", tools)
        _check_recording(recording)
        cuts = _telling(recording)
        assert len(cuts) == EVERY_DAY
        await _cut_everywhere(recording, cuts, tools)
        assert await _cancel_everywhere(recording, cuts[1:2], tools) == 1
        await _refuse_everywhere(recording, _before_turns(recording)[-1:], tools)


@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_a_run_is_cut_after_every_event(tmp_path: Path, anyio_backend: str) -> None:
    """Every cut, every cancel, every rate limit of the run, with real tools."""
    async with _tools() as tools:
        recording = await _record(tmp_path / "whole", tools)
        _check_recording(recording)
        turns = _before_turns(recording)
        await _cut_everywhere(recording, recording.cuts, tools)
        cancelled = await _cancel_everywhere(recording, recording.cuts, tools)
        await _refuse_everywhere(recording, turns, tools)
    assert cancelled >= len(recording.cuts) - 2
    print(
        f"\n{anyio_backend}: {len(recording.records)} events in {len(recording.cuts)} frames:"
        f" {len(recording.cuts)} cuts, {cancelled} cancels, {len(turns)} rate limits,"
        " all to the same files"
    )
