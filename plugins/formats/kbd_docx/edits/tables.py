"""Operations on the tables of a body."""

import re
from collections.abc import Iterator
from copy import deepcopy

from docx.oxml.parser import OxmlElement
from docx.shared import Length, Twips
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import OFF, PARAGRAPH, SECTION, W, blocks
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.removal import describe_losses, named_relations, remove_content
from kbd_docx.edits.texts import cell_text
from kbd_docx.operations import AddTable, CellText, SetTableCells

__all__ = ["add_table", "set_table_cells", "text_width"]

MAX_CELLS = 50_000
"""Of a new table; programs become unusable long before."""

_A4_TEXT_TWIPS = 9026
"""The width of text on A4 paper with margins of an inch, where a document tells none."""

_GAP_TWIPS = 720
"""Between columns that do not tell it (ECMA-376, part 1, 17.6.4)."""

_MIN_TWIPS = 1440
_MAX_SHOWN = 63
_DIGITS = 6

_LENGTH = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(|pt|in|cm|mm|pc|pi)")
_UNITS = {"": 1, "pt": 20, "in": 1440, "cm": 1440 / 2.54, "mm": 144 / 2.54, "pc": 240, "pi": 240}
"""Twips in a unit (ECMA-376, part 1, 22.9.2.15)."""

_ROW, _CELL = f"{W}tr", f"{W}tc"
_WRAPPERS = frozenset((f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins", f"{W}moveTo"))
_SETTINGS = frozenset((f"{W}tcPr", f"{W}sdtPr", f"{W}sdtEndPr", f"{W}customXmlPr"))
_CHANGES = ("ins", "del", "moveFrom", "moveTo", "rPrChange")


def add_table(edit: DocumentEdit, operation: AddTable) -> str:
    """Add a table as wide as the text.

    Raises:
        ValidationFailed: It has no cell or too many, or there is no such paragraph.
    """
    rows = operation.rows
    columns = max((len(row) for row in rows), default=0)
    if len(rows) * columns > MAX_CELLS:
        raise ValidationFailed(
            f"a table of {len(rows) * columns} cells is too large for a document, where at most "
            f"{MAX_CELLS} go; put the data into a workbook"
        )
    width = text_width(edit.body.element, operation.after)
    table = edit.writer.table(rows, operation.style, width)
    index = edit.body.insert_table(operation.after, table)
    edit.warn_if_in_field(table)
    return f"table {index}: new, {len(rows)} × {columns}"


def set_table_cells(edit: DocumentEdit, operation: SetTableCells) -> str:
    """Set the texts of cells.

    Raises:
        ValidationFailed: There is no such table or cell, or a cell is part of another one.
    """
    table = edit.body.table(operation.table)
    grid = _Grid(table)
    gone: list[str] = []
    for cell in operation.cells:
        element = grid.cell(cell)
        if lost := describe_losses([element]):
            gone.append(f"{lost} (row {cell.row}, col {cell.col})")
        edit.dropped_relations |= named_relations([element])
        _set_text(edit, element, cell_text(cell.text))
    if gone:
        edit.warnings.warn(f"With the old text of cells went {listed(gone)}.")
    count = len(operation.cells)
    return f"table {operation.table}: {count} cell{'' if count == 1 else 's'}"


class _Grid:
    """The cells of a table by row and column; rows are read when they are asked for.

    Args:
        table: The table.
    """

    def __init__(self, table: etree._Element) -> None:
        # Rows that are deleted, but tracked, are not counted; readers do not see them either.
        self._rows = [row for row in _children(table, _ROW) if row.find(f"{W}trPr/{W}del") is None]
        self._cells: dict[int, list[tuple[int, int, etree._Element]]] = {}

    def cell(self, wanted: CellText) -> etree._Element:
        """Return the cell at a place of the grid; raises ValidationFailed if none begins there."""
        if wanted.row >= len(self._rows):
            raise ValidationFailed(
                f"there is no row {wanted.row}; the table has {len(self._rows)}, counted from 0"
            )
        if wanted.row not in self._cells:
            self._cells[wanted.row] = list(_cells_by_column(self._rows[wanted.row]))
        row = self._cells[wanted.row]
        for start, span, element in row:
            if start <= wanted.col < start + span:
                if start < wanted.col:
                    raise ValidationFailed(
                        f"row {wanted.row}, col {wanted.col} is part of a merged cell; its text is "
                        f"that of col {start}"
                    )
                if _continues_merge(element):
                    raise ValidationFailed(
                        f"row {wanted.row}, col {wanted.col} is part of a merged cell; set "
                        "the text in the cell where it begins, above or to the left"
                    )
                return element
        starts = ", ".join(str(start) for start, _, _ in row[:_MAX_SHOWN]) or "none"
        raise ValidationFailed(
            f"there is no col {wanted.col} in row {wanted.row}; its cells are at {starts}"
        )


def _cells_by_column(row: etree._Element) -> Iterator[tuple[int, int, etree._Element]]:
    """Yield a row's cells with the columns where they begin and how many they take."""
    column = _number(row.find(f"{W}trPr/{W}gridBefore"))
    for cell in _children(row, _CELL):
        span = max(1, _number(cell.find(f"{W}tcPr/{W}gridSpan")))
        yield column, span, cell
        column += span


def _children(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    """Yield rows or cells, those in content controls, too."""
    for child in element.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _children(child, tag)


def _number(element: etree._Element | None, attribute: str = "val") -> int:
    """Return a whole number that an element tells, 0 if it tells none that makes sense."""
    text = element.get(f"{W}{attribute}", "") if element is not None else ""
    return int(text) if text.isdecimal() and len(text) < _DIGITS else 0


def _continues_merge(cell: etree._Element) -> bool:
    """Tell whether a cell continues a merge, vertical or of the old horizontal kind."""
    return any(
        merge.get(f"{W}val", "continue") == "continue"
        for kind in ("vMerge", "hMerge")
        for merge in cell.findall(f"{W}tcPr/{W}{kind}")
    )


def _set_text(edit: DocumentEdit, cell: etree._Element, text: str) -> None:
    """Set a cell's text in its first paragraph, with the formatting of its first run."""
    found = list(blocks(cell))
    first = next((block for block in found if block.tag == PARAGRAPH), None)
    if first is None:
        first = OxmlElement("w:p")
        cell.append(first)
    properties = _run_properties(first)
    removed = {each for each in first if each.tag != f"{W}pPr"}
    path = first
    # The first paragraph may stand in content controls: these stay, with nothing else in them.
    while path is not cell and (around := path.getparent()) is not None:
        removed |= {each for each in around if each is not path and each.tag not in _SETTINGS}
        path = around
    # In the order of the file, in which `remove_content` follows the marks of fields.
    remove_content([each for each in cell.iter(tag=etree.Element) if each in removed], first)
    if not text:
        return
    run = OxmlElement("w:r")
    if properties is not None:
        run.append(properties)
    edit.writer.write(run, text)
    first.append(run)


def _run_properties(paragraph: etree._Element) -> etree._Element | None:
    """Return the properties of a paragraph's first run, else of its end; None if plain."""
    run = next(paragraph.iter(f"{W}r"), None)
    found = run.find(f"{W}rPr") if run is not None else paragraph.find(f"{W}pPr/{W}rPr")
    if found is None:
        return None
    properties = deepcopy(found)
    # The new text is no tracked change, though the run that it looks like may be one.
    for name in _CHANGES:
        for element in properties.findall(f"{W}{name}"):
            properties.remove(element)
    return properties if len(properties) else None


def text_width(body: etree._Element, after: int | None) -> Length:
    """Return how wide text is in the section where a table comes."""
    section = _section(body, after)
    size = section.find(f"{W}pgSz") if section is not None else None
    margins = section.find(f"{W}pgMar") if section is not None else None
    if section is None or size is None or margins is None:
        return Twips(_A4_TEXT_TWIPS)
    width = _twips(size, "w") - _twips(margins, "left") - _twips(margins, "right")
    columns = section.find(f"{W}cols")
    return Twips(max(width if columns is None else _column_width(columns, width), _MIN_TWIPS))


def _column_width(columns: etree._Element, width: int) -> int:
    """Return how wide the columns of a text are, of different ones the narrowest."""
    own = [found for each in columns.iterchildren(f"{W}col") if (found := _twips(each, "w"))]
    if own and columns.get(f"{W}equalWidth", "1") in OFF:
        return min(own)
    count = max(1, _number(columns, "num"))
    gap = _twips(columns, "space") if columns.get(f"{W}space") else _GAP_TWIPS
    return (width - (count - 1) * gap) // count


def _twips(element: etree._Element, attribute: str) -> int:
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
