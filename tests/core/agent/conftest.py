"""A fixture for the tests of runs: a real workbench, opened and closed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_rig import LIMITS, Opened, Play, Rig
from kbd.core.settings import RunLimits
from kbd.events.base import Recorded


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Opens rigs, each on its script and folder, and closes them again."""

    @asynccontextmanager
    async def open_rig(
        play: Play,
        *,
        limits: RunLimits = LIMITS,
        window: int = 128_000,
        folder: Path = tmp_path / "bench",
        events: Sequence[Recorded] = (),
    ) -> AsyncIterator[Rig]:
        rig = Rig(folder, play, limits, window)
        if events:
            await rig.keeper.journal.append(events)
        await rig.keeper.load()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.keeper.run)
            yield rig
            tasks.cancel_scope.cancel()
        await rig.keeper.journal.aclose()

    return open_rig
