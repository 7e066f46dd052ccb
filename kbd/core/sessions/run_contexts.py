"""Run contexts: what a run works with, made of the daemon's parts and its workbench."""

import random
from typing import assert_never

import anyio
import msgspec

from kbd.core.agent.run_context import (
    LoopWarned,
    Notice,
    RateLimited,
    RunContext,
    TextDelta,
    ToolStarted,
)
from kbd.core.domain.commands import RecordRun
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.search.lookup import DocumentLookup
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.search_access import open_lookup
from kbd.core.workbench.call_files import CallFiles, LogRecall, describe_file
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.workbenches import RequestSent
from kbd.providers import Emit, ModelReply, ModelRequest
from kbd.requests import notifications as wire
from kbd.requests.base import Notification
from kbd.types import RunId

__all__ = ["open_files", "open_formats", "run_context"]


def run_context(context: ApiContext, bench: OpenWorkbench, run: int) -> RunContext:
    """Build the run context of a run."""
    folders, formats = bench.folders, open_formats(context, bench)

    def search(files: CallFiles) -> DocumentLookup:
        return open_lookup(context, bench, files, formats, run, bench.state.run(run).model_id)

    async def complete(model_id: str, request: ModelRequest, emit: Emit) -> ModelReply:
        return await context.egress.complete(bench.state, model_id, request, emit, record)

    async def record(sent: RequestSent) -> None:
        await bench.keeper.submit(RecordRun(run, (sent,)))

    return RunContext(
        keeper=bench.keeper,
        run=run,
        blobs=bench.blobs,
        open_files=lambda: open_files(context, bench),
        formats=formats,
        recall=LogRecall(bench.state, bench.keeper.journal, bench.blobs),
        search=search,
        workers=context.workers,
        catalog=context.catalog,
        complete=complete,
        model=context.egress.models.model,
        effort=context.egress.models.effort,
        told_bytes=context.egress.models.told_bytes,
        purse=context.purse,
        announce=lambda notice: context.tell(_progress_notification(bench, notice)),
        limits=context.settings.run,
        clock=context.clock,
        sleep=anyio.sleep,
        chance=random.random,
        copies=folders.workshop,
    )


def open_files(context: ApiContext, bench: OpenWorkbench, *, published: bool = False) -> CallFiles:
    """Return a snapshot of a workbench's files, for one call.

    Args:
        context: The daemon's.
        bench: The workbench.
        published: Whether to see what is published instead of the draft.
    """
    return CallFiles(
        bench.state,
        bench.blobs,
        bench.folders.stage,
        bench.folders.cache,
        lambda file: describe_file(context.catalog, file),
        published=published,
    )


def open_formats(context: ApiContext, bench: OpenWorkbench) -> FormatCalls:
    """Return the formats for calls from one workbench, with its cache."""
    return FormatCalls(context.catalog, context.workers, bench.folders.cache)


def _progress_notification(bench: OpenWorkbench, notice: Notice) -> Notification:
    """Return the notification of a progress notice."""
    run_id = RunId(f"{bench.id}-{notice.run}")
    match notice:
        case TextDelta(phase=phase, message_id=message_id, text=text):
            return wire.WorkshopAssistantStreamDelta(
                workbench_id=bench.id, run_id=run_id, message_id=message_id, token_delta=text,
                phase=phase,
            )  # fmt: skip
        case ToolStarted(call_id=call_id, tool=tool, path=path):
            return wire.WorkshopToolExecuting(
                workbench_id=bench.id, run_id=run_id, tool_name=tool, tool_call_id=call_id,
                path=path if path is not None else msgspec.UNSET,
            )  # fmt: skip
        case LoopWarned(tool=tool, turn=turn):
            return wire.WorkshopAgentLoopWarning(
                workbench_id=bench.id, run_id=run_id, tool_name=tool, turn=turn
            )
        case RateLimited():
            return wire.WorkshopRateLimitWarning(
                workbench_id=bench.id, run_id=run_id,
                provider_id=notice.model_id.partition(":")[0], model_id=notice.model_id,
                phase=notice.phase, retry_attempt=notice.retry_attempt,
                retry_max=notice.retry_max, wait_ms=notice.wait_ms,
                warning_message=notice.message,
            )  # fmt: skip
        case _:
            assert_never(notice)
