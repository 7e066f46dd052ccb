"""The ready text of rows: their cells as they stand in a sheet's part, without an object for each.

Common values are written by makers of their column's type, all others by the rules of `typed`.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, assert_never

from kbd.formats import Column
from kbd_xlsx.parts.cells import Content, cell_xml, escaped
from kbd_xlsx.references import column_letters
from kbd_xlsx.rows.formatting import RowFormatting
from kbd_xlsx.rows.row_types import HeldTypes, TypedRows

__all__ = ["RowText"]

_PLAIN_TEXT = re.compile(r"(?![\s=+@-])[^\x00-\x1f\x7f-\x9f&<>_\ud800-\uffff]{1,32000}(?<!\s)")
"""Text that a cell holds and XML shows as it is, and that cannot be taken for a formula."""

_MARKED_TEXT = re.compile(_PLAIN_TEXT.pattern.replace("&<>", ""))
"""The same, but for what XML has other ways to write."""

_SHORT_DECIMAL = re.compile(r"-?(?:0|[1-9]\d{0,8})\.(\d{1,5})")
"""A decimal of less than 15 digits, in the form that the format has, too."""

_LARGEST = 10**14
_MOST_KNOWN = 50_000
"""Dates whose cells are remembered: those of more than a hundred years."""

_PLAIN_NUMBER = HeldTypes(Content("number", "0"))

_Maker = Callable[[str, Any], str]
"""Makes the XML of a cell from the digits of its row and its value, which is not None."""


class RowText:
    """Makes the cells of rows that have none yet.

    Args:
        prefix: What stands before the names of the part's elements ("x:", mostly "").
        columns: The columns in order.
        left: The first of them on the sheet, from 1.
        typed: Types the values.
        looks: The styles of the cells.
        bases: The style that a cell of each column has unless it needs another one.
    """

    def __init__(
        self,
        prefix: str,
        columns: Sequence[Column],
        left: int,
        typed: TypedRows,
        looks: RowFormatting,
        bases: Sequence[int],
    ) -> None:
        self._prefix, self._columns, self._typed, self._looks = prefix, columns, typed, looks
        self._places = [column_letters(left + number) for number in range(len(columns))]
        self._bases = bases
        self._makers = [self._maker(number) for number in range(len(columns))]

    def header(self, row: int) -> str:
        """Return the cells of the columns' names, in bold."""
        cells = []
        for column, letters, base in zip(self._columns, self._places, self._bases, strict=True):
            place = f"{letters}{row}"
            content = self._typed.name(column.name, place)
            cells.append(cell_xml(self._prefix, place, self._looks.bold(base), content))
        return "".join(cells)

    def row(self, row: int, values: Sequence[Any]) -> str:
        """Return the cells of a row of values; None has no cell.

        Raises:
            ValidationFailed: A cell cannot hold a value.
        """
        pairs = zip(self._makers, values, strict=True)
        digits = str(row)
        return "".join([make(digits, value) for make, value in pairs if value is not None])

    def _maker(self, number: int) -> _Maker:
        """Return what makes the cells of a column."""
        column, letters, base = self._columns[number], self._places[number], self._bases[number]

        def by_rule(row: str, value: Any) -> str:
            place = f"{letters}{row}"
            held = self._typed.held(column.type, value, place)
            return cell_xml(self._prefix, place, self._looks.index(base, held), held.content)

        match column.type:
            case "float":
                return self._decimals(letters, base, by_rule)
            case "date" | "datetime":
                return self._moments(letters, base, column)
            case "integer":
                return self._integers(letters, base, by_rule)
            case "string" | None:
                return self._texts(letters, base, by_rule)
            case "boolean":
                return self._booleans(letters, base, by_rule)
            case other:
                assert_never(other)

    def _texts(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        prefix = self._prefix
        start = f'<{prefix}c r="{letters}'
        middle = f'"{_style(base)} t="inlineStr"><{prefix}is><{prefix}t>'
        end = f"</{prefix}t></{prefix}is></{prefix}c>"

        def make(row: str, value: Any) -> str:
            if isinstance(value, str):
                if _PLAIN_TEXT.fullmatch(value):
                    return f"{start}{row}{middle}{value}{end}"
                if _MARKED_TEXT.fullmatch(value):
                    return f"{start}{row}{middle}{escaped(value)}{end}"
            return by_rule(row, value)

        return make

    def _booleans(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        start = f'<{self._prefix}c r="{letters}'
        rests = [f'"{_style(base)} t="b"><{self._prefix}v>{n}{self._end}' for n in (0, 1)]

        def make(row: str, value: Any) -> str:
            if value is True or value is False:
                return f"{start}{row}{rests[value]}"
            return by_rule(row, value)

        return make

    def _integers(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        start, end = f'<{self._prefix}c r="{letters}', self._end
        middle = self._middle(base, _PLAIN_NUMBER)

        def make(row: str, value: Any) -> str:
            if type(value) is int and -_LARGEST <= value <= _LARGEST:
                return f"{start}{row}{middle}{value}{end}"
            return by_rule(row, value)

        return make

    def _decimals(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        start, end = f'<{self._prefix}c r="{letters}', self._end
        middles: dict[int, str] = {}

        def make(row: str, value: Any) -> str:
            found = _SHORT_DECIMAL.fullmatch(value) if isinstance(value, str) else None
            if found is None:
                return by_rule(row, value)
            places = len(found[1])
            if places not in middles:
                middles[places] = self._middle(base, self._typed.held("float", value, ""))
            return f"{start}{row}{middles[places]}{value}{end}"

        return make

    def _moments(self, letters: str, base: int, column: Column) -> _Maker:
        start = f'<{self._prefix}c r="{letters}'
        known: dict[Any, str] = {}

        def make(row: str, value: Any) -> str:
            rest = known.get(value)
            if rest is not None:
                return f"{start}{row}{rest}"
            place = f"{letters}{row}"
            held = self._typed.held(column.type, value, place)
            if held.content.kind == "number" and len(known) < _MOST_KNOWN:
                known[value] = f"{self._middle(base, held)}{held.content.text}{self._end}"
            return cell_xml(self._prefix, place, self._looks.index(base, held), held.content)

        return make

    def _middle(self, base: int, held: HeldTypes) -> str:
        """Return what stands between the row of a number and the number."""
        return f'"{_style(self._looks.index(base, held))}><{self._prefix}v>'

    @property
    def _end(self) -> str:
        return f"</{self._prefix}v></{self._prefix}c>"


def _style(index: int) -> str:
    return f' s="{index}"' if index else ""
