"""What wakes the event loop from outside: descriptors and threads, on both backends."""

import os
import threading
import time

import anyio
import pytest

from kbd.core.runtime.event_loop import Wakeup, serve_readable

pytestmark = pytest.mark.anyio


async def test_a_turn_is_taken_whenever_there_is_something_to_read(anyio_backend: str) -> None:
    """Every write is seen, also what a turn has left lying, until the task is cancelled."""
    reading, writing = os.pipe()
    found: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_readable, reading, lambda: found.append(os.read(reading, 1)))
        for text in (b"ab", b"c"):
            os.write(writing, text)
            with anyio.fail_after(5):
                while not found or found[-1] != text[-1:]:  # noqa: ASYNC110 - the turn is not a task
                    await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()
    assert b"".join(found) == b"abc"

    # Nobody looks at the descriptor any more.
    os.write(writing, b"d")
    await anyio.sleep(0.01)
    assert os.read(reading, 1) == b"d"
    os.close(reading)
    os.close(writing)


async def test_a_thread_wakes_who_waits(anyio_backend: str) -> None:
    """A ring wakes whether it comes at once or later; each is used up by one wait."""
    called = Wakeup()

    def ring(after_s: float) -> None:
        time.sleep(after_s)
        called.ring()

    for after_s in (0.0, 0.02, 0.0):
        thread = threading.Thread(target=ring, args=(after_s,))
        with anyio.fail_after(5):
            await called.wait(thread.start)
        thread.join()

    with anyio.move_on_after(0.02) as scope:
        await called.wait(lambda: None)
    assert scope.cancelled_caught
    called.close()


async def test_a_closed_wakeup_holds_nothing(anyio_backend: str) -> None:
    """Its descriptor is given back, whichever thread closes it."""
    called = Wakeup()
    fd = called._fd
    thread = threading.Thread(target=called.close)
    thread.start()
    thread.join()
    with anyio.fail_after(5):
        while os.path.exists(f"/proc/self/fd/{fd}"):  # noqa: ASYNC110, ASYNC240 - what is proved
            await anyio.sleep(0.001)


def test_a_wakeup_outlives_its_loop_unharmed() -> None:
    """A thread that answers, and leaves, when the loop has ended does not fail."""
    made: list[Wakeup] = []

    async def make() -> None:
        made.append(Wakeup())

    for backend in ("asyncio", "trio"):
        anyio.run(make, backend=backend)
        made[-1].ring()
        made[-1].close()
        assert not os.path.exists(f"/proc/self/fd/{made[-1]._fd}")
