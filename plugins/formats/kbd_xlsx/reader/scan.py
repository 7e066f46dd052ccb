"""One pass over a sheet's XML: what it holds beside values, and how far its cells reach.

It is the guard of what follows: a library that makes a dense rectangle of a sheet is called after
it, and only if the rectangle is small enough.
"""

import collections
import re
from collections.abc import Iterable, Iterator
from typing import assert_never

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc.package import Package
from kbd_xlsx.extents import Bound, check_extent
from kbd_xlsx.reader.features import (
    Features,
    add_head,
    add_related,
    add_tail,
    merged_areas,
)
from kbd_xlsx.reader.formulas import FormulaBatch, UnusualXmlError, batches_of_part, batches_of_rows
from kbd_xlsx.reader.parts import XmlPiece, overlapping, pieces
from kbd_xlsx.references import Area
from kbd_xlsx.workbook import SheetPart

__all__ = ["Scan", "scan_sheet"]

_ROW = re.compile(rb"<(?:[\w.-]+:)?row\s[^>]*>")
_HIDDEN = re.compile(rb"\shidden=[\"'](?:1|true)[\"']")
_NUMBER = re.compile(rb"\sr=[\"'](\d{1,7})[\"']")


class Scan(msgspec.Struct):
    """What a sheet holds beside values.

    Args:
        features: Counted and named.
        merged: Merged ranges from top to bottom.
        batches: Formulas and errors, packed, each with its first and last row.
        told: The columns of formula and error cells by row, as bits, bit 0 for A.
        told_anywhere: The same of all rows together.
        hidden_rows: Ranges of row numbers.
    """

    features: Features = Features()
    merged: list[Area] = []
    batches: list[tuple[int, int, bytes]] = []
    told: dict[int, int] = {}
    told_anywhere: int = 0
    hidden_rows: list[tuple[int, int]] = []


def scan_sheet(package: Package, sheet: SheetPart) -> Scan:
    """Look through a sheet and bound its extent.

    Raises:
        FileReadFailed: Its used range is too large to be read, or a part is damaged.
    """
    if not sheet.part:
        return Scan()
    try:
        scan = _scanned(package, sheet)
    except UnusualXmlError:
        scan = _scanned(package, sheet, parsed=True)
    except ValidationFailed as fault:
        raise FileReadFailed(f"{package.name} is damaged: {fault.message}") from fault
    scan.features = add_related(scan.features, package, sheet)
    if sheet.kind == "chartsheet" and not scan.features.chart_count:
        scan.features = msgspec.structs.replace(scan.features, chart_count=1)
    return scan


def _scanned(package: Package, sheet: SheetPart, *, parsed: bool = False) -> Scan:
    """Pass over the part; where its cells cannot be searched, they are parsed after it."""
    scan, bound = Scan(), Bound()
    rows = _rows(scan, bound, pieces(package, sheet.part))
    if parsed:
        collections.deque(rows, 0)
        for batch in batches_of_part(package, sheet.part):
            _take(scan, batch)
    else:
        for batch in batches_of_rows(rows):
            _take(scan, batch)
    # Whatever its kind is said to be: a library goes by other words.
    check_extent(package, sheet, bound, overlapping(package, sheet.part))
    return scan


def _rows(scan: Scan, bound: Bound, found: Iterable[XmlPiece]) -> Iterator[XmlPiece]:
    """Take what is around the cells, and hand the rows on."""
    for piece in found:
        match piece.kind:
            case "head":
                scan.features = add_head(scan.features, piece.data)
            case "tail":
                scan.features = add_tail(scan.features, piece.data)
                scan.merged = merged_areas(piece.data)
            case "rows":
                bound.take(piece.data)
                if b"hidden=" in piece.data:
                    _take_hidden(scan, piece.data)
                yield piece
            case _:
                assert_never(piece.kind)


def _take_hidden(scan: Scan, data: bytes) -> None:
    for row in _ROW.findall(data):
        number = _NUMBER.search(row)
        if number is None or not _HIDDEN.search(row):
            continue
        place = int(number[1])
        ranges = scan.hidden_rows
        if ranges and ranges[-1][1] == place - 1:
            ranges[-1] = (ranges[-1][0], place)
        else:
            ranges.append((place, place))


def _take(scan: Scan, batch: FormulaBatch) -> None:
    """Pack some formulas and errors, and note where they are."""
    formulas = errors = 0
    told = scan.told
    for cell in batch.cells:
        bit = 1 << (cell.column - 1)
        told[cell.row] = told.get(cell.row, 0) | bit
        scan.told_anywhere |= bit
        formulas += cell.text is not None
        errors += cell.error != ""
    rows = [cell.row for cell in batch.cells]
    scan.batches.append((min(rows), max(rows), msgspec.msgpack.encode(batch)))
    scan.features = msgspec.structs.replace(
        scan.features,
        formula_count=scan.features.formula_count + formulas,
        error_count=scan.features.error_count + errors,
    )
