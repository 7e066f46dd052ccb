"""The formula cells of a worksheet, found without parsing it.

Most sheets are regular: cells say where they are, and each formula is the first thing in its cell.
Those are searched for formulas. Any other is parsed row by row (comments, several prefixes of one
namespace, cells that are counted, encodings other than UTF-8).
"""

import html
import io
import itertools
import re
from collections.abc import Iterator, Mapping

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import reading_errors

__all__ = ["FormulaCell", "formula_cells"]


class FormulaCell(msgspec.Struct, frozen=True, gc=False):
    """A cell with a formula.

    Args:
        row: Counted from 1, as is the column.
        text: Of the formula, "" for one that shares another's.
        kind: As the file has it: "", "normal", "shared", "array", "dataTable".
        group: Which formula is shared, None for one that is not.
        area: The cells that an array or data table fills, as it is written, or "".
        inputs: The cells that a data table fills in, as they are written.
        is_dynamic: Whether the cell is marked (cm) as one of a dynamic array, whose result fills as
            many cells as it needs; no legacy array has that mark.
        is_error: Whether the stored result is an error.
        is_stored: Whether there is a stored result.
    """

    row: int
    column: int
    text: str
    kind: str = ""
    group: str | None = None
    area: str = ""
    inputs: tuple[str, ...] = ()
    is_dynamic: bool = False
    is_error: bool = False
    is_stored: bool = True


class _Irregular(Exception):
    """A sheet has to be parsed."""


_SHEET_DATA = re.compile(rb"<((?:[\w.-]+:)?)sheetData[\s>/]")
_BINDING = re.compile(
    rb"""xmlns(?::[\w.-]+)?\s*=\s*["']http://(?:schemas\.openxmlformats|purl\.oclc)\.org/"""
    rb"""(?:ooxml/)?spreadsheetml/(?:2006/)?main["']"""
)
_ENCODING = re.compile(rb"""(?i)<\?xml[^>]*encoding\s*=\s*["'](?!utf-?8["']|us-ascii["'])""")
_ANY_FORMULA = re.compile(rb"[<:]f[\s/>]")
_PLACE = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_ATTRIBUTE = re.compile(rb"""\s([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
# What else the cell tells of a formula: that it is a dynamic array, that its result is an error.
_RELEVANT_ATTRIBUTES = re.compile(rb"""\s(?:cm\s*=|t\s*=\s*["']e["'])""")
_DIGITS = re.compile("[0-9]{1,7}")
_ESCAPE = re.compile(r"_x(0[0-9A-Fa-f]{3})_")


def formula_cells(data: bytes, name: str) -> Iterator[FormulaCell]:
    """Yield the formula cells of a worksheet part in the order of the file.

    Args:
        data: The part.
        name: The sheet's title, for messages.

    Raises:
        FileReadFailed: It is no XML, or a cell's place is none.
    """
    # The patterns need ASCII bytes; zero bytes give away UTF-16 that has no byte order mark.
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4] or _ENCODING.match(data):
        yield from _parsed(data, name)
        return
    sheet_data = _SHEET_DATA.search(data)
    if sheet_data is None:
        return
    prefix = sheet_data[1]
    start, end = sheet_data.end(), data.rfind(b"</" + prefix + b"sheetData")
    # With two prefixes for the format, or one that is bound again among the rows, a search for one
    # spelling would miss formulas.
    is_mixed = len(_BINDING.findall(data, 0, start)) > 1 or data.find(b"xmlns", start, end) >= 0
    # A sheet without formulas costs no more than this one search.
    first = data.find(b"<" + prefix + b"f", start, end)
    if first < 0 and not (is_mixed and _ANY_FORMULA.search(data, start, end)):
        return
    # A comment may hold what looks like a formula, and a CDATA section the text of one.
    if is_mixed or data.find(b"<!", start, end) >= 0:
        yield from _parsed(data, name)
        return
    count = 0
    try:
        for cell in _searched(data, prefix, first, end):
            yield cell
            count += 1
    except _Irregular:
        # What was yielded was right and comes in the same order.
        yield from itertools.islice(_parsed(data, name), count, None)


def _searched(data: bytes, prefix: bytes, start: int, end: int) -> Iterator[FormulaCell]:
    """Yield the formula cells between two offsets; raises _Irregular."""
    tag = re.escape(prefix)
    # The formula's attributes and text, the beginning of the result, the result's first character.
    formula = re.compile(
        rb"<%bf(?=[\s/>])(?:(\s[^<>]*?)?(?:/>|>([^<]*)</%bf\s*>)"
        rb"(\s*<%bv(?:\s[^<>]*?)?(?:/>|>([^<]?)))?|)" % (tag, tag, tag)
    )
    opening = re.compile(rb'<%bc(?: r="([A-Z]{1,3})([0-9]{1,7})")?((?:\s[^<>]*)?)>\s*' % tag)
    # The last branch of the pattern is empty, so a tag that it cannot read is still noticed.
    nothing = len(prefix) + 2
    for found in formula.finditer(data, start, end):
        # In a regular cell the formula comes first, so the tag before it is the cell's own.
        cell = opening.fullmatch(data, data.rfind(b"<", 0, found.start()), found.start())
        if cell is None or found.end() - found.start() == nothing:
            raise _Irregular
        letters, digits, rest = cell.groups()
        if letters is None:
            place = _PLACE.search(rest)
            if place is None:
                raise _Irregular
            letters, digits = place.groups()
        attributes, text, result, value = found.groups()
        row, column, text = int(digits), _number(letters), _decoded(text or b"")
        if attributes or not value or (rest and _RELEVANT_ATTRIBUTES.search(rest)):
            # An empty result is one only where it is text.
            of_cell = _attributes(rest)
            is_stored = bool(value) or (result is not None and of_cell.get("t") == "str")
            yield _cell((row, column), text, _attributes(attributes or b""), of_cell, is_stored)
        else:
            yield FormulaCell(row, column, text)


def _cell(
    place: tuple[int, int],
    text: str,
    attributes: Mapping[str, str],
    of_cell: Mapping[str, str],
    is_stored: bool,  # noqa: FBT001 - both callers name it
) -> FormulaCell:
    """Return a formula cell by the attributes of the formula and of the cell."""
    kind = attributes.get("t", "")
    return FormulaCell(
        *place,
        text,
        kind,
        group=attributes.get("si") if kind == "shared" else None,
        area=attributes.get("ref", "") if kind in ("array", "dataTable") else "",
        inputs=tuple(attributes[key] for key in ("r1", "r2") if key in attributes),
        is_dynamic="cm" in of_cell,
        is_error=of_cell.get("t") == "e",
        is_stored=is_stored,
    )


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        # The low five bits of an ASCII letter are its place in the alphabet, in either case.
        number = number * 26 + (letter & 31)
    return number


def _decoded(text: bytes) -> str:
    plain = text.decode("utf-8", "replace")
    if "\r" in plain:
        # As a parser has line breaks; one that is meant is spelt &#13;.
        plain = plain.replace("\r\n", "\n").replace("\r", "\n")
    return _plain(html.unescape(plain) if "&" in plain else plain)


def _plain(text: str) -> str:
    """Return a formula without the escapes that the format has for control characters."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x0" in text else text


def _attributes(tag: bytes) -> dict[str, str]:
    return {
        name.decode(): _decoded(quoted or single)
        for name, quoted, single in _ATTRIBUTE.findall(tag)
    }


def _parsed(data: bytes, name: str) -> Iterator[FormulaCell]:
    """Yield the formula cells of any sheet, row by row."""
    row_number = 0
    with reading_errors(name):
        rows = etree.iterparse(
            io.BytesIO(data), events=("end",), tag="{*}row", resolve_entities=False,
            no_network=True, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for _, row in rows:
            column = 0
            row_number = _row_number(row, row_number + 1, name)
            for cell in row.iterchildren("{*}c"):
                number, column = _place(cell, (row_number, column + 1), name)
                formula = next(cell.iterchildren("{*}f"), None)
                if formula is None:
                    continue
                result = next(cell.iterchildren("{*}v"), None)
                is_stored = result is not None and bool(result.text or cell.get("t") == "str")
                text = _plain(formula.text or "")
                attributes = {str(key): str(value) for key, value in formula.attrib.items()}
                of_cell = {str(key): str(value) for key, value in cell.attrib.items()}
                yield _cell((number, column), text, attributes, of_cell, is_stored)
            row.clear()
            # A cleared row remains a child of its parent, and a large sheet would pile them up.
            while row.getprevious() is not None:
                del row.getparent()[0]


def _row_number(row: etree._Element, expected: int, name: str) -> int:
    given = row.get("r", "").strip()
    if not given:
        return expected
    if not _DIGITS.fullmatch(given):
        raise FileReadFailed(f"{name} is damaged: a row's number is none")
    return int(given)


def _place(cell: etree._Element, expected: tuple[int, int], name: str) -> tuple[int, int]:
    given = cell.get("r", "").strip()
    if not given:
        return expected
    # Written as an attribute, so that both ways of reading accept the same addresses.
    place = _PLACE.fullmatch(f' r="{given}"'.encode())
    if place is None:
        raise FileReadFailed(f"{name} is damaged: a cell's place is none")
    return int(place[2]), _number(place[1])
