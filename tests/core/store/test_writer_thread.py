"""The scribe: a call in a thread, its answer on either event loop, and no call left lying."""

import os
import threading
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kbd.core.store import journal
from kbd.core.store.journal import WriterThread
from kbd.errors import TooManyProcesses

pytestmark = pytest.mark.anyio


def _where(number: int) -> tuple[int, int]:
    return number, threading.get_ident()


async def test_calls_are_made_in_one_thread_that_is_not_the_loops(anyio_backend: str) -> None:
    """All calls are made by the same thread, one after the other, and each result comes back."""
    scribe: WriterThread[tuple[int, int]] = WriterThread()
    found = [await scribe.call(partial(_where, number)) for number in range(50)]

    assert [number for number, _ in found] == list(range(50))
    assert len({thread for _, thread in found}) == 1
    assert found[0][1] != threading.get_ident()


async def test_what_a_call_raises_is_raised(anyio_backend: str) -> None:
    """A fault reaches who called, and the next call is made all the same."""
    scribe: WriterThread[str] = WriterThread()

    def fail() -> str:
        raise OSError(5, "the disk failed")

    with pytest.raises(OSError, match="the disk failed"):
        await scribe.call(fail)
    assert await scribe.call(lambda: "again") == "again"


async def test_a_call_that_has_begun_is_waited_for(anyio_backend: str) -> None:
    """Cancelling who called does not let it go on before the call has ended."""
    scribe: WriterThread[None] = WriterThread()
    may_end, ended = threading.Event(), list[bool]()

    def work() -> None:
        may_end.wait(10)
        ended.append(True)

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(scribe.call, work)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
            may_end.set()
    assert ended == [True]


async def test_the_loop_goes_on_meanwhile(anyio_backend: str) -> None:
    """While a call is made, other tasks run."""
    scribe: WriterThread[bool] = WriterThread()
    went_on = threading.Event()

    async def go_on() -> None:
        went_on.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(go_on)
        assert await scribe.call(lambda: went_on.wait(10))


async def test_the_thread_leaves_and_comes_back(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scribe with nothing to do holds no thread and no descriptor, and can be called again."""
    monkeypatch.setattr(journal, "_IDLE_S", 0.02)
    scribe: WriterThread[str] = WriterThread()
    open_before = len(os.listdir(Path("/proc/self/fd")))
    name = await scribe.call(lambda: threading.current_thread().name)
    with anyio.fail_after(10):
        while any(thread.name == name for thread in threading.enumerate()):  # noqa: ASYNC110
            await anyio.sleep(0.01)

    assert len(os.listdir(Path("/proc/self/fd"))) <= open_before
    assert await scribe.call(lambda: threading.current_thread().name) != name


async def test_no_thread_is_a_refusal(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started nothing is called, and it is said in a typed error."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    scribe: WriterThread[str] = WriterThread()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(TooManyProcesses):
            await scribe.call(lambda: "never")
    assert await scribe.call(lambda: "later") == "later"


async def test_a_closed_scribe_begins_again(anyio_backend: str) -> None:
    """A scribe that was closed lets its thread go at once, and a later call is made by another."""
    scribe: WriterThread[str] = WriterThread()
    names = []
    for _ in range(3):
        names.append(await scribe.call(lambda: threading.current_thread().name))
        scribe.close()
        scribe.close()
    with anyio.fail_after(5):
        while {thread.name for thread in threading.enumerate()} & set(names):  # noqa: ASYNC110
            await anyio.sleep(0.01)

    assert len(set(names)) == 3


async def test_a_probe_is_answered_behind_the_calls_before_it(anyio_backend: str) -> None:
    """Not while one of them hangs; by a thread of its own where the last one has ended."""
    scribe: WriterThread[bool] = WriterThread()
    assert await run_sync(scribe.probe().wait, 10)
    may_end = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(scribe.call, may_end.wait)
        await anyio.wait_all_tasks_blocked()
        probed = scribe.probe()
        assert not probed.is_set()
        may_end.set()
        assert await run_sync(probed.wait, 10)
    scribe.close()
    assert await run_sync(scribe.probe().wait, 10)
    scribe.close()


async def test_no_probe_is_left_lying(anyio_backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the thread is about to end for want of work."""
    monkeypatch.setattr(journal, "_IDLE_S", 0.0001)
    scribe: WriterThread[None] = WriterThread()
    for _ in range(300):
        assert await run_sync(scribe.probe().wait, 10)
