"""What clients read: the change set, events as JSON, and which notification tells of what."""

import json
from pathlib import Path

import anyio
import msgspec
import pytest

from folding import Folded, blob
from kbd.core.domain.commands import (
    ConfirmDeletions,
    DiscardDraft,
    RecordFacts,
    RemoveFiles,
    SendMessage,
    StartRun,
)
from kbd.core.domain.daemon_state import DaemonState, Spent
from kbd.core.domain.log_outline import BLOCK_EVENTS
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.core.store.journal import Journal
from kbd.core.workbench.change_set import change_set, deletion_confirmations
from kbd.core.workbench.conversation import conversation
from kbd.core.workbench.event_rows import (
    FOLLOW_BATCH,
    MAX_CACHED_EVENTS,
    EventRows,
)
from kbd.core.workbench.notifications import notification_of
from kbd.core.workbench.rows import run_budget, run_info, workshop_state
from kbd.events.base import Recorded
from kbd.events.codec import wrap_event
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.log import EventLog
from kbd.events.runs import (
    ItemCompleted,
    ItemStarted,
    ModelReplied,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    RunFailed,
    RunFinished,
    RunStarted,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import BudgetReserved, ModelChosen
from kbd.messages import Usage
from kbd.requests import notifications as wire
from kbd.requests import workshop as asked
from kbd.requests.base import Notification
from kbd.types import FileName, Phase, Seq
from supervised import draft, supervised

A = FileName("a.txt")


def catalog() -> Catalog:
    """The catalog of a daemon without plugins."""
    return Catalog(Plugins.discover(Settings(), found=[]))


@pytest.mark.anyio
async def test_the_change_set_tells_each_change_once(tmp_path: Path) -> None:
    """Added, modified, deleted, and a deletion with an equal addition as one renamed file."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="moved", b__txt="old", c__txt="gone", d__txt="same")
        assert change_set(bench, catalog()).changes == ()
        changes = {"a__txt": None, "z__txt": "moved", "b__txt": "changed", "c__txt": None}
        await draft(bench, **changes, e__txt="made")
        rows = change_set(bench, catalog()).changes

        told = [(row.path, row.change_type, row.size_before, row.size_bytes) for row in rows]
        assert told == [
            ("b.txt", "modified", 3, 7),
            ("c.txt", "deleted", 4, 0),
            ("e.txt", "added", msgspec.UNSET, 4),
            ("z.txt", "renamed", msgspec.UNSET, 5),
        ]
        assert rows[3].previous_path == "a.txt"


@pytest.mark.anyio
async def test_two_deletions_of_equal_content_are_renamed_once_each(tmp_path: Path) -> None:
    """No file is shown as renamed from a name that another one has used up."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x", b__txt="x")
        await draft(bench, a__txt=None, b__txt=None, y__txt="x", z__txt="x")
        rows = change_set(bench, catalog()).changes

        told = {(row.path, row.change_type, str(row.previous_path)) for row in rows}
        assert told == {("y.txt", "renamed", "a.txt"), ("z.txt", "renamed", "b.txt")}


@pytest.mark.anyio
async def test_a_change_and_its_reversal_are_no_draft(tmp_path: Path) -> None:
    """A file that is again as published is not shown, and an empty draft is none."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await draft(bench, a__txt="y", b__txt="made")
        await draft(bench, a__txt="x", b__txt=None)

        assert bench.state.draft is None
        assert change_set(bench, catalog()).draft_id is None


def test_deletions_wait_for_confirmation() -> None:
    """Each is pending until a person confirms it; the newest list counts."""
    folded = Folded()
    folded.add("a.txt", "a")
    folded.add("b.txt", "b")
    folded.add("c.txt", "c")
    folded.apply(DraftOpened("d"), FileChanged(FileName("c.txt"), blob("c"), blob("d"), 1))
    folded.do(RemoveFiles((A, FileName("b.txt"))))
    assert deletion_confirmations(folded.state).pending == ("a.txt", "b.txt")
    folded.do(ConfirmDeletions((A,)))
    assert deletion_confirmations(folded.state).confirmed == ("a.txt",)
    folded.do(ConfirmDeletions((FileName("b.txt"),)))
    told = deletion_confirmations(folded.state)
    assert (told.confirmed, told.pending) == (("b.txt",), ("a.txt",))


def _told(folded: Folded, fact: Event, run: int = 0) -> Notification | None:
    folded.apply(fact, run=run)
    return notification_of(folded.state, folded.state.seq, wrap_event(fact, folded.time_us, run))


def test_progress_counts_from_one() -> None:
    """The first item is 1, its label is cut at the dash, its run and number are told."""
    folded = Folded()
    folded.do(SendMessage("u1", "x"))
    folded.do(StartRun(None, "p:m"))
    folded.apply(PlanWritten("task", ("Entity: One — write it", "Two"), "notes"), run=1)
    folded.apply(PhaseStarted(Phase.IMPLEMENT), run=1)
    told = _told(folded, ItemStarted(1, 1), 1)

    assert isinstance(told, wire.WorkshopImplementProgress)
    assert (told.current_item, told.total_items, told.item_label) == (1, 2, "One")
    assert (told.run_id, told.seq) == (f"{folded.state.workbench_id}-1", folded.state.seq)
    shown = workshop_state(folded.state, "p:m", "p:m")
    assert shown.current_phase is Phase.IMPLEMENT
    assert shown.implement_progress is not None
    assert (shown.implement_progress.current, shown.implement_progress.total) == (1, 2)
    rows = run_info(folded.state, folded.state.runs[0]).items
    assert [(row.index, row.label, row.state) for row in rows] == [
        (1, "One", "active"), (2, "Two", "open"),
    ]  # fmt: skip


def test_a_run_tells_what_was_asked_of_which_model() -> None:
    """The first line of the message that it works on, cut if it is long; not of a later one."""
    folded = Folded()
    folded.do(SendMessage("u1", "\n total by month \nand by shop"))
    folded.do(StartRun(None, "p:m"))
    folded.apply(RunFinished(has_draft=False), run=1)
    folded.do(SendMessage("u2", "x" * 201))
    folded.do(StartRun(None, "p:n"))
    told = [run_info(folded.state, run) for run in folded.state.runs]

    assert [(row.request, row.model_id) for row in told] == [
        ("total by month", "p:m"), ("x" * 199 + "…", "p:n"),
    ]  # fmt: skip


def test_a_run_tells_what_it_cost_and_what_is_left_for_it() -> None:
    """Its cost is what each reply did cost; of the day, what is reserved is gone, too."""
    folded = Folded()
    folded.do(SendMessage("u1", "x"))
    folded.do(StartRun(None, "p:m"))
    for cost in (0.25, 0.1000004):
        folded.apply(ModelReplied("t", usage=Usage(10, 1), cost=cost), run=1)
    daemon = DaemonState(spent={"1970-01-02": Spent(70, 0.7)})
    daemon.reserved["a"] = BudgetReserved("a", "1970-01-02", folded.state.workbench_id, 1, "p:m", 5)
    caps = RunLimits(tokens=9, cost=2.0, day_tokens=80, day_cost=3.0)
    told = run_info(folded.state, folded.state.runs[0], run_budget(caps, daemon, 86_400_000_000))

    assert (told.usage, told.cost) == (Usage(20, 2), 0.35)
    assert told.budget == asked.RunBudget(
        tokens=9, cost=2.0, day_tokens=80, day_cost=3.0, day_tokens_gone=75, day_cost_gone=0.7
    )


def test_a_run_that_failed_tells_its_error() -> None:
    """Code, phase and whether it is worth trying again, in the notification and in the run."""
    folded = Folded()
    folded.do(SendMessage("u1", "x"))
    folded.do(StartRun(None, "p:m"))
    told = _told(folded, RunFailed("TURN_LIMIT", "no", "rpi_plan", retryable=True), 1)

    assert isinstance(told, wire.WorkshopRunFailed)
    assert (told.error.error_code, told.error.subphase) == ("TURN_LIMIT", "rpi_plan")
    assert run_info(folded.state, folded.state.runs[0]).error == told.error
    assert workshop_state(folded.state, "p:m", "p:m").run_id is None


def test_a_resumed_run_says_so() -> None:
    """The message is the one that it began with."""
    folded = Folded()
    folded.do(SendMessage("u1", "x"))
    folded.do(StartRun(None, "p:m"))
    folded.apply(RunFailed("TURN_LIMIT", "no", "rpi_plan", retryable=True), run=1)
    (resumed,) = folded.do(StartRun(None, "p:n")).events
    told = notification_of(folded.state, folded.state.seq, wrap_event(resumed, 1, 1))

    assert isinstance(told, wire.WorkshopRunStarted)
    assert (told.message_id, told.model_id, told.resumed) == ("u1", "p:n", True)


@pytest.mark.anyio
async def test_a_conversation_is_read_from_the_log(tmp_path: Path) -> None:
    """Messages and what happened to the draft, oldest first, each with an id of its own."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x")
        await bench.keeper.submit(SendMessage("u1", "first"))
        await draft(bench, a__txt="y")
        await bench.keeper.submit(DiscardDraft())
        await bench.keeper.submit(SendMessage("u2", "second"))
        messages = (await conversation(bench)).messages

        assert [(each.type, each.text) for each in messages] == [
            ("user_message", "first"), ("system_event", "draft_discarded"),
            ("user_message", "second"),
        ]  # fmt: skip
        assert len({each.message_id for each in messages}) == 3


async def _fill(journal: Journal, count: int) -> None:
    for first in range(0, count, 500):
        facts = [ModelChosen(f"m:{n}") for n in range(first, min(first + 500, count))]
        await journal.append([wrap_event(fact, 1_000_000, 0) for fact in facts])


@pytest.mark.anyio
async def test_events_are_read_in_pages(tmp_path: Path) -> None:
    """Pages join without gap or overlap, the same from memory and from disk."""
    journal = Journal(EventLog.open(tmp_path))
    await _fill(journal, 700)
    events = EventRows("daemon", journal)
    for _ in range(2):
        seen: list[int] = []
        while page := await events.read(Seq(seen[-1] if seen else 0), 64):
            seen += [json.loads(row)["seq"] for row in page]
        assert seen == list(range(1, 701))
    (row,) = await events.read(Seq(699), 10)
    assert json.loads(row) == {
        "seq": 700, "id": "daemon:700", "type": "ModelChosen", "version": 1,
        "ts": "1970-01-01T00:00:01.000000Z", "data": {"model_id": "m:699"},
        "title": "model m:699 was chosen",
    }  # fmt: skip
    (row,) = await events.rows(Seq(699), 10)
    assert "title" not in json.loads(row)
    assert await events.read(Seq(700), 10) == ()
    assert await events.read(Seq(9000), 10) == ()
    await journal.aclose()


@pytest.mark.anyio
async def test_what_is_kept_in_memory_is_bounded(tmp_path: Path) -> None:
    """The newest encoded events are kept, and no more of them."""
    journal = Journal(EventLog.open(tmp_path))
    await _fill(journal, MAX_CACHED_EVENTS + 500)
    events = EventRows("daemon", journal)
    after = 0
    while page := await events.rows(Seq(after), 1000):
        after += len(page)

    assert after == MAX_CACHED_EVENTS + 500
    assert len(events._kept) == MAX_CACHED_EVENTS
    await journal.aclose()


def _runs(count: int) -> list[Recorded]:
    """So many runs of a few events; what is said of most of these, others before them tell."""
    made: list[Recorded] = []
    for run in range(1, count + 1):
        facts: list[Event] = [
            RunStarted(f"m{run}", "p:m"), PhaseStarted(Phase.IMPLEMENT), PlanWritten("t", ("One",)),
            ItemStarted(1), ModelReplied(), ItemCompleted(1), PhaseCompleted(Phase.IMPLEMENT),
            RunFinished(has_draft=False),
        ]  # fmt: skip
        made += [
            wrap_event(fact, (len(made) + at) * 1_000_000, run) for at, fact in enumerate(facts)
        ]
    return made


@pytest.mark.anyio
async def test_an_event_is_told_alike_wherever_one_begins_to_read(tmp_path: Path) -> None:
    """In one go, in pages, backwards, by several at once: titles and places are the same."""
    journal = Journal(EventLog.open(tmp_path))
    records = _runs(3 * BLOCK_EVENTS // 8)
    for first in range(0, len(records), 700):  # Frames end anywhere, not where marks are.
        await journal.append(records[first : first + 700])
    whole = await EventRows("daemon", journal).read(Seq(0), 10_000)
    told = [json.loads(row) for row in whole]
    assert told[3]["title"] == "item 1 of 1 started: One"
    assert told[-3]["title"].startswith("item 1 completed in 2.0 s (1 turn)")
    assert told[-3]["place"]["text"] == "phase implement, item 1 of 1"
    assert "place" not in told[-1]

    events = EventRows("daemon", journal)
    for after in (
        len(whole) - 5,
        BLOCK_EVENTS - 1,
        17,
        2 * BLOCK_EVENTS + 3,
        0,
    ):
        assert await events.read(Seq(after), 7) == whole[after : after + 7]
    found: dict[int, tuple[bytes, ...]] = {}

    async def read(step: int) -> None:
        rows: tuple[bytes, ...] = ()
        while page := await events.read(Seq(len(rows)), step):
            rows += page
        found[step] = rows

    async with anyio.create_task_group() as tasks:
        for step in (97, 131, 1000):
            tasks.start_soon(read, step)
    assert set(found.values()) == {whole}
    await journal.aclose()


class _Newer(Recorded, frozen=True, array_like=True, tag="Newer"):
    """An event of a later version."""


class _Odd(Recorded, frozen=True, array_like=True, tag="ModelChosen"):
    """An event with data that are not its type's."""


@pytest.mark.anyio
async def test_what_is_not_understood_is_shown_all_the_same(tmp_path: Path) -> None:
    """An unknown event is told by its name and fields; one that makes no sense has no title."""
    journal = Journal(EventLog.open(tmp_path))
    for record in (_Newer(1, {"x": 1}, 1), _Odd(1, {"model_id": 7}, 1)):
        await journal.append([record])
    shown = [json.loads(row) for row in await EventRows("daemon", journal).read(Seq(0), 9)]
    assert [row.get("title") for row in shown] == ["Newer, of a newer kbd: x=1", None]
    assert [row["type"] for row in shown] == ["Newer", "ModelChosen"]
    await journal.aclose()


@pytest.mark.anyio
async def test_followers_get_history_and_what_is_new(tmp_path: Path) -> None:
    """Each event once and in order, in bounded batches, until the log closes."""
    journal = Journal(EventLog.open(tmp_path))
    await _fill(journal, 600)
    events = EventRows("daemon", journal)
    seen: dict[int, list[int]] = {0: [], 550: []}
    batches: list[int] = []

    async def follow(after: int) -> None:
        async for last, rows in events.follow(Seq(after)):
            seen[after] += [json.loads(row)["seq"] for row in rows]
            batches.append(len(rows))
            assert seen[after][-1] == last

    async with anyio.create_task_group() as tasks:
        for after in seen:
            tasks.start_soon(follow, after)
        await _fill(journal, 100)
        with anyio.fail_after(10):
            while any(not found or found[-1] < 700 for found in seen.values()):  # noqa: ASYNC110
                await anyio.sleep(0.005)
        await journal.aclose()

    assert seen == {0: list(range(1, 701)), 550: list(range(551, 701))}
    assert max(batches) <= FOLLOW_BATCH


@pytest.mark.anyio
async def test_a_follower_of_a_closed_log_ends(tmp_path: Path) -> None:
    """Also one that comes after it was closed."""
    journal = Journal(EventLog.open(tmp_path))
    await _fill(journal, 1)
    await journal.aclose()

    with anyio.fail_after(5):
        assert not await journal.grown(Seq(1))


@pytest.mark.anyio
async def test_what_is_recorded_in_one_frame_is_told_in_order(tmp_path: Path) -> None:
    """The events of a frame are folded together before anybody is told of the first."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        seen: list[tuple[int, int]] = []
        bench.keeper.observe(lambda seq, _: seen.append((seq, bench.state.seq)))
        await bench.keeper.submit(RecordFacts((ModelChosen("p:a"), ModelChosen("p:b"))))

        assert seen == [(2, 3), (3, 3)]


def test_an_end_that_was_asked_for_is_told_as_such() -> None:
    """Finished runs say whether there is a draft to review."""
    folded = Folded()
    folded.do(SendMessage("u1", "x"))
    folded.do(StartRun(None, "p:m"))
    told = _told(folded, RunFinished(has_draft=False), 1)

    assert isinstance(told, wire.WorkshopRunFinished)
    assert (told.status, told.has_draft) == ("finished", False)
