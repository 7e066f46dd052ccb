"""Context of events: told by the events before them, over small logs and generated ones."""

from collections.abc import Callable

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from folding import blob
from kbd.core.domain.event_context import ContextFold, EventContext, WorkTotals
from kbd.events import Event, codec
from kbd.events import drafts as d
from kbd.events import runs as r
from kbd.events import workbenches as w
from kbd.events.base import Recorded, ReplyCall
from kbd.messages import Usage
from kbd.types import CallId, FileName, Phase

SECOND_US = 1_000_000


class Log:
    """Events, with what should be said of each."""

    def __init__(self) -> None:
        self.records: list[Recorded] = []
        self.ms = 0

    def add(self, event: Event, run: int = 1, *, ms: int = 1000) -> None:
        """Record an event so many milliseconds after the last one."""
        self.ms += ms
        self.records.append(codec.wrap_event(event, self.ms * 1000, run))

    def contexts(self) -> list[EventContext]:
        """Return what a fold says of each; a copy goes on as the fold itself."""
        fold = ContextFold()
        found = []
        for record in self.records:
            fold, told = fold.copy(), fold.add(record)
            assert fold.add(record) == told
            found.append(told)
        return found


def item(log: Log, number: int, run: int, *, attempt: int = 1, ended: str = "completed") -> None:
    """Work on an item: one turn with one call that writes, one that ends it."""
    call_id = CallId(f"c{run}{number}")
    asked = ReplyCall(call_id, "write_text_file", '{"path":"a"}')
    log.add(r.ItemStarted(number, attempt), run)
    log.add(r.ModelRequested("p:m", 1, blob("o")), run)
    log.add(r.ModelReplied("", (asked,), usage=Usage(10, 2)), run)
    log.add(r.ToolCalled(call_id, 1, "write_text_file", "p 1"), run)
    log.add(d.FileChanged(FileName("a"), None, blob("a"), call_id=call_id), run)
    log.add(r.ToolReturned(call_id, 1, ok=True, shown=""), run)
    log.add(_ENDS[ended](number), run)


_ENDS: dict[str, Callable[[int], Event]] = {
    "completed": r.ItemCompleted,
    "retried": lambda number: r.ItemRetried(number, "C", ""),
    "failed": lambda number: r.ItemFailed(number, "C", ""),
}


def test_a_run_is_placed() -> None:
    """Phase, item with its text, tool, arguments, and what each part took until it ended."""
    log = Log()
    log.add(r.RunStarted("m", "p:m"))
    log.add(r.PhaseStarted(Phase.PLAN))
    log.add(r.PlanWritten("t", ("One", "Two")))
    log.add(r.PhaseCompleted(Phase.PLAN))
    log.add(r.PhaseStarted(Phase.IMPLEMENT))
    item(log, 2, 1)
    log.add(r.RunFinished(has_draft=False))
    began, plan, _, planned, _, started, _, replied, called, changed, returned, done, end = (
        log.contexts()
    )

    assert (began.run, began.phase) == (1, None)
    assert (plan.phase, planned.phase) == (Phase.PLAN, Phase.PLAN)
    assert planned.spent == WorkTotals(2 * SECOND_US)
    assert started == EventContext(1, Phase.IMPLEMENT, 2, 1, 2, "Two")
    assert replied.spent == WorkTotals(SECOND_US, 0, 0, Usage(10, 2))
    assert called == changed == returned
    assert (called.call.tool, called.call.plugin) == ("write_text_file", "p 1")
    assert called.call.arguments == '{"path":"a"}'
    spent = WorkTotals(6 * SECOND_US, 1, 1, Usage(10, 2))
    assert done == msgspec.structs.replace(started, spent=spent)
    assert (end.item, end.spent) == (0, WorkTotals(12 * SECOND_US, 1, 1, Usage(10, 2)))


def test_a_failed_turn_is_told_by_its_attempt_and_the_reply_by_the_whole_turn() -> None:
    """The wait before a retry is no part of the attempt that follows it."""
    log = Log()
    log.add(r.RunStarted("m", "p:m"))
    log.add(r.ModelRequested("p:m", 1, blob("o")))
    log.add(r.ModelFailed("C", "", 1, 2000), ms=300)
    log.add(r.ModelFailed("C", ""), ms=2500)
    log.add(r.ModelReplied(), ms=200)
    told = [context.spent.took_us for context in log.contexts() if context.spent]

    assert told == [300_000, 500_000, 3_000_000]


def test_the_time_between_a_stop_and_the_resumption_is_no_work() -> None:
    """A run that a crash cut off counts until it was last heard of, and from its resumption on."""
    log = Log()
    log.add(r.RunStarted("m", "p:m"))
    log.add(r.PhaseStarted(Phase.RESEARCH))
    log.add(r.RunInterrupted("off"), ms=86_400_000)
    log.add(r.RunResumed("p:m"), ms=60_000)
    log.add(r.PhaseCompleted(Phase.RESEARCH))
    log.add(r.RunFinished(has_draft=False))
    contexts = log.contexts()

    assert [each.phase for each in contexts] == [None, *[Phase.RESEARCH] * 4, None]
    told = [each.spent.took_us // SECOND_US for each in contexts if each.spent]
    assert told == [1, 1, 3]


def test_a_clients_own_call_belongs_to_no_run() -> None:
    """It has a tool all the same."""
    log = Log()
    call_id = CallId("x")
    changed = d.FileChanged(FileName("a"), None, blob("a"), call_id=call_id)
    log.add(r.ToolCalled(call_id, 1, "XlsxApplyOps", "kbd_xlsx 1", "{}"), 0)
    log.add(changed, 0)
    log.add(r.ToolReturned(call_id, 1, ok=True, shown=""), 0)
    log.add(changed, 0)

    told = [(each.run, each.call.tool) for each in log.contexts()]
    assert told == [*[(0, "XlsxApplyOps")] * 3, (0, "")]


ATTEMPTS = st.lists(
    st.lists(st.sampled_from(sorted(_ENDS)), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(ATTEMPTS)
def test_generated_runs_are_placed_by_what_they_were_made_of(runs: list[list[str]]) -> None:
    """Every event of every attempt names its run, its item and its attempt, and none other does."""
    log, wanted = Log(), []
    for run, ends in enumerate(runs, 1):
        log.add(w.UserMessageAdded("m", ""), 0)
        log.add(r.RunStarted("m", "p:m"), run)
        log.add(r.PhaseStarted(Phase.IMPLEMENT), run)
        wanted += [(0, 0, 0), (run, 0, 0), (run, 0, 0)]
        for number, ended in enumerate(ends, 1):
            item(log, number, run, attempt=number, ended=ended)
            wanted += [(run, number, number)] * 7
        log.add(r.PhaseCompleted(Phase.IMPLEMENT), run)
        log.add(r.RunFinished(has_draft=False), run)
        wanted += [(run, 0, 0), (run, 0, 0)]
    contexts = log.contexts()

    assert [(each.run, each.item, each.attempt) for each in contexts] == wanted
    totals = [each.spent for each, record in zip(contexts, log.records, strict=True)
              if isinstance(record.data, r.RunFinished)]  # fmt: skip
    assert totals == [
        WorkTotals(
            (7 * len(ends) + 3) * SECOND_US,
            len(ends),
            len(ends),
            Usage(10 * len(ends), 2 * len(ends)),
        )
        for ends in runs
    ]
