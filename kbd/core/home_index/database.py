"""Database of the index: a row a workbench and a row a run, in SQLite.

The logs are the authority, and this file may be deleted at any time. One that is damaged, of
another kbd, or cannot be written is replaced by an empty one, in memory where the disk takes none.
All blocks, and one thread at a time may use it.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

import msgspec

from kbd import __version__
from kbd.core.domain.daemon_state import ArchivedCopy, KnownWorkbench
from kbd.core.domain.workbench_state import folded_name
from kbd.core.home_index.queries import ListQuery
from kbd.core.home_index.rows import IndexedWorkbench, archive_mark, unread_workbench
from kbd.events.codec import format_time
from kbd.requests.pages import encode_cursor
from kbd.requests.workbenches import WorkbenchRow
from kbd.requests.workshop import RunRow
from kbd.types import Seq, WatchId, WorkbenchId

__all__ = [
    "FoundPage",
    "HomeCensus",
    "HomeIndex",
    "IndexTotals",
    "IndexWrite",
    "remove_index",
    "transaction",
    "unreadable_workbenches",
]

_SCHEMA = """
CREATE TABLE meta(edition TEXT NOT NULL);
CREATE TABLE workbenches(
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    created_at_us INTEGER NOT NULL,
    updated_at_us INTEGER NOT NULL,
    status TEXT NOT NULL,
    has_draft INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    disk_bytes INTEGER NOT NULL,
    log_bytes INTEGER NOT NULL,
    blob_bytes INTEGER NOT NULL,
    published_bytes INTEGER NOT NULL,
    hold TEXT NOT NULL,
    seen_by TEXT NOT NULL,
    settled_at_us INTEGER NOT NULL,
    text TEXT NOT NULL,
    mark BLOB NOT NULL DEFAULT x'',
    row BLOB NOT NULL,
    checksum INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX by_creation ON workbenches(created_at_us, id);
CREATE INDEX by_change ON workbenches(updated_at_us, id);
CREATE INDEX by_name ON workbenches(folded_name, id);
CREATE INDEX by_size ON workbenches(disk_bytes, id);
CREATE INDEX by_settling ON workbenches(settled_at_us, id);
CREATE INDEX by_status ON workbenches(status, has_draft, disk_bytes);
CREATE TABLE files(
    workbench_id TEXT NOT NULL,
    name TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workbench_id, name)
) WITHOUT ROWID;
CREATE INDEX files_by_name ON files(name);
CREATE TABLE origins(workbench_id TEXT PRIMARY KEY, watch_id TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX by_watch ON origins(watch_id);
CREATE TABLE runs(
    workbench_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    started_at_us INTEGER NOT NULL,
    status TEXT NOT NULL,
    cost REAL NOT NULL,
    text TEXT NOT NULL,
    row BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workbench_id, number)
) WITHOUT ROWID;
CREATE INDEX by_start ON runs(started_at_us, workbench_id, number);
CREATE INDEX by_cost ON runs(cost, started_at_us, workbench_id, number);
CREATE INDEX runs_by_status ON runs(status, started_at_us, workbench_id, number);
CREATE TABLE approvals(
    workbench_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    asked_at_us INTEGER NOT NULL,
    row BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (workbench_id, number)
) WITHOUT ROWID;
"""

_COLUMNS = MappingProxyType(
    {
        "workbenches": (
            "id", "name", "folded_name", "created_at_us", "updated_at_us", "status", "has_draft",
            "seq", "disk_bytes", "log_bytes", "blob_bytes", "published_bytes", "hold", "seen_by",
            "settled_at_us", "text", "row",
        ),
        "runs": ("workbench_id", "number", "started_at_us", "status", "cost", "text", "row"),
        "files": ("workbench_id", "name"),
        "approvals": ("workbench_id", "number", "asked_at_us", "row"),
    }
)  # fmt: skip
"""The columns of each table that its rows' checksums are over."""

_CACHE_KIB = 8192
"""What SQLite keeps of the file in memory: the same for a hundred workbenches and for all."""


class FoundPage(msgspec.Struct, frozen=True):
    """A page of a list.

    Args:
        rows: How each row stands, and the row as JSON.
        total: How many match the filters.
        next_cursor: Where the next page begins; UNSET behind the last.
    """

    rows: tuple[tuple[str, bytes], ...]
    total: int
    next_cursor: str | msgspec.UnsetType


class IndexTotals(msgspec.Struct, frozen=True):
    """What is true of all workbenches together: how many there are, in which state; their size."""

    drafts: int
    damaged: int
    unread: int
    disk_bytes: int


class HomeCensus(msgspec.Struct, frozen=True):
    """Census of a home: how many there are of what.

    Args:
        workbenches: How many, by status.
        runs: How many, by status.
        approvals: Decisions that wait for a person.
        events: Events of the logs of all workbenches.
        disk_bytes: What their folders take.
    """

    workbenches: dict[str, int]
    runs: dict[str, int]
    approvals: int
    events: int
    disk_bytes: int


IndexWrite = Callable[["HomeIndex"], None]
"""Writes something into the index."""


class HomeIndex:
    """The index, open. Made by `HomeIndex.open`.

    Args:
        connection: To its database, whose tables are there.
        path: Its file; None if it is in memory.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self._connection, self._path = connection, path
        self._totals: IndexTotals | None = None

    @classmethod
    def open(cls, path: Path) -> "HomeIndex":
        """Open the index of a home; an empty one if there is none that can be used.

        Args:
            path: Its file.
        """
        for _ in range(2):
            with contextlib.suppress(sqlite3.Error, OSError):
                return cls(_connect(path), path)
            remove_index(path)
        # A disk that takes no file has taken the logs: the lists work on, until the daemon ends.
        return cls.in_memory()

    @classmethod
    def in_memory(cls) -> "HomeIndex":
        """Open an empty index of which nothing is left when it is closed."""
        return cls(_create(sqlite3.connect(":memory:", **_OPTIONS)), None)

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def is_sound(self) -> bool:
        """Return whether the file is sound; it is read whole, beside whoever uses the index.

        SQLite has no checksums: a byte that changed within a row is found by those of the rows.
        """
        if self._path is None:
            return True
        try:
            with contextlib.closing(sqlite3.connect(self._path)) as connection:
                # Not quick_check, which does not compare what is sorted by with the rows.
                is_whole = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
                return is_whole and all(_are_sound(connection, table) for table in _COLUMNS)
        except (sqlite3.Error, OSError, ValueError):
            return False

    def reconcile(self, known: Sequence[KnownWorkbench]) -> int:
        """Have a row for each workbench that there is and for no other; new ones are unread.

        Returns:
            How many are new.
        """
        ids = {each.workbench_id for each in known}
        with self._transaction() as execute:
            there = {row[0] for row in execute("SELECT id FROM workbenches")}
            self._remove(there - ids)
            new = [unread_workbench(each) for each in known if each.workbench_id not in there]
            self._put(new)
            # What was found damaged or mended since a row was written does not show in its log.
            execute("UPDATE workbenches SET mark = x'' WHERE status = 'damaged'")
            for each in known:
                if each.damage:
                    self._mark(each.workbench_id, b"")
        return len(new)

    def write(self, writes: Iterable[IndexWrite]) -> None:
        """Do several writes in one transaction: a page that all of them change is written once."""
        with self._transaction():
            for write in writes:
                write(self)

    def put(self, rows: Iterable[IndexedWorkbench]) -> None:
        """Replace the rows of workbenches by new ones."""
        with self._transaction():
            self._put(rows)

    def relist(self, created: Iterable[KnownWorkbench], deleted: Iterable[WorkbenchId]) -> None:
        """Add rows of workbenches that were created, and remove those of others.

        Of those that are there already nothing changes.
        """
        with self._transaction() as execute:
            for each in created:
                query = "SELECT 1 FROM workbenches WHERE id = ?"
                if execute(query, (each.workbench_id,)).fetchone() is None:
                    self._put([unread_workbench(each)])
            self._remove(deleted)

    def mark(self, workbench_id: WorkbenchId, mark: bytes) -> None:
        """Set the fingerprint of a log; empty while it is open."""
        with self._transaction():
            self._mark(workbench_id, mark)

    def fail(self, workbench_id: WorkbenchId, reason: str) -> None:
        """Set why a workbench cannot be opened, though its log may be whole."""
        with self._transaction():
            changes = {"status": "damaged", "reason": reason, "is_read_only": True}
            self._change_row(workbench_id, changes)

    def archive(self, archived: Mapping[WorkbenchId, ArchivedCopy]) -> None:
        """Set that workbenches are packed: their rows stay, for their logs say what they said."""
        with self._transaction():
            for workbench_id, copy in archived.items():
                archived_at = format_time(copy.archived_at_us)
                changes = {"disk_bytes": copy.size_bytes, "archived_at": archived_at}
                self._change_row(workbench_id, {"status": "archived", **changes})
                self._mark(workbench_id, archive_mark(copy, copy.size_bytes))

    def assign(self, watches: dict[WorkbenchId, WatchId]) -> None:
        """Set by which watches workbenches are made; it may be before they are."""
        with self._transaction():
            self._connection.executemany(
                "INSERT OR REPLACE INTO origins(workbench_id, watch_id) VALUES (?, ?)",
                list(watches.items()),
            )

    def marks(self) -> dict[WorkbenchId, bytes]:
        """Return the fingerprints of all logs; empty of those that are open or were not read."""
        return dict(self._connection.execute("SELECT id, mark FROM workbenches").fetchall())

    def ends(self) -> dict[WorkbenchId, Seq]:
        """Return the last events of the logs that were read."""
        query = "SELECT id, seq FROM workbenches WHERE status != 'unread'"
        return dict(self._connection.execute(query).fetchall())

    def closed_ends(self, workbench_ids: Sequence[WorkbenchId]) -> dict[WorkbenchId, Seq]:
        """Return the last events of some logs, by the rows of those that were closed in order."""
        query = "SELECT seq FROM workbenches WHERE id = ? AND length(mark) > 0"
        found = (
            (each, self._connection.execute(query, (each,)).fetchone()) for each in workbench_ids
        )
        return {each: row[0] for each, row in found if row is not None}

    def approvals(self) -> tuple[bytes, ...]:
        """Return the decisions that wait for a person, as JSON, oldest first."""
        columns = ", ".join(_COLUMNS["approvals"])
        query = (
            f"SELECT {columns}, checksum FROM approvals ORDER BY asked_at_us, workbench_id, number"
        )
        return tuple(_checked(row)[-1] for row in self._connection.execute(query))

    def page(self, query: ListQuery) -> FoundPage:
        """Return a page of a list."""
        sql, values = query.count_sql()
        (total,) = self._connection.execute(sql, values).fetchone()
        columns = _COLUMNS[query.table]
        sql, values = query.page_sql(", ".join((*columns, "checksum")))
        found = self._connection.execute(sql, values).fetchall()
        cursor: str | msgspec.UnsetType = msgspec.UNSET
        if query.limit >= 0 and len(found) > query.limit:
            found = found[: query.limit]
            cursor = encode_cursor(query.of, tuple(found[-1][: len(query.key)]))
        rows = [_checked(row[len(query.key) :]) for row in found]
        status = columns.index("status")
        return FoundPage(tuple((row[status], row[-1]) for row in rows), total, cursor)

    def totals(self) -> IndexTotals:
        """Return what is true of all workbenches together."""
        query = (
            "SELECT COALESCE(SUM(has_draft), 0), COALESCE(SUM(status = 'damaged'), 0),"
            " COALESCE(SUM(status = 'unread'), 0), COALESCE(SUM(disk_bytes), 0) FROM workbenches"
        )
        # Each list asks, and most rows are as they were at the one before.
        if self._totals is None:
            self._totals = IndexTotals(*self._connection.execute(query).fetchone())
        return self._totals

    def census(self) -> HomeCensus:
        """Return how many there are of what."""
        execute = self._connection.execute
        sums = "SELECT COALESCE(SUM(seq), 0), COALESCE(SUM(disk_bytes), 0) FROM workbenches"
        events, disk_bytes = execute(sums).fetchone()
        return HomeCensus(
            dict(execute("SELECT status, COUNT(*) FROM workbenches GROUP BY status").fetchall()),
            dict(execute("SELECT status, COUNT(*) FROM runs GROUP BY status").fetchall()),
            execute("SELECT COUNT(*) FROM approvals").fetchone()[0],
            events,
            disk_bytes,
        )

    def read(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement that reads; another subject has its own beside this."""
        return self._connection.execute(sql, values).fetchall()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        """Begin a transaction: all that is written inside is there, or nothing of it.

        One within another is a part of it.
        """
        if self._connection.in_transaction:
            yield self._connection.execute
            return
        self._totals = None
        with transaction(self._connection) as execute:
            yield execute

    def _put(self, rows: Iterable[IndexedWorkbench]) -> None:
        execute = self._connection.execute
        for each in rows:
            self._put_workbench(each)
            for table in ("approvals", *(("runs",) if each.is_whole else ())):
                execute(f"DELETE FROM {table} WHERE workbench_id = ?", (each.workbench_id,))
            for number, approval in enumerate(each.approvals):
                self._insert(
                    "approvals", each.workbench_id, number, approval.asked_at_us, approval.row
                )
            for run in each.runs:
                self._insert(
                    "runs", each.workbench_id, run.number, run.started_at_us, run.status,
                    float(run.cost), run.text, run.row,
                )  # fmt: skip

    def _put_workbench(self, row: IndexedWorkbench) -> None:
        """Write a workbench's own row and its files', and of both no more than has changed.

        What is sorted by a column lies in pages of its own, and of one that is closed mostly the
        size alone is another.
        """
        execute, key = self._connection.execute, (row.workbench_id,)
        columns = _COLUMNS["workbenches"]
        values = (
            row.workbench_id, row.name, folded_name(row.name), row.created_at_us,
            row.updated_at_us, row.status, int(row.has_draft), row.seq, row.sizes.total,
            row.sizes.log, row.sizes.blobs, row.sizes.published,
            row.settling.hold or "", row.settling.seen_by, row.settling.since_us,
            row.text, row.row,
        )  # fmt: skip
        query = f"SELECT {', '.join(columns)} FROM workbenches WHERE id = ?"
        found = execute(query, key).fetchone()
        if found is None:
            self._insert("workbenches", *values)
        else:
            named = zip(columns, values, found, strict=True)
            changed = {name: value for name, value, before in named if value != before}
            changed["checksum"] = _checksum(values)
            assigned = ", ".join(f"{name} = ?" for name in changed)
            execute(f"UPDATE workbenches SET {assigned} WHERE id = ?", (*changed.values(), *key))
        self._mark(row.workbench_id, row.mark)
        files = [(row.workbench_id, name) for name in row.files]
        query = "SELECT workbench_id, name, checksum FROM files WHERE workbench_id = ?"
        if sorted(execute(query, key)) != sorted((*each, _checksum(each)) for each in files):
            execute("DELETE FROM files WHERE workbench_id = ?", key)
            for file in files:
                self._insert("files", *file)

    def _insert(self, table: str, *values: Any) -> None:
        """Insert a row with its checksum, in the place of one with the same key."""
        named, holes = ", ".join(_COLUMNS[table]), ", ".join("?" * len(values))
        sql = f"INSERT OR REPLACE INTO {table}({named}, checksum) VALUES ({holes}, ?)"
        self._connection.execute(sql, (*values, _checksum(values)))

    def _change_row(self, workbench_id: WorkbenchId, changes: Mapping[str, Any]) -> None:
        """Change the status or the size of a workbench, or what only the answer shows."""
        execute = self._connection.execute
        query = "SELECT row FROM workbenches WHERE id = ?"
        found = execute(query, (workbench_id,)).fetchone()
        if found is None:
            return
        row = msgspec.structs.replace(msgspec.json.decode(found[0], type=WorkbenchRow), **changes)
        update = "UPDATE workbenches SET status = ?, disk_bytes = ?, row = ? WHERE id = ?"
        execute(update, (row.status, row.disk_bytes, msgspec.json.encode(row), workbench_id))
        query = f"SELECT {', '.join(_COLUMNS['workbenches'])} FROM workbenches WHERE id = ?"
        values = execute(query, (workbench_id,)).fetchone()
        update = "UPDATE workbenches SET checksum = ? WHERE id = ?"
        execute(update, (_checksum(values), workbench_id))

    def _mark(self, workbench_id: WorkbenchId, mark: bytes) -> None:
        sql = "UPDATE workbenches SET mark = ? WHERE id = ?"
        self._connection.execute(sql, (mark, workbench_id))

    def _remove(self, workbench_ids: Iterable[WorkbenchId]) -> None:
        gone = [(each,) for each in workbench_ids]
        for sql in (
            "DELETE FROM workbenches WHERE id = ?",
            "DELETE FROM runs WHERE workbench_id = ?",
            "DELETE FROM files WHERE workbench_id = ?",
            "DELETE FROM approvals WHERE workbench_id = ?",
            "DELETE FROM origins WHERE workbench_id = ?",
        ):
            self._connection.executemany(sql, gone)


def unreadable_workbenches(index: HomeIndex) -> tuple[WorkbenchId, ...]:
    """Return the workbenches whose logs are damaged or were not read yet, oldest first."""
    query = (
        "SELECT id FROM workbenches WHERE status = 'unread' OR (status = 'damaged'"
        " AND json_extract(CAST(row AS TEXT), '$.is_read_only')) ORDER BY created_at_us, id"
    )
    return tuple(row[0] for row in index.read(query, ()))


def _checksum(values: Sequence[Any]) -> int:
    """Return the checksum of what a row holds, as SQLite gives it back."""
    return crc32(msgspec.msgpack.encode(values))


def _checked(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a row holds without its checksum.

    Raises:
        sqlite3.DatabaseError: It has another one: something changed in the file.
    """
    if _checksum(row[:-1]) != row[-1]:
        raise sqlite3.DatabaseError("a row is not what was written")
    return row[:-1]


def _are_sound(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether each row of a table has its checksum."""
    columns = ", ".join(_COLUMNS[table])
    found = connection.execute(f"SELECT {columns}, checksum FROM {table}")
    return all(_checksum(row[:-1]) == row[-1] for row in found)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[Any]:
    """Begin a transaction: all that is written inside is there, or nothing of it.

    Yields:
        What executes a statement in it.

    Raises:
        sqlite3.Error: It cannot be begun or committed.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection.execute
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def remove_index(path: Path) -> None:
    """Remove the file of an index, with what SQLite keeps beside it; what cannot be is left."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)


_OPTIONS: dict[str, Any] = {
    "isolation_level": None,  # transactions are begun by hand
    "check_same_thread": False,  # one thread at a time, not always the same
}


def _connect(path: Path) -> sqlite3.Connection:
    connection: sqlite3.Connection = sqlite3.connect(path, **_OPTIONS)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may take the last rows, which are found missing; it tears nothing.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if tables == (0,):
            return _create(connection)
        if connection.execute("SELECT edition FROM meta").fetchone() != (_edition(),):
            raise sqlite3.DatabaseError("the index is of another kbd")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
    connection.execute("INSERT INTO meta VALUES (?)", (_edition(),))
    return connection


def _edition() -> str:
    """Name what decides what is in the file: the tables, the shape of rows, the version of kbd."""
    shapes = msgspec.json.encode(msgspec.json.schema_components((WorkbenchRow, RunRow)))
    digest = hashlib.sha256(_SCHEMA.encode() + shapes).hexdigest()
    # With the version, for a fold can change while the shapes stay.
    return f"{__version__}-{digest[:16]}"
