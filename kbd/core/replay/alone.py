"""The steps that tell of one event: what they say beside their title, and how long it took."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd.core.domain.run_state import item_label
from kbd.core.domain.state_text import plan_markdown
from kbd.core.replay.parts import Part, Place, Standing, call_refused
from kbd.core.replay.wording import title_of
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import CheckpointRestored, DeletionConfirmed, DraftDiscarded
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    ResearchWritten,
    RunCancelled,
    RunCancelRequested,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SummaryWritten,
    ToolRefused,
)
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ConversationRewound,
    UserMessageAdded,
)
from kbd.requests.replays import StepKind
from kbd.types import CallId

__all__ = ["Standalone"]

_KINDS: Mapping[type, StepKind] = {
    RunStarted: "run",
    RunResumed: "run",
    RunInterrupted: "run",
    RunCancelRequested: "run",
    RunCancelled: "run",
    RunFailed: "run",
    RunFinished: "run",
    PhaseStarted: "phase",
    PhaseCompleted: "phase",
    ResearchWritten: "research",
    PlanWritten: "plan",
    ItemStarted: "item",
    ItemCompleted: "item",
    ItemsAdded: "item",
    ItemsRefused: "item",
    SummaryWritten: "summary",
    ToolRefused: "refused",
    DraftDiscarded: "draft",
    DeletionConfirmed: "draft",
    ConversationRewound: "draft",
    CheckpointRestored: "draft",
}
"""What an event tells of; "other" if it is not here."""

_ENDS = (PhaseCompleted, ItemCompleted, ItemRetried, ItemFailed)
"""What belongs to the phase or the item that it ends."""


class Standalone:
    """Fills the steps of one event.

    Args:
        standing: How the run stands.
        asked: The calls that its replies asked for, by their ids.
    """

    def __init__(self, standing: Standing, asked: Mapping[CallId, ReplyCall]) -> None:
        self._standing, self._asked = standing, asked
        self._began_us: dict[str, int] = {}
        self._stopped_us = 0

    def kind_of(self, data: Any, earlier: Sequence[Part]) -> StepKind:
        """Say what an event tells of; the message that begins a story is the request."""
        if isinstance(data, UserMessageAdded) and not earlier:
            return "asked"
        return _KINDS.get(type(data), "other")

    def fill(self, part: Part, record: Recorded, before: Place) -> None:
        """Say all of an event.

        Args:
            part: Its step.
            record: The event; the run's standing has it already.
            before: Where the run was before it.
        """
        data = record.data
        if isinstance(data, _ENDS):
            part.place = before
        part.text = self._text_of(data)
        if isinstance(data, ToolRefused):
            part.call = call_refused(data, self._asked.get(data.call_id))
        if part.kind in ("plan", "item"):
            part.items = self._standing.items()
        label = ""
        if isinstance(data, ItemStarted | ItemCompleted | ItemRetried | ItemFailed):
            part.place = msgspec.structs.replace(part.place, item=data.item)
            if 1 <= data.item <= len(part.items):
                label = item_label(part.items[data.item - 1].text)
        part.title = title_of(data, label, len(part.files))
        self._time(part, record)

    def _text_of(self, data: Any) -> str:
        """Return in full what a title only names."""
        match data:
            case (
                UserMessageAdded(text=text)
                | AssistantMessageAdded(text=text)
                | ResearchWritten(text=text)
                | SummaryWritten(text=text)
                | ItemCompleted(text=text)
            ):
                return text
            case PlanWritten():
                run = self._standing.run
                return plan_markdown(run.plan) if run and run.plan else ""
            case ItemsAdded(items=items):
                return "\n".join(items)
            case ItemsRefused(items=items, reason=reason):
                return "\n".join((reason, *items))
            case RunFailed(message=text) | RunInterrupted(reason=text):
                return text
            case ItemRetried(code=code, reason=text) | ItemFailed(code=code, reason=text):
                return f"{code}: {text}"
            case _:
                return ""

    def _time(self, part: Part, record: Recorded) -> None:
        """Say of an end how long what it ends took, without the time in which the run stood."""
        match record.data:
            case PhaseStarted():
                self._began_us["phase"] = record.ts_us
            case ItemStarted():
                self._began_us["item"] = record.ts_us
            case RunStarted():
                self._began_us["run"] = record.ts_us
            case RunResumed():
                stood_us = record.ts_us - self._stopped_us if self._stopped_us else 0
                self._began_us = {what: us + stood_us for what, us in self._began_us.items()}
            case PhaseCompleted():
                self._took(part, "phase", record)
            case ItemCompleted() | ItemRetried() | ItemFailed():
                self._took(part, "item", record)
            case RunFinished() | RunFailed() | RunCancelled() | RunInterrupted():
                self._took(part, "run", record)
                self._stopped_us = record.ts_us
            case _:
                pass

    def _took(self, part: Part, what: str, record: Recorded) -> None:
        began_us = self._began_us.get(what, record.ts_us)
        part.duration_ms = max(record.ts_us - began_us, 0) // 1000
