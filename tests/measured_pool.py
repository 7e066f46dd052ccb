"""Workers that keep the most memory that one of their calls had."""

import msgspec

from kbd.core.plugins.host import Plugin
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.plugins.worker_process import Bounds, FinishedCall
from kbd.tools import CallLimits

__all__ = ["MeasuredPool"]


class MeasuredPool(WorkerPool):
    """A pool that keeps the most memory that one of its calls had, in bytes."""

    peak_bytes = 0

    async def _finished(
        self, plugin: Plugin, request: bytes, limits: CallLimits, bounds: Bounds
    ) -> FinishedCall:
        finished = await super()._finished(plugin, request, limits, bounds)
        if finished.ending is not None:
            peak_bytes = await finished.ending()
            finished = msgspec.structs.replace(finished, ending=None, peak_bytes=peak_bytes)
        self.peak_bytes = max(self.peak_bytes, finished.peak_bytes)
        return finished
