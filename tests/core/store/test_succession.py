"""A succession of commands: deferred ones are decided at once, and recorded with the next."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kbd.core.domain.commands import Command, RecordFacts, RequestCancel, SendMessage, StartRun
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import SystemClock
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.errors import DiskFull, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.log import EventLog
from kbd.events.vocabulary import Event
from kbd.events.workbenches import ModelChosen
from kbd.types import Seq

pytestmark = pytest.mark.anyio

BenchKeeper = Keeper[WorkbenchState, Command]


class _SlowDisk(Journal):
    """A journal with room for so many events a frame, which tells when it has begun to append.

    A frame is appended only once `may_append` is set.
    """

    def __init__(self, log: EventLog) -> None:
        super().__init__(log)
        self.room = 100
        self.begun, self.may_append = anyio.Event(), anyio.Event()
        self.may_append.set()
        self.frames: list[int] = []

    async def append(self, records: Sequence[Recorded]) -> Seq:
        self.begun.set()
        await self.may_append.wait()
        if len(records) > self.room:
            raise DiskFull("no space")
        self.frames.append(len(records))
        return await super().append(records)


@asynccontextmanager
async def _working(
    folder: Path, deferred_s: float = 3600
) -> AsyncIterator[tuple[BenchKeeper, _SlowDisk]]:
    """A Keeper at work; what is deferred is left waiting, as long as the test goes."""
    journal = _SlowDisk(EventLog.open(folder))
    keeper: BenchKeeper = Keeper(
        journal, blank=WorkbenchState, fold=fold_workbench, decide=decide, clock=SystemClock(),
        deferred_s=deferred_s,
    )  # fmt: skip
    await keeper.load()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield keeper, journal
        tasks.cancel_scope.cancel()
    await journal.aclose()


def _stored(folder: Path) -> list[Event]:
    """Return the events that a reader of the log finds."""
    found: list[Event] = []
    EventLog.view(folder).replay(lambda _, record: found.append(record.data))
    return found


async def test_what_is_deferred_is_one_frame_with_the_next_command(tmp_path: Path) -> None:
    """Two deferred commands and a submitted one are one frame, in their order."""
    async with _working(tmp_path) as (keeper, journal):
        succession = keeper.succession()
        first = await succession.defer(SendMessage("u1", "hello"))
        second = await succession.defer(RecordFacts((ModelChosen("p:m"),)))
        third = await succession.submit(StartRun(None, "p:m"))

        assert journal.frames == [3]
        assert [first.first, second.first, third.first] == [1, 2, 3]
        assert keeper.state.active_run() is not None
        assert [type(event).__name__ for event in _stored(tmp_path)] == [
            "UserMessageAdded", "ModelChosen", "RunStarted",
        ]  # fmt: skip


async def test_what_is_deferred_is_seen_by_its_task_alone(tmp_path: Path) -> None:
    """Until it is durable, the Keeper's state is without it, and no observer is told."""
    async with _working(tmp_path) as (keeper, journal):
        told: list[Seq] = []
        keeper.observe(lambda seq, _: told.append(seq))
        succession = keeper.succession()
        await succession.defer(RecordFacts((ModelChosen("p:m"),)))

        assert succession.state.model_id == "p:m"
        assert keeper.state.model_id != "p:m"
        assert (keeper.state.seq, journal.seq, told) == (0, 0, [])
        assert not keeper.is_idle

        await succession.submit(SendMessage("u1", "x"))
        assert (keeper.state.model_id, keeper.state.seq, told) == ("p:m", 2, [1, 2])
        assert succession.state is keeper.state
        assert keeper.is_idle


async def test_a_command_is_decided_on_what_was_deferred(tmp_path: Path) -> None:
    """A run that was deferred is under way for a command that follows, and for another client's."""
    async with _working(tmp_path) as (keeper, journal):
        succession = keeper.succession()
        await succession.defer(SendMessage("u1", "x"))
        await succession.defer(StartRun(None, "p:m"))
        with pytest.raises(ValidationFailed):
            await succession.defer(StartRun(None, "p:m"))
        await keeper.submit(RequestCancel())

        run = keeper.state.active_run()
        assert run is not None
        assert run.cancel_requested
        assert journal.frames == [3]


async def test_what_nothing_follows_is_recorded_soon(tmp_path: Path) -> None:
    """A deferred command is durable after a moment even if its task makes no other."""
    async with _working(tmp_path, deferred_s=0.01) as (keeper, journal):
        succession = keeper.succession()
        await succession.defer(SendMessage("u1", "x"))
        await journal.grown(Seq(0))
        assert journal.frames == [1]


async def test_on_a_full_disk_what_was_deferred_goes_alone(tmp_path: Path) -> None:
    """Once a frame was refused, a small command of another client's is not refused for its size."""
    async with _working(tmp_path) as (keeper, journal):
        journal.room = 1
        with pytest.raises(DiskFull):
            await keeper.submit(RecordFacts((ModelChosen("p:m"), ModelChosen("p:n"))))
        succession = keeper.succession()
        await succession.defer(RecordFacts((ModelChosen("p:m"), ModelChosen("p:n"))))
        await keeper.submit(SendMessage("u1", "x"))
        assert (keeper.state.seq, journal.frames) == (1, [1])
        with pytest.raises(DiskFull):
            await succession.submit(SendMessage("u2", "y"))


async def test_a_full_disk_fails_the_command_that_follows(tmp_path: Path) -> None:
    """What could not be recorded is told with the next command, which is not decided without it."""
    async with _working(tmp_path) as (keeper, journal):
        await keeper.submit(SendMessage("u1", "x"))
        succession = keeper.succession()
        await succession.defer(StartRun(None, "p:m"))
        journal.room = 0
        # Another client's command takes the deferred one to the disk.
        with pytest.raises(DiskFull):
            await keeper.submit(RequestCancel())
        journal.room = 100
        assert succession.state.active_run() is None

        with pytest.raises(DiskFull):
            await succession.submit(RecordFacts((ModelChosen("p:m"),)))
        assert len(_stored(tmp_path)) == 1

        await succession.submit(StartRun(None, "p:m"))
        assert keeper.state.active_run() is not None
        assert keeper.state.seq == len(_stored(tmp_path)) == 2


async def test_a_command_behind_a_refused_frame_is_refused_too(tmp_path: Path) -> None:
    """A command that waits while the frame with its deferred one is refused is not decided."""
    async with _working(tmp_path) as (keeper, journal):
        succession = keeper.succession()
        await succession.defer(RecordFacts((ModelChosen("p:m"),)))
        journal.room, journal.may_append = 0, anyio.Event()
        errors: list[Exception] = []

        async def ask(ask: Callable[[], object]) -> None:
            try:
                await ask()  # type: ignore[misc]  # both are coroutine functions
            except DiskFull as error:
                errors.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, lambda: keeper.submit(SendMessage("u1", "x")))
            await journal.begun.wait()
            tasks.start_soon(ask, lambda: succession.submit(SendMessage("u2", "y")))
            await anyio.wait_all_tasks_blocked()
            journal.may_append.set()

        assert len(errors) == 2
        assert _stored(tmp_path) == []
        assert keeper.state == WorkbenchState()


async def test_nothing_is_decided_on_what_is_being_recorded(tmp_path: Path) -> None:
    """A command that is deferred while a frame is on its way is decided when that is durable."""
    async with _working(tmp_path) as (keeper, journal):
        journal.may_append = anyio.Event()
        succession = keeper.succession()
        decided: list[Seq] = []

        async def defer() -> None:
            decided.append((await succession.defer(StartRun(None, "p:m"))).first)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keeper.submit, SendMessage("u1", "x"))
            await journal.begun.wait()
            tasks.start_soon(defer)
            await anyio.wait_all_tasks_blocked()
            assert decided == []
            journal.may_append.set()

        await succession.submit(RequestCancel())
        assert decided == [2]
        assert journal.frames == [1, 2]
