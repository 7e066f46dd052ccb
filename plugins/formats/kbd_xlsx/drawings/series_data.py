"""Series of a chart by the cells that they show: found, named, checked.

What is not named is inferred as a person would: the header above the values is the name of a
series, the first column of texts or dates beside them its categories. What cannot be drawn is
refused with the range that was meant; what would be drawn otherwise than expected is a warning.
"""

from collections.abc import Sequence
from difflib import get_close_matches

import msgspec

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings, listed
from kbd.sheets.areas import Area
from kbd.sheets.islands import is_year
from kbd_xlsx.drawings.cell_ranges import (
    MAX_POINTS,
    CellRange,
    RangeReader,
    ReadCell,
    cell_range,
    data_rows,
    name_of,
)
from kbd_xlsx.operations import AddChart, ChartSeries
from kbd_xlsx.values import checked_text

__all__ = ["MAX_SERIES", "SeriesData", "SeriesFinder"]

MAX_SERIES = 255
"""Series that programs draw in one chart."""


class SeriesData(msgspec.Struct, frozen=True):
    """A series: its cells; `name` is a cell or a text, and `label` the text of either."""

    values: CellRange
    categories: CellRange | None = None
    name: CellRange | str | None = None
    label: str = ""


class SeriesFinder:
    """Finds the cells of series.

    Args:
        reader: Of the workbook.
        sheet: The title of the chart's sheet, which ranges without one are of.
        warnings: Where warnings go.
        has_numbers: Whether categories are numbers, the x values of a scatter chart.
    """

    def __init__(
        self,
        reader: RangeReader,
        sheet: str,
        warnings: EditWarnings,
        *,
        has_numbers: bool = False,
    ) -> None:
        self._reader, self._sheet, self._warnings = reader, sheet, warnings
        self._has_numbers = has_numbers

    def of_chart(self, operation: AddChart) -> list[SeriesData]:
        """Return the series of a new chart; raises ValidationFailed."""
        if operation.series and (operation.table is not None or operation.columns):
            raise ValidationFailed("give series, or table with columns, not both")
        if operation.table is not None:
            found = self._of_table(operation)
        elif operation.columns:
            raise ValidationFailed("columns needs table: a table's name or a range with headers")
        elif operation.series:
            found = [self.one(each, operation.categories) for each in operation.series]
        else:
            raise ValidationFailed(
                'a chart needs series: [{"values": "Sheet1!B2:B9"}], or table with columns'
            )
        if len(found) > MAX_SERIES:
            raise ValidationFailed(f"{len(found)} series; a chart has at most {MAX_SERIES}")
        return found

    def one(self, series: ChartSeries, categories: str | None = None) -> SeriesData:
        """Return a series; `categories` are of all that name none. Raises ValidationFailed."""
        values = self.line(series.values, "values")
        cells = self._reader.cells(values)
        header = None
        if series.name is None and _is_header(values, cells):
            # The header was taken into the range, as people do who select a column.
            header = cell_range(values.sheet, cells[0].row, cells[0].column)
            values = _without_first(values)
            cells = cells[1:]
        self.check_values(values, cells)
        wanted = series.categories if series.categories is not None else categories
        found = self._categories(wanted, values, has_header=header is not None)
        name = self._above(values, found) if header is None and series.name is None else header
        if series.name is not None:
            return SeriesData(values, found, *self.name(series.name))
        return SeriesData(values, found, name, self._text(name) if name else "")

    def name(self, text: str) -> tuple[CellRange | str, str]:
        """Return the name of a series, a cell or a text, and its text; raises ValidationFailed."""
        if not text.startswith("="):
            checked = checked_text(text, "name of a series")
            return checked, checked
        found = self._reader.find(text, self._sheet)
        if found.count != 1:
            raise ValidationFailed(f"the name of a series is one cell or a text, not {found}")
        return found, self._text(found)

    def line(self, text: str, what: str) -> CellRange:
        """Return the one row or column that a text means; raises ValidationFailed."""
        found = self._reader.find(text, self._sheet)
        if not found.is_line:
            raise ValidationFailed(
                f"{what} {found} are several columns; a series is one column or row: give one "
                "series a column, or table with columns"
            )
        if found.count > MAX_POINTS:
            raise ValidationFailed(
                f"{what} {found} are {found.count:,} cells; a series has at most {MAX_POINTS:,}"
            )
        return found

    def categories(self, text: str, values: CellRange) -> CellRange:
        """Return the categories that a text means, checked against values."""
        found = self.line(text, "categories")
        if found.count == values.count + 1:
            cells = self._reader.cells(found)
            first = next(iter(found.places()))
            if cells and (cells[0].row, cells[0].column) == first and cells[0].kind == "text":
                # With its header, and the values without theirs.
                return _without_first(found)
        if found.count != values.count:
            self._warnings.warn(
                f"Categories {found} are {found.count} cells, values {values} are {values.count}."
            )
        return found

    def check_values(self, values: CellRange, cells: Sequence[ReadCell]) -> None:
        """Warn of values that are no numbers; raises ValidationFailed where none is one."""
        numbers = [cell for cell in cells if cell.kind in ("number", "pending")]
        texts = [cell for cell in cells if cell.kind == "text" and cell.text]
        if not numbers:
            why = f"but text such as {texts[0].text[:30]!r}" if texts else "for it is empty"
            raise ValidationFailed(
                f"values {values} hold no numbers, {why}; give a range of numbers"
            )
        if texts:
            places = listed([name_of(values, cell) for cell in texts], 5)
            self._warnings.warn(f"Text among the values is drawn as 0: {places}.")

    def _categories(
        self, wanted: str | None, values: CellRange, *, has_header: bool
    ) -> CellRange | None:
        if wanted is not None:
            return self.categories(wanted, values)
        found = self._beside(values)
        return found if found is None or not has_header or found.count == values.count else None

    def _above(self, values: CellRange, categories: CellRange | None) -> CellRange | None:
        """Return the header of values: the text in the cell before them."""
        found = _before(values)
        cells = [] if found is None else self._reader.cells(found)
        if not cells or not cells[0].text:
            return None
        if cells[0].kind == "number":
            # A number before numbers is one of them, but for a year beside a header of categories.
            corner = None if categories is None else _before(categories)
            headed = [] if corner is None else self._reader.cells(corner)
            has_year = is_year(float(cells[0].text))
            return found if has_year and headed and headed[0].kind == "text" else None
        return found

    def _beside(self, values: CellRange) -> CellRange | None:
        """Return the first column (or row) of the values' block if it holds texts or dates."""
        area, upright = values.area, values.is_column
        table = self._reader.table_at(values.sheet, area)
        first = 1 if table is None else (table.area.left if upright else table.area.top)
        last = area.left if upright else area.top
        found = None
        for line in range(last - 1, max(first, last - 256) - 1, -1):
            moved = (
                Area(area.top, line, area.bottom, line)
                if upright
                else Area(line, area.left, line, area.right)
            )
            candidate = CellRange(values.sheet, moved)
            cells = self._filled(candidate)
            if not cells and table is None:
                break
            if self._may_be_categories(values.sheet, cells):
                found = candidate
        return found

    def _may_be_categories(self, sheet: str, cells: Sequence[ReadCell]) -> bool:
        """Tell whether a column that nobody named holds categories: mostly texts, or dates."""
        texts = sum(cell.kind == "text" for cell in cells)
        if not cells or self._has_numbers:
            return bool(cells) and texts * 2 < len(cells)
        return texts * 2 > len(cells) or self._reader.is_date(sheet, cells[0].row, cells[0].column)

    def _text(self, found: CellRange) -> str:
        cells = self._reader.cells(found)
        return cells[0].text if cells else ""

    def _of_table(self, operation: AddChart) -> list[SeriesData]:
        """Return the series of columns of a table, or of a range with headers."""
        sheet, headers, top, bottom = self._table(operation.table or "")

        def column(place: int) -> CellRange:
            return CellRange(sheet, Area(top, place, bottom, place))

        named = [self._place(headers, each, operation.table or "") for each in operation.columns]
        categories = None
        if operation.categories is not None:
            folded = [each.casefold() for each in headers.values()]
            if operation.categories.casefold() in folded:
                place = self._place(headers, operation.categories, "")
                categories = column(place)
            else:
                categories = self.categories(operation.categories, column(min(headers)))
        else:
            places = [place for place in headers if place not in named]
            categories = next(
                (
                    column(place)
                    for place in places
                    if self._may_be_categories(sheet, self._filled(column(place)))
                ),
                None,
            )
        if not named:
            taken = None if categories is None else categories.area.left
            named = [
                place
                for place in headers
                if place != taken and self._are_numbers(sheet, self._filled(column(place)))
            ]
        if not named:
            raise ValidationFailed(f"{operation.table} has no column of numbers to draw")
        found = []
        for place in named:
            values = column(place)
            if values.count > MAX_POINTS:
                raise ValidationFailed(f"{values} are more than {MAX_POINTS:,} cells")
            self.check_values(values, self._reader.cells(values))
            name = cell_range(sheet, top - 1, place) if top > 1 else None
            found.append(SeriesData(values, categories, name, headers[place]))
        return found

    def _filled(self, found: CellRange) -> list[ReadCell]:
        """Return the first cells of a column that hold something."""
        cells = self._reader.first_cells(found)
        return [cell for cell in cells if cell.text or cell.kind == "pending"]

    def _are_numbers(self, sheet: str, cells: Sequence[ReadCell]) -> bool:
        numbers = sum(cell.kind in ("number", "pending") for cell in cells)
        if not cells or numbers * 2 <= len(cells):
            return False
        first = cells[0]
        return first.kind == "pending" or not self._reader.is_date(sheet, first.row, first.column)

    def _table(self, text: str) -> tuple[str, dict[int, str], int, int]:
        """Return the sheet of a table, its headers by column, its first and last row of data."""
        known = self._reader.table(text.strip())
        if known is not None:
            title, table = known
            if not table.header_rows:
                raise ValidationFailed(f"table {table.name} has no header; give series by ranges")
            headers = dict(enumerate(table.columns, table.area.left))
            return title, headers, *data_rows(table)
        found = self._reader.find(text, self._sheet)
        area = found.area
        if area.bottom == area.top:
            raise ValidationFailed(f"table {found} is one row; it needs a header and rows below it")
        first = CellRange(found.sheet, Area(area.top, area.left, area.top, area.right))
        headers = {cell.column: cell.text.strip() for cell in self._reader.cells(first)}
        if not any(headers.values()):
            raise ValidationFailed(f"table {found} has no header in its first row")
        for place in range(area.left, area.right + 1):
            headers.setdefault(place, "")
        return found.sheet, dict(sorted(headers.items())), area.top + 1, area.bottom

    def _place(self, headers: dict[int, str], name: str, table: str) -> int:
        folded = name.strip().casefold()
        for place, header in headers.items():
            if header.strip().casefold() == folded:
                return place
        near = get_close_matches(name, list(headers.values()), 3, 0.6)
        hint = (
            f"near it: {', '.join(near)}"
            if near
            else (f"it has: {', '.join(filter(None, headers.values()))[:300]}")
        )
        raise ValidationFailed(f"{table or 'the table'} has no column {name!r}; {hint}")


def _is_header(values: CellRange, cells: Sequence[ReadCell]) -> bool:
    """Tell whether the first cell of values is their header: a text before numbers."""
    if len(cells) < 2 or cells[0].kind != "text":
        return False
    is_first = (cells[0].row, cells[0].column) == (values.area.top, values.area.left)
    return is_first and all(cell.kind != "text" for cell in cells[1:])


def _before(values: CellRange) -> CellRange | None:
    """Return the cell above a column, or at the left of a row."""
    row = values.area.top - values.is_column
    column = values.area.left - (not values.is_column)
    return cell_range(values.sheet, row, column) if row and column else None


def _without_first(found: CellRange) -> CellRange:
    area = found.area
    if found.is_column:
        return CellRange(found.sheet, Area(area.top + 1, area.left, area.bottom, area.right))
    return CellRange(found.sheet, Area(area.top, area.left + 1, area.bottom, area.right))
