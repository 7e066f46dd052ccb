"""Look that the cells of a table take from its style: what is behind them, the color of letters.

A style says so by parts of the table: its corners, first and last row and column, bands, the whole.
Which parts count, the table says. ECMA-376, part 1, 20.1.4.2 and 21.1.3.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.paint import CLEAR, UNKNOWN, Paint, Paints, fill_of, fill_paints, reference_paints
from kbd_pptx.presentation import A
from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.styles.deck import PptxTheme

__all__ = ["TableLook", "read_table_styles"]

_ON = ("1", "true")
_TABLE_STYLES = "tableStyles"

_MEDIUM_2: Mapping[str, str] = {
    "{073A0DAA-6AF3-43AB-8588-CEC1D06C72B9}": "dk1",
    "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}": "accent1",
    "{21E4AEA4-8DFA-4A89-87EB-49C32662AFE0}": "accent2",
    "{F5AB1C69-6EDB-4FF4-983F-18BD219EF322}": "accent3",
    "{00A15C55-8517-42AA-B614-E9B94910E393}": "accent4",
    "{7DF18680-E054-41AD-8BC1-D1AEF772440D}": "accent5",
    "{93296810-A885-4BE3-A3E7-6D5BEEA58F35}": "accent6",
}
"""The color of PowerPoint's usual style of tables, "Medium Style 2", in its variants: files name
it without having it."""

_PLAIN = frozenset(
    ("{2D5ABB26-0587-4C30-8999-92F81FD0307C}", "{5940675A-B579-460E-94D1-54222C63F5DA}")
)
"""PowerPoint's styles that fill nothing."""

_HEADS = frozenset(("firstRow", "lastRow", "firstCol", "lastCol"))


def read_table_styles(deck: DeckReader) -> Mapping[str, etree._Element]:
    """Return the table styles that a deck has, by id; none if they cannot be read."""
    try:
        part = deck.parts.target(deck.part, _TABLE_STYLES)
        found = deck.parts.root(part).iterchildren(f"{A}tblStyle") if part else ()
    except FileReadFailed:
        return {}
    return {each.get("styleId", ""): each for each in found}


class TableLook:
    """What a table's style gives to its cells.

    Args:
        table: The table (`a:tbl`).
        styles: The styles that the deck has.
        palette: The colors of the slide.
        theme: The root of the theme.
    """

    def __init__(
        self,
        table: etree._Element,
        styles: Mapping[str, etree._Element],
        palette: PptxTheme,
        theme: etree._Element | None,
    ) -> None:
        self._table, self._palette, self._theme = table, palette, theme
        self._properties = table.find(f"{A}tblPr")
        named = None if self._properties is None else self._properties.find(f"{A}tableStyleId")
        self._id = "" if named is None else (named.text or "").strip().upper()
        self._style = styles.get(self._id)

    def paints(self, cell: etree._Element) -> Paints:
        """Return what is behind the text of a cell, as far as the table tells."""
        own = fill_of(cell.find(f"{A}tcPr"))
        if own is not None:
            return fill_paints(own, self._palette.color)
        around = fill_of(self._properties)
        if around is not None:
            return fill_paints(around, self._palette.color)
        if self._style is None:
            return self._usual_paints(cell)
        for region in self._regions(cell):
            found = self._style.find(f"{A}{region}/{A}tcStyle")
            if found is None:
                continue
            fill = fill_of(found.find(f"{A}fill"))
            if fill is not None:
                return fill_paints(fill, self._palette.color)
            reference = found.find(f"{A}fillRef")
            if reference is not None:
                return reference_paints(reference, self._theme, self._palette.color)
        ground = self._style.find(f"{A}tblBg")
        fill = fill_of(None if ground is None else ground.find(f"{A}fill"))
        return CLEAR if fill is None else fill_paints(fill, self._palette.color)

    def ink(self, cell: etree._Element) -> str:
        """Return the color that the style gives to the letters of a cell, "" for none."""
        if self._style is None:
            color = _MEDIUM_2.get(self._id)
            is_head = color is not None and not _HEADS.isdisjoint(self._regions(cell))
            return self._palette.color("lt1") if is_head else ""
        for region in self._regions(cell):
            found = self._palette.rgb(self._style.find(f"{A}{region}/{A}tcTxStyle"))
            if found:
                return found
        return ""

    def _usual_paints(self, cell: etree._Element) -> Paints:
        if not self._id or self._id in _PLAIN:
            return CLEAR
        color = self._palette.color(_MEDIUM_2.get(self._id, ""))
        if not color:
            return UNKNOWN
        if not _HEADS.isdisjoint(self._regions(cell)):
            return (Paint(color),)
        # Two tints of it, by turns.
        return (Paint(color, 0.4), Paint(color, 0.2))

    def _regions(self, cell: etree._Element) -> Iterator[str]:
        """Yield the parts of the table that a cell is in, what counts first."""
        row = cell.getparent()
        if row is None:
            return
        place = self._rows.get(row, 0)
        is_first, is_last = place == 0, place == len(self._rows) - 1
        begins, ends = not _has_sibling(cell, preceding=True), not _has_sibling(cell)
        first, last = is_first and self._is_on("firstRow"), is_last and self._is_on("lastRow")
        left, right = begins and self._is_on("firstCol"), ends and self._is_on("lastCol")
        corners = (("nwCell", first, left), ("neCell", first, right),
                   ("swCell", last, left), ("seCell", last, right))  # fmt: skip
        yield from (name for name, one, other in corners if one and other)
        sides = (("firstRow", first), ("lastRow", last), ("firstCol", left), ("lastCol", right))
        yield from (name for name, is_in in sides if is_in)
        if self._is_on("bandRow"):
            yield f"band{1 + (place - self._is_on('firstRow')) % 2}H"
        if self._is_on("bandCol"):
            column = sum(1 for _ in cell.itersiblings(f"{A}tc", preceding=True))
            yield f"band{1 + (column - self._is_on('firstCol')) % 2}V"
        yield "wholeTbl"

    @cached_property
    def _rows(self) -> dict[etree._Element, int]:
        return {row: place for place, row in enumerate(self._table.iterchildren(f"{A}tr"))}

    def _is_on(self, name: str) -> bool:
        return self._properties is not None and self._properties.get(name) in _ON


def _has_sibling(cell: etree._Element, *, preceding: bool = False) -> bool:
    return next(cell.itersiblings(f"{A}tc", preceding=preceding), None) is not None
