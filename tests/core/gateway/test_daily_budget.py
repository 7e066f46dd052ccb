"""The day's money: reserved before a turn, charged after it, over all runs and restarts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from agent_rig import NoSync
from backends import on_asyncio
from kbd.core.domain.daemon_decisions import ChargeBudget, ReserveBudget, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, Spent
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.errors import BudgetCapReached
from kbd.events.base import Recorded
from kbd.events.workbenches import BudgetCharged, BudgetReserved
from kbd.types import Seq, WorkbenchId
from purses import purse_in

BENCH = WorkbenchId("00000000000000a1")
DAY_US = 24 * 3600 * 1_000_000


class Calendar:
    """A clock whose day the test turns."""

    def __init__(self) -> None:
        self.day = 0
        self.made = 0

    def now_us(self) -> int:
        """Noon of a day of 1970."""
        return self.day * DAY_US + DAY_US // 2

    def monotonic_s(self) -> float:
        """Not asked for."""
        return 0.0

    def new_id(self) -> str:
        """A count."""
        self.made += 1
        return f"r{self.made}"


class Opened:
    """A purse with its log."""

    def __init__(self, purse: DailyBudget, state: DaemonState, records: list[Recorded]) -> None:
        self.daily_budget, self.state, self.records = purse, state, records


@asynccontextmanager
async def opened(folder: Path, clock: Calendar, **limits: float) -> AsyncIterator[Opened]:
    """Open a purse on a folder; every model of the provider `x` costs money."""
    catalog = Catalog(Plugins.discover(Settings(), found=[]))
    keeper, purse = purse_in(folder, catalog, RunLimits(**limits), NoSync(), clock)  # type: ignore[arg-type]
    await keeper.load()
    records: list[Recorded] = []
    keeper.observe(lambda _, record: records.append(record))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        yield Opened(purse, keeper.state, records)
        tasks.cancel_scope.cancel()
    await keeper.journal.aclose()


def reserve(tokens: int, cost: float = 0.0, **caps: float) -> ReserveBudget:
    """A command for a day of 2026."""
    return ReserveBudget("r", "2026-12-31", BENCH, 1, "x:m", tokens, cost, **caps)  # type: ignore[arg-type]


def test_what_is_reserved_counts_as_spent() -> None:
    """Turns under way at once cannot pass a cap together; another day's are not counted."""
    state = DaemonState(seq=Seq(1))
    state.spent = {"2026-12-31": Spent(50, 0.5), "2026-12-30": Spent(1000, 10.0)}
    state.reserved = {
        "a": BudgetReserved("a", "2026-12-31", BENCH, 1, "x:m", 30, 0.3),
        "b": BudgetReserved("b", "2026-12-30", BENCH, 1, "x:m", 1000, 10.0),
    }

    assert decide_daemon(state, reserve(20, 0.2, day_tokens=100, day_cost=1.0)).events
    assert decide_daemon(state, reserve(10**9, 10.0**9)).events
    with pytest.raises(BudgetCapReached, match=r"80 tokens.*need 21;.*100.*run\.day_tokens") as cap:
        decide_daemon(state, reserve(21, day_tokens=100))
    assert cap.value.retryable
    assert cap.value.detail == {
        "setting": "run.day_tokens", "day": "2026-12-31", "day_ends_at": "2027-01-01T00:00:00Z",
        "used": 80, "asked": 21, "cap": 100,
    }  # fmt: skip
    with pytest.raises(BudgetCapReached, match=r"\$0\.80.*\$0\.21;.*\$1\.00.*run\.day_cost.*UTC"):
        decide_daemon(state, reserve(1, 0.21, day_cost=1.0))


def test_only_what_is_reserved_is_charged() -> None:
    """A second charge for the same turn changes nothing."""
    state = DaemonState()
    held = BudgetReserved("a", "2026-12-31", BENCH, 1, "x:m", 30, 0.3)
    state.reserved = {"a": held}

    assert decide_daemon(state, ChargeBudget("a", 7, 0.1)).events == (BudgetCharged("a", 7, 0.1),)
    assert decide_daemon(state, ChargeBudget("b", 7, 0.1)).events == ()


@pytest.mark.anyio
async def test_a_day_s_spending_survives_a_restart_and_ends_with_the_day(tmp_path: Path) -> None:
    """What was reserved for a turn that a crash cut off stays spent until the next day begins."""
    clock = Calendar()
    async with opened(tmp_path, clock, day_cost=1.0) as day:
        name = await day.daily_budget.reserve(BENCH, 1, "x:m", 100, 0.9)
        await day.daily_budget.charge(name, 60, 0.4)
        assert await day.daily_budget.reserve(BENCH, 1, "x:m", 100, 0.5)

    async with opened(tmp_path, clock, day_cost=1.0) as day:
        assert day.state.spent == {"1970-01-01": Spent(60, 0.4)}
        with pytest.raises(BudgetCapReached):
            await day.daily_budget.reserve(BENCH, 2, "x:m", 1, 0.2)
        clock.day = 1
        assert await day.daily_budget.reserve(BENCH, 2, "x:m", 1, 1.0)


@pytest.mark.anyio
@on_asyncio
async def test_what_costs_nothing_is_not_recorded(tmp_path: Path) -> None:
    """A provider that talks to nobody and has no price leaves nothing in the daemon's log."""
    async with opened(tmp_path, Calendar(), day_tokens=1) as day:
        free = await day.daily_budget.reserve(BENCH, 1, "offline:planner", 100, 0.0)
        await day.daily_budget.charge(free, 100, 0.0)

        assert (free, day.records) == ("", [])


@pytest.mark.anyio
async def test_a_cancelled_caller_leaves_no_turn_reserved(tmp_path: Path) -> None:
    """Who is cancelled while reserving gets the name all the same, and can charge by it."""
    async with opened(tmp_path, Calendar()) as day:
        with anyio.CancelScope() as scope:
            scope.cancel()
            name = await day.daily_budget.reserve(BENCH, 1, "x:m", 100, 0.9)
            await day.daily_budget.charge(name, 0, 0.0)

        assert day.state.reserved == {}
        assert [type(record.data) for record in day.records] == [BudgetReserved, BudgetCharged]
