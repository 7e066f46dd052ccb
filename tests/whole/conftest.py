"""Whole jobs through the real daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from real_daemon import RealDaemon


@pytest.fixture
def daemon(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon that runs, on each backend."""
    running = RealDaemon(short_dir / "home", anyio_backend)
    running.start()
    yield running
    running.stop()
