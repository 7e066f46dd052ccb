"""The results of earlier calls, from the log."""

from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.draft.blobs import Blobs
from kbd.core.store.journal import Journal
from kbd.errors import NotFound
from kbd.events.runs import ToolReturned
from kbd.types import Seq

__all__ = ["LogRecall"]


class LogRecall:
    """`kbd.tools.Recall` over a workbench's log.

    Args:
        state: The workbench.
        journal: Its log.
        blobs: Its blobs.
    """

    def __init__(self, state: WorkbenchState, journal: Journal, blobs: Blobs) -> None:
        self._state, self._journal, self._blobs = state, journal, blobs

    async def result(self, entry_id: int) -> bytes:
        """Return the whole result of an earlier call.

        Raises:
            NotFound: No call of this workbench has that entry id, or it has not ended.
        """
        seq = self._state.entries.get(entry_id)
        if seq is None:
            msg = f"no tool result has the entry id {entry_id}"
            raise NotFound(msg)
        for _, record in await self._journal.read(Seq(seq - 1), 1):
            if isinstance(record.data, ToolReturned):
                returned = record.data
                if returned.blob is not None:
                    return await self._blobs.read(returned.blob)
                return (returned.result or returned.shown).encode()
        msg = f"the tool result {entry_id} is not in the log"
        raise NotFound(msg)
