"""Writing the case file of a run to where somebody wants it."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from kbd.core.archive.contents import Wanted, contents_of
from kbd.core.archive.placing import partial
from kbd.core.archive.writing import Written, write_case
from kbd.errors import FileReadFailed
from kbd.types import Seq

__all__ = ["Exported", "export"]


class Exported(msgspec.Struct, frozen=True):
    """A case file that is there.

    Args:
        size_bytes: Its size.
        seq: The last event in it.
        head: The chain value there, as hex digits.
        blobs: How many blobs are in it.
    """

    size_bytes: int
    seq: Seq
    head: str
    blobs: int


def export(wanted: Wanted, target: Path, before_naming: Callable[[Written], None]) -> Exported:
    """Write a case file; it is durable, and complete when it has its name. Blocking.

    Args:
        wanted: The run.
        target: Where to; nothing has the name, and the folder is there.
        before_naming: Called when it is written and before it has its name.

    Raises:
        LogCorrupt: Log or blobs are not whole.
        NotFound: There is no such run.
        FileReadFailed: Log or blobs cannot be read.
        DiskFull: No space is left; nothing of it is there.
        FileWriteFailed: It cannot be written there; the same.
        ValidationFailed: Something has the name by now.
    """
    try:
        contents = contents_of(wanted)
    except OSError as error:
        msg = f"the log of {wanted.folders.id} cannot be read: {error.strerror}"
        raise FileReadFailed(msg) from None
    with partial(target) as made:
        written = write_case(made.file, contents.case, contents.sources)
        before_naming(written)
        made.place()
    case = contents.case
    return Exported(written.size_bytes, Seq(case.seq), case.head, contents.blobs)
