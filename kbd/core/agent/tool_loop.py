"""Tool loop: asks the model, runs the calls it asks for, until it answers with text.

The turns of one such loop are a chain. Everything is read from the state that the log gives, so a
chain that a crash cut off goes on where it was: results that are recorded are used, open calls run,
an open request is asked again.
"""

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from kbd.core.agent.budget import LoopVerdict, check_budget, cost_of, loop_verdict
from kbd.core.agent.model_calls import TurnUsage, call_model, recorded_calls, recorded_text
from kbd.core.agent.phases import PHASES
from kbd.core.agent.run_context import RunContext
from kbd.core.agent.toolbox import answer_call, refuse_surplus_calls
from kbd.core.agent.transcript import Transcript
from kbd.core.agent.turn_faults import Objection, find_fault, is_cut_off
from kbd.core.agent.window import calibrate_model
from kbd.core.domain.commands import RecordRun
from kbd.core.domain.run_state import Chain, Run, Turn
from kbd.errors import AgentLoopDetected, TurnLimit, ValidationFailed
from kbd.events.runs import ModelReplied, ModelRequested
from kbd.messages import Message
from kbd.providers import OPTIONS, MalformedReply, ModelInfo, ModelRequest
from kbd.types import BlobHash, Phase

__all__ = ["BuildOpening", "ChainSpec", "run_chain"]

BuildOpening = Callable[[], Awaitable[tuple[Message, ...]]]
"""Builds the opening messages of a chain; called once a chain."""


class ChainSpec(msgspec.Struct, frozen=True):
    """Specification of a chain: its phase, limits and opening.

    Args:
        phase: Its phase.
        limit: Its turns.
        opening: Builds its opening messages.
        objection: Judges its final text; one that cannot be used is asked for once more.
    """

    phase: Phase
    limit: int
    opening: BuildOpening
    objection: Objection


async def run_chain(context: RunContext, talk: ChainSpec) -> str:
    """Run the open chain until it ends in a usable text, and return that.

    Raises:
        TurnLimit: The turns are used up without a text.
        AgentLoopDetected: The model repeats one call.
        ContextExhausted: The chain does not fit into the model's window.
        MalformedReply: The model said nothing, or nothing that makes sense.
        ValidationFailed: The text cannot be used, twice; or the provider refused the request.
        KbdError: What ends the run: see `kbd.core.agent.run`.
    """
    transcript = Transcript(
        talk.objection, lambda tools: context.told_bytes(context.current.model_id, tools)
    )
    while True:
        chain = context.current.chain
        _check_loop(context, chain)
        if not chain.turns:
            await _request_turn(context, talk, transcript)
            continue
        newest = chain.turns[-1]
        if newest.calls and len(chain.turns) < talk.limit:
            if newest.open_calls():
                await _answer_next_call(context, talk.phase, newest)
                continue
        else:
            text = _final_text(talk, chain)
            if text is not None:
                return text
        await _request_turn(context, talk, transcript)


async def _answer_next_call(context: RunContext, phase: Phase, turn: Turn) -> None:
    """Run the first open call; those beyond the limit of a turn are refused together."""
    call, *_ = remaining = turn.open_calls()
    if turn.calls.index(call) < context.limits.calls_a_turn:
        await answer_call(context, phase, call)
    else:
        await refuse_surplus_calls(context, remaining)


def _check_loop(context: RunContext, chain: Chain) -> None:
    limits = context.limits
    recent = chain.fingerprints[-limits.loop_window :]
    verdict, count = loop_verdict(recent, limits.loop_warning, limits.loop_failure)
    if verdict is LoopVerdict.STOP:
        msg = f"the model made the same call {count} times in its last {len(recent)}"
        raise AgentLoopDetected(msg)


def _final_text(talk: ChainSpec, chain: Chain) -> str | None:
    """Return the final text of a chain, or None if the model is asked once more."""
    newest = chain.turns[-1]
    text = newest.text.strip()
    if not text and len(chain.turns) >= talk.limit:
        msg = f"the {talk.phase.value} phase used up its {talk.limit} turns without an answer"
        raise TurnLimit(msg)
    fault = find_fault(newest, talk.objection)
    if fault is None:
        return text
    earlier = enumerate(chain.turns[:-1], 1)
    if not any(not turn.calls or place >= talk.limit for place, turn in earlier):
        return None
    if not text:
        msg = "the model's reply was empty"
        raise MalformedReply(msg)
    # The work is done and only its report is too long; of a plan, items would be missing.
    if is_cut_off(newest) and talk.phase is not Phase.PLAN and talk.objection(text) is None:
        return f"{text} […]"
    raise ValidationFailed(fault)


async def _request_turn(context: RunContext, talk: ChainSpec, transcript: Transcript) -> None:
    """Request the next turn and record the reply.

    Where the server refuses an option, nothing is recorded but that: the caller asks again.
    """
    request, requested = await _build_request(context, talk, transcript)
    model_id, model = requested.model_id, _measured_model(context)
    bill = TurnUsage(model, requested.estimated_tokens)
    run = context.current
    check_budget(run.usage, run.cost, bill.most_tokens, bill.most_cost, context.limits)
    # Reserved before the request leaves: runs side by side must not pass the day's cap together.
    reservation = await context.purse.reserve(
        context.state.workbench_id, context.run, model_id, bill.most_tokens, bill.most_cost
    )
    try:
        await context.keeper.submit(RecordRun(context.run, (requested,)))
        reply = await call_model(context, model_id, request, bill)
    finally:
        await context.purse.charge(reservation, bill.tokens, bill.cost)
    if reply is None:
        return
    replied = ModelReplied(
        text=recorded_text(reply.text),
        calls=await recorded_calls(reply.tool_calls, context.current.call_ids, context.blobs),
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        usage_is_estimate=reply.usage_is_estimate,
        cost=cost_of(reply.usage, model),
    )
    await context.keeper.submit(RecordRun(context.run, (replied,)))


async def _build_request(
    context: RunContext, talk: ChainSpec, transcript: Transcript
) -> tuple[ModelRequest, ModelRequested]:
    """Build the next turn's request, and its event."""
    number = len(context.current.chain.turns) + 1
    opening = await _opening_messages(context, talk, context.current.chain.opening, transcript)
    offered = context.catalog.tools_for(talk.phase) if number < talk.limit else ()
    schemas = tuple(entry.schema for entry in offered)
    run = context.current
    transcript.take(run.chain)
    fitted = transcript.fitted(schemas, _measured_model(context))
    request = ModelRequest(
        model=run.model_id.partition(":")[2] or run.model_id,
        messages=fitted.messages,
        tools=schemas,
        tool_choice=_tool_choice(talk.phase, run, offers=bool(schemas)),
        phase=talk.phase,
        effort=context.effort(run.model_id, talk.phase),
        without=tuple(option for option in OPTIONS if option in run.without),
    )
    requested = ModelRequested(
        model_id=run.model_id,
        turn=number,
        opening=opening,
        tool_choice=request.tool_choice,
        tools=tuple(schema.name for schema in schemas),
        size_bytes=fitted.size_bytes,
        estimated_tokens=fitted.tokens,
        effort=request.effort,
        without=request.without,
    )
    return request, requested


def _tool_choice(phase: Phase, run: Run, *, offers: bool) -> Literal["required", "auto", "none"]:
    """Return the tool choice of the next turn (contract, section 5)."""
    if not offers:
        return "none"
    first = PHASES[phase].first_choice if not run.chain.turns else "auto"
    return "auto" if first == "required" and "tool_choice" in run.without else first


def _measured_model(context: RunContext) -> ModelInfo:
    """Return the run's model, calibrated by its provider's counts so far."""
    model_id = context.current.model_id
    return calibrate_model(context.model(model_id), context.state.measured.get(model_id))


async def _opening_messages(
    context: RunContext, talk: ChainSpec, known: BlobHash | None, transcript: Transcript
) -> BlobHash:
    """Load the opening messages as they were first sent, or build and store them."""
    if known is None:
        known = await context.blobs.put(msgspec.json.encode(await talk.opening()))
        transcript.opening = ()  # What is sent is what is kept: without known keys.
    if not transcript.opening:
        kept = await context.blobs.read(known)
        transcript.opening = msgspec.json.decode(kept, type=tuple[Message, ...])
    return known
