"""A run that is gone on with the moment its end is recorded, while its task still writes copies."""

import sys
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from kbd import hookimpl
from kbd.core.domain.commands import SendMessage, StartRun
from kbd.core.domain.run_state import RunStatus
from kbd.core.plugins.hooks import EntryPoint
from kbd.errors import ProviderAuthFailed
from kbd.events.runs import RunFailed
from kbd.providers import Access, Emit, ModelReply, ModelRequest
from kbd.testing.providers import ScriptedProvider
from kbd.types import Seq
from supervised import supervised

pytestmark = pytest.mark.anyio

NAME = "supervisor_test_provider"
ROUNDS = 4


class Refusing(ScriptedProvider):
    """A provider that refuses the key."""

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Refuse."""
        raise ProviderAuthFailed("no")


@pytest.fixture
def refusing() -> EntryPoint:
    """A plugin that brings the provider."""

    @hookimpl
    def kbd_register_providers() -> list[Refusing]:
        return [Refusing(())]

    module = ModuleType(NAME)
    module.__file__ = __file__
    vars(module)["kbd_register_providers"] = kbd_register_providers
    sys.modules[NAME] = module
    return EntryPoint("refusing", NAME)


async def test_the_old_task_does_not_end_what_was_gone_on_with(
    tmp_path: Path, refusing: EntryPoint
) -> None:
    """Each time the run ends as its own attempt does, and never because the one before it did."""
    async with supervised(tmp_path, found=[refusing]) as daemon:
        bench = await daemon.bench(a__txt="x")
        await bench.keeper.submit(SendMessage("u-1", "do it"))
        for _ in range(ROUNDS):
            await bench.keeper.submit(StartRun(None, "scripted:script"))
            while bench.state.run(1).status is RunStatus.RUNNING:
                await anyio.lowlevel.checkpoint()
        events = await bench.keeper.journal.read(Seq(0), 10_000)
    ends = [record.data for _, record in events if isinstance(record.data, RunFailed)]

    assert [end.code for end in ends] == ["PROVIDER_AUTH_FAILED"] * ROUNDS
