"""Placement of a table's rows on a sheet: the spot, what stands around it, the widths.

The spot is found by the names that head a sheet: its first row with values, without reading the
rest. Tables around it grow or shrink along. Programs repair a file whose table has another header
than its cells, or refuse it; so a write that would leave one so is refused.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from types import MappingProxyType
from typing import Any, assert_never
from unicodedata import east_asian_width

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Column, Placement
from kbd.opc.guard import MAX_PART_BYTES
from kbd.opc.package import Package, reading_errors
from kbd.sheets.areas import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    cell_name,
    overlaps,
    parse_area,
    parse_cell,
    whole_number,
)
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.book import TablePart
from kbd_xlsx.parts.cells import BLANK, CellEdit, Content, cell_xml
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.rows.cells import RowFormatting, RowText, TypedRows
from kbd_xlsx.rows.obstacles import check_no_total, last_row_texts

__all__ = [
    "EVERYWHERE",
    "AppendedRows",
    "ColumnWidths",
    "RowPlacer",
    "TargetCells",
    "first_row",
    "fit_tables",
    "prepare_spot",
    "shown_width",
]

EVERYWHERE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_SHOWN_NAMES = 20


class AppendedRows(msgspec.Struct, frozen=True):
    """Area into which rows were written.

    Args:
        sheet: The sheet's title.
        names: The names of their columns.
        area: Their cells, those of a header among them; None if there are none.
        has_header: Whether the first row of the area is the names.
        emptied: What was emptied before.
        joined: The table below whose rows they are appended.
    """

    sheet: str
    names: Sequence[str]
    area: Area | None
    has_header: bool
    emptied: Area | None = None
    joined: TablePart | None = None


def fit_tables(book: BookEdit, landing: AppendedRows) -> list[str]:
    """Fit the sheet's tables to rows that were put there; return how they changed.

    Raises:
        ValidationFailed: A table, a pivot table or a merged area is in the way.
    """
    touched = [area for area in (landing.area, landing.emptied) if area is not None]
    _check_merges(book, landing)
    for name, area in _pivots(book, landing.sheet):
        if any(overlaps(area, part) for part in touched):
            raise ValidationFailed(
                f"the pivot table {name} stands at {area} of {landing.sheet}, which is not "
                "written over: write elsewhere, or into another sheet"
            )
    notes = []
    tables = book.tables(landing.sheet)
    for table in tables:
        if table is not landing.joined and not any(overlaps(table.area, part) for part in touched):
            continue
        _check_table(table, landing, touched)
        before = table.area
        bottom = _new_bottom(table, landing)
        if bottom == before.bottom:
            continue
        table.resize(bottom)
        for other in tables:
            if other is not table and overlaps(other.area, table.area):
                raise ValidationFailed(_refusal(other, "table", "is in the way"))
        notes.append(f"Table {table.name} was {before} and is {table.area} now.")
    return notes


def _check_merges(book: BookEdit, landing: AppendedRows) -> None:
    area = landing.area
    if area is None:
        return
    for merge in book.sheet(landing.sheet).merges:
        # Its first cell holds what it shows, so that one may be written.
        if overlaps(merge, area) and (area.bottom, area.right) != (merge.top, merge.left):
            raise ValidationFailed(
                f"{landing.sheet}!{merge} is merged and in the way of the rows ({area}): unmerge "
                "it first, or write elsewhere"
            )


def _check_table(table: TablePart, landing: AppendedRows, touched: Sequence[Area]) -> None:
    """Check that a table keeps its header and its totals.

    Its columns are called as the cells of a new header are, if these differ in case only.
    """
    area = table.area
    if table.totals_rows:
        totals = Area(area.bottom, area.left, area.bottom, area.right)
        if any(overlaps(totals, part) for part in touched):
            raise ValidationFailed(_refusal(table, "row of totals", "would be overwritten"))
    if not table.header_rows:
        return
    for number, name in enumerate(table.columns):
        cell = Area(area.top, area.left + number, area.top, area.left + number)
        if not any(overlaps(cell, part) for part in touched):
            continue
        new = _new_name(cell, landing)
        if new is None or new.casefold() != name.casefold():
            raise ValidationFailed(_refusal(table, "header", "would change"))
        table.rename(number, new)


def _new_name(cell: Area, landing: AppendedRows) -> str | None:
    """Return the column name that was written into a cell, None if it was something else."""
    area = landing.area
    if area is None or not landing.has_header or not overlaps(cell, area) or cell.top != area.top:
        return None
    return landing.names[cell.left - area.left]


def _new_bottom(table: TablePart, landing: AppendedRows) -> int:
    """Return the last row of a table after rows were put into it."""
    old, area = table.area, landing.area
    if area is None or (area.left, area.right) != (old.left, old.right):
        return old.bottom
    begins_inside = old.top <= area.top <= old.bottom
    if table is not landing.joined and not begins_inside:
        return old.bottom
    # A table has a row below its header, if a blank one.
    bottom = max(area.bottom, old.top + table.header_rows)
    emptied = landing.emptied is not None
    # Where all below was emptied the table may shrink; else its rows there still hold values.
    return bottom if emptied else max(bottom, old.bottom)


def _refusal(table: TablePart, what: str, fate: str) -> str:
    names = ", ".join(" ".join(name.split()) for name in table.columns[:_SHOWN_NAMES])
    return (
        f"the {what} of table {table.name} ({table.area}) {fate}; write rows with its columns "
        f"({names}) from its first cell with their header, or write elsewhere: below the table, "
        "beside it, or into another sheet"
    )


def _pivots(book: BookEdit, sheet: str) -> Iterator[tuple[str, Area]]:
    """Yield the names and places of a sheet's pivot tables."""
    part = book.part(sheet)
    for relation in book.rewriting.relations(part) if part else ():
        if relation.kind == "pivotTable" and relation.target in book.rewriting:
            root = book.rewriting.root(relation.target)
            location = root.find("{*}location")
            if location is not None:
                yield root.get("name", ""), parse_area(location.get("ref", "A1"), EVERYWHERE)


def first_row(package: Package, sheet: str, strings: str, *, width: int = 1) -> list[str]:
    """Return the values of the first row that has any, as text, blank cells left out.

    Args:
        package: The workbook.
        sheet: The sheet's part.
        strings: The part of shared texts, "" if there is none.
        width: How many names are looked for: where these are several, a row with one value above
            them is a title.

    Raises:
        FileReadFailed: A part is damaged.
    """
    for row in _elements(package, sheet, "row"):
        found = [value for cell in row.iterchildren("{*}c") if (value := _value(cell))]
        if len(found) >= min(width, 2):
            shared = {whole_number(text) for kind, text in found if kind == "s"}
            texts = _shared(package, strings, shared) if shared and strings else {}
            return [texts.get(text, "") if kind == "s" else text for kind, text in found]
    return []


def _value(cell: etree._Element) -> tuple[str, str] | None:
    """Return the kind of a cell's value and its text, for "s" the number of a shared one."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find("{*}is")
        text = "" if inline is None else _text(inline)
    else:
        text = cell.findtext("{*}v") or ""
    return (kind, text) if text else None


def _shared(package: Package, part: str, wanted: Collection[int]) -> dict[str, str]:
    """Return some of the shared texts by their numbers."""
    texts = {}
    for number, element in enumerate(_elements(package, part, "si")):
        if number in wanted:
            texts[str(number)] = _text(element)
        # There may be very many shared texts; those after the last wanted one are not parsed.
        if number >= max(wanted):
            break
    return texts


def _text(element: etree._Element) -> str:
    """Return the text of an element that holds it whole or in runs."""
    # How it is read aloud (rPh) is not part of it.
    runs = [*element.iterfind("{*}t"), *element.iterfind("{*}r/{*}t")]
    return "".join(run.text or "" for run in runs)


def _elements(package: Package, part: str, name: str) -> Iterator[etree._Element]:
    """Yield elements of a name one by one; each is emptied after its turn."""
    with closing(package.open(part)) as file, reading_errors(package.name):
        parsed = etree.iterparse(
            file, events=("end",), tag=f"{{*}}{name}", resolve_entities=False, no_network=True,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for _, element in parsed:
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


_REPEATED = "The sheet has a header already: it was not written again."


class TargetCells(msgspec.Struct, frozen=True):
    """Target of rows: their first cell, and what was found and cleared there.

    Args:
        top: The first row.
        left: The first column.
        has_header: Whether the columns' names come first.
        emptied: What was emptied for them.
        joined: The table below whose rows they go.
        warnings: What the reader must know of the place.
        like: The row whose looks new cells have; 0 for those of their columns.
    """

    top: int
    left: int
    has_header: bool
    emptied: Area | None = None
    joined: TablePart | None = None
    warnings: tuple[str, ...] = ()
    like: int = 0


def prepare_spot(
    book: BookEdit, package: Package | None, placement: Placement, columns: Sequence[Column]
) -> TargetCells:
    """Find the target cells of the rows, and clear what they replace.

    Args:
        book: The workbook, which has the sheet.
        package: What it was before; None for a new one.
        placement: Where they are wanted.
        columns: Their columns.

    Raises:
        ValidationFailed: They cannot go there.
    """
    sheet = book.sheet(placement.sheet)
    match placement.mode:
        case "new_file" | "replace_sheet":
            sheet.clear_all()
            return TargetCells(1, 1, placement.include_header, EVERYWHERE)
        case "append_rows":
            return _below(book, package, placement, [column.name for column in columns])
        case "write_range":
            top, left = parse_cell(placement.start_cell)
            emptied = None
            if placement.clear_target_range:
                emptied = Area(top, left, MAX_ROW, MAX_COLUMN)
                sheet.clear(emptied)
            return TargetCells(top, left, placement.include_header, emptied)
        case other:
            assert_never(other)


def _below(
    book: BookEdit, package: Package | None, placement: Placement, names: Sequence[str]
) -> TargetCells:
    """Return the spot below what a sheet holds."""
    sheet = book.sheet(placement.sheet)
    used = sheet.used()
    if used is None or package is None:
        return TargetCells(1, 1, placement.include_header)
    # A merged area shows one value over all of its rows.
    merged = (merge.bottom for merge in sheet.merges if merge.top <= used.bottom)
    top = max(used.bottom, max(merged, default=0)) + 1
    table = _last_table(book.tables(placement.sheet), used)
    if table is None:
        part, strings = book.part(placement.sheet), _strings(package, book.main)
        note = _checked_end(book, package, placement.sheet, used, strings)
        header = first_row(package, part, strings, width=len(names))
        warnings = (_header_note(header, names), *((note,) if note else ()))
        # Not as names look, nor as what may be a total.
        like = used.bottom if used.bottom > used.top and not note else 0
        return TargetCells(top, used.left, has_header=False, warnings=warnings, like=like)
    if table.totals_rows:
        raise ValidationFailed(
            f"table {table.name} ({table.area}) ends with a row of totals, and rows below it would "
            "not be counted in; write them elsewhere, or into another sheet"
        )
    if _folded(table.columns) == _folded(names):
        last = table.area.bottom
        return TargetCells(
            top,
            table.area.left,
            has_header=False,
            joined=table,
            warnings=(_REPEATED,),
            like=last if last > table.area.top and last == top - 1 else 0,
        )
    note = (
        f"The rows' columns ({_listed(names)}) are not those of table {table.name} "
        f"({_listed(table.columns)}); they were appended below it by position and "
        "are no part of it."
    )
    return TargetCells(top, used.left, has_header=False, warnings=(note,))


def _checked_end(
    book: BookEdit, package: Package, sheet: str, used: Area, strings: str
) -> str | None:
    """Check that a sheet does not end with a total; return a note where it may do."""
    data, title = book.rewriting.read(book.part(sheet)), book.title(sheet)
    wanted = last_row_texts(data, title, used.bottom)
    texts = _shared(package, strings, wanted) if wanted and strings else {}
    return check_no_total(data, title, used, texts)


def _last_table(tables: Sequence[TablePart], used: Area) -> TablePart | None:
    """Return the table that a sheet's content ends with, None if it is none or several."""
    last = [table for table in tables if table.area.top <= used.bottom <= table.area.bottom]
    return last[0] if len(last) == 1 else None


def _header_note(header: Sequence[str], names: Sequence[str]) -> str:
    """Compare a sheet's first row with the columns that are appended."""
    if _folded(header) == _folded(names):
        return _REPEATED
    return (
        f"The rows' columns ({_listed(names)}) are not those of the sheet's header "
        f"({_listed(header)}); they were appended by position."
    )


def _folded(names: Sequence[str]) -> list[str]:
    return [name.casefold() for name in names]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(" ".join(name.split()) for name in names[:_SHOWN_NAMES])
    return shown if len(names) <= _SHOWN_NAMES else f"{shown} and {len(names) - _SHOWN_NAMES} more"


def _strings(package: Package, main: str) -> str:
    """Return the part of the texts that cells share, "" if there is none."""
    targets = (r.target for r in package.relations(main) if r.kind == "sharedStrings")
    return next((target for target in targets if target in package), "")


_ROWS = 200
_MIN_WIDTH, _MAX_WIDTH = 8, 60
_MARGIN = 2
_NO_FORMULAS: Mapping[int, str] = MappingProxyType({})


class ColumnWidths:
    """Measures what is shown in columns.

    Args:
        columns: The columns in order.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._widths = [shown_width(column.name) for column in columns]
        self._rows = 0

    def see(self, values: Sequence[Any]) -> None:
        """Take a row into account, if it is one of the first."""
        if self._rows < _ROWS:
            self._rows += 1
            # Only the first rows are measured: a million would cost time and change little.
            shown = (0 if value is None else shown_width(str(value)) for value in values)
            self._widths = [max(pair) for pair in zip(self._widths, shown, strict=True)]

    def set(self, sheet: SheetPart, left: int) -> None:
        """Set the widths of a sheet's columns from one on."""
        for column, width in enumerate(self._widths, left):
            sheet.set_width(column, float(min(max(width + _MARGIN, _MIN_WIDTH), _MAX_WIDTH)))


def shown_width(text: str) -> int:
    """Return how many characters wide a text is: East Asian wide ones take the place of two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


class RowPlacer:
    """Placer of a header and rows: as ready text where the sheet has no row, else cell by cell.

    Args:
        book: The workbook.
        sheet: The sheet.
        columns: The columns in order.
        typed: Types the values.
        row: The first row.
        left: The first column.
        like: The row whose looks new cells have; 0 for those of the columns alone.
        bases: The styles that new cells have, by column; None for those of `like`.
        chosen: Those of them whose number format somebody chose.
        amounts: Those of them that show amounts.

    Attributes:
        next_row: Where the next row goes.
    """

    def __init__(
        self,
        book: BookEdit,
        sheet: SheetPart,
        columns: Sequence[Column],
        typed: TypedRows,
        row: int,
        left: int,
        like: int = 0,
        bases: Sequence[int] | None = None,
        chosen: Collection[int] = (),
        amounts: Collection[int] = (),
    ) -> None:
        self.next_row = row
        self._sheet, self._columns, self._typed, self._left = sheet, columns, typed, left
        self._formatting = RowFormatting(book, chosen, amounts)
        # Of a row that is not there, so that they are the columns' own.
        row_of_looks = like or MAX_ROW + 1
        inherited = [sheet.style_at(row_of_looks, left + n) for n in range(len(columns))]
        self._bases = inherited if bases is None else bases
        self._text = RowText(sheet.prefix, columns, left, typed, self._formatting, self._bases)
        self._size = 0

    def header(self) -> None:
        """Put the names of the columns; raises ValidationFailed if no cell can hold one."""
        row = self._begun()
        if not self._sheet.has_row(row):
            self._put(row, self._text.header(row))
            return
        for number, column in enumerate(self._columns, self._left):
            content = self._typed.name(column.name, cell_name(row, number))
            base = self._sheet.style_at(row, number)
            self._sheet.set(row, number, self._formatting.name_edit(base, content))

    def row(self, values: Sequence[Any], formulas: Mapping[int, str] = _NO_FORMULAS) -> None:
        """Put a row of values; None empties a cell.

        Args:
            values: A value for each column.
            formulas: Formulas that come to the values of some columns, by their place.

        Raises:
            ValidationFailed: A cell cannot hold a value, or the sheet cannot hold the row.
        """
        row = self._begun()
        if not self._sheet.has_row(row):
            text = self._text
            cells = text.total(row, values, formulas) if formulas else text.row(row, values)
            self._put(row, cells)
            return
        pairs = zip(self._columns, values, strict=True)
        for number, (column, value) in enumerate(pairs, self._left):
            if value is None:
                self._sheet.set(row, number, CellEdit(BLANK))
                continue
            held = self._typed.held(column.type, value, cell_name(row, number))
            base = self._sheet.style_at(row, number)
            edit = self._formatting.edit(base, held)
            if (formula := formulas.get(number - self._left)) is not None:
                content = Content("formula", formula, held.content.show, held.content.text)
                edit = msgspec.structs.replace(edit, content=content)
            self._sheet.set(row, number, edit)

    def line(self, cells: Sequence[tuple[Content, int]]) -> None:
        """Put a row that has no cells yet: contents with their styles, from the first column on."""
        row = self._begun()
        prefix = self._sheet.prefix
        made = (
            cell_xml(prefix, cell_name(row, number), style, content)
            for number, (content, style) in enumerate(cells, self._left)
        )
        self._put(row, "".join(made))

    def _begun(self) -> int:
        """Return the next row, which the caller fills."""
        row = self.next_row
        if row > MAX_ROW:
            raise ValidationFailed(f"the rows do not fit: a sheet ends at row {MAX_ROW:,}")
        self.next_row += 1
        return row

    def _put(self, row: int, cells: str) -> None:
        if not cells:
            return
        # In bytes, which are more than the characters where these are not ASCII.
        self._size += len(cells) if cells.isascii() else len(cells.encode())
        if self._size > MAX_PART_BYTES:
            raise ValidationFailed(
                "the rows are too many to be read again from a workbook; write them as CSV"
            )
        self._sheet.put_row(row, cells)
