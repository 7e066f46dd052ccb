"""One event after the other, folded into the steps of a run.

Some events begin a step that later ones go on with: a turn of the model, a tool call, a publish.
Some belong to what follows them in the same frame: the draft that a call opens, the changes that
undo a failed attempt. All others are steps of their own. What the log leaves open is told as open;
a log that kbd cannot have written is told, too, event by event, and never refused.
"""

from typing import Any

import msgspec

from kbd.core.replay.parts import (
    Part,
    Standing,
    call_opened,
    call_refused,
    call_returned,
    file_step,
    nameless,
    step_calls,
)
from kbd.core.replay.span import Numbered
from kbd.core.replay.wording import call_title, counted, model_title, title_of
from kbd.core.state import item_label
from kbd.core.state.readable import plan_markdown
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import (
    CheckpointCreated,
    DeletionConfirmed,
    DraftDiscarded,
    DraftOpened,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
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
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded
from kbd.requests.replays import ModelStep, StepKind
from kbd.types import CallId, Seq

__all__ = ["Teller"]

_ItemEnd = ItemCompleted | ItemRetried | ItemFailed

_KINDS: dict[type, StepKind] = {
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
    ItemRetried: "item",
    ItemFailed: "item",
    ItemsAdded: "item",
    ItemsRefused: "item",
    SummaryWritten: "summary",
    ToolRefused: "refused",
    FileChanged: "draft",
    DraftDiscarded: "draft",
    DeletionConfirmed: "draft",
    PublishAborted: "draft",
}
"""What an event tells of that is a step of its own; "other" if it is not here."""

_STOPS = (RunResumed, RunInterrupted, RunCancelled, RunFailed, RunFinished)
"""Where nothing of the run can be under way any more."""

_CLOSINGS = (PhaseCompleted, ItemCompleted, ItemRetried, ItemFailed)
"""What belongs to the phase or the item that it ends."""


class Teller:
    """Folds the events of a run's span.

    Args:
        number: The run's.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._standing = Standing(number)
        self._parts: list[Part] = []
        self._asked: dict[CallId, ReplyCall] = {}
        self._turn: Part | None = None
        self._publish: Part | None = None
        self._calls: dict[tuple[int, CallId], Part] = {}
        self._waiting: list[Numbered] = []
        self._began_us: dict[str, int] = {}

    def tell(self, seq: Seq, record: Recorded) -> None:
        """Go on with the next event."""
        before = self._standing.place
        self._standing.fold(seq, record)
        match record.data:
            case DraftOpened():
                self._explain_waiting()
                self._waiting.append((seq, record))
            case FileChanged():
                self._changed(seq, record)
            case ModelRequested() | ModelReplied() | ModelFailed():
                self._talked(seq, record)
            case ToolCalled() | ToolReturned():
                self._worked(seq, record)
            case PublishIntended() | CheckpointCreated() | PublishCompleted() | PublishAborted():
                self._published(seq, record)
            case AssistantMessageAdded() if self._is_said_by_summary(record):
                self._parts[-1].seqs.append(seq)
            case _:
                part = self._alone(seq, record)
                if isinstance(record.data, _CLOSINGS):
                    part.place = before
        if isinstance(record.data, _STOPS) and record.run == self._number:
            self._turn = None
            self._calls = {key: part for key, part in self._calls.items() if not key[0]}

    def finished(self) -> list[Part]:
        """Return all steps; what is open is told as open."""
        self._explain_waiting()
        for part in self._parts:
            if part.model is not None:
                part.title = model_title(part.model)
            elif part.call is not None and part.kind != "refused":
                part.title = call_title(part.call)
        return self._parts

    def _add(self, kind: StepKind, seq: Seq, record: Recorded, title: str = "") -> Part:
        part = Part(kind, record.ts_us, [seq], title=title)
        if record.run == self._number:
            part.place = self._standing.place
        self._parts.append(part)
        return part

    def _explain_waiting(self) -> None:
        """Make steps of their own of what nothing followed that would explain it."""
        for seq, record in self._waiting:
            part = self._add("draft", seq, record, "Draft opened")
            if isinstance(record.data, FileChanged):
                part.title, part.files = title_of(record.data), [file_step(record.data)]
        self._waiting = []

    def _take_waiting(self, part: Part) -> None:
        """Have a step tell of what was waiting for it."""
        for seq, record in self._waiting:
            part.seqs.append(seq)
            if isinstance(record.data, FileChanged):
                part.files = [*part.files, file_step(record.data)]
        self._waiting = []
        part.seqs.sort()

    def _changed(self, seq: Seq, record: Recorded) -> None:
        data: FileChanged = record.data
        part = self._calls.get((record.run, data.call_id)) if data.call_id else None
        if data.cause == "rollback" and part is None:
            self._waiting.append((seq, record))
            return
        if part is None:
            part = self._add("draft", seq, record, title_of(data))
        else:
            part.seqs.append(seq)
        self._take_waiting(part)
        part.files = [*part.files, file_step(data)]

    def _talked(self, seq: Seq, record: Recorded) -> None:
        self._explain_waiting()
        data: ModelRequested | ModelReplied | ModelFailed = record.data
        if isinstance(data, ModelRequested):
            self._turn = self._add("model", seq, record)
            self._turn.model = ModelStep(
                model_id=data.model_id,
                turn=data.turn,
                opening=data.opening,
                tools=data.tools,
                tool_choice=data.tool_choice,
                is_open=True,
            )
            return
        part = self._turn
        if part is None or part.model is None:
            self._add("other", seq, record, title_of(data))
            return
        part.seqs.append(seq)
        part.lasted_until(record.ts_us)
        if isinstance(data, ModelFailed):
            failures = (*part.model.failures, f"{data.code}: {data.message}")
            part.model = msgspec.structs.replace(part.model, failures=failures)
            return
        self._asked.update({call.id: call for call in data.calls})
        part.model = msgspec.structs.replace(
            part.model,
            text=data.text,
            calls=step_calls(data.calls),
            finish_reason=data.finish_reason,
            usage=data.usage,
            is_open=False,
        )
        self._turn = None

    def _worked(self, seq: Seq, record: Recorded) -> None:
        data: ToolCalled | ToolReturned = record.data
        key, kind = (record.run, data.call_id), self._kind_of_call(record)
        if isinstance(data, ToolCalled):
            self._explain_waiting()
            part = self._calls[key] = self._add(kind, seq, record)
            part.call = call_opened(data, self._asked.get(data.call_id) if record.run else None)
            return
        known = self._calls.pop(key, None)
        if known is None:
            self._explain_waiting()
            known = self._add(kind, seq, record)
        else:
            known.seqs.append(seq)
            self._take_waiting(known)
        call = known.call or nameless(data.call_id, data.entry_id)
        known.call, known.duration_ms = call_returned(call, data), data.duration_ms

    def _kind_of_call(self, record: Recorded) -> StepKind:
        return "tool" if record.run == self._number else "other"

    def _published(self, seq: Seq, record: Recorded) -> None:
        """A publish is one step, whatever the clock says between its events."""
        self._explain_waiting()
        data = record.data
        part = self._publish
        if isinstance(data, PublishIntended) or part is None:
            kind: StepKind = "other" if isinstance(data, CheckpointCreated) else "draft"
            part = self._add(kind, seq, record, title_of(data))
            if isinstance(data, PublishIntended):
                part.text = "\n".join(planned.name for planned in data.files)
                self._publish = part
            return
        part.seqs.append(seq)
        part.lasted_until(record.ts_us)
        if isinstance(data, PublishAborted):
            part.title = title_of(data)
        if not isinstance(data, CheckpointCreated):
            self._publish = None

    def _is_said_by_summary(self, record: Recorded) -> bool:
        last = self._parts[-1] if self._parts else None
        is_ours = record.run == self._number and not self._waiting
        return is_ours and last is not None and last.kind == "summary" and len(last.seqs) == 1

    def _alone(self, seq: Seq, record: Recorded) -> Part:
        data = record.data
        undone = isinstance(data, ItemRetried | ItemFailed)
        if not undone:
            self._explain_waiting()
        kind = _KINDS.get(type(data), "other")
        if isinstance(data, UserMessageAdded) and not self._parts:
            kind = "asked"
        part = self._add(kind, seq, record, title_of(data))
        if undone:
            self._take_waiting(part)
        self._fill(part, data)
        self._time(part, record)
        return part

    def _fill(self, part: Part, data: Any) -> None:
        """Say in full what a step's title only names."""
        run = self._standing.run
        plan = run.plan if run else None
        match data:
            case (
                UserMessageAdded(text=text)
                | AssistantMessageAdded(text=text)
                | ResearchWritten(text=text)
                | SummaryWritten(text=text)
                | ItemCompleted(text=text)
            ):
                part.text = text
            case PlanWritten() if plan is not None:
                part.text = plan_markdown(plan)
            case ItemsAdded(items=items) | ItemsRefused(items=items):
                part.text = "\n".join(items)
            case (
                RunFailed(message=text) | RunInterrupted(reason=text) | PublishAborted(reason=text)
            ):
                part.text = text
            case ItemRetried(reason=text) | ItemFailed(reason=text):
                part.text = text
                if part.files:
                    part.title += f" ({counted(len(part.files), 'file')} rolled back)"
            case ToolRefused(call_id=call_id):
                part.call = call_refused(data, self._asked.get(call_id))
            case _:
                pass
        if part.kind in ("plan", "item"):
            part.items = self._standing.items()
        if isinstance(data, ItemStarted | _ItemEnd) and plan is not None:
            part.place = msgspec.structs.replace(part.place, item=data.item)
            if isinstance(data, ItemStarted) and 1 <= data.item <= len(plan.items):
                part.title = title_of(data) + f": {item_label(plan.items[data.item - 1].text)}"

    def _time(self, part: Part, record: Recorded) -> None:
        """Say of an end how long what it ends took."""
        match record.data:
            case PhaseStarted():
                self._began_us["phase"] = record.ts_us
            case ItemStarted():
                self._began_us["item"] = record.ts_us
            case RunStarted() | RunResumed():
                self._began_us["run"] = record.ts_us
            case PhaseCompleted():
                self._took(part, "phase", record)
            case ItemCompleted() | ItemRetried() | ItemFailed():
                self._took(part, "item", record)
            case RunFinished() | RunFailed() | RunCancelled() | RunInterrupted():
                self._took(part, "run", record)
            case _:
                pass

    def _took(self, part: Part, what: str, record: Recorded) -> None:
        began_us = self._began_us.pop(what, record.ts_us)
        part.duration_ms = max(record.ts_us - began_us, 0) // 1000
