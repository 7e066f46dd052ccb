"""Time to scale, with long idle stretches cut short.

A run that waited overnight for its daemon would else be a hairline at each end of the page.
"""

from collections.abc import Iterable

import msgspec

__all__ = ["Idle", "Scale", "Tick", "scale_of"]

IDLE_MS = 30_000.0
"""A stretch without any step that is longer than this, and than a quarter of the rest, is cut."""

CUT_SHARE = 0.03
"""How much of the width a cut takes."""

TICKS = 8
"""At most so many times are written below the axis."""

_NICE_MS = (
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000,
    300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
)  # fmt: skip


class Idle(msgspec.Struct, frozen=True):
    """A stretch of time in which nothing happened, in milliseconds since 1970."""

    start_ms: float
    end_ms: float


class Tick(msgspec.Struct, frozen=True):
    """A time that is written below the axis.

    Args:
        at_ms: Which, in milliseconds since 1970.
        since_ms: How long that is behind the start, or behind the cut before it.
        is_behind_cut: Whether there is one.
    """

    at_ms: float
    since_ms: float
    is_behind_cut: bool


class Scale(msgspec.Struct, frozen=True):
    """Where a time stands on a line from 0 to 1.

    Args:
        start_ms: The first time, in milliseconds since 1970.
        end_ms: The last one, later than the first.
        idle: What is cut, in order.
        cut_ms: How long each cut is on the line.
    """

    start_ms: float
    end_ms: float
    idle: tuple[Idle, ...] = ()
    cut_ms: float = 0.0

    def at(self, ms: float) -> float:
        """Return the place of a time."""
        return self._drawn_ms(ms) / self._drawn_ms(self.end_ms)

    def ticks(self) -> list[Tick]:
        """Return times to write below the axis, round ones behind the start and behind each cut."""
        drawn_ms = self._drawn_ms(self.end_ms)
        step = next((nice for nice in _NICE_MS if drawn_ms / nice <= TICKS), drawn_ms / TICKS)
        ticks = [Tick(self.start_ms, 0.0, is_behind_cut=False)]
        starts = [self.start_ms, *(gap.end_ms for gap in self.idle)]
        ends = [*(gap.start_ms for gap in self.idle), self.end_ms]
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            count = int((end - start) // step)
            # The last one before a cut would stand where the cut's own length is written.
            until = count if place == len(self.idle) else int((end - start - step / 2) // step)
            ticks.extend(Tick(start + n * step, n * step, place > 0) for n in range(1, until + 1))
        return ticks

    def _drawn_ms(self, ms: float) -> float:
        """Return how far behind the start a time is drawn."""
        drawn = min(max(ms, self.start_ms), self.end_ms) - self.start_ms
        for gap in self.idle:
            length = gap.end_ms - gap.start_ms
            inside = min(max(ms - gap.start_ms, 0.0), length)
            drawn -= inside * (1 - self.cut_ms / length)
        return drawn


def scale_of(spans: Iterable[tuple[float, float]]) -> Scale:
    """Return the scale of all that happened, given as beginnings and ends in milliseconds."""
    ordered = sorted(spans)
    if not ordered:
        return Scale(0.0, 1.0)
    start = reached = ordered[0][0]
    gaps = []
    for begin, end in ordered:
        if begin - reached > IDLE_MS:
            gaps.append(Idle(reached, begin))
        reached = max(reached, end)
    reached = max(reached, start + 1)
    busy = reached - start - sum(gap.end_ms - gap.start_ms for gap in gaps)
    cut = tuple(gap for gap in gaps if gap.end_ms - gap.start_ms > busy / 4)
    rest = reached - start - sum(gap.end_ms - gap.start_ms for gap in cut)
    return Scale(start, reached, cut, max(rest, 1.0) * CUT_SHARE)
