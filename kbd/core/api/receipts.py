"""Method of receipts: the document that proves what a publish changed."""

import msgspec

from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.workbenches import Workbenches
from kbd.requests import receipts as wire
from kbd.requests.base import UNSET, Request, Unset

__all__ = ["ReceiptMethods"]

MAX_INLINE_BYTES = 2 * 1024 * 1024
"""A larger receipt is read with `BlobRead`."""


class ReceiptMethods:
    """Handler of receipts."""

    def __init__(self, workbenches: Workbenches) -> None:
        self._workbenches = workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.ReceiptGet: self.get}

    async def get(self, request: wire.ReceiptGet, session: Session) -> wire.Receipt:
        """Return the receipt of a publish, made if need be.

        Raises:
            NotFound: There is no such publish.
            KbdError: It cannot be made.
        """
        del session
        named = None if isinstance(request.checkpoint_id, Unset) else request.checkpoint_id
        maker = await self._workbenches.receipts(request.workbench_id)
        with self._workbenches.held(maker.workbench_id):
            checkpoint_id, note, data = await maker.make(named)
        assert note.receipt is not None
        is_small = len(data) <= MAX_INLINE_BYTES
        return wire.Receipt(
            checkpoint_id=checkpoint_id,
            hash=note.receipt,
            size_bytes=note.receipt_bytes,
            receipt=msgspec.json.decode(data, type=dict) if is_small else UNSET,
        )
