"""Labels at the points of charts: put on and taken off."""

from collections.abc import Sequence

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd_xlsx.drawings.chart_facts import LABEL_FLAGS
from kbd_xlsx.drawings.chart_markup import fragment, labels_markup
from kbd_xlsx.drawings.chart_schema import (
    LABELS_ORDER,
    SERIES_ORDER,
    put_child,
    put_value,
)
from kbd_xlsx.operations import PointLabels

__all__ = ["PERCENT_LABELS", "drop_unknown_places", "set_labels"]

PERCENT_LABELS = ("percent", "category_percent")
_ROUND = ("pieChart", "doughnutChart", "pie3DChart", "ofPieChart")
_NO_LABELS = ("surfaceChart", "surface3DChart")
_SLICES = ("bestFit", "outEnd", "inEnd", "ctr")
_CROSSED = ("t", "b", "l", "r", "ctr")
_PLACES = {
    "lineChart": _CROSSED, "scatterChart": _CROSSED, "bubbleChart": _CROSSED,
    "pieChart": _SLICES, "pie3DChart": _SLICES, "ofPieChart": _SLICES, "radarChart": ("outEnd",),
}  # fmt: skip
"""Where labels may stand, by the kind of plot: any other place is damage."""

_BESIDE, _WITHIN = ("outEnd", "ctr", "inEnd", "inBase"), ("ctr", "inEnd", "inBase")


def set_labels(plots: Sequence[etree._Element], labels: PointLabels, main: str) -> None:
    """Label the points of all series; labels that there are keep their look.

    Args:
        plots: The plots of a chart.
        labels: What they tell.
        main: The namespace of drawings.

    Raises:
        ValidationFailed: A plot has no such labels.
    """
    for plot in plots:
        name = local_name(plot)
        if name in _NO_LABELS:
            raise ValidationFailed("a surface chart has no labels at its points")
        if labels in PERCENT_LABELS and name not in _ROUND:
            raise ValidationFailed("labels of percents are for pie charts; use value")
    for plot in plots:
        own = plot.find("{*}dLbls")
        if own is not None:
            # It speaks for series without labels of their own, and all get some.
            plot.remove(own)
        for series in plot.findall("{*}ser"):
            _label(series, _kind(plot), labels, main)
        drop_unknown_places(plot)


def _label(series: etree._Element, kind: str, labels: PointLabels, main: str) -> None:
    found = series.find("{*}dLbls")
    if found is not None and (labels == "none" or found.find("{*}delete") is not None):
        series.remove(found)
        found = None
    if labels == "none":
        return
    if found is None:
        found = fragment(labels_markup(kind, labels), namespace_of(str(series.tag)), main)
        put_child(series, found, SERIES_ORDER)
    for flag, told in (*LABEL_FLAGS.items(), ("showSerName", "")):
        put_value(found, flag, str(int(told in labels.split("_"))), LABELS_ORDER)
    for of_cells in found.iter("{*}showDataLabelsRange"):
        of_cells.set("val", "0")


def drop_unknown_places(plot: etree._Element) -> None:
    """Take out places of labels that a plot of its kind does not have; programs choose then."""
    known: Sequence[str] = _PLACES.get(local_name(plot), ())
    if local_name(plot) == "barChart":
        grouping = plot.find("{*}grouping")
        is_beside = grouping is None or grouping.get("val", "clustered") == "clustered"
        known = _BESIDE if is_beside else _WITHIN
    for place in list(plot.iter("{*}dLblPos")):
        parent = place.getparent()
        if parent is not None and place.get("val") not in known:
            parent.remove(place)


def _kind(plot: etree._Element) -> str:
    name = local_name(plot)
    if name == "barChart":
        grouping = plot.find("{*}grouping")
        is_stacked = grouping is not None and "tacked" in grouping.get("val", "")
        return "stacked" if is_stacked else "column"
    return name.removesuffix("Chart")
