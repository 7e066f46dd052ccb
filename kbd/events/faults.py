"""Faults of a log, as a closed set; told apart where they are found.

A fault is named by what the bytes prove, not by what somebody may have done: checksums that do not
match are damage, right checksums under a wrong chain of hashes are an edit, for no accident makes
them. Where two stories leave the same bytes the reason says so.
"""

from enum import StrEnum
from typing import Literal, assert_never, cast

from kbd.errors import LogCorrupt

__all__ = ["FaultKind", "Problem", "damage_error", "fault_error", "fault_kind"]

FaultKind = Literal[
    "damaged",
    "edited",
    "truncated",
    "missing",
    "swapped",
    "anchor",
    "blob missing",
    "blob damaged",
    "archive missing",
    "archive damaged",
    "unknown",
    "head",
    "name",
]
"""
damaged        bytes were changed by accident: a checksum does not match
edited         changed on purpose: the checksums are right, the chain, numbers or anchor are not
truncated      a file ends too early, or acknowledged events are missing at the end
missing        a segment is gone
swapped        a segment or a frame is not where it was written, or is of another log
anchor         what says how far the log was durable is missing or cannot be read
blob missing   a file version that an event names is not there
blob damaged   it is there and is not what its name, a hash, says
archive missing, archive damaged
               the file that a workbench is packed in is not there, or is not what was packed
unknown        a newer kbd must read this
head           the log is whole, and is not the one whose head was kept elsewhere
name           an event names what would lead elsewhere, or the log is another workbench's
"""


class Problem(StrEnum):
    """Why the bytes at a place are no frame of a log; empty if there is nothing against it."""

    NONE = ""
    NO_FRAME = "no frame begins here"
    CHECKSUM = "the frame's checksum does not match its bytes"
    ELSEWHERE = "the frame does not follow from the one before it"
    REWRITTEN = "the frame follows from another one than the one before it, so the log was changed"
    CONTENT = "the frame's number or body is wrong"
    CUT_SHORT = "the frame is cut short"

    @property
    def kind(self) -> FaultKind:
        """The sort of fault that it is, if it is one and no torn write."""
        match self:
            case Problem.NONE | Problem.NO_FRAME | Problem.CHECKSUM:
                return "damaged"
            case Problem.ELSEWHERE:
                return "swapped"
            case Problem.REWRITTEN | Problem.CONTENT:
                return "edited"
            case Problem.CUT_SHORT:
                return "truncated"
            case _:
                assert_never(self)


def fault_error(reason: str, kind: FaultKind) -> LogCorrupt:
    """Return the error for a fault whose place is known elsewhere."""
    return LogCorrupt(reason, detail={"kind": kind})


def damage_error(
    reason: str, name: str, offset: int, seq: int, kind: FaultKind = "damaged"
) -> LogCorrupt:
    """Return the error for damage at a place.

    Args:
        reason: What is wrong there, as half a sentence.
        name: The file's name.
        offset: The first byte that cannot be trusted.
        seq: The sequence number that was expected there.
        kind: What sort of fault it is.
    """
    return LogCorrupt(
        f"the log is damaged: {reason} ({name}, offset {offset}, event {seq})",
        actions=("look at it with `kbd verify`; everything before the damage can be read",),
        detail={"file": name, "offset": offset, "seq": seq, "reason": reason, "kind": kind},
    )


def fault_kind(error: LogCorrupt) -> FaultKind:
    """Return the kind of fault of an error.

    One that says none is of contents that nobody can read although their checksum is right.
    """
    return cast("FaultKind", error.detail.get("kind", "edited"))
