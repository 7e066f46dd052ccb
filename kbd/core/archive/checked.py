"""What the check of a copy found."""

from typing import Literal

import msgspec

from kbd.requests.daemon import LogFault

__all__ = ["Checked"]


class Checked(msgspec.Struct, frozen=True):
    """Whether a case file or a backup is whole.

    Args:
        kind: Which it is.
        logs: How many logs it holds.
        events: How many events they hold together.
        blobs: How many file versions were compared with their hash.
        head: The chain value at the end of a case's log (64 hex digits); empty for a backup.
        faults: What is wrong; none if it is whole. The file is named as in the copy, and for a
            case the offset is a place in the case file.
    """

    kind: Literal["case", "backup"]
    logs: int
    events: int
    blobs: int
    head: str
    faults: tuple[LogFault, ...]
