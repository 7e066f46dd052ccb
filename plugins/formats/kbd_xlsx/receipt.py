"""Facts for receipts of workbooks: which cells and rows of a sheet differ, and what else in it."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.receipts import ReceiptItem, cut_text
from kbd.office.receipts import (
    PartLists,
    PartReader,
    element_items,
    package_facts,
    sha256_text,
    write_element,
    write_start,
)
from kbd.opc import Package
from kbd.opc.element_names import local_name
from kbd.sheets.areas import column_letters, column_number

__all__ = ["receipt_facts"]

_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."
_SHEET, _TEXTS, _STYLES = (
    f"{_TYPE}{word}+xml" for word in ("worksheet", "sharedStrings", "styles")
)

_SPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_ROW, _CELL, _TEXT = (
    frozenset(f"{{{space}}}{name}" for space in _SPACES) for name in ("row", "c", "t")
)
_PHONETIC = frozenset(f"{{{space}}}rPh" for space in _SPACES)
_ADDRESS = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")

Key = tuple[int, int]


def receipt_facts(
    versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
) -> dict[str, Any]:
    """Return what differs between versions of a workbook: parts, cells, rows, the rest of sheets.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    return package_facts(versions, steps, limit, {_SHEET: _SheetReader()})


class _Book:
    """What cells of a version point to: shared texts and formats of numbers."""

    def __init__(self, package: Package) -> None:
        self.texts: list[tuple[str, str]] = []
        self.formats: list[str] = []
        types = package.content_types()
        for info in package.entries:
            kind = types.of(info.filename)
            if kind == _TEXTS and not self.texts:
                root = package.root(info.filename)
                self.texts = [
                    (sha256_text(write_element(item)), _plain_text(item))
                    for item in root if local_name(item) == "si"
                ]  # fmt: skip
            elif kind == _STYLES and not self.formats:
                self.formats = _number_formats(package.root(info.filename))


def _plain_text(element: etree._Element) -> str:
    """Return the text of a rich text; how it is pronounced is no part of it."""
    return "".join(
        each.text or ""
        for each in element.iter(*_TEXT)
        if each.getparent() is None or each.getparent().tag not in _PHONETIC  # type: ignore[union-attr]
    )


def _number_formats(root: etree._Element) -> list[str]:
    """Return the format of numbers of each cell format: its text, or `#` and its number."""
    own: dict[str, str] = {}
    found: list[str] = []
    for part in root:
        if local_name(part) == "numFmts":
            for each in part:
                own[each.get("numFmtId", "")] = each.get("formatCode", "")
    for part in root:
        if local_name(part) == "cellXfs":
            for each in part:
                if local_name(each) == "xf":
                    number = each.get("numFmtId", "0")
                    found.append(own.get(number, f"#{number}"))
    return found


class _SheetReader(PartReader):
    """Reader of sheets: cells by address, rows by number, and what stands around them."""

    kind = "sheet"
    nouns: ClassVar[Mapping[str, str]] = {"cells": "cell", "rows": "row"}

    def __init__(self) -> None:
        # All sheets of a version point into the same texts.
        self._books: dict[Package, _Book] = {}

    def _book(self, package: Package) -> _Book:
        if package not in self._books:
            self._books[package] = _Book(package)
        return self._books[package]

    def read(self, versions: Sequence[tuple[Package, str] | None]) -> list[PartLists | None]:
        """Read each version twice: rows that differ are found first, then taken apart."""
        books = [None if each is None else self._book(each[0]) for each in versions]
        known = [each for each in books if each is not None]
        sheets = [None if each is None else _Sheet(*each) for each in versions]
        first = known[0]
        # What an unchanged row points to may have changed: then no row may be passed over.
        is_stable = all(
            each.formats == first.formats and each.texts[: len(first.texts)] == first.texts
            for each in known[1:]
        )
        wanted: set[int] | None = None
        if is_stable and None not in versions:
            raw = [each.raw for each in sheets if each is not None]
            numbers = {number for each in raw for number in each}
            wanted = {n for n in numbers if len({each.get(n) for each in raw}) > 1}
        return [
            None if sheet is None or book is None else sheet.lists(book, wanted)
            for sheet, book in zip(sheets, books, strict=True)
        ]

    def write_key(self, noun: str, key: Any) -> str:
        """Write an address as people do."""
        return f"{column_letters(key[1])}{key[0]}" if noun == "cell" else str(key)

    def titles(self, package: Package) -> Mapping[str, str]:
        """Return the names of sheets."""
        main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
        if not main:
            return {}
        targets = {each.id: each.target for each in package.relations(main)}
        found: dict[str, str] = {}
        for sheets in package.root(main):
            if local_name(sheets) != "sheets":
                continue
            for sheet in sheets:
                ids = [
                    str(value) for name, value in sheet.attrib.items()
                    if str(name).endswith("/relationships}id")
                ]  # fmt: skip
                if ids and ids[0] in targets:
                    found.setdefault(targets[ids[0]].lower(), sheet.get("name", ""))
        return found


class _Sheet:
    """One version of a sheet.

    Attributes:
        raw: What tells rows apart, by their numbers, without taking them apart.
    """

    def __init__(self, package: Package, part: str) -> None:
        self._package, self._part = package, part
        self.raw: dict[int, bytes] = {}
        for number, row in self._rows():
            if number in self.raw:
                raise FileReadFailed(f"{part} has two rows {number}")
            # Without what follows it, and in the prefixes of the part: those are equal mostly.
            self.raw[number] = hashlib.sha256(etree.tostring(row, with_tail=False)).digest()

    def _rows(self) -> Any:
        last = 0
        with self._package.open(self._part) as stream:
            events = etree.iterparse(
                stream, events=("end",), tag=tuple(_ROW), resolve_entities=False, no_network=True
            )
            for _, row in events:
                parent = row.getparent()
                if parent is None or local_name(parent) != "sheetData":
                    continue
                number = _number(row.get("r"), last)
                yield number, row
                last = number
                row.clear()
                while row.getprevious() is not None:
                    del parent[0]
            self._root = events.root

    def lists(self, book: _Book, wanted: set[int] | None) -> PartLists:
        """Return the lists, with the cells and rows that are wanted, or all."""
        cells: dict[Key, ReceiptItem] = {}
        rows: dict[int, ReceiptItem] = {}
        for number, row in self._rows():
            if wanted is not None and number not in wanted:
                continue
            rows[number] = _row_item(row)
            column = 0
            for child in row:
                if child.tag not in _CELL:
                    continue
                column = _column(child.get("r"), number, column)
                if (number, column) in cells:
                    raise FileReadFailed(f"{self._part} has a cell twice")
                cells[number, column] = _cell_item(child, book)
        rest = element_items(self._root, hollow=frozenset({"sheetData"}))
        return PartLists({"cells": cells, "rows": rows}, {"elements": rest})


def _number(written: str | None, last: int) -> int:
    if written is None:
        return last + 1
    if not written.isascii() or not written.isdigit() or len(written) > 7:
        raise FileReadFailed("a row has no number")
    return int(written)


def _column(written: str | None, row: int, last: int) -> int:
    if written is None:
        return last + 1
    found = _ADDRESS.fullmatch(written)
    if found is None or int(found[2]) != row:
        raise FileReadFailed("a cell is not where it says")
    return column_number(found[1])


def _row_item(row: etree._Element) -> ReceiptItem:
    """Return a row without its cells: its height, its format, whether it is hidden."""
    rest = [
        write_element(child)
        for child in row
        if isinstance(child.tag, str) and child.tag not in _CELL
    ]
    told = "".join([write_start(row, "r"), *rest])
    shown = {name: row.get(name) for name in ("ht", "s", "hidden") if row.get(name)}
    return ReceiptItem(sha256_text(told), {"attributes": shown})


def _cell_item(cell: etree._Element, book: _Book) -> ReceiptItem:
    kind, style = cell.get("t", "n"), cell.get("s", "0")
    facts: dict[str, Any] = {"type": kind, "style": style}
    look = int(style) if style.isascii() and style.isdigit() and len(style) < 8 else -1
    look_text = book.formats[look] if 0 <= look < len(book.formats) else ""
    facts |= cut_text("number_format", look_text)
    value = ""
    for child in cell:
        name = local_name(child) if isinstance(child.tag, str) else ""
        if name == "v":
            value = child.text or ""
            if kind == "s":
                digest, value = _shared_text(book, value)
                child.text = digest
        elif name == "is":
            value = _plain_text(child)
        elif name == "f":
            facts |= cut_text("formula", child.text or "")
    facts |= cut_text("value", value)
    return ReceiptItem(sha256_text(write_element(cell, without="r"), "\n", look_text), facts)


def _shared_text(book: _Book, written: str) -> tuple[str, str]:
    """Return what stands for a shared text, and the text."""
    number = int(written) if written.isascii() and written.isdigit() and len(written) < 9 else -1
    if not 0 <= number < len(book.texts):
        return f"si:?{written}", ""
    digest, text = book.texts[number]
    return f"si:{digest}", text
