"""Methods about the draft, its review and its publishing."""

import msgspec

from kbd.core.domain.commands import ConfirmDeletions, DiscardDraft
from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Later, Session, Waiting
from kbd.core.workbench.change_set import change_set, deletion_confirmations
from kbd.core.workbench.publish import publish
from kbd.core.workbench.sandbox import file_name
from kbd.events.shown import shown_time
from kbd.requests import drafts as wire
from kbd.requests.base import Request
from kbd.requests.notifications import DraftPublishProgress, PublishPhase

__all__ = ["DraftMethods"]


class DraftMethods:
    """Shows a draft, publishes it, or throws it away."""

    def __init__(self, shop: Shop) -> None:
        self._shop, self._parts = shop, shop.parts

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.DraftGetState: self.state,
            wire.DraftPublish: self.publish,
            wire.DraftDiscard: self.discard,
            wire.ReviewGetChangeSet: self.changes,
            wire.ReviewSetDeletionConfirmations: self.confirm,
            wire.ReviewGetDeletionConfirmations: self.confirmations,
        }

    async def state(self, request: wire.DraftGetState, session: Session) -> wire.DraftState:
        """Say whether there is a draft, and where it came from."""
        del session
        state = (await self._shop.bench(request.workbench_id)).state
        draft = state.draft
        if draft is None:
            return wire.DraftState(has_draft=False)
        kind, ref = ("run", state.run_id(draft.run)) if draft.run else ("client", "")
        return wire.DraftState(
            has_draft=True,
            draft_id=draft.draft_id,
            created_at=shown_time(draft.created_at_us),
            source=wire.DraftSource(kind=kind, ref=ref),
        )

    async def publish(self, request: wire.DraftPublish, session: Session) -> wire.DraftPublished:
        """Publish the draft, or some of its files."""
        del session
        bench = await self._shop.bench(request.workbench_id)
        paths = request.paths

        def progress(phase: PublishPhase) -> None:
            told = DraftPublishProgress(workbench_id=bench.id, phase=phase)
            self._parts.tell(told)

        names = None
        if not isinstance(paths, msgspec.UnsetType):
            names = tuple(file_name(path) for path in paths)
        return await publish(
            bench,
            self._parts.clock,
            names=names,
            keep_both=request.on_conflict == "keep_both",
            accept_external=request.accept_external,
            progress=progress,
        )

    def discard(self, request: wire.DraftDiscard, session: Session) -> Later | Waiting:
        """Throw the draft away."""
        del session
        return self._shop.record(
            request.workbench_id,
            lambda _: DiscardDraft(),
            lambda _bench, _outcome: wire.DraftDiscarded(discarded=True),
        )

    async def changes(self, request: wire.ReviewGetChangeSet, session: Session) -> wire.ChangeSet:
        """Say what the draft changes."""
        del session
        return change_set(await self._shop.bench(request.workbench_id), self._parts.catalog)

    def confirm(
        self, request: wire.ReviewSetDeletionConfirmations, session: Session
    ) -> Later | Waiting:
        """Confirm deletions, so that a publish may carry them out."""
        del session
        names = tuple(file_name(path) for path in request.paths)
        return self._shop.record(
            request.workbench_id,
            lambda _: ConfirmDeletions(names),
            lambda bench, _: deletion_confirmations(bench.state),
        )

    async def confirmations(
        self, request: wire.ReviewGetDeletionConfirmations, session: Session
    ) -> wire.DeletionConfirmations:
        """Say which deletions are confirmed."""
        del session
        return deletion_confirmations((await self._shop.bench(request.workbench_id)).state)
