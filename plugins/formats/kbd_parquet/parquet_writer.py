"""Writer of Parquet files: a stream of rows, with types that hold each value as it is."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import msgpack
import msgspec

from kbd.errors import FileReadFailed, FileWriteFailed, ValidationFailed
from kbd.formats import Placement, Written
from kbd_parquet.tables import column_names, open_memory, said_by, sql_name, sql_text

__all__ = ["write_rows"]

_BATCH = 5_000
"""Rows that are handed to DuckDB at a time."""
_MEMORY_MB = 1024
_LEAST_WHOLE, _MOST_WHOLE = -(2**63), 2**63 - 1
_MAX_DIGITS = 38
"""Digits that a decimal of Parquet has at most."""
_DECIMAL = re.compile(r"-?(\d+)(?:\.(\d+))?")
_ZONED = re.compile(r"T.*(?:Z|[+-]\d\d:?\d\d)$")

Row = list[Any]


def write_rows(rows: Path, placement: Placement, target: Path) -> Written:
    """Write a stream of rows as a new file.

    Exact decimals stay exact, whole numbers beyond 64 bits, too; a column with a float in it is one
    of doubles. Dates and times are dates and times.

    Args:
        rows: The stream, as `kbd.formats.Tabular.write_table` has it; it is read twice.
        placement: Where the rows go: into a new file alone.
        target: The file.

    Raises:
        ValidationFailed: They shall go into a file that is there.
        FileReadFailed: The stream is broken.
        FileWriteFailed: A value does not fit its column's type.
    """
    if placement.mode != "new_file":
        raise ValidationFailed(
            "rows are not added to a Parquet file; export the whole table to it anew"
        )
    columns = _columns(rows)
    types = _types(rows, columns)
    names = [sql_name(name) for name in column_names(name for name, _ in columns)]
    made = ", ".join(f"{name} {kind}" for name, kind in zip(names, types, strict=True))
    count = 0
    with open_memory(_MEMORY_MB) as connection:
        try:
            connection.execute(f"CREATE TABLE made ({made})")
            insert = _insert(types)
            for batch in _batches(rows):
                connection.execute(insert, [_by_column(batch)])
                count += len(batch)
            # Beside the target nothing can be written.
            connection.execute(
                f"COPY made TO '{sql_text(str(target))}' (FORMAT parquet, USE_TMP_FILE false)"
            )
        except duckdb.OutOfMemoryException:
            raise FileWriteFailed(
                "the table needs more memory than there is for it; export fewer rows or columns"
            ) from None
        except duckdb.Error as error:
            raise FileWriteFailed(
                f"the rows cannot be written as Parquet: {said_by(error)}"
            ) from None
    return Written("", count, len(columns))


def _stream(rows: Path) -> Iterator[Any]:
    with rows.open("rb") as file:
        yield from msgpack.Unpacker(file, raw=False, strict_map_key=False)


def _columns(rows: Path) -> list[tuple[str, str]]:
    first = next(_stream(rows), None)
    if first is None:
        raise FileReadFailed("the stream of rows is empty; it begins with its columns")
    return [(str(name), str(kind)) for name, kind, *_ in first]


def _batches(rows: Path) -> Iterator[list[Row]]:
    stream = islice(_stream(rows), 1, None)
    while batch := list(islice(stream, _BATCH)):
        yield batch


class _Numbers:
    """What the numbers of a column are, as far as they were seen."""

    def __init__(self) -> None:
        self._is_double = False
        self._digits = self._scale = 0

    def see(self, values: Sequence[Any]) -> None:
        """Look at values."""
        if self._is_double:
            return
        for value in values:
            if value is None:
                continue
            found = _DECIMAL.fullmatch(str(value)) if isinstance(value, str | int) else None
            if found is None:
                self._is_double = True
                return
            self._digits = max(self._digits, len(found[1].lstrip("0")))
            self._scale = max(self._scale, len(found[2] or ""))

    @property
    def sql_type(self) -> str:
        """The type that holds all of them."""
        if self._is_double or self._digits + self._scale > _MAX_DIGITS:
            return "DOUBLE"
        # Room for sums of them, as long as eight bytes have it.
        digits = max(18, self._digits + self._scale)
        return f"DECIMAL({digits}, {self._scale})"


def _types(rows: Path, columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return the type of SQL that holds the values of each column."""
    kinds = [kind for _, kind in columns]
    wholes = [place for place, kind in enumerate(kinds) if kind == "integer"]
    moments = [place for place, kind in enumerate(kinds) if kind == "datetime"]
    numbers = {place: _Numbers() for place, kind in enumerate(kinds) if kind == "float"}
    large: set[int] = set()
    zoned: set[int] = set()
    for batch in _batches(rows):
        for row in batch:
            if len(row) != len(kinds):
                raise FileReadFailed("a row of the stream has another width than its columns")
        for place, seen in numbers.items():
            seen.see([row[place] for row in batch])
        for place in wholes:
            if not all(_LEAST_WHOLE <= (row[place] or 0) <= _MOST_WHOLE for row in batch):
                large.add(place)
        for place in moments:
            if any(_ZONED.search(row[place] or "") for row in batch):
                zoned.add(place)
    held = {"integer": "BIGINT", "boolean": "BOOLEAN", "date": "DATE", "datetime": "TIMESTAMP"}
    types = [held.get(kind, "VARCHAR") for kind in kinds]
    types = [numbers[n].sql_type if n in numbers else kind for n, kind in enumerate(types)]
    types = ["DECIMAL(38, 0)" if n in large else kind for n, kind in enumerate(types)]
    return ["TIMESTAMPTZ" if n in zoned else kind for n, kind in enumerate(types)]


def _insert(types: Sequence[str]) -> str:
    """Return the statement that inserts a batch: a JSON text with a list for each column."""
    lists = ", ".join(f"(j->{place})::VARCHAR[] AS c{place}" for place in range(len(types)))
    values = ", ".join(f"unnest(c{place})::{kind}" for place, kind in enumerate(types))
    return f"INSERT INTO made SELECT {values} FROM (SELECT {lists} FROM (SELECT ?::JSON AS j))"


def _by_column(batch: Sequence[Row]) -> str:
    return msgspec.json.encode(list(zip(*batch, strict=True))).decode()
