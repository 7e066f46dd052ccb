"""A bounded answer: lists with limits, and what was left out of them."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Answer"]


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
        self._assets: set[str] = set()

    def add(self, key: str, entry: Any) -> bool:
        """Add an entry to a list, or count it where the list is full; tell which."""
        if self.room(key):
            self._lists[key].append(entry)
            return True
        self._left[key] = self._left.get(key, 0) + 1
        return False

    def add_asset(self, kind: str, ending: str, **beside: Any) -> None:
        """Add something that can be copied, once."""
        asset_id = f"{kind}:{ending}"
        if asset_id not in self._assets:
            self._assets.add(asset_id)
            self.add("assets", {"asset_id": asset_id, "kind": kind, **beside})

    def room(self, key: str) -> int:
        """Return how many more entries a list takes."""
        return self._limits[key] - len(self._lists[key])

    def note(self, text: str) -> None:
        """Say in words what was left out."""
        self._notes.append(text)

    def plain(self) -> dict[str, Any]:
        """Return the lists and `left_out`."""
        counted = [f"{key}: {count:,} more" for key, count in self._left.items()]
        return {**self._lists, "left_out": [*counted, *self._notes]}
