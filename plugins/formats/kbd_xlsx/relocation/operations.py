"""Operations as they are on another version of a workbook."""

import re
from collections.abc import Sequence
from functools import partial
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
from kbd_xlsx.comparison.places import cell_place, part_place, range_place, sheet_place
from kbd_xlsx.edits.ranges.moved_formulas import moved_formula
from kbd_xlsx.operations import (
    AddChart,
    AddImage,
    AddSheetTable,
    AutoFilter,
    CellSetting,
    ClearObjects,
    ClearRange,
    CopyRange,
    CopySheet,
    DefineName,
    DeleteChart,
    DeleteColumns,
    DeleteImage,
    DeleteName,
    DeleteRows,
    DeleteRowsWhere,
    DeleteSheet,
    EnsureSheet,
    FillBookTemplate,
    FillFormula,
    FormatRange,
    FormatRule,
    FreezePanes,
    HideSheet,
    InsertColumns,
    InsertRows,
    MergeCells,
    MoveSheet,
    ProtectSheet,
    Recalculate,
    RefreshPivot,
    RenameSheet,
    ReplaceCellText,
    ResizeSheetTable,
    SetCells,
    SetChart,
    SetColumnWidths,
    SetComment,
    SetConditionalFormat,
    SetDataValidation,
    SetHyperlink,
    SetPrint,
    SetRange,
    SetRowHeights,
    SortRange,
    SummarizeByCategory,
    TypedValue,
    UnmergeCells,
    XlsxOperation,
)
from kbd_xlsx.relocation.drawings import carry_drawing
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
            case SummarizeByCategory(sheet=name):
                sources = tuple(self._places.sheet(each).name for each in operation.source_sheets)
                return replace(
                    operation, sheet=self._places.sheet(name).name, source_sheets=sources
                )
            case Recalculate(sheet=None) | FillBookTemplate():
                return operation
            case EnsureSheet() | DeleteSheet() | Recalculate(sheet=str()):
                name = operation.sheet or ""
                return replace(operation, sheet=self._places.sheet(name).name)
            case SetCells():
                sheet = self._places.sheet(operation.sheet)
                cells = tuple(self._cell(sheet, operation.sheet, each) for each in operation.cells)
                return replace(operation, sheet=sheet.name, cells=cells)
            case SetRange():
                return self._range_set(operation)
            case (
                MergeCells()
                | UnmergeCells()
                | ClearRange()
                | AutoFilter()
                | FormatRange()
                | AddSheetTable()
                | DeleteRowsWhere()
            ):
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
                return self._of_ranges(operation)

    def _of_ranges(self, operation: XlsxOperation) -> XlsxOperation:
        """Return an operation on a range, on rows or columns, or on what lies on them."""
        match operation:
            case InsertRows() | DeleteRows() | InsertColumns() | DeleteColumns():
                return self._lines(operation)
            case AddChart() | SetChart() | DeleteChart() | AddImage() | DeleteImage():
                name, sheet = operation.sheet, self._places.sheet(operation.sheet)
                formula = partial(self._range_text, name)
                return carry_drawing(operation, sheet, formula, partial(self._range, sheet, name))
            case FillFormula():
                return self._filled(operation)
            case SortRange():
                return self._sorted(operation)
            case CopyRange():
                return self._copied(operation)
            case ReplaceCellText(sheet=name):
                found = self._places.sheet(name).name if name else None
                return msgspec.structs.replace(operation, sheet=found)
            case _:
                return self._of_tabs(operation)

    def _of_tabs(self, operation: XlsxOperation) -> XlsxOperation:
        """Return an operation on a sheet among the others."""
        match operation:
            case RenameSheet(sheet=name) | CopySheet(sheet=name):
                sheet = self._places.sheet(name).name
                # Checked: nobody else has made a sheet of that name.
                self._places.sheet(operation.name)
                self._places.made.add(operation.name.casefold())
                return msgspec.structs.replace(operation, sheet=sheet)
            case MoveSheet(sheet=name):
                if not all(pair.is_in_both for pair in self._book.pairs):
                    msg = "sheets came or went, so the position may be another one"
                    raise UncertainError(msg, sheet_place(name))
                return msgspec.structs.replace(operation, sheet=self._places.sheet(name).name)
            case HideSheet(sheet=name):
                return msgspec.structs.replace(operation, sheet=self._places.sheet(name).name)
            case _:
                return self._of_object(operation)

    def _of_object(self, operation: XlsxOperation) -> XlsxOperation:
        replace = msgspec.structs.replace
        match operation:
            case DefineName(name=name, refers_to=text, sheet=sheet):
                home = None if sheet is None else self._places.sheet(sheet).name
                formula = f"={text.removeprefix('=')}"
                moved = self._formula(sheet, formula, None, part_place(f"name {name}"))
                return replace(operation, sheet=home, refers_to=moved)
            case DeleteName(sheet=sheet):
                home = None if sheet is None else self._places.sheet(sheet).name
                return replace(operation, sheet=home)
            case RefreshPivot():
                return operation
            case ProtectSheet(sheet=name):
                return replace(operation, sheet=self._places.sheet(name).name)
            case ClearObjects(sheet=name, range=text):
                there = self._places.sheet(name)
                return replace(operation, sheet=there.name, range=self._ranges(there, name, text))
            case SetConditionalFormat():
                return self._conditional_format(operation)
            case SetDataValidation():
                return self._validation(operation)
            case SetHyperlink() | SetComment():
                return self._of_cell(operation)
            case SetPrint():
                return self._printing(operation)
            case ResizeSheetTable(table=table):
                raise UncertainError(
                    f"rows shifted, and it is not certain which of them table {table} would cover"
                )
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

    def _formula(self, sheet: str | None, text: str, kind: str | None, place: Place) -> str:
        """Return a value; a formula with the cells that it names where they are now.

        Without a sheet of its own, as in a name, it names the sheet of each cell.
        """
        if kind not in (None, "formula") or not text.startswith("="):
            return text
        parsed = parse_formula(text[1:])
        for reference in parsed.references:
            name = _bare(reference.sheet) or sheet
            if name is None:
                raise UncertainError(f"the formula {text[:80]} names cells without a sheet", place)
            if ":" in name or "[" in name:
                raise UncertainError(f"the formula {text[:80]} names several sheets", place)
            named = self._places.sheet(name)
            for row in {reference.top, reference.bottom} - {0}:
                named.row(row)
            for column in {reference.left, reference.right} - {0}:
                named.column(column)
        home = None if sheet is None else self._places.map(sheet)
        return "=" + self._book.maps.translated(text[1:], home)

    def _range_text(self, sheet: str, text: str) -> str:
        """Return a range that may name its sheet, as it is now; what is none stays."""
        written = "=" + text.removeprefix("=")
        return self._formula(sheet, written, "formula", sheet_place(sheet)).removeprefix("=")

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

    def _filled(self, operation: FillFormula) -> FillFormula:
        sheet = self._places.sheet(operation.sheet)
        written = self._range(sheet, operation.sheet, operation.range)
        place = range_place(operation.sheet, operation.range)
        text = operation.formula.strip().removeprefix("=")
        formula = self._formula(operation.sheet, f"={text}", "formula", place)
        area = parse_area(operation.range, Area(1, 1, MAX_ROW, MAX_COLUMN))
        rows, columns = area.bottom - area.top, area.right - area.left
        last = moved_formula(text, rows, columns)
        there = self._formula(operation.sheet, f"={last}", "formula", place)
        # The formula is that of the first cell: the last one's must follow from it.
        if moved_formula(formula[1:], rows, columns) != there[1:]:
            raise UncertainError(f"rows were inserted among those that {text[:80]} names", place)
        return msgspec.structs.replace(operation, sheet=sheet.name, range=written, formula=formula)

    def _sorted(self, operation: SortRange) -> SortRange:
        sheet = self._places.sheet(operation.sheet)
        written = self._range(sheet, operation.sheet, operation.range)
        # A key may be letters: they are the same only where no column moved.
        sheet.column(1)
        return msgspec.structs.replace(operation, sheet=sheet.name, range=written)

    def _copied(self, operation: CopyRange) -> CopyRange:
        sheet = self._places.sheet(operation.sheet)
        name = operation.to_sheet or operation.sheet
        other = self._places.sheet(name)
        return msgspec.structs.replace(
            operation,
            sheet=sheet.name,
            source=self._range(sheet, operation.sheet, operation.source),
            to=self._range(other, name, operation.to),
            to_sheet=None if operation.to_sheet is None else other.name,
        )

    def _ranges(self, sheet: SheetPlaces | OwnSheet, name: str, text: str) -> str:
        """Return several ranges, which commas or blanks part."""
        parts = re.split(r"[,\s]+", text.strip())
        return ", ".join(self._range(sheet, name, part) for part in parts)

    def _conditional_format(self, operation: SetConditionalFormat) -> SetConditionalFormat:
        name = operation.sheet
        sheet = self._places.sheet(name)
        place = range_place(name, operation.range)
        rule: FormatRule = operation.rule
        fields = self._formulas_of(rule, ("value", "value2", "formula"), name, place)
        if points := getattr(rule, "points", ()):
            fields["points"] = tuple(
                self._formula(name, each, None, place) if each.startswith("=") else each
                for each in points
            )
        return msgspec.structs.replace(
            operation, sheet=sheet.name, range=self._ranges(sheet, name, operation.range),
            rule=msgspec.structs.replace(rule, **fields),
        )  # fmt: skip

    def _validation(self, operation: SetDataValidation) -> SetDataValidation:
        name = operation.sheet
        sheet = self._places.sheet(name)
        place = range_place(name, operation.range)
        fields = self._formulas_of(operation, ("value", "value2", "formula", "source"), name, place)
        ranges = self._ranges(sheet, name, operation.range)
        return msgspec.structs.replace(operation, sheet=sheet.name, range=ranges, **fields)

    def _formulas_of(
        self, record: msgspec.Struct, fields: Sequence[str], sheet: str, place: Place
    ) -> dict[str, Any]:
        """Return those fields of a record that are formulas, with their cells where they are."""
        found = {}
        for field in fields:
            text = getattr(record, field, None)
            # These two need no equals sign.
            is_formula = field in ("formula", "source")
            if isinstance(text, str) and (is_formula or text.startswith("=")):
                moved = self._formula(sheet, f"={text.removeprefix('=')}", None, place)
                found[field] = moved if text.startswith("=") else moved.removeprefix("=")
        return found

    def _of_cell(self, operation: SetHyperlink | SetComment) -> SetHyperlink | SetComment:
        name = operation.sheet
        sheet = self._places.sheet(name)
        row, column = parse_cell(operation.cell)
        place = cell_place(name, row, column)
        try:
            moved = cell_name(sheet.row(row), sheet.column(column))
        except UncertainError as doubt:
            raise UncertainError(doubt.reason, place) from None
        replaced = msgspec.structs.replace(operation, sheet=sheet.name, cell=moved)
        if isinstance(replaced, SetHyperlink) and replaced.location is not None:
            goes_to = self._formula(name, f"={replaced.location.removeprefix('#')}", None, place)
            return msgspec.structs.replace(replaced, location=goes_to.removeprefix("="))
        return replaced

    def _printing(self, operation: SetPrint) -> SetPrint:
        name = operation.sheet
        sheet = self._places.sheet(name)
        fields: dict[str, Any] = {}
        for field in ("area", "title_rows", "title_columns"):
            text = getattr(operation, field)
            if not text:
                continue
            if ":" not in text and field != "area":
                text = f"{text}:{text}"
            fields[field] = self._ranges(sheet, name, text)
        return msgspec.structs.replace(operation, sheet=sheet.name, **fields)

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
