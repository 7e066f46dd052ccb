"""Restarts of tasks that should never end: a failure is logged, and tried again after a pause.

It holds for failures of the system, of a folder and of kbd's own code. Only a disk that does not
keep what it is given ends the daemon (reliability, R11).
"""

from collections.abc import Awaitable, Callable, Iterator

import anyio

from kbd.core.runtime.diagnostics import get_logger
from kbd.events.disk import LogPoisoned

__all__ = ["FIRST_PAUSE_S", "MAX_PAUSE_S", "must_stop", "pauses", "restart_on_failure"]

FIRST_PAUSE_S = 1.0
"""The pause after a first failure; each further one is twice as long."""

MAX_PAUSE_S = 60.0
"""The longest pause: as long as between two scans of a folder."""

_log = get_logger(__name__)


def must_stop(fault: BaseException) -> bool:
    """Return whether the daemon must stop after a failure."""
    if isinstance(fault, BaseExceptionGroup):
        return any(must_stop(each) for each in fault.exceptions)
    # After a failed sync nothing may be acknowledged: the next start reads the disk anew (R11).
    return isinstance(fault, LogPoisoned)


async def restart_on_failure(what: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run a task that should never end, and restart it, after a pause, whenever it fails.

    Args:
        what: Names it in the log.
        work: It begins anew each time it is called; it may return when there is no more to do.

    Raises:
        LogPoisoned: The disk failed (perhaps in a group).
    """
    waits = pauses()
    while True:
        began_s = anyio.current_time()
        try:
            return await work()
        except Exception as fault:
            if must_stop(fault):
                raise
            _log.error("task_failed_inside", part=what, exc_info=fault)
        except BaseExceptionGroup as mixed:
            # Of several tasks some failed and others were canceled: that is a stop all the same.
            canceled = mixed.subgroup(anyio.get_cancelled_exc_class())
            if canceled is None or must_stop(mixed):
                raise
            _log.error("task_failed_inside", part=what, exc_info=mixed)
            raise canceled from None
        # It had worked for a while: this is a new failure, and not one more of the last.
        if anyio.current_time() - began_s > MAX_PAUSE_S:
            waits = pauses()
        await anyio.sleep(next(waits))


def pauses() -> Iterator[float]:
    """Yield the pauses between tries, in seconds, for ever."""
    pause_s = FIRST_PAUSE_S
    while True:
        yield pause_s
        pause_s = min(2 * pause_s, MAX_PAUSE_S)
