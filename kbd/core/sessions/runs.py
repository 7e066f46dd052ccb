"""Runs under way: a task for each, and the run context that its agent works with.

A task starts because the log says that the run began, and ends with it.
"""

import contextlib
import random
from typing import assert_never

import anyio
import msgspec
from anyio.abc import TaskGroup

from kbd.core.agent import run_agent
from kbd.core.agent.run_context import (
    LoopWarned,
    Notice,
    RateLimited,
    RunContext,
    TextDelta,
    ToolStarted,
)
from kbd.core.agent.tool_execution import ToolExecution
from kbd.core.domain.commands import EndRun, InterruptRun, RecordRun
from kbd.core.domain.run_state import RunStatus
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.catalog import ToolEntry
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.renderer import PrintedDocuments
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.search.lookup import DocumentLookup
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.approvals import consented_call
from kbd.core.sessions.search_access import open_lookup
from kbd.core.store.keeper import Observer
from kbd.core.workbench.call_files import CallFiles, LogRecall, describe_file
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, ToolWorkerUnavailable
from kbd.events.base import Recorded
from kbd.events.runs import (
    NoticeGiven,
    RunCancelRequested,
    RunFailed,
    RunResumed,
    RunStarted,
)
from kbd.events.shortages import told_error
from kbd.events.workbenches import RequestSent
from kbd.providers import Emit, ModelReply, ModelRequest
from kbd.requests import notifications as wire
from kbd.requests.base import Notification
from kbd.types import RunId, Seq, WorkbenchId

__all__ = ["RunTasks", "open_execution", "open_files", "open_formats", "run_context"]


def run_context(context: ApiContext, workbench: OpenWorkbench, run: int) -> RunContext:
    """Build the run context of a run."""
    folders, formats = workbench.folders, open_formats(context, workbench)

    def search(files: CallFiles) -> DocumentLookup:
        return open_lookup(
            context, workbench, files, formats, run, workbench.state.run(run).model_id
        )

    limit_s = context.settings.run.approval_s

    async def permit(model_id: str) -> None:
        async def check() -> None:
            context.egress.check(workbench.state, model_id)

        await consented_call(context, workbench, check, run=run, limit_s=limit_s)

    async def complete(model_id: str, request: ModelRequest, emit: Emit) -> ModelReply:
        async def turn() -> ModelReply:
            return await context.egress.complete(workbench.state, model_id, request, emit, record)

        # Again: a file may have come since it was permitted.
        return await consented_call(context, workbench, turn, run=run, limit_s=limit_s)

    async def record(sent: RequestSent) -> None:
        await workbench.keeper.submit(RecordRun(run, (sent,)))

    models = context.egress.models
    return RunContext(
        commands=workbench.keeper.succession(),
        journal=workbench.keeper.journal,
        run=run,
        blobs=workbench.blobs,
        open_files=lambda: open_files(context, workbench),
        formats=formats,
        recall=LogRecall(workbench.state, workbench.keeper.journal, workbench.blobs),
        search=search,
        workers=context.workers,
        catalog=context.catalog,
        complete=complete,
        permit=permit,
        model=models.model,
        effort=models.effort,
        told_bytes=models.told_bytes,
        looks_into_files=lambda model_id: models.provider(model_id).looks_into_files,
        daily_budget=context.daily_budget,
        announce=lambda notice: context.notify(_progress_notification(workbench, notice)),
        limits=context.settings.run,
        clock=context.clock,
        sleep=anyio.sleep,
        chance=random.random,
        copies=folders.workshop,
    )


def open_files(
    context: ApiContext,
    workbench: OpenWorkbench,
    *,
    published: bool = False,
    state: WorkbenchState | None = None,
) -> CallFiles:
    """Return a snapshot of a workbench's files, for one call.

    Args:
        context: The daemon's.
        workbench: The workbench.
        published: Whether to see what is published instead of the draft.
        state: The files as they stood at another moment; None for now.
    """
    return CallFiles(
        workbench.state if state is None else state,
        workbench.blobs,
        workbench.folders.stage,
        workbench.folders.cache,
        lambda file: describe_file(context.catalog, file),
        published=published,
    )


def open_formats(context: ApiContext, workbench: OpenWorkbench) -> FormatCalls:
    """Return the formats for calls from one workbench, with its cache."""
    cache, stage = workbench.folders.cache, workbench.folders.stage
    printed = PrintedDocuments(context.renderer, context.workers, cache, stage)
    return FormatCalls(context.catalog, context.workers, cache, printed)


def open_execution(
    context: ApiContext, workbench: OpenWorkbench, entry: ToolEntry, files: CallFiles
) -> ToolExecution:
    """Return the execution of a tool that no run calls, at the time that it is now.

    Args:
        context: The daemon's.
        workbench: The workbench.
        entry: The tool.
        files: The files as the call sees them; its caller drops them.
    """
    formats = open_formats(context, workbench)
    model_id = context.egress.models.chosen_or_default(workbench.state.model_id)

    def search(seen: CallFiles) -> DocumentLookup:
        return open_lookup(context, workbench, seen, formats, 0, model_id)

    return ToolExecution(
        entry,
        files,
        context.clock.now_us(),
        catalog=context.catalog,
        formats=formats,
        recall=LogRecall(workbench.state, workbench.keeper.journal, workbench.blobs),
        search=search,
        workers=context.workers,
    )


def _progress_notification(workbench: OpenWorkbench, notice: Notice) -> Notification:
    """Return the notification of a progress notice."""
    run_id = RunId(f"{workbench.id}-{notice.run}")
    match notice:
        case TextDelta(phase=phase, message_id=message_id, text=text):
            return wire.WorkshopAssistantStreamDelta(
                workbench_id=workbench.id, run_id=run_id, message_id=message_id, token_delta=text,
                phase=phase,
            )  # fmt: skip
        case ToolStarted(call_id=call_id, tool=tool, path=path):
            return wire.WorkshopToolExecuting(
                workbench_id=workbench.id, run_id=run_id, tool_name=tool, tool_call_id=call_id,
                path=path if path is not None else msgspec.UNSET,
            )  # fmt: skip
        case LoopWarned(tool=tool, turn=turn):
            return wire.WorkshopAgentLoopWarning(
                workbench_id=workbench.id, run_id=run_id, tool_name=tool, turn=turn
            )
        case RateLimited():
            return wire.WorkshopRateLimitWarning(
                workbench_id=workbench.id, run_id=run_id,
                provider_id=notice.model_id.partition(":")[0], model_id=notice.model_id,
                phase=notice.phase, retry_attempt=notice.retry_attempt,
                retry_max=notice.retry_max, wait_ms=notice.wait_ms,
                warning_message=notice.message,
            )  # fmt: skip
        case _:
            assert_never(notice)


_log = get_logger(__name__)


class _RunTask:
    """The task of one run.

    Args:
        before: The run's task before it, if that has not ended: a run can be gone on with as soon
            as its end is recorded, while its task still writes copies.
    """

    def __init__(self, before: "_RunTask | None") -> None:
        self.before = before
        self.scope = anyio.CancelScope()
        self.ended = anyio.Event()


class RunTasks:
    """Registry of the tasks of runs: starts, cancels and awaits them.

    Args:
        context: What the daemon is assembled from.
        tasks: Where the agents run.

    Attributes:
        is_stopping: Whether all were stopped because the daemon does.
    """

    def __init__(self, context: ApiContext, tasks: TaskGroup) -> None:
        self._context, self._tasks = context, tasks
        self.is_stopping = False
        self._sandbox_told = False
        self._under_way: dict[tuple[WorkbenchId, int], _RunTask] = {}

    def watch(self, workbench: OpenWorkbench) -> Observer:
        """Return an observer that starts and cancels runs as a workbench's log says."""

        def observe(seq: Seq, record: Recorded) -> None:
            del seq
            key = (workbench.id, record.run)
            if isinstance(record.data, RunStarted | RunResumed):
                task = self._under_way[key] = _RunTask(self._under_way.get(key))
                self._tasks.start_soon(self._work, workbench, record.run, task)
            # The wish is durable before the task is stopped: the next daemon would find it.
            elif isinstance(record.data, RunCancelRequested) and key in self._under_way:
                self._under_way[key].scope.cancel()

        return observe

    async def wait(self, workbench: OpenWorkbench, run: int) -> None:
        """Wait until a run's task has ended."""
        task = self._under_way.get((workbench.id, run))
        if task is not None:
            await task.ended.wait()

    async def aclose(self) -> None:
        """Stop all agents; their runs are recorded as interrupted and can be resumed."""
        # Before the tasks are canceled: those who wait for them must not take this for a failure.
        self.is_stopping = True
        tasks = tuple(self._under_way.values())
        for task in tasks:
            task.scope.cancel()
        with anyio.CancelScope(shield=True):
            for task in tasks:
                await task.ended.wait()

    async def _work(self, workbench: OpenWorkbench, run: int, task: _RunTask) -> None:
        key = (workbench.id, run)
        failure: KbdError = ToolWorkerUnavailable("the run ended early")
        try:
            with task.scope:
                if task.before is not None:
                    await task.before.ended.wait()
                await self._tell_sandbox(workbench, run)
                await run_agent(run_context(self._context, workbench, run))
        except Exception as fault:  # noqa: BLE001 - one run's fault ends neither others nor the daemon
            _log.error("run_failed_inside", workbench=workbench.id, run=run, exc_info=fault)
            failure = told_error(fault)
        finally:
            with anyio.CancelScope(shield=True):
                # Also when canceled: two tasks of one run must not write its copies at once.
                if task.before is not None:
                    await task.before.ended.wait()
                    task.before = None
                # If the run was gone on with meanwhile, it is its newest task's to close.
                if self._under_way[key] is task:
                    canceled = task.scope.cancelled_caught
                    await self._close(workbench, run, failure, canceled=canceled)
            if self._under_way[key] is task:
                del self._under_way[key]
            task.ended.set()

    async def _tell_sandbox(self, workbench: OpenWorkbench, run: int) -> None:
        """Tell with the first run that a layer of the sandbox is missing, if one is."""
        reason = self._context.workers.status().sandbox.reason
        if reason is None or self._sandbox_told:
            return
        self._sandbox_told = True
        text = f"files are opened without a layer of the sandbox ({reason}); see kbd doctor"
        notice = NoticeGiven(ToolWorkerUnavailable.code, text)
        # A run that was canceled by now needs none.
        with contextlib.suppress(KbdError):
            await workbench.keeper.submit(RecordRun(run, (notice,)))

    async def _close(
        self, workbench: OpenWorkbench, run: int, failure: KbdError, *, canceled: bool
    ) -> None:
        """Record the end of a run whose agent did not: it was canceled, or failed at the end."""
        state = workbench.state.run(run)
        if state.status is not RunStatus.RUNNING:
            return
        try:
            if canceled or state.cancel_requested:
                await workbench.keeper.submit(InterruptRun("the daemon stopped"))
            else:
                subphase = f"rpi_{state.phase.value}" if state.phase else "rpi_research"
                failed = RunFailed(failure.code, failure.message, subphase, failure.retryable)
                await workbench.keeper.submit(EndRun(run, failed))
        except KbdError as error:
            _log.error("run_not_closed", workbench=workbench.id, run=run, error=error.message)
