"""Stored cells of a worksheet part: what an area holds in the file, pending edits aside."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from kbd.sheets.areas import Area
from kbd_xlsx.parts.markup import attribute, plain, without_mark
from kbd_xlsx.parts.outline import CellMarkup, Outline, RowMarkup, Rows

__all__ = ["StoredCell", "StoredCells"]


StoredKind = Literal["number", "shared", "text", "boolean", "error", "date"]

_KINDS: Mapping[str, StoredKind] = {
    "n": "number", "s": "shared", "str": "text", "b": "boolean", "e": "error", "d": "date",
}  # fmt: skip
_TRUE = ("1", "true")


class StoredCell(msgspec.Struct, frozen=True):
    """A cell that holds something.

    Args:
        row: Counted from 1, as is the column.
        kind: What its value is; "shared" for a text that is kept elsewhere, "date" for an ISO text.
        value: The value as it is stored, "" for none; of "shared" the number of the text.
        formula: Its formula without "=", "" for one that shares another's, None for none.
    """

    row: int
    column: int
    kind: StoredKind
    value: str
    formula: str | None = None


class StoredCells:
    """The cells of one part.

    Args:
        data: The part.
        name: The sheet's title, for messages.

    Raises:
        ValidationFailed, FileReadFailed: As `kbd_xlsx.parts.sheet.SheetPart`.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._outline = outline = Outline(data, name)
        self._rows = Rows(outline)
        tag = re.escape(outline.qualified(b""))
        self._formula = re.compile(rb"<%bf(?=[\s/>])[^<>]*?(?:/>|>([^<]*)</%bf\s*>)" % (tag, tag))
        self._value = re.compile(rb"<%bv(?:\s[^<>]*)?>([^<]+)</%bv\s*>" % (tag, tag))
        self._text = re.compile(rb"<%bt(?:\s[^<>]*)?>([^<]*)</%bt\s*>" % (tag, tag))
        self._inline = re.compile(rb"<%bis[\s>]" % tag)

    def of(self, area: Area) -> Iterator[StoredCell]:
        """Yield the cells of an area that hold something, row by row."""
        for place in self._rows.places(area):
            row = self._rows.at(place)
            for cell in self._rows.cells(row):
                if area.left <= cell.column <= area.right:
                    stored = self._stored(row, cell)
                    if stored is not None:
                        yield stored

    def extent(self) -> Area:
        """Return the area that the cells of the part lie in, A1 for none; it may be larger."""
        last = self._rows.numbers[-1] if self._rows.numbers else 1
        columns = (
            cell.column
            for place in range(len(self._rows.numbers))
            for cell in self._rows.cells(self._rows.at(place))[-1:]
        )
        return Area(1, 1, last, max(columns, default=1))

    def hidden_rows(self) -> frozenset[int]:
        """Return the numbers of the rows that are hidden."""
        rows = map(self._rows.at, range(len(self._rows.numbers)))
        return frozenset(
            row.number
            for row in rows
            if b"hidden" in row.attributes and attribute(row.attributes, b"hidden") in _TRUE
        )

    def row_count(self, area: Area) -> int:
        """Return how many rows of an area the part has."""
        return len(self._rows.places(area))

    def _stored(self, row: RowMarkup, cell: CellMarkup) -> StoredCell | None:
        inner = row.data[cell.inner : cell.inner_end]
        if not inner:
            return None
        found = self._formula.search(inner)
        formula = None if found is None else plain(without_mark(found[1] or b"")).strip()
        value = self._value.search(inner)
        if self._inline.search(inner):
            text = "".join(plain(without_mark(part)) for part in self._text.findall(inner))
            return StoredCell(row.number, cell.column, "text", text, formula)
        if value is None and formula is None:
            return None
        shown = "" if value is None else plain(without_mark(value[1]))
        kind = _KINDS.get(attribute(cell.attributes, b"t") or "n", "text")
        return StoredCell(row.number, cell.column, kind, shown, formula)
