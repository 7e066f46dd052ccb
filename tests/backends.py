"""For tests whose promise does not hang on the event loop, which therefore need not be run on both.

`make test` runs such a test on one backend. Where several tests of a file show one thing, they
share the backends among them, so that both are still proven by `make test`. Long walks and tables
of many cases they share in `make test-full`, too: each point and each case is tried on one of them.
`make soak` has all on both.
"""

from typing import Any, NamedTuple

import pytest

__all__ = [
    "BACKENDS", "WHOLE", "Stride", "halved", "mostly", "on_asyncio", "on_trio", "share_of",
]  # fmt: skip

BACKENDS = ("asyncio", "trio")

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
on_trio = pytest.mark.parametrize("anyio_backend", ["trio"])

halved = pytest.mark.halved
"""Each case of a test is tried on one of the backends: about half on each."""


def mostly(backend: str) -> list[Any]:
    """Return the params of a fixture: one backend in the first tier, both in the second."""
    (other,) = {*BACKENDS} - {backend}
    return [backend, pytest.param(other, marks=pytest.mark.full)]


class Stride(NamedTuple):
    """The points of a walk that a test takes: each `step`th from `start` on."""

    start: int
    step: int

    def wider(self, step: int, start: int = 0) -> "Stride":
        """Return the same share of each `step`th point from `start` on."""
        return Stride(start + self.start * step, self.step * step)


WHOLE = Stride(0, 1)
"""All points."""


def share_of(backend: str) -> Stride:
    """Return the points that a backend walks where both share them: the even or the odd ones."""
    return Stride(BACKENDS.index(backend), len(BACKENDS))
