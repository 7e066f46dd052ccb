"""The engine: documents, their index, and what is searched in it. (Being written.)"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kbd.core.workspace.documents import Document
from kbd.core.workspace.lent import SourceFile
from kbd.providers import Embeddings

__all__ = ["WorkspaceEngine"]


class WorkspaceEngine:
    """Searches the documents of a folder."""

    num_docs = num_chunks = embedded = 0

    def __init__(self, base_dir: str | Path, index_dir: str | Path, **lent: Any) -> None:
        raise NotImplementedError

    def refresh(
        self, sources: Sequence[SourceFile] | None = None, *, deadline_s: float | None = None
    ) -> Any:
        """Bring the index up to date."""

    def find(self, query: str, top_k: int, vector: Embeddings | None = None) -> Any:
        """Return the nearest pieces."""

    def list_docs(self) -> list[Document]:
        """Return all documents."""
        return []

    def get_doc_text(self, doc_id: str) -> str | None:
        """Return a document's text."""

    def unread(self) -> Mapping[str, str]:
        """Return why documents have no text, by their ids."""
        return {}

    def embed_some(self, most: int) -> int:
        """Make missing vectors; return how many are still missing."""
        return most

    def close(self) -> None:
        """Close the index."""
