"""Search index: its connections, transactions on them, and its update.

Reading takes a connection of its own, so that any number of threads read while one writes, and
each sees the index as it was when its transaction began (SQLite's write-ahead log).

An update reads what is new or changed and removes what is gone. A document is read into a file of
its pieces first, and what was read goes into the index together, a second or two of work at a time:
a reader of the index sees each document as it was or as it is.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from kbd.core.plugins.pieces import TextPiece, read_pieces
from kbd.core.search.documents_table import (
    DocumentEntry,
    find_entry,
    list_entries,
    note_change,
    put_document,
    read_seen_files,
    sync_documents,
    write_seen_files,
)
from kbd.core.search.folder import FileSignature
from kbd.core.search.index_file import IndexFolder, IndexRuined, connected, translate_error
from kbd.core.search.ports import PieceReader, SourceFile
from kbd.core.search.vector_index import VectorIndex
from kbd.errors import DiskFull, FileReadFailed, KbdError, ValidationFailed

__all__ = ["CurrentIndex", "IndexUpdater", "SearchIndex", "UpdateResult"]


MAX_IDLE_CONNECTIONS = 2
"""As many idle connections are kept; each holds up to 6 MB of pages."""


class SearchIndex:
    """An open search index: a pool of connections to its file.

    Args:
        path: Its file, which exists.

    Attributes:
        vectors: Its vectors in memory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._is_closed = False
        self._writing = threading.Lock()
        self.vectors = VectorIndex()

    @property
    def is_current(self) -> bool:
        """Whether its file is still the current one: one that was replaced is removed."""
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
            connection = self._take_connection()
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as fault:
            raise translate_error(fault, self.path.parent) from None
        finally:
            if connection is not None:
                self._return_connection(connection)

    def _take_connection(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connected(self.path)

    def _return_connection(self, connection: sqlite3.Connection) -> None:
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

    def current(self) -> SearchIndex:
        """Return the index, reopened if another process has replaced it.

        Raises:
            ValidationFailed: It is closed.
            KbdError: As for `IndexFolder.opened`.
        """
        with self._lock:
            if self._index is None:
                msg = "the engine is closed"
                raise ValidationFailed(msg)
            if not self._index.is_current:
                self._adopt(self._folder, self._folder.opened())
            return self._index

    def renew(self, ruined: SearchIndex) -> None:
        """Replace a ruined index by an empty one."""
        with self._lock:
            if self._index is ruined:
                self._adopt(self._folder, self._folder.renewed(ruined.path))

    @contextlib.contextmanager
    def replaced_if_ruined(self, index: SearchIndex) -> Iterator[None]:
        """Replace the index if it proves ruined inside, and raise that.

        Raises:
            FileReadFailed: It was ruined; an empty one is in its place.
        """
        try:
            yield
        except IndexRuined:
            self.renew(index)
            msg = "the index was damaged and is made anew: ask again"
            raise FileReadFailed(msg, retryable=True) from None

    def use(self, folder: Path) -> None:
        """Use the index in a folder from now on; if it cannot be opened all stays as it was."""
        other = IndexFolder(folder)
        path = other.opened()
        with self._lock:
            self._adopt(other, path)

    def new_target(self) -> Path:
        """Return a path where the pieces of a document can be written."""
        return self._folder.new_target()

    def close(self) -> None:
        """Close it; a second time does nothing."""
        with self._lock:
            index, self._index = self._index, None
        if index is not None:
            index.close()

    def _adopt(self, folder: IndexFolder, path: Path) -> None:
        if self._index is not None:
            self._index.close()
        self._folder, self._index = folder, SearchIndex(path)


BATCH_DOCUMENTS = 64
BATCH_BYTES = 16 << 20
BATCH_S = 2.0
"""What was read goes into the index when it is as many, as large, or as old as this."""


class UpdateResult(msgspec.Struct, frozen=True):
    """Result of an update.

    Args:
        left: How many documents are still to be read.
        warnings: What is not searched, and why.
    """

    left: int
    warnings: tuple[str, ...] = ()


class _ReadDocument(msgspec.Struct, frozen=True):
    """A document on its way into the index: its pieces lie at `target`, or `reason` says why not.

    Args:
        name: Its name.
        content: The hash of what was read.
        edition: What read it; "" if the next engine is to try again.
        target: Where its pieces are.
        reason: Why there are none; "" if there are.
    """

    name: str
    content: str
    edition: str
    target: Path
    reason: str = ""


class IndexUpdater:
    """Updater of one engine's index; used by one thread at a time.

    Args:
        index: The index.
        reader: Who reads documents.
        most_characters: Where a long text is cut short.
    """

    def __init__(self, index: CurrentIndex, reader: PieceReader, most_characters: int) -> None:
        self._index, self._reader, self._most_characters = index, reader, most_characters
        self._failed: dict[str, tuple[str, str]] = {}
        """What failed for once, by name: the next engine tries it again, this one does not."""

    def is_document(self, name: str) -> bool:
        """Return whether a format reads files of that name."""
        return bool(self._reader.edition(name))

    def signatures(self) -> dict[str, FileSignature]:
        """Return the file signatures of the last listing."""
        with self._index.current().reading() as connection:
            return read_seen_files(connection)

    def list(
        self,
        files: Sequence[SourceFile],
        before: Mapping[str, FileSignature],
        seen: Mapping[str, FileSignature],
    ) -> list[SourceFile]:
        """Synchronize the index's documents with some files; return those to be read.

        Args:
            files: All the documents there are.
            before: What was seen of them before.
            seen: What was seen of them now.
        """
        index = self._index.current()
        with index.reading() as connection:
            known = {entry.name: entry for entry in list_entries(connection)}
        if _differs(files, known) or before != seen:
            with index.writing() as connection:
                # Asked again: another process may have written between the two transactions.
                known = {entry.name: entry for entry in list_entries(connection)}
                # What was seen of files changes no answer, so by itself it does not raise the
                # generation.
                if sync_documents(connection, files, known):
                    note_change(connection)
                write_seen_files(connection, before, seen)
        return [file for file in files if self._is_due(file, known.get(file.name))]

    def read(self, files: Sequence[SourceFile], deadline_s: float | None) -> int:
        """Read documents into the index; return how many are left.

        Args:
            files: Which.
            deadline_s: After so many seconds no other one is begun.

        Raises:
            DiskFull: There is no room; what was read before is kept.
        """
        index = self._index.current()
        begun = flushed = time.monotonic()
        waiting: list[_ReadDocument] = []
        size_bytes = 0
        try:
            for place, file in enumerate(files):
                now = time.monotonic()
                if deadline_s is not None and now - begun >= deadline_s:
                    return len(files) - place
                waiting.append(self._read_document(file))
                size_bytes += _size_bytes(waiting[-1].target)
                is_old = time.monotonic() - flushed >= BATCH_S
                if len(waiting) >= BATCH_DOCUMENTS or size_bytes >= BATCH_BYTES or is_old:
                    done, waiting, size_bytes = waiting, [], 0
                    self._write_batch(index, done)
                    flushed = time.monotonic()
            return 0
        finally:
            # Also when the call is canceled: what was read is kept, and not read again.
            self._write_batch(index, waiting)

    def _is_due(self, file: SourceFile, entry: DocumentEntry | None) -> bool:
        state = file.content, self._edition(file.name)
        if entry is not None and (entry.content, entry.edition) == state:
            return False
        return self._failed.get(file.name) != state

    def _edition(self, name: str) -> str:
        # With the limit: under another one, a document that was cut is due again.
        return f"{self._reader.edition(name)} {self._most_characters}"

    def _read_document(self, file: SourceFile) -> _ReadDocument:
        target = self._index.new_target()
        edition = self._edition(file.name)
        read = _ReadDocument(file.name, file.content, edition, target)
        try:
            self._reader.read(file, target)
        except BaseException as error:
            # Also where the call is canceled: what is on its way then stays nowhere.
            _remove(target)
            if not isinstance(error, KbdError) or isinstance(error, DiskFull):
                raise
            if error.retryable:
                self._failed[file.name] = file.content, edition
                edition = ""
            return msgspec.structs.replace(read, edition=edition, reason=error.message)
        self._failed.pop(file.name, None)
        return read

    def _write_batch(self, index: SearchIndex, done: Sequence[_ReadDocument]) -> None:
        """Write a batch of read documents to the index in one transaction."""
        try:
            if not done:
                return
            with index.writing() as connection:
                for read in done:
                    entry = find_entry(connection, read.name)
                    if entry is None or _is_same(entry, read):
                        # It is gone, or somebody else was as quick.
                        continue
                    fresh = msgspec.structs.replace(
                        entry, content=read.content, edition=read.edition, reason=read.reason
                    )
                    self._write_document(connection, fresh, read)
                note_change(connection)
        finally:
            for read in done:
                _remove(read.target)

    def _write_document(
        self, connection: sqlite3.Connection, entry: DocumentEntry, read: _ReadDocument
    ) -> None:
        if not entry.reason:
            # Pieces that cannot be read undo this document alone, not the others of the batch.
            connection.execute("SAVEPOINT document")
            try:
                put_document(connection, entry, _read_pieces(read), self._most_characters)
            except FileReadFailed as error:
                connection.execute("ROLLBACK TO document")
                entry = msgspec.structs.replace(entry, reason=error.message)
            else:
                connection.execute("RELEASE document")
                return
        put_document(connection, entry, (), self._most_characters)


def _differs(files: Sequence[SourceFile], known: Mapping[str, DocumentEntry]) -> bool:
    """Return whether a list of documents is not that of the index."""
    if len(files) != len(known):
        return True
    for file in files:
        entry = known.get(file.name)
        times = (file.created_at, file.updated_at)
        if entry is None or (entry.created_at, entry.updated_at) != times:
            return True
    return False


def _is_same(entry: DocumentEntry, read: _ReadDocument) -> bool:
    state = entry.content, entry.edition, entry.reason
    return bool(read.edition) and state[:2] == (read.content, read.edition)


def _read_pieces(read: _ReadDocument) -> Iterator[TextPiece]:
    """Yield the pieces that a reader wrote.

    Raises:
        FileReadFailed: It wrote something else, or nothing.
    """
    try:
        yield from read_pieces(read.target)
    except (OSError, ValueError):
        msg = f"the text of {read.name} was not written as pieces"
        raise FileReadFailed(msg) from None


def _size_bytes(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
