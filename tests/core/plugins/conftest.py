"""A plugin that misbehaves, and workers that run it."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings, WorkerLimits

PACKAGES = Path(__file__).with_name("packages")


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """The plugin kbd_faults, loaded as an installed one would be."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])
    settings = Settings(plugins={"faults": {"motto": "slow and steady"}})
    return Plugins.discover(settings, found=[EntryPoint("faults", "kbd_faults", source="kbd")])


@pytest.fixture
async def loose_workers(faulty: Plugins, anyio_backend: str) -> AsyncIterator[WorkerPool]:
    """Workers without a layer of the operating system: their calls do what a call must not do."""
    settings = Settings(workers=WorkerLimits(sandbox="off"))
    async with WorkerPool(faulty, settings, extra_paths=[PACKAGES]) as running:
        yield running


@pytest.fixture
async def workers(faulty: Plugins, anyio_backend: str) -> AsyncIterator[WorkerPool]:
    """Workers that can import it."""
    async with WorkerPool(faulty, Settings(), extra_paths=[PACKAGES]) as running:
        yield running
