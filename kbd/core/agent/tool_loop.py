"""Tool loop: asks the model, runs the calls it asks for, until it answers with text.

The turns of one such loop are a chain. Everything is read from the state that the log gives, so a
chain that a crash cut off goes on where it was: results that are recorded are used, open calls run,
an open request is asked again.

This is where the phase lists are enforced, whatever the model was told. A call that may not run is
refused in words that the model can act on, recorded, and has done nothing. A call that ran is
recorded together with what it wrote, in one frame. `tool_execution` does the work. Which tools a
phase may call is told by the catalog (contract, section 4: phase lists).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.agent.budget import LoopVerdict, call_fingerprint, check_budget, cost_of, loop_verdict
from kbd.core.agent.context_window import calibrate_model
from kbd.core.agent.model_calls import TurnUsage, call_model, recorded_calls, recorded_text
from kbd.core.agent.run_context import LoopWarned, RunContext, ToolStarted
from kbd.core.agent.tool_execution import (
    INLINE_BYTES,
    ToolExecution,
    ToolOutcome,
    add_loop_note,
    admit_call,
    error_text,
    execute_tool,
    render_result,
    surplus_error,
)
from kbd.core.agent.transcript import Objection, Transcript, find_fault, is_cut_off
from kbd.core.domain.commands import FinishCall, RecordRun, StartCall
from kbd.core.domain.run_state import Chain, Run, Turn
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.guards import answer_of
from kbd.core.plugins.host import Plugin
from kbd.core.plugins.programs import is_equipped
from kbd.core.runtime.settings import RunLimits
from kbd.errors import AgentLoopDetected, KbdError, TurnLimit, ValidationFailed
from kbd.events.base import PluginUsed, ReplyCall
from kbd.events.runs import ModelReplied, ModelRequested, ToolCalled, ToolRefused, ToolReturned
from kbd.messages import Message
from kbd.providers import OPTIONS, MalformedReply, ModelInfo, ModelRequest, ToolSchema
from kbd.types import BlobHash, Phase, Seq

__all__ = [
    "PHASES",
    "BuildOpening",
    "ChainSpec",
    "PhaseRules",
    "answer_call",
    "plugin_version",
    "refuse_surplus_calls",
    "run_chain",
    "turn_limit",
]


class PhaseRules(msgspec.Struct, frozen=True):
    """Rules of a phase.

    Args:
        phase: Which.
        subphase: Its name in errors (contract, section 9).
        first_choice: The `tool_choice` of its first turn; later turns leave it open.
    """

    phase: Phase
    subphase: str
    first_choice: Literal["required", "auto", "none"]


PHASES = {
    rules.phase: rules
    for rules in (
        PhaseRules(Phase.RESEARCH, "rpi_research", "required"),
        PhaseRules(Phase.PLAN, "rpi_plan", "auto"),
        PhaseRules(Phase.IMPLEMENT, "rpi_implement", "required"),
        PhaseRules(Phase.SUMMARY, "rpi_summary", "none"),
    )
}


def turn_limit(phase: Phase, limits: RunLimits) -> int:
    """Return how many turns a phase, or one attempt at an item, has."""
    match phase:
        case Phase.RESEARCH:
            return limits.research_turns
        case Phase.PLAN:
            return limits.plan_turns
        case Phase.IMPLEMENT:
            return limits.item_turns
        case Phase.SUMMARY:
            return 1


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


async def run_chain(context: RunContext, spec: ChainSpec) -> str:
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
        spec.objection, lambda tools: context.told_bytes(context.current.model_id, tools)
    )
    while True:
        chain = context.current.chain
        _check_loop(context, chain)
        if not chain.turns:
            await _request_turn(context, spec, transcript)
            continue
        newest = chain.turns[-1]
        # The last turn was offered no tool; calls that it makes all the same are not carried out.
        if newest.calls and len(chain.turns) < spec.limit:
            if newest.open_calls():
                await _answer_next_call(context, spec.phase, newest)
                continue
        else:
            text = _final_text(spec, chain)
            if text is not None:
                return text
        await _request_turn(context, spec, transcript)


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


def _final_text(spec: ChainSpec, chain: Chain) -> str | None:
    """Return the final text of a chain, or None if the model is asked once more."""
    newest = chain.turns[-1]
    text = newest.text.strip()
    if not text and len(chain.turns) >= spec.limit:
        msg = f"the {spec.phase.value} phase used up its {spec.limit} turns without an answer"
        raise TurnLimit(msg)
    fault = find_fault(newest, spec.objection)
    if fault is None:
        return text
    earlier = enumerate(chain.turns[:-1], 1)
    # An earlier turn that was no call was refused for its text; the model is asked again only once.
    if not any(not turn.calls or place >= spec.limit for place, turn in earlier):
        return None
    if not text:
        msg = "the model's reply was empty"
        raise MalformedReply(msg)
    # The work is done and only its report is too long; of a plan, items would be missing.
    if is_cut_off(newest) and spec.phase is not Phase.PLAN and spec.objection(text) is None:
        return f"{text} […]"
    raise ValidationFailed(fault)


async def _request_turn(context: RunContext, spec: ChainSpec, transcript: Transcript) -> None:
    """Request the next turn and record the reply.

    Where the server refuses an option, nothing is recorded but that: the caller asks again.
    """
    request, requested = await _build_request(context, spec, transcript)
    model_id, model = requested.model_id, _measured_model(context)
    turn_usage = TurnUsage(model, requested.estimated_tokens)
    run = context.current
    check_budget(run.usage, run.cost, turn_usage.max_tokens, turn_usage.max_cost, context.limits)
    # Reserved before the request leaves: runs side by side must not pass the day's cap together.
    reservation = await context.daily_budget.reserve(
        context.state.workbench_id,
        context.run,
        model_id,
        turn_usage.max_tokens,
        turn_usage.max_cost,
    )
    try:
        # Durable before the request leaves (reliability, R13), for one that a crash left open may
        # have been billed; and with it whatever it shows the model.
        await context.commands.submit(RecordRun(context.run, (requested,)))
        reply = await call_model(context, model_id, request, turn_usage)
    finally:
        await context.daily_budget.charge(reservation, turn_usage.tokens, turn_usage.cost)
    if reply is None:
        return
    replied = ModelReplied(
        text=recorded_text(reply.text),
        calls=await recorded_calls(reply.tool_calls, context.current.call_ids, context.blobs),
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        usage_is_estimate=reply.usage_is_estimate,
        cost=cost_of(reply.usage, model),
        refusal=reply.refusal,
    )
    # Durable before the first of its calls is made, or the next request leaves.
    await context.commands.defer(RecordRun(context.run, (replied,)))


async def _build_request(
    context: RunContext, spec: ChainSpec, transcript: Transcript
) -> tuple[ModelRequest, ModelRequested]:
    """Build the next turn's request, and its event."""
    number = len(context.current.chain.turns) + 1
    opening = await _opening_messages(context, spec, context.current.chain.opening, transcript)
    # The last turn is offered no tool, so that it ends in a text.
    offered = context.catalog.tools_for(spec.phase) if number < spec.limit else ()
    schemas = await run_sync(_equipped_schemas, offered, context.formats)
    run = context.current
    transcript.add_turns(run.chain)
    fitted = transcript.fit(schemas, _measured_model(context))
    request = ModelRequest(
        model=run.model_id.partition(":")[2] or run.model_id,
        messages=fitted.messages,
        tools=schemas,
        tool_choice=_tool_choice(spec.phase, run, offers=bool(schemas)),
        phase=spec.phase,
        effort=context.effort(run.model_id, spec.phase),
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


def _equipped_schemas(
    offered: tuple[ToolEntry, ...], formats: FormatCalls
) -> tuple[ToolSchema, ...]:
    """Return the schemas of the tools that have on this machine what they need."""
    return tuple(entry.schema for entry in offered if is_equipped(entry.tool, formats.can_print))


def _measured_model(context: RunContext) -> ModelInfo:
    """Return the run's model, calibrated by its provider's counts so far."""
    model_id = context.current.model_id
    return calibrate_model(context.model(model_id), context.state.measured.get(model_id))


async def _opening_messages(
    context: RunContext, spec: ChainSpec, known: BlobHash | None, transcript: Transcript
) -> BlobHash:
    """Load the opening messages as they were first sent, or build and store them."""
    if known is None:
        known = await context.blobs.put(msgspec.json.encode(await spec.opening()))
        transcript.opening = ()  # What is sent is what is kept: without known keys.
    if not transcript.opening:
        stored = await context.blobs.read(known)
        transcript.opening = msgspec.json.decode(stored, type=tuple[Message, ...])
    return known


async def answer_call(context: RunContext, phase: Phase, call: ReplyCall) -> None:
    """Answer one call of a model: refuse it or run it, and record the outcome.

    Args:
        context: The run's.
        phase: The phase that asks.
        call: The call.

    Raises:
        UserCanceled: The run was asked to stop; nothing of the call landed.
        DiskFull: There is no room to record or to write.
    """
    arguments = call.arguments
    if call.blob is not None:
        arguments = (await context.blobs.read(call.blob)).decode("utf-8", "replace")
    fingerprint = call_fingerprint(call.name, arguments or call.fault or "")
    try:
        entry, given = admit_call(context.catalog, phase, call, arguments)
    except KbdError as refusal:
        shown = _add_repeat_note(context, call.name, fingerprint, error_text(refusal))
        refused = ToolRefused(call.id, call.name, refusal.code, shown, fingerprint)
        await context.commands.defer(RecordRun(context.run, (refused,)))
        return
    await _run_call(context, entry, call, given, fingerprint)


async def refuse_surplus_calls(context: RunContext, calls: Sequence[ReplyCall]) -> None:
    """Refuse the calls beyond a turn's limit, all in one frame.

    Raises:
        UserCanceled: The run was asked to stop.
    """
    error = surplus_error(context.limits)
    text = error_text(error)
    # Without a fingerprint: what was not looked at is no sign of a loop.
    refusals = tuple(ToolRefused(call.id, call.name, error.code, text) for call in calls)
    await context.commands.defer(RecordRun(context.run, refusals))


async def plugin_version(context: RunContext, plugin: Plugin) -> PluginUsed:
    """Return the record of a plugin for the log: its version and its content's hash."""
    return PluginUsed(plugin.package, plugin.version, await context.catalog.hash_of(plugin))


async def _run_call(
    context: RunContext, entry: ToolEntry, call: ReplyCall, arguments: Any, fingerprint: str
) -> None:
    """Run a tool and record its end; if its frame is refused, record that as its end."""
    brought = await plugin_version(context, entry.plugin)
    plugin = f"{brought.package} {brought.version}"
    started = StartCall(context.run, call.id, call.name, plugin, brought.sha256)
    # The log names the plugin, its version and its hash before any of its code works.
    outcome = await context.commands.submit(started)
    entry_id = next(e.entry_id for e in outcome.events if isinstance(e, ToolCalled))
    context.announce(
        ToolStarted(context.run, call.id, call.name, _progress_path(context, entry, arguments))
    )
    began = context.clock.monotonic_s()
    # No await between the two: the files are just as that event left them.
    saw, files = context.state.seq, context.open_files()
    try:
        opened = ToolExecution(
            entry, files, outcome.ts_us, catalog=context.catalog,
            formats=context.formats, recall=context.recall, search=context.search,
            workers=context.workers,
        )  # fmt: skip
        done = await execute_tool(opened, call.id, arguments, context.limits.tool_s)
        took_ms = int((context.clock.monotonic_s() - began) * 1000)
        returned = await _build_returned(context, call, entry_id, done, fingerprint, took_ms, saw)
        draft_id = context.clock.new_id()
        try:
            await context.commands.defer(FinishCall(context.run, returned, done.changes, draft_id))
        # A file is not what the call saw any more: nothing of the call lands, and that is its
        # result (reliability, R8).
        except ValidationFailed as conflict:
            done = msgspec.structs.replace(done, result=None, text="", error=conflict, changes=())
            returned = await _build_returned(
                context, call, entry_id, done, fingerprint, took_ms, saw
            )
            await context.commands.defer(FinishCall(context.run, returned))
    finally:
        # Also after a cancel: staged files that no event names must not stay.
        with anyio.CancelScope(shield=True):
            await files.drop()


async def _build_returned(
    context: RunContext,
    call: ReplyCall,
    entry_id: int,
    done: ToolOutcome,
    fingerprint: str,
    took_ms: int,
    saw: Seq,
) -> ToolReturned:
    """Build the event of a finished call; a long result becomes a blob that it names."""
    receipt_bytes = context.limits.receipt_bytes
    text, seen = render_result(call.name, entry_id, done, receipt_bytes)
    data = text.encode()
    blob = await context.blobs.put(data) if len(data) > INLINE_BYTES else None
    shown = _add_repeat_note(context, call.name, fingerprint, seen)
    return ToolReturned(
        call_id=call.id,
        entry_id=entry_id,
        ok=done.error is None,
        shown=shown,
        # What the model saw whole is not kept twice.
        result="" if blob is not None or shown == text else text,
        blob=blob,
        size_bytes=len(data),
        duration_ms=took_ms,
        error_code=done.error.code if done.error else None,
        fingerprint=fingerprint,
        saw=saw,
        receipt_bytes=receipt_bytes,
        worked=tuple([await plugin_version(context, plugin) for plugin in done.worked]),
        outside=done.outside,
        noted=done.notes,
    )


def _progress_path(context: RunContext, entry: ToolEntry, arguments: Any) -> str | None:
    """Return the path that progress shows; a fault of the plugin there stops nothing."""
    tool, faults = entry.tool, context.workers.faults
    what = f"tool {tool.name}"
    path = answer_of(
        faults, entry.plugin.name, what, lambda: tool.path_of(arguments) or "", str, lambda _: ""
    )
    return path or None


def _add_repeat_note(context: RunContext, tool: str, fingerprint: str, text: str) -> str:
    """Add a note to a result if the call is a loop, and announce that."""
    chain = context.current.chain
    noted_text, warned = add_loop_note(context.limits, chain.fingerprints, fingerprint, text)
    if warned:
        context.announce(LoopWarned(context.run, tool, len(chain.turns)))
    return noted_text
