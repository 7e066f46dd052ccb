"""What is to change in the cells of a worksheet, kept until its part is written."""

import msgspec

from kbd_xlsx.parts.areas import AreaIndex
from kbd_xlsx.parts.cells import BLANK, CellEdit
from kbd_xlsx.references import Area

__all__ = ["PendingCells", "PutRow"]


class PutRow(msgspec.Struct, frozen=True):
    """A row of ready cells: their XML, and how many clears came before it."""

    cells: bytes
    clears_before: int


class PendingCells:
    """Edits of cells by row and column, and of whole areas, which cost only what they are.

    Attributes:
        edits: Of single cells: by row, then by column.
        clears: Areas whose cells are emptied, unless an edit fills them again.
        forgets: Areas whose formulas lose their stored results.
        puts: Ready rows.
        heights: Of rows, in points.

    Args:
        is_wiped: Whether all rows that there were are gone.
    """

    def __init__(self, *, is_wiped: bool = False) -> None:
        self.edits: dict[int, dict[int, CellEdit]] = {}
        self.clears: list[Area] = []
        self.forgets: list[Area] = []
        self.puts: dict[int, PutRow] = {}
        self.heights: dict[int, float] = {}
        self.is_wiped = is_wiped
        self._index: AreaIndex | None = None

    def __bool__(self) -> bool:
        return bool(
            self.edits or self.clears or self.forgets or self.puts or self.heights or self.is_wiped
        )

    def set(self, row: int, column: int, edit: CellEdit) -> None:
        """Change a cell; the later content wins, looks add up."""
        cells = self.edits.get(row)
        if cells is None:
            cells = self.edits[row] = {}
        old = cells.get(column)
        if old is not None:
            content = old.content if edit.content is None else edit.content
            forget = edit.forget or (old.forget and edit.content is None)
            edit = CellEdit(content, old.looks + edit.looks, forget)
        cells[column] = edit

    def clear(self, area: Area) -> None:
        """Empty the cells of an area."""
        self.clears.append(area)
        self._index = None
        for row in rows_within(self.edits, area):
            cells = self.edits[row]
            for column, edit in cells.items():
                if area.left <= column <= area.right:
                    cells[column] = CellEdit(BLANK, edit.looks)

    def clears_of(self, row: int) -> tuple[Area, ...]:
        """Return the clears that reach a row, those after it was put if it was."""
        if not self.clears:
            return ()
        put = self.puts.get(row)
        if put is not None:
            later = self.clears[put.clears_before :]
            return tuple(area for area in later if area.top <= row <= area.bottom)
        if self._index is None:
            self._index = AreaIndex(self.clears)
        return self._index.of_row(row)

    def replaces(self, row: int, column: int) -> bool:
        """Tell whether what a cell of the part holds is to go."""
        edit = self.edits.get(row, {}).get(column)
        if edit is not None and edit.content is not None:
            return True
        return any(area.left <= column <= area.right for area in self.clears_of(row))

    def count_within(self, area: Area) -> int:
        """Count the cells of an area that get a content, a blank one too."""
        return sum(
            edit.content is not None and area.left <= column <= area.right
            for row in rows_within(self.edits, area)
            for column, edit in self.edits[row].items()
        )


def rows_within(rows: dict[int, dict[int, CellEdit]], area: Area) -> list[int]:
    """Return those rows of a mapping that an area reaches."""
    if area.bottom - area.top < len(rows):
        return [row for row in range(area.top, area.bottom + 1) if row in rows]
    return [row for row in rows if area.top <= row <= area.bottom]
