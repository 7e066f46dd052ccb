"""Every notification that the daemon sends without being asked.

A connection gets those of each workbench that it has named in a request. Those with `seq` tell of
a recorded event; the others (progress, text as it streams) are lost when nobody listens.
"""

from typing import Literal

import msgspec

from kbd.events.approvals import ApprovalKind, Decision
from kbd.requests.base import UNSET, Notification, Unset
from kbd.requests.events import EventRow
from kbd.requests.workshop import RunError
from kbd.types import CallId, FileName, Phase, Seq, WatchId, WorkbenchId

__all__ = [
    "ApprovalDecided",
    "ApprovalRequested",
    "CheckpointCreated",
    "CheckpointRestored",
    "ConnectionDropped",
    "ContextChanged",
    "DraftPublishProgress",
    "DraftStateChanged",
    "EventsAppended",
    "EventsEnded",
    "EventsSynced",
    "PublishPhase",
    "WatchFileLanded",
    "WatchRunFinished",
    "WorkbenchDraftStateChanged",
    "WorkbenchFilesChanged",
    "WorkshopAgentLoopWarning",
    "WorkshopAssistantMessageComplete",
    "WorkshopAssistantStreamDelta",
    "WorkshopImplementProgress",
    "WorkshopModelChanged",
    "WorkshopNotice",
    "WorkshopPhaseCompleted",
    "WorkshopPhaseStarted",
    "WorkshopRateLimitWarning",
    "WorkshopRegenerateCompleted",
    "WorkshopRegenerateStarted",
    "WorkshopRunCancelRequested",
    "WorkshopRunFailed",
    "WorkshopRunFinished",
    "WorkshopRunStarted",
    "WorkshopToolComplete",
    "WorkshopToolExecuting",
    "WorkshopUndoCompleted",
]


PublishPhase = Literal[
    "validating",
    "conflict_check",
    "checkpoint_pre_publish",
    "swap_directories",
    "finalizing",
    "rolling_back",
]
"""How far a publish is."""


class WorkbenchFilesChanged(Notification):
    """The files of a workbench changed."""

    added: tuple[FileName, ...] = ()
    removed: tuple[FileName, ...] = ()
    updated: tuple[FileName, ...] = ()


class DraftStateChanged(Notification):
    """A draft was opened, changed, published, discarded or recovered."""

    has_draft: bool
    draft_id: str | Unset = UNSET


class ApprovalRequested(Notification):
    """Something waits for a person; `ApprovalList` says what else does.

    Args:
        approval_id: Its id, for `ApprovalDecide`.
        kind: "publish", "deletion", "external", "consent" or "call".
        title: What is asked, in one line.
    """

    approval_id: str
    kind: ApprovalKind
    title: str


class ApprovalDecided(Notification):
    """A person decided something that waited: whoever shows it takes it off.

    Args:
        approval_id: What was decided.
        decision: "accept" or "decline".
    """

    approval_id: str
    decision: Decision


class WorkbenchDraftStateChanged(Notification):
    """A workbench has a draft now, or has none, or another one; the fields are those above."""

    has_draft: bool
    draft_id: str | Unset = UNSET


class DraftPublishProgress(Notification):
    """How far a publish is."""

    phase: PublishPhase


class CheckpointCreated(Notification):
    """A checkpoint was recorded."""

    checkpoint_id: str
    reason: str


class CheckpointRestored(Notification):
    """Published files are again what they were at a checkpoint.

    Args:
        checkpoint_id: Which.
        pre_restore_checkpoint_id: The checkpoint of what they were before.
    """

    checkpoint_id: str
    pre_restore_checkpoint_id: str


class ContextChanged(Notification):
    """What every run shall know was changed."""

    category: str
    action: Literal["added", "updated", "deleted"]


class WorkshopRunStarted(Notification):
    """A run began, or went on."""

    message_id: str
    model_id: str
    resumed: bool = False


class WorkshopRunFinished(Notification):
    """A run ended well, declined, was cancelled or was interrupted.

    Args:
        status: Which of them.
        has_draft: Whether there are changes to review.
        reason: Why it declined; then it did nothing.
        suggestions: Requests that come near to what it declined.
    """

    status: Literal["finished", "declined", "cancelled", "interrupted"]
    has_draft: bool
    reason: str | Unset = UNSET
    suggestions: tuple[str, ...] | Unset = UNSET


class WorkshopRunFailed(Notification):
    """A run stopped on an error."""

    error: RunError


class WorkshopRunCancelRequested(Notification):
    """Somebody asked the run to stop."""


class WorkshopPhaseStarted(Notification):
    """A phase began."""

    phase: Phase


class WorkshopPhaseCompleted(Notification):
    """A phase ended well."""

    phase: Phase


class WorkshopImplementProgress(Notification):
    """Work on an item began.

    Args:
        current_item: Its place in the plan, from 1.
        total_items: How many there are.
        item_label: Its text up to ` — `, at most 80 characters.
    """

    current_item: int
    total_items: int
    item_label: str


class WorkshopToolExecuting(Notification):
    """A tool starts."""

    tool_name: str
    tool_call_id: CallId
    path: str | Unset = UNSET


class WorkshopToolComplete(Notification):
    """A tool ended, well or not."""

    tool_name: str
    tool_call_id: CallId
    success: bool


class WorkshopAssistantStreamDelta(Notification):
    """A piece of the model's text, as it arrives; it may be sent again after a retry."""

    message_id: str
    token_delta: str
    phase: Phase


class WorkshopAssistantMessageComplete(Notification):
    """The answer to the user's message is recorded."""

    message_id: str
    text: str


class WorkshopAgentLoopWarning(Notification):
    """The model repeats a call."""

    tool_name: str
    turn: int


class WorkshopRateLimitWarning(Notification):
    """The provider asked to slow down, or failed for a moment; kbd waits and tries again."""

    provider_id: str
    model_id: str
    phase: Phase
    retry_attempt: int
    retry_max: int
    wait_ms: int
    warning_message: str


class WorkshopNotice(Notification):
    """Something did not work and the run goes on without it.

    Args:
        error_code: The error's code.
        message: What did not work, and what is done instead.
    """

    error_code: str
    message: str


class WorkshopUndoCompleted(Notification):
    """The conversation ends in a message again, with files and draft as they were.

    Args:
        message_id: The message.
        has_draft: Whether there is a draft now.
    """

    message_id: str
    has_draft: bool


class WorkshopRegenerateStarted(Notification):
    """The conversation ends in the person's message again; another answer is on its way."""

    message_id: str


class WorkshopRegenerateCompleted(Notification):
    """Another answer is there.

    Args:
        message_id: It.
        regenerates: The answer whose place it takes.
    """

    message_id: str
    regenerates: str


class WorkshopModelChanged(Notification):
    """Another model was chosen for the next run."""

    model_id: str


class WatchFileLanded(Notification):
    """A file landed in a watched folder; `workbench_id` is "daemon", whose log has it.

    Args:
        watch_id: Where.
        landing_id: Its number.
        path: Its path below the folder.
        size_bytes: Its size.
        outcome: What became of it at once, if anything did.
    """

    watch_id: WatchId
    landing_id: Seq
    path: str
    size_bytes: int
    outcome: Literal["", "moved", "own", "failed"] = ""


class WatchRunFinished(Notification):
    """A watch's run ended; `workbench_id` is "daemon", whose log has it.

    Args:
        watch_id: Whose.
        landing_ids: The files it worked on.
        outcome: How it ended.
        run_workbench_id: Where the run is.
        code: Why it failed.
        message: The same for people.
        delivered: The paths of the copies in `deliver_to`.
        retry: Whether it is tried again.
    """

    watch_id: WatchId
    landing_ids: tuple[Seq, ...]
    outcome: Literal["published", "review", "unchanged", "failed"]
    run_workbench_id: WorkbenchId
    code: str = ""
    message: str = ""
    delivered: tuple[str, ...] = ()
    retry: bool = False


class EventsAppended(Notification):
    """Events of a log that this connection follows, in order, each once.

    Args:
        events: They; the daemon writes them as ready-made JSON.
        last_seq: The place of the last one: the cursor to go on from.
    """

    events: tuple[EventRow | msgspec.Raw, ...]
    last_seq: Seq


class EventsEnded(Notification):
    """A log that this connection follows was deleted; the subscription is over."""


class EventsSynced(Notification):
    """All that was recorded when the subscription began has been sent; what follows is live.

    Args:
        seq: The watermark; of a subscription to one log.
        cursors: The watermarks by workbench; of a subscription to "*".
    """

    cursors: dict[str, Seq] | Unset = UNSET


class ConnectionDropped(msgspec.Struct, frozen=True, kw_only=True):
    """The last message of a connection that the daemon closes.

    Args:
        reason: The client did not read fast enough; or a log that it follows cannot be read on,
            and subscribing anew says why.
        cursors: By workbench, the last event that was sent: subscribe again after it.
    """

    reason: Literal["slow_consumer", "subscription_failed"]
    cursors: dict[str, Seq]
