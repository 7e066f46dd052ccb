"""Markup of charts on slides: new ones in the colors of the theme, and the data of any.

Elements come in the order of their schema (ECMA-376 part 1, 21.2): programs call a chart damaged
otherwise.
"""

from collections.abc import Sequence
from typing import assert_never
from xml.sax.saxutils import escape, quoteattr

from lxml import etree

from kbd_pptx.edits.chart_data import ChartData
from kbd_pptx.operations import AddSlideChart, SlideChartLabels, SlideChartType
from kbd_pptx.presentation import A, C, R

__all__ = [
    "CHART_URI",
    "accent_fill",
    "insert_ordered",
    "new_chart",
    "title_element",
    "write_data",
]

CHART_URI = C.strip("{}")
_LEGENDS = {"bottom": "b", "right": "r", "top": "t", "left": "l"}
_X_AXIS, _Y_AXIS = 500_000_001, 500_000_002
_TEXT = 1200
"""Of labels and legends, in hundredths of a point: what a room can read."""
_TITLE, _AXIS_TITLE = 1600, 1200
_GREY = (
    '<a:solidFill><a:schemeClr val="tx1"><a:lumMod val="{mod}"/><a:lumOff val="{off}"/>'
    "</a:schemeClr></a:solidFill>"
)
_LIGHT = '<a:ln w="9525">' + _GREY.format(mod="15000", off="85000") + "</a:ln>"
_NO_LINE = "<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
_GRID = f"<c:majorGridlines><c:spPr>{_LIGHT}</c:spPr></c:majorGridlines>"
_MANY_SLICES = 6
"""Slices from which on the legend of a pie stands at its right, where a list has room."""

_SERIES_ORDER = (
    "idx", "order", "tx", "spPr", "invertIfNegative", "pictureOptions", "marker", "explosion",
    "dPt", "dLbls", "trendline", "errBars", "cat", "xVal", "val", "yVal", "smooth", "shape",
    "bubbleSize", "bubble3D", "extLst",
)  # fmt: skip
"""Of all kinds of series; what one kind lacks does not disturb the order of the rest."""


def new_chart(operation: AddSlideChart, data: ChartData) -> etree._Element:
    """Return the root of a new chart's part, without its workbook."""
    title = _title(operation.title, _TITLE) if operation.title else ""
    root = _fragment(
        f'<c:chartSpace><c:date1904 val="0"/><c:roundedCorners val="0"/><c:chart>{title}'
        f'<c:autoTitleDeleted val="{int(not operation.title)}"/><c:plotArea><c:layout/>'
        f"{_plot(operation)}{_axes(operation, data)}{_NO_LINE}</c:plotArea>"
        f'{_legend(operation, data)}<c:plotVisOnly val="1"/><c:dispBlanksAs val="gap"/></c:chart>'
        f"<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>{_text(_TEXT)}</c:chartSpace>"
    )
    plot = next(root.iterfind(f"{C}chart/{C}plotArea"))[1]
    vary = next(plot.iterchildren(f"{C}varyColors"))
    at = plot.index(vary) + 1
    for number in range(len(data.series)):
        made = _series(operation.type, number, len(data.categories))
        plot.insert(at + number, made)
        write_data(made, data, number)
    return root


def write_data(series: etree._Element, data: ChartData, number: int) -> None:
    """Write the name, the categories and the values of a series; how it looks stays."""
    is_scatter = _is_scatter(series)
    name, values = data.series[number]
    for child in list(series):
        if child.tag in {f"{C}{each}" for each in ("tx", "cat", "val", "xVal", "yVal")}:
            series.remove(child)
    insert_ordered(series, _texts("tx", data.name_area(number), [name]), _SERIES_ORDER)
    first, second = ("xVal", "yVal") if is_scatter else ("cat", "val")
    if data.has_numbers:
        numbers = [None if isinstance(e, str) else e for e in data.categories]
        made = _numbers(first, data.category_area(), numbers, data.category_code)
    else:
        made = _texts(first, data.category_area(), [str(each) for each in data.categories])
    insert_ordered(series, made, _SERIES_ORDER)
    made = _numbers(second, data.value_area(number), values, data.code)
    insert_ordered(series, made, _SERIES_ORDER)


def title_element(text: str) -> etree._Element:
    """Return the title of a chart."""
    return _fragment(_title(text, _TITLE))


def insert_ordered(parent: etree._Element, child: etree._Element, order: Sequence[str]) -> None:
    """Insert an element among the children of another one, in the order of their schema."""
    name = etree.QName(child).localname
    later = {f"{C}{each}" for each in order[order.index(name) + 1 :]}
    for other in parent:
        if other.tag in later:
            other.addprevious(child)
            return
    parent.append(child)


def accent_fill(number: int) -> str:
    """Return the fill of the series or slice of a number, from 0: an accent of the theme."""
    # Programs go through the accents again in other lightnesses.
    changes = ("", '<a:lumMod val="60000"/>', '<a:lumMod val="80000"/><a:lumOff val="20000"/>')
    change = changes[number // 6 % len(changes)]
    return (
        f'<a:solidFill><a:schemeClr val="accent{number % 6 + 1}">{change}</a:schemeClr>'
        "</a:solidFill>"
    )


def _is_scatter(series: etree._Element) -> bool:
    parent = series.getparent()
    return parent is not None and parent.tag == f"{C}scatterChart"


def _fragment(xml: str) -> etree._Element:
    """Return an element of a chart from its text, with the prefixes c, a and r declared."""
    spaces = f'xmlns:c="{CHART_URI}" xmlns:a="{A.strip("{}")}" xmlns:r="{R.strip("{}")}"'
    head, rest = xml.split(">", 1)
    closed = head.endswith("/")
    return etree.fromstring(f"{head.rstrip('/')} {spaces}{'/' if closed else ''}>{rest}")


def _texts(tag: str, area: str, texts: Sequence[str]) -> etree._Element:
    points = "".join(
        f'<c:pt idx="{place}"><c:v>{escape(text)}</c:v></c:pt>' for place, text in enumerate(texts)
    )
    return _fragment(
        f"<c:{tag}><c:strRef><c:f>{escape(area)}</c:f><c:strCache>"
        f'<c:ptCount val="{len(texts)}"/>{points}</c:strCache></c:strRef></c:{tag}>'
    )


def _numbers(
    tag: str, area: str, values: Sequence[int | float | None], code: str
) -> etree._Element:
    points = "".join(
        f'<c:pt idx="{place}"><c:v>{value!r}</c:v></c:pt>'
        for place, value in enumerate(values)
        if value is not None
    )
    return _fragment(
        f"<c:{tag}><c:numRef><c:f>{escape(area)}</c:f><c:numCache>"
        f'<c:formatCode>{escape(code)}</c:formatCode><c:ptCount val="{len(values)}"/>{points}'
        f"</c:numCache></c:numRef></c:{tag}>"
    )


def _series(kind: SlideChartType, number: int, points: int) -> etree._Element:
    fill = accent_fill(number)
    inner = ""
    match kind:
        case "bar" | "column":
            look = f"<c:spPr>{fill}</c:spPr>"
            inner = '<c:invertIfNegative val="0"/>'
        case "area":
            look = f"<c:spPr>{fill}</c:spPr>"
        case "line":
            look = f'<c:spPr><a:ln w="28575" cap="rnd">{fill}<a:round/></a:ln></c:spPr>'
            inner = (
                '<c:marker><c:symbol val="circle"/><c:size val="6"/>'
                f"<c:spPr>{fill}<a:ln><a:noFill/></a:ln></c:spPr></c:marker>"
            )
        case "scatter":
            look = '<c:spPr><a:ln w="19050"><a:noFill/></a:ln></c:spPr>'
            inner = (
                '<c:marker><c:symbol val="circle"/><c:size val="7"/>'
                f"<c:spPr>{fill}<a:ln><a:noFill/></a:ln></c:spPr></c:marker>"
            )
        case "pie" | "doughnut":
            look = ""
            inner = "".join(
                f'<c:dPt><c:idx val="{place}"/><c:bubble3D val="0"/><c:spPr>{accent_fill(place)}'
                '<a:ln w="19050"><a:solidFill><a:schemeClr val="bg1"/></a:solidFill></a:ln>'
                "</c:spPr></c:dPt>"
                for place in range(points)
            )
        case _:
            assert_never(kind)
    smooth = '<c:smooth val="0"/>' if kind in ("line", "scatter") else ""
    return _fragment(
        f'<c:ser><c:idx val="{number}"/><c:order val="{number}"/>{look}{inner}{smooth}</c:ser>'
    )


def _plot(operation: AddSlideChart) -> str:
    """Return the plot of a chart, without series."""
    ids = f'<c:axId val="{_X_AXIS}"/><c:axId val="{_Y_AXIS}"/>'
    stacked = operation.stacked
    grouping = {False: "standard", True: "stacked", "percent": "percentStacked"}[stacked]
    labels = _labels(operation)
    kind = operation.type
    match kind:
        case "bar" | "column":
            side = "bar" if kind == "bar" else "col"
            grouping = grouping if stacked else "clustered"
            gap = 60 if stacked or len(operation.series) == 1 else 80
            overlap = 100 if stacked else -10
            return (
                f'<c:barChart><c:barDir val="{side}"/><c:grouping val="{grouping}"/>'
                f'<c:varyColors val="0"/>{labels}<c:gapWidth val="{gap}"/>'
                f'<c:overlap val="{overlap}"/>{ids}</c:barChart>'
            )
        case "line":
            return (
                f'<c:lineChart><c:grouping val="{grouping}"/><c:varyColors val="0"/>{labels}'
                f'<c:marker val="1"/>{ids}</c:lineChart>'
            )
        case "area":
            return (
                f'<c:areaChart><c:grouping val="{grouping}"/><c:varyColors val="0"/>{labels}{ids}'
                "</c:areaChart>"
            )
        case "pie":
            angle = '<c:firstSliceAng val="0"/>'
            return f'<c:pieChart><c:varyColors val="1"/>{labels}{angle}</c:pieChart>'
        case "doughnut":
            return (
                f'<c:doughnutChart><c:varyColors val="1"/>{labels}<c:firstSliceAng val="0"/>'
                '<c:holeSize val="60"/></c:doughnutChart>'
            )
        case "scatter":
            return (
                '<c:scatterChart><c:scatterStyle val="lineMarker"/><c:varyColors val="0"/>'
                f"{labels}{ids}</c:scatterChart>"
            )
        case _:
            assert_never(kind)


def _labels(operation: AddSlideChart) -> str:
    is_round = operation.type in ("pie", "doughnut")
    wanted: SlideChartLabels = operation.labels or ("percent" if is_round else "none")
    if wanted == "none":
        return ""
    shown = {
        "showLegendKey": False,
        "showVal": wanted == "value",
        "showCatName": wanted in ("category", "category_percent"),
        "showSerName": False,
        "showPercent": wanted in ("percent", "category_percent"),
        "showBubbleSize": False,
    }
    flags = "".join(f'<c:{name} val="{int(flag)}"/>' for name, flag in shown.items())
    code = ""
    if operation.number_format and wanted == "value":
        code = f'<c:numFmt formatCode={quoteattr(operation.number_format)} sourceLinked="0"/>'
    light = is_round and wanted == "percent"
    color = '<a:solidFill><a:schemeClr val="bg1"/></a:solidFill>' if light else ""
    return (
        f"<c:dLbls>{code}<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
        f'{_text(_TEXT, color)}{flags}<c:showLeaderLines val="0"/></c:dLbls>'
        if is_round
        else f"<c:dLbls>{code}<c:spPr><a:noFill/><a:ln><a:noFill/></a:ln></c:spPr>"
        f"{_text(_TEXT)}{flags}</c:dLbls>"
    )


def _axes(operation: AddSlideChart, data: ChartData) -> str:
    kind = operation.type
    if kind in ("pie", "doughnut"):
        return ""
    code = "0%" if operation.stacked == "percent" else data.code
    below, beside = ("l", "b") if kind == "bar" else ("b", "l")
    x_title = _axis_title(operation.x_title, below)
    y_title = _axis_title(operation.y_title, beside)
    if kind == "scatter":
        return _axis("valAx", _X_AXIS, below, x_title, "General", _Y_AXIS).replace(
            _GRID, "", 1
        ) + _axis("valAx", _Y_AXIS, beside, y_title, code, _X_AXIS)
    between = "midCat" if kind == "area" else "between"
    return _axis("catAx", _X_AXIS, below, x_title, "General", _Y_AXIS) + _axis(
        "valAx", _Y_AXIS, beside, y_title, code, _X_AXIS, between
    )


def _axis_title(text: str | None, side: str) -> str:
    return _title(text, _AXIS_TITLE, is_upright=side == "l") if text else ""


def _axis(
    kind: str, number: int, side: str, title: str, code: str, crossed: int, between: str = "midCat"
) -> str:
    is_values = kind == "valAx"
    end = (
        f'<c:crossBetween val="{between}"/>'
        if is_values
        else '<c:auto val="1"/><c:lblAlgn val="ctr"/><c:lblOffset val="100"/>'
        '<c:noMultiLvlLbl val="0"/>'
    )
    # The first category of a bar chart stands at the top, where a reader begins.
    is_turned = kind == "catAx" and side == "l"
    order = "maxMin" if is_turned else "minMax"
    crosses = "max" if is_values and side == "b" and between == "between" else "autoZero"
    # Beside the lowest, so that columns below zero do not cover the names of theirs.
    labels = "nextTo" if is_values else "low"
    line = _NO_LINE if is_values else f"<c:spPr>{_LIGHT}</c:spPr>"
    return (
        f'<c:{kind}><c:axId val="{number}"/><c:scaling><c:orientation val="{order}"/></c:scaling>'
        f'<c:delete val="0"/><c:axPos val="{side}"/>{_GRID if is_values else ""}{title}'
        f'<c:numFmt formatCode={quoteattr(code)} sourceLinked="0"/>'
        f'<c:majorTickMark val="none"/><c:minorTickMark val="none"/><c:tickLblPos val="{labels}"/>'
        f'{line}{_text(_TEXT)}<c:crossAx val="{crossed}"/><c:crosses val="{crosses}"/>{end}'
        f"</c:{kind}>"
    )


def _legend(operation: AddSlideChart, data: ChartData) -> str:
    is_round = operation.type in ("pie", "doughnut")
    place = operation.legend
    if place is None and is_round:
        names = operation.labels in ("category", "category_percent")
        many = len(data.categories) > _MANY_SLICES
        place = "none" if names else "right" if many else "bottom"
    elif place is None:
        place = "bottom" if len(data.series) > 1 else "none"
    if place == "none":
        return ""
    return (
        f'<c:legend><c:legendPos val="{_LEGENDS[place]}"/><c:overlay val="0"/>{_text(_TEXT)}'
        "</c:legend>"
    )


def _title(text: str, size: int, *, is_upright: bool = False) -> str:
    turned = 'rot="-5400000" vert="horz"' if is_upright else 'rot="0" vert="horz"'
    grey = _GREY.format(mod="75000", off="25000")
    paragraphs = "".join(
        f'<a:p><a:pPr><a:defRPr sz="{size}" b="0">{grey}</a:defRPr></a:pPr>'
        f'<a:r><a:rPr sz="{size}" b="0">{grey}</a:rPr><a:t>{escape(line)}</a:t></a:r></a:p>'
        for line in text.split("\n")
    )
    return (
        f"<c:title><c:tx><c:rich><a:bodyPr {turned}/><a:lstStyle/>{paragraphs}</c:rich></c:tx>"
        '<c:overlay val="0"/></c:title>'
    )


def _text(size: int, color: str = "") -> str:
    grey = color or _GREY.format(mod="75000", off="25000")
    return (
        f'<c:txPr><a:bodyPr/><a:lstStyle/><a:p><a:pPr><a:defRPr sz="{size}">{grey}</a:defRPr>'
        '</a:pPr><a:endParaRPr lang="en-US"/></a:p></c:txPr>'
    )
