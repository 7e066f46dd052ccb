"""What the service manager is told: by a real socket, and only while there is life."""

import os
import resource
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kbd.core.runtime.sd_notify import ServiceNotifier
from kbd.core.store.journal import WriterThread
from kbd.errors import ToolWorkerUnavailable, TooManyProcesses
from service_manager import Manager

pytestmark = pytest.mark.anyio

WATCHDOG_S = 0.4
QUIET_S = 3 * WATCHDOG_S


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, short_dir: Path) -> Iterator[Manager]:
    """A manager, by either kind of address."""
    name = {"path": str(short_dir / "notify"), "abstract": f"@kbd-test-{short_dir.name}"}
    listening = Manager(name[request.param])
    yield listening
    listening.close()


@asynccontextmanager
async def kept_alive(manager: Manager, thread: WriterThread[None]) -> AsyncIterator[None]:
    """Give signs of life as a daemon does."""
    notifier = ServiceNotifier(manager.address, WATCHDOG_S)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(notifier.keep_alive, thread.probe)
        yield
        tasks.cancel_scope.cancel()
    thread.close()


def test_the_variables_are_taken_out_of_the_environment() -> None:
    """So that no process of kbd's can speak in its name; the rest stays."""
    environment = {
        "NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid()),
        "PATH": "/bin",
    }  # fmt: skip
    notifier = ServiceNotifier.take(environment)

    assert environment == {"PATH": "/bin"}
    assert notifier.watchdog_s == 30.0


@pytest.mark.parametrize(
    "variables",
    [
        {"NOTIFY_SOCKET": "/run/n"},
        {"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "0"},
        {"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "soon"},
        {"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"},
        {"NOTIFY_SOCKET": "vsock:2:1", "WATCHDOG_USEC": "1000"},
        {"WATCHDOG_USEC": "1000"},
    ],
)
def test_a_watchdog_of_nobody_or_of_another_process_is_none(variables: dict[str, str]) -> None:
    """Without a time, a socket, or with another process's number, there is no watchdog."""
    assert ServiceNotifier.take(dict(variables)).watchdog_s is None


async def test_a_message_arrives_line_by_line(manager: Manager, anyio_backend: str) -> None:
    """At a path and at an abstract name; no text brings in a line of its own."""
    notifier = ServiceNotifier(manager.address)
    await notifier.notify("READY=1", "STATUS=Ready\nMAINPID=1")
    assert manager.receive() == "READY=1\nSTATUS=Ready MAINPID=1"
    notifier.notify_at_once("STATUS=Gone")
    assert manager.receive() == "STATUS=Gone"


async def test_a_manager_that_is_not_there_fails_nothing(
    short_dir: Path, anyio_backend: str
) -> None:
    """Nor does one that is none."""
    for address in (str(short_dir / "nobody"), "", "relative", "/" + "x" * 200):
        notifier = ServiceNotifier(address, WATCHDOG_S)
        await notifier.notify("READY=1")
        notifier.notify_at_once("READY=1")


async def test_a_full_socket_is_waited_for_by_the_message_alone(
    manager: Manager, anyio_backend: str
) -> None:
    """The event loop goes on meanwhile, and the message comes when there is room."""
    notifier, full = ServiceNotifier(manager.address), 0
    with anyio.move_on_after(1):
        while True:
            await notifier.notify(f"X={full}")
            full += 1
    assert full
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(notifier.notify, "READY=1")
        await anyio.wait_all_tasks_blocked()
        told = [await run_sync(manager.receive) for _ in range(full)]
        assert told == [f"X={number}" for number in range(full)]
    assert manager.receive() == "READY=1"


async def test_life_is_told_again_and_again(manager: Manager, anyio_backend: str) -> None:
    """The first time at once."""
    thread: WriterThread[None] = WriterThread()
    async with kept_alive(manager, thread):
        for _ in range(3):
            assert await run_sync(manager.receive) == "WATCHDOG=1"


async def test_an_event_loop_that_hangs_gives_no_sign_of_life(
    manager: Manager, anyio_backend: str
) -> None:
    """While it stands still nothing is sent, and after it again."""
    thread: WriterThread[None] = WriterThread()
    async with kept_alive(manager, thread):
        assert await run_sync(manager.receive) == "WATCHDOG=1"
        manager.drain()
        assert manager.receive(QUIET_S) is None  # which holds the loop meanwhile
        assert await run_sync(manager.receive) == "WATCHDOG=1"


async def test_a_log_thread_that_hangs_keeps_the_sign_of_life_back(
    manager: Manager, anyio_backend: str
) -> None:
    """The event loop turns all the while; the manager hears nothing until the disk answers."""
    thread: WriterThread[None] = WriterThread()
    may_end = threading.Event()

    def hang() -> None:
        may_end.wait(60)

    async with kept_alive(manager, thread), anyio.create_task_group() as tasks:
        assert await run_sync(manager.receive) == "WATCHDOG=1"
        tasks.start_soon(thread.call, hang)
        # What was answered before may still be told.
        await anyio.sleep(WATCHDOG_S)
        manager.drain()
        heard = await run_sync(manager.receive, QUIET_S)
        may_end.set()
        assert heard is None
        assert await run_sync(manager.receive) == "WATCHDOG=1"


async def test_a_thread_that_cannot_be_started_is_asked_again(
    manager: Manager, anyio_backend: str
) -> None:
    """Where threads have run out there is no sign of life, and no failure."""
    thread: WriterThread[None] = WriterThread()
    refused = [1, 2, 3]

    def probe() -> threading.Event:
        if refused:
            refused.pop()
            raise ToolWorkerUnavailable("no threads are left")
        return thread.probe()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ServiceNotifier(manager.address, WATCHDOG_S).keep_alive, probe)
        assert await run_sync(manager.receive) == "WATCHDOG=1"
        assert refused == []
        tasks.cancel_scope.cancel()
    thread.close()


async def test_without_a_descriptor_left_nothing_fails(manager: Manager) -> None:
    """The manager is not told then; the daemon lives on, and tells again when there is one."""
    notifier = ServiceNotifier(manager.address)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        await notifier.notify("STATUS=lost")
        notifier.notify_at_once("STATUS=lost")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    await notifier.notify("STATUS=told")
    assert await run_sync(manager.receive) == "STATUS=told"


async def test_a_probe_that_finds_no_thread_is_tried_again(manager: Manager) -> None:
    """A shortage of the machine is no end of the signs of life."""
    tries = 0

    def probe() -> threading.Event:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise TooManyProcesses("no thread")
        answered = threading.Event()
        answered.set()
        return answered

    notifier = ServiceNotifier(manager.address, WATCHDOG_S)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(notifier.keep_alive, probe)
        assert await run_sync(manager.receive) == "WATCHDOG=1"
        tasks.cancel_scope.cancel()
    assert tries == 3
