"""Reading a log that somebody else may have open, or nobody: nothing on disk is changed.

`EventLog.open` makes a log ready to be written, which only its owner may do. Who looks on, a proof
in a process of its own or the check of a backup, reads through here.
"""

from collections.abc import Callable
from pathlib import Path

from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.frame import BODY_AT
from kbd.events.scan import Survey, survey
from kbd.events.segment import Block, Segment
from kbd.types import Seq

__all__ = ["read_log"]


def read_log(
    directory: Path, apply: Callable[[Seq, Recorded], None], until: Seq | None = None
) -> Survey:
    """Call `apply(seq, record)` for each event of a log, in order, up to one.

    Args:
        directory: The log's.
        apply: Takes the events.
        until: The last event wanted; all that are there if None.

    Returns:
        What the log holds: its end, and its damage, before which all was applied.

    Raises:
        LogCorrupt: A frame that is whole holds what cannot be read.
        NotUnderstood: An event that must be understood is not known.
    """

    def visit(segment: Segment, block: Block) -> None:
        del segment
        for first, _, at, stop in block.spans():
            if until is not None and first > until:
                return
            for seq, record in enumerate(codec.decode(block.data[at + BODY_AT : stop]), first):
                if until is None or seq <= until:
                    apply(Seq(seq), record)

    return survey(directory, visit=visit)
