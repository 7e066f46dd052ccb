"""The blocking client asks, hears and follows; and it imports nothing that takes time."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from backends import on_asyncio, on_trio
from kbd.client.blocking import (
    Client,
    ConnectionLostError,
    NoAnswerError,
    RemoteError,
    default_socket,
)
from kbd.core.server.dispatch import ServerLimits
from kbd.requests.notifications import WorkshopPhaseStarted
from kbd.types import Phase
from served import WORKBENCH, Served, serving

pytestmark = pytest.mark.anyio

STARTED = WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN)


async def _with_client(served: Served, work: Callable[[Client], Any]) -> Any:
    """Run blocking work with a client in a thread, as a program of its own would."""

    def run() -> Any:
        with Client(str(served.path)) as client:
            return work(client)

    return await anyio.to_thread.run_sync(run)


async def test_it_asks_and_is_answered(short_dir: Path) -> None:
    """A request returns its answer's members, text beyond ASCII included."""
    async with serving(short_dir) as served:

        def work(client: Client) -> Any:
            first = client.send("WorkbenchCreate", {"name": "März"})
            return first, client.send("PluginsList")["plugins"][0]["name"]

        assert await _with_client(served, work) == ({"workbench_id": WORKBENCH}, "a")


async def test_an_error_keeps_its_code_and_data(short_dir: Path) -> None:
    """An error of the daemon is raised with its message, its code and its data."""
    async with serving(short_dir) as served:

        def work(client: Client) -> RemoteError:
            with pytest.raises(RemoteError, match="no such workbench") as raised:
                client.send("WorkbenchOpen", {"workbench_id": WORKBENCH})
            return raised.value

        error = await _with_client(served, work)
        assert (error.code, error.data["error_code"], error.error_code) == (
            -32000, "NOT_FOUND", "NOT_FOUND",
        )  # fmt: skip
        assert RemoteError(-32601, "method not found: X").error_code == ""


async def test_an_answer_that_comes_too_late_is_not_taken_for_another(short_dir: Path) -> None:
    """The answer to a request that was given up is not returned for the next one."""
    async with serving(short_dir) as served:

        def work(client: Client) -> Any:
            with pytest.raises(NoAnswerError):
                client.send("WorkbenchCreate", {"name": "wait"}, 0.05)
            anyio.from_thread.run_sync(served.gate.set)
            return client.send("PluginsList")

        assert "plugins" in await _with_client(served, work)


@on_trio
async def test_what_is_given_up_here_is_cancelled_there(short_dir: Path) -> None:
    """A request that takes too long does not go on to wait in the daemon."""
    async with serving(short_dir) as served:

        def work(client: Client) -> Any:
            with pytest.raises(NoAnswerError):
                client.send("WorkbenchCreate", {"name": "wait"}, 0.05)
            return client.send("PluginsList")

        assert "plugins" in await _with_client(served, work)
        assert served.waiting == 0


@on_asyncio
async def test_another_thread_may_close_it(short_dir: Path) -> None:
    """Who waits for an answer then gets an error; so does who asks afterwards."""
    async with serving(short_dir) as served:

        def work(client: Client) -> None:
            closer = threading.Timer(0.05, client.close)
            closer.start()
            for _ in range(2):
                with pytest.raises(ConnectionLostError, match="this client is closed"):
                    client.send("WorkbenchCreate", {"name": "wait"}, None)
            closer.join()

        await _with_client(served, work)


def test_a_daemon_that_reads_nothing_is_given_up(short_dir: Path) -> None:
    """Half a request may be sent by then, so that the connection is of no use any more."""
    path = str(short_dir / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        client = Client(path, timeout=0.05)
        with pytest.raises(NoAnswerError, match="does not read"):
            client.send("WorkbenchCreate", {"name": "x" * 5_000_000})
        with pytest.raises(ConnectionLostError, match="this client is closed"):
            client.send("PluginsList")


@on_asyncio
async def test_it_finds_the_daemon_of_the_environment(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """$KBD_SOCKET, else in $KBD_HOME, else in the user's data folder."""
    monkeypatch.setenv("KBD_SOCKET", str(short_dir / "s"))

    def ask() -> Any:
        with Client() as client:
            return client.send("PluginsList")

    async with serving(short_dir):
        assert "plugins" in await anyio.to_thread.run_sync(ask)
    monkeypatch.delenv("KBD_SOCKET")
    monkeypatch.setenv("KBD_HOME", "/a")
    assert default_socket() == "/a/kbd.sock"
    monkeypatch.delenv("KBD_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", "/b")
    assert default_socket() == "/b/kbd/kbd.sock"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/c")
    assert default_socket() == "/c/.local/share/kbd/kbd.sock"


async def test_notifications_are_heard_between_request_and_answer(short_dir: Path) -> None:
    """Notifications are heard while waiting for them and while waiting for an answer."""
    async with serving(short_dir) as served:

        def work(client: Client) -> Any:
            heard = []
            client.on_notification = lambda method, params: heard.append((method, params["phase"]))
            assert not client.wait(0.01)
            client.send("WorkshopCancelRun", {"workbench_id": WORKBENCH})
            anyio.from_thread.run_sync(served.hub.announce, STARTED)
            assert client.wait(20)
            anyio.from_thread.run_sync(served.hub.announce, STARTED)
            client.send("PluginsList")
            return heard

        assert await _with_client(served, work) == [("WorkshopPhaseStarted", "plan")] * 2


async def test_what_nobody_hears_is_kept_for_who_listens_later(short_dir: Path) -> None:
    """A notification that came before there was a listener is heard by the first one."""
    async with serving(short_dir) as served:

        def work(client: Client) -> Any:
            client.send("WorkshopCancelRun", {"workbench_id": WORKBENCH})
            anyio.from_thread.run_sync(served.hub.announce, STARTED)
            client.send("PluginsList")
            heard: list[str] = []
            client.on_notification = lambda method, params: heard.append(method)
            assert client.wait(0)
            return heard

        assert await _with_client(served, work) == ["WorkshopPhaseStarted"]


async def test_it_follows_a_log_from_a_cursor(short_dir: Path) -> None:
    """A log is followed from its cursor, over history and what is new, without gap or repeat."""
    async with serving(short_dir) as served:
        served.logs.append(WORKBENCH, "x", 600)

        def work(client: Client) -> list[int]:
            found = []
            for event in client.follow(WORKBENCH, after=100):
                found.append(event["seq"])
                if event["seq"] == 600:
                    anyio.from_thread.run_sync(served.logs.append, WORKBENCH, "y", 2)
                if event["seq"] == 602:
                    break
            return found

        assert await _with_client(served, work) == list(range(101, 603))


async def test_a_daemon_that_goes_is_an_error_of_its_own(short_dir: Path) -> None:
    """ConnectionLostError is raised where the daemon goes, and where none answers."""
    async with serving(short_dir) as served:

        def ask_until_it_breaks(client: Client) -> None:
            while True:  # what is on its way when the daemon stops is still answered
                client.send("PluginsList")

        def work(client: Client) -> None:
            client.send("DaemonShutdown")
            with pytest.raises(ConnectionLostError):
                ask_until_it_breaks(client)

        await _with_client(served, work)
    with pytest.raises(ConnectionLostError, match="no daemon answers"):
        Client(str(served.path))


async def test_a_crowded_daemon_says_so(short_dir: Path) -> None:
    """A client that the daemon has no room for gets the code that says so, -32001."""
    async with serving(short_dir, ServerLimits(connections=0)) as served:

        def work(client: Client) -> int:
            with pytest.raises(RemoteError) as raised:
                client.send("PluginsList")
            return raised.value.code

        assert await _with_client(served, work) == -32001


@pytest.mark.parametrize("module", ["kbd.client", "kbd.client.blocking"])
def test_it_imports_nothing_that_takes_time(module: str) -> None:
    """Importing the blocking client loads none of the modules that make a start slow."""
    code = f"import sys, {module}; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    heavy = {
        "anyio", "asyncio", "dataclasses", "importlib.metadata", "inspect", "logging", "msgspec",
        "pathlib", "pluggy", "structlog", "trio", "kbd.errors", "kbd.requests", "kbd.rpc",
    }  # fmt: skip
    assert heavy.isdisjoint(ran.stdout.split())
