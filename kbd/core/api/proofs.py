"""Method that proves a run: its calls are repeated, in a process of their own."""

from pathlib import Path

import msgspec

from kbd.core.audit.proof_process import Proofs
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import NotFound, ValidationFailed
from kbd.requests import replays as wire
from kbd.requests.base import Request

__all__ = ["ProofMethods"]


class ProofMethods:
    """Handler of replay proofs."""

    def __init__(self, context: ApiContext, benches: Workbenches) -> None:
        self._benches = benches
        given = {plugin.name: dict(plugin.settings) for plugin in context.plugins.loaded()}
        self._proofs = Proofs(msgspec.structs.replace(context.settings, plugins=given))

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.ReplayRun: self.replay}

    async def replay(self, request: wire.ReplayRun, session: Session) -> wire.RunReplayed:
        """Repeat every call of a run and compare the results.

        Raises:
            NotFound: There is no such run.
            ValidationFailed: `with_plugin` is no full path, or no plugin's package.
            ToolWorkerUnavailable: The process died.
            KbdError: The log is damaged before the run's end, or there is no room.
        """
        del session
        with_plugin = None
        if not isinstance(request.with_plugin, msgspec.UnsetType):
            with_plugin = request.with_plugin
            if not Path(with_plugin).is_absolute():
                msg = "with_plugin must be an absolute path: the daemon has no current folder"
                raise ValidationFailed(msg)
        workbench_id, _, number = request.run_id.partition("-")
        bench = await self._benches.open(workbench_id)
        if int(number) > len(bench.state.runs):
            msg = f"there is no run {request.run_id}"
            raise NotFound(msg)
        with self._benches.held(bench.id):
            found = await self._proofs.prove(
                bench.folders, int(number), bench.keeper.journal.seq, with_plugin
            )
        if self._benches.opened(bench.id) is not bench:
            msg = "the workbench was deleted while its run was proved"
            raise NotFound(msg)
        return found
