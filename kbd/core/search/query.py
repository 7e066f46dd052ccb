"""Query execution: the pieces nearest to a query, in one state of the index."""

import sqlite3

import msgspec

from kbd.core.search.documents import Chunk
from kbd.core.search.documents_table import (
    StoredPiece,
    count_contents,
    generation,
    piece_places,
    read_pieces,
)
from kbd.core.search.ranking import (
    MAX_LEXICAL_HITS,
    MAX_NEAREST,
    LexicalHit,
    QueryWeight,
    rank,
    weigh_query,
)
from kbd.core.search.tokenizer import WEIGHTS, Query, parse_query, snippet
from kbd.core.search.vector_index import VectorIndex
from kbd.providers import Embeddings

__all__ = ["QueryResult", "find_nearest"]

TIE_FACTOR = 4
"""For each row that is ranked, so many are looked at, for some may be equal to the last."""

# FTS5's bm25() is the lower the better, and below 0.
_SCORE = f"-bm25(words, {', '.join(map(str, WEIGHTS))})"


class QueryResult(msgspec.Struct, frozen=True):
    """Result of a query.

    Args:
        chunks: The pieces, the nearest first.
        ranker: What ranked them: "bm25", "embeddings" or "hybrid".
        warnings: What was not searched, or not by meaning, and why.
    """

    chunks: list[Chunk]
    ranker: str
    warnings: tuple[str, ...] = ()


def find_nearest(
    connection: sqlite3.Connection,
    text: str,
    top_k: int,
    meant: tuple[VectorIndex, str, Embeddings] | None,
) -> QueryResult:
    """Return the pieces nearest to a query.

    Args:
        connection: Within a transaction that reads.
        text: The query.
        top_k: How many at most.
        meant: The vectors there are, their fingerprint, and the query's own; None without.
    """
    query = parse_query(text)
    most = max(MAX_LEXICAL_HITS, top_k)
    scored = _lexical_rows(connection, query.match, most) if query.match else []
    places = piece_places(connection, [key for key, _ in scored])
    scored = sorted(scored, key=lambda row: (-row[1], places[row[0]]))[:most]
    hits = [LexicalHit(key, score) for key, score in scored]
    compared = None
    if meant is not None:
        meanings, fingerprint, vector = meant
        state = fingerprint, generation(connection)
        also = [hit.key for hit in hits]
        compared = meanings.compare(connection, state, vector, max(MAX_NEAREST, top_k), also)
    if compared is not None:
        places |= piece_places(
            connection, [key for key, _ in compared.nearest if key not in places]
        )
    ranking = rank(hits, compared, _query_weight(connection, query), places.__getitem__)
    best = ranking.ranked[:top_k]
    pieces = read_pieces(connection, [each.key for each in best])
    chunks = [_chunk(pieces[each.key], each.score, ranking.ranker, text) for each in best]
    return QueryResult(chunks, ranking.ranker)


def _lexical_rows(connection: sqlite3.Connection, match: str, most: int) -> list[tuple[int, float]]:
    """Return the best rows by BM25, and all that tie with the last of them."""
    query = f"SELECT rowid, {_SCORE} AS score FROM words WHERE words MATCH ?"
    best = connection.execute(f"{query} ORDER BY score DESC LIMIT ?", (match, TIE_FACTOR * most))
    rows: list[tuple[int, float]] = best.fetchall()
    if len(rows) == TIE_FACTOR * most and rows[-1][1] == rows[most - 1][1]:
        # Even more are equal: which of them the index comes upon first must not matter.
        rows = connection.execute(f"{query} AND score >= ?", (match, rows[-1][1])).fetchall()
    least = rows[:most][-1][1] if rows else 0.0
    return [row for row in rows if row[1] >= least]


def _query_weight(connection: sqlite3.Connection, query: Query) -> QueryWeight:
    """Return the weight of a query, by the frequencies of its terms in the index."""
    found = {}
    for term in {term for word in query.terms for term in word}:
        row = connection.execute("SELECT * FROM terms WHERE term = ?", (term,)).fetchone()
        if row is not None:
            # A row of fts5vocab is the term, how many rows have it, and how often it stands in
            # them.
            found[term] = row[1]
    return weigh_query(query.terms, found, count_contents(connection).pieces)


def _chunk(piece: StoredPiece, score: float, ranker: str, query: str) -> Chunk:
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
