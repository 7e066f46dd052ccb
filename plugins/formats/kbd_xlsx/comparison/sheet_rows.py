"""Rows of a worksheet as raw markup, in order, and what stands around them.

Nearly all producers write rows alike; those are cut without parsing. Of any other sheet the rows
are parsed and written in that form, so that whoever takes them knows one form only.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.element_names import local_name, local_part
from kbd.opc.package import Package, free_element, reading_errors
from kbd.sheets.areas import MAX_ROW, cell_name, whole_number
from kbd_xlsx.reader.parts import XmlPiece, pieces

__all__ = [
    "ROW_READERS",
    "MarkupRow",
    "RowPiece",
    "UnusualRowsError",
    "parse_skeleton",
    "plain_markup",
    "read_skeleton",
]

MAX_AROUND = 48 * 1024 * 1024
"""Bytes around the rows that are parsed as a tree; the tree takes several times as much."""

_ROW = re.compile(rb'\s*<row r="(\d{1,7})"([^>]*)>')
_NUMBER = re.compile(rb'<row r="(\d{1,7})"')
_DECLARATION = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*\?>")
_SPACE = b" \t\r\n"
_BATCH = 500


class MarkupRow(NamedTuple):
    """A row: its number, the attributes of its tag but for the number, and its cells."""

    number: int
    attributes: bytes
    cells: bytes


class RowPiece(NamedTuple):
    """Rows that follow one another: their rising numbers, and each from its start tag on.

    The end tags are left out. The numbers of rows that go on without a gap are those of the first
    and the last one; `row` checks what is in between.
    """

    numbers: Sequence[int]
    markup: list[bytes]

    def row(self, place: int) -> MarkupRow | None:
        """Return a row; None if it does not say its number."""
        found = _ROW.match(self.markup[place])
        if found is None or int(found[1]) != self.numbers[place]:
            return None
        return MarkupRow(self.numbers[place], found[2], self.markup[place][found.end() :])


class UnusualRowsError(Exception):
    """Rows are written in a way that a reader does not know; the next one does."""


def read_skeleton(package: Package, part: str) -> etree._Element:
    """Return a sheet's element without its rows.

    Raises:
        FileReadFailed: It is damaged, or there is too much around its rows.
    """
    found = bytearray()
    for piece in pieces(package, part):
        if piece.kind != "rows":
            found += piece.data
    return parse_skeleton(package, bytes(found))


def parse_skeleton(package: Package, data: bytes) -> etree._Element:
    """Return a sheet's element from what is around its rows; raises as `read_skeleton` does."""
    if len(data) > MAX_AROUND:
        raise FileReadFailed(f"{package.name} is refused: there is too much around a sheet's rows")
    if not data.rstrip().endswith(b">"):
        raise FileReadFailed(f"{package.name} is damaged: a sheet ends too early")
    with reading_errors(package.name):
        # The pieces are in UTF-8, whatever the declaration says.
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        return etree.fromstring(_DECLARATION.sub(b"", data), parser)


def _cut_rows(package: Package, part: str, around: bytearray) -> Iterator[RowPiece]:
    last = 0
    for piece in pieces(package, part):
        if piece.kind != "rows":
            around += piece.data
            continue
        _check_piece(piece)
        found = _cut(piece.data)
        if found.markup:
            if found.numbers[0] <= last:
                raise UnusualRowsError
            last = found.numbers[-1]
            yield found


def _cut(data: bytes) -> RowPiece:
    """Cut whole rows; raises UnusualRowsError."""
    chunks = data.split(b"</row>")
    rest = chunks.pop()
    if rest.strip(_SPACE) or data.count(b'<row r="') != len(chunks):
        return _cut_closed([*chunks, rest])
    if not chunks:
        return RowPiece((), [])
    first, last = _ROW.match(chunks[0]), _ROW.match(chunks[-1])
    if first is None or last is None or int(last[1]) > MAX_ROW:
        raise UnusualRowsError
    start, end = int(first[1]), int(last[1])
    if end - start + 1 == len(chunks):
        return RowPiece(range(start, end + 1), chunks)
    return RowPiece(_rising(list(map(int, _NUMBER.findall(data)))), chunks)


def _cut_closed(chunks: list[bytes]) -> RowPiece:
    """Cut rows some of which have no cells, and are closed tags."""
    numbers, markup = [], []
    last = len(chunks) - 1
    for place, chunk in enumerate(chunks):
        start = 0
        while found := _ROW.match(chunk, start):
            numbers.append(int(found[1]))
            start = found.end()
            if not found[2].endswith(b"/"):
                # What comes after the last end tag is no whole row.
                if place == last:
                    raise UnusualRowsError
                markup.append(chunk[found.start() :])
                start = len(chunk)
                break
            markup.append(chunk[found.start() : start - 2] + b">")
        if chunk[start:].strip(_SPACE):
            raise UnusualRowsError
    return RowPiece(_rising(numbers), markup)


def _rising(numbers: list[int]) -> list[int]:
    last = 0
    for number in numbers:
        if not last < number <= MAX_ROW:
            raise UnusualRowsError
        last = number
    return numbers


def _check_piece(piece: XmlPiece) -> None:
    # A comment may hold what looks like a row. The one rare character is found much faster.
    data = piece.data
    has_marks = (b"!" in data and b"<!" in data) or (b"?" in data and b"<?" in data)
    if piece.prefix or has_marks:
        raise UnusualRowsError


def _parsed_rows(package: Package, part: str, around: bytearray) -> Iterator[RowPiece]:
    _add_around(package, part, around)
    rows = _written_rows(package, part)
    last = 0
    while batch := list(islice(rows, _BATCH)):
        numbers = [number for number, _ in batch]
        if numbers[0] <= last:
            raise UnusualRowsError
        last = numbers[-1]
        yield RowPiece(_rising(numbers), [markup for _, markup in batch])


def _sorted_rows(package: Package, part: str, around: bytearray) -> Iterator[RowPiece]:
    """Yield rows that are out of order or come in pieces, which no usual program writes."""
    _add_around(package, part, around)
    gathered: dict[int, bytes] = {}
    for number, markup in _written_rows(package, part):
        known = gathered.get(number)
        cells = markup[markup.index(b">") + 1 :]
        gathered[number] = markup if known is None else known + cells
    for number in sorted(gathered):
        yield RowPiece([number], [gathered[number]])


def _add_around(package: Package, part: str, around: bytearray) -> None:
    for piece in pieces(package, part):
        if piece.kind != "rows":
            around += piece.data


def _written_rows(package: Package, part: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    with package.open(part) as file, reading_errors(package.name):
        events = etree.iterparse(
            file, events=("end",), tag="{*}row", resolve_entities=False, no_network=True,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for _, row in events:
            digits = row.get("r")
            number = number + 1 if digits is None else whole_number(digits)
            if not 1 <= number <= MAX_ROW:
                raise FileReadFailed(f"{package.name} is damaged: it has a row past the last")
            cells: list[str] = []
            column = 0
            for cell in row.iterchildren("{*}c"):
                column += 1
                address = cell.get("r") or cell_name(number, column)
                column = _column_of(address) or column
                cells.append(_written_cell(cell, address))
            attributes = "".join(
                f' {name!s}="{escape(str(value))}"'
                for name, value in row.attrib.items()
                if name != "r" and not str(name).startswith("{")
            )
            markup = f'<row r="{number}"{attributes}>{"".join(cells)}'
            yield number, markup.encode("utf-8", "replace")
            free_element(row)


def _column_of(address: str) -> int:
    number = 0
    for letter in address.rstrip("0123456789"):
        number = number * 26 + ord(letter.upper()) - 64
    return number


def _written_cell(cell: etree._Element, address: str) -> str:
    """Write a cell as nearly all producers do."""
    attributes = "".join(
        f' {name!s}="{escape(str(value))}"'
        for name, value in cell.attrib.items()
        if name != "r" and not str(name).startswith("{")
    )
    inner = {local_name(child): child for child in cell}
    pieces_: list[str] = []
    formula, value, inline = inner.get("f"), inner.get("v"), inner.get("is")
    if formula is not None:
        pieces_.append(plain_markup(formula))
    if value is not None:
        pieces_.append(f"<v>{escape(value.text or '', quote=False)}</v>")
    if inline is not None:
        pieces_.append(plain_markup(inline))
    if not pieces_:
        return f'<c r="{address}"{attributes}/>'
    return f'<c r="{address}"{attributes}>{"".join(pieces_)}</c>'


def plain_markup(element: etree._Element) -> str:
    """Write an element and what is in it without the namespaces of their names."""
    name = local_name(element)
    attributes = "".join(
        f" {'xml:space' if str(key).endswith('}space') else local_part(str(key))}"
        f'="{escape(str(value))}"'
        for key, value in sorted(element.attrib.items())
    )
    text = escape(element.text or "", quote=False).replace("\r", "&#13;")
    children = "".join(plain_markup(child) for child in element if isinstance(child.tag, str))
    return f"<{name}{attributes}>{text}{children}</{name}>"


ROW_READERS = (_cut_rows, _parsed_rows, _sorted_rows)
"""Readers of a sheet's rows by rising number, and of what is around them; the quickest first. All
but the last one may raise UnusualRowsError after some rows."""
