"""What stands on a sheet where rows go: tables that grow or shrink along, and what is in the way.

Programs repair a file whose table has another header than its cells, or refuse it; so a write that
would leave one so is refused.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kbd.errors import ValidationFailed
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.table import TablePart
from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area, overlaps, parse_area

__all__ = ["EVERYWHERE", "AppendPlace", "fit_tables"]

EVERYWHERE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_SHOWN_NAMES = 20


class AppendPlace(msgspec.Struct, frozen=True):
    """Where rows came to lie.

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


def fit_tables(book: BookEdit, landing: AppendPlace) -> list[str]:
    """Fit the sheet's tables to rows that were put there; return how they changed.

    Raises:
        ValidationFailed: A table, a pivot table or a merged area is in the way.
    """
    touched = [area for area in (landing.area, landing.emptied) if area is not None]
    _check_merges(book, landing)
    for name, area in _pivots(book, landing.sheet):
        if any(overlaps(area, part) for part in touched):
            raise ValidationFailed(
                f"The pivot table {name} stands at {area} of {landing.sheet}, which is not "
                "written over: write elsewhere, or into another sheet."
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


def _check_merges(book: BookEdit, landing: AppendPlace) -> None:
    area = landing.area
    if area is None:
        return
    for merge in book.sheet(landing.sheet).merges:
        # Its first cell holds what it shows, so that one may be written.
        if overlaps(merge, area) and (area.bottom, area.right) != (merge.top, merge.left):
            raise ValidationFailed(
                f"{landing.sheet}!{merge} is merged and in the way of the rows ({area}): unmerge "
                "it first, or write elsewhere."
            )


def _check_table(table: TablePart, landing: AppendPlace, touched: Sequence[Area]) -> None:
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


def _new_name(cell: Area, landing: AppendPlace) -> str | None:
    """Return the column name that was written into a cell, None if it was something else."""
    area = landing.area
    if area is None or not landing.has_header or not overlaps(cell, area) or cell.top != area.top:
        return None
    return landing.names[cell.left - area.left]


def _new_bottom(table: TablePart, landing: AppendPlace) -> int:
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
    return bottom if emptied else max(bottom, old.bottom)


def _refusal(table: TablePart, what: str, fate: str) -> str:
    names = ", ".join(" ".join(name.split()) for name in table.columns[:_SHOWN_NAMES])
    return (
        f"The {what} of table {table.name} ({table.area}) {fate}. Write rows with its columns "
        f"({names}) from its first cell with their header, or write elsewhere: below the table, "
        "beside it, or into another sheet."
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
