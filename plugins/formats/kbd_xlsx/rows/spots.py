"""Where on a sheet rows go, and what is emptied for them.

The names that head a sheet: its first row with values, without reading the rest.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from typing import assert_never

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Column, Placement
from kbd.opc.package import Package, reading_errors
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.table import TablePart
from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area, parse_cell
from kbd_xlsx.rows.neighbours import EVERYWHERE

__all__ = ["Spot", "first_row", "prepare_spot"]


def first_row(package: Package, sheet: str, strings: str) -> list[str]:
    """Return the values of the first row that has any, as text, blank cells left out.

    Args:
        package: The workbook.
        sheet: The sheet's part.
        strings: The part of shared texts, "" if there is none.

    Raises:
        FileReadFailed: A part is damaged.
    """
    for row in _elements(package, sheet, "row"):
        found = [value for cell in row.iterchildren("{*}c") if (value := _value(cell))]
        if found:
            shared = {int(text) for kind, text in found if kind == "s" and text.isdigit()}
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
            file, events=("end",), tag=f"{{*}}{name}", resolve_entities=False, no_network=True
        )
        for _, element in parsed:
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


_SHOWN_NAMES = 20
_REPEATED = "The sheet has a header already: it was not written again."


class Spot(msgspec.Struct, frozen=True):
    """Where rows begin.

    Args:
        top: The first row.
        left: The first column.
        has_header: Whether the columns' names come first.
        emptied: What was emptied for them.
        joined: The table below whose rows they go.
        warnings: What the reader must know of the place.
    """

    top: int
    left: int
    has_header: bool
    emptied: Area | None = None
    joined: TablePart | None = None
    warnings: tuple[str, ...] = ()


def prepare_spot(
    book: BookEdit, package: Package | None, placement: Placement, columns: Sequence[Column]
) -> Spot:
    """Say where the rows go, and empty what they replace.

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
            return Spot(1, 1, placement.include_header, EVERYWHERE)
        case "append_rows":
            return _below(book, package, placement, [column.name for column in columns])
        case "write_range":
            top, left = parse_cell(placement.start_cell)
            emptied = None
            if placement.clear_target_range:
                emptied = Area(top, left, MAX_ROW, MAX_COLUMN)
                sheet.clear(emptied)
            return Spot(top, left, placement.include_header, emptied)
        case other:
            assert_never(other)


def _below(
    book: BookEdit, package: Package | None, placement: Placement, names: Sequence[str]
) -> Spot:
    """Return the spot below what a sheet holds."""
    sheet = book.sheet(placement.sheet)
    used = sheet.used()
    if used is None or package is None:
        return Spot(1, 1, placement.include_header)
    # A merged area shows one value over all of its rows.
    merged = (merge.bottom for merge in sheet.merges if merge.top <= used.bottom)
    top = max(used.bottom, max(merged, default=0)) + 1
    table = _last_table(book.tables(placement.sheet), used)
    if table is None:
        header = first_row(package, book.part(placement.sheet), _strings(package, book.main))
        return Spot(top, used.left, has_header=False, warnings=(_header_note(header, names),))
    if table.totals_rows:
        raise ValidationFailed(
            f"Table {table.name} ({table.area}) ends with a row of totals; rows below it would not "
            "be counted in. Write them elsewhere, or into another sheet."
        )
    if _folded(table.columns) == _folded(names):
        return Spot(top, table.area.left, has_header=False, joined=table, warnings=(_REPEATED,))
    note = (
        f"The rows' columns ({_listed(names)}) are not those of table {table.name} "
        f"({_listed(table.columns)}); they were appended below it by position and "
        "are no part of it."
    )
    return Spot(top, used.left, has_header=False, warnings=(note,))


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
