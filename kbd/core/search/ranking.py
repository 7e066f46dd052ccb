"""Ranking of search results: hits of words and of vectors in one order, with scores. Pure.

Neither finder may be made worse by the other, so they are not mixed by halves, nor by ranks alone
(reciprocal rank fusion), which tell nothing of how sure a finder is. That is why no library ranks
here: FTS5 has BM25, and what libraries have for both finders is that fusion (nDCG@10 .652 in the
questions of `benchmarks/retrieval.py`, ours .756). Each tells how much of the query it has found:

- Words: by how much the best hit stands out. What the fifteenth has, pieces have by chance, and
  most of it is taken off; the rest is a share of the weight of all words of the query. One word
  that is nowhere is counted in, so that one word that happens to stand somewhere is not the whole
  of a question. Up to `CHANCE` words are not trusted at all: where a query uses other words than
  the answer, the order is that of the vectors. From `SURE` on they are trusted in full, and each
  piece has its own BM25 score, in words as rare as can be.
- Vectors: by how many standard deviations a piece is nearer than the mean piece. Where all are
  about as near, as they are to a name or a number that a model does not know, that is little.

A rare word is worth `WORTH` standard deviations. With these figures the hybrid loses to neither
finder on any third of all the questions of `benchmarks/retrieval.py`, by none of its measures; on a
half of a third it may lose a question. In an index of a few pieces no word is rare, so there
vectors decide sooner.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from kbd.core.search.vector_index import Similarities

__all__ = [
    "MAX_LEXICAL_HITS",
    "MAX_NEAREST",
    "SPARE_WORDS",
    "LexicalHit",
    "QueryWeight",
    "RankedPiece",
    "Ranker",
    "Ranking",
    "inverse_document_frequency",
    "rank",
    "weigh_query",
]

Ranker = Literal["bm25", "embeddings", "hybrid"]

MAX_LEXICAL_HITS = 50
"""How many pieces to take from the index by words, best first."""

MAX_NEAREST = 50
"""How many of the nearest to take from the table of vectors."""

CHANCE, SURE = 0.335, 0.365
"""Which share of a question's weight words have by chance, and which is no chance any more. They
lie close together: half a trust serves neither finder."""

CROWD, OF_CROWD = 15, 0.69
"""Which hit shows what pieces have by chance, and how much of its score is taken off."""

SPARE_WORDS = 1.1
"""How many words more than there are a question is taken to have."""

WORTH = 2.85
"""How many standard deviations of meaning a word is worth that is as rare as can be."""

MIDDLE, SPREAD = 7.0, 4.0
"""What a piece is worth whose score is a half, and over what the score rises; for people only, as
any rising curve gives the same order."""


class LexicalHit(msgspec.Struct, frozen=True):
    """Lexical hit: a piece that the words of a query found.

    Args:
        key: Its row id.
        score: Its raw BM25 score, higher is better (`-bm25(...)`).
    """

    key: int
    score: float


class QueryWeight(msgspec.Struct, frozen=True):
    """Weight of a query, the measure of how much of it a piece has.

    Args:
        weight: The weight of all words, and of `SPARE_WORDS` more that are nowhere.
        rarest: The weight of a word that is nowhere.
    """

    weight: float
    rarest: float


class RankedPiece(msgspec.Struct, frozen=True):
    """A piece with its final score.

    Args:
        key: Its row id.
        score: From 0 to 1, higher is nearer.
    """

    key: int
    score: float


class Ranking(msgspec.Struct, frozen=True):
    """Ranked pieces, best first.

    Args:
        ranked: The pieces.
        ranker: What made the order.
    """

    ranked: tuple[RankedPiece, ...]
    ranker: Ranker


def inverse_document_frequency(pieces_with: int, pieces: int) -> float:
    """Return the inverse document frequency of a term, as BM25 in FTS5 has it.

    Args:
        pieces_with: In how many pieces it stands.
        pieces: How many there are.
    """
    # FTS5 has the same floor: a word in most pieces would count against those that have it.
    return max(math.log((pieces - pieces_with + 0.5) / (pieces_with + 0.5)), 1e-6)


def weigh_query(
    words: Iterable[Sequence[str]], pieces_with: Mapping[str, int], pieces: int
) -> QueryWeight:
    """Weigh the words of a query.

    Args:
        words: Its words, each as the terms that stand for it (`tokenizer.Query.terms`).
        pieces_with: In how many pieces each term stands that is somewhere.
        pieces: How many pieces there are.
    """
    rarest = inverse_document_frequency(0, pieces)
    weights = (
        max(
            (
                inverse_document_frequency(pieces_with[term], pieces)
                for term in word
                if term in pieces_with
            ),
            # No weight is negative, so this says that the word is nowhere.
            default=-1,
        )
        for word in words
    )
    total = sum(rarest if weight < 0 else weight for weight in weights)
    return QueryWeight(SPARE_WORDS * rarest + total, rarest)


def rank(
    hits: Sequence[LexicalHit],
    compared: Similarities | None,
    asked_for: QueryWeight,
    order: Callable[[int], tuple[str, int]],
) -> Ranking:
    """Rank the hits of words and vectors in one order.

    Args:
        hits: What words found.
        compared: What vectors found, and how near the hits are; None without an embedder. A hit
            that is not in there has no vector yet, and is taken to be as near as the mean piece.
        asked_for: How much was asked for.
        order: The name and the position of a piece, by which ties are broken.
    """
    found = {hit.key: max(hit.score, 0.0) for hit in hits}
    if compared is None or not compared.nearest:
        scores = {key: score / (score + asked_for.weight) for key, score in found.items()}
        return Ranking(_sort_pieces(scores, scores, order), "bm25")
    near = dict(compared.nearest)
    if not found:
        scores = {key: min(max(each, 0.0), 1.0) for key, each in near.items()}
        return Ranking(_sort_pieces(near, scores, order), "embeddings")
    near.update(compared.others)
    by_word = (
        WORTH * _lexical_trust(sorted(found.values(), reverse=True), asked_for) / asked_for.rarest
    )
    worth = {
        key: by_word * found.get(key, 0.0) + _deviations(near.get(key), compared)
        for key in found.keys() | near.keys()
    }
    scores = {key: 1 / (1 + math.exp((MIDDLE - each) / SPREAD)) for key, each in worth.items()}
    return Ranking(_sort_pieces(worth, scores, order), "hybrid")


def _lexical_trust(scores: Sequence[float], asked_for: QueryWeight) -> float:
    """Return how far words are to be trusted, from 0 to 1, by their scores, the best first."""
    crowd = scores[CROWD - 1] if len(scores) >= CROWD else 0.0
    share = (scores[0] - OF_CROWD * crowd) / asked_for.weight
    surely = min(max((share - CHANCE) / (SURE - CHANCE), 0.0), 1.0)
    # A smooth step: the order does not jump where trust begins or is full.
    return surely * surely * (3 - 2 * surely)


def _deviations(similarity: float | None, compared: Similarities) -> float:
    if similarity is None or compared.deviation < 1e-6:
        return 0.0
    return (similarity - compared.mean) / compared.deviation


def _sort_pieces(
    worth: Mapping[int, float],
    scores: Mapping[int, float],
    order: Callable[[int], tuple[str, int]],
) -> tuple[RankedPiece, ...]:
    """Sort pieces by their worth, and score them."""
    # Rounded, so that what differs by the noise of adding up is a tie.
    keys = sorted(worth, key=lambda key: (-round(worth[key], 9), order(key)))
    return tuple(RankedPiece(key, round(scores[key], 6)) for key in keys)
