"""What formats that are `Styled` share: an answer with bounds, and the reading of asset ids."""

from collections.abc import Mapping
from typing import Any, TypeVar

from kbd.errors import ValidationFailed
from kbd.formats.records import AssetPick

__all__ = ["Answer", "parse_asset"]

_MAX_NOTES = 40
_SHOWN_CHARS = 60

Kind = TypeVar("Kind", bound=str)


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
        self.leave_out(key, 1)
        return False

    def add_asset(self, kind: str, ending: str, **beside: Any) -> None:
        """Add something that can be copied to the list `assets`, once."""
        asset_id = f"{kind}:{ending}"
        if asset_id not in self._assets:
            self._assets.add(asset_id)
            self.add("assets", {"asset_id": asset_id, "kind": kind, **beside})

    def room(self, key: str) -> int:
        """Return how many more entries a list takes."""
        return self._limits[key] - len(self._lists[key])

    def leave_out(self, key: str, count: int) -> None:
        """Count entries that are not shown."""
        self._left[key] = self._left.get(key, 0) + count

    def note(self, text: str) -> None:
        """Say in words what was left out."""
        if len(self._notes) < _MAX_NOTES:
            self._notes.append(text)
        else:
            self.leave_out("notes", 1)

    def plain(self) -> dict[str, Any]:
        """Return the lists and `left_out`."""
        counted = [f"{key}: {count:,} more" for key, count in self._left.items() if count]
        return {**self._lists, "left_out": [*counted, *self._notes]}


def parse_asset(pick: AssetPick, kinds: Mapping[str, Kind]) -> tuple[Kind, str]:
    """Return the kind and the name that an asset id holds.

    Raises:
        ValidationFailed: It is not of a kind that there is, or has no name.
    """
    word, _, name = pick.asset_id.partition(":")
    kind = kinds.get(word.strip().lower())
    if kind is None or not name.strip():
        raise ValidationFailed(
            f"{pick.asset_id[:_SHOWN_CHARS]!r} is no asset; write kind:name with a kind of "
            f"{', '.join(kinds)}, as get_styles lists them"
        )
    return kind, name.strip()
