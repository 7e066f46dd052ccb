"""The asynchronous client keeps many requests apart, cancels them there, and follows logs."""

from pathlib import Path

import anyio
import pytest

from kbd.client.aio import connect
from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError
from kbd.core.server.dispatch import ServerLimits
from kbd.requests.notifications import WorkshopPhaseStarted
from kbd.types import Phase
from served import WORKBENCH, serving, until

pytestmark = pytest.mark.anyio


async def test_requests_in_flight_are_kept_apart(short_dir: Path) -> None:
    """Requests made together get each its own answer, and one that waits holds up no other."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        answers = []

        async def waits() -> None:
            answers.append(await client.send("WorkbenchCreate", {"name": "wait"}))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(waits)
            await until(lambda: served.waiting == 5)
            assert "plugins" in await client.send("PluginsList")
            assert answers == []
            served.gate.set()
        assert answers == [{"workbench_id": WORKBENCH}] * 5


async def test_what_is_given_up_here_is_cancelled_there(short_dir: Path) -> None:
    """A request that times out or is cancelled at the client ends in the daemon too."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        with pytest.raises(NoAnswerError):
            await client.send("WorkbenchCreate", {"name": "wait"}, 0.05)
        await until(lambda: served.waiting == 0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.send, "WorkbenchCreate", {"name": "wait"})
            await until(lambda: served.waiting == 1)
            tasks.cancel_scope.cancel()
        await until(lambda: served.waiting == 0)
        assert "plugins" in await client.send("PluginsList")


async def test_an_error_keeps_its_code(short_dir: Path) -> None:
    """An error of the daemon is raised with its message, its code and its data."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        with pytest.raises(RemoteError, match="no such workbench") as raised:
            await client.send("WorkbenchOpen", {"workbench_id": WORKBENCH})
        assert (raised.value.code, raised.value.data["error_code"]) == (-32000, "NOT_FOUND")


async def test_it_hears_notifications(short_dir: Path) -> None:
    """What the daemon announces reaches the function that was given for it."""
    heard = anyio.Event()
    async with (
        serving(short_dir) as served,
        connect(str(served.path), on_notification=lambda *_: heard.set()) as client,
    ):
        await client.send("WorkshopCancelRun", {"workbench_id": WORKBENCH})
        served.hub.announce(WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN))
        with anyio.fail_after(20):
            await heard.wait()


async def test_it_follows_a_log_and_leaves_it(short_dir: Path) -> None:
    """A log is followed from its cursor, can be left and followed again; a bad cursor raises."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        served.logs.append(WORKBENCH, "x", 3000)
        for _ in range(2):
            found = []
            async with client.follow(WORKBENCH, after=10) as events:
                async for event in events:
                    found.append(event["seq"])
                    if event["seq"] == 3000:
                        break
            assert found == list(range(11, 3001))
        with pytest.raises(RemoteError, match="past the end"):
            async with client.follow(WORKBENCH, after=4000):
                pass
        assert "plugins" in await client.send("PluginsList")


async def test_a_daemon_that_goes_ends_what_waits(short_dir: Path) -> None:
    """When the daemon goes, what follows a log ends, and a further request raises."""
    async with (
        serving(short_dir, ServerLimits(grace_s=0.05)) as served,
        connect(str(served.path)) as client,
    ):
        async with client.follow(WORKBENCH) as events:
            served.server.stop()
            assert [event async for event in events] == []
        assert client.lost is not None
        with pytest.raises(ConnectionLostError):
            await client.send("PluginsList")


async def test_nobody_there_is_an_error_of_its_own(short_dir: Path) -> None:
    """Where no daemon answers, connecting raises ConnectionLostError."""
    with pytest.raises(ConnectionLostError, match="no daemon answers"):
        async with connect(str(short_dir / "none")):
            pass


@pytest.mark.parametrize("where", ["block", "notification"])
async def test_what_is_raised_is_raised_as_it_is(short_dir: Path, where: str) -> None:
    """Not in a group, whether the block raises it or the function that hears notifications."""

    def hear(*_: object) -> None:
        raise ValueError("heard")

    async with serving(short_dir) as served:
        with pytest.raises(ValueError, match="heard"):  # noqa: PT012 - the block is what is tested
            async with connect(str(served.path), on_notification=hear) as client:
                await client.send("WorkshopCancelRun", {"workbench_id": WORKBENCH})
                if where == "block":
                    raise ValueError("heard")
                served.hub.announce(WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN))
                await anyio.sleep(20)


async def test_a_daemon_that_reads_nothing_holds_nobody(short_dir: Path) -> None:
    """A request that cannot be sent is given up in its time, or when it is cancelled."""
    path = str(short_dir / "s")
    async with await anyio.create_unix_listener(path), connect(path) as client:
        for _ in range(2):
            with pytest.raises(NoAnswerError):
                await client.send("WorkbenchCreate", {"name": "x" * 5_000_000}, 0.05)
        with anyio.move_on_after(0.05) as given_up:
            await client.send("PluginsList", timeout=None)
        assert given_up.cancelled_caught
