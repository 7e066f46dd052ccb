"""What the log says of a call: the files as it saw them, its time, what it was asked."""

from typing import Any, cast

from folding import blob
from kbd.core.audit.recorded_calls import CallFold, RecordedCall
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.workbench.call_files import CallFiles
from kbd.events.base import PluginUsed, ReplyCall
from kbd.events.codec import wrap_event
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import (
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    RunInterrupted,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import FileAdded, UserMessageAdded, WorkbenchCreated
from kbd.requests.replays import SkippedCall
from kbd.types import CallId, FileName, Phase, Seq, WorkbenchId

C1, C2 = CallId("c1"), CallId("c2")
ASKED = (ReplyCall(C1, "one", "{}"), ReplyCall(C2, "two", "{}"))
SHA = "f" * 64


class Told:
    """A log that is told from its beginning; a picture of files is the list of their names."""

    def __init__(self) -> None:
        self.calls: list[RecordedCall | SkippedCall] = []
        self.results: list[tuple[Seq, int]] = []
        self.retelling = CallFold(
            1,
            open_files=_names,
            on_result=lambda seq, returned: self.results.append((seq, returned.entry_id)),
            on_call=self.calls.append,
        )
        self.seq = 0
        self.take(WorkbenchCreated(WorkbenchId("0" * 16), "w"), UserMessageAdded("u1", "go"))
        self.take(RunStarted("u1", "m"), PhaseStarted(Phase.IMPLEMENT), run=1)
        self.take(ModelRequested("m", 1, blob("0")), ModelReplied(calls=ASKED), run=1)

    def take(self, *events: Event, run: int = 0) -> int:
        """Tell events; return the number of the last."""
        for event in events:
            self.seq += 1
            self.retelling.apply(Seq(self.seq), wrap_event(event, 1000 * self.seq, run))
        return self.seq

    def add(self, name: str) -> int:
        """Have somebody add a file."""
        return self.take(FileAdded(FileName(name), blob("1"), 1))

    def called(self, call_id: CallId = C1, entry_id: int = 1) -> int:
        """Have a call start."""
        return self.take(
            ToolCalled(call_id, entry_id, "one", "kbd_one 1.0", plugin_sha256=SHA), run=1
        )

    def returned(self, saw: int, call_id: CallId = C1, entry_id: int = 1, **more: Any) -> None:
        """Have a call end, with a file that it wrote."""
        self.take(
            DraftOpened("d"), FileChanged(FileName("own"), None, blob("2"), 1, call_id=call_id),
            ToolReturned(call_id, entry_id, ok=True, shown="1", saw=saw, **more), run=1,
        )  # fmt: skip

    def saw(self) -> object:
        """The picture of the files that the last call was told with."""
        return self.call().files

    def call(self) -> RecordedCall:
        """The last call that was told."""
        assert isinstance(self.calls[-1], RecordedCall)
        return self.calls[-1]


def _names(state: WorkbenchState) -> CallFiles:
    return cast("CallFiles", tuple(seen.name for seen in state.current_files()))


def test_a_call_is_told_with_the_files_that_it_saw() -> None:
    """Those after the event that it names, though others came between its start and its end."""
    told = Told()
    told.add("before")
    told.called()
    saw = told.add("between")
    told.add("after")
    told.returned(saw)

    assert told.saw() == ("before", "between")
    assert [change.name for change in told.call().changes] == ["own"]
    assert told.call().now_us == 1000 * (saw - 1)


def test_an_old_log_does_not_name_the_event() -> None:
    """Then the files are those at the call's start."""
    told = Told()
    told.add("before")
    told.called()
    told.add("later")
    told.returned(0)

    assert told.saw() == ("before",)


def test_a_call_is_told_as_it_was_asked() -> None:
    """Its arguments, its place in the turn, its phase, and the plugins that worked, each once."""
    told = Told()
    told.called()
    xlsx = PluginUsed("kbd_xlsx", "2", "e" * 64)
    one = PluginUsed("kbd_one", "1.0", SHA)
    told.returned(0, worked=(xlsx, one), fingerprint="m1")
    told.called(C2, 2)
    told.returned(0, C2, 2)

    first, second = told.calls
    assert isinstance(first, RecordedCall)
    assert first.plugins == (one, xlsx)
    assert (first.call, first.place, first.phase, first.fingerprints) == (
        ASKED[0], 0, Phase.IMPLEMENT, (),
    )  # fmt: skip
    assert told.call() is second
    assert (told.call().place, told.call().fingerprints) == (1, ("m1",))
    assert [entry for _, entry in told.results] == [1, 2]


def test_a_refusal_is_told_without_files() -> None:
    """No tool started, so it saw none."""
    told = Told()
    told.take(ToolRefused(C2, "two", "NOT_FOUND", "Error: …", "m"), run=1)

    assert (told.call().call, told.call().files, told.call().place) == (ASKED[1], None, 1)


def test_a_call_that_was_cut_off_is_told_once_it_was_made_again() -> None:
    """The second start counts; what was seen at the first is forgotten."""
    told = Told()
    told.called()
    told.take(RunInterrupted("crash"), run=1)
    told.add("since")
    told.take(RunResumed("m"), run=1)
    start = told.called()
    told.returned(0)
    told.retelling.finish()

    (call,) = told.calls
    assert call is told.call()
    assert (told.saw(), told.call().now_us) == (("since",), 1000 * start)


def test_a_call_that_was_never_made_again_is_skipped() -> None:
    """It is named, with its reason, at the end."""
    told = Told()
    seq = told.called()
    told.take(RunInterrupted("crash"), run=1)

    assert told.calls == []
    told.retelling.finish()
    (call,) = told.calls
    assert isinstance(call, SkippedCall)
    assert (call.seq, call.call_id, call.tool) == (seq, C1, "one")
    assert "not recorded" in call.reason


def test_a_call_that_is_being_made_is_skipped() -> None:
    """The run is under way; what has ended of it can be proved."""
    told = Told()
    told.called()
    told.returned(0)
    told.called(C2, 2)
    told.retelling.finish()

    first, second = told.calls
    assert isinstance(first, RecordedCall)
    assert isinstance(second, SkippedCall)
    assert "under way" in second.reason


def test_calls_of_others_are_not_told() -> None:
    """Another run's calls, and a client's own, only leave their results."""
    told = Told()
    told.take(ToolCalled(CallId("own"), 7, "XlsxApplyOps", "kbd_xlsx 1"))
    told.take(ToolReturned(CallId("own"), 7, ok=True, shown="1"))
    told.retelling.finish()

    assert told.calls == []
    assert [entry for _, entry in told.results] == [7]
