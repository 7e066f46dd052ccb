"""Reader of file lineages from a workbench's log: folded on demand, kept while it is open.

What is kept is a projection: it is folded again whenever it is not there.
"""

import anyio

from kbd.core.domain.lineage import FileLineage, LineageFold
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.store.journal import Journal
from kbd.errors import LogCorrupt
from kbd.types import FileName, Seq

__all__ = ["LineageReader"]

PAGE_EVENTS = 5000
"""Events that are read and folded at once: some 50 ms in a thread."""

MAX_KEPT = 200_000
"""Steps and moments that are kept for the next question, some 50 MB; more are folded anew."""


class LineageReader:
    """Reader of the lineages of one workbench's files."""

    def __init__(self) -> None:
        self._fold = LineageFold()
        # One at a time: the fold grows in a thread.
        self._reading = anyio.Lock()

    async def read(self, journal: Journal, name: FileName, at: Seq | None = None) -> FileLineage:
        """Return the lineage of a file after the last durable event, or after another one.

        Of a damaged log, that after the last event before the damage.

        Args:
            journal: The workbench's log.
            name: The file.
            at: The event; None is the last one.
        """
        async with self._reading:
            fold = self._fold
            while fold.seq < journal.seq and await read_in_turn(_advance, journal, fold):
                pass
            if fold.size > MAX_KEPT:
                self._fold = LineageFold()
            return fold.file(name, at)


def _advance(journal: Journal, fold: LineageFold) -> bool:
    """Fold a page of events; return whether there was any. Blocking."""
    try:
        events = journal.log.read(fold.seq, PAGE_EVENTS)
    except LogCorrupt:
        return _advance_singly(journal, fold)
    for seq, record in events:
        fold.add(Seq(seq), record)
    return bool(events)


def _advance_singly(journal: Journal, fold: LineageFold) -> bool:
    """Fold what is there before the damage; blocking."""
    try:
        journal.log.replay(fold.add, fold.seq)
    except LogCorrupt:
        pass
    return False
