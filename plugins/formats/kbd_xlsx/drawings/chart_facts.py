"""Facts of the charts of a sheet: what each is called, where it lies, what cells it draws."""

from typing import Any

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd_xlsx.styles.drawings import DrawnObject, drawing_of, drawn_objects, relation_ids

__all__ = [
    "LEGEND_SIDES",
    "MAX_CHARTS",
    "MAX_SERIES_LISTED",
    "axis_of",
    "axis_titles",
    "chart_facts",
    "chart_title",
    "chart_types",
]

MAX_CHARTS = 20
"""Charts of a sheet that a map describes."""

MAX_SERIES_LISTED = 10
"""Series of a chart that a map describes."""

LEGEND_SIDES = {"b": "bottom", "r": "right", "t": "top", "l": "left", "tr": "top right"}
"""Where a legend stands, by its code."""

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
