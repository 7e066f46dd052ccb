"""Changes of stored results whose formulas are the same: other ones, new ones, none any more.

A workbook that no program has calculated has no results; where an edit brings them all, they are
told by rectangles, and only a few by what they are.
"""

from kbd.formats import Change, ChangeList
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.cell_areas import CellAreas
from kbd_xlsx.comparison.places import area_place, cell_place
from kbd_xlsx.comparison.raw_cells import RawCell

__all__ = ["ResultChanges"]

_OUT_OF_DATE = "the stored result is out of date"
_OTHER = "the formula is the same, its stored result is another"
_FIRST = "the formula is the same; it had no stored result, and has one"
_MAX_SHOWN = 8


class ResultChanges:
    """The changed results of one sheet; cells come row by row.

    Args:
        before: The sheet as it was.
        after: As it is now.
        changes: Takes what is told.
    """

    def __init__(self, before: SheetSide, after: SheetSide, changes: ChangeList) -> None:
        self._before, self._after, self._changes = before, after, changes
        self._stale: CellAreas[str] = CellAreas()
        self._first: CellAreas[str] = CellAreas()
        self._first_cells: list[Change] = []
        self._first_count = 0

    def outdate(self, row: int, column: int) -> None:
        """Note a cell that has no result any more."""
        self._stale.add(row, column, "")

    def compare(
        self, before: tuple[int, int], one: RawCell, after: tuple[int, int], two: RawCell
    ) -> None:
        """Compare the results of one formula, each at its row and column."""
        ours = self._before.book.values.content(one)
        theirs = self._after.book.values.content(two)
        if ours == theirs:
            return
        if theirs is None:
            self.outdate(*after)
        elif ours is None:
            self._first.add(*after, "")
            self._first_count += 1
            if self._first_count <= _MAX_SHOWN:
                self._first_cells.append(self._change(before, one, after, two, _FIRST))
        elif self._changes.is_full:
            self._changes.count("changed", "result", 1)
        else:
            self._changes.add(self._change(before, one, after, two, _OTHER))

    def finish(self) -> None:
        """Tell what is told by rectangles."""
        if self._first_count <= _MAX_SHOWN:
            for change in self._first_cells:
                self._changes.add(change)
        else:
            self._add_areas(self._first, _FIRST)
        self._add_areas(self._stale, _OUT_OF_DATE)

    def _change(
        self,
        before: tuple[int, int],
        one: RawCell,
        after: tuple[int, int],
        two: RawCell,
        note: str,
    ) -> Change:
        return Change(
            place=cell_place(self._after.name, *after),
            kind="changed",
            what="result",
            before=self._before.shown(one, before[0]),
            after=self._after.shown(two, after[0]),
            note=note,
        )

    def _add_areas(self, found: CellAreas[str], note: str) -> None:
        for area, _ in found.take():
            self._changes.add(
                Change(
                    place=area_place(self._after.name, area),
                    kind="changed",
                    what="result",
                    note=note,
                )
            )
        self._changes.count("changed", "result", found.unlisted)
