"""What a decision is: the events to record, the run they belong to, and where they follow from."""

import msgspec

from kbd.events.vocabulary import Event
from kbd.types import Seq

__all__ = ["Decision"]


class Decision(msgspec.Struct, frozen=True):
    """Events that land together or not at all; none if there is nothing to do.

    Args:
        events: What happened, in order.
        run: The run they belong to, or 0.
        cause: The event they follow from, or 0.
    """

    events: tuple[Event, ...] = ()
    run: int = 0
    cause: Seq = Seq(0)
