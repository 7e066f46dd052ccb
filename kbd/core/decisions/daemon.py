"""Decisions about the daemon's own log."""

import msgspec

from kbd.core.decisions.budget import ChargeBudget, ReserveBudget, charge, reserve
from kbd.core.decisions.decision import Decision
from kbd.core.decisions.watches import WatchCommand, decide_watch
from kbd.core.state import DaemonState
from kbd.errors import NotFound, ValidationFailed
from kbd.events.vocabulary import Event
from kbd.events.workbenches import WorkbenchCreated, WorkbenchDeleted
from kbd.types import WorkbenchId

__all__ = [
    "ChargeBudget",
    "CreateWorkbench",
    "DaemonCommand",
    "DeleteWorkbench",
    "RecordDaemon",
    "ReserveBudget",
    "decide_daemon",
]


class CreateWorkbench(msgspec.Struct, frozen=True):
    """Create a workbench under a fresh id."""

    workbench_id: WorkbenchId
    name: str


class DeleteWorkbench(msgspec.Struct, frozen=True):
    """Delete a workbench."""

    workbench_id: WorkbenchId


class RecordDaemon(msgspec.Struct, frozen=True):
    """Record facts that need no decision: starts, stops, plugins, the default model."""

    facts: tuple[Event, ...]


DaemonCommand = (
    CreateWorkbench | DeleteWorkbench | RecordDaemon | ReserveBudget | ChargeBudget | WatchCommand
)
"""Everything that `decide_daemon` answers."""


def decide_daemon(state: DaemonState, command: DaemonCommand) -> Decision:
    """Return what a command leads to.

    Raises:
        NotFound: There is no such workbench, or no such watch.
        ValidationFailed: The id is taken, or it is not allowed now.
        BudgetCapReached: A cap of the day would be passed.
    """
    match command:
        case CreateWorkbench(workbench_id=workbench_id, name=name):
            if workbench_id in state.workbenches:
                msg = "that workbench id is taken"
                raise ValidationFailed(msg)
            return Decision((WorkbenchCreated(workbench_id, name),))
        case DeleteWorkbench(workbench_id=workbench_id):
            if workbench_id not in state.workbenches:
                msg = f"there is no workbench {workbench_id}"
                raise NotFound(msg)
            return Decision((WorkbenchDeleted(workbench_id),))
        case RecordDaemon(facts=facts):
            return Decision(facts)
        case ReserveBudget():
            return reserve(state, command)
        case ChargeBudget():
            return charge(state, command)
        case _:
            return decide_watch(state.watching, command)
