"""Workbenches that nobody uses: closed when too many are open, and opened again as if never closed.

Idle is idle at once here; the daemon waits a minute.
"""

import errno
import math
import os
from contextlib import ExitStack, aclosing, suppress
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec
import pytest

from kbd.core.api import logs
from kbd.core.api.commands import hold_workbenches
from kbd.core.api.logs import LogMethods
from kbd.core.api.runs import WorkshopMethods
from kbd.core.api.workbenches import WorkbenchMethods
from kbd.core.domain.commands import RecordFacts, SendMessage
from kbd.core.runtime.settings import Settings, WatchSettings
from kbd.core.server.dispatch import EventBatch, Session, Synced
from kbd.core.sessions import workbenches
from kbd.core.store import journal
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import TooManyOpenFiles
from kbd.events.base import FileVersion
from kbd.events.drafts import EffectAborted, EffectIntended
from kbd.events.log import EventLog
from kbd.requests.workbenches import FilesFound, WorkbenchFilesList, WorkbenchList, WorkbenchRow
from kbd.requests.workshop import RunList
from kbd.types import FileName, Seq
from supervised import Supervised, add, supervised

pytestmark = pytest.mark.anyio

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
on_trio = pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
"""What is counted as in use does not hang on the loop; what closes meanwhile runs on both."""

A = FileName("a.txt")
ONE = Settings(watch=WatchSettings(open_workbenches=1))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a workbench be idle as soon as nothing is under way in it."""
    monkeypatch.setattr(workbenches, "IDLE_S", 0.0)


def _open(running: Supervised) -> list[str]:
    return [bench.id for bench in running.benches.running()]


@on_asyncio
async def test_what_is_in_use_is_not_closed(tmp_path: Path) -> None:
    """Within its minute nothing is closed, however many are open."""
    async with supervised(tmp_path / "h", ONE) as running:
        for _ in range(2):
            await running.bench(a__txt="x")
        assert await running.benches.close_idle() == 0
        assert len(_open(running)) == 2


@pytest.mark.usefixtures("at_once")
async def test_the_least_recently_used_are_closed_and_open_again(tmp_path: Path) -> None:
    """As many as are too many; what was acknowledged in one is there when it is asked for again."""
    async with supervised(tmp_path / "h", Settings()) as running:
        first, second, third = [await running.bench(a__txt="x") for _ in range(3)]
        await running.benches.open(first.id)  # now the second is the one that nobody used
    async with supervised(tmp_path / "h", ONE) as again:
        with ExitStack() as held:
            for bench in (first, second, third):
                held.enter_context(again.benches.held(bench.id))
            for bench in (second, third, first):
                await (await again.benches.open(bench.id)).keeper.submit(SendMessage("u1", "hello"))
            assert await again.benches.close_idle() == 0
            assert len(_open(again)) == 3
        await again.benches.close_idle()
        assert _open(again) == [first.id]
        assert not again.folders(second).open_mark.exists()

        opened = await again.benches.open(second.id)
        assert opened.state.said[0].text == "hello"
        await opened.keeper.submit(SendMessage("u2", "again"))
        assert [said.text for said in opened.state.said] == ["hello", "again"]


@on_trio
async def test_what_is_under_way_keeps_a_workbench_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publish, an edit, a copy, a follower, whoever holds it; when that is over it is closed."""
    async with supervised(tmp_path / "h", ONE) as running:
        benches = [await running.bench(a__txt="x") for _ in range(6)]
        published, edited, copied, followed, held, _ = benches
        file = FileVersion(A, copied.state.files[A].blob, 1)
        copying = EffectIntended("e1", "deliver", str(tmp_path), file)
        await copied.keeper.submit(RecordFacts((copying,)))
        monkeypatch.setattr(workbenches, "IDLE_S", 0.0)
        async with published.publishing, edited.editing:
            with (await running.benches.event_rows(followed.id)).followed():
                with running.benches.held(held.id):
                    assert await running.benches.close_idle() == 1
                assert _open(running) == [bench.id for bench in benches[:5]]
        await copied.keeper.submit(RecordFacts((EffectAborted("e1", "enough"),)))
        await running.benches.close_idle()
        assert len(_open(running)) == 1


@on_asyncio
async def test_a_command_that_waits_is_recorded_first(tmp_path: Path) -> None:
    """A Keeper with a command in hand is not idle."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        answered = anyio.Event()
        assert bench.keeper.is_idle
        bench.keeper.offer(SendMessage("u1", "hello"), lambda _: answered.set())
        assert not bench.keeper.is_idle
        await answered.wait()
        await anyio.wait_all_tasks_blocked()
        assert bench.keeper.is_idle


async def _submit_often(running: Supervised, bench: OpenWorkbench, times: int) -> None:
    for number in range(times):
        opened = await running.benches.open(bench.id)
        await opened.keeper.submit(SendMessage(f"u{number}", f"{number}"))


async def _close_often(running: Supervised) -> None:
    while True:
        await running.benches.close_idle()
        await anyio.lowlevel.checkpoint()


@pytest.mark.usefixtures("at_once")
async def test_who_asks_while_it_closes_gets_it_anew(tmp_path: Path) -> None:
    """Closed over and over under everybody's hands: every message is acknowledged, and is there."""
    async with supervised(tmp_path / "h", ONE) as running:
        benches = [await running.bench() for _ in range(3)]
        async with anyio.create_task_group() as closing:
            closing.start_soon(_close_often, running)
            async with anyio.create_task_group() as tasks:
                for bench in benches:
                    tasks.start_soon(_submit_often, running, bench, 4)
            closing.cancel_scope.cancel()
        for bench in benches:
            opened = await running.benches.open(bench.id)
            assert [said.text for said in opened.state.said] == [str(n) for n in range(4)]


@pytest.mark.usefixtures("at_once")
async def test_who_follows_all_logs_misses_nothing_and_opens_nothing(tmp_path: Path) -> None:
    """What is recorded in one that was closed is told; the others stay closed."""
    async with supervised(tmp_path / "h", ONE) as running:
        quiet, busy = await running.bench(a__txt="x"), await running.bench(a__txt="x")
        cursors = {"daemon": running.benches.daemon_events.seq, quiet.id: Seq(2), busy.id: Seq(2)}
        async with aclosing(
            await LogMethods(running.context, running.benches).follow("*", cursors)
        ) as stream:
            assert isinstance(await anext(stream), Synced)
            await running.benches.close_idle()
            with anyio.fail_after(10):
                while len(_open(running)) > 1:
                    await anyio.lowlevel.checkpoint()
            stays, closed = (quiet, busy) if quiet.id in _open(running) else (busy, quiet)
            for bench in (stays, closed):
                assert closed.id not in _open(running)
                with running.benches.held(bench.id):
                    await add(await running.benches.open(bench.id), "b.txt", "y")
                told = await anext(stream)
                assert isinstance(told, EventBatch)
                assert (told.workbench_id, told.first_seq) == (bench.id, 3)


@pytest.mark.usefixtures("at_once")
async def test_who_closes_and_goes_away_leaves_no_log_open_twice(tmp_path: Path) -> None:
    """Cancelled at any step, the next to ask gets a workbench that records."""
    async with supervised(tmp_path / "h", ONE) as running:
        benches = [await running.bench() for _ in range(2)]
        for steps in range(1, 5):
            for bench in benches:
                await running.benches.open(bench.id)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(running.benches.close_idle)
                for _ in range(steps):
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
            for bench in benches:
                opened = await running.benches.open(bench.id)
                await opened.keeper.submit(SendMessage(f"u{steps}", "hello"))
        for bench in benches:
            opened = await running.benches.open(bench.id)
            assert len(opened.state.said) == 4
            assert opened.damage is None


@on_asyncio
async def test_a_list_opens_none(tmp_path: Path) -> None:
    """Neither of workbenches nor of runs, under way or not; each row is as it is now."""
    async with supervised(tmp_path / "h") as making:
        ids = [(await making.bench(a__txt="x")).id for _ in range(3)]
    async with supervised(tmp_path / "h", ONE) as running:
        runs = WorkshopMethods(running.context, running.benches, running.runs)
        nobody = cast(Session, None)

        async def files() -> list[tuple[str, int]]:
            return [(row.id, row.files) for row in await _rows(running)]

        assert await files() == [(bench_id, 1) for bench_id in ids]
        assert _open(running) == []
        await add(await running.benches.open(ids[1]), "b.txt", "y")
        assert await files() == [(each, 2 if each == ids[1] else 1) for each in ids]
        for asked in (RunList(), RunList(running=True), RunList(workbench_id=ids[0])):
            assert (await runs.list(asked, nobody)).runs == ()
        assert _open(running) == [ids[1]]
        await running.benches.delete(ids[1])
        assert [row[0] for row in await files()] == [each for each in ids if each != ids[1]]


@on_trio
async def test_what_a_workbench_takes_is_measured_with_what_it_records(tmp_path: Path) -> None:
    """One that is closed or records nothing is not read for a list; the own files of kbd are."""
    async with supervised(tmp_path / "h") as making:
        bench_id = (await making.bench(a__txt="x")).id
    async with supervised(tmp_path / "h", ONE) as running:

        async def disk_bytes() -> int:
            (row,) = await _rows(running)
            return row.disk_bytes

        before = await disk_bytes()
        (running.home.workbench(bench_id).published / "own").write_bytes(bytes(100_000))
        assert await disk_bytes() == before
        bench = await running.benches.open(bench_id)
        await add(bench, "b.txt", "y")
        assert await disk_bytes() >= before + 100_000
        methods = WorkbenchMethods(running.context, running.benches)
        found = await methods.list(WorkbenchList(), cast(Session, None))
        assert found.daemon_disk_bytes > 0
        assert found.landed_disk_bytes == 0


async def _rows(running: Supervised) -> list[WorkbenchRow]:
    methods = WorkbenchMethods(running.context, running.benches)
    found = await methods.list(WorkbenchList(), cast(Session, None))
    return msgspec.convert(
        [msgspec.json.decode(cast(msgspec.Raw, row)) for row in found.workbenches],
        list[WorkbenchRow],
    )


@on_trio
async def test_a_request_that_waits_holds_its_workbench(tmp_path: Path) -> None:
    """However long it takes; when it is answered the workbench may be closed."""
    async with supervised(tmp_path / "h", ONE) as running:
        benches = running.benches
        ids = [(await running.bench(a__txt="x")).id for _ in range(2)]
        asked, answer = anyio.Event(), anyio.Event()

        async def slow(request: WorkbenchFilesList, session: Session) -> FilesFound:
            del request, session
            asked.set()
            await answer.wait()
            return FilesFound(files=())

        handler = hold_workbenches(benches, {WorkbenchFilesList: slow})[WorkbenchFilesList]

        async def ask() -> None:
            await handler(request, cast(Session, None))

        request = WorkbenchFilesList(workbench_id=ids[0])
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await asked.wait()
            await benches.release(ids[0], math.inf)
            assert _open(running) == ids
            answer.set()
        await benches.release(ids[0], -math.inf)  # it was asked for since
        assert _open(running) == ids
        await benches.release(ids[0], math.inf)
        assert _open(running) == ids[1:]


def _descriptors(folder: Path) -> int:
    """How many files of workbenches' logs below a folder this process has open."""
    found = 0
    for fd in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            path = os.readlink(f"/proc/self/fd/{fd}")
            found += path.startswith(f"{folder}/workbenches/") and "/log/" in path
    return found


async def test_logs_that_are_only_read_hold_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are open; one that was written holds some for as long as its thread waits."""
    monkeypatch.setattr(journal, "_IDLE_S", 0.02)
    home = tmp_path / "h"
    async with supervised(home) as running:
        made = [(await running.bench(a__txt="x")).id for _ in range(3)]
    monkeypatch.setattr(journal, "_IDLE_S", 60.0)
    async with supervised(home) as running:
        for bench_id in made:
            assert (await running.benches.open(bench_id)).state.files
        assert _descriptors(home) == 0
        bench = await running.benches.open(made[0])
        monkeypatch.setattr(journal, "_IDLE_S", 0.02)
        await bench.keeper.submit(SendMessage("u-1", "hello"))
        with anyio.fail_after(20):
            while _descriptors(home):  # noqa: ASYNC110 - a thread lets go of them
                await anyio.sleep(0.01)
        await bench.keeper.submit(SendMessage("u-2", "again"))
        assert [message.text for message in bench.state.said] == ["hello", "again"]


@on_asyncio
async def test_without_a_descriptor_idle_workbenches_give_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that is asked for is opened; where there is nothing to give, it is refused."""
    monkeypatch.setattr(workbenches, "PRESSED_IDLE_S", 0.0)
    async with supervised(tmp_path / "h") as running:
        first, second = [(await running.bench(a__txt="x")).id for _ in range(2)]
        await running.benches._close_idle(0, 0.0)
        refusals = [1]
        real = EventLog.open

        def scarce(*given: Any, **named: Any) -> EventLog:
            refusals[0] -= 1
            if refusals[0] >= 0:
                raise TooManyOpenFiles("none is left")
            return real(*given, **named)

        monkeypatch.setattr(EventLog, "open", scarce)
        with pytest.raises(TooManyOpenFiles):
            await running.benches.open(first)
        assert (await running.benches.open(first)).damage is None
        refusals[0] = 1
        assert (await running.benches.open(second)).damage is None
        assert _open(running) == [second]


async def test_a_follower_of_all_logs_waits_for_a_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No log is left out of its history because there was none to read it with."""
    monkeypatch.setattr(logs, "_SHORTAGE_PAUSE_S", 0.01)
    async with supervised(tmp_path / "h") as running:
        made = {(await running.bench(a__txt="x")).id for _ in range(3)}
        await running.benches._close_idle(0, 0.0)
        refusals = [4]
        real = EventLog.view

        def scarce(folder: Path) -> EventLog:
            refusals[0] -= 1
            if refusals[0] >= 0:
                raise OSError(errno.EMFILE, "too many")
            return real(folder)

        monkeypatch.setattr(EventLog, "view", scarce)
        stream = await LogMethods(running.context, running.benches).follow("*", {})
        told = set()
        async with aclosing(stream) as batches:
            async for batch in batches:
                if isinstance(batch, Synced):
                    break
                told.add(batch.workbench_id)
        assert told == {"daemon", *made}
