"""Caches of what is derived from a file's bytes: short values, and formats' own folders.

`DerivedCache` keeps maps and short texts, in memory and on disk. `ShelfCache` keeps shelves, what
formats keep beside a file's bytes: a folder for each content, within a size all together.

Whatever of either is lost, damaged or cannot be written is made anew by whoever wants it again. So
the least recently used shelves go when all are too large, without asking whether a call is reading
them.
"""

import contextlib
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec
from anyio import to_thread

from kbd.core.plugins.host import Owned
from kbd.core.runtime.folder_trees import measure_tree, remove_tree
from kbd.formats import FormatHandler
from kbd.tools import FileRef
from kbd.types import BlobHash

__all__ = ["DerivedCache", "ShelfCache", "cache_key", "drop_derived", "is_tiny"]

_HASH = re.compile(r"[0-9a-f]{64}")

MEMORY_ENTRIES = 256
"""Maps and short texts that are kept in memory; a workbench has 200 files by default."""

TINY_BYTES = 4096
"""What is derived from a file of no more than a page of the disk is kept in memory only: on the
disk it would take more than the file, and to make it again is a matter of milliseconds."""

MEMORY_BYTES = 256 * 1024
"""The longest value that is kept in memory: a comparison can take 8 MiB."""


class DerivedCache:
    """Cache of one workbench's derived values, each under a key.

    Args:
        folder: Where they lie; None keeps them in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._memory: OrderedDict[str, bytes] = OrderedDict()

    async def find(self, key: str) -> dict[str, Any] | None:
        """Return the value of a key, decoded anew, so that the caller may change it."""
        known = self._memory.get(key)
        if known is None and self._folder is not None:
            known = await to_thread.run_sync(_load, self._folder / key)
        if known is None:
            return None
        self._remember(key, known)
        return msgspec.msgpack.decode(known, type=dict[str, Any])

    async def store(self, key: str, value: dict[str, Any], *files: FileRef | None) -> None:
        """Store a plain value under a key; in memory only if it is short.

        Args:
            key: The key.
            value: The value.
            files: What it was derived from.
        """
        data = msgspec.msgpack.encode(value)
        if self._folder is not None and not is_tiny(*files):
            # A cache that cannot be written, on a full disk say, costs time and nothing else.
            with contextlib.suppress(OSError):
                await to_thread.run_sync(_save, self._folder / key, data)
        self._remember(key, data)

    def clear(self) -> None:
        """Clear the memory."""
        self._memory.clear()

    def _remember(self, key: str, data: bytes) -> None:
        if len(data) > MEMORY_BYTES:
            return
        self._memory[key] = data
        self._memory.move_to_end(key)
        if len(self._memory) > MEMORY_ENTRIES:
            self._memory.popitem(last=False)


def drop_derived(folder: Path, blobs: Collection[BlobHash] | None = None) -> None:
    """Remove the files of a cache that are derived from contents: their names have a hash.

    What cannot be removed costs space, nothing else.

    Args:
        folder: The cache's.
        blobs: Only what has the hash of one of these in its name; None for all.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_derived = _HASH.search(entry.name) is not None
            if is_derived if blobs is None else any(blob in entry.name for blob in blobs):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def is_tiny(*files: FileRef | None) -> bool:
    """Return whether what is derived from files is not worth a place on the disk."""
    # The size of some is not known: it is 0 then.
    sizes = [file.size_bytes for file in files if file is not None]
    return bool(sizes) and all(0 < size <= TINY_BYTES for size in sizes)


def cache_key(what: str, owned: Owned[FormatHandler], *files: FileRef | None) -> str:
    """Return a cache key of all that a value depends on; also the name: a suffix can decide."""
    named = [(file.name, file.blob) if file else None for file in files]
    parts = (owned.plugin.name, owned.plugin.version, owned.item.name, *named)
    return f"{what}-{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()}"


def _load(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
        msgspec.msgpack.decode(data, type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return None
    return data


def _save(path: Path, value: bytes) -> None:
    """Write a value beside its place and rename it, so that what exists is complete."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{id(value)}")
    try:
        # Not synced: what a crash leaves half written does not decode, and is made again.
        fresh.write_bytes(value)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


SHELF_CACHE_BYTES = 512 * 1024 * 1024
"""What the shelves of one workbench hold: some 30 sheets of two million cells."""


class ShelfCache:
    """Cache of one workbench's shelves.

    Args:
        folder: Where they lie; made by whoever writes the first.
        limit_bytes: What they hold all together; one larger than this stays until the next is used.
    """

    def __init__(self, folder: Path, limit_bytes: int = SHELF_CACHE_BYTES) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._sizes: dict[Path, int] = {}

    def shelf(self, *owner: str) -> Path:
        """Return the shelf that belongs to something, named by all that it depends on."""
        digest = hashlib.sha256(msgspec.json.encode(owner)).hexdigest()
        return self._folder / digest

    def used(self, shelf: Path) -> None:
        """Note that a shelf was used just now, and drop the oldest if it has made all too large.

        May be called in several threads at once. What cannot be removed costs space, nothing else.
        """
        with contextlib.suppress(OSError):
            size = self._size_bytes(shelf)
            # The time of use lies on the disk, so that it counts for the next daemon as well.
            os.utime(shelf)
            if self._sizes.get(shelf) != size:
                self._sizes[shelf] = size
                self._drop_oldest(shelf)

    def _drop_oldest(self, latest: Path) -> None:
        """Remove shelves, the least recently used first, until the rest fits."""
        aged = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                path = Path(entry.path)
                # Another thread may remove one meanwhile.
                with contextlib.suppress(OSError):
                    aged.append((entry.stat().st_mtime_ns, path, self._size_bytes(path)))
        total = sum(size for _, _, size in aged)
        for _, path, size in sorted(aged):
            if total <= self._limit_bytes:
                return
            if path != latest:
                remove_tree(path)
                self._sizes.pop(path, None)
                total -= size

    def _size_bytes(self, shelf: Path) -> int:
        """Return a shelf's size; one that cannot be measured fills the cache."""
        size = measure_tree(shelf)
        return self._limit_bytes if size is None else size
