"""What the judge is told of an edit, and what it answers."""

from collections.abc import Mapping
from typing import NamedTuple

from judging.places import Place, letters, place

__all__ = ["Difference", "Edit", "Formula"]


class Formula(NamedTuple):
    """That a cell was to hold a formula, without "="."""

    text: str


class Edit(NamedTuple):
    """What was meant to change: everything else is to stay.

    Args:
        cells: The value meant for each cell, by (title, "B3"); None is an empty cell. A date is
            given as its serial number.
        looks: Cells whose look was meant to change, or may (a number format for a date).
        widths: Columns by (title, "B").
        heights: Rows by (title, 3).
        frozen: Sheets whose panes were set.
        added: Sheets that were made.
    """

    cells: Mapping[tuple[str, str], float | str | bool | Formula | None] = {}
    looks: frozenset[tuple[str, str]] = frozenset()
    widths: frozenset[tuple[str, str]] = frozenset()
    heights: frozenset[tuple[str, int]] = frozenset()
    frozen: frozenset[str] = frozenset()
    added: tuple[str, ...] = ()

    def on(self, title: str) -> dict[Place, float | str | bool | Formula | None]:
        """The values meant for the cells of a sheet."""
        return {
            place(cell): value
            for (sheet, cell), value in self.cells.items()
            if sheet.lower() == title.lower()
        }

    def may_look(self, title: str, at: Place) -> bool:
        """Whether a cell's look was meant to change."""
        return (title, f"{letters(at.column)}{at.row}") in self.looks


class Difference(NamedTuple):
    """One thing that is not as before, or not as it was meant.

    Args:
        kind: What sort of thing ("cell value", "part lost" …).
        place: Where, as people would name it.
        before: What was there (or was meant).
        after: What is there.
        material: Whether somebody who uses the workbook could miss it.
    """

    kind: str
    place: str
    before: str
    after: str
    material: bool = True
