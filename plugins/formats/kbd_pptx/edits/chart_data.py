"""Data of charts: categories and series, as a chart stores them and as its workbook does.

The workbook has the categories in column A and a series in each column behind it, the names of
the series in row 1. What a chart stores of it and the workbook itself always agree.
"""

import datetime as dt
import io
from collections.abc import Sequence

import msgspec
import xlsxwriter
from xlsxwriter.utility import xl_col_to_name

from kbd.errors import ValidationFailed
from kbd_pptx.operations import SlideChartSeries

__all__ = ["ChartData", "checked_data", "serial", "workbook_bytes"]

_MADE = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
"""When a workbook says that it was made: the same data makes the same bytes."""
_EPOCHS = dt.date(1899, 12, 30), dt.date(1904, 1, 1)
"""Day 0 of the two calendars that workbooks count days in (ECMA-376, part 1, 18.17.4.1)."""
_MAX_NUMBER = 9.99e307
"""The largest that a cell takes."""


class ChartData(msgspec.Struct, frozen=True):
    """Data of a chart.

    Args:
        categories: Texts or numbers, one for each value of a series.
        series: The names of series, with their values.
        code: The number format of values.
        category_code: That of categories, if they are numbers.
        sheet: The name of the sheet in its workbook.
    """

    categories: tuple[str | int | float, ...]
    series: tuple[tuple[str, tuple[int | float | None, ...]], ...]
    code: str = "General"
    category_code: str = "General"
    sheet: str = "Sheet1"

    @property
    def has_numbers(self) -> bool:
        """Whether the categories are numbers."""
        return bool(self.categories) and not any(isinstance(e, str) for e in self.categories)

    def category_area(self) -> str:
        """Return the cells of the categories."""
        return self._area("A", 2, 1 + len(self.categories))

    def name_area(self, number: int) -> str:
        """Return the cell of a series' name; series are counted from 0."""
        return self._area(xl_col_to_name(number + 1), 1, 1)

    def value_area(self, number: int) -> str:
        """Return the cells of a series' values."""
        return self._area(xl_col_to_name(number + 1), 2, 1 + len(self.categories))

    def _area(self, column: str, first: int, last: int) -> str:
        plain = self.sheet.replace("_", "")
        quoted = self.sheet.replace("'", "''")
        name = self.sheet if plain.isalnum() and plain.isascii() else f"'{quoted}'"
        end = f":${column}${last}" if last > first else ""
        return f"{name}!${column}${first}{end}"


def checked_data(
    op: str,
    categories: Sequence[str | int | float],
    series: Sequence[SlideChartSeries | tuple[str, tuple[int | float | None, ...]]],
    *,
    is_scatter: bool,
) -> ChartData:
    """Return data that a chart can show.

    Raises:
        ValidationFailed: Series are not as long as the categories, no number is among the values,
            or the x values of a scatter chart are none.
    """
    if not categories:
        raise ValidationFailed(f"{op}: give at least one category")
    pairs = [
        (each.name, each.values) if isinstance(each, SlideChartSeries) else each for each in series
    ]
    for name, values in pairs:
        if len(values) != len(categories):
            raise ValidationFailed(
                f"{op}: the series {name!r} has {len(values)} values; there are {len(categories)} "
                "categories, and each takes one (null for a gap)"
            )
        if any(each is not None and not abs(each) < _MAX_NUMBER for each in values):
            raise ValidationFailed(f"{op}: the series {name!r} has a value that is no number")
    if all(value is None for _, values in pairs for value in values):
        raise ValidationFailed(f"{op}: there is no number to draw")
    if is_scatter and any(isinstance(each, str) for each in categories):
        raise ValidationFailed(
            f"{op}: categories of a scatter chart are its x values; give numbers, not texts"
        )
    mixed = {isinstance(each, str) for each in categories}
    fitting = tuple(map(str, categories)) if len(mixed) > 1 else tuple(categories)
    return ChartData(fitting, tuple((name, tuple(values)) for name, values in pairs))


def serial(text: str, *, from_1904: bool) -> int | None:
    """Return the number of a day that is written as ISO 8601 says; None if it is none."""
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        return None
    return (day - _EPOCHS[from_1904]).days


def workbook_bytes(data: ChartData) -> bytes:
    """Return the workbook behind a chart; the same data gives the same bytes."""
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"in_memory": True, "strings_to_formulas": False})
    book.set_properties({"created": _MADE})
    sheet = book.add_worksheet(data.sheet)
    codes = (data.category_code, data.code)
    looks = [book.add_format({"num_format": code}) if code != "General" else None for code in codes]
    for row, category in enumerate(data.categories, 1):
        if isinstance(category, str):
            sheet.write_string(row, 0, category)
        else:
            sheet.write_number(row, 0, category, looks[0])
    for column, (name, values) in enumerate(data.series, 1):
        sheet.write_string(0, column, name)
        for row, value in enumerate(values, 1):
            if value is not None:
                sheet.write_number(row, column, value, looks[1])
    book.close()
    return made.getvalue()
