"""What becomes of answers that are not whole, and of servers that do not take all that is asked."""

import msgspec
import pytest

from agent_rig import Opened, said, say, two_items
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.events.runs import ItemFailed, ItemRetried, ModelFailed, ModelReplied, ModelRequested
from kbd.messages import Usage
from kbd.providers import ModelReply, ModelRequest, OptionRefused
from kbd.types import Phase

pytestmark = pytest.mark.anyio


def _cut(reply: ModelReply) -> ModelReply:
    return msgspec.structs.replace(reply, finish_reason="length")


async def test_an_option_that_the_server_refuses_is_left_out(opened: Opened) -> None:
    """The refusal is an event; the turn is asked for without it, and so are all later ones."""

    def play(request: ModelRequest) -> ModelReply:
        if request.tool_choice == "required":
            raise OptionRefused("400: tool_choice", "tool_choice")
        return two_items(request)

    async with opened(play) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED

        failed = [e for e in rig.events() if isinstance(e, ModelFailed)]
        assert [(e.code, e.option) for e in failed] == [("VALIDATION_FAILED", "tool_choice")]
        asked = [e for e in rig.events() if isinstance(e, ModelRequested)]
        assert [e.tool_choice for e in asked[:2]] == ["required", "auto"]
        assert all(e.without == ("tool_choice",) for e in asked[1:])
        assert all(e.tool_choice != "required" for e in asked[1:])


async def test_an_option_that_is_refused_though_it_was_left_out_ends_the_turn(
    opened: Opened,
) -> None:
    """A server that only says no is not asked for ever."""

    def play(request: ModelRequest) -> ModelReply:
        raise OptionRefused("400: no", "strict")

    async with opened(play) as rig:
        run = await rig.go()

        assert run.error is not None
        assert run.error.code == "VALIDATION_FAILED"
        assert len(rig.requests) == 2


async def test_an_answer_cut_off_is_asked_for_once_more(opened: Opened) -> None:
    """The model is told to be shorter; what it then says counts."""

    def play(request: ModelRequest) -> ModelReply:
        reply = two_items(request)
        return _cut(reply) if request.phase is Phase.PLAN and said(request) == 0 else reply

    async with opened(play) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED

        plans = [r for r in rig.requests if r.phase is Phase.PLAN]
        assert len(plans) == 2
        assert "cut off" in plans[1].messages[-1].text


async def test_a_plan_that_stays_cut_off_is_no_plan(opened: Opened) -> None:
    """Its last items would be missing without a word; so nothing is done."""

    def play(request: ModelRequest) -> ModelReply:
        reply = two_items(request)
        return _cut(reply) if request.phase is Phase.PLAN else reply

    async with opened(play) as rig:
        run = await rig.go()

        assert run.error is not None
        assert (run.error.code, run.error.subphase) == ("VALIDATION_FAILED", "rpi_plan")
        assert run.plan is None


async def test_a_report_that_stays_cut_off_does_not_undo_the_work(opened: Opened) -> None:
    """What an item did is kept; its answer says that it is not whole."""

    def play(request: ModelRequest) -> ModelReply:
        reply = two_items(request)
        is_report = request.phase is Phase.IMPLEMENT and not reply.tool_calls
        return _cut(reply) if is_report else reply

    async with opened(play) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        assert run.plan is not None
        assert [item.answer[-3:] for item in run.plan.items] == ["[…]", "[…]"]
        assert not [e for e in rig.events() if isinstance(e, ItemRetried | ItemFailed)]


async def test_one_empty_answer_is_forgiven(opened: Opened) -> None:
    """It is not sent back, for servers refuse it; the model is asked once more."""

    def play(request: ModelRequest) -> ModelReply:
        is_first = request.phase is Phase.RESEARCH and request.messages[-1].role == "tool"
        return say("") if is_first else two_items(request)

    async with opened(play) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED

        again = next(r for r in rig.requests if "was empty" in r.messages[-1].text)
        assert all(m.text or m.tool_calls for m in again.messages)


async def test_an_answer_that_trickles_for_ever_ends_with_its_time(opened: Opened) -> None:
    """The pauses are short, the whole is too long: it is retried, and what came is on record."""
    async with opened(two_items, limits=RunLimits(turn_s=0.02, retry_s=(1.0,))) as rig:
        rig.play = lambda _request: say("so far ")
        rig.trickle_s = 30.0
        run = await rig.go()

        assert run.error is not None
        assert run.error.code == "PROVIDER_UNAVAILABLE"
        failed = [e for e in rig.events() if isinstance(e, ModelFailed)]
        assert [(e.retry_attempt, e.partial) for e in failed] == [(1, "so far "), (0, "so far ")]
        rig.trickle_s, rig.play = 0.0, two_items
        assert (await rig.go()).status is RunStatus.FINISHED


@pytest.mark.parametrize(("begun", "tokens"), [("so far ", 3), ("итак ", 3)])
async def test_a_run_pays_for_what_came_and_for_what_broke_off(
    opened: Opened, begun: str, tokens: int
) -> None:
    """A reply costs what its provider counted.

    An answer that broke off costs what was sent and what had come, as estimated by its bytes, for
    providers charge for it, too.
    """

    def play(request: ModelRequest) -> ModelReply:
        return msgspec.structs.replace(two_items(request), usage=Usage(1000, 500))

    async with opened(play, limits=RunLimits(turn_s=0.02, retry_s=())) as rig, rig.daemon_log():
        rig.price, rig.trickle_s = 2.0, 30.0
        rig.play = lambda _request: say(begun)
        run = await rig.go()
        failed = next(e for e in rig.events() if isinstance(e, ModelFailed))
        assert failed.usage.input_tokens > 100
        assert failed.usage.output_tokens == tokens
        assert (run.usage, run.cost) == (failed.usage, failed.cost)

        rig.trickle_s, rig.play = 0.0, play
        run = await rig.go()
        turns = sum(isinstance(e, ModelReplied) for e in rig.events())
        assert run.cost == pytest.approx(failed.cost + turns * 0.003)
        assert run.usage == failed.usage + Usage(1000 * turns, 500 * turns)
        (spent,) = rig.daemon.state.spent.values()
        assert spent.cost == pytest.approx(run.cost)
        assert spent.tokens == run.usage.input_tokens + run.usage.output_tokens
        assert not rig.daemon.state.reserved
