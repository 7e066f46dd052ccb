"""Steps of a run: the events of its span folded into what a person can walk through.

A run's span reaches from its request up to the next run's. Some events begin a step that later ones
continue: a turn of the model, a tool call, a publish. Some belong to what follows them in the same
frame: the draft that a call opens, the changes that undo a failed attempt. All others are steps of
their own. What the log leaves open is told as open; a log that kbd cannot have written is told,
too, and never refused.

`step_parts` makes the records that a step holds, and `kbd.core.domain.event_text` has the words.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from kbd.core.audit.step_parts import (
    PlanFold,
    call_opened,
    call_refused,
    call_returned,
    file_step,
    full_text,
    nameless,
    turn_failed,
    turn_opened,
    turn_replied,
)
from kbd.core.domain.event_context import ContextFold, EventContext, event_place
from kbd.core.domain.event_text import (
    call_text,
    completed_text,
    event_text,
    publish_text,
    title_line,
    turn_text,
)
from kbd.events import drafts, runs, workbenches
from kbd.events.base import Actor, Recorded
from kbd.events.codec import format_time
from kbd.events.runs import RunStarted
from kbd.events.workbenches import ConversationRewound, UserMessageAdded
from kbd.requests.events import EventPlace
from kbd.requests.replays import CallStep, FileStep, ItemStep, ModelStep, Step, StepKind
from kbd.types import CallId, Seq

__all__ = [
    "Numbered",
    "RunSpan",
    "StepEvents",
    "StepFold",
    "find_span",
    "fold_step_events",
    "fold_steps",
]

Numbered = tuple[Seq, Recorded]
"""An event with its number."""


class RunSpan:
    """Span of a run: filters its events out of a whole log, in order.

    Those are all from the message that the run answers up to the next run's message: what clients
    do meanwhile is among them, and what becomes of the run's draft after its end.

    Args:
        run: The run's number.

    Attributes:
        events: What it keeps; none if there is no such run.
        is_over: Whether the next run has begun: nothing is kept any more.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._is_started = self.is_over = False
        # Before the first place: until the run has started, all that was collected is searched.
        self._start = -1
        self._collected: list[Numbered] = []

    @property
    def events(self) -> list[Numbered]:
        """Events of the span; none if there is no such run."""
        return self._collected if self._is_started else []

    def note(self, seq: Seq, record: Recorded) -> None:
        """Apply the next event of the log."""
        if self.is_over:
            return
        is_start = isinstance(record.data, RunStarted)
        if is_start and self._is_started and record.run != self._run:
            del self._collected[self._request_place(record.data) :]
            self.is_over = True
            return
        if not self._is_started and record.run not in (0, self._run):
            self._collected.clear()  # An earlier run is still at work: the message comes later.
            return
        if is_start and not self._is_started:
            self._is_started = True
            del self._collected[: self._request_place(record.data)]
            self._start = len(self._collected)
        self._collected.append((seq, record))

    def _request_place(self, started: RunStarted) -> int:
        """Return the place of what a run answers; the end if that is not behind our run's start.

        It is a message, or that the conversation was set back to one for another answer.
        """
        for place in range(len(self._collected) - 1, self._start, -1):
            match self._collected[place][1].data:
                case UserMessageAdded(message_id=started.message_id):
                    return place
                case ConversationRewound(message_id=started.message_id, reason="regenerate"):
                    return place
        return len(self._collected)


def find_span(run: int, events: Iterable[Numbered]) -> list[Numbered]:
    """Return the events of a run's span; those behind it are not read.

    Args:
        run: Its number.
        events: The whole log's, in order.
    """
    span = RunSpan(run)
    for seq, record in events:
        span.note(seq, record)
        if span.is_over:
            break
    return span.events


_KINDS: Mapping[type, StepKind] = MappingProxyType(
    {
        runs.RunStarted: "run",
        runs.RunResumed: "run",
        runs.RunInterrupted: "run",
        runs.RunCancelRequested: "run",
        runs.RunCancelled: "run",
        runs.RunFailed: "run",
        runs.RunFinished: "run",
        runs.PhaseStarted: "phase",
        runs.PhaseCompleted: "phase",
        runs.ResearchWritten: "research",
        runs.PlanWritten: "plan",
        runs.ItemStarted: "item",
        runs.ItemCompleted: "item",
        runs.ItemRetried: "item",
        runs.ItemFailed: "item",
        runs.ItemsAdded: "item",
        runs.ItemsRefused: "item",
        runs.SummaryWritten: "summary",
        runs.ToolRefused: "refused",
        drafts.DraftOpened: "draft",
        drafts.FileChanged: "draft",
        drafts.DraftDiscarded: "draft",
        drafts.DraftRecovered: "draft",
        drafts.FileAdopted: "draft",
        drafts.DraftRebased: "draft",
        drafts.DeletionConfirmed: "draft",
        drafts.PublishIntended: "draft",
        drafts.PublishCompleted: "draft",
        drafts.PublishAborted: "draft",
        workbenches.ConversationRewound: "draft",
        drafts.CheckpointRestored: "draft",
    }
)
"""What an event tells of that begins a step; "other" if it is not here."""

_BOUNDARY_EVENTS = (
    runs.RunResumed, runs.RunInterrupted, runs.RunCancelled, runs.RunFailed, runs.RunFinished,
)  # fmt: skip
"""Where nothing of the run can be under way any more."""


class StepEvents(msgspec.Struct, frozen=True):
    """Step with all its events, in order."""

    step: Step
    seqs: tuple[Seq, ...]


def fold_steps(run: int, events: Iterable[Numbered]) -> list[Step]:
    """Return the steps of a run in the order in which they ended; empty if there is no such run.

    Args:
        run: The run's number.
        events: The whole log's, in order.
    """
    return [each.step for each in fold_step_events(run, find_span(run, events))]


def fold_step_events(run: int, span: Iterable[Numbered]) -> list[StepEvents]:
    """Return the steps of a run with the events of each: every event of its span stands once."""
    fold = StepFold(run)
    for seq, record in span:
        fold.take(seq, record)
    # A step that is open when another one ends comes after it: walking on, the state goes on.
    parts = sorted(fold.finished(), key=lambda part: part.seqs[-1])
    return [StepEvents(part.step(index), tuple(part.seqs)) for index, part in enumerate(parts, 1)]


class _StepBuilder(msgspec.Struct):
    """Builder of a step.

    Args:
        kind: What it tells of.
        began_us: When its first event was decided.
        seqs: The events that it tells of, in order.
        context: That of its first event.
        place: Where that stands.
        title: Itself as a sentence; of a turn or a call it is made when all is folded.
        duration_ms: How long it took, as far as that is recorded.
        text: What was said or written.
        model: The turn.
        call: The call.
        items: The plan after it, if it changed that.
        files: What it changed in the draft.
        publish: What it carries out.
        actor: The client that caused it.
    """

    kind: StepKind
    began_us: int
    seqs: list[Seq]
    context: EventContext
    place: EventPlace
    title: str
    duration_ms: int = 0
    text: str = ""
    model: ModelStep | None = None
    call: CallStep | None = None
    items: tuple[ItemStep, ...] = ()
    files: list[FileStep] = []
    publish: drafts.PublishIntended | None = None
    actor: Actor | None = None

    def add_event(self, seq: Seq, ts_us: int) -> None:
        """Add an event to the step; a clock that went back makes the duration 0."""
        self.seqs.append(seq)
        self.duration_ms = max(ts_us - self.began_us, 0) // 1000

    def failed(self, *, is_failure: bool) -> None:
        """Mark the step as a failure, or as none."""
        self.place = msgspec.structs.replace(self.place, is_failure=is_failure)

    def step(self, index: int) -> Step:
        """Return the step."""
        return Step(
            index=index,
            first_seq=self.seqs[0],
            seq=self.seqs[-1],
            kind=self.kind,
            title=self.title,
            ts=format_time(self.began_us),
            duration_ms=self.duration_ms,
            phase=self.context.phase,
            item=self.context.item,
            attempt=self.context.attempt,
            text=self.text,
            model=self.model,
            call=self.call,
            items=self.items,
            files=tuple(self.files),
            place=self.place,
            actor=self.actor,
        )


class StepFold:
    """Folds the events of a run's span into steps.

    Args:
        number: The run's.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._contexts = ContextFold()
        self._plan = PlanFold(number)
        self._parts: list[_StepBuilder] = []
        self._turn: _StepBuilder | None = None
        self._publish: _StepBuilder | None = None
        self._effects: dict[str, _StepBuilder] = {}
        self._calls: dict[tuple[int, CallId], _StepBuilder] = {}
        self._waiting: list[tuple[Seq, Recorded, EventContext]] = []

    def take(self, seq: Seq, record: Recorded) -> None:
        """Fold the next event of the span."""
        context = self._contexts.add(record)
        if record.run != self._number:
            # Where another run is says nothing of this one.
            context = EventContext(context.run, call=context.call, spent=context.spent)
        self._plan.take(seq, record)
        match record.data:
            case drafts.DraftOpened():
                self._flush_waiting()
                # It stands before the change that opened the draft, and joins the step of that
                # change.
                self._waiting.append((seq, record, context))
            case drafts.FileChanged():
                self._changed(seq, record, context)
            case runs.ModelRequested():
                self._turn_requested(seq, record, context)
            case workbenches.RequestSent() | runs.ModelReplied() | runs.ModelFailed():
                self._turn_answered(seq, record, context)
            case runs.ToolCalled():
                self._called(seq, record, context)
            case runs.ToolReturned():
                self._returned(seq, record, context)
            case (
                drafts.PublishIntended()
                | drafts.CheckpointCreated()
                | drafts.PublishCompleted()
                | drafts.PublishAborted()
            ):
                self._published(seq, record, context)
            case drafts.EffectIntended() | drafts.EffectDone() | drafts.EffectAborted():
                self._took_effect(seq, record, context)
            case workbenches.AssistantMessageAdded() if self._is_summary(record):
                self._parts[-1].seqs.append(seq)
            case _:
                self._alone(seq, record, context)
        if isinstance(record.data, _BOUNDARY_EVENTS) and record.run == self._number:
            # What is cut off stays open: what is begun again for it is a step of its own.
            self._turn = None
            self._calls = {key: part for key, part in self._calls.items() if key[0] == 0}

    def finished(self) -> list[_StepBuilder]:
        """Return all steps; those without an end are marked as open."""
        self._flush_waiting()
        for part in self._parts:
            if part.model is not None:
                _end_turn(part, part.model)
            elif part.call is not None and part.call.tool != "?" and part.kind != "refused":
                _end_call(part, part.call)
        return self._parts

    def _add(
        self, kind: StepKind, seq: Seq, record: Recorded, context: EventContext
    ) -> _StepBuilder:
        # How long it took is told beside the title, and of a turn it is another's time.
        title = event_text(record.data, msgspec.structs.replace(context, spent=None))
        place = event_place(record.data, context)
        part = _StepBuilder(kind, record.ts_us, [seq], context, place, title, actor=record.actor)
        self._parts.append(part)
        return part

    def _flush_waiting(self) -> None:
        """Turn waiting events into steps of their own, if no later event explained them."""
        for seq, record, context in self._waiting:
            part = self._add("draft", seq, record, context)
            if isinstance(record.data, drafts.FileChanged):
                part.files = [file_step(record.data)]
        self._waiting = []

    def _take_waiting(self, part: _StepBuilder) -> None:
        """Add the waiting events to a step."""
        for seq, record, _ in self._waiting:
            part.seqs.append(seq)
            if isinstance(record.data, drafts.FileChanged):
                part.files = [*part.files, file_step(record.data)]
        self._waiting = []
        part.seqs.sort()

    def _alone(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        """Make a step of one event; a failed attempt explains the changes that undid it."""
        data = record.data
        if isinstance(data, runs.ItemRetried | runs.ItemFailed):
            undone = [each for _, each, _ in self._waiting]
            rolled_back = sum(isinstance(each.data, drafts.FileChanged) for each in undone)
            context = msgspec.structs.replace(context, rolled_back=rolled_back)
        else:
            self._flush_waiting()
        is_request = isinstance(data, workbenches.UserMessageAdded) and not self._parts
        kind: StepKind = "asked" if is_request else _KINDS.get(type(data), "other")
        part = self._add(kind, seq, record, context)
        self._take_waiting(part)
        is_plan = isinstance(data, runs.PlanWritten)
        part.text = self._plan.markdown() if is_plan else full_text(data)
        if isinstance(data, runs.ToolRefused):
            part.call = call_refused(data, context.call)
        if part.kind in ("plan", "item"):
            part.items = self._plan.items()
        if context.spent is not None:
            part.duration_ms = context.spent.took_us // 1000

    def _changed(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        data: drafts.FileChanged = record.data
        part = self._calls.get((record.run, data.call_id)) if data.call_id else None
        # Rollbacks stand before the failure in whose frame they are, and which explains them.
        if part is None and data.cause == "rollback":
            self._waiting.append((seq, record, context))
            return
        if part is None:
            part = self._add("draft", seq, record, context)
        else:
            part.seqs.append(seq)
        self._take_waiting(part)
        part.files = [*part.files, file_step(data)]

    def _turn_requested(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        self._flush_waiting()
        self._turn = self._add("model", seq, record, context)
        self._turn.model = turn_opened(record.data)

    def _turn_answered(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        self._flush_waiting()
        data: workbenches.RequestSent | runs.ModelReplied | runs.ModelFailed = record.data
        # What the search of a workbench sends beside all runs belongs to no turn.
        part = self._turn if record.run == self._number else None
        if part is None or part.model is None:
            self._add("other", seq, record, context)
            return
        match data:
            case workbenches.RequestSent():
                part.seqs.append(seq)
            case runs.ModelFailed():
                part.add_event(seq, record.ts_us)
                without = f"; asked again without {data.option}" if data.option else ""
                failure = f"{data.code}: {data.message}{without}"
                part.model = turn_failed(part.model, failure)
            case runs.ModelReplied():
                part.add_event(seq, record.ts_us)
                part.model = turn_replied(part.model, data)
                self._turn = None

    def _called(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        self._flush_waiting()
        data: runs.ToolCalled = record.data
        part = self._add(self._kind_of_call(record), seq, record, context)
        part.call = call_opened(data, context.call)
        self._calls[record.run, data.call_id] = part

    def _returned(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        data: runs.ToolReturned = record.data
        part = self._calls.pop((record.run, data.call_id), None)
        if part is None:
            self._flush_waiting()
            part = self._add(self._kind_of_call(record), seq, record, context)
        else:
            part.seqs.append(seq)
            self._take_waiting(part)
        call = part.call or nameless(data.call_id, data.entry_id)
        part.call, part.duration_ms = call_returned(call, data), data.duration_ms

    def _kind_of_call(self, record: Recorded) -> StepKind:
        return "tool" if record.run == self._number else "other"

    def _published(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        """A publish is one step, whatever a crash put between its events."""
        self._flush_waiting()
        data = record.data
        part = self._publish
        if part is None or isinstance(data, drafts.PublishIntended):
            part = self._add(_KINDS.get(type(data), "other"), seq, record, context)
            if isinstance(data, drafts.PublishIntended):
                part.text = "\n".join(planned.name for planned in data.files)
                part.publish, self._publish = data, part
            return
        part.add_event(seq, record.ts_us)
        if isinstance(data, drafts.CheckpointCreated):
            return
        part.failed(is_failure=isinstance(data, drafts.PublishAborted))
        part.title = event_text(data, context)
        if isinstance(data, drafts.PublishCompleted) and part.publish is not None:
            part.title = title_line(publish_text(part.publish, completed_text(data)))
        self._publish = None

    def _took_effect(self, seq: Seq, record: Recorded, context: EventContext) -> None:
        """Fold the intent and outcome of a file that is written elsewhere into one step."""
        self._flush_waiting()
        data: drafts.EffectIntended | drafts.EffectDone | drafts.EffectAborted = record.data
        part = self._effects.pop(data.effect_id, None)
        if part is None:
            part = self._add("other", seq, record, context)
        else:
            part.add_event(seq, record.ts_us)
        if isinstance(data, drafts.EffectIntended):
            part.text = f"{data.file.name}\n{data.directory}"
            self._effects[data.effect_id] = part
        else:
            part.title = event_text(data, context)
            part.failed(is_failure=isinstance(data, drafts.EffectAborted))

    def _is_summary(self, record: Recorded) -> bool:
        """Whether an answer is the summary that was written just before it."""
        last = self._parts[-1] if self._parts else None
        is_ours = record.run == self._number and not self._waiting
        return is_ours and last is not None and last.kind == "summary" and len(last.seqs) == 1


def _end_turn(part: _StepBuilder, model: ModelStep) -> None:
    """Set the title of a turn from its reply."""
    names = tuple(call.tool for call in model.calls)
    reply = None if model.is_open else (model.text, names, model.finish_reason)
    part.title = title_line(turn_text(model.turn, model.failures, reply))
    part.failed(is_failure=bool(model.failures))
    part.place = msgspec.structs.replace(part.place, tools=tuple(dict.fromkeys(names)))


def _end_call(part: _StepBuilder, call: CallStep) -> None:
    """Set the title of a call from its tool, its end and its arguments."""
    is_failure = not call.ok and not call.is_open
    code = f" with {call.error_code}" if call.error_code else ""
    how = " not ended" if call.is_open else f" failed{code}" if is_failure else ""
    line = call_text(call.tool, call.arguments, how, by_client=not part.context.run)
    part.title = title_line(line)
    part.failed(is_failure=is_failure)
