"""Requests about a workbench's documents: searching, listing, reading and summarizing them."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam

__all__ = [
    "DocumentFound",
    "DocumentRow",
    "DocumentSummarized",
    "DocumentsFound",
    "FoundRow",
    "IndexReloaded",
    "SearchAnswered",
    "WorkspaceGetDoc",
    "WorkspaceListDocs",
    "WorkspaceReloadIndex",
    "WorkspaceRequest",
    "WorkspaceSearch",
    "WorkspaceSummarize",
]

_DocId = Annotated[str, msgspec.Meta(min_length=1, max_length=64, description="A document's id.")]
_Title = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class _WorkspaceRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "search"

    workbench_id: WorkbenchParam


class FoundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a document that was found.

    Args:
        chunk_id: Its id.
        doc_id: Its document's.
        text: The whole piece.
        score: How near, from 0 to 1.
        filename: The document's name in the workbench.
        place: Where in it, as people would name it.
        snippet: The part of the text that is nearest, in one line.
        metadata: The coordinates that read this place again, and its `lines` in the whole text.
    """

    chunk_id: str
    doc_id: str
    text: str
    score: float
    filename: str
    place: str
    snippet: str
    metadata: dict[str, Any]


class SearchAnswered(Answer):
    """What was found.

    Args:
        documents: Nearest first.
        total: How many they are.
        ranker: What ranked them: "bm25", "embeddings" or "hybrid".
        warnings: What was not searched, or not by meaning, and why.
    """

    documents: tuple[FoundRow, ...]
    total: int
    ranker: str
    warnings: tuple[str, ...]


class WorkspaceSearch(_WorkspaceRequest):
    """Search all documents of a workbench, by meaning where an embedder is set up.

    Args:
        query: What to look for, in words.
        top_k: How many pieces to return at the most.
    """

    answer: ClassVar[type[Any]] = SearchAnswered

    query: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
    top_k: Annotated[int, msgspec.Meta(ge=1, le=100)] = 5


class DocumentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A document.

    Args:
        doc_id: Its id, by its name.
        title: Its name without folders and suffix.
        path: Its name in the workbench.
        warnings: Why some or all of its text is not searched.
    """

    doc_id: str
    title: str
    path: str
    warnings: tuple[str, ...] = ()


class DocumentsFound(Answer):
    """All documents, sorted by path.

    Args:
        documents: They.
        total: How many they are.
    """

    documents: tuple[DocumentRow, ...]
    total: int


class WorkspaceListDocs(_WorkspaceRequest):
    """List the documents: the files whose text can be read."""

    answer: ClassVar[type[Any]] = DocumentsFound


class DocumentFound(Answer):
    """A document with its text.

    Args:
        doc_id: Its id.
        title: Its title.
        path: Its name in the workbench.
        text: All its text; of a longer one than `max_characters`, the beginning.
        length: How long the whole text is, in characters.
        has_more: Whether there is more after this part.
    """

    doc_id: str
    title: str
    path: str
    text: str
    length: int
    has_more: bool = False


class WorkspaceGetDoc(_WorkspaceRequest):
    """Read a document's whole text. One of `doc_id` and `title` is needed.

    Args:
        doc_id: Its id.
        title: Its title.
        offset: The first character that is wanted.
        max_characters: The most characters of the answer.
    """

    answer: ClassVar[type[Any]] = DocumentFound

    doc_id: _DocId | Unset = UNSET
    title: _Title | Unset = UNSET
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0
    max_characters: Annotated[int, msgspec.Meta(ge=1, le=1024 * 1024)] = 256 * 1024


class DocumentSummarized(Answer):
    """A summary.

    Args:
        summary: The text.
        source: Which document it is of: its id, or "text".
        original_length: Of the whole text, in characters.
        by: Who made it: a model (`provider:model`), or "extract" for sentences picked from it.
        warnings: Why no model made it, though there is one; what was left out.
    """

    summary: str
    source: str
    original_length: int
    by: str
    warnings: tuple[str, ...]


class WorkspaceSummarize(_WorkspaceRequest):
    """Summarize a document or a text. One of `doc_id` and `text` is needed.

    Args:
        doc_id: The document.
        text: The text.
        max_length: The most characters of the summary.
    """

    answer: ClassVar[type[Any]] = DocumentSummarized

    doc_id: _DocId | Unset = UNSET
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=1024 * 1024)] | Unset = UNSET
    max_length: Annotated[int, msgspec.Meta(ge=20, le=20_000)] = 500


class IndexReloaded(Answer):
    """The index as it is now.

    Args:
        num_docs: How many documents it has.
        num_chunks: How many pieces of text.
        embedded: Of how many of them the meaning is known.
        embedder: What makes texts vectors, "" for nothing.
        index_dir: Where it lies, if a folder of the client's was named.
        warnings: Which documents are not searched, and why.
    """

    num_docs: int
    num_chunks: int
    embedded: int
    embedder: str
    index_dir: str | Unset = UNSET
    warnings: tuple[str, ...] = ()


class WorkspaceReloadIndex(_WorkspaceRequest):
    """Bring the index up to date with the documents, and wait for it.

    Vectors are made after that, while others work; `embedded` tells how many there are.

    Args:
        index_dir: An absolute path: use the index in this folder from now on, and make it there if
            there is none; absent, the one in use. The folder must be empty, new, or an index.
    """

    answer: ClassVar[type[Any]] = IndexReloaded

    index_dir: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | Unset = UNSET


WorkspaceRequest = (
    WorkspaceSearch
    | WorkspaceListDocs
    | WorkspaceGetDoc
    | WorkspaceSummarize
    | WorkspaceReloadIndex
)
"""The requests of this subject."""
