"""The one line that a step is called by, in plain English."""

import re
from typing import Any, Literal

import msgspec

from kbd.core.domain.run_state import item_label
from kbd.events.codec import Unknown
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DeletionConfirmed,
    DraftDiscarded,
    EffectAborted,
    EffectDone,
    EffectIntended,
    FileChanged,
    PublishAborted,
    PublishIntended,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
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
    ToolRefused,
)
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ConsentGranted,
    ContextRemoved,
    ContextSet,
    ConversationRewound,
    FileAdded,
    FileRemoved,
    LogRepaired,
    ModelChosen,
    RequestSent,
    UserMessageAdded,
    WorkbenchCreated,
    WorkbenchForked,
)
from kbd.requests.replays import CallStep, ModelStep

__all__ = ["call_title", "counted", "line", "model_title", "title_of"]

Change = Literal["added", "modified", "deleted", "rolled back"]

TITLE_CHARACTERS = 160

# What a terminal takes for a command (ECMA-48: CSI and OSC); the rest of it would be rubbish.
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")

_PURPOSES = {"embed": ", for vectors of texts", "summarize": ", for a summary"}
"""For what a request was sent that was for no turn of a run."""

VALUE_CHARACTERS = 48
"""How much a title shows of one argument; all of it is in the step."""


def line(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Return a text as one line of printable characters, cut if it is long.

    What is not printable could redraw a terminal or turn the direction of writing.
    """
    # What is cut away need not be looked at: texts may be long, titles are many.
    one = " ".join(_SEQUENCES.sub("", text[: 8 * most]).split())
    if not one.isprintable():
        seen = (char if char.isprintable() else " " for char in one)
        one = " ".join("".join(seen).split())
    return one if len(one) <= most and len(text) <= 8 * most else one[: most - 1] + "…"


def counted(count: int, noun: str) -> str:
    """Return "1 file", "2 files"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def model_title(model: ModelStep) -> str:
    """Name a turn by what came of it."""
    failed = f" after {counted(len(model.failures), 'failure')}" if model.failures else ""
    if model.is_open:
        last = f": {model.failures[-1]}" if model.failures else ""
        return line(f"Turn {model.turn} not answered{last}")
    names = ", ".join(call.tool for call in model.calls)
    said = f" asks for {names}" if names else f": {model.text}" if model.text else " says nothing"
    return line(f"Turn {model.turn}{failed}{said}")


def call_title(call: CallStep, prefix: str = "") -> str:
    """Name a call by its tool, its arguments and its end."""
    code = line(call.error_code or "failed", VALUE_CHARACTERS)
    end = " — not ended" if call.is_open else "" if call.ok else f" — {code}"
    told = f"{prefix}{call.tool} {_arguments(call.arguments)}"
    return line(told, TITLE_CHARACTERS - len(end)) + end


def _arguments(text: str) -> str:
    try:
        given = msgspec.json.decode(text) if text else {}
    except msgspec.DecodeError:
        return text
    if not isinstance(given, dict):
        return text
    return ", ".join(f"{name}={_value(value)}" for name, value in given.items())


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return line(text, VALUE_CHARACTERS)


def title_of(data: Any, item: str = "", rolled_back: int = 0) -> str:
    """Name an event that is a step of its own.

    Args:
        data: The event.
        item: The label of the item that it tells of.
        rolled_back: How many files it brought back to what they were.
    """
    undone = f" ({counted(rolled_back, 'file')} rolled back)" if rolled_back else ""
    match data:
        case ItemStarted(item=number, attempt=attempt):
            again = f" again, attempt {attempt}" if attempt > 1 else ""
            return line(f"Item {number} began{again}: {item}")
        case ItemCompleted(item=number):
            return line(f"Item {number} is done: {item}")
        case ItemRetried(item=number, code=code, reason=reason):
            return line(f"Item {number} failed, to be tried again{undone} — {code}: {reason}")
        case ItemFailed(item=number, code=code, reason=reason):
            return line(f"Item {number} failed{undone} — {code}: {reason}")
        case _:
            return line(_title(data))


def _title(data: Any) -> str:
    match data:
        case UserMessageAdded(text=text):
            return f"Asked: {text}"
        case PhaseStarted(phase=phase):
            return f"Phase {phase.value} began"
        case PhaseCompleted(phase=phase):
            return f"Phase {phase.value} is done"
        case ResearchWritten(text=text):
            return f"research.md written, {counted(len(text), 'character')}"
        case PlanWritten(items=items):
            return f"Plan of {counted(len(items), 'item')}"
        case SummaryWritten(text=text):
            return f"Summary: {text}"
        case ToolRefused(tool=tool, code=code):
            return f"{tool} refused — {code}"
        case ItemsAdded(items=items):
            return f"{counted(len(items), 'item')} added: {'; '.join(map(item_label, items))}"
        case ItemsRefused(items=items, reason=reason):
            return f"{counted(len(items), 'item')} refused: {reason}"
        case _:
            return _run_title(data) or _draft_title(data) or _other(data)


def change_of(change: FileChanged) -> Change:
    """Say what happened to a file."""
    if change.cause == "rollback":
        return "rolled back"
    if change.after is None:
        return "deleted"
    return "modified" if change.before else "added"


def _run_title(data: Any) -> str:
    match data:
        case RunStarted(model_id=model_id):
            return f"Run started with {model_id}"
        case RunResumed(model_id=model_id):
            return f"Run resumed with {model_id}"
        case RunInterrupted(reason=reason):
            return f"Run interrupted: {reason}"
        case RunCancelRequested():
            return "Asked to stop"
        case RunCancelled():
            return "Run cancelled"
        case RunFailed(code=code, message=message):
            return f"Run failed — {code}: {message}"
        case RunFinished(has_draft=has_draft):
            return f"Run finished, {'with a draft to review' if has_draft else 'without a draft'}"
        case _:
            return ""


def _draft_title(data: Any) -> str:
    match data:
        case FileChanged(name=name):
            return f"{change_of(data).capitalize()}: {name}"
        case DraftDiscarded():
            return "Draft discarded"
        case DeletionConfirmed(names=names):
            return f"Deletion confirmed: {', '.join(names)}"
        case PublishIntended(files=files, restores=restores, rewind=rewind) if restores or rewind:
            what = "restored" if restores else "as they were then"
            return f"{counted(len(files), 'published file')} {what}"
        case PublishIntended(files=files):
            return f"Published {counted(len(files), 'file')}"
        case PublishAborted(reason=reason):
            return f"Publish given up: {reason}"
        case _:
            return ""


def _other(data: Any) -> str:
    match data:
        case WorkbenchCreated(name=name):
            return f"Workbench {name} created"
        case FileAdded(name=name):
            return f"{name} added"
        case FileRemoved(name=name):
            return f"{name} removed"
        case ConsentGranted(provider_id=provider_id):
            return f"Consent: files may go to {provider_id}"
        case ModelChosen(model_id=model_id):
            return f"Model {model_id} chosen"
        case AssistantMessageAdded(text=text):
            return f"Answered: {text}"
        case CheckpointCreated(description=description):
            return f"Checkpoint {description}"
        case CheckpointRestored(checkpoint_id=checkpoint_id):
            return f"Checkpoint {checkpoint_id} restored"
        case LogRepaired(segment=segment):
            return f"Torn end of {segment} cut off"
        case Unknown(type=kind):
            return f"{kind}, of a newer kbd"
        case _:
            return _effect(data) or _of_conversation(data) or type(data).__name__


def _of_conversation(data: Any) -> str:
    match data:
        case ConversationRewound(message_id=message_id, reason="regenerate"):
            return f"Set back to message {message_id}, to answer it once more"
        case ConversationRewound(message_id=message_id):
            return f"Undone: the conversation ends in message {message_id} again"
        case WorkbenchForked(source_workbench_id=source, source_seq=seq):
            return f"Forked from {source} at its event {seq}"
        case ContextSet(category=category, text=text):
            return f"{category} set: {text}"
        case ContextRemoved(category=category):
            return f"{category} taken out"
        case NoticeGiven(code=code, message=message):
            return f"Notice — {code}: {message}"
        case RequestSent(endpoint=endpoint, bytes_out=bytes_out, purpose=purpose):
            why = _PURPOSES.get(purpose, "")
            return f"Request of {counted(bytes_out, 'byte')} sent to {endpoint}{why}"
        case _:
            return ""


def _effect(data: Any) -> str:
    match data:
        case EffectIntended(file=file):
            return f"{file.name} is to be written outside the workbench"
        case EffectDone(final_name=final_name):
            return f"Written outside the workbench as {final_name}"
        case EffectAborted(reason=reason):
            return f"Not written: {reason}"
        case _:
            return ""
