"""Worker calls wait for a slot: by number, by memory, first come first served."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskStatus

from kbd.core.plugins.call_slots import CallSlots, find_memory

pytestmark = pytest.mark.anyio

GIB = 1 << 30


async def run_calls(slots: CallSlots, needs: list[int]) -> tuple[list[int], int]:
    """Run calls that ask in this order; return the order of their slots, and the most at once."""
    order: list[int] = []
    under_way = most = 0

    async def call(index: int, need: int, *, task_status: TaskStatus[None]) -> None:
        nonlocal under_way, most
        # It asks for its slot before anybody else gets a turn.
        task_status.started()
        async with slots.hold(need):
            order.append(index)
            under_way += 1
            most = max(most, under_way)
            await anyio.sleep(0.05)
            under_way -= 1

    async with anyio.create_task_group() as tasks:
        for index, need in enumerate(needs):
            await tasks.start(call, index, need)
    return order, most


async def test_as_many_calls_as_there_are_slots() -> None:
    """One more waits."""
    order, most = await run_calls(CallSlots(2, 100 * GIB), [GIB] * 5)

    # Of two that get theirs in one moment, either goes on first.
    assert (sorted(order), most) == ([0, 1, 2, 3, 4], 2)


async def test_as_many_calls_as_memory_allows() -> None:
    """Calls that together may use more than there is do not run together."""
    _, most = await run_calls(CallSlots(8, 3 * GIB), [GIB, 2 * GIB, 2 * GIB, GIB])

    assert most == 2


async def test_who_needs_much_is_not_overtaken() -> None:
    """It would wait for ever behind many that need little."""
    order, _ = await run_calls(CallSlots(8, 3 * GIB), [2 * GIB, 3 * GIB, GIB, GIB])

    assert order[:2] == [0, 1]


@pytest.mark.parametrize("free", [GIB, 0])
async def test_who_needs_more_than_there_is_runs_alone(free: int) -> None:
    """It is not refused: what a call may use is a limit, not what it does use."""
    order, most = await run_calls(CallSlots(8, free), [3 * GIB, 3 * GIB])

    assert (order, most) == ([0, 1], 1)


async def test_who_is_canceled_gives_its_place_away() -> None:
    """Also one that waits before another which has room."""
    slots = CallSlots(8, 3 * GIB)
    async with slots.hold(2 * GIB):
        with anyio.move_on_after(0.01):
            async with slots.hold(3 * GIB):
                pass
        with anyio.fail_after(5):
            async with slots.hold(GIB):
                pass
    with anyio.fail_after(5):
        async with slots.hold(3 * GIB):
            pass


def test_the_machines_memory_is_found() -> None:
    """It is a part of what is free, and not nothing."""
    assert 1 << 20 < find_memory() < 1 << 61


@pytest.mark.parametrize(
    ("groups", "limits"),
    [
        ("0::/system.slice/kbd.service", {"system.slice/kbd.service/memory.max": GIB}),
        ("0::/user.slice/shell", {"user.slice/memory.max": GIB, "user.slice/shell/memory.max": 0}),
        ("5:cpu:/\n4:cpuset,memory:/box", {"memory/box/memory.limit_in_bytes": GIB}),
        # In a container, whose own group is the root of what it sees.
        ("4:memory:/docker/ab", {"memory/memory.limit_in_bytes": GIB}),
        # What others in the group have taken is not left; what files take of it is.
        ("0::/a", {"a/memory.max": 4 * GIB, "a/memory.current": 3 * GIB}),
        (
            "0::/a",
            {
                "a/memory.max": 2 * GIB,
                "a/memory.current": 3 * GIB // 2,
                "a/memory.stat": f"anon {GIB}\ninactive_file {GIB // 2}",
            },
        ),
        (
            "4:memory:/",
            {
                "memory/memory.limit_in_bytes": 2 * GIB,
                "memory/memory.usage_in_bytes": 2 * GIB,
                "memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {GIB}",
            },
        ),
    ],
)
def test_the_memory_of_a_service_is_what_its_group_has_left(
    tmp_path: Path, groups: str, limits: dict[str, int | str]
) -> None:
    """A service or a container that takes more is killed, the daemon with it."""
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text(f"MemAvailable: {16 * GIB // 1024} kB\n")
    (tmp_path / "proc" / "self" / "cgroup").write_text(f"{groups}\n")
    for name, limit in limits.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(f"{limit or 'max'}\n")

    assert find_memory(tmp_path / "proc", tmp_path / "groups") == GIB * 3 // 4
