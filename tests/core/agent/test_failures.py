"""Which errors fail an item's attempt and which end the run, for every error that there is."""

from collections.abc import Iterator

import anyio
import pytest

from agent_rig import Opened, call, item_of, said, say, two_items
from backends import on_asyncio, on_trio
from kbd.core.agent.run import ATTEMPT_ENDING
from kbd.core.domain.commands import DiscardDraft, RequestCancel, SendMessage, StartRun
from kbd.core.domain.run_state import ItemState, RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.errors import (
    AgentLoopDetected,
    ContextExhausted,
    KbdError,
    ProviderRateLimited,
    TurnLimit,
    ValidationFailed,
)
from kbd.events.base import Recorded
from kbd.events.runs import (
    ItemFailed,
    ItemRetried,
    ModelReplied,
    ModelRequested,
    RunCancelled,
    RunCancelRequested,
    ToolCalled,
    ToolRefused,
)
from kbd.messages import ToolCall
from kbd.providers import MalformedReply, ModelReply, ModelRequest
from kbd.types import CallId, Phase, Seq

pytestmark = pytest.mark.anyio

LIMITS = RunLimits(retry_s=(1.0,))

FAIL_AN_ITEM = {TurnLimit, AgentLoopDetected, ContextExhausted, ValidationFailed, MalformedReply}
"""Contract, section 6; a malformed reply does so when asking again does not mend it."""


def _kinds(root: type[KbdError] = KbdError) -> Iterator[type[KbdError]]:
    """Yield every error of the project's own vocabulary."""
    for kind in root.__subclasses__():
        if kind.__module__ == "kbd.errors":
            yield kind
        yield from _kinds(kind)


@pytest.mark.sampled(9)
@on_trio
@pytest.mark.parametrize("kind", sorted({*_kinds(), MalformedReply}, key=str))
async def test_every_error_fails_the_item_or_ends_the_run(
    opened: Opened, kind: type[KbdError]
) -> None:
    """Raised at the first item for ever: five kinds fail it, and the next runs.

    All others end the run with the item open, and once they are gone it is resumed to its end.
    """
    trouble = [True]

    def play(request: ModelRequest) -> ModelReply:
        if trouble[0] and request.phase is Phase.IMPLEMENT and item_of(request)[0] == 1:
            raise kind("it went wrong")
        return two_items(request)

    async with opened(play, limits=LIMITS) as rig:
        run = await rig.go()
        assert run.plan is not None
        states = [item.state for item in run.plan.items]
        if kind in FAIL_AN_ITEM:
            assert run.status is RunStatus.FINISHED
            assert states == [ItemState.FAILED, ItemState.DONE]
            assert run.plan.items[0].code == kind.code
            assert issubclass(kind, ATTEMPT_ENDING)
            return
        assert run.status is RunStatus.FAILED
        assert run.error is not None
        expected = "PROVIDER_UNAVAILABLE" if kind.code == "NETWORK_UNAVAILABLE" else kind.code
        assert (run.error.code, run.error.subphase) == (expected, "rpi_implement")
        assert states == [ItemState.OPEN, ItemState.OPEN]
        assert not any(isinstance(e, ItemRetried | ItemFailed) for e in rig.events())
        trouble[0] = False
        assert (await rig.go()).status is RunStatus.FINISHED


@on_asyncio
async def test_a_fault_of_a_provider_s_own_ends_the_run(opened: Opened) -> None:
    """What a plugin raises that is no error of kbd's ends the run, told without its inside."""

    def play(request: ModelRequest) -> ModelReply:
        raise KeyError("/secret/path")

    async with opened(play, limits=LIMITS) as rig:
        run = await rig.go()
        assert run.error is not None
        assert run.error.code == "PROVIDER_UNAVAILABLE"
        assert "secret" not in run.error.message


@on_trio
async def test_what_failed_attempts_wrote_is_named_in_the_summary(opened: Opened) -> None:
    """Rolled back before the retry and after the second failure; the summary is told of both."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and said(request) == 1:
            item, attempt = item_of(request)
            if item == 2 or attempt == 1:
                raise ValidationFailed("refused")
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.DONE, ItemState.FAILED]
        assert [rig.content("1.txt"), rig.content("2.txt")] == ["item 1.2", None]
        told = rig.requests[-1].messages[1].text
        assert '"state":"done","text":"wrote 1","rolled_back":["1.txt"]' in told
        assert '"rolled_back":["2.txt"]' in told.partition('"item":2')[2]
        retried = [r for r in rig.requests if "<failure>" in r.messages[1].text]
        assert len(retried) > 2
        assert all(item_of(request)[1] == 2 for request in retried)


@on_asyncio
async def test_a_summary_names_what_failed_whatever_the_model_says(opened: Opened) -> None:
    """An item that the text leaves out is added with its reason; one that it names is not."""
    texts = ["All done, twotone.", "Two could not be written."]

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.SUMMARY:
            return say(texts[0])
        if request.phase is Phase.IMPLEMENT and item_of(request)[0] == 2:
            raise ValidationFailed("the server refused it")
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.summary == "All done, twotone.\n\nNot done:\n- Two: the server refused it"
        assert rig.state.said[-1].text == run.summary
        texts.pop(0)
        await rig.keeper.submit(SendMessage("u-2", "again"))
        assert (await rig.go()).summary == texts[0]


@on_trio
async def test_additions_behind_a_long_answer_are_not_lost(opened: Opened) -> None:
    """Only so much of a final text is kept, but all of its additions are taken or refused."""
    wanted = "\n".join(f"- [ ] {n}. more {n}" for n in range(3, 9))

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and item_of(request)[0] == 1:
            return say("x" * 30_000 + "\n" + wanted)
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.plan is not None
        assert [item.text for item in run.plan.items[2:]] == ["more 3", "more 4"]
        assert run.plan.refused == ["more 5", "more 6", "more 7", "more 8"]
        assert len(run.plan.items[0].answer) == 20_000


@on_asyncio
async def test_a_discard_or_a_new_message_clears_the_plan(opened: Opened) -> None:
    """After a discard the same message starts a new run; without one the finished run is meant."""
    async with opened(two_items) as rig:
        first = await rig.go()
        assert rig.state.current == first.number == 1
        again = await rig.keeper.submit(StartRun(None, "scripted:script"))
        assert (again.events, again.run) == ((), 1)
        await rig.keeper.submit(DiscardDraft())
        assert rig.state.current == 0
        second = await rig.go()
        assert (second.number, second.message_id) == (2, first.message_id)
        await rig.keeper.submit(SendMessage("u-2", "more"))
        assert rig.state.current == 0
        assert (await rig.go()).message_id == "u-2"


@on_trio
async def test_five_hundred_calls_in_a_turn_are_all_answered(opened: Opened) -> None:
    """Fifty run, the others are refused together; the next request holds an answer to each."""
    many = tuple(ToolCall(CallId(f"c{n}"), "rows", f'{{"rows":{n}}}') for n in range(500))

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH and said(request) == 0:
            return ModelReply(tool_calls=many)
        return two_items(request)

    async with opened(play) as rig:
        await rig.go()
        assert sum(isinstance(e, ToolRefused) for e in rig.events()) == 450
        called = [e for e in rig.events() if isinstance(e, ToolCalled)]
        assert len([e for e in called if str(e.call_id).startswith("c")]) >= 50
        answers = [m.tool_call_id for m in rig.requests[1].messages if m.role == "tool"]
        assert len(set(answers)) == 500


@on_trio
async def test_the_same_call_many_times_in_one_turn_is_a_loop(opened: Opened) -> None:
    """It is noticed within the turn: five run, not a hundred."""
    same = tuple(ToolCall(CallId(f"c{n}"), "rows", '{"rows":1}') for n in range(100))

    def play(request: ModelRequest) -> ModelReply:
        return ModelReply(tool_calls=same)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.error is not None
        assert run.error.code == "AGENT_LOOP_DETECTED"
        assert sum(isinstance(e, ToolCalled) for e in rig.events()) == 5


@on_asyncio
async def test_a_sweep_of_chunks_trips_nothing(opened: Opened) -> None:
    """Twenty-nine reads of one tool, each with other arguments, and a last turn without tools."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH and request.tools:
            return call("rows", rows=said(request) + 1)
        return say("read all") if request.phase is Phase.RESEARCH else two_items(request)

    async with opened(play) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED
        asked = [e for e in rig.events() if isinstance(e, ModelRequested)][:30]
        assert [e.turn for e in asked] == list(range(1, 31))
        assert [bool(e.tools) for e in asked] == [True] * 29 + [False]
        assert (asked[0].tool_choice, asked[-1].tool_choice) == ("required", "none")
        assert not rig.notices or "LoopWarned" not in {type(n).__name__ for n in rig.notices}


@on_trio
@pytest.mark.parametrize("moment", [ModelReplied, ToolCalled])
async def test_nothing_lands_after_a_cancel_is_acknowledged(
    opened: Opened, moment: type[ModelReplied | ToolCalled]
) -> None:
    """Asked to stop before a call begins, or while it writes: the log itself refuses the rest.

    Nobody cancels the task here: what it still brings comes too late all the same.
    """
    async with opened(two_items) as rig:
        # Else a reply is told with the call that it asks for.
        rig.each_alone = True

        def observe(_seq: Seq, record: Recorded) -> None:
            if isinstance(record.data, moment) and rig.run.phase is Phase.IMPLEMENT:
                rig.keeper.offer(RequestCancel(), lambda _: None)

        rig.keeper.observe(observe)
        assert (await rig.go()).status is RunStatus.CANCELLED
        events = rig.events()
        asked = next(n for n, e in enumerate(events) if isinstance(e, RunCancelRequested))
        assert [type(e) for e in events[asked + 1 :]] == [RunCancelled]
        assert isinstance(events[asked - 1], moment)
        assert rig.state.draft is None


@on_asyncio
async def test_a_rate_limit_leaves_the_attempt_where_it_was(opened: Opened) -> None:
    """Resumed, an attempt goes on after its last recorded call: nothing is undone or redone."""
    limited = [True]

    def play(request: ModelRequest) -> ModelReply:
        if limited[0] and request.phase is Phase.IMPLEMENT and said(request) == 1:
            raise ProviderRateLimited("later")
        return two_items(request)

    async with opened(play, limits=LIMITS) as rig:
        run = await rig.go()
        assert run.error is not None
        assert (run.error.code, run.item, run.attempt) == ("PROVIDER_RATE_LIMITED", 1, 1)
        assert rig.content("1.txt") == "item 1.1"
        limited[0] = False
        copy = anyio.Path(rig.folder / "meta" / "_rpi" / "plan.md")
        await copy.write_text("- [x] 1. all\n- [ ] 2. publish\n")  # a person's: it is no authority
        assert (await rig.go()).status is RunStatus.FINISHED
        assert (await copy.read_text()).endswith("- [x] 2. Two\n\n## Notes\n- n\n")
        assert rig.made.count("write 1.txt") == 1
        assert run.plan is not None
        assert run.plan.items[0].failures == 0
