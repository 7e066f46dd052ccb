"""Rows of a worksheet as raw markup, in order, and what stands around them.

Nearly all producers write rows alike; those are cut without parsing. Of any other sheet the rows
are parsed and written in that form, so that whoever takes them knows one form only.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import Package, free_element, reading_errors
from kbd_xlsx.parts.style_elements import local_name
from kbd_xlsx.reader.parts import XmlPiece, pieces
from kbd_xlsx.references import MAX_ROW, cell_name, whole_number

__all__ = ["ROW_READERS", "MarkupRow", "UnusualRowsError", "plain_markup", "read_skeleton"]

MAX_AROUND = 48 * 1024 * 1024
"""Bytes around the rows that are parsed as a tree; the tree takes several times as much."""

_ROW = re.compile(rb'\s*<row r="(\d{1,7})"([^>]*)>')
_SPACE = b" \t\r\n"


class MarkupRow(NamedTuple):
    """A row: its number, the attributes of its tag but for the number, and its cells."""

    number: int
    attributes: bytes
    cells: bytes


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
    if len(found) > MAX_AROUND:
        raise FileReadFailed(f"{package.name} is refused: there is too much around a sheet's rows")
    if not found.rstrip().endswith(b">"):
        raise FileReadFailed(f"{package.name} is damaged: a sheet ends too early")
    with reading_errors(package.name):
        # The pieces are in UTF-8, whatever the declaration says.
        data = re.sub(rb"^(?:\xef\xbb\xbf)?<\?xml[^>]*\?>", b"", bytes(found))
        parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
        return etree.fromstring(data, parser)


def _cut_rows(package: Package, part: str) -> Iterator[MarkupRow]:
    last = 0
    for piece in pieces(package, part):
        if piece.kind != "rows":
            continue
        _check_piece(piece)
        for chunk in piece.data.split(b"</row>"):
            start = 0
            found = _ROW.match(chunk)
            while found is not None:
                number = int(found[1])
                if number <= last or number > MAX_ROW:
                    raise UnusualRowsError
                last, start = number, found.end()
                attributes = found[2]
                if not attributes.endswith(b"/"):
                    yield MarkupRow(number, attributes, chunk[start:])
                    start = len(chunk)
                    break
                yield MarkupRow(number, attributes[:-1], b"")
                found = _ROW.match(chunk, start)
            if chunk[start:].strip(_SPACE):
                raise UnusualRowsError


def _check_piece(piece: XmlPiece) -> None:
    # A comment may hold what looks like a row.
    if piece.prefix or b"<!" in piece.data or b"<?" in piece.data:
        raise UnusualRowsError


def _parsed_rows(package: Package, part: str) -> Iterator[MarkupRow]:
    last = 0
    for row in _written_rows(package, part):
        if row.number <= last:
            raise UnusualRowsError
        last = row.number
        yield row


def _sorted_rows(package: Package, part: str) -> Iterator[MarkupRow]:
    """Yield rows that are out of order or come in pieces, which no usual program writes."""
    gathered: dict[int, MarkupRow] = {}
    for row in _written_rows(package, part):
        known = gathered.get(row.number)
        gathered[row.number] = row if known is None else row._replace(cells=known.cells + row.cells)
    for number in sorted(gathered):
        yield gathered[number]


def _written_rows(package: Package, part: str) -> Iterator[MarkupRow]:
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
                if name != "r"
            )
            yield MarkupRow(number, attributes.encode(), "".join(cells).encode("utf-8", "replace"))
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
        f" {'xml:space' if str(key).endswith('}space') else etree.QName(key).localname}"
        f'="{escape(str(value))}"'
        for key, value in sorted(element.attrib.items())
    )
    text = escape(element.text or "", quote=False).replace("\r", "&#13;")
    children = "".join(plain_markup(child) for child in element if isinstance(child.tag, str))
    return f"<{name}{attributes}>{text}{children}</{name}>"


ROW_READERS = (_cut_rows, _parsed_rows, _sorted_rows)
"""Readers of a sheet's rows by rising number, the quickest first; all but the last one may raise
UnusualRowsError after some rows."""
