"""Events about the draft, its review and its publishing, and about what leaves the workbench."""

from typing import Literal

import msgspec

from kbd.events.base import Fact, FileVersion
from kbd.events.workbenches import ConversationRewound
from kbd.types import BlobHash, CallId, FileName, FocusHint

__all__ = [
    "CheckpointCreated",
    "CheckpointRestored",
    "DeletionConfirmed",
    "DraftDiscarded",
    "DraftEvent",
    "DraftOpened",
    "EffectAborted",
    "EffectDone",
    "EffectIntended",
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
        cause: "edit"; "rollback" for what a failed attempt had written; "removal" by a person.
        warnings: What the review should show of the file as it is now, whichever edit of the draft
            brought it: external references, formulas that fetch.
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
    cause: Literal["edit", "rollback", "removal"] = "edit"
    warnings: tuple[str, ...] = ()
    before_warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    before_notes: tuple[str, ...] = ()
    focus: FocusHint | None = None
    before_focus: FocusHint | None = None


class DraftDiscarded(Fact):
    """The draft was thrown away; its versions stay recoverable as blobs."""

    draft_id: str


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
    """

    publish_id: str
    files: tuple[PlannedFile, ...]
    kept_both: tuple[tuple[FileName, FileName], ...] = ()
    rewind: ConversationRewound | None = None
    restores: str = ""


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
)
"""Events of drafts, of publishing and of checkpoints."""
