"""Pending changes of a workbook's values, from which follows which stored results are old."""

from collections.abc import Iterable

from kbd.sheets.areas import Area
from kbd_xlsx.shifting.line_map import SheetMap

__all__ = ["PendingResults"]


class PendingResults:
    """Cells that hold something else than before, by sheet, and results that are old for more.

    Attributes:
        formulas_differ: Whether formulas came or went.
    """

    def __init__(self) -> None:
        self.formulas_differ = False
        self._changed: dict[str, list[Area]] = {}
        self._stale: dict[str, list[Area]] = {}

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
        self._changed.pop(title, None)
        self._stale.pop(title, None)

    def move(self, title: str, sheet: SheetMap) -> None:
        """Have what is noted of a sheet be where its lines are now."""
        for noted in (self._changed, self._stale):
            if title in noted:
                moved = map(sheet.area, noted[title])
                noted[title] = [area for area in moved if area is not None]

    def take(self) -> tuple[dict[str, list[Area]], dict[str, list[Area]]]:
        """Return what changed and what is old besides, and forget both."""
        changed = {title: areas for title, areas in self._changed.items() if areas}
        stale = {title: areas for title, areas in self._stale.items() if areas}
        self._changed, self._stale = {}, {}
        return changed, stale
