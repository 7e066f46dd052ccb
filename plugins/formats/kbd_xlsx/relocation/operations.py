"""Operations as they are on another version of a workbook."""

from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Place, Relocation, Source
from kbd.formats.anchors import UncertainError
from kbd.sheets.areas import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    cell_name,
    column_letters,
    column_number,
    parse_area,
    parse_cell,
    whole_number,
)
from kbd_xlsx.comparison.book_changes import BookComparison
from kbd_xlsx.comparison.formula_texts import parse_formula
from kbd_xlsx.comparison.places import cell_place, range_place, sheet_place
from kbd_xlsx.operations import (
    AutoFilter,
    CellSetting,
    ClearRange,
    DeleteColumns,
    DeleteRows,
    DeleteRowsWhere,
    DeleteSheet,
    EnsureSheet,
    FreezePanes,
    InsertColumns,
    InsertRows,
    MergeCells,
    SetCells,
    SetColumnWidths,
    SetRange,
    SetRowHeights,
    SummarizeByCategory,
    TypedValue,
    UnmergeCells,
    XlsxOperation,
)
from kbd_xlsx.relocation.places import BookPlaces, OwnSheet, SheetPlaces

__all__ = ["relocate"]


def relocate(operations: tuple[msgspec.Struct, ...], before: Source, after: Source) -> Relocation:
    """Carry operations over.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    with BookComparison(before, after) as book:
        places = BookPlaces(book)
        in_place = places.is_in_place
        if not places.is_shifted:
            return Relocation(tuple(map(msgspec.to_builtins, operations)), is_in_place=in_place)
        carried: list[dict[str, Any]] = []
        carrier = _Carrier(book, places)
        for operation in operations:
            assert isinstance(operation, XlsxOperation)
            try:
                carried.append(msgspec.to_builtins(carrier.carried(operation)))
            except UncertainError as doubt:
                place = doubt.place or _place_of(operation)
                return Relocation(is_shifted=True, reason=doubt.reason, place=place)
            except ValidationFailed as error:
                return Relocation(is_shifted=True, reason=error.message, place=_place_of(operation))
        return Relocation(tuple(carried), is_shifted=True, is_in_place=in_place)


def _place_of(operation: XlsxOperation) -> Place | None:
    sheet = getattr(operation, "sheet", None)
    if not isinstance(sheet, str):
        return None
    return sheet_place(sheet)


class _Carrier:
    """Carries operations over to the other version."""

    def __init__(self, book: BookComparison, places: BookPlaces) -> None:
        self._book, self._places = book, places

    def carried(self, operation: XlsxOperation) -> XlsxOperation:
        """Return an operation as it is there; raises UncertainError."""
        replace = msgspec.structs.replace
        match operation:
            case EnsureSheet(sheet=name):
                return replace(operation, sheet=self._places.sheet(name).name)
            case SummarizeByCategory(sheet=name):
                sources = tuple(self._places.sheet(each).name for each in operation.source_sheets)
                return replace(
                    operation, sheet=self._places.sheet(name).name, source_sheets=sources
                )
            case DeleteSheet(sheet=name):
                return replace(operation, sheet=self._places.sheet(name).name)
            case SetCells():
                sheet = self._places.sheet(operation.sheet)
                cells = tuple(self._cell(sheet, operation.sheet, each) for each in operation.cells)
                return replace(operation, sheet=sheet.name, cells=cells)
            case SetRange():
                return self._range_set(operation)
            case InsertRows() | DeleteRows() | InsertColumns() | DeleteColumns():
                return self._lines(operation)
            case MergeCells() | UnmergeCells() | ClearRange() | AutoFilter() | DeleteRowsWhere():
                sheet = self._places.sheet(operation.sheet)
                written = self._range(sheet, operation.sheet, operation.range)
                return replace(operation, sheet=sheet.name, range=written)
            case SetColumnWidths():
                sheet = self._places.sheet(operation.sheet)
                for _ in operation.columns:
                    sheet.column(1)
                return replace(operation, sheet=sheet.name)
            case SetRowHeights():
                sheet = self._places.sheet(operation.sheet)
                heights = tuple(
                    replace(each, row=self._row(sheet, each.row)) for each in operation.rows
                )
                return replace(operation, sheet=sheet.name, rows=heights)
            case FreezePanes():
                return self._frozen(operation)
            case _:
                raise UncertainError("this operation cannot be carried over to shifted rows")

    def _row(self, sheet: SheetPlaces | OwnSheet, row: Any) -> Any:
        number = whole_number(str(row))
        # What is no row was skipped with a warning, and will be again.
        return sheet.row(number) if 1 <= number <= MAX_ROW else row

    def _lines(
        self, operation: InsertRows | DeleteRows | InsertColumns | DeleteColumns
    ) -> XlsxOperation:
        """Return an operation on whole rows or columns as it is there."""
        replace = msgspec.structs.replace
        sheet = self._places.sheet(operation.sheet)
        match operation:
            case InsertRows(row=row):
                return replace(operation, sheet=sheet.name, row=sheet.row(row))
            case DeleteRows(row=row, count=count):
                # All of them in one piece: a row that somebody put among them stays.
                moved = sheet.area(Area(row, 1, min(row + count - 1, MAX_ROW), 1))
                return replace(operation, sheet=sheet.name, row=moved.top)
            case InsertColumns(column=letters) | DeleteColumns(column=letters):
                column = sheet.column(column_number(letters.strip()))
                return replace(operation, sheet=sheet.name, column=column_letters(column))

    def _cell(self, sheet: SheetPlaces | OwnSheet, name: str, setting: CellSetting) -> CellSetting:
        row, column = parse_cell(setting.cell)
        try:
            moved = cell_name(sheet.row(row), sheet.column(column))
        except UncertainError as doubt:
            raise UncertainError(doubt.reason, cell_place(name, row, column)) from None
        value = setting.value
        if isinstance(value, str):
            value = self._formula(name, value, setting.type, cell_place(name, row, column))
        return msgspec.structs.replace(setting, cell=moved, value=value)

    def _range_set(self, operation: SetRange) -> SetRange:
        sheet = self._places.sheet(operation.sheet)
        top, left = parse_cell(operation.start)
        width = max((len(row) for row in operation.values), default=1)
        height = max(1, len(operation.values))
        area = Area(top, left, top + height - 1, left + max(1, width) - 1)
        place = range_place(operation.sheet, str(area))
        for row in range(area.top, area.bottom + 1):
            # Each by itself: rows may have been put in at one place and taken out at another.
            if sheet.row(row) - row != sheet.row(area.top) - area.top:
                raise UncertainError(f"rows were inserted into {area}, or removed from it", place)
        moved = sheet.area(area)
        values = tuple(
            tuple(self._value(operation.sheet, each, place) for each in row)
            for row in operation.values
        )
        return msgspec.structs.replace(
            operation, sheet=sheet.name, start=cell_name(moved.top, moved.left), values=values
        )

    def _value(self, sheet: str, value: Any, place: Place) -> Any:
        if isinstance(value, TypedValue) and isinstance(value.value, str):
            text = self._formula(sheet, value.value, value.type, place)
            return msgspec.structs.replace(value, value=text)
        return self._formula(sheet, value, None, place) if isinstance(value, str) else value

    def _formula(self, sheet: str, text: str, kind: str | None, place: Place) -> str:
        """Return a value; a formula with the cells that it names where they are now."""
        if kind not in (None, "formula") or not text.startswith("="):
            return text
        parsed = parse_formula(text[1:])
        for reference in parsed.references:
            name = _bare(reference.sheet) or sheet
            if ":" in name or "[" in name:
                raise UncertainError(f"the formula {text[:80]} names several sheets", place)
            named = self._places.sheet(name)
            for row in {reference.top, reference.bottom} - {0}:
                named.row(row)
            for column in {reference.left, reference.right} - {0}:
                named.column(column)
        home = self._places.map(sheet)
        return "=" + self._book.maps.translated(text[1:], home)

    def _range(self, sheet: SheetPlaces | OwnSheet, name: str, text: str) -> str:
        area = parse_area(text, Area(1, 1, MAX_ROW, MAX_COLUMN))
        if area.top == 1 and area.bottom == MAX_ROW:
            left, right = sheet.column(area.left), sheet.column(area.right)
            return f"{column_letters(left)}:{column_letters(right)}"
        try:
            moved = sheet.area(area)
        except UncertainError as doubt:
            raise UncertainError(doubt.reason, range_place(name, text)) from None
        if area.left == 1 and area.right == MAX_COLUMN:
            return f"{moved.top}:{moved.bottom}"
        return str(moved)

    def _frozen(self, operation: FreezePanes) -> FreezePanes:
        sheet = self._places.sheet(operation.sheet)
        for row in range(1, operation.row + 1):
            if sheet.row(row) != row:
                msg = "rows were inserted among those that stay in view"
                raise UncertainError(msg, sheet_place(operation.sheet))
        if operation.column:
            sheet.column(operation.column)
        return msgspec.structs.replace(operation, sheet=sheet.name)


def _bare(written: str) -> str:
    """Return a sheet's name without its quotes."""
    if written.startswith("'") and written.endswith("'") and len(written) > 1:
        return written[1:-1].replace("''", "'")
    return written
