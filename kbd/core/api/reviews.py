"""Methods of the review: what a draft changes inside its files, as data and as HTML; who did it."""

import hashlib
from functools import partial
from pathlib import Path

import msgspec
from anyio import CapacityLimiter, from_thread
from anyio.to_thread import run_sync

from kbd.core.audit.review_page.document import page_of, piece_of, piece_style
from kbd.core.audit.review_page.gather import gather_file, gather_review
from kbd.core.audit.review_page.records import DraftReview, FileReview
from kbd.core.audit.whole_paths import check_target, write_whole
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_formats
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.blame import answer_blame
from kbd.core.workbench.change_set import change_set, deletion_confirmations
from kbd.core.workbench.content_diff import answer_diff
from kbd.core.workbench.extraction import record_planned_writes
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import ValidationFailed
from kbd.events.base import Actor, FileVersion
from kbd.requests import reviews as wire
from kbd.requests.base import Request, Unset
from kbd.types import BlobHash, FileName

__all__ = ["ReviewMethods"]

MAX_PIECE_BYTES = 4 * 1024 * 1024
"""A piece with its pictures; past it they are left out. A message is at most 10 MiB."""

MAX_CONCURRENT_PAGES = 2
"""How many pages are written at a time; more wait for their turn."""


class ReviewMethods:
    """Handlers of the review: compare a file of the draft, and draw all of it as HTML."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches
        # Threads of their own: the disk that is written to may hang for ever.
        self._threads = CapacityLimiter(MAX_CONCURRENT_PAGES)

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.ReviewGetDiff: self.diff,
            wire.ReviewGetBlame: self.blame,
            wire.ReviewGetHtml: self.html,
        }

    async def diff(self, request: wire.ReviewGetDiff, session: Session) -> wire.ContentDiff:
        """Compare the draft's version of a file with its reference."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        return await answer_diff(workbench, open_formats(self._context, workbench), request)

    async def blame(self, request: wire.ReviewGetBlame, session: Session) -> wire.Blame:
        """Tell which calls touched a place of a file."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        return await answer_blame(workbench, open_formats(self._context, workbench), request)

    async def html(self, request: wire.ReviewGetHtml, session: Session) -> wire.ReviewHtml:
        """Write the page of a draft, or answer the piece of one file.

        Raises:
            ValidationFailed: No draft is open; the target is taken or no place for a file; or
                neither a target nor a path is given, or a piece is too large.
            NotFound: There is no such workbench, or the draft changes no such file.
            KbdError: The page cannot be written.
        """
        workbench = await self._workbenches.open(request.workbench_id)
        with self._workbenches.held(workbench.id):
            if isinstance(request.target, Unset):
                return await self._piece(workbench, request.path)
            thread = partial(run_sync, limiter=self._threads, abandon_on_cancel=True)
            target = await thread(check_target, request.target, self._context.home.folder)
            review = await self._gather(workbench, request.path)
            page = (await read_in_turn(page_of, review)).encode("utf-8", "replace")
            announce = partial(self._announce, target, page, session.actor)
            await thread(write_whole, target, page, announce)
        return wire.ReviewHtml(files=len(review.files), size_bytes=len(page), target=str(target))

    async def _gather(self, workbench: OpenWorkbench, path: str | Unset) -> DraftReview:
        """Gather a draft, or one file of it as if it were all."""
        formats, catalog = open_formats(self._context, workbench), self._context.catalog
        if isinstance(path, Unset):
            return await gather_review(workbench, formats, catalog)
        file = await gather_file(workbench, formats, catalog, path)
        changes = change_set(workbench, catalog)
        deletions = deletion_confirmations(workbench.state)
        own = (file.row.path,)
        return DraftReview(
            workbench_id=workbench.id,
            name=workbench.state.name,
            change_set=msgspec.structs.replace(changes, changes=(file.row,)),
            deletions=msgspec.structs.replace(
                deletions,
                confirmed=tuple(each for each in deletions.confirmed if each in own),
                pending=tuple(each for each in deletions.pending if each in own),
            ),
            files=(file,),
        )

    async def _piece(self, workbench: OpenWorkbench, path: str | Unset) -> wire.ReviewHtml:
        if isinstance(path, Unset):
            msg = "name a target for the page, or the path of one file"
            raise ValidationFailed(msg)
        formats = open_formats(self._context, workbench)
        file = await gather_file(workbench, formats, self._context.catalog, path)
        html = await read_in_turn(piece_of, file)
        if len(html.encode("utf-8", "replace")) > MAX_PIECE_BYTES:
            html = await read_in_turn(piece_of, _without_pictures(file))
        size_bytes = len(html.encode("utf-8", "replace"))
        if size_bytes > MAX_PIECE_BYTES:
            msg = f"the piece of {file.row.path} is too large for an answer; name a target"
            raise ValidationFailed(msg)
        return wire.ReviewHtml(files=1, size_bytes=size_bytes, html=html, style=piece_style())

    def _announce(self, target: Path, page: bytes, actor: Actor) -> None:
        """Record the planned write, so that no watch of the folder takes it; in a thread."""
        sha256 = hashlib.sha256(page).hexdigest()
        file = FileVersion(FileName(target.name), BlobHash(sha256), len(page))
        daemon = self._workbenches.daemon
        record = partial(record_planned_writes, actor=actor)
        from_thread.run(record, daemon, str(target.parent), (file,))


def _without_pictures(file: FileReview) -> FileReview:
    left_out = len(file.pictures) + file.pictures_left_out
    return msgspec.structs.replace(file, pictures=(), pictures_left_out=left_out)
