"""Vectors: a table of what pieces mean, compared with what a query means.

numpy is imported when the first table is made, so that a daemon starts without it.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

__all__ = ["Compared", "VectorTable", "pack"]


class Compared(msgspec.Struct, frozen=True):
    """How near the pieces of a table are to a query in meaning.

    Args:
        nearest: The keys of the nearest pieces with their similarities (the cosine, from -1 to 1),
            the nearest first.
        others: The similarities of the other keys that were asked for, as far as they are known.
        mean: The mean similarity of all pieces.
        deviation: Its standard deviation.
        count: How many pieces there are.
    """

    nearest: tuple[tuple[int, float], ...]
    others: Mapping[int, float]
    mean: float
    deviation: float
    count: int


def pack(data: bytes) -> bytes:
    """Return float32 vectors as they are kept: float16, half as long, and as good to rank by."""
    raise NotImplementedError


class VectorTable:
    """Unit vectors of one size by key, in memory.

    One thread at a time may use it.

    Args:
        size: How many numbers a vector has.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        """Return how many vectors there are."""
        raise NotImplementedError

    def __contains__(self, key: int) -> bool:
        """Return whether there is a vector of that key."""
        raise NotImplementedError

    def put(self, keys: Sequence[int], kept: bytes) -> None:
        """Add vectors, or put them in the place of those of the same keys.

        Args:
            keys: Whose they are: the pieces' row ids.
            kept: The vectors as `pack` returns them, one after the other.
        """
        raise NotImplementedError

    def drop(self, keys: Iterable[int]) -> None:
        """Remove vectors; keys that are not there do no harm."""
        raise NotImplementedError

    def compare(self, query: bytes, most: int, also: Iterable[int] = ()) -> Compared:
        """Return how near all of them are to a query.

        Args:
            query: Its vector, float32.
            most: How many of the nearest to name.
            also: The keys whose similarity is wanted, too.
        """
        raise NotImplementedError
