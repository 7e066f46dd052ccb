"""draft/ follows the log: refreshed after each frame that changes the draft, never before."""

import anyio
import structlog
from anyio.to_thread import run_sync

from kbd.core.bench import Bench, draft_view
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.drafts import DraftDiscarded, FileChanged, PublishCompleted
from kbd.types import Seq

__all__ = ["DraftProjection"]

_log = structlog.get_logger(__name__)


class DraftProjection:
    """Keeps one workbench's draft/ as the log says.

    A refresh that fails is logged and tried again at the next change: the log has everything.

    Args:
        bench: The workbench.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._changed = anyio.Event()

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Note a change of the draft."""
        del seq
        if isinstance(record.data, FileChanged | DraftDiscarded | PublishCompleted):
            self._changed.set()

    async def run(self) -> None:
        """Refresh after every change, for ever; changes that gather are one refresh."""
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            try:
                await run_sync(self._bench.files.show_draft, draft_view(self._bench.state))
            except (KbdError, OSError) as error:
                _log.warning("draft_not_shown", workbench=self._bench.id, error=str(error))
