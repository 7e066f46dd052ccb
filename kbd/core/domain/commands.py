"""Commands to a workbench's Keeper: everything that can be asked of it, as one closed union.

Commands carry what the outside contributed (times are the Keeper's, ids and hashes are the
caller's), so that deciding needs nothing but the state.
"""

from collections.abc import Mapping

import msgspec

from kbd.events.approvals import ApprovalRequested
from kbd.events.approvals import Decision as ApprovalDecision
from kbd.events.drafts import FileAdopted, FileChanged, PlannedFile
from kbd.events.runs import RunCancelled, RunFailed, RunFinished, ToolCalled, ToolReturned
from kbd.events.vocabulary import Event
from kbd.events.workbenches import ConsentGranted, ConversationRewound, DraftThen, FileAdded
from kbd.types import BlobHash, CallId, FileName, ReadAs, Seq

__all__ = [
    "AbortPublish",
    "AddFiles",
    "ChooseModel",
    "ChooseReading",
    "Command",
    "CompletePublish",
    "ConfirmDeletions",
    "CreateCheckpoint",
    "DecideApproval",
    "DiscardDraft",
    "DraftCommand",
    "EndRun",
    "FailAttempt",
    "FinishCall",
    "GrantConsent",
    "IntendPublish",
    "InterruptRun",
    "RebasedCall",
    "RebasedFile",
    "RecordCall",
    "RecordFacts",
    "RecordRebase",
    "RecordRun",
    "RecoverDraft",
    "RemoveContext",
    "RemoveFiles",
    "RequestApprovals",
    "RequestCancel",
    "RestoreCheckpoint",
    "Rewind",
    "SendMessage",
    "SetContext",
    "StartCall",
    "StartRun",
]


class AddFiles(msgspec.Struct, frozen=True):
    """Add files whose bytes are durable; those with a name in use are left out.

    The whole batch is refused if there would be more than `max_files`.
    """

    files: tuple[FileAdded, ...]
    max_files: int


class RemoveFiles(msgspec.Struct, frozen=True):
    """Remove files; with a draft open this is a deletion in the draft."""

    names: tuple[FileName, ...]


class ChooseModel(msgspec.Struct, frozen=True):
    """Choose the workbench's model."""

    model_id: str


class GrantConsent(msgspec.Struct, frozen=True):
    """Record a person's consent; refused unless it is for the scope as it is now."""

    consent: ConsentGranted
    current_scope: str


class RequestApprovals(msgspec.Struct, frozen=True):
    """Ask a person; what is asked already is not asked again.

    Args:
        wanted: What is asked.
        run: The run that waits for it, or 0.
    """

    wanted: tuple[ApprovalRequested, ...]
    run: int = 0


class DecideApproval(msgspec.Struct, frozen=True):
    """Record what a person decided, and what follows from it.

    A publish is not accepted by this but by `IntendPublish`, in one frame with its intent.
    """

    approval_id: str
    decision: ApprovalDecision


class SendMessage(msgspec.Struct, frozen=True):
    """Record what a person asks for.

    Args:
        message_id: The message's name.
        text: What is asked.
        model_id: The model that alone reads it, of a document; "" for any.
        document: The SHA-256 of the document; "" for words.
    """

    message_id: str
    text: str
    model_id: str = ""
    document: str = ""


class StartRun(msgspec.Struct, frozen=True):
    """Run the agent on a message: start, resume, or find the finished run.

    Args:
        message_id: The message, or None for the newest.
        model_id: The model to use.
        regenerates: The answer that it is to take the place of, or "".
    """

    message_id: str | None
    model_id: str
    regenerates: str = ""


class RequestCancel(msgspec.Struct, frozen=True):
    """Ask the active run to stop; nothing if there is none."""


class InterruptRun(msgspec.Struct, frozen=True):
    """Close the active run because the daemon stops or has crashed; nothing if there is none."""

    reason: str


class RecordRun(msgspec.Struct, frozen=True):
    """Record facts of the active run. Tool calls and file changes have commands of their own."""

    run: int
    facts: tuple[Event, ...]


class EndRun(msgspec.Struct, frozen=True):
    """Record how the active run ended, with the facts that belong to its end."""

    run: int
    outcome: RunFinished | RunFailed | RunCancelled
    facts: tuple[Event, ...] = ()


class StartCall(msgspec.Struct, frozen=True):
    """Record that a tool starts; a call that a crash cut off keeps its entry id."""

    run: int
    call_id: CallId
    tool: str
    plugin: str
    plugin_sha256: str = ""


class FinishCall(msgspec.Struct, frozen=True):
    """Record a tool's result and what it wrote, in one frame.

    Args:
        run: The run.
        returned: The result.
        changes: What it wrote; each `before` is what the call saw.
        draft_id: The name of the draft that this opens, if none is open.
    """

    run: int
    returned: ToolReturned
    changes: tuple[FileChanged, ...] = ()
    draft_id: str = ""


class RecordCall(msgspec.Struct, frozen=True):
    """Record a client's own call with its result and what it wrote, in one frame.

    Nothing of it stands in the log before, so there is nothing that a restart would go on with: it
    has happened whole, or not at all.

    Args:
        called: The call; its number in the tool log is given here.
        returned: Its result; so is the number.
        changes: What it wrote; each `before` is what the call saw.
        draft_id: The name of the draft that this opens, if none is open.
    """

    called: ToolCalled
    returned: ToolReturned
    changes: tuple[FileChanged, ...] = ()
    draft_id: str = ""


class RebasedCall(msgspec.Struct, frozen=True):
    """A call that was made again on another version of the file that it wrote.

    Args:
        called: The call; its number in the tool log is given when it is recorded.
        returned: Its result; so is the number.
        change: What it wrote.
    """

    called: ToolCalled
    returned: ToolReturned
    change: FileChanged


class RebasedFile(msgspec.Struct, frozen=True):
    """A file of the draft, applied again to what is published now.

    Args:
        base: What it began from, as the rebase saw it.
        drafted: The draft's version, as the rebase saw it.
        adopted: What is published now.
        calls: What was applied to it, in order.
    """

    base: BlobHash | None
    drafted: BlobHash | None
    adopted: FileAdopted
    calls: tuple[RebasedCall, ...] = ()


class RecordRebase(msgspec.Struct, frozen=True):
    """Record a rebase, whole: what is published now, and the draft that was made of the old one.

    Args:
        from_draft_id: The draft that was rebased.
        draft_id: The name of the new one.
        files: The files of it that changed in published/.
    """

    from_draft_id: str
    draft_id: str
    files: tuple[RebasedFile, ...]


class FailAttempt(msgspec.Struct, frozen=True):
    """Roll back what the open attempt wrote and record that it failed.

    Args:
        run: The run.
        code: The error's code.
        reason: What went wrong.
        final: Whether the item failed for good, or is tried once more.
    """

    run: int
    code: str
    reason: str
    final: bool


class ChooseReading(msgspec.Struct, frozen=True):
    """Say how the tables of a file are to be read.

    Args:
        name: The file.
        read_as: All that is said of it; empty to have it found out.
    """

    name: FileName
    read_as: ReadAs


class SetContext(msgspec.Struct, frozen=True):
    """Set a context item, which every later run is given.

    Args:
        category: Which of the four.
        text: What.
        source_name: The name of the file that it was read from, or "".
        limit: The most characters.
    """

    category: str
    text: str
    source_name: str
    limit: int


class RemoveContext(msgspec.Struct, frozen=True):
    """Remove a context item from later runs."""

    category: str


class DiscardDraft(msgspec.Struct, frozen=True):
    """Throw the draft away."""


class RecoverDraft(msgspec.Struct, frozen=True):
    """Make a draft that had ended the draft again.

    Args:
        ended_seq: The event that ended it.
        draft: What it held before that.
        names: Which of its files, or None for all.
    """

    ended_seq: Seq
    draft: DraftThen
    names: tuple[FileName, ...] | None = None


class ConfirmDeletions(msgspec.Struct, frozen=True):
    """Confirm that these deletions may be published; the newest list counts."""

    names: tuple[FileName, ...]


class IntendPublish(msgspec.Struct, frozen=True):
    """Decide what a publish will do.

    Args:
        publish_id: Its name.
        names: What to publish, or None for the whole draft.
        found: What published/ holds now of the draft's files, by hash; None for no file.
        keep_both: Whether a file that changed meanwhile is published under a new name.
        free_names: For each such file, a name that is free in published/.
        accept_external: Whether files with warnings about active content may go.
        staged: The plan that the caller has staged; another one is refused. None for any.
        approval_id: The pending approval that a person accepts with it, or "".
    """

    publish_id: str
    names: tuple[FileName, ...] | None
    found: Mapping[FileName, BlobHash | None]
    keep_both: bool = False
    free_names: Mapping[FileName, FileName] = {}
    accept_external: bool = False
    staged: tuple[PlannedFile, ...] | None = None
    approval_id: str = ""


class CompletePublish(msgspec.Struct, frozen=True):
    """Record that the intended publish is carried out; `conflicted` as in PublishCompleted."""

    checkpoint_id: str
    conflicted: tuple[tuple[FileName, FileName], ...] = ()


class AbortPublish(msgspec.Struct, frozen=True):
    """Abort the intended publish, of which nothing was changed."""

    reason: str


class Rewind(msgspec.Struct, frozen=True):
    """Bring the moment of a message back: conversation, files, draft, how the runs stood.

    Args:
        rewound: That moment.
        publish_id: The name of the publish that it takes, if published/ has to change.
        found: What published/ holds now of the files that have to; None for no file.
    """

    rewound: ConversationRewound
    publish_id: str
    found: Mapping[FileName, BlobHash | None]


class RestoreCheckpoint(msgspec.Struct, frozen=True):
    """Bring published/ back to a checkpoint; the fields are those of `Rewind`."""

    checkpoint_id: str
    publish_id: str
    found: Mapping[FileName, BlobHash | None]


class CreateCheckpoint(msgspec.Struct, frozen=True):
    """Keep what published/ holds now, so that it can be restored."""

    checkpoint_id: str
    description: str


class RecordFacts(msgspec.Struct, frozen=True):
    """Record facts that need no decision: effects, repairs, the first event of a workbench."""

    facts: tuple[Event, ...]


DraftCommand = (
    DiscardDraft
    | RecordRebase
    | RecoverDraft
    | ConfirmDeletions
    | IntendPublish
    | CompletePublish
    | AbortPublish
    | Rewind
    | RestoreCheckpoint
    | CreateCheckpoint
)
"""The commands about the draft, what is published and its checkpoints."""

Command = (
    AddFiles
    | RemoveFiles
    | ChooseModel
    | GrantConsent
    | RequestApprovals
    | DecideApproval
    | SendMessage
    | StartRun
    | RequestCancel
    | InterruptRun
    | RecordRun
    | EndRun
    | StartCall
    | FinishCall
    | RecordCall
    | RecordRebase
    | FailAttempt
    | ChooseReading
    | SetContext
    | RemoveContext
    | RecordFacts
    | DraftCommand
)
"""Everything that `decide` answers."""
