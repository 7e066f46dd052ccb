"""Daily budget of model calls over all runs: reserved before each call and charged after.

The daemon's log holds it, so that a restart, or a crash between the two, forgets nothing: what was
reserved for a turn that never came back counts as spent until the day ends. A provider that talks
to nobody and asks no money uses none, and nothing is recorded for it.
"""

import anyio

from kbd.core.domain.daemon_decisions import ChargeBudget, DaemonCommand, ReserveBudget
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.plugins.catalog import Catalog
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.settings import RunLimits
from kbd.core.store.keeper import Keeper
from kbd.errors import NotFound
from kbd.events.codec import utc_day
from kbd.types import WorkbenchId

__all__ = ["DailyBudget"]


class DailyBudget:
    """Budget of the turns of all runs, by day in UTC.

    Args:
        daemon: The daemon's log.
        catalog: The providers and embedders; only those that talk to somebody use the day's money.
        limits: The caps of a day.
        clock: Says which day it is.
    """

    def __init__(
        self,
        daemon: Keeper[DaemonState, DaemonCommand],
        catalog: Catalog,
        limits: RunLimits,
        clock: Clock,
    ) -> None:
        self._daemon, self._catalog, self._limits, self._clock = daemon, catalog, limits, clock

    def is_metered(self, model_id: str) -> bool:
        """Return whether calls of a model, or of an embedder, go to an endpoint."""
        name = self._catalog.wrapped_model(model_id).partition(":")[0]
        for find in (self._catalog.provider, self._catalog.embedder):
            try:
                if find(name).item.status().endpoint:
                    return True
            except NotFound:
                continue  # Nobody will be asked.
        return False

    async def reserve(
        self, workbench_id: WorkbenchId, run: int, model_id: str, tokens: int, cost: float
    ) -> str:
        """Set aside what a turn may use at most; return the name to charge it by, "" for none.

        It is recorded when this returns. A caller that is canceled meanwhile still gets the name,
        and owes a `charge`.

        Args:
            workbench_id: Whose run.
            run: Its number there.
            model_id: The model.
            tokens: Input and reply together.
            cost: The same in US dollars.

        Raises:
            BudgetCapReached: The day's cap would be passed; the message names the setting and when
                the day ends.
            KbdError: It could not be recorded.
        """
        if not cost and not self.is_metered(model_id):
            return ""
        limits, name = self._limits, self._clock.new_id()
        command = ReserveBudget(
            reservation=name,
            day=utc_day(self._clock.now_us()),
            workbench_id=workbench_id,
            run=run,
            model_id=model_id,
            tokens=tokens,
            cost=cost,
            day_tokens=limits.day_tokens,
            day_cost=limits.day_cost,
        )
        # A reservation whose name got lost would count as spent until the day ends.
        with anyio.CancelScope(shield=True):
            await self._daemon.submit(command)
        return name

    async def charge(self, reservation: str, tokens: int, cost: float) -> None:
        """Put what a turn did use in the place of what was reserved; nothing for the name "".

        It is recorded when this returns, even if the caller is canceled meanwhile.

        Args:
            reservation: What `reserve` returned.
            tokens: Input and reply together; 0 for a turn that was refused.
            cost: The same in US dollars.

        Raises:
            KbdError: It could not be recorded.
        """
        if reservation:
            with anyio.CancelScope(shield=True):
                await self._daemon.submit(ChargeBudget(reservation, tokens, cost))
