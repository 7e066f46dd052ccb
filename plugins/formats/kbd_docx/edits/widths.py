"""Widths of the text and of the columns of tables, in twips."""

import re
from collections.abc import Sequence

from docx.shared import Length, Twips
from lxml import etree

from kbd_docx.document import OFF, PARAGRAPH, SECTION, W, blocks
from kbd_docx.edits.settings import put_setting, settings_of
from kbd_docx.edits.table_grid import CellGrid, small_number

__all__ = [
    "TWIPS_PER_INCH",
    "column_widths",
    "put_column_widths",
    "scale_cells",
    "set_grid",
    "text_width",
    "twips",
]

TWIPS_PER_INCH = 1440

_A4_TEXT_TWIPS = 9026
"""The width of text on A4 paper with margins of an inch, where a document tells none."""

_GAP_TWIPS = 720
"""Between columns that do not tell it (ECMA-376, part 1, 17.6.4)."""

_MIN_TWIPS = 1440
_LEAST_COLUMN_TWIPS = 15

_LENGTH = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(|pt|in|cm|mm|pc|pi)")
_UNITS = {"": 1, "pt": 20, "in": 1440, "cm": 1440 / 2.54, "mm": 144 / 2.54, "pc": 240, "pi": 240}
"""Twips in a unit (ECMA-376, part 1, 22.9.2.15)."""

_SHARE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(%?)")


def text_width(body: etree._Element, after: int | None) -> Length:
    """Return how wide text is in the section behind a paragraph; None: at the end."""
    section = _section(body, after)
    size = section.find(f"{W}pgSz") if section is not None else None
    margins = section.find(f"{W}pgMar") if section is not None else None
    if section is None or size is None or margins is None:
        return Twips(_A4_TEXT_TWIPS)
    width = twips(size, "w") - twips(margins, "left") - twips(margins, "right")
    columns = section.find(f"{W}cols")
    return Twips(max(width if columns is None else _column_width(columns, width), _MIN_TWIPS))


def _column_width(columns: etree._Element, width: int) -> int:
    """Return how wide the columns of a text are, of different ones the narrowest."""
    own = [found for each in columns.iterchildren(f"{W}col") if (found := twips(each, "w"))]
    if own and columns.get(f"{W}equalWidth", "1") in OFF:
        return min(own)
    count = max(1, small_number(columns, "num"))
    gap = twips(columns, "space") if columns.get(f"{W}space") else _GAP_TWIPS
    return (width - (count - 1) * gap) // count


def twips(element: etree._Element, attribute: str) -> int:
    """Return a length, which has a unit or is in twips; 0 if there is none that makes sense."""
    found = _LENGTH.fullmatch(element.get(f"{W}{attribute}", ""))
    return round(float(found[1]) * _UNITS[found[2]]) if found else 0


def _section(body: etree._Element, after: int | None) -> etree._Element | None:
    """Return the settings of the section that a place belongs to: the next ones behind it."""
    paragraphs = 0
    for block in blocks(body) if after is not None else ():
        paragraphs += block.tag == PARAGRAPH
        found = block.find(f"{W}pPr/{SECTION}")
        # A section's settings stand in its last paragraph; one that ends at the place is over.
        if found is not None and after is not None and paragraphs > after:
            return found
    return body.find(SECTION)


def column_widths(grid: CellGrid) -> list[int]:
    """Return the widths of a table's columns; those that it does not tell share what is usual."""
    element = grid.table.find(f"{W}tblGrid")
    told = [] if element is None else [
        twips(each, "w") for each in element.iterchildren(f"{W}gridCol")
    ]  # fmt: skip
    usual = max(sum(told) // len(told) if told else 0, _MIN_TWIPS)
    told += [usual] * (grid.column_count - len(told))
    return [width or usual for width in told]


def set_grid(table: etree._Element, widths: Sequence[int]) -> None:
    """Write the widths of a table's columns into its grid."""
    element = table.find(f"{W}tblGrid")
    if element is None:
        element = etree.SubElement(table, f"{W}tblGrid")
        settings = settings_of(table)
        settings.addnext(element)
    for each in element.findall(f"{W}gridCol"):
        element.remove(each)
    for place, width in enumerate(widths):
        column = etree.Element(f"{W}gridCol")
        column.set(f"{W}w", str(max(width, _LEAST_COLUMN_TWIPS)))
        element.insert(place, column)


def put_column_widths(grid: CellGrid, widths: Sequence[int]) -> None:
    """Give a table's columns, and all cells in them, widths."""
    set_grid(grid.table, widths)
    for row in range(len(grid.rows)):
        for cell in grid.cells(row):
            width = sum(widths[cell.start : cell.end])
            put_setting(settings_of(cell.element), "tcW", w=width, type="dxa")


def scale_cells(grid: CellGrid, factor: float) -> None:
    """Make all cells wider or narrower, and what rows leave out at their ends."""
    for row in range(len(grid.rows)):
        for cell in grid.cells(row):
            _scale(cell.element.find(f"{W}tcPr/{W}tcW"), factor)
        for name in ("wBefore", "wAfter"):
            _scale(grid.rows[row].find(f"{W}trPr/{W}{name}"), factor)


def _scale(width: etree._Element | None, factor: float) -> None:
    text = width.get(f"{W}w", "") if width is not None else ""
    found = _SHARE.fullmatch(text)
    if width is not None and found and factor != 1:
        value = float(found[1]) * factor
        width.set(f"{W}w", f"{value:.2f}%" if found[2] else str(round(value)))
