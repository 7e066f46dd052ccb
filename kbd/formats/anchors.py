"""Anchors of an alignment: items of which it is certain which they are in the other version.

An alignment of two sequences says what is the same as far as can be seen; where items are alike it
may be one as well as the other. An item is certain if it occurs once in either version, or if it
lies between two such items that were shifted just as far.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from kbd.formats.comparison import Place

__all__ = ["Anchors", "UncertainError"]


class UncertainError(Exception):
    """What an operation is about has no certain place in the other version.

    Args:
        reason: Why.
        place: What that is, in the version before.
    """

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place


class _Anchor(NamedTuple):
    """A certain item: its index before, and how far it was shifted."""

    item: int
    shift: int


class Anchors:
    """Anchors between two versions of a sequence; its begin and its end are some, too.

    Args:
        before: What each item of the version before is known by; None for what is like many.
        after: The same of the version after.
        found: Where the alignment has an item; None for nowhere.
        is_same: Tells of an item before and one after, which the alignment has for the same and
            which are not equal, whether that is certain all the same.
    """

    def __init__(
        self,
        before: Sequence[Hashable | None],
        after: Sequence[Hashable | None],
        found: Callable[[int], int | None],
        is_same: Callable[[int, int], bool] = lambda _before, _after: False,
    ) -> None:
        counts = Counter(before), Counter(after)
        there = {key: index for index, key in enumerate(after) if counts[1][key] == 1}
        self._found = found
        self._anchors = [_Anchor(-1, 0)]
        for index, key in enumerate(before):
            other = found(index)
            if other is None:
                continue
            is_unique = key is not None and counts[0][key] == 1 and there.get(key) == other
            if is_unique or (key != after[other] and is_same(index, other)):
                self._anchors.append(_Anchor(index, other - index))
        self._anchors.append(_Anchor(len(before), len(after) - len(before)))

    def shift(self, index: int) -> int | None:
        """Return how far an item was certainly shifted; None if that is not certain.

        Args:
            index: From -1, which is the begin, to the number of items, which is the end.
        """
        place = bisect_left(self._anchors, index, key=lambda anchor: anchor.item)
        if self._anchors[place].item == index:
            return self._anchors[place].shift
        above, below = self._anchors[place - 1], self._anchors[place]
        return above.shift if above.shift == below.shift else None

    def get(self, index: int) -> int | None:
        """Return where an item certainly is; None if it is nowhere, or that is not certain."""
        shift = self.shift(index)
        return index + shift if shift is not None and self._found(index) == index + shift else None
