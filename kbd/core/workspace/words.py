"""Words: how text becomes terms of an index, and what somebody asks a safe expression over them.

FTS5 is given terms that are made here, one blank between two, so its own tokenizer has nothing to
decide: it is `ascii`, for which every character beyond ASCII belongs to a word. What is indexed
then depends on no version of SQLite, and a query knows the terms it asks for as they stand in the
index.
"""

from collections.abc import Mapping

import msgspec

__all__ = [
    "COLUMNS",
    "TOKENIZER",
    "WEIGHTS",
    "WORDS_EDITION",
    "Query",
    "ask",
    "coverage",
    "indexed",
    "snippet",
]

WORDS_EDITION = "1"
"""Goes up when the same text would be indexed as other terms; an index of another one is made
anew."""

COLUMNS = ("title", "body")
"""The columns of the FTS5 table, in this order."""

TOKENIZER = "ascii"
"""Its `tokenize` option."""

WEIGHTS = (1.0, 1.0)
"""What `bm25()` is given for its columns."""


class Query(msgspec.Struct, frozen=True):
    """What somebody asks for.

    Args:
        match: The FTS5 expression, to be bound as a parameter; "" if nothing can be looked for.
        terms: The words asked for, each as the terms that stand for it in the index.
    """

    match: str
    terms: tuple[tuple[str, ...], ...]


def ask(text: str) -> Query:
    """Return what to look for; any text at all is fine.

    Words are joined by OR, words that only bind others are left out where any other is there,
    and what stands in quotation marks counts once more as a phrase.
    """
    raise NotImplementedError


def indexed(title: str, text: str) -> tuple[str, str]:
    """Return what the index is given of a piece: a value for each of `COLUMNS`.

    Args:
        title: What names the piece: its file's name, its place.
        text: The piece.
    """
    raise NotImplementedError


def coverage(query: Query, title: str, text: str, rarity: Mapping[str, float]) -> float:
    """Return how much of a query's weight a piece holds, from 0 to 1.

    Args:
        query: What was asked.
        title: As `indexed` was given it.
        text: Likewise.
        rarity: The weight of each term that the index knows (`ranking.rarity`); one that it does
            not know weighs as much as the rarest, and nothing holds it.
    """
    raise NotImplementedError


def snippet(text: str, query: str, most_characters: int = 200) -> str:
    """Return the part of a piece that says most of what was asked, as one line.

    Args:
        text: The piece.
        query: What was asked, as it was asked.
        most_characters: How long it may be, with the dots that stand for what is left out.
    """
    raise NotImplementedError
