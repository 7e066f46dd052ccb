"""An open workbench, and whether anybody uses it.

Each landed file has a workbench of its own, and a list of all opens them all: too many to keep.
"""

import anyio

from kbd.core.workbench.event_rows import EventWire
from kbd.core.workbench.workbench import Bench
from kbd.types import WorkbenchId

__all__ = ["IDLE_S", "LOOK_S", "Opened"]

IDLE_S = 60.0
"""So long a workbench must not have been used before it is closed. Whoever was handed it at a
request is done by then, or known to be at it: `Benches.held`."""

LOOK_S = 10.0
"""How often is looked for idle ones while more are open than may be."""


class Opened:
    """One open workbench with what serves it.

    Args:
        bench: The workbench.
        log_id: Its id.
        now_s: The time, on the monotonic clock.

    Attributes:
        wire: Its events as clients see them.
        scope: Cancelled to close it.
        closed: Set when it is closed.
        asked_s: When it was last asked for.
        used_s: The same, or when it last recorded anything.
    """

    def __init__(self, bench: Bench, log_id: WorkbenchId, now_s: float) -> None:
        self.bench = bench
        self.wire = EventWire(log_id, bench.keeper.journal)
        self.scope = anyio.CancelScope()
        self.closed = anyio.Event()
        self.asked_s = self.used_s = now_s

    def is_idle(self, now_s: float) -> bool:
        """Return whether nobody has used it for a while, and nothing is under way in it."""
        bench, state = self.bench, self.bench.state
        is_busy = (
            state.active_run() is not None
            or state.publish is not None
            or bool(state.effects)
            or bench.publishing.locked()
            or bench.editing.locked()
            or self.wire.is_followed
            or not bench.keeper.is_idle
        )
        return now_s - self.used_s >= IDLE_S and not is_busy
