"""The Keeper: decide, persist, fold, tell, and never another order."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kbd.core.domain.commands import Command, RecordFacts, SendMessage, StartRun
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import SystemClock
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper, Outcome
from kbd.errors import DiskFull, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.disk import LogPoisoned
from kbd.events.log import EventLog
from kbd.events.workbenches import ModelChosen
from kbd.types import Seq

pytestmark = pytest.mark.anyio

BenchKeeper = Keeper[WorkbenchState, Command]


class _FullDisk(Journal):
    """A journal whose disk is full while `full` says so, or has space for so many events a frame.

    It counts how often it is replayed.
    """

    full = False
    free_events = 100
    replays = 0

    async def replay(self, apply: Callable[[int, Recorded], None], after: Seq) -> None:
        self.replays += 1
        await super().replay(apply, after)

    async def append(self, records: Sequence[Recorded]) -> Seq:
        if self.full or len(records) > self.free_events:
            raise DiskFull("no space")
        return await super().append(records)


def _keeper(journal: Journal) -> BenchKeeper:
    return Keeper(
        journal, blank=WorkbenchState, fold=fold_workbench, decide=decide, clock=SystemClock()
    )


@asynccontextmanager
async def _working(folder: Path) -> AsyncIterator[tuple[BenchKeeper, _FullDisk]]:
    journal = _FullDisk(EventLog.open(folder))
    keeper = _keeper(journal)
    await keeper.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield keeper, journal
        tasks.cancel_scope.cancel()
    await journal.aclose()


async def test_an_answer_comes_after_the_disk(tmp_path: Path) -> None:
    """When a command is answered its event is in the log, and a new reader folds the same state."""
    async with _working(tmp_path) as (keeper, _):
        outcome = await keeper.submit(SendMessage("u1", "hello"))
        stored = await keeper.journal.read(Seq(0), 10)
        state = keeper.state

    assert [(outcome.first, outcome.events[0])] == [(seq, record.data) for seq, record in stored]
    assert state == await _folded(tmp_path)


async def test_commands_that_wait_are_one_frame(tmp_path: Path) -> None:
    """Sixty-four commands issued together take two frames at most."""
    async with _working(tmp_path) as (keeper, journal):
        async with anyio.create_task_group() as tasks:
            for number in range(64):
                tasks.start_soon(keeper.submit, SendMessage(f"u{number}", "x"))
        frames = sum(1 for _ in journal.log.frames(Seq(0)))

        assert keeper.state.seq == 64
        assert frames <= 2


async def test_a_command_is_decided_on_what_the_ones_before_it_leave(tmp_path: Path) -> None:
    """In one batch the second start of a run is refused, for the first one is under way."""
    async with _working(tmp_path) as (keeper, _):
        await keeper.submit(SendMessage("u1", "x"))
        results: list[str] = []

        async def start() -> None:
            try:
                await keeper.submit(StartRun(None, "p:m"))
                results.append("started")
            except ValidationFailed:
                results.append("refused")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start)
            tasks.start_soon(start)

        assert sorted(results) == ["refused", "started"]


async def test_queries_and_observers_see_only_what_is_durable(tmp_path: Path) -> None:
    """An observer is told after the fold, and finds the event in the log."""
    async with _working(tmp_path) as (keeper, journal):
        told: list[tuple[Seq, Seq, Seq]] = []
        keeper.observe(lambda seq, _: told.append((seq, keeper.state.seq, journal.seq)))
        await keeper.submit(SendMessage("u1", "x"))

        assert [(Seq(1), Seq(1), Seq(1))] == told


async def _answers(keeper: BenchKeeper, *commands: Command) -> list[Outcome | Exception]:
    """Return what becomes of commands that come together, in this order."""
    answers: list[Outcome | Exception] = []
    complete = anyio.Event()

    def settle(answer: Outcome | Exception) -> None:
        answers.append(answer)
        if len(answers) == len(commands):
            complete.set()

    for command in commands:
        keeper.offer(command, settle)
    with anyio.fail_after(5):
        await complete.wait()
    return answers


async def _refused(keeper: BenchKeeper, *commands: Command) -> None:
    """Offer commands together, and see each of them refused for the full disk."""
    assert all(isinstance(answer, DiskFull) for answer in await _answers(keeper, *commands))


async def _taken(keeper: BenchKeeper, *commands: Command) -> None:
    """Offer commands together, none of which is refused."""
    assert all(isinstance(answer, Outcome) for answer in await _answers(keeper, *commands))


async def _folded(folder: Path) -> WorkbenchState:
    """Return the state that a log is folded to by whoever opens it."""
    reread = _keeper(Journal(EventLog.open(folder)))
    await reread.load()
    await reread.journal.aclose()
    return reread.state


START = StartRun(None, "p:m")
"""Refused while a run is under way, so a state in which one is tells on what it was decided."""


@pytest.mark.parametrize("refused", [1, 3])
@pytest.mark.parametrize("alone", [0, 1])
@pytest.mark.parametrize("together", [1, 3])
async def test_a_full_disk_refuses_and_forgets(
    tmp_path: Path, refused: int, alone: int, together: int
) -> None:
    """Nothing of a refused frame is in the state, however many commands come with and after it.

    A run whose start was refused is started later, alone or in a frame with others, as if nobody
    had tried; and the state is the one that the log is folded to.
    """
    async with _working(tmp_path) as (keeper, journal):
        await keeper.submit(SendMessage("u1", "x"))
        journal.full = True
        lost = [SendMessage(f"lost{number}", "y") for number in range(1, refused)]
        await _refused(keeper, *lost, START)
        await _refused(keeper, START)
        assert [said.message_id for said in keeper.state.said] == ["u1"]
        assert keeper.state.runs == []

        journal.full = False
        kept = [f"kept{number}" for number in range(alone)]
        for message_id in kept:
            await keeper.submit(SendMessage(message_id, "z"))
        more = [f"more{number}" for number in range(1, together)]
        await _taken(keeper, *(SendMessage(message_id, "z") for message_id in more), START)

        assert [said.message_id for said in keeper.state.said] == ["u1", *kept, *more]
        assert [run.number for run in keeper.state.runs] == [1]
        await _taken(keeper, RecordFacts((ModelChosen("p:a"),)), RecordFacts((ModelChosen("p:b"),)))
        state = keeper.state
    assert state == await _folded(tmp_path)


async def test_a_refused_command_does_not_read_the_log_again(tmp_path: Path) -> None:
    """However often the disk refuses, and when it takes frames again, the log is read once."""
    async with _working(tmp_path) as (keeper, journal):
        await keeper.submit(SendMessage("u1", "x"))
        for _ in range(3):
            journal.full = True
            await _refused(keeper, START)
            await _refused(keeper, SendMessage("u2", "y"), SendMessage("u3", "y"), START)
            journal.full = False
            await _taken(
                keeper, *(RecordFacts((ModelChosen(f"p:{number}"),)) for number in range(3))
            )

        assert keeper.state.model_id == "p:2"
        assert journal.replays == 1


async def test_after_a_refused_frame_a_command_that_fits_is_taken(tmp_path: Path) -> None:
    """One that needs less space than there is does not share the fate of those that need more."""
    async with _working(tmp_path) as (keeper, journal):
        await keeper.submit(SendMessage("u1", "x"))
        journal.full = True
        await _refused(keeper, SendMessage("u2", "y"))
        journal.full, journal.free_events = False, 1
        large = RecordFacts((ModelChosen("p:a"), ModelChosen("p:b")))
        refused, taken = await _answers(keeper, large, SendMessage("u3", "z"))

        assert isinstance(refused, DiskFull)
        assert isinstance(taken, Outcome)
        assert [said.message_id for said in keeper.state.said] == ["u1", "u3"]
        assert keeper.state.model_id is None
        journal.free_events = 100
        await _taken(keeper, large, SendMessage("u4", "z"))
        state = keeper.state
    assert state == await _folded(tmp_path)


async def test_a_refusal_records_nothing(tmp_path: Path) -> None:
    """A command that is refused leaves log and state as they were."""
    async with _working(tmp_path) as (keeper, _):
        with pytest.raises(ValidationFailed):
            await keeper.submit(SendMessage("u1", "  "))

        assert 0 == keeper.state.seq == keeper.journal.seq


async def test_who_waits_is_answered_when_the_keeper_stops(tmp_path: Path) -> None:
    """A stopped Keeper answers with an error instead of leaving anybody waiting."""
    async with _working(tmp_path) as (keeper, _):
        pass
    with pytest.raises(Exception, match="stopping"):
        await keeper.submit(SendMessage("u1", "x"))


async def test_a_follower_gets_every_event_once(tmp_path: Path) -> None:
    """History first, then live, in order and without a gap, until the log closes."""
    seen: list[str] = []
    complete = anyio.Event()
    async with anyio.create_task_group() as outer, _working(tmp_path) as (keeper, journal):
        for number in range(5):
            await keeper.submit(RecordFacts((ModelChosen(f"m:{number}"),)))

        async def follow() -> None:
            after = Seq(0)
            while await journal.grown(after):
                for seq, item in await journal.read_plain(after, 3):
                    seen.append(item[2]["model_id"])
                    after = seq
                if len(seen) == 20:
                    complete.set()

        outer.start_soon(follow)
        for number in range(5, 20):
            await keeper.submit(RecordFacts((ModelChosen(f"m:{number}"),)))
        with anyio.fail_after(5):
            await complete.wait()

    assert [f"m:{number}" for number in range(20)] == seen


class _BadDisk(_FullDisk):
    """A journal whose disk fails to sync: whether the events are there, nobody knows."""

    async def append(self, records: Sequence[Recorded]) -> Seq:
        raise LogPoisoned("the disk does not make the log durable")


async def test_a_failing_disk_stops_the_keeper(tmp_path: Path) -> None:
    """After a failed sync nothing is acknowledged, and the Keeper ends for the daemon to see."""
    keeper = _keeper(_BadDisk(EventLog.open(tmp_path)))
    await keeper.load()
    answers: list[str] = []

    async def ask() -> None:
        with pytest.raises(LogPoisoned):
            await keeper.submit(SendMessage("u1", "x"))
        answers.append("refused")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        with pytest.raises(LogPoisoned):
            await keeper.run()
    with pytest.raises(LogPoisoned):
        await keeper.submit(SendMessage("u2", "y"))

    assert answers == ["refused"]
    assert keeper.state.seq == 0
    await keeper.journal.aclose()


async def test_what_is_durable_is_answered_so_when_the_disk_fails_next(tmp_path: Path) -> None:
    """Of commands that are recorded one by one, only those after the fault are refused."""

    class Failing(_FullDisk):
        async def append(self, records: Sequence[Recorded]) -> Seq:
            if self.seq == 1:
                raise LogPoisoned("the disk does not make the log durable")
            return await super().append(records)

    journal = Failing(EventLog.open(tmp_path))
    keeper = _keeper(journal)
    await keeper.load()

    async def run() -> None:
        with pytest.raises(LogPoisoned):
            await keeper.run()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        journal.full = True
        await _refused(keeper, SendMessage("u1", "x"))
        journal.full = False
        durable, lost = await _answers(keeper, SendMessage("u2", "x"), SendMessage("u3", "x"))

    assert isinstance(durable, Outcome)
    assert isinstance(lost, LogPoisoned)
    assert [said.message_id for said in keeper.state.said] == ["u2"]
    await journal.aclose()


async def test_what_is_on_disk_comes_before_anybody_is_told(tmp_path: Path) -> None:
    """While it is refreshed the state is folded, and no observer, follower or caller has heard."""
    async with _working(tmp_path) as (keeper, journal):
        heard: list[str] = []
        keeper.observe(lambda _seq, _record: heard.append("observer"))

        async def refresh(records: Sequence[Recorded]) -> None:
            assert [len(records), keeper.state.seq, journal.announced] == [1, Seq(1), Seq(0)]
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            heard.append("refreshed")

        async def follow() -> None:
            assert await journal.grown(Seq(0))
            heard.append("follower")

        keeper.refresh_first(refresh)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await keeper.submit(SendMessage("u1", "x"))
            heard.append("caller")

        assert heard[:2] == ["refreshed", "observer"]
        assert sorted(heard[2:]) == ["caller", "follower"]
        assert journal.announced == journal.seq
