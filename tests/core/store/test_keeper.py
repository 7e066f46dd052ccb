"""The Keeper: decide, persist, fold, tell, and never another order."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kbd.core.domain.commands import Command, Record, SendMessage, StartRun
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import SystemClock
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.errors import DiskFull, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.disk import LogPoisoned
from kbd.events.log import EventLog
from kbd.events.workbenches import ModelChosen
from kbd.types import Seq

pytestmark = pytest.mark.anyio

BenchKeeper = Keeper[WorkbenchState, Command]


class _FullDisk(Journal):
    """A journal whose disk is full while `full` says so."""

    full = False

    async def append(self, records: Sequence[Recorded]) -> Seq:
        if self.full:
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
    reread = _keeper(Journal(EventLog.open(tmp_path)))
    await reread.load()
    assert state == reread.state
    await reread.journal.aclose()


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


async def test_a_full_disk_refuses_and_forgets(tmp_path: Path) -> None:
    """Nothing of a refused frame is in the state, and the Keeper goes on when there is space."""
    async with _working(tmp_path) as (keeper, journal):
        await keeper.submit(SendMessage("u1", "x"))
        journal.full = True
        with pytest.raises(DiskFull):
            await keeper.submit(SendMessage("u2", "y"))
        journal.full = False

        assert [said.message_id for said in keeper.state.said] == ["u1"]
        await keeper.submit(SendMessage("u3", "z"))
        assert [said.message_id for said in keeper.state.said] == ["u1", "u3"]


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
            await keeper.submit(Record((ModelChosen(f"m:{number}"),)))

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
            await keeper.submit(Record((ModelChosen(f"m:{number}"),)))
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
