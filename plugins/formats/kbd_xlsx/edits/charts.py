"""Charts made, changed and deleted by operations."""

import posixpath
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc.rewriter import xml_bytes
from kbd.sheets.areas import MAX_COLUMN, overlaps
from kbd_xlsx.drawings.anchors import anchor_markup, place_drawn
from kbd_xlsx.drawings.cell_ranges import CellRange, RangeReader
from kbd_xlsx.drawings.chart_facts import chart_title
from kbd_xlsx.drawings.chart_markup import ChartLook, SeriesMarkup, chart_markup
from kbd_xlsx.drawings.chart_part import ChartPart, SeriesEdit
from kbd_xlsx.drawings.drawing_part import (
    append_anchor,
    drawing_part,
    find_drawn,
    free_drawn_name,
    remove_anchor,
    require_drawing,
)
from kbd_xlsx.drawings.geometry import Corner, SheetGeometry, Span, parse_place
from kbd_xlsx.drawings.point_caches import PointCache, announced
from kbd_xlsx.drawings.point_refresh import refreshed_points
from kbd_xlsx.drawings.series_data import SeriesData, SeriesFinder
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import (
    AddChart,
    ChartAxis,
    ChartSeries,
    ChartType,
    DeleteChart,
    SeriesChange,
    SetChart,
)
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.styles.drawings import DrawnObject, drawn_objects, relation_ids
from kbd_xlsx.styles.theme import ensure_theme
from kbd_xlsx.values import checked_text

__all__ = ["ChartWriter"]

_CHART_TYPE = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"
_USUAL = 4_876_800, 2_857_500
"""Width and height of a chart where nothing is said: 512 by 300 points of a screen."""

_LARGEST_TITLE = 255
_MONTH, _YEAR = 28, 365
"""Fewest days between the dates of an axis of months, and of one of years."""


class ChartWriter:
    """Applies the operations on charts.

    What charts store of cells is written when all operations went through, of the values that
    these leave.

    Args:
        book: The workbook.
    """

    def __init__(self, book: BookEdit) -> None:
        self._book = book
        # Of a new chart all ranges, of another one those that were named.
        self._written: dict[str, set[str] | None] = {}
        book.last.append(self._fill)

    def add(self, operation: AddChart) -> str:
        """Add a chart and say where and of what.

        Raises:
            ValidationFailed: Its series, its place or its look cannot be.
        """
        book, title = self._book, self._book.title(operation.sheet)
        if book.rewriting.is_strict:
            raise ValidationFailed(
                "charts cannot be added to a workbook of the strict variant; save it as an "
                "ordinary .xlsx first"
            )
        book.sheet(title)
        reader = RangeReader(book)
        is_scatter = operation.type == "scatter"
        finder = SeriesFinder(reader, title, book.notices, has_numbers=is_scatter)
        series = finder.of_chart(operation)
        self._check(operation, series)
        made = chart_markup(self._look(reader, operation, series), [
            _markup(reader, each, is_scatter=is_scatter) for each in series
        ])  # fmt: skip
        self._scale(operation, ChartPart(made))
        span = self._span(title, operation, reader)
        folder = posixpath.dirname(book.main)
        # Its colors are those of the theme.
        ensure_theme(book.rewriting, book.main)
        part = book.rewriting.free_name(posixpath.join(folder, "charts/chart{}.xml"))
        drawing = require_drawing(book, title)
        book.rewriting.add(part, xml_bytes(made), _CHART_TYPE)
        relation = book.rewriting.relate(drawing, "chart", part)
        root = book.rewriting.root(drawing)
        name = free_drawn_name(root, "Chart")
        append_anchor(book.rewriting, drawing, anchor_markup(root, name, span, chart=relation))
        self._written[part] = None
        shown = ", ".join(str(each.values) for each in series[:5])
        return f"{title}!{span.area}: {name}, {operation.type} chart of {shown}"

    def change(self, operation: SetChart) -> str:
        """Change a chart and say what of it.

        Raises:
            ValidationFailed: There is no such chart, or it cannot be changed so.
        """
        book, title = self._book, self._book.title(operation.sheet)
        titles = self.titles(title)
        drawing, root, drawn = find_drawn(book, title, "chart", operation.chart, titles)
        try:
            done = self._changed(operation, title, drawing, drawn)
            if operation.place is not None or operation.size is not None:
                done.append(self._placed(operation, title, drawn))
                book.rewriting.put(drawing, xml_bytes(root))
        except ValidationFailed as error:
            raise ValidationFailed(f"chart {drawn.name} of {title}: {error.message}") from error
        if not done:
            raise ValidationFailed("set_chart names nothing to change: a title, series, a place …")
        return f"{title}: {drawn.name}: {', '.join(done)}"

    def delete(self, operation: DeleteChart) -> str:
        """Delete a chart with the parts that only it needs, and say which."""
        title = self._book.title(operation.sheet)
        titles = self.titles(title)
        drawing, root, drawn = find_drawn(self._book, title, "chart", operation.chart, titles)
        remove_anchor(self._book, drawing, root, drawn)
        return f"{title}: {drawn.name} deleted"

    def _check(self, operation: AddChart, series: Sequence[SeriesData]) -> None:
        if operation.type == "pie":
            if len(series) > 1:
                raise ValidationFailed(
                    f"a pie chart has one series, not {len(series)}; use column, or one pie each"
                )
            if operation.x_title or operation.y_title or operation.x_axis or operation.y_axis:
                raise ValidationFailed(
                    "a pie chart has no axes; leave out x_title, y_title, x_axis and y_axis"
                )
        elif operation.labels in ("percent", "category_percent"):
            raise ValidationFailed("labels of percents are for pie charts; use value")
        if operation.stacked and operation.type in ("pie", "scatter"):
            raise ValidationFailed(f"a {operation.type} chart cannot be stacked")

    def _scale(self, operation: AddChart, chart: ChartPart) -> None:
        is_1904 = self._book.book.from_1904
        for scale, of_values in ((operation.x_axis, False), (operation.y_axis, True)):
            if scale is not None:
                chart.set_scale(scale, of_values=of_values, from_1904=is_1904)

    def _look(
        self, reader: RangeReader, operation: AddChart, series: Sequence[SeriesData]
    ) -> ChartLook:
        texts = {
            name: checked_text(text or "", name.replace("_", " "))[:_LARGEST_TITLE]
            for name, text in (
                ("title", operation.title), ("x_title", operation.x_title),
                ("y_title", operation.y_title),
            )
        }  # fmt: skip
        found = series[0].categories
        unit = None if found is None or operation.type == "pie" else _date_unit(reader, found)
        return ChartLook(
            operation.type,
            legend=operation.legend,
            labels=operation.labels or "none",
            stacked=operation.stacked,
            date_unit=unit,
            from_1904=self._book.book.from_1904,
            **texts,
        )

    def _span(self, title: str, operation: AddChart, reader: RangeReader) -> Span:
        geometry = SheetGeometry(self._book.rewriting.read(self._book.part(title)), title)
        area = None if operation.place is None else parse_place(operation.place, "chart")
        if area is not None and (area.top, area.left) != (area.bottom, area.right):
            if operation.size is not None:
                raise ValidationFailed("give the chart a size, or a range as its place, not both")
            return geometry.covering(area)
        if area is not None:
            return geometry.span(Corner(area.top, area.left), operation.size, _USUAL)
        return self._free_span(title, geometry, operation, reader)

    def _free_span(
        self, title: str, geometry: SheetGeometry, operation: AddChart, reader: RangeReader
    ) -> Span:
        """Return where a chart lies that was given no place: right of the cells, under others."""
        left = reader.right_edge(title) + 2
        if left + 20 > MAX_COLUMN:
            raise ValidationFailed("there is no room at the right of the cells; give a place")
        drawing = drawing_part(self._book, title)
        root = self._book.rewriting.root(drawing) if drawing else None
        others = [] if root is None else [area_of(each.range) for each in drawn_objects(root)]
        row = 1
        while True:
            found = geometry.span(Corner(row, left), operation.size, _USUAL)
            under = [each.bottom for each in others if each and overlaps(each, found.area)]
            if not under:
                return found
            row = max(under) + 2

    def titles(self, sheet: str) -> dict[str, str]:
        """Return what is written over the charts of a sheet, by their names."""
        drawing = drawing_part(self._book, sheet)
        if not drawing:
            return {}
        found = {}
        for drawn in drawn_objects(self._book.rewriting.root(drawing)):
            part = self._part(drawing, drawn) if drawn.kind == "chart" else ""
            if part:
                found[drawn.name] = chart_title(self._book.rewriting.root(part))
        return found

    def _part(self, drawing: str, drawn: DrawnObject) -> str:
        """Return the part of a chart, "" if it is missing."""
        ids = relation_ids(drawn)
        for relation in self._book.rewriting.relations(drawing):
            if relation.id in ids and relation.target in self._book.rewriting:
                return relation.target
        return ""

    def _changed(
        self, operation: SetChart, title: str, drawing: str, drawn: DrawnObject
    ) -> list[str]:
        """Change the part of a chart and return what of it."""
        names = (
            "type", "title", "x_title", "y_title", "legend", "series", "labels", "stacked",
            "x_axis", "y_axis",
        )  # fmt: skip
        if all(getattr(operation, name) is None for name in names):
            return []
        path = self._part(drawing, drawn)
        if not path:
            raise FileReadFailed(f"the part of chart {drawn.name} is missing")
        chart = ChartPart(self._book.rewriting.root(path))
        done = []
        if operation.series is not None:
            edits = self._edits(operation.series, title, chart)
            chart.set_series(edits)
            done.append(f"{len(edits)} series")
            named = [(edit.values, edit.categories, edit.name) for edit in edits]
            written = self._written.setdefault(path, set())
            if written is not None:
                written |= {each[0] for data in named for each in data if isinstance(each, tuple)}
        if operation.type is not None:
            done.append(self._retyped(operation, operation.type, chart))
        if operation.title is not None:
            chart.set_title(_checked(operation.title))
            done.append("title")
        if operation.stacked is not None:
            chart.set_stacking(operation.stacked)
            done.append("stacked" if operation.stacked else "not stacked")
        done += self._with_axes(operation, chart)
        if operation.labels is not None:
            chart.set_labels(operation.labels)
            done.append("labels")
        if operation.legend is not None:
            chart.set_legend(operation.legend)
            done.append("legend")
        self._book.rewriting.put(path, chart.xml())
        return done

    def _retyped(self, operation: SetChart, wanted: ChartType, chart: ChartPart) -> str:
        """Change the type of a chart, after what the new one has no place for."""
        if wanted == "pie" and operation.stacked:
            raise ValidationFailed("a pie chart cannot be stacked")
        # What is to be automatic, or to go, is no loss.
        if operation.stacked is False:
            chart.set_stacking(stacked=False)
        gone = msgspec.structs.replace(
            operation,
            x_title=None if operation.x_title else operation.x_title,
            y_title=None if operation.y_title else operation.y_title,
            x_axis=_reset(operation.x_axis),
            y_axis=_reset(operation.y_axis),
        )
        if chart.has_axes:
            self._with_axes(gone, chart)
        dropped = chart.set_type(wanted, is_relabeled=operation.labels is not None)
        if dropped:
            looks = ", ".join(dropped)
            self._book.notices.warn(f"A chart of type {wanted} does not have: {looks}.")
        return f"{wanted} chart"

    def _with_axes(self, operation: SetChart, chart: ChartPart) -> list[str]:
        """Set the titles and scales of axes and return which."""
        done = []
        for name, text in (("x_title", operation.x_title), ("y_title", operation.y_title)):
            if text is None or (not text and not chart.has_axes):
                continue
            shown = chart.set_axis_title(_checked(text), of_values=name == "y_title")
            if not shown and text:
                self._book.notices.warn(f"The axis of {name} is not shown, nor its title.")
            done.append(name)
        for name, scale in (("x_axis", operation.x_axis), ("y_axis", operation.y_axis)):
            if scale is not None:
                is_1904 = self._book.book.from_1904
                chart.set_scale(scale, of_values=name == "y_axis", from_1904=is_1904)
                done.append(name)
        return done

    def _edits(
        self, series: Sequence[SeriesChange], title: str, chart: ChartPart
    ) -> list[SeriesEdit]:
        if chart.shows_pivot:
            raise ValidationFailed("it shows a pivot table, which decides of its series")
        if not series:
            raise ValidationFailed("series is empty; delete the chart with delete_chart")
        reader, known = RangeReader(self._book), chart.series
        found = []
        for number, each in enumerate(series):
            is_new = number >= len(known)
            is_scatter = known[min(number, len(known) - 1)].is_scatter if known else False
            finder = SeriesFinder(reader, title, self._book.notices, has_numbers=is_scatter)
            if is_new and each.values is not None:
                made = finder.one(ChartSeries(each.values, each.categories, each.name))
                markup = _markup(reader, made, is_scatter=is_scatter)
                # Categories that nobody named are those of the other series.
                own = markup.categories if each.categories is not None or not known else None
                found.append(SeriesEdit(markup.values, own, markup.name))
                continue
            found.append(_edit(reader, finder, each, is_scatter=is_scatter))
        return found

    def _placed(self, operation: SetChart, title: str, drawn: DrawnObject) -> str:
        part = self._book.part(title)
        if part not in [each for _, each in self._book.worksheets()]:
            raise ValidationFailed("it fills a sheet of its own; it has no place and no size")
        geometry = SheetGeometry(self._book.rewriting.read(part), title)
        area = None if operation.place is None else parse_place(operation.place, "chart")
        return place_drawn(drawn, geometry, area, operation.size)

    def _fill(self) -> None:
        """Write what the charts of this edit store of cells, of the values that there are now."""
        if not self._written:
            return
        reader = RangeReader(self._book)
        for part, formulas in self._written.items():
            if part in self._book.rewriting and formulas != set():
                data = self._book.rewriting.read(part)
                self._book.rewriting.put(part, refreshed_points(data, reader, {}, formulas))


def _reset(axis: ChartAxis | None) -> ChartAxis | None:
    """Return what of an axis is to be automatic."""
    if axis is None:
        return None
    names = ("min", "max", "unit", "format")
    kept = {name: "auto" for name in names if getattr(axis, name) == "auto"}
    return ChartAxis(**kept, log=False if axis.log is False else None)


def _checked(text: str) -> str:
    return checked_text(text, "a title")[:_LARGEST_TITLE]


def _markup(reader: RangeReader, series: SeriesData, *, is_scatter: bool) -> SeriesMarkup:
    """Return a series as a chart stores it."""
    name: str | tuple[str, PointCache] | None = None
    if isinstance(series.name, CellRange):
        name = series.name.formula, announced(reader, series.name, as_text=True)
    elif series.name is not None:
        name = series.name
    categories = None
    if series.categories is not None:
        as_text = False if is_scatter and _has_numbers(reader, series.categories) else None
        categories = (
            series.categories.formula,
            announced(reader, series.categories, as_text=as_text),
        )
    values = series.values.formula, announced(reader, series.values, as_text=False)
    return SeriesMarkup(values, categories, name)


def _edit(
    reader: RangeReader, finder: SeriesFinder, series: SeriesChange, *, is_scatter: bool
) -> SeriesEdit:
    """Return what is to be changed of a series that there is."""
    store = partial(announced, reader)
    values = categories = name = None
    if series.values is not None:
        found = finder.one(ChartSeries(series.values, name=""))
        values = found.values.formula, store(found.values, as_text=False)
    if series.categories is not None:
        beside = finder.line(series.categories, "categories")
        as_text = False if is_scatter and _has_numbers(reader, beside) else None
        categories = beside.formula, store(beside, as_text=as_text)
    if series.name is not None:
        given, _ = finder.name(series.name)
        name = given if isinstance(given, str) else (given.formula, store(given, as_text=True))
    return SeriesEdit(values, categories, name)


def _has_numbers(reader: RangeReader, found: CellRange) -> bool:
    return any(cell.kind == "number" for cell in reader.first_cells(found))


def _date_unit(reader: RangeReader, found: CellRange) -> str | None:
    """Return the unit of an axis of dates: days, months or years; None where it is none."""
    cells = [cell for cell in reader.first_cells(found) if cell.text]
    if not cells or any(cell.kind != "number" for cell in cells):
        return None
    if not reader.is_date(found.sheet, cells[0].row, cells[0].column):
        return None
    days = sorted(float(cell.text) for cell in cells)
    if any(day != int(day) for day in days):
        # Times within a day: such an axis counts whole days only.
        return None
    least = min((b - a for a, b in pairwise(days)), default=0)
    return "years" if least >= _YEAR else "months" if least >= _MONTH else "days"
