"""One version of a workbook and of its sheets, read for a comparison."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import CellValue
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_COLUMN, Area
from kbd_xlsx.comparison.cell_values import CellValues, decode_text
from kbd_xlsx.comparison.formula_texts import FormulaText
from kbd_xlsx.comparison.looks import BookLooks
from kbd_xlsx.comparison.raw_cells import RawCell, RowLook, row_look
from kbd_xlsx.comparison.shared_texts import SharedTexts
from kbd_xlsx.comparison.sheet_rows import (
    ROW_READERS,
    MarkupRow,
    RowPiece,
    UnusualRowsError,
    parse_skeleton,
    read_skeleton,
)
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.parts.stylesheet import number_of
from kbd_xlsx.reader.fallback_parser import format_meanings, is_from_1904, related_part
from kbd_xlsx.workbook import SheetEntry, Workbook, read_workbook

__all__ = ["BookSide", "RowScan", "SheetSide"]

_SHARED = re.compile(
    rb'<c r="([A-Z]{1,3})(\d{1,7})"[^>]*>\s*<f((?:\s[^>]*?)?\st="shared"[^>]*)>([^<]+)</f>'
)
_GROUP = re.compile(rb'\ssi="(\d{1,10})"')
_FILLED = re.compile(rb'<f(\s[^>]*\st="(?:array|dataTable)"[^>]*|\st="(?:array|dataTable)"[^>]*)>')
_AREA = re.compile(rb'\sref="([A-Z0-9:$]+)"')
_MAX_GROUPS = 50_000
_NOTHING = RowLook()

MAX_REMEMBERED = 20_000
"""Rows that are remembered when they were read, as they are mostly asked for once more."""


class BookSide:
    """One version of a workbook.

    Args:
        package: The file, None for a version that is not there.
        known_looks: Numbers of contents of looks, the same mapping for both versions.

    Raises:
        FileReadFailed: It is no workbook, or damaged.
    """

    def __init__(self, package: Package | None, known_looks: dict[Any, int]) -> None:
        self.package = package
        self.workbook: Workbook | None = None
        self.main = ""
        self.root: etree._Element | None = None
        texts = ""
        meanings: list[Any] = []
        if package is not None:
            self.workbook = read_workbook(package)
            self.main = self.workbook.identity.part
            self.root = package.root(self.main)
            texts = related_part(package, self.main, "sharedstrings")
            styles = related_part(package, self.main, "styles")
            meanings = format_meanings(package.root(styles)) if styles else []
        self.texts = SharedTexts(package, texts)
        self.looks = BookLooks(package, known_looks)
        from_1904 = self.root is not None and is_from_1904(self.root)
        self.values = CellValues(self.texts, meanings, from_1904=from_1904)

    @property
    def sheets(self) -> tuple[SheetEntry, ...]:
        """Its sheets in the order of their tabs."""
        return self.workbook.sheets if self.workbook is not None else ()


class RowScan(msgspec.Struct):
    """What a first pass over a sheet's rows found.

    Args:
        hashes: Of each row from row 1 on, 0 for one that is not there.
        masters: The shared formulas by their number: the cells that they are of, and their texts.
        sharing: The rows with cells that have shared formulas.
        groups: Areas that one formula fills.
    """

    hashes: list[int]
    masters: dict[bytes, list[tuple[int, int, bytes]]]
    sharing: set[int]
    groups: list[Area]


class SheetSide:
    """A sheet of one version.

    Args:
        book: Its workbook.
        entry: The sheet; None for one that this version has not.
    """

    def __init__(self, book: BookSide, entry: SheetEntry | None) -> None:
        self.book = book
        self.entry = entry
        self.name = entry.name if entry is not None else ""
        self.part = entry.part if entry is not None else ""
        self.looks: dict[int, RowLook] = {}
        self._reader = ROW_READERS[0]
        self._around = b""
        self._remembered: dict[int, MarkupRow] = {}
        self._remembers: Container[int] = ()
        self._known_looks: dict[bytes, RowLook] = {}

    @cached_property
    def skeleton(self) -> etree._Element:
        """What stands around its rows; raises FileReadFailed."""
        if not self.part or self.book.package is None:
            return etree.Element("worksheet")
        if self._around:
            return parse_skeleton(self.book.package, self._around)
        return read_skeleton(self.book.package, self.part)

    @cached_property
    def scan(self) -> RowScan:
        """What a first pass over its rows finds; raises FileReadFailed."""
        for reader in ROW_READERS:
            self._reader = reader
            around = bytearray()
            try:
                found = _scanned(self._pieces(around))
            except UnusualRowsError:
                continue
            self._around = bytes(around)
            return found
        raise self._damaged()

    def pieces(self) -> Iterator[RowPiece]:
        """Yield its rows, many at a time; raises FileReadFailed."""
        # What reader it takes is known once all rows were seen.
        _ = self.scan
        return self._pieces(bytearray())

    def rows(self, wanted: Sequence[int]) -> Iterator[MarkupRow]:
        """Yield rows; those that are not there are left out.

        Args:
            wanted: Their numbers, rising.

        Raises:
            FileReadFailed: The sheet is damaged.
        """
        if not wanted:
            return
        if len(wanted) <= MAX_REMEMBERED and all(row in self._remembers for row in wanted):
            yield from (self._remembered[row] for row in wanted if row in self._remembered)
            return
        remembers = len(wanted) <= MAX_REMEMBERED
        taken: dict[int, MarkupRow] = {}
        for piece in self.pieces():
            numbers = piece.numbers
            start, end = bisect_left(wanted, numbers[0]), bisect_right(wanted, numbers[-1])
            for number in wanted[start:end]:
                place = bisect_left(numbers, number)
                if numbers[place] != number:
                    continue
                row = piece.row(place)
                if row is None:
                    raise self._damaged()
                self._note_look(row)
                if remembers:
                    taken[number] = row
                yield row
        if remembers:
            self._remembered, self._remembers = taken, frozenset(wanted)

    def _note_look(self, row: MarkupRow) -> None:
        look = self._known_looks.get(row.attributes)
        if look is None:
            look = self._known_looks[row.attributes] = row_look(row.attributes)
        if look != _NOTHING:
            self.looks[row.number] = look

    def _pieces(self, around: bytearray) -> Iterator[RowPiece]:
        if not self.part or self.book.package is None:
            return iter(())
        return self._reader(self.book.package, self.part, around)

    def _damaged(self) -> FileReadFailed:
        return FileReadFailed(f"sheet {self.name} is damaged: its rows cannot be read")

    @property
    def has_rows(self) -> bool:
        """Whether it is of a kind that has cells."""
        return bool(self.part) and self.entry is not None and self.entry.kind != "chartsheet"

    def formula(self, cell: RawCell, row: int) -> FormulaText:
        """Return the formula of a cell that has one."""
        markup = cell.formula or b""
        if not markup and b'"shared"' in cell.details:
            group = _GROUP.search(cell.details)
            masters = self.scan.masters.get(group[1]) if group else None
            if masters:
                # A number that is used again stands for the new formula from then on.
                found = masters[0]
                for master in masters:
                    if (master[0], master[1]) <= (row, cell.column):
                        found = master
                return FormulaText(decode_text(found[2]), row - found[0], cell.column - found[1])
        return FormulaText(decode_text(markup))

    def is_member(self, row: int, column: int) -> bool:
        """Tell whether a cell may hold a result of a formula of another cell."""
        return any(
            area.top <= row <= area.bottom and area.left <= column <= area.right
            for area in self.scan.groups
        )

    def shown(self, cell: RawCell | None, row: int) -> CellValue:
        """Return a cell as `Reading.rows` has it."""
        if cell is None:
            return None
        if cell.formula is None:
            return self.book.values.shown(cell)
        return self.book.values.shown_formula(cell, self.formula(cell, row), row)

    def style_at(self, row: int, column: int) -> int:
        """Return the cell format of a cell that the file does not have."""
        look = self.looks.get(row)
        if look is not None and look.style is not None:
            return look.style
        for first, last, style in self._column_styles:
            if first <= column <= last:
                return style
        return 0

    @cached_property
    def _column_styles(self) -> list[tuple[int, int, int]]:
        return [
            (number_of(col, "min"), min(number_of(col, "max"), MAX_COLUMN), number_of(col, "style"))
            for col in self.skeleton.iterfind("{*}cols/{*}col")
            if number_of(col, "style")
        ]


def _scanned(pieces: Iterator[RowPiece]) -> RowScan:
    hashes: list[int] = []
    scan = RowScan(hashes, {}, set(), [])
    for piece in pieces:
        numbers = piece.numbers
        hashes.extend([0] * (numbers[0] - len(hashes) - 1))
        found = map(hash, piece.markup)
        if numbers[-1] - numbers[0] + 1 == len(numbers):
            hashes.extend(found)
        else:
            for number, each in zip(numbers, found, strict=True):
                hashes.extend([0] * (number - len(hashes) - 1))
                hashes.append(each)
        for number, markup in zip(numbers, piece.markup, strict=True):
            if b"<f " in markup:
                _add_formulas(scan, number, markup)
    return scan


def _add_formulas(scan: RowScan, number: int, cells: bytes) -> None:
    """Note shared formulas and those that fill areas."""
    if b'"shared"' in cells:
        scan.sharing.add(number)
        for letters, _, details, text in _SHARED.findall(cells):
            group = _GROUP.search(details)
            if group is not None:
                master = number, _column(letters), text
                scan.masters.setdefault(group[1], []).append(master)
    if b'"array"' in cells or b'"dataTable"' in cells:
        for details in _FILLED.findall(cells):
            written = _AREA.search(details)
            area = area_of(written[1].decode()) if written else None
            is_more = area is not None and (area.top, area.left) != (area.bottom, area.right)
            if area is not None and is_more and len(scan.groups) < _MAX_GROUPS:
                scan.groups.append(area)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
