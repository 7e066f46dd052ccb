"""Which events of a log a run's story tells: from its request up to the next run's."""

from collections.abc import Iterable

from kbd.events.base import Recorded
from kbd.events.runs import RunStarted
from kbd.events.workbenches import UserMessageAdded
from kbd.types import Seq

__all__ = ["Numbered", "span_of"]

Numbered = tuple[Seq, Recorded]
"""An event with its number."""


def span_of(run: int, events: Iterable[Numbered]) -> list[Numbered]:
    """Return the events from the message that a run answers up to the next run's message.

    What clients do meanwhile is among them, and what becomes of the run's draft after its end.
    Empty if there is no such run. Events behind it are not asked for.

    Args:
        run: Its number.
        events: The whole log's, in order.
    """
    span: list[Numbered] = []
    is_started = False
    for seq, record in events:
        if isinstance(record.data, RunStarted) and record.run != run:
            if is_started:
                return span[: _asked_at(span, record.data.message_id)]
            span = []
            continue
        if not is_started and record.run and record.run != run:
            span = []  # An earlier run is still at work: the message comes later.
            continue
        if isinstance(record.data, RunStarted) and not is_started:
            is_started = True
            span = span[_asked_at(span, record.data.message_id) :]
        span.append((seq, record))
    return span if is_started else []


def _asked_at(span: list[Numbered], message_id: str) -> int:
    """Return the place of a message, or the end if it is not there."""
    for place in range(len(span) - 1, -1, -1):
        data = span[place][1].data
        if isinstance(data, UserMessageAdded) and data.message_id == message_id:
            return place
    return len(span)
