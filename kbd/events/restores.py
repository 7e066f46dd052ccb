"""Events about a restore: what a log says from then on is no person's word until one repeats it.

A backup may be a stranger's work. Its logs are taken over whole, and these events end what people
had agreed to in them. Both must be understood: a kbd that skipped them would go on as if nothing
had happened.
"""

from kbd.events.base import Fact

__all__ = ["HomeRestored", "RestoreEvent", "WorkbenchRestored"]


class HomeRestored(Fact):
    """The home was made from a backup. In the daemon's log, behind all that the backup had.

    From here on consent is asked for, every watch is paused, and nothing that its rule does by
    itself is done before a person confirmed it by name.

    Args:
        restore_id: The name of this restore, drawn at random: no backup can hold it beforehand.
        created_at: The time of the backup; ISO 8601, UTC.
    """

    restore_id: str
    created_at: str


class WorkbenchRestored(Fact):
    """The workbench came with a restored home; recorded before anything is done in it.

    No consent holds from here on, no deletion is confirmed, no external reference accepted, and
    what was being written outside of the home is given up.

    Args:
        restore_id: The restore, as in the daemon's log.
    """

    restore_id: str


RestoreEvent = HomeRestored | WorkbenchRestored
"""Events of a restore."""
