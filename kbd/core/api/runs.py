"""Methods of messages and the runs on them."""

import contextlib

import msgspec

from kbd.core.api.commands import record
from kbd.core.domain.commands import ChooseModel, RequestCancel, SendMessage, StartRun
from kbd.core.domain.run_state import Run, RunStatus
from kbd.core.runtime.event_loop import Deferred
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import RunTasks
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.rows import run_answer, run_budget, run_info, workshop_state
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, NotFound, error_with_code
from kbd.requests import workshop as wire
from kbd.requests.base import Request

__all__ = ["WorkshopMethods", "wait_for_run"]


class WorkshopMethods:
    """Handlers of messages and runs."""

    def __init__(self, context: ApiContext, benches: Workbenches, runs: RunTasks) -> None:
        self._context, self._benches, self._runs = context, benches, runs

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WorkshopSendUserMessage: self.send,
            wire.WorkshopRunAgent: self.run,
            wire.WorkshopCancelRun: self.cancel,
            wire.WorkshopGetState: self.state,
            wire.WorkshopSetActiveModel: self.set_model,
            wire.RunGet: self.get,
            wire.RunList: self.list,
        }

    def send(
        self, request: wire.WorkshopSendUserMessage, session: Session
    ) -> Deferred[wire.MessageSent]:
        """Record what a person asks for."""
        del session
        message_id = f"u{self._context.clock.new_id()}"
        return record(
            self._benches,
            request.workbench_id,
            lambda _: SendMessage(message_id, request.text),
            lambda _bench, _outcome: wire.MessageSent(message_id=message_id),
        )

    async def run(self, request: wire.WorkshopRunAgent, session: Session) -> wire.RunAnswered:
        """Run the agent; wait for its end unless that is not wanted.

        Raises:
            KbdError: It may not start; or, if waited for, it failed: the code is the run's.
        """
        del session
        bench = await self._benches.open(request.workbench_id)
        state = bench.state
        asked = request.model_id
        model_id = (
            self._context.egress.models.of_workbench(state)
            if isinstance(asked, msgspec.UnsetType)
            else asked
        )
        message_id = request.message_id
        self._context.egress.check(state, model_id)
        started = await bench.keeper.submit(
            StartRun(None if isinstance(message_id, msgspec.UnsetType) else message_id, model_id)
        )
        if request.wait:
            await wait_for_run(self._runs, bench, started.run)
        return run_answer(bench.state, bench.state.run(started.run))

    def cancel(
        self, request: wire.WorkshopCancelRun, session: Session
    ) -> Deferred[wire.CancelRequested]:
        """Stop the active run, if there is one."""
        del session
        return record(
            self._benches,
            request.workbench_id,
            lambda _: RequestCancel(),
            lambda _, outcome: wire.CancelRequested(cancel_requested=outcome.run != 0),
        )

    async def state(self, request: wire.WorkshopGetState, session: Session) -> wire.WorkshopState:
        """Say how the workshop stands."""
        del session
        bench = await self._benches.open(request.workbench_id)
        active = self._context.egress.models.chosen_or_default(bench.state.model_id)
        return workshop_state(bench.state, active, self._context.egress.models.chosen_or_default())

    def set_model(
        self, request: wire.WorkshopSetActiveModel, session: Session
    ) -> Deferred[wire.ActiveModel]:
        """Choose the model of the next run."""
        del session
        model_id = request.model_id
        self._context.egress.models.provider(model_id)
        return record(
            self._benches,
            request.workbench_id,
            lambda _: ChooseModel(model_id),
            lambda _bench, _outcome: wire.ActiveModel(active_model_id=model_id),
        )

    async def get(self, request: wire.RunGet, session: Session) -> wire.RunInfo:
        """Describe a run."""
        del session
        workbench_id, _, number = request.run_id.partition("-")
        bench = await self._benches.open(workbench_id)
        try:
            run = bench.state.run(int(number))
        except IndexError:
            msg = f"there is no run {request.run_id}"
            raise NotFound(msg) from None
        return self._info(bench, run)

    async def list(self, request: wire.RunList, session: Session) -> wire.RunsFound:
        """List the runs of a workbench, or of all."""
        del session
        one = request.workbench_id
        rows: list[wire.RunInfo] = []
        if request.running:
            for bench in self._benches.running():
                run = bench.state.active_run()
                if run is not None and one in (bench.id, msgspec.UNSET):
                    rows.append(self._info(bench, run))
        elif not isinstance(one, msgspec.UnsetType):
            bench = await self._benches.open(one)
            rows += (self._info(bench, run) for run in bench.state.runs)
        else:
            for workbench_id in self._benches.ids():
                # One that cannot be opened, or was deleted meanwhile, does not hide the others.
                with contextlib.suppress(KbdError):
                    async with self._benches.glance(workbench_id) as bench:
                        rows += [self._info(bench, run) for run in bench.state.runs]
        return wire.RunsFound(runs=tuple(sorted(rows, key=lambda row: row.started_at)))

    def _info(self, bench: OpenWorkbench, run: Run) -> wire.RunInfo:
        if run.status is RunStatus.FINISHED:
            return run_info(bench.state, run)
        caps, daemon = self._context.settings.run, self._benches.daemon.state
        return run_info(bench.state, run, run_budget(caps, daemon, self._context.clock.now_us()))


async def wait_for_run(runs: RunTasks, bench: OpenWorkbench, number: int) -> None:
    """Wait for a run's end.

    Raises:
        KbdError: It failed; the code is the run's.
    """
    await runs.wait(bench, number)
    run = bench.state.run(number)
    if run.error is None:
        return
    run_id = bench.state.run_id(run.number)
    error = error_with_code(run.error.code, run.error.message)
    error.retryable = run.error.retryable
    error.detail |= {
        "workbench_id": bench.id,
        "run_id": run_id,
        "model_id": run.model_id,
        "subphase": run.error.subphase,
    }
    raise error
