"""Builder of a packed sheet: blocks of values, formulas and islands, in one pass.

The pass over a sheet's XML finds what it holds beside values, and how far its cells reach; where
the cells are plain, it finds their values as well. It is the guard of what follows: for values that
are not plain a library that makes a dense rectangle of a sheet is called after it, and only if the
rectangle is small enough.
"""

import collections
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import assert_never

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc.package import Package
from kbd.sheets.areas import Area
from kbd.sheets.islands import RowRun, find_areas, joined
from kbd_xlsx.reader.blocks import BLANK, Cells, pack
from kbd_xlsx.reader.book_values import BookValues
from kbd_xlsx.reader.cell_currencies import format_currencies
from kbd_xlsx.reader.cell_looks import CellLook, WorkbookLooks, read_looks
from kbd_xlsx.reader.conditions import (
    ConditionRule,
    marked_hiding,
    read_conditions,
    unlike_usual,
    within_all,
)
from kbd_xlsx.reader.fallback_parser import are_misread
from kbd_xlsx.reader.features import Features, add_head, add_related, add_tail, merged_areas
from kbd_xlsx.reader.formulas import FormulaBatch, UnusualXmlError, batches_of_part, batches_of_rows
from kbd_xlsx.reader.merged_rows import MergedRows
from kbd_xlsx.reader.parts import Bound, XmlPiece, check_extent, overlapping, pieces
from kbd_xlsx.reader.plain_cells import BYTES_OF_COLUMN, PlainCells, PlainTexts, PlainValues
from kbd_xlsx.reader.rich_text import RichCells, RichText, SheetRuns, find_rich_texts
from kbd_xlsx.reader.section_file import FileSection, SectionFile
from kbd_xlsx.reader.sheet_sight import SheetLooks
from kbd_xlsx.reader.unseen import UnseenCells, UnseenRun
from kbd_xlsx.workbook import SheetEntry

__all__ = [
    "PackedBlock",
    "PackedSheet",
    "Scan",
    "SharedFacts",
    "build",
    "read_shared",
    "scan_sheet",
]

_ROW = re.compile(rb"<(?:[\w.-]+:)?row\s[^>]*>")
_HIDDEN = re.compile(rb"\shidden=[\"'](?:1|true)[\"']")
_LOW = re.compile(rb"ht=(?<=\sht=)[\"']0*(?:[01]?(?:\.\d*)?|2(?:\.0*)?)[\"']")
"""A row of two points and less: of its letters nothing is seen."""

_NUMBER = re.compile(rb"\sr=[\"'](\d{1,7})[\"']")


class SharedFacts(msgspec.Struct, frozen=True):
    """What the sheets of a workbook share.

    Args:
        looks: The looks of its cells.
        texts: Its shared texts in runs, by their numbers.
        plain: What the values of plain cells mean.
    """

    looks: WorkbookLooks
    texts: Mapping[int, RichText]
    plain: PlainValues


def read_shared(package: Package, bytes_of_column: int = BYTES_OF_COLUMN) -> SharedFacts:
    """Read what the sheets of a workbook share.

    Args:
        package: The workbook.
        bytes_of_column: Bytes of a sheet for each of its columns from which on its values are
            searched for where they are plain.

    Raises:
        FileReadFailed: A part is damaged.
    """
    looks, plain = read_looks(package), PlainTexts()
    texts = find_rich_texts(package, looks, plain)
    return SharedFacts(looks, texts, PlainValues(package, plain, looks, bytes_of_column))


class Scan(msgspec.Struct):
    """Findings of the pass over a sheet's XML, beside values that are not plain.

    Args:
        features: Counted and named.
        merged: Merged ranges from top to bottom.
        batches: Formulas and errors, packed, each with its first and last row.
        formula_columns: The columns of formula and error cells by row, as bits, bit 0 for A.
        any_formula_columns: The same of all rows together.
        hidden_rows: Ranges of row numbers.
        are_values_odd: Whether calamine would misread some of its values.
        unseen: Cells whose look may hide what they hold, by themselves or by a condition.
        looks: Those looks, by their places.
        conditions: Conditional formats that matter for it, the first one first.
        rich: Cells with runs of text of their own colors and sizes.
        paid: Cells with a currency, where the workbook has several.
        currencies: Their codes.
        plain: The values, None where they are not plain.
    """

    features: Features = Features()
    merged: list[Area] = []
    batches: list[tuple[int, int, bytes]] = []
    formula_columns: dict[int, int] = {}
    any_formula_columns: int = 0
    hidden_rows: list[tuple[int, int]] = []
    are_values_odd: bool = False
    unseen: list[UnseenRun] = []
    looks: dict[int, CellLook] = {}
    conditions: list[ConditionRule] = []
    rich: SheetRuns = SheetRuns()
    paid: list[UnseenRun] = []
    currencies: tuple[str, ...] = ()
    plain: PlainCells | None = None


def scan_sheet(package: Package, sheet: SheetEntry, shared: SharedFacts) -> Scan:
    """Scan a sheet's XML and bound its extent.

    Args:
        package: The workbook.
        sheet: The sheet.
        shared: What the sheets of the workbook share.

    Raises:
        FileReadFailed: Its used range is too large to be read, or a part is damaged.
    """
    if not sheet.part:
        return Scan()
    try:
        scan = _scanned(package, sheet, shared)
    except UnusualXmlError:
        scan = _scanned(package, sheet, shared, parsed=True)
    # Elsewhere an address past the last column is the caller's mistake; here it is the file's.
    except ValidationFailed as fault:
        raise FileReadFailed(f"{package.name} is damaged: {fault.message}") from fault
    scan.features = add_related(scan.features, package, sheet, shared.looks.styled_tables)
    if sheet.kind == "chartsheet" and not scan.features.chart_count:
        scan.features = msgspec.structs.replace(scan.features, chart_count=1)
    return scan


def _scanned(
    package: Package, sheet: SheetEntry, shared: SharedFacts, *, parsed: bool = False
) -> Scan:
    """Pass over the part; where its cells cannot be searched, they are parsed after it."""
    scan, bound, looks = Scan(), Bound(), shared.looks
    unseen, rich = UnseenCells(looks.hiding()), RichCells(shared.texts, looks)
    formats, scan.currencies = format_currencies(looks)
    plain = PlainCells(shared.plain, package.entry(sheet.part).file_size)
    takers = _Takers(bound, unseen, rich, UnseenCells(formats), plain)
    rows = _rows(scan, looks, takers, pieces(package, sheet.part))
    if parsed:
        # Consumed for the extent and for what stands around the cells, which are parsed below.
        collections.deque(rows, 0)
        for batch in batches_of_part(package, sheet.part):
            _add_piece(scan, batch)
    else:
        for batch in batches_of_rows(rows):
            _add_piece(scan, batch)
    # Whatever its kind is said to be: a library goes by other words.
    check_extent(package, sheet, bound, overlapping(package, sheet.part))
    scan.rich, scan.paid = rich.found(), takers.paid.runs()
    scan.plain = plain if plain.is_plain and not scan.are_values_odd else None
    _add_unseen(scan, package, sheet, looks, unseen.runs())
    scan.looks |= {cell.look: looks.looks[cell.look] for cell in scan.rich.cells if cell.look >= 0}
    return scan


class _Takers(msgspec.Struct, frozen=True):
    """Those who look at the rows of a sheet as they come."""

    bound: Bound
    unseen: UnseenCells
    rich: RichCells
    paid: UnseenCells
    plain: PlainCells


def _rows(
    scan: Scan, looks: WorkbookLooks, takers: _Takers, found: Iterable[XmlPiece]
) -> Iterator[XmlPiece]:
    """Take what is around the cells, and hand the rows on."""
    for piece in found:
        match piece.kind:
            case "head":
                scan.features = add_head(scan.features, piece.data)
            case "tail":
                scan.features = add_tail(scan.features, piece.data)
                scan.merged = merged_areas(piece.data)
                scan.conditions = read_conditions(piece.data, looks)
            case "rows":
                is_plain = takers.plain.take(piece)
                if is_plain:
                    # What the next two would search for has been found out.
                    takers.bound.widen(*takers.plain.reach)
                else:
                    takers.bound.take(piece.data)
                    is_odd = scan.are_values_odd or are_misread(piece.data, looks.moments)
                    scan.are_values_odd = is_odd
                takers.unseen.take(piece.data, is_plain=is_plain)
                takers.rich.take(piece)
                takers.paid.take(piece.data, is_plain=is_plain)
                if b"hidden=" in piece.data or _LOW.search(piece.data):
                    _add_hidden(scan, piece.data)
                yield piece
            case _:
                assert_never(piece.kind)


def _add_unseen(
    scan: Scan, package: Package, sheet: SheetEntry, looks: WorkbookLooks, runs: list[UnseenRun]
) -> None:
    """Add the cells that may be unseen: those whose look hides, and those that a condition may.

    Conditions follow the cells, so that cells that look otherwise than most take another pass; few
    sheets have conditions that may hide anything.
    """
    scan.conditions = marked_hiding(scan.conditions, looks)
    if any(rule.is_hiding for rule in scan.conditions):
        styles = unlike_usual(scan.conditions, looks)
        every = UnseenCells(styles, within_all(scan.conditions))
        for piece in pieces(package, sheet.part) if styles else ():
            if piece.kind == "rows":
                every.take(piece.data)
        runs = [*runs, *every.runs()]
    elif not (runs or scan.rich.cells):
        scan.conditions = []
    scan.unseen = runs
    scan.looks = {run.look: looks.looks[run.look] for run in runs if run.look >= 0}


def _add_hidden(scan: Scan, data: bytes) -> None:
    for row in _ROW.findall(data):
        number = _NUMBER.search(row)
        if number is None or not (_HIDDEN.search(row) or _LOW.search(row)):
            continue
        place = int(number[1])
        ranges = scan.hidden_rows
        if ranges and ranges[-1][1] == place - 1:
            ranges[-1] = (ranges[-1][0], place)
        else:
            ranges.append((place, place))


def _add_piece(scan: Scan, batch: FormulaBatch) -> None:
    """Pack some formulas and errors, and note where they are."""
    formulas = errors = 0
    formula_columns = scan.formula_columns
    for cell in batch.cells:
        bit = 1 << (cell.column - 1)
        formula_columns[cell.row] = formula_columns.get(cell.row, 0) | bit
        scan.any_formula_columns |= bit
        formulas += cell.text is not None
        errors += cell.error != ""
    rows = [cell.row for cell in batch.cells]
    scan.batches.append((min(rows), max(rows), msgspec.msgpack.encode(batch)))
    scan.features = msgspec.structs.replace(
        scan.features,
        formula_count=scan.features.formula_count + formulas,
        error_count=scan.features.error_count + errors,
    )


_BLOCK_CELLS = 5000
"""Cells of a block: what is unpacked at least to read one row."""

_MAX_ROWS = 500


class PackedBlock(msgspec.Struct, frozen=True, array_like=True):
    """A section that is about some rows."""

    top: int
    bottom: int
    section: FileSection


class PackedSheet(msgspec.Struct, frozen=True, array_like=True):
    """Record of a sheet in its cache file.

    Args:
        area: The used range: where values, formulas and errors are.
        left: The column with which the blocks begin.
        blocks: Values, from top to bottom; rows without any are in none.
        batches: Formulas and errors, in the order of the file.
        islands: Their areas, from top to bottom.
        hidden_rows: Ranges of row numbers.
        merged: Merged ranges from top to bottom.
        features: What else there is.
        unseen: Cells whose look may hide what they hold.
        looks: Those looks, conditional formats that matter for them, and texts in runs.
        paid: Cells with a currency, where the workbook has several.
        currencies: Their codes.
    """

    area: Area | None
    left: int
    blocks: tuple[PackedBlock, ...]
    batches: tuple[PackedBlock, ...]
    islands: FileSection
    hidden_rows: FileSection
    merged: FileSection
    features: Features
    unseen: FileSection
    looks: FileSection
    paid: FileSection
    currencies: tuple[str, ...]


def build(
    package: Package, sheet: SheetEntry, shared: SharedFacts, opened: Callable[[], BookValues]
) -> tuple[SectionFile, PackedSheet]:
    """Build the packed sheet.

    Args:
        package: The workbook.
        sheet: The sheet.
        shared: What the sheets of the workbook share.
        opened: Opens the workbook for values that are not plain.

    Raises:
        FileReadFailed: It is too large, or damaged.
    """
    # First, as it bounds the extent: of a 5 KB file with two far cells calamine aborts the process.
    scan = scan_sheet(package, sheet, shared)
    sections, cells = SectionFile(), _values(scan, sheet, opened)
    blocks: list[PackedBlock] = []
    content = list(joined(_all_runs(package.name, scan, cells, sections, blocks)))
    index = PackedSheet(
        area=_around(content),
        left=cells.area.left if cells else 1,
        blocks=tuple(blocks),
        batches=tuple(PackedBlock(top, end, sections.add(data)) for top, end, data in scan.batches),
        islands=sections.add(
            msgspec.msgpack.encode([msgspec.structs.astuple(a) for a in find_areas(content)])
        ),
        hidden_rows=sections.add(msgspec.msgpack.encode(scan.hidden_rows)),
        merged=sections.add(
            msgspec.msgpack.encode([msgspec.structs.astuple(area) for area in scan.merged])
        ),
        features=scan.features,
        unseen=sections.add(msgspec.msgpack.encode(scan.unseen)),
        looks=sections.add(
            msgspec.msgpack.encode(SheetLooks(scan.looks, scan.conditions, scan.rich))
        ),
        paid=sections.add(msgspec.msgpack.encode(scan.paid)),
        currencies=scan.currencies,
    )
    sections.index = msgspec.msgpack.encode(index)
    return sections, index


def _values(scan: Scan, sheet: SheetEntry, opened: Callable[[], BookValues]) -> Cells | None:
    """Return the values of a sheet that was scanned, None if it has none."""
    if scan.plain is not None:
        return scan.plain.cells()
    return opened().cells(sheet.name, is_odd=scan.are_values_odd) if sheet.part else None


def _all_runs(
    name: str, scan: Scan, cells: Cells | None, sections: SectionFile, blocks: list[PackedBlock]
) -> Iterator[RowRun]:
    """Yield the runs of all rows, and pack the values on the way."""
    if cells is None:
        yield from _formula_runs(scan, 0, 1 << 30)
        return
    # The rectangle of values leaves out cells whose formulas have no results.
    yield from _formula_runs(scan, 0, cells.area.top - 1)
    merged = MergedRows(name, scan.merged, cells.area)
    area = cells.area
    height = max(1, min(_MAX_ROWS, _BLOCK_CELLS // (area.right - area.left + 1)))
    top = area.top
    while rows := list(islice(cells.rows, height)):
        bottom = top + len(rows) - 1
        if all(row.count(BLANK) == len(row) for row in rows):
            formulas = scan.formula_columns
            near = (row for row in range(top, bottom + 1) if row in formulas)
            yield from (RowRun(row, row, formulas[row]) for row in near)
            top = bottom + 1
            continue
        merged.empty(rows, top)
        packed, filled = pack(rows)
        if any(flags is None or 1 in flags for flags in filled):
            blocks.append(PackedBlock(top, bottom, sections.add(packed)))
        yield from _runs(top, bottom, area.left, filled, scan)
        top = bottom + 1
    yield from _formula_runs(scan, area.bottom + 1, 1 << 30)


def _formula_runs(scan: Scan, first: int, last: int) -> Iterator[RowRun]:
    """Yield the rows between two that have formulas or errors."""
    for row in sorted(row for row in scan.formula_columns if first <= row <= last):
        yield RowRun(row, row, scan.formula_columns[row])


def _runs(
    top: int, bottom: int, left: int, filled: list[bytes | None], scan: Scan
) -> Iterator[RowRun]:
    """Yield the runs of a block: filled cells, and those that have formulas or errors."""
    whole = 0
    partial: list[tuple[int, bytes]] = []
    for place, flags in enumerate(filled, left - 1):
        if flags is None:
            whole |= 1 << place
        else:
            partial.append((1 << place, flags))
    # If every column that holds anything is full, the whole block is one run.
    if not partial and not scan.any_formula_columns & ~whole:
        yield RowRun(top, bottom, whole)
        return
    rows = zip(*(flags for _, flags in partial), strict=True) if partial else None
    # Few patterns recur over many rows, so the sum is worked out once for each.
    masks: dict[tuple[int, ...], int] = {}
    for row in range(top, bottom + 1):
        pattern = next(rows) if rows else ()
        mask = masks.get(pattern)
        if mask is None:
            bits = zip(partial, pattern, strict=True)
            mask = masks[pattern] = whole | sum(bit for (bit, _), flag in bits if flag)
        yield RowRun(row, row, mask | scan.formula_columns.get(row, 0))


def _around(runs: list[RowRun]) -> Area | None:
    if not runs:
        return None
    union = 0
    for run in runs:
        union |= run.mask
    # The lowest bit that is set is the first column, as bit 0 stands for column A.
    left = (union & -union).bit_length()
    return Area(runs[0].top, left, runs[-1].bottom, union.bit_length())
