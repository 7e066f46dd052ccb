"""Events about runs: phases, plan, items, model turns and tool calls."""

from typing import Literal

from kbd.events.base import CallNotes, Fact, ModelShare, PluginUsed, ReplyCall
from kbd.messages import Decline, Usage
from kbd.types import BlobHash, CallId, Phase

__all__ = [
    "ItemCompleted",
    "ItemFailed",
    "ItemRetried",
    "ItemStarted",
    "ItemsAdded",
    "ItemsRefused",
    "ModelFailed",
    "ModelReplied",
    "ModelRequested",
    "NoticeGiven",
    "PhaseCompleted",
    "PhaseStarted",
    "PlanWritten",
    "ResearchWritten",
    "RunCancelRequested",
    "RunCancelled",
    "RunEvent",
    "RunFailed",
    "RunFinished",
    "RunInterrupted",
    "RunResumed",
    "RunStarted",
    "SummaryWritten",
    "ToolCalled",
    "ToolRefused",
    "ToolReturned",
]


class RunStarted(Fact):
    """A run began on a user message, with a model.

    Args:
        message_id: The message.
        model_id: The model.
        regenerates: The answer that it is to take the place of, or "".
    """

    message_id: str
    model_id: str
    regenerates: str = ""


class RunResumed(Fact):
    """A run that had stopped goes on where it was."""

    model_id: str


class RunInterrupted(Fact):
    """A run stopped because the daemon did; nothing of it is lost."""

    reason: str


class RunCancelRequested(Fact):
    """Somebody asked the run to stop; from here on no tool starts and no draft write lands."""


class RunCancelled(Fact):
    """The run stopped because somebody asked for it; it can be resumed."""


class RunFailed(Fact):
    """The run stopped on an error.

    Args:
        code: The error's code.
        message: What went wrong.
        subphase: `rpi_research`, `rpi_plan`, `rpi_implement` or `rpi_summary`.
        retryable: Whether resuming may help.
    """

    code: str
    message: str
    subphase: str
    retryable: bool = False


class RunFinished(Fact):
    """The run is complete.

    Args:
        has_draft: Whether it leaves a draft to review.
        refusal: Why nothing was done, of a run that declined what was asked.
    """

    has_draft: bool
    refusal: Decline | None = None


class PhaseStarted(Fact):
    """A phase began; its chain of messages is empty."""

    phase: Phase


class PhaseCompleted(Fact):
    """A phase ended well."""

    phase: Phase


class ResearchWritten(Fact):
    """The research phase wrote research.md."""

    text: str


class PlanWritten(Fact):
    """The plan phase wrote plan.md.

    Args:
        task: The text of its Task section.
        items: The texts of its items, in order; an item is named by its place, from 1.
        notes: The text of its Notes section.
    """

    task: str
    items: tuple[str, ...]
    notes: str = ""


class ItemStarted(Fact):
    """Work on a plan item began in a fresh chain of messages.

    Args:
        item: Its place in the plan, from 1.
        attempt: 1, or 2 for the retry.
    """

    item: int
    attempt: int = 1


class ItemCompleted(Fact):
    """An item is done; `text` is what the model said at its end."""

    item: int
    text: str = ""


class ItemRetried(Fact):
    """An attempt failed and its writes were rolled back; the item is tried once more."""

    item: int
    code: str
    reason: str


class ItemFailed(Fact):
    """An item failed for good and its writes were rolled back; the next one runs."""

    item: int
    code: str
    reason: str


class ItemsAdded(Fact):
    """The model found more to do; the items were appended to the plan."""

    items: tuple[str, ...]


class ItemsRefused(Fact):
    """Items that the model wanted to add were refused, for the reason given."""

    items: tuple[str, ...]
    reason: str


class SummaryWritten(Fact):
    """The run's summary."""

    text: str


class ModelRequested(Fact):
    """A turn is about to be asked for.

    What is sent is the opening messages, kept once a chain as a blob, and the chain of replies and
    results that the log holds since.

    Args:
        model_id: The model.
        turn: The turn within the phase or item attempt, from 1.
        opening: The hash of the opening messages (a JSON array of `Message`).
        tool_choice: "required", "auto" or "none".
        tools: The names of the tools that are offered.
        size_bytes: The size of what is sent, messages and tools.
        estimated_tokens: What that is likely to be in tokens, and was reserved for it.
        effort: How hard the model shall think; "" leaves it to the model.
        without: The options of the provider's protocol that its server refused before.
    """

    model_id: str
    turn: int
    opening: BlobHash
    tool_choice: Literal["required", "auto", "none"] = "auto"
    tools: tuple[str, ...] = ()
    size_bytes: int = 0
    estimated_tokens: int = 0
    effort: str = ""
    without: tuple[str, ...] = ()


class ModelReplied(Fact):
    """A turn was answered in full.

    Args:
        text: What the model said.
        calls: The tools it wants called.
        finish_reason: As the provider gave it.
        usage: What the turn consumed.
        usage_is_estimate: Whether the provider did not say.
        cost: The same in US dollars, at the prices of that moment; 0 if unknown or free.
        refusal: Why it did not do what it was asked, where it said so apart from the text.
    """

    text: str = ""
    calls: tuple[ReplyCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = Usage()
    usage_is_estimate: bool = False
    cost: float = 0.0
    refusal: Decline | None = None


class ModelFailed(Fact):
    """An attempt at a turn failed.

    Args:
        code: The error's code.
        message: What went wrong.
        retry_attempt: Which retry follows, from 1; 0 if none does.
        wait_ms: How long kbd waits before it.
        option: The option of the protocol that the server refused: it is asked again without it.
        partial: What had come of an answer that was cut short, its beginning.
        usage: What it is likely to have consumed, if an answer had begun: providers charge for it.
        cost: The same in US dollars.
    """

    code: str
    message: str
    retry_attempt: int = 0
    wait_ms: int = 0
    option: str = ""
    partial: str = ""
    usage: Usage = Usage()
    cost: float = 0.0


class NoticeGiven(Fact):
    """Something did not work, and the run goes on without it; a person should know.

    Args:
        code: The error's code.
        message: What did not work, and what is done instead.
    """

    code: str
    message: str


class ToolCalled(Fact):
    """A tool starts. A call without ToolReturned wrote nothing.

    A client's own call, of a method that writes, belongs to no run; it is recorded when it has
    ended, in one frame with its ToolReturned.

    Args:
        call_id: The call, as in the reply that asked for it.
        entry_id: Its number in the workbench's tool log, from 1; `recall_tool_result` takes it.
        tool: The tool's name; of a client's own call the method's.
        plugin: The plugin that brings it, with its version ("kbd_tables 0.1.0").
        plugin_sha256: The hash of that plugin's source files; what it was, whatever it is called.
        arguments: What a client gave, as JSON text; a run's stand in the reply that asked.
        arguments_blob: The hash of what a client gave, if that is too long for the log.
        repeats: The ToolCalled whose work this call does again on another version of the file; 0
            for a call of its own.
    """

    call_id: CallId
    entry_id: int
    tool: str
    plugin: str = ""
    arguments: str = ""
    arguments_blob: BlobHash | None = None
    plugin_sha256: str = ""
    repeats: int = 0


class ToolReturned(Fact):
    """A tool ended, well or not; what it wrote lands in the same frame.

    Args:
        call_id: The call.
        entry_id: As in ToolCalled.
        ok: Whether it did what was asked.
        shown: What the model sees: the result, a receipt of it, or `Error: CODE: text`.
        result: The whole result as JSON text; empty if it is `shown`, or in `blob`.
        blob: The hash of a result that is too long for the log.
        size_bytes: The size of the whole result.
        duration_ms: How long it took.
        error_code: The code, if it failed.
        fingerprint: Of the tool and its canonical arguments, for the detection of loops.
        saw: The event after which it saw the files; 0 if that was not recorded, when it is the
            event of its ToolCalled.
        receipt_bytes: A larger result was shown as a receipt.
        worked: The plugins that did its work, formats included.
        outside: The model that had a part in the result, so that doing the call again would prove
            nothing; None for none.
        noted: How its figures came about; None where that was not recorded, as in runs of kbd 0.1
            and in clients' calls.
    """

    call_id: CallId
    entry_id: int
    ok: bool
    shown: str
    result: str = ""
    blob: BlobHash | None = None
    size_bytes: int = 0
    duration_ms: int = 0
    error_code: str | None = None
    fingerprint: str = ""
    saw: int = 0
    receipt_bytes: int = 2048
    worked: tuple[PluginUsed, ...] = ()
    outside: ModelShare | None = None
    noted: CallNotes | None = None


class ToolRefused(Fact):
    """A call was refused before any tool started.

    Args:
        call_id: The call.
        tool: The name that the model asked for.
        code: The error's code.
        shown: What the model sees.
        fingerprint: As in ToolReturned.
    """

    call_id: CallId
    tool: str
    code: str
    shown: str
    fingerprint: str = ""


RunEvent = (
    RunStarted
    | RunResumed
    | RunInterrupted
    | RunCancelRequested
    | RunCancelled
    | RunFailed
    | RunFinished
    | PhaseStarted
    | PhaseCompleted
    | ResearchWritten
    | PlanWritten
    | ItemStarted
    | ItemCompleted
    | ItemRetried
    | ItemFailed
    | ItemsAdded
    | ItemsRefused
    | SummaryWritten
    | ModelRequested
    | ModelReplied
    | ModelFailed
    | ToolCalled
    | ToolReturned
    | ToolRefused
    | NoticeGiven
)
"""Events of runs."""
