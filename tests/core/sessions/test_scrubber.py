"""The scrubber: verifies a share a day while the daemon is idle, tells, and loses nothing."""

import errno
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import pytest

from damaged_logs import flip, frame_of, last_segment
from kbd.core.api.logs import LogMethods
from kbd.core.api.workbenches import WorkbenchMethods
from kbd.core.audit import scrub_main
from kbd.core.home_index.verified_logs import LogProgress
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import ScrubSettings, Settings, WatchSettings
from kbd.core.server.dispatch import Session
from kbd.core.sessions.scrub import scrubber
from kbd.core.sessions.scrub.messages import BlobsReached, LogScrubbed, ScrubLog
from kbd.core.sessions.scrub.process import open_verifier
from kbd.core.sessions.scrub.scrubber import Scrubber
from kbd.core.sessions.verifications import DAY_US
from kbd.events.blobs import BlobStore
from kbd.events.frame import BODY_AT
from kbd.requests.daemon import LogVerify
from kbd.requests.workbenches import WorkbenchList, WorkbenchOpen
from kbd.types import WorkbenchId
from supervised import Supervised, supervised

pytestmark = pytest.mark.anyio

NOBODY = cast(Session, None)


class MovedClock(SystemClock):
    """The system's clock, moved by some days."""

    def __init__(self) -> None:
        self.days = 0.0

    def now_us(self) -> int:
        """Return the time, moved."""
        return super().now_us() + round(self.days * DAY_US)


class ScrubbedHome:
    """A home with a scrubber that need not wait long for leisure.

    Attributes:
        running: The home.
    """

    def __init__(self, running: Supervised) -> None:
        self.running = running

    async def verified(self) -> list[str]:
        """Return the logs that were verified, whenever."""
        verifications = self.running.context.verifications
        logs = ("daemon", *self.running.benches.ids())
        return [each for each in logs if await verifications.verified_at_us(each)]

    async def damage(self) -> dict[str, list[str]]:
        """Return what lists say of workbenches that are damaged: status and reason."""
        methods = WorkbenchMethods(self.running.context, self.running.benches)
        found = await methods.list(WorkbenchList(), NOBODY)
        rows = [scrubbed_row(each) for each in found.workbenches]
        return {str(row["id"]): [str(row["status"]), str(row.get("reason", ""))] for row in rows}


def scrubbed_row(row: object) -> dict[str, object]:
    """Return the row of a list as a client gets it."""
    return dict(json.loads(bytes(cast("bytes", row))))


@pytest.fixture(autouse=True)
def _short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrubber, "IDLE_S", 0.05)
    monkeypatch.setattr(scrubber, "CHECK_S", 0.05)


@asynccontextmanager
async def scrubbed(folder: Path, clock: MovedClock, days: int = 30) -> AsyncIterator[ScrubbedHome]:
    """Run a home with its scrubber; no more than one workbench is kept open."""
    settings = Settings(watch=WatchSettings(open_workbenches=1), scrub=ScrubSettings(days=days))
    async with (
        supervised(folder, settings, clock=clock) as running,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(Scrubber(running.context, running.benches).run)
        yield ScrubbedHome(running)
        tasks.cancel_scope.cancel()


async def made(folder: Path, count: int, content: str = "x") -> list[WorkbenchId]:
    """Make a home with workbenches, each with one file of its own, and close it."""
    async with supervised(folder) as running:
        return [(await running.bench(a__txt=f"{content}{n}")).id for n in range(count)]


async def until(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    with anyio.fail_after(60):
        while not true():  # noqa: ASYNC110
            await anyio.sleep(0.02)


def blob_of(folder: Path, workbench_id: str) -> Path:
    """Return the only blob of a workbench."""
    store = BlobStore(folder / "workbenches" / workbench_id / "blobs")
    (blob,) = store.stored()
    return store.path(blob)


async def until_verified(home: ScrubbedHome, count: int) -> None:
    """Wait until so many logs were verified."""
    with anyio.fail_after(60):
        while len(await home.verified()) < count:  # noqa: ASYNC110
            await anyio.sleep(0.02)


async def test_damage_of_each_kind_is_found_and_listed(tmp_path: Path) -> None:
    """A flip in a closed log, in a blob and in the daemon's log, and a blob that is missing."""
    ids = await made(tmp_path / "h", 4)
    log, flipped, missing, whole = ids
    segment = last_segment(tmp_path / "h" / "workbenches" / log / "log")
    flip(segment, frame_of(segment, "FileAdded")[0] + BODY_AT + 3)
    flip(blob_of(tmp_path / "h", flipped), 0)
    blob_of(tmp_path / "h", missing).unlink()
    own = last_segment(tmp_path / "h" / "daemon" / "log")
    place = frame_of(own, "WorkbenchCreated")[0] + BODY_AT + 3
    clock = MovedClock()
    clock.days = 400
    async with scrubbed(tmp_path / "h", clock, days=1) as home:
        flip(own, place)
        await until_verified(home, 5)
        state, damage = home.running.benches.daemon.state, await home.damage()
        kinds = {each: [fault.kind for fault in state.damage_of(each)] for each in (*ids, "daemon")}
        assert kinds == {
            log: ["damaged"], flipped: ["blob damaged"], missing: ["blob missing"], whole: [],
            "daemon": ["damaged"],
        }  # fmt: skip
        assert [damage[each][0] for each in ids] == [*["damaged"] * 3, "idle"]
        assert "blob missing" in damage[missing][1]
        assert damage[whole][1] == ""
        # It works on.
        bench = await home.running.benches.open(missing)
        assert bench.damage is None
        methods = WorkbenchMethods(home.running.context, home.running.benches)
        info = (await methods.open(WorkbenchOpen(workbench_id=missing), NOBODY)).workbench
        assert (info.status, info.is_read_only) == ("damaged", False)
        assert info.verified_at


async def test_archives_are_verified_as_workbenches_are(tmp_path: Path) -> None:
    """By their hash and all that is in them: damage of one is found and listed."""
    ids = await made(tmp_path / "h", 2)
    damaged, _ = ids
    clock = MovedClock()
    async with scrubbed(tmp_path / "h", clock, days=0) as home:
        for each in ids:
            await home.running.benches.archives.archive(WorkbenchId(each), "for a test")
    flip(tmp_path / "h" / "archives" / f"{damaged}.tar.gz", 200)
    clock.days = 400
    async with scrubbed(tmp_path / "h", clock, days=1) as home:
        await until_verified(home, 3)
        state, damage = home.running.benches.daemon.state, await home.damage()
        kinds = [[fault.kind for fault in state.damage_of(each)] for each in ids]
        assert kinds == [["archive damaged"], []]
        assert [damage[each][0] for each in ids] == ["damaged", "archived"]


async def test_what_is_mended_is_told_at_the_next_start(tmp_path: Path) -> None:
    """At once, without leisure, though the scrubber is switched off; until then it is listed."""
    (workbench_id,) = await made(tmp_path / "h", 1)
    blob = blob_of(tmp_path / "h", workbench_id)
    flip(blob, 0)
    clock = MovedClock()
    async with scrubbed(tmp_path / "h", clock, days=0) as home:
        methods = LogMethods(home.running.context, home.running.benches)
        found = await methods.verify(LogVerify(workbench_id=workbench_id), NOBODY)
        assert not found.ok
        assert (await home.damage())[workbench_id][0] == "damaged"
    async with scrubbed(tmp_path / "h", clock, days=0) as home:
        assert (await home.damage())[workbench_id][0] == "damaged"
    flip(blob, 0)
    async with scrubbed(tmp_path / "h", clock, days=0) as home:
        state = home.running.benches.daemon.state
        await until(lambda: not state.damage_of(workbench_id))
        assert (await home.damage())[workbench_id] == ["idle", ""]


async def test_switched_off_nothing_is_verified(tmp_path: Path) -> None:
    """However old it is; `kbd verify` counts all the same."""
    (workbench_id,) = await made(tmp_path / "h", 1)
    clock = MovedClock()
    clock.days = 400
    async with scrubbed(tmp_path / "h", clock, days=0) as home:
        await anyio.sleep(1)
        assert await home.verified() == []
        methods = LogMethods(home.running.context, home.running.benches)
        assert (await methods.verify(LogVerify(workbench_id=workbench_id), NOBODY)).ok
        assert await home.verified() == [workbench_id]


async def test_a_share_is_done_each_day(tmp_path: Path) -> None:
    """About a tenth of ten days; then all of it, once, and what a day left comes with the next."""
    ids = await made(tmp_path / "h", 20, "x" * 100_000)
    clock = MovedClock()
    clock.days = 400
    counts = []
    async with scrubbed(tmp_path / "h", clock, days=10) as home:
        for days in (0, 1, 2, 4):
            clock.days = 400 + days
            with anyio.move_on_after(2.0):
                await until_verified(home, 21)
            counts.append(len(await home.verified()))
    # What the last log of a share took too much the next one lacks.
    assert 1 <= counts[0] <= 8, counts
    assert counts[0] <= counts[1] < counts[3], counts
    assert counts[1] < len(ids), counts
    clock.days = 420
    async with scrubbed(tmp_path / "h", clock, days=10) as home:
        await until_verified(home, 21)


async def test_it_stops_for_work_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """While the daemon has work the process reads nothing; then it goes on, and all is verified."""
    (workbench_id,) = await made(tmp_path / "h", 1, "x" * 30_000_000)
    home = Home(tmp_path / "h", tmp_path / "s")
    told: list[BlobsReached] = []

    async def tell(reached: BlobsReached) -> None:
        told.append(reached)

    found: list[LogScrubbed] = []
    async with open_verifier(home) as verifier, anyio.create_task_group() as tasks:
        # Before it has begun, again and again, and while it reads.
        await verifier.pause()

        async def scrub() -> None:
            found.append(await verifier.scrub(ScrubLog(workbench_id), tell))

        tasks.start_soon(scrub)
        await anyio.sleep(1.0)
        assert found == []
        for _ in range(20):
            await verifier.go_on()
            await verifier.pause()
        await verifier.go_on()
    (result,) = found
    assert (result.faults, result.unread) == ((), "")
    assert result.size_bytes > 30_000_000


async def test_work_holds_the_scrubber_and_leisure_releases_it(tmp_path: Path) -> None:
    """Nothing is verified while a request is under way."""
    await made(tmp_path / "h", 3)
    clock = MovedClock()
    clock.days = 400
    async with scrubbed(tmp_path / "h", clock, days=1) as home:
        activity = home.running.context.meters.activity
        activity.begin()
        await anyio.sleep(0.7)
        assert await home.verified() == []
        activity.end()
        await until_verified(home, 4)


async def test_killed_at_any_time_it_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was reached before is not read again, and a damaged blob from before is still told."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(**{f"a{n}__txt": f"{n}" * 1000 for n in range(9)})
        workbench_id = bench.id
    home = Home(tmp_path / "h", tmp_path / "s")
    blobs = sorted(home.workbench(workbench_id).blobs.glob("?" * 64))
    flip(blobs[2], 0)
    monkeypatch.setattr(scrub_main, "PROGRESS_BYTES", 1)
    told: list[BlobsReached] = []
    scrub_main.scrub_log(
        home, ScrubLog(workbench_id), lambda each: told.append(cast(BlobsReached, each))
    )
    sizes = []
    for reached in told:
        rest = ScrubLog(workbench_id, None, reached.reached, reached.suspects)
        found = scrub_main.scrub_log(home, rest, lambda _: None)
        assert [fault.file.rpartition("/")[2] for fault in found.faults] == [blobs[2].name]
        sizes.append(found.size_bytes)
    assert len(told) == 9
    assert sizes[-1] < 1500
    assert told[-1].suspects == (blobs[2].name,)


async def test_a_process_that_dies_takes_nothing_with_it(tmp_path: Path) -> None:
    """The next one goes on; what it died of is left out until the next share."""
    await made(tmp_path / "h", 3)
    clock = MovedClock()
    clock.days = 400
    async with scrubbed(tmp_path / "h", clock, days=1) as home:
        killed = 0
        with anyio.move_on_after(3):
            while len(await home.verified()) < 4:
                for pid in _scrubbing():
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                await anyio.sleep(0.05)
        clock.days = 405
        await until_verified(home, 4)
        assert all(not rows[1] for rows in (await home.damage()).values())
        assert killed


def _scrubbing() -> list[int]:
    """Return the scrubber's processes below this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            command = (path.parent / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if parent == os.getpid() and b"scrub_main" in command:
            found.append(int(path.parent.name))
    return found


async def test_a_workbench_in_use_is_not_called_damaged(tmp_path: Path) -> None:
    """What looks damaged of one that was opened meanwhile is looked at once more, later."""
    (workbench_id,) = await made(tmp_path / "h", 1)
    blob = blob_of(tmp_path / "h", workbench_id)
    flip(blob, 0)
    clock = MovedClock()
    async with scrubbed(tmp_path / "h", clock) as home:
        await anyio.sleep(0.3)
        clock.days = 400
        task = Scrubber(home.running.context, home.running.benches)

        class Opening:
            """A process that finds damage in what is opened while it looks."""

            async def scrub(self, request: ScrubLog, tell: object) -> LogScrubbed:
                await home.running.benches.open(workbench_id)
                return scrub_main.scrub_log(home.running.home, request, lambda _: None)

        assert not await task._verify(Opening(), LogProgress(workbench_id))  # type: ignore[arg-type]
        assert home.running.benches.daemon.state.damage_of(workbench_id) == ()


@pytest.mark.parametrize("errno_name", ["EBUSY", "EMFILE", "ESTALE"])
async def test_what_cannot_be_read_just_now_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, errno_name: str
) -> None:
    """A blob or a log that is busy, and a machine that lacks something, is told as unread."""
    (workbench_id,) = await made(tmp_path / "h", 1)
    home = Home(tmp_path / "h", tmp_path / "s")
    number, opened = getattr(errno, errno_name), os.open
    for ending in ("blobs", ".kbl"):

        def refuse(path: object, *given: object, ending: str = ending, **named: object) -> int:
            if ending in str(path):
                raise OSError(number, "refused")
            return opened(path, *given, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", refuse)
        found = scrub_main.scrub_log(home, ScrubLog(workbench_id), lambda _: None)
        monkeypatch.setattr(os, "open", opened)
        assert found.faults == ()
        assert found.unread


async def test_a_disk_that_fails_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """EIO is what a disk says of bytes that it has lost."""
    (workbench_id,) = await made(tmp_path / "h", 1)
    home, opened = Home(tmp_path / "h", tmp_path / "s"), os.open
    for ending, kind in (("/blobs/", "blob damaged"), (".kbl", "damaged")):

        def refuse(path: object, *given: object, ending: str = ending, **named: object) -> int:
            if ending in str(path):
                raise OSError(errno.EIO, "failed")
            return opened(path, *given, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", refuse)
        found = scrub_main.scrub_log(home, ScrubLog(workbench_id), lambda _: None)
        monkeypatch.setattr(os, "open", opened)
        assert [each.kind for each in found.faults] == [kind]


async def test_one_that_is_deleted_meanwhile_is_no_damage(tmp_path: Path) -> None:
    """Nothing is recorded of what is not there any more."""
    ids = await made(tmp_path / "h", 2)
    clock = MovedClock()
    async with scrubbed(tmp_path / "h", clock) as home:
        await home.running.benches.delete(ids[0])
        clock.days = 400
        await until_verified(home, 1)
        verifications = home.running.context.verifications
        await verifications.finish(ids[0], ())
        assert ids[0] not in await home.verified()
