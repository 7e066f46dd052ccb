"""Operations on whole sheets: widths, heights, panes, merged cells, filters, and deletion.

A sheet is deleted where nothing that stays refers to it.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

from kbd.errors import ValidationFailed
from kbd.office.formatting import number
from kbd.opc.rewriter import Rewriting
from kbd.sheets.areas import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    column_letters,
    column_number,
    overlaps,
    parse_area,
)
from kbd_xlsx.calculation import mentions
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.pivot_sources import pivot_sources
from kbd_xlsx.operations import (
    AutoFilter,
    DeleteSheet,
    FreezePanes,
    MergeCells,
    SetColumnWidths,
    SetRowHeights,
    UnmergeCells,
)

__all__ = [
    "delete_sheet",
    "filter_rows",
    "freeze_panes",
    "merge_cells",
    "set_column_widths",
    "set_row_heights",
    "unmerge_cells",
]

MAX_WIDTH = 255
"""Characters (ECMA-376, 18.3.1.13)."""

MAX_HEIGHT = 409
"""Points."""

_WIDTH, _HEIGHT = number(0, MAX_WIDTH), number(0, MAX_HEIGHT, "pt")
_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_FILTER_NAME = "_xlnm._FilterDatabase"


def set_column_widths(book: BookEdit, operation: SetColumnWidths) -> str:
    """Set widths and say which; what cannot be one is skipped with a warning."""
    sheet = book.sheet(operation.sheet)
    done = []
    for entry in operation.columns:
        column = _column(entry.column)
        width = _WIDTH.parse(entry.width)
        if column is None or width is None:
            book.notices.warn(f"width of column {entry.column!r} cannot be {entry.width!r}")
            continue
        sheet.set_width(column, float(width))
        done.append(column_letters(column))
    return f"{sheet.name}: widths of {', '.join(done) or 'no column'}"


def set_row_heights(book: BookEdit, operation: SetRowHeights) -> str:
    """Set heights and say which; what cannot be one is skipped with a warning."""
    sheet = book.sheet(operation.sheet)
    done = []
    for entry in operation.rows:
        valid = isinstance(entry.row, int) and not isinstance(entry.row, bool)
        height = _HEIGHT.parse(entry.height)
        if not valid or not 1 <= entry.row <= MAX_ROW or height is None:
            book.notices.warn(f"height of row {entry.row!r} cannot be {entry.height!r}")
            continue
        sheet.set_height(entry.row, float(height))
        done.append(str(entry.row))
    return f"{sheet.name}: heights of {', '.join(done) or 'no row'}"


def freeze_panes(book: BookEdit, operation: FreezePanes) -> str:
    """Freeze rows and columns, or none, and say which."""
    sheet = book.sheet(operation.sheet)
    sheet.freeze(operation.row, operation.column)
    if not operation.row and not operation.column:
        return f"{sheet.name}: nothing frozen"
    corner = f"{column_letters(operation.column + 1)}{operation.row + 1}"
    return f"{sheet.name}: frozen above and left of {corner}"


def merge_cells(book: BookEdit, operation: MergeCells) -> str:
    """Merge a range; raises ValidationFailed where that would lose or break something."""
    sheet = book.sheet(operation.sheet)
    area = parse_area(operation.range, _WHOLE)
    if (area.top, area.left) == (area.bottom, area.right):
        raise ValidationFailed(f"{area} is one cell; there is nothing to merge")
    _check_no_table(book, sheet.name, area, "be merged")
    sheet.merge(area)
    return f"{sheet.name}!{area}: merged"


def unmerge_cells(book: BookEdit, operation: UnmergeCells) -> str:
    """Take merged cells apart; raises ValidationFailed if there are none."""
    sheet = book.sheet(operation.sheet)
    area = parse_area(operation.range, _WHOLE)
    sheet.unmerge(area)
    return f"{sheet.name}!{area}: no longer merged"


def filter_rows(book: BookEdit, operation: AutoFilter) -> str:
    """Give a range filter buttons; raises ValidationFailed where a table has its own."""
    sheet = book.sheet(operation.sheet)
    area = parse_area(operation.range, _WHOLE)
    _check_no_table(book, sheet.name, area, "have a filter of its own")
    if sheet.auto_filter(area):
        book.notices.warn(
            f"{sheet.name} had a filter with criteria; they are gone, rows that they hid stay "
            "hidden."
        )
    # Excel keeps the range of a filter in this hidden name as well.
    quoted = sheet.name.replace("'", "''")
    corners = (
        f"${column_letters(column)}${row}"
        for row, column in ((area.top, area.left), (area.bottom, area.right))
    )
    tab = book.titles.index(sheet.name)
    book.book.set_name(_FILTER_NAME, tab, f"'{quoted}'!{':'.join(corners)}")
    return f"{sheet.name}!{area}: filter"


def _check_no_table(book: BookEdit, sheet: str, area: Area, what: str) -> None:
    for table in book.tables(sheet):
        if overlaps(table.area, area):
            raise ValidationFailed(
                f"{area} is part of table {table.name} ({table.area}); cells of it cannot {what}"
            )


def _column(value: Any) -> int | None:
    """Return a column's number from its letters or its number, None if there is no such one."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COLUMN:
        return value
    if not isinstance(value, str) or not 1 <= len(value) <= 3 or not value.isascii():
        return None
    try:
        return column_number(value) if value.isalpha() else None
    except ValidationFailed:
        return None


MAX_LISTED = 5
_HYPERLINK = re.compile(rb"<(?:[\w.-]+:)?hyperlink\b[^>]*>")
_NO_CELLS = b"<worksheet/>"
# Parts in which a sheet's name is text or history, not a reference to its cells.
_WITHOUT_REFERENCES = re.compile(
    r"(?:^|/)(?:sharedStrings|comments\d*|app|core|custom)\.xml$|^docProps/"
)


def delete_sheet(book: BookEdit, operation: DeleteSheet) -> str:
    """Delete a sheet with the parts that only it needs, and say which.

    Raises:
        ValidationFailed: Something that stays refers to it, or no visible sheet would be left.
    """
    title = book.title(operation.sheet)
    # Formulas that this very call has set refer to sheets, too.
    book.flush()
    _check_remaining(book, title)
    _check_formulas(book, title)
    _check_pivots(book, title)
    # Looked for now, while the sheet still leads to them.
    owned = _parts_only_of(book, title)
    _check_parts(book, title, owned)
    if book.book.locks_structure:
        book.notices.warn("The workbook's structure is protected; a sheet was deleted anyway.")
    _tell_of_pivots(book, owned)
    tab = book.book.tabs[book.titles.index(title)]
    book.book.remove(book.titles.index(title))
    book.rewriting.unrelate(book.main, tab.relation_id)
    book.follow_tabs()
    for part in sorted(owned):
        book.rewriting.drop(part)
    # The chain may name cells of the deleted sheet.
    book.drop_calculation_chain()
    return f"{title}: deleted"


def _check_remaining(book: BookEdit, title: str) -> None:
    kinds = {relation.kind for relation in book.rewriting.relations(book.main)}
    if "vbaProject" in kinds:
        raise ValidationFailed(
            f"{title} stays: the workbook has macros, which know its sheets; delete it in a "
            "spreadsheet program"
        )
    if not any(tab.title != title and not tab.is_hidden for tab in book.book.tabs):
        raise ValidationFailed(f"{title} stays: a workbook needs a sheet that is not hidden")


def _check_formulas(book: BookEdit, title: str) -> None:
    """Refuse while cells or names of the rest refer to the sheet or its tables."""
    parts = {other: book.rewriting.read(part) for other, part in book.worksheets()}
    owned_tables = [table.name for table in book.tables(title)]
    if title in parts:
        # Its own formulas do not count, but its place matters to references like Sheet1:Sheet3!A1.
        parts[title] = _NO_CELLS
    places = [
        place
        for place in mentions(book.formulas(parts), title)
        if not place.startswith((f"{title}!", f"'{title}'!"))
    ]
    for name in owned_tables:
        mark = _table_mark(name)
        places += [f"{other} (table {name})" for other, data in parts.items() if mark.search(data)]
    if places:
        more = f" and {len(places) - MAX_LISTED} more" if len(places) > MAX_LISTED else ""
        raise ValidationFailed(
            f"{title} stays: it is referred to by {', '.join(places[:MAX_LISTED])}{more}"
        )


def _table_mark(name: str) -> re.Pattern[bytes]:
    """Return what finds a table before a bracket, but not at the end of a longer name."""
    end = re.escape(name.encode()) + rb"\["
    # Begins with the bracket, as that is rare: the other way takes 60 times as long.
    return re.compile(rb"\[(?<=%b)(?<![\w.\\?\x80-\xff]%b)" % (end, end), re.IGNORECASE)


def _check_pivots(book: BookEdit, title: str) -> None:
    """Refuse while pivot tables show the sheet's tables, which they name without the sheet."""
    named = {each.get("name", "").casefold() for each in pivot_sources(book.rewriting, book.main)}
    for table in book.tables(title):
        if table.name.casefold() in named:
            raise ValidationFailed(f"{title} stays: a pivot table shows its table {table.name}")


def _tell_of_pivots(book: BookEdit, owned: set[str]) -> None:
    """Warn of the data that a pivot table of the deleted sheet leaves in the workbook."""
    for part in sorted(owned):
        for relation in book.rewriting.relations(part):
            if relation.kind == "pivotCacheDefinition" and relation.target not in owned:
                book.notices.warn(
                    f"The data that a deleted pivot table kept stays in {relation.target}."
                )


def _check_parts(book: BookEdit, title: str, owned: set[str]) -> None:
    """Refuse while charts, pivot tables, rules or slicers of the rest refer to the sheet."""
    number = next(tab.sheet_id for tab in book.book.tabs if tab.title == title)
    marks = _marks(title)
    linked = False
    for part in book.rewriting.parts():
        if part in owned or not part.endswith(".xml") or _WITHOUT_REFERENCES.search(part):
            continue
        # Its names were checked with the formulas, and its list of sheets always holds the title.
        if part == book.main:
            continue
        data = book.rewriting.read(part)
        is_tied = "slicerCache" in part or "timelineCache" in part
        if is_tied and f'tabId="{number}"'.encode() in data:
            raise ValidationFailed(f"{title} stays: a slicer or timeline is tied to it")
        if not any(mark in data for mark in marks):
            continue
        # A dangling link does no harm: it is reported, and no reason to refuse.
        if any(mark in _HYPERLINK.sub(b"", data) for mark in marks):
            raise ValidationFailed(f"{title} stays: {part.rpartition('/')[2]} refers to it")
        linked = True
    if linked:
        book.notices.warn(f"Links lead to {title}, which is gone.")


def _marks(title: str) -> list[bytes]:
    """Return how parts name a sheet when they refer to its cells."""
    text = escape(title)
    quoted = escape(title.replace("'", "''"))
    spelt = (f"'{quoted}'!", f"&apos;{quoted}&apos;!", f"{text}!", f'sheet="{text}"')
    return [mark.encode() for mark in spelt]


def _parts_only_of(book: BookEdit, title: str) -> set[str]:
    """Return the parts that nothing would lead to without the sheet."""
    part = book.part(title)
    if not part:
        return set()
    rewriting = book.rewriting
    reachable = _reached(rewriting, "", part)
    own = {part, *_reached(rewriting, part, "")} - reachable
    return {name for name in own if name in rewriting}


def _reached(rewriting: Rewriting, start: str, without: str) -> set[str]:
    """Return the parts that relations lead to, not through one of them."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for target in _targets(rewriting, waiting.pop()):
            if target not in found and target != without:
                found.add(target)
                waiting.append(target)
    return found


def _targets(rewriting: Rewriting, part: str) -> Iterator[str]:
    for relation in rewriting.relations(part):
        if not relation.external and relation.target in rewriting:
            yield relation.target
