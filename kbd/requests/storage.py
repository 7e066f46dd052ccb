"""Requests about what takes the disk, what goes by itself and when, and making room."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset
from kbd.requests.pages import CursorParam
from kbd.types import WatchId, WorkbenchId

__all__ = [
    "PrunedRow",
    "QuotaInfo",
    "RetentionInfo",
    "StorageFound",
    "StorageGet",
    "StoragePrune",
    "StoragePruned",
    "StorageRequest",
    "StorageRow",
    "StorageShares",
    "WatchStorageRow",
]


class StorageShares(msgspec.Struct, frozen=True, kw_only=True):
    """What takes how much of the disk; in bytes.

    Args:
        logs: The logs of workbenches.
        blobs: The contents of their file versions.
        published: Their published files.
        caches: What else is in their folders; it is made anew where it is missing.
        archives: The archives of workbenches.
        landed: The copies of landed files that are not done.
        daemon: The daemon's own log with its snapshots, and what it writes for its operator.
        index: The index of workbenches and runs.
    """

    logs: int
    blobs: int
    published: int
    caches: int
    archives: int
    landed: int
    daemon: int
    index: int


class QuotaInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How the home stands to its quota.

    Args:
        status: There is none; it is far; it is near; or it is reached, and new runs and files are
            refused.
        quota_bytes: It; 0 for none.
        used_bytes: What the home takes.
        warning_share: From this share of the quota on it is warned.
    """

    status: Literal["none", "below", "warned", "reached"]
    quota_bytes: int
    used_bytes: int
    warning_share: float


class StorageRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a workbench takes.

    Args:
        workbench_id: Its id.
        name: For people.
        status: As in `WorkbenchRow`.
        disk_bytes: What its folder takes, or its archive.
        updated_at: ISO 8601, UTC: its last event.
        watch_id: The watch that made it.
        held: Why no rule archives it.
        archive_at: When a rule archives it, at the earliest.
        remove_at: Of an archive: when a rule removes it, at the earliest.
    """

    workbench_id: WorkbenchId
    name: str
    status: str
    disk_bytes: int
    updated_at: str
    watch_id: WatchId | Unset = UNSET
    held: str | Unset = UNSET
    archive_at: str | Unset = UNSET
    remove_at: str | Unset = UNSET


class WatchStorageRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the workbenches take that a watch made; archives are none of them.

    Args:
        watch_id: The watch.
        name: For people; absent of a watch that was removed.
        workbenches: How many they are.
        disk_bytes: What they take.
    """

    watch_id: WatchId
    name: str | Unset = UNSET
    workbenches: int
    disk_bytes: int


class RetentionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What goes by itself, by whose word.

    Args:
        watch_id: The watch whose rule it is; absent for `[retention]`.
        name: The same for people.
        archive_after_days: Days without a change; 0 for never.
        remove_after_days: Days since the archiving; 0 for never.
    """

    watch_id: WatchId | Unset = UNSET
    name: str
    archive_after_days: int
    remove_after_days: int


class PrunedRow(msgspec.Struct, frozen=True, kw_only=True):
    """What is done with a workbench.

    Args:
        workbench_id: Its id.
        name: For people.
        action: Whether it is archived, its archive removed, or nothing is done.
        size_bytes: What it takes, or its archive.
        reason: Why.
        due_at: When, at the earliest; absent for now.
    """

    workbench_id: WorkbenchId
    name: str
    action: Literal["archive", "remove", "keep"]
    size_bytes: int
    reason: str
    due_at: str | Unset = UNSET


class StorageFound(Answer):
    """What takes the disk.

    Args:
        total_bytes: All of it.
        shares: By what it is.
        quota: How that stands to the quota.
        archived: How many workbenches are archived.
        workbenches: A page of those that have a folder, those that take most first.
        total: How many there are.
        watches: By the watch that made them, those that take most first.
        retention: What goes by itself, `[retention]` first.
        upcoming: What goes next, soonest first; at most 20 of what is archived and of what is
            removed.
        next_cursor: Where the next page begins; absent behind the last.
        notices: What is about to be removed, and when.
    """

    total_bytes: int
    shares: StorageShares
    quota: QuotaInfo
    archived: int
    workbenches: tuple[StorageRow, ...]
    total: int
    watches: tuple[WatchStorageRow, ...]
    retention: tuple[RetentionInfo, ...]
    upcoming: tuple[PrunedRow, ...]
    next_cursor: str | Unset = UNSET
    notices: tuple[str, ...] = ()


class StorageGet(Request):
    """Ask what takes the disk, what goes by itself and when."""

    answer: ClassVar[type[Any]] = StorageFound

    limit: Annotated[
        int, msgspec.Meta(ge=1, le=1000, description="How many workbenches at most.")
    ] = 100
    cursor: CursorParam | Unset = UNSET


class StoragePruned(Answer):
    """What was done, or would be.

    Args:
        dry_run: Whether nothing was done.
        archived: How many workbenches are archived.
        archived_bytes: What their folders took.
        archive_bytes: What the archives take that were made; 0 of a dry run.
        removed: How many archives are removed.
        removed_bytes: What they took.
        kept: How many are kept that are old enough, by the reason.
        rows: Each, with its reason; at most 1000.
        total: How many there are.
    """

    dry_run: bool
    archived: int
    archived_bytes: int
    archive_bytes: int
    removed: int
    removed_bytes: int
    kept: dict[str, int]
    rows: tuple[PrunedRow, ...]
    total: int


class StoragePrune(Request):
    """Do now what a retention of a given age would do; nothing that a rule would keep goes.

    Args:
        older_s: So long a workbench has not changed that is archived, and so long ago an archive
            was made that is removed; in seconds.
        dry_run: Whether it is only said what would be done.
        archives: Whether archives are removed, too.
    """

    answer: ClassVar[type[Any]] = StoragePruned

    older_s: Annotated[int, msgspec.Meta(ge=0, le=3_153_600_000)]
    dry_run: bool = False
    archives: bool = False


StorageRequest = StorageGet | StoragePrune
"""Requests about the disk."""
