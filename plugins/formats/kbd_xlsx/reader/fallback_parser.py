"""Fallback parser of the values of sheets that calamine cannot read, or would misread.

It is some ten times slower, and takes what office programs take: sheets of Excel 4 macros,
cells with extensions, sheets whose range is told oddly, and values that are spelled oddly
(`are_misread`). A value that cannot be told, such as a text that is missing from the shared ones,
still makes the workbook a damaged one.

Dates, times and durations of numbers whose format shows them as such.

A workbook stores days since its first day. All is as the reader of values that is used for most
sheets gives it, so that one workbook reads alike whoever reads it.
"""

import datetime as dt
import math
import posixpath
import re
from collections.abc import Container, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Literal

from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc.element_names import local_name
from kbd.opc.package import Package, free_element, reading_errors
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, parse_cell
from kbd_xlsx.parts.formatting import shows_date
from kbd_xlsx.reader.blocks import BLANK, Cells, Raw
from kbd_xlsx.workbook import find_sheet, read_workbook

__all__ = [
    "Meaning",
    "ParsedBook",
    "are_misread",
    "format_meanings",
    "is_from_1904",
    "meaning_of",
    "moment",
    "of_iso",
    "related_part",
    "text_of_item",
    "without_escapes",
]

Meaning = Literal["number", "moment", "duration"]

# A duration has its unit in brackets, [h], before any other unit; quoted text and escaped signs
# are no units.
_DURATION = re.compile(
    r'(?>(?:"[^"]*+"?|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*+\]|[^"\\_*\[dmhys])*)\[[hms]',
    re.IGNORECASE | re.DOTALL,
)
_FIRST_DAY = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no zone
_DAYS_TO_1904 = 1462
_LEAP_DAY = 60
"""The 29th of February 1900 has a number, but there was no such day: all before are one off."""

_LAST_DAY = 2_958_465
"""The last day of the year 9999."""

_DAY_MS = 86_400_000
_ISO = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?P<time>T\d\d:\d\d:\d\d(?:\.\d+)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?",
    re.ASCII,
)


def meaning_of(number: int, code: str | None) -> Meaning:
    """Return what a number format shows.

    Args:
        number: The format's number.
        code: Its code as the file gives it, None where it gives none.
    """
    if not shows_date(number, code):
        return "number"
    # Of the formats that every program knows, 46 alone is of durations.
    is_duration = number == 46 if code is None else _DURATION.match(code) is not None
    return "duration" if is_duration else "moment"


def moment(value: float, meaning: Meaning, *, from_1904: bool) -> Raw:
    """Return what a number means; the number itself where no calendar has such a day.

    A time without a day, as which every number below 1 counts, is a time; a whole number is a day.
    Times are to the millisecond.
    """
    if meaning == "number":
        return value
    try:
        if meaning == "duration":
            return dt.timedelta(milliseconds=_whole_number(value * _DAY_MS))
        if value < 0:
            # Programs show no time for it; one of the day before would be another value.
            return value
        if value < 1:
            return (_FIRST_DAY + dt.timedelta(milliseconds=_whole_number(value * _DAY_MS))).time()
        days = value + _DAYS_TO_1904 if from_1904 else value
        if days >= _LAST_DAY + 1:
            return value
        days += days < _LEAP_DAY
        found = _FIRST_DAY + dt.timedelta(milliseconds=_whole_number(days * _DAY_MS))
    except (OverflowError, ValueError):
        return value
    return found.date() if value.is_integer() else found


def of_iso(text: str) -> Raw:
    """Return the day, moment or time that a text names; the text itself if it names none."""
    found = _ISO.fullmatch(text)
    try:
        match found and (found["day"], found["time"]):
            case None:
                return text
            case None, _:
                return dt.time.fromisoformat(text)
            case _, None:
                return dt.date.fromisoformat(text)
            case _:
                return dt.datetime.fromisoformat(text)
    except ValueError:
        return text


def _whole_number(value: float) -> int:
    # Halves are rounded up; round() would go to the even neighbor.
    return math.floor(value + 0.5)


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SURROGATES = range(0xD800, 0xE000)
_SPACE = " \t\r\n"
_PRESERVED = "{http://www.w3.org/XML/1998/namespace}space"
_TRUE = ("1", "true")

_MAX_CACHED = 20_000
"""Cells that are cached while a sheet is measured; one with more is read twice."""

Place = tuple[int, int, Raw]
"""A cell with a value, blank ones of no text and errors included: row, column, value."""


# Begun by what every cell has, so that a search runs past those that are plain numbers.
_UNLIKE_NUMBERS = re.compile(rb"<v(?!>-?[0-9.]++(?:[eE][-+]?[0-9]++)?</v>)")
_UNLIKE_PLACES = re.compile(rb"t=\"s\"[^>]*><v>(?![0-9]++</v>)")
_ODD_VALUE = re.compile(rb"<(?:[\w.-]+:)?v(?:\s[^>]*)?>(?:[\s+]|[^<&]*&|[^<]*\s</|[^<]*<(?!/))")
_FORMAT = re.compile(rb"\ss=[\"']([0-9]{1,9})[\"']")
_IS_TEXT = re.compile(rb"\st=[\"'](?:str|inlineStr)[\"']")


def are_misread(rows: bytes, moments: Container[int] = ()) -> bool:
    """Tell whether calamine may read a value of some rows as another one, without a word.

    It takes a number up to an entity, a comment or the like for all of it, and the first of the
    shared texts where the number of one is not written in digits alone. Office programs read both
    as they are meant, or differ. A negative number that is shown as a time it takes for a time of
    the day.

    Args:
        rows: Whole rows of a sheet's XML.
        moments: The cell formats that show a date or a time.
    """
    # One byte is looked for much faster than two.
    if (b"!" in rows and b"<!" in rows) or (b"?" in rows and b"<?" in rows):
        return True
    if _UNLIKE_PLACES.search(rows) or (moments and _have_negative(rows, moments)):
        return True
    has_prefix = b":" in rows and b":v" in rows
    if not has_prefix and not _UNLIKE_NUMBERS.search(rows):
        return False
    for found in _ODD_VALUE.finditer(rows):
        begin = max(rows.rfind(opens, 0, found.start()) for opens in (b"<c ", b":c "))
        cell = rows[max(begin, 0) : found.start()]
        if begin < 0 or not _IS_TEXT.search(cell[: cell.find(b">")]):
            return True
    return False


def _have_negative(rows: bytes, moments: Container[int]) -> bool:
    """Tell whether a negative number has one of some formats."""
    at = rows.find(b"v>-")
    while at >= 0:
        # Not past the cell's tag: its attributes are where its format is.
        begin = max(rows.rfind(opens, 0, at) for opens in (b"<c ", b":c "))
        found = _FORMAT.search(rows, max(begin, 0), rows.find(b">", max(begin, 0)))
        if found is not None and int(found[1]) in moments:
            return True
        at = rows.find(b"v>-", at + 1)
    return False


class ParsedBook:
    """A workbook whose sheets were looked through before, parsed for its values.

    Args:
        package: Where it is; it must stay open.

    Raises:
        FileReadFailed: It is damaged.
    """

    def __init__(self, package: Package) -> None:
        self._package = package
        self._workbook = read_workbook(package)
        self._main = self._workbook.identity.part
        self._texts = self._shared_texts()
        styles = related_part(package, self._main, "styles")
        self._meanings = format_meanings(package.root(styles)) if styles else []
        self._from_1904 = is_from_1904(package.root(self._main))

    def cells(self, title: str) -> Cells | None:
        """Return a sheet's cells, None if it has none, as that of a chart.

        Raises:
            FileReadFailed: The sheet is damaged.
        """
        part = find_sheet(self._workbook, title).part
        top = left = 1 << 30
        bottom = right = 0
        is_rising = True
        places: list[Place] | None = []
        for place in self._filled(part):
            row, column, _ = place
            if places is not None:
                places.append(place)
                if len(places) > _MAX_CACHED:
                    places = None
            is_rising = is_rising and row >= bottom
            top, bottom = min(top, row), max(bottom, row)
            left, right = min(left, column), max(right, column)
        if not bottom:
            return None
        area = Area(top, left, bottom, right)
        found = self._filled(part) if places is None else iter(places)
        return Cells(area, _rows(found if is_rising else _sorted(found), area))

    def _filled(self, part: str) -> Iterator[Place]:
        """Yield the cells that have values in the order of the file."""
        number = column = 0
        with self._package.open(part) as file, reading_errors(self._package.name):
            for event, element in etree.iterparse(
                file, ("start", "end"), tag=("{*}row", "{*}c", "{*}sheetData"),
                # Comments are left out, for the text of an element ends at one.
                resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True,
            ):  # fmt: skip
                is_start, tag = event == "start", element.tag
                # Only the cell's tag ends with c, and this short test runs for every cell.
                if tag.endswith("c"):
                    if not is_start:
                        row, column = self._place(element.get("r"), number, column)
                        value = self._value(element)
                        if value is not None:
                            yield row, column, value
                        element.clear()
                elif not tag.endswith("row"):
                    if not is_start:
                        return
                elif is_start:
                    number, column = self._row_number(element.get("r"), number), 0
                else:
                    free_element(element)

    def _row_number(self, written: str | None, before: int) -> int:
        """Return a row's number; one without follows the row before."""
        number = before + 1 if written is None else _whole(written, 0)
        if not 1 <= number <= MAX_ROW:
            raise self._damaged()
        return number

    def _place(self, written: str | None, row: int, before: int) -> tuple[int, int]:
        """Return a cell's place; one without follows the cell before."""
        if written is None:
            if before >= MAX_COLUMN:
                raise self._damaged()
            return row, before + 1
        try:
            return parse_cell(written)
        except ValidationFailed as fault:
            raise self._damaged() from fault

    def _value(self, cell: etree._Element) -> Raw | None:
        """Return a cell's value; None is none, and an error counts as a text without letters."""
        kind = cell.get("t", "n")
        stored = None
        for part in cell:
            if part.tag.endswith("is"):
                return text_of_item(part)
            if part.tag.endswith("v"):
                stored = part
        if stored is None or kind == "inlineStr":
            return None
        text = stored.text or ""
        # An empty text is a value, but an empty number is not.
        if not text and kind not in ("str", "d"):
            return None
        match kind:
            case "s":
                return self._shared_text(text)
            case "str":
                return without_escapes(text)
            case "b":
                return text.strip(_SPACE).lower() not in ("0", "false")
            case "d":
                return of_iso(text.strip(_SPACE))
            case "e":
                return BLANK
            case _:
                return self._number(text, cell.get("s", "0"))

    def _number(self, written: str, style: str) -> Raw:
        text = written.strip(_SPACE)
        if not _NUMBER.fullmatch(text):
            return written
        place = _whole(style, 0)
        meaning = self._meanings[place] if place < len(self._meanings) else "number"
        return moment(float(text), meaning, from_1904=self._from_1904)

    def _shared_text(self, written: str) -> str:
        place = _whole(written.strip(_SPACE), len(self._texts))
        if place >= len(self._texts):
            raise self._damaged()
        return self._texts[place]

    def _shared_texts(self) -> list[str]:
        part = related_part(self._package, self._main, "sharedstrings")
        if not part:
            return []
        found = []
        with self._package.open(part) as file, reading_errors(self._package.name):
            # The trial versions before the standard wrote sstItem.
            for _, item in etree.iterparse(
                file, tag=("{*}si", "{*}sstItem"), resolve_entities=False, no_network=True,
                remove_comments=True, remove_pis=True,
            ):  # fmt: skip
                found.append(text_of_item(item))
                free_element(item)
        return found

    def _damaged(self) -> FileReadFailed:
        return FileReadFailed(f"{self._package.name} is damaged: its cells cannot be read")


def is_from_1904(workbook: etree._Element) -> bool:
    """Tell from the root of the workbook part whether days are counted from 1904."""
    properties = workbook.find("{*}workbookPr")
    return properties is not None and properties.get("date1904") in _TRUE


def format_meanings(styles: etree._Element) -> list[Meaning]:
    """Return what the cell formats make of numbers, by their places in the root of the styles."""
    codes = {
        element.get("numFmtId"): element.get("formatCode")
        for element in styles.iterfind("{*}numFmts/{*}numFmt")
    }
    found: list[Meaning] = []
    for element in styles.iterfind("{*}cellXfs/{*}xf"):
        number = element.get("numFmtId", "0")
        found.append(meaning_of(_whole(number, 0), codes.get(number)))
    return found


def related_part(package: Package, main: str, kind: str) -> str:
    """Return the part of a kind that the workbook part is related to, "" if there is none.

    Trial versions wrote the kind with "xl" before it; without a relation the part counts that
    has the usual name.
    """
    for relation in package.relations(main):
        is_it = relation.kind.casefold().removeprefix("xl") == kind
        if is_it and not relation.external and relation.target in package:
            return relation.target
    usual = posixpath.join(posixpath.dirname(main), f"{kind}.xml")
    return usual if usual in package else ""


def _whole(text: str, otherwise: int) -> int:
    """Return a small whole number, and something else for all that is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise


def _sorted(found: Iterator[Place]) -> Iterator[Place]:
    """Sort cells by rows, those of a row as they come: of two for one cell the later one counts."""
    return iter(sorted(found, key=itemgetter(0)))


def _rows(found: Iterator[Place], area: Area) -> Iterator[list[Raw]]:
    """Yield all rows of an area from cells that are sorted by rows."""
    width = area.right - area.left + 1
    at = area.top
    for row, cells in groupby(found, itemgetter(0)):
        for _ in range(at, row):
            yield [BLANK] * width
        values: list[Raw] = [BLANK] * width
        for _, column, value in cells:
            values[column - area.left] = value
        yield values
        at = row + 1


def text_of_item(item: etree._Element) -> str:
    """Return a text, plain or in runs, without its phonetic runs (ECMA-376 part 1, 18.4.6)."""
    found = []
    for part in item.iterfind("*"):
        name = local_name(part)
        pieces = [part] if name == "t" else part.iterfind("{*}t") if name == "r" else ()
        for piece in pieces:
            text = piece.text or ""
            if piece.get(_PRESERVED) != "preserve":
                text = text.strip(_SPACE)
            found.append(without_escapes(text))
    return "".join(found)


def without_escapes(text: str) -> str:
    """Put the signs that XML cannot hold (ECMA-376, ST_Xstring) for their escapes."""
    return _ESCAPED.sub(_sign, text) if "_x" in text else text


def _sign(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    # Half of a surrogate pair is no character, so its escape stays as it is written.
    return found[0] if code in _SURROGATES else chr(code)
