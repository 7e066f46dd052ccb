"""Runs that stop anywhere and go on."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from agent_rig import Opened, Rig, call, item_of, said, say, two_items
from backends import on_trio
from kbd.core.agent import run_agent
from kbd.core.domain.commands import InterruptRun, RequestCancel, SendMessage, StartRun
from kbd.core.domain.run_state import RunStatus
from kbd.core.workbench.call_files import CallFiles
from kbd.errors import ProviderUnavailable
from kbd.events.base import Recorded
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    RunCancelled,
    RunCancelRequested,
    RunFinished,
    RunResumed,
    ToolCalled,
    ToolReturned,
)
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase, Seq

pytestmark = pytest.mark.anyio


def one_failure(request: ModelRequest) -> ModelReply:
    """Two items; the first attempt at the second fails after a write, and one item is added."""
    if request.phase is Phase.IMPLEMENT:
        item = item_of(request)
        if item == (2, 1) and said(request) == 1:
            return ModelReply()
        if item == (1, 1) and said(request) == 2:
            return say("done\n- [ ] 3. three")
    return two_items(request)


def outcome(rig: Rig) -> object:
    """What a run came to: files, plan, texts."""
    run = rig.run
    assert run.plan is not None
    items = [(i.text, i.state, i.failures, i.answer) for i in run.plan.items]
    files = {seen.name: rig.content(seen.name) for seen in rig.state.current_files()}
    return (run.status, run.research, items, run.summary, files, rig.state.next_entry)


def frames(rig: Rig) -> list[int]:
    """The number of the last event of each frame; a frame lands whole or not at all."""
    firsts = [first for first, _ in rig.keeper.journal.log.frames()]
    return [first - 1 for first in firsts[1:]]


def check_no_call_twice(records: Sequence[Recorded]) -> None:
    """Assert that no call ended twice and no file was written twice by one call."""
    ended = Counter(r.data.call_id for r in records if isinstance(r.data, ToolReturned))
    wrote = Counter(
        r.data.call_id
        for r in records
        if isinstance(r.data, FileChanged) and r.data.cause == "edit"
    )
    assert set(ended.values()) == {1}
    assert set(wrote.values()) <= {1}


@pytest.mark.full
@on_trio
async def test_a_run_cut_off_anywhere_comes_to_the_same_end(
    opened: Opened, tmp_path: Path, anyio_backend_name: str
) -> None:
    """Cut behind every command and resumed, a run has the same result and ends no call twice."""
    async with opened(one_failure, folder=tmp_path / "whole") as rig:
        rig.each_alone = True
        await rig.go()
        expected = outcome(rig)
        records = [record for _, record in rig.records()]
        cuts = [cut for cut in frames(rig) if cut > 1]
    blobs = tmp_path / "whole" / "blobs"

    assert len(cuts) > 50
    # Each backend takes every other cut; together they take all.
    for cut in cuts[anyio_backend_name == "trio" :: 2]:
        folder = tmp_path / f"cut-{cut}"
        folder.mkdir()
        (folder / "blobs").symlink_to(blobs)
        async with opened(one_failure, folder=folder, events=records[:cut]) as rig:
            await rig.go()
            assert outcome(rig) == expected, f"after event {cut}"
            check_no_call_twice([record for _, record in rig.records()])


async def test_a_run_interrupted_at_every_request_comes_to_the_same_end(opened: Opened) -> None:
    """Stopped again and again, once at each turn, a run asks each open turn again and ends."""

    class Stop(BaseException):
        """The daemon is gone."""

    stopped: set[int] = set()

    def play(request: ModelRequest) -> ModelReply:
        turn = sum(isinstance(e, ModelReplied) for e in rig.events())
        if turn not in stopped:
            stopped.add(turn)
            raise Stop
        return two_items(request)

    async with opened(play) as rig:
        await rig.keeper.submit(SendMessage("u-1", "go"))
        while not rig.state.runs or rig.run.status is not RunStatus.FINISHED:
            await rig.keeper.submit(InterruptRun("restart"))
            await rig.keeper.submit(StartRun(None, "scripted:script"))
            try:
                await run_agent(rig.context())
            except Stop:
                continue

        assert sum(isinstance(e, RunResumed) for e in rig.events()) == len(stopped)
        asked = [e for e in rig.events() if isinstance(e, ModelRequested)]
        assert len(asked) == 2 * len(stopped)
        assert rig.made == ["write 1.txt", "read 1.txt", "write 2.txt", "read 2.txt"]


async def test_a_finished_run_is_not_run_again(opened: Opened) -> None:
    """Without a new message nothing is asked of the model; with one a new run begins."""
    async with opened(two_items) as rig:
        await rig.go()
        asked = len(rig.requests)

        await rig.go()
        assert len(rig.requests) == asked
        assert sum(isinstance(e, RunFinished) for e in rig.events()) == 1

        await rig.keeper.submit(SendMessage("u-2", "the same again"))
        run = await rig.go()
        assert (run.number, run.status) == (2, RunStatus.FINISHED)
        first = rig.requests[asked].messages[1].text
        assert "[user] do it\n\n[assistant] All done." in first


async def test_a_cancel_during_a_model_call_ends_the_run(opened: Opened) -> None:
    """The run ends as cancelled, nothing lands afterwards, and it can be resumed."""
    async with opened(two_items) as rig:
        waiting = anyio.Event()

        async def hang(*_: object) -> ModelReply:
            waiting.set()
            await anyio.sleep_forever()
            raise AssertionError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rig, "complete", hang)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(rig.go)
                await waiting.wait()
                await rig.keeper.submit(RequestCancel())
                tasks.cancel_scope.cancel()
        await rig.keeper.submit(InterruptRun("cancelled"))

        assert isinstance(rig.events()[-1], RunCancelled)
        assert (await rig.go()).status is RunStatus.FINISHED


@pytest.mark.parametrize("phase", [Phase.RESEARCH, Phase.IMPLEMENT, Phase.SUMMARY])
async def test_a_cancel_is_noticed_without_being_cancelled(opened: Opened, phase: Phase) -> None:
    """After the request no tool starts and no write lands, whatever the model still answers."""
    async with opened(two_items) as rig:

        async def cancelling(model_id: str, request: ModelRequest, emit: object) -> ModelReply:
            if request.phase is phase:
                await rig.keeper.submit(RequestCancel())
            return two_items(request)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rig, "complete", cancelling)
            run = await rig.go()

        assert run.status is RunStatus.CANCELLED
        after = rig.events()
        at = next(n for n, e in enumerate(after) if isinstance(e, RunCancelRequested))
        assert [type(e) for e in after[at + 1 :]] == [RunCancelled]
        assert (await rig.go()).status is RunStatus.FINISHED


async def test_a_call_that_was_cut_off_keeps_its_entry(opened: Opened, tmp_path: Path) -> None:
    """It runs again under the number it had, and nothing is skipped in the tool log."""
    async with opened(two_items, folder=tmp_path / "whole") as rig:
        await rig.go()
        records = [record for _, record in rig.records()]
    cut = next(n for n, r in enumerate(records) if isinstance(r.data, ToolCalled)) + 1
    folder = tmp_path / "cut"
    folder.mkdir()
    (folder / "blobs").symlink_to(tmp_path / "whole" / "blobs")

    async with opened(two_items, folder=folder, events=records[:cut]) as rig:
        await rig.go()
        called = [e.entry_id for e in rig.events() if isinstance(e, ToolCalled)]
        assert called == [1, 1, 2, 3, 4, 5]
        assert set(rig.state.entries) == {1, 2, 3, 4, 5}
        assert rig.records()[-1][0] > Seq(cut)


async def test_a_chain_that_went_on_is_not_begun_afresh(opened: Opened) -> None:
    """After an outage and a resume, a later stop finds the same chain, not an empty one."""

    class Stop(BaseException):
        """The daemon is gone."""

    def stop() -> CallFiles:
        raise Stop

    def down(request: ModelRequest) -> ModelReply:
        if said(request) == 1:
            raise ProviderUnavailable("down")
        return call("rows", rows=said(request))

    async with opened(down) as rig:
        assert (await rig.go()).status is RunStatus.FAILED
        rig.play = lambda request: call("rows", rows=7)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rig, "files", stop)
            with pytest.raises(Stop):
                await rig.go()
        rig.play = two_items

        assert (await rig.go()).status is RunStatus.FINISHED
        started = [e.phase for e in rig.events() if isinstance(e, PhaseStarted)]
        assert started == list(Phase)
