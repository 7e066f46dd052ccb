"""State of runs: the plan with its items, the open chain of turns."""

from enum import StrEnum

import msgspec

from kbd.events.base import ReplyCall
from kbd.events.drafts import FileChanged
from kbd.messages import Decline, Usage
from kbd.types import BlobHash, CallId, FileName, Phase

__all__ = [
    "CallFault",
    "Chain",
    "Item",
    "ItemState",
    "Notice",
    "Plan",
    "Run",
    "RunError",
    "RunStatus",
    "Turn",
    "item_label",
]

MAX_FINGERPRINTS = 10
"""Contract, section 5: loops are looked for in the last 10 calls."""


LABEL_CHARACTERS = 80


def item_label(text: str) -> str:
    """Return what progress shows of an item: its text up to ` — `, at most 80 characters.

    A leading `Entity:` or `Final:` is left out (contract, section 3).
    """
    label = text.split(" — ", 1)[0].strip()
    for prefix in ("Entity:", "Final:"):
        if label.startswith(prefix):
            label = label[len(prefix) :].strip()
    return label if len(label) <= LABEL_CHARACTERS else label[: LABEL_CHARACTERS - 1] + "…"


class RunStatus(StrEnum):
    """Status of a run; one that failed, was canceled or interrupted can be resumed."""

    RUNNING = "running"
    FINISHED = "finished"
    DECLINED = "declined"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_final(self) -> bool:
        """Whether the run came to its end, whatever it did: there is nothing to go on with."""
        return self in {RunStatus.FINISHED, RunStatus.DECLINED}


class ItemState(StrEnum):
    """State of a plan item; the mark in plan.md is drawn from it."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"


class Item(msgspec.Struct):
    """A plan item, named by its place.

    Args:
        text: As planned.
        state: Open, done or failed.
        failures: How many attempts failed.
        reason: Why the last of them did.
        code: The code of that error.
        answer: The model's final text for it.
        declined: Whether that says that the model did not do it.
        refusal: What else the model told of that.
        rolled_back: The files whose changes went with an attempt that failed.
    """

    text: str
    state: ItemState = ItemState.OPEN
    failures: int = 0
    reason: str = ""
    code: str = ""
    answer: str = ""
    declined: bool = False
    refusal: Decline | None = None
    # msgspec gives each record an empty list of its own.
    rolled_back: list[FileName] = []


class Plan(msgspec.Struct):
    """Plan of a run, with its progress; plan.md is its rendering.

    Args:
        task: What it is for.
        notes: What whoever planned knew beside the items.
        items: In order.
        original_count: How many there were at first.
        refused: What a model wanted to add, and could not.
        done: How many items are done.
        failed: The places of those that failed, from 1, in the order of failing.
    """

    task: str
    notes: str
    items: list[Item]
    original_count: int
    refused: list[str] = []
    done: int = 0
    failed: list[int] = []


class Turn(msgspec.Struct):
    """Turn: one reply of the model, with the outcomes of its calls.

    Args:
        text: What it said.
        calls: What it asked for, in order.
        entries: The tool log's number of each call that started.
        results: What the model sees of each call that ended or was refused.
        finish_reason: Why it ended, as the provider gave it.
        refusal: Why it did not do what it was asked, as the provider gave it.
    """

    text: str
    calls: tuple[ReplyCall, ...] = ()
    entries: dict[CallId, int] = {}
    results: dict[CallId, str] = {}
    finish_reason: str = "stop"
    refusal: Decline | None = None

    def open_calls(self) -> tuple[ReplyCall, ...]:
        """Return the calls that have no result yet, in order."""
        return tuple(call for call in self.calls if call.id not in self.results)


class CallFault(msgspec.Struct, frozen=True):
    """Fault of the machine that ended a call: a limit of time, a dead worker, no memory."""

    code: str
    message: str


class Chain(msgspec.Struct):
    """The conversation of the open phase or item attempt.

    Args:
        opening: The hash of its opening messages, once a turn was asked for.
        turns: The replies so far.
        asked: The turn that was last asked for, from 1; one more than `turns` has while it is open.
        fingerprints: Of the last calls, oldest first.
        sent_bytes: The size of what was last asked; 0 if that is not known.
        fault: The last fault of the machine that ended a call in it, if one did.
    """

    opening: BlobHash | None = None
    turns: list[Turn] = []
    asked: int = 0
    fingerprints: list[str] = []
    sent_bytes: int = 0
    fault: CallFault | None = None


class Notice(msgspec.Struct, frozen=True):
    """Notice of a problem that does not stop the run."""

    code: str
    message: str


class RunError(msgspec.Struct, frozen=True):
    """Error that stopped a run."""

    code: str
    message: str
    subphase: str
    retryable: bool


class Run(msgspec.Struct):
    """A run.

    Args:
        number: Counted from 1 within the workbench.
        message_id: The user message that it answers.
        model_id: The model that does it.
        status: Where it stands.
        started_at_us: When it began.
        ended_at_us: When it last stopped, or 0.
        cancel_requested: Whether somebody asked it to stop since it last began or resumed.
        phase: The open phase, or the last one.
        phase_open: Whether that phase is under way.
        research: research.md, once written.
        plan: The plan, once written.
        summary: The summary, once written.
        item: The item being worked on, from 1, or 0.
        attempt: Its attempt, 1 or 2.
        chain: The conversation of the open phase or attempt.
        attempt_changes: What the open attempt wrote, oldest first.
        usage: What the model calls consumed.
        call_ids: The ids of all calls that its replies asked for.
        error: What stopped it, if it failed.
        refusal: Why it did nothing, if it declined.
        left_draft: Whether there were changes of it in the draft when it finished.
        discarded: Whether a draft with changes of it was thrown away.
        regenerates: The answer that it is to take the place of, or "".
        undone: Whether the conversation was rewound to before it.
        cost: What the model calls cost, in US dollars; 0 if unknown or free.
        without: The options of its provider's protocol that the server refused.
        notices: What did not work, and it went on without.
        told: What its answer tells people of how figures came about.
        told_by_looks: What calls told that only looked at tables.
        has_worked: Whether another call worked with a table, so that looks are passed over.
        fault: The first fault of the machine that ended a call since its research last began.
        is_answered: Whether a call ended in any other way: it worked, or was refused for what it
            asked.
        dead_end: The code of the error that its open chain ended on, kept when it is resumed: such
            a chain is begun afresh. Empty if there is none.
        asked_at: The place of its message among all that was said; -1 if it is not there.
    """

    number: int
    message_id: str
    model_id: str
    started_at_us: int
    status: RunStatus = RunStatus.RUNNING
    ended_at_us: int = 0
    cancel_requested: bool = False
    phase: Phase | None = None
    phase_open: bool = False
    research: str | None = None
    plan: Plan | None = None
    summary: str | None = None
    item: int = 0
    attempt: int = 0
    chain: Chain = msgspec.field(default_factory=Chain)
    attempt_changes: list[FileChanged] = []
    usage: Usage = Usage()
    call_ids: set[CallId] = set()
    error: RunError | None = None
    refusal: Decline | None = None
    left_draft: bool = False
    discarded: bool = False
    regenerates: str = ""
    undone: bool = False
    cost: float = 0.0
    without: list[str] = []
    notices: list[Notice] = []
    told: list[str] = []
    told_by_looks: list[str] = []
    has_worked: bool = False
    fault: CallFault | None = None
    is_answered: bool = False
    dead_end: str = ""
    asked_at: int = -1

    @property
    def in_vain(self) -> CallFault | None:
        """The first fault of the machine, where no call ended in any other way; else None."""
        return None if self.is_answered else self.fault
