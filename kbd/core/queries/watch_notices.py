"""Which notification tells of which event of a watched folder."""

from kbd.events import watches
from kbd.events.base import Recorded
from kbd.requests import notifications as wire
from kbd.requests.base import Notification
from kbd.types import Seq

__all__ = ["watch_notice"]

_LOG = "daemon"
"""The log that has the events: who names it, or follows it, is told."""


def watch_notice(seq: Seq, record: Recorded) -> Notification | None:
    """Return the notification that tells of an event of the daemon's log, or None if none does.

    Args:
        seq: The event's number.
        record: The event.
    """
    match record.data:
        case watches.FileLanded() as landed:
            return wire.WatchFileLanded(
                workbench_id=_LOG,
                seq=seq,
                watch_id=landed.watch_id,
                landing_id=seq,
                path=landed.path,
                size_bytes=landed.size_bytes,
                outcome=landed.outcome,
            )
        case watches.WatchRunFinished() as finished:
            return wire.WatchRunFinished(
                workbench_id=_LOG,
                seq=seq,
                watch_id=finished.watch_id,
                landing_ids=finished.landings,
                outcome=finished.outcome,
                run_workbench_id=finished.workbench_id,
                code=finished.code,
                message=finished.message,
                delivered=finished.delivered,
                retry=finished.retry_at_us > 0,
            )
        case _:
            return None
