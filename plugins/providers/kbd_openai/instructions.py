"""What models want to be told with a text: whether it is looked for or looked in. Pure.

A server passes texts on as they are, so whoever asks puts the words in front that a model was
trained with; without them it finds less. They are those of the models' own cards (2026); a model
that is not known here gets its texts bare.
"""

import re
from collections.abc import Sequence
from typing import Literal

__all__ = ["instructed"]

_ASKED = "Represent this sentence for searching relevant passages: "

_TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

_WORDS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"nomic-embed-(?!code)"), "search_query: ", "search_document: "),
    (re.compile(r"e5-.*instruct"), "Instruct: Find passages that answer the query\nQuery: ", ""),
    (re.compile(r"(?:^|[/-])e5-"), "query: ", "passage: "),
    (re.compile(r"bge-(?:small|base|large)-en"), _ASKED, ""),
    (re.compile(r"mxbai-embed-large"), _ASKED, ""),
    (re.compile(r"arctic-embed2|arctic-embed-[lm]-v2"), "query: ", ""),
    (re.compile(r"arctic-embed"), _ASKED, ""),
    (re.compile(r"embeddinggemma"), "task: search result | query: ", "title: none | text: "),
    (re.compile(r"qwen3-embedding"), _TASK, ""),
)
"""Families of models, by their names in small letters: what stands before a query, and before a
passage. The first that fits counts."""


def instructed(
    model: str, purpose: Literal["query", "passage"], texts: Sequence[str]
) -> tuple[str, ...]:
    """Return texts with what their model wants to be told before each."""
    name = model.lower().replace("_", "-")
    for family, query, passage in _WORDS:
        if family.search(name):
            words = query if purpose == "query" else passage
            return tuple(words + text for text in texts)
    return tuple(texts)
