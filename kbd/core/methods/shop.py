"""What methods reach: the daemon's parts, its open workbenches, its runs."""

import msgspec

from kbd.core.bench import Bench
from kbd.core.state import WorkbenchState
from kbd.core.supervisor import Benches, Parts, Runs
from kbd.errors import ProviderNotConfigured

__all__ = ["Shop"]


class Shop(msgspec.Struct, frozen=True):
    """The parts, the workbenches and the runs, in one hand."""

    parts: Parts
    benches: Benches
    runs: Runs

    def default_model(self) -> str:
        """Return the model that is used where none is chosen.

        Raises:
            ProviderNotConfigured: A provider has a key, but no model is named.
        """
        return self.parts.egress.default_model(self.benches.daemon.state.model_id)

    def model_of(self, state: WorkbenchState) -> str:
        """Return the model of a workbench's runs.

        Raises:
            ProviderNotConfigured: A provider has a key, but no model is named.
        """
        return state.model_id or self.default_model()

    def model_shown(self, chosen: str | None = None) -> str:
        """Return a chosen model, or the default one, or "" where none is named yet."""
        try:
            return chosen or self.default_model()
        except ProviderNotConfigured:
            return ""

    async def bench(self, workbench_id: str) -> Bench:
        """Return an open workbench.

        Raises:
            NotFound: There is none.
        """
        return await self.benches.open(workbench_id)
