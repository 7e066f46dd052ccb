"""Blocks of values, packed a column a list.

Values come from calamine: numbers, text, booleans, dates; "" is no value. Dates and times are kept
as ISO text with a code for what they are, so that nothing is made of them twice.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import ne
from typing import Any

import msgspec

from kbd.sheets.areas import Area
from kbd.sheets.values import Stamp, Value

__all__ = [
    "BLANK",
    "Cells",
    "PackedColumn",
    "Raw",
    "column_values",
    "pack",
    "stamped",
    "unpack",
]

Raw = int | float | str | bool | dt.date | dt.datetime | dt.time | dt.timedelta
"""Value of a cell as calamine gives it."""

BLANK = ""


class Cells(msgspec.Struct, frozen=True):
    """The rectangle around a sheet's values and its rows, which can be taken once."""

    area: Area
    rows: Iterator[list[Raw]]


_KIND_OF: dict[type, str] = {
    dt.date: "date",
    dt.datetime: "datetime",
    dt.time: "time",
    dt.timedelta: "duration",
}
# The codes start at 1, since 0 marks a cell that is no stamp.
_CODES: dict[type, int] = {kind: code for code, kind in enumerate(_KIND_OF, 1)}
_KINDS = dict(enumerate(_KIND_OF.values(), 1))


class PackedColumn(msgspec.Struct, array_like=True):
    """A column: its values, and if some are stamps their codes, a byte a cell, 0 for others."""

    values: list[Any]
    codes: bytes = b""


def pack(rows: Sequence[Sequence[Raw]]) -> tuple[bytes, list[bytes | None]]:
    """Pack rows of one width, and tell of each column which cells are filled: None is all."""
    columns: list[PackedColumn] = []
    filled: list[bytes | None] = []
    blank, unfilled = PackedColumn([BLANK] * len(rows)), bytes(len(rows))
    for raw in zip(*rows, strict=True):
        # Between two cells that are far apart nearly all columns are blank, and to look at each
        # cell of them in Python's own steps would take most of the time.
        if raw.count(BLANK) == len(raw):
            columns.append(blank)
            filled.append(unfilled)
            continue
        kinds = set(map(type, raw))
        blanks = str in kinds and BLANK in raw
        filled.append(bytes(map(ne, raw, repeat(BLANK))) if blanks else None)
        columns.append(
            PackedColumn(list(raw)) if kinds.isdisjoint(_CODES) else _with_stamps(raw, kinds)
        )
    return msgspec.msgpack.encode(columns), filled


def unpack(data: bytes) -> list[PackedColumn]:
    """Return the columns of a packed block; raises msgspec.MsgspecError for anything else."""
    return msgspec.msgpack.decode(data, type=list[PackedColumn])


def column_values(column: PackedColumn, first: int, last: int) -> list[Value]:
    """Return the values between two places of a column, both included."""
    values = column.values[first : last + 1]
    if column.codes:
        for place, code in enumerate(column.codes[first : last + 1]):
            if code:
                values[place] = Stamp(_KINDS.get(code, "date"), values[place])
    return values


def _with_stamps(raw: Sequence[Raw], kinds: set[type]) -> PackedColumn:
    # A duration has no isoformat(), and a mixed column needs a code for each cell.
    if len(kinds) == 1 and dt.timedelta not in kinds:
        kind: Any = kinds.pop()
        return PackedColumn(list(map(kind.isoformat, raw)), bytes([_CODES[kind]]) * len(raw))
    # The exact type counts, as a datetime is also an instance of date.
    codes = bytes(_CODES.get(type(value), 0) for value in raw)
    return PackedColumn(
        [_text(value) if code else value for value, code in zip(raw, codes, strict=True)], codes
    )


def _text(value: Raw) -> str:
    if isinstance(value, dt.timedelta):
        whole = round(value.total_seconds())
        # Of a negative number, a division that rounds down would borrow an hour.
        sign, seconds = "-" if whole < 0 else "", abs(whole)
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    assert isinstance(value, dt.date | dt.time)
    return value.isoformat()


def stamped(raw: Raw) -> Value:
    """Return a value with dates, times and durations as their texts."""
    kind = _KIND_OF.get(type(raw))
    if kind is not None:
        return Stamp(kind, _text(raw))
    assert isinstance(raw, bool | int | float | str)
    return raw
