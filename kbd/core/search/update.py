"""Update of a search index: reads what is new or changed, removes what is gone.

A document is read into a file of its pieces first, and what was read goes into the index together,
a second or two of work at a time: a reader of the index sees each document as it was or as it is.
"""

import contextlib
import sqlite3
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
from kbd.core.search.index import CurrentIndex, SearchIndex
from kbd.core.search.ports import PieceReader, SourceFile
from kbd.errors import DiskFull, FileReadFailed, KbdError

__all__ = ["IndexUpdater", "UpdateResult"]

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

    def seen(self) -> dict[str, FileSignature]:
        """Return the file signatures of the last listing."""
        with self._index.held().reading() as connection:
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
        index = self._index.held()
        with index.reading() as connection:
            known = {entry.name: entry for entry in list_entries(connection)}
        if _differs(files, known) or before != seen:
            with index.writing() as connection:
                known = {entry.name: entry for entry in list_entries(connection)}
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
        index = self._index.held()
        begun = flushed = time.monotonic()
        waiting: list[_ReadDocument] = []
        size_bytes = 0
        try:
            for place, file in enumerate(files):
                now = time.monotonic()
                if deadline_s is not None and now - begun >= deadline_s:
                    return len(files) - place
                waiting.append(self._read_one(file))
                size_bytes += _size_bytes(waiting[-1].target)
                is_old = time.monotonic() - flushed >= BATCH_S
                if len(waiting) >= BATCH_DOCUMENTS or size_bytes >= BATCH_BYTES or is_old:
                    done, waiting, size_bytes = waiting, [], 0
                    self._put(index, done)
                    flushed = time.monotonic()
            return 0
        finally:
            self._put(index, waiting)

    def _is_due(self, file: SourceFile, entry: DocumentEntry | None) -> bool:
        state = file.content, self._edition(file.name)
        if entry is not None and (entry.content, entry.edition) == state:
            return False
        return self._failed.get(file.name) != state

    def _edition(self, name: str) -> str:
        return f"{self._reader.edition(name)} {self._most_characters}"

    def _read_one(self, file: SourceFile) -> _ReadDocument:
        target = self._index.new_target()
        edition = self._edition(file.name)
        read = _ReadDocument(file.name, file.content, edition, target)
        try:
            self._reader.read(file, target)
        except BaseException as error:
            # Also where the call is cancelled: what is on its way then stays nowhere.
            _remove(target)
            if not isinstance(error, KbdError) or isinstance(error, DiskFull):
                raise
            if error.retryable:
                self._failed[file.name] = file.content, edition
                edition = ""
            return msgspec.structs.replace(read, edition=edition, reason=error.message)
        self._failed.pop(file.name, None)
        return read

    def _put(self, index: SearchIndex, done: Sequence[_ReadDocument]) -> None:
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
                    self._put_one(connection, fresh, read)
                note_change(connection)
        finally:
            for read in done:
                _remove(read.target)

    def _put_one(
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
        msg = f"The text of {read.name} was not written as pieces."
        raise FileReadFailed(msg) from None


def _size_bytes(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
