"""Cache of typed tables: a Parquet file and its record, made once for each content."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Additivity,
    ColumnType,
    ReadAs,
    Table,
    TableReading,
    Tabular,
    sum_sentence,
)
from kbd.tools import FileRef, ToolContext
from kbd.types import FileName
from kbd_tables import jobs
from kbd_tables.jobs import WORK_LIMITS
from kbd_tables.reading_text import AmountCurrencies, ColumnNote, reading_sentences
from kbd_tables.summed_columns import (
    mentions,
    named_columns,
    summed_columns,
    tells_capitals_apart,
)

__all__ = [
    "ROWS_PER_CHUNK",
    "OpenTable",
    "TableCache",
    "TableColumn",
    "TableRecord",
    "TableRef",
    "is_table",
    "tabular_handler",
]

ROWS_PER_CHUNK = 500
"""Rows of a chunk in maps (contract, section 8)."""


class TableColumn(msgspec.Struct, frozen=True):
    """A column: its name in SQL, its reported type, and the SQL type that holds it."""

    name: str
    type: ColumnType
    sql_type: str


class TableRecord(msgspec.Struct, frozen=True):
    """Record beside the typed Parquet of a table.

    Args:
        columns: The columns in order; names are unique without regard to case, as SQL needs them.
        row_count: Data rows.
        sha256: Of the Parquet: what a disk gives back otherwise is no table.
        reading: How it was read.
        details: What the format adds (delimiter, quote_char, sheet ...).
        warnings: What a reader of the table must know.
        roles: What the numbers of a column are, by its name, where their sum means nothing.
        left_out_rows: The rows of the format's plain form, from 0, that are not in the table.
        notes: What must be known of a column, by its name; the warnings have it, too.
        spellings: What must be known of columns with values that differ in capitals alone.
        currencies: Those of its amounts, where they are several.
        kept_totals: Rows that are kept and sum others up: plain `kbd_tables.totals.SummingRow`.
    """

    columns: tuple[TableColumn, ...]
    row_count: int
    sha256: str
    reading: TableReading
    details: dict[str, Any]
    warnings: tuple[str, ...]
    roles: dict[str, Additivity] = {}
    left_out_rows: tuple[int, ...] = ()
    notes: dict[str, tuple[ColumnNote, ...]] = {}
    spellings: dict[str, str] = {}
    kept_totals: tuple[dict[str, Any], ...] = ()
    currencies: AmountCurrencies | None = None

    def about(self, name: str) -> dict[str, Any]:
        """Return what maps and descriptions show of a column beside its type and values."""
        notes = [note.text for note in self.notes.get(name, ())]
        return {**self.role(name), **({"notes": notes} if notes else {})}

    def role(self, name: str) -> dict[str, str]:
        """Return what maps and statistics show of a column that is not additive."""
        found = self.roles.get(name)
        if found is None:
            return {}
        return {"role": found.role, "not_additive": f"{found.role}: {found.reason}"}


class TableRef(msgspec.Struct, frozen=True):
    """A table as a call names it.

    Args:
        path: Its file.
        sheet: Its sheet, where the file has several.
        read_as: How it is to be read; goes before what was said about the file.
    """

    path: str
    sheet: str | None = None
    read_as: ReadAs = ReadAs()


class OpenTable(msgspec.Struct, frozen=True):
    """Table that is ready for jobs.

    Args:
        file: Its file.
        record: What it is.
        read_as: What was said about how it is read.
        parquet: Its Parquet file.
        size_bytes: Of that.
        sheet: The sheet that was named.
    """

    file: FileRef
    record: TableRecord
    read_as: ReadAs
    parquet: Path
    size_bytes: int
    sheet: str | None = None

    @property
    def name(self) -> FileName:
        """Its file's name."""
        return self.file.name

    def note(self, context: ToolContext) -> None:
        """Note that a call works with this table as it was read."""
        types = {column.name: column.type for column in self.record.columns}
        context.note_reading(
            self.file,
            self.sheet,
            self.record.reading,
            columns=types,
            row_count=self.record.row_count,
        )

    @property
    def told(self) -> tuple[str, ...]:
        """What a person must know of how it was read."""
        return reading_sentences(self._label, self.record.reading)

    @property
    def _label(self) -> str:
        return self.name if self.sheet is None else f"{self.name}, sheet {self.sheet}"

    def summed(self, sql: str | None) -> list[str]:
        """Return the columns that a statement sums though they do not add up."""
        return summed_columns(sql or "", self.record.roles)

    def column_facts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what a person must know who gets values of some columns, or figures of them."""
        told = [
            (name, note.text)
            for name in names
            for note in self.record.notes.get(name, ())
            if note.is_told
        ]
        return tuple(f"{self._label}, {name}: {text}" for name, text in told[:_MAX_NAMED])

    def named(self, sql: str) -> list[str]:
        """Return the columns with notes that a statement names."""
        return named_columns(sql, self.record.notes)

    def spelling_facts(self, sql: str, matched: Sequence[str]) -> tuple[str, ...]:
        """Return what a person must know of a statement that tells capitals apart.

        Args:
            sql: The statement.
            matched: The columns, in lower case, of whose values it asks which are the same.
        """
        if not tells_capitals_apart(sql):
            return ()
        return tuple(
            f"{self._label}, {name}: {note}, and counts as another one"
            for name, note in self.record.spellings.items()
            if name.lower() in matched or "*" in matched
        )[:_MAX_NAMED]

    def currency_facts(self, sql: str) -> tuple[str, ...]:
        """Return what a person must know of figures that a statement makes of several currencies.

        One that names the column of currencies has chosen one, or tells them apart.
        """
        found = self.record.currencies
        if found is None or mentions(sql, found.column):
            return ()
        return self.mixed_facts(summed_columns(sql, found.amounts, with_averages=True))

    def mixed_facts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what a person must know of figures of some columns over all rows."""
        found = self.record.currencies
        mixed = [name for name in names if found is not None and name in found.amounts]
        if found is None or not mixed:
            return ()
        listed = ", ".join(mixed[:_MAX_NAMED])
        values = ", ".join(found.values)
        return (f"{self._label}: {listed} is in several currencies ({found.column}: {values})",)

    def sum_notes(self, names: Sequence[str]) -> list[str]:
        """Return a note on the sums of columns that do not add up, for a model."""
        roles = self.record.roles
        named = [f"{name} ({roles[name].role}, {roles[name].reason})" for name in names]
        if not named:
            return []
        others = "; …" if len(named) > _MAX_NAMED else ""
        return [f"sums that mean nothing by themselves: {'; '.join(named[:_MAX_NAMED])}{others}"]

    def sum_facts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return what a person must know of such sums."""
        roles = self.record.roles
        return tuple(
            f"{self._label}: {sum_sentence(name, roles[name])}" for name in names[:_MAX_NAMED]
        )


_MAX_NAMED = 10
_VERSION = 34
"""Version of the cache; raise it when inference or the record changes."""
_MOST_CHECKED = 1_000
"""Files of which it is remembered that they are whole; beyond, all are forgotten."""
_PREFIX = "tables-"
"""With which the name of each file of the cache begins."""


class TableCache:
    """Typed tables of workbenches, each made once for a content, and bounded for a workbench.

    The draft and what is published share them, as do all calls: of several that want the same table
    at once, one makes it. Any file of it may be deleted at any time.

    Args:
        limit_bytes: What a workbench's tables take all together; the least recently used go.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._checked = _CheckedFiles()
        self._making: WeakValueDictionary[Path, anyio.Lock] = WeakValueDictionary()

    async def open(self, context: ToolContext, ref: TableRef) -> OpenTable:
        """Return a file's table, read and typed now or at an earlier call with the same content.

        Raises:
            NotFound, ValidationFailed, FileReadFailed: As for `run`.
        """
        wanted = await _wanted(context, ref)
        found = await run_sync(_find, wanted, self._checked)
        if found is None:
            lock = self._making.setdefault(wanted.parquet, anyio.Lock())
            async with lock:
                # Made by another call meanwhile.
                found = await run_sync(_find, wanted, self._checked)
                if found is None:
                    await _make(context, wanted)
                    await run_sync(_drop_oldest, wanted, self._limit_bytes)
                    found = await run_sync(_find, wanted, self._checked)
        if found is None:
            raise FileReadFailed("the cache of tables was emptied meanwhile; try again")
        found.note(context)
        return found

    async def find(self, context: ToolContext, ref: TableRef) -> OpenTable | None:
        """Return a file's table if it was made before; None costs no worker, and nothing is noted.

        Raises:
            NotFound, ValidationFailed: As for `run`.
        """
        return await run_sync(_find, await _wanted(context, ref), self._checked)

    async def place(self, context: ToolContext, ref: TableRef) -> Path:
        """Return where a file's table lies, or would.

        What belongs to the table is called by that and a suffix.

        Raises:
            NotFound, ValidationFailed: As for `run`.
        """
        return (await _wanted(context, ref)).parquet

    async def run(
        self,
        context: ToolContext,
        ref: TableRef,
        job: Callable[..., Any],
        arguments: Mapping[str, Any],
    ) -> tuple[OpenTable, Any]:
        """Open a table and run a job on its Parquet; a file that is damaged is made again.

        Returns:
            The table and the job's answer.

        Raises:
            NotFound: There is no such file.
            ValidationFailed: It is not a table, or the job refuses its arguments.
            FileReadFailed: It cannot be read.
        """
        for attempt in (1, 2):
            table = await self.open(context, ref)
            request = {
                "parquet": table.parquet,
                "columns": [msgspec.structs.astuple(column) for column in table.record.columns],
                **arguments,
            }
            try:
                return table, await context.isolate(job, request, limits=WORK_LIMITS)
            except FileReadFailed as error:
                if attempt == 2 or not error.detail.get("stale_table"):
                    raise
                await self.forget(table)
        raise AssertionError("the second attempt returns or raises")

    async def forget(self, table: OpenTable) -> None:
        """Forget a table whose file is damaged, so that it is made again."""
        # The Parquet alone: a record without it does not count as cached.
        await anyio.Path(table.parquet).unlink(missing_ok=True)


class _Wanted(msgspec.Struct, frozen=True):
    """A table that is wanted: what it is made of, and where it lies."""

    file: FileRef
    sheet: str | None
    read_as: ReadAs
    parquet: Path
    record: Path


async def _wanted(context: ToolContext, ref: TableRef) -> _Wanted:
    """Say what a table is made of, and where it lies."""
    file = context.files.get(ref.path)
    read_as = _said(ref.read_as, file.read_as)
    # Refused here, before a worker reads anything.
    tabular_handler(context, file)
    # In a thread, for the version is read from a file of the installed package.
    key = _key(context, file, ref.sheet, read_as, await run_sync(_engine))
    parquet, record = context.files.cached(key), context.files.cached(f"{key}.record")
    return _Wanted(file, ref.sheet, read_as, parquet, record)


class _CheckedFiles:
    """Memory of the files of the cache that were found to be what their records say.

    A file is read again when the file system says that somebody has touched it. May be used by any
    thread.
    """

    def __init__(self) -> None:
        self._stamps: dict[Path, tuple[int, ...]] = {}

    def is_whole(self, path: Path, sha256: str) -> bool:
        """Tell whether a file has this digest; raises FileNotFoundError if there is none."""
        with path.open("rb") as file:
            # Taken before it is read: a write meanwhile gives it another stamp than this one.
            stamp = _stamp(os.fstat(file.fileno()))
            if self._stamps.get(path) == stamp:
                return True
            if _sha256(file) != sha256:
                return False
        if len(self._stamps) >= _MOST_CHECKED:
            self._stamps.clear()
        self._stamps[path] = stamp
        return True


def _stamp(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _find(wanted: _Wanted, checked: _CheckedFiles) -> OpenTable | None:
    """Return a table that is there, and note that it was used; one that is damaged is removed."""
    try:
        record = msgspec.msgpack.decode(wanted.record.read_bytes(), type=TableRecord)
        size = wanted.parquet.stat().st_size
        if not checked.is_whole(wanted.parquet, record.sha256):
            # Else what is made in its place would not be kept.
            wanted.parquet.unlink(missing_ok=True)
            return None
        # Of the record, for a Parquet that is touched is read again.
        os.utime(wanted.record)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return OpenTable(wanted.file, record, wanted.read_as, wanted.parquet, size, wanted.sheet)


def _drop_oldest(wanted: _Wanted, limit_bytes: int) -> None:
    """Remove tables, the least recently used first, until the rest fits; never the one wanted.

    What belongs to a table has its name and a suffix of its own, and goes with it.
    """
    tables: dict[str, list[Path]] = {}
    for path in wanted.parquet.parent.glob(f"{_PREFIX}*"):
        tables.setdefault(_table_of(path.name), []).append(path)
    aged = []
    for name, paths in tables.items():
        # Another call may remove one meanwhile.
        with contextlib.suppress(OSError):
            facts = [path.stat() for path in paths]
            used = max(fact.st_mtime_ns for fact in facts)
            aged.append((used, name, sum(fact.st_size for fact in facts)))
    total = sum(size for _, _, size in aged)
    for _, name, size in sorted(aged):
        if total <= limit_bytes:
            return
        if name != wanted.parquet.name:
            for path in tables[name]:
                path.unlink(missing_ok=True)
            total -= size


def is_table(context: ToolContext, name: str) -> bool:
    """Tell whether a file is a table, by its name."""
    handler = context.formats.for_name(name)
    return isinstance(handler, Tabular) and handler.is_table(name)


def tabular_handler(context: ToolContext, file: FileRef) -> Tabular:
    """Return the handler of a table's format.

    Raises:
        ValidationFailed: The file is not a table.
    """
    handler = context.formats.for_name(file.name)
    if isinstance(handler, Tabular) and handler.is_table(file.name):
        return handler
    names = [other.name for other in context.formats.handlers() if isinstance(other, Tabular)]
    raise ValidationFailed(f"{file.name} is not a table; tables are {', '.join(names) or 'none'}")


@cache
def _engine() -> str:
    """Return DuckDB's version without importing it; each version has a cache of its own."""
    from importlib import metadata  # noqa: PLC0415 - 15 ms of the daemon's start

    try:
        return metadata.version("duckdb")
    except metadata.PackageNotFoundError:
        # Where its folder could not be read for a moment, as without a descriptor, it is remembered
        # that there is none. `importlib.invalidate_caches` forgets that from Python 3.12 on only,
        # and in 3.11 this is no method of the class.
        metadata.MetadataPathFinder().invalidate_caches()
        return metadata.version("duckdb")


def _said(first: ReadAs, then: ReadAs) -> ReadAs:
    """Return what was said in either; the first one counts where both say something."""
    if first.header_row is not None:
        # What is said now is of the sheet that is asked about, if it is not said of another one.
        then = msgspec.structs.replace(then, header_sheet=None)
    return msgspec.convert(msgspec.to_builtins(then) | msgspec.to_builtins(first), ReadAs)


def _key(
    context: ToolContext, file: FileRef, sheet: str | None, read_as: ReadAs, engine: str
) -> str:
    """Name a cached table by all that decides what it holds.

    The suffix is part of it: the same bytes may mean another table under another name.
    """
    handler = context.formats.for_name(file.name)
    suffix = Path(file.name).suffix.lower()
    part = f"{handler.name if handler else ''}\0{suffix}\0{'' if sheet is None else f'={sheet}'}"
    if said := msgspec.to_builtins(read_as):
        part += f"\0{sorted(said.items())}"
    # A sheet's name comes from a model, and may hold half a pair of surrogates.
    digest = hashlib.sha256(part.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{_edition(engine)}{file.blob}-{digest}"


def _edition(engine: str) -> str:
    """Return with what the names of tables begin that this version of kbd and DuckDB can read."""
    # With DuckDB's version: where another one had written the cache, every call on the file failed.
    return f"{_PREFIX}{_VERSION}-{engine}-"


def _drop_other_editions(folder: Path) -> None:
    """Remove tables that other versions of kbd or DuckDB have left in a cache: nobody reads them.

    What cannot be removed costs space, nothing else.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and not entry.name.startswith(_edition(_engine())):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _table_of(name: str) -> str:
    """Return the name of the table's own file that a file of the cache belongs to."""
    # A version of DuckDB has dots, and stands before the last hyphen.
    key, hyphen, rest = name.rpartition("-")
    return key + hyphen + rest.partition(".")[0]


async def _make(context: ToolContext, wanted: _Wanted) -> None:
    """Read a table, type it, and leave the Parquet and then its record in the cache."""
    file, sheet = wanted.file, wanted.sheet
    plain, raw, typed = context.files.stage(), context.files.stage(), context.files.stage()
    table = await context.formats.read_table(file, sheet, wanted.read_as, plain)
    if not table.columns:
        where = file.name if sheet is None else f"sheet {sheet} of {file.name}"
        raise ValidationFailed(f"{where} holds no table: it has no columns")
    arguments = {
        "plain": plain,
        "raw": raw,
        "target": typed,
        "columns": [[column.name, column.type] for column in table.columns],
        "row_count": table.row_count,
        "read_as": msgspec.to_builtins(wanted.read_as),
        "reading": msgspec.to_builtins(table.reading),
        "aggregates": msgspec.to_builtins(table.aggregates),
    }
    loaded = await context.isolate(jobs.load, arguments, limits=WORK_LIMITS)
    staged = context.files.stage()
    await anyio.Path(staged).write_bytes(_record(table, loaded, await run_sync(_digest, typed)))
    # The record last: a table counts as cached only when both are there, so a process that ends
    # in between leaves no record without its Parquet.
    await run_sync(_keep_first, typed, wanted.parquet)
    await anyio.Path(staged).replace(wanted.record)
    await run_sync(_drop_other_editions, wanted.parquet.parent)


def _keep_first(made: Path, kept: Path) -> None:
    """Keep a table in the cache, unless another call has kept it meanwhile: both are alike.

    A worker may open the very file that is there when it is called, and no other in its place.
    """
    try:
        os.link(made, kept)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links.
        made.replace(kept)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return _sha256(file)


def _sha256(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _notes(table: Table, typed: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return what must be known of columns: what typing them told, and what their format knows."""
    notes = {name: [*found] for name, found in typed.items()}
    for name, codes in table.details.get("currencies", {}).items():
        told = ColumnNote(f"its cells are in several currencies ({', '.join(codes)})", is_told=True)
        notes.setdefault(name, []).append(msgspec.to_builtins(told))
    return notes


def _record(table: Table, loaded: Mapping[str, Any], sha256: str) -> bytes:
    """Return the packed record of a table: the facts of its format, and the inferred types."""
    return msgspec.msgpack.encode(
        {
            "columns": loaded["columns"],
            "row_count": loaded["row_count"],
            "sha256": sha256,
            "reading": loaded["reading"],
            "details": dict(table.details),
            "warnings": [*table.warnings, *loaded["warnings"]],
            "roles": loaded["roles"],
            "notes": _notes(table, loaded["notes"]),
            "spellings": loaded["spellings"],
            "currencies": loaded["currencies"],
            "kept_totals": loaded["kept_totals"],
            "left_out_rows": loaded["left_out_rows"],
        }
    )
