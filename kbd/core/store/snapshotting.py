"""Snapshots at intervals while a log grows, for a daemon may be killed at any time.

A process of its own does it (`python -m kbd.core.store.snapshots`). The state is the loop's and
changes with every event, and to encode a large one takes 20 to 80 ms, in which Python runs nothing
else, in whichever thread. The process folds the log on from the snapshot before, up to an event
that is durable, and sees nothing of the daemon's memory. If it dies, or its daemon does, nothing is
lost.
"""

from typing import Any

from anyio.to_thread import run_sync

from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.module_process import open_module
from kbd.core.store.snapshots import Snapshots
from kbd.events.base import Recorded
from kbd.events.log import EventLog
from kbd.types import Seq

__all__ = ["SnapshotScheduler", "renew_far"]

SNAPSHOT_EVENTS = 10_000
"""A snapshot is made anew after so many events (0.1 s of replay): one costs what came since."""

_log = get_logger(__name__)


class SnapshotScheduler:
    """Scheduler of snapshots: sees a log grow, and has one made every so many events.

    Args:
        snapshots: Those of the log.
        log: The log, open.
        after: How many events must have come since the newest.
    """

    def __init__(
        self, snapshots: Snapshots[Any], log: EventLog, after: int = SNAPSHOT_EVENTS
    ) -> None:
        self._snapshots, self._log, self._after = snapshots, log, after
        self._due = snapshots.since + after
        self._grown = Notifier()

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Take note of an event that is durable."""
        del record
        if seq >= self._due:
            self._grown.ring()

    async def run(self) -> None:
        """Work for ever; a snapshot that cannot be made is only missing."""
        while True:
            while self._log.seq < self._due:
                await self._grown.wait()
            until = self._log.seq
            # Set whether it succeeds or not: a full disk is not tried again at each event.
            self._due = until + self._after
            code = await _run_snapshot_process(self._snapshots, until)
            if code == 0:
                self._snapshots.since = until
            else:
                _log.warning("no_snapshot", kind=self._snapshots.kind, seq=until, code=code)


async def renew_far(snapshots: Snapshots[Any]) -> None:
    """Have a process fold a log that is far ahead of its newest snapshot, before it is opened.

    So the daemon neither works on it for a minute nor has all of its state in memory.
    """
    until = await run_sync(snapshots.far_end)
    if until:
        await _run_snapshot_process(snapshots, until)


async def _run_snapshot_process(snapshots: Snapshots[Any], until: Seq) -> int:
    """Have a process make a snapshot and return its exit code; -1 if none can be started.

    The process dies with the task that waits for it.
    """
    names = (snapshots.kind, str(snapshots.log_dir), str(snapshots.folder), str(until))
    try:
        process = await open_module("kbd.core.store.snapshots", *names)
    except OSError:
        return -1
    async with process:
        return await process.wait()
