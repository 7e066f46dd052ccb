"""Connections to DuckDB, its errors as errors of kbd, and its values as JSON values."""

import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import duckdb

from kbd.errors import FileReadFailed, KbdError, ToolTimeout
from kbd.formats import ColumnType
from kbd_tables.statement_time import CLOCK_MACROS

__all__ = [
    "AGGREGATES",
    "CELL_CHARACTERS",
    "KEPT_PARQUET",
    "PASSING_PARQUET",
    "READY",
    "closing_connection",
    "count_lost",
    "duckdb_message",
    "json_value",
    "parquet_rows",
    "quoted_name",
    "quoted_text",
    "reported_type",
]

_PATH = re.compile(r"(?<=')/[^']+(?=')|(?<=\")/[^\"]+(?=\")|(?:[A-Za-z]:)?(?:/[^\s/'\"]+){2,}")
"""A path in quotes goes as a whole: it may hold blanks."""
# Nothing is fetched or loaded: an extension would be code from outside in the worker.
_OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    # Else a name in SQL may mean a variable of this process.
    "python_enable_replacements": False,
    "temp_directory": "",
    # Eight threads for reading ahead, which take as long to start and end as a small query runs.
    "async_threads": 0,
    # Their defaults tell the home folder to whoever asks for the settings.
    "secret_directory": "none",
    "extension_directory": "none",
}


_MEMORY_MB = 1024


def _connect() -> duckdb.DuckDBPyConnection:
    """Open an empty database with one thread, and with clock functions of ours."""
    settings = {**_OFFLINE, "threads": 1, "memory_limit": f"{_MEMORY_MB}MiB"}
    connection = duckdb.connect(":memory:", config=settings)
    # No options of `connect`. Without the first one a bar is drawn on stdout after two seconds.
    connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
    return connection.execute(CLOCK_MACROS)


_SAMPLE = "SELECT a, sum(b) AS n FROM t WHERE c > 1 GROUP BY a ORDER BY a LIMIT 1"


def _warmed(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return a database that has once used what each statement needs: the first use takes 3 ms."""
    connection.extract_statements(_SAMPLE)
    duckdb.tokenize(_SAMPLE)
    connection.execute("SELECT json_serialize_sql(?), setseed(0)", [_SAMPLE]).fetchall()
    return connection


READY = _warmed(_connect())
"""An empty database that is open when a worker is forked: to open one in a fork takes 15 ms, to
close it 6, and the rest of a call on a small table 10. It has one thread, as a fork has."""


def _aggregates(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the functions that make one value of many rows, and the macros that call one."""
    listed = connection.execute(
        "SELECT lower(function_name), function_type, coalesce(macro_definition, '')"
        " FROM duckdb_functions() WHERE function_type IN ('aggregate', 'macro')"
    ).fetchall()
    found = {name for name, kind, _ in listed if kind == "aggregate"}
    macros = [(name, set(_CALLED.findall(text))) for name, kind, text in listed if kind == "macro"]
    # One may call another that does: wavg is weighted_avg, which sums.
    while more := {name for name, called in macros if called & found} - found:
        found |= more
    return frozenset(found)


_CALLED = re.compile(r"(\w+)\(")
AGGREGATES = _aggregates(READY)
"""The functions that work out figures, in lower case: to ask DuckDB for them takes 15 ms."""
_USED = threading.Lock()
"""Held once `READY` was used in this process, so that no call sees what another one did."""


@contextmanager
def closing_connection(
    memory_mb: int = _MEMORY_MB, threads: int = 1
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a private database in memory that loads no extension and spills nowhere.

    Errors of DuckDB that leave the block are translated: time and memory are TOOL_TIMEOUT, the
    rest FILE_READ_FAILED without paths, with the detail `stale_table`.
    """
    # A worker's process ends with its call, and takes the database with it.
    is_ready = _USED.acquire(blocking=False)
    connection = READY if is_ready else _connect()
    try:
        if memory_mb != _MEMORY_MB:
            connection.execute(f"SET memory_limit = '{memory_mb}MiB'")
        if threads != 1:
            connection.execute(f"SET threads = {threads}")
        yield connection
    except KbdError:
        raise
    except duckdb.InterruptException:
        raise ToolTimeout("the query passed its time limit and was stopped") from None
    except (duckdb.OutOfMemoryException, MemoryError):
        raise ToolTimeout(
            "the query needs more memory than it may use; select fewer columns or rows, "
            "or aggregate first"
        ) from None
    except duckdb.Error as error:
        # Statements from outside have their errors translated where they run; what comes here is
        # about the cached table itself.
        raise FileReadFailed(duckdb_message(error), detail={"stale_table": True}) from None
    finally:
        if not is_ready:
            connection.close()


def duckdb_message(error: Exception) -> str:
    """Return DuckDB's own message without absolute paths and advice about settings."""
    message = str(error).split("\n\nPossible solutions")[0].strip()
    return _PATH.sub("(path)", message)


def quoted_name(name: str) -> str:
    """Return a name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(value: str) -> str:
    """Return a text quoted for SQL."""
    return "'" + value.replace("'", "''") + "'"


KEPT_PARQUET = "FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 40960"
"""Options of COPY for a table that is kept: read often, and bounded in all (`cache_mb`). Of 3.84
million rows it took 182 MiB, and 52 with zstd; the same statements took a third to a half as long.
A call reads a group of rows whole: a thousand rows of DuckDB's 122,880 took 12.5 ms, of a third of
them 8.9, and 188 MiB."""
PASSING_PARQUET = "FORMAT parquet, COMPRESSION lz4_raw"
"""Options of COPY for a table of texts on its way to that, which is read a few times."""


def parquet_rows(path: str, *, numbered: bool = False) -> str:
    """Return the SQL of the rows of a Parquet file, if wanted with their `file_row_number`."""
    number = ", file_row_number = true" if numbered else ""
    # Else each folder above it that is called so (`region=north`) would be a column.
    return f"read_parquet({quoted_text(path)}{number}, hive_partitioning = false)"


CELL_CHARACTERS = 32_767
"""A longer text is cut in results, as spreadsheets do; the file is not changed."""

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
# A decimal of up to so many digits comes back from a double as it was (IEEE 754).
_EXACT_DIGITS = 15
_INT64 = 2**63


def reported_type(sql_type: str) -> ColumnType:
    """Return the type that tables report for a type of DuckDB."""
    if sql_type in (*_INTEGERS, *_UNSIGNED):
        return "integer"
    if sql_type in ("DOUBLE", "FLOAT") or sql_type.startswith("DECIMAL"):
        return "float"
    if sql_type == "BOOLEAN":
        return "boolean"
    if sql_type == "DATE":
        return "date"
    return "datetime" if sql_type.startswith("TIMESTAMP") else "string"


def json_value(value: Any) -> Any:
    """Return a value as JSON can carry it without loss.

    Dates are ISO texts; a decimal is a number where a double holds it exactly, else text, and so
    is an integer beyond 64 bits; NaN and infinities are null.
    """
    # By its very type: to try one class after the other took twice as long for a window of rows.
    convert = _CONVERSIONS.get(type(value))
    if convert is not None:
        return convert(value)
    match value:
        case list() | tuple():
            return [json_value(item) for item in value]
        case dict():
            return {str(key): json_value(item) for key, item in value.items()}
        case bytes():
            return value.hex()
        case _:
            return str(value)


def count_lost(value: Any) -> int:
    """Return how many figures `json_value` makes null of a value: NaN and infinities."""
    match value:
        case float():
            return not math.isfinite(value)
        case list() | tuple():
            return sum(map(count_lost, value))
        case dict():
            return sum(map(count_lost, value.values()))
        case _:
            return 0


def _same(value: Any) -> Any:
    return value


def _integer(value: int) -> int | str:
    return value if -_INT64 <= value < _INT64 else str(value)


def _float(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(value: str) -> str:
    return value if len(value) <= CELL_CHARACTERS else f"{value[:CELL_CHARACTERS]}..."


def _decimal(value: Decimal) -> float | str:
    """Return a decimal as a number if that is exact."""
    if not value.is_finite() or len(value.as_tuple().digits) > _EXACT_DIGITS:
        return str(value)
    return float(value)


_CONVERSIONS: Mapping[type, Callable[[Any], Any]] = {
    type(None): _same,
    bool: _same,
    int: _integer,
    float: _float,
    str: _text,
    Decimal: _decimal,
    date: date.isoformat,
    datetime: datetime.isoformat,
    time: time.isoformat,
}
"""How values of the types that DuckDB returns most are carried."""
