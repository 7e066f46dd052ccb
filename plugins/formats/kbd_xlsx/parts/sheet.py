"""One worksheet part, changed by splicing: only what an edit addresses is written anew."""

from kbd_xlsx.parts.cells import CellEdit, Restyle
from kbd_xlsx.references import Area

__all__ = ["SheetPart"]


class SheetPart:
    """What is to change in a worksheet, and its part as it will be.

    Attributes:
        name: The sheet's title, for messages.
        prefix: The prefix of the part's names: "" or "x:".
        merges: The merged areas as they will be.
        is_changed: Whether anything is to change.

    Args:
        data: The part's bytes.
        name: The sheet's title.

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: The part is damaged.
    """

    name: str
    prefix: str
    merges: list[Area]
    is_changed: bool

    def __init__(self, data: bytes, name: str) -> None:
        raise NotImplementedError

    def style_at(self, row: int, column: int) -> int:
        """Return the style index that a cell has, or would inherit from its row or column."""
        raise NotImplementedError

    def set(self, row: int, column: int, edit: CellEdit) -> None:
        """Change a cell; later edits win, looks add up.

        Raises:
            ValidationFailed: A value would go into a merged area, but not its first cell.
        """
        raise NotImplementedError

    def clear(self, area: Area) -> None:
        """Empty cells; their styles stay."""
        raise NotImplementedError

    def clear_all(self) -> None:
        """Take out all rows and merges."""
        raise NotImplementedError

    def forget(self, area: Area) -> None:
        """Drop the stored results of the formulas in an area; the formulas stay."""
        raise NotImplementedError

    def put_row(self, row: int, cells: str) -> None:
        """Add ready XML of all cells of a row that has none; rows come in rising order."""
        raise NotImplementedError

    def set_width(self, column: int, width: float) -> None:
        """Set a column's width, in characters."""
        raise NotImplementedError

    def set_height(self, row: int, height: float) -> None:
        """Set a row's height, in points."""
        raise NotImplementedError

    def freeze(self, rows: int, columns: int) -> None:
        """Keep rows at the top and columns at the left in view; 0 and 0 unfreezes."""
        raise NotImplementedError

    def merge(self, area: Area) -> None:
        """Merge cells; raises ValidationFailed for an overlap, or values that would be lost."""
        raise NotImplementedError

    def unmerge(self, area: Area) -> None:
        """Unmerge the merged areas within an area; raises ValidationFailed if there are none."""
        raise NotImplementedError

    def auto_filter(self, area: Area) -> bool:
        """Set the filter's area; returns whether criteria of a former filter were dropped."""
        raise NotImplementedError

    def last_row(self) -> int:
        """Return the last row with content, 0 if there is none; pending edits count."""
        raise NotImplementedError

    def used(self) -> Area | None:
        """Return the area of all content, None if there is none; pending edits count."""
        raise NotImplementedError

    def changed_areas(self) -> list[Area]:
        """Return where edits and clears change values."""
        raise NotImplementedError

    def removes_or_adds_formulas(self) -> bool:
        """Whether a formula appears or disappears."""
        raise NotImplementedError

    def xml(self, restyle: Restyle) -> bytes:
        """Return the part as it will be.

        Raises:
            ValidationFailed: An edit addresses what cannot be changed alone, or the rows are
                not in order.
        """
        raise NotImplementedError
