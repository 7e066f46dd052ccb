"""Records of the workspace API: `Document` and `Chunk`."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Chunk", "Document"]


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
