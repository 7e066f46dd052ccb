"""Ranges as operations name them, checked, and the sheets that they are of."""

from collections.abc import Sequence

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, cell_name, overlaps, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.reach import reach_text
from kbd_xlsx.parts.cell_blocks import CellBlocks, NewCells
from kbd_xlsx.parts.cells import size_of
from kbd_xlsx.parts.markup import area_of

__all__ = [
    "MAX_CELLS",
    "WHOLE",
    "check_groups",
    "check_headers",
    "check_pivots",
    "checked_area",
    "clipped",
    "note_formula",
    "opened_blocks",
    "put_cells",
]

MAX_CELLS = 1_000_000
"""Cells that one operation may reach."""

WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)


def checked_area(text: str, *, what: str) -> Area:
    """Return a range of a size that one operation may reach.

    Raises:
        ValidationFailed: It is no range, or larger.
    """
    area = parse_area(text, WHOLE)
    if size_of(area) > MAX_CELLS:
        raise ValidationFailed(
            f"{text} has {size_of(area):,} cells; {what} reaches {MAX_CELLS:,} at most, so name "
            "the rows that are meant"
        )
    return area


def clipped(blocks: CellBlocks, area: Area) -> Area:
    """Return an area without the rows below the last one that the sheet has."""
    rows = blocks.row_numbers(area)
    return Area(area.top, area.left, max(area.top, rows[-1] if rows else 0), area.right)


def opened_blocks(book: BookEdit, name: str) -> tuple[str, CellBlocks]:
    """Return a sheet's title and its cells as operations before have left them.

    Raises:
        ValidationFailed: There is no such sheet, or it has no cells that can be changed.
    """
    book.flush()
    # Asked for its warnings and refusals.
    title = book.sheet(name).name
    return title, CellBlocks(book.rewriting.read(book.part(title)), title)


def put_cells(
    book: BookEdit, title: str, blocks: CellBlocks, new: NewCells, changed: Sequence[Area]
) -> None:
    """Write cells into a sheet's part.

    Args:
        book: The workbook.
        title: The sheet's title.
        blocks: The sheet's cells as they were read.
        new: The cells.
        changed: The areas whose values change.
    """
    book.flush()
    book.rewriting.put(book.part(title), blocks.with_cells(new))
    if changed:
        book.results.add(title, changed)
        book.results.formulas_differ = True


def check_groups(blocks: CellBlocks, area: Area, title: str, *, verb: str) -> None:
    """Refuse an area with cells of an array formula or of a data table.

    Raises:
        ValidationFailed: It names what is in the way.
    """
    for group in blocks.groups.areas:
        if overlaps(group.area, area):
            kind = "data table (what-if)" if group.is_table else "array formula"
            raise ValidationFailed(
                f"{title}!{area} cannot be {verb}: {group.area} holds one {kind}, which stays or "
                "goes as a whole"
            )


def check_headers(book: BookEdit, title: str, area: Area) -> None:
    """Refuse an area that holds the header or the totals of a table.

    Raises:
        ValidationFailed: It names the table.
    """
    for table in book.tables(title):
        at = table.area
        header = Area(at.top, at.left, at.top + table.header_rows - 1, at.right)
        totals = Area(at.bottom - table.totals_rows + 1, at.left, at.bottom, at.right)
        for rows, count, word in (
            (header, table.header_rows, "header"), (totals, table.totals_rows, "totals")
        ):  # fmt: skip
            if count and overlaps(rows, area):
                raise ValidationFailed(
                    f"{title}!{area} holds the {word} of table {table.name} ({rows}); leave that "
                    "row out"
                )


def check_pivots(book: BookEdit, title: str, area: Area) -> None:
    """Refuse an area with cells that a pivot table fills.

    Raises:
        ValidationFailed: It names the cells.
    """
    rewriting = book.rewriting
    for relation in rewriting.relations(book.part(title)):
        if relation.kind != "pivotTable" or relation.target not in rewriting:
            continue
        location = rewriting.root(relation.target).find("{*}location")
        at = None if location is None else area_of(location.get("ref", ""))
        if at is not None and overlaps(at, area):
            raise ValidationFailed(f"{title}!{area} holds cells of a pivot table ({at})")


def note_formula(book: BookEdit, title: str, place: tuple[int, int], text: str) -> None:
    """Note a formula that was written: its results are to come, and what it reaches out to."""
    book.results.formulas_set.setdefault(title, set()).add(place)
    reach = reach_text(f"{title}!{cell_name(*place)}", text)
    if reach is not None:
        book.notices.note_external(reach)
