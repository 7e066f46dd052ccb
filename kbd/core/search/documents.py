"""Documents of the workspace API: `Document`, `Chunk`, and resolution by id or title. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

from kbd.errors import NotFound, ValidationFailed

__all__ = ["Chunk", "Document", "find_by_id", "find_document"]


@dataclass
class Document:
    """A file whose text is searched.

    Attributes:
        doc_id: Its id: a hash of its path below the base folder, so it outlives its contents.
        title: Its name without folders and suffix.
        path: Where it is; in the daemon, its name in the workbench.
        created_at: When it was made, in seconds since 1970 UTC, where the system knows, else as
            `updated_at`.
        updated_at: When it was last written.
    """

    doc_id: str
    title: str
    path: str
    created_at: float
    updated_at: float


@dataclass
class Chunk:
    """A piece of a document's text.

    Attributes:
        chunk_id: Its id in the index.
        doc_id: Its document's.
        text: The piece.
        position: Its place among the pieces of its document, from 0.
        score: How near it is to what was searched for, from 0 to 1; 0 outside a search.
        metadata: `filename`, `place` (for people), `snippet`, `ranker`, `lines` (the first and the
            last in the document's text, from 1), and the coordinates that read this place of the
            file again (`sheet` and `range`, `section` and `chunk`, `slide_index`, `pages` …).
    """

    chunk_id: str
    doc_id: str
    text: str
    position: int
    score: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)


_MAX_NAMED_DOCUMENTS = 5
"""As many documents are named where several could be meant."""

_MIN_ID_CHARACTERS = 6
"""Of an id; a shorter beginning means nothing."""


def find_document(documents: Sequence[Document], doc_id: str | None, title: str | None) -> Document:
    """Find the document with an id or a title.

    Args:
        documents: Those that there are.
        doc_id: Its id, as `find_by_id` takes it; where it is given, the title is not looked at.
        title: Its title, its file's name or its path; upper and lower case are alike where nothing
            is written exactly so.

    Raises:
        ValidationFailed: Nothing is named, or several have the title; the message names them.
        NotFound: There is none; the message names near ones.
    """
    if doc_id is not None:
        return _matching_ids(documents, doc_id)
    if title is None:
        raise ValidationFailed("give doc_id or title")
    found = [each for each in documents if title in _names_document(each)]
    if not found:
        folded = title.casefold()
        found = [each for each in documents if folded in map(str.casefold, _names_document(each))]
    if not found:
        near = get_close_matches(title, [each.title for each in documents], 3)
        hint = f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
        raise NotFound(f"there is no document with the title {title[:80]!r}{hint}")
    if len(found) > 1:
        named = ", ".join(f"{each.path} ({each.doc_id})" for each in found[:_MAX_NAMED_DOCUMENTS])
        more = ", …" if len(found) > _MAX_NAMED_DOCUMENTS else ""
        msg = f"{len(found)} documents are called {title!r}; give doc_id: {named}{more}"
        raise ValidationFailed(msg)
    return found[0]


def find_by_id(documents: Sequence[Document], doc_id: str) -> Document | None:
    """Return the document with an id, or with an id that begins so if only one does."""
    if len(doc_id) < _MIN_ID_CHARACTERS:
        return None
    found = [each for each in documents if each.doc_id.startswith(doc_id)]
    return found[0] if len(found) == 1 else None


def _matching_ids(documents: Sequence[Document], doc_id: str) -> Document:
    found = find_by_id(documents, doc_id)
    if found is not None:
        return found
    named = [each.doc_id for each in documents if doc_id in _names_document(each)]
    hint = f"; that is a title, its id is {named[0]}" if len(named) == 1 else ""
    raise NotFound(f"there is no document {doc_id[:80]!r}{hint}; the list of documents tells ids")


def _names_document(document: Document) -> tuple[str, str, str]:
    return document.title, PurePath(document.path).name, document.path
