"""A worksheet's XML as a stream, and the extent of its cells before a library loads them.

Two cells can span seventeen thousand million. Sheets are searched as bytes: where each cell is
written as nearly all producers write it, one pass bounds the rectangle; otherwise, or where the
bound is too high, it is measured exactly. Errors are on the side of measuring.

The stream is what comes before the cells, blocks of whole rows, and what follows. No tree is built:
a sheet of a hundred megabytes passes through in pieces of one.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import IO, Literal

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import Package, reading_errors
from kbd.sheets.areas import Area, column_number, whole_number
from kbd_xlsx.workbook import SheetEntry

__all__ = [
    "MAX_DENSE_CELLS",
    "OVERLAP_BYTES",
    "UTF_16",
    "Bound",
    "XmlPiece",
    "check_extent",
    "declared_encoding",
    "overlapping",
    "pieces",
    "utf_8_blocks",
]

MAX_DENSE_CELLS = 16_000_000
"""Cells of the rectangle around a sheet's values: some 500 MB in the library that reads it."""

OVERLAP_BYTES = 1024
"""Bytes that blocks of a part share; a cell's address, and mostly all of its tag, is shorter."""

_PREFIXED = re.compile(rb":c[\s>/]")
_ELEMENT = re.compile(rb"<c[\s>/]")

_CELL = re.compile(rb"<c r=\"([A-Z]{1,3})(\d{1,7})\"")
_EMPTY = re.compile(rb"(?:\s\w+=\"[^\"<>]*\")*\s*/>")
_MAX_CACHED = 100_000

_ADDRESS = re.compile(r"([A-Za-z]{1,3})(\d{1,7})")

# Classes of columns and of rows, each with what its addresses look like and the last one in it.
_COLUMNS = (
    (rb"[A-Z]", 26),
    (rb"A?[A-Z]", 52),
    (rb"[A-C]?[A-Z]", 104),
    (rb"[A-G]?[A-Z]", 208),
    (rb"[A-Z]{1,2}", 702),
    (rb"[A-Z]{1,3}", 18_278),
)
_ROWS = (
    (rb"[1-8]?\d{1,2}", 899),
    (rb"[1-4]?\d{1,3}", 4_999),
    (rb"1?\d{1,4}", 19_999),
    (rb"[1-3]?\d{1,4}", 39_999),
    (rb"[1-7]?\d{1,4}", 79_999),
    (rb"\d{1,5}", 99_999),
    (rb"1?\d{1,5}", 199_999),
    (rb"[12]?\d{1,5}", 299_999),
    (rb"[1-5]?\d{1,5}", 599_999),
    (rb"\d{1,7}", 9_999_999),
)


def _other(columns: int, rows: int) -> re.Pattern[bytes]:
    """Find what begins like a cell, but not as a plain one of the two classes."""
    return re.compile(rb"<c(?! r=\"%s%s\")" % (_COLUMNS[columns][0], _ROWS[rows][0]))


# With one pattern for each pair, a block whose cells all fit costs a single search.
_OTHERS = {
    (columns, rows): _other(columns, rows)
    for columns, (_, right) in enumerate(_COLUMNS)
    for rows, (_, bottom) in enumerate(_ROWS)
    if right * bottom <= MAX_DENSE_CELLS or (columns, rows) == (5, 0)
}
"""By the classes seen, for all that is surely small enough: no column is past 16,384."""

_ANY_OTHER = _other(len(_COLUMNS) - 1, len(_ROWS) - 1)


class Bound:
    """A bound of a sheet's rectangle, drawn from its blocks one after the other."""

    def __init__(self) -> None:
        self._columns = 0
        self._rows = 0
        self.is_plain = True
        """Whether all cells so far are written as nearly all producers write them."""

    @property
    def is_safe(self) -> bool:
        """Whether the bound proves that the rectangle is small enough."""
        return self.is_plain and (self._columns, self._rows) in _OTHERS

    def take(self, block: bytes) -> None:
        """Search a block that cuts no tag, or overlaps the one before it."""
        self.is_plain = self.is_plain and not (b":c" in block and _PREFIXED.search(block))
        at = 0
        while self.is_plain:
            found = _OTHERS.get((self._columns, self._rows), _ANY_OTHER).search(block, at)
            if found is None:
                return
            at = found.start()
            cell = _CELL.match(block, at)
            if cell is not None:
                self.widen(column_number(cell[1].decode()), int(cell[2]))
            elif _ELEMENT.match(block, at):
                self.is_plain = False
            else:
                # This is another element whose name begins with c, such as cols.
                at += 1

    def widen(self, column: int, row: int) -> None:
        """Have the rectangle hold a cell, or all of a block whose last column and row these are."""
        self._columns = max(self._columns, _class(_COLUMNS, column))
        self._rows = max(self._rows, _class(_ROWS, row))


def _class(classes: tuple[tuple[bytes, int], ...], number: int) -> int:
    """Return the first class that has a column or row."""
    return next((place for place, (_, last) in enumerate(classes) if number <= last), len(classes))


def check_extent(
    package: Package, sheet: SheetEntry, bound: Bound, blocks: Iterable[bytes]
) -> None:
    """Measure the rectangle around the cells that hold something, if its bound is too high.

    Args:
        package: Where the sheet is.
        sheet: The sheet.
        bound: What a first pass found.
        blocks: The blocks of its part, once more.

    Raises:
        FileReadFailed: It is too large to be read.
    """
    if bound.is_safe:
        return
    found = _plain_extent(blocks) if bound.is_plain else _any_extent(package, sheet)
    rows, columns = max(0, found.bottom - found.top + 1), max(0, found.right - found.left + 1)
    if rows * columns > MAX_DENSE_CELLS:
        raise FileReadFailed(
            f"sheet {sheet.name} spans {rows:,} rows and {columns:,} columns; that is too large "
            "to be read"
        )


def _plain_extent(blocks: Iterable[bytes]) -> Area:
    """Measure by the cells' addresses."""
    filled: set[tuple[bytes, bytes]] = set()
    last: set[tuple[bytes, bytes]] = set()
    for block in blocks:
        # A tag may be cut at a block's end; then it is whole in the next one.
        sure, last = len(block) - OVERLAP_BYTES, set()
        for cell in _CELL.finditer(block):
            if not _EMPTY.match(block, cell.end()):
                (filled if cell.start() < sure else last).add((cell[1], cell[2]))
        # What matters of many cells is their outermost rows and columns.
        if len(filled) > _MAX_CACHED:
            filled = _outermost(filled)
    outer = _outermost(filled | last)
    if not outer:
        return Area(1, 1, 0, 0)
    rows = [int(digits) for _, digits in outer]
    columns = [column_number(letters.decode()) for letters, _ in outer]
    return Area(min(rows), min(columns), max(rows), max(columns))


def _outermost(cells: set[tuple[bytes, bytes]]) -> set[tuple[bytes, bytes]]:
    """Return the cells that are farthest to each side."""
    if not cells:
        return cells
    by_row = sorted(cells, key=lambda cell: int(cell[1]))
    # Length comes first, because column Z is before AA.
    by_column = sorted(cells, key=lambda cell: (len(cell[0]), cell[0]))
    return {by_row[0], by_row[-1], by_column[0], by_column[-1]}


def _any_extent(package: Package, sheet: SheetEntry) -> Area:
    """Measure by the elements, where rows and cells need not have addresses."""
    top = left = 1 << 30
    bottom = right = row = column = 0
    with package.open(sheet.part) as file, reading_errors(package.name):
        for event, element in etree.iterparse(
            file, ("start", "end"), tag=("{*}row", "{*}c"), resolve_entities=False, no_network=True
        ):
            if event == "start":
                row, column = _place(package, element, row, column)
            elif element.tag.endswith("}c") and (len(element) or element.text):
                top, left = min(top, row), min(left, column)
                bottom, right = max(bottom, row), max(right, column)
            if event == "end":
                element.clear()
    return Area(top, left, bottom, right)


def _place(package: Package, element: etree._Element, row: int, column: int) -> tuple[int, int]:
    """Return where a cell, or the beginning of a row, is; what has no address comes next."""
    address = element.get("r")
    if element.tag.endswith("}row"):
        return (whole_number(address) if address and address.isdecimal() else row + 1), 0
    if address is None:
        return row, column + 1
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise FileReadFailed(f"{package.name} is damaged: a cell has an address that no sheet has")
    return int(found[2]), column_number(found[1].upper())


_BLOCK = 1 << 20
_BEGIN = re.compile(rb"<([\w.-]+:)?sheetData(?:\s[^>]*?)?(/?)>")
_DECLARED = 256
_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']""")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of a part that is not in UTF-8."""


class XmlPiece(msgspec.Struct, frozen=True):
    """A piece of a sheet's XML in UTF-8.

    Args:
        kind: "head", once, up to the cells; "rows", whole rows; "tail", once, what follows them.
        data: The bytes.
        prefix: What stands before the names of elements of the sheet, as "x:"; mostly nothing.
    """

    kind: Literal["head", "rows", "tail"]
    data: bytes
    prefix: bytes = b""


def pieces(package: Package, part: str) -> Iterator[XmlPiece]:
    """Cut a sheet's part into pieces; a part without cells is one head. Raises FileReadFailed."""
    with package.open(part) as file, reading_errors(package.name):
        stream = utf_8_blocks(file)
        before: list[bytes] = []
        seam = b""
        for block in stream:
            # The tag may be split between two blocks.
            found = _BEGIN.search(seam + block)
            if found is not None:
                break
            before.append(block)
            seam = (seam + block)[-OVERLAP_BYTES:]
        else:
            yield XmlPiece("head", b"".join(before))
            return
        # The tag ends within this block; otherwise it would have been found in the one before.
        cut = found.end() - len(seam)
        yield XmlPiece("head", b"".join(before) + block[:cut])
        if found[2]:
            yield XmlPiece("tail", block[cut:] + b"".join(stream))
        else:
            yield from _cells(block[cut:], stream, found[1] or b"")


def _cells(rest: bytes, stream: Iterator[bytes], prefix: bytes) -> Iterator[XmlPiece]:
    """Cut at the ends of rows until the cells end."""
    row_end, data_end = b"</" + prefix + b"row>", b"</" + prefix + b"sheetData"
    looked = 0
    while True:
        # An end may lie across the seam of two blocks.
        start = max(0, looked - len(data_end))
        end = rest.find(data_end, start)
        if end >= 0:
            yield XmlPiece("rows", rest[:end], prefix)
            yield XmlPiece("tail", rest[end:] + b"".join(stream))
            return
        cut = rest.rfind(row_end, start)
        if cut >= 0:
            cut += len(row_end)
            yield XmlPiece("rows", rest[:cut], prefix)
            rest = rest[cut:]
        looked = len(rest)
        block = next(stream, b"")
        if not block:
            yield XmlPiece("rows", rest, prefix)
            return
        rest += block


def overlapping(package: Package, part: str) -> Iterator[bytes]:
    """Yield a part in blocks that overlap, so that no tag is cut in two. Raises FileReadFailed."""
    with package.open(part) as file, reading_errors(package.name):
        tail = b""
        for block in utf_8_blocks(file):
            yield tail + block
            tail = (tail + block)[-OVERLAP_BYTES:]


def utf_8_blocks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a part's text in blocks, in UTF-8 whatever it is written in."""
    head = file.read(_DECLARED)
    encoding = declared_encoding(head)
    # Rare enough to be decoded whole; the guard bounds the size of a part.
    if encoding:
        yield (head + file.read()).decode(encoding, "replace").encode()
        return
    yield head
    while block := file.read(_BLOCK):
        yield block


def declared_encoding(head: bytes) -> str:
    """Return how a part is encoded by its first bytes, "" if that is UTF-8 or unknown."""
    if head[:2] in UTF_16:
        return "utf-16"
    found = _ENCODING.match(head)
    if found is None:
        return ""
    try:
        name = codecs.lookup(found[1].decode()).name
        # Not all that Python knows is of texts.
        b" ".decode(name, "replace")
    except (LookupError, UnicodeError):
        return ""
    return "" if name in ("utf-8", "ascii") or name.startswith("utf-16") else name
