"""Type of a chart changed among those whose series are of the same data.

Bars, columns, lines and areas share their axes and most of what their series look like; a pie and a
doughnut differ in the hole. All else needs other data or other axes, and is refused by name.
"""

from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.found_shapes import FoundShape, SlideEdit
from kbd_pptx.operations import SlideChartType
from kbd_pptx.presentation import A, C

__all__ = ["change_type"]

_TAGS = {
    "bar": "barChart", "column": "barChart", "line": "lineChart", "area": "areaChart",
    "pie": "pieChart", "doughnut": "doughnutChart",
}  # fmt: skip
_CARTESIAN = ("bar", "column", "line", "area")
_ROUND = ("pie", "doughnut")
_SERIES_OF = {
    "barChart": ("invertIfNegative", "errBars", "trendline"),
    "lineChart": ("marker", "smooth", "errBars", "trendline"),
    "areaChart": ("errBars", "trendline"),
    "pieChart": ("explosion", "dPt"),
    "doughnutChart": ("explosion", "dPt"),
}
"""What series of a kind may have, beside what all have."""
_SHARED = ("idx", "order", "tx", "spPr", "dLbls", "cat", "val")
_SPACES = {"c": C.strip("{}"), "a": A.strip("{}")}
_LOST = {"marker": "markers", "smooth": "smoothing", "dPt": "looks of single points",
         "explosion": "slices pulled out"}  # fmt: skip


def change_type(
    deck: DeckEdit,
    slide: SlideEdit,
    shape: FoundShape,
    root: etree._Element,
    wanted: SlideChartType,
) -> str:
    """Make a chart one of another type, and return what changed; what it drops is told.

    Raises:
        ValidationFailed: It cannot become one.
    """
    area = root.find(f"{C}chart/{C}plotArea")
    plots = [] if area is None else [each for each in area if str(each.tag).endswith("Chart")]
    if len(plots) != 1 or area is None:
        raise ValidationFailed(
            f"{shape.name} is drawn in several ways at once; its type cannot be changed"
        )
    plot = plots[0]
    now = _kind(plot)
    if now == wanted:
        return f"type {wanted} as it was"
    group = next((each for each in (_CARTESIAN, _ROUND) if now in each), ())
    if wanted not in group:
        others = [each for each in group if each != now]
        can = f"it can become {', '.join(others)}" if others else "its type cannot be changed"
        raise ValidationFailed(f"{shape.name} is {_article(now)} chart; {can}")
    made = _plot(plot, wanted)
    dropped: set[str] = set()
    for series in plot.findall(f"{C}ser"):
        copied = _series(series, _TAGS[wanted], dropped)
        first = next(iter(made.iterchildren(f"{C}dLbls", f"{C}gapWidth", f"{C}marker", f"{C}axId",
                                            f"{C}firstSliceAng")), None)  # fmt: skip
        if first is None:
            made.append(copied)
        else:
            first.addprevious(copied)
    area.replace(plot, made)
    if wanted in _CARTESIAN:
        _turn_axes(area, wanted)
    if dropped:
        deck.warnings.warn(
            f"Slide {slide.index}: {shape.name} lost {', '.join(sorted(dropped))} with its type."
        )
    return f"type {wanted}"


def _article(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _kind(plot: etree._Element) -> str:
    name = etree.QName(plot).localname
    if name == "barChart":
        side = plot.find(f"{C}barDir")
        return "bar" if side is not None and side.get("val") == "bar" else "column"
    return next((kind for kind, tag in _TAGS.items() if tag == name), name.removesuffix("Chart"))


def _plot(old: etree._Element, wanted: str) -> etree._Element:
    """Return an empty plot of a type, stacked and labeled as another one."""
    made = etree.Element(f"{C}{_TAGS[wanted]}", nsmap=_SPACES)
    grouping = old.find(f"{C}grouping")
    way = "clustered" if grouping is None else grouping.get("val", "clustered")
    stacked = way in ("stacked", "percentStacked")
    if wanted in ("bar", "column"):
        etree.SubElement(made, f"{C}barDir", {"val": "bar" if wanted == "bar" else "col"})
    if wanted in _CARTESIAN:
        plain = "clustered" if wanted in ("bar", "column") else "standard"
        etree.SubElement(made, f"{C}grouping", {"val": way if stacked else plain})
    vary = old.find(f"{C}varyColors")
    made.append(etree.Element(f"{C}varyColors", {"val": "0"}) if vary is None else deepcopy(vary))
    for labels in old.findall(f"{C}dLbls"):
        made.append(_labels(labels))
    if wanted in ("bar", "column"):
        gap, overlap = old.find(f"{C}gapWidth"), old.find(f"{C}overlap")
        width = "80" if gap is None else gap.get("val", "80")
        etree.SubElement(made, f"{C}gapWidth", {"val": width})
        if stacked:
            etree.SubElement(made, f"{C}overlap", {"val": "100"})
        elif overlap is not None:
            made.append(deepcopy(overlap))
    elif wanted == "line":
        etree.SubElement(made, f"{C}marker", {"val": "1"})
    elif wanted in _ROUND:
        angle = old.find(f"{C}firstSliceAng")
        etree.SubElement(
            made, f"{C}firstSliceAng", {"val": "0" if angle is None else angle.get("val", "0")}
        )
        if wanted == "doughnut":
            etree.SubElement(made, f"{C}holeSize", {"val": "60"})
    for axis in old.findall(f"{C}axId"):
        made.append(deepcopy(axis))
    return made


def _labels(labels: etree._Element) -> etree._Element:
    """Return labels without their position, which another type may not have."""
    made = deepcopy(labels)
    made.tail = None
    for place in list(made.iter(f"{C}dLblPos")):
        parent = place.getparent()
        if parent is not None:
            parent.remove(place)
    return made


def _series(old: etree._Element, tag: str, dropped: set[str]) -> etree._Element:
    """Return a series as one of another type."""
    made = etree.Element(f"{C}ser", nsmap=_SPACES)
    for child in old:
        name = etree.QName(child).localname if isinstance(child.tag, str) else ""
        if name in _SHARED or name in _SERIES_OF[tag]:
            made.append(_labels(child) if name == "dLbls" else deepcopy(child))
        elif name in _LOST and not (name == "smooth" and child.get("val") == "0"):
            symbol = child.find(f"{C}symbol")
            if not (name == "marker" and symbol is not None and symbol.get("val") == "none"):
                dropped.add(_LOST[name])
    for properties in made.iterchildren(f"{C}spPr"):
        _change_paint(properties, to_line=tag == "lineChart", from_line=_is_line(old))
    if tag == "lineChart" and not _is_line(old):
        # Where nothing is said, programs draw curves and markers.
        marker = etree.Element(f"{C}marker")
        etree.SubElement(marker, f"{C}symbol", {"val": "none"})
        behind = made.find(f"{C}spPr")
        for name in ("order", "tx"):
            behind = made.find(f"{C}{name}") if behind is None else behind
        if behind is not None:
            behind.addnext(marker)
        etree.SubElement(made, f"{C}smooth", {"val": "0"})
    return made


def _is_line(series: etree._Element) -> bool:
    parent = series.getparent()
    return parent is not None and parent.tag == f"{C}lineChart"


def _change_paint(properties: etree._Element, *, to_line: bool, from_line: bool) -> None:
    """Have the color of an area be that of a line, or the other way round."""
    line = properties.find(f"{A}ln")
    if to_line and not from_line:
        fill = properties.find(f"{A}solidFill")
        if fill is not None:
            properties.remove(fill)
            if line is not None:
                properties.remove(line)
            drawn = etree.SubElement(properties, f"{A}ln", {"w": "28575", "cap": "rnd"})
            drawn.append(fill)
            etree.SubElement(drawn, f"{A}round")
    elif from_line and not to_line and line is not None:
        fill = line.find(f"{A}solidFill")
        if fill is not None:
            properties.remove(line)
            properties.insert(0, fill)


def _turn_axes(area: etree._Element, wanted: str) -> None:
    """Have the axes stand where a type has them."""
    below, beside = ("l", "b") if wanted == "bar" else ("b", "l")
    for axis in area:
        name = etree.QName(axis).localname if isinstance(axis.tag, str) else ""
        place = axis.find(f"{C}axPos")
        if place is None or name not in ("catAx", "dateAx", "valAx"):
            continue
        place.set("val", beside if name == "valAx" else below)
        between = axis.find(f"{C}crossBetween")
        if between is not None:
            between.set("val", "midCat" if wanted == "area" else "between")
        # The first bar stands at the top, where a reader begins; columns begin at the left.
        order = axis.find(f"{C}scaling/{C}orientation")
        if order is not None and name != "valAx" and wanted != "bar":
            order.set("val", "minMax")
        crosses = axis.find(f"{C}crosses")
        if crosses is not None and name == "valAx" and wanted != "bar":
            crosses.set("val", "autoZero")
