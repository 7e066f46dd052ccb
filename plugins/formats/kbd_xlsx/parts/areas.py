"""Areas among very many: which of them reach a row or a cell."""

from collections.abc import Iterable

from kbd_xlsx.references import Area

__all__ = ["AreaIndex", "contains", "size_of"]

_SHIFT = 4
_MOST_BUCKETS = 64


class AreaIndex:
    """Finds areas by buckets of 16 rows; those over very many rows are kept apart.

    Args:
        areas: The areas.
    """

    def __init__(self, areas: Iterable[Area]) -> None:
        self._tall: list[Area] = []
        self._buckets: dict[int, list[Area]] = {}
        for area in areas:
            first, last = area.top >> _SHIFT, area.bottom >> _SHIFT
            if last - first > _MOST_BUCKETS:
                self._tall.append(area)
                continue
            for bucket in range(first, last + 1):
                self._buckets.setdefault(bucket, []).append(area)

    def of_row(self, row: int) -> tuple[Area, ...]:
        """Return the areas that reach a row."""
        near = self._buckets.get(row >> _SHIFT, ())
        return tuple(
            area for areas in (near, self._tall) for area in areas if area.top <= row <= area.bottom
        )

    def at(self, row: int, column: int) -> Area | None:
        """Return the first area that a cell lies in, None if there is none."""
        for areas in (self._buckets.get(row >> _SHIFT, ()), self._tall):
            for area in areas:
                if area.top <= row <= area.bottom and area.left <= column <= area.right:
                    return area
        return None

    def overlapping(self, area: Area) -> bool:
        """Tell whether any area shares a cell with another one."""
        buckets: Iterable[int] = range(area.top >> _SHIFT, (area.bottom >> _SHIFT) + 1)
        if len(self._buckets) < (area.bottom - area.top) >> _SHIFT:
            buckets = self._buckets
        near = (known for bucket in buckets for known in self._buckets.get(bucket, ()))
        return any(
            known.top <= area.bottom
            and area.top <= known.bottom
            and known.left <= area.right
            and area.left <= known.right
            for areas in (near, self._tall)
            for known in areas
        )


def contains(outer: Area, inner: Area) -> bool:
    """Tell whether an area holds all of another."""
    return (
        outer.top <= inner.top
        and outer.left <= inner.left
        and outer.bottom >= inner.bottom
        and outer.right >= inner.right
    )


def size_of(area: Area) -> int:
    """Return how many cells an area has."""
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)
