"""Recorded calls of a run: folded from the log, and repeated on their recorded input.

One fold over the log. Each call is reported when its end comes by, with the files as they stood
when it saw them, so that nobody has to hold more than the calls that are being done. A call is
repeated with what is installed now.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kbd.core.agent.budget import call_fingerprint
from kbd.core.agent.tool_execution import (
    ToolExecution,
    ToolOutcome,
    add_loop_note,
    admit_call,
    error_text,
    execute_tool,
    render_result,
    surplus_error,
)
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.run_decisions import CHANGED_MEANWHILE
from kbd.core.domain.run_state import RunStatus
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.catalog import Catalog, ToolEntry
from kbd.core.runtime.settings import RunLimits
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.file_store import Blobs
from kbd.errors import MACHINE_FAULTS, KbdError, ToolWorkerUnavailable, ValidationFailed
from kbd.events.base import PluginUsed, Recorded, ReplyCall, TableRead
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    RunCancelled,
    RunFailed,
    RunInterrupted,
    RunResumed,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.requests.replays import SkippedCall
from kbd.tools import ToolResult
from kbd.types import CallId, Phase, Seq

__all__ = [
    "CallFold",
    "CallOutcome",
    "RecordedCall",
    "hit_a_limit",
    "recorded_outcome",
    "repeat_call",
    "skip_reason",
]


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """Recorded call that ended, with its input and outcome.

    Args:
        seq: The event that recorded its end.
        call: As the model asked for it.
        place: Its place among the calls of its turn, from 0.
        phase: The phase that called it.
        item: The item, from 1, or 0.
        fingerprints: The fingerprints of the calls before it in its chain, oldest first.
        end: How it ended.
        entry_id: Its number in the tool log; 0 for a refusal.
        now_us: Its time.
        files: The files as it saw them; None for a refusal.
        changes: What it wrote.
        plugins: What worked for it; the one that brings the tool first.
    """

    seq: Seq
    call: ReplyCall
    place: int
    phase: Phase
    item: int
    fingerprints: tuple[str, ...]
    end: ToolReturned | ToolRefused
    entry_id: int = 0
    now_us: int = 0
    files: CallFiles | None = None
    changes: tuple[FileChanged, ...] = ()
    plugins: tuple[PluginUsed, ...] = ()


class _OpenCall:
    """A call that has started: its event, and the files after it and after each event since."""

    def __init__(self, seq: Seq, ts_us: int, called: ToolCalled) -> None:
        self.seq, self.ts_us, self.called = seq, ts_us, called
        self.snapshots: list[tuple[Seq, CallFiles]] = []
        self.changes: list[FileChanged] = []

    def owns(self, data: object) -> bool:
        """Whether an event is a change that this call made."""
        return isinstance(data, FileChanged) and data.call_id == self.called.call_id

    def seen(self, saw: int) -> CallFiles:
        """Return the snapshot of the files after an event."""
        # 0 stands in logs that did not record it yet: then it saw what was there when it began.
        at = saw or self.seq
        return [files for seq, files in self.snapshots if seq <= max(at, self.seq)][-1]


class CallFold:
    """Folds a log and reports each call of one run.

    Args:
        run: The run's number.
        open_files: Makes the picture of the files that one call sees.
        on_result: Takes every result of the workbench, with its event, for those who recall it.
        on_call: Takes each call when it has ended, in order, and each that cannot be told.

    Attributes:
        state: The workbench after what was folded so far.
    """

    def __init__(
        self,
        run: int,
        *,
        open_files: Callable[[WorkbenchState], CallFiles],
        on_result: Callable[[Seq, ToolReturned], None],
        on_call: Callable[[RecordedCall | SkippedCall], None],
    ) -> None:
        self.state = WorkbenchState()
        self._run, self._open_files, self._on_result, self._on_call = (
            run,
            open_files,
            on_result,
            on_call,
        )
        self._open: _OpenCall | None = None
        self._cut_off: dict[CallId, SkippedCall] = {}

    @property
    def has_run(self) -> bool:
        """Whether the run was begun."""
        return len(self.state.runs) >= self._run

    @property
    def has_ended(self) -> bool:
        """Whether the run is over."""
        return self.has_run and self.state.run(self._run).status is not RunStatus.RUNNING

    def apply(self, seq: Seq, record: Recorded) -> None:
        """Apply the next event of the workbench."""
        # Of all runs: a call may recall any earlier result of the workbench.
        if isinstance(record.data, ToolReturned):
            self._on_result(seq, record.data)
        # Before the fold: a call that ends is described by the state in which it was still open.
        if record.run == self._run:
            self._note(seq, record)
        fold_workbench(self.state, seq, record)
        if self._open is not None and not self._open.owns(record.data):
            self._open.snapshots.append((seq, self._open_files(self.state)))

    def finish(self) -> None:
        """Report the calls that have not ended, at the end of the log."""
        self._set_aside(
            "its end is not recorded: the run is under way" if not self.has_ended else ""
        )
        for skipped in self._cut_off.values():
            self._on_call(skipped)

    def _note(self, seq: Seq, record: Recorded) -> None:
        match record.data:
            case ToolCalled() as called:
                self._set_aside()
                self._open = _OpenCall(seq, record.ts_us, called)
            case FileChanged() as change if self._open is not None and self._open.owns(change):
                self._open.changes.append(change)
            case ToolReturned() | ToolRefused() as end:
                self._on_call(self._recorded_call(seq, end))
                self._open = None
            case RunCancelled() | RunInterrupted() | RunFailed() | RunResumed():
                self._set_aside()
            case _:
                pass

    def _set_aside(self, reason: str = "") -> None:
        """Set an interrupted call aside: it may be made again when the run resumes."""
        if self._open is not None:
            called = self._open.called
            reason = reason or "its end is not recorded: the run stopped while it worked"
            cut = SkippedCall(
                seq=self._open.seq, call_id=called.call_id, tool=called.tool, reason=reason
            )
            self._cut_off[called.call_id] = cut
            self._open = None

    def _recorded_call(
        self, seq: Seq, end: ToolReturned | ToolRefused
    ) -> RecordedCall | SkippedCall:
        """Build the record of a call, before its end is folded."""
        run = self.state.run(self._run)
        # The call was made again after a resume, and this time it ended.
        self._cut_off.pop(end.call_id, None)
        turn = run.chain.turns[-1] if run.chain.turns else None
        asked = [call.id for call in turn.calls] if turn is not None else []
        if turn is None or end.call_id not in asked or run.phase is None:
            return _skipped_call(seq, end, "the reply that asked for it is not in the log")
        place = asked.index(end.call_id)
        known = RecordedCall(
            seq=seq, call=turn.calls[place], place=place, phase=run.phase, item=run.item,
            fingerprints=tuple(run.chain.fingerprints), end=end,
        )  # fmt: skip
        if isinstance(end, ToolRefused):
            return known
        opened = self._open
        if opened is None or opened.called.call_id != end.call_id:
            return _skipped_call(seq, end, "its start is not in the log")
        return msgspec.structs.replace(
            known, entry_id=end.entry_id, now_us=opened.ts_us, files=opened.seen(end.saw),
            changes=tuple(opened.changes), plugins=_used_plugins(opened.called, end),
        )  # fmt: skip


def _skipped_call(seq: Seq, end: ToolReturned | ToolRefused, reason: str) -> SkippedCall:
    tool = end.tool if isinstance(end, ToolRefused) else ""
    return SkippedCall(seq=seq, call_id=end.call_id, tool=tool, reason=reason)


def _used_plugins(called: ToolCalled, end: ToolReturned) -> tuple[PluginUsed, ...]:
    """Return the plugins that worked, the one that brings the tool first, each once."""
    package, _, version = called.plugin.partition(" ")
    brought = PluginUsed(package, version, called.plugin_sha256)
    others = (each for each in end.worked if each.package != package)
    return (brought, *others)


class CallOutcome(msgspec.Struct, frozen=True):
    """Outcome of a call, as recorded or repeated.

    Args:
        refused: Whether no tool started.
        ok: Whether it did what was asked.
        error_code: Why not.
        text: The whole result: JSON text, or an error; empty for a refusal.
        shown: What the model sees.
        changes: What was written.
        readings: How its tables were read; None where the log does not have it.
    """

    refused: bool
    ok: bool
    error_code: str | None
    text: str = ""
    shown: str = ""
    changes: tuple[FileChanged, ...] = ()
    readings: tuple[TableRead, ...] | None = ()


def skip_reason(call: RecordedCall) -> str | None:
    """Return why doing a call again would prove nothing, or None."""
    end = call.end
    if isinstance(end, ToolRefused):
        # Nothing else that is refused is a worker's affair.
        is_gone = end.code == ToolWorkerUnavailable.code
        return "its plugin was left out for its faults" if is_gone else None
    if end.outside is not None:
        return f"{end.outside.model_id} had a part in it, which may answer otherwise each time"
    if end.error_code in MACHINE_FAULTS:
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
                changes=call.changes, readings=None if end.noted is None else end.noted.readings,
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
    """Repeat a call and return its outcome; what it writes is stored by its hash.

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
    fingerprint = call_fingerprint(asked.name, arguments or asked.fault or "")
    if call.place >= limits.calls_a_turn:
        error = surplus_error(limits)
        return CallOutcome(refused=True, ok=False, error_code=error.code, shown=error_text(error))
    try:
        entry, given = admit_call(catalog, call.phase, asked, arguments)
    except KbdError as refusal:
        shown, _ = add_loop_note(limits, [*call.fingerprints], fingerprint, error_text(refusal))
        return CallOutcome(refused=True, ok=False, error_code=refusal.code, shown=shown)
    if call.files is None or isinstance(call.end, ToolRefused):
        # What it would have seen is not recorded; that it may be made now says enough.
        return CallOutcome(refused=False, ok=True, error_code=None)
    files = call.files.afresh()
    try:
        done = await execute_tool(opened(entry, files), asked.id, given, limits.tool_s)
    finally:
        await files.drop()
    done = _with_recorded_values(done, recorded)
    text, seen = render_result(asked.name, call.entry_id, done, call.end.receipt_bytes)
    shown, _ = add_loop_note(limits, [*call.fingerprints], fingerprint, seen)
    code = done.error.code if done.error is not None else None
    return CallOutcome(
        refused=False, ok=code is None, error_code=code, text=text, shown=shown,
        changes=done.changes, readings=done.readings,
    )  # fmt: skip


def hit_a_limit(outcome: CallOutcome) -> bool:
    """Whether a call ended because of time or memory: that may be the machine's doing."""
    return outcome.error_code in MACHINE_FAULTS


def _with_recorded_values(done: ToolOutcome, recorded: CallOutcome) -> ToolOutcome:
    """Put the recorded values in place of those that no second call can return."""
    result = done.result
    if result is None or not result.measured or not recorded.ok:
        return done
    known = msgspec.json.decode(recorded.text)
    value = msgspec.to_builtins(result.value)
    if not isinstance(known, dict) or not isinstance(value, dict):
        return done
    # Only values that both have are put in: a field that is new or gone must still differ.
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
    return {name: known[name] if name in names else old for name, old in value.items()}
