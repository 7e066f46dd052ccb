"""Events about retention: which stored bytes were removed, and why.

A file version that the log names is there for good, but for what these events say. They come before
the bytes go, so that what a crash leaves is removed later and never missed.
"""

from typing import Literal

from kbd.events.base import Fact
from kbd.types import BlobHash

__all__ = ["BlobsCollected", "ReclaimedKind", "RetentionEvent", "StorageReclaimed"]

ReclaimedKind = Literal["unnamed", "discarded", "landed"]
"""What was removed: blobs that no event names, versions that only discarded drafts had, or copies
of landed files that are done."""


class BlobsCollected(Fact):
    """Blobs that earlier events name are removed from here on; one that is named again is back.

    Args:
        blobs: Their hashes.
        size_bytes: How many bytes they hold together.
        reason: Why, for people.
    """

    blobs: tuple[BlobHash, ...]
    size_bytes: int
    reason: str


class StorageReclaimed(Fact):
    """Stored bytes are about to be removed, by a collection. In the daemon's log.

    Args:
        workbench_id: Whose store; "" for the copies of landed files.
        kind: What is removed.
        count: How many blobs.
        size_bytes: How many bytes they hold together.
        reason: Why, for people.
        watch_id: Whose copies of landed files; "" for a workbench.
    """

    workbench_id: str
    kind: ReclaimedKind
    count: int
    size_bytes: int
    reason: str
    watch_id: str = ""


RetentionEvent = BlobsCollected | StorageReclaimed
"""Events of retention."""
