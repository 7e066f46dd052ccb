"""Stored cells of a worksheet part: what an area holds in the file, pending edits aside."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from kbd.sheets.areas import Area
from kbd_xlsx.parts.markup import ATTRIBUTES, attribute, plain, without_mark
from kbd_xlsx.parts.outline import Outline, Rows
from kbd_xlsx.parts.row_pieces import MAX_ORDERS, RowCuts

__all__ = ["StoredCell", "StoredCells"]


StoredKind = Literal["number", "shared", "text", "boolean", "error", "date"]

_KINDS: Mapping[str, StoredKind] = {
    "n": "number", "s": "shared", "str": "text", "b": "boolean", "e": "error", "d": "date",
}  # fmt: skip
_TRUE = ("1", "true")


class StoredCell(msgspec.Struct, frozen=True, gc=False):
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
        self._cuts = RowCuts(outline, self._rows)
        # After its name: the type, the formula and its text, the value of most cells.
        self._usual = re.compile(
            rb'[A-Z]{1,3}[0-9]{1,7}"(?: s="[0-9]+")?(?: t="([a-z]+)")?>'
            rb"(<%bf(?: [^<>]*)?(?:/>|>([^<]*)</%bf>))?<%bv>([^<]+)</%bv></%bc>\s*"
            % (tag, tag, tag, tag, tag)
        )
        self._cell = re.compile(
            rb'[A-Z]{1,3}[0-9]{1,7}"(' + ATTRIBUTES + rb")>(?:(?<=/>)|(.*)</%bc\s*>)\s*" % tag,
            re.DOTALL,
        )

    def of(self, area: Area, columns: Collection[int] | None = None) -> Iterator[StoredCell]:
        """Yield the cells of an area that hold something, row by row.

        Args:
            area: The area.
            columns: Of these columns only; None for all.
        """
        # By the mapping of the columns of a row, which rows with the same columns share; it is kept
        # here, too, so that no other one takes its place.
        wanted: dict[int, tuple[Mapping[int, int], list[tuple[int, int]]]] = {}
        for place in self._rows.places(area):
            cut = self._cuts.of(place)
            cells = None
            if cut is not None:
                known = wanted.get(id(cut.places))
                if known is None:
                    if len(wanted) >= MAX_ORDERS:
                        wanted.clear()
                    known = wanted[id(cut.places)] = (
                        cut.places, _wanted(cut.places, area, columns)
                    )  # fmt: skip
                cells = self._of_pieces(self._rows.numbers[place], known[1], cut.pieces)
            yield from self._taken_apart(place, area, columns) if cells is None else cells

    def _taken_apart(
        self, place: int, area: Area, columns: Collection[int] | None
    ) -> Iterator[StoredCell]:
        row = self._rows.at(place)
        for cell in self._rows.cells(row):
            if area.left <= cell.column <= area.right and (
                columns is None or cell.column in columns
            ):
                inner = row.data[cell.inner : cell.inner_end]
                stored = self._stored(row.number, cell.column, cell.attributes, inner)
                if stored is not None:
                    yield stored

    def _of_pieces(
        self, row: int, wanted: Sequence[tuple[int, int]], pieces: Sequence[bytes]
    ) -> list[StoredCell] | None:
        """Return cells of a row by their bytes from their names on; None if one is not plain."""
        cells = []
        for column, at in wanted:
            usual = self._usual.fullmatch(pieces[at])
            if usual is not None:
                word, formula, text, value = usual.groups()
                kind = _KINDS.get(word.decode(), "text") if word else "number"
                own = None if formula is None else plain(text or b"").strip()
                cells.append(StoredCell(row, column, kind, plain(value), own))
                continue
            found = self._cell.fullmatch(pieces[at])
            if found is None:
                return None
            stored = self._stored(row, column, found[1], found[2] or b"")
            if stored is not None:
                cells.append(stored)
        return cells

    @property
    def last_row(self) -> int:
        """The last row of the part, 1 for none."""
        return self._rows.numbers[-1] if self._rows.numbers else 1

    @cached_property
    def last_column(self) -> int:
        """The last column that a row has a cell in, 1 for none."""
        return max(map(self._last_column, range(len(self._rows.numbers))), default=1)

    def _last_column(self, place: int) -> int:
        cut = self._cuts.of(place)
        if cut is not None:
            return next(reversed(cut.places), 1)
        cells = self._rows.cells(self._rows.at(place))
        return cells[-1].column if cells else 1

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

    def _stored(self, row: int, column: int, attributes: bytes, inner: bytes) -> StoredCell | None:
        if not inner:
            return None
        found = self._formula.search(inner)
        formula = None if found is None else plain(without_mark(found[1] or b"")).strip()
        value = self._value.search(inner)
        if self._inline.search(inner):
            text = "".join(plain(without_mark(part)) for part in self._text.findall(inner))
            return StoredCell(row, column, "text", text, formula)
        if value is None and formula is None:
            return None
        shown = "" if value is None else plain(without_mark(value[1]))
        kind = _KINDS.get(attribute(attributes, b"t") or "n", "text")
        return StoredCell(row, column, kind, shown, formula)


def _wanted(
    places: Mapping[int, int], area: Area, columns: Collection[int] | None
) -> list[tuple[int, int]]:
    return [
        (column, at)
        for column, at in places.items()
        if area.left <= column <= area.right and (columns is None or column in columns)
    ]
