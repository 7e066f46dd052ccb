"""The machine's clock, and fresh identifiers."""

from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import checked_id


def test_time_and_names() -> None:
    """Microseconds since 1970, seconds that do not go back, ids that paths accept."""
    clock = SystemClock()
    before = clock.monotonic_s()

    assert clock.now_us() > 1_700_000_000_000_000
    assert clock.monotonic_s() >= before
    assert len({checked_id(clock.new_id()) for _ in range(100)}) == 100
