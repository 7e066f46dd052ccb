"""Methods about checkpoints: what was published at some moment, kept to be restored."""

from kbd.core.domain.commands import CreateCheckpoint
from kbd.core.domain.rewind_decisions import checkpoint_of
from kbd.core.domain.workbench_state import Checkpoint
from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Later, Session, Waiting
from kbd.core.workbench.rewind import restore_checkpoint
from kbd.events.shown import shown_time
from kbd.requests import drafts as wire
from kbd.requests.base import Request

__all__ = ["CheckpointMethods"]


class CheckpointMethods:
    """Lists, makes and restores checkpoints."""

    def __init__(self, shop: Shop) -> None:
        self._shop, self._parts = shop, shop.parts

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.CheckpointsList: self.list,
            wire.CheckpointGet: self.get,
            wire.CheckpointCreate: self.create,
            wire.CheckpointRestore: self.restore,
        }

    async def list(self, request: wire.CheckpointsList, session: Session) -> wire.CheckpointsFound:
        """List the checkpoints, oldest first."""
        del session
        bench = await self._shop.bench(request.workbench_id)
        rows = tuple(_row(checkpoint) for checkpoint in bench.state.checkpoints)
        return wire.CheckpointsFound(checkpoints=rows)

    async def get(self, request: wire.CheckpointGet, session: Session) -> wire.CheckpointFound:
        """Describe a checkpoint with its files."""
        del session
        bench = await self._shop.bench(request.workbench_id)
        found = checkpoint_of(bench.state, request.checkpoint_id)
        files = tuple(
            wire.CheckpointFile(path=file.name, size_bytes=file.size_bytes, hash=file.blob)
            for file in found.files
        )
        return wire.CheckpointFound(checkpoint=_row(found), files=files)

    def create(self, request: wire.CheckpointCreate, session: Session) -> Later | Waiting:
        """Keep what is published now."""
        del session
        checkpoint_id = f"c{self._parts.clock.new_id()}"
        return self._shop.record(
            request.workbench_id,
            lambda _: CreateCheckpoint(checkpoint_id, request.description),
            lambda _bench, _outcome: wire.CheckpointMade(checkpoint_id=checkpoint_id),
        )

    async def restore(
        self, request: wire.CheckpointRestore, session: Session
    ) -> wire.CheckpointRestored:
        """Bring what is published back to a checkpoint.

        Raises:
            KbdError: As for `restore_checkpoint`; nothing was done, but of a disk that fails.
        """
        del session
        bench = await self._shop.bench(request.workbench_id)
        done = await restore_checkpoint(bench, self._parts.clock, request.checkpoint_id)
        return wire.CheckpointRestored(
            checkpoint_id=request.checkpoint_id,
            pre_restore_checkpoint_id=done.checkpoint_id,
            files_changed=done.files,
        )


def _row(checkpoint: Checkpoint) -> wire.CheckpointRow:
    total = sum(file.size_bytes for file in checkpoint.files)
    return wire.CheckpointRow(
        checkpoint_id=checkpoint.checkpoint_id,
        created_at=shown_time(checkpoint.created_at_us),
        reason=checkpoint.reason,
        description=checkpoint.description,
        stats=wire.CheckpointStats(files=len(checkpoint.files), total_bytes=total),
    )
