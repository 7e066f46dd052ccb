"""Operations on how tables and ranges of their cells look."""

from collections.abc import Sequence
from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.formatting import FormattingField, choice, number, read_formatting
from kbd_docx.document import VAL, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.formatting import DocxRunFormatting, read_cell
from kbd_docx.edits.looks import format_cell
from kbd_docx.edits.settings import put_setting, settings_of, take_settings
from kbd_docx.edits.table_grid import CellGrid
from kbd_docx.edits.texts import apply_variant
from kbd_docx.edits.widths import (
    TWIPS_PER_INCH,
    column_widths,
    put_column_widths,
)
from kbd_docx.operations import FormatTableCells, SetTable

__all__ = ["BOLD", "format_table_cells", "put_header_rows", "read_widths", "set_table"]

BOLD = DocxRunFormatting(bold=True)

MAX_WIDTH_INCHES = 22
"""The limit of Word's dialogs, for pages, too."""

_WIDTH = number(0.05, MAX_WIDTH_INCHES, "in")
_EDGES = ("top", "left", "bottom", "right")
_BORDERS = {
    "all": (*_EDGES, "insideH", "insideV"),
    "outside": _EDGES,
    "inside": ("insideH", "insideV"),
    "horizontal": ("top", "bottom", "insideH"),
    "none": (),
}
_SIDES = (*_EDGES, "insideH", "insideV")
_LOOK: dict[str, FormattingField] = {
    "width": _WIDTH,
    "alignment": choice({"left": "left", "center": "center", "right": "right"}),
    "borders": choice(_BORDERS),
}
_LINE_EIGHTHS = 4
"""The width of a line in eighths of a point, as a table that programs make has it."""

_FIRST_ROW = 0x20
"""The bit of first rows in the older form of `tblLook` (ECMA-376, part 1, 17.4.55)."""


def set_table(edit: DocumentEdit, operation: SetTable) -> str:
    """Change how a table looks.

    Raises:
        ValidationFailed: There is no such table or style, it has other columns or fewer rows.
    """
    table = edit.body.table(operation.table)
    grid = CellGrid(table)
    settings = settings_of(table)
    named = {key: getattr(operation, key) for key in ("width", "alignment", "borders")}
    look = read_formatting(named, _LOOK, edit.warnings.warn)
    if operation.style is not None and operation.style.strip():
        style = edit.writer.table_style(operation.style)
        take_settings(settings, "tblStyle")
        if style is not None:
            put_setting(settings, "tblStyle", val=style)
    if operation.header_rows is not None:
        put_header_rows(grid, operation.header_rows)
    if "alignment" in look:
        put_setting(settings, "jc", val=look["alignment"])
        # A table that is centered is not indented, too: programs would move it by that.
        take_settings(settings, "tblInd")
    if "borders" in look:
        _put_borders(grid, look["borders"])
    widths = None
    if operation.column_widths is not None:
        widths = read_widths(edit, operation.column_widths, grid)
    if "width" in look:
        widths = _scaled(widths or column_widths(grid), round(look["width"] * TWIPS_PER_INCH))
    if widths is not None:
        put_column_widths(grid, widths)
        put_setting(settings, "tblW", w=sum(widths), type="dxa")
        put_setting(settings, "tblLayout", type="fixed")
    if edit.writer.is_strict:
        _respell(settings)
    return f"table {operation.table}: look"


def _respell(settings: etree._Element) -> None:
    for name in ("jc", "tblBorders"):
        for each in settings.findall(f"{W}{name}"):
            apply_variant(each, is_strict=True)


def format_table_cells(edit: DocumentEdit, operation: FormatTableCells) -> str:
    """Change how the cells that begin in a range look.

    Raises:
        ValidationFailed: There is no such table, row, column or style.
    """
    grid = CellGrid(edit.body.table(operation.table))
    last_row = len(grid.rows) - 1 if operation.to_row is None else operation.to_row
    last_column = grid.column_count - 1 if operation.to_col is None else operation.to_col
    for row in (operation.row, last_row):
        grid.check_row(row)
    for column in (operation.col, last_column):
        grid.check_column(column)
    if last_row < operation.row or last_column < operation.col:
        raise ValidationFailed("the range ends before it begins: to_row and to_col are the last")
    style = edit.writer.paragraph_style(operation.style)
    look = read_cell(operation, edit.warnings.warn)
    count = 0
    for row in range(operation.row, last_row + 1):
        for cell in grid.cells(row):
            is_within = operation.col <= cell.start <= last_column
            if is_within and "continue" not in (cell.vertical, cell.horizontal):
                format_cell(cell.element, look, style, is_strict=edit.writer.is_strict)
                count += 1
    return f"table {operation.table}: look of {count} cell{'' if count == 1 else 's'}"


def put_header_rows(grid: CellGrid, count: int) -> None:
    """Make the first rows of a table, and none else, come again on each page.

    The table's style shows them as first rows, if it has a look for these.

    Raises:
        ValidationFailed: There are not so many rows.
    """
    if count > len(grid.rows):
        raise ValidationFailed(
            f"header_rows cannot be {count}; the table has {len(grid.rows)} rows"
        )
    for row, element in enumerate(grid.rows):
        if row < count:
            put_setting(settings_of(element), "tblHeader")
        else:
            take_settings(element.find(f"{W}trPr"), "tblHeader")
    look = grid.table.find(f"{W}tblPr/{W}tblLook")
    if count and look is None:
        put_setting(settings_of(grid.table), "tblLook", val="0420", firstRow="1", noVBand="1")
    elif count and look is not None:
        look.set(f"{W}firstRow", "1")
        _set_bit(look)


def _set_bit(look: etree._Element) -> None:
    bits = look.get(VAL)
    try:
        value = int(bits or "", 16)
    except ValueError:
        return  # The strict variant has attributes alone.
    look.set(VAL, f"{value | _FIRST_ROW:04X}")


def read_widths(edit: DocumentEdit, given: Sequence[Any], grid: CellGrid) -> list[int]:
    """Return the widths of columns, given in inches, in twips; what is none leaves one as it is.

    Raises:
        ValidationFailed: There are not as many as columns.
    """
    columns = grid.column_count
    if len(given) != columns:
        raise ValidationFailed(
            f"column_widths has {len(given)} entries; the table has {columns} columns"
        )
    widths = column_widths(grid)[:columns]
    named = {f"column_widths[{place}]": value for place, value in enumerate(given)}
    found = read_formatting(named, dict.fromkeys(named, _WIDTH), edit.warnings.warn)
    for place, name in enumerate(named):
        if name in found:
            widths[place] = round(found[name] * TWIPS_PER_INCH)
    return widths


def _scaled(widths: Sequence[int], whole: int) -> list[int]:
    """Return widths with the same shares of another whole."""
    total = sum(widths) or 1
    # By their ends, so that rounding makes no gap at the end.
    ends = [round(sum(widths[: place + 1]) * whole / total) for place in range(len(widths))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _put_borders(grid: CellGrid, drawn: Sequence[str]) -> None:
    borders = put_setting(settings_of(grid.table), "tblBorders")
    for side in _SIDES:
        line = etree.SubElement(borders, f"{W}{side}")
        if side in drawn:
            for key, value in (("val", "single"), ("sz", _LINE_EIGHTHS), ("space", 0),
                               ("color", "auto")):  # fmt: skip
                line.set(f"{W}{key}", str(value))
        else:
            line.set(VAL, "nil")
    # A cell's own lines would be drawn in place of the table's.
    for row in range(len(grid.rows)):
        for cell in grid.cells(row):
            take_settings(cell.element.find(f"{W}tcPr"), "tcBorders")
