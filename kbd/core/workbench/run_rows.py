"""Rows of runs and the state of the workshop, as clients see them."""

import msgspec

from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.run_state import ItemState, Run, RunStatus, item_label
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.settings import RunLimits
from kbd.events.plain_form import format_time, utc_day
from kbd.requests import workshop as wire
from kbd.types import Phase

__all__ = ["run_answer", "run_budget", "run_info", "workshop_state"]

REQUEST_CHARACTERS = 200
"""How much of a request stands in a list of runs; the conversation has all of it."""


def run_budget(limits: RunLimits, daemon: DaemonState, now_us: int) -> wire.RunBudget:
    """Return the caps of runs, and how much of the day's is used."""
    gone = daemon.gone(utc_day(now_us))
    return wire.RunBudget(
        tokens=limits.tokens,
        cost=limits.cost,
        day_tokens=limits.day_tokens,
        day_cost=limits.day_cost,
        day_tokens_gone=gone.tokens,
        day_cost_gone=round(gone.cost, 6),
    )


def run_info(
    state: WorkbenchState, run: Run, budget: wire.RunBudget | msgspec.UnsetType = msgspec.UNSET
) -> wire.RunInfo:
    """Return a run in full."""
    items = tuple(
        wire.RunItem(
            index=index,
            label=item_label(item.text),
            state="active"
            if index == run.item and item.state is ItemState.OPEN
            else item.state.value,
            reason=item.reason if item.state is ItemState.FAILED else msgspec.UNSET,
        )
        for index, item in enumerate(run.plan.items if run.plan else (), 1)
    )
    error: wire.RunError | msgspec.UnsetType = msgspec.UNSET
    if run.error is not None:
        error = wire.RunError(
            error_code=run.error.code,
            message=run.error.message,
            subphase=run.error.subphase,
            retryable=run.error.retryable,
        )
    return wire.RunInfo(
        run_id=state.run_id(run.number),
        workbench_id=state.workbench_id,
        request=_request_line(state, run.message_id),
        model_id=run.model_id,
        status=run.status.value,
        phase=run.phase,
        items=items,
        usage=run.usage,
        cost=round(run.cost, 6),
        error=error,
        started_at=format_time(run.started_at_us),
        ended_at=format_time(run.ended_at_us) if run.ended_at_us else msgspec.UNSET,
        undone=run.undone,
        budget=budget,
    )


def _request_line(state: WorkbenchState, message_id: str) -> str:
    """Return the first line of a message that says something."""
    asked = state.heard.get(message_id)
    said = asked.text if asked is not None else ""
    first = said.strip().partition("\n")[0].rstrip()
    too_long = len(first) > REQUEST_CHARACTERS
    return f"{first[: REQUEST_CHARACTERS - 1]}…" if too_long else first


def run_answer(state: WorkbenchState, run: Run) -> wire.RunAnswered:
    """Return what `WorkshopRunAgent` answers of a run."""
    return wire.RunAnswered(
        run_id=state.run_id(run.number),
        message_id=run.message_id,
        has_draft=state.draft is not None,
        completed=run.status is RunStatus.FINISHED,
        status=run.status.value,
    )


def workshop_state(
    state: WorkbenchState, active_model_id: str, default_model_id: str
) -> wire.WorkshopState:
    """Return the state of the workshop."""
    run = state.active_run()
    progress = None
    if run is not None and run.item and run.plan is not None and run.phase is Phase.IMPLEMENT:
        progress = wire.ImplementProgress(
            current=run.item,
            total=len(run.plan.items),
            label=item_label(run.plan.items[run.item - 1].text),
        )
    return wire.WorkshopState(
        active_model_id=active_model_id,
        default_model_id=default_model_id,
        has_draft=state.draft is not None,
        current_phase=run.phase if run and run.phase_open else None,
        implement_progress=progress,
        run_id=state.run_id(run.number) if run else None,
    )
