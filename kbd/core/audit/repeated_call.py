"""Repetition of one call: on its recorded input, with what is installed now."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kbd.core.agent.budget import call_fingerprint
from kbd.core.agent.tool_execution import (
    Done,
    ToolExecution,
    error_text,
    noted,
    parsed,
    perform,
    permitted,
    result_of,
    surplus,
)
from kbd.core.audit.recorded_calls import RecordedCall
from kbd.core.domain.run_decisions import CHANGED_MEANWHILE
from kbd.core.plugins.catalog import Catalog, ToolEntry
from kbd.core.runtime.settings import RunLimits
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.file_store import Blobs
from kbd.errors import KbdError, ToolTimeout, ToolWorkerUnavailable, ValidationFailed
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolRefused, ToolReturned
from kbd.tools import ToolResult

__all__ = ["CallOutcome", "hit_a_limit", "recorded_outcome", "repeat_call", "skip_reason"]

_LIMIT_CODES = (ToolTimeout.code, ToolWorkerUnavailable.code)
"""Ends that hang on time and memory, not on what a call was given."""


class CallOutcome(msgspec.Struct, frozen=True):
    """Outcome of a call, as recorded or repeated.

    Args:
        refused: Whether no tool started.
        ok: Whether it did what was asked.
        error_code: Why not.
        text: The whole result: JSON text, or an error; empty for a refusal.
        shown: What the model sees.
        changes: What was written.
    """

    refused: bool
    ok: bool
    error_code: str | None
    text: str = ""
    shown: str = ""
    changes: tuple[FileChanged, ...] = ()


def skip_reason(call: RecordedCall) -> str | None:
    """Return why doing a call again would prove nothing, or None."""
    end = call.end
    if isinstance(end, ToolRefused):
        return None
    if end.outside is not None:
        return f"{end.outside.model_id} had a part in it, which may answer otherwise each time"
    if end.error_code in _LIMIT_CODES:
        return f"a limit of time or memory ended it, or its worker died ({end.error_code})"
    if end.error_code == ValidationFailed.code and end.shown.partition("\n")[0].endswith(
        CHANGED_MEANWHILE
    ):
        return "a file that it wrote was changed by somebody else before it ended"
    return None


async def recorded_outcome(call: RecordedCall, blobs: Blobs) -> CallOutcome:
    """Return the outcome of a call as the log has it.

    Raises:
        NotFound: The blob of its result is missing.
    """
    match call.end:
        case ToolRefused() as end:
            return CallOutcome(refused=True, ok=False, error_code=end.code, shown=end.shown)
        case ToolReturned() as end:
            text = end.result or end.shown
            if end.blob is not None:
                text = (await blobs.read(end.blob)).decode()
            return CallOutcome(
                refused=False, ok=end.ok, error_code=end.error_code, text=text, shown=end.shown,
                changes=call.changes,
            )  # fmt: skip


async def repeat_call(
    call: RecordedCall,
    arguments: str,
    recorded: CallOutcome,
    *,
    catalog: Catalog,
    limits: RunLimits,
    opened: Callable[[ToolEntry, CallFiles], ToolExecution],
) -> CallOutcome:
    """Repeat a call and return its outcome; what it writes is kept by its hash.

    Args:
        call: The call.
        arguments: Its arguments as JSON text.
        recorded: What came of it then; from there are the fields that only measure.
        catalog: The tools of now.
        limits: What a call may use.
        opened: Makes what the tool is given, of the files as the call sees them.

    Raises:
        DiskFull: There is no room to write.
    """
    asked = call.call
    mark = call_fingerprint(asked.name, arguments or asked.fault or "")
    if call.place >= limits.calls_a_turn:
        error = surplus(limits)
        return CallOutcome(refused=True, ok=False, error_code=error.code, shown=error_text(error))
    try:
        entry = permitted(catalog, call.phase, asked.name)
        given = parsed(entry.tool, asked, arguments)
    except KbdError as refusal:
        told, _ = noted(limits, [*call.marks], mark, error_text(refusal))
        return CallOutcome(refused=True, ok=False, error_code=refusal.code, shown=told)
    if call.files is None or isinstance(call.end, ToolRefused):
        # What it would have seen is not recorded; that it may be made now says enough.
        return CallOutcome(refused=False, ok=True, error_code=None)
    files = call.files.afresh()
    try:
        done = await perform(opened(entry, files), asked.id, given, limits.tool_s)
    finally:
        await files.drop()
    done = _with_recorded_values(done, recorded)
    text, seen = result_of(asked.name, call.entry_id, done, call.end.receipt_bytes)
    told, _ = noted(limits, [*call.marks], mark, seen)
    code = done.error.code if done.error is not None else None
    return CallOutcome(
        refused=False, ok=code is None, error_code=code, text=text, shown=told,
        changes=done.changes,
    )  # fmt: skip


def hit_a_limit(outcome: CallOutcome) -> bool:
    """Whether a call ended because of time or memory: that may be the machine's doing."""
    return outcome.error_code in _LIMIT_CODES


def _with_recorded_values(done: Done, recorded: CallOutcome) -> Done:
    """Put the recorded values in place of those that no second call can return."""
    result = done.result
    if result is None or not result.measured or not recorded.ok:
        return done
    known = msgspec.json.decode(recorded.text)
    value = msgspec.to_builtins(result.value)
    if not isinstance(known, dict) or not isinstance(value, dict):
        return done
    names = [name for name in result.measured if name in known]
    value = _replace_values(value, known, names)
    summary = result.summary
    if summary is not None:
        summary = _replace_values(summary, known, names)
    fixed = ToolResult(value, summary=summary, is_action=result.is_action, measured=result.measured)
    return msgspec.structs.replace(done, result=fixed, text=msgspec.json.encode(value).decode())


def _replace_values(
    value: Mapping[str, Any], known: Mapping[str, Any], names: list[str]
) -> dict[str, Any]:
    return {name: known[name] if name in names else kept for name, kept in value.items()}
