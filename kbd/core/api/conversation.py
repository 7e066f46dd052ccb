"""Methods of the conversation: show it, undo to a message, regenerate an answer."""

from collections.abc import Callable

import anyio
import msgspec

from kbd.core.api.runs import wait_for_run
from kbd.core.domain.commands import StartRun
from kbd.core.domain.rewind_decisions import find_exchange
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import RunTasks
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.conversation import conversation
from kbd.core.workbench.rewind import rewind_to
from kbd.core.workbench.rows import run_answer
from kbd.requests import workshop as wire
from kbd.requests.base import Request

__all__ = ["ConversationMethods"]


class ConversationMethods:
    """Handlers of the conversation: show, undo, regenerate."""

    def __init__(self, context: ApiContext, benches: Workbenches, runs: RunTasks) -> None:
        self._context, self._benches, self._runs = context, benches, runs

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
        """Return the conversation with its tool traffic."""
        del session
        return await conversation(await self._benches.open(request.workbench_id))

    async def undo(self, request: wire.WorkshopUndoToMessage, session: Session) -> wire.Undone:
        """Undo everything after a message.

        Raises:
            KbdError: As for `rewind_to`; nothing was done, but of a disk that is full or fails.
        """
        del session
        bench = await self._benches.open(request.workbench_id)
        done = await rewind_to(bench, self._context.clock, request.message_id)
        return wire.Undone(
            message_id=request.message_id,
            has_draft=bench.state.draft is not None,
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
        del session
        bench = await self._benches.open(request.workbench_id)
        named, chosen = request.message_id, request.model_id
        asked, answer = find_exchange(
            bench.state, None if isinstance(named, msgspec.UnsetType) else named
        )
        model_id = (
            self._context.egress.models.of_workbench(bench.state)
            if isinstance(chosen, msgspec.UnsetType)
            else chosen
        )
        check = self._may_run(bench.state, model_id)
        # A client that goes away meanwhile gets both or nothing.
        with anyio.CancelScope(shield=True):
            await rewind_to(bench, self._context.clock, asked.message_id, "regenerate", check)
            started = await bench.keeper.submit(
                StartRun(asked.message_id, model_id, answer.message_id)
            )
        if request.wait:
            await wait_for_run(self._runs, bench, started.run)
        return run_answer(bench.state, bench.state.run(started.run))

    def _may_run(self, now: WorkbenchState, model_id: str) -> Callable[[WorkbenchState], None]:
        """Return what refuses to undo if no run could follow: files go back, settings do not."""

        def check(then: WorkbenchState) -> None:
            then.consents, then.runs, then.context = now.consents, now.runs, now.context
            self._context.egress.check(then, model_id)

        return check
