"""One tool call: whether it may run, what it may reach, and what is recorded of it.

This is where the phase lists are enforced, whatever the model was told. A call that may not run is
refused in words that the model can act on, recorded, and has done nothing. A call that ran is
recorded together with what it wrote, in one frame.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import msgspec
import structlog

from kbd.core.agent.budget import LOOP_NOTE, Loop, fingerprint, loop_verdict
from kbd.core.agent.desk import Desk
from kbd.core.agent.notices import LoopWarned, ToolStarted
from kbd.core.agent.receipts import shown
from kbd.core.catalog import ToolEntry
from kbd.core.decisions import FinishCall, RecordRun, StartCall
from kbd.core.draft import CallFiles
from kbd.core.workers.pool import name_of
from kbd.errors import (
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    KbdError,
    LogCorrupt,
    NotFound,
    ToolTimeout,
    UserCanceled,
    ValidationFailed,
)
from kbd.events.base import ReplyCall
from kbd.events.disk import LogPoisoned
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolCalled, ToolRefused, ToolReturned
from kbd.tools import CallLimits, Files, Formats, Recall, Tool, ToolResult
from kbd.types import Effect, Phase

__all__ = ["INLINE_BYTES", "CallContext", "answer", "refuse_surplus"]

INLINE_BYTES = 64 * 1024
"""Results and arguments above this are blobs; the log holds what is read often."""

_log = structlog.get_logger(__name__)


class CallContext:
    """`kbd.tools.ToolContext` for one call.

    Args:
        desk: The run's.
        entry: The tool; its own work runs in the worker of the plugin that brought it.
        files: The files as this call sees them.
    """

    def __init__(self, desk: Desk, entry: ToolEntry, files: CallFiles) -> None:
        self._desk, self._entry, self._files = desk, entry, files

    @property
    def files(self) -> Files:
        """The workbench's files."""
        return self._files

    @property
    def formats(self) -> Formats:
        """The formats."""
        return self._desk.formats

    @property
    def recall(self) -> Recall:
        """Earlier results."""
        return self._desk.recall

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
    ) -> Any:
        """Call a function of the tool's package in a worker; see `ToolContext.isolate`."""
        tool = self._entry.tool
        return await self._desk.workers.call(
            self._entry.plugin.name,
            name_of(function),
            arguments,
            limits or tool.limits,
            what=tool.name,
            failure=_failure(tool),
        )


class _Done(msgspec.Struct, frozen=True):
    """How a call ended, before it is recorded."""

    value: Any = None
    text: str = ""
    summary: Mapping[str, Any] | None = None
    is_action: bool = False
    error: KbdError | None = None
    changes: tuple[FileChanged, ...] = ()


async def answer(desk: Desk, phase: Phase, call: ReplyCall) -> None:
    """Answer one call of a model: refuse it or run it, and record what came of it.

    Args:
        desk: The run's.
        phase: The phase that asks.
        call: The call.

    Raises:
        UserCanceled: The run was asked to stop; nothing of the call landed.
        DiskFull: There is no room to record or to write.
    """
    arguments = call.arguments
    if call.blob is not None:
        arguments = (await desk.blobs.read(call.blob)).decode("utf-8", "replace")
    mark = fingerprint(call.name, arguments or call.fault or "")
    try:
        entry = _permitted(desk, phase, call.name)
        parsed = _arguments(entry.tool, call, arguments)
    except KbdError as refusal:
        told = _noted(desk, call.name, mark, _error_text(refusal))
        refused = ToolRefused(call.id, call.name, refusal.code, told, mark)
        await desk.keeper.submit(RecordRun(desk.run, (refused,)))
        return
    await _run(desk, entry, call, parsed, mark)


async def refuse_surplus(desk: Desk, calls: Sequence[ReplyCall]) -> None:
    """Answer the calls that a turn may not make any more, all in one frame.

    Raises:
        UserCanceled: The run was asked to stop.
    """
    most = desk.limits.calls_a_turn
    error = ValidationFailed(
        f"one turn may make {most} calls; this one was not made, repeat it in the next"
    )
    told = _error_text(error)
    refusals = tuple(ToolRefused(call.id, call.name, error.code, told) for call in calls)
    await desk.keeper.submit(RecordRun(desk.run, refusals))


def _permitted(desk: Desk, phase: Phase, name: str) -> ToolEntry:
    """Return the tool if the phase may call it.

    Raises:
        NotFound: There is no such tool; the message names near matches.
        ValidationFailed: The phase may not call it.
    """
    known = {entry.tool.name: entry for entry in desk.catalog.tools()}
    entry = known.get(name)
    if entry is None:
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        msg = f"there is no tool {name[:80]!r}{hint}"
        raise NotFound(msg)
    if entry not in desk.catalog.tools_for(phase):
        msg = f"{name} cannot be called in the {phase.value} phase; nothing was done"
        raise ValidationFailed(msg)
    return entry


def _arguments(tool: Tool, call: ReplyCall, text: str) -> Any:
    """Return a call's arguments as the tool's record.

    Raises:
        ValidationFailed: They are no JSON object or do not fit; the message has the path.
    """
    if call.fault is not None:
        raise ValidationFailed(call.fault)
    try:
        return msgspec.json.decode(text, type=tool.arguments)
    except (msgspec.DecodeError, RecursionError) as fault:
        msg = f"the arguments of {tool.name} do not fit its schema: {fault}"
        raise ValidationFailed(msg) from None


async def _run(desk: Desk, entry: ToolEntry, call: ReplyCall, arguments: Any, mark: str) -> None:
    """Run a tool and record its end; if its frame is refused, record that as its end."""
    plugin = f"{entry.plugin.package} {entry.plugin.version}"
    outcome = await desk.keeper.submit(StartCall(desk.run, call.id, call.name, plugin))
    entry_id = next(e.entry_id for e in outcome.events if isinstance(e, ToolCalled))
    desk.announce(ToolStarted(desk.run, call.id, call.name, _path_of(entry.tool, arguments)))
    began = desk.clock.monotonic_s()
    files = desk.open_files()
    try:
        done = await _perform(desk, entry, call, arguments, files)
        took_ms = int((desk.clock.monotonic_s() - began) * 1000)
        returned = await _returned(desk, call, entry_id, done, mark, took_ms)
        draft_id = desk.clock.new_id()
        try:
            await desk.keeper.submit(FinishCall(desk.run, returned, done.changes, draft_id))
        except ValidationFailed as conflict:
            done = _Done(error=conflict)
            returned = await _returned(desk, call, entry_id, done, mark, took_ms)
            await desk.keeper.submit(FinishCall(desk.run, returned))
    finally:
        with anyio.CancelScope(shield=True):
            await files.drop()


async def _perform(
    desk: Desk, entry: ToolEntry, call: ReplyCall, arguments: Any, files: CallFiles
) -> _Done:
    """Let the tool work, within its time, and make durable what it wrote."""
    tool, limit_s = entry.tool, desk.limits.tool_s
    try:
        with anyio.fail_after(limit_s):
            result: ToolResult = await tool.run(CallContext(desk, entry, files), arguments)
        text = msgspec.json.encode(result.value).decode()
        changes = await files.land(call.id)
    except (DiskFull, LogCorrupt, LogPoisoned, UserCanceled):
        raise
    except KbdError as error:
        return _Done(error=error)
    except TimeoutError:
        return _Done(error=ToolTimeout(f"{tool.name} took more than {limit_s:g} s and was ended"))
    except Exception as fault:  # noqa: BLE001 - a plugin's fault must not end the run
        _log.warning("tool_failed", tool=tool.name, plugin=entry.plugin.name, exc_info=fault)
        return _Done(error=_failure(tool)(f"{tool.name} failed inside ({type(fault).__name__})"))
    return _Done(result.value, text, result.summary, result.is_action, None, changes)


async def _returned(
    desk: Desk, call: ReplyCall, entry_id: int, done: _Done, mark: str, took_ms: int
) -> ToolReturned:
    """Say what ended, and put a long result where the event can name it."""
    if done.error is not None:
        text = _error_text(done.error)
        seen = text
    else:
        text = done.text
        seen = shown(
            call.name, entry_id, text, done.value,
            summary=done.summary, is_action=done.is_action, limit=desk.limits.receipt_bytes,
        )  # fmt: skip
    data = text.encode()
    blob = await desk.blobs.put(data) if len(data) > INLINE_BYTES else None
    told = _noted(desk, call.name, mark, seen)
    return ToolReturned(
        call_id=call.id,
        entry_id=entry_id,
        ok=done.error is None,
        shown=told,
        result="" if blob is not None or told == text else text,
        blob=blob,
        size_bytes=len(data),
        duration_ms=took_ms,
        error_code=done.error.code if done.error else None,
        fingerprint=mark,
    )


def _path_of(tool: Tool, arguments: Any) -> str | None:
    """Return the path that progress shows; a plugin that cannot tell it stops nothing."""
    try:
        return tool.path_of(arguments)
    except Exception as fault:  # noqa: BLE001 - a plugin's fault must not end the run
        _log.warning("path_not_told", tool=tool.name, exc_info=fault)
        return None


def _failure(tool: Tool) -> type[KbdError]:
    """Return what a fault inside a tool is told as."""
    return FileWriteFailed if tool.effect is Effect.WRITE else FileReadFailed


def _noted(desk: Desk, tool: str, mark: str, text: str) -> str:
    """Add a note to a result if the call has been made too often, and tell who watches."""
    limits, chain = desk.limits, desk.current.chain
    recent = [*chain.fingerprints, mark][-limits.loop_window :]
    verdict, count = loop_verdict(recent, limits.loop_warning, limits.loop_failure)
    if verdict is Loop.NONE:
        return text
    desk.announce(LoopWarned(desk.run, tool, len(chain.turns)))
    return f"{text}\n\n{LOOP_NOTE.format(count=count)}"


def _error_text(error: KbdError) -> str:
    return f"Error: {error.code}: {error.message}"
