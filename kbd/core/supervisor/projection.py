"""draft/ and the readable copies follow the log: refreshed after a frame, never before it."""

import anyio
import structlog
from anyio.to_thread import run_sync

from kbd.core.agent.readable_copies import write_copies, write_tool_log
from kbd.core.runtime.event_loop import Bell
from kbd.core.supervisor.conversation_copy import ConversationCopy
from kbd.core.workbench.workbench import Bench, draft_view
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.drafts import DraftDiscarded, FileChanged, PublishCompleted
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    ToolReturned,
)
from kbd.events.workbenches import ConversationRewound, UserMessageAdded
from kbd.types import Seq

__all__ = ["Projection"]

_log = structlog.get_logger(__name__)

_CHANGES_DRAFT = FileChanged | DraftDiscarded | PublishCompleted | ConversationRewound
_ENDS_EARLY = RunCancelled | RunFailed | RunInterrupted
_CHANGES_PLAN = ItemCompleted | ItemRetried | ItemFailed | ItemsAdded | RunFinished
"""What the agent does not write down itself: of a long plan each item would cost all others."""

_CHANGES_COPIES = (
    UserMessageAdded | DraftDiscarded | ConversationRewound | _ENDS_EARLY | _CHANGES_PLAN
)
"""What the agent, which writes the copies at the ends of phases, is not there to see."""

_PAUSE_S = 0.1
_PAUSE_SHARE = 20
"""Between two refreshes: some seconds, and so many times as long as the last one took. Each reads
all that was said, some even the whole log: at every message of a busy client that would cost more
than to record the messages, and nobody looks so often."""


class Projection:
    """Keeps what people look at in one workbench's folder as the log says.

    A refresh that fails is logged and tried again at the next change: the log has everything.

    Args:
        bench: The workbench.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._changed = Bell()
        self._draft = self._copies = self._tool_log = False
        self._conversation = ConversationCopy(bench.folders.workshop, bench.keeper.journal)

    async def catch_up(self) -> None:
        """Have the copy of the conversation say what the log says; before anything is observed."""
        if self._bench.damage is None:
            await self._conversation.catch_up()

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Note a change."""
        if self._conversation.note(seq, record):
            self._changed.ring()
        if isinstance(record.data, _CHANGES_DRAFT):
            self._draft = True
            self._changed.ring()
        if isinstance(record.data, _CHANGES_COPIES):
            self._copies = True
            self._tool_log |= isinstance(record.data, _ENDS_EARLY)
            self._changed.ring()
        if isinstance(record.data, ToolReturned) and not record.run:
            self._tool_log = True  # a client's own call: no agent is there to write it down
            self._changed.ring()

    async def run(self) -> None:
        """Refresh after every change, for ever; changes that gather are one refresh."""
        while True:
            while not self._is_behind:
                await self._changed.wait()
            begun = anyio.current_time()
            draft, copies, tool_log = self._draft, self._copies, self._tool_log
            self._draft = self._copies = self._tool_log = False
            try:
                if draft:
                    await run_sync(self._bench.files.show_draft, draft_view(self._bench.state))
                await self._conversation.write()
                if copies:
                    await write_copies(self._bench.folders.workshop, self._bench.state)
                if tool_log:
                    await write_tool_log(self._bench.folders.workshop, self._bench.keeper.journal)
            except (KbdError, OSError) as error:
                _log.warning("not_shown", workbench=self._bench.id, error=str(error))
            spent = anyio.current_time() - begun
            await anyio.sleep(max(_PAUSE_S, _PAUSE_SHARE * spent))

    @property
    def _is_behind(self) -> bool:
        return self._draft or self._copies or self._tool_log or self._conversation.is_behind
