"""Decision: the events to record, the run they belong to, and the event they follow from.

Beside it the preconditions that decisions share: whether a run is active, which one, and whether
it goes on.
"""

from collections.abc import Iterable

import msgspec

from kbd.core.domain.run_state import Run
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import UserCanceled, ValidationFailed
from kbd.events.drafts import FileChanged
from kbd.events.vocabulary import Event
from kbd.types import Seq

__all__ = [
    "Decision",
    "order_changes",
    "refuse_while_rewinding",
    "refuse_while_running",
    "require_active_run",
    "require_ongoing_run",
]


class Decision(msgspec.Struct, frozen=True):
    """Events that land together or not at all; none if there is nothing to do.

    Args:
        events: What happened, in order.
        run: The run they belong to, or 0.
        cause: The event they follow from, or 0.
    """

    events: tuple[Event, ...] = ()
    run: int = 0
    cause: Seq = Seq(0)


def order_changes(state: WorkbenchState, changes: Iterable[FileChanged]) -> tuple[FileChanged, ...]:
    """Return changes of one frame in the order that keeps an open draft open.

    A draft whose last difference goes is closed, and one that a later change of the same frame
    opens again would have no id. So changes that bring a file back to what is published come last.
    """

    def ends_difference(change: FileChanged) -> bool:
        drafted = state.draft.files.get(change.name) if state.draft else None
        if drafted is not None:
            return change.after == drafted.base
        entry = state.files.get(change.name)
        return change.after == (entry.blob if entry else None)

    return tuple(sorted(changes, key=ends_difference))


def refuse_while_running(state: WorkbenchState) -> None:
    """Refuse a change while a run is active, for the run would not notice it.

    Raises:
        ValidationFailed: A run is under way.
    """
    run = state.active_run()
    if run is not None:
        run_id = state.run_id(run.number)
        msg = f"run {run_id} is under way in this workbench: wait for it, or cancel it"
        raise ValidationFailed(msg, retryable=True, detail={"run_id": run_id})


def refuse_while_rewinding(state: WorkbenchState) -> None:
    """Refuse a change that a rewind, decided on and not yet carried out, would lose.

    Raises:
        ValidationFailed: One is under way.
    """
    intended = state.publish
    # A publish of the draft touches only the files that it names; a rewind ends with its own list
    # of all files, and one that was added meanwhile is not in that list.
    if intended is not None and (intended.rewind is not None or intended.restores):
        msg = "an undo or a restore is under way"
        raise ValidationFailed(msg, retryable=True)


def require_active_run(state: WorkbenchState, number: int) -> Run:
    """Return the active run, which must be this one.

    Raises:
        ValidationFailed: It is not.
    """
    run = state.active_run()
    if run is None or run.number != number:
        msg = f"run {state.run_id(number)} is not under way"
        raise ValidationFailed(msg)
    return run


def require_ongoing_run(state: WorkbenchState, number: int) -> Run:
    """Return the active run, which must be this one and not be asked to stop.

    Raises:
        ValidationFailed: It is not under way.
        UserCanceled: It was asked to stop.
    """
    run = require_active_run(state, number)
    if run.cancel_requested:
        msg = "the run was cancelled"
        raise UserCanceled(msg)
    return run
