"""Commands that handlers have recorded, and the workbenches that they keep open meanwhile.

Requests that wait keep their workbench open, however long they take.
"""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import Any, TypeVar

from kbd.core.domain.commands import Command
from kbd.core.runtime.event_loop import Deferred, Settle
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.keeper import Outcome
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.base import Actor
from kbd.requests.base import Answer, Request
from kbd.requests.workbenches import WorkbenchArchive, WorkbenchDelete, WorkbenchUnarchive

__all__ = ["hold_workbenches", "record"]

A = TypeVar("A", bound=Answer)


def record(
    workbenches: Workbenches,
    workbench_id: str,
    command: Callable[[OpenWorkbench], Command],
    answer: Callable[[OpenWorkbench, Outcome], A],
    actor: Actor | None = None,
) -> Deferred[A]:
    """Submit one command to a workbench's log; the answer comes when it is durable.

    Args:
        workbenches: All workbenches.
        workbench_id: In whose log.
        command: Makes the command; may raise a refusal instead.
        answer: Says what it led to.
        actor: The client that asks, whom the events name.
    """
    workbench = workbenches.opened(workbench_id)
    if workbench is None:
        return Deferred(
            partial(_open_and_submit, workbenches, workbench_id, command, answer, actor)
        )
    # An open workbench takes the command at once, so the answer needs no task of its own.
    return Deferred(
        partial(_submit, workbench, command, answer, actor),
        partial(_offer, workbench, command, answer, actor),
    )


async def _open_and_submit(
    workbenches: Workbenches,
    workbench_id: str,
    command: Callable[[OpenWorkbench], Command],
    answer: Callable[[OpenWorkbench, Outcome], A],
    actor: Actor | None,
) -> A:
    return await _submit(await workbenches.open(workbench_id), command, answer, actor)


async def _submit(
    workbench: OpenWorkbench,
    command: Callable[[OpenWorkbench], Command],
    answer: Callable[[OpenWorkbench, Outcome], A],
    actor: Actor | None,
) -> A:
    return answer(workbench, await workbench.keeper.submit(command(workbench), actor))


def _offer(
    workbench: OpenWorkbench,
    command: Callable[[OpenWorkbench], Command],
    answer: Callable[[OpenWorkbench, Outcome], A],
    actor: Actor | None,
    settle: Settle[A],
) -> None:
    """Offer a command to the Keeper, and settle with the answer to what it leads to."""

    # A callback: with a task for each request a prototype answered 7.4 times fewer.
    def on_outcome(outcome: Outcome | Exception) -> None:
        if isinstance(outcome, Exception):
            settle(outcome)
            return
        try:
            result = answer(workbench, outcome)
        except Exception as fault:  # noqa: BLE001 - the Keeper tells others, too
            settle(fault)
        else:
            settle(result)

    workbench.keeper.offer(command(workbench), on_outcome, actor)


_CLOSING = frozenset({WorkbenchArchive, WorkbenchDelete, WorkbenchUnarchive})
"""What closes its workbench itself."""


def hold_workbenches(
    workbenches: Workbenches, table: Mapping[type[Request], Handler]
) -> dict[type[Request], Handler]:
    """Wrap the handlers that wait, so that each holds its workbench open meanwhile.

    Args:
        workbenches: What would close a workbench that nobody seems to use.
        table: The handler of each request.
    """
    return {
        kind: _hold_workbench(workbenches, handler)
        # It looks through `functools.partial`, as which the methods of formats come.
        if iscoroutinefunction(handler)
        and "workbench_id" in kind.__struct_fields__
        and kind not in _CLOSING
        else handler
        for kind, handler in table.items()
    }


def _hold_workbench(workbenches: Workbenches, handler: Handler) -> Handler:
    @wraps(handler)
    async def handle_while_held(request: Any, session: Session) -> Any:
        with workbenches.held(request.workbench_id):
            return await handler(request, session)

    return handle_while_held
