"""Retry policy of the watcher: records what the log cannot take now as soon as it can."""

import anyio

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.restarts import pauses
from kbd.core.store.keeper import Keeper, Outcome
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.disk import LogPoisoned

__all__ = ["submit_with_retry"]

_log = get_logger(__name__)


async def submit_with_retry(
    keeper: Keeper[DaemonState, DaemonCommand], command: DaemonCommand
) -> Outcome | None:
    """Record a command in the daemon's log, retrying for as long as the log cannot take it.

    Nothing is lost on a full disk: what waits here is recorded when there is space again.

    Returns:
        What it led to; None if it was refused.

    Raises:
        LogPoisoned: The disk failed.
    """
    waits = pauses()
    while True:
        try:
            return await keeper.submit(command)
        except LogPoisoned:
            raise
        except (NotFound, ValidationFailed) as refused:
            _log.warning("watch_command_refused", reason=refused.message)
            return None
        except KbdError as error:
            _log.error("watch_not_recorded", error=error.message)
        await anyio.sleep(next(waits))
