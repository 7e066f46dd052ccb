"""The clock of the event loop: it stands while the process is stopped, and never goes back."""

import time

import anyio
import pytest

from kbd.core.runtime.stopped_time import StoppedTime, loop_options


class _Machine:
    """The seconds of a machine, which a test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_an_hour_of_a_stop_is_a_second_at_most() -> None:
    """What a wait took beyond a second counts for nothing; time in which the loop ran counts."""
    machine = _Machine()
    clock = StoppedTime(machine)
    deadline = clock.current_time() + 30
    machine.now_s += 0.5
    assert clock.deadline_to_sleep_time(deadline) == 1.0
    machine.now_s += 3600
    assert clock.current_time() == 101.5
    assert clock.deadline_to_sleep_time(deadline) == 1.0
    machine.now_s += 1.0
    assert clock.current_time() == 102.5


def test_a_stop_between_two_waits_counts_as_little() -> None:
    """A process is stopped at any moment, and not only while it waits."""
    machine = _Machine()
    clock = StoppedTime(machine)
    before = clock.current_time()
    machine.now_s += 3600
    assert clock.bounded(30.0) == 1.0
    assert clock.current_time() == before


def test_being_busy_counts() -> None:
    """Up to two seconds late is no stop, and who waits for ever was not stopped."""
    machine = _Machine()
    clock = StoppedTime(machine)
    assert clock.bounded(0.25) == 0.25
    machine.now_s += 0.25 + 1.9
    assert clock.current_time() == 102.15
    assert clock.bounded(None) is None
    machine.now_s += 3600
    assert clock.current_time() == 3702.15


@pytest.mark.full
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_loop_goes_by_it(backend: str) -> None:
    """What holds the process up for longer than a deadline does not end what it bounds."""

    async def held_up() -> bool:
        with anyio.move_on_after(1.5) as scope:
            # Blocks on purpose: to the loop that is what a stop is.
            time.sleep(2.2)  # noqa: ASYNC251
            await anyio.sleep(0.01)
        return scope.cancelled_caught

    options = loop_options(backend)
    assert not anyio.run(held_up, backend=backend, backend_options=options)
    assert anyio.run(held_up, backend=backend)
