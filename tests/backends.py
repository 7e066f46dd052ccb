"""Marks for tests whose promise does not hang on the event loop: each runs on one backend.

Where several tests of a file show one thing, they share the backends among them, so that both are
still proven every day.
"""

import pytest

__all__ = ["on_asyncio", "on_trio"]

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
on_trio = pytest.mark.parametrize("anyio_backend", ["trio"])
