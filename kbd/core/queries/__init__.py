"""Answers read from state and log: nothing here changes anything.

`events` (events as clients see them, encoded once), `listings` (workbenches, files, scope), `runs`
(runs, workshop), `conversation` (its branch as it stands), `changes` (the change set of a draft),
`sent` (what left this machine), `watches` (watched folders), `notices` (which notifications tell of
which event), `watch_notices` (the same for watched folders).
"""

from kbd.core.queries.changes import change_set
from kbd.core.queries.events import EventWire
from kbd.core.queries.notices import notification, notifications

__all__ = ["EventWire", "change_set", "notification", "notifications"]
