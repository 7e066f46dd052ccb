"""Type of a chart changed: bars into lines, a pie into columns, and so on.

Series, titles, axes, labels and colors go over. What the new type has no place for is refused by
name where a person put it in (trendlines, error bars, names of axes), and told where it is a mere
look (markers, dashes).
"""

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd_xlsx.drawings.chart_facts import chart_types, label_facts, stacking_of
from kbd_xlsx.drawings.chart_labels import PERCENT_LABELS, drop_unknown_places
from kbd_xlsx.drawings.chart_markup import (
    ChartLook,
    axes_markup,
    fragment,
    plot_markup,
)
from kbd_xlsx.drawings.chart_schema import (
    AXIS_ORDER,
    PLOT_ORDER,
    put_child,
    put_value,
)
from kbd_xlsx.drawings.series_types import FILLED, SeriesRetyping, has_usual_slices
from kbd_xlsx.operations import ChartType, Stacking

__all__ = ["TypeChange", "set_stacking"]

_TYPES: dict[str, ChartType] = {
    "lineChart": "line", "areaChart": "area", "pieChart": "pie", "scatterChart": "scatter",
}  # fmt: skip
_BARS = ("bar", "column")
_PLOT_PARTS = {
    "dropLines": ("drop lines", ("line", "area")),
    "hiLowLines": ("high-low lines", ("line",)),
    "upDownBars": ("up and down bars", ("line",)),
    "serLines": ("lines between series", _BARS),
}
_SIDES = {"b": "l", "l": "b", "t": "r", "r": "t"}
_UPRIGHT = "-5400000"
_LINE_AXIS = (
    "axId", "scaling", "delete", "axPos", "majorGridlines", "minorGridlines", "title", "numFmt",
    "majorTickMark", "minorTickMark", "tickLblPos", "spPr", "txPr", "crossAx", "crosses",
    "crossesAt",
)  # fmt: skip
"""Elements that axes of all kinds have."""

_OF_VALUES = (("crossBetween", "midCat"),)
_OF_CATEGORIES = (
    ("auto", "1"), ("lblAlgn", "ctr"), ("lblOffset", "100"), ("noMultiLvlLbl", "0"),
)  # fmt: skip


def set_stacking(area: etree._Element, stacked: Stacking) -> None:
    """Have the series of a chart stand on one another, or not.

    Raises:
        ValidationFailed: It has no series that can.
    """
    plots = _plots(area)
    kinds = {local_name(plot) for plot in plots}
    if len(plots) != 1 or not kinds <= {"barChart", "lineChart", "areaChart"}:
        if not stacked:
            return
        raise ValidationFailed(
            "only bar, column, line and area charts of one type can be stacked; this one is "
            f"{_described(area)}"
        )
    (plot,) = plots
    apart = "clustered" if kinds == {"barChart"} else "standard"
    word = {False: apart, True: "stacked", "percent": "percentStacked"}[stacked]
    was = stacking_of(plot)
    put_value(plot, "grouping", word, PLOT_ORDER)
    if kinds == {"barChart"} and bool(was) != bool(stacked):
        put_value(plot, "overlap", "100" if stacked else None, PLOT_ORDER)
    drop_unknown_places(plot)
    for axis in _axes_of(area, plot):
        code = axis.find("{*}numFmt")
        is_linked = code is not None and code.get("sourceLinked") in ("1", "true")
        if code is not None and is_linked and local_name(axis) == "valAx":
            own = plot.findtext("{*}ser/{*}val/*/*/{*}formatCode") or "General"
            code.set("formatCode", "0%" if stacked == "percent" else own)


class TypeChange:
    """Change of the type of a chart.

    Args:
        area: Its plot area, which is changed in place.
        wanted: The type that it is to have.
        main: The namespace of drawings.

    Attributes:
        dropped: Looks that the new type does not have, in words.

    Raises:
        ValidationFailed: It is none of the types that can be changed into another one.
    """

    def __init__(self, area: etree._Element, wanted: ChartType, main: str) -> None:
        plots = _plots(area)
        if len(plots) != 1:
            raise ValidationFailed(
                f"it is {_described(area)}, combined of several types or axes; its type cannot be "
                "changed as a whole; make another chart with add_chart"
            )
        (plot,) = plots
        name = local_name(plot)
        side = plot.find("{*}barDir")
        bar: ChartType = "bar" if side is not None and side.get("val") == "bar" else "column"
        self._was: ChartType | None = bar if name == "barChart" else _TYPES.get(name)
        if self._was is None:
            raise ValidationFailed(
                f"it is {_described(area)}, whose type cannot be changed without a loss; make "
                "another chart with add_chart"
            )
        self._area, self._plot, self._wanted, self._main = area, plot, wanted, main
        self._space = namespace_of(str(plot.tag))
        self._stacked = stacking_of(plot)
        self.dropped: dict[str, None] = {}
        self._retyping = SeriesRetyping(self._was, wanted, (self._space, main), self.dropped)

    def apply(self, *, shows_pivot: bool, is_relabeled: bool) -> None:
        """Change it.

        Args:
            shows_pivot: Whether the chart shows a pivot table.
            is_relabeled: Whether its labels are set afterwards.

        Raises:
            ValidationFailed: The new type has no place for something.
        """
        was, wanted = self._was, self._wanted
        if was == wanted:
            return
        if shows_pivot and wanted == "scatter":
            raise ValidationFailed("a chart of a pivot table cannot be a scatter chart")
        if {was, wanted} <= set(_BARS):
            put_value(self._plot, "barDir", "bar" if wanted == "bar" else "col", PLOT_ORDER)
            self._turn()
            return
        lost = [*self._lost_of_plot(is_relabeled=is_relabeled), *self._lost_of_series()]
        if "pie" in (was, wanted) or "scatter" in (was, wanted):
            lost += self._lost_of_axes()
        if lost:
            raise ValidationFailed(
                f"a chart of type {wanted} has no place for its "
                f"{', '.join(dict.fromkeys(lost))}; make another chart with add_chart"
            )
        self._replace()

    def _lost_of_plot(self, *, is_relabeled: bool) -> list[str]:
        found = [
            word for name, (word, types) in _PLOT_PARTS.items()
            if self._plot.find(f"{{*}}{name}") is not None and self._wanted not in types
        ]  # fmt: skip
        if self._plot.find("{*}extLst") is not None:
            found.append("filtered series or other parts of a later version")
        series = self._plot.findall("{*}ser")
        if self._wanted == "pie" and len(series) != 1:
            found.append(f"{len(series)} series (a pie has one; give series with one)")
        if self._wanted == "scatter" and self._stacked:
            found.append("stacking")
        percents = set(label_facts([self._plot]).split("+")) & set(PERCENT_LABELS)
        if self._was == "pie" and percents and not is_relabeled:
            found.append('labels of percents (give labels, "value" or "none", too)')
        return found

    def _lost_of_series(self) -> list[str]:
        was, wanted = self._was, self._wanted
        found = []
        for series in self._plot.findall("{*}ser"):
            if series.find("{*}trendline") is not None and "pie" in (was, wanted):
                found.append("trendlines")
            if series.find("{*}errBars") is not None and {was, wanted} & {"pie", "scatter"}:
                found.append("error bars")
            if any(True for _ in series.iter("{*}blipFill")) and wanted in ("line", "scatter"):
                found.append("picture fills")
            points = series.findall("{*}dPt")
            if points and not has_usual_slices(series) and (was in FILLED) != (wanted in FILLED):
                found.append("points with a look of their own")
        if wanted == "scatter":
            names = [name for each in self._plot.iterfind("{*}ser/{*}cat/*")
                     if not (name := local_name(each)).startswith("num")]  # fmt: skip
            if names:
                found.append("categories of texts (give series with categories of numbers)")
        if was == "scatter":
            ranges = {each.findtext("{*}xVal/*/{*}f") for each in self._plot.findall("{*}ser")}
            found += ["x values that differ from series to series"] if len(ranges) > 1 else []
        return found

    def _lost_of_axes(self) -> list[str]:
        found = []
        axes = _axes_of(self._area, self._plot)
        if self._wanted == "pie":
            if any(axis.find("{*}title") is not None for axis in axes):
                found.append('titles of axes (give x_title and y_title as "", too)')
            if self._area.find("{*}dTable") is not None:
                found.append("table of data")
            if any(_has_scale(axis) for axis in axes):
                self.dropped["the scale of the axes"] = None
        elif self._was == "scatter" and axes and _has_scale(axes[0]):
            found.append('scale of the x axis (give x_axis with "auto", too)')
        return found

    def _turn(self) -> None:
        """Have the axes of bars change their sides."""
        for axis in _axes_of(self._area, self._plot):
            side = axis.find("{*}axPos")
            if side is None:
                continue
            side.set("val", _SIDES.get(side.get("val", "b"), "b"))
            title = axis.find("{*}title")
            if title is None:
                continue
            for layout in title.findall("{*}layout"):
                title.remove(layout)
            is_upright = side.get("val") in ("l", "r")
            for body in title.iter("{*}bodyPr"):
                if body.get("rot") in ("0", _UPRIGHT):
                    body.set("rot", _UPRIGHT if is_upright else "0")

    def _replace(self) -> None:
        """Put a plot of the new type in the place of the old one."""
        was, wanted = self._was, self._wanted
        made = self._made(plot_markup(wanted, self._stacked))
        for name in ("dLbls", "dropLines", "hiLowLines", "upDownBars"):
            for each in self._plot.findall(f"{{*}}{name}"):
                put_child(made, each, PLOT_ORDER)
        for number, series in enumerate(self._plot.findall("{*}ser")):
            put_child(made, self._retyping.series(series, number), PLOT_ORDER)
        if "pie" in (was, wanted):
            for lines in [*made.iter("{*}showLeaderLines"), *made.iter("{*}leaderLines")]:
                parent = lines.getparent()
                if parent is not None and wanted != "pie":
                    parent.remove(lines)
        else:
            vary = self._plot.find("{*}varyColors")
            put_value(made, "varyColors", "0" if vary is None else vary.get("val"), PLOT_ORDER)
        drop_unknown_places(made)
        if (was == "bar") != (wanted == "bar") and "pie" not in (was, wanted):
            self._turn()
        self._set_axes(made)
        self._area.replace(self._plot, made)

    def _set_axes(self, plot: etree._Element) -> None:
        """Give the plot area the axes that the new plot needs."""
        was, wanted = self._was, self._wanted
        axes = _axes_of(self._area, self._plot)
        if wanted == "pie":
            for axis in axes:
                self._area.remove(axis)
            return
        if was == "pie":
            self._make_axes(plot)
            return
        for number, identity in zip(self._plot.findall("{*}axId"), plot.findall("{*}axId"),
                                    strict=False):  # fmt: skip
            identity.set("val", number.get("val", ""))
        for axis in axes:
            if axis is axes[0] and "scatter" in (was, wanted):
                self._convert(axis)
            elif local_name(axis) == "valAx":
                old = axis.find("{*}crossBetween")
                usual = "midCat" if was in ("area", "scatter") else "between"
                if old is None or old.get("val") == usual or wanted == "scatter":
                    new = "midCat" if wanted in ("area", "scatter") else "between"
                    put_value(axis, "crossBetween", new, AXIS_ORDER)

    def _make_axes(self, plot: etree._Element) -> None:
        tags = ("yVal", "xVal") if self._wanted == "scatter" else ("val", "cat")
        path = "{{*}}ser/{{*}}{}/*/*/{{*}}formatCode"
        values, own = (plot.findtext(path.format(tag)) or "General" for tag in tags)
        markup = axes_markup(ChartLook(self._wanted), values, own)
        both = fragment(f"<c:plotArea>{markup}</c:plotArea>", self._space, self._main)
        place = self._plot
        for axis in list(both):
            place.addnext(axis)
            place = axis

    def _convert(self, axis: etree._Element) -> None:
        """Make an axis of categories one of values, or the other way round."""
        is_scatter = self._wanted == "scatter"
        made = etree.Element(f"{{{self._space}}}{'valAx' if is_scatter else 'catAx'}")
        kept = (*_LINE_AXIS, "majorUnit", "minorUnit") if is_scatter else _LINE_AXIS
        for child in list(axis):
            if local_name(child) in kept:
                made.append(child)
        if axis.find("{*}majorTimeUnit") is not None:
            # A step of months would be one of days.
            put_value(made, "majorUnit", None, AXIS_ORDER)
        for name, value in _OF_VALUES if is_scatter else _OF_CATEGORIES:
            put_value(made, name, value, AXIS_ORDER)
        self._area.replace(axis, made)

    def _made(self, xml: str) -> etree._Element:
        return fragment(xml, self._space, self._main)


def _plots(area: etree._Element) -> list[etree._Element]:
    return [each for each in area if local_name(each).endswith("Chart")]


def _axes_of(area: etree._Element, plot: etree._Element) -> list[etree._Element]:
    """Return the axes of a plot, that of categories or x values first."""
    ids = [each.get("val") for each in plot.findall("{*}axId")]
    axes = {
        number.get("val"): each
        for each in area
        if local_name(each).endswith("Ax") and (number := each.find("{*}axId")) is not None
    }
    found = [axes[each] for each in ids if each in axes]
    return sorted(found, key=lambda axis: local_name(axis) == "valAx")


def _described(area: etree._Element) -> str:
    root = area.getroottree().getroot()
    kinds = " and ".join(chart_types(root)) or "chart of an unknown type"
    is_solid = any("3D" in local_name(plot) for plot in _plots(area))
    return f"a {'3-D ' if is_solid else ''}{kinds} chart"


def _has_scale(axis: etree._Element) -> bool:
    names = ("scaling/{*}min", "scaling/{*}max", "scaling/{*}logBase", "majorUnit")
    return any(axis.find(f"{{*}}{name}") is not None for name in names)
