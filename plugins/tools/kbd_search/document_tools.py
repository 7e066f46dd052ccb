"""Tools that search, list, read and summarize documents."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.search import FoundChunk, FoundChunks, KnownDocument
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = [
    "GetDocumentTool",
    "ListDocumentsTool",
    "SearchArguments",
    "SearchTool",
    "SummarizeTool",
]


class NoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call without arguments."""


class DocumentArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A document, by one of two names."""

    doc_id: Annotated[
        str | None, Meta(description="Its id, as workspace_list_docs and workspace_search tell it.")
    ] = None
    title: Annotated[
        str | None, Meta(description="Its title, the file's name without folders and suffix.")
    ] = None


class SummaryArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to summarize, and how short."""

    doc_id: Annotated[str | None, Meta(description="The id of the document to summarize.")] = None
    text: Annotated[str | None, Meta(description="A text to summarize instead.")] = None
    max_length: Annotated[
        int, Meta(description="The most characters of the summary.", ge=1, le=20_000)
    ] = 500


class ListDocumentsTool(Tool):
    """`workspace_list_docs`: the documents that are searched."""

    name: ClassVar[str] = "workspace_list_docs"
    description = (
        "List the documents that workspace_search searches, with their ids, titles and paths. "
        "warnings say why one is not searched, or not whole. For kinds and sizes of all files use "
        "list_files."
    )
    arguments = NoArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: NoArguments) -> ToolResult:
        """Return `{documents: [{doc_id, title, path, warnings?}], total}`, sorted by path.

        Raises:
            ToolTimeout: Documents are still being read.
        """
        del arguments
        documents = [_document_entry(known) for known in await context.search.documents()]
        return ToolResult({"documents": documents, "total": len(documents)})


class GetDocumentTool(Tool):
    """`workspace_get_doc`: a document's whole text."""

    name: ClassVar[str] = "workspace_get_doc"
    description = (
        "Get the whole text of a document by its id or title, whatever its format. Of a long one "
        "you see the beginning: read_file by region is then better, with the coordinates that "
        "workspace_search or get_file_map tell."
    )
    arguments = DocumentArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: DocumentArguments) -> ToolResult:
        """Return `{doc_id, title, path, text, length, warnings?}`.

        Raises:
            ValidationFailed: Neither id nor title is given, or several documents have the title.
            NotFound: There is no such document.
            ToolTimeout: Documents are still being read.
        """
        known, text = await context.search.text(arguments.doc_id or None, arguments.title or None)
        return ToolResult({**_document_entry(known), "text": text, "length": len(text)})


class SummarizeTool(Tool):
    """`workspace_summarize`: a short text about a document, or about a text."""

    name: ClassVar[str] = "workspace_summarize"
    description = (
        "Summarize a document by its id, or a text: to learn what a file is about before reading "
        "it. by says who wrote the summary: a model, or extract for sentences picked from the "
        "text, of tables the columns and first rows. Never take figures from a summary; read them."
    )
    arguments = SummaryArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: SummaryArguments) -> ToolResult:
        """Return `{summary, source, original_length, by, warnings?}`; `source` is an id or "text".

        Raises:
            ValidationFailed: Not exactly one of id and text is given.
            NotFound: There is no such document.
            ToolTimeout: Documents are still being read.
        """
        text, source = arguments.text or None, "text"
        if (text is None) == (not arguments.doc_id):
            raise ValidationFailed("give one of doc_id and text")
        if text is None:
            known, text = await context.search.text(arguments.doc_id, None)
            source = known.doc_id
        made = await context.search.summarize(text, arguments.max_length)
        value = {
            "summary": made.text,
            "source": source,
            "original_length": made.original_length,
            "by": made.by,
        }
        return ToolResult({**value, "warnings": list(made.warnings)} if made.warnings else value)


def _document_entry(known: KnownDocument) -> dict[str, object]:
    entry: dict[str, object] = {
        "doc_id": known.doc_id,
        "title": known.title,
        "path": known.path,
    }
    return {**entry, "warnings": list(known.warnings)} if known.warnings else entry


_HEAD_SNIPPET_CHARACTERS = 120
"""Characters of a snippet in a receipt: the heads of five pieces fit into one."""


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


class SearchTool(Tool):
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
        documents = [_found_text(chunk) for chunk in found.chunks]
        return ToolResult(
            _answer(found, documents),
            summary=_answer(found, [_brief(chunk) for chunk in found.chunks]),
        )


def _answer(found: FoundChunks, documents: list[dict[str, Any]]) -> dict[str, Any]:
    answer = {"documents": documents, "total": len(documents), "ranker": found.ranker}
    return {**answer, "warnings": list(found.warnings)} if found.warnings else answer


def _found_text(chunk: FoundChunk) -> dict[str, Any]:
    return {**msgspec.structs.asdict(chunk), "metadata": dict(chunk.metadata)}


def _brief(chunk: FoundChunk) -> dict[str, Any]:
    """Return what a receipt needs of a piece: where it is, and what it is about."""
    # Those lines are of the whole text as it was searched; read_file does not know them.
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
