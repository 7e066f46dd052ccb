"""Values into cells: single ones, ranges, and what is cleared."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.sheets.areas import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    cell_name,
    overlaps,
    parse_area,
    parse_cell,
)
from kbd_xlsx.calculation import names_column
from kbd_xlsx.calculation.array_use import ArrayUses
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.figure_texts import FigureTexts, may_be_figure
from kbd_xlsx.edits.reach import reach_text
from kbd_xlsx.edits.style_mistakes import check_style
from kbd_xlsx.operations import (
    CellSetting,
    ClearRange,
    Scalar,
    SetCells,
    SetRange,
    TypedValue,
    ValueType,
)
from kbd_xlsx.parts.book import TablePart
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.values import cell_value, content_of, looks_like_formula, spills

__all__ = ["CellWriter"]

MAX_CELLS = 2_000_000
"""Cells that one call may set."""

_LIKE_FORMULA = "Text that looks like a formula was written as text"
_ARRAY = "Calculates with whole ranges, and so is an array formula"
_MANY = (
    "Gives more than one cell, of which programs show the first, or that in line with the formula; "
    "write it for one cell"
)
_SHORT = 1000
_DATE_WIDTHS = {"date": 12.0, "datetime": 20.0, "time": 10.0}
"""Characters that a shown date needs; in a narrower column only signs are seen of it."""

_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_Styles = tuple[Mapping[str, Any], ...]


class CellWriter:
    """Sets cells of one workbook.

    Args:
        book: The workbook.
    """

    def __init__(self, book: BookEdit) -> None:
        self._book = book
        self._count = 0
        self._structured: list[str] = []
        self._date_widths: dict[tuple[str, int], float] = {}
        self._from_1904 = book.book.from_1904
        self._figures = FigureTexts(book)
        self._uses = ArrayUses(self._meaning)

    def set_cells(self, operation: SetCells) -> str:
        """Set single cells and say which; raises ValidationFailed."""
        sheet = self._book.sheet(operation.sheet)
        headers = _Headers(self._book, sheet.name, self._structured)
        self._tally(len(operation.cells))
        for setting in operation.cells:
            row, column = parse_cell(setting.cell)
            styles: _Styles = () if setting.style is None else (setting.style,)
            if setting.style is not None:
                check_style(setting.style, f"{sheet.name}!{setting.cell}")
            if isinstance(setting.value, msgspec.UnsetType):
                _check_look(setting)
                sheet.set(row, column, CellEdit(None, styles))
                continue
            value, kind = setting.value, setting.type
            if kind is None and isinstance(value, str) and may_be_figure(value):
                value, kind, styles = self._figure(value, styles, sheet.name, row, column)
            content = self._content(value, kind, sheet.name, row, column)
            headers.check(row, column, content)
            sheet.set(row, column, CellEdit(content, styles))
        places = [setting.cell for setting in operation.cells]
        more = f" and {len(places) - 10} more" if len(places) > 10 else ""
        return f"{sheet.name}!{', '.join(places[:10])}{more}"

    def set_range(self, operation: SetRange) -> str:
        """Set a block of values and say where it is; raises ValidationFailed."""
        sheet = self._book.sheet(operation.sheet)
        headers = _Headers(self._book, sheet.name, self._structured)
        top, left = parse_cell(operation.start)
        width = max((len(row) for row in operation.values), default=0)
        self._tally(len(operation.values) * width)
        if not width:
            return f"{sheet.name}: nothing"
        area = Area(top, left, top + len(operation.values) - 1, left + width - 1)
        if area.bottom > MAX_ROW or area.right > MAX_COLUMN:
            raise ValidationFailed(f"{operation.start} leaves no room: a sheet ends at XFD1048576")
        if operation.style is not None:
            check_style(operation.style, f"{sheet.name}!{area}")
        # All cells get the same object, so that their style is worked out only once.
        shared = () if operation.style is None else (operation.style,)
        for row, values in enumerate(operation.values, top):
            for column, value in enumerate(values, left):
                content, styles = self._typed(value, shared, sheet.name, row, column)
                if headers.tables:
                    headers.check(row, column, content)
                sheet.set(row, column, CellEdit(content, styles))
        return f"{sheet.name}!{area}"

    def set_formulas(self, sheet: str, formulas: Iterable[tuple[int, int, str]]) -> None:
        """Set checked formulas, each with its row and column; raises ValidationFailed."""
        part = self._book.sheet(sheet)
        headers = _Headers(self._book, sheet, self._structured)
        places = self._book.results.formulas_set.setdefault(sheet, set())
        for row, column, text in formulas:
            content = self._formula(Content("formula", text), sheet, cell_name(row, column))
            if headers.tables:
                headers.check(row, column, content)
            places.add((row, column))
            self._tally(1)
            part.set(row, column, CellEdit(content))

    def set_value(self, sheet: str, row: int, column: int, value: TypedValue) -> None:
        """Set a cell to a value of data, whose texts are texts whatever they begin with.

        Raises:
            ValidationFailed: It is not of its type, or the cell cannot hold it.
        """
        kind = value.type or ("string" if isinstance(value.value, str) else None)
        if value.style is not None:
            check_style(value.style, f"{sheet}!{cell_name(row, column)}")
        content = self._content(value.value, kind, sheet, row, column)
        self.check_header(sheet, (row, column), content)
        self._tally(1)
        styles = () if value.style is None else (value.style,)
        self._book.sheet(sheet).set(row, column, CellEdit(content, styles))

    def check_header(self, sheet: str, place: tuple[int, int], content: Content) -> None:
        """Rename the column of a table whose header cell is set; raises ValidationFailed."""
        _Headers(self._book, sheet, self._structured).check(*place, content)

    def clear_range(self, operation: ClearRange) -> str:
        """Empty the cells of a range and say which; raises ValidationFailed."""
        sheet = self._book.sheet(operation.sheet)
        area = parse_area(operation.range, _WHOLE)
        for table in self._book.tables(sheet.name):
            if table.header_rows and overlaps(_header(table), area):
                raise ValidationFailed(
                    f"{area} holds the header of table {table.name}, which cannot be empty"
                )
        sheet.clear(area)
        return f"{sheet.name}!{area}: emptied"

    def fit_dates(self) -> None:
        """Widen columns of sheets made here for the dates in them, where no width was asked for."""
        for (title, column), width in self._date_widths.items():
            # A later operation may have deleted the sheet.
            if self._book.find(title) is None:
                continue
            sheet = self._book.sheet(title)
            if not sheet.has_width(column):
                sheet.set_width(column, width)
        self._date_widths.clear()

    def warn_of_figures(self) -> None:
        """Warn of the texts that were typed as dates or percents, and of those that were not."""
        self._figures.warn()

    def _typed(
        self, value: Scalar | TypedValue, styles: _Styles, sheet: str, row: int, column: int
    ) -> tuple[Content, _Styles]:
        if not isinstance(value, TypedValue):
            if isinstance(value, str) and may_be_figure(value):
                value, kind, styles = self._figure(value, styles, sheet, row, column)
                return self._content(value, kind, sheet, row, column), styles
            plain = _plain(value)
            return plain or self._content(value, None, sheet, row, column), styles
        if value.style is not None:
            check_style(value.style, f"{sheet}!{cell_name(row, column)}")
            # Styles apply in order, so a value's own one wins over that of the range.
            styles = (*styles, value.style)
        held, kind = value.value, value.type
        if kind is None and isinstance(held, str) and may_be_figure(held):
            held, kind, styles = self._figure(held, styles, sheet, row, column)
        return self._content(held, kind, sheet, row, column), styles

    def _figure(
        self, text: str, styles: _Styles, sheet: str, row: int, column: int
    ) -> tuple[Scalar, ValueType | None, _Styles]:
        """Return a text that may be a date or a percent as what it is meant to be."""
        found = self._figures.typed(text, sheet, (row, column), styles)
        if found is None:
            return text, None, styles
        beneath = () if found.style is None else (found.style,)
        return found.value, found.type, (*beneath, *styles)

    def _content(
        self, value: Scalar, kind: ValueType | None, sheet: str, row: int, column: int
    ) -> Content:
        try:
            content = content_of(cell_value(value, kind, ""), from_1904=self._from_1904)
        except ValidationFailed:
            # The place is worked out only for the message.
            place = f"{sheet}!{cell_name(row, column)}"
            content = content_of(cell_value(value, kind, place), from_1904=self._from_1904)
        if content.kind == "formula":
            content = self._formula(content, sheet, cell_name(row, column))
            self._book.results.formulas_set.setdefault(sheet, set()).add((row, column))
        elif content.show and sheet in self._book.made:
            known = self._date_widths.get((sheet, column), 0.0)
            self._date_widths[sheet, column] = max(known, _DATE_WIDTHS[content.show])
        elif content.kind == "text" and looks_like_formula(content.text):
            self._book.notices.gather(_LIKE_FORMULA, f"{sheet}!{cell_name(row, column)}")
        return content

    def _formula(self, content: Content, sheet: str, cell: str) -> Content:
        """Note a formula, and return it as it has to be stored to mean what was written."""
        notices, text, place = self._book.notices, content.text, f"{sheet}!{cell}"
        self._book.formula_names.note(text, place)
        # Kept, for only what was written before this call is in the parts.
        if "[" in text:
            self._structured.append(text)
        if reach := reach_text(place, text):
            notices.note_external(reach)
        use = self._uses.of(text)
        if use is not None and use.is_needed and not use.gives_many:
            notices.gather(_ARRAY, place)
            return msgspec.structs.replace(content, array=cell)
        function = spills(text)
        if function and (use is None or use.gives_many):
            notices.warn(
                f"{place}: {function} gives more than one cell; only its first value is shown "
                "until the formula is entered again by hand."
            )
        elif use is not None and use.gives_many:
            notices.gather(_MANY, place)
        return content

    def _meaning(self, name: str) -> str:
        """Return what a defined name stands for, "" where there is none."""
        folded = name.casefold()
        known = (each.text for each in self._book.book.names if each.name.casefold() == folded)
        return next(known, "")

    def _tally(self, cells: int) -> None:
        self._count += cells
        if self._count > MAX_CELLS:
            raise ValidationFailed(f"one call may set {MAX_CELLS:,} cells at most")


def _check_look(setting: CellSetting) -> None:
    """Check that a setting without a value asks for a look alone; raises ValidationFailed."""
    if setting.style is None or setting.type is not None:
        raise ValidationFailed(
            f"{setting.cell} has no value; give one, or a style alone to change how it looks"
        )


def _plain(value: Scalar) -> Content | None:
    """Return the content for a common value, which needs no rule; None for any other."""
    if type(value) is int:
        return Content("number", str(value))
    # Most texts: nothing to escape, nothing that could be a formula.
    is_usual = (
        type(value) is str
        and 0 < len(value) < _SHORT
        and value.isascii()
        and value.isprintable()
        and value[0] not in "=+-@"
        and "_x" not in value
    )
    return Content("text", str(value)) if is_usual else None


class _Headers:
    """The headers of a sheet's tables, whose cells and columns must have the same names.

    Args:
        book: The workbook.
        sheet: The sheet's title.
        formulas: Those of this call so far that may refer to a column by its name.
    """

    def __init__(self, book: BookEdit, sheet: str, formulas: Sequence[str]) -> None:
        self._book, self._sheet, self._formulas = book, sheet, formulas
        self.tables = [table for table in book.tables(sheet) if table.header_rows]

    def check(self, row: int, column: int, content: Content) -> None:
        """Rename the column of a table whose header cell is set; raises ValidationFailed."""
        for table in self.tables:
            area = table.area
            if row != area.top or not area.left <= column <= area.right:
                continue
            place = f"{self._sheet}!{cell_name(row, column)}"
            if content.kind != "text":
                raise ValidationFailed(
                    f"{place} is in the header of table {table.name}, which needs a text"
                )
            old = table.columns[column - area.left]
            # A change of case alone breaks no formula: names of columns are compared without it.
            if old.casefold() != content.text.casefold() and self._is_used(old):
                raise ValidationFailed(
                    f"{place} names the column {old!r} of table {table.name}, which formulas "
                    "refer to by that name"
                )
            table.rename(column - area.left, content.text)

    def _is_used(self, column: str) -> bool:
        """Tell whether a formula could refer to a table's column by its name."""
        texts = chain(self._formulas, self._book.formula_texts())
        return any(names_column(text, column) for text in texts)


def _header(table: TablePart) -> Area:
    area = table.area
    return Area(area.top, area.left, area.top, area.right)
