"""What a sheet's parts hold beside values, found without building a tree of them.

The sheet's XML is searched as bytes, a block at a time. Before a library makes a dense rectangle
of a sheet, its extent is bounded here: two cells can span seventeen thousand million.
"""

import re
from collections.abc import Iterator
from typing import IO

import msgspec

from kbd.opc import Package, reading_errors
from kbd_xlsx.extents import OVERLAP_BYTES, Bound, check_extent
from kbd_xlsx.workbook import SheetPart

__all__ = ["Features", "sheet_features"]

_BLOCK = 1 << 20

_TAG = rb"<(?:[\w.-]+:)?"
# Each tag with the bytes that must be there for it: finding those costs a hundredth.
_FORMULA = (b"<f", b":f"), re.compile(_TAG + rb"f[\s>/]")
_MERGED = (b"mergeCell",), re.compile(_TAG + rb"mergeCell[\s>/]")
_CONDITIONAL = (b"conditionalF",), re.compile(_TAG + rb"conditionalFormatting[\s>/]")
_PANE = re.compile(_TAG + rb"pane\s[^>]*>")
_SPLIT = re.compile(rb"\bySplit=[\"'](\d{1,4})(?:\.0)?[\"']")


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
    if not sheet.part:
        return Features(has_charts=sheet.kind == "chartsheet")
    formulas = errors = merged = conditional = seen = False
    frozen = 0
    bound = Bound()
    for block in _blocks(package, sheet.part):
        formulas = formulas or _holds(block, *_FORMULA)
        errors = errors or b't="e"' in block
        merged = merged or _holds(block, *_MERGED)
        conditional = conditional or _holds(block, *_CONDITIONAL)
        if not seen:
            head, found_data, _ = block.partition(b"sheetData")
            frozen, seen = frozen or _frozen_rows(head), bool(found_data)
        bound.take(block)
    # Whatever its kind is said to be: a library goes by other words.
    check_extent(package, sheet, bound, _blocks(package, sheet.part))
    if sheet.kind != "worksheet":
        return Features(has_charts=sheet.kind == "chartsheet")
    found = Features(formulas, errors, merged, conditional, frozen_rows=frozen)
    return _with_related(package, sheet, found)


def _frozen_rows(head: bytes) -> int:
    """Return how many rows stay in view, from what comes before the cells."""
    pane = _PANE.search(head)
    split = _SPLIT.search(pane[0]) if pane else None
    return int(split[1]) if pane and split and b"frozen" in pane[0] else 0


def _holds(block: bytes, marks: tuple[bytes, ...], tag: re.Pattern[bytes]) -> bool:
    return any(mark in block for mark in marks) and tag.search(block) is not None


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
        tail = (tail + block)[-OVERLAP_BYTES:]
