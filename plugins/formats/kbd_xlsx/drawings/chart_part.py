"""A chart that there is, changed: titles, legend, series. What is not named keeps its elements.

Charts of 2014 and later (waterfall, treemap …) are another kind of part, and are not changed.
"""

from collections.abc import Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd.opc.rewriter import xml_bytes
from kbd_xlsx.drawings.chart_axes import set_scale
from kbd_xlsx.drawings.chart_facts import axis_of
from kbd_xlsx.drawings.chart_labels import set_labels
from kbd_xlsx.drawings.chart_markup import LEGEND_CODES, accent_fill, fragment, title_markup
from kbd_xlsx.drawings.chart_schema import (
    AXIS_ORDER,
    CHART_ORDER,
    LEGEND_ORDER,
    SERIES_ORDER,
    put_child,
)
from kbd_xlsx.drawings.chart_types import TypeChange, set_stacking
from kbd_xlsx.drawings.drawing_part import MAIN_SPACE
from kbd_xlsx.drawings.point_caches import PointCache, reference_element
from kbd_xlsx.operations import ChartAxis, ChartType, LegendPlace, PointLabels, Stacking

__all__ = ["ChartPart", "PlottedSeries", "SeriesEdit"]

_OF_ONE_SERIES = ("dPt", "trendline", "errBars", "extLst", "pictureOptions")
"""Elements of a series that are of its own points or its own number."""

_CLOSED = ("stockChart", "surfaceChart", "surface3DChart", "bubbleChart")
"""Kinds whose series belong together in ways of their own: none is added or taken away."""

_STRICT = "http://purl.oclc.org/"


class SeriesEdit(msgspec.Struct, frozen=True):
    """What a series is to be; None keeps what is there. Ranges come with what their cells show."""

    values: tuple[str, PointCache] | None = None
    categories: tuple[str, PointCache] | None = None
    name: str | tuple[str, PointCache] | None = None


class PlottedSeries(msgspec.Struct, frozen=True):
    """A series of a chart: the ranges that it names, "" for none."""

    values: str
    categories: str
    is_scatter: bool


class ChartPart:
    """The part of a chart, read and changed.

    Args:
        root: Its root element, which is changed in place.

    Raises:
        ValidationFailed: It is a chart of a later kind.
    """

    def __init__(self, root: etree._Element) -> None:
        chart = root.find("{*}chart")
        area = None if chart is None else chart.find("{*}plotArea")
        if chart is None or area is None or "chartex" in str(root.tag):
            raise ValidationFailed(
                "it is a chart of a newer kind (waterfall, treemap or the like), of which only the "
                "place and size can be changed"
            )
        self._root, self._chart, self._area = root, chart, area
        self._space = namespace_of(str(root.tag))
        is_strict = self._space.startswith(_STRICT)
        self._main = f"{_STRICT}ooxml/drawingml/main" if is_strict else MAIN_SPACE

    @property
    def series(self) -> list[PlottedSeries]:
        """The series in the order in which they are listed."""
        return [
            PlottedSeries(
                each.findtext("{*}val/{*}numRef/{*}f") or each.findtext("{*}yVal/{*}numRef/{*}f")
                or "",
                each.findtext("{*}cat/*/{*}f") or each.findtext("{*}xVal/*/{*}f") or "",
                each.getparent() is not None and self._is_scatter(each),
            )
            for each in self._series()
        ]  # fmt: skip

    @property
    def kinds(self) -> list[str]:
        """What it is made of, as elements are called ("barChart")."""
        return [name for each in self._area if (name := local_name(each)).endswith("Chart")]

    @property
    def has_axes(self) -> bool:
        """Whether it has axes, which pies have not."""
        return axis_of(self._area, of_values=True) is not None

    @property
    def shows_pivot(self) -> bool:
        """Whether it shows a pivot table, which decides of its series."""
        return self._root.find("{*}pivotSource") is not None

    def set_title(self, text: str) -> None:
        """Set what stands over the chart; "" takes it away."""
        self._set_title(self._chart, CHART_ORDER, text, 1400, is_upright=False)
        deleted = self._chart.find("{*}autoTitleDeleted")
        if deleted is None:
            deleted = etree.Element(f"{{{self._space}}}autoTitleDeleted")
            put_child(self._chart, deleted, CHART_ORDER)
        # Without it programs write the name of the only series there.
        deleted.set("val", "0" if text else "1")

    def set_axis_title(self, text: str, *, of_values: bool) -> bool:
        """Set the title of an axis; returns whether that axis is shown.

        Raises:
            ValidationFailed: The chart has no axes.
        """
        axis = axis_of(self._area, of_values=of_values)
        if axis is None:
            raise ValidationFailed("a chart of this kind has no axes")
        side = axis.find("{*}axPos")
        upright = side is not None and side.get("val") in ("l", "r")
        self._set_title(axis, AXIS_ORDER, text, 1000, is_upright=upright)
        deleted = axis.find("{*}delete")
        return deleted is None or deleted.get("val", "1") in ("0", "false")

    def set_type(self, wanted: ChartType, *, is_relabeled: bool) -> list[str]:
        """Change the type; returns looks that it does not have, in words.

        Args:
            wanted: The new type.
            is_relabeled: Whether labels are set afterwards.

        Raises:
            ValidationFailed: It cannot be changed without a loss.
        """
        change = TypeChange(self._area, wanted, self._main)
        change.apply(shows_pivot=self.shows_pivot, is_relabeled=is_relabeled)
        return list(change.dropped)

    def set_stacking(self, stacked: Stacking) -> None:
        """Have the series stand on one another, or not; raises ValidationFailed."""
        set_stacking(self._area, stacked)

    def set_scale(self, wanted: ChartAxis, *, of_values: bool, from_1904: bool) -> None:
        """Set the scale and number format of an axis; raises ValidationFailed."""
        axis = axis_of(self._area, of_values=of_values)
        if axis is None:
            raise ValidationFailed("a chart of this kind has no axes")
        name = "y_axis" if of_values else "x_axis"
        set_scale(axis, wanted, name, from_1904=from_1904)

    def set_labels(self, labels: PointLabels) -> None:
        """Label the points of all series, or none; raises ValidationFailed."""
        plots = [each for each in self._area if local_name(each).endswith("Chart")]
        set_labels(plots, labels, self._main)

    def set_legend(self, place: LegendPlace) -> None:
        """Put the legend at a side, or take it away."""
        legend = self._chart.find("{*}legend")
        if place == "none":
            if legend is not None:
                self._chart.remove(legend)
            return
        if legend is None:
            legend = self._made('<c:legend><c:overlay val="0"/></c:legend>')
            put_child(self._chart, legend, CHART_ORDER)
        side = legend.find("{*}legendPos")
        if side is None:
            side = etree.Element(f"{{{self._space}}}legendPos")
            put_child(legend, side, LEGEND_ORDER)
        elif side.get("val") != LEGEND_CODES[place]:
            # Where a person moved it by hand, that place was of the old side.
            for layout in legend.findall("{*}layout"):
                legend.remove(layout)
        side.set("val", LEGEND_CODES[place])

    def set_series(self, edits: Sequence[SeriesEdit]) -> None:
        """Give the chart just these series; each changes the one at its place.

        Raises:
            ValidationFailed: Series cannot be added to a chart of its kind, or taken away.
        """
        known = self._series()
        count = len(known)
        if len(edits) != count and (closed := set(self.kinds) & set(_CLOSED)):
            name = min(closed).removesuffix("Chart")
            raise ValidationFailed(
                f"a {name} chart has series that belong together; it keeps its {count}"
            )
        if len(edits) < count:
            self._remove(known[len(edits) :])
        while len(known) < len(edits):
            known.append(self._added(known, edits[len(known)]))
        for series, edit in zip(known, edits, strict=False):
            self._change(series, edit)

    def xml(self) -> bytes:
        """Return the part's bytes."""
        return xml_bytes(self._root)

    def _series(self) -> list[etree._Element]:
        plots = [each for each in self._area if local_name(each).endswith("Chart")]
        return [series for plot in plots for series in plot.iterchildren("{*}ser")]

    def _is_scatter(self, series: etree._Element) -> bool:
        parent = series.getparent()
        return parent is not None and local_name(parent) in ("scatterChart", "bubbleChart")

    def _remove(self, gone: Sequence[etree._Element]) -> None:
        for series in gone:
            plot = series.getparent()
            assert plot is not None
            if len(plot.findall("{*}ser")) == 1:
                raise ValidationFailed(
                    f"its {local_name(plot).removesuffix('Chart')} part would have no series left; "
                    "delete the chart with delete_chart and add another one"
                )
            plot.remove(series)

    def _added(self, known: Sequence[etree._Element], edit: SeriesEdit) -> etree._Element:
        """Add a series that looks like the last one, in the next color."""
        if not known:
            raise ValidationFailed("it has no series to go by; add a new chart with add_chart")
        if edit.values is None:
            raise ValidationFailed(f"series {len(known) + 1} is new and needs values")
        made = deepcopy(known[-1])
        for child in list(made):
            if local_name(child) in (*_OF_ONE_SERIES, "tx"):
                made.remove(child)
        for tag in ("idx", "order"):
            numbers = [
                int(each.get("val", "0")) for ser in known for each in ser.findall(f"{{*}}{tag}")
            ]
            element = made.find(f"{{*}}{tag}")
            if element is not None:
                element.set("val", str(max(numbers, default=-1) + 1))
        self._recolor(made, int(made.find("{*}idx").get("val", "0")))  # type: ignore[union-attr]
        known[-1].addnext(made)
        return made

    def _recolor(self, series: etree._Element, number: int) -> None:
        """Give a copied series the accent of its number, where it has a plain color."""
        for look in series.iter("{*}spPr"):
            for fill in look.iter("{*}solidFill"):
                parent = fill.getparent()
                if parent is not None and not any(
                    local_name(each) == "dLbls" for each in fill.iterancestors()
                ):
                    made = self._made(accent_fill(number))
                    parent.replace(fill, made)

    def _change(self, series: etree._Element, edit: SeriesEdit) -> None:
        is_scatter = self._is_scatter(series)
        if edit.name is not None:
            name = self._child(series, "tx")
            if isinstance(edit.name, str):
                etree.SubElement(name, f"{{{self._space}}}v").text = edit.name
            else:
                name.append(reference_element(self._space, *edit.name))
        for data, tag in (
            (edit.categories, "xVal" if is_scatter else "cat"),
            (edit.values, "yVal" if is_scatter else "val"),
        ):
            if data is not None:
                # All of it: extensions of a range name the cells that it was cut out of.
                self._child(series, tag).append(reference_element(self._space, *data))

    def _child(self, series: etree._Element, tag: str) -> etree._Element:
        """Return a child of a series without what it holds; made if there is none."""
        found = series.find(f"{{*}}{tag}")
        if found is None:
            found = etree.Element(f"{{{self._space}}}{tag}")
            put_child(series, found, SERIES_ORDER)
        for child in list(found):
            found.remove(child)
        return found

    def _set_title(
        self,
        parent: etree._Element,
        order: Sequence[str],
        text: str,
        size: int,
        *,
        is_upright: bool,
    ) -> None:
        title = parent.find("{*}title")
        if not text:
            if title is not None:
                parent.remove(title)
            return
        made = self._made(title_markup(text, size, is_upright=is_upright))
        if title is None:
            put_child(parent, made, order)
            return
        rich = title.find("{*}tx/{*}rich")
        if rich is not None and self._retold(rich, text):
            return
        # It was that of a cell, or written by the program: its place and frame stay.
        old, new = title.find("{*}tx"), made.find("{*}tx")
        assert new is not None
        if old is not None:
            title.remove(old)
        title.insert(0, new)

    def _retold(self, rich: etree._Element, text: str) -> bool:
        """Put another text into a title's paragraphs, as its first run looks."""
        first = rich.find("{*}p/{*}r")
        paragraph = None if first is None else first.getparent()
        if first is None or paragraph is None:
            return False
        for other in rich.findall("{*}p"):
            if other is not paragraph:
                rich.remove(other)
        for child in list(paragraph):
            if child is not first and local_name(child) in ("r", "br", "fld"):
                paragraph.remove(child)
        for number, line in enumerate(text.split("\n")):
            target = paragraph
            if number:
                target = deepcopy(paragraph)
                rich.append(target)
            run = target.find("{*}r/{*}t")
            if run is None:
                return False
            run.text = line
        return True

    def _made(self, xml: str) -> etree._Element:
        return fragment(xml, self._space, self._main)
