"""Search engine over the documents of a folder: `WorkspaceEngine`."""

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from kbd.core.search.documents import Chunk, Document, find_by_id
from kbd.core.search.documents_table import (
    NO_TEXT,
    NOT_READ,
    IndexCounts,
    count_contents,
    document_id,
    document_text,
    list_entries,
    unread_documents,
)
from kbd.core.search.embedding import AUTO, Auto, EngineEmbedder
from kbd.core.search.folder import DocumentFolder, FileSignature
from kbd.core.search.index import CurrentIndex, IndexUpdater, SearchIndex, UpdateResult
from kbd.core.search.index_file import IndexRuined, default_index_folder
from kbd.core.search.local import LocalRuntime
from kbd.core.search.ports import ListSources, PieceReader, SourceFile, TextEmbedder
from kbd.core.search.query import QueryResult, find_nearest
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.providers import Embeddings

__all__ = ["AUTO", "DOCUMENT_CHARACTERS", "Auto", "WorkspaceEngine"]

T = TypeVar("T")

_OTHER_SIZE = (
    "some pieces were not searched by meaning: the model that makes vectors was replaced by another"
    " one, and theirs are made anew"
)

DOCUMENT_CHARACTERS = 16 * 1024 * 1024
"""Of a longer document, the rest is not searched (the default of search.document_characters)."""

MAX_NAMED_DOCUMENTS = 3
"""As many documents that are not searched are named in a warning."""


class WorkspaceEngine:
    """Search engine over the documents of a folder: every file below it that kbd reads as text.

    Hidden files, the index itself, and symbolic links that leave the folder are left out. `search`,
    `list_docs` and the numbers bring the index up to date first, which takes a moment where nothing
    has changed, and reads what has. `refresh`, `find` and `embed_some` are the parts of a search;
    with `sources` of the caller's own nothing else brings the index up to date.

    Any number of threads, and of processes with engines of their own, may use one index at once. An
    engine holds a worker process and a thread from its first use on: close it, or use it in a
    `with` statement; at the end of the program it closes by itself.

    Args:
        base_dir: The folder of the documents.
        index_dir: The folder of the index: of one made before, or empty, or not there yet. A folder
            that holds anything else is refused. None for one in `$XDG_CACHE_HOME/kbd/search`.
        sources: Returns which files there are, in place of all those below `base_dir`.
        reader: Reads their text, in place of a worker of the engine's own.
        embed: Makes texts vectors, for a search by meaning; None for a search by words alone.
        document_characters: Of a longer document, the rest is not searched.

    Raises:
        NotFound: There is no folder `base_dir`.
        ValidationFailed: The folder `index_dir` holds something else, or search is not possible.
        DiskFull: There is no room for an index.
        FileWriteFailed: The folder of the index cannot be written to.
    """

    def __init__(
        self,
        base_dir: str | Path,
        index_dir: str | Path | None = None,
        *,
        sources: ListSources | None = None,
        reader: PieceReader | None = None,
        embed: TextEmbedder | Auto | None = AUTO,
        document_characters: int = DOCUMENT_CHARACTERS,
    ) -> None:
        self._base_dir = Path(base_dir)
        self._sources = sources
        if sources is None:
            # The worker is in a folder of its own, and the program may go elsewhere.
            folder = Path(os.path.abspath(base_dir))
            self._folder: DocumentFolder | None = DocumentFolder(folder)
        else:
            self._folder = None
        self._index = CurrentIndex(_index_folder(index_dir) or default_index_folder(self._base_dir))
        self._local = LocalRuntime(document_characters)
        self._updates = IndexUpdater(self._index, reader or self._local, document_characters)
        self._embedding = EngineEmbedder(self._index, self._local, embed)
        self._refreshing = threading.RLock()
        self._counts, self._embedded = IndexCounts(), 0
        # No bound method: that would refer to the engine, which then is never collected.
        self._finalizer = weakref.finalize(self, _close_all, self._index, self._local)
        self._note_counts()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def num_docs(self) -> int:
        """Number of documents."""
        self._list()
        return self._counts.documents

    @property
    def num_chunks(self) -> int:
        """Number of pieces of text in the index; the documents are read first."""
        self._read()
        return self._counts.pieces

    @property
    def has_index(self) -> bool:
        """Whether there is any text to search; the documents are read first."""
        return self.num_chunks > 0

    @property
    def embedded(self) -> int:
        """Number of pieces that had vectors at the last count; nothing is read or computed."""
        return self._embedded

    def list_docs(self) -> list[Document]:
        """Return all documents, sorted by name, also those whose text cannot be read."""
        self._list()
        return [
            Document(
                doc_id=entry.doc_id,
                title=PurePosixPath(entry.name).stem,
                path=str(self._base_dir / entry.name),
                created_at=entry.created_at,
                updated_at=entry.updated_at,
            )
            for entry in self._query_index(list_entries)
        ]

    def get_doc(self, doc_id: str) -> Document | None:
        """Return a document by its id or a beginning that no other has, None if there is none."""
        return find_by_id(self.list_docs(), doc_id)

    def get_doc_text(self, doc_id: str) -> str | None:
        """Return all text of a document; None if there is none of that id, or it cannot be read."""
        document = self.get_doc(doc_id)
        if document is None:
            return None
        whole_id = document.doc_id
        self._read(whole_id)
        return self._query_index(lambda connection: document_text(connection, whole_id))

    def unread(self) -> dict[str, str]:
        """Return why documents could not be read, or only in part, by their ids; reads none."""
        silent = self._query_index(unread_documents)
        return {doc_id: reason for doc_id, _, reason in silent if reason != NOT_READ}

    def search(self, query: str, top_k: int = 5) -> list[Chunk]:
        """Return the pieces of text nearest to a query, the nearest first.

        Args:
            query: Any text.
            top_k: How many at most.

        Raises:
            ValidationFailed: The query is blank, or `top_k` is not positive.
            KbdError: The index cannot be brought up to date.
        """
        return self.ask(query, top_k).chunks

    def ask(self, query: str, top_k: int = 5) -> QueryResult:
        """Search, and return also what ranked the pieces, and what was not searched and why."""
        _check_query(query, top_k)
        refreshed = self.refresh()
        vector, doubts = self._embedding.embed_query(query)
        self._note_counts()
        try:
            found = self.find(query, top_k, vector)
        except FileReadFailed:
            # The index turned out to be damaged, and is empty now.
            refreshed = self.refresh()
            found = self.find(query, top_k, vector)
        warnings = dict.fromkeys((*refreshed.warnings, *doubts, *found.warnings))
        return QueryResult(found.chunks, found.ranker, tuple(warnings))

    def reload_index(self, index_dir: str | Path | None = None) -> None:
        """Switch to another index, or reopen the same one.

        Searches that are under way end with the one that they began with.

        Args:
            index_dir: The folder of the other one; None for the one that is used now.

        Raises:
            KbdError: It cannot be used; the one before stays in use.
        """
        with self._refreshing:
            self._index.use(_index_folder(index_dir) or self._index.folder)
            self._note_counts()

    def refresh(
        self, sources: Sequence[SourceFile] | None = None, *, deadline_s: float | None = None
    ) -> UpdateResult:
        """Update the index; no vectors are requested.

        Args:
            sources: The files there are, in place of what the engine's own list would say.
            deadline_s: After so many seconds no other document is begun; what was read is kept.

        Raises:
            NotFound: The folder is gone.
            DiskFull: There is no room; what the index holds is safe.
            FileWriteFailed: The index cannot be written.
        """
        return self._update(sources, deadline_s)

    def find(self, query: str, top_k: int, vector: Embeddings | None = None) -> QueryResult:
        """Search the index as it is: no document is read, no embedder asked.

        Args:
            query: Any text.
            top_k: How many pieces at most.
            vector: What the query means, by the embedder of the engine; None to go by words alone.

        Raises:
            ValidationFailed: The query is blank, or `top_k` is not positive.
            FileReadFailed: The index is damaged; an empty one is in its place, to be brought up to
                date.
        """
        _check_query(query, top_k)
        index = self._index.current()
        fingerprint = self._embedding.fingerprint
        meant = None
        if vector is not None and fingerprint:
            meant = index.vectors, fingerprint, vector
        with self._index.replaced_if_ruined(index), index.reading() as connection:
            found = find_nearest(connection, query, top_k, meant)
            silent = unread_documents(connection)
        warnings = _unread_warnings([(name, reason) for _, name, reason in silent])
        if vector is not None and meant and self._embedding.delete_other_sizes_than(vector.size):
            self._note_counts()
            warnings = (_OTHER_SIZE, *warnings)
        return msgspec.structs.replace(found, warnings=warnings)

    def embed_some(self, most: int) -> int:
        """Make up to `most` missing vectors; return how many pieces lack one then.

        Raises:
            KbdError: The embedder cannot be asked; what was made before is kept.
        """
        self._embedding.embed_missing(most)
        self._note_counts()
        return self._counts.pieces - self._embedded if self._embedding.fingerprint else 0

    def close(self) -> None:
        """Close the index and end what was started for it; a second time does nothing."""
        self._finalizer()

    def _update(
        self, sources: Sequence[SourceFile] | None, deadline_s: float | None, only: str = ""
    ) -> UpdateResult:
        with self._refreshing:
            refreshed = self._retry_if_ruined(lambda _: self._updated(sources, deadline_s, only))
            self._embedding.resolve_fingerprint()
            self._note_counts()
            return refreshed

    def _updated(
        self, sources: Sequence[SourceFile] | None, deadline_s: float | None, only: str
    ) -> UpdateResult:
        updates = self._updates
        before: Mapping[str, FileSignature] = {}
        seen: Mapping[str, FileSignature] = {}
        troubles: tuple[str, ...] = ()
        if sources is None and self._folder is not None:
            before = updates.signatures()
            listing = self._folder.listing(updates.is_document, before, self._index.folder)
            sources, seen, troubles = listing.files, listing.seen, listing.troubles
        elif sources is None:
            sources = self._sources() if self._sources else ()
        files = [file for file in sources if updates.is_document(file.name)]
        due = updates.list(files, before, seen)
        if only:
            due = [file for file in due if document_id(file.name) == only]
        return UpdateResult(updates.read(due, deadline_s), troubles)

    def _list(self) -> None:
        """List the documents of an own folder, without reading any."""
        if self._folder is not None:
            # A deadline of 0 s: the files are listed, and no document is begun.
            self._update(None, 0.0)

    def _read(self, only: str = "") -> None:
        """Read the due documents of an own folder, or one of them."""
        if self._folder is not None:
            self._update(None, None, only)

    def _retry_if_ruined(self, work: Callable[[SearchIndex], T]) -> T:
        """Work with the index; if it proves ruined, once more with a new one."""
        index = self._index.current()
        try:
            return work(index)
        except IndexRuined:
            self._index.renew(index)
        index = self._index.current()
        with self._index.replaced_if_ruined(index):
            return work(index)

    def _query_index(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Query the index; if it proves ruined, once more when it is made anew."""
        index = self._index.current()
        try:
            return _read_index(index, work)
        except IndexRuined:
            self._index.renew(index)
        # The new index is empty, and would say that there are no documents.
        self._list()
        index = self._index.current()
        with self._index.replaced_if_ruined(index):
            return _read_index(index, work)

    def _note_counts(self) -> None:
        def count(connection: sqlite3.Connection) -> tuple[IndexCounts, int]:
            return count_contents(connection), self._embedding.embedded_count(connection)

        self._counts, self._embedded = self._retry_if_ruined(
            lambda index: _read_index(index, count)
        )


def _read_index(index: SearchIndex, work: Callable[[sqlite3.Connection], T]) -> T:
    with index.reading() as connection:
        return work(connection)


def _check_query(query: str, top_k: int) -> None:
    if not query.strip():
        msg = "the query is empty"
        raise ValidationFailed(msg)
    if top_k < 1:
        msg = "top_k must be at least 1"
        raise ValidationFailed(msg)


def _unread_warnings(silent: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return warnings about documents that are not searched; one without text needs none."""
    waiting = sum(reason == NOT_READ for _, reason in silent)
    why = [f"{name} ({reason})" for name, reason in silent if reason not in (NOT_READ, NO_TEXT)]
    more = f"; and {len(why) - MAX_NAMED_DOCUMENTS} more" if len(why) > MAX_NAMED_DOCUMENTS else ""
    warnings = []
    if why:
        warnings.append(
            f"not searched, or not all of it: {'; '.join(why[:MAX_NAMED_DOCUMENTS])}{more}"
        )
    if waiting:
        warnings.append(f"{waiting:,} documents have not been read yet")
    return tuple(warnings)


def _index_folder(named: str | Path | None) -> Path | None:
    return Path(os.path.abspath(named)) if named else None


def _close_all(index: CurrentIndex, local: LocalRuntime) -> None:
    index.close()
    local.close()
