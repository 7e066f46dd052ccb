"""Open search index: its connections, and transactions on them.

Reading takes a connection of its own, so that any number of threads read while one writes, and
each sees the index as it was when its transaction began (SQLite's write-ahead log).
"""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from kbd.core.search.index_file import IndexFolder, IndexRuined, connected, translate_error
from kbd.core.search.vector_index import VectorIndex
from kbd.errors import FileReadFailed, ValidationFailed

__all__ = ["CurrentIndex", "SearchIndex"]

MAX_IDLE_CONNECTIONS = 2
"""As many idle connections are kept; each holds up to 6 MB of pages."""


class SearchIndex:
    """An open search index: a pool of connections to its file.

    Args:
        path: Its file, which exists.

    Attributes:
        meanings: Its vectors in memory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._writing = threading.Lock()
        self.meanings = VectorIndex()

    @property
    def is_there(self) -> bool:
        """Whether its file still has its name: it loses it to the one that takes its place."""
        return self.path.exists()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a read transaction: it sees one state of the index throughout.

        Raises:
            IndexRuined: The file cannot be read as an index.
            KbdError: It cannot be read now.
        """
        with self._transaction("BEGIN DEFERRED") as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction: all its changes are committed at the end, or none.

        Raises:
            DiskFull: There is no room for them.
            IndexRuined: As for `reading`.
            KbdError: It cannot be written now.
        """
        # Threads wait here, other processes at BEGIN IMMEDIATE.
        with self._writing, self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        """Close the idle connections; one in use is closed when its transaction ends."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        connection: sqlite3.Connection | None = None
        try:
            connection = self._taken()
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as fault:
            raise translate_error(fault, self.path.parent) from None
        finally:
            if connection is not None:
                self._give_back(connection)

    def _taken(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connected(self.path)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        is_sound = True
        if connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except sqlite3.Error:
                # Some failures have rolled back by themselves, others leave it unusable.
                is_sound = not connection.in_transaction
        with self._lock:
            if is_sound and not self._is_closed and len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()


class CurrentIndex:
    """Reference to the index that an engine uses now: it may be replaced by another file or folder.

    Args:
        folder: Where it is, or will be.

    Raises:
        KbdError: As for `IndexFolder.opened`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = IndexFolder(folder)
        self._index: SearchIndex | None = SearchIndex(self._folder.opened())
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        """The folder."""
        return self._folder.folder

    def held(self) -> SearchIndex:
        """Return the index, reopened if another process has replaced it.

        Raises:
            ValidationFailed: It is closed.
            KbdError: As for `IndexFolder.opened`.
        """
        with self._lock:
            if self._index is None:
                msg = "The engine is closed."
                raise ValidationFailed(msg)
            if not self._index.is_there:
                self._take(self._folder, self._folder.opened())
            return self._index

    def renew(self, ruined: SearchIndex) -> None:
        """Replace a ruined index by an empty one."""
        with self._lock:
            if self._index is ruined:
                self._take(self._folder, self._folder.renewed(ruined.path))

    @contextlib.contextmanager
    def mended(self, index: SearchIndex) -> Iterator[None]:
        """Replace the index if it proves ruined inside, and raise that.

        Raises:
            FileReadFailed: It was ruined; an empty one is in its place.
        """
        try:
            yield
        except IndexRuined:
            self.renew(index)
            msg = "The index was damaged and is made anew: ask again."
            raise FileReadFailed(msg, retryable=True) from None

    def use(self, folder: Path) -> None:
        """Use the index in a folder from now on; if it cannot be opened all stays as it was."""
        other = IndexFolder(folder)
        path = other.opened()
        with self._lock:
            self._take(other, path)

    def new_target(self) -> Path:
        """Return a path where the pieces of a document can be written."""
        return self._folder.new_target()

    def close(self) -> None:
        """Close it; a second time does nothing."""
        with self._lock:
            index, self._index = self._index, None
        if index is not None:
            index.close()

    def _take(self, folder: IndexFolder, path: Path) -> None:
        if self._index is not None:
            self._index.close()
        self._folder, self._index = folder, SearchIndex(path)
