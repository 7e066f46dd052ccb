"""Order of the elements of charts, which programs hold files to (ECMA-376 part 1, 21.2)."""

from collections.abc import Sequence

from lxml import etree

from kbd.opc.element_names import local_name, namespace_of

__all__ = [
    "AXIS_ORDER",
    "CHART_ORDER",
    "LABELS_ORDER",
    "LEGEND_ORDER",
    "PLOT_ORDER",
    "SCALING_ORDER",
    "SERIES_ORDER",
    "put_child",
    "put_value",
]

CHART_ORDER = (
    "title", "autoTitleDeleted", "pivotFmts", "view3D", "floor", "sideWall", "backWall", "plotArea",
    "legend", "plotVisOnly", "dispBlanksAs", "showDLblsOverMax", "extLst",
)  # fmt: skip
AXIS_ORDER = (
    "axId", "scaling", "delete", "axPos", "majorGridlines", "minorGridlines", "title", "numFmt",
    "majorTickMark", "minorTickMark", "tickLblPos", "spPr", "txPr", "crossAx", "crosses",
    "crossesAt", "auto", "lblAlgn", "lblOffset", "tickLblSkip", "tickMarkSkip", "noMultiLvlLbl",
    "baseTimeUnit", "crossBetween", "majorUnit", "majorTimeUnit", "minorUnit", "minorTimeUnit",
    "dispUnits", "extLst",
)  # fmt: skip
SCALING_ORDER = ("logBase", "orientation", "max", "min", "extLst")
SERIES_ORDER = (
    "idx", "order", "tx", "spPr", "invertIfNegative", "pictureOptions", "marker", "explosion",
    "dPt", "dLbls", "trendline", "errBars", "cat", "xVal", "val", "yVal", "smooth", "shape",
    "bubbleSize", "bubble3D", "extLst",
)  # fmt: skip
PLOT_ORDER = (
    "barDir", "grouping", "scatterStyle", "varyColors", "ser", "dLbls", "dropLines", "gapWidth",
    "overlap", "serLines", "hiLowLines", "upDownBars", "marker", "smooth", "firstSliceAng", "axId",
    "extLst",
)  # fmt: skip
LEGEND_ORDER = ("legendPos", "legendEntry", "layout", "overlay", "spPr", "txPr", "extLst")
LABELS_ORDER = (
    "dLbl", "delete", "numFmt", "spPr", "txPr", "dLblPos", "showLegendKey", "showVal",
    "showCatName", "showSerName", "showPercent", "showBubbleSize", "separator", "showLeaderLines",
    "leaderLines", "extLst",
)  # fmt: skip


def put_child(parent: etree._Element, element: etree._Element, order: Sequence[str]) -> None:
    """Put an element where the schema has it; behind others of its name."""
    rank = order.index(local_name(element))
    for place, child in enumerate(parent):
        name = local_name(child)
        if name in order and order.index(name) > rank:
            parent.insert(place, element)
            return
    parent.append(element)


def put_value(parent: etree._Element, name: str, value: str | None, order: Sequence[str]) -> None:
    """Set the `val` of a child, which is made if there is none; None takes it out."""
    found = parent.find(f"{{*}}{name}")
    if value is None:
        if found is not None:
            parent.remove(found)
        return
    if found is None:
        found = etree.Element(f"{{{namespace_of(str(parent.tag))}}}{name}")
        put_child(parent, found, order)
    found.set("val", value)
