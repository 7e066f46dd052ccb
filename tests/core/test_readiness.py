"""What wakes the event loop from outside: descriptors and threads, on both backends."""

import os
import threading
import time

import anyio
import pytest

from kbd.core.readiness import serve_readable, wakeup

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


async def test_a_thread_wakes_who_waits_or_will_wait(anyio_backend: str) -> None:
    """A ring before the wait counts, a ring during it wakes, and each is used up by one wait."""
    called = wakeup()

    def ring(after_s: float) -> None:
        time.sleep(after_s)
        called.ring()

    for after_s in (0.0, 0.02, 0.0):
        thread = threading.Thread(target=ring, args=(after_s,))
        thread.start()
        if not after_s:
            thread.join()
        with anyio.fail_after(5):
            await called.wait()
        thread.join()

    with anyio.move_on_after(0.02) as scope:
        await called.wait()
    assert scope.cancelled_caught
    called.close()


def test_a_ring_after_the_loop_has_ended_is_harmless() -> None:
    """A thread that answers too late does not fail."""

    async def make() -> list[object]:
        called = wakeup()
        return [called.ring]

    (ring,) = anyio.run(make, backend="asyncio")
    assert callable(ring)
    ring()
