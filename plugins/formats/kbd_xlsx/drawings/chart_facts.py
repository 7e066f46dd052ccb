"""Facts of the charts of a sheet: what each is called, where it lies, what cells it draws."""

from collections.abc import Sequence
from typing import Any, Literal

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd_xlsx.styles.drawings import DrawnObject, drawing_of, drawn_objects, relation_ids

__all__ = [
    "LABEL_FLAGS",
    "LEGEND_SIDES",
    "MAX_CHARTS",
    "MAX_SERIES_LISTED",
    "axis_facts",
    "axis_of",
    "axis_titles",
    "chart_facts",
    "chart_settings",
    "chart_title",
    "chart_types",
    "label_facts",
    "stacking_of",
    "value_of",
]

MAX_CHARTS = 20
"""Charts of a sheet that a map describes."""

MAX_SERIES_LISTED = 10
"""Series of a chart that a map describes."""

LEGEND_SIDES = {"b": "bottom", "r": "right", "t": "top", "l": "left", "tr": "top right"}
"""Where a legend stands, by its code."""

LABEL_FLAGS = {"showVal": "value", "showCatName": "category", "showPercent": "percent"}
"""What labels at points tell, by the element that says so."""

_STACKED: dict[str, bool | Literal["percent"]] = {"stacked": True, "percentStacked": "percent"}
_MAX_TEXT = 200
_NAMES = {
    "pieChart": "pie", "ofPieChart": "pie", "pie3DChart": "pie", "doughnutChart": "doughnut",
    "lineChart": "line", "line3DChart": "line", "areaChart": "area", "area3DChart": "area",
    "scatterChart": "scatter", "bubbleChart": "bubble", "radarChart": "radar",
    "stockChart": "stock", "surfaceChart": "surface", "surface3DChart": "surface",
}  # fmt: skip


def chart_facts(package: Package, sheet: str) -> tuple[dict[str, Any], ...]:
    """Describe the charts of a sheet's part in the order of its drawing; a damaged one by name.

    Raises:
        FileReadFailed: The drawing is damaged.
    """
    drawing = drawing_of(package, sheet)
    if not drawing:
        return ()
    targets = {each.id: each.target for each in package.relations(drawing) if not each.external}
    found: list[dict[str, Any]] = []
    for drawn in drawn_objects(package.root(drawing)):
        if drawn.kind == "chart" and len(found) < MAX_CHARTS:
            part = next((targets[each] for each in relation_ids(drawn) if each in targets), "")
            found.append(_facts(package, drawn, part))
    return tuple(found)


def _facts(package: Package, drawn: DrawnObject, part: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": drawn.name}
    if drawn.range:
        found["range"] = drawn.range
    try:
        root = package.root(part) if part in package else None
    except FileReadFailed:
        root = None
    if root is None:
        return found
    types = chart_types(root)
    if types:
        found["type"] = "+".join(types)
    if title := chart_title(root):
        found["title"] = title[:_MAX_TEXT]
    series = [_series(each) for each in root.iterfind("{*}chart/{*}plotArea/*/{*}ser")]
    if series:
        found["series"] = series[:MAX_SERIES_LISTED]
    if len(series) > MAX_SERIES_LISTED:
        found["series_count"] = len(series)
    return found


def chart_types(root: etree._Element) -> list[str]:
    """Return what a chart is made of, as `add_chart` calls it where it can: "column", "line"."""
    found: dict[str, None] = {}
    area = root.find("{*}chart/{*}plotArea")
    for plot in area if area is not None else ():
        name = local_name(plot)
        if name in ("barChart", "bar3DChart"):
            side = plot.find("{*}barDir")
            found["bar" if side is not None and side.get("val") == "bar" else "column"] = None
        elif name.endswith("Chart"):
            found[_NAMES.get(name, name.removesuffix("Chart"))] = None
        elif name == "plotAreaRegion":
            # Of charts of 2014 and later each series says what it is ("waterfall").
            found |= dict.fromkeys(each.get("layoutId", "") for each in plot.iterfind("{*}series"))
    return [name for name in found if name]


def chart_title(root: etree._Element) -> str:
    """Return what is written over a chart, "" if nothing is."""
    title = root.find("{*}chart/{*}title")
    return _title_text(title)


def axis_titles(root: etree._Element) -> dict[str, str]:
    """Return the titles of a chart's axes by the fields of `add_chart`, where it has them."""
    area = root.find("{*}chart/{*}plotArea")
    if area is None:
        return {}
    found = {}
    for name in ("x_title", "y_title"):
        axis = axis_of(area, of_values=name == "y_title")
        text = _title_text(None if axis is None else axis.find("{*}title"))
        if text:
            found[name] = text
    return found


def chart_settings(root: etree._Element) -> dict[str, Any]:
    """Return what else operations set of a chart, by their fields: scales, labels, stacking."""
    area = root.find("{*}chart/{*}plotArea")
    if area is None:
        return {}
    plots = [each for each in area if local_name(each).endswith("Chart")]
    found: dict[str, Any] = {}
    for name in ("x_axis", "y_axis"):
        if scale := axis_facts(axis_of(area, of_values=name == "y_axis")):
            found[name] = scale
    if (labels := label_facts(plots)) not in ("", "none"):
        found["labels"] = labels
    if stacked := next(filter(None, map(stacking_of, plots)), False):
        found["stacked"] = stacked
    return found


def axis_facts(axis: etree._Element | None) -> dict[str, str]:
    """Return the scale of an axis by the fields of operations, without what is automatic."""
    if axis is None:
        return {}
    found = {field: value_of(axis, f"scaling/{{*}}{field}") for field in ("min", "max")}
    found["unit"] = value_of(axis, "majorUnit")
    found["log"] = value_of(axis, "scaling/{*}logBase")
    code = axis.find("{*}numFmt")
    if code is not None and code.get("sourceLinked") in ("0", "false"):
        found["format"] = code.get("formatCode", "")
    return {field: text for field, text in found.items() if text}


def label_facts(plots: Sequence[etree._Element]) -> str:
    """Return what the labels of a chart tell by the word of operations, "" for several words."""
    found = set()
    for plot in plots:
        for series in plot.findall("{*}ser"):
            labels = series.find("{*}dLbls")
            labels = plot.find("{*}dLbls") if labels is None else labels
            told = [
                word for flag, word in LABEL_FLAGS.items()
                if labels is not None and (each := labels.find(f"{{*}}{flag}")) is not None
                and each.get("val", "1") in ("1", "true")
            ]  # fmt: skip
            found.add("_".join(told) or "none")
    return found.pop() if len(found) == 1 else "+".join(sorted(found))


def stacking_of(plot: etree._Element) -> bool | Literal["percent"]:
    """Return whether the series of a plot stand on one another."""
    grouping = plot.find("{*}grouping")
    return _STACKED.get("" if grouping is None else grouping.get("val", ""), False)


def value_of(element: etree._Element, path: str) -> str:
    """Return the `val` of a descendant, "" where there is none."""
    found = element.find(f"{{*}}{path}")
    return "" if found is None else found.get("val", "")


def axis_of(area: etree._Element, *, of_values: bool) -> etree._Element | None:
    """Return the axis of values, or that of categories, of the first plot of a plot area."""
    plots = [each for each in area if local_name(each).endswith("Chart")]
    ids = [each.get("val") for plot in plots[:1] for each in plot.findall("{*}axId")]
    axes = {
        id_.get("val"): each
        for each in area
        if local_name(each).endswith("Ax") and (id_ := each.find("{*}axId")) is not None
    }
    own = [axes[id_] for id_ in ids if id_ in axes]
    if own and all(local_name(each) == "valAx" for each in own):
        # Of a scatter chart both are of values: that of x comes first.
        return own[-1] if of_values else own[0]
    return next((each for each in own if (local_name(each) == "valAx") == of_values), None)


def _title_text(title: etree._Element | None) -> str:
    return "" if title is None else "".join(each.text or "" for each in title.iter("{*}t", "{*}v"))


def _series(series: etree._Element) -> dict[str, str]:
    name = "".join(each.text or "" for each in series.iterfind("{*}tx//{*}v"))
    texts = {
        "name": name or series.findtext("{*}tx/{*}strRef/{*}f") or "",
        "values": series.findtext("{*}val/*/{*}f") or series.findtext("{*}yVal/*/{*}f") or "",
        "categories": series.findtext("{*}cat/*/{*}f") or series.findtext("{*}xVal/*/{*}f") or "",
    }
    return {key: text[:_MAX_TEXT] for key, text in texts.items() if text}
