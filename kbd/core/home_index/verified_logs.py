"""File of when each log was verified last, in SQLite: a projection that may be deleted at any time.

Without it all counts as never verified. One that is damaged is replaced by an empty one, in memory
where the disk takes none. What was found stands in the daemon's log, and not here. All blocks, and
one thread at a time may use it.
"""

import contextlib
import sqlite3
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from kbd.core.home_index.database import remove_index, transaction
from kbd.types import BlobHash

__all__ = ["VERIFIED_NAME", "LogProgress", "VerifiedLogs", "VerifiedSummary"]

VERIFIED_NAME = "verified.sqlite3"
"""The file's name, beside that of the index."""

_SCHEMA = """
CREATE TABLE logs(
    id TEXT PRIMARY KEY,
    created_at_us INTEGER NOT NULL,
    verified_at_us INTEGER NOT NULL DEFAULT 0,
    reached TEXT NOT NULL DEFAULT '',
    suspects TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX by_verification ON logs(max(created_at_us, verified_at_us), id);
CREATE INDEX begun ON logs(id) WHERE reached != '';
CREATE TABLE share(paid_until_us INTEGER NOT NULL, is_begun INTEGER NOT NULL);
PRAGMA user_version = 1;
"""

_VERSION = 1


class LogProgress(msgspec.Struct, frozen=True):
    """How far the verification of a log has come.

    Args:
        log_id: The log.
        reached: The last blob that was looked at, in the order of hashes; "" for none.
        suspects: The blobs up to there that were not what they should be.
    """

    log_id: str
    reached: str = ""
    suspects: tuple[BlobHash, ...] = ()


class VerifiedSummary(msgspec.Struct, frozen=True):
    """When the logs of a home were verified.

    Args:
        logs: How many there are.
        overdue: How many of them were not verified, and not created, for as long as was asked.
        oldest_at_us: When the one was that was verified, or else created, longest ago; 0 if there
            is none.
    """

    logs: int = 0
    overdue: int = 0
    oldest_at_us: int = 0


class VerifiedLogs:
    """When each log was verified, open.

    Args:
        path: Its file; what is no such file is replaced.
    """

    def __init__(self, path: Path) -> None:
        for _ in range(2):
            try:
                self._connection = _connect(str(path))
            except (sqlite3.Error, OSError):
                remove_index(path)
            else:
                return
        # A disk that takes no file has taken the logs: it is kept until the daemon ends.
        self._connection = _connect(":memory:")

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def reconcile(self, created: Mapping[str, int], now_us: int) -> None:
        """Know the logs there are and no others.

        Args:
            created: Each with when it was created: up to then there was nothing to verify.
            now_us: The present; a time after it is of a clock that was set back, and counts as now.
        """
        with transaction(self._connection) as execute:
            there = {row[0] for row in execute("SELECT id FROM logs")}
            for gone in there - set(created):
                execute("DELETE FROM logs WHERE id = ?", (gone,))
            for log_id in set(created) - there:
                self._add(log_id, created[log_id])
            later = "max(created_at_us, verified_at_us) > ?1"
            clamp = (
                "created_at_us = min(created_at_us, ?1), verified_at_us = min(verified_at_us, ?1)"
            )
            execute(f"UPDATE logs SET {clamp} WHERE {later}", (now_us,))

    def next(self, due_before_us: int, but: Collection[str]) -> LogProgress | None:
        """Return the log that is to be verified next; None if none is due.

        First is one that was begun, then the one that was verified longest ago.

        Args:
            due_before_us: Those that were verified since are not due.
            but: Those that are left out.
        """
        due = "max(created_at_us, verified_at_us) <= ?1"
        for rest in (
            f"{due} AND reached != '' ORDER BY id",
            f"{due} ORDER BY max(created_at_us, verified_at_us), id",
        ):
            # Each has an index, so that it costs the same in a large home.
            query = f"SELECT id, reached, suspects FROM logs WHERE {rest} LIMIT ?2"
            for log_id, reached, suspects in self._connection.execute(
                query, (due_before_us, len(but) + 1)
            ):
                if log_id not in but:
                    return LogProgress(log_id, reached, tuple(map(BlobHash, suspects.split())))
        return None

    def reach(self, progress: LogProgress) -> None:
        """Keep how far a verification has come; a log that is not known stays so."""
        sql = "UPDATE logs SET reached = ?, suspects = ? WHERE id = ?"
        suspects = " ".join(progress.suspects)
        self._connection.execute(sql, (progress.reached, suspects, progress.log_id))

    def finish(self, log_id: str, verified_at_us: int) -> None:
        """Keep when all of a log was verified."""
        with transaction(self._connection) as execute:
            self._add(log_id, 0)
            sql = "UPDATE logs SET verified_at_us = ?, reached = '', suspects = '' WHERE id = ?"
            execute(sql, (verified_at_us, log_id))

    def verified_at_us(self, log_id: str) -> int:
        """Return when a log was verified last; 0 for never."""
        query = "SELECT verified_at_us FROM logs WHERE id = ?"
        row = self._connection.execute(query, (log_id,)).fetchone()
        return row[0] if row is not None else 0

    def summary(self, overdue_before_us: int) -> VerifiedSummary:
        """Return when the logs were verified, all together; those before a time are overdue."""
        query = (
            "SELECT COUNT(*), COALESCE(SUM(max(created_at_us, verified_at_us) < ?), 0),"
            " COALESCE(MIN(max(created_at_us, verified_at_us)), 0) FROM logs"
        )
        row = self._connection.execute(query, (overdue_before_us,)).fetchone()
        return VerifiedSummary(*row)

    def share(self) -> tuple[int, bool] | None:
        """Return up to when shares were done, and whether one is begun; None before the first."""
        row = self._connection.execute("SELECT paid_until_us, is_begun FROM share").fetchone()
        return None if row is None else (row[0], bool(row[1]))

    def set_share(self, paid_until_us: int, *, is_begun: bool) -> None:
        """Keep up to when shares were done, and whether one is begun."""
        with transaction(self._connection) as execute:
            execute("DELETE FROM share")
            execute("INSERT INTO share VALUES (?, ?)", (paid_until_us, int(is_begun)))

    def _add(self, log_id: str, created_at_us: int) -> None:
        sql = "INSERT OR IGNORE INTO logs(id, created_at_us) VALUES (?, ?)"
        self._connection.execute(sql, (log_id, created_at_us))


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may take the last rows: something is verified once more.
        connection.execute("PRAGMA synchronous = NORMAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != _VERSION:
            if connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() != (0,):
                raise sqlite3.DatabaseError("the file is of another kbd")
            connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection
