"""A total at the end of rows that are written: formulas where it is what the rows above come to.

Who edits the sheet later then gets a total that counts the edit. It is proven, not believed: the
label says total, no other field of the row is filled, and each figure is the sum of its column.
What is not stays the figure that it is.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgpack
import msgspec

from kbd.formats import Column, total_label
from kbd.sheets.areas import cell_name, column_letters

__all__ = ["TotalRow", "sheet_number", "sum_formula", "total_notes", "with_total"]

_EXACT_DIGITS = 15
"""Significant digits that a number of a sheet keeps; one with more is a text there."""
_RELATIVE_ERROR = 1e-12
"""What a sum of doubles may be off by, of the sum of their sizes."""
_SIGNS = re.compile(r"[\W_]*")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_NAMED = 3


class TotalRow(msgspec.Struct, frozen=True):
    """A row with the label of a total.

    Args:
        label: The label.
        summed: The columns whose figure is the sum of the rows above, from 0.
        others: The columns with a figure that is not.
    """

    label: str
    summed: tuple[int, ...]
    others: tuple[int, ...]


def with_total(
    stream: Iterable[list[Any]], columns: Sequence[Column], rows: Path
) -> Iterator[tuple[list[Any], TotalRow | None]]:
    """Yield rows, the last one with what it sums up if it is a total.

    Args:
        stream: The rows.
        columns: Their columns.
        rows: The same as a stream of its own, which is read again only below such a label.
    """
    last: list[Any] | None = None
    count = 0
    for values in stream:
        if last is not None:
            yield last, None
            count += 1
        last = values
    if last is not None:
        label = _label(columns, last)
        yield last, _total(columns, label, last, rows, count) if label and count else None


def total_notes(total: TotalRow, first: int, last: int, left: int) -> list[str]:
    """Return what must be known of a total.

    Args:
        total: The total.
        first: The first of the rows that it is below.
        last: Its row.
        left: The first column.
    """
    notes = []
    if total.summed:
        named = ", ".join(
            f"{cell_name(last, left + n)} =SUM({_range(first, last, left + n)})"
            for n in total.summed[:_NAMED]
        )
        more = " …" if len(total.summed) > _NAMED else ""
        notes.append(
            f"The last row ({total.label}) sums the rows above up by formulas: {named}{more}."
        )
    if total.others:
        cells = ", ".join(cell_name(last, left + n) for n in total.others[:_NAMED])
        more = " …" if len(total.others) > _NAMED else ""
        notes.append(
            f"Figures of the last row ({total.label}) are not the sum of the rows above, and stay "
            f"figures: {cells}{more}."
        )
    return notes


def sum_formula(first: int, last: int, column: int) -> str:
    """Return the formula of a sum over the rows above its own, without its sign."""
    return f"SUM({_range(first, last, column)})"


def _range(first: int, last: int, column: int) -> str:
    letters = column_letters(column)
    return f"{letters}{first}:{letters}{last - 1}"


def _label(columns: Sequence[Column], values: Sequence[Any]) -> str:
    """Return the label of a row that has nothing but it and figures, "" if it has more."""
    texts = [
        value
        for column, value in zip(columns, values, strict=True)
        if column.type not in ("integer", "float") and value is not None
    ]
    said = [text for text in texts if not isinstance(text, str) or not _SIGNS.fullmatch(text)]
    if len(said) != 1 or not isinstance(said[0], str):
        return ""
    label = total_label(said[0])
    return said[0] if label and label.kind == "sum" and not label.is_part else ""


def _total(
    columns: Sequence[Column], label: str, values: Sequence[Any], rows: Path, count: int
) -> TotalRow | None:
    """Return which figures of a last row are sums of the rows above it."""
    filled = [
        n
        for n, (column, value) in enumerate(zip(columns, values, strict=True))
        if column.type in ("integer", "float") and value is not None
    ]
    sums = {n: _Sum() for n in filled}
    with rows.open("rb") as file:
        stream = msgpack.Unpacker(file, raw=False, strict_map_key=False)
        next(stream)
        for _, above in zip(range(count), stream, strict=False):
            for n, found in sums.items():
                found.add(above[n])
    summed = tuple(n for n in filled if sums[n].is_equal(values[n]))
    others = tuple(n for n in filled if n not in summed)
    known = total_label(label)
    is_whole = known is not None and known.is_whole
    # One row and its figure once more may be two rows of which one is called so.
    if not is_whole and (count == 1 or not summed):
        return None
    return TotalRow(label, summed, others)


class _Sum:
    """The sum of a column's values as a sheet has it."""

    def __init__(self) -> None:
        self._exact, self._rounded = Decimal(0), list[float]()
        self._size, self._count, self._is_known = 0.0, 0, True

    def add(self, value: Any) -> None:
        """Add a value, or nothing."""
        if value is None:
            return
        number = sheet_number(value)
        if number is None:
            self._is_known = False
            return
        self._count += 1
        self._size += abs(float(number))
        if isinstance(number, float):
            self._rounded.append(number)
        else:
            self._exact += number

    def is_equal(self, value: Any) -> bool:
        """Tell whether a figure is the sum."""
        figure = sheet_number(value)
        if figure is None or not self._is_known or not self._count:
            return False
        if isinstance(figure, Decimal) and not self._rounded:
            return figure == self._exact
        total = math.fsum((*self._rounded, float(self._exact)))
        bound = _RELATIVE_ERROR * self._size + 4 * math.ulp(float(figure))
        return abs(float(figure) - total) <= bound


def sheet_number(value: Any) -> Decimal | float | None:
    """Return the number that a cell of a sheet holds for a value; None for a text."""
    if isinstance(value, float):
        return value
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    if not _NUMBER.fullmatch(text) or len(re.sub(r"\D", "", text).lstrip("0")) > _EXACT_DIGITS:
        return None
    return Decimal(text)
