"""Markup of a new chart, as spreadsheet programs make theirs: colors of the theme, light lines.

Elements come in the order of their schema (ECMA-376 part 1, 21.2): programs call a chart damaged
otherwise.
"""

from collections.abc import Sequence
from typing import assert_never
from xml.sax.saxutils import escape

import msgspec
from lxml import etree

from kbd_xlsx.drawings.drawing_part import CHART_SPACE, MAIN_SPACE
from kbd_xlsx.drawings.point_caches import PointCache, reference_element
from kbd_xlsx.operations import ChartType, LegendPlace, PointLabels, Stacking

__all__ = [
    "LEGEND_CODES",
    "ChartLook",
    "SeriesMarkup",
    "accent_fill",
    "axes_markup",
    "chart_markup",
    "fragment",
    "labels_markup",
    "plot_markup",
    "title_markup",
]

_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
LEGEND_CODES = {"bottom": "b", "right": "r", "top": "t", "left": "l"}
_MAX_SLICES = 100
"""Slices of a pie that get a color each; later ones get that of the program."""

_SIDE_LEGEND = 6
"""Slices of a pie from which on the legend stands at its right, where a list has room."""

_CATEGORY_AXIS, _VALUE_AXIS = 500_000_001, 500_000_002
_LINE = (
    '<c:spPr><a:noFill/><a:ln w="9525" cap="flat" cmpd="sng" algn="ctr"><a:solidFill>'
    '<a:schemeClr val="tx1"><a:lumMod val="15000"/><a:lumOff val="85000"/></a:schemeClr>'
    "</a:solidFill><a:round/></a:ln></c:spPr>"
)
_NO_LINE = "<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
_GRID = (
    '<c:majorGridlines><c:spPr><a:ln w="9525" cap="flat" cmpd="sng" algn="ctr"><a:solidFill>'
    '<a:schemeClr val="tx1"><a:lumMod val="15000"/><a:lumOff val="85000"/></a:schemeClr>'
    "</a:solidFill><a:round/></a:ln></c:spPr></c:majorGridlines>"
)
_GREY = (
    '<a:solidFill><a:schemeClr val="tx1"><a:lumMod val="65000"/><a:lumOff val="35000"/>'
    "</a:schemeClr></a:solidFill>"
)
_FONT = '<a:latin typeface="+mn-lt"/><a:ea typeface="+mn-ea"/><a:cs typeface="+mn-cs"/>'


class SeriesMarkup(msgspec.Struct, frozen=True):
    """A series as a chart stores it; `name` is a text, or a range with what its cell shows."""

    values: tuple[str, PointCache]
    categories: tuple[str, PointCache] | None = None
    name: str | tuple[str, PointCache] | None = None


class ChartLook(msgspec.Struct, frozen=True):
    """How a chart is drawn; the axis of categories is one of dates where `date_unit` is given."""

    type: ChartType
    title: str = ""
    x_title: str = ""
    y_title: str = ""
    legend: LegendPlace | None = None
    labels: PointLabels = "none"
    stacked: Stacking = False
    date_unit: str | None = None
    from_1904: bool = False


def chart_markup(look: ChartLook, series: Sequence[SeriesMarkup]) -> etree._Element:
    """Return the root of a chart's part."""
    title = title_markup(look.title, 1400) if look.title else ""
    legend = _legend(look, series)
    root = fragment(
        f'<c:chartSpace><c:date1904 val="{int(look.from_1904)}"/><c:roundedCorners val="0"/>'
        f'<c:chart>{title}<c:autoTitleDeleted val="{int(not look.title)}"/><c:plotArea><c:layout/>'
        f"{plot_markup(look.type, look.stacked)}{_axes(look, series)}{_NO_LINE}</c:plotArea>"
        f"{legend}"
        '<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart><c:spPr><a:solidFill>'
        '<a:schemeClr val="bg1"/></a:solidFill><a:ln w="9525" cap="flat" cmpd="sng" algn="ctr">'
        '<a:solidFill><a:schemeClr val="tx1"><a:lumMod val="15000"/><a:lumOff val="85000"/>'
        "</a:schemeClr></a:solidFill><a:round/></a:ln></c:spPr><c:txPr><a:bodyPr/><a:lstStyle/>"
        '<a:p><a:pPr><a:defRPr/></a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr>'
        '<c:printSettings><c:headerFooter/><c:pageMargins b="0.75" l="0.7" r="0.7" t="0.75" '
        'header="0.3" footer="0.3"/><c:pageSetup/></c:printSettings></c:chartSpace>'
    )
    vary = next(root.iter(f"{{{CHART_SPACE}}}varyColors"))
    plot = vary.getparent()
    assert plot is not None
    first = plot.index(vary) + 1
    for number, each in enumerate(series):
        plot.insert(first + number, _series(look, each, number))
    return root


def fragment(xml: str, space: str = CHART_SPACE, main: str = MAIN_SPACE) -> etree._Element:
    """Return an element of a chart from its text, with the prefixes c, a and r declared."""
    spaces = f'xmlns:c="{space}" xmlns:a="{main}" xmlns:r="{_RELATIONS}"'
    name, rest = xml[1:].split(">", 1)[0].rstrip("/").split(" ", 1)[0], xml[1:]
    return etree.fromstring(f"<{name} {spaces}{rest[len(name) :]}")


def title_markup(text: str, size: int, *, is_upright: bool = False) -> str:
    """Return a title; `size` in hundredths of a point."""
    turned = 'rot="-5400000" vert="horz"' if is_upright else 'rot="0" vert="horz"'
    properties = f'sz="{size}" b="0" i="0" u="none" strike="noStrike" kern="1200" baseline="0"'
    paragraphs = "".join(
        f"<a:p><a:pPr><a:defRPr {properties}>{_GREY}{_FONT}</a:defRPr></a:pPr>"
        f'<a:r><a:rPr lang="en-US"/><a:t>{escape(line)}</a:t></a:r></a:p>'
        for line in text.split("\n")
    )
    return (
        f"<c:title><c:tx><c:rich><a:bodyPr {turned}/><a:lstStyle/>{paragraphs}</c:rich></c:tx>"
        '<c:overlay val="0"/></c:title>'
    )


def accent_fill(number: int) -> str:
    """Return the fill of the series or slice of a number, from 0: an accent of the theme."""
    color, round_ = f"accent{number % 6 + 1}", number // 6
    # Programs go through the accents again in other lightnesses.
    changes = ("", '<a:lumMod val="60000"/>', '<a:lumMod val="80000"/><a:lumOff val="20000"/>')
    change = changes[round_ % len(changes)]
    return f'<a:solidFill><a:schemeClr val="{color}">{change}</a:schemeClr></a:solidFill>'


def plot_markup(type_: ChartType, stacked: Stacking) -> str:
    """Return the plot of a chart of some type, without series."""
    ids = f'<c:axId val="{_CATEGORY_AXIS}"/><c:axId val="{_VALUE_AXIS}"/>'
    grouping = {False: "standard", True: "stacked", "percent": "percentStacked"}[stacked]
    match type_:
        case "bar" | "column":
            side = "bar" if type_ == "bar" else "col"
            grouping = "clustered" if not stacked else grouping
            # The gaps that programs choose: wider where bars stand beside one another.
            gap = 150 if stacked else 182 if type_ == "bar" else 219
            overlap = 100 if stacked else 0 if type_ == "bar" else -27
            return (
                f'<c:barChart><c:barDir val="{side}"/><c:grouping val="{grouping}"/>'
                f'<c:varyColors val="0"/><c:gapWidth val="{gap}"/><c:overlap val="{overlap}"/>{ids}'
                "</c:barChart>"
            )
        case "line":
            return (
                f'<c:lineChart><c:grouping val="{grouping}"/><c:varyColors val="0"/>'
                f'<c:marker val="1"/>{ids}</c:lineChart>'
            )
        case "area":
            return (
                f'<c:areaChart><c:grouping val="{grouping}"/><c:varyColors val="0"/>{ids}'
                "</c:areaChart>"
            )
        case "pie":
            return '<c:pieChart><c:varyColors val="1"/><c:firstSliceAng val="0"/></c:pieChart>'
        case "scatter":
            return (
                '<c:scatterChart><c:scatterStyle val="lineMarker"/><c:varyColors val="0"/>'
                f"{ids}</c:scatterChart>"
            )
        case _:
            assert_never(type_)


def _axes(look: ChartLook, series: Sequence[SeriesMarkup]) -> str:
    if look.type == "pie":
        return ""
    code = "0%" if look.stacked == "percent" else series[0].values[1].code
    categories = series[0].categories
    own = "General" if categories is None else categories[1].code
    return axes_markup(look, code, own)


def axes_markup(look: ChartLook, code: str, own: str) -> str:
    """Return the axes of a chart that has some; number formats are of values, and of the others."""
    below, beside = ("l", "b") if look.type == "bar" else ("b", "l")
    y_title = _axis_title(look.y_title, beside)
    x_title = _axis_title(look.x_title, below)
    if look.type == "scatter":
        x_axis = _axis("valAx", _CATEGORY_AXIS, below, x_title, own, _VALUE_AXIS)
        y_axis = _axis("valAx", _VALUE_AXIS, beside, y_title, code, _CATEGORY_AXIS)
        return x_axis.replace(_GRID, "", 1) + y_axis
    kind = "catAx" if look.date_unit is None else "dateAx"
    x_axis = _axis(kind, _CATEGORY_AXIS, below, x_title, own, _VALUE_AXIS, look.date_unit or "")
    crossing = "midCat" if look.type == "area" else "between"
    y_axis = _axis("valAx", _VALUE_AXIS, beside, y_title, code, _CATEGORY_AXIS, crossing)
    return x_axis + y_axis


def _axis_title(text: str, side: str) -> str:
    return title_markup(text, 1000, is_upright=side == "l") if text else ""


def _axis(
    kind: str, number: int, side: str, title: str, code: str, crossed: int, detail: str = "midCat"
) -> str:
    """Return an axis; `detail` is where values cross it, or the unit of an axis of dates."""
    match kind:
        case "catAx":
            end = (
                '<c:auto val="1"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/>'
                '<c:noMultiLvlLbl val="0"/>'
            )
        case "dateAx":
            end = f'<c:auto val="1"/><c:lblOffset val="100"/><c:baseTimeUnit val="{detail}"/>'
        case _:
            end = f'<c:crossBetween val="{detail}"/>'
    ticks = "out" if kind == "dateAx" else "none"
    return (
        f'<c:{kind}><c:axId val="{number}"/><c:scaling><c:orientation val="minMax"/></c:scaling>'
        f'<c:delete val="0"/><c:axPos val="{side}"/>{_GRID if kind == "valAx" else ""}{title}'
        f'<c:numFmt formatCode={_quoted(code)} sourceLinked="1"/>'
        f'<c:majorTickMark val="{ticks}"/><c:minorTickMark val="none"/><c:tickLblPos val="nextTo"/>'
        f"{_NO_LINE if kind == 'valAx' else _LINE}{_text('-60000000')}"
        f'<c:crossAx val="{crossed}"/><c:crosses val="autoZero"/>{end}</c:{kind}>'
    )


def _quoted(text: str) -> str:
    escaped = escape(text, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
    return f'"{escaped}"'


def _text(turned: str = "0") -> str:
    return (
        f'<c:txPr><a:bodyPr rot="{turned}" vert="horz"/><a:lstStyle/><a:p><a:pPr><a:defRPr '
        'sz="900" b="0" i="0" u="none" strike="noStrike" kern="1200" baseline="0">'
        f'{_GREY}{_FONT}</a:defRPr></a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr>'
    )


def _legend(look: ChartLook, series: Sequence[SeriesMarkup]) -> str:
    place = look.legend
    if place is None and look.type == "pie":
        named = look.labels in ("category", "category_percent")
        many = series[0].values[1].count > _SIDE_LEGEND
        place = "none" if named else "right" if many else "bottom"
    elif place is None:
        place = "bottom" if len(series) > 1 else "none"
    if place == "none":
        return ""
    return (
        f'<c:legend><c:legendPos val="{LEGEND_CODES[place]}"/><c:overlay val="0"/>{_text()}'
        "</c:legend>"
    )


def _series(look: ChartLook, series: SeriesMarkup, number: int) -> etree._Element:
    """Return a series with the elements of its kind in the order of their schema."""
    made = fragment(f'<c:ser><c:idx val="{number}"/><c:order val="{number}"/></c:ser>')
    if series.name is not None:
        name = etree.SubElement(made, f"{{{CHART_SPACE}}}tx")
        if isinstance(series.name, str):
            etree.SubElement(name, f"{{{CHART_SPACE}}}v").text = series.name
        else:
            name.append(reference_element(CHART_SPACE, *series.name))
    for each in _look(look, series, number):
        made.append(fragment(each))
    if look.labels != "none":
        is_stacked = look.stacked and look.type in ("bar", "column")
        kind = "stacked" if is_stacked else look.type
        made.append(fragment(labels_markup(kind, look.labels)))
    is_scatter = look.type == "scatter"
    for tag, data in (
        ("xVal" if is_scatter else "cat", series.categories),
        ("yVal" if is_scatter else "val", series.values),
    ):
        if data is not None:
            element = etree.SubElement(made, f"{{{CHART_SPACE}}}{tag}")
            element.append(reference_element(CHART_SPACE, *data))
    if look.type in ("line", "scatter"):
        made.append(fragment('<c:smooth val="0"/>'))
    return made


def _look(look: ChartLook, series: SeriesMarkup, number: int) -> list[str]:
    fill = accent_fill(number)
    match look.type:
        case "bar" | "column":
            return [f"<c:spPr>{fill}</c:spPr>", '<c:invertIfNegative val="0"/>']
        case "area":
            return [f"<c:spPr>{fill}</c:spPr>"]
        case "line":
            return [
                f'<c:spPr><a:ln w="28575" cap="rnd">{fill}<a:round/></a:ln></c:spPr>',
                '<c:marker><c:symbol val="none"/></c:marker>',
            ]
        case "scatter":
            return [
                '<c:spPr><a:ln w="25400" cap="rnd"><a:noFill/><a:round/></a:ln></c:spPr>',
                (
                    '<c:marker><c:symbol val="circle"/><c:size val="5"/>'
                    f'<c:spPr>{fill}<a:ln w="9525">{fill}</a:ln></c:spPr></c:marker>'
                ),
            ]
        case "pie":
            white = '<a:ln w="19050"><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></a:ln>'
            return [
                f'<c:dPt><c:idx val="{slice_}"/><c:bubble3D val="0"/>'
                f"<c:spPr>{accent_fill(slice_)}{white}</c:spPr></c:dPt>"
                for slice_ in range(min(series.values[1].count, _MAX_SLICES))
            ]
        case _:
            assert_never(look.type)


# Where labels may stand differs by kind: an unknown place is damage (CT_DLbls).
_LABEL_PLACES = {
    "bar": "outEnd", "column": "outEnd", "stacked": "ctr", "line": "t", "scatter": "r",
    "pie": "bestFit",
}  # fmt: skip


def labels_markup(kind: str, labels: PointLabels) -> str:
    """Return the labels of a series' points.

    Args:
        kind: A type of chart, or "stacked" for stacked bars.
        labels: What they tell, something.
    """
    place = _LABEL_PLACES.get(kind)
    at = f'<c:dLblPos val="{place}"/>' if place else ""
    shown = {
        "showVal": labels == "value",
        "showCatName": labels in ("category", "category_percent"),
        "showSerName": False,
        "showPercent": labels in ("percent", "category_percent"),
        "showBubbleSize": False,
    }
    flags = "".join(f'<c:{name} val="{int(is_on)}"/>' for name, is_on in shown.items())
    lines = '<c:showLeaderLines val="1"/>' if kind == "pie" else ""
    none = "<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
    return f'<c:dLbls>{none}{_text()}{at}<c:showLegendKey val="0"/>{flags}{lines}</c:dLbls>'
