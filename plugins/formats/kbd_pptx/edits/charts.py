"""Charts of slides with the workbooks behind them: added, and their data and titles changed.

A chart stores what it shows, and has a workbook embedded that holds the same for whoever edits it
(ECMA-376, part 1, 21.2.2.63). Both are written together.
"""

import io
import math
import warnings
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import msgspec
import openpyxl
from lxml import etree
from pptx.opc.constants import CONTENT_TYPE as CT
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import Part, XmlPart
from pptx.opc.packuri import PackURI

from kbd.errors import ValidationFailed
from kbd_pptx.edits.chart_data import ChartData, checked_data, serial, workbook_bytes
from kbd_pptx.edits.chart_markup import (
    CHART_URI,
    accent_fill,
    insert_ordered,
    new_chart,
    title_element,
    write_data,
)
from kbd_pptx.edits.chart_types import change_type
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.formatting import SlideTextPiece, write_strict_percentages
from kbd_pptx.edits.found_shapes import FoundShape, SlideEdit, find_shape, slide_at
from kbd_pptx.edits.new_places import graphic_frame, place_element, place_for
from kbd_pptx.edits.textbody import rewrite, split_lines
from kbd_pptx.operations import AddSlideChart, SetSlideChart, SlideChartSeries
from kbd_pptx.presentation import CX, A, C, R
from kbd_pptx.reader.charts import parse_chart

__all__ = ["add_chart", "set_chart"]

_SPACE_ORDER = (
    "date1904", "lang", "roundedCorners", "style", "clrMapOvr", "pivotFmts", "protection", "chart",
    "spPr", "txPr", "externalData", "printSettings", "userShapes", "extLst",
)  # fmt: skip
_CHART_ORDER = ("title", "autoTitleDeleted", "pivotFmts", "view3D", "floor", "sideWall", "backWall",
                "plotArea", "legend", "plotVisOnly", "dispBlanksAs", "extLst")  # fmt: skip
_SHARES = ("gapWidth", "gapDepth", "overlap", "holeSize", "lblOffset")
"""What strict charts write as percentages (ISO 29500-1, 21.2.3)."""
_MAX_SHEET_NAME = 31
_PLACE_DIGITS = 7
_MAX_BOOK_BYTES = 5_000_000
"""A larger workbook is not looked into: one of a chart's data has some 10 KB."""
_EXACT = 1e15
"""Below it a float holds every whole number."""
_THOUSAND = 1000
_OWN_LOOKS = ("dPt", "trendline", "errBars", "extLst")
"""Of a series: what belongs to its own points, and does not go over to one made like it."""


def add_chart(deck: DeckEdit, operation: AddSlideChart) -> str:
    """Add a chart with its workbook to a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide, or the data cannot be drawn.
    """
    slide = slide_at(deck, operation.index)
    kind = operation.type
    if kind == "pie" and len(operation.series) > 1:
        raise ValidationFailed(
            "add_chart: a pie shows one series; give one, or choose column or doughnut"
        )
    operation = _cleaned(deck, operation)
    data = checked_data(
        "add_chart", operation.categories, operation.series, is_scatter=kind == "scatter"
    )
    data = _formatted(data, operation.number_format)
    place = place_for(deck, slide, operation, "chart")
    root: Any = new_chart(operation, data)
    _fit_variant(deck, root)
    package = deck.main.package
    part: Any = XmlPart(
        PackURI(deck.free_name("/ppt/charts/chart{}.xml")), CT.DML_CHART, package, root
    )
    _embed(deck, part, root, workbook_bytes(data))
    relation_id = slide.part.relate_to(part, RT.CHART)
    graphic = etree.Element(f"{A}graphicData", {"uri": CHART_URI})
    etree.SubElement(graphic, f"{C}chart", nsmap={"c": CHART_URI}).set(f"{R}id", relation_id)
    frame = graphic_frame(slide, "Chart", operation.description, place, graphic)
    place_element(deck, slide, place, frame, "chart")
    name = frame[0][0].get("name", "")
    count = len(data.series)
    return f"slide {slide.index}: {name}, {kind} of {count} series"


def _cleaned(deck: DeckEdit, operation: AddSlideChart) -> AddSlideChart:
    """Return an operation with texts that a part can hold."""
    clean = deck.warnings.clean_text
    return msgspec.structs.replace(
        operation,
        title=clean(operation.title or ""),
        x_title=clean(operation.x_title or ""),
        y_title=clean(operation.y_title or ""),
        number_format=clean(operation.number_format or ""),
        description=clean(operation.description or ""),
        categories=_clean_categories(deck, operation.categories),
        series=_clean_series(deck, operation.series),
    )


def _clean_categories(
    deck: DeckEdit, categories: Sequence[str | int | float]
) -> tuple[str | int | float, ...]:
    clean = deck.warnings.clean_text
    return tuple(clean(each) if isinstance(each, str) else each for each in categories)


def _clean_series(
    deck: DeckEdit, series: Sequence[SlideChartSeries]
) -> tuple[SlideChartSeries, ...]:
    clean = deck.warnings.clean_text
    return tuple(msgspec.structs.replace(each, name=clean(each.name)) for each in series)


def _formatted(data: ChartData, code: str | None) -> ChartData:
    """Return data with a number format: the given one, else one by how large the values are."""
    values = [value for _, each in data.series for value in each if value is not None]
    large = max(map(abs, values)) >= _THOUSAND and all(float(each).is_integer() for each in values)
    return msgspec.structs.replace(data, code=code or ("#,##0" if large else "General"))


def _embed(deck: DeckEdit, part: Any, root: etree._Element, blob: bytes) -> None:
    """Give a chart a workbook, in place of the one that it has."""
    old = root.find(f"{C}externalData")
    if old is not None:
        relation_id = old.get(f"{R}id", "")
        root.remove(old)
        if relation_id in part.rels:
            part.rels.pop(relation_id)
    name = PackURI(deck.free_name("/ppt/embeddings/Microsoft_Excel_Sheet{}.xlsx"))
    book: Any = Part(name, CT.SML_SHEET, deck.main.package, blob)
    made = etree.Element(f"{C}externalData")
    made.set(f"{R}id", part.relate_to(book, RT.PACKAGE))
    etree.SubElement(made, f"{C}autoUpdate", {"val": "0"})
    insert_ordered(root, made, _SPACE_ORDER)


class _Stored(msgspec.Struct, frozen=True):
    """What a chart stores: its series' elements, their names and values, its categories."""

    elements: tuple[etree._Element, ...]
    series: tuple[tuple[str, tuple[int | float | None, ...]], ...]
    categories: tuple[str | int | float, ...]
    category_code: str
    code: str
    sheet: str
    is_nested: bool


def set_chart(deck: DeckEdit, operation: SetSlideChart) -> str:
    """Change a chart's data, title or type, and return what changed.

    Raises:
        ValidationFailed: There is no such chart, it is of a kind whose data cannot be changed, or
            the data cannot be drawn.
    """
    slide = slide_at(deck, operation.index)
    shape = find_shape(
        slide, operation.chart, "chart", _any_chart, lambda each: _title_of(slide, each)
    )
    part, root = _chart_part(slide, shape)
    changed = []
    if operation.type is not None:
        changed.append(change_type(deck, slide, shape, root, operation.type))
    has_code = operation.number_format is not None
    if operation.series is not None or operation.categories is not None or has_code:
        changed.append(_set_data(deck, shape, part, root, operation))
    if operation.title is not None:
        _set_title(root, deck.warnings.clean_text(operation.title))
        changed.append("title" if operation.title else "title taken away")
    if not changed:
        raise ValidationFailed("set_chart: give series, categories, a title or a type")
    _fit_variant(deck, root)
    return f"slide {slide.index}: {shape.name}, {', '.join(changed)}"


def _fit_variant(deck: DeckEdit, root: etree._Element) -> None:
    """Write the shares of a chart as the strict variant does, in a deck of that."""
    if not deck.is_strict:
        return
    write_strict_percentages(root)
    for element in root.iter(*(f"{C}{name}" for name in _SHARES)):
        value = element.get("val", "")
        if value.lstrip("-").isdecimal():
            element.set("val", f"{value}%")


def _any_chart(shape: etree._Element) -> etree._Element | None:
    data = shape.find(f"{A}graphic/{A}graphicData")
    named = None if data is None or not len(data) else data[0]
    return named if named is not None and named.tag in (f"{C}chart", f"{CX}chart") else None


def _title_of(slide: SlideEdit, shape: etree._Element) -> str:
    named = _any_chart(shape)
    relation = None if named is None else slide.part.rels.get(named.get(f"{R}id", ""))
    if relation is None or relation.is_external or not isinstance(relation.target_part, XmlPart):
        return ""
    element: etree._Element = relation.target_part._element  # noqa: SLF001 - no other way
    return parse_chart(element).title


def _chart_part(slide: SlideEdit, shape: FoundShape) -> tuple[Any, etree._Element]:
    """Return the part and the root of a chart; raises ValidationFailed if it cannot be changed."""
    named = _any_chart(shape.element)
    if named is None or named.tag == f"{CX}chart":
        raise ValidationFailed(
            f"{shape.name} is a chart of a newer kind (waterfall, treemap and the like), which "
            "cannot be changed"
        )
    relation = slide.part.rels.get(named.get(f"{R}id", ""))
    part: Any = None if relation is None or relation.is_external else relation.target_part
    if not isinstance(part, XmlPart):
        raise ValidationFailed(f"{shape.name} cannot be changed: its part is missing")
    root: etree._Element = part._element  # noqa: SLF001 - python-pptx has no other way
    return part, root


def _set_data(
    deck: DeckEdit,
    shape: FoundShape,
    part: Any,
    root: etree._Element,
    operation: SetSlideChart,
) -> str:
    """Write other data into a chart and its workbook, and return what changed."""
    stored = _stored(shape, root)
    categories = stored.categories
    if operation.categories is not None:
        categories = _as_dates(root, stored, _clean_categories(deck, operation.categories))
    elif stored.is_nested:
        raise ValidationFailed(f"{shape.name} has categories of several levels; give categories")
    given = stored.series if operation.series is None else _clean_series(deck, operation.series)
    is_scatter = next(root.iter(f"{C}scatterChart"), None) is not None
    data = checked_data("set_chart", categories, given, is_scatter=is_scatter)
    data = msgspec.structs.replace(
        data,
        code=operation.number_format or stored.code,
        category_code=stored.category_code if data.has_numbers else "General",
        sheet=stored.sheet,
    )
    elements = _fitted(shape, root, stored, len(data.series))
    for number, element in enumerate(elements):
        write_data(element, data, number)
    if operation.number_format:
        for label in root.iter(f"{C}numFmt"):
            parent = label.getparent()
            if parent is not None and parent.tag in (f"{C}valAx", f"{C}dLbls"):
                label.set("formatCode", operation.number_format)
    _write_workbook(deck, shape, part, root, data)
    count = len(data.categories)
    return f"data of {len(data.series)} series by {count} categor{'y' if count == 1 else 'ies'}"


def _stored(shape: FoundShape, root: etree._Element) -> _Stored:
    plot_area = root.find(f"{C}chart/{C}plotArea")
    elements = () if plot_area is None else tuple(plot_area.iter(f"{C}ser"))
    for name, what in (("bubbleChart", "bubbles"), ("stockChart", "stocks")):
        if next(root.iter(f"{C}{name}"), None) is not None:
            raise ValidationFailed(f"{shape.name} is a chart of {what}; its data cannot be changed")
    if next(root.iter(f"{C}pivotSource"), None) is not None:
        raise ValidationFailed(f"{shape.name} shows a pivot table; its data cannot be changed")
    if not elements:
        raise ValidationFailed(f"{shape.name} has no series that new data could look like")
    series = []
    for element in elements:
        texts, _ = _points(element.find(f"{C}tx"))
        values, _ = _points(next(element.iterchildren(f"{C}val", f"{C}yVal"), None))
        series.append((str(texts[0]) if texts else "", tuple(map(_number, values))))
    first = next(elements[0].iterchildren(f"{C}cat", f"{C}xVal"), None)
    categories, code = _points(first)
    longest = max((len(values) for _, values in series), default=0)
    if not categories:
        categories = list(range(1, longest + 1))
    padded = [
        (name, (*values, *[None] * (len(categories) - len(values)))) for name, values in series
    ]
    source = next(elements[0].iterchildren(f"{C}val", f"{C}yVal"), None)
    value_code = "General" if source is None else source.findtext(f".//{C}formatCode") or "General"
    area = "" if source is None else source.findtext(f".//{C}f") or ""
    return _Stored(
        elements,
        tuple(padded),
        tuple("" if each is None else each for each in categories),
        code,
        value_code,
        _sheet_name(area),
        first is not None and first.find(f"{C}multiLvlStrRef") is not None,
    )


def _sheet_name(area: str) -> str:
    name = area.rpartition("!")[0].strip("'").replace("''", "'").rpartition("]")[2]
    bad = set("[]:*?/\\")
    usable = 0 < len(name) <= _MAX_SHEET_NAME and not bad & set(name) and name.strip("'") == name
    return name if usable else "Sheet1"


def _points(source: etree._Element | None) -> tuple[list[str | int | float | None], str]:
    """Return the points that a source stores, and their number format."""
    cache = None if source is None else next(
        source.iter(f"{C}strCache", f"{C}numCache", f"{C}strLit", f"{C}numLit"), None
    )  # fmt: skip
    if cache is None:
        return [], "General"
    is_number = cache.tag in (f"{C}numCache", f"{C}numLit")
    points: dict[int, str] = {}
    for point in cache.iterchildren(f"{C}pt"):
        place = point.get("idx", "")
        if place.isdecimal() and len(place) < _PLACE_DIGITS:
            points[int(place)] = point.findtext(f"{C}v") or ""
    size = max(points, default=-1) + 1
    count = cache.find(f"{C}ptCount")
    told = "" if count is None else count.get("val", "")
    if told.isdecimal() and len(told) < _PLACE_DIGITS:
        size = max(size, int(told))
    found: list[str | int | float | None] = []
    for at in range(size):
        text = points.get(at)
        found.append(_number(text) if is_number else text)
    return found, cache.findtext(f"{C}formatCode") or "General"


def _number(value: object) -> int | float | None:
    """Return a number, None for what is none."""
    if isinstance(value, int | float) or value is None:
        return value
    try:
        number = float(str(value))
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < _EXACT else number


def _as_dates(
    root: etree._Element, stored: _Stored, categories: tuple[str | int | float, ...]
) -> tuple[str | int | float, ...]:
    """Return categories with days as numbers, where the chart has them so."""
    is_dated = stored.category_code != "General" and all(
        isinstance(each, int | float) for each in stored.categories
    )
    if not is_dated or not all(isinstance(each, str) for each in categories):
        return categories
    calendar = root.find(f"{C}date1904")
    from_1904 = calendar is not None and calendar.get("val", "1") in ("1", "true")
    days = [serial(str(each), from_1904=from_1904) for each in categories]
    return tuple(day for day in days if day is not None) if None not in days else categories


def _fitted(
    shape: FoundShape, root: etree._Element, stored: _Stored, count: int
) -> list[etree._Element]:
    """Return as many series as there are to be: the last go, or new ones look like the last."""
    elements = list(stored.elements)
    for element in elements[count:]:
        parent = element.getparent()
        if parent is None:
            continue
        if len(parent.findall(f"{C}ser")) == 1:
            raise ValidationFailed(
                f"{shape.name} draws its series in several ways; it needs at least "
                f"{len(elements)} of them"
            )
        parent.remove(element)
    del elements[count:]
    taken = {
        int(each.get("val", "0"))
        for name in ("idx", "order")
        for element in root.iter(f"{C}ser")
        for each in element.iterchildren(f"{C}{name}")
        if each.get("val", "0").isdecimal()
    }
    while len(elements) < count:
        number = max(taken, default=-1) + 1
        taken.add(number)
        made = deepcopy(elements[-1])
        made.tail = None
        for child in list(made):
            if child.tag in {f"{C}{each}" for each in _OWN_LOOKS}:
                made.remove(child)
        for name in ("idx", "order"):
            for each in made.iterchildren(f"{C}{name}"):
                each.set("val", str(number))
        _recolor(made, number)
        elements[-1].addnext(made)
        elements.append(made)
    return elements


def _recolor(series: etree._Element, number: int) -> None:
    """Give a copied series the next accent of the theme, where the other one had a color."""
    fill = etree.fromstring(f'<a:x xmlns:a="{A.strip("{}")}">{accent_fill(number)}</a:x>')[0]
    for place in (f"{C}spPr", f"{C}marker/{C}spPr"):
        for properties in series.iterfind(place):
            for old in list(properties.iter(f"{A}solidFill")):
                parent = old.getparent()
                if parent is not None:
                    parent.replace(old, deepcopy(fill))


def _write_workbook(
    deck: DeckEdit, shape: FoundShape, part: Any, root: etree._Element, data: ChartData
) -> None:
    """Write the workbook behind a chart anew; it is told what the old one held beside the data."""
    blob = workbook_bytes(data)
    old = root.find(f"{C}externalData")
    relation = None if old is None else part.rels.get(old.get(f"{R}id", ""))
    if relation is not None and relation.is_external:
        raise ValidationFailed(
            f"the data of {shape.name} are those of another file ({relation.target_ref}); change "
            "them there"
        )
    book = None if relation is None else relation.target_part
    if book is not None:
        held = _held_beside(deck.contents(book))
        if held:
            deck.warnings.warn(
                f"The workbook behind {shape.name} held {held}; it was written anew with the data "
                "alone."
            )
    users = sum(
        1
        for each in deck.main.package.iter_parts()
        for other in each.rels.values()
        if not other.is_external and book is not None and other.target_part is book
    )
    if book is not None and users == 1 and book.content_type == CT.SML_SHEET:
        book.blob = blob
    else:
        _embed(deck, part, root, blob)


def _held_beside(blob: bytes) -> str:
    """Return what a workbook holds that one of data alone does not; "" for nothing."""
    if len(blob) > _MAX_BOOK_BYTES:
        return "more than a chart's data"
    try:
        with warnings.catch_warnings():
            # Of extensions that it does not know, which go with the rest.
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(blob))
    except Exception:  # noqa: BLE001 - openpyxl raises anything on what it cannot read
        return "something that cannot be read"
    found = []
    if len(book.sheetnames) > 1:
        found.append(f"{len(book.sheetnames)} sheets")
    sheets = book.worksheets
    if any(cell.data_type == "f" for sheet in sheets for row in sheet.iter_rows() for cell in row):
        found.append("formulas")
    return " and ".join(found)


def _set_title(root: etree._Element, text: str) -> None:
    """Set the title of a chart in the look that it has; "" takes it away."""
    chart = root.find(f"{C}chart")
    if chart is None:
        return
    title = chart.find(f"{C}title")
    deleted = chart.find(f"{C}autoTitleDeleted")
    if deleted is None:
        deleted = etree.Element(f"{C}autoTitleDeleted")
        insert_ordered(chart, deleted, _CHART_ORDER)
    deleted.set("val", str(int(not text)))
    if not text:
        if title is not None:
            chart.remove(title)
        return
    if title is None:
        insert_ordered(chart, title_element(text), _CHART_ORDER)
        return
    rich = title.find(f"{C}tx/{C}rich")
    if rich is None:
        # It showed a cell, or what the program makes of the series.
        made = title_element(text)
        look = title.find(f"{C}txPr")
        for old in title.findall(f"{C}tx"):
            title.remove(old)
        source = made.find(f"{C}tx")
        if source is not None:
            title.insert(0, source)
            if look is not None:
                _take_look(source, look)
                title.remove(look)
        return
    rewrite(rich, split_lines((SlideTextPiece(text),), levels=False))


def _take_look(source: etree._Element, look: etree._Element) -> None:
    """Give the text of a title the look that the title had."""
    properties = look.find(f"{A}p/{A}pPr/{A}defRPr")
    if properties is None:
        return
    for run in source.iter(f"{A}r"):
        made = deepcopy(properties)
        made.tag = f"{A}rPr"
        for old in run.findall(f"{A}rPr"):
            run.remove(old)
        run.insert(0, made)
