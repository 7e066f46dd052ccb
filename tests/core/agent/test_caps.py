"""Runs under caps: they end before a cap is passed, lose nothing, and go on when it is raised."""

import sys
from types import ModuleType
from typing import Any

import pytest

from agent_rig import Opened, two_items
from backends import on_asyncio, on_trio
from kbd import hookimpl
from kbd.core.domain.run_state import RunStatus
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.events.workbenches import BudgetCharged, BudgetReserved
from kbd.messages import Usage
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)
from kbd.types import Seq

pytestmark = pytest.mark.anyio


def costly(request: ModelRequest) -> ModelReply:
    """The model of two items, at 1,000 tokens a turn."""
    reply = two_items(request)
    return ModelReply(reply.text, reply.tool_calls, usage=Usage(900, 100))


@on_trio
async def test_a_day_s_cap_ends_a_run_which_goes_on_when_it_is_raised(opened: Opened) -> None:
    """At $2 a million tokens a turn may cost some two cents and costs two tenths of one."""
    async with opened(costly, limits=RunLimits(day_cost=0.025)) as rig:
        rig.price = 2.0
        run = await rig.go()

        assert (run.status, run.error and run.error.code) == (
            RunStatus.FAILED, "BUDGET_CAP_REACHED",
        )  # fmt: skip
        assert run.error is not None
        assert "run.day_cost" in run.error.message
        assert run.error.retryable
        turns = len(rig.requests)
        assert turns > 1
        spent = next(iter(rig.daemon.state.spent.values()))
        assert spent.tokens == 1000 * turns
        assert spent.cost == pytest.approx(0.002 * turns)
        assert rig.daemon.state.reserved == {}
        assert run.cost == pytest.approx(spent.cost)

    async with opened(costly, limits=RunLimits(day_cost=5.0)) as rig:
        rig.price = 2.0
        run = await rig.go()

        assert (run.status, run.summary) == (RunStatus.FINISHED, "All done.")
        assert rig.content("2.txt") == "item 2.1"
        assert run.cost == pytest.approx(0.002 * (turns + len(rig.requests)))
        kinds = [type(record.data) for _, record in rig.daemon.journal.log.read(Seq(0), 1000)]
        assert kinds == [BudgetReserved, BudgetCharged] * (turns + len(rig.requests))


class Elsewhere(Provider):
    """A provider that talks to somebody, and tells no prices."""

    name = "scripted"
    takes_any_model = True

    def models(self) -> tuple[ModelInfo, ...]:
        """None are known."""
        return ()

    def status(self) -> ProviderStatus:
        """It is at a host."""
        return ProviderStatus(configured=True, leaves_machine=True, endpoint="models.example:443")

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Nobody asks it here."""
        raise NotImplementedError


@on_asyncio
async def test_a_cap_that_cannot_be_kept_is_told(opened: Opened) -> None:
    """Without a price a cap in money stops nothing, and the person should know which to set."""
    limits = RunLimits(cost=1.0, day_cost=9.0)
    async with opened(costly, limits=limits) as rig:
        rig.daily_budget = DailyBudget(rig.daemon, Catalog(_elsewhere()), limits, SystemClock())
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        [notice] = run.notices
        assert notice.code == "PROVIDER_NOT_CONFIGURED"
        assert "run.cost and run.day_cost cannot be kept: set input_price" in notice.message
        assert rig.daemon.state.reserved == {}
        assert sum(day.tokens for day in rig.daemon.state.spent.values()) == 1000 * len(
            rig.requests
        )


def _elsewhere() -> Plugins:
    module = ModuleType("agent_test_provider")

    @hookimpl
    def kbd_register_providers(settings: dict[str, Any]) -> list[Provider]:
        del settings
        return [Elsewhere()]

    module.__file__ = __file__
    vars(module)["kbd_register_providers"] = kbd_register_providers
    sys.modules["agent_test_provider"] = module
    return Plugins.discover(Settings(), found=[EntryPoint("elsewhere", "agent_test_provider")])
