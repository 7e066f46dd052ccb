"""Event subscription of a client: what was read for a follower, and how far it was given."""

from collections import deque

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Event = dict[str, Any]

__all__ = ["EVERY_LOG", "FollowedEvents"]

EVERY_LOG = "*"
"""The name of the subscription to all logs."""


class FollowedEvents:
    """Events that were read for a follower, and how far they were given.

    A connection may be told of a log twice, by a subscription of its own and by the one to all. So
    an event counts only if it is the next of its log, which makes each count once, without a gap.

    Attributes:
        given: The last event that was given, by log.
        is_over: Whether no more will come, because the log was deleted.

    Args:
        log: A workbench's id, "daemon", or "*" for all logs.
        cursors: The last event that the caller has, by log.
    """

    def __init__(self, log: str, cursors: dict[str, int]) -> None:
        self.log = log
        self.given = dict(cursors)
        self.is_over = False
        self._read = dict(cursors)
        self._events: deque[tuple[str, Event]] = deque()

    def __len__(self) -> int:
        return len(self._events)

    @property
    def subscription(self) -> "Event":
        """What EventsSubscribe is asked, to go on after what was read."""
        if self.log == EVERY_LOG:
            return {"workbench_id": EVERY_LOG, "cursors": self._read}
        return {"workbench_id": self.log, "after": self._read[self.log]}

    def follows(self, log: str) -> bool:
        """Return whether events of this log are wanted."""
        return self.log in (log, EVERY_LOG)

    def take(self, log: str, events: "list[Event]") -> None:
        """Take what an EventsAppended tells, as far as it comes next."""
        after = self._read.get(log, 0)
        if events and events[0]["seq"] <= after + 1:
            self._events.extend((log, event) for event in events if event["seq"] > after)
            self._read[log] = max(after, events[-1]["seq"])

    def give(self) -> "tuple[str, Event]":
        """Return the next event and its log; there must be one."""
        log, event = self._events.popleft()
        self.given[log] = event["seq"]
        return log, event
