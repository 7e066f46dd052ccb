"""Runs of text within cells that have colors and sizes of their own, of which some are not seen.

A text in runs lies among the shared texts or in its cell. A run has a font of its own, or that of
its cell (ECMA-376 part 1, 18.4.4 and 18.4.7). Only texts with a run that may be unseen, or seen in
a cell that is not, are looked for in the sheets.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd.opc.package import Package, free_element, reading_errors
from kbd.sheets.areas import parse_cell
from kbd_xlsx.reader.cell_looks import WorkbookLooks, is_same_color, letters_color
from kbd_xlsx.reader.fallback_parser import related_part, text_of_item
from kbd_xlsx.reader.parts import XmlPiece, utf_8_blocks
from kbd_xlsx.reader.plain_cells import PlainTexts
from kbd_xlsx.reader.unseen import last_row_number
from kbd_xlsx.styles.theme import XlsxTheme

__all__ = ["ColoredRun", "RichCell", "RichCells", "RichText", "SheetRuns", "find_rich_texts"]

MAX_RICH_CELLS = 50_000
"""Cells with such texts that are told apart; below them, texts may be hidden in part."""


_MAX_GROUNDS = 256


class ColoredRun(msgspec.Struct, frozen=True, array_like=True):
    """Run of a text: its first character, the one behind its last, its color.

    Its `ink` is RRGGBB, "" where it is too small for any, None where it is that of the cell.
    """

    start: int
    end: int
    ink: str | None


class RichText(msgspec.Struct, frozen=True, array_like=True):
    """Text in runs."""

    runs: tuple[ColoredRun, ...]

    @property
    def length(self) -> int:
        """Characters of all runs."""
        return self.runs[-1].end if self.runs else 0

    def unseen_spans(self, ink: str, ground: str) -> tuple[tuple[int, int], ...]:
        """Return from where to where nothing is seen, in a cell with a color and a ground."""
        found: list[tuple[int, int]] = []
        for run in self.runs:
            if not is_same_color(ink if run.ink is None else run.ink, ground):
                continue
            if found and found[-1][1] == run.start:
                found[-1] = (found[-1][0], run.end)
            else:
                found.append((run.start, run.end))
        return tuple(found)


class RichCell(msgspec.Struct, frozen=True, array_like=True):
    """Cell with a text in runs: its row and column, the places of its text and of its look."""

    row: int
    column: int
    text: int
    look: int


class SheetRuns(msgspec.Struct, frozen=True, array_like=True):
    """Cells of a sheet whose texts have runs that may be unseen.

    Args:
        texts: Each text once.
        cells: The cells, as the file has them.
        untold_from: The row from which on they are not listed; 0 if all are.
    """

    texts: tuple[RichText, ...] = ()
    cells: tuple[RichCell, ...] = ()
    untold_from: int = 0


def find_rich_texts(
    package: Package, looks: WorkbookLooks, plain: PlainTexts
) -> dict[int, RichText]:
    """Return the shared texts in runs that matter in some cell, by their numbers.

    Args:
        package: The workbook.
        looks: Its looks.
        plain: What takes all texts on the way.

    Raises:
        FileReadFailed: The shared texts are damaged.
    """
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    part = related_part(package, main, "sharedstrings")
    if not part:
        return {}
    matters = _matters(looks)
    found: dict[int, RichText] = {}
    for number, item in _items_in_runs(package, part, plain):
        text = _text_in_runs(item, looks.theme)
        if text is not None and matters(text):
            found[number] = text
    return found


def _matters(looks: WorkbookLooks) -> Callable[[RichText], bool]:
    """Return what tells whether a text has a run that some cell of the workbook hides, or shows."""
    grounds = {look.ground for look in looks.looks} | {change.ground for change in looks.changes}
    grounds.add("FFFFFF")
    known = [ground for ground in grounds if ground]
    # So many colors are not worth comparing: each text in runs is looked at in its cell.
    is_any_hidden = len(known) > _MAX_GROUNDS or any(
        is_same_color(look.ink, look.ground) for look in looks.looks
    )
    hiding: dict[str, bool] = {}

    def matters(text: RichText) -> bool:
        inks = {run.ink for run in text.runs if run.ink is not None}
        for ink in inks - hiding.keys() if not is_any_hidden else ():
            hiding[ink] = any(is_same_color(ink, ground) for ground in known)
        return is_any_hidden or any(hiding[ink] for ink in inks)

    return matters


_END = b"</si>"
_SEAM = 64
"""Bytes that are searched twice, lest a tag is cut in two."""

_ODD_ITEM = re.compile(rb"<(?:/?si[\s/]|!--|!\[|\?(?!xml\s)|[\w.-]+:)")


class _OddItemsError(Exception):
    """The shared texts are written in a way that a search of bytes may misread."""


def _items_in_runs(
    package: Package, part: str, plain: PlainTexts
) -> Iterator[tuple[int, etree._Element]]:
    """Yield the shared texts in runs with their numbers; as bytes where that is sure, else parsed.

    Of each thousand texts few are in runs, so that a parser would make a tree of all for nothing.
    """
    done = -1
    try:
        for number, item in _searched_items(package, part, plain):
            yield number, item
            done = number
    except _OddItemsError:
        plain.drop()
    else:
        return
    with package.open(part) as file, reading_errors(package.name):
        parsed = etree.iterparse(
            file, tag=("{*}si", "{*}sstItem"), resolve_entities=False, no_network=True,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for number, (_, item) in enumerate(parsed):
            if number > done and item.find("{*}r") is not None:
                yield number, item
            free_element(item)


def _searched_items(
    package: Package, part: str, plain: PlainTexts
) -> Iterator[tuple[int, etree._Element]]:
    number, rest = 0, b""
    with package.open(part) as file, reading_errors(package.name):
        for block in utf_8_blocks(file):
            if _ODD_ITEM.search(rest[-_SEAM:] + block):
                raise _OddItemsError
            data = rest + block
            *whole, rest = data.split(_END)
            plain.take(whole)
            if b"rPr" in data:
                for place, written in enumerate(whole, number):
                    if b"rPr" not in written:
                        continue
                    root = _parsed(b"<si>" + written.partition(b"<si>")[2] + _END)
                    if root is not None and (item := root.find("{*}si")) is not None:
                        yield place, item
            number += len(whole)


def _parsed(data: bytes, prefix: bytes = b"") -> etree._Element | None:
    """Return an element around a piece of XML; prefixes that are declared elsewhere will do."""
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    name = prefix.removesuffix(b":")
    declared = b' xmlns:%s="p"' % name if name else b""
    return etree.fromstring(b"<x%s>%s</x>" % (declared, data), parser)


def _text_in_runs(item: etree._Element, theme: XlsxTheme) -> RichText | None:
    """Return a text with its runs, None if none has a font of its own."""
    runs: list[ColoredRun] = []
    at, is_own = 0, False
    for child in item.iterfind("*"):
        name = local_name(child)
        if name not in ("t", "r"):
            continue
        # As the text itself is read, so that the places are those of its characters.
        alone = item.makeelement(item.tag)
        font = child.find("{*}rPr") if name == "r" else None
        ink = None if font is None else letters_color(font, theme)
        is_own = is_own or ink is not None
        alone.append(deepcopy(child))
        end = at + len(text_of_item(alone))
        if end > at:
            runs.append(ColoredRun(at, end, ink))
        at = end
    return RichText(tuple(runs)) if is_own and runs else None


_OWN_FONT = re.compile(rb"rPr")
"""A pattern, for `in` takes twice the time for a word as short as this."""

_ODD = (
    re.compile(rb"<c(?!(?: [a-z]+=\"[A-Za-z0-9]*\")*/?>)"),
    re.compile(rb"<v(?!>[^<&]*<)"),
    re.compile(rb"<[\w.-]+:c[\s/>]"),
)
"""What cells are written with that the next two patterns do not find, beside comments."""

_SHARED = re.compile(rb"t=\"s\"(?: [a-z]+=\"[A-Za-z0-9]*\")*><v>([^<]*)</v>")
_SHARED_CELL = re.compile(
    rb"<c((?: [a-z]+=\"[A-Za-z0-9]*\")*? t=\"s\"(?: [a-z]+=\"[A-Za-z0-9]*\")*)><v>([^<]*)</v>"
)
_ADDRESS = re.compile(rb" r=\"([A-Z]{1,3})([0-9]{1,7})\"")
_STYLE = re.compile(rb" s=\"([0-9]*)\"")
_MAX_DIGITS = 9
_ZERO = ord("0")


class RichCells:
    """Collector of the cells of a sheet that have such texts, from its rows as they come.

    Args:
        shared: What `find_rich_texts` found.
        looks: The looks of the workbook.
    """

    def __init__(self, shared: Mapping[int, RichText], looks: WorkbookLooks) -> None:
        self._shared = shared
        self._written = {str(number).encode() for number in shared}
        self._looks = looks
        self._matters = _matters(looks)
        self._texts: dict[RichText, int] = {}
        self._cells: list[RichCell] = []
        self._untold = 0
        self._row = 0

    def take(self, piece: XmlPiece) -> None:
        """Take whole rows."""
        data = piece.data
        is_plain = _OWN_FONT.search(data) is None and (not self._shared or self._take_plain(piece))
        if is_plain:
            self._row = last_row_number(data, self._row)
            return
        root = _parsed(data, piece.prefix)
        for row in root if root is not None else ():
            if local_name(row).rpartition(":")[2] == "row":
                self._take_row(row)

    def _take_plain(self, piece: XmlPiece) -> bool:
        """Take rows that are written as nearly all programs do; False leaves them to a parser."""
        data = piece.data
        if piece.prefix or b"<!" in data or b"<?" in data:
            return False
        if any(odd.search(data) for odd in (_ODD if b":c" in data else _ODD[:2])):
            return False
        found = _SHARED.findall(data)
        numbers = set(found)
        is_odd = any(not each.isdigit() or (each[0] == _ZERO and len(each) > 1) for each in numbers)
        if is_odd or len(found) != data.count(b't="s"'):
            return False
        if self._written.isdisjoint(numbers):
            return True
        cells = []
        for attributes, number in _SHARED_CELL.findall(data):
            if number in self._written:
                place, style = _ADDRESS.search(attributes), _STYLE.search(attributes)
                if place is None:
                    return False
                cells.append((place, number, style[1] if style else b"0"))
        for place, number, style_number in cells:
            self._row = int(place[2])
            column = _column(place[0][4:-1].decode(), 0)
            self._add(column, self._shared[int(number)], style_number.decode())
        return True

    def _take_row(self, row: etree._Element) -> None:
        written = row.get("r", "").strip()
        is_numbered = written.isascii() and written.isdigit() and len(written) <= _MAX_DIGITS
        self._row = int(written) if is_numbered else self._row + 1
        column = 0
        for cell in row:
            if local_name(cell).rpartition(":")[2] != "c":
                continue
            column = _column(cell.get("r"), column)
            text = self._text(cell)
            if text is not None:
                self._add(column, text, cell.get("s", "0").strip())

    def _text(self, cell: etree._Element) -> RichText | None:
        shared = cell.get("t", "").strip() == "s"
        for part in cell:
            name = local_name(part).rpartition(":")[2]
            if name == "is":
                text = _text_in_runs(part, self._looks.theme)
                return text if text is not None and self._matters(text) else None
            if name == "v" and shared:
                return self._shared.get(_number((part.text or "").encode()))
        return None

    def _add(self, column: int, text: RichText, style: str) -> None:
        if len(self._cells) >= MAX_RICH_CELLS:
            self._untold = self._untold or self._row
            return
        formats = self._looks.of_format
        number = _number(style.encode())
        look = formats[number] if 0 <= number < len(formats) else -1
        place = self._texts.setdefault(text, len(self._texts))
        self._cells.append(RichCell(self._row, column, place, look))

    def found(self) -> SheetRuns:
        """Return what was found."""
        return SheetRuns(tuple(self._texts), tuple(self._cells), self._untold)


def _number(text: bytes) -> int:
    text = text.strip()
    return int(text) if text.isdigit() and len(text) <= _MAX_DIGITS else -1


def _column(address: str | None, before: int) -> int:
    """Return a cell's column; one without an address is next to the cell before."""
    if not address:
        return before + 1
    try:
        return parse_cell(address)[1]
    except ValidationFailed:
        return before + 1
