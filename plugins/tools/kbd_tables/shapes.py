"""Shapes of a column's values: each value with its figures as nines.

A column has few shapes ("9.999,99", "99 Jan 9999"), so that what all of its values have in common
is judged in Python on a handful of texts, after one pass of SQL over the column.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import duckdb
import msgspec

from kbd.formats import MISSING_TEXTS
from kbd_tables.duck import quoted_text

__all__ = [
    "BLANKS",
    "LETTERS",
    "Shape",
    "alternatives",
    "batches",
    "missing_sql",
    "shapes_of",
    "trimmed_sql",
]

BLANKS = " \u00a0\u202f\u2009\u2007"
"""The blanks that people write between groups of digits: plain, no-break, narrow, thin, as wide as
a figure."""

_AROUND = f"{BLANKS}\t\u200b\u200e\u200f\ufeff"
"""What may stand around a value and is none of it: blanks, and signs that nobody sees."""

MAX_SHAPES = 2_000
_BATCH = 50
_MAX_CHARACTERS = 48
_TEXT = "…"
"""The shape of all values that are neither numbers nor dates nor missing."""

LETTERS = (
    r"A-Za-z\x{AA}\x{B5}\x{BA}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1FFF}\x{2C00}-\x{2DFF}"
    r"\x{3040}-\x{FEFF}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{FF66}-\x{10FFFF}"
)
"""Letters in a class of a pattern for SQL, by the ranges of Unicode that hold them; in some there
are marks and figures of other scripts. The class of letters itself takes 3 to 14 ms to compile
wherever it stands in a statement, which was half of what it took to load a table of 200 rows."""

_LONG_WORD = f"[{LETTERS}]{{11}}"
"""Longer than the names of months and currencies, and the words for missing values."""

T = TypeVar("T")


class Shape(msgspec.Struct, frozen=True):
    """Values of a column that are written alike.

    Args:
        text: Any of them with 9 for each figure; "…" for texts.
        zero: Whether their first figure is a zero.
        count: How many there are.
        example: The first of them, blanks around it removed.
        row: Its row in the table, from 1.
    """

    text: str
    zero: bool
    count: int
    example: str
    row: int

    @property
    def is_missing(self) -> bool:
        """Whether it stands for a missing value."""
        return self.text.lower() in MISSING_TEXTS


def trimmed_sql(column: str) -> str:
    """Return the SQL of a value without blanks of any kind around it."""
    return f"trim({column}, {quoted_text(_AROUND)})"


def missing_sql(value: str) -> str:
    """Return the SQL that tells whether a value is missing."""
    return f"lower({value}) IN ({', '.join(map(quoted_text, sorted(MISSING_TEXTS)))})"


def shapes_of(
    connection: duckdb.DuckDBPyConnection, source: str, columns: Sequence[int]
) -> dict[int, tuple[Shape, ...] | None]:
    """Return the shapes of columns, the most common first; None where there are too many.

    Args:
        connection: A database.
        source: A relation with columns c0, c1, ... and the place of the row as `file_row_number`.
        columns: Which of them.

    The columns are turned on their side, for planning thousands of expressions takes far longer
    than running them.
    """
    found: dict[int, tuple[Shape, ...] | None] = dict.fromkeys(columns, ())
    for batch in batches(columns):
        rows = connection.execute(_shapes_sql(source, batch)).fetchall()
        if len(rows) <= MAX_SHAPES:
            found |= _by_column(rows)
        elif len(batch) == 1:
            found[batch[0]] = None
        else:
            # One column of texts must not crowd the others out.
            for column in batch:
                found |= shapes_of(connection, source, [column])
    return found


def _shapes_sql(source: str, columns: Sequence[int]) -> str:
    """Return the SQL of the shapes of some columns, one more than are of use."""
    names = ", ".join(f"c{column}" for column in columns)
    values = (
        f"UNPIVOT (SELECT {names}, file_row_number AS row FROM {source})"
        f" ON {names} INTO NAME c VALUE v"
    )
    # Other texts are as many as there are rows, and are of no interest. One pattern of what words
    # there may be took ten times as long as all the rest.
    of_interest = f"length(v) <= {_MAX_CHARACTERS} AND NOT regexp_matches(v, '{_LONG_WORD}')"
    return (
        f"SELECT c, CASE WHEN {of_interest} THEN translate(v, '012345678', '999999999') END AS s,"
        f" {of_interest} AND regexp_matches(v, '^[^0-9]*0') AS z, count(*) AS n,"
        f" arg_min(v, row), min(row) + 1 AS first FROM ({values})"
        f" GROUP BY c, s, z ORDER BY n DESC, first LIMIT {MAX_SHAPES + 1}"
    )


def _by_column(rows: Sequence[tuple[Any, ...]]) -> dict[int, tuple[Shape, ...]]:
    """Return the shapes of each column; those that differ only in blanks around them are one."""
    found: dict[int, dict[tuple[str, bool], Shape]] = {}
    for column, text, zero, count, example, row in rows:
        # Here, for it is a third of the time where it is done for each value.
        stripped, first = text and text.strip(_AROUND), example.strip(_AROUND)
        shape = Shape(_TEXT if text is None else stripped, bool(zero), count, first, row)
        shapes = found.setdefault(int(str(column).removeprefix("c")), {})
        before = shapes.setdefault((shape.text, shape.zero), shape)
        if before is not shape:
            earlier = min(before, shape, key=lambda one: one.row)
            count += before.count
            shapes[shape.text, shape.zero] = msgspec.structs.replace(earlier, count=count)
    return {column: tuple(shapes.values()) for column, shapes in found.items()}


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut items into portions that one statement takes."""
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


def alternatives(words: Sequence[str]) -> str:
    """Return a pattern of any of some words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
