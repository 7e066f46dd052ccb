"""What the page of a review is made of: the answers that clients get, a file at a time."""

import msgspec

from kbd.requests.drafts import ChangeRow, ChangeSet, DeletionConfirmations
from kbd.requests.formats import PreviewGrid, PreviewPicture
from kbd.requests.reviews import ContentDiff

__all__ = ["DraftReview", "FileReview", "PicturePair", "SheetGrids"]


class SheetGrids(msgspec.Struct, frozen=True, kw_only=True):
    """Windows of a sheet or table, of both versions.

    Args:
        sheet: The sheet's name in the draft's version, or in the other if it is gone; "" for a
            table without sheets.
        before: Windows of the reference.
        after: Windows of the draft's version.
    """

    sheet: str
    before: tuple[PreviewGrid, ...] = ()
    after: tuple[PreviewGrid, ...] = ()


class PicturePair(msgspec.Struct, frozen=True, kw_only=True):
    """A page, slide or picture in both versions.

    Args:
        unit: What it is, for people: "page", "slide", "picture".
        number: Which one in the draft's version, from 1; of one that is gone, in the reference.
        before: How it looked; None if it was not there.
        after: How it looks; None if it is gone.
        is_same: Whether the two are the same bytes.
    """

    unit: str
    number: int
    before: PreviewPicture | None = None
    after: PreviewPicture | None = None
    is_same: bool = False


class FileReview(msgspec.Struct, frozen=True, kw_only=True):
    """All that is shown of a file.

    Args:
        row: The file in the change set.
        diff: What differs inside it; None where that could not be told.
        problem: Why it could not.
        grids: The cells around its changes.
        pictures: How its pages, slides or frames look, the changed ones first.
        pictures_left_out: How many more there would be.
        notes: Why something is not shown.
    """

    row: ChangeRow
    diff: ContentDiff | None = None
    problem: str = ""
    grids: tuple[SheetGrids, ...] = ()
    pictures: tuple[PicturePair, ...] = ()
    pictures_left_out: int = 0
    notes: tuple[str, ...] = ()


class DraftReview(msgspec.Struct, frozen=True, kw_only=True):
    """A draft as it is reviewed.

    Args:
        workbench_id: The workbench.
        name: What it is called.
        change_set: Its changed files.
        deletions: Which deletions are confirmed.
        files: The files, in the order of the change set.
    """

    workbench_id: str
    name: str
    change_set: ChangeSet
    deletions: DeletionConfirmations
    files: tuple[FileReview, ...]
