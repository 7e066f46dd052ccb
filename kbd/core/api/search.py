"""Methods of a workbench's documents: search, list, read, summarize, reload the index."""

from collections.abc import Sequence

import msgspec

from kbd.core.search.lookup import DocumentLookup
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_files, open_formats
from kbd.core.sessions.search_access import open_lookup, use_index
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import ValidationFailed
from kbd.requests import workspace as wire
from kbd.requests.base import Request, Unset
from kbd.search import KnownDocument

__all__ = ["WorkspaceMethods"]


class WorkspaceMethods:
    """Handlers of document search, as an agent's tools do it; only what leaves is recorded."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WorkspaceSearch: self.search,
            wire.WorkspaceListDocs: self.list,
            wire.WorkspaceGetDoc: self.get,
            wire.WorkspaceSummarize: self.summarize,
            wire.WorkspaceReloadIndex: self.reload,
        }

    async def search(self, request: wire.WorkspaceSearch, session: Session) -> wire.SearchAnswered:
        """Find the nearest pieces of text."""
        call = await self._call(request.workbench_id, session)
        found = await call.find(request.query, request.top_k)
        rows = tuple(
            wire.FoundRow(**msgspec.structs.asdict(chunk) | {"metadata": dict(chunk.metadata)})
            for chunk in found.chunks
        )
        return wire.SearchAnswered(
            documents=rows, total=len(rows), ranker=found.ranker, warnings=found.warnings
        )

    async def list(self, request: wire.WorkspaceListDocs, session: Session) -> wire.DocumentsFound:
        """List the documents."""
        call = await self._call(request.workbench_id, session)
        rows = _render_rows(await call.documents())
        return wire.DocumentsFound(documents=rows, total=len(rows))

    async def get(self, request: wire.WorkspaceGetDoc, session: Session) -> wire.DocumentFound:
        """Return a document's text, or a part of it."""
        call = await self._call(request.workbench_id, session)
        known, text = await call.text(_none_if_unset(request.doc_id), _none_if_unset(request.title))
        end = request.offset + request.max_characters
        return wire.DocumentFound(
            doc_id=known.doc_id,
            title=known.title,
            path=known.path,
            text=text[request.offset : end],
            length=len(text),
            has_more=end < len(text),
        )

    async def summarize(
        self, request: wire.WorkspaceSummarize, session: Session
    ) -> wire.DocumentSummarized:
        """Summarize a document or a text."""
        call = await self._call(request.workbench_id, session)
        text, doc_id = _none_if_unset(request.text), _none_if_unset(request.doc_id)
        if (text is None) == (doc_id is None):
            msg = "give one of doc_id and text"
            raise ValidationFailed(msg)
        source = "text"
        if text is None:
            known, text = await call.text(doc_id, None)
            source = known.doc_id
        made = await call.summarize(text, request.max_length)
        return wire.DocumentSummarized(
            summary=made.text,
            source=source,
            original_length=made.original_length,
            by=made.by,
            warnings=made.warnings,
        )

    async def reload(
        self, request: wire.WorkspaceReloadIndex, session: Session
    ) -> wire.IndexReloaded:
        """Bring the index up to date, perhaps in another folder."""
        folder = _none_if_unset(request.index_dir)
        if folder is not None:
            workbench = await self._workbenches.open(request.workbench_id)
            await use_index(self._context, workbench, folder)
        call = await self._call(request.workbench_id, session)
        documents, engine = await call.documents(), await call.refresh()
        silent = [f"{known.path}: {why}" for known in documents for why in known.warnings]
        return wire.IndexReloaded(
            num_docs=engine.num_docs,
            num_chunks=engine.num_chunks,
            embedded=engine.embedded,
            embedder=self._context.egress.embedder().model_id,
            index_dir=request.index_dir,
            warnings=tuple(silent),
        )

    async def _call(self, workbench_id: str, session: Session) -> DocumentLookup:
        workbench = (await self._workbenches.open(workbench_id)).acting(session.actor)
        files, formats = (
            open_files(self._context, workbench),
            open_formats(self._context, workbench),
        )
        model_id = self._context.egress.models.chosen_or_default(workbench.state.model_id)
        return open_lookup(self._context, workbench, files, formats, 0, model_id)


def _none_if_unset(value: str | Unset) -> str | None:
    return None if isinstance(value, Unset) else value


def _render_rows(documents: Sequence[KnownDocument]) -> tuple[wire.DocumentRow, ...]:
    return tuple(
        wire.DocumentRow(
            doc_id=known.doc_id, title=known.title, path=known.path, warnings=known.warnings
        )
        for known in documents
    )
