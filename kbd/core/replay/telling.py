"""One event after the other, folded into the steps of a run.

Some events begin a step that later ones go on with: a turn of the model, a tool call, a publish.
Some belong to what follows them in the same frame: the draft that a call opens, the changes that
undo a failed attempt. All others are steps of their own, which `alone` makes. What the log leaves
open is told as open; a log that kbd cannot have written is told, too, and never refused.
"""

import msgspec

from kbd.core.replay.alone import Standalone
from kbd.core.replay.parts import (
    Part,
    Standing,
    call_opened,
    call_returned,
    file_step,
    nameless,
    step_calls,
)
from kbd.core.replay.span import Numbered
from kbd.core.replay.wording import call_title, model_title, title_of
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import (
    CheckpointCreated,
    DraftOpened,
    EffectAborted,
    EffectDone,
    EffectIntended,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.runs import (
    ItemFailed,
    ItemRetried,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    ToolCalled,
    ToolReturned,
)
from kbd.events.workbenches import AssistantMessageAdded, RequestSent
from kbd.requests.replays import ModelStep, StepKind
from kbd.types import CallId, Seq

__all__ = ["Teller"]

_STOPS = (RunResumed, RunInterrupted, RunCancelled, RunFailed, RunFinished)
"""Where nothing of the run can be under way any more."""


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
        self._alone = Standalone(self._standing, self._asked)
        self._turn: Part | None = None
        self._publish: Part | None = None
        self._effects: dict[str, Part] = {}
        self._calls: dict[tuple[int, CallId], Part] = {}
        self._waiting: list[Numbered] = []

    def tell(self, seq: Seq, record: Recorded) -> None:
        """Go on with the next event."""
        before = self._standing.place
        self._standing.fold(seq, record)
        match record.data:
            case DraftOpened():
                self._settle()
                self._waiting.append((seq, record))
            case FileChanged():
                self._changed(seq, record)
            case ModelRequested():
                self._asks(seq, record)
            case RequestSent() | ModelReplied() | ModelFailed():
                self._answered(seq, record)
            case ToolCalled():
                self._called(seq, record)
            case ToolReturned():
                self._returned(seq, record)
            case PublishIntended() | CheckpointCreated() | PublishCompleted() | PublishAborted():
                self._published(seq, record)
            case EffectIntended() | EffectDone() | EffectAborted():
                self._took_effect(seq, record)
            case AssistantMessageAdded() if self._is_summary(record):
                self._parts[-1].seqs.append(seq)
            case ItemRetried() | ItemFailed():
                part = self._add("item", seq, record)
                self._take_waiting(part)
                self._alone.fill(part, record, before)
            case _:
                self._settle()
                part = self._add(self._alone.kind_of(record.data, self._parts), seq, record)
                self._alone.fill(part, record, before)
        if isinstance(record.data, _STOPS) and record.run == self._number:
            # What is cut off stays open: what is begun again for it is a step of its own.
            self._turn = None
            self._calls = {key: part for key, part in self._calls.items() if key[0] == 0}

    def finished(self) -> list[Part]:
        """Return all steps; what is open is told as open."""
        self._settle()
        for part in self._parts:
            if part.model is not None:
                part.title = model_title(part.model)
            elif part.call is not None and part.kind != "refused":
                by_client = "A client called " if part.kind == "other" else ""
                part.title = call_title(part.call, by_client)
        return self._parts

    def _add(self, kind: StepKind, seq: Seq, record: Recorded, title: str = "") -> Part:
        part = Part(kind, record.ts_us, [seq], title=title)
        if record.run == self._number:
            part.place = self._standing.place
        self._parts.append(part)
        return part

    def _settle(self) -> None:
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
        if part is None and data.cause == "rollback":
            self._waiting.append((seq, record))
            return
        if part is None:
            part = self._add("draft", seq, record, title_of(data))
        else:
            part.seqs.append(seq)
        self._take_waiting(part)
        part.files = [*part.files, file_step(data)]

    def _asks(self, seq: Seq, record: Recorded) -> None:
        self._settle()
        data: ModelRequested = record.data
        self._turn = self._add("model", seq, record)
        self._turn.model = ModelStep(
            model_id=data.model_id,
            turn=data.turn,
            opening=data.opening,
            tools=data.tools,
            tool_choice=data.tool_choice,
            is_open=True,
        )

    def _answered(self, seq: Seq, record: Recorded) -> None:
        self._settle()
        data: RequestSent | ModelReplied | ModelFailed = record.data
        # What the search of a workbench sends beside all runs belongs to no turn.
        part = self._turn if record.run == self._number else None
        if part is None or part.model is None:
            self._add("other", seq, record, title_of(data))
            return
        part.seqs.append(seq)
        if isinstance(data, RequestSent):
            return
        part.lasted_until(record.ts_us)
        if isinstance(data, ModelFailed):
            without = f"; asked again without {data.option}" if data.option else ""
            failures = (*part.model.failures, f"{data.code}: {data.message}{without}")
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

    def _called(self, seq: Seq, record: Recorded) -> None:
        self._settle()
        data: ToolCalled = record.data
        part = self._add(self._kind_of_call(record), seq, record)
        part.call = call_opened(data, self._asked.get(data.call_id) if record.run else None)
        self._calls[record.run, data.call_id] = part

    def _returned(self, seq: Seq, record: Recorded) -> None:
        data: ToolReturned = record.data
        part = self._calls.pop((record.run, data.call_id), None)
        if part is None:
            self._settle()
            part = self._add(self._kind_of_call(record), seq, record)
        else:
            part.seqs.append(seq)
            self._take_waiting(part)
        call = part.call or nameless(data.call_id, data.entry_id)
        part.call, part.duration_ms = call_returned(call, data), data.duration_ms

    def _kind_of_call(self, record: Recorded) -> StepKind:
        return "tool" if record.run == self._number else "other"

    def _published(self, seq: Seq, record: Recorded) -> None:
        """A publish is one step, whatever a crash put between its events."""
        self._settle()
        data = record.data
        part = self._publish
        if part is None or isinstance(data, PublishIntended):
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

    def _took_effect(self, seq: Seq, record: Recorded) -> None:
        """Tell of a file that is written elsewhere, with its outcome, in one step."""
        self._settle()
        data: EffectIntended | EffectDone | EffectAborted = record.data
        part = self._effects.pop(data.effect_id, None)
        if part is None:
            part = self._add("other", seq, record, title_of(data))
        else:
            part.seqs.append(seq)
            part.lasted_until(record.ts_us)
        if isinstance(data, EffectIntended):
            part.text = f"{data.file.name}\n{data.directory}"
            self._effects[data.effect_id] = part
        else:
            part.title = title_of(data)

    def _is_summary(self, record: Recorded) -> bool:
        """Whether an answer is the summary that was written just before it."""
        last = self._parts[-1] if self._parts else None
        is_ours = record.run == self._number and not self._waiting
        return is_ours and last is not None and last.kind == "summary" and len(last.seqs) == 1
