"""Search of a workbench's documents for one tool call: `kbd.search.Search` over an engine.

The index follows the files that the call sees, so the same call on the same files answers the same
again. Where an embedder or a model is asked, `outside` says so, for then it may not.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from anyio import from_thread
from anyio.to_thread import run_sync

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.search.documents import Chunk, Document, find_document
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.engine_pool import PooledEngine
from kbd.core.search.ports import SourceFile
from kbd.core.search.summary import extract_summary
from kbd.core.workbench.call_files import CallFiles
from kbd.errors import (
    DiskFull,
    FileReadFailed,
    KbdError,
    LogCorrupt,
    NotFound,
    ToolTimeout,
    UserCanceled,
    ValidationFailed,
)
from kbd.events.base import ModelShare
from kbd.providers import Embeddings
from kbd.search import FoundChunk, FoundChunks, KnownDocument, Summary
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

__all__ = ["CallReader", "DocumentLookup", "LookupModels", "NoLookupModels", "open_lexical_engine"]


class CallReader:
    """`kbd.core.search.ports.PieceReader` over a workbench's formats.

    Its thread must be one that anyio started for the event loop that the workers belong to.

    Args:
        formats: The formats.
        most_characters: Of a longer document, the rest is left out.
    """

    def __init__(self, formats: FormatCalls, most_characters: int) -> None:
        self._formats, self._most_characters = formats, most_characters

    def edition(self, name: str) -> str:
        """Return the edition of the format that reads files of that name; "" if none does."""
        return self._formats.edition(name)

    def read(self, file: SourceFile, target: Path) -> None:
        """Write the pieces of a file to `target`; raises KbdError."""
        ref = FileRef(FileName(file.name), BlobHash(file.content), file.size_bytes, file.path)
        from_thread.run(self._formats.pieces, ref, target, self._most_characters)


_CHUNK_FIELDS = ("filename", "place", "snippet", "ranker")
"""What of a chunk's metadata is told beside it."""


MAX_MISSING_SHARE = 0.1
"""Where more pieces than this lack a vector, meaning is left out: what happens to have one would
stand before what fits."""

_CALL_ENDING = (DiskFull, LogCorrupt, UserCanceled)
"""What ends the call: nothing more can be recorded, or nothing more is wanted."""


class LookupModels(Protocol):
    """Embedder and model that a lookup may ask."""

    @property
    def embedder(self) -> str:
        """The embedder, "" for none."""

    @property
    def doubt(self) -> str:
        """Reason why the named embedder is unavailable, "" if it is not or none is named."""

    @property
    def model(self) -> str:
        """The model that writes summaries, "" for none."""

    async def vector(self, query: str) -> tuple[Embeddings, ModelShare]:
        """Return the vector of a query; raises KbdError."""

    async def summary(self, text: str, max_length: int) -> tuple[Summary, ModelShare]:
        """Return a summary of a text by the model; raises KbdError."""

    def make_vectors(self) -> None:
        """Start making the missing vectors in the background; return at once."""


class NoLookupModels:
    """`LookupModels` without embedder and model."""

    embedder = model = doubt = ""

    async def vector(self, query: str) -> tuple[Embeddings, ModelShare]:
        """Refuse."""
        msg = f"there is no embedder for {query!r}"
        raise ValidationFailed(msg)

    async def summary(self, text: str, max_length: int) -> tuple[Summary, ModelShare]:
        """Refuse."""
        msg = f"there is no model for {len(text)} characters in {max_length}"
        raise ValidationFailed(msg)

    def make_vectors(self) -> None:
        """Do nothing."""


class DocumentLookup:
    """`kbd.search.Search` for one call.

    Args:
        pooled: The workbench's engine.
        files: The files as the call sees them.
        asking: Whom it may ask.
        limit_s: How long documents may be read before the call is told to come again.
    """

    def __init__(
        self, pooled: PooledEngine, files: CallFiles, asking: LookupModels, limit_s: float
    ) -> None:
        self._pooled, self._files = pooled, files
        self._asking, self._limit_s = asking, limit_s
        self._outside: ModelShare | None = None

    @property
    def outside(self) -> ModelShare | None:
        """The model or embedder that contributed to the answers so far, or None."""
        return self._outside

    async def find(self, query: str, top_k: int) -> FoundChunks:
        """Return the nearest pieces of text; see `kbd.search.Search.find`."""
        if not query.strip():
            msg = "the query is empty"
            raise ValidationFailed(msg)
        async with self._pooled.lock:
            engine = await self._refreshed()
            vector, doubts = await self._vector(engine, query)
            try:
                found = await read_in_turn(engine.find, query, top_k, vector)
            except FileReadFailed:
                # The index was damaged; a new one is in its place, and empty.
                engine = await self._refreshed()
                # Without the query's vector: the new index has none that it could be compared with.
                found = await read_in_turn(engine.find, query, top_k, None)
        warnings = tuple(dict.fromkeys((*doubts, *found.warnings)))
        return FoundChunks(tuple(map(_found_chunk, found.chunks)), found.ranker, warnings)

    async def documents(self) -> Sequence[KnownDocument]:
        """Return the documents, sorted by name."""
        async with self._pooled.lock:
            engine = await self._refreshed()
            unread = await run_sync(engine.unread)
            return [
                _known_document(document, unread) for document in await run_sync(engine.list_docs)
            ]

    async def text(self, doc_id: str | None, title: str | None) -> tuple[KnownDocument, str]:
        """Return a document and all its text; see `kbd.search.Search.text`."""
        async with self._pooled.lock:
            engine = await self._refreshed()
            unread = await run_sync(engine.unread)
            document = find_document(await run_sync(engine.list_docs), doc_id, title)
            text = await read_in_turn(engine.get_doc_text, document.doc_id)
        known = _known_document(document, unread)
        if text is None:
            reason = "; ".join(known.warnings) or "its text cannot be read"
            raise NotFound(f"{known.path} has no text: {reason}")
        return known, text

    async def summarize(self, text: str, max_length: int) -> Summary:
        """Return a summary by the model where there is one; see `kbd.search.Search.summarize`."""
        why: tuple[str, ...] = ()
        if self._asking.model and len(text) > max_length:
            # Before it is asked: that it failed is its part in the answer, too, and cannot be
            # repeated.
            self._took_part(ModelShare(self._asking.model))
            try:
                summary, share = await self._asking.summary(text, max_length)
            except _CALL_ENDING:
                raise
            except KbdError as error:
                why = (f"{self._asking.model} did not summarize it: {error.message}",)
            else:
                self._took_part(share)
                return summary
        picked = await read_in_turn(extract_summary, text, max_length)
        return Summary(picked, "extract", len(text), why)

    async def refresh(self) -> WorkspaceEngine:
        """Bring the index up to date, and return the engine; raises ToolTimeout if that is long."""
        async with self._pooled.lock:
            return await self._refreshed()

    async def _refreshed(self) -> WorkspaceEngine:
        engine = await self._pooled.engine()
        sources = [_source_file(self._files, name) for name in self._files.names()]
        # Abandoned when the call is canceled: the worker that reads is ended with it, and the
        # engine keeps what was read before.
        done = await run_sync(
            partial(engine.refresh, sources, deadline_s=self._limit_s), abandon_on_cancel=True
        )
        if done.left:
            msg = (
                f"{done.left} of {len(sources)} files are still to be read for the search; what was"
                " read is kept: ask again"
            )
            raise ToolTimeout(msg)
        return engine

    async def _vector(
        self, engine: WorkspaceEngine, query: str
    ) -> tuple[Embeddings | None, tuple[str, ...]]:
        """Return the query's vector if there are vectors to compare it with, and warnings."""
        asking = self._asking
        if asking.doubt:
            self._took_part(ModelShare(asking.embedder))
            return None, (f"not searched by meaning: {asking.doubt}",)
        if not asking.embedder:
            return None, ()
        self._took_part(ModelShare(asking.embedder))
        pooled = self._pooled
        # What an earlier daemon made counts as soon as the embedder said whose it is; vectors of
        # another one, which people have disabled since, are not compared with this one's.
        is_other = pooled.embedder != asking.embedder
        if is_other and pooled.is_filling:
            return None, ("not searched by meaning: vectors are being made",)
        if (is_other or not engine.embedded) and not pooled.is_filling:
            try:
                await run_sync(engine.embed_some, 0, abandon_on_cancel=True)
            except KbdError as error:
                return None, (f"not searched by meaning: {error.message}",)
            pooled.embedder = asking.embedder
        missing = engine.num_chunks - engine.embedded
        doubts: tuple[str, ...] = ()
        if missing:
            asking.make_vectors()
            why = self._pooled.problem
            reason = f"{missing:,} of {engine.num_chunks:,} pieces are not yet known by meaning"
            doubts = (f"{reason}: {why}" if why else reason,)
        if not engine.embedded or missing > MAX_MISSING_SHARE * engine.num_chunks:
            return None, doubts
        try:
            vector, share = await asking.vector(query)
        except _CALL_ENDING:
            raise
        except KbdError as error:
            return None, (*doubts, f"not searched by meaning: {error.message}")
        self._took_part(share)
        return vector, doubts

    def _took_part(self, share: ModelShare) -> None:
        """Add the usage of a model or an embedder; the last one asked is named."""
        before = self._outside or ModelShare(share.model_id)
        self._outside = ModelShare(
            share.model_id, before.usage + share.usage, before.cost + share.cost
        )


def open_lexical_engine(formats: FormatCalls, index: Path, most_characters: int) -> PooledEngine:
    """Return an engine that searches by words alone, without an embedder.

    Args:
        formats: Those that read the documents.
        index: The folder of its index, perhaps not there yet.
        most_characters: Of a longer document, the rest is not searched.
    """
    reader = CallReader(formats, most_characters)
    return PooledEngine(
        lambda: WorkspaceEngine(
            "",
            index,
            # No files of its own, so no folder is walked: each call names its files in `refresh`.
            sources=tuple,
            reader=reader,
            embed=None,
            document_characters=most_characters,
        )
    )


def _source_file(files: CallFiles, name: FileName) -> SourceFile:
    file = files.get(name)
    return SourceFile(name, file.blob, file.path, file.size_bytes)


def _known_document(document: Document, unread: Mapping[str, str]) -> KnownDocument:
    why = unread.get(document.doc_id)
    warnings = () if why is None else (why,)
    name = FileName(document.path)
    return KnownDocument(document.doc_id, document.title, name, warnings)


def _found_chunk(chunk: Chunk) -> FoundChunk:
    metadata = {name: value for name, value in chunk.metadata.items() if name not in _CHUNK_FIELDS}
    return FoundChunk(
        chunk_id=chunk.chunk_id,
        doc_id=chunk.doc_id,
        text=chunk.text,
        snippet=chunk.metadata["snippet"],
        score=chunk.score,
        filename=FileName(chunk.metadata["filename"]),
        place=chunk.metadata["place"],
        metadata=metadata,
    )
