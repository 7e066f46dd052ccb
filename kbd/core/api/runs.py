"""Methods of the conversation: messages, the runs on them, undo, and regenerated answers."""

from collections.abc import Callable

import anyio
import msgspec

from kbd.core.api.commands import record
from kbd.core.domain.commands import ChooseModel, RequestCancel, SendMessage, StartRun
from kbd.core.domain.rewind_decisions import find_exchange
from kbd.core.domain.run_state import Run, RunStatus
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.event_loop import Deferred
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.approvals import request_consent
from kbd.core.sessions.recipes import requested_document
from kbd.core.sessions.runs import RunTasks
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.conversation import conversation, conversation_page
from kbd.core.workbench.rewind import rewind_to
from kbd.core.workbench.rows import run_answer, run_budget, run_info, workshop_state
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import EgressConsentRequired, NotFound, error_with_code
from kbd.requests import workshop as wire
from kbd.requests.base import UNSET, Request, Unset

__all__ = ["ConversationMethods", "WorkshopMethods", "wait_for_run"]


class WorkshopMethods:
    """Handlers of messages and runs."""

    def __init__(self, context: ApiContext, workbenches: Workbenches, runs: RunTasks) -> None:
        self._context, self._workbenches, self._runs = context, workbenches, runs

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
        """Record a person's message: a text, or a job or a recipe as a document.

        Raises:
            ValidationFailed: It is not just one of these, or the document is no job.
            NotFound: There is no such recipe.
        """
        message_id = f"u{self._context.clock.new_id()}"
        asked = requested_document(self._workbenches.daemon.state, request)
        if isinstance(asked, str):
            command, answer = SendMessage(message_id, asked), wire.MessageSent(message_id)
        else:
            command = SendMessage(message_id, asked.text, asked.model_id, asked.sha256)
            answer = wire.MessageSent(message_id, asked.model_id, asked.words)
        return record(
            self._workbenches,
            request.workbench_id,
            lambda _: command,
            lambda _workbench, _outcome: answer,
            session.actor,
        )

    async def run(self, request: wire.WorkshopRunAgent, session: Session) -> wire.RunAnswered:
        """Run the agent; wait for its end unless that is not wanted.

        Raises:
            KbdError: It may not start; or, if waited for, it failed: the code is the run's.
        """
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        state = workbench.state
        asked, named = request.model_id, request.message_id
        message_id = None if isinstance(named, msgspec.UnsetType) else named
        model_id = (
            self._model_of(state, message_id) if isinstance(asked, msgspec.UnsetType) else asked
        )
        # Before the run begins: one that may send nothing would only be recorded to fail.
        try:
            self._context.egress.check(state, model_id)
        except EgressConsentRequired as refused:
            await request_consent(self._context, workbench, refused)
            raise
        started = await workbench.submit(StartRun(message_id, model_id))
        if request.wait:
            await wait_for_run(self._runs, workbench, started.run)
        return run_answer(workbench.state, workbench.state.run(started.run))

    def _model_of(self, state: WorkbenchState, message_id: str | None) -> str:
        """Return the model of a run on a message, or on the newest: its own, or the workbench's."""
        asked = state.last_request() if message_id is None else state.heard.get(message_id)
        own = asked.model_id if asked is not None else ""
        return own or self._context.egress.models.of_workbench(state)

    def cancel(
        self, request: wire.WorkshopCancelRun, session: Session
    ) -> Deferred[wire.CancelRequested]:
        """Stop the active run, if there is one."""
        return record(
            self._workbenches,
            request.workbench_id,
            lambda _: RequestCancel(),
            lambda _, outcome: wire.CancelRequested(cancel_requested=outcome.run != 0),
            session.actor,
        )

    async def state(self, request: wire.WorkshopGetState, session: Session) -> wire.WorkshopState:
        """Return the state of the workshop."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        active = self._context.egress.models.chosen_or_default(workbench.state.model_id)
        return workshop_state(
            workbench.state, active, self._context.egress.models.chosen_or_default()
        )

    def set_model(
        self, request: wire.WorkshopSetActiveModel, session: Session
    ) -> Deferred[wire.ActiveModel]:
        """Choose the model of the next run."""
        model_id = request.model_id
        self._context.egress.models.provider(model_id)
        self._context.egress.models.check_model_enabled(model_id)
        return record(
            self._workbenches,
            request.workbench_id,
            lambda _: ChooseModel(model_id),
            lambda _workbench, _outcome: wire.ActiveModel(active_model_id=model_id),
            session.actor,
        )

    async def get(self, request: wire.RunGet, session: Session) -> wire.RunInfo:
        """Describe a run."""
        del session
        # The id of a workbench is hexadecimal, so the only hyphen is the one before the number.
        workbench_id, _, number = request.run_id.partition("-")
        workbench = await self._workbenches.open(workbench_id)
        try:
            run = workbench.state.run(int(number))
        except IndexError:
            msg = f"there is no run {request.run_id}"
            raise NotFound(msg) from None
        return self._info(workbench, run)

    async def list(self, request: wire.RunList, session: Session) -> wire.RunsFound:
        """List the runs of a workbench, or of all, by the index.

        No log is opened but that of one which was not read since it was found.

        Raises:
            NotFound: There is no such workbench.
            ValidationFailed: The cursor is of another list.
        """
        del session
        one = request.workbench_id
        if not isinstance(one, msgspec.UnsetType):
            self._workbenches.known(one)
            # In a large home it may be long before it is; for one, nobody waits for all.
            if not await self._context.index.is_read(one):
                await self._workbenches.open(one)
        page, totals = await self._context.index.runs(request)
        return wire.RunsFound(
            runs=tuple(self._row(*row) for row in page.rows),
            total=page.total,
            next_cursor=page.next_cursor,
            unread=totals.unread,
        )

    def _row(self, status: str, row: bytes) -> wire.RunRow | msgspec.Raw:
        """Return a row of the list: of what can go on, with how much of its caps is used by now."""
        if RunStatus(status).is_final:
            return msgspec.Raw(row)
        run = msgspec.json.decode(row, type=wire.RunRow)
        return msgspec.structs.replace(run, budget=self._budget())

    def _budget(self) -> wire.RunBudget:
        caps, daemon = self._context.settings.run, self._workbenches.daemon.state
        return run_budget(caps, daemon, self._context.clock.now_us())

    def _info(self, workbench: OpenWorkbench, run: Run) -> wire.RunInfo:
        damage = workbench.damage.message if workbench.damage is not None else ""
        budget = UNSET if run.status.is_final else self._budget()
        return run_info(workbench.state, run, budget, damage=damage)


async def wait_for_run(runs: RunTasks, workbench: OpenWorkbench, number: int) -> None:
    """Wait for a run's end.

    Raises:
        KbdError: It failed; the code is the run's.
    """
    await runs.wait(workbench, number)
    run = workbench.state.run(number)
    if run.error is None:
        return
    run_id = workbench.state.run_id(run.number)
    error = error_with_code(run.error.code, run.error.message)
    error.retryable = run.error.retryable
    error.detail |= {
        "workbench_id": workbench.id,
        "run_id": run_id,
        "model_id": run.model_id,
        "subphase": run.error.subphase,
    }
    raise error


class ConversationMethods:
    """Handlers of the conversation: show, undo, regenerate."""

    def __init__(self, context: ApiContext, workbenches: Workbenches, runs: RunTasks) -> None:
        self._context, self._workbenches, self._runs = context, workbenches, runs

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WorkshopGetConversation: self.get,
            wire.WorkshopUndoToMessage: self.undo,
            wire.WorkshopRegenerate: self.regenerate,
        }

    async def get(
        self, request: wire.WorkshopGetConversation, session: Session
    ) -> wire.Conversation:
        """Return the conversation with its tool traffic, all or a page of it.

        Raises:
            ValidationFailed: The cursor is none of this conversation.
        """
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        limits = (request.types, request.limit, request.cursor)
        if request.descending or not all(isinstance(each, Unset) for each in limits):
            return await conversation_page(workbench, request)
        return await conversation(workbench)

    async def undo(self, request: wire.WorkshopUndoToMessage, session: Session) -> wire.Undone:
        """Undo everything after a message.

        Raises:
            KbdError: As for `rewind_to`; nothing was done, but of a disk that is full or fails.
        """
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        done = await rewind_to(workbench, self._context.clock, request.message_id)
        return wire.Undone(
            message_id=request.message_id,
            has_draft=workbench.state.draft is not None,
            files_changed=done.files,
            checkpoint_id=done.checkpoint_id or msgspec.UNSET,
        )

    async def regenerate(
        self, request: wire.WorkshopRegenerate, session: Session
    ) -> wire.RunAnswered:
        """Undo to a message of the person, and run the agent on it anew.

        Raises:
            KbdError: As for `rewind_to`, or the model may not be called: nothing was done. If the
                run is waited for and failed, the code is the run's.
        """
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        named, chosen = request.message_id, request.model_id
        asked, answer = find_exchange(
            workbench.state, None if isinstance(named, msgspec.UnsetType) else named
        )
        model_id = (
            asked.model_id or self._context.egress.models.of_workbench(workbench.state)
            if isinstance(chosen, msgspec.UnsetType)
            else chosen
        )
        check = self._may_run(workbench.state, model_id)
        # A client that goes away meanwhile gets both or nothing.
        with anyio.CancelScope(shield=True):
            try:
                await rewind_to(
                    workbench, self._context.clock, asked.message_id, "regenerate", check
                )
            except EgressConsentRequired as refused:
                now = self._context.egress.consent_to(workbench.state, model_id, persist=True)
                # About files that are not the workbench's any more nobody can be asked.
                if refused.detail["scope_hash"] == now.scope_hash:
                    await request_consent(self._context, workbench, refused)
                raise
            started = await workbench.submit(
                StartRun(asked.message_id, model_id, answer.message_id)
            )
        if request.wait:
            await wait_for_run(self._runs, workbench, started.run)
        return run_answer(workbench.state, workbench.state.run(started.run))

    def _may_run(self, now: WorkbenchState, model_id: str) -> Callable[[WorkbenchState], None]:
        """Return what refuses to undo if no run could follow: files go back, settings do not."""

        def check(then: WorkbenchState) -> None:
            then.consents, then.runs, then.context = now.consents, now.runs, now.context
            self._context.egress.check(then, model_id)

        return check
