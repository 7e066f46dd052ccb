"""The values of sheets by parsing them, for those that calamine cannot read.

It is some twenty times slower, and takes what office programs take: sheets of Excel 4 macros,
cells with extensions, sheets whose range is told oddly. A value that cannot be told, such as a
text that is missing from the shared ones, still makes the workbook a damaged one.
"""

import posixpath
import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc import Package, identify, reading_errors
from kbd_xlsx.looking.blocks import BLANK, Cells, Raw
from kbd_xlsx.looking.moments import Meaning, meaning_of, moment, of_iso
from kbd_xlsx.references import MAX_ROW, Area, parse_cell
from kbd_xlsx.workbook import FAMILY, find_sheet, read_workbook

__all__ = ["ParsedBook"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SURROGATES = range(0xD800, 0xE000)
_SPACE = " \t\r\n"
_PRESERVED = "{http://www.w3.org/XML/1998/namespace}space"
_TRUE = ("1", "true")

Place = tuple[int, int, Raw]
"""A cell with a value, blank ones of no text and errors included: row, column, value."""


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
        self._main = identify(package, FAMILY).part
        self._texts = self._shared_texts()
        self._meanings = self._format_meanings()
        properties = package.root(self._main).find("{*}workbookPr")
        self._from_1904 = properties is not None and properties.get("date1904") in _TRUE

    def cells(self, title: str) -> Cells | None:
        """Return a sheet's cells, None if it has none, as that of a chart.

        Raises:
            FileReadFailed: The sheet is damaged.
        """
        part = find_sheet(self._workbook, title).part
        top = left = 1 << 30
        bottom = right = 0
        is_rising = True
        for row, column, _ in self._filled(part):
            is_rising = is_rising and row >= bottom
            top, bottom = min(top, row), max(bottom, row)
            left, right = min(left, column), max(right, column)
        if not bottom:
            return None
        area = Area(top, left, bottom, right)
        found = self._filled(part)
        return Cells(area, _rows(found if is_rising else _sorted(found), area))

    def _filled(self, part: str) -> Iterator[Place]:
        """Yield the cells that have values in the order of the file."""
        number = 0
        with self._package.open(part) as file, reading_errors(self._package.name):
            for _, element in etree.iterparse(
                file,
                tag=("{*}row", "{*}sheetData"),
                resolve_entities=False,
                no_network=True,
                remove_comments=True,
                remove_pis=True,
            ):
                if element.tag.endswith("sheetData"):
                    return
                number = self._row_number(element.get("r"), number)
                yield from self._row(element, number)
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]

    def _row(self, element: etree._Element, row: int) -> Iterator[Place]:
        column = 0
        for cell in element.iterchildren("{*}c"):
            address = cell.get("r")
            if address is None:
                column += 1
            else:
                try:
                    row, column = parse_cell(address)
                except ValidationFailed as fault:
                    raise self._damaged() from fault
            value = self._value(cell)
            if value is not None:
                yield row, column, value

    def _row_number(self, written: str | None, before: int) -> int:
        if written is None:
            return before + 1
        if not (written.isascii() and written.isdigit()) or not 1 <= int(written) <= MAX_ROW:
            raise self._damaged()
        return int(written)

    def _value(self, cell: etree._Element) -> Raw | None:
        """Return a cell's value; None is none, and an error counts as a text without letters."""
        kind = cell.get("t", "n")
        inline = cell.find("{*}is")
        if inline is not None:
            return _text(inline)
        stored = cell.find("{*}v")
        if stored is None or kind == "inlineStr":
            return None
        text = stored.text or ""
        if not text and kind not in ("str", "d"):
            return None
        match kind:
            case "s":
                return self._shared_text(text)
            case "str":
                return _unescaped(text)
            case "b":
                return text.strip(_SPACE).lower() not in ("0", "false")
            case "d":
                return of_iso(text)
            case "e":
                return BLANK
            case _:
                return self._number(text, cell.get("s", "0"))

    def _number(self, text: str, style: str) -> Raw:
        if not _NUMBER.fullmatch(text):
            return text
        place = int(style) if style.isascii() and style.isdigit() else 0
        meaning = self._meanings[place] if place < len(self._meanings) else "number"
        return moment(float(text), meaning, from_1904=self._from_1904)

    def _shared_text(self, place: str) -> str:
        place = place.strip(_SPACE)
        if not (place.isascii() and place.isdigit()) or int(place) >= len(self._texts):
            raise self._damaged()
        return self._texts[int(place)]

    def _shared_texts(self) -> list[str]:
        part = self._related("sharedstrings")
        if not part:
            return []
        found = []
        with self._package.open(part) as file, reading_errors(self._package.name):
            # The trial versions before the standard wrote sstItem.
            for _, item in etree.iterparse(
                file, tag=("{*}si", "{*}sstItem"), resolve_entities=False, no_network=True,
                remove_comments=True, remove_pis=True,
            ):  # fmt: skip
                found.append(_text(item))
                item.clear()
                while item.getprevious() is not None:
                    del item.getparent()[0]
        return found

    def _format_meanings(self) -> list[Meaning]:
        """Return what the cell formats make of numbers, by their places."""
        part = self._related("styles")
        if not part:
            return []
        root = self._package.root(part)
        codes = {
            element.get("numFmtId"): element.get("formatCode")
            for element in root.iterfind("{*}numFmts/{*}numFmt")
        }
        found: list[Meaning] = []
        for element in root.iterfind("{*}cellXfs/{*}xf"):
            number = element.get("numFmtId", "0")
            plain = int(number) if number.isascii() and number.isdigit() else 0
            found.append(meaning_of(plain, codes.get(number)))
        return found

    def _related(self, kind: str) -> str:
        """Return the part of a kind, "" if there is none.

        Trial versions wrote the kind with "xl" before it; without a relation the part counts that
        has the usual name.
        """
        for relation in self._package.relations(self._main):
            is_it = relation.kind.casefold().removeprefix("xl") == kind
            if is_it and not relation.external and relation.target in self._package:
                return relation.target
        usual = posixpath.join(posixpath.dirname(self._main), f"{kind}.xml")
        return usual if usual in self._package else ""

    def _damaged(self) -> FileReadFailed:
        return FileReadFailed(f"{self._package.name} is damaged: its cells cannot be read.")


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


def _text(item: etree._Element) -> str:
    """Return a text, plain or in runs, without what tells how to pronounce it."""
    found = []
    for part in item.iterfind("*"):
        name = etree.QName(part).localname
        pieces = [part] if name == "t" else part.iterfind("{*}t") if name == "r" else ()
        for piece in pieces:
            text = piece.text or ""
            if piece.get(_PRESERVED) != "preserve":
                text = text.strip(_SPACE)
            found.append(_unescaped(text))
    return "".join(found)


def _unescaped(text: str) -> str:
    """Put the signs that XML cannot hold (ECMA-376, ST_Xstring) for their escapes."""
    return _ESCAPED.sub(_sign, text) if "_x" in text else text


def _sign(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    return found[0] if code in _SURROGATES else chr(code)
