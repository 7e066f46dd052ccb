"""What formats keep beside a file's bytes: a folder for each content, within a size all together.

A shelf is a cache: whatever of it is lost is made anew by whoever wants it again. So the least
recently used go when all are too large, without asking whether a call is reading them.
"""

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

import msgspec

__all__ = ["Shelves"]

SHELVES_BYTES = 512 * 1024 * 1024
"""What the shelves of one workbench hold: some 30 sheets of two million cells."""


class Shelves:
    """The shelves of one workbench.

    Args:
        folder: Where they lie; made by whoever writes the first.
        limit_bytes: What they hold all together; one larger than this stays until the next is used.
    """

    def __init__(self, folder: Path, limit_bytes: int = SHELVES_BYTES) -> None:
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
            size = _size_bytes(shelf)
            os.utime(shelf)
            if self._sizes.get(shelf) != size:
                self._sizes[shelf] = size
                self._drop_oldest(shelf)

    def _drop_oldest(self, latest: Path) -> None:
        """Remove shelves, the least recently used first, until the rest fits."""
        aged = []
        for entry in os.scandir(self._folder):
            path = Path(entry.path)
            # Another thread may remove one meanwhile.
            with contextlib.suppress(OSError):
                aged.append((entry.stat().st_mtime_ns, path, _size_bytes(path)))
        total = sum(size for _, _, size in aged)
        for _, path, size in sorted(aged):
            if total <= self._limit_bytes:
                return
            if path != latest:
                shutil.rmtree(path, ignore_errors=True)
                self._sizes.pop(path, None)
                total -= size


def _size_bytes(folder: Path) -> int:
    return sum(entry.stat().st_size for entry in os.scandir(folder))
