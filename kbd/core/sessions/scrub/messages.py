"""Messages between the daemon and the process that verifies for it, each behind its length."""

import struct
from typing import Literal

import msgspec

from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.domain.found_damage import FoundDamage
from kbd.types import BlobHash

__all__ = [
    "LENGTH",
    "BlobsReached",
    "LogScrubbed",
    "ScrubAnswer",
    "ScrubLog",
    "ScrubRequest",
    "ScrubTurn",
]

LENGTH = struct.Struct(">I")
"""Before each message: how many bytes it has, in MessagePack."""


class ScrubLog(msgspec.Struct, frozen=True, tag=True):
    """Verify a log and the blobs that it names; the next request comes when it is answered.

    Args:
        log_id: Its workbench's id, or "daemon".
        durable: Its end, number and chain value, as whoever has it open knows it.
        reached: Blobs up to this one, in the order of hashes, were verified before; "" for none.
        suspects: Those of them that were damaged or missing, which are looked at again.
        archive: The archive that its workbench is packed in, which is verified as a whole.
    """

    log_id: str
    durable: tuple[int, bytes] | None = None
    reached: str = ""
    suspects: tuple[BlobHash, ...] = ()
    archive: ArchivedCopy | None = None


class ScrubTurn(msgspec.Struct, frozen=True, tag=True):
    """Pause at once, or go on where it was; it may come at any time."""

    to: Literal["pause", "go on"]


ScrubRequest = ScrubLog | ScrubTurn


class BlobsReached(msgspec.Struct, frozen=True, tag=True):
    """Progress of a verification, which can be gone on with from here.

    Args:
        reached: As in `ScrubLog`.
        suspects: Likewise.
        size_bytes: How many bytes were read since what was told before.
    """

    reached: str
    suspects: tuple[BlobHash, ...]
    size_bytes: int


class LogScrubbed(msgspec.Struct, frozen=True, tag=True):
    """End of a verification.

    Args:
        size_bytes: As in `BlobsReached`.
        faults: What is wrong.
        unread: Why it could not be read just now, which says nothing of the log; "" if it was.
    """

    size_bytes: int
    faults: tuple[FoundDamage, ...] = ()
    unread: str = ""


ScrubAnswer = BlobsReached | LogScrubbed
