"""What all clients share is taken in turn, however much one of them asks for."""

import anyio
import pytest

from kbd.core.runtime.fairness import FairLimiter, read_in_turn, serve_for

pytestmark = pytest.mark.anyio


async def test_clients_take_turns_whoever_asks_most() -> None:
    """With one place, who asks for one thing comes after one of the other's twenty."""
    limiter, served = FairLimiter(1), list[int]()

    async def work(client: int) -> None:
        serve_for(client)
        async with limiter.place():
            served.append(client)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks, limiter.place():
        for _ in range(20):
            tasks.start_soon(work, 1)
        await anyio.wait_all_tasks_blocked()
        for client in (2, 3):
            tasks.start_soon(work, client)
        await anyio.wait_all_tasks_blocked()
    assert sorted(served[:3]) == [1, 2, 3]
    assert len(served) == 22
    assert limiter.free == 1


async def test_one_place_is_kept_from_who_has_all_others() -> None:
    """Of four places one client has three at most, and nobody waits for it to end."""
    limiter, inside = FairLimiter(4), list[int]()

    async def hold(client: int) -> None:
        serve_for(client)
        async with limiter.place():
            inside.append(client)
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(hold, 1)
        await anyio.wait_all_tasks_blocked()
        assert inside == [1, 1, 1]
        tasks.start_soon(hold, 2)
        await anyio.wait_all_tasks_blocked()
        assert inside == [1, 1, 1, 2]
        tasks.cancel_scope.cancel()
    assert limiter.free == 4


async def test_who_is_canceled_leaves_no_place_behind() -> None:
    """Canceled while it waits, and in the moment in which it is given a place."""
    limiter = FairLimiter(1)

    async def wait() -> None:
        async with limiter.place():
            pass

    for gives_place in (False, True):
        async with anyio.create_task_group() as waiting:
            holder = limiter.place()
            await holder.__aenter__()
            waiting.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            if gives_place:
                await holder.__aexit__(None, None, None)
            waiting.cancel_scope.cancel()
            if not gives_place:
                with anyio.CancelScope(shield=True):
                    await holder.__aexit__(None, None, None)
        assert limiter.free == 1


async def test_threads_read_for_clients_in_turn() -> None:
    """What a thread reads comes back, and what it raises."""
    assert await read_in_turn(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await read_in_turn(divmod, 7, 0)
