"""The requests of one client that are not answered yet."""

import anyio

__all__ = ["InFlight"]


class InFlight:
    """Knows what is in flight, so that it can be cancelled, counted and waited for.

    Args:
        limit: How many there may be at a time.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._scopes: dict[object, anyio.CancelScope] = {}
        self._ended: anyio.Event | None = None
        self._is_closed = False

    def __contains__(self, key: object) -> bool:
        return key in self._scopes

    def enter(self, key: object) -> anyio.CancelScope:
        """Note a request; what answers it runs within the scope that is returned."""
        scope = self._scopes[key] = anyio.CancelScope()
        return scope

    def leave(self, key: object) -> None:
        """Forget a request that has ended."""
        self._scopes.pop(key, None)
        self._tell()

    def cancel(self, key: object) -> None:
        """Cancel a request; one that has ended, or another client's, is not found."""
        scope = self._scopes.get(key)
        if scope is not None:
            scope.cancel()

    @property
    def is_full(self) -> bool:
        """Whether another request must wait."""
        return len(self._scopes) >= self._limit and not self._is_closed

    async def next_end(self) -> None:
        """Wait until a request ends, or there is no point in waiting."""
        if self._ended is None:
            self._ended = anyio.Event()
        await self._ended.wait()

    async def all_ended(self) -> None:
        """Wait until nothing is in flight."""
        while self._scopes:
            await self.next_end()

    def close(self) -> None:
        """Let nobody wait for a place any more: no further request will be taken."""
        self._is_closed = True
        self._tell()

    def _tell(self) -> None:
        if self._ended is not None:
            self._ended.set()
            self._ended = None
