"""A bounded answer: lists with limits, and what was left out of them."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Answer"]


_MOST_NOTES = 40


class Answer:
    """Lists of plain values, each of which ends at its limit; what comes after is counted.

    Args:
        limits: How many entries each list may have, by its key.
    """

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._limits = limits
        self._lists: dict[str, list[Any]] = {key: [] for key in limits}
        self._left: dict[str, int] = {}
        self._notes: list[str] = []

    def add(self, key: str, entry: Any) -> None:
        """Add an entry to a list that has room."""
        if self.room(key):
            self._lists[key].append(entry)
        else:
            self.leave_out(key, 1)

    def room(self, key: str) -> int:
        """Return how many more entries a list takes."""
        return self._limits[key] - len(self._lists[key])

    def leave_out(self, key: str, count: int) -> None:
        """Count entries that are not shown."""
        self._left[key] = self._left.get(key, 0) + count

    def note(self, text: str) -> None:
        """Say in words what was left out."""
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(text)
        else:
            self.leave_out("notes", 1)

    def plain(self) -> dict[str, Any]:
        """Return the lists and `left_out`."""
        counted = [f"{key}: {count:,} more" for key, count in self._left.items() if count]
        return {**self._lists, "left_out": [*counted, *self._notes]}
