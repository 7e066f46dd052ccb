"""Text deltas of an answer: at once as a model writes, and never more than clients can take."""

import pytest

from kbd.core.agent.deltas import (
    BURST_CHARACTERS,
    CHARACTERS_PER_S,
    MAX_TEXT_CHARS,
    NOTICE_CHARACTERS,
    PART_CHARACTERS,
    TextDeltas,
)
from kbd.core.runtime.clock import Clock

pytestmark = pytest.mark.anyio


class SteppedClock(Clock):
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def now_us(self) -> int:
        """Return the time."""
        return int(self.now_s * 1e6)

    def monotonic_s(self) -> float:
        """Return the time."""
        return self.now_s

    def new_id(self) -> str:
        """Return one identifier."""
        return "0" * 16


async def test_what_a_model_writes_is_announced_as_it_comes() -> None:
    """Three hundred tokens a second: each is a notice of its own, when it comes."""
    heard: list[str] = []
    clock = SteppedClock()
    deltas = TextDeltas(heard.append, clock)
    for number in range(1, 2001):
        clock.now_s += 1 / 300
        deltas.append("word ")
        assert len(heard) == number


async def test_a_flood_is_announced_together() -> None:
    """A hundred thousand pieces in no time are a few notices, and nothing of the text is lost."""
    heard: list[str] = []
    deltas = TextDeltas(heard.append, SteppedClock())
    for number in range(100_000):
        deltas.append(str(number % 10))
    at_once = len(heard)
    await deltas.finish()

    assert at_once <= BURST_CHARACTERS / NOTICE_CHARACTERS
    assert len(heard) <= at_once + 100_000 / PART_CHARACTERS + 1
    assert "".join(heard) == "0123456789" * 10_000


async def test_no_notice_is_long_and_no_second_holds_many() -> None:
    """Megabytes in one piece leave in parts, as many a second as clients can take."""
    heard: list[str] = []
    clock = SteppedClock()
    deltas = TextDeltas(heard.append, clock)
    deltas.append("a" * 300_000)
    first = sum(map(len, heard))
    clock.now_s = 0.1
    deltas.append("a" * 300_000)

    assert first <= BURST_CHARACTERS
    assert sum(map(len, heard)) <= first + CHARACTERS_PER_S / 10 + PART_CHARACTERS
    assert max(map(len, heard)) == PART_CHARACTERS


async def test_more_than_is_recorded_is_not_announced() -> None:
    """What a text has beyond its longest record is not kept for clients either."""
    heard: list[str] = []
    clock = SteppedClock()
    deltas = TextDeltas(heard.append, clock)
    for _ in range(300):
        clock.now_s += 1
        deltas.append("a" * 10_000)

    assert sum(map(len, heard)) == MAX_TEXT_CHARS
