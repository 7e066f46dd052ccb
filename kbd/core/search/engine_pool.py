"""Pool of open search engines, one per workbench, and their embedding in the background."""

from collections.abc import Callable, Hashable

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from kbd.core.runtime.diagnostics import get_logger
from kbd.core.search.engine import WorkspaceEngine
from kbd.errors import KbdError

__all__ = ["EnginePool", "PooledEngine"]

VECTOR_BATCH = 64
"""Vectors per batch: between two of them, calls get their turn at the index."""

_log = get_logger(__name__)


class PooledEngine:
    """An engine of the pool: opened when first needed, used by one call after the other.

    Args:
        build: Opens it; called in a thread.

    Attributes:
        lock: Held by a call while it brings the index up to date and asks it.
        problem: Why no vectors could be made when that was last tried; "" if they could.
        embedder: Whose vectors the engine counted last; "" for nobody's.
    """

    def __init__(self, build: Callable[[], WorkspaceEngine]) -> None:
        self._build = build
        self._engine: WorkspaceEngine | None = None
        self._filling: anyio.CancelScope | None = None
        self._filled = anyio.Event()
        self.lock = anyio.Lock()
        self.problem = self.embedder = ""

    @property
    def is_filling(self) -> bool:
        """Whether vectors are being computed in the background."""
        return self._filling is not None

    async def engine(self) -> WorkspaceEngine:
        """Return the engine; raises KbdError if it cannot be opened."""
        if self._engine is None:
            self._engine = await run_sync(self._build)
        return self._engine

    async def fill(self) -> None:
        """Make the missing vectors, unless that is under way.

        A failure is kept as `problem`; the next call tries again.
        """
        # Asked here as well: two tasks may have been started before either began.
        if self._filling is not None or self._engine is None:
            return
        engine, self._filled = self._engine, anyio.Event()
        try:
            with anyio.CancelScope() as self._filling:
                while await run_sync(engine.embed_some, VECTOR_BATCH, abandon_on_cancel=True):
                    self.problem = ""
                self.problem = ""
        except KbdError as error:
            self.problem = error.message
            _log.info("vectors_not_made", code=error.code, reason=error.message)
        finally:
            self._filling = None
            self._filled.set()

    async def aclose(self) -> None:
        """Close the engine; the next call opens it anew."""
        with anyio.CancelScope(shield=True):
            if self._filling is not None:
                self._filling.cancel()
                await self._filled.wait()
            engine, self._engine = self._engine, None
            if engine is not None:
                await run_sync(engine.close)


class EnginePool:
    """Pool of the engines of all workbenches.

    Args:
        tasks: Where vectors are made in the background.
    """

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._engines: dict[Hashable, PooledEngine] = {}

    def of(self, key: Hashable, build: Callable[[], WorkspaceEngine]) -> PooledEngine:
        """Return the pooled engine of a workbench, created if there is none yet."""
        if key not in self._engines:
            self._engines[key] = PooledEngine(build)
        return self._engines[key]

    def fill(self, pooled: PooledEngine) -> None:
        """Start making an engine's missing vectors in the background; return at once."""
        if not pooled.is_filling:
            self._tasks.start_soon(pooled.fill)

    async def close(self, key: Hashable) -> None:
        """Close a workbench's engine, if it has one."""
        pooled = self._engines.pop(key, None)
        if pooled is not None:
            await pooled.aclose()
