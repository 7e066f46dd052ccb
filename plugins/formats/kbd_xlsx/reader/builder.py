"""Builder of a packed sheet: blocks of values, formulas and islands, in one pass.

The pass over a sheet's XML finds what it holds beside values, and how far its cells reach. It is
the guard of what follows: a library that makes a dense rectangle of a sheet is called after it, and
only if the rectangle is small enough.

That library is calamine, a row at a time; a parser stands in where it cannot read. It knows neither
formulas nor errors, both of which it shows as no value unless a result was stored, nor what is
hidden or merged. It can abort the process: only workers call it, and only after a sheet's extent
was bounded.
"""

import collections
import contextlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from itertools import islice
from typing import IO, assert_never
from zipfile import ZipFile

import msgspec
from lxml import etree
from python_calamine import CalamineError, CalamineWorkbook

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd.sheets.areas import Area
from kbd.sheets.islands import RowRun, find_areas, joined
from kbd_xlsx.reader.blocks import BLANK, Cells, Raw, pack
from kbd_xlsx.reader.cell_currencies import format_currencies
from kbd_xlsx.reader.cell_looks import CellLook, WorkbookLooks
from kbd_xlsx.reader.conditions import (
    ConditionRule,
    marked_hiding,
    read_conditions,
    unlike_usual,
    within_all,
)
from kbd_xlsx.reader.fallback_parser import ParsedBook, are_misread
from kbd_xlsx.reader.features import Features, add_head, add_related, add_tail, merged_areas
from kbd_xlsx.reader.formulas import FormulaBatch, UnusualXmlError, batches_of_part, batches_of_rows
from kbd_xlsx.reader.merged_rows import MergedRows
from kbd_xlsx.reader.parts import (
    UTF_16,
    Bound,
    XmlPiece,
    check_extent,
    overlapping,
    pieces,
)
from kbd_xlsx.reader.rich_text import RichCells, RichText, SheetRuns
from kbd_xlsx.reader.section_file import FileSection, SectionFile
from kbd_xlsx.reader.sheet_sight import SheetLooks
from kbd_xlsx.reader.unseen import UnseenCells, UnseenRun
from kbd_xlsx.workbook import SheetEntry

__all__ = ["BookValues", "PackedBlock", "PackedSheet", "Scan", "build", "open_values", "scan_sheet"]

_TEXTS = "xl/sharedStrings.xml"
_MAX_DIGITS = 20
_ALSO_UNPACKED = (_TEXTS, "xl/styles.xml")
"""Parts of a package that calamine unpacks into memory beside its sheets."""

_DECLARATION = re.compile(r"^<\?xml[^>]*\?>")


class BookValues:
    """A workbook opened for its values.

    Args:
        package: Where it is; it must stay open.
        book: The same, None if calamine cannot read it.
    """

    def __init__(self, package: Package, book: CalamineWorkbook | None) -> None:
        self._package = package
        self._book = book

    def cells(self, sheet: str, *, is_odd: bool = False) -> Cells | None:
        """Return a sheet's cells, None if it has none, as that of a chart.

        Args:
            sheet: Its title.
            is_odd: Whether calamine would misread values of it.

        Raises:
            FileReadFailed: The sheet is damaged, which may show only while the rows are taken.
        """
        if self._book is not None and not is_odd:
            try:
                return self._cells_by_calamine(self._book, sheet)
            except _CalamineFailedError:
                pass
        return self._parsed.cells(sheet)

    @cached_property
    def _parsed(self) -> ParsedBook:
        return ParsedBook(self._package)

    def _cells_by_calamine(self, book: CalamineWorkbook, sheet: str) -> Cells | None:
        if sheet not in book.sheet_names:
            return None
        with _calamine_errors():
            # Not openpyxl: 200,000 x 10 cells take it 36.4 s and 872 MB, calamine 1.6 s and 206 MB.
            found = book.get_sheet_by_name(sheet)
            start, end = found.start, found.end
            if start is None or end is None:
                return None
            area = Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
            # Blank rows above the rectangle are given too.
            rows = islice(found.iter_rows(), start[0], None)
            return Cells(area, self._rows(sheet, area, rows))

    def _rows(self, sheet: str, area: Area, rows: Iterator[list[Raw]]) -> Iterator[list[Raw]]:
        """Yield rows; from one on that calamine cannot give, those of the other reader."""
        done = 0
        try:
            with _calamine_errors():
                for row in rows:
                    yield row
                    done += 1
        except _CalamineFailedError as fault:
            # A duration that no calendar could hold, say.
            parsed = self._parsed.cells(sheet)
            if parsed is None or parsed.area != area:
                name = self._package.name
                raise FileReadFailed(f"{name} is damaged: its cells cannot be read") from fault
            yield from islice(parsed.rows, done, None)


@contextmanager
def open_values(source: Source, package: Package) -> Iterator[BookValues]:
    """Open a workbook whose sheets were looked through before; raises FileReadFailed."""
    # calamine unpacks to the end of a stream, past what the directory claims and the guard counted.
    package.prove(*_ALSO_UNPACKED)
    _check_text_count(package)
    with _readable(source, package) as file:
        try:
            with _calamine_errors():
                # By its bytes, not by its path, whose name means nothing.
                book = CalamineWorkbook.from_filelike(file)
        except _CalamineFailedError:
            book = None
        with book or nullcontext():
            yield BookValues(package, book)


MIN_TEXT_BYTES = 5
"""A shared text takes `<si/>` at least."""

MAX_STALE_COUNT = 1_000_000
"""What a table of texts may claim however few it has, as programs do that do not count again."""


def _check_text_count(package: Package) -> None:
    """Check how many shared texts are told: calamine takes the memory for them before it reads one.

    Raises:
        FileReadFailed: They are more than the part can hold.
    """
    if _TEXTS not in package:
        return
    size = package.entry(_TEXTS).file_size
    told = "0"
    with package.open(_TEXTS) as file, contextlib.suppress(etree.LxmlError):
        for _, root in etree.iterparse(file, events=("start",), resolve_entities=False):
            told = root.get("uniqueCount", "0").strip()
            break
    count = int(told) if told.isdecimal() and len(told) < _MAX_DIGITS else 0
    if count > max(MAX_STALE_COUNT, size // MIN_TEXT_BYTES) or len(told) >= _MAX_DIGITS:
        raise FileReadFailed(
            f"{package.name} is damaged: it tells of {told[:_MAX_DIGITS]} shared texts, more than "
            "it can hold"
        )


def _readable(source: Source, package: Package) -> IO[bytes]:
    """Open the file, or a copy whose parts are all UTF-8: of others calamine finds no values."""
    names = [info.filename for info in package.entries if info.filename.endswith(".xml")]
    others = set(filter(partial(_is_utf_16, package), names))
    if not others:
        return source.path.open("rb")
    copy = io.BytesIO()
    with ZipFile(copy, "w") as archive:
        for info in package.entries:
            data = package.read(info.filename)
            if info.filename in others:
                data = _DECLARATION.sub("", data.decode("utf-16", "replace")).encode()
            archive.writestr(info.filename, data)
    copy.seek(0)
    return copy


def _is_utf_16(package: Package, part: str) -> bool:
    with package.open(part) as file:
        return file.read(2) in UTF_16


class _CalamineFailedError(Exception):
    """Calamine cannot read it, which need not mean that it is damaged."""


@contextmanager
def _calamine_errors() -> Iterator[None]:
    """Turn what calamine raises, panics included, into _CalamineFailedError."""
    try:
        yield
    except (CalamineError, OSError, ValueError, OverflowError) as error:
        raise _CalamineFailedError from error
    except BaseException as error:
        # A panic of the Rust code derives from BaseException; nothing else here may be swallowed.
        if type(error).__name__ == "PanicException":
            raise _CalamineFailedError from error
        raise


_ROW = re.compile(rb"<(?:[\w.-]+:)?row\s[^>]*>")
_HIDDEN = re.compile(rb"\shidden=[\"'](?:1|true)[\"']")
_LOW = re.compile(rb"ht=(?<=\sht=)[\"']0*(?:[01]?(?:\.\d*)?|2(?:\.0*)?)[\"']")
"""A row of two points and less: of its letters nothing is seen."""

_NUMBER = re.compile(rb"\sr=[\"'](\d{1,7})[\"']")


class Scan(msgspec.Struct):
    """Findings of the pass over a sheet's XML, beside its values.

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


_NO_LOOKS = WorkbookLooks()


def scan_sheet(
    package: Package,
    sheet: SheetEntry,
    looks: WorkbookLooks = _NO_LOOKS,
    texts: Mapping[int, RichText] | None = None,
) -> Scan:
    """Scan a sheet's XML and bound its extent.

    Args:
        package: The workbook.
        sheet: The sheet.
        looks: The looks of the workbook.
        texts: Its shared texts in runs, as `find_rich_texts` found them.

    Raises:
        FileReadFailed: Its used range is too large to be read, or a part is damaged.
    """
    if not sheet.part:
        return Scan()
    try:
        scan = _scanned(package, sheet, looks, texts or {})
    except UnusualXmlError:
        scan = _scanned(package, sheet, looks, texts or {}, parsed=True)
    # Elsewhere an address past the last column is the caller's mistake; here it is the file's.
    except ValidationFailed as fault:
        raise FileReadFailed(f"{package.name} is damaged: {fault.message}") from fault
    scan.features = add_related(scan.features, package, sheet, looks.styled_tables)
    if sheet.kind == "chartsheet" and not scan.features.chart_count:
        scan.features = msgspec.structs.replace(scan.features, chart_count=1)
    return scan


def _scanned(
    package: Package,
    sheet: SheetEntry,
    looks: WorkbookLooks,
    texts: Mapping[int, RichText],
    *,
    parsed: bool = False,
) -> Scan:
    """Pass over the part; where its cells cannot be searched, they are parsed after it."""
    scan, bound = Scan(), Bound()
    unseen, rich = UnseenCells(looks.hiding()), RichCells(texts, looks)
    formats, scan.currencies = format_currencies(looks)
    takers = _Takers(bound, unseen, rich, UnseenCells(formats))
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
    _add_unseen(scan, package, sheet, looks, unseen.runs())
    scan.looks |= {cell.look: looks.looks[cell.look] for cell in scan.rich.cells if cell.look >= 0}
    return scan


class _Takers(msgspec.Struct, frozen=True):
    """Those who look at the rows of a sheet as they come."""

    bound: Bound
    unseen: UnseenCells
    rich: RichCells
    paid: UnseenCells


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
                takers.bound.take(piece.data)
                takers.unseen.take(piece.data)
                takers.rich.take(piece)
                takers.paid.take(piece.data)
                scan.are_values_odd = scan.are_values_odd or are_misread(piece.data, looks.moments)
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
    package: Package,
    book: BookValues,
    sheet: SheetEntry,
    looks: WorkbookLooks = _NO_LOOKS,
    texts: Mapping[int, RichText] | None = None,
) -> tuple[SectionFile, PackedSheet]:
    """Build the packed sheet.

    Args:
        package: The workbook.
        book: Its values.
        sheet: The sheet.
        looks: The looks of the workbook.
        texts: Its shared texts in runs, as `find_rich_texts` found them.

    Raises:
        FileReadFailed: It is too large, or damaged.
    """
    # First, as it bounds the extent: of a 5 KB file with two far cells calamine aborts the process.
    scan = scan_sheet(package, sheet, looks, texts)
    sections = SectionFile()
    cells = book.cells(sheet.name, is_odd=scan.are_values_odd) if sheet.part else None
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
