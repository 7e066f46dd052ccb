"""Vectors: a table of what pieces mean, compared with what a query means.

numpy is imported when the first table is made, so that a daemon starts without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
    numpy = _numpy()
    kept: bytes = numpy.frombuffer(data, numpy.dtype("<f4")).astype("<f2").tobytes()
    return kept


class VectorTable:
    """Unit vectors of one size by key, in memory.

    They lie in one block, as float32, which the processor multiplies many times faster than
    float16; the block doubles when it is full, and the last vector takes the place of one that
    goes. One thread at a time may use it.

    Args:
        size: How many numbers a vector has.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._numpy = _numpy()
        self._block = self._numpy.zeros((0, size), self._numpy.float32)
        self._keys: list[int] = []
        self._rows: dict[int, int] = {}

    def __len__(self) -> int:
        """Return how many vectors there are."""
        return len(self._keys)

    def __contains__(self, key: int) -> bool:
        """Return whether there is a vector of that key."""
        return key in self._rows

    def put(self, keys: Sequence[int], kept: bytes) -> None:
        """Add vectors, or put them in the place of those of the same keys.

        Args:
            keys: Whose they are: the pieces' row ids.
            kept: The vectors as `pack` returns them, one after the other.

        Raises:
            ValueError: There are not as many vectors as keys.
        """
        vectors = self._numpy.frombuffer(kept, "<f2").reshape(len(keys), self.size)
        for key in keys:
            if key not in self._rows:
                self._rows[key] = len(self._keys)
                self._keys.append(key)
        if len(self._keys) > len(self._block):
            grown = self._numpy.zeros((2 * len(self._keys), self.size), self._numpy.float32)
            grown[: len(self._block)] = self._block
            self._block = grown
        self._block[[self._rows[key] for key in keys]] = vectors

    def drop(self, keys: Iterable[int]) -> None:
        """Remove vectors; keys that are not there do no harm."""
        for key in keys:
            row = self._rows.pop(key, None)
            if row is None:
                continue
            last = self._keys.pop()
            if last != key:
                self._block[row] = self._block[len(self._keys)]
                self._keys[row] = last
                self._rows[last] = row

    def compare(self, query: bytes, most: int, also: Iterable[int] = ()) -> Compared:
        """Return how near all of them are to a query.

        Args:
            query: Its vector, float32.
            most: How many of the nearest to name; those that are equally near by key.
            also: The keys whose similarity is wanted, too.

        Raises:
            ValueError: The query is a vector of another size.
        """
        numpy = self._numpy
        asked = numpy.frombuffer(query, "<f4")
        count = len(self._keys)
        if not count or most < 1:
            return Compared((), {}, 0.0, 0.0, count)
        # Five digits are what float16 holds; the rest differs from machine to machine.
        found = numpy.round(self._block[:count] @ asked, 5)
        best = numpy.argpartition(-found, most - 1)[:most] if most < count else range(count)
        # All that are as near as the last one, so that which of them is named is no accident.
        least = min(float(found[row]) for row in best)
        near = numpy.flatnonzero(found >= least).tolist()
        nearest = sorted(((self._keys[row], float(found[row])) for row in near), key=_by_nearness)
        rows = {key: self._rows[key] for key in also if key in self._rows}
        return Compared(
            tuple(nearest[:most]),
            {key: float(found[row]) for key, row in rows.items()},
            float(found.mean()),
            float(found.std()),
            count,
        )


def _by_nearness(near: tuple[int, float]) -> tuple[float, int]:
    return -near[1], near[0]


def _numpy() -> Any:
    import numpy as np  # noqa: PLC0415 - 100 ms and 20 MB, of no use without an embedder

    return np
