"""Fold of the events of runs into their state: phases, items, the open chain of turns."""

from collections.abc import Callable
from typing import Any

import msgspec

from kbd.core.domain.run_state import (
    MAX_FINGERPRINTS,
    CallFault,
    Chain,
    Item,
    ItemState,
    Notice,
    Plan,
    Run,
    RunError,
    RunStatus,
    Turn,
)
from kbd.core.domain.workbench_state import Measured, WorkbenchState
from kbd.errors import MACHINE_FAULTS
from kbd.events.base import CallNotes, Recorded
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    NoticeGiven,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    ResearchWritten,
    RunCancelled,
    RunCancelRequested,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SummaryWritten,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.providers import DECLINED
from kbd.types import CallId, Phase, Seq

__all__ = ["RUN_FOLDS"]

MEASURED_BYTES = 4 * 1024 * 1024
"""After so many bytes, what a model's provider counted of earlier ones counts half."""


def _started(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: RunStarted = record.data
    asked_at = state.heard.place_of(data.message_id)
    state.runs.append(
        Run(
            number=record.run,
            message_id=data.message_id,
            model_id=data.model_id,
            started_at_us=record.ts_us,
            regenerates=data.regenerates,
            asked_at=-1 if asked_at is None else asked_at,
        )
    )
    state.current = record.run
    state.seen_by, state.has_new_files = "", False


def _resumed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: RunResumed = record.data
    run = state.changed_run(record.run)
    if run.model_id != data.model_id:
        run.without = []  # Another server may take what this one refused.
    run.status, run.model_id = RunStatus.RUNNING, data.model_id
    run.cancel_requested, run.error, run.ended_at_us = False, None, 0
    state.seen_by = ""


def _stop(run: Run, status: RunStatus, ts_us: int) -> None:
    run.status, run.ended_at_us = status, ts_us


def _interrupted(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    _stop(state.changed_run(record.run), RunStatus.INTERRUPTED, record.ts_us)


def _cancel_requested(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    state.changed_run(record.run).cancel_requested = True


def _canceled(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    _stop(state.changed_run(record.run), RunStatus.CANCELLED, record.ts_us)


def _failed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: RunFailed = record.data
    run = state.changed_run(record.run)
    _stop(run, RunStatus.FAILED, record.ts_us)
    run.error = RunError(data.code, data.message, data.subphase, data.retryable)
    run.dead_end = data.code


def _finished(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: RunFinished = record.data
    run = state.changed_run(record.run)
    status = RunStatus.FINISHED if data.refusal is None else RunStatus.DECLINED
    _stop(run, status, record.ts_us)
    run.refusal = data.refusal
    # A draft that others made, and that it never wrote into, is not what it left.
    run.left_draft = (
        data.has_draft and state.draft is not None and record.run in state.draft.authors()
    )
    run.discarded = False
    state.discarded.discard(record.run)
    # A run that has ended cannot be gone on with: what only its chain needs would stay in memory
    # and in every snapshot.
    run.chain, run.attempt_changes, run.call_ids = Chain(), [], set()
    # The answer is recorded before the end of its run; a rewind to it must find the run finished.
    last = state.said.last
    if last is not None and last.run == record.run:
        state.heard.replace(state.said_last, msgspec.structs.replace(last, seq=seq))


def _phase_started(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: PhaseStarted = record.data
    run = state.changed_run(record.run)
    run.phase, run.phase_open, run.chain = data.phase, True, Chain()
    run.item = run.attempt = 0
    run.dead_end = ""
    if data.phase is Phase.RESEARCH:
        # A run that is begun anew: what it made of failed calls leads nowhere.
        run.research = run.plan = run.summary = run.fault = None


def _phase_completed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    run = state.changed_run(record.run)
    run.phase_open, run.chain = False, Chain()
    run.item = run.attempt = 0


def _research(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ResearchWritten = record.data
    state.changed_run(record.run).research = data.text


def _planned(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: PlanWritten = record.data
    state.changed_run(record.run).plan = Plan(
        task=data.task,
        notes=data.notes,
        items=[Item(text) for text in data.items],
        original_count=len(data.items),
    )


def _item_started(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ItemStarted = record.data
    run = state.changed_run(record.run)
    run.item, run.attempt, run.dead_end = data.item, data.attempt, ""
    run.chain, run.attempt_changes = Chain(), []


def _end_attempt(run: Run, number: int) -> Item | None:
    """End the open attempt and return its item; None if the log names one that is not there."""
    run.chain, run.attempt_changes = Chain(), []
    run.item = run.attempt = 0
    if run.plan is None or not 1 <= number <= len(run.plan.items):
        return None
    return run.plan.items[number - 1]


def _close_item(run: Run, number: int, state: ItemState) -> Item | None:
    """End the open attempt and close its item; return it, or None if there is none to close."""
    item = _end_attempt(run, number)
    if item is None or run.plan is None or item.state is not ItemState.OPEN:
        return None
    item.state = state
    if state is ItemState.DONE:
        run.plan.done += 1
    else:
        run.plan.failed.append(number)
    return item


def _item_completed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ItemCompleted = record.data
    run = state.changed_run(record.run)
    # Before the item is closed, for that empties the chain.
    last = run.chain.turns[-1] if run.chain.turns else None
    declined = last is not None and last.finish_reason in DECLINED
    item = _close_item(run, data.item, ItemState.DONE)
    if item is not None:
        item.answer, item.declined = data.text, declined
        item.refusal = last.refusal if last is not None and declined else None


def _item_retried(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ItemRetried = record.data
    item = _end_attempt(state.changed_run(record.run), data.item)
    if item is not None:
        item.reason, item.code = data.reason, data.code
        item.failures += 1


def _item_failed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ItemFailed = record.data
    item = _close_item(state.changed_run(record.run), data.item, ItemState.FAILED)
    if item is not None:
        item.reason, item.code = data.reason, data.code
        item.failures += 1


def _items_added(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ItemsAdded = record.data
    plan = state.changed_run(record.run).plan
    if plan is not None:
        plan.items.extend(Item(text) for text in data.items)


def _items_refused(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ItemsRefused = record.data
    plan = state.changed_run(record.run).plan
    if plan is not None:
        plan.refused.extend(data.items)


def _summary_written(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: SummaryWritten = record.data
    state.changed_run(record.run).summary = data.text


def _model_requested(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ModelRequested = record.data
    chain = state.changed_run(record.run).chain
    chain.opening, chain.asked = data.opening, data.turn
    chain.sent_bytes = data.size_bytes


def _model_replied(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ModelReplied = record.data
    run = state.changed_run(record.run)
    turn = Turn(data.text, data.calls, finish_reason=data.finish_reason, refusal=data.refusal)
    run.chain.turns.append(turn)
    # The chain goes on, so what stopped the run before was no dead end of it.
    run.dead_end = ""
    run.call_ids.update(call.id for call in data.calls)
    run.usage += data.usage
    run.cost += data.cost
    # An estimate is no measurement of the tokens that this model makes of a text.
    if run.chain.sent_bytes and data.usage.input_tokens and not data.usage_is_estimate:
        _measure(state, run.model_id, run.chain.sent_bytes, data.usage.input_tokens)


def _measure(state: WorkbenchState, model_id: str, size_bytes: int, tokens: int) -> None:
    """Learn how many bytes a token of this model has; what is newer counts more."""
    measured = state.measured.setdefault(model_id, Measured())
    # Both are halved: the ratio stays as it is, and only its weight against new figures shrinks.
    if measured.size_bytes > MEASURED_BYTES:
        measured.size_bytes, measured.tokens = measured.size_bytes // 2, measured.tokens // 2
    measured.size_bytes += size_bytes
    measured.tokens += tokens


def _model_failed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Leave the turn open, for it is asked for again; without what the server refused."""
    data: ModelFailed = record.data
    run = state.changed_run(record.run)
    run.usage += data.usage
    run.cost += data.cost
    if data.option and data.option not in run.without:
        run.without.append(data.option)


def _notice_given(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: NoticeGiven = record.data
    if record.run:
        state.changed_run(record.run).notices.append(Notice(data.code, data.message))


def _tool_called(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ToolCalled = record.data
    # Never lower: a number that was given once names that result for good.
    state.next_entry = max(state.next_entry, data.entry_id + 1)
    if record.run and (turns := state.changed_run(record.run).chain.turns):
        turns[-1].entries[data.call_id] = data.entry_id


def _finish_call(run: Run, call_id: CallId, code: str, shown: str, fingerprint: str) -> None:
    chain = run.chain
    if code in MACHINE_FAULTS:
        chain.fault = CallFault(code, _message_of(code, shown))
        run.fault = run.fault or chain.fault
    else:
        run.is_answered = True
    if chain.turns:
        chain.turns[-1].results[call_id] = shown
    if fingerprint:
        chain.fingerprints = [*chain.fingerprints, fingerprint][-MAX_FINGERPRINTS:]


def _message_of(code: str, shown: str) -> str:
    """Return the message of an error as a model sees it, without a note behind it."""
    return shown.removeprefix(f"Error: {code}: ").partition("\n\n")[0]


def _tool_returned(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: ToolReturned = record.data
    state.entries.add(data.entry_id, seq)
    if record.run:
        run = state.changed_run(record.run)
        if data.outside is not None:
            run.usage += data.outside.usage
            run.cost += data.outside.cost
        noted = data.noted or CallNotes()
        known = run.told_by_looks if noted.is_look else run.told
        known += [text for text in noted.told if text not in known]
        run.has_worked |= data.ok and bool(noted.readings) and not noted.is_look
        _finish_call(run, data.call_id, data.error_code or "", data.shown, data.fingerprint)


def _tool_refused(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ToolRefused = record.data
    run = state.changed_run(record.run)
    _finish_call(run, data.call_id, data.code, data.shown, data.fingerprint)


RUN_FOLDS: dict[type, Callable[[WorkbenchState, Seq, Any], None]] = {
    RunStarted: _started,
    RunResumed: _resumed,
    RunInterrupted: _interrupted,
    RunCancelRequested: _cancel_requested,
    RunCancelled: _canceled,
    RunFailed: _failed,
    RunFinished: _finished,
    PhaseStarted: _phase_started,
    PhaseCompleted: _phase_completed,
    ResearchWritten: _research,
    PlanWritten: _planned,
    ItemStarted: _item_started,
    ItemCompleted: _item_completed,
    ItemRetried: _item_retried,
    ItemFailed: _item_failed,
    ItemsAdded: _items_added,
    ItemsRefused: _items_refused,
    SummaryWritten: _summary_written,
    ModelRequested: _model_requested,
    ModelReplied: _model_replied,
    ModelFailed: _model_failed,
    NoticeGiven: _notice_given,
    ToolCalled: _tool_called,
    ToolReturned: _tool_returned,
    ToolRefused: _tool_refused,
}
"""What each event of a run changes."""
