"""Tables of documents and their pieces in an index: queries, insertion, removal.

Every function works on a connection within a transaction of the caller's.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from kbd.core.plugins.pieces import TextPiece
from kbd.core.search.folder import FileSignature
from kbd.core.search.ports import SourceFile
from kbd.core.search.tokenizer import index_terms

__all__ = [
    "NOT_READ",
    "NO_TEXT",
    "DocumentEntry",
    "IndexCounts",
    "StoredPiece",
    "count_contents",
    "document_id",
    "document_text",
    "find_entry",
    "generation",
    "list_entries",
    "note_change",
    "piece_places",
    "piece_title",
    "put_document",
    "read_pieces",
    "read_seen_files",
    "sync_documents",
    "text_hash",
    "unread_documents",
    "write_seen_files",
]

HASH_BYTES = 16
MAX_KEYS_PER_STATEMENT = 500
"""As many pieces are in memory at a time while they are put in, or named in one statement."""

NOT_READ = "it has not been read yet"
NO_TEXT = "it has no text"

_INSERT_WORDS = "INSERT INTO words(rowid, title, body) VALUES (?, ?, ?)"
_DELETE_WORDS = "INSERT INTO words(words, rowid, title, body) VALUES ('delete', ?, ?, ?)"
_INSERT_PIECE = "INSERT INTO pieces VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class DocumentEntry(msgspec.Struct, frozen=True):
    """Row of a document in the index.

    Args:
        key: Its row id.
        doc_id: Its id.
        name: Its name.
        content: The hash of what was read of it, or of what could not be read.
        edition: What read it; "" if it is to be read.
        reason: Why not all of its text is in the index, "" if it is.
        created_at: In seconds since 1970 UTC.
        updated_at: Likewise.
    """

    key: int
    doc_id: str
    name: str
    content: str
    edition: str
    reason: str
    created_at: float
    updated_at: float


class StoredPiece(msgspec.Struct, frozen=True):
    """A stored piece, with its document's name and id."""

    key: int
    doc_id: str
    name: str
    position: int
    place: str
    line_start: int
    line_end: int
    region: str
    text: str


class IndexCounts(msgspec.Struct, frozen=True):
    """Sizes of an index."""

    documents: int = 0
    pieces: int = 0


def document_id(name: str) -> str:
    """Return the id of a document: 16 hex digits by its name."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def piece_title(name: str, place: str, heading: str) -> str:
    """Return the title of a piece, for the search by words."""
    return f"{name} {place} {heading}"


def text_hash(text: str) -> bytes:
    """Return the key of a text's vector."""
    return hashlib.sha256(text.encode()).digest()[:HASH_BYTES]


def list_entries(connection: sqlite3.Connection) -> list[DocumentEntry]:
    """Return all documents, sorted by name."""
    return [
        DocumentEntry(*row) for row in connection.execute("SELECT * FROM documents ORDER BY name")
    ]


def find_entry(connection: sqlite3.Connection, name: str) -> DocumentEntry | None:
    """Return the document with a name, None if there is none."""
    row = connection.execute("SELECT * FROM documents WHERE name = ?", (name,)).fetchone()
    return None if row is None else DocumentEntry(*row)


def sync_documents(
    connection: sqlite3.Connection, files: Iterable[SourceFile], known: Mapping[str, DocumentEntry]
) -> int:
    """Synchronize the list of documents with some files; return how many rows changed.

    What is new is listed as still to be read, what is gone goes with all its pieces, and what has
    changed keeps them until it has been read again.

    Args:
        connection: Within a transaction.
        files: All that are documents.
        known: The documents of the index, by name.
    """
    there = {file.name: file for file in files}
    changes = 0
    for name, entry in known.items():
        if name not in there:
            _drop_pieces(connection, entry)
            connection.execute("DELETE FROM documents WHERE id = ?", (entry.key,))
            changes += 1
    for name, file in there.items():
        at = known.get(name)
        times = (file.created_at, file.updated_at)
        if at is None:
            # No content and no edition: no file is in that state, so the next update finds it due.
            row = (document_id(name), name, "", "", NOT_READ, *times)
            connection.execute("INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)
        elif (at.created_at, at.updated_at) != times:
            update = "UPDATE documents SET created_at = ?, updated_at = ? WHERE id = ?"
            connection.execute(update, (*times, at.key))
        else:
            continue
        changes += 1
    return changes


def put_document(
    connection: sqlite3.Connection,
    entry: DocumentEntry,
    pieces: Iterable[TextPiece],
    most_characters: int,
) -> None:
    """Replace a document's pieces in the index by what was read of it.

    Args:
        connection: Within a transaction.
        entry: The document, as it is to be.
        pieces: All of it; they may come from a file.
        most_characters: Where its text was cut short, if it is as long as this.
    """
    _drop_pieces(connection, entry)
    (key,) = connection.execute("SELECT ifnull(max(id), 0) FROM pieces").fetchone()
    # Ids of pieces are never given twice: a table of vectors in memory goes by them.
    given = "SELECT seq FROM sqlite_sequence WHERE name = 'pieces'"
    key = max(key, *(connection.execute(given).fetchone() or (0,)))
    position = characters = 0
    waiting = iter(pieces)
    while some := list(islice(waiting, MAX_KEYS_PER_STATEMENT)):
        rows, words = [], []
        for piece in some:
            key += 1
            characters += len(piece.text)
            region = msgspec.json.encode(piece.region).decode()
            lines = piece.line_start, piece.line_end
            at = (key, entry.key, position, text_hash(piece.text), piece.place)
            rows.append((*at, *lines, region, piece.text, piece.heading))
            title = piece_title(entry.name, piece.place, piece.heading)
            words.append((key, *index_terms(title, piece.text)))
            position += 1
        connection.executemany(_INSERT_PIECE, rows)
        connection.executemany(_INSERT_WORDS, words)
    reason = entry.reason
    if not reason and not position:
        reason = NO_TEXT
    elif not reason and characters >= most_characters:
        reason = f"only its first {most_characters:,} characters are searched"
    update = "UPDATE documents SET content = ?, edition = ?, reason = ? WHERE id = ?"
    connection.execute(update, (entry.content, entry.edition, reason, entry.key))


def count_contents(connection: sqlite3.Connection) -> IndexCounts:
    """Count documents and pieces of the index."""
    query = "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM pieces)"
    return IndexCounts(*connection.execute(query).fetchone())


def generation(connection: sqlite3.Connection) -> int:
    """Return a number that goes up with whatever changes a search."""
    query = "SELECT value FROM meta WHERE key = 'generation'"
    return int(connection.execute(query).fetchone()[0])


def note_change(connection: sqlite3.Connection) -> None:
    """Raise the generation: a search may find something else from now on."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def document_text(connection: sqlite3.Connection, doc_id: str) -> str | None:
    """Return all text of a document; None if it is unknown, or none of it could be read."""
    query = (
        "SELECT text FROM pieces JOIN documents ON document = documents.id"
        " WHERE doc_id = ? ORDER BY position"
    )
    parts = [text for (text,) in connection.execute(query, (doc_id,))]
    if parts:
        return "".join(parts)
    is_read = connection.execute(
        "SELECT 1 FROM documents WHERE doc_id = ? AND reason IN ('', ?)", (doc_id, NO_TEXT)
    ).fetchone()
    return "" if is_read else None


def read_pieces(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, StoredPiece]:
    """Return pieces by their row ids; those that are gone are left out."""
    query = (
        "SELECT pieces.id, doc_id, name, position, place, line_start, line_end, region, text"
        " FROM pieces JOIN documents ON document = documents.id WHERE pieces.id IN ({})"
    )
    return {row[0]: StoredPiece(*row) for row in _rows_of(connection, query, keys)}


def unread_documents(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Return id, name and reason of each document not all of whose text is there, by name."""
    query = "SELECT doc_id, name, reason FROM documents WHERE reason != '' ORDER BY name"
    return connection.execute(query).fetchall()


def read_seen_files(connection: sqlite3.Connection) -> dict[str, FileSignature]:
    """Read the stored file signatures of a folder, by name."""
    return {name: FileSignature(*row) for name, *row in connection.execute("SELECT * FROM seen")}


def write_seen_files(
    connection: sqlite3.Connection,
    before: Mapping[str, FileSignature],
    seen: Mapping[str, FileSignature],
) -> None:
    """Store the file signatures of a folder.

    Args:
        connection: Within a transaction.
        before: What was kept before.
        seen: What is to be kept.
    """
    gone = [(name,) for name in before if name not in seen]
    connection.executemany("DELETE FROM seen WHERE name = ?", gone)
    fresh = [
        (name, at.signature, at.content) for name, at in seen.items() if before.get(name) != at
    ]
    connection.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", fresh)


def piece_places(connection: sqlite3.Connection, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Return document name and position of pieces, by their row ids."""
    query = (
        "SELECT pieces.id, name, position FROM pieces JOIN documents ON document = documents.id"
        " WHERE pieces.id IN ({})"
    )
    return {key: (name, at) for key, name, at in _rows_of(connection, query, keys)}


def _rows_of(connection: sqlite3.Connection, query: str, keys: Sequence[int]) -> Iterator[Any]:
    """Yield the rows of a query that names some keys, a statement's worth at a time."""
    for begin in range(0, len(keys), MAX_KEYS_PER_STATEMENT):
        # SQLite bounds the parameters of one statement.
        some = keys[begin : begin + MAX_KEYS_PER_STATEMENT]
        yield from connection.execute(query.format(", ".join("?" * len(some))), tuple(some))


def _drop_pieces(connection: sqlite3.Connection, entry: DocumentEntry) -> None:
    query = "SELECT id, place, heading, text FROM pieces WHERE document = ?"
    rows = connection.execute(query, (entry.key,))
    while some := rows.fetchmany(MAX_KEYS_PER_STATEMENT):
        # The index of words keeps no text: it is told what it was given.
        words = [
            (key, *index_terms(piece_title(entry.name, place, heading), text))
            for key, place, heading, text in some
        ]
        connection.executemany(_DELETE_WORDS, words)
    connection.execute("DELETE FROM pieces WHERE document = ?", (entry.key,))
