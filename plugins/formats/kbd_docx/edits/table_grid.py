"""Tables by rows and columns: which cell covers which places of the grid, merged ones too.

Rows and columns are counted from 0, as the readings count them: rows that are tracked deletions are
not counted, and rows may begin and end at different columns (`gridBefore`).
"""

from collections.abc import Iterator

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import W

__all__ = ["ROW_WRAPPERS", "CellGrid", "GridCell", "small_number"]

_ROW, _CELL = f"{W}tr", f"{W}tc"
ROW_WRAPPERS = frozenset((f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins", f"{W}moveTo"))
"""What may stand around rows and cells."""

_MAX_SHOWN = 63
_DIGITS = 6


class GridCell(msgspec.Struct, frozen=True):
    """A cell in its row.

    Attributes:
        start: The column where it begins.
        span: How many columns it takes.
        element: The cell.
    """

    start: int
    span: int
    element: etree._Element

    @property
    def end(self) -> int:
        """The column behind it."""
        return self.start + self.span

    @property
    def vertical(self) -> str:
        """Its part in a vertical merge: restart where one begins, continue in it, or empty."""
        return _merge(self.element, "vMerge")

    @property
    def horizontal(self) -> str:
        """The same in the old kind of horizontal merge, in which each covered cell is there."""
        return _merge(self.element, "hMerge")


class CellGrid:
    """The cells of a table by row and column; rows are read when they are asked for.

    Args:
        table: The table.

    Attributes:
        table: The table.
        rows: Its rows, without those that are tracked deletions.
    """

    def __init__(self, table: etree._Element) -> None:
        self.table = table
        # Rows that are deleted, but tracked, are not counted; readers do not see them either.
        self.rows = [row for row in children(table, _ROW) if row.find(f"{W}trPr/{W}del") is None]
        self._cells: dict[int, list[GridCell]] = {}

    def cells(self, row: int) -> list[GridCell]:
        """Return the cells of a row in order."""
        if row not in self._cells:
            self._cells[row] = list(_cells_by_column(self.rows[row]))
        return self._cells[row]

    @property
    def column_count(self) -> int:
        """The columns of the widest row, with those that it leaves out at its end."""
        return max((self.row_end(row) for row in range(len(self.rows))), default=0)

    def row_end(self, row: int) -> int:
        """Return the column behind a row's last one, left out ones counted."""
        cells = self.cells(row)
        behind = small_number(self.rows[row].find(f"{W}trPr/{W}gridAfter"))
        return (cells[-1].end if cells else self.row_start(row)) + behind

    def row_start(self, row: int) -> int:
        """Return how many columns a row leaves out at its beginning."""
        return small_number(self.rows[row].find(f"{W}trPr/{W}gridBefore"))

    def check_row(self, row: int) -> None:
        """Raise ValidationFailed if there is no such row."""
        if row >= len(self.rows):
            raise ValidationFailed(
                f"there is no row {row}; the table has {len(self.rows)}, counted from 0"
            )

    def check_column(self, column: int) -> None:
        """Raise ValidationFailed if there is no such column."""
        if column >= self.column_count:
            raise ValidationFailed(
                f"there is no col {column}; the table has {self.column_count}, counted from 0"
            )

    def place(self, row: int, column: int) -> GridCell:
        """Return the cell that begins at a place; raises ValidationFailed if none does."""
        self.check_row(row)
        cells = self.cells(row)
        for cell in cells:
            if cell.start <= column < cell.end:
                if cell.start < column:
                    raise ValidationFailed(
                        f"row {row}, col {column} is part of a merged cell; its text is "
                        f"that of col {cell.start}"
                    )
                if "continue" in (cell.vertical, cell.horizontal):
                    raise ValidationFailed(
                        f"row {row}, col {column} is part of a merged cell; set "
                        "the text in the cell where it begins, above or to the left"
                    )
                return cell
        starts = ", ".join(str(cell.start) for cell in cells[:_MAX_SHOWN]) or "none"
        raise ValidationFailed(f"there is no col {column} in row {row}; its cells are at {starts}")

    def at(self, row: int, start: int) -> GridCell | None:
        """Return the cell of a row that begins at a column, None if there is none."""
        if not 0 <= row < len(self.rows):
            return None
        return next((cell for cell in self.cells(row) if cell.start == start), None)

    def merge_end(self, row: int, cell: GridCell) -> int:
        """Return the last row of the vertical merge that a cell is in, its own if it is in none."""
        end = row
        while cell.vertical and (below := self.at(end + 1, cell.start)) is not None:
            if below.vertical != "continue":
                break
            end += 1
        return end

    def merge_start(self, row: int, cell: GridCell) -> int:
        """Return the first row of the vertical merge that a cell is in."""
        start, found = row, cell
        while found.vertical == "continue":
            above = self.at(start - 1, cell.start)
            if above is None or not above.vertical:
                break
            start, found = start - 1, above
        return start

    def forget(self) -> None:
        """Read rows anew when they are asked for: cells were changed."""
        self._cells.clear()


def _cells_by_column(row: etree._Element) -> Iterator[GridCell]:
    """Yield a row's cells with the columns where they begin and how many they take."""
    column = small_number(row.find(f"{W}trPr/{W}gridBefore"))
    for cell in children(row, _CELL):
        span = max(1, small_number(cell.find(f"{W}tcPr/{W}gridSpan")))
        yield GridCell(column, span, cell)
        column += span


def children(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    """Yield rows or cells, those in content controls, too."""
    for child in element.iterchildren():
        if child.tag == tag:
            yield child
        elif child.tag in ROW_WRAPPERS:
            yield from children(child, tag)


def small_number(element: etree._Element | None, attribute: str = "val") -> int:
    """Return a whole number that an element tells, 0 if it tells none that makes sense."""
    text = element.get(f"{W}{attribute}", "") if element is not None else ""
    return int(text) if text.isdecimal() and len(text) < _DIGITS else 0


def _merge(cell: etree._Element, kind: str) -> str:
    merge = cell.find(f"{W}tcPr/{W}{kind}")
    # A merge without a value goes on (ECMA-376, CT_VMerge).
    return "" if merge is None else merge.get(f"{W}val", "continue")
