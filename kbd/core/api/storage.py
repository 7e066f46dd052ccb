"""Methods of storage: what takes the disk, what goes when, making room; and refusals at the quota.

What is asked for is answered by the index, by sums that are kept, and by short walks.
"""

from collections.abc import Mapping
from functools import partial, wraps
from typing import Any

from kbd.core.domain.watch_state import WatchStatus
from kbd.core.home_index.storage import SettledRow, largest, sizes_by_watch
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.home_usage import HomeSizes, HomeUsage
from kbd.core.sessions.retention import PrunedWorkbench, Retention
from kbd.core.sessions.workbenches import Workbenches
from kbd.events.codec import format_time
from kbd.requests import storage as wire
from kbd.requests.base import UNSET, Request, Unset
from kbd.requests.pages import decode_cursor, encode_cursor
from kbd.requests.workbenches import WorkbenchFilesAdd, WorkbenchFork
from kbd.requests.workshop import WorkshopRegenerate, WorkshopRunAgent

__all__ = ["StorageMethods", "refuse_at_quota"]

MAX_UPCOMING = 20
"""So much of what goes next is told, of either kind."""

_GROWING: frozenset[type[Request]] = frozenset(
    (WorkbenchFilesAdd, WorkbenchFork, WorkshopRegenerate, WorkshopRunAgent)
)
"""What makes a home grow by what it is asked for, and is refused at the quota. All else works on,
above all what makes room and what brings a person's work to its end."""


def refuse_at_quota(
    usage: HomeUsage, table: Mapping[type[Request], Handler]
) -> dict[type[Request], Handler]:
    """Wrap the handlers that make the home grow, so that they refuse to at the quota.

    Args:
        usage: What the home takes.
        table: The handler of each request.
    """
    return {
        kind: _refuse_at_quota(usage, handler) if kind in _GROWING else handler
        for kind, handler in table.items()
    }


def _refuse_at_quota(usage: HomeUsage, handler: Handler) -> Handler:
    @wraps(handler)
    async def handle_if_room(request: Any, session: Session) -> Any:
        await usage.require_room()
        return await handler(request, session)

    return handle_if_room


class StorageMethods:
    """Handlers of storage.

    Args:
        context: The daemon's.
        workbenches: Its workbenches.
        retention: What archives and removes.
    """

    def __init__(self, context: ApiContext, workbenches: Workbenches, retention: Retention) -> None:
        self._context, self._workbenches, self._retention = context, workbenches, retention

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.StorageGet: self.get, wire.StoragePrune: self.prune}

    async def get(self, request: wire.StorageGet, session: Session) -> wire.StorageFound:
        """Return what takes the disk, and what goes when."""
        del session
        usage, index = self._context.usage, self._context.index
        sizes = await usage.measure()
        of = (request.method,)
        before = None
        if not isinstance(request.cursor, Unset):
            size_bytes, workbench_id = decode_cursor(request.cursor, of, (int, str))
            before = (int(size_bytes), str(workbench_id))
        limit = request.limit
        rows = await index.read(partial(largest, before=before, limit=limit + 1))
        cursor: str | Unset = UNSET
        if len(rows) > limit:
            rows = rows[:limit]
            cursor = encode_cursor(of, (rows[-1].disk_bytes, rows[-1].workbench_id))
        upcoming = await self._retention.upcoming(MAX_UPCOMING)
        return wire.StorageFound(
            total_bytes=sizes.total,
            shares=_shares(sizes),
            quota=self._quota(sizes),
            archived=sizes.archived,
            workbenches=tuple(self._row(row) for row in rows),
            total=sizes.workbenches,
            next_cursor=cursor,
            watches=await self._watches(),
            retention=self._rules(),
            upcoming=tuple(map(_pruned_row, upcoming)),
            notices=self._retention.notices(),
        )

    async def prune(self, request: wire.StoragePrune, session: Session) -> wire.StoragePruned:
        """Make room, or say what would go."""
        done = await self._retention.prune(
            request.older_s,
            archives=request.archives,
            dry_run=request.dry_run,
            actor=session.actor,
        )
        return wire.StoragePruned(
            dry_run=request.dry_run,
            archived=done.counts["archive"],
            archived_bytes=done.size_bytes["archive"],
            archive_bytes=done.archive_bytes,
            removed=done.counts["remove"],
            removed_bytes=done.size_bytes["remove"],
            kept=dict(done.holds.most_common()),
            rows=tuple(map(_pruned_row, done.rows)),
            total=done.counts.total(),
        )

    def _quota(self, sizes: HomeSizes) -> wire.QuotaInfo:
        settings = self._context.settings.retention
        return wire.QuotaInfo(
            status=self._context.usage.status,
            quota_bytes=settings.quota_bytes,
            used_bytes=sizes.total,
            warning_share=settings.quota_warning_share,
        )

    def _row(self, row: SettledRow) -> wire.StorageRow:
        at_us, held = self._retention.goes_at_us(row)
        at = format_time(at_us) if at_us else UNSET
        is_archived = row.status == "archived"
        return wire.StorageRow(
            workbench_id=row.workbench_id,
            name=row.name,
            status=row.status,
            disk_bytes=row.disk_bytes,
            updated_at=format_time(row.settling.since_us),
            watch_id=row.watch_id or UNSET,
            held=held or UNSET,
            archive_at=UNSET if is_archived else at,
            remove_at=at if is_archived else UNSET,
        )

    async def _watches(self) -> tuple[wire.WatchStorageRow, ...]:
        watches = self._workbenches.daemon.state.watching.watches
        found = await self._context.index.read(sizes_by_watch)
        return tuple(
            wire.WatchStorageRow(
                watch_id=each.watch_id,
                name=watch.rule.name
                if (watch := watches.get(each.watch_id)) is not None
                and watch.status is not WatchStatus.REMOVED
                else UNSET,
                workbenches=each.count,
                disk_bytes=each.disk_bytes,
            )
            for each in found
        )

    def _rules(self) -> tuple[wire.RetentionInfo, ...]:
        policies = self._retention.policies
        return tuple(
            wire.RetentionInfo(
                watch_id=scope or UNSET,
                name=policies.named(scope),
                archive_after_days=policies.archive_days(scope),
                remove_after_days=policies.remove_days(scope),
            )
            for scope in policies.scopes()
        )


def _shares(sizes: HomeSizes) -> wire.StorageShares:
    return wire.StorageShares(
        logs=sizes.log,
        blobs=sizes.blobs,
        published=sizes.published,
        caches=sizes.caches,
        archives=sizes.archives,
        landed=sizes.landed,
        daemon=sizes.daemon,
        index=sizes.index,
    )


def _pruned_row(row: PrunedWorkbench) -> wire.PrunedRow:
    return wire.PrunedRow(
        workbench_id=row.workbench_id,
        name=row.name,
        action=row.action,
        size_bytes=row.size_bytes,
        reason=row.reason,
        due_at=format_time(row.due_at_us) if row.due_at_us else UNSET,
    )
