"""Queries of the index about storage: what takes how much, and since when what is settled."""

from collections.abc import Sequence

import msgspec

from kbd.core.domain.retention import Hold, Settling, may_be_dismissed
from kbd.core.home_index.database import HomeIndex
from kbd.types import WatchId, WorkbenchId

__all__ = [
    "IndexedSizes",
    "SettledRow",
    "WatchSizes",
    "largest",
    "rows_of",
    "settled_before",
    "sizes",
    "sizes_by_watch",
]

_LOOKED_UP = 500
"""As many ids are looked up in one statement; SQLite takes some thousands."""


class SettledRow(msgspec.Struct, frozen=True):
    """A workbench with what takes the disk in it, and how settled it is.

    Args:
        workbench_id: Its id.
        name: For people.
        status: As in `WorkbenchRow`.
        disk_bytes: What its folder takes.
        settling: How settled it is by its own log.
        watch_id: The watch that made it; "" for none.
    """

    workbench_id: WorkbenchId
    name: str
    status: str
    disk_bytes: int
    settling: Settling
    watch_id: WatchId


class IndexedSizes(msgspec.Struct, frozen=True):
    """What all workbenches take together, by what is in them; in bytes, but for the count."""

    count: int
    total: int
    log: int
    blobs: int
    published: int


class WatchSizes(msgspec.Struct, frozen=True):
    """What the workbenches that a watch made take: how many there are, and bytes."""

    watch_id: WatchId
    count: int
    disk_bytes: int


_SETTLED = (
    "SELECT w.id, w.name, w.status, w.disk_bytes, w.hold, w.settled_at_us, w.seen_by,"
    " COALESCE(o.watch_id, '') FROM workbenches w LEFT JOIN origins o ON o.workbench_id = w.id"
)


_BUSY = tuple(each for each in Hold if each is not Hold.RULE and not may_be_dismissed(each))
"""What holds a workbench whatever the daemon's log says of it."""


def _settled_row(row: Sequence[object]) -> SettledRow:
    found: tuple[str, str, str, int, str, int, str, str] = tuple(row)  # type: ignore[assignment]
    workbench_id, name, status, disk_bytes, hold, since_us, seen_by, watch_id = found
    settling = msgspec.convert(
        {"hold": hold or None, "since_us": since_us, "seen_by": seen_by}, Settling
    )
    return SettledRow(
        WorkbenchId(workbench_id), name, status, disk_bytes, settling, WatchId(watch_id)
    )


def settled_before(
    index: HomeIndex, before_us: int, after: tuple[int, str], limit: int, *, busy: bool
) -> tuple[SettledRow, ...]:
    """Return workbenches that rest since before a moment, those first that rest for longest.

    Args:
        index: The index.
        before_us: The moment.
        after: The last event and the id of the last one of the page before; (-1, "") for none.
        limit: How many at most.
        busy: Whether those, too, that nothing but their own log lets go of.
    """
    held = () if busy else _BUSY
    holes = ", ".join("?" * len(held))
    found = index.read(
        f"{_SETTLED} WHERE w.settled_at_us <= ? AND (w.settled_at_us, w.id) > (?, ?)"
        f" AND w.hold NOT IN ({holes}) AND w.status NOT IN ('archived', 'unread')"
        " ORDER BY w.settled_at_us, w.id LIMIT ?",
        (before_us, *after, *held, limit),
    )
    return tuple(map(_settled_row, found))


def largest(index: HomeIndex, before: tuple[int, str] | None, limit: int) -> tuple[SettledRow, ...]:
    """Return the workbenches that take most, largest first.

    Args:
        index: The index.
        before: The size and the id of the last one of the page before; None for the first page.
        limit: How many at most.
    """
    where = "" if before is None else " WHERE (w.disk_bytes, w.id) < (?, ?)"
    order = " ORDER BY w.disk_bytes DESC, w.id DESC LIMIT ?"
    return tuple(
        map(_settled_row, index.read(f"{_SETTLED}{where}{order}", (*(before or ()), limit)))
    )


def rows_of(index: HomeIndex, ids: Sequence[WorkbenchId]) -> dict[WorkbenchId, SettledRow]:
    """Return some workbenches, archived or not; those that the index does not have are left out."""
    found: dict[WorkbenchId, SettledRow] = {}
    for start in range(0, len(ids), _LOOKED_UP):
        some = ids[start : start + _LOOKED_UP]
        holes = ", ".join("?" * len(some))
        rows = index.read(f"{_SETTLED} WHERE w.id IN ({holes})", tuple(some))
        found.update((row.workbench_id, row) for row in map(_settled_row, rows))
    return found


def sizes(index: HomeIndex) -> IndexedSizes:
    """Return what all workbenches take together; archives are none of them."""
    (found,) = index.read(
        "SELECT COUNT(*), COALESCE(SUM(disk_bytes), 0), COALESCE(SUM(log_bytes), 0),"
        " COALESCE(SUM(blob_bytes), 0), COALESCE(SUM(published_bytes), 0) FROM workbenches"
        " WHERE status != 'archived'",
        (),
    )
    return IndexedSizes(*found)


def sizes_by_watch(index: HomeIndex) -> tuple[WatchSizes, ...]:
    """Return what the workbenches of each watch take, largest first; archives are none of them."""
    found = index.read(
        "SELECT o.watch_id, COUNT(*), SUM(w.disk_bytes) FROM origins o JOIN workbenches w"
        " ON w.id = o.workbench_id WHERE w.status != 'archived'"
        " GROUP BY o.watch_id ORDER BY 3 DESC, 1",
        (),
    )
    return tuple(WatchSizes(WatchId(row[0]), row[1], row[2]) for row in found)
