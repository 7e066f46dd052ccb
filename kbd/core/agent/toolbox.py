"""Tool calls of a run: admission of a call, and the record of its outcome.

This is where the phase lists are enforced, whatever the model was told. A call that may not run is
refused in words that the model can act on, recorded, and has done nothing. A call that ran is
recorded together with what it wrote, in one frame. `tool_execution` does the work.
"""

from collections.abc import Sequence
from typing import Any

import anyio

from kbd.core.agent.budget import call_fingerprint
from kbd.core.agent.notices import LoopWarned, ToolStarted
from kbd.core.agent.run_context import RunContext
from kbd.core.agent.tool_execution import (
    INLINE_BYTES,
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
from kbd.core.domain.commands import FinishCall, RecordRun, StartCall
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.plugins.host import Plugin
from kbd.core.runtime.diagnostics import get_logger
from kbd.errors import KbdError, ValidationFailed
from kbd.events.base import PluginUsed, ReplyCall
from kbd.events.runs import ToolCalled, ToolRefused, ToolReturned
from kbd.messages import UNREADABLE
from kbd.tools import Tool
from kbd.types import Phase, Seq

__all__ = ["answer_call", "plugin_version", "refuse_surplus_calls"]

_log = get_logger(__name__)


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
    mark = call_fingerprint(call.name, arguments or call.fault or "")
    try:
        if call.name == UNREADABLE and call.fault is not None:
            raise ValidationFailed(call.fault)
        entry = permitted(context.catalog, phase, call.name)
        given = parsed(entry.tool, call, arguments)
    except KbdError as refusal:
        told = _add_repeat_note(context, call.name, mark, error_text(refusal))
        refused = ToolRefused(call.id, call.name, refusal.code, told, mark)
        await context.keeper.submit(RecordRun(context.run, (refused,)))
        return
    await _run_call(context, entry, call, given, mark)


async def refuse_surplus_calls(context: RunContext, calls: Sequence[ReplyCall]) -> None:
    """Refuse the calls beyond a turn's limit, all in one frame.

    Raises:
        UserCanceled: The run was asked to stop.
    """
    error = surplus(context.limits)
    told = error_text(error)
    refusals = tuple(ToolRefused(call.id, call.name, error.code, told) for call in calls)
    await context.keeper.submit(RecordRun(context.run, refusals))


async def plugin_version(context: RunContext, plugin: Plugin) -> PluginUsed:
    """Return the record of a plugin for the log: its version and its content's hash."""
    return PluginUsed(plugin.package, plugin.version, await context.catalog.hash_of(plugin))


async def _run_call(
    context: RunContext, entry: ToolEntry, call: ReplyCall, arguments: Any, mark: str
) -> None:
    """Run a tool and record its end; if its frame is refused, record that as its end."""
    brought = await plugin_version(context, entry.plugin)
    plugin = f"{brought.package} {brought.version}"
    started = StartCall(context.run, call.id, call.name, plugin, brought.sha256)
    outcome = await context.keeper.submit(started)
    entry_id = next(e.entry_id for e in outcome.events if isinstance(e, ToolCalled))
    context.announce(
        ToolStarted(context.run, call.id, call.name, _progress_path(entry.tool, arguments))
    )
    began = context.clock.monotonic_s()
    saw, files = context.state.seq, context.open_files()
    try:
        opened = ToolExecution(
            entry, files, outcome.ts_us,
            formats=context.formats, recall=context.recall, search=context.search,
            workers=context.workers,
        )  # fmt: skip
        done = await perform(opened, call.id, arguments, context.limits.tool_s)
        took_ms = int((context.clock.monotonic_s() - began) * 1000)
        returned = await _call_ended(context, call, entry_id, done, mark, took_ms, saw)
        draft_id = context.clock.new_id()
        try:
            await context.keeper.submit(FinishCall(context.run, returned, done.changes, draft_id))
        except ValidationFailed as conflict:
            done = Done(error=conflict, worked=done.worked, outside=done.outside)
            returned = await _call_ended(context, call, entry_id, done, mark, took_ms, saw)
            await context.keeper.submit(FinishCall(context.run, returned))
    finally:
        with anyio.CancelScope(shield=True):
            await files.drop()


async def _call_ended(
    context: RunContext,
    call: ReplyCall,
    entry_id: int,
    done: Done,
    mark: str,
    took_ms: int,
    saw: Seq,
) -> ToolReturned:
    """Build the event of a finished call; a long result becomes a blob that it names."""
    receipt_bytes = context.limits.receipt_bytes
    text, seen = result_of(call.name, entry_id, done, receipt_bytes)
    data = text.encode()
    blob = await context.blobs.put(data) if len(data) > INLINE_BYTES else None
    told = _add_repeat_note(context, call.name, mark, seen)
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
        saw=saw,
        receipt_bytes=receipt_bytes,
        worked=tuple([await plugin_version(context, plugin) for plugin in done.worked]),
        outside=done.outside,
    )


def _progress_path(tool: Tool, arguments: Any) -> str | None:
    """Return the path that progress shows; a plugin that cannot tell it stops nothing."""
    try:
        return tool.path_of(arguments)
    except Exception as fault:  # noqa: BLE001 - a plugin's fault must not end the run
        _log.warning("path_not_told", tool=tool.name, exc_info=fault)
        return None


def _add_repeat_note(context: RunContext, tool: str, mark: str, text: str) -> str:
    """Add a note to a result if the call is a loop, and announce that."""
    chain = context.current.chain
    told, warned = noted(context.limits, chain.fingerprints, mark, text)
    if warned:
        context.announce(LoopWarned(context.run, tool, len(chain.turns)))
    return told
