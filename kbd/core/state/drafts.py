"""The parts of state about the draft and about checkpoints."""

import msgspec

from kbd.events.base import FileVersion
from kbd.types import BlobHash, FileName

__all__ = ["Checkpoint", "Draft", "DraftFile"]


class DraftFile(msgspec.Struct):
    """A file that differs in the draft.

    Args:
        base: The published bytes that the draft started from, or None for a new file.
        blob: The draft's bytes, or None for a deletion.
        size_bytes: The size of `blob`.
        base_size_bytes: The size of `base`.
        run: The run that changed it last, or 0.
        items: The plan items that changed it, in order.
        warnings: What the review should show, and a publish asks about.
        notes: What the review shows beside it.
    """

    base: BlobHash | None
    blob: BlobHash | None
    size_bytes: int = 0
    base_size_bytes: int = 0
    run: int = 0
    items: list[int] = []
    warnings: list[str] = []
    notes: list[str] = []


class Draft(msgspec.Struct):
    """What is not published yet. There is no draft without a changed file.

    Args:
        draft_id: Its name.
        created_at_us: When the first write opened it.
        run: The run whose write opened it, or 0 for a person.
        files: What differs, by name.
        confirmed: Names whose deletion a person confirmed.
    """

    draft_id: str
    created_at_us: int
    run: int = 0
    files: dict[FileName, DraftFile] = {}
    confirmed: list[FileName] = []


class Checkpoint(msgspec.Struct, frozen=True):
    """What published/ held at a moment."""

    checkpoint_id: str
    created_at_us: int
    reason: str
    description: str
    files: tuple[FileVersion, ...]
