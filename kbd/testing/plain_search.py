"""Plain search for tests of tools: it counts words, and keeps no index."""

import hashlib
from collections.abc import Sequence
from pathlib import PurePosixPath

from kbd.errors import NotFound, ValidationFailed
from kbd.formats import Readable, Source
from kbd.search import FoundChunk, FoundChunks, KnownDocument, Summary
from kbd.tools import Files, FormatCatalog

__all__ = ["PlainSearch"]


class PlainSearch:
    """`kbd.search.Search` for tests of tools: a passage is a chunk, and is as near as it has words.

    Args:
        files: The workbench's.
        formats: Those that read them.
    """

    def __init__(self, files: Files, formats: FormatCatalog) -> None:
        self._files, self._formats = files, formats

    async def find(self, query: str, top_k: int) -> FoundChunks:
        """Return the passages that hold most of the query's words."""
        words = set(query.lower().split())
        if not words:
            raise ValidationFailed("the query is empty")
        found = []
        for known, handler in self._readable():
            for number, passage in enumerate(handler.passages(self._source(known))):
                text = passage.text.lower()
                score = sum(word in text for word in words) / len(words)
                if score:
                    found.append(
                        FoundChunk(
                            chunk_id=f"{known.doc_id}-{number}",
                            doc_id=known.doc_id,
                            text=passage.text,
                            snippet=" ".join(passage.text.split())[:200],
                            score=score,
                            filename=known.path,
                            place=passage.place,
                            metadata={"lines": [1, passage.text.count("\n") + 1]},
                        )
                    )
        found.sort(key=lambda chunk: (-chunk.score, chunk.filename))
        return FoundChunks(tuple(found[:top_k]), "bm25")

    async def documents(self) -> Sequence[KnownDocument]:
        """Return the files that a format reads as text."""
        return [known for known, _ in self._readable()]

    async def text(self, doc_id: str | None, title: str | None) -> tuple[KnownDocument, str]:
        """Return a document and all its text."""
        if doc_id is None and title is None:
            raise ValidationFailed("doc_id or title is needed")
        for known, handler in self._readable():
            if known.doc_id == doc_id or (doc_id is None and known.title == title):
                passages = handler.passages(self._source(known))
                return known, "".join(passage.text for passage in passages)
        raise NotFound(f"there is no document {doc_id or title}")

    async def summarize(self, text: str, max_length: int) -> Summary:
        """Return the beginning of a text."""
        return Summary(text[:max_length], "extract", len(text))

    def _readable(self) -> list[tuple[KnownDocument, Readable]]:
        known: list[tuple[KnownDocument, Readable]] = []
        for name in self._files.names():
            handler = self._formats.for_name(name)
            if isinstance(handler, Readable):
                doc_id = hashlib.sha256(name.encode()).hexdigest()[:16]
                known.append((KnownDocument(doc_id, PurePosixPath(name).stem, name), handler))
        return known

    def _source(self, known: KnownDocument) -> Source:
        return Source(self._files.get(known.path).path, known.path)
