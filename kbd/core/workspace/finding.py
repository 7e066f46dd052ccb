"""Finding: from what somebody asks to the pieces that are nearest, in one state of the index."""

import sqlite3

import msgspec

from kbd.core.workspace.catalogue import Held, counted, held, title_of
from kbd.core.workspace.documents import Chunk
from kbd.core.workspace.meanings import Meanings
from kbd.core.workspace.ranking import (
    COVERED_HITS,
    LEXICAL_HITS,
    NEAREST,
    Hit,
    rank,
    rarity,
)
from kbd.core.workspace.words import WEIGHTS, Query, ask, coverage, snippet
from kbd.providers import Embeddings

__all__ = ["Found", "find"]

_SCORE = f"-bm25(words, {', '.join(map(str, WEIGHTS))})"


class Found(msgspec.Struct, frozen=True):
    """What was found.

    Args:
        chunks: The pieces, the nearest first.
        ranker: What ranked them: "bm25", "embeddings" or "hybrid".
        warnings: What was not searched, or not by meaning, and why.
    """

    chunks: list[Chunk]
    ranker: str
    warnings: tuple[str, ...] = ()


def find(
    connection: sqlite3.Connection,
    text: str,
    top_k: int,
    meant: tuple[Meanings, str, Embeddings] | None,
) -> Found:
    """Return the pieces nearest to a query.

    Args:
        connection: Within a transaction that reads.
        text: The query.
        top_k: How many at most.
        meant: The vectors there are, their fingerprint, and the query's own; None without.
    """
    query = ask(text)
    scored = _by_words(connection, query.match) if query.match else []
    pieces = held(connection, [key for key, _ in scored])
    weights = _rarity(connection, query)
    hits = [
        Hit(key, score, _coverage(query, pieces[key], weights) if at < COVERED_HITS else 0.0)
        for at, (key, score) in enumerate(_in_order(scored, pieces))
    ]
    compared = None
    if meant is not None:
        meanings, fingerprint, vector = meant
        state = fingerprint, counted(connection).generation
        also = [hit.key for hit in hits]
        compared = meanings.compare(connection, state, vector, max(NEAREST, top_k), also)
    if compared is not None:
        pieces |= held(connection, [key for key, _ in compared.nearest if key not in pieces])

    def order(key: int) -> tuple[str, int]:
        return pieces[key].name, pieces[key].position

    ranking = rank(hits, compared, _total(query, weights), order)
    chunks = [
        _chunk(pieces[each.key], each.score, ranking.ranker, text)
        for each in ranking.ranked[:top_k]
    ]
    return Found(chunks, ranking.ranker)


def _by_words(connection: sqlite3.Connection, match: str) -> list[tuple[int, float]]:
    """Return the best rows by words, and all that are as good as the last of them."""
    query = f"SELECT rowid, {_SCORE} AS score FROM words WHERE words MATCH ?"
    best = connection.execute(
        f"{query} ORDER BY score DESC LIMIT ?", (match, LEXICAL_HITS + 1)
    ).fetchall()
    if len(best) > LEXICAL_HITS and best[-1][1] == best[-2][1]:
        # Which of the equal ones came first in the index must not matter.
        return [row for row in connection.execute(query, (match,)) if row[1] >= best[-1][1]]
    return best[:LEXICAL_HITS]


def _in_order(scored: list[tuple[int, float]], pieces: dict[int, Held]) -> list[tuple[int, float]]:
    """Sort rows by score, ties by name and position, and keep as many as are ranked."""

    def order(row: tuple[int, float]) -> tuple[float, str, int]:
        piece = pieces[row[0]]
        return -row[1], piece.name, piece.position

    return sorted(scored, key=order)[:LEXICAL_HITS]


def _rarity(connection: sqlite3.Connection, query: Query) -> dict[str, float]:
    """Return the weight of each term asked for that the index knows."""
    count = counted(connection).pieces
    found = {}
    for term in {term for word in query.terms for term in word}:
        row = connection.execute("SELECT doc FROM terms WHERE term = ?", (term,)).fetchone()
        if row is not None:
            found[term] = rarity(row[0], count)
    return found


def _total(query: Query, weights: dict[str, float]) -> float:
    """Return the weight of all words asked for; one that is nowhere weighs nothing here."""
    return sum(max((weights.get(term, 0.0) for term in word), default=0.0) for word in query.terms)


def _coverage(query: Query, piece: Held, weights: dict[str, float]) -> float:
    return coverage(query, title_of(piece.name, piece.place), piece.text, weights)


def _chunk(piece: Held, score: float, ranker: str, query: str) -> Chunk:
    metadata = {
        "filename": piece.name,
        "place": piece.place,
        "snippet": snippet(piece.text, query),
        "ranker": ranker,
        "lines": [piece.line_start, piece.line_end],
        **msgspec.json.decode(piece.region, type=dict[str, object]),
    }
    chunk_id = f"{piece.doc_id}-{piece.position}"
    return Chunk(chunk_id, piece.doc_id, piece.text, piece.position, score, metadata)
