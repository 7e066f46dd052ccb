"""Text of an event: what happened, as one sentence for people.

This is the only place that says events in words: `kbd log`, `kbd show`, replay with its page, chats
and conversations show these. A new type of event gets a line in `EVENT_TEXTS`; whether it tells of
something that did not go as it should says `event_place`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from kbd.core.domain.event_context import EventContext
from kbd.core.domain.event_phrases import (
    FIELD_CHARACTERS,
    field_list,
    file_list,
    labeled_text,
    title_line,
)
from kbd.core.domain.run_text import RUN_TEXTS
from kbd.events import drafts, watches, workbenches
from kbd.events.codec import Unknown
from kbd.figures import counted, money, size

__all__ = ["EVENT_TEXTS", "completed_text", "draft_change", "event_text", "publish_text"]

LANDINGS_NAMED = 5
"""How many landed files a title names by their numbers."""

WATCH_DIGITS = 8
"""How much of a watch's id names it."""

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
    return f"{what} {data.publish_id} {how}, {file_list(file.name for file in data.files)}"


def completed_text(data: drafts.PublishCompleted) -> str:
    """Return how a publish ended: its checkpoint, and what somebody changed in between."""
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


def _setting(data: workbenches.SettingChanged, _context: EventContext) -> str:
    of = ", ".join(part for part in (data.provider_id, data.phase) if part)
    return f"setting {data.name}{f' of {of}' if of else ''} is now {data.value}"


def _cost(cost: float) -> str:
    return f" ({money(cost)})" if cost else ""


def _reserved(data: workbenches.BudgetReserved, _context: EventContext) -> str:
    most = f"up to {data.tokens} tokens{_cost(data.cost)}"
    return f"{most} reserved for {data.model_id}, {data.workbench_id}"


# Watched folders.


def _watch(data: Any) -> str:
    return f"watch {data.watch_id[:WATCH_DIGITS]}"


def _landings(data: Any) -> str:
    """Name a watch, and landed files by the numbers of the events that tell of them."""
    numbers = [str(number) for number in data.landings]
    left = len(numbers) - LANDINGS_NAMED
    more = f" and {left} more" if left > 0 else ""
    return f"no. {', '.join(numbers[:LANDINGS_NAMED])}{more}"


def _landed(data: watches.FileLanded, _context: EventContext) -> str:
    became = {
        "moved": f", known before as {data.moved_from}: no run",
        "own": ", written by kbd itself: no run",
        "failed": f", put aside: {data.code}: {data.message}",
    }.get(data.outcome, "")
    return f"{_watch(data)}: {data.path} landed ({size(data.size_bytes)}){became}"


def _watch_run_started(data: watches.WatchRunStarted, _context: EventContext) -> str:
    where = f"worked on in {data.workbench_id}, attempt {data.attempt}"
    return f"{_watch(data)}: {_landings(data)} {where}"


def _watch_run_finished(data: watches.WatchRunFinished, _context: EventContext) -> str:
    if data.outcome == "failed":
        again = "to be tried again: " if data.retry_at_us else ""
        ended = f"failed, {again}{data.code}: {data.message}"
    else:
        delivered = ", ".join(data.delivered)
        ended = f"{data.outcome}{f', delivered {delivered}' if delivered else ''}"
    return f"{_watch(data)}: {_landings(data)} ended: {ended}"


def _command_ended(data: watches.WatchCommandEnded, _context: EventContext) -> str:
    how = f"with code {data.exit_code}" if data.exit_code is not None else f"badly: {data.message}"
    return f"{_watch(data)}: command for {_landings(data)} ended {how}"


def _written(data: watches.FilesWritten, _context: EventContext) -> str:
    files = counted(len(data.hashes), "file")
    return f"kbd writes {files} into {data.folder}: no reason for a run"


def _unknown_event(data: Any, _context: EventContext) -> str:
    """Render an event of a newer kbd, or an unreadable one, by its name and its fields."""
    if not isinstance(data, Unknown):
        return type(data).__name__
    fields = data.data if isinstance(data.data, dict) else {}
    told = field_list(fields)
    return f"{data.type}, of a newer kbd{f': {told}' if told else ''}"


# By type: a log of many thousands of events is said at once. A test proves that none is missing.
EVENT_TEXTS: Mapping[type, _Text] = MappingProxyType(
    {
        **RUN_TEXTS,
        workbenches.WorkbenchCreated: lambda e, _: f"workbench {e.name} was created",
        workbenches.WorkbenchDeleted: lambda e, _: f"workbench {e.workbench_id} was deleted",
        workbenches.WorkbenchForked: _forked,
        workbenches.FileAdded: lambda e, _: f"added {e.name} ({size(e.size_bytes)})",
        workbenches.FileRemoved: lambda e, _: f"removed {e.name}",
        workbenches.ConsentGranted: _consent,
        workbenches.ModelChosen: lambda e, _: f"model {e.model_id} was chosen",
        workbenches.ContextSet: _context_set,
        workbenches.ContextRemoved: lambda e, _: f"{e.category} taken out",
        workbenches.UserMessageAdded: labeled_text("asked"),
        workbenches.AssistantMessageAdded: labeled_text("answered"),
        workbenches.ConversationRewound: _rewound,
        workbenches.RequestSent: _request,
        workbenches.SettingChanged: _setting,
        workbenches.BudgetReserved: _reserved,
        workbenches.BudgetCharged: lambda e, _: f"{e.tokens} tokens{_cost(e.cost)} charged",
        workbenches.DaemonStarted: lambda e, _: (
            f"daemon {e.engine_version} started, process {e.pid}, {e.backend}"
        ),
        workbenches.DaemonStopped: lambda e, _: f"daemon stopped: {e.reason}",
        workbenches.PluginLoaded: lambda e, _: f"plugin {e.name} {e.version} loaded",
        workbenches.PluginLeftOut: lambda e, _: f"plugin {e.name} left out: {e.reason}",
        workbenches.LogRepaired: lambda e, _: (
            f"torn end of {e.segment} cut off at byte {e.offset}, kept as {e.kept_as}"
        ),
        drafts.DraftOpened: lambda e, _: f"draft {e.draft_id} opened",
        drafts.FileChanged: _file_changed,
        drafts.DraftDiscarded: lambda e, _: f"draft {e.draft_id} discarded",
        drafts.DeletionConfirmed: lambda e, _: f"deletion confirmed: {', '.join(e.names)}",
        drafts.PublishIntended: lambda e, _: publish_text(e, "began"),
        drafts.PublishCompleted: lambda e, _: f"publish {e.publish_id} {completed_text(e)}",
        drafts.PublishAborted: lambda e, _: f"publish {e.publish_id} given up: {e.reason}",
        drafts.CheckpointCreated: _checkpoint,
        drafts.CheckpointRestored: lambda e, _: (
            f"checkpoint {e.checkpoint_id} restored, before it {e.pre_restore_checkpoint_id}"
        ),
        drafts.EffectIntended: _effect,
        drafts.EffectDone: lambda e, _: f"written outside the workbench as {e.final_name}",
        drafts.EffectAborted: lambda e, _: f"not written outside the workbench: {e.reason}",
        watches.WatchAdded: lambda e, _: (
            f"watching {e.rule.folder} ({e.rule.name}) as {e.watch_id[:WATCH_DIGITS]}"
        ),
        watches.FilesPassedOver: lambda e, _: (
            f"{_watch(e)}: {counted(len(e.files), 'file')} there already, passed over"
        ),
        watches.WatchRemoved: lambda e, _: f"{_watch(e)} was removed",
        watches.WatchPaused: lambda e, _: (
            f"{_watch(e)} paused{f': {e.reason}' if e.reason else ''}"
        ),
        watches.WatchSuspended: lambda e, _: f"{_watch(e)} suspended: {e.code}: {e.reason}",
        watches.WatchResumed: lambda e, _: (
            f"{_watch(e)} resumed{', with consent' if e.consent else ''}"
        ),
        watches.FileLanded: _landed,
        watches.WatchRunStarted: _watch_run_started,
        watches.WatchRunFinished: _watch_run_finished,
        watches.LandingsParked: lambda e, _: (
            f"{_watch(e)}: {_landings(e)} put aside: {e.code}: {e.message}"
        ),
        watches.LandingsRetried: lambda e, _: f"{_watch(e)}: {_landings(e)} taken up again",
        watches.LandingsDismissed: lambda e, _: f"{_watch(e)}: {_landings(e)} dismissed",
        watches.WatchCommandEnded: _command_ended,
        watches.FilesWritten: _written,
    }
)
"""What each type of event tells."""
