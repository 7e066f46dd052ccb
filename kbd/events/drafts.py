"""Events about the draft, its review and its publishing, and about what leaves the workbench."""

from typing import Literal

import msgspec

from kbd.events.base import Fact, FileVersion
from kbd.events.workbenches import ConversationRewound, DraftThen
from kbd.types import BlobHash, CallId, FileName, FocusHint

__all__ = [
    "CheckpointCreated",
    "CheckpointRestored",
    "DeletionConfirmed",
    "DraftDiscarded",
    "DraftEvent",
    "DraftOpened",
    "DraftRebased",
    "DraftRecovered",
    "EffectAborted",
    "EffectDone",
    "EffectIntended",
    "FileAdopted",
    "FileChanged",
    "PlannedFile",
    "PublishAborted",
    "PublishCompleted",
    "PublishIntended",
    "ReceiptMade",
]


class DraftOpened(Fact):
    """The first write opened a draft."""

    draft_id: str


class FileChanged(Fact):
    """The draft's version of a file changed.

    Args:
        name: The file.
        before: The hash of its bytes before, or None if it did not exist.
        after: The hash of its bytes now, or None if it is deleted.
        size_bytes: Its size now.
        before_size_bytes: Its size before.
        call_id: The tool call that wrote it, if one did.
        cause: "edit"; "rollback" for what a failed attempt had written; "removal" by a person;
            "rebase" for an edit that was applied again to what is published now.
        warnings: What the review should show of the file as it is now, whichever edit of the draft
            brought it: external references and other active content.
        before_warnings: What it should have shown before.
        notes: What edits of the draft noticed that the review may show, and nothing waits for.
        before_notes: The same before.
        focus: Where the review should look first.
        before_focus: The same before.
    """

    name: FileName
    before: BlobHash | None
    after: BlobHash | None
    size_bytes: int = 0
    before_size_bytes: int = 0
    call_id: CallId | None = None
    cause: Literal["edit", "rollback", "removal", "rebase"] = "edit"
    warnings: tuple[str, ...] = ()
    before_warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    before_notes: tuple[str, ...] = ()
    focus: FocusHint | None = None
    before_focus: FocusHint | None = None


class DraftDiscarded(Fact):
    """The draft was thrown away; its versions stay recoverable as blobs."""

    draft_id: str


class FileAdopted(Fact):
    """What somebody put into published/ beside kbd is the published version from now on.

    The draft's version of the file, if it has one, is this one until the changes follow that were
    applied to it again.

    Args:
        name: The file.
        blob: The hash of its bytes there, or None if it is not there any more.
        size_bytes: Their size.
    """

    name: FileName
    blob: BlobHash | None
    size_bytes: int = 0


class DraftRebased(Fact):
    """The draft is a new one, to be reviewed: its changes were applied to what is published now.

    It ends the frame that holds the adopted files and all that was applied again.

    Args:
        draft_id: The name of the new draft; of none, if no difference was left.
        from_draft_id: The draft that it was.
        files: The files of it that were rebased.
    """

    draft_id: str
    from_draft_id: str
    files: tuple[FileName, ...]


class DraftRecovered(Fact):
    """A draft that had ended without being published is the draft again, whole or in part.

    Args:
        draft: The draft as it is now; no deletion in it is confirmed.
        ended_seq: The event that had ended it.
        is_whole: Whether nothing of it was left behind but what is published by now.
        runs: The runs whose changes count as discarded no more.
    """

    draft: DraftThen
    ended_seq: int
    is_whole: bool = True
    runs: tuple[int, ...] = ()


class DeletionConfirmed(Fact):
    """A person confirmed that these files may be deleted by the publish."""

    names: tuple[FileName, ...]


class PlannedFile(msgspec.Struct, frozen=True):
    """One file of a publish.

    Args:
        name: Its name in published/.
        old: The hash that must be there, or None for no file.
        new: The hash that will be there, or None for a deletion.
        size_bytes: The new size.
    """

    name: FileName
    old: BlobHash | None
    new: BlobHash | None
    size_bytes: int = 0


class PublishIntended(Fact):
    """A publish will be carried out, by this daemon or the next: all its bytes are durable.

    Args:
        publish_id: Its name.
        files: What published/ will hold of the changed files.
        kept_both: Pairs of a draft file's name and the name it gets because the published one
            changed meanwhile.
        rewind: What is recorded when published/ is again as it was then: an undo that reaches
            behind a publish. The draft is not what is published.
        restores: The checkpoint that published/ is brought back to, or "".
        accepted: The files with new active content that were published all the same, because who
            asked accepted it; each with what was warned of.
    """

    publish_id: str
    files: tuple[PlannedFile, ...]
    kept_both: tuple[tuple[FileName, FileName], ...] = ()
    rewind: ConversationRewound | None = None
    restores: str = ""
    accepted: tuple[tuple[FileName, tuple[str, ...]], ...] = ()


class PublishCompleted(Fact):
    """The publish is carried out and its checkpoint recorded.

    Args:
        publish_id: Its name.
        checkpoint_id: The checkpoint of what published/ held before.
        conflicted: Files that somebody changed in the moment between the check and the rename,
            each with the name under which kbd's version was put; the same name for a deletion
            that was therefore not carried out.
    """

    publish_id: str
    checkpoint_id: str
    conflicted: tuple[tuple[FileName, FileName], ...] = ()


class PublishAborted(Fact):
    """The publish was given up before anything changed, for the reason given."""

    publish_id: str
    reason: str


class CheckpointCreated(Fact):
    """What published/ held at this moment can be restored later.

    Args:
        checkpoint_id: Its name.
        reason: Before what: "publish", "undo", "regenerate" or "pre_restore"; or "manual".
        description: For people.
        files: All files.
        made_at_us: When, if that was in the workbench that this one was forked from; else 0.
    """

    checkpoint_id: str
    reason: str
    description: str
    files: tuple[FileVersion, ...]
    made_at_us: int = 0


class CheckpointRestored(Fact):
    """Published/ is again what it was at a checkpoint.

    Args:
        checkpoint_id: Which.
        pre_restore_checkpoint_id: The checkpoint of what it was before.
    """

    checkpoint_id: str
    pre_restore_checkpoint_id: str


class ReceiptMade(Fact):
    """The receipt of a publish was made: a document that proves what it changed.

    Args:
        checkpoint_id: The checkpoint that the publish left.
        blob: The document.
        size_bytes: Its size.
    """

    checkpoint_id: str
    blob: BlobHash
    size_bytes: int


class EffectIntended(Fact):
    """A file will be written outside the workbench, where nothing of that name exists.

    Args:
        effect_id: Its name.
        kind: "extract" for what a client asked for; "deliver" for a watch, which finds it again
            after a crash.
        directory: Where, as an absolute path.
        file: What.
    """

    effect_id: str
    kind: Literal["extract", "deliver"]
    directory: str
    file: FileVersion


class EffectDone(Fact):
    """The file was written, under `final_name` in the directory."""

    effect_id: str
    final_name: str


class EffectAborted(Fact):
    """The file was not written, for the reason given."""

    effect_id: str
    reason: str


DraftEvent = (
    DraftOpened
    | FileChanged
    | DraftDiscarded
    | DraftRecovered
    | DeletionConfirmed
    | PublishIntended
    | PublishCompleted
    | PublishAborted
    | ReceiptMade
    | CheckpointCreated
    | EffectIntended
    | EffectDone
    | EffectAborted
    | CheckpointRestored
    | FileAdopted
    | DraftRebased
)
"""Events of drafts, of publishing and of checkpoints."""
