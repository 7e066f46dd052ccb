"""The tool that searches."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.search import FoundChunk, FoundChunks
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["SearchArguments", "WorkspaceSearch"]

_HEAD_SNIPPET_CHARACTERS = 120
"""So that the head of five pieces fits into a receipt."""


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for."""

    query: Annotated[
        str,
        Meta(
            description="What to look for, in the words that the text would use.",
            min_length=1,
            max_length=10_000,
        ),
    ]
    top_k: Annotated[int, Meta(description="How many pieces at the most.", ge=1, le=100)] = 5


class WorkspaceSearch(Tool):
    """`workspace_search`: the pieces of all documents that are nearest to a query."""

    name: ClassVar[str] = "workspace_search"
    description = (
        "Search the text of all documents at once (every format that can be read) and get the "
        "nearest pieces, each with its file, place, snippet and a score from 0 to 1. Call this "
        "when you do not know which file says something or where; for a file you know, use "
        "get_file_map and read_file, and for counts, sums and filters the table tools. Then read "
        "around a piece: read_file with path = filename and the coordinates in metadata, which "
        "are its own arguments (lines are those of the whole text and no coordinates). A high "
        "score is no proof: check the text. Search again in other words before you say that "
        "something is not there, and look at warnings, which tell what was not searched."
    )
    arguments = SearchArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: SearchArguments) -> ToolResult:
        """Return `{documents: [...], total, ranker, warnings?}`, the nearest first.

        Each of `documents` is `{chunk_id, doc_id, text, score, filename, place, snippet,
        metadata}`. A receipt shows where each was found and its snippet.

        Raises:
            ValidationFailed: The query is empty.
            ToolTimeout: Documents are still being read.
        """
        found = await context.search.find(arguments.query, arguments.top_k)
        documents = [_told(chunk) for chunk in found.chunks]
        return ToolResult(
            _answer(found, documents),
            summary=_answer(found, [_brief(chunk) for chunk in found.chunks]),
        )


def _answer(found: FoundChunks, documents: list[dict[str, Any]]) -> dict[str, Any]:
    answer = {"documents": documents, "total": len(documents), "ranker": found.ranker}
    return {**answer, "warnings": list(found.warnings)} if found.warnings else answer


def _told(chunk: FoundChunk) -> dict[str, Any]:
    return {**msgspec.structs.asdict(chunk), "metadata": dict(chunk.metadata)}


def _brief(chunk: FoundChunk) -> dict[str, Any]:
    """Return what a receipt needs of a piece: where it is, and what it is about."""
    coordinates = {name: value for name, value in chunk.metadata.items() if name != "lines"}
    snippet = chunk.snippet
    if len(snippet) > _HEAD_SNIPPET_CHARACTERS:
        snippet = f"{snippet[: _HEAD_SNIPPET_CHARACTERS - 1]}…"
    return {
        "filename": chunk.filename,
        "place": chunk.place,
        "score": round(chunk.score, 2),
        "snippet": snippet,
        "metadata": coordinates,
    }
