"""Queue of rules' commands: one run for each outcome, in order, at least once, across restarts."""

import anyio
from anyio import CapacityLimiter

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import RecordCommandEnd
from kbd.core.domain.watch_state import Ended, Watch
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.store.keeper import Keeper
from kbd.core.watch.job import CommandRunner
from kbd.core.watch.retry import must_stop, submit_with_retry
from kbd.events.watches import WatchCommandEnded
from kbd.types import WatchId

__all__ = ["MAX_CONCURRENT_COMMANDS", "OutcomeCommands"]

MAX_CONCURRENT_COMMANDS = 8
"""How many commands run at once, each of another watch: they take little but somebody's minute."""

_log = get_logger(__name__)


class OutcomeCommands:
    """Runs the rule's command for each outcome that is due, of a removed watch, too.

    Args:
        keeper: The Keeper of the daemon's own log.
        notify: Runs a command.

    Attributes:
        bell: Rung when an outcome may be due.
    """

    def __init__(self, keeper: Keeper[DaemonState, DaemonCommand], notify: CommandRunner) -> None:
        self.bell = Notifier()
        self._keeper, self._notify = keeper, notify

    async def run(self) -> None:
        """Run what is due, for ever."""
        busy: set[WatchId] = set()
        limiter = CapacityLimiter(MAX_CONCURRENT_COMMANDS)

        async def catch_up(watch_id: WatchId) -> None:
            try:
                while (due := self._due(watch_id)) is not None:
                    async with limiter:
                        ended = await self._ended(*due)
                    # Recorded after the run: a crash in between runs it again, hence at least once.
                    await submit_with_retry(self._keeper, RecordCommandEnd(ended))
            finally:
                busy.discard(watch_id)

        async with anyio.create_task_group() as tasks:
            while True:
                # Read before looking: what is due meanwhile rings, and the wait returns at once.
                rings = self.bell.rings
                for watch in self._watches():
                    if watch.due and watch.watch_id not in busy:
                        busy.add(watch.watch_id)
                        tasks.start_soon(catch_up, watch.watch_id)
                await self.bell.wait(rings)

    def _watches(self) -> tuple[Watch, ...]:
        return tuple(self._keeper.state.watching.watches.values())

    def _due(self, watch_id: WatchId) -> tuple[Watch, Ended] | None:
        watch = self._keeper.state.watching.watches.get(watch_id)
        return (watch, watch.due[0]) if watch is not None and watch.due else None

    async def _ended(self, watch: Watch, ended: Ended) -> WatchCommandEnded:
        """Run the command for an outcome; one that cannot be run is noted, too."""
        try:
            exit_code, message = await self._notify(watch.watch_id, watch.rule, ended)
        except Exception as fault:
            if must_stop(fault):
                raise
            _log.error("watch_command_failed_inside", watch=watch.watch_id, exc_info=fault)
            exit_code, message = None, f"kbd failed inside ({type(fault).__name__})"
        return WatchCommandEnded(watch.watch_id, ended.landings, exit_code, message)
