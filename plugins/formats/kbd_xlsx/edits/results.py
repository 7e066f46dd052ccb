"""Pending changes of a workbook's values, from which follows which stored results are old."""

from collections.abc import Iterable, Mapping, Sequence

from kbd.sheets.areas import Area
from kbd_xlsx.calculation.stale import column_runs
from kbd_xlsx.shifting.line_map import SheetMap

__all__ = ["PendingResults", "SheetRanges"]

SheetRanges = tuple[tuple[str, str], ...]
"""Sheets with ranges of them; "" for a whole sheet."""

MAX_AREAS = 5_000


class PendingResults:
    """Cells that hold something else than before, by sheet, and results that are old for more.

    Attributes:
        formulas_differ: Whether formulas came or went.
        formulas_set: Where formulas were written, by row and column, by the title of the sheet.
        known: Where formulas were written with the results that they have now, by row and column,
            by the title of the sheet.
        open: Cells whose formulas have no result since, or are to be worked out anew, by title.
    """

    def __init__(self) -> None:
        self.formulas_differ = False
        self.formulas_set: dict[str, set[tuple[int, int]]] = {}
        self.known: dict[str, set[tuple[int, int]]] = {}
        self.open: dict[str, list[Area]] = {}
        self._changed: dict[str, list[Area]] = {}
        self._stale: dict[str, list[Area]] = {}
        self._renewed: dict[str, list[Area]] = {}

    def add(self, title: str, areas: Iterable[Area]) -> None:
        """Note that cells of a sheet hold something else."""
        self._changed.setdefault(title, []).extend(areas)

    def outdate(self, title: str, areas: Iterable[Area]) -> None:
        """Note that results are old though all that their formulas read is the same."""
        found = list(areas)
        self._stale.setdefault(title, []).extend(found)
        self.add(title, found)

    def forget_sheet(self, title: str) -> None:
        """Forget a sheet that goes."""
        for noted in (self._changed, self._stale, self._renewed, self.open, self.formulas_set):
            noted.pop(title, None)

    def rename(self, titles: Mapping[str, str]) -> None:
        """Follow sheets that are renamed: new titles by the old ones."""
        self._changed, self._stale, self._renewed, self.open = (
            {titles.get(old, old): areas for old, areas in noted.items()}
            for noted in (self._changed, self._stale, self._renewed, self.open)
        )
        self.formulas_set = {titles.get(old, old): at for old, at in self.formulas_set.items()}

    def move(self, title: str, sheet: SheetMap) -> None:
        """Have what is noted of a sheet be where its lines are now."""
        for noted in (self._changed, self._stale, self._renewed, self.open):
            if title in noted:
                moved = map(sheet.area, noted[title])
                noted[title] = [area for area in moved if area is not None]

    def are_known(self, title: str, area: Area) -> bool:
        """Tell whether a cell has the result that belongs to it; of a larger area nobody knows."""
        is_cell = (area.top, area.left) == (area.bottom, area.right)
        return is_cell and (area.top, area.left) in self.known.get(title, ())

    def take(self) -> tuple[dict[str, list[Area]], dict[str, list[Area]]]:
        """Return what changed and what is old besides, and forget both."""
        changed = {title: areas for title, areas in self._changed.items() if areas}
        stale = {title: areas for title, areas in self._stale.items() if areas}
        self._changed, self._stale = {}, {}
        self.renew(changed)
        return changed, stale

    def renew(self, areas: Mapping[str, Sequence[Area]]) -> None:
        """Note cells that show something else, or no result any more, for what copies them."""
        for title, found in areas.items():
            self._renewed.setdefault(title, []).extend(found)

    @property
    def are_kept(self) -> bool:
        """Whether no result was taken away or written since that was asked for last."""
        return not self._renewed

    def take_renewed(self) -> dict[str, list[Area]]:
        """Return the cells that show something else since they were asked for last."""
        renewed, self._renewed = self._renewed, {}
        return renewed

    def open_ranges(self) -> tuple[SheetRanges, SheetRanges]:
        """Return the cells whose formulas were written, and all whose results are open since.

        A sheet with very many of them counts as a whole.
        """
        written: list[tuple[str, str]] = []
        for title, places in self.formulas_set.items():
            written += _ranges(title, column_runs((column, row) for row, column in places))
        found = list(written)
        for title, areas in self.open.items():
            found += _ranges(title, areas)
        return tuple(written), tuple(found)


def _ranges(title: str, areas: Sequence[Area]) -> list[tuple[str, str]]:
    if len(areas) > MAX_AREAS:
        return [(title, "")]
    return [(title, str(area)) for area in areas]
