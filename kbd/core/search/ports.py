"""Ports of a search engine: the list of files, the reader of their text, the embedder.

The library provides a folder, one worker and an embedder of this machine; the daemon a workbench's
files, its own workers, and an embedder behind consent. All of it is called in the thread that
called the engine, and may block it.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from kbd.providers import Embeddings

__all__ = ["ListSources", "PieceReader", "SourceFile", "TextEmbedder"]


class SourceFile(msgspec.Struct, frozen=True):
    """A file that may be a document.

    Args:
        name: Its path below the base folder, components joined by `/`.
        content: The SHA-256 of its bytes, in hex digits.
        path: Where the bytes are.
        size_bytes: How many.
        created_at: In seconds since 1970 UTC.
        updated_at: Likewise.
    """

    name: str
    content: str
    path: Path
    size_bytes: int
    created_at: float = 0.0
    updated_at: float = 0.0


ListSources = Callable[[], Sequence[SourceFile]]
"""Returns all files that there are now, sorted by name."""


class PieceReader(Protocol):
    """Reads the text of files, cut into pieces (`kbd.core.plugins.pieces`)."""

    def edition(self, name: str) -> str:
        """Return name and version of the format that reads such files; "" if none does.

        What is read by another edition is read again.
        """

    def read(self, file: SourceFile, target: Path) -> None:
        """Write the pieces of a file to `target`, which does not exist yet.

        Raises:
            KbdError: The file cannot be read; the message names it and why.
        """


class TextEmbedder(Protocol):
    """Embedder of texts."""

    @property
    def model_id(self) -> str:
        """The model that makes the vectors (`embedder:model`), for people."""

    @property
    def most_texts(self) -> int:
        """The most texts of one call."""

    def fingerprint(self) -> str:
        """Return the key of its vectors; raises KbdError if it cannot be asked now."""

    def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embeddings:
        """Return the vectors of texts, which are looked for or looked in; raises KbdError."""
