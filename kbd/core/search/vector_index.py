"""Vector index: the vectors of an index's pieces, stored and compared with a query's.

The database holds them by the hash of their text; `VectorTable` has them in memory for comparison.
numpy is imported when the first table is made, so that a daemon starts without it.
"""

import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from kbd.core.search.ports import TextEmbedder
from kbd.errors import ContextExhausted, KbdError, ProviderUnavailable, ValidationFailed
from kbd.messages import Usage
from kbd.providers import Embeddings, MalformedReply

__all__ = [
    "Similarities",
    "VectorIndex",
    "VectorTable",
    "count_embedded",
    "delete_other_sizes",
    "delete_unused_vectors",
    "embed_texts",
    "has_other_sizes",
    "missing_texts",
    "pack_vectors",
    "store_vectors",
]


class Similarities(msgspec.Struct, frozen=True):
    """Similarities of the pieces of a table to a query.

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


def pack_vectors(data: bytes) -> bytes:
    """Convert float32 vectors to the stored float16: half as long, and as good to rank by."""
    numpy = _numpy()
    packed: bytes = numpy.frombuffer(data, numpy.dtype("<f4")).astype("<f2").tobytes()
    return packed


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

    def put(self, keys: Sequence[int], packed: bytes) -> None:
        """Add vectors, or replace those of the same keys.

        Args:
            keys: Whose they are: the pieces' row ids.
            packed: The vectors as `pack_vectors` returns them, one after the other.

        Raises:
            ValueError: There are not as many vectors as keys.
        """
        vectors = self._numpy.frombuffer(packed, "<f2").reshape(len(keys), self.size)
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
                # The last vector fills the gap, so the block stays dense and can be multiplied
                # whole.
                self._block[row] = self._block[len(self._keys)]
                self._keys[row] = last
                self._rows[last] = row

    def compare(self, query: bytes, most: int, also: Iterable[int] = ()) -> Similarities:
        """Return the similarities of all vectors to a query's.

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
            return Similarities((), {}, 0.0, 0.0, count)
        # Five digits are what float16 holds; the rest differs from machine to machine.
        found = numpy.round(self._block[:count] @ asked, 5)
        best = numpy.argpartition(-found, most - 1)[:most] if most < count else range(count)
        # All that are as near as the last one, so that which of them is named is no accident.
        least = min(float(found[row]) for row in best)
        near = numpy.flatnonzero(found >= least).tolist()
        nearest = sorted(((self._keys[row], float(found[row])) for row in near), key=_nearest_first)
        rows = {key: self._rows[key] for key in also if key in self._rows}
        return Similarities(
            tuple(nearest[:most]),
            {key: float(found[row]) for key, row in rows.items()},
            float(found.mean()),
            float(found.std()),
            count,
        )


def _nearest_first(near: tuple[int, float]) -> tuple[float, int]:
    return -near[1], near[0]


def _numpy() -> Any:
    import numpy as np  # noqa: PLC0415 - 100 ms and 20 MB, of no use without an embedder

    return np


FETCH_BATCH = 500

MAX_UNUSED_VECTORS = 1000
"""With twice as many vectors as pieces, and so many more, those of no piece go."""

MAX_REFUSED_TEXTS = 3
"""Where so many texts are refused, each by itself, and none was taken, it is not about a text."""

_TEXT_ERRORS = (ValidationFailed, ContextExhausted, MalformedReply)
"""What may be about one text, and not about whoever is asked."""


class VectorIndex:
    """Vectors of one index and one embedder in memory, updated at each comparison."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: VectorTable | None = None
        self._keys: set[int] = set()
        self._state: tuple[str, int] | None = None

    def compare(
        self,
        connection: sqlite3.Connection,
        state: tuple[str, int],
        query: Embeddings,
        most: int,
        also: Sequence[int],
    ) -> Similarities | None:
        """Compare the pieces with a query's vector; None if no piece has one of its size.

        Args:
            connection: Within a transaction that reads.
            state: The embedder's fingerprint and the index's generation in that transaction.
            query: One vector.
            most: How many of the nearest to name.
            also: The pieces whose similarity is wanted, too.
        """
        with self._lock:
            table = self._table
            if table is None or table.size != query.size or self._state != state:
                table = self._caught_up(connection, state, query.size)
            if not self._keys:
                return None
            return table.compare(query.data, most, also)

    def _caught_up(
        self, connection: sqlite3.Connection, state: tuple[str, int], size: int
    ) -> VectorTable:
        """Add what has come and drop what has gone; vectors of another size are left out."""
        table = self._table
        if table is None or table.size != size or self._state is None or self._state[0] != state[0]:
            table, self._keys = VectorTable(size), set()
        # Not there while it changes: what fails on the way would leave one of neither state.
        self._table = None
        query = (
            # SQLite does not reorder a CROSS JOIN: vectors are looked up by their key.
            "SELECT pieces.id FROM pieces CROSS JOIN vectors ON vectors.hash = pieces.hash"
            " WHERE fingerprint = ? AND length(vector) = ?"
        )
        there = {key for (key,) in connection.execute(query, (state[0], 2 * size))}
        table.drop(self._keys - there)
        fresh = sorted(there - self._keys)
        for begin in range(0, len(fresh), FETCH_BATCH):
            some = fresh[begin : begin + FETCH_BATCH]
            query = (
                "SELECT vector FROM vectors JOIN pieces ON vectors.hash = pieces.hash"
                f" WHERE pieces.id IN ({', '.join('?' * len(some))}) AND fingerprint = ?"
                " ORDER BY pieces.id"
            )
            rows = connection.execute(query, (*some, state[0]))
            table.put(some, b"".join(vector for (vector,) in rows))
        self._table, self._keys, self._state = table, there, state
        return table


def count_embedded(connection: sqlite3.Connection, fingerprint: str) -> int:
    """Return how many pieces have a vector."""
    query = (
        "SELECT count(*) FROM pieces WHERE EXISTS (SELECT 1 FROM vectors"
        " WHERE vectors.hash = pieces.hash AND fingerprint = ?)"
    )
    (count,) = connection.execute(query, (fingerprint,)).fetchone()
    return int(count)


def has_other_sizes(connection: sqlite3.Connection, fingerprint: str, size: int) -> bool:
    """Return whether there are vectors of another size."""
    query = "SELECT EXISTS (SELECT 1 FROM vectors WHERE fingerprint = ? AND length(vector) != ?)"
    (found,) = connection.execute(query, (fingerprint, 2 * size)).fetchone()
    return bool(found)


def delete_other_sizes(connection: sqlite3.Connection, fingerprint: str, size: int) -> None:
    """Delete the vectors of another size: their texts lack one then."""
    query = "DELETE FROM vectors WHERE fingerprint = ? AND length(vector) != ?"
    connection.execute(query, (fingerprint, 2 * size))


def delete_unused_vectors(connection: sqlite3.Connection) -> None:
    """Delete vectors of texts that no document has any more, once there are many.

    Some are kept, for a text that goes here often comes back there.
    """
    query = "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM pieces)"
    vectors, pieces = connection.execute(query).fetchone()
    if vectors > 2 * pieces + MAX_UNUSED_VECTORS:
        connection.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM pieces)")


def missing_texts(connection: sqlite3.Connection, fingerprint: str, most: int) -> dict[bytes, str]:
    """Return texts without a vector by their hashes, up to so many, in the order they came in."""
    query = (
        "SELECT hash, text FROM pieces WHERE NOT EXISTS (SELECT 1 FROM vectors"
        " WHERE vectors.hash = pieces.hash AND fingerprint = ?)"
        " GROUP BY hash ORDER BY min(id) LIMIT ?"
    )
    return dict(connection.execute(query, (fingerprint, most)).fetchall())


def embed_texts(
    embed: TextEmbedder, texts: Sequence[str], purpose: Literal["query", "passage"]
) -> Embeddings:
    """Embed texts.

    A text that is refused by itself, among others that are not, gets a vector of zeros: near to
    nothing, and not asked for again. One such text must not keep all that follow from theirs.

    Raises:
        ProviderUnavailable: The answer is not as many vectors as there are texts.
        KbdError: As for `TextEmbedder.embed`.
    """
    try:
        return _request_vectors(embed, texts, purpose)
    except _TEXT_ERRORS as error:
        if len(texts) == 1:
            raise
        found = _embed_one_by_one(embed, texts, purpose, error)
    size = next(each.size for each in found if each is not None)
    # Four bytes a number: these are float32 still, and packed when they are stored.
    rows = [bytes(4 * size) if each is None else each.data for each in found]
    usage = sum((each.usage for each in found if each is not None), start=Usage())
    return Embeddings(b"".join(rows), size, usage)


def _embed_one_by_one(
    embed: TextEmbedder,
    texts: Sequence[str],
    purpose: Literal["query", "passage"],
    refusal: KbdError,
) -> list[Embeddings | None]:
    """Return each text's own vector, or None for one that is refused.

    Raises:
        KbdError: The refusal of them all, if it is not about one of them.
    """
    found: list[Embeddings | None] = []
    for text in texts:
        try:
            found.append(_request_vectors(embed, (text,), purpose))
        except _TEXT_ERRORS:
            found.append(None)
        if len(found) == MAX_REFUSED_TEXTS and not any(found):
            raise refusal
    if len({each.size for each in found if each is not None}) != 1:
        raise refusal
    return found


def _request_vectors(
    embed: TextEmbedder, texts: Sequence[str], purpose: Literal["query", "passage"]
) -> Embeddings:
    # A model is asked for no empty text, and a blank one means nothing anyway.
    made = embed.embed([text if text.strip() else "-" for text in texts], purpose)
    if made.size <= 0 or len(made.data) != 4 * made.size * len(texts):
        msg = f"{embed.model_id} did not answer with one vector for each text"
        raise ProviderUnavailable(msg)
    return made


def store_vectors(
    connection: sqlite3.Connection, fingerprint: str, hashes: Sequence[bytes], made: Embeddings
) -> None:
    """Store vectors under the hashes of their texts."""
    packed = pack_vectors(made.data)
    size = len(packed) // len(hashes)
    rows = [
        (text, fingerprint, packed[size * place : size * (place + 1)])
        for place, text in enumerate(hashes)
    ]
    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
