"""A step in the making, and the records of what it tells."""

import msgspec

from kbd.core.domain.fold_runs import RUN_FOLDS
from kbd.core.domain.run_state import ItemState, Run
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.replay.wording import change_of
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import FileChanged
from kbd.events.runs import RunStarted, ToolCalled, ToolRefused, ToolReturned
from kbd.requests.replays import CallStep, FileStep, ItemStep, ModelStep, StepCall, StepKind
from kbd.types import CallId, Phase, Seq

__all__ = [
    "Part", "Place", "Standing", "call_opened", "call_refused", "call_returned", "file_step",
    "nameless",
    "step_calls",
]  # fmt: skip


class Place(msgspec.Struct, frozen=True):
    """Where a run is: in a phase, at an item, in an attempt at it."""

    phase: Phase | None = None
    item: int = 0
    attempt: int = 0


class Part(msgspec.Struct):
    """A step in the making.

    Args:
        kind: What it tells of.
        began_us: When its first event was decided.
        seqs: The events that it tells of, in order.
        place: Where the run was.
        title: Itself in one line; of a turn or a call it is made when the story is finished.
        duration_ms: How long it took, as far as that is recorded.
        text: What was said or written.
        model: The turn.
        call: The call.
        items: The plan after it, if it changed that.
        files: What it changed in the draft.
    """

    kind: StepKind
    began_us: int
    seqs: list[Seq]
    place: Place = Place()
    title: str = ""
    duration_ms: int = 0
    text: str = ""
    model: ModelStep | None = None
    call: CallStep | None = None
    items: tuple[ItemStep, ...] = ()
    files: list[FileStep] = []

    def lasted_until(self, ts_us: int) -> None:
        """Take its duration from the times of the events; a clock that went back makes it 0."""
        self.duration_ms = max(ts_us - self.began_us, 0) // 1000


class Standing:
    """How the run stands, folded from its own events alone.

    Args:
        number: The run's.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._state: WorkbenchState | None = None

    @property
    def run(self) -> Run | None:
        """The run; None before its start."""
        return self._state.runs[-1] if self._state is not None else None

    @property
    def place(self) -> Place:
        """Where it is."""
        run = self.run
        if run is None:
            return Place()
        return Place(run.phase if run.phase_open else None, run.item, run.attempt)

    def fold(self, seq: Seq, record: Recorded) -> None:
        """Go on with an event of the run; one of somebody else changes nothing here."""
        if record.run != self._number:
            return
        if self._state is None:
            if isinstance(record.data, RunStarted):
                earlier = [Run(number, "", "", 0) for number in range(1, self._number)]
                self._state = WorkbenchState(runs=earlier)
                RUN_FOLDS[RunStarted](self._state, seq, record)
            return
        fold = RUN_FOLDS.get(type(record.data))
        if fold is not None and not isinstance(record.data, RunStarted):
            fold(self._state, seq, record)

    def items(self) -> tuple[ItemStep, ...]:
        """Return the plan as it stands."""
        run = self.run
        if run is None or run.plan is None:
            return ()
        return tuple(
            ItemStep(
                index=index,
                text=item.text,
                state="active"
                if index == run.item and item.state is ItemState.OPEN
                else item.state.value,
                reason=f"{item.code}: {item.reason}" if item.reason else "",
            )
            for index, item in enumerate(run.plan.items, 1)
        )


def step_calls(calls: tuple[ReplyCall, ...]) -> tuple[StepCall, ...]:
    """Tell what a reply asked for."""
    return tuple(
        StepCall(
            call_id=call.id,
            tool=call.name,
            arguments=call.arguments,
            blob=call.blob,
            fault=call.fault,
        )
        for call in calls
    )


def file_step(change: FileChanged) -> FileStep:
    """Tell what happened to a file."""
    return FileStep(
        path=change.name,
        change=change_of(change),
        before=change.before,
        after=change.after,
        size_bytes=change.size_bytes,
        before_size_bytes=change.before_size_bytes,
        warnings=change.warnings,
    )


def call_opened(data: ToolCalled, asked: ReplyCall | None) -> CallStep:
    """Tell of a call that starts; the reply that asked holds the arguments, or the call itself."""
    return CallStep(
        call_id=data.call_id,
        entry_id=data.entry_id,
        tool=data.tool,
        arguments=asked.arguments if asked else data.arguments,
        arguments_blob=asked.blob if asked else data.arguments_blob,
        plugins=(f"{data.plugin} {data.plugin_sha256}".strip(),) if data.plugin else (),
        is_open=True,
    )


def call_returned(call: CallStep, data: ToolReturned) -> CallStep:
    """Tell how a call ended."""
    worked = tuple(f"{one.package} {one.version} {one.sha256}".strip() for one in data.worked)
    return msgspec.structs.replace(
        call,
        ok=data.ok,
        error_code=data.error_code,
        shown=data.shown,
        result=data.result,
        blob=data.blob,
        size_bytes=data.size_bytes,
        plugins=worked or call.plugins,
        is_open=False,
    )


def call_refused(data: ToolRefused, asked: ReplyCall | None) -> CallStep:
    """Tell of a call that was refused."""
    return CallStep(
        call_id=data.call_id,
        entry_id=0,
        tool=data.tool,
        arguments=asked.arguments if asked else "",
        arguments_blob=asked.blob if asked else None,
        error_code=data.code,
        shown=data.shown,
        size_bytes=len(data.shown.encode()),
    )


def nameless(call_id: CallId, entry_id: int) -> CallStep:
    """Tell of a call whose beginning the log does not hold."""
    return CallStep(call_id=call_id, entry_id=entry_id, tool="?", is_open=True)
