"""The method that makes a workbench of another one."""

import msgspec

from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.fork import fork_workbench
from kbd.requests import workbenches as wire
from kbd.requests.base import Request
from kbd.types import Seq

__all__ = ["ForkMethods"]


class ForkMethods:
    """Forks workbenches."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.WorkbenchFork: self.fork}

    async def fork(self, request: wire.WorkbenchFork, session: Session) -> wire.WorkbenchForked:
        """Make a workbench of what another one holds, or held.

        Raises:
            KbdError: As for `fork_workbench`; there is no fork.
        """
        message_id, seq = request.from_message_id, request.from_seq
        with self._shop.benches.held(request.source_workbench_id):
            workbench_id = await fork_workbench(
                self._shop.parts,
                self._shop.benches,
                request.source_workbench_id,
                request.mode,
                request.name,
                message_id=None if isinstance(message_id, msgspec.UnsetType) else message_id,
                seq=None if isinstance(seq, msgspec.UnsetType) else Seq(seq),
            )
        session.name(workbench_id)
        state = (await self._shop.bench(workbench_id)).state
        return wire.WorkbenchForked(
            workbench_id=workbench_id,
            parent_workbench_id=request.source_workbench_id,
            mode=request.mode,
            source_seq=state.parent.source_seq if state.parent else Seq(0),
            files=len(state.files),
            messages=len(state.said),
        )
