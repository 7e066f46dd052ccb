"""Tasks of runs: each starts because the log says that the run began, and ends with it."""

import anyio
from anyio.abc import TaskGroup

from kbd.core.agent import run_agent
from kbd.core.domain.commands import EndRun, InterruptRun
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.run_contexts import run_context
from kbd.core.store.keeper import Observer
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.runs import RunCancelRequested, RunFailed, RunResumed, RunStarted
from kbd.types import Seq, WorkbenchId

__all__ = ["RunTasks"]

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
        self._under_way: dict[tuple[WorkbenchId, int], _RunTask] = {}

    def watch(self, bench: OpenWorkbench) -> Observer:
        """Return an observer that starts and cancels runs as a workbench's log says."""

        def observe(seq: Seq, record: Recorded) -> None:
            del seq
            key = (bench.id, record.run)
            if isinstance(record.data, RunStarted | RunResumed):
                task = self._under_way[key] = _RunTask(self._under_way.get(key))
                self._tasks.start_soon(self._work, bench, record.run, task)
            elif isinstance(record.data, RunCancelRequested) and key in self._under_way:
                self._under_way[key].scope.cancel()

        return observe

    async def wait(self, bench: OpenWorkbench, run: int) -> None:
        """Wait until a run's task has ended."""
        task = self._under_way.get((bench.id, run))
        if task is not None:
            await task.ended.wait()

    async def aclose(self) -> None:
        """Stop all agents; their runs are recorded as interrupted and can be resumed."""
        self.is_stopping = True
        tasks = tuple(self._under_way.values())
        for task in tasks:
            task.scope.cancel()
        with anyio.CancelScope(shield=True):
            for task in tasks:
                await task.ended.wait()

    async def _work(self, bench: OpenWorkbench, run: int, task: _RunTask) -> None:
        key = (bench.id, run)
        try:
            with task.scope:
                if task.before is not None:
                    await task.before.ended.wait()
                await run_agent(run_context(self._context, bench, run))
        finally:
            with anyio.CancelScope(shield=True):
                if task.before is not None:
                    await task.before.ended.wait()
                    task.before = None
                # If the run was gone on with meanwhile, it is its newest task's to close.
                if self._under_way[key] is task:
                    await self._close(bench, run, cancelled=task.scope.cancelled_caught)
            if self._under_way[key] is task:
                del self._under_way[key]
            task.ended.set()

    async def _close(self, bench: OpenWorkbench, run: int, *, cancelled: bool) -> None:
        """Record the end of a run whose agent did not: it was cancelled, or failed at the end."""
        state = bench.state.run(run)
        if state.status is not RunStatus.RUNNING:
            return
        try:
            if cancelled or state.cancel_requested:
                await bench.keeper.submit(InterruptRun("the daemon stopped"))
            else:
                subphase = f"rpi_{state.phase.value}" if state.phase else "rpi_research"
                failed = RunFailed(
                    "TOOL_WORKER_UNAVAILABLE", "the run ended early", subphase, retryable=True
                )
                await bench.keeper.submit(EndRun(run, failed))
        except KbdError as error:
            _log.error("run_not_closed", workbench=bench.id, run=run, error=error.message)
