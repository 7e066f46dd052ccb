"""What a subscription is fed from: batches of events, a mark where history ends, batches again."""

from collections.abc import AsyncGenerator, Mapping
from typing import NamedTuple, Protocol

from kbd.types import Seq

__all__ = ["Batch", "Follow", "Stream", "Synced"]


class Batch(NamedTuple):
    """Events of one log, in order, without a gap to the batch before.

    Args:
        workbench_id: The log: a workbench's id, or "daemon".
        first_seq: The place of the first event.
        events: Each as the JSON of an `EventRow`; encoded once, shared by all who follow.
    """

    workbench_id: str
    first_seq: int
    events: tuple[bytes, ...]


class Synced(NamedTuple):
    """All that was recorded when the stream began has been given; by log, up to where."""

    cursors: Mapping[str, Seq]


Stream = AsyncGenerator[Batch | Synced, None]
"""History after the cursors, one `Synced`, then what is recorded, as it gathers.

It is pulled: while a client is slow it is not asked, and the log is the buffer. It ends when its
log is deleted, and raises `KbdError` where the log cannot be read on.
"""


class Follow(Protocol):
    """Opens a stream: what the core gives the server for `EventsSubscribe`."""

    async def __call__(self, subscription: str, cursors: Mapping[str, Seq], /) -> Stream:
        """Open a stream.

        Args:
            subscription: A workbench's id, "daemon", or "*" for all logs.
            cursors: The last event that the client has, by log; a log that is not named starts at
                its beginning.

        Raises:
            NotFound: There is no such log.
            ValidationFailed: A cursor is past the end of its log.
            LogCorrupt: The log cannot be read.
        """
