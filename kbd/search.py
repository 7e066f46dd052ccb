"""Interface of document search: what is found, told and summarized of a workbench's documents."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from kbd.types import FileName

__all__ = ["FoundChunk", "FoundChunks", "KnownDocument", "Search", "Summary"]


class KnownDocument(msgspec.Struct, frozen=True):
    """A document that is searched: a file that a format reads as text.

    Args:
        doc_id: Its id, by its name.
        title: Its name without folders and suffix.
        path: Its name in the workbench.
        warnings: Why some or all of its text is not searched.
    """

    doc_id: str
    title: str
    path: FileName
    warnings: tuple[str, ...] = ()


class FoundChunk(msgspec.Struct, frozen=True):
    """A piece of a document that a search found.

    Args:
        chunk_id: Its id.
        doc_id: Its document's.
        text: The whole piece.
        snippet: The part of it that is nearest, in one line.
        score: How near, from 0 to 1.
        filename: The document's name in the workbench.
        place: Where in it, as people would name it.
        metadata: The same for programs: the coordinates that `read_file` takes, and `lines`, the
            first and the last in the document's whole text, counted from 1.
    """

    chunk_id: str
    doc_id: str
    text: str
    snippet: str
    score: float
    filename: FileName
    place: str
    metadata: Mapping[str, Any]


class FoundChunks(msgspec.Struct, frozen=True):
    """What a search found.

    Args:
        chunks: Nearest first.
        ranker: What ranked them: "bm25", "embeddings" or "hybrid".
        warnings: What was not searched, or not by meaning, and why.
    """

    chunks: tuple[FoundChunk, ...]
    ranker: str
    warnings: tuple[str, ...] = ()


class Summary(msgspec.Struct, frozen=True):
    """A shorter text that says what a longer one is about.

    Args:
        text: At most as many characters as were asked for.
        by: Who made it: a model (`provider:model`), or "extract" for sentences picked from it.
        original_length: Of the whole text, in characters.
        warnings: Why no model made it, though there is one; what of the text was left out.
    """

    text: str
    by: str
    original_length: int
    warnings: tuple[str, ...] = ()


class Search(Protocol):
    """The workbench's documents, as one call sees them."""

    async def find(self, query: str, top_k: int) -> FoundChunks:
        """Return the pieces of text nearest to a query.

        Raises:
            ValidationFailed: The query is empty.
            ToolTimeout: Documents are still being read; the message says how many are left.
        """

    async def documents(self) -> Sequence[KnownDocument]:
        """Return the documents, sorted by name."""

    async def text(self, doc_id: str | None, title: str | None) -> tuple[KnownDocument, str]:
        """Return a document and all its text.

        Raises:
            ValidationFailed: Neither is given, or several documents have that title; the message
                names them.
            NotFound: There is no such document; the message names near ones.
        """

    async def summarize(self, text: str, max_length: int) -> Summary:
        """Return a summary by the workbench's model where there is one, else an extract.

        Args:
            text: What to summarize.
            max_length: The most characters.
        """
