"""Where an event belongs is told by the events before it: over small logs and generated ones."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kbd.cli.placing import Place, Spent, Tracker

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Log:
    """Events as `EventsRead` tells them, with where each should be said to belong."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.ms = 0

    def add(self, kind: str, run: int = 1, *, ms: int = 1000, **data: Any) -> None:
        """Record an event so many milliseconds after the last one."""
        self.ms += ms
        at = (BEGAN + timedelta(milliseconds=self.ms)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        event = {"seq": len(self.events) + 1, "type": kind, "ts": at, "data": data}
        self.events.append({**event, **({"run_id": f"{'a' * 16}-{run}"} if run else {})})

    def places(self) -> list[Place]:
        """Return what a tracker says of each."""
        tracker = Tracker()
        return [tracker.place(event) for event in self.events]


def item(
    log: Log, number: int, run: int, *, attempt: int = 1, ended: str = "ItemCompleted"
) -> None:
    """Work on an item: one turn with one call that writes, one that ends it."""
    log.add("ItemStarted", run, item=number, attempt=attempt)
    log.add("ModelRequested", run, turn=1)
    calls = [{"id": f"c{run}{number}", "name": "write_text_file", "arguments": '{"path":"a"}'}]
    usage = {"input_tokens": 10, "output_tokens": 2}
    log.add("ModelReplied", run, calls=calls, usage=usage)
    log.add("ToolCalled", run, call_id=f"c{run}{number}", tool="write_text_file", plugin="p 1")
    log.add("FileChanged", run, call_id=f"c{run}{number}", name="a")
    log.add("ToolReturned", run, call_id=f"c{run}{number}", ok=True)
    log.add(ended, run, item=number)


def test_a_run_is_placed() -> None:
    """Phase, item with its text, tool, arguments, and what each part took until it ended."""
    log = Log()
    log.add("RunStarted")
    log.add("PhaseStarted", phase="plan")
    log.add("PlanWritten", items=["One", "Two"])
    log.add("PhaseCompleted", phase="plan")
    log.add("PhaseStarted", phase="implement")
    item(log, 2, 1)
    log.add("RunFinished")
    began, plan, _, planned, _, started, _, replied, called, changed, returned, done, end = (
        log.places()
    )

    assert (began.run, began.phase, plan.phase, planned.phase) == (1, "", "plan", "plan")
    assert planned.spent == Spent(2.0)
    assert started == Place(1, "implement", 2, 1, 2, "Two")
    assert (replied.tools, replied.spent) == (("write_text_file",), Spent(1.0, 0, 0, 10, 2))
    tool = started._replace(tools=("write_text_file",), plugin="p 1", arguments='{"path":"a"}')
    assert called == changed == returned == tool
    assert done == started._replace(spent=Spent(6.0, 1, 1, 10, 2))
    assert (end.item, end.spent) == (0, Spent(12.0, 1, 1, 10, 2))


def test_a_failed_turn_is_told_by_its_attempt_and_the_reply_by_the_whole_turn() -> None:
    """The wait before a retry is no part of the attempt that follows it."""
    log = Log()
    log.add("RunStarted")
    log.add("ModelRequested", turn=1)
    log.add("ModelFailed", ms=300, retry_attempt=1, wait_ms=2000)
    log.add("ModelFailed", ms=2500)
    log.add("ModelReplied", ms=200)
    told = [place.spent.seconds for place in log.places() if place.spent]

    assert [round(seconds, 3) for seconds in told] == [0.3, 0.5, 3.0]


def test_the_time_between_a_stop_and_the_resumption_is_no_work() -> None:
    """A run that a crash cut off counts until it was last heard of, and from its resumption on."""
    log = Log()
    log.add("RunStarted")
    log.add("PhaseStarted", phase="research")
    log.add("RunInterrupted", ms=86_400_000)
    log.add("RunResumed", ms=60_000)
    log.add("PhaseCompleted", phase="research")
    log.add("RunFinished")
    places = log.places()

    assert [place.phase for place in places] == ["", *["research"] * 4, ""]
    assert [place.spent for place in places if place.spent] == [Spent(1.0), Spent(1.0), Spent(3.0)]


def test_a_clients_own_call_belongs_to_no_run() -> None:
    """It has a tool all the same."""
    log = Log()
    log.add("ToolCalled", 0, call_id="x", tool="XlsxApplyOps", arguments="{}", plugin="kbd_xlsx 1")
    log.add("FileChanged", 0, call_id="x", name="a")
    log.add("ToolReturned", 0, call_id="x", ok=True)
    log.add("FileChanged", 0, call_id="x", name="a")

    told = [(place.run, place.tools) for place in log.places()]
    assert told == [*[(0, ("XlsxApplyOps",))] * 3, (0, ())]


ATTEMPTS = st.lists(
    st.lists(
        st.sampled_from(["ItemCompleted", "ItemRetried", "ItemFailed"]), min_size=1, max_size=4
    ),
    min_size=1,
    max_size=4,
)


@given(ATTEMPTS)
def test_generated_runs_are_placed_by_what_they_were_made_of(runs: list[list[str]]) -> None:
    """Every event of every attempt names its run, its item and its attempt, and none other does."""
    log, wanted = Log(), []
    for run, ends in enumerate(runs, 1):
        log.add("UserMessageAdded", 0)
        log.add("RunStarted", run)
        log.add("PhaseStarted", run, phase="implement")
        wanted += [(0, 0, 0), (run, 0, 0), (run, 0, 0)]
        for number, ended in enumerate(ends, 1):
            item(log, number, run, attempt=number, ended=ended)
            wanted += [(run, number, number)] * 7
        log.add("PhaseCompleted", run, phase="implement")
        log.add("RunFinished", run)
        wanted += [(run, 0, 0), (run, 0, 0)]
    places = log.places()

    assert [(place.run, place.item, place.attempt) for place in places] == wanted
    totals = [place.spent for place, event in zip(places, log.events, strict=True)
              if event["type"] == "RunFinished"]  # fmt: skip
    assert totals == [
        Spent(7.0 * len(ends) + 3, len(ends), len(ends), 10 * len(ends), 2 * len(ends))
        for ends in runs
    ]
