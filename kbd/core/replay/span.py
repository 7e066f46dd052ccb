"""Which events of a log a run's story tells: from its request up to the next run's."""

from collections.abc import Iterable

from kbd.events.base import Recorded
from kbd.events.runs import RunStarted
from kbd.events.workbenches import ConversationRewound, UserMessageAdded
from kbd.types import Seq

__all__ = ["Numbered", "Span", "span_of"]

Numbered = tuple[Seq, Recorded]
"""An event with its number."""


class Span:
    """Takes the events of a whole log, in order, and keeps those of one run's story.

    Those are all from the message that the run answers up to the next run's message: what clients
    do meanwhile is among them, and what becomes of the run's draft after its end.

    Args:
        run: The run's number.

    Attributes:
        events: What it keeps; none if there is no such run.
        is_over: Whether the next run has begun: nothing is kept any more.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._is_started = self.is_over = False
        self._start = -1
        self._kept: list[Numbered] = []

    @property
    def events(self) -> list[Numbered]:
        """What it keeps."""
        return self._kept if self._is_started else []

    def note(self, seq: Seq, record: Recorded) -> None:
        """Take the next event."""
        if self.is_over:
            return
        is_start = isinstance(record.data, RunStarted)
        if is_start and self._is_started and record.run != self._run:
            del self._kept[self._asked_at(record.data) :]
            self.is_over = True
            return
        if not self._is_started and record.run not in (0, self._run):
            self._kept.clear()  # An earlier run is still at work: the message comes later.
            return
        if is_start and not self._is_started:
            self._is_started = True
            del self._kept[: self._asked_at(record.data)]
            self._start = len(self._kept)
        self._kept.append((seq, record))

    def _asked_at(self, started: RunStarted) -> int:
        """Return the place of what a run answers; the end if that is not behind our run's start.

        It is a message, or that the conversation was set back to one for another answer.
        """
        for place in range(len(self._kept) - 1, self._start, -1):
            match self._kept[place][1].data:
                case UserMessageAdded(message_id=started.message_id):
                    return place
                case ConversationRewound(message_id=started.message_id, reason="regenerate"):
                    return place
        return len(self._kept)


def span_of(run: int, events: Iterable[Numbered]) -> list[Numbered]:
    """Return the events of a run's story; those behind it are not asked for.

    Args:
        run: Its number.
        events: The whole log's, in order.
    """
    span = Span(run)
    for seq, record in events:
        span.note(seq, record)
        if span.is_over:
            break
    return span.events
