"""Files of a search index: their names, and how one is created, opened and replaced.

    search-7.db (-wal, -shm)    the index: SQLite; the highest number is the one in use
    search.lock                 held while an index is made or replaced
    pieces-<hex>.new            the pieces of a document on their way into the index

An index that is damaged, or of another edition, is never mended: a new one with the next number
takes its place, and the old file's name goes. Whoever still reads the old one reads it to the end,
for its bytes stay as long as they are open; no journal of one is ever taken for another's.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import sqlite3
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from kbd.core.search.tokenizer import COLUMNS, FTS5_TOKENIZER, TOKENIZER_EDITION
from kbd.errors import DiskFull, FileWriteFailed, KbdError, ValidationFailed
from kbd.events.shortages import raise_shortage

__all__ = [
    "IndexFolder",
    "IndexRuined",
    "check_fts5",
    "connected",
    "is_index_folder",
    "translate_error",
]

SCHEMA_EDITION = "2"
"""Goes up with any change of the tables below, or of what is written into them."""

APPLICATION_ID = 0x6B626478
"""What the header of our files says that they are ("kbdx")."""

BUSY_S = 30.0
"""How long a writer waits for another one; a batch takes a second or two."""

STALE_S = 3600.0
"""Pieces as old as this were left by somebody who was killed: a worker may take half a minute."""

JOURNAL_BYTES = 4 << 20
"""What a large batch made the journal grow to is given back down to this."""

FULL_BYTES = 1 << 20
"""With less than this free, a failed write is told as a full disk."""

_NAME = re.compile(
    r"search-(\d{1,9})\.db(-wal|-shm|-journal)?|search\.lock|pieces-[0-9a-f]{16}\.new"
)

_SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0);
CREATE TABLE documents(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    edition TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
);
CREATE TABLE pieces(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents,
    position INTEGER NOT NULL,
    hash BLOB NOT NULL,
    place TEXT NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    region TEXT NOT NULL,
    text TEXT NOT NULL,
    heading TEXT NOT NULL
);
CREATE UNIQUE INDEX pieces_of_documents ON pieces(document, position);
CREATE INDEX pieces_by_hash ON pieces(hash);
CREATE VIRTUAL TABLE words USING fts5(
    {", ".join(COLUMNS)}, content='', tokenize='{FTS5_TOKENIZER}'
);
CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'row');
CREATE TABLE vectors(
    hash BLOB NOT NULL,
    fingerprint TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY(hash, fingerprint)
) WITHOUT ROWID;
CREATE TABLE seen(
    name TEXT PRIMARY KEY,
    signature TEXT NOT NULL,
    content TEXT NOT NULL
) WITHOUT ROWID;
"""
"""`words` keeps no text of its own: what is taken out of it is worked out again from the piece, so
all that this depends on is in the edition."""


class IndexRuined(Exception):
    """The file is not a readable index of kbd's; it has to be replaced."""


class IndexFolder:
    """A folder for one index.

    Args:
        folder: Where it is, or will be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def opened(self) -> Path:
        """Return the file of the index, created if there is none that can be used.

        Raises:
            ValidationFailed: The folder holds something else, or cannot hold an index here.
            DiskFull: There is no room for an index.
            FileWriteFailed: The folder cannot be written to.
        """
        return self._current_or_new(None)

    def renewed(self, ruined: Path) -> Path:
        """Return the file of the index that replaces a ruined one."""
        return self._current_or_new(ruined)

    def new_target(self) -> Path:
        """Return a path where the pieces of a document can be written."""
        return self.folder / f"pieces-{secrets.token_hex(8)}.new"

    def _current_or_new(self, ruined: Path | None) -> Path:
        try:
            with self._locked():
                found = self._numbered()
                newest = max(found, default=0)
                path = found.pop(newest, None)
                if path is None or path == ruined or not _is_ours(path):
                    if path is not None:
                        found[newest] = path
                    # A new name: by the old one, which goes, other processes see the replacement.
                    path = self.folder / f"search-{newest + 1}.db"
                    _create_index(path)
                self._clear(found.values())  # Last: until the new one is whole, the old one stays.
                return path
        except (OSError, sqlite3.Error) as fault:
            raise translate_error(fault, self.folder) from None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the folder: one process at a time looks for the index or makes one."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check()
        # No link: a file would be made, or opened, where it leads.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(self.folder / "search.lock", flags, 0o600)
        try:
            # Not `lockf`: its second lock in one process succeeds (reliability, R12).
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _check(self) -> None:
        # SQLite follows links, to a journal as well.
        with os.scandir(self.folder) as entries:
            strange = sorted(
                entry.name
                for entry in entries
                if not _NAME.fullmatch(entry.name) or not _is_file_or_gone(entry)
            )
        if strange:
            msg = (
                f"the folder {self.folder.name} holds something that is no index ({strange[0]}):"
                " name another folder for the index"
            )
            raise ValidationFailed(msg)

    def _numbered(self) -> dict[int, Path]:
        found = {}
        for name in os.listdir(self.folder):
            parts = _NAME.fullmatch(name)
            if parts and parts[1] and not parts[2]:
                found[int(parts[1])] = self.folder / name
        return found

    def _clear(self, old: Iterable[Path]) -> None:
        """Remove unused files; one that cannot be removed costs space, nothing else."""
        for path in old:
            for suffix in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    path.with_name(path.name + suffix).unlink()
        horizon = time.time() - STALE_S
        for path in self.folder.glob("pieces-*.new"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < horizon:
                    path.unlink()


def _is_file_or_gone(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a file and no link; one that went meanwhile may have been."""
    try:
        return stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return True


def is_index_folder(names: Iterable[str]) -> bool:
    """Return whether a folder with files of these names is the folder of an index."""
    found = set(names)
    return "search.lock" in found and all(_NAME.fullmatch(name) for name in found)


def default_index_folder(base_dir: Path) -> Path:
    """Return the default folder of an index: with the user's other caches."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = hashlib.sha256(os.fsencode(os.path.realpath(base_dir))).hexdigest()[:16]
    return Path(home) / "kbd" / "search" / digest


def connected(path: Path) -> sqlite3.Connection:
    """Return a connection to an index that exists, for use by one thread at a time.

    Raises:
        sqlite3.Error: It cannot be opened.
    """
    connection = sqlite3.connect(
        # Never created here: SQLite would make a new file that others can read.
        f"{path.absolute().as_uri()}?mode=rw",
        timeout=BUSY_S,
        # Transactions are begun by hand: the module begins one only before a change.
        isolation_level=None,
        # The pool gives a connection to one thread at a time, but not always to the same one.
        check_same_thread=False,
        uri=True,
    )
    # A cache may lose what a crash of the machine loses, but is never torn.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -6000")
    connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
    return connection


def check_fts5(connection: sqlite3.Connection, module: str = "fts5") -> None:
    """Check that SQLite has FTS5.

    Raises:
        ValidationFailed: It was built without FTS5.
    """
    query = "SELECT 1 FROM pragma_module_list WHERE name = ?"
    if connection.execute(query, (module,)).fetchone() is None:
        msg = (
            f"search needs FTS5, and the SQLite of this Python ({sqlite3.sqlite_version}) was"
            " built without it"
        )
        raise ValidationFailed(msg)


def translate_error(fault: sqlite3.Error | OSError, folder: Path) -> KbdError:
    """Translate SQLite's and the system's errors on an index to kbd's.

    Raises:
        IndexRuined: The file is damaged, or none of ours.
    """
    is_full = False
    if isinstance(fault, sqlite3.Error):
        # What the module itself raises, of a closed connection say, has no code.
        code = getattr(fault, "sqlite_errorcode", 0) & 0xFF  # the low byte is the primary code
        # Damage of a cache needs no repair: it is replaced.
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise IndexRuined from fault
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            msg = f"another program has been writing to the index for {BUSY_S:g} s"
            return FileWriteFailed(msg, retryable=True)
        is_full = code == sqlite3.SQLITE_FULL
        is_full |= code == sqlite3.SQLITE_IOERR and _free_bytes(folder) < FULL_BYTES
        why = str(fault)
    else:
        is_full = fault.errno in (errno.ENOSPC, errno.EDQUOT)
        if not is_full:
            raise_shortage(fault)
        why = fault.strerror or type(fault).__name__
    if is_full:
        return DiskFull("no space is left for the index; what it holds is safe")
    return FileWriteFailed(f"the index in {folder.name} cannot be used: {why}")


def _edition() -> str:
    """Return the edition of an index: all that decides what is written into it."""
    return f"{SCHEMA_EDITION}.{TOKENIZER_EDITION}.{unicodedata.unidata_version}"


def _is_ours(path: Path) -> bool:
    """Return whether a file is an index of this edition.

    Raises:
        ValidationFailed: It is somebody else's database.
    """
    connection = None
    try:
        connection = connected(path)
        (identity,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        # Of a process that died between making the file and writing the schema.
        if identity != APPLICATION_ID and not tables:
            return False
        if identity != APPLICATION_ID:
            msg = f"{path.name} is a database of something else: name another folder for the index"
            raise ValidationFailed(msg)
        query = "SELECT value FROM meta WHERE key = 'edition'"
        return bool(connection.execute(query).fetchone() == (_edition(),))
    except sqlite3.DatabaseError as fault:
        try:
            raise translate_error(fault, path.parent)
        except IndexRuined:
            return False
    finally:
        if connection is not None:
            connection.close()


def _create_index(path: Path) -> None:
    # Made here and not by SQLite, which would make it readable for others.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = connected(path)
    try:
        check_fts5(connection)
        # Readers of other threads and processes go on while a batch is written.
        connection.execute("PRAGMA journal_mode = WAL")
        # One transaction: whoever opens the file after a crash finds no table at all, or every one.
        connection.executescript(
            f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID};{_SCHEMA}"
            f"INSERT INTO meta VALUES ('edition', '{_edition()}'); COMMIT;"
        )
    finally:
        connection.close()


def _free_bytes(folder: Path) -> int:
    try:
        status = os.statvfs(folder)
    except OSError:
        return FULL_BYTES
    return status.f_bavail * status.f_frsize
