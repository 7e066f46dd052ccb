"""Operations on the tables of a body: new ones, the contents of cells, and how they look."""

from collections.abc import Sequence

import msgspec
from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.formatting import read_alignment, read_cell
from kbd_docx.edits.likeness import first_paragraph, run_properties
from kbd_docx.edits.looks import format_cell, format_text
from kbd_docx.edits.removal import describe_losses, remove_content
from kbd_docx.edits.table_grid import CellGrid
from kbd_docx.edits.table_looks import BOLD, put_header_rows, read_widths
from kbd_docx.edits.texts import cell_text
from kbd_docx.edits.widths import put_column_widths, text_width
from kbd_docx.operations import AddTable, CellText, SetTableCells

__all__ = ["add_table", "set_table_cells"]

MAX_CELLS = 50_000
"""Of a new table; programs become unusable long before."""

_SETTINGS = frozenset((f"{W}tcPr", f"{W}sdtPr", f"{W}sdtEndPr", f"{W}customXmlPr"))


def add_table(edit: DocumentEdit, operation: AddTable) -> str:
    """Add a table as wide as the text.

    Raises:
        ValidationFailed: It has no cell or too many, or there is no such paragraph or style.
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
    grid = CellGrid(table)
    if operation.header:
        put_header_rows(grid, 1)
        if not edit.writer.has_header_look(edit.writer.table_style(operation.style)):
            # A style that leaves the first row as the others does not show what it is.
            for cell in grid.cells(0):
                for paragraph in cell.element.iterchildren(f"{W}p"):
                    format_text(paragraph, BOLD)
    if operation.column_widths is not None:
        put_column_widths(grid, read_widths(edit, operation.column_widths, grid))
    _align_columns(edit, grid, operation.alignments or (), columns)
    index = edit.body.insert_table(operation.after, table)
    edit.warn_if_in_field(table)
    return f"table {index}: new, {len(rows)} × {columns}"


def _align_columns(
    edit: DocumentEdit, grid: CellGrid, alignments: Sequence[object], columns: int
) -> None:
    if len(alignments) > columns:
        raise ValidationFailed(f"alignments has {len(alignments)} entries for {columns} columns")
    for column, given in enumerate(alignments):
        look = read_alignment(given, edit.warnings.warn, f"alignments[{column}]")
        for row in range(len(grid.rows) if look.alignment is not None else 0):
            cell = grid.place(row, column).element
            format_cell(cell, look, None, is_strict=edit.writer.is_strict)


def set_table_cells(edit: DocumentEdit, operation: SetTableCells) -> str:
    """Set what cells hold, and how they look.

    Raises:
        ValidationFailed: There is no such table, cell or style, or a cell is part of another one.
    """
    table = edit.body.table(operation.table)
    grid = CellGrid(table)
    gone: list[str] = []
    for place, cell in enumerate(operation.cells):
        element = grid.place(cell.row, cell.col).element
        if cell.text is not msgspec.UNSET or cell.runs is not None:
            if lost := describe_losses([element]):
                gone.append(f"{lost} (row {cell.row}, col {cell.col})")
            _set_content(edit, element, cell)
        style = edit.writer.paragraph_style(cell.style)
        look = read_cell(cell, edit.warnings.warn, f"cells[{place}].")
        format_cell(element, look, style, is_strict=edit.writer.is_strict)
    if gone:
        edit.warnings.warn(f"With the old text of cells went {listed(gone)}.")
    count = len(operation.cells)
    return f"table {operation.table}: {count} cell{'' if count == 1 else 's'}"


def _set_content(edit: DocumentEdit, cell: etree._Element, given: CellText) -> None:
    """Set a cell's content in its first paragraph, with the formatting of its first run."""
    first = first_paragraph(cell)
    if first is None:
        first = OxmlElement("w:p")
        cell.append(first)
    properties = run_properties(first)
    removed = {each for each in first if each.tag != f"{W}pPr"}
    path = first
    # The first paragraph may stand in content controls: these stay, with nothing else in them.
    while path is not cell and (around := path.getparent()) is not None:
        removed |= {each for each in around if each is not path and each.tag not in _SETTINGS}
        path = around
    # In the order of the file, in which `remove_content` follows the marks of fields.
    ordered = [each for each in cell.iter(tag=etree.Element) if each in removed]
    edit.let_go(ordered)
    remove_content(ordered, first)
    text = None if given.text is msgspec.UNSET else cell_text(given.text)
    edit.writer.fill(first, text, given.runs, properties)
