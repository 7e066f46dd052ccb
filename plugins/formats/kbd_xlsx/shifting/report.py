"""What a move of lines met on its way: references that got lost, results that are old."""

from kbd.office.operations import EditWarnings, listed
from kbd.sheets.areas import Area, cell_name

__all__ = ["ShiftReport"]


class ShiftReport:
    """Collects what people have to know of a move of lines.

    Attributes:
        lost: Places whose references lost all of their cells, in order.
        spanning: Places with references through several sheets, which stayed.
        notes: What else changed.
        stale: By sheet, cells after the move whose results tell where cells stand.
    """

    def __init__(self) -> None:
        self.lost: dict[str, None] = {}
        self.spanning: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.stale: dict[str, list[Area]] = {}

    def lose(self, place: str) -> None:
        """Note a place that refers to cells which are not there any more."""
        self.lost.setdefault(place)

    def lose_cell(self, sheet: str, row: int, column: int) -> None:
        """Note a cell whose formula refers to cells which are not there any more."""
        self.lose(f"{sheet}!{cell_name(row, column)}")

    def note(self, text: str) -> None:
        """Note a change that nobody named."""
        self.notes.setdefault(text)

    def outdate(self, sheet: str, row: int, column: int) -> None:
        """Note a cell whose result tells where cells stand."""
        self.stale.setdefault(sheet, []).append(Area(row, column, row, column))

    def warn(self, warnings: EditWarnings) -> None:
        """Warn of all of it."""
        if self.lost:
            warnings.warn(
                f"References to deleted cells are #REF! now ({len(self.lost)}): "
                f"{listed(list(self.lost))}."
            )
        if self.spanning:
            warnings.warn(
                "References through several sheets (as in Jan:Dec!A1) name the cells of the same "
                f"places as before, so not the moved ones: {listed(list(self.spanning))}."
            )
        for note in self.notes:
            warnings.warn(note)
