"""Requests about the conversation and the runs of a workbench."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.messages import Usage
from kbd.requests.base import UNSET, Answer, Request, RunParam, Unset, WorkbenchParam
from kbd.requests.pages import CursorParam, LimitParam, QueryParam
from kbd.requests.providers import ModelParam
from kbd.requests.recipes import RecipeNameParam
from kbd.types import CallId, FileName, Phase, RunId, Seq, WorkbenchId

__all__ = [
    "ActiveModel",
    "CancelRequested",
    "Conversation",
    "ConversationCall",
    "ConversationFunction",
    "ConversationMessage",
    "EntryType",
    "ImplementProgress",
    "MessageSent",
    "RunAnswered",
    "RunError",
    "RunGet",
    "RunInfo",
    "RunItem",
    "RunList",
    "RunRow",
    "RunStatus",
    "RunsFound",
    "Undone",
    "WorkshopCancelRun",
    "WorkshopGetConversation",
    "WorkshopGetState",
    "WorkshopRegenerate",
    "WorkshopRequest",
    "WorkshopRunAgent",
    "WorkshopSendUserMessage",
    "WorkshopSetActiveModel",
    "WorkshopState",
    "WorkshopUndoToMessage",
]

RunStatus = Literal["running", "finished", "declined", "failed", "cancelled", "interrupted"]
"""How a run stands; one that `declined` came to its end and did nothing."""

_MessageParam = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class _WorkshopRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "workshop"


class MessageSent(Answer):
    """The message is recorded.

    Args:
        message_id: The message.
        model_id: The model that alone reads it, of a job or a recipe.
        understood: What that does, in words.
    """

    message_id: str
    model_id: str | Unset = UNSET
    understood: str | Unset = UNSET


class WorkshopSendUserMessage(_WorkshopRequest):
    """Ask for something; what earlier runs had planned is set aside.

    Just one of `text`, `job` and `recipe` is given. The run on a job or a recipe asks no model.

    Args:
        text: In words.
        job: A job as a document, in TOML or JSON.
        recipe: The name of a recipe.
    """

    answer: ClassVar[type[Any]] = MessageSent

    workbench_id: WorkbenchParam
    text: Annotated[str, msgspec.Meta(min_length=1)] | Unset = UNSET
    job: Annotated[str, msgspec.Meta(min_length=1)] | Unset = UNSET
    recipe: RecipeNameParam | Unset = UNSET


class RunAnswered(Answer):
    """A run, ended or (without waiting) begun.

    Args:
        run_id: The run.
        message_id: The message it works on.
        has_draft: Whether there are changes to review.
        completed: Whether it came to its end.
        status: How it stands.
        reason: Why it declined.
        suggestions: Requests that come near to what it declined.
    """

    run_id: RunId
    message_id: str
    has_draft: bool
    completed: bool
    status: RunStatus
    reason: str | Unset = UNSET
    suggestions: tuple[str, ...] | Unset = UNSET


class WorkshopRunAgent(_WorkshopRequest):
    """Run the agent on the last message, or go on with the run that stopped.

    Args:
        message_id: The message to work on; the last one if absent.
        model_id: The model; the workbench's if absent.
        wait: Whether to answer when the run has ended, or at once.
    """

    answer: ClassVar[type[Any]] = RunAnswered

    workbench_id: WorkbenchParam
    message_id: _MessageParam | Unset = UNSET
    model_id: ModelParam | Unset = UNSET
    wait: bool = True


class Undone(Answer):
    """The conversation ends in the message, and all stands as it did.

    Args:
        message_id: The message.
        has_draft: Whether there is a draft, as there was then.
        files_changed: The published files that are other than before the undo.
        checkpoint_id: The checkpoint of what they were before it, if any changed.
    """

    message_id: str
    has_draft: bool
    files_changed: tuple[FileName, ...] = ()
    checkpoint_id: str | Unset = UNSET


class WorkshopUndoToMessage(_WorkshopRequest):
    """Have the conversation end in a message again, with files and draft as they were after it.

    A message that an undo cut off may be named, too: that undoes the undo. Context items, consent,
    the choice of a model and what was spent stay.

    Args:
        message_id: A message of the person, or an answer.
    """

    answer: ClassVar[type[Any]] = Undone

    workbench_id: WorkbenchParam
    message_id: _MessageParam


class WorkshopRegenerate(_WorkshopRequest):
    """Undo to a message of the person and answer it once more.

    Args:
        message_id: That message, or its answer; the newest answer if absent.
        model_id: The model; the workbench's if absent.
        wait: Whether to answer when the run has ended, or at once.
    """

    answer: ClassVar[type[Any]] = RunAnswered

    workbench_id: WorkbenchParam
    message_id: _MessageParam | Unset = UNSET
    model_id: ModelParam | Unset = UNSET
    wait: bool = True


class CancelRequested(Answer):
    """Whether there was a run to cancel."""

    cancel_requested: bool


class WorkshopCancelRun(_WorkshopRequest):
    """Stop the active run; it can be resumed."""

    answer: ClassVar[type[Any]] = CancelRequested

    workbench_id: WorkbenchParam


class ImplementProgress(msgspec.Struct, frozen=True, kw_only=True):
    """Which item of the plan is worked on: `current` of `total`, from 1."""

    current: int
    total: int
    label: str


class WorkshopState(Answer):
    """How the workshop stands."""

    active_model_id: str
    default_model_id: str
    has_draft: bool
    current_phase: Phase | None
    implement_progress: ImplementProgress | None
    run_id: RunId | None


class WorkshopGetState(_WorkshopRequest):
    """Ask how the workshop stands."""

    answer: ClassVar[type[Any]] = WorkshopState

    workbench_id: WorkbenchParam


class ConversationFunction(msgspec.Struct, frozen=True, kw_only=True):
    """What a call asks for; `arguments` is JSON text."""

    name: str
    arguments: str


class ConversationCall(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call in a conversation."""

    id: CallId
    function: ConversationFunction


EntryType = Literal["user_message", "assistant_message", "tool_result", "system_event"]
"""What an entry of a conversation is; an `assistant_message` may be one of tool calls."""


class ConversationMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a conversation; `seq` is the event that recorded it."""

    type: EntryType
    message_id: str
    role: str
    text: str
    created_at: str
    seq: Seq
    tool_calls: tuple[ConversationCall, ...] | Unset = UNSET
    tool_call_id: CallId | Unset = UNSET
    content: str | Unset = UNSET
    metadata: dict[str, Any] | Unset = UNSET


class Conversation(Answer):
    """The conversation of a workbench as it stands; what was undone is not in it.

    Args:
        messages: All entries, or a page, oldest first unless asked for otherwise.
        total: How many entries match the filter, on all pages; only with a limit or a cursor.
        next_cursor: Where the next page begins, if there are more.
    """

    messages: tuple[ConversationMessage, ...]
    total: int | Unset = UNSET
    next_cursor: str | Unset = UNSET


class WorkshopGetConversation(_WorkshopRequest):
    """Ask for the conversation.

    A cursor stands for the event of the last entry before it. After an undo to before that, the
    next page goes on behind that event in the conversation as it is then, or, descending, before
    it: what was shown and is undone is not told of again.

    Args:
        types: Only entries of these types.
        descending: Whether the newest come first.
        limit: How many entries at most.
        cursor: Where to begin.
    """

    answer: ClassVar[type[Any]] = Conversation

    workbench_id: WorkbenchParam
    types: Annotated[tuple[EntryType, ...], msgspec.Meta(min_length=1, max_length=4)] | Unset = (
        UNSET
    )
    descending: bool = False
    limit: LimitParam | Unset = UNSET
    cursor: CursorParam | Unset = UNSET


class ActiveModel(Answer):
    """The model that the next run uses."""

    active_model_id: str


class WorkshopSetActiveModel(_WorkshopRequest):
    """Choose the model that the next run uses."""

    answer: ClassVar[type[Any]] = ActiveModel

    workbench_id: WorkbenchParam
    model_id: ModelParam


class RunItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item of a run's plan; `index` counts from 1."""

    index: int
    label: str
    state: Literal["open", "active", "done", "failed"]
    reason: str | Unset = UNSET


class RunError(msgspec.Struct, frozen=True, kw_only=True):
    """Why a run failed."""

    error_code: str
    message: str
    subphase: str | Unset = UNSET
    retryable: bool = False


class RunBudget(Answer):
    """The caps of a run and of a day (UTC), over all runs, and what of the day is gone.

    Args:
        tokens: The cap of the run in tokens.
        cost: The same in US dollars; 0 for none.
        day_tokens: The cap of a day in tokens; 0 for none.
        day_cost: The same in US dollars; 0 for none.
        day_tokens_gone: What was used of this day or is reserved, in tokens.
        day_cost_gone: The same in US dollars.
    """

    tokens: int
    cost: float
    day_tokens: int
    day_cost: float
    day_tokens_gone: int
    day_cost_gone: float


class RunInfo(Answer):
    """One run.

    Args:
        run_id: Its id.
        workbench_id: Where it worked.
        request: The first line of what was asked for, at most 200 characters.
        model_id: The model that does it.
        status: How it stands.
        phase: The phase it is in, or ended in.
        items: Its plan.
        usage: The tokens it consumed.
        cost: US dollars; 0 if unknown or free.
        started_at: ISO 8601, UTC.
        error: Why it failed.
        reason: Why it declined.
        understood: What it read the request as, of one that declined, if it says so.
        suggestions: Requests that come near to what it declined, to be sent in its place.
        ended_at: The same, if it ended.
        budget: The caps that it works under, if it is not finished.
        undone: Whether the conversation was set back to before it.
        damage: Why its workbench's log can only be read; what is told of it is as far as that goes,
            and it is not under way whatever its last event says.
    """

    run_id: RunId
    workbench_id: WorkbenchId
    request: str
    model_id: str
    status: RunStatus
    phase: Phase | None
    items: tuple[RunItem, ...]
    usage: Usage
    cost: float
    started_at: str
    error: RunError | Unset = UNSET
    reason: str | Unset = UNSET
    understood: str | Unset = UNSET
    suggestions: tuple[str, ...] | Unset = UNSET
    ended_at: str | Unset = UNSET
    budget: RunBudget | Unset = UNSET
    undone: bool = False
    damage: str | Unset = UNSET


class RunGet(_WorkshopRequest):
    """Ask how a run stands."""

    answer: ClassVar[type[Any]] = RunInfo

    run_id: RunParam


class RunRow(RunInfo, frozen=True, kw_only=True):
    """A run in a list.

    Args:
        workbench_name: What its workbench is called.
    """

    workbench_name: str


class RunsFound(Answer):
    """Runs.

    Args:
        runs: In the order asked for; oldest first unless it says otherwise. Rows may be ready-made
            JSON.
        total: How many match the filters, on this page or on others.
        next_cursor: Where the next page begins; absent behind the last row.
        unread: How many workbenches there are whose log was not read yet since kbd was installed
            anew or found them: their runs are still missing here.
    """

    runs: tuple[RunRow | msgspec.Raw, ...]
    total: int = 0
    next_cursor: str | Unset = UNSET
    unread: int = 0


class RunList(_WorkshopRequest):
    """List the runs of a workbench, or all; no log is opened for it.

    Args:
        workbench_id: Whose.
        running: Only those that are under way.
        status: Only those that stand so.
        query: Only those that have all of these words in the first 65,536 characters of their
            request, in the name of their workbench or in what they failed with; in whatever case.
        order: By when they started, or by cost.
        descending: The newest or dearest first.
        limit: How many at most.
        cursor: Where to begin.
    """

    answer: ClassVar[type[Any]] = RunsFound

    workbench_id: WorkbenchParam | Unset = UNSET
    running: bool = False
    status: tuple[RunStatus, ...] = ()
    query: QueryParam = ""
    order: Literal["started", "cost"] = "started"
    descending: bool = False
    limit: LimitParam | Unset = UNSET
    cursor: CursorParam | Unset = UNSET


WorkshopRequest = (
    WorkshopSendUserMessage
    | WorkshopRunAgent
    | WorkshopCancelRun
    | WorkshopGetState
    | WorkshopGetConversation
    | WorkshopSetActiveModel
    | WorkshopUndoToMessage
    | WorkshopRegenerate
    | RunGet
    | RunList
)
"""The requests of this subject."""
