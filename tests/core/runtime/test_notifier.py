"""The bell: whoever waits looks again, and nobody sleeps over a ring."""

import anyio
import pytest

from kbd.core.runtime.event_loop import Notifier

pytestmark = pytest.mark.anyio


async def test_a_ring_wakes_all_who_wait(anyio_backend: str) -> None:
    """Everybody who waits is woken by one ring, and can wait for the next."""
    bell, woken = Notifier(), list[str]()

    async def wait(name: str) -> None:
        for _ in range(2):
            await bell.wait()
            woken.append(name)

    async with anyio.create_task_group() as tasks:
        for name in ("a", "b"):
            tasks.start_soon(wait, name)
        for turn in (2, 4):
            await anyio.wait_all_tasks_blocked()
            bell.ring()
            await anyio.wait_all_tasks_blocked()
            assert len(woken) == turn


async def test_a_ring_before_the_wait_counts_for_who_knows_the_number(anyio_backend: str) -> None:
    """Who took the number before it looked does not sleep over what rang meanwhile."""
    bell = Notifier()
    before = bell.rings
    bell.ring()
    with anyio.fail_after(5):
        await bell.wait(before)

    with anyio.move_on_after(0.05) as scope:
        await bell.wait(bell.rings)
    assert scope.cancelled_caught
