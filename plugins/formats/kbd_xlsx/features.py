"""What a sheet's parts hold beside values, found without building a tree of them.

The sheet's XML is searched as bytes, a block at a time. Before a library makes a dense rectangle
of a sheet, its extent is bounded here: two cells can span seventeen thousand million.
"""

import re
from collections.abc import Iterator
from typing import IO

import msgspec

from kbd.errors import FileReadFailed
from kbd.opc import Package, reading_errors
from kbd_xlsx.references import column_number
from kbd_xlsx.workbook import SheetPart

__all__ = ["Features", "sheet_features"]

MAX_DENSE_CELLS = 16_000_000
"""Cells of the rectangle around a sheet's values: some 500 MB in the library that reads it."""

_BLOCK = 1 << 20
_OVERLAP = 1024
"""Longer than any tag that is searched for."""

_TAG = rb"<(?:[\w.-]+:)?"
# Each tag with the bytes that must be there for it: finding those costs a hundredth.
_FORMULA = (b"<f", b":f"), re.compile(_TAG + rb"f[\s>/]")
_MERGED = (b"mergeCell",), re.compile(_TAG + rb"mergeCell[\s>/]")
_CONDITIONAL = (b"conditionalF",), re.compile(_TAG + rb"conditionalFormatting[\s>/]")
_PANE = re.compile(_TAG + rb"pane\s[^>]*>")
_SPLIT = re.compile(rb"\bySplit=[\"'](\d{1,4})(?:\.0)?[\"']")
# These begin with a literal, which makes them fast; they may find too much, never too little.
_ROW_NUMBER = re.compile(rb"row\s[^>]*?\br=[\"'](\d{1,7})")
_PLAIN_ROW_NUMBER = re.compile(rb'<row r="(\d{1,7})"')
_SEVERAL_LETTERS = re.compile(rb"r=[\"'][A-Z]{2}")
_THREE_LETTERS = re.compile(rb"r=[\"'][A-Z]{3}\d")
_FILLED_CELL = re.compile(_TAG + rb"c\b[^>]*?\sr=[\"']([A-Z]{1,3})(\d{1,7})[\"'][^>]*(?<!/)>")


class Features(msgspec.Struct, frozen=True):
    """What a sheet holds beside its values; `tables` as a map lists them.

    `has_errors` may be said of a sheet that only has the text for it. `frozen_rows` stay in view
    when the sheet is scrolled.
    """

    has_formulas: bool = False
    has_errors: bool = False
    has_merged_cells: bool = False
    has_conditional_formatting: bool = False
    has_charts: bool = False
    has_pivots: bool = False
    frozen_rows: int = 0
    tables: tuple[dict[str, str], ...] = ()


def sheet_features(package: Package, sheet: SheetPart) -> Features:
    """Look through a sheet and bound its extent.

    Raises:
        FileReadFailed: Its used range is too large to be read, or a part is damaged.
    """
    if not sheet.part or sheet.kind != "worksheet":
        return Features(has_charts=sheet.kind == "chartsheet")
    formulas = errors = merged = conditional = False
    rows = highest = frozen = 0
    letters = 1
    for block in _blocks(package, sheet.part):
        formulas = formulas or _holds(block, *_FORMULA)
        errors = errors or b't="e"' in block
        merged = merged or _holds(block, *_MERGED)
        conditional = conditional or _holds(block, *_CONDITIONAL)
        if not rows:
            frozen = frozen or _frozen_rows(block.partition(b"sheetData")[0])
        starts = block.count(b"<row") + block.count(b":row")
        numbers = _PLAIN_ROW_NUMBER.findall(block)
        if len(numbers) < starts:
            numbers = _ROW_NUMBER.findall(block)
        rows += starts
        highest = max(highest, max(map(int, numbers), default=0))
        if letters < 3 and _SEVERAL_LETTERS.search(block):
            letters = 3 if _THREE_LETTERS.search(block) else 2
    width = {1: 26, 2: 702, 3: 16_384}[letters]
    if max(rows, highest) * width > MAX_DENSE_CELLS:
        _check_extent(package, sheet)
    found = Features(formulas, errors, merged, conditional, frozen_rows=frozen)
    return _with_related(package, sheet, found)


def _frozen_rows(head: bytes) -> int:
    """Return how many rows stay in view, from what comes before the cells."""
    pane = _PANE.search(head)
    split = _SPLIT.search(pane[0]) if pane else None
    return int(split[1]) if pane and split and b"frozen" in pane[0] else 0


def _holds(block: bytes, marks: tuple[bytes, ...], tag: re.Pattern[bytes]) -> bool:
    return any(mark in block for mark in marks) and tag.search(block) is not None


def _check_extent(package: Package, sheet: SheetPart) -> None:
    """Measure exactly: only cells with contents count."""
    top = left = 1 << 30
    bottom = right = 0
    for block in _blocks(package, sheet.part):
        for letters, digits in set(_FILLED_CELL.findall(block)):
            row, column = int(digits), column_number(letters.decode())
            top, left = min(top, row), min(left, column)
            bottom, right = max(bottom, row), max(right, column)
    if max(0, bottom - top + 1) * max(0, right - left + 1) > MAX_DENSE_CELLS:
        raise FileReadFailed(
            f"Sheet {sheet.name} spans {bottom - top + 1:,} rows and {right - left + 1:,} columns; "
            "that is too large to be read."
        )


def _with_related(package: Package, sheet: SheetPart, found: Features) -> Features:
    """Add what the sheet's relations lead to."""
    charts = pivots = False
    tables = []
    for relation in package.relations(sheet.part):
        if relation.external or relation.target not in package:
            continue
        if relation.kind == "drawing":
            inner = package.relations(relation.target)
            charts = charts or any(part.kind in ("chart", "chartEx") for part in inner)
        elif relation.kind == "pivotTable":
            pivots = True
        elif relation.kind == "table":
            root = package.root(relation.target)
            name = root.get("displayName") or root.get("name") or ""
            tables.append({"name": name, "range": root.get("ref", "")})
    return msgspec.structs.replace(
        found, has_charts=charts, has_pivots=pivots, tables=tuple(tables)
    )


def _blocks(package: Package, part: str) -> Iterator[bytes]:
    """Yield a part's bytes as UTF-8 in blocks that overlap, so that no tag is cut in two."""
    with package.open(part) as file, reading_errors(package.name):
        head = file.read(2)
        if head in (b"\xff\xfe", b"\xfe\xff"):
            yield (head + file.read()).decode("utf-16", "replace").encode()
            return
        yield from _overlapping(file, head)


def _overlapping(file: IO[bytes], head: bytes) -> Iterator[bytes]:
    tail = head
    while block := file.read(_BLOCK):
        yield tail + block
        tail = (tail + block)[-_OVERLAP:]
