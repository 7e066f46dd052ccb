"""Ranking: from what words found and what meanings found to one order with scores. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from kbd.core.workspace.vectors import Compared

__all__ = [
    "COVERED_HITS",
    "LEXICAL_HITS",
    "NEAREST",
    "Hit",
    "Ranked",
    "Ranker",
    "Ranking",
    "rank",
    "rarity",
]

Ranker = Literal["bm25", "embeddings", "hybrid"]

LEXICAL_HITS = 50
"""How many pieces to take from the index by words, best first."""

NEAREST = 50
"""How many of the nearest to take from the table of vectors."""

COVERED_HITS = 10
"""For how many of the best by words `Hit.coverage` is worth working out; 0 does for the rest."""


class Hit(msgspec.Struct, frozen=True):
    """A piece that words found.

    Args:
        key: Its row id.
        score: Its raw BM25 score, higher is better (`-bm25(...)`).
        coverage: How much of the query's weight it holds (`words.coverage`).
    """

    key: int
    score: float
    coverage: float = 0.0


class Ranked(msgspec.Struct, frozen=True):
    """A piece in the order found.

    Args:
        key: Its row id.
        score: From 0 to 1, higher is nearer.
    """

    key: int
    score: float


class Ranking(msgspec.Struct, frozen=True):
    """What was found, best first.

    Args:
        ranked: The pieces.
        ranker: What made the order.
    """

    ranked: tuple[Ranked, ...]
    ranker: Ranker


def rarity(documents_with: int, documents: int) -> float:
    """Return the weight of a term: the inverse document frequency, as BM25 in FTS5 has it.

    Args:
        documents_with: In how many rows it stands.
        documents: How many rows there are.
    """
    return max(math.log((documents - documents_with + 0.5) / (documents_with + 0.5)), 1e-6)


def rank(
    hits: Sequence[Hit],
    compared: Compared | None,
    total_rarity: float,
    order: Callable[[int], tuple[str, int]],
) -> Ranking:
    """Return one order of all that was found.

    Args:
        hits: What words found, best first.
        compared: What meanings found; None without an embedder.
        total_rarity: The weight of all the words asked for (the sum of `rarity`, the heaviest
            term of each word).
        order: The name and the position of a piece, by which ties are broken.
    """
    lexical = {hit.key: _by_words(hit, total_rarity) for hit in hits}
    if compared is None or not compared.count:
        return Ranking(_sorted(lexical, order), "bm25")
    meant = {
        key: _by_meaning(similarity)
        for key, similarity in (*compared.nearest, *compared.others.items())
    }
    if not lexical:
        return Ranking(_sorted(meant, order), "embeddings")
    share = 0.5
    mixed = {
        key: share * lexical.get(key, 0.0) + (1 - share) * meant.get(key, 0.0)
        for key in lexical.keys() | meant.keys()
    }
    return Ranking(_sorted(mixed, order), "hybrid")


def _by_words(hit: Hit, total_rarity: float) -> float:
    """Return the score of a hit: half of what is possible where each word stands once."""
    return hit.score / (hit.score + total_rarity) if hit.score > 0 else 0.0


def _by_meaning(similarity: float) -> float:
    return min(max(similarity, 0.0), 1.0)


def _sorted(
    scores: Mapping[int, float], order: Callable[[int], tuple[str, int]]
) -> tuple[Ranked, ...]:
    rounded = {key: round(score, 6) for key, score in scores.items()}
    keys = sorted(rounded, key=lambda key: (-rounded[key], order(key)))
    return tuple(Ranked(key, rounded[key]) for key in keys)
