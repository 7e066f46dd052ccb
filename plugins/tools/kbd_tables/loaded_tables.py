"""Tables of one statement: read where they lie, or copied into memory.

A copy needs no file while the statement runs, so the sandbox can be locked with nothing allowed.
But to copy takes longer than most statements: 3.8 million rows took 150 ms to copy and 50 to group,
and 30 to group where they lie. What is read there is a file that DuckDB may read, whose path it
tells, and that some forms of COPY could write. So it is done only for a statement that calls
nothing that reads files or tells of the database, and only where the operating system refuses to
let this process open the file for writing (Landlock), which is tried, not assumed.
"""

import errno
import os
from collections.abc import Sequence

import duckdb
import msgspec

from kbd.errors import ToolTimeout
from kbd.formats import ReadingQuestion
from kbd_tables.duck import closing_connection, parquet_rows, quoted_name
from kbd_tables.statements import Statement
from kbd_tables.table_names import TableName

__all__ = ["LoadedTable", "NamedTables", "check_whole", "is_large", "load_tables", "named_columns"]

_MANY_VALUES = 2_000_000
"""Values of a table from which on only the columns that a statement names are copied."""
_STATEMENT_ERRORS = (
    duckdb.BinderException, duckdb.CatalogException, duckdb.DataError, duckdb.ParserException,
)  # fmt: skip
"""Faults of a statement; of a damaged file DuckDB raises many others, also its plain `Error`."""

_MOST_IN_PLACE = 16
"""Tables of one statement that are read in place: each takes a file, and a call may open 64."""


class LoadedTable(msgspec.Struct, frozen=True):
    """A table for statements.

    Args:
        name: As `TableCatalog.find` tells it.
        parquet: Its rows, typed.
        columns: Its columns: name, reported type and SQL type of each.
        row_count: Its rows.
        questions: What is open about how it is read.
    """

    name: TableName
    parquet: str
    columns: tuple[tuple[str, str, str], ...]
    row_count: int
    questions: tuple[ReadingQuestion, ...] = ()


NamedTables = dict[tuple[str, ...], LoadedTable]
"""Tables by what a statement calls them."""


def is_large(table: LoadedTable) -> bool:
    """Tell whether a table has so many values that to copy it is most of the work."""
    return table.row_count * len(table.columns) > _MANY_VALUES


_MOST_SCANS = 24
"""Places of a statement in which files are read where they lie: each takes two open files, and a
worker has 64."""


def load_tables(
    connection: duckdb.DuckDBPyConnection, statement: Statement, named: NamedTables
) -> tuple[str, ...]:
    """Make tables known, each once, under the names that a statement calls them by.

    Returns:
        The files that the connection must be able to read while the statement runs.

    Raises:
        ToolTimeout: A copy does not fit into memory.
    """
    # A name that is no table of the workbench is that of a view of DuckDB's own.
    asks_engine = statement.asks_engine or len(named) < len(statement.tables)
    loaded: dict[TableName, str] = {}
    taken: set[str] = set()
    in_place: dict[str, None] = {}
    for path, table in named.items():
        called = ".".join(map(quoted_name, path))
        # DuckDB does not tell names apart that differ in case.
        if called.lower() in taken:
            continue
        taken.add(called.lower())
        if len(path) > 1:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted_name(path[0])}")
        if table.name in loaded:
            connection.execute(f"CREATE VIEW {called} AS FROM {loaded[table.name]}")
            continue
        loaded[table.name] = called
        if not asks_engine and _may_stay(statement, table) and len(in_place) < _MOST_IN_PLACE:
            connection.execute(f"CREATE VIEW {called} AS {_selected(table, _names(table))}")
            in_place[table.parquet] = None
        else:
            names = named_columns(statement, named, table) if is_large(table) else _names(table)
            _copy(connection, table, called, names)
    return tuple(in_place)


def check_whole(in_place: Sequence[str], error: duckdb.Error) -> None:
    """Check that what was read in place can be read, after a statement failed.

    Args:
        in_place: The files, as `load_tables` returned them.
        error: That of the statement.

    Raises:
        FileReadFailed: A file is damaged, with the detail `stale_table`.
    """
    if in_place and not isinstance(error, _STATEMENT_ERRORS):
        with closing_connection() as connection:
            for path in in_place:
                connection.execute(f"SELECT max(hash(COLUMNS(*))) FROM {parquet_rows(path)}")


def _may_stay(statement: Statement, table: LoadedTable) -> bool:
    """Tell whether a table is read where it lies."""
    # Numbers of rows has only what was copied.
    return (
        "rowid" not in statement.sql.lower()
        and statement.scans <= _MOST_SCANS
        and _is_sealed(table.parquet)
    )


def _is_sealed(path: str) -> bool:
    """Tell whether the operating system refuses to let this process write a file, by trying."""
    try:
        # Nothing is created or cut off, and nothing is written.
        os.close(os.open(path, os.O_WRONLY))
    except OSError as error:
        return error.errno == errno.EACCES
    return False


def named_columns(statement: Statement, named: NamedTables, table: LoadedTable) -> Sequence[str]:
    """Return the columns of a table that a statement may name: all where that cannot be told."""
    names = _names(table)
    if statement.columns is None:
        return names
    known = {name.lower() for each in named.values() for name in _names(each)}
    # What is neither a column nor a value of its own may stand for a whole row.
    if not known.union(statement.aliases).issuperset(statement.columns):
        return names
    # A count of rows names no column, and a table needs at least one.
    return [name for name in names if name.lower() in statement.columns] or names[:1]


def _names(table: LoadedTable) -> list[str]:
    return [name for name, _, _ in table.columns]


def _selected(table: LoadedTable, names: Sequence[str]) -> str:
    """Return the SELECT of some columns of a table."""
    selected = ", ".join(quoted_name(name) for name in names)
    return f"SELECT {selected} FROM {parquet_rows(table.parquet)}"


def _copy(
    connection: duckdb.DuckDBPyConnection, table: LoadedTable, called: str, names: Sequence[str]
) -> None:
    try:
        connection.execute(f"CREATE TABLE {called} AS {_selected(table, names)}")
    except duckdb.OutOfMemoryException:
        raise ToolTimeout(
            "the table does not fit into memory with these columns; name only the columns that "
            "you need, or use table_stats and table_read_rows"
        ) from None
