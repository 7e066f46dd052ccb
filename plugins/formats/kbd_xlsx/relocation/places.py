"""Rows and columns of one version, found in another with certainty or not at all."""

from collections import Counter
from functools import cached_property

from kbd.formats.anchors import Anchors, UncertainError
from kbd.sheets.areas import Area
from kbd_xlsx.comparison.book_changes import BookComparison, SheetPair
from kbd_xlsx.comparison.line_maps import SheetMap
from kbd_xlsx.comparison.places import range_place, rows_place, sheet_place
from kbd_xlsx.comparison.row_tokens import RowTokens, tokenize

__all__ = ["BookPlaces", "OwnSheet", "SheetPlaces"]


class SheetPlaces:
    """Rows of a sheet, found in the other version.

    Args:
        pair: The sheet in both versions.
    """

    def __init__(self, pair: SheetPair) -> None:
        self._pair = pair

    @property
    def name(self) -> str:
        """What the sheet is called in the other version."""
        return self._pair.after.name

    @cached_property
    def is_shifted(self) -> bool:
        """Whether any row or column stands elsewhere; raises FileReadFailed."""
        return not (self._pair.alignment.rows.is_identity and self._has_columns_in_place)

    @cached_property
    def _has_columns_in_place(self) -> bool:
        """Whether no column stands elsewhere; some may have come or gone at the right end."""
        alignment = self._pair.alignment
        columns = alignment.columns
        if not columns.shift and not alignment.moved_columns:
            return all(run.before == run.after for run in columns.runs)
        # Of a small sheet an alignment may see columns come that only cells were put into: then
        # each column that held anything still has something of its own where it was.
        return alignment.rows.is_identity and self._keeps_columns()

    def _keeps_columns(self) -> bool:
        """Tell whether each column has a cell that stands nowhere else, just where it was."""
        one, two = (_cells_by_row(tokens) for tokens in self._tokens)
        counts = [
            Counter(held for cells in rows.values() for _, held in cells) for rows in (one, two)
        ]
        filled: set[int] = set()
        certain: set[int] = set()
        for row, cells in one.items():
            there = two.get(row, set())
            filled.update(column for column, _ in cells)
            certain.update(
                column for column, held in cells & there if counts[0][held] == counts[1][held] == 1
            )
        return filled == certain

    def row(self, row: int) -> int:
        """Return where a row is; raises UncertainError, FileReadFailed."""
        if not self.is_shifted:
            return row
        place = rows_place(self._pair.before.name, row, row)
        if not self._has_columns_in_place:
            msg = f"columns of {self._pair.before.name} were inserted, removed or moved"
            raise UncertainError(msg, place)
        found = self._pair.alignment.rows.get(row)
        last_before, last_after = self._ends
        if row > last_before:
            # Below the table: it goes along if the table still ends with the same row.
            if self._shift_of(last_before) != last_after - last_before:
                msg = f"it is not certain what is below the last row of {self._pair.before.name}"
                raise UncertainError(msg, place)
            return row + last_after - last_before
        if found is None:
            msg = f"row {row} of {self._pair.before.name} is not there any more"
            raise UncertainError(msg, place)
        if self._shift_of(row) != found - row:
            msg = f"it is not certain where row {row} of {self._pair.before.name} is now"
            raise UncertainError(msg, place)
        return found

    def column(self, column: int) -> int:
        """Return where a column is; raises UncertainError, FileReadFailed."""
        if self._has_columns_in_place:
            return column
        name = self._pair.before.name
        raise UncertainError(
            f"columns of {name} were inserted, removed or moved", sheet_place(name)
        )

    def area(self, area: Area) -> Area:
        """Return where a range is, all of it in one piece; raises UncertainError."""
        if not self.is_shifted:
            return area
        top, bottom = self.row(area.top), self.row(area.bottom)
        left, right = self.column(area.left), self.column(area.right)
        if bottom - top != area.bottom - area.top:
            msg = f"rows were inserted into {area}, or removed from it"
            raise UncertainError(msg, range_place(self._pair.before.name, str(area)))
        return Area(top, left, bottom, right)

    def _shift_of(self, row: int) -> int | None:
        """Return how far a row was certainly shifted; None if that is not certain."""
        return self._anchors.shift(row - 1)

    @cached_property
    def _tokens(self) -> tuple[RowTokens, RowTokens]:
        sides = self._pair.before, self._pair.after
        found = []
        for side in sides:
            count = len(side.scan.hashes)
            found.append(tokenize(side, range(1, count + 1), count))
        return found[0], found[1]

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """The last rows that hold anything."""
        found = []
        for tokens in self._tokens:
            end = len(tokens.by_row) - 1
            while end > 0 and not tokens.by_row[end]:
                end -= 1
            found.append(end)
        return found[0], found[1]

    @cached_property
    def _anchors(self) -> Anchors:
        rows = self._pair.alignment.rows
        before, after = (
            [token or None for token in tokens.by_row[1 : end + 1]]
            for tokens, end in zip(self._tokens, self._ends, strict=True)
        )
        likeness = _RowLikeness(*self._tokens)

        def found(index: int) -> int | None:
            row = rows.get(index + 1)
            return None if row is None or row > len(after) else row - 1

        return Anchors(before, after, found, lambda i, j: likeness.is_same(i + 1, j + 1))


class _RowLikeness:
    """Likeness of rows that were changed: what of them was left, and stands nowhere else.

    Args:
        before: The rows of the version before.
        after: Those of the version after.
    """

    def __init__(self, before: RowTokens, after: RowTokens) -> None:
        self._cells = _cells_by_row(before), _cells_by_row(after)
        self._counts = [
            Counter(cell for cells in rows.values() for cell in cells) for rows in self._cells
        ]

    def is_same(self, before: int, after: int) -> bool:
        """Tell whether at least half of two rows is equal, and some of that is only there."""
        one, two = self._cells[0].get(before, set()), self._cells[1].get(after, set())
        common = one & two
        return 2 * len(common) >= max(1, min(len(one), len(two))) and any(
            self._counts[0][cell] == self._counts[1][cell] == 1 for cell in common
        )


def _cells_by_row(tokens: RowTokens) -> dict[int, set[tuple[int, int]]]:
    """Return the filled cells of rows, each as its column and a hash of what it holds."""
    return {
        row: set(zip(sketch.columns, sketch.hashes, strict=True))
        for row, sketch in tokens.sketches.items()
    }


class OwnSheet:
    """A sheet that neither version has: operations make it, and nobody else touches it.

    Args:
        name: What it is called.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def row(self, row: int) -> int:
        """Return a row."""
        return row

    def column(self, column: int) -> int:
        """Return a column."""
        return column

    def area(self, area: Area) -> Area:
        """Return a range."""
        return area


class BookPlaces:
    """The sheets of a workbook, found in another version.

    Args:
        book: Both versions.

    Attributes:
        made: Names, without case, that operations before gave to sheets that were there: what
            later ones do to them is not carried over.
    """

    def __init__(self, book: BookComparison) -> None:
        self._book = book
        self.made: set[str] = set()
        self._sheets = {
            pair.before.name.casefold(): SheetPlaces(pair) for pair in book.pairs if pair.is_in_both
        }
        self._before = {
            pair.before.name.casefold() for pair in book.pairs if pair.before.entry is not None
        }
        self._after = {
            pair.after.name.casefold() for pair in book.pairs if pair.after.entry is not None
        }

    @property
    def is_in_place(self) -> bool:
        """Whether each cell has the address that it had; raises FileReadFailed."""
        return not any(
            each.is_shifted or each.name.casefold() != name for name, each in self._sheets.items()
        )

    @property
    def is_shifted(self) -> bool:
        """Whether anything stands elsewhere, or sheets came, went or were renamed."""
        return self._before != self._after or not self.is_in_place

    def sheet(self, name: str) -> SheetPlaces | OwnSheet:
        """Return a sheet; raises UncertainError if it is not there any more, or new there."""
        key = name.casefold()
        if key in self.made:
            msg = f"operations on {name} follow the one that names it so; do them by themselves"
            raise UncertainError(msg, sheet_place(name))
        found = self._sheets.get(key)
        if found is not None:
            return found
        if key in self._before:
            raise UncertainError(f"sheet {name} is not there any more", sheet_place(name))
        if key in self._after:
            raise UncertainError(f"sheet {name} was added there, too", sheet_place(name))
        return OwnSheet(name)

    def map(self, name: str) -> SheetMap | None:
        """Return which cells of a sheet are which; None for one that only operations make."""
        if name.casefold() not in self._sheets:
            return None
        return self._book.pair(name).map
