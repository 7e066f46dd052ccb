"""Table styles of a document: what they put behind cells, and the color of the letters there.

A style says so for the whole table and for parts of it: corners, first and last row and column,
bands. Which parts count, the table says (`w:tblLook`). ECMA-376, part 1, 17.7.6.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec
from lxml import etree

from kbd_docx.document import VAL, W

__all__ = ["TableCellLook", "TableStyles"]

_ROW, _SHADE = f"{W}tr", f"{W}shd"
_ON = ("1", "true", "on")
_BITS = {
    "firstRow": 0x20, "lastRow": 0x40, "firstColumn": 0x80, "lastColumn": 0x100,
    "noHBand": 0x200, "noVBand": 0x400,
}  # fmt: skip
_MARKS = frozenset(
    f"{W}{name}" for name in ("tblPr", "tblGrid", "tblPrEx", "trPr", "bookmarkStart", "bookmarkEnd")
)
_CORNERS = {
    ("firstRow", "firstCol"): "nwCell", ("firstRow", "lastCol"): "neCell",
    ("lastRow", "firstCol"): "swCell", ("lastRow", "lastCol"): "seCell",
}  # fmt: skip
_HOLDERS = ("rPr", "pPr", "tcPr", "tblPr")
"""What of a part of a table may be shaded, the nearest to its letters first."""

_MAX_BASES = 50


class TableCellLook(msgspec.Struct, frozen=True):
    """Look of a cell by a style.

    Args:
        ink: The color of its letters, "" if the style does not say.
        fills: The colors that may be behind it, "" among them for none.
        is_sure: Whether it is sure which parts of the table it is in.
    """

    ink: str
    fills: tuple[str, ...]
    is_sure: bool


class _Part(msgspec.Struct, frozen=True):
    """Look of one part of a table: the color of its letters, and what is behind them."""

    ink: str = ""
    fill: str = ""


_PLAIN = _Part()


class TableStyles:
    """The table styles of a document.

    Args:
        elements: Its styles by id.
        ink: Returns the color that a look (`w:rPr`) gives, "" for none.
        fill: Returns the color of a shading, "" for none.
    """

    def __init__(
        self,
        elements: Mapping[str, etree._Element],
        ink: Callable[[etree._Element | None], str],
        fill: Callable[[etree._Element | None], str],
    ) -> None:
        self._elements, self._ink, self._fill = elements, ink, fill
        self._found: dict[str, Mapping[str, _Part]] = {}

    def look(self, cell: etree._Element, table: etree._Element) -> TableCellLook:
        """Return what a table's style gives to one of its cells."""
        named = table.find(f"{W}tblPr/{W}tblStyle")
        parts = self._parts("" if named is None else named.get(VAL, ""))
        if not parts:
            return TableCellLook("", ("",), is_sure=True)
        told = table.find(f"{W}tblPr/{W}tblLook")
        names = list(_names(cell, table, told))
        ink = next(filter(None, (parts.get(name, _PLAIN).ink for name in names)), "")
        fills: list[str] = []
        for name in names:
            fill = parts.get(name, _PLAIN).fill
            if fill:
                fills.append(fill)
            # Of bands it is not told in which one a cell is: it may be in the other.
            if fill and not name.startswith("band"):
                break
        else:
            fills.append("")
        return TableCellLook(ink, tuple(dict.fromkeys(fills)), is_sure=told is not None)

    def inks(self) -> Iterator[str]:
        """Yield the colors of letters that any style of tables gives."""
        for key, element in self._elements.items():
            if element.get(f"{W}type") == "table":
                yield from (part.ink for part in self._parts(key).values())

    def _parts(self, key: str) -> Mapping[str, _Part]:
        """Return what a style says by part of the table, with what it is based on."""
        if key not in self._found:
            chain: list[etree._Element] = []
            at = key
            while at in self._elements and len(chain) < _MAX_BASES:
                chain.append(self._elements[at])
                based = self._elements[at].find(f"{W}basedOn")
                at = "" if based is None else based.get(VAL, "")
            found: dict[str, _Part] = {}
            for element in reversed(chain):
                self._add("wholeTable", element, found)
                for part in element.iterchildren(f"{W}tblStylePr"):
                    self._add(part.get(f"{W}type", ""), part, found)
            self._found[key] = found
        return self._found[key]

    def _add(self, name: str, element: etree._Element, found: dict[str, _Part]) -> None:
        before = found.get(name, _PLAIN)
        fills = (
            element.find(f"{W}{holder}/{_SHADE}") for holder in ("rPr", "pPr", "tcPr", "tblPr")
        )
        fill = next(filter(None, map(self._fill, fills)), "")
        ink = self._ink(element.find(f"{W}rPr"))
        if fill or ink:
            found[name] = _Part(ink or before.ink, fill or before.fill)


def _names(
    cell: etree._Element, table: etree._Element, told: etree._Element | None
) -> Iterator[str]:
    """Yield the parts of a table that a cell is in, what counts first; of bands both."""
    row = next(cell.iterancestors(_ROW), None)
    if row is None:
        return
    rows = _ends(row, table)
    columns = _ends(cell, row)
    top = [name for name, at in (("firstRow", rows[0]), ("lastRow", rows[1])) if at]
    side = [name for name, at in (("firstColumn", columns[0]), ("lastColumn", columns[1])) if at]
    top = [name for name in top if _is_on(told, name)]
    side = [name.replace("olumn", "ol") for name in side if _is_on(told, name)]
    yield from (_CORNERS[one, other] for one in top for other in side)
    yield from top
    yield from side
    if not _is_on(told, "noHBand"):
        yield from ("band1Horz", "band2Horz")
    if not _is_on(told, "noVBand"):
        yield from ("band1Vert", "band2Vert")
    yield "wholeTable"


def _ends(element: etree._Element, around: etree._Element) -> tuple[bool, bool]:
    """Return whether a row is the first and the last of its table, or a cell of its row."""
    node = element
    while (parent := node.getparent()) is not None and parent is not around:
        # A control or a tracked change may stand between.
        node = parent
    before = (each for each in node.itersiblings(preceding=True) if each.tag not in _MARKS)
    after = (each for each in node.itersiblings() if each.tag not in _MARKS)
    return next(before, None) is None, next(after, None) is None


def _is_on(told: etree._Element | None, name: str) -> bool:
    """Return whether a part counts; where a table does not tell, its first row and column may."""
    if told is None:
        return name in ("firstRow", "firstColumn")
    own = told.get(f"{W}{name}")
    if own is not None:
        return own in _ON
    text = told.get(VAL, "0")
    try:
        return bool(int(text[:8], 16) & _BITS[name])
    except ValueError:
        return False
