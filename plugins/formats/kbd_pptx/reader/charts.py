"""Charts of slides: their kinds, titles and series, with the values that were kept in them.

What a chart shows is kept in it; the workbook behind it is not opened. Charts of 2014 and later
(waterfall, treemap …) are another kind of part.
"""

import datetime as dt
import re
from collections.abc import Sequence

import msgspec
from lxml import etree

from kbd.opc.element_names import local_name
from kbd_pptx.presentation import CX, A, C

__all__ = ["MAX_POINTS", "Chart", "Series", "parse_chart", "point_value"]

MAX_POINTS = 200
"""Of a series; who needs more of it needs the workbook."""

MAX_SERIES = 50

_CACHES = tuple(f"{C}{name}" for name in ("strCache", "numCache", "strLit", "numLit"))
_REFERENCES = tuple(f"{C}{name}" for name in ("strRef", "numRef", "multiLvlStrRef"))
_DATE = re.compile(r"[ymdhs]", re.IGNORECASE)
# Taken out before letters are looked for: "[Red]" and quoted words make no date.
_NOT_DATE = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|general", re.IGNORECASE)
# Numbers of days count a February 29th of 1900, so all later ones begin two days before that year.
_EPOCH = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - times in charts have no zone
_LEAP_DAY = 60
"""That day's number: all before it are one off."""

_DAYS_TO_1904 = 1462
"""The days from one beginning to the other, for charts that count from 1904."""

_LATEST = 2_958_466
"""The day after the last that has a number."""


class Series(msgspec.Struct, frozen=True):
    """A series: its name, and its categories (or x values) and values, side by side, as text."""

    name: str
    categories: tuple[str, ...]
    values: tuple[str, ...]


class Chart(msgspec.Struct, frozen=True):
    """A chart.

    Args:
        title: What stands over it, "" if nothing is written there.
        kinds: What it is made of: "bar", "line", "pie" …
        series: Its series.
        is_cut: Whether it has more series or points than these.
    """

    title: str
    kinds: tuple[str, ...]
    series: tuple[Series, ...]
    is_cut: bool = False

    def rows(self) -> list[list[str]]:
        """Return it as a table: a first row of names, then a row a category.

        Series with categories of their own (as in a scatter chart) get a column more each.
        """
        if not self.series:
            return []
        shared = self.series[0].categories
        columns: list[tuple[str, Sequence[str]]] = []
        if shared:
            columns.append(("", shared))
        for series in self.series:
            if series.categories not in (shared, ()):
                columns.append(("", series.categories))
            columns.append((series.name, series.values))
        height = max(len(values) for _, values in columns)
        names = [name for name, _ in columns]
        rows = [[v[place] if place < len(v) else "" for _, v in columns] for place in range(height)]
        return [names, *rows]


def parse_chart(root: etree._Element) -> Chart:
    """Read a chart from the root of its part."""
    if root.tag == f"{CX}chartSpace":
        return _chartex(root)
    chart = root.find(f"{C}chart")
    area = None if chart is None else chart.find(f"{C}plotArea")
    if chart is None or area is None:
        return Chart("", (), ())
    kinds: list[str] = []
    found: list[etree._Element] = []
    for plot in area:
        name = local_name(plot)
        if not name.endswith("Chart"):
            continue
        kind = _kind(plot, name)
        if kind not in kinds:
            kinds.append(kind)
        found.extend(plot.iterchildren(f"{C}ser"))
    date_system = root.find(f"{C}date1904")
    # The element alone says yes (CT_Boolean).
    is_1904 = date_system is not None and date_system.get("val", "1") in ("1", "true")
    offset = _DAYS_TO_1904 if is_1904 else 0
    series = [_series(each, offset) for each in found[: MAX_SERIES + 1]]
    return _cut_chart(_text(chart.find(f"{C}title")), kinds, series)


def point_value(text: str) -> float | str | None:
    """Return a value of a series as the number that it is; None where there is none."""
    try:
        number = float(text)
    except ValueError:
        return text or None
    # `float` takes "nan" and "inf", too, and JSON has no numbers for them.
    return number if abs(number) < float("inf") else text


def _cut_chart(title: str, kinds: Sequence[str], series: Sequence[Series]) -> Chart:
    """Return a chart with as many series and points as are shown, from one more of each."""
    shown = [
        Series(each.name, each.categories[:MAX_POINTS], each.values[:MAX_POINTS])
        for each in series[:MAX_SERIES]
    ]
    return Chart(title, tuple(kinds), tuple(shown), is_cut=shown != list(series))


def _kind(plot: etree._Element, name: str) -> str:
    direction = plot.find(f"{C}barDir")
    stem = name.removesuffix("Chart").removesuffix("3D")
    if stem == "bar":
        # The schema's default direction is "col" (CT_BarDir).
        return "column" if direction is None or direction.get("val", "col") == "col" else "bar"
    return {"ofPie": "pie of pie"}.get(stem, stem)


def _text(title: etree._Element | None) -> str:
    """Return the text of a title, written or taken from a cell."""
    if title is None:
        return ""
    paragraphs = [
        "".join(text.text or "" for text in paragraph.iter(f"{A}t"))
        for paragraph in title.iter(f"{A}p")
    ]
    written = " ".join(each for each in paragraphs if each.strip())
    return written or " ".join(value.text or "" for value in title.iter(f"{C}v"))


def _series(series: etree._Element, offset: int) -> Series:
    names = series.find(f"{C}tx")
    name = "" if names is None else " ".join(v.text or "" for v in names.iter(f"{C}v"))
    categories = _first_of(series, "cat", "xVal")
    values = _first_of(series, "val", "yVal")
    return Series(name, _points(categories, offset), _points(values, offset))


def _first_of(series: etree._Element, *names: str) -> etree._Element | None:
    found = (series.find(f"{C}{name}") for name in names)
    return next((each for each in found if each is not None), None)


def _points(source: etree._Element | None, offset: int) -> tuple[str, ...]:
    """Return the points that are kept of a series' values or categories.

    Args:
        source: The values or categories.
        offset: The days to add to a date.
    """
    if source is None:
        return ()
    # A reference to cells has its cache inside; literals stand in the source itself.
    inner = next((each for each in source if each.tag in _REFERENCES), source)
    cache = next((each for each in inner if each.tag in _CACHES), None)
    if cache is not None:
        return _filled(cache, cache.findtext(f"{C}formatCode", ""), offset)
    levels = inner.findall(f"{C}multiLvlStrCache/{C}lvl")
    if not levels:
        return ()
    # The first level is the innermost; outer ones say something only where they change.
    inner_texts, *outer = [_filled(level, "") for level in levels]
    outer_texts = [_filled_forward(texts, len(inner_texts)) for texts in outer]
    return tuple(
        " / ".join(filter(None, (*(texts[place] for texts in reversed(outer_texts)), text)))
        for place, text in enumerate(inner_texts)
    )


def _filled_forward(texts: tuple[str, ...], size: int) -> list[str]:
    found, last = [], ""
    for place in range(size):
        last = (texts[place] if place < len(texts) else "") or last
        found.append(last)
    return found


def _filled(cache: etree._Element, code: str, offset: int = 0) -> tuple[str, ...]:
    """Return the points of a cache in order, "" where there is none.

    Of more than are shown there is one more, by which a reader knows.
    """
    found: dict[int, str] = {}
    is_date = _DATE.search(_NOT_DATE.sub("", code)) is not None
    for point in cache.iterchildren(f"{C}pt", f"{CX}pt"):
        text = point.get("idx", "")
        # `int` raises on thousands of digits. A point without a usable place follows the last one.
        place = int(text) if text.isdecimal() and len(text) < 6 else len(found)
        is_later = point.tag == f"{CX}pt"
        value = (point.text or "") if is_later else point.findtext(f"{C}v", "")
        found[min(place, MAX_POINTS)] = _date_text(value, offset) if is_date else value
    return tuple(found.get(place, "") for place in range(max(found, default=-1) + 1))


def _date_text(value: str, offset: int) -> str:
    """Return the day or moment that a number stands for, as it is if it stands for none."""
    try:
        number = float(value)
    except ValueError:
        return value
    days = number + offset
    # Below 1 is a time of day without a day. So written, the comparison refuses nan as well.
    if not (number >= 1 and days < _LATEST):
        return value
    days += days < _LEAP_DAY
    try:
        # To whole seconds: few times of day are exact as a binary fraction of a day.
        moment = _EPOCH + dt.timedelta(seconds=round(days * 86_400))
    except OverflowError:
        # The last moment of the last day rounds up to a day that no calendar has.
        return value
    return moment.date().isoformat() if number == int(number) else moment.isoformat()


def _chartex(root: etree._Element) -> Chart:
    """Read a chart of the kinds that came with 2014."""
    sets = {data.get("id", ""): data for data in root.iterfind(f"{CX}chartData/{CX}data")}
    series: list[Series] = []
    kinds: list[str] = []
    for each in root.iter(f"{CX}series"):
        kind = each.get("layoutId", "")
        if kind and kind not in kinds:
            kinds.append(kind)
        # A file decides how many there are, and each looks through its points.
        if len(series) > MAX_SERIES:
            continue
        wanted = each.find(f"{CX}dataId")
        data = sets.get(wanted.get("val", "") if wanted is not None else "")
        name = each.findtext(f"{CX}tx/{CX}txData/{CX}v", "")
        series.append(Series(name, _dimension(data, "strDim"), _dimension(data, "numDim")))
    title = root.find(f"{CX}chart/{CX}title")
    return _cut_chart(_text(title), kinds, series)


def _dimension(data: etree._Element | None, name: str) -> tuple[str, ...]:
    level = None if data is None else data.find(f"{CX}{name}/{CX}lvl")
    return () if level is None else _filled(level, "")
