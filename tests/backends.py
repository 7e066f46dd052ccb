"""For tests whose promise does not hang on the event loop: `make test` runs each on one backend.

Where several tests of a file show one thing, they share the backends among them, so that both are
still proven by `make test`.
"""

from typing import Any

import pytest

__all__ = ["mostly", "on_asyncio", "on_trio"]

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
on_trio = pytest.mark.parametrize("anyio_backend", ["trio"])


def mostly(backend: str) -> list[Any]:
    """Return the params of a fixture: one backend in the first tier, both in the second."""
    (other,) = {"asyncio", "trio"} - {backend}
    return [backend, pytest.param(other, marks=pytest.mark.full)]
