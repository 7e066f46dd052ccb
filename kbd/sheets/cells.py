"""Cells of a sheet, whatever file it is in: what a reader offers, and what it tells of them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Literal

import msgspec

from kbd.sheets.areas import Area
from kbd.sheets.islands import SAMPLE_ROWS, Island, gives_number, names_columns
from kbd.sheets.values import Value, plain_text

__all__ = ["CellMark", "Formula", "Marks", "ResultState", "SheetCells"]

ResultState = Literal["missing", "momentary", "current"]
"""What the stored result of a formula is worth: there is none, it was right then, or it is."""


class Formula(msgspec.Struct, frozen=True):
    """A cell with a formula, or with an error and no formula.

    Args:
        text: The formula with its "=", "" if there is none.
        error: The error that is its value or result, "" if it is another.
        result_state: What the stored result is worth; "missing" if there is none.
    """

    text: str
    error: str
    result_state: ResultState


class CellMark(msgspec.Struct, frozen=True):
    """What of a cell people do not see: all, maybe all, or the characters of some spans."""

    kind: Literal["hidden", "maybe", "partly"]
    spans: tuple[tuple[int, int], ...] = ()

    def labeled(self, text: str) -> str:
        """Return the text of a cell with its label; of one that is seen in part, `spans` are."""
        match self.kind:
            case "hidden":
                return f"[hidden: {text}]"
            case "maybe":
                return f"[maybe hidden: {text}]"
            case "partly":
                pieces, at = [], 0
                for start, end in self.spans:
                    pieces += [text[at:start], f"[hidden: {text[start:end]}]"]
                    at = end
                return "".join([*pieces, text[at:]])


_SOME_NUMBER = 0.5
"""What stands for a number that is not known; no year, for one may head a column."""

Marks = dict[int, dict[int, CellMark]]
"""Marks of cells by row and column."""


class SheetCells(ABC):
    """Values of a sheet with what is computed or merged, read an area at a time.

    Attributes:
        name: As its tab says.
        area: The rectangle around all that it holds; None if it holds nothing.
        frozen_rows: How many rows from the top stay in view.
    """

    name: str
    area: Area | None
    frozen_rows: int

    @abstractmethod
    def rows(self, area: Area) -> Iterator[tuple[int, list[Value]]]:
        """Yield the rows of an area with their numbers; blank ones may be left out."""

    @abstractmethod
    def computed(self, area: Area) -> Iterator[tuple[int, int, str]]:
        """Yield an area's cells with formulas or errors: row, column, and the error or the text."""

    @abstractmethod
    def aggregating(self, area: Area) -> Iterator[tuple[int, int, str]]:
        """Yield an area's cells with formulas: row, column, and the text.

        The text may be "" where the formula surely sums up no cells of its own column.
        """

    @abstractmethod
    def island_areas(self) -> list[Area]:
        """Return where the islands are, from top to bottom, whatever stays in view."""

    @abstractmethod
    def merged_areas(self) -> list[Area]:
        """Return the merged ranges from top to bottom."""

    def islands(self, most: int | None = None) -> tuple[list[Island], int]:
        """Return the islands with their headers, the first `most` of them, and how many there are.

        A first row that stays in view and names every column heads all that is below.
        """
        frozen = self.frozen_header()
        if frozen is not None and self.area is not None:
            return [Island(self.area, frozen)], 1
        areas = self.island_areas()
        return [self.island(area) for area in areas[:most]], len(areas)

    def frozen_header(self) -> tuple[str, ...] | None:
        """Return the names in the first used row if it stays in view and has one a column.

        Who freezes a row of names says that they head everything below, blank rows and all.
        """
        area = self.area
        if area is None or self.frozen_rows != area.top:
            return None
        names = self.row(area.top, area.left, area.right)
        if not all(isinstance(name, str) and name.strip() for name in names):
            return None
        return tuple(map(str, names))

    def row(self, number: int, left: int, right: int) -> list[Value]:
        """Return the values of a row between two columns."""
        for _, values in self.rows(Area(number, left, number, right)):
            return values
        return [""] * (right - left + 1)

    def island(self, area: Area) -> Island:
        """Return an island with the headers that its first row has, if it is one."""
        sample = Area(area.top, area.left, min(area.bottom, area.top + SAMPLE_ROWS - 1), area.right)
        width = area.right - area.left + 1
        rows = dict(self.rows(sample))
        unstored: dict[int, str] = {}
        for row, column, text in self.computed(sample):
            values, place = rows.setdefault(row, [""] * width), column - area.left
            if values[place] != "":
                continue
            # Without a result it still fills its cell; which kind the result has may be known.
            values[place] = _SOME_NUMBER if gives_number(text) else text
            if row == area.top:
                unstored[place] = text
        filled = [rows.get(row, [""] * width) for row in range(sample.top, sample.bottom + 1)]
        headers = None
        if names_columns(filled):
            shown = enumerate(map(plain_text, filled[0]))
            headers = tuple(unstored.get(place, text) for place, text in shown)
        return Island(area, headers)
