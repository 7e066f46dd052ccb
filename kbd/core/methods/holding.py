"""Requests that wait keep their workbench open, however long they take."""

from collections.abc import Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.workbenches import Benches
from kbd.requests.base import Request

__all__ = ["holding"]


def holding(
    benches: Benches, table: Mapping[type[Request], Handler]
) -> dict[type[Request], Handler]:
    """Return the same handlers, with those that wait holding the workbench that they are about.

    Args:
        benches: What would close a workbench that nobody seems to use.
        table: The handler of each request.
    """
    return {
        kind: _held(benches, handler)
        if iscoroutinefunction(handler) and "workbench_id" in kind.__struct_fields__
        else handler
        for kind, handler in table.items()
    }


def _held(benches: Benches, handler: Handler) -> Handler:
    @wraps(handler)
    async def held(request: Any, session: Session) -> Any:
        with benches.held(request.workbench_id):
            return await handler(request, session)

    return held
