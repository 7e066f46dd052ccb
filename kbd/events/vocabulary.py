"""Vocabulary of the log: every type of event, once, as one closed union.

A name here is for ever: it is what stands on disk. Deltas, progress and spinners are not events.
Plugins cannot add types, so a log reads with no plugin installed.

Each subject's module ends with the union of its events; a new type is added there.
"""

from kbd.events.drafts import DraftEvent
from kbd.events.runs import RunEvent
from kbd.events.watches import WatchEvent
from kbd.events.workbenches import WorkbenchEvent

__all__ = ["VERSIONS", "Event"]

Event = WorkbenchEvent | RunEvent | DraftEvent | WatchEvent
"""Everything that can be recorded."""

VERSIONS: dict[type, int] = dict.fromkeys(Event.__args__, 1)
"""The version in which each type is written today; what is older is lifted when it is read."""
