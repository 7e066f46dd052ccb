"""Carries out operations on a new workbook, or on one that kbd wrote.

All or nothing: the file is written only after every operation went through.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec
from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.styles.numbers import is_date_format
from openpyxl.worksheet.worksheet import Worksheet

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd_xlsx.loading import OwnBook, load_own
from kbd_xlsx.marker import refuse_macros
from kbd_xlsx.operations import (
    EnsureSheet,
    FreezePanes,
    SetCells,
    SetColumnWidths,
    SetRange,
    SetRowHeights,
    TypedValue,
)
from kbd_xlsx.references import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    cell_name,
    column_letters,
    column_number,
    parse_cell,
)
from kbd_xlsx.saving import new_workbook, save
from kbd_xlsx.styles import StyleBook
from kbd_xlsx.values import CellValue, cell_value

__all__ = ["apply", "checked_sheet_name", "put"]

MAX_WIDTH = 255
MAX_HEIGHT = 409
MAX_SHEET_NAME = 31
MAX_CELLS = 2_000_000
"""Cells that one call may set."""

_FORBIDDEN_IN_NAMES = frozenset("[]:*?/\\")


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or the workbook is not kbd's own.
        FileReadFailed: The source cannot be read.
    """
    refuse_macros(target.name)
    touched = {op.sheet for op in operations if isinstance(op, SetCells | SetRange | SetRowHeights)}
    book = OwnBook(new_workbook(), {}) if source is None else load_own(source, touched)
    edit = _Edit(book.workbook, is_new=source is None)
    changed = tuple(edit.carry_out(operation) for operation in operations)
    if not edit.workbook.worksheets:
        raise ValidationFailed("A workbook needs a sheet; begin with ensure_sheet or set_range.")
    save(edit.workbook, target, book.bodies)
    return Applied(len(changed), changed, (*edit.styles.warnings, *edit.skipped))


def checked_sheet_name(name: str) -> str:
    """Return a name that a sheet may have; raises ValidationFailed."""
    wrong = set(name) & _FORBIDDEN_IN_NAMES or any(not sign.isprintable() for sign in name)
    edge = name.startswith("'") or name.endswith("'") or name.casefold() == "history"
    if wrong or edge or not name.strip() or len(name) > MAX_SHEET_NAME:
        raise ValidationFailed(
            f"{name[:40]!r} cannot name a sheet: up to 31 characters, none of [ ] : * ? / \\, "
            "no apostrophe at an end."
        )
    return name


def put(cell: Any, value: CellValue, styles: StyleBook, style: Mapping[str, Any] | None) -> None:
    """Set a cell's value, its type as given, and its look."""
    if value.kind != "d" and cell.has_style and is_date_format(cell.number_format):
        # What was a date must not show a number as one.
        cell.number_format = "General"
    if value.kind == "d":
        cell.value = value.held
    else:
        # Set past openpyxl's guess, which is slow and takes "#N/A" for an error.
        cell._value, cell.data_type = value.held, value.kind  # noqa: SLF001
    if style:
        styles.apply(cell, style)


class _Edit:
    """One call's work on one workbook."""

    def __init__(self, workbook: Workbook, *, is_new: bool) -> None:
        self.workbook = workbook
        self.styles = StyleBook()
        self.skipped: list[str] = []
        self._is_new = is_new
        self._cells = 0

    def carry_out(self, operation: msgspec.Struct) -> str:
        """Apply one operation and return what it changed."""
        match operation:
            case EnsureSheet():
                return self._ensure(operation.sheet)
            case SetCells():
                return self._set_cells(operation)
            case SetRange():
                return self._set_range(operation)
            case SetColumnWidths():
                return self._set_widths(operation)
            case SetRowHeights():
                return self._set_heights(operation)
            case FreezePanes():
                return self._freeze(operation)
            case _:
                raise ValidationFailed(f"{type(operation).__name__} is not built yet.")

    def _ensure(self, name: str) -> str:
        found = self._found(name)
        if found is not None:
            return f"{found.title}: was there"
        self.workbook.create_sheet(checked_sheet_name(name))
        return f"{name}: new sheet"

    def _found(self, name: str) -> Worksheet | None:
        """Find a sheet without regard to case, as programs do."""
        for sheet in self.workbook.worksheets:
            if sheet.title.casefold() == name.casefold():
                return sheet
        return None

    def _sheet(self, name: str) -> Worksheet:
        """Find a sheet, or make it if the workbook is new: a misspelt one must not appear."""
        found = self._found(name)
        if found is not None:
            return found
        if self._is_new:
            self._ensure(name)
            return self.workbook[name]
        near = get_close_matches(name, self.workbook.sheetnames, 3, 0.5)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise ValidationFailed(f"There is no sheet {name!r}; make it with ensure_sheet.{hint}")

    def _count(self, cells: int) -> None:
        self._cells += cells
        if self._cells > MAX_CELLS:
            raise ValidationFailed(f"One call may set {MAX_CELLS:,} cells at most.")

    def _set_cells(self, operation: SetCells) -> str:
        sheet = self._sheet(operation.sheet)
        self._count(len(operation.cells))
        for setting in operation.cells:
            row, column = parse_cell(setting.cell)
            place = f"{sheet.title}!{cell_name(row, column)}"
            value = cell_value(setting.value, setting.type, place)
            put(sheet.cell(row, column), value, self.styles, setting.style)
        names = [setting.cell for setting in operation.cells]
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"{sheet.title}!{shown}" if names else f"{sheet.title}: nothing"

    def _set_range(self, operation: SetRange) -> str:
        sheet = self._sheet(operation.sheet)
        top, left = parse_cell(operation.start)
        width = max((len(row) for row in operation.values), default=0)
        self._count(len(operation.values) * width)
        if not width:
            return f"{sheet.title}: nothing"
        area = Area(top, left, top + len(operation.values) - 1, left + width - 1)
        if area.bottom > MAX_ROW or area.right > MAX_COLUMN:
            raise ValidationFailed(f"{operation.start} leaves no room: a sheet ends at XFD1048576.")
        for row, values in enumerate(operation.values, top):
            for column, value in enumerate(values, left):
                self._set_one(sheet, row, column, value, operation.style)
        return f"{sheet.title}!{area}"

    def _set_one(
        self, sheet: Any, row: int, column: int, value: Any, style: Mapping[str, Any] | None
    ) -> None:
        kind = own = None
        if isinstance(value, TypedValue):
            value, kind, own = value.value, value.type, value.style
        try:
            typed = cell_value(value, kind, "")
        except ValidationFailed:
            # The place is worked out only for the message.
            typed = cell_value(value, kind, f"{sheet.title}!{cell_name(row, column)}")
        # openpyxl's own store: its `cell` looks at the whole sheet's size each time.
        cell = sheet._cells.get((row, column))  # noqa: SLF001
        if cell is None:
            cell = sheet._cells[row, column] = Cell(sheet, row, column)  # noqa: SLF001
        put(cell, typed, self.styles, style)
        if own:
            self.styles.apply(cell, own)

    def _set_widths(self, operation: SetColumnWidths) -> str:
        sheet = self._sheet(operation.sheet)
        done = []
        for entry in operation.columns:
            letters = _column(entry.column)
            if letters is None or not _within(entry.width, MAX_WIDTH):
                self.skipped.append(f"width of column {entry.column!r} cannot be {entry.width!r}")
                continue
            sheet.column_dimensions[letters].width = float(entry.width)
            done.append(letters)
        return f"{sheet.title}: widths of {', '.join(done) or 'no column'}"

    def _set_heights(self, operation: SetRowHeights) -> str:
        sheet = self._sheet(operation.sheet)
        done = []
        for entry in operation.rows:
            valid = isinstance(entry.row, int) and not isinstance(entry.row, bool)
            if not valid or not 1 <= entry.row <= MAX_ROW or not _within(entry.height, MAX_HEIGHT):
                self.skipped.append(f"height of row {entry.row!r} cannot be {entry.height!r}")
                continue
            sheet.row_dimensions[entry.row].height = float(entry.height)
            done.append(str(entry.row))
        return f"{sheet.title}: heights of {', '.join(done) or 'no row'}"

    def _freeze(self, operation: FreezePanes) -> str:
        sheet = self._sheet(operation.sheet)
        if not operation.row and not operation.column:
            sheet.freeze_panes = None
            return f"{sheet.title}: nothing frozen"
        sheet.freeze_panes = cell_name(operation.row + 1, operation.column + 1)
        return f"{sheet.title}: frozen above and left of {sheet.freeze_panes}"


def _column(value: Any) -> str | None:
    """Return a column's letters from letters or a number, None if there is no such column."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COLUMN:
        return column_letters(value)
    if not isinstance(value, str) or not 1 <= len(value) <= 3 or not value.isascii():
        return None
    try:
        return column_letters(column_number(value)) if value.isalpha() else None
    except ValidationFailed:
        return None


def _within(value: Any, limit: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= limit
