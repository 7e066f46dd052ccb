"""The copies of what landed: kept while a landing needs them, and swept then.

A copy is durable before its landing is recorded, so for a moment nothing says that it is needed:
`Copies.taking` keeps sweeping away meanwhile.
"""

import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kbd.events.blobs import BlobStore

__all__ = ["Copies", "remove_folders", "strange_folders"]


class Copies:
    """The copies of one watch; one object for each watch, as long as anything is taken or swept.

    Args:
        folder: Where they lie.

    Attributes:
        store: The copies.
    """

    def __init__(self, folder: Path) -> None:
        self.store = BlobStore(folder)
        self._folder = folder
        self._door = anyio.Lock()
        self._taking = 0

    @asynccontextmanager
    async def taking(self) -> AsyncIterator[BlobStore]:
        """Hold this while a copy is made, until its landing is recorded; several may."""
        async with self._door:
            self._taking += 1
        try:
            yield self.store
        finally:
            self._taking -= 1

    async def sweep(self, needed: Callable[[], AbstractSet[str]]) -> bool:
        """Remove all copies but the needed ones, and what a process that died was making.

        Args:
            needed: Returns the hashes of those; asked while nothing is taken.

        Returns:
            Whether that was done. It is not while copies are taken: that may take as long as a
            disk that hangs, and no other file is to wait for it.
        """
        async with self._door:
            if self._taking:
                return False
            await run_sync(self._sweep, frozenset(needed()))
            return True

    def _sweep(self, needed: frozenset[str]) -> None:
        if not needed:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        self.store.sweep()
        for path in self._folder.glob("[0-9a-f][0-9a-f]/*"):
            if path.name not in needed:
                path.unlink(missing_ok=True)


def strange_folders(landings: Path, known: AbstractSet[str]) -> tuple[Path, ...]:
    """Return what lies beside the folders of known watches. Blocking."""
    return tuple(path for path in landings.glob("*") if path.name not in known)


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove folders of copies. Blocking."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
