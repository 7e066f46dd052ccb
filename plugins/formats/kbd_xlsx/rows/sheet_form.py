"""Form of a written sheet: its title, the looks of its cells, its totals, its widths, its chart."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import Column, SheetForm
from kbd.sheets.areas import Area, cell_name, column_letters
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import AddChart, ChartSeries
from kbd_xlsx.parts.cells import BLANK, Content
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.rows.cells import TypedRows, amount_code
from kbd_xlsx.rows.column_totals import MOMENTS, NUMBERS, ColumnTotal
from kbd_xlsx.rows.placement import shown_width

__all__ = ["FormedSheet"]

_LINE = {"style": "thin", "color": "#8EA9DB"}
_TITLE: Mapping[str, Any] = MappingProxyType({"font_bold": True, "font_size": 14})
_HEADING: Mapping[str, Any] = MappingProxyType(
    {"font_bold": True, "fill_color": "#D9E1F2", "border_bottom": _LINE}
)
_TOTALS: Mapping[str, Any] = MappingProxyType({"font_bold": True, "border_top": _LINE})
_DAY, _MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
_MIN_WIDTH, _MAX_WIDTH = 6, 60
_MARGIN = 2
# Excel cuts a text that is too long, but shows a date that does not fit as #####.
_MOMENT_WIDTHS = {"date": 12, "datetime": 20}
_MEASURED_ROWS = 5_000
"""Rows whose texts are measured: more would cost time and change little. Numbers all are."""


class FormedSheet:
    """A sheet with a form: the styles of its cells, its totals, its widths, its chart.

    Args:
        book: The workbook.
        columns: The columns of the rows.
        form: What the sheet has beside them.
        inherited: The styles that the sheet's columns have.

    Attributes:
        bases: The styles of the rows' cells, by column.
        chosen: Those of them whose number format the form says.
        amounts: Those of them that show amounts, since nothing else is said.
        warnings: What the reader must know.

    Raises:
        ValidationFailed: The form names a column that is not there, or a total that cannot be.
    """

    def __init__(
        self, book: BookEdit, columns: Sequence[Column], form: SheetForm, inherited: Sequence[int]
    ) -> None:
        self._book, self._columns, self._form, self._inherited = book, columns, form, inherited
        self._places = {column.name.casefold(): place for place, column in enumerate(columns)}
        self._formats = {
            self._place(name): _checked_format(code, name) for name, code in form.formats.items()
        }
        self._set_widths = {self._place(name): width for name, width in form.widths.items()}
        self._totals = {
            place: ColumnTotal(function, columns[place])
            for place, function in ((self._place(n), f) for n, f in form.totals.items())
        }
        # Bold letters are about an eighth wider.
        self._widths = [shown_width(column.name) * 9 // 8 + _MARGIN for column in columns]
        self._rows = 0
        self.warnings: list[str] = []
        self.bases = [self._styled(place, self._look(place)) for place in range(len(columns))]
        self.chosen = {self.bases[place] for place in self._formats} - set(inherited)
        self.amounts = {
            self.bases[place] for place in range(len(columns)) if self._is_amount(place)
        }
        if form.chart is not None:
            self._check_chart()

    @property
    def has_totals(self) -> bool:
        """Whether there is a row of totals."""
        return bool(self._totals)

    def title(self, typed: TypedRows) -> list[tuple[Content, int]]:
        """Return the cell of the line above the headings."""
        style = 0 if self._form.plain else self._book.styles.styled(0, _TITLE)
        return [(typed.name(self._form.title, "A1"), style)]

    def headings(self, typed: TypedRows, row: int) -> list[tuple[Content, int]]:
        """Return the cells of the headings, each standing over its values."""
        cells = []
        for place, column in enumerate(self._columns):
            look = {} if self._form.plain else dict(_HEADING)
            # Programs put numbers to the right.
            if column.type in NUMBERS and not self._form.plain:
                look["h_align"] = "right"
            content = typed.name(column.name, cell_name(row, place + 1))
            cells.append((content, self._styled(place, look)))
        return cells

    def see(self, values: Sequence[Any]) -> None:
        """Take a row into account for the totals and the widths; raises ValidationFailed."""
        for place, total in self._totals.items():
            total.see(values[place])
        self._rows += 1
        is_measured = self._rows <= _MEASURED_ROWS
        widths = self._widths
        for place, (column, value) in enumerate(zip(self._columns, values, strict=True)):
            if value is None or not (is_measured or column.type in NUMBERS):
                continue
            width = self._value_width(place, value)
            if width > widths[place]:
                widths[place] = width

    def totals(self, first: int, last: int) -> tuple[list[tuple[Content, int]], dict[str, Any]]:
        """Return the cells of the row of totals over some rows, and what they come to by column."""
        cells, figures = list[tuple[Content, int]](), dict[str, Any]()
        typed = TypedRows(from_1904=self._book.book.from_1904)
        for place, column in enumerate(self._columns):
            total = self._totals.get(place)
            figure = None if total is None else total.result()
            if total is None or figure is None:
                content = BLANK
                if total is not None:
                    self.warnings.append(f"{column.name} holds no value: it has no total")
                elif place == 0:
                    content = typed.name(self._form.totals_label, cell_name(last + 1, 1))
            else:
                kind = column.type if total.is_of_moments else None
                held = typed.held(kind, figure, cell_name(last + 1, place + 1)).content
                formula = total.formula(first, last, place + 1)
                content = Content("formula", formula, held.show, held.text)
                figures[column.name] = figure
                self._widths[place] = max(self._widths[place], self._value_width(place, figure))
            cells.append((content, self._styled(place, self._total_look(place, figure))))
        if 0 in self._totals:
            self.warnings.append(
                f"the first column has a total, so {self._form.totals_label} stands nowhere"
            )
        return cells, figures

    def set_widths(self, sheet: SheetPart) -> None:
        """Set the widths of the columns: as given, else such that they fit what they hold."""
        for place, width in enumerate(self._widths):
            wanted = self._set_widths.get(place, min(max(width, _MIN_WIDTH), _MAX_WIDTH))
            sheet.set_width(place + 1, float(wanted))

    def chart(self, sheet: str, heading: int, area: Area) -> AddChart | None:
        """Return the operation that puts the chart beside the rows.

        Args:
            sheet: The sheet.
            heading: The row of the headings.
            area: The rows.
        """
        form = self._form.chart
        if form is None:
            return None
        series = tuple(
            ChartSeries(
                values=_range(self._place(name), area),
                categories=_range(self._place(form.category), area),
                name=f"={column_letters(self._place(name) + 1)}{heading}",
            )
            for name in form.values
        )
        beside = f"{column_letters(len(self._columns) + 2)}{heading}"
        return AddChart(
            sheet=sheet, type=form.kind, series=series, title=form.title or None, place=beside
        )

    def _check_chart(self) -> None:
        chart = self._form.chart
        assert chart is not None
        self._place(chart.category)
        for name in chart.values:
            column = self._columns[self._place(name)]
            if column.type not in NUMBERS:
                raise ValidationFailed(
                    f"a chart cannot show column {column.name}, which holds "
                    f"{column.type or 'text'}s; its values are numbers"
                )

    def _place(self, name: str) -> int:
        """Return the place of a column, from 0; raises ValidationFailed if there is none."""
        found = self._places.get(name.casefold())
        if found is None:
            known = ", ".join(column.name for column in self._columns[:60])
            raise ValidationFailed(
                f"the form names the column {name}, which the rows do not have; they have {known}"
            )
        return found

    def _styled(self, place: int, look: Mapping[str, Any]) -> int:
        base = self._inherited[place]
        return self._book.styles.styled(base, look) if look else base

    def _look(self, place: int) -> dict[str, Any]:
        """Return how the values of a column look."""
        kind, code = self._columns[place].type, self._formats.get(place)
        if code is not None:
            look = {"number_format": code}
        else:
            look = {"number_format": amount_code(0)} if self._is_amount(place) else {}
        if kind in MOMENTS and not self._form.plain:
            # A date at the right would touch a text beside it.
            look["h_align"] = "left"
        return look

    def _is_amount(self, place: int) -> bool:
        is_float = self._columns[place].type == "float"
        return is_float and place not in self._formats and not self._form.plain

    def _total_look(self, place: int, figure: Any) -> dict[str, Any]:
        """Return how the cell of a column in the row of totals looks."""
        total, look = self._totals.get(place), self._look(place)
        if total is None or total.function == "count":
            look.pop("number_format", None)
        elif total.is_of_moments:
            day = _DAY if self._columns[place].type == "date" else _MOMENT
            look.setdefault("number_format", day)
        elif self._is_amount(place) or (total.function == "average" and not self._form.plain):
            code = None if figure is None else amount_code(float(figure))
            look["number_format"] = self._formats.get(place, code or amount_code(0))
        return look if self._form.plain else {**look, **_TOTALS}

    def _value_width(self, place: int, value: Any) -> int:
        """Return how wide a value is as it is shown, in characters."""
        kind, code = self._columns[place].type, self._formats.get(place)
        if kind in _MOMENT_WIDTHS:
            return max(_MOMENT_WIDTHS[kind], _format_width(code or "") + _MARGIN)
        if kind in NUMBERS and (code is not None or self._is_amount(place)):
            try:
                whole = len(f"{float(value):.0f}")
            except ValueError:
                return shown_width(str(value)) + _MARGIN
            # A comma may come after every third digit; what else is shown is in the format.
            return whole + whole // 3 + max(_format_width(code or ""), 3) + _MARGIN
        return shown_width(str(value)) + _MARGIN


def _format_width(code: str) -> int:
    """Return how wide is what a number format shows, at most: names of months and days count."""
    sections = (part.removeprefix("#,##0").casefold() for part in code.split(";"))
    return max(len(part) + 5 * (part.count("mmmm") + part.count("dddd")) for part in sections)


# What a format shows as it is: quoted, behind a sign for it, or in brackets.
_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\[\]"]+\]|General|AM/PM|A/P', re.IGNORECASE)
_UNKNOWN = re.compile(r'["\[\]\x00-\x1f]|[A-Za-z](?<![dmyhsebgDMYHSEBG])')
_MAX_FORMAT, _MAX_SECTIONS = 255, 4


def _checked_format(code: str, name: str) -> str:
    """Return a number format; one that Excel cannot read makes it repair the whole file.

    Raises:
        ValidationFailed: It is none.
    """
    bare = _SHOWN.sub("", code)
    is_too_long = not 0 < len(code) <= _MAX_FORMAT or bare.count(";") >= _MAX_SECTIONS
    if is_too_long or _UNKNOWN.search(bare):
        raise ValidationFailed(
            f"{code[:60]!r} is no number format for column {name}: write one as spreadsheets have "
            'it, with its texts in double quotes, such as 0.00, yyyy-mm-dd, 0% or 0.0 "kg"'
        )
    return code


def _range(place: int, area: Area) -> str:
    letters = column_letters(place + 1)
    return f"{letters}{area.top}:{letters}{area.bottom}"
