"""Logs as the indexer knows them: what changed since their rows were written, and who follows."""

import time
from collections.abc import Sequence

from kbd.core.home_index.rows import ChangedRuns
from kbd.core.runtime.event_loop import Notifier
from kbd.core.workbench.rows import FolderSizes, folder_sizes
from kbd.core.workbench.workbench import OpenWorkbench

__all__ = ["ChangedLogs", "IndexedLog", "measure_folders"]

_SIZED_SHARE = 20
"""A folder is measured again after so many times as long as it took."""


class ChangedLogs:
    """The logs in which something was recorded, for one follower of all."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._changed = Notifier()

    def note(self, log_id: str) -> None:
        """Note that a log has grown, or is other than it was known."""
        self._ids[log_id] = None
        self._changed.ring()

    async def take(self) -> tuple[str, ...]:
        """Wait until there are some, and return them, each once."""
        while not self._ids:
            await self._changed.wait()
        ids = tuple(self._ids)
        self._ids.clear()
        return ids


class IndexedLog:
    """An open workbench as the indexer knows it.

    Attributes:
        workbench: It.
        opened_at: Its last event when it was opened, before it was recovered.
        change: The runs that are not written yet; None if nothing is.
        sizes: What its folder took when it was measured last.
        measure_at_s: When it may be measured again.
        is_compared: Whether it is known that the rows in the index are those of this log.
    """

    def __init__(self, workbench: OpenWorkbench) -> None:
        self.workbench = workbench
        self.opened_at = workbench.state.seq
        self.change: ChangedRuns | None = ChangedRuns()
        self.sizes, self.measure_at_s = FolderSizes(), float("-inf")
        self.is_compared = False


def measure_folders(changed: Sequence[IndexedLog]) -> None:
    """Measure what the folders of workbenches take, if that is due. Blocks."""
    for each in changed:
        begun = time.monotonic()
        if begun >= each.measure_at_s:
            each.sizes = folder_sizes(each.workbench.folders)
            each.measure_at_s = begun + _SIZED_SHARE * (time.monotonic() - begun)
