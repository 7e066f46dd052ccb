"""Decisions about the daemon's own log: workbenches, recorded facts, the day's money."""

from datetime import date, timedelta
from typing import assert_never

import msgspec

from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.decision import Decision
from kbd.core.domain.found_damage import EndVerification, damage_events
from kbd.core.domain.recipe_state import RemoveRecipe, SaveRecipe, decide_recipe
from kbd.core.domain.watch_decisions import WatchCommand, decide_watch
from kbd.errors import BudgetCapReached, NotFound, ValidationFailed
from kbd.events.vocabulary import Event
from kbd.events.workbenches import (
    BudgetCharged,
    BudgetReserved,
    WorkbenchArchived,
    WorkbenchCreated,
    WorkbenchDeleted,
    WorkbenchUnarchived,
)
from kbd.types import Seq, WorkbenchId

__all__ = [
    "ArchiveWorkbench",
    "ChargeBudget",
    "CreateWorkbench",
    "DaemonCommand",
    "DeleteWorkbench",
    "RecordDaemon",
    "ReserveBudget",
    "UnarchiveWorkbench",
    "charge",
    "decide_daemon",
    "reserve",
]


class ReserveBudget(msgspec.Struct, frozen=True):
    """Set aside what a turn may use at most; refused if that would pass a cap of its day.

    Args:
        reservation: Its name.
        day: The day, as "2026-11-22", UTC.
        workbench_id: Whose run.
        run: Its number there.
        model_id: The model.
        tokens: Input and reply together.
        cost: The same in US dollars.
        day_tokens: The cap of the day in tokens; 0 for none.
        day_cost: The same in US dollars.
    """

    reservation: str
    day: str
    workbench_id: WorkbenchId
    run: int
    model_id: str
    tokens: int
    cost: float
    day_tokens: int = 0
    day_cost: float = 0.0


class ChargeBudget(msgspec.Struct, frozen=True):
    """Put what a turn did use in the place of what was reserved; nothing if nothing was."""

    reservation: str
    tokens: int
    cost: float


def reserve(state: DaemonState, command: ReserveBudget) -> Decision:
    """Set aside what a turn may use at most.

    What is reserved counts as spent, so that turns under way at once cannot pass a cap together.

    Raises:
        BudgetCapReached: A cap of the day would be passed.
    """
    usage = state.day_usage(command.day)
    if 0 < command.day_tokens < usage.tokens + command.tokens:
        raise _cap_error(
            command,
            "run.day_tokens",
            f"the runs of {command.day} have used or reserved {usage.tokens:,} tokens and this"
            f" turn may need {command.tokens:,}; the cap of a day is {command.day_tokens:,}",
            {"used": usage.tokens, "asked": command.tokens, "cap": command.day_tokens},
        )
    if 0 < command.day_cost < usage.cost + command.cost:
        raise _cap_error(
            command,
            "run.day_cost",
            f"the runs of {command.day} have used or reserved ${usage.cost:.2f} and this turn may"
            f" cost ${command.cost:.2f}; the cap of a day is ${command.day_cost:.2f}",
            {"used": usage.cost, "asked": command.cost, "cap": command.day_cost},
        )
    return Decision(
        (
            BudgetReserved(
                command.reservation,
                command.day,
                command.workbench_id,
                command.run,
                command.model_id,
                command.tokens,
                command.cost,
            ),
        )
    )


def charge(state: DaemonState, command: ChargeBudget) -> Decision:
    """Charge what a turn did use; nothing for a reservation that there is not, or not any more."""
    # A reservation that was charged is gone from the state, so nothing is charged twice.
    if command.reservation not in state.reserved:
        return Decision()
    return Decision((BudgetCharged(command.reservation, command.tokens, command.cost),))


def _cap_error(
    command: ReserveBudget, setting: str, reason: str, figures: dict[str, float]
) -> BudgetCapReached:
    """Say which cap was reached, by which setting, and when the day ends."""
    ends = f"{date.fromisoformat(command.day) + timedelta(days=1)}T00:00:00Z"
    return BudgetCapReached(
        f"{reason} (setting {setting}); the day ends at 24:00 UTC: resume then, or raise the cap",
        actions=(f"raise {setting}", "resume the run when the day has ended"),
        detail={"setting": setting, "day": command.day, "day_ends_at": ends, **figures},
    )


class CreateWorkbench(msgspec.Struct, frozen=True):
    """Create a workbench under a fresh id."""

    workbench_id: WorkbenchId
    name: str


class DeleteWorkbench(msgspec.Struct, frozen=True):
    """Delete a workbench, or its archive, for a reason; a person who asks need not give one."""

    workbench_id: WorkbenchId
    reason: str = ""


class ArchiveWorkbench(msgspec.Struct, frozen=True):
    """Let an archive be the workbench from now on.

    Args:
        workbench_id: Which.
        sha256: The hash of the archive, which is durable.
        size_bytes: Its size.
        seq: The last event of the workbench's log.
        reason: Why.
    """

    workbench_id: WorkbenchId
    sha256: str
    size_bytes: int
    seq: Seq
    reason: str


class UnarchiveWorkbench(msgspec.Struct, frozen=True):
    """Let the folder that an archive was unpacked to be the workbench again.

    Args:
        workbench_id: Which.
        reason: What for.
    """

    workbench_id: WorkbenchId
    reason: str


class RecordDaemon(msgspec.Struct, frozen=True):
    """Record facts that need no decision: starts, stops, plugins, the default model."""

    facts: tuple[Event, ...]


DaemonCommand = (
    CreateWorkbench
    | DeleteWorkbench
    | ArchiveWorkbench
    | UnarchiveWorkbench
    | RecordDaemon
    | ReserveBudget
    | ChargeBudget
    | EndVerification
    | SaveRecipe
    | RemoveRecipe
    | WatchCommand
)
"""Everything that `decide_daemon` answers."""


def _decide_workbench(
    state: DaemonState,
    command: CreateWorkbench | DeleteWorkbench | ArchiveWorkbench | UnarchiveWorkbench,
) -> Decision:
    workbench_id = command.workbench_id
    if isinstance(command, CreateWorkbench):
        if workbench_id in state.workbenches:
            raise ValidationFailed("that workbench id is taken")
        return Decision((WorkbenchCreated(workbench_id, command.name),))
    known = state.workbenches.get(workbench_id)
    if known is None:
        raise NotFound(f"there is no workbench {workbench_id}")
    match command:
        case DeleteWorkbench(reason=reason):
            return Decision((WorkbenchDeleted(workbench_id, reason),))
        case ArchiveWorkbench(sha256=sha256, size_bytes=size_bytes, seq=seq, reason=reason):
            if known.archive is not None:
                raise ValidationFailed("that workbench is archived")
            return Decision((WorkbenchArchived(workbench_id, sha256, size_bytes, seq, reason),))
        case UnarchiveWorkbench(reason=reason):
            if known.archive is None:
                raise ValidationFailed("that workbench is not archived")
            return Decision((WorkbenchUnarchived(workbench_id, reason),))
        case _:
            assert_never(command)


def decide_daemon(state: DaemonState, command: DaemonCommand) -> Decision:
    """Decide a command to the daemon's Keeper.

    Raises:
        NotFound: There is no such workbench, or no such watch.
        ValidationFailed: The id is taken, the workbench is archived or is not, or it is not allowed
            now.
        BudgetCapReached: A cap of the day would be passed.
    """
    match command:
        case CreateWorkbench() | DeleteWorkbench() | ArchiveWorkbench() | UnarchiveWorkbench():
            return _decide_workbench(state, command)
        case RecordDaemon(facts=facts):
            return Decision(facts)
        case ReserveBudget():
            return reserve(state, command)
        case ChargeBudget():
            return charge(state, command)
        case EndVerification(workbench_id=log_id):
            # One that was deleted meanwhile has nothing that could be damaged.
            if log_id != "daemon" and log_id not in state.workbenches:
                return Decision()
            return Decision(damage_events(state.damage_of(log_id), command))
        case SaveRecipe() | RemoveRecipe():
            return decide_recipe(state.recipes, command)
        case _:
            return decide_watch(state.watching, command)
