"""Merged ranges of a sheet, whose cells but the first are emptied as programs do."""

from kbd.errors import FileReadFailed
from kbd.sheets.areas import Area
from kbd_xlsx.reader.blocks import BLANK, Raw
from kbd_xlsx.reader.parts import MAX_DENSE_CELLS

__all__ = ["MergedRows"]


class MergedRows:
    """Merged ranges, of whose cells only the first counts, as rows are taken from the top down."""

    def __init__(self, name: str, merged: list[Area], used: Area) -> None:
        clipped = [_clipped(area, used) for area in merged]
        inside = [
            (area, part) for area, part in zip(merged, clipped, strict=True) if part is not None
        ]
        # They cannot overlap, so all together they are no larger than what holds them.
        if sum(_size(part) for _, part in inside) > MAX_DENSE_CELLS:
            raise FileReadFailed(f"{name} is damaged: merged ranges lie on each other")
        self._left = used.left
        # Reversed, so that pop() takes the topmost range first.
        self._waiting = inside[::-1]
        self._open: list[tuple[Area, Area]] = []

    def empty(self, rows: list[list[Raw]], top: int) -> None:
        """Empty what is in a merged range and not its first cell, in rows that begin with `top`."""
        bottom = top + len(rows) - 1
        self._open = [pair for pair in self._open if pair[1].bottom >= top]
        while self._waiting and self._waiting[-1][0].top <= bottom:
            self._open.append(self._waiting.pop())
        for area, part in self._open:
            for row in range(max(part.top, top), min(part.bottom, bottom) + 1):
                # The first cell keeps its value, unless it lies outside of the used range.
                first = part.left + (row == area.top and part.left == area.left)
                width = part.right + 1 - first
                start = first - self._left
                rows[row - top][start : start + width] = [BLANK] * width


def _clipped(area: Area, used: Area) -> Area | None:
    top, left = max(area.top, used.top), max(area.left, used.left)
    bottom, right = min(area.bottom, used.bottom), min(area.right, used.right)
    return Area(top, left, bottom, right) if top <= bottom and left <= right else None


def _size(area: Area) -> int:
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)
