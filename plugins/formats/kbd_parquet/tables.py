"""Tables of Parquet files: mapped, and written in the plain form.

The file says the types of its columns. Texts stay texts, whatever they look like; times with a zone
are told in UTC; nested values are JSON, bytes hexadecimal.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Column, ColumnType, ReadAs, Source, Table

__all__ = ["ROWS_PER_CHUNK", "read_table", "table_map"]

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
    "memory_limit": f"{_MEMORY_MB}MiB",
}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_PATH = re.compile(r"['\"][^'\"\n]*/[^'\"\n]*['\"]|/\S+")


def table_map(source: Source) -> dict[str, Any]:
    """Return `{row_count, column_count, columns, chunk_rows, total_chunks}`.

    Raises:
        FileReadFailed: It is no Parquet file.
    """
    with _opened(source) as connection:
        described = _columns(connection, source)
        rows = _row_count(connection)
    names = _unique([name for name, _ in described])
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


def read_table(source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
    """Write the rows in the plain form and describe them.

    Raises:
        FileReadFailed: It is no Parquet file.
        ValidationFailed: A sheet is named, or something was said of how it is to be read.
    """
    if sheet is not None:
        raise ValidationFailed(f"{source.name} is one table; it has no sheets")
    said = [name for name in ("encoding", "delimiter", "header_row") if getattr(read_as, name)]
    if said:
        raise ValidationFailed(f"{source.name} says itself how it is read; it has no {said[0]}")
    with _opened(source) as connection:
        described = _columns(connection, source)
        names = _unique([name for name, _ in described])
        selected = ", ".join(
            f"{_value(_quoted(name), kind)} AS {_quoted(unique)}"
            for unique, (name, kind) in zip(names, described, strict=True)
        )
        lost = _lost_figures(connection, described)
        # As text, with nothing for a null; a text that is empty is quoted.
        connection.execute(
            f"COPY (SELECT {selected} FROM source) TO '{_text(str(target))}' (FORMAT csv, HEADER,"
            " DELIMITER ',', QUOTE '\"', ESCAPE '\"', NULLSTR '', USE_TMP_FILE false)"
        )
        rows = _row_count(connection)
    columns = [
        Column(name, _reported(kind)) for name, (_, kind) in zip(names, described, strict=True)
    ]
    warnings = [
        f"{count} value(s) of {name} are NaN or infinite: they are empty here"
        for name, count in lost
    ]
    return Table(tuple(columns), rows, warnings=tuple(warnings))


@contextmanager
def _opened(source: Source) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory with a view of the file, called `source`.

    Raises:
        FileReadFailed: The file cannot be read, or what is done with it fails.
    """
    connection = duckdb.connect(":memory:", config=_CONFIG)
    try:
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET TimeZone = 'UTC'")
        path = _text(str(source.path))
        connection.execute(f"CREATE VIEW source AS FROM read_parquet('{path}')")
        yield connection
    except duckdb.Error as error:
        said = _PATH.sub("the file", str(error).split("\n")[0])
        raise FileReadFailed(f"{source.name} cannot be read: {said}") from None
    finally:
        connection.close()


def _columns(connection: duckdb.DuckDBPyConnection, source: Source) -> list[tuple[str, str]]:
    """Return names and SQL types of the columns."""
    found = [(str(row[0]), str(row[1])) for row in connection.execute("DESCRIBE source").fetchall()]
    if len(found) > _MAX_COLUMNS:
        raise FileReadFailed(f"{source.name} has more than {_MAX_COLUMNS:,} columns")
    return found


def _row_count(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute("SELECT count(*) FROM source").fetchone()
    return int(row[0]) if row else 0


def _lost_figures(
    connection: duckdb.DuckDBPyConnection, described: Sequence[tuple[str, str]]
) -> list[tuple[str, int]]:
    """Return the columns with numbers that are none, and how many of them."""
    floats = [name for name, kind in described if kind in ("DOUBLE", "FLOAT")]
    if not floats:
        return []
    counted = ", ".join(f"count(*) FILTER (NOT isfinite({_quoted(name)}))" for name in floats)
    counts = connection.execute(f"SELECT {counted} FROM source").fetchone() or ()
    found = [(name, int(count)) for name, count in zip(floats, counts, strict=True) if count]
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


def _unique(given: Sequence[str]) -> list[str]:
    """Return the names made unique without regard to case, none empty."""
    names: list[str] = []
    seen: set[str] = set()
    for place, each in enumerate(given, 1):
        stem = " ".join(each.split()) or f"column_{place}"
        name, count = stem, 2
        while name.casefold() in seen:
            name, count = f"{stem}_{count}", count + 1
        seen.add(name.casefold())
        names.append(name)
    return names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return value.replace("'", "''")
