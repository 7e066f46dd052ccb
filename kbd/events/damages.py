"""Events of damage on the disk that a verification found, and of its end. In the daemon's log."""

from kbd.events.base import Fact
from kbd.types import WorkbenchId

__all__ = ["DamageEvent", "DamageFound", "DamageMended"]


class DamageFound(Fact):
    """A verification found damage that was not known: bytes on the disk are not what they were.

    Args:
        workbench_id: Whose log, or whose blob; "daemon" for the daemon's own log.
        kind: What sort of fault it is (`kbd.events.faults`).
        file: The file's name, within the folder of the log or of the blobs.
        offset: Where in it, in bytes.
        seq: The event that was expected there, or that names the blob; 0 if there is none.
        reason: What is wrong.
    """

    workbench_id: WorkbenchId
    kind: str
    file: str
    offset: int = 0
    seq: int = 0
    reason: str = ""


class DamageMended(Fact):
    """A verification found whole again what was damaged.

    Args:
        workbench_id: As it was found.
        kind: Likewise.
        file: Likewise.
    """

    workbench_id: WorkbenchId
    kind: str
    file: str


DamageEvent = DamageFound | DamageMended
"""Events of damage."""
