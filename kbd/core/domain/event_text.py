"""Text of an event: what happened, as one sentence for people.

This is the only place that says events in words: `kbd log`, `kbd show`, replay with its page, chats
and conversations show these. A new type of event gets a line in `EVENT_TEXTS`; whether it tells of
something that did not go as it should says `event_context.event_place`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from kbd.core.domain.approval_text import APPROVAL_TEXTS
from kbd.core.domain.event_context import EventContext, WorkTotals
from kbd.core.domain.found_damage import DAMAGE_TEXTS
from kbd.core.domain.restore_text import RESTORE_TEXTS
from kbd.core.domain.watch_text import WATCH_DIGITS, WATCH_TEXTS
from kbd.events import drafts, recipes, retention, workbenches
from kbd.events.codec import Unknown
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    NoticeGiven,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    ResearchWritten,
    RunCancelled,
    RunCancelRequested,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SummaryWritten,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.figures import counted, duration, money, size
from kbd.messages import Usage

__all__ = [
    "EVENT_TEXTS",
    "FIELD_CHARACTERS",
    "RUN_TEXTS",
    "TITLE_CHARACTERS",
    "argument_list",
    "call_text",
    "completed_text",
    "count_repeats",
    "draft_change",
    "event_text",
    "field_list",
    "file_list",
    "labeled_text",
    "publish_text",
    "title_line",
    "turn_text",
]


TITLE_CHARACTERS = 240
"""How long a title is at most; all of what it names is in the event."""

FIELD_CHARACTERS = 400
"""How much of a long text is looked at for a title."""

VALUE_CHARACTERS = 48
"""How much a title shows of one argument of a call."""

# What a terminal takes for a command (ECMA-48: CSI and OSC); the rest of it would be rubbish.
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def title_line(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Return a text as one line of printable characters, cut if it is long.

    What is not printable could redraw a terminal or turn the direction of writing.
    """
    # A space is the only white space that Python calls printable, so nothing else is to be joined.
    if len(text) <= most and text.isprintable() and "  " not in text:
        return text.strip(" ")
    # What is cut away need not be looked at: texts may be long, titles are many.
    one = " ".join(_SEQUENCES.sub("", text[: 8 * most]).split())
    if not one.isprintable():
        # By a space, not by nothing: words that only a control character parts stay two.
        seen = (char if char.isprintable() else " " for char in one)
        one = " ".join("".join(seen).split())
    return one if len(one) <= most and len(text) <= 8 * most else one[: most - 1] + "…"


def count_repeats(texts: Iterable[str]) -> str:
    """Join texts in their order, each once, with its count if it occurs several times."""
    counts = Counter(texts)
    return ", ".join(text if count == 1 else f"{text} ×{count}" for text, count in counts.items())


def file_list(names: Iterable[str]) -> str:
    """Return how many files there are, and which."""
    found = list(names)
    return f"{counted(len(found), 'file')}: {', '.join(found)}" if found else "no files"


def argument_list(text: str) -> str:
    """Return arguments as `name=value, …`, each value cut; what is no JSON object as it is."""
    try:
        given = msgspec.json.decode(text) if text else {}
    # How deep arguments nest is up to the model; msgspec gives up with RecursionError.
    except (msgspec.DecodeError, RecursionError):
        return text
    if not isinstance(given, dict):
        return text
    return field_list(given)


def field_list(record: dict[str, Any]) -> str:
    """Return a record as `name=value, …`, each value cut."""
    return ", ".join(f"{name}={_value(value)}" for name, value in record.items())


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return title_line(text, VALUE_CHARACTERS)


def labeled_text(what: str) -> Callable[[Any, Any], str]:
    """Return a renderer of events as their text, behind a word that labels it."""
    return lambda data, _context: f"{what}: {data.text[:FIELD_CHARACTERS]}"


def turn_text(
    turn: int, failures: Sequence[str], reply: tuple[str, Iterable[str], str] | None
) -> str:
    """Render a turn of the model, which several events record.

    Args:
        turn: Which.
        failures: The attempts that failed.
        reply: What the model said, the tools that it asked for, and why it stopped; None if no
            reply is recorded.
    """
    after = f" after {counted(len(failures), 'failure')}" if failures else ""
    if reply is None:
        return f"turn {turn}, no reply{after}{f': {failures[-1]}' if failures else ''}"
    return f"turn {turn}{after}{_reply(*reply)}"


def call_text(tool: str, arguments: str, how: str = "", *, by_client: bool = False) -> str:
    """Render a tool call with its arguments, which several events record.

    Args:
        tool: The tool.
        arguments: JSON text.
        how: What became of it, to stand behind the tool.
        by_client: Whether a client called, and no model.
    """
    return _with_arguments(f"client called {tool}{how}" if by_client else f"{tool}{how}", arguments)


def _with_arguments(called: str, arguments: str) -> str:
    given = argument_list(arguments)
    return f"{called}: {given}" if given else called


def _reply(text: str, calls: Iterable[str], finish_reason: str, comma: str = "") -> str:
    """Return what a model asked for and said, and why it stopped if that is unusual."""
    unusual = f" [{finish_reason}]" if finish_reason not in ("stop", "tool_calls", "") else ""
    names = count_repeats(calls)
    asks = f"{comma} asks for {names}" if names else "" if text else f"{comma} says nothing"
    return f"{unusual}{asks}{f': {text[:FIELD_CHARACTERS]}' if text else ''}"


def _of_items(context: EventContext) -> str:
    return f" of {context.items}" if context.items else ""


def _elapsed(took_us: int) -> str:
    return duration(took_us / 1_000_000)


def _tokens(usage: Usage, about: str = "") -> list[str]:
    if usage == Usage():
        return []
    return [f"{about}{usage.input_tokens:,} in", f"{about}{usage.output_tokens:,} out"]


def _in_totals(spent: WorkTotals | None, about: str = "") -> str:
    """Return how long what ends here took, and its turns, calls and tokens."""
    if spent is None:
        return ""
    counts = ((spent.turns, "turn"), (spent.calls, "call"))
    parts = [counted(count, noun) for count, noun in counts if count]
    text = ", ".join([*parts, *_tokens(spent.usage, about)])
    return f" in {_elapsed(spent.took_us)}{f' ({text})' if text else ''}"


def _after(context: EventContext) -> str:
    return f" after {_elapsed(context.spent.took_us)}" if context.spent else ""


def _with_code(code: str, text: str) -> str:
    """Return an error of a call as `CODE: text`; what models are shown begins so itself."""
    message = text.removeprefix("Error: ")
    if not code or message.startswith(code):
        return message
    return f"{code}: {message}" if message else code


def _run(context: EventContext) -> str:
    return f"run {context.run}" if context.run else "run"


def _run_finished(data: RunFinished, context: EventContext) -> str:
    if data.refusal is not None:
        return f"run declined{_in_totals(context.spent)}, nothing was done: {data.refusal.reason}"
    left = "with a draft to review" if data.has_draft else "without a draft"
    return f"run finished{_in_totals(context.spent)}, {left}"


def _item_started(data: ItemStarted, context: EventContext) -> str:
    again = f", attempt {data.attempt}" if data.attempt > 1 else ""
    text = context.text[:FIELD_CHARACTERS]
    return f"item {data.item}{_of_items(context)} started{again}{f': {text}' if text else ''}"


def _item_failed(data: ItemRetried | ItemFailed, context: EventContext, then: str = "") -> str:
    undone = f", {counted(context.rolled_back, 'file')} rolled back" if context.rolled_back else ""
    return f"item {data.item} failed{_after(context)}{undone}{then}: {data.code}: {data.reason}"


def _model_replied(data: ModelReplied, context: EventContext) -> str:
    spent = _in_totals(context.spent, "~" if data.usage_is_estimate else "")
    reply = _reply(data.text, (call.name for call in data.calls), data.finish_reason, ",")
    return f"model replied{spent}{reply}"


def _model_failed(data: ModelFailed, context: EventContext) -> str:
    """Say whether a failed turn is asked for again, and when."""
    if data.option:
        again = f", asked again without {data.option}"
    elif data.retry_attempt:
        again = f", retry {data.retry_attempt} in {duration(data.wait_ms / 1000)}"
    else:
        again = ", no retry"
    return f"model failed{_after(context)}{again}: {data.code}: {data.message}"


def _tool_called(data: ToolCalled, context: EventContext) -> str:
    called = f"tool {data.tool} called" if context.run else f"client called {data.tool}"
    if data.repeats:
        called = f"{data.tool} of event {data.repeats} applied again"
    return _with_arguments(
        f"{called}, entry {data.entry_id}", context.call.arguments or data.arguments
    )


def _tool_returned(data: ToolReturned, context: EventContext) -> str:
    tool, took = context.call.tool or "tool", duration(data.duration_ms / 1000)
    worked = ", ".join(used.package for used in data.worked) or context.call.plugin
    by = f", entry {data.entry_id}{f' ({worked})' if worked else ''}"
    if not data.ok:
        return f"{tool} failed in {took}{by}: {_with_code(data.error_code or '', data.shown)}"
    receipt = " as a receipt" if data.result or data.blob else ""
    return f"{tool} returned {size(data.size_bytes)}{receipt} in {took}{by}{_with_steps(data)}"


def _with_steps(data: ToolReturned) -> str:
    """Say how many calls of other tools a call made, and of which job they are steps."""
    nested = () if data.noted is None else data.noted.nested
    if not nested:
        return ""
    jobs = ", ".join(dict.fromkeys(one.job[:12] for one in nested if one.job))
    return f", {counted(len(nested), 'step')}{f' of job {jobs}' if jobs else ''}"


RUN_TEXTS: Mapping[type, Callable[[Any, EventContext], str]] = MappingProxyType(
    {
        RunStarted: lambda e, at: f"{_run(at)} started with {e.model_id}",
        RunResumed: lambda e, at: f"{_run(at)} resumed with {e.model_id}",
        RunInterrupted: lambda e, at: f"run interrupted{_after(at)}: {e.reason}",
        RunCancelRequested: lambda _e, _: "cancel was requested",
        RunCancelled: lambda _, at: f"run cancelled{_after(at)}",
        RunFailed: lambda e, at: f"run failed in {e.subphase}{_after(at)}: {e.code}: {e.message}",
        RunFinished: _run_finished,
        PhaseStarted: lambda e, _: f"phase {e.phase.value} started",
        PhaseCompleted: lambda e, at: f"phase {e.phase.value} completed{_in_totals(at.spent)}",
        ResearchWritten: lambda e, _: (
            f"research, {counted(len(e.text), 'character')}: {e.text[:FIELD_CHARACTERS]}"
        ),
        PlanWritten: lambda e, _: f"plan of {counted(len(e.items), 'item')}: {'; '.join(e.items)}",
        ItemStarted: _item_started,
        ItemCompleted: lambda e, at: (
            f"item {e.item} completed{_in_totals(at.spent)}{f': {e.text}' if e.text else ''}"
        ),
        ItemRetried: lambda e, at: _item_failed(e, at, ", to be tried again"),
        ItemFailed: _item_failed,
        ItemsAdded: lambda e, _: f"{counted(len(e.items), 'item')} added: {'; '.join(e.items)}",
        ItemsRefused: lambda e, _: (
            f"{counted(len(e.items), 'item')} refused ({e.reason}): {'; '.join(e.items)}"
        ),
        SummaryWritten: labeled_text("summary"),
        ModelRequested: lambda e, _: f"asked {e.model_id}, turn {e.turn}",
        ModelReplied: _model_replied,
        ModelFailed: _model_failed,
        NoticeGiven: lambda e, _: f"notice: {e.code}: {e.message}",
        ToolCalled: _tool_called,
        ToolReturned: _tool_returned,
        ToolRefused: lambda e, _: f"tool {e.tool} refused: {_with_code(e.code, e.shown)}",
    }
)
"""What each event of a run tells."""


_PURPOSES = {
    "turn": "",
    "validate": ", to try a key",
    "embed": ", for vectors of texts",
    "summarize": ", for a summary",
}
"""What a request was sent for."""

_FORK_MODES = {
    "clone_all": "all of it",
    "clone_files_and_context_no_chat": "files and context",
    "clone_files_only": "files",
}
"""How much of a workbench a fork takes over."""

_CHECKPOINTS = {
    "publish": "before a publish",
    "undo": "before an undo",
    "regenerate": "before another answer",
    "pre_restore": "before a restore",
}
"""Why a checkpoint was made that has no description."""

Change = Literal["added", "modified", "deleted", "rolled back"]

_Text = Callable[[Any, EventContext], str]


def event_text(data: Any, context: EventContext) -> str:
    """Render an event as a sentence: one line, printable, lower case, no full stop.

    Args:
        data: The event.
        context: What the events before say of it.
    """
    return title_line(EVENT_TEXTS.get(type(data), _unknown_event)(data, context))


# What several sentences, and steps of several events, have in common.


def draft_change(change: drafts.FileChanged) -> Change:
    """Return how a file of the draft changed."""
    if change.cause == "rollback":
        return "rolled back"
    if change.after is None:
        return "deleted"
    return "modified" if change.before else "added"


def publish_text(data: drafts.PublishIntended, how: str) -> str:
    """Return what is carried out like a publish, how it went, and the files."""
    what = "undo" if data.rewind else "restore" if data.restores else "publish"
    # Before the files, which may be many: an approval must not be cut off.
    accepted = ", ".join(name for name, _ in data.accepted)
    aside = f", external references accepted in {accepted}" if accepted else ""
    return f"{what} {data.publish_id} {how}{aside}, {file_list(file.name for file in data.files)}"


def completed_text(data: drafts.PublishCompleted) -> str:
    """Render the outcome of a publish: its checkpoint, and conflicting changes."""
    aside = [f"{name} as {kept}" for name, kept in data.conflicted]
    kept = f", kept aside {', '.join(aside)}" if aside else ""
    return f"completed, checkpoint {data.checkpoint_id}{kept}"


# Drafts, checkpoints, what leaves the workbench.


def _file_changed(data: drafts.FileChanged, _context: EventContext) -> str:
    after = size(data.size_bytes) if data.after else ""
    before = size(data.before_size_bytes) if data.before else ""
    sizes = f"{before} -> {after}" if before and after else after
    sizes = sizes or (f"was {before}" if before else "gone")
    warned = f", {counted(len(data.warnings), 'warning')}" if data.warnings else ""
    return f"draft: {draft_change(data)} {data.name} ({sizes}){warned}"


def _checkpoint(data: drafts.CheckpointCreated, _context: EventContext) -> str:
    why = data.description or _CHECKPOINTS.get(data.reason, data.reason)
    if data.reason == "manual":
        why = f"made by hand{f': {data.description}' if data.description else ''}"
    files = file_list(file.name for file in data.files)
    return f"checkpoint {data.checkpoint_id} ({why}), {files}"


def _recovered(data: drafts.DraftRecovered, _context: EventContext) -> str:
    files = file_list(file.name for file in data.draft.files)
    part = "" if data.is_whole else " in part"
    ended = f"ended by event {data.ended_seq}"
    return f"draft {data.draft.draft_id} recovered{part} ({ended}), {files}"


def _effect(data: drafts.EffectIntended, _context: EventContext) -> str:
    return f"{data.kind} of {data.file.name} to {data.directory} began"


# Workbenches, conversations, the daemon.


def _forked(data: workbenches.WorkbenchForked, _context: EventContext) -> str:
    taken = _FORK_MODES.get(data.mode, data.mode)
    upto = f" as after message {data.from_message_id}" if data.from_message_id else ""
    return f"forked from {data.source_workbench_id} at its event {data.source_seq}: {taken}{upto}"


def _rewound(data: workbenches.ConversationRewound, _context: EventContext) -> str:
    again = ", to answer it once more" if data.reason == "regenerate" else ""
    undone = "undone: " if data.reason == "undo" else ""
    kept = f", checkpoint {data.checkpoint_id}" if data.checkpoint_id else ""
    return f"{undone}set back to message {data.message_id} (event {data.to_seq}){again}{kept}"


def _reading_chosen(data: workbenches.ReadingChosen, _context: EventContext) -> str:
    said = msgspec.to_builtins(data.read_as)
    if not said:
        return f"{data.name}: how it is read is found out again"
    words = ", ".join(f"{field.replace('_', ' ')} {value!r}" for field, value in said.items())
    return f"{data.name} is to be read with {words}"


def _deleted(data: workbenches.WorkbenchDeleted, _context: EventContext) -> str:
    if not data.reason:
        return f"workbench {data.workbench_id} was deleted"
    return f"the archive of workbench {data.workbench_id} was removed: {data.reason}"


def _context_set(data: workbenches.ContextSet, _context: EventContext) -> str:
    source = f" from {data.source_name}" if data.source_name else ""
    return f"{data.category} set{source}: {data.text[:FIELD_CHARACTERS]}"


def _consent(data: workbenches.ConsentGranted, _context: EventContext) -> str:
    at = f" at {data.endpoint}" if data.endpoint else ""
    return f"consent: files may go to {data.provider_id}{at} ({data.model_id})"


def _request(data: workbenches.RequestSent, _context: EventContext) -> str:
    why = _PURPOSES.get(data.purpose, "")
    sent = f"{data.method} {data.path}, {size(data.bytes_out)}"
    return f"request sent to {data.endpoint}: {sent}{why}"


def _trace(data: workbenches.TraceSent, _context: EventContext) -> str:
    texts = ", with texts" if data.has_content else ""
    what = f"trace of run {data.workbench_id}-{data.run}, {size(data.bytes_out)}{texts}"
    return f"request sent to {data.endpoint}: POST {data.path}, {what}"


def _retention_planned(data: workbenches.RetentionPlanned, _context: EventContext) -> str:
    whose = f"watch {data.watch_id[:WATCH_DIGITS]}" if data.watch_id else "[retention]"
    if not data.remove_after_days:
        return f"{whose} removes no archives any more"
    due = f"{counted(data.count, 'archive')} ({size(data.size_bytes)})"
    return (
        f"{whose} remove_after_days = {data.remove_after_days} removes {due}, a day from now at the"
        f" earliest: {data.reason}"
    )


def _setting(data: workbenches.SettingChanged, _context: EventContext) -> str:
    of = ", ".join(part for part in (data.provider_id, data.phase) if part)
    return f"setting {data.name}{f' of {of}' if of else ''} is now {data.value}"


def _cost(cost: float) -> str:
    return f" ({money(cost)})" if cost else ""


def _reserved(data: workbenches.BudgetReserved, _context: EventContext) -> str:
    most = f"up to {data.tokens} tokens{_cost(data.cost)}"
    return f"{most} reserved for {data.model_id}, {data.workbench_id}"


def _reclaimed(data: retention.StorageReclaimed, _context: EventContext) -> str:
    where = data.workbench_id or f"watch {data.watch_id}"
    what = counted(data.count, f"{data.kind} blob")
    return f"storage of {where} reclaimed: {what}, {size(data.size_bytes)}: {data.reason}"


def _unknown_event(data: Any, _context: EventContext) -> str:
    """Render an event of a newer kbd, or an unreadable one, by its name and its fields."""
    if not isinstance(data, Unknown):
        return type(data).__name__
    fields = data.data if isinstance(data.data, dict) else {}
    listed = field_list(fields)
    return f"{data.type}, of a newer kbd{f': {listed}' if listed else ''}"


# By type: a log of many thousands of events is said at once. A test proves that none is missing.
EVENT_TEXTS: Mapping[type, _Text] = MappingProxyType(
    {
        **RUN_TEXTS,
        **APPROVAL_TEXTS,
        **RESTORE_TEXTS,
        **DAMAGE_TEXTS,
        workbenches.WorkbenchCreated: lambda e, _: f"workbench {e.name} was created",
        workbenches.WorkbenchDeleted: _deleted,
        workbenches.WorkbenchArchived: lambda e, _: (
            f"workbench {e.workbench_id} was archived ({size(e.size_bytes)}): {e.reason}"
        ),
        workbenches.WorkbenchUnarchived: lambda e, _: (
            f"workbench {e.workbench_id} was unpacked from its archive: {e.reason}"
        ),
        workbenches.WorkbenchForked: _forked,
        workbenches.FileAdded: lambda e, _: f"added {e.name} ({size(e.size_bytes)})",
        workbenches.FileRemoved: lambda e, _: f"removed {e.name}",
        workbenches.ConsentGranted: _consent,
        workbenches.ModelChosen: lambda e, _: f"model {e.model_id} was chosen",
        workbenches.ReadingChosen: _reading_chosen,
        workbenches.ContextSet: _context_set,
        workbenches.ContextRemoved: lambda e, _: f"{e.category} taken out",
        workbenches.UserMessageAdded: labeled_text("asked"),
        workbenches.AssistantMessageAdded: labeled_text("answered"),
        workbenches.ConversationRewound: _rewound,
        workbenches.RequestSent: _request,
        workbenches.TraceSent: _trace,
        workbenches.RetentionPlanned: _retention_planned,
        workbenches.SettingChanged: _setting,
        workbenches.BudgetReserved: _reserved,
        workbenches.BudgetCharged: lambda e, _: f"{e.tokens} tokens{_cost(e.cost)} charged",
        workbenches.DaemonStopped: lambda e, _: f"daemon stopped: {e.reason}",
        workbenches.PluginLoaded: lambda e, _: f"plugin {e.name} {e.version} loaded",
        workbenches.PluginLeftOut: lambda e, _: f"plugin {e.name} left out: {e.reason}",
        workbenches.PluginEndedDaemon: lambda e, _: (
            f"the daemon before ended while code of the plugin {e.name} {e.version} ran"
        ),
        workbenches.LogRepaired: lambda e, _: (
            # A repair cuts for damage, which the name of what is kept says; a start what is torn.
            f"{'damaged' if '.damaged-' in e.kept_as else 'torn'} end of {e.segment} cut off at"
            f" byte {e.offset}, kept as {e.kept_as}"
        ),
        drafts.DraftOpened: lambda e, _: f"draft {e.draft_id} opened",
        drafts.FileChanged: _file_changed,
        drafts.FileAdopted: lambda e, _: (
            f"{e.name} as somebody left it in published/ ({size(e.size_bytes)})"
            if e.blob is not None
            else f"{e.name} is gone from published/: somebody removed it"
        ),
        drafts.DraftRebased: lambda e, _: (
            f"draft {e.from_draft_id} rebased, now {e.draft_id}: {', '.join(e.files)}"
        ),
        drafts.DraftDiscarded: lambda e, _: f"draft {e.draft_id} discarded",
        drafts.DraftRecovered: _recovered,
        drafts.DeletionConfirmed: lambda e, _: f"deletion confirmed: {', '.join(e.names)}",
        drafts.PublishIntended: lambda e, _: publish_text(e, "began"),
        drafts.PublishCompleted: lambda e, _: f"publish {e.publish_id} {completed_text(e)}",
        drafts.PublishAborted: lambda e, _: f"publish {e.publish_id} given up: {e.reason}",
        drafts.CheckpointCreated: _checkpoint,
        drafts.CheckpointRestored: lambda e, _: (
            f"checkpoint {e.checkpoint_id} restored, before it {e.pre_restore_checkpoint_id}"
        ),
        drafts.ReceiptMade: lambda e, _: (
            f"receipt of publish {e.checkpoint_id} made, {size(e.size_bytes)}"
        ),
        drafts.EffectIntended: _effect,
        drafts.EffectDone: lambda e, _: f"written outside the workbench as {e.final_name}",
        drafts.EffectAborted: lambda e, _: f"not written outside the workbench: {e.reason}",
        **WATCH_TEXTS,
        recipes.RecipeSaved: lambda e, _: (
            f"recipe {e.name} saved, {e.sha256[:12]}{f', of run {e.run_id}' if e.run_id else ''}"
        ),
        recipes.RecipeRemoved: lambda e, _: f"recipe {e.name} was removed",
        retention.BlobsCollected: lambda e, _: (
            f"{counted(len(e.blobs), 'blob')} collected, {size(e.size_bytes)}: {e.reason}"
        ),
        retention.StorageReclaimed: _reclaimed,
    }
)
"""What each type of event tells."""
