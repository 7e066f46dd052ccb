"""draft/ and the readable copies follow the log: refreshed after a frame, never before it."""

import anyio
import structlog
from anyio.to_thread import run_sync

from kbd.core.agent import write_copies, write_tool_log
from kbd.core.bench import Bench, draft_view
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.drafts import DraftDiscarded, FileChanged, PublishCompleted
from kbd.events.runs import RunCancelled, RunFailed, RunInterrupted
from kbd.events.workbenches import UserMessageAdded
from kbd.types import Seq

__all__ = ["Projection"]

_log = structlog.get_logger(__name__)

_CHANGES_DRAFT = FileChanged | DraftDiscarded | PublishCompleted
_CHANGES_COPIES = UserMessageAdded | DraftDiscarded | RunCancelled | RunFailed | RunInterrupted
"""What the agent, which writes the copies as it goes, is not there to see."""


class Projection:
    """Keeps what people look at in one workbench's folder as the log says.

    A refresh that fails is logged and tried again at the next change: the log has everything.

    Args:
        bench: The workbench.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._changed = anyio.Event()
        self._draft = self._copies = False

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Note a change."""
        del seq
        if isinstance(record.data, _CHANGES_DRAFT):
            self._draft = True
            self._changed.set()
        if isinstance(record.data, _CHANGES_COPIES):
            self._copies = True
            self._changed.set()

    async def run(self) -> None:
        """Refresh after every change, for ever; changes that gather are one refresh."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            draft, copies = self._draft, self._copies
            self._draft = self._copies = False
            try:
                if draft:
                    await run_sync(self._bench.files.show_draft, draft_view(self._bench.state))
                if copies:
                    await self._write_copies()
            except (KbdError, OSError) as error:
                _log.warning("not_shown", workbench=self._bench.id, error=str(error))

    async def _write_copies(self) -> None:
        folder = self._bench.folders.workshop
        await write_copies(folder, self._bench.state)
        await write_tool_log(folder, self._bench.keeper.journal)
