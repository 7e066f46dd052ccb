"""What is tried on one real workbook with rows: where they go, and the judge's word on it.

The places are chosen from what the judge reads, never from what kbd reads.
"""

import tempfile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judging import Edit, compare
from judging.book import Book
from judging.package import children, flag
from judging.places import Place, letters, name, place
from kbd.errors import KbdError
from kbd.formats import Placement
from written_rows import write

__all__ = ["RowsVerdict", "Where", "rows_into"]

Where = Literal["below", "beside", "over"]

COLUMNS = [["kbd a", "string"], ["kbd b", "integer"], ["kbd c", "date"], ["kbd d", "float"]]
ROWS: list[list[Any]] = [
    ["x & y", 1, "2024-02-29", "1.50"],
    ["=z", None, None, "2.25"],
    [" t ", 3, "2099-12-31", None],
]
_DAYS = {"2024-02-29": 45351, "2099-12-31": 73050}
_EPOCH_1904_DAYS = 1462
"""How much later the days of a workbook with date1904 begin (ECMA-376 part 1, 18.17.4.1)."""


class RowsVerdict(NamedTuple):
    """What came of it: exact, loss, refused, or that the judge found no cells to begin with."""

    outcome: Literal["exact", "loss", "refused", "none"]
    details: str = ""


def rows_into(task: tuple[Path, Where]) -> RowsVerdict:
    """Write three rows into a workbook's first sheet with cells: below, beside, or over them."""
    path, where = task
    try:
        book = Book(path)
        sheet = next((sheet for sheet in book.worksheets if sheet.cells), None)
    except Exception as error:  # noqa: BLE001 - whatever the judge cannot read is no workbook
        return RowsVerdict("none", str(error))
    if sheet is None:
        return RowsVerdict("none")
    used = [c.at for c in sheet.cells.values() if c.kind != "blank" or c.formula is not None]
    is_1904 = any(flag(e.get("date1904")) for e in children(book.root, "workbookPr"))
    title = sheet.title
    book.close()
    placement = Placement(title, "append_rows")
    if where != "below":
        right = max((at.column for at in used), default=1)
        start = "A1" if where == "over" else f"{letters(right + 3)}2"
        placement = Placement(title, "write_range", start_cell=start)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"after{path.suffix}"
        try:
            written = write(path, target, ROWS, placement, COLUMNS)
        except KbdError as error:
            return RowsVerdict("refused", f"{error.code}: {error.message}"[:300])
        has_header = where != "below" or not used
        edit = _meant(title, written.written_range, has_header=has_header, is_1904=is_1904)
        found = [difference for difference in compare(path, target, edit) if difference.material]
        return RowsVerdict("loss" if found else "exact", str(found[:3])[:500])


def _meant(title: str, area: str, *, has_header: bool, is_1904: bool) -> Edit:
    """The cells that the rows are to be."""
    top, left = place(area.partition(":")[0])
    shift = _EPOCH_1904_DAYS if is_1904 else 0
    lines: list[list[float | str | None]] = [
        [
            text,
            None if count is None else float(count),
            None if day is None else float(_DAYS[day] - shift),
            None if price is None else float(price),
        ]
        for text, count, day, price in ROWS
    ]
    if has_header:
        lines.insert(0, [column for column, _ in COLUMNS])
    cells = {
        (title, name(Place(row, column))): value
        for row, line in enumerate(lines, top)
        for column, value in enumerate(line, left)
    }
    return Edit(cells, looks=frozenset(cells))
