"""Requests about the draft, its review and publishing; and checkpoints of what is published."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, SeqParam, Unset, WorkbenchParam
from kbd.requests.pages import CursorParam, LimitParam
from kbd.requests.reviews import ChangePlace
from kbd.requests.workbenches import ExtractResult
from kbd.types import BlobHash, FileName, FocusHint, RunId, Seq

__all__ = [
    "ChangeRow",
    "ChangeSet",
    "ChangeType",
    "CheckpointCreate",
    "CheckpointFile",
    "CheckpointFound",
    "CheckpointGet",
    "CheckpointMade",
    "CheckpointRestore",
    "CheckpointRestored",
    "CheckpointRow",
    "CheckpointStats",
    "CheckpointsFound",
    "CheckpointsList",
    "DeletionConfirmations",
    "DiscardedDraft",
    "DiscardedDraftsFound",
    "DiscardedFile",
    "DraftDiscard",
    "DraftDiscarded",
    "DraftGetState",
    "DraftListDiscarded",
    "DraftPublish",
    "DraftPublished",
    "DraftRebase",
    "DraftRebased",
    "DraftRecovered",
    "DraftRequest",
    "DraftSource",
    "DraftState",
    "KeptBoth",
    "RebaseConflict",
    "RebasedPath",
    "ReviewGetChangeSet",
    "ReviewGetDeletionConfirmations",
    "ReviewSetDeletionConfirmations",
    "WorkbenchRecover",
]

ChangeType = Literal["added", "modified", "deleted", "renamed"]
"""What can happen to a file in a draft."""

_CheckpointParam = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]

_PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class _DraftRequest(Request):
    """The root of the requests about the draft."""

    subject: ClassVar[str] = "draft"


class _ReviewRequest(Request):
    """The root of the requests about its review."""

    subject: ClassVar[str] = "review"


class DraftSource(msgspec.Struct, frozen=True, kw_only=True):
    """What opened the draft: "run" with its id, or "client"."""

    kind: str
    ref: str


class DraftState(Answer):
    """Whether there is a draft, and which."""

    has_draft: bool
    draft_id: str | Unset = UNSET
    created_at: str | Unset = UNSET
    source: DraftSource | Unset = UNSET


class DraftGetState(_DraftRequest):
    """Ask whether there is a draft."""

    answer: ClassVar[type[Any]] = DraftState

    workbench_id: WorkbenchParam


class KeptBoth(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was published beside one that had changed meanwhile."""

    path: FileName
    published_as: FileName


class DraftPublished(Answer):
    """What was published.

    Args:
        published_at: ISO 8601, UTC.
        checkpoint_id: The checkpoint of what published/ held before.
        published: The files that changed there.
        kept_both: Those that got another name.
    """

    published_at: str
    checkpoint_id: str
    published: tuple[FileName, ...]
    kept_both: tuple[KeptBoth, ...]


class DraftPublish(_DraftRequest):
    """Put the draft, or a part of it, into published/.

    Args:
        paths: Only these; all if absent.
        on_conflict: What to do where a published file changed meanwhile.
        accept_external: Whether files with new external references or other active content may be
            published.
    """

    answer: ClassVar[type[Any]] = DraftPublished

    workbench_id: WorkbenchParam
    paths: tuple[_PathText, ...] | Unset = UNSET
    on_conflict: Literal["refuse", "keep_both"] = "refuse"
    accept_external: bool = False


class RebaseConflict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something in a file that a rebase would have to guess.

    Args:
        path: The file.
        place: Where in it; of the whole file only its title.
        reason: What is in the way.
        before: What was there when the draft began.
        ours: What the draft makes of it.
        theirs: What is published now.
        seq: The event of the draft's change, where it is certain which one that is.
        tool: The tool or method that made it.
        run_id: Its run.
        item: The plan item that the run worked on, from 1.
    """

    path: FileName
    place: ChangePlace
    reason: str
    before: Any = UNSET
    ours: Any = UNSET
    theirs: Any = UNSET
    seq: int | Unset = UNSET
    tool: str | Unset = UNSET
    run_id: RunId | Unset = UNSET
    item: int | Unset = UNSET


class RebasedPath(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was rebased.

    Args:
        path: The file.
        calls: How many calls were made again on what is published now.
        in_draft: Whether the draft still differs from that; not if both made the same.
    """

    path: FileName
    calls: int
    in_draft: bool


class DraftRebased(Answer):
    """What a rebase did; with conflicts it did nothing, and the draft is as it was.

    Args:
        draft_id: The draft that there is now; null if no difference is left.
        rebased: The files whose edits were applied to what is published now.
        conflicts: What is in the way, file by file.
        unchanged: The files that nobody changed in published/.
    """

    draft_id: str | None
    rebased: tuple[RebasedPath, ...]
    conflicts: tuple[RebaseConflict, ...]
    unchanged: tuple[FileName, ...]


class DraftRebase(_DraftRequest):
    """Apply the draft's edits to what somebody changed in published/ since it began.

    The result is a new draft to review.

    Args:
        paths: Only these files; all if absent.
    """

    answer: ClassVar[type[Any]] = DraftRebased

    workbench_id: WorkbenchParam
    paths: tuple[_PathText, ...] | Unset = UNSET


class DraftDiscarded(Answer):
    """Whether there was a draft to discard."""

    discarded: bool


class DraftDiscard(_DraftRequest):
    """Throw the draft away."""

    answer: ClassVar[type[Any]] = DraftDiscarded

    workbench_id: WorkbenchParam


class DiscardedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a draft that ended.

    Args:
        path: Its name.
        change_type: What the draft did to it.
        size_bytes: Its size in the draft; 0 if deleted.
        is_available: Whether its bytes are there; recovering checks them by their hash, too.
        collected: When and why they were removed, if that was done on purpose.
    """

    path: FileName
    change_type: ChangeType
    size_bytes: int
    is_available: bool
    collected: str | Unset = UNSET


class DiscardedDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A draft that ended without being published.

    Args:
        draft_id: Its id; one that came back and ended again is listed for each end.
        ended_seq: The event that ended it.
        reason: What ended it: a person discarded it, undid it, or wanted another answer.
        discarded_at: When it ended.
        created_at: When it was opened.
        run_id: The run whose write opened it, if one did.
        files: What it held.
        is_complete: Whether the bytes of all its files are there.
    """

    draft_id: str
    ended_seq: Seq
    reason: Literal["discard", "undo", "regenerate"]
    discarded_at: str
    created_at: str
    run_id: RunId | Unset = UNSET
    files: tuple[DiscardedFile, ...]
    is_complete: bool


class DiscardedDraftsFound(Answer):
    """The drafts that can be recovered, newest first, and how many there are in all."""

    drafts: tuple[DiscardedDraft, ...]
    total: int


class DraftListDiscarded(_DraftRequest):
    """List the drafts that ended without being published and can be recovered.

    Args:
        limit: The most that are listed.
    """

    answer: ClassVar[type[Any]] = DiscardedDraftsFound

    workbench_id: WorkbenchParam
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 50


class DraftRecovered(Answer):
    """What came back of a draft.

    Args:
        draft_id: Which draft.
        ended_seq: The event that had ended it.
        recovered: The files that are in the draft again, or were written to the folder.
        already_published: Those left out because just these bytes are published.
        changed_since: Those whose published version changed since the draft began: a publish finds
            the conflict.
        extract_results: Of a recovery into a folder, what became of each file.
    """

    draft_id: str
    ended_seq: Seq
    recovered: tuple[FileName, ...]
    already_published: tuple[FileName, ...] = ()
    changed_since: tuple[FileName, ...] = ()
    extract_results: tuple[ExtractResult, ...] | Unset = UNSET


class WorkbenchRecover(_DraftRequest):
    """Make a discarded draft the draft again, or write its files to a folder.

    Args:
        draft_id: Which; the newest if absent.
        ended_seq: The event that ended it, of one that ended more than once; the last if absent.
        paths: Only these files; all if absent.
        destination_dir: Write the files to this folder and leave the draft as it is; a taken name
            becomes `a(1).txt`, nothing is overwritten.
    """

    answer: ClassVar[type[Any]] = DraftRecovered

    workbench_id: WorkbenchParam
    draft_id: Annotated[str, msgspec.Meta(max_length=64)] | Unset = UNSET
    ended_seq: SeqParam | Unset = UNSET
    paths: tuple[_PathText, ...] | Unset = UNSET
    destination_dir: _PathText | Unset = UNSET


class CheckpointStats(msgspec.Struct, frozen=True, kw_only=True):
    """How much a checkpoint holds."""

    files: int
    total_bytes: int


class CheckpointRow(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint."""

    checkpoint_id: str
    created_at: str
    reason: str
    description: str
    stats: CheckpointStats


class CheckpointsFound(Answer):
    """The checkpoints of a workbench, oldest first unless asked for otherwise.

    Args:
        checkpoints: All of them, or a page.
        total: How many there are that match the filter, on all pages; only with a limit or cursor.
        next_cursor: Where the next page begins, if there are more.
    """

    checkpoints: tuple[CheckpointRow, ...]
    total: int | Unset = UNSET
    next_cursor: str | Unset = UNSET


class CheckpointsList(_DraftRequest):
    """List the checkpoints of a workbench.

    None is ever removed, by an undo neither, and new ones come behind the others. So pages show
    each checkpoint once that was there when the first page was asked for.

    Args:
        reason: Only checkpoints that were made for this: `publish`, `undo`, `manual`, …
        descending: Whether the newest come first.
        limit: How many checkpoints at most.
        cursor: Where to begin.
    """

    answer: ClassVar[type[Any]] = CheckpointsFound

    workbench_id: WorkbenchParam
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | Unset = UNSET
    descending: bool = False
    limit: LimitParam | Unset = UNSET
    cursor: CursorParam | Unset = UNSET


class CheckpointFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a checkpoint; its bytes are read with `BlobRead`."""

    path: FileName
    size_bytes: int
    hash: BlobHash


class CheckpointFound(Answer):
    """One checkpoint with its files, by name."""

    checkpoint: CheckpointRow
    files: tuple[CheckpointFile, ...]


class CheckpointGet(_DraftRequest):
    """Ask what a checkpoint holds."""

    answer: ClassVar[type[Any]] = CheckpointFound

    workbench_id: WorkbenchParam
    checkpoint_id: _CheckpointParam


class CheckpointMade(Answer):
    """The checkpoint is recorded."""

    checkpoint_id: str


class CheckpointCreate(_DraftRequest):
    """Keep what is published now, so that it can be restored.

    Args:
        description: For people.
    """

    answer: ClassVar[type[Any]] = CheckpointMade

    workbench_id: WorkbenchParam
    description: Annotated[str, msgspec.Meta(max_length=1000)] = ""


class CheckpointRestored(Answer):
    """What is published is what it was at the checkpoint.

    Args:
        checkpoint_id: Which.
        pre_restore_checkpoint_id: The checkpoint of what was published before.
        files_changed: The files that are other than before.
    """

    checkpoint_id: str
    pre_restore_checkpoint_id: str
    files_changed: tuple[FileName, ...]


class CheckpointRestore(_DraftRequest):
    """Bring what is published back to a checkpoint; refused while a draft is open."""

    answer: ClassVar[type[Any]] = CheckpointRestored

    workbench_id: WorkbenchParam
    checkpoint_id: _CheckpointParam


class ChangeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One changed file.

    Args:
        path: Its name.
        change_type: What happened to it.
        file_kind: What it is.
        preview_kind: How it can be shown.
        size_bytes: Its size in the draft; 0 if deleted.
        size_before: Its size in published/.
        summary: What changed, in a sentence.
        focus_hint: Where to look first.
        warnings: What the reader must see before publishing.
        run_id: The run that changed it last, or None.
        items: The plan items that changed it, counted from 1.
        previous_path: Of a renamed file, its name before.
    """

    path: FileName
    change_type: ChangeType
    file_kind: str
    preview_kind: str
    size_bytes: int
    size_before: int | Unset = UNSET
    summary: str | Unset = UNSET
    focus_hint: FocusHint | Unset = UNSET
    warnings: tuple[str, ...] = ()
    run_id: RunId | None = None
    items: tuple[int, ...] = ()
    previous_path: FileName | Unset = UNSET


class ChangeSet(Answer):
    """What the draft changes; an empty list if nothing.

    Args:
        draft_id: The draft, or None if there is none.
        changes: The files.
        draft_summary: What the run that made it says.
    """

    draft_id: str | None
    changes: tuple[ChangeRow, ...]
    draft_summary: str | Unset = UNSET


class ReviewGetChangeSet(_ReviewRequest):
    """Ask what the draft changes."""

    answer: ClassVar[type[Any]] = ChangeSet

    workbench_id: WorkbenchParam


class DeletionConfirmations(Answer):
    """Which deletions are confirmed, and which the publish still needs."""

    confirmed: tuple[FileName, ...]
    pending: tuple[FileName, ...]


class ReviewSetDeletionConfirmations(_ReviewRequest):
    """Confirm that these files may be deleted by the publish."""

    answer: ClassVar[type[Any]] = DeletionConfirmations

    workbench_id: WorkbenchParam
    paths: tuple[_PathText, ...]


class ReviewGetDeletionConfirmations(_ReviewRequest):
    """Ask which deletions are confirmed."""

    answer: ClassVar[type[Any]] = DeletionConfirmations

    workbench_id: WorkbenchParam


DraftRequest = (
    DraftGetState
    | DraftPublish
    | DraftRebase
    | DraftDiscard
    | DraftListDiscarded
    | WorkbenchRecover
    | CheckpointsList
    | CheckpointGet
    | CheckpointCreate
    | CheckpointRestore
    | ReviewGetChangeSet
    | ReviewSetDeletionConfirmations
    | ReviewGetDeletionConfirmations
)
"""The requests of this subject."""
