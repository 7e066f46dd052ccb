"""Run of the agent: research, plan, the items one by one, summary; resumable at every event.

Each step is read from the log's state. What a step needs is either recorded or missing, so the same
function starts a run, resumes it after a crash at any event, and goes on after a cancel: it does
what is missing, in order.

Errors fall into two kinds (contract, section 6). Those of `ATTEMPT_ENDING` are about one
conversation: an item that meets one is rolled back, tried once more, then marked failed, and the
next item runs. All others (consent, keys, budget, exhausted retries, a full disk) end the run; its
items stay open and the run can be resumed.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from kbd.core.agent.plan import (
    KnownItems,
    admit_additions,
    append_failures,
    append_told,
    find_additions,
    parse_plan,
    plan_room,
    render_changes,
    told_of,
)
from kbd.core.agent.prompt_messages import (
    build_briefing,
    implement_opening,
    plan_opening,
    render_earlier_messages,
    research_opening,
    summary_opening,
)
from kbd.core.agent.readable_copies import write_tool_log
from kbd.core.agent.run_context import RunContext
from kbd.core.agent.tool_loop import PHASES, BuildOpening, ChainSpec, run_chain, turn_limit
from kbd.core.agent.transcript import Objection, accept_any
from kbd.core.domain.commands import EndRun, FailAttempt, RecordRun
from kbd.core.domain.run_decisions import run_refusal
from kbd.core.domain.run_state import ItemState, Plan, Run
from kbd.core.domain.state_text import one_line
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.workbench.content_diff import compare_versions
from kbd.errors import (
    MACHINE_FAULTS,
    AgentLoopDetected,
    ContextExhausted,
    KbdError,
    ProviderUnavailable,
    TurnLimit,
    ValidationFailed,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    ResearchWritten,
    RunFailed,
    RunFinished,
    SummaryWritten,
)
from kbd.events.shortages import SYSTEM_FAILURES, told_error
from kbd.events.vocabulary import Event
from kbd.events.workbenches import AssistantMessageAdded
from kbd.formats.change_text import describe_changes
from kbd.messages import Message
from kbd.providers import MalformedReply
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName, Phase

__all__ = ["ATTEMPT_ENDING", "run_agent"]

ATTEMPT_ENDING = (TurnLimit, AgentLoopDetected, ContextExhausted, ValidationFailed, MalformedReply)
"""What fails an item's attempt instead of the run."""

MAX_RESEARCH_CHARS = 60_000
"""Some 15,000 tokens: research.md is in the plan's context whole."""

MAX_ANSWER_CHARS = 20_000
"""The longest final text of an item."""

_DEAD_ENDS = frozenset(
    kind.code for kind in (TurnLimit, AgentLoopDetected, ContextExhausted, ValidationFailed)
)

_log = get_logger(__name__)


async def run_agent(context: RunContext) -> None:
    """Bring the active run to its end and record how it ended.

    Cancelling the task stops it at once; whoever cancels records that. A run that was asked to stop
    is recorded as canceled here, too, when it notices first.

    An end that cannot be recorded is logged: the run is then closed by whoever started it.
    """
    try:
        await _run_open_phases(context)
    except KbdError as error:
        await _end_failed(context, error)
    except Exception as fault:  # noqa: BLE001 - a fault of kbd's own ends this run, not the daemon
        _log.error("run_failed_inside", run=context.run, exc_info=fault)
        await _end_failed(context, told_error(fault))
    # After the end is durable: a copy can be made again from the log.
    await _copy_tool_log(context)


async def _run_open_phases(context: RunContext) -> None:
    if context.current.research is None or _is_in_vain(context.current):
        await _research(context)
    if context.current.plan is None:
        await _plan(context)
    if not _all_items_closed(context.current):
        await _implement(context)
    await _summarize(context)


def _is_in_vain(run: Run) -> bool:
    """Return whether the run stopped because none of its calls worked: it is begun anew."""
    return run.in_vain is not None and run.dead_end in MACHINE_FAULTS


def _all_items_closed(run: Run) -> bool:
    done = run.phase is Phase.IMPLEMENT and not run.phase_open
    return done or run.phase is Phase.SUMMARY


async def _research(context: RunContext) -> None:
    await _enter_phase(context, Phase.RESEARCH)

    async def opening() -> tuple[Message, ...]:
        request = _request(context)
        briefing = await build_briefing(context, request)
        return research_opening(request, _earlier(context), briefing.context, briefing.files)

    text = await run_chain(context, _phase_chain(context, Phase.RESEARCH, opening))
    # One frame: no crash leaves the text without the end of its phase, or the other way round.
    await _record(
        context,
        ResearchWritten(append_told(text[:MAX_RESEARCH_CHARS], told_of(context.current))),
        PhaseCompleted(Phase.RESEARCH),
    )


async def _plan(context: RunContext) -> None:
    await _enter_phase(context, Phase.PLAN)

    async def opening() -> tuple[Message, ...]:
        request, research = _request(context), context.current.research or ""
        briefing = await build_briefing(context, request, light=True)
        return plan_opening(
            request,
            _earlier(context),
            briefing.context,
            research,
            briefing.files,
            context.limits.items,
        )

    max_items = context.limits.items
    objection = partial(_plan_fault, max_items)
    text = await run_chain(context, _phase_chain(context, Phase.PLAN, opening, objection))
    parsed = parse_plan(text, max_items)
    written = PlanWritten(parsed.task, parsed.items, parsed.notes)
    await _record(context, written, PhaseCompleted(Phase.PLAN))


def _plan_fault(max_items: int, text: str) -> str | None:
    try:
        parse_plan(text, max_items)
    except ValidationFailed as fault:
        return fault.message
    return None


async def _implement(context: RunContext) -> None:
    if context.current.phase is not Phase.IMPLEMENT:
        await _record(context, PhaseStarted(Phase.IMPLEMENT))
    known = KnownItems(item.text for item in _plan_of(context.current).items)
    place = 1
    while (found := _first_open_item(_plan_of(context.current), place)) is not None:
        place = found
        await _attempt(context, place, known)
    await _record(context, PhaseCompleted(Phase.IMPLEMENT))


def _first_open_item(now: Plan, start: int) -> int | None:
    """Return the first open item from a place on; those before it are known to be closed."""
    for place in range(start, len(now.items) + 1):
        if now.items[place - 1].state is ItemState.OPEN:
            return place
    return None


async def _attempt(context: RunContext, place: int, known: KnownItems) -> None:
    """Resume the open attempt at an item, or begin one, and record its outcome."""
    run = context.current
    fault = run.chain.fault
    if run.item == place and fault is not None and run.dead_end == fault.code:
        # The model can only make the same of a call that failed so; without it, it goes well.
        reason = one_line(fault.message, context.limits.reason_characters)
        await context.commands.submit(FailAttempt(context.run, fault.code, reason, final=False))
    # Else the attempt was cut off: it goes on with the chain that the log has of it.
    if run.item != place:
        attempt = _plan_of(run).items[place - 1].failures + 1
        await _record(context, ItemStarted(place, attempt))

    async def opening() -> tuple[Message, ...]:
        now = context.current
        wanted = f"{_plan_of(now).items[place - 1].text}\n{_request(context)}"
        briefing = await build_briefing(context, wanted)
        return implement_opening(
            _plan_of(now), place, now.attempt, briefing.context, briefing.files,
            _plan_room(context), _document(context),
        )  # fmt: skip

    try:
        text = await run_chain(context, _phase_chain(context, Phase.IMPLEMENT, opening))
    except ATTEMPT_ENDING as error:
        # An item is tried twice: its second failure is final (contract, section 6).
        final = _plan_of(context.current).items[place - 1].failures > 0
        reason = one_line(error.message, context.limits.reason_characters)
        await context.commands.submit(FailAttempt(context.run, error.code, reason, final))
    else:
        await _record(context, *_completion(context, place, text, known))


def _completion(context: RunContext, place: int, text: str, known: KnownItems) -> Sequence[Event]:
    """Return the events of an item's end, with the items that its final text adds to the plan."""
    now, limits = _plan_of(context.current), context.limits
    facts: list[Event] = [ItemCompleted(place, text[:MAX_ANSWER_CHARS])]
    # Items may double the original count (contract, section 6), within the setting.
    cap = min(limits.amendment_factor * now.original_count, limits.items)
    admitted = admit_additions(find_additions(text, known), len(now.items), cap)
    if admitted.added:
        facts.append(ItemsAdded(admitted.added))
        known.add(admitted.added)
    if admitted.refused:
        facts.append(ItemsRefused(admitted.refused, admitted.reason))
    return facts


async def _summarize(context: RunContext) -> None:
    await _enter_phase(context, Phase.SUMMARY)

    async def opening() -> tuple[Message, ...]:
        contents = await _draft_contents(context)
        room, draft, run = _plan_room(context), context.state.draft, context.current
        changed = render_changes(draft.files if draft else {}, room, contents)
        return summary_opening(_request(context), _plan_of(run), changed, room, run.notices)

    reply = await run_chain(context, _phase_chain(context, Phase.SUMMARY, opening))
    text = append_failures(reply, _plan_of(context.current))
    text = append_told(text, told_of(context.current))
    facts = (
        SummaryWritten(text),
        AssistantMessageAdded(context.answer_id, text),
        PhaseCompleted(Phase.SUMMARY),
    )
    refusal = run_refusal(context.state, context.current)
    finished = RunFinished(has_draft=context.state.draft is not None, refusal=refusal)
    # One frame: whoever sees that the run has ended finds its answer.
    await context.commands.submit(EndRun(context.run, finished, facts))


MAX_COMPARED_FILES = 20
"""Files of a draft whose changes the summary is shown."""

MAX_CHANGES_OF_FILE = 25


async def _draft_contents(context: RunContext) -> dict[FileName, dict[str, Any]]:
    """Return what the draft changes inside its files, those that were there first."""
    draft = context.state.draft
    drafted = dict(draft.files) if draft else {}
    found: dict[FileName, dict[str, Any]] = {}
    # What was there before can be spoiled: it comes before what is new.
    for name in sorted(drafted, key=lambda name: (drafted[name].base is None, name)):
        if len(found) == MAX_COMPARED_FILES:
            break
        file = drafted[name]
        before = _version(context, name, file.base, file.base_size_bytes)
        after = _version(context, name, file.blob, file.size_bytes)
        compared = await compare_versions(context.formats, before, after)
        found[name] = describe_changes(compared, MAX_CHANGES_OF_FILE)
    return found


def _version(
    context: RunContext, name: FileName, blob: BlobHash | None, size_bytes: int
) -> FileRef | None:
    return None if blob is None else FileRef(name, blob, size_bytes, context.blobs.path(blob))


async def _enter_phase(context: RunContext, phase: Phase) -> None:
    """Begin or resume a phase; a chain that ended in a dead end is begun afresh."""
    run = context.current
    if run.phase is phase and run.phase_open and not _at_dead_end(run):
        return
    await _record(context, PhaseStarted(phase))


def _at_dead_end(run: Run) -> bool:
    """Return whether the open chain ended on an error that another request would only repeat.

    Exhausted retries leave a request open, which is asked again; an empty reply does not.
    """
    answered = run.chain.asked == len(run.chain.turns)
    if run.chain.fault is not None and run.dead_end == run.chain.fault.code:
        return True  # The results of its calls are the machine's, and not what the next ones say.
    return run.dead_end in _DEAD_ENDS or (run.dead_end == ProviderUnavailable.code and answered)


async def _end_failed(context: RunContext, error: KbdError) -> None:
    """Record why the run stopped; a run that was asked to stop is recorded as canceled."""
    phase = context.current.phase or Phase.RESEARCH
    failed = RunFailed(error.code, error.message, PHASES[phase].subphase, error.retryable)
    try:
        await context.commands.submit(EndRun(context.run, failed))
    except KbdError as refused:
        _log.error("end_not_recorded", run=context.run, error=refused.message, cause=error.message)


def _phase_chain(
    context: RunContext, phase: Phase, opening: BuildOpening, objection: Objection = accept_any
) -> ChainSpec:
    return ChainSpec(phase, turn_limit(phase, context.limits), opening, objection)


def _request(context: RunContext) -> str:
    message = context.state.request_of(context.current)
    return message.text if message is not None else ""


def _document(context: RunContext) -> str:
    """Return the request if it is a document, which only its own model reads; else ""."""
    message = context.state.request_of(context.current)
    return message.text if message is not None and message.model_id else ""


def _plan_room(context: RunContext) -> int:
    return plan_room(context.model(context.current.model_id).context_tokens)


def _earlier(context: RunContext) -> str:
    return render_earlier_messages(context.state.said, context.current.message_id)


def _plan_of(run: Run) -> Plan:
    """Return the plan of a run that has one."""
    if run.plan is None:
        msg = "the run has no plan"
        raise ValidationFailed(msg)
    return run.plan


async def _record(context: RunContext, *facts: Event) -> None:
    """Record what follows from what is recorded, with the request or the call that comes next."""
    await context.commands.defer(RecordRun(context.run, facts))


async def _copy_tool_log(context: RunContext) -> None:
    if context.copies is None:
        return
    try:
        await write_tool_log(context.copies, context.journal)
    except (KbdError, *SYSTEM_FAILURES) as fault:
        _log.warning("copy_not_written", copy="tool_log", error=told_error(fault).message)
