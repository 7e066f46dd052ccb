"""Methods of the review: what a draft changes inside its files, and who touched what."""

from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import open_formats
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.blame import answer_blame
from kbd.core.workbench.content_diff import answer_diff
from kbd.requests import reviews as wire
from kbd.requests.base import Request

__all__ = ["ReviewMethods"]


class ReviewMethods:
    """Handlers of the review: compare a file of the draft, tell who touched a place of a file."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.ReviewGetDiff: self.diff, wire.ReviewGetBlame: self.blame}

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
