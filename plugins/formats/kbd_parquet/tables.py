"""Tables of files with typed columns: mapped, and written in the plain form, by DuckDB.

How a file is opened is for its format: `parquet_files`, `arrow_files`. The file says the types of
its columns. Texts stay texts, whatever they look like; times with a zone are told in UTC; nested
values are JSON, bytes hexadecimal.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import duckdb

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Column, ColumnType, ReadAs, Source, Table
from kbd.formats.headings import unique_names

__all__ = [
    "ROWS_PER_CHUNK",
    "ColumnScan",
    "column_names",
    "connected",
    "open_memory",
    "read_table",
    "said_by",
    "sql_name",
    "sql_text",
    "table_map",
]

ROWS_PER_CHUNK = 500
"""Contract, section 8."""

_MAX_COLUMNS = 16_384
_MAX_SHOWN = 60
_MEMORY_MB = 512
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "temp_directory": "",
    "threads": 1,
}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_PATH = re.compile(r"(?:\bfile )?(?:['\"][^'\"\n]*/[^'\"\n]*['\"]|(?<![\w/])/\S+)")


class ColumnScan(ABC):
    """A file that is open, to be asked in SQL, where it is called `source`."""

    @abstractmethod
    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Return all rows that a statement answers, which reads the file once."""

    @abstractmethod
    def row_count(self) -> int:
        """Return how many rows it has."""

    def warnings(self) -> tuple[str, ...]:
        """Return what a reader must know of the file."""
        return ()


Opener = Callable[[Source], AbstractContextManager[ColumnScan]]


def table_map(source: Source, opened: Opener) -> dict[str, Any]:
    """Return `{row_count, column_count, columns, chunk_rows, total_chunks}`.

    Raises:
        FileReadFailed: It is no file of its format.
    """
    with opened(source) as scan:
        described = _columns(scan, source)
        rows = scan.row_count()
    names = column_names(name for name, _ in described)
    columns = [
        {"name": name, "type": _reported(kind)}
        for name, (_, kind) in zip(names, described, strict=True)
    ]
    return {
        "row_count": rows,
        "column_count": len(columns),
        "columns": columns,
        "chunk_rows": ROWS_PER_CHUNK,
        "total_chunks": -(-rows // ROWS_PER_CHUNK),
    }


def read_table(
    source: Source, sheet: str | None, read_as: ReadAs, target: Path, opened: Opener
) -> Table:
    """Write the rows in the plain form and describe them.

    Raises:
        FileReadFailed: It is no file of its format.
        ValidationFailed: A sheet is named, or something was said of how it is to be read.
    """
    if sheet is not None:
        raise ValidationFailed(f"{source.name} is one table; it has no sheets")
    settings = ("encoding", "delimiter", "header_row", "header_sheet")
    said = [name for name in settings if getattr(read_as, name)]
    if said:
        raise ValidationFailed(f"{source.name} says itself how it is read; it has no {said[0]}")
    with opened(source) as scan:
        described = _columns(scan, source)
        names = column_names(name for name, _ in described)
        selected = ", ".join(
            f"{_value(sql_name(name), kind)} AS {sql_name(unique)}"
            for unique, (name, kind) in zip(names, described, strict=True)
        )
        warnings = _losses(scan, described)
        # As text, with nothing for a null; a text that is empty is quoted.
        path = sql_text(str(target))
        scan.ask(
            f"COPY (SELECT {selected} FROM source) TO '{path}' (FORMAT csv, HEADER,"
            " DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', USE_TMP_FILE false)"
        )
        rows, told = scan.row_count(), scan.warnings()
    columns = [
        Column(name, _reported(kind)) for name, (_, kind) in zip(names, described, strict=True)
    ]
    return Table(tuple(columns), rows, warnings=(*told, *warnings))


@contextmanager
def connected(source: Source) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory, to read a file with.

    Raises:
        FileReadFailed: What is done with it fails.
    """
    with open_memory() as connection:
        try:
            yield connection
        except duckdb.Error as error:
            raise FileReadFailed(f"{source.name} cannot be read: {said_by(error)}") from None


@contextmanager
def open_memory(memory_mb: int = _MEMORY_MB) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that keeps to itself, with times in UTC."""
    config = {**_CONFIG, "memory_limit": f"{memory_mb}MiB"}
    with duckdb.connect(":memory:", config=config) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


def said_by(error: duckdb.Error) -> str:
    """Return what an error of DuckDB says, without paths."""
    return _PATH.sub("the file", str(error).split("\n")[0])


def _columns(scan: ColumnScan, source: Source) -> list[tuple[str, str]]:
    """Return names and SQL types of the columns."""
    found = [(str(row[0]), str(row[1])) for row in scan.ask("DESCRIBE source")]
    if len(found) > _MAX_COLUMNS:
        raise FileReadFailed(f"{source.name} has more than {_MAX_COLUMNS:,} columns")
    return found


def _losses(scan: ColumnScan, described: Sequence[tuple[str, str]]) -> list[str]:
    """Return what values lose in the plain form: numbers, and parts and zones of times."""
    lost = {}
    for name, kind in described:
        column = sql_name(name)
        if kind in ("DOUBLE", "FLOAT"):
            what = f"value(s) of {name} are NaN or infinite: they are empty here"
            lost[what] = f"NOT isfinite({column})"
        elif kind == "TIMESTAMP_NS":
            what = f"time(s) of {name} have nanoseconds: they are rounded to microseconds here"
            lost[what] = f"CAST(CAST({column} AS TIMESTAMP) AS TIMESTAMP_NS) <> {column}"
    found = []
    if lost:
        counted = ", ".join(f"count(*) FILTER ({test})" for test in lost.values())
        (counts,) = scan.ask(f"SELECT {counted} FROM source")
        found = [f"{count} {what}" for what, count in zip(lost, counts, strict=True) if count]
    zoned = [name for name, kind in described if _is_zoned(kind)]
    if zoned:
        # By which day a moment counts depends on it.
        found.insert(0, f"times with a zone are told in UTC: {', '.join(zoned[:_MAX_SHOWN])}")
    return found[:_MAX_SHOWN]


def _value(column: str, kind: str) -> str:
    """Return the SQL of a value as the plain form has it."""
    if kind in ("DOUBLE", "FLOAT"):
        return f"CASE WHEN isfinite({column}) THEN CAST({column} AS VARCHAR) END"
    if kind == "BLOB":
        return f"hex({column})"
    if kind.startswith("TIMESTAMP"):
        return f"CAST(CAST({column} AS TIMESTAMP) AS VARCHAR)"
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
        return f"CAST(to_json({column}) AS VARCHAR)"
    return f"CAST({column} AS VARCHAR)"


def _is_zoned(kind: str) -> bool:
    return kind.startswith("TIMESTAMP") and kind.endswith("WITH TIME ZONE")


def _reported(kind: str) -> ColumnType:
    """Return the type that tables report for a type of DuckDB."""
    if kind.removeprefix("U") in _WHOLE:
        return "integer"
    if kind in ("DOUBLE", "FLOAT") or (kind.startswith("DECIMAL") and not kind.endswith("]")):
        return "float"
    if kind == "BOOLEAN":
        return "boolean"
    if kind == "DATE":
        return "date"
    is_moment = kind.startswith("TIMESTAMP") and not kind.endswith("]")
    return "datetime" if is_moment else "string"


def column_names(given: Iterable[str]) -> list[str]:
    """Return the names that a file's columns have as a table's: unique, blanks in them single."""
    return unique_names(" ".join(each.split()) for each in given)


def sql_name(name: str) -> str:
    """Return a name as it stands in a statement, with its quotes."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(value: str) -> str:
    """Return a text as it stands in a statement, without its quotes."""
    return value.replace("'", "''")
