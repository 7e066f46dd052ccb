"""Watch jobs: their records and callables, and the next step of one. Pure.

The watcher need not know how a run is made. The next step is decided from the state of the job's
workbench, so that a job can be resumed after any crash, and tests can ask about each.
"""

from collections.abc import Awaitable, Callable, Collection
from enum import Enum, auto
from pathlib import Path
from typing import Literal

import msgspec

from kbd.core.domain.run_state import Item, ItemState, Run, RunStatus
from kbd.core.domain.watch_state import Ended
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events.watches import WatchRule
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "CommandRunner",
    "Job",
    "JobFile",
    "JobResult",
    "JobRunner",
    "NextStep",
    "decide_next_step",
    "failed_items",
    "is_own_draft",
    "is_published",
    "newest_job_run",
    "next_message_id",
]


class JobFile(msgspec.Struct, frozen=True):
    """A landed file to work on.

    Args:
        landing_id: Its number.
        path: Its path below the watched folder, as it is on disk.
        sha256: The hash of its copy.
        size_bytes: Its size.
        copy: Where the copy lies; only this is worked on. It stays until the job is done.
    """

    landing_id: Seq
    path: str
    sha256: str
    size_bytes: int
    copy: Path


class Job(msgspec.Struct, frozen=True):
    """Job of a watch: a run to start or resume; the same job leads to the same one run.

    Args:
        watch_id: Whose.
        rule: What is wanted.
        files: What it works on.
        workbench_id: Where; it may be there already, in any state that a crash can leave.
        attempt: Counted from 1 in that workbench, whoever asked for it; a job that a crash cut off
            is gone on with under the same number.
        depth: How deep in a chain of rules its files are.
    """

    watch_id: WatchId
    rule: WatchRule
    files: tuple[JobFile, ...]
    workbench_id: WorkbenchId
    attempt: int
    depth: int


class JobResult(msgspec.Struct, frozen=True):
    """Result of a job.

    Args:
        outcome: As in `WatchRunFinished`.
        run_id: The run; "" if it came to none.
        code: Why it failed.
        message: The same for people; if nothing changed, what the run said.
        retryable: Whether the same job may go through later.
        delivered: The paths of the copies in `deliver_to`.
    """

    outcome: Literal["published", "review", "unchanged", "failed"]
    run_id: RunId = RunId("")
    code: str = ""
    message: str = ""
    retryable: bool = False
    delivered: tuple[str, ...] = ()


JobRunner = Callable[[Job], Awaitable[JobResult]]
"""Carries a job out. Never raises but when it is canceled, which leaves it to be gone on with."""

CommandRunner = Callable[[WatchId, WatchRule, Ended], Awaitable[tuple[int | None, str]]]
"""Runs a rule's command for an outcome; returns its exit code, and why there is none. Never raises
but when it is canceled."""


_MESSAGE_PREFIX = "watch-"
"""Begins the ids of the messages that jobs send; those of clients begin with `u`."""


class NextStep(Enum):
    """Next step of a watch job.

    `ASK` (nothing was asked yet), `ASK_AGAIN` (a person wants it done anew: what the last run left
    in the draft is thrown away first), `START` (start the run, or resume it), `WAIT` (it is under
    way), `CONCLUDE` (it has ended).
    """

    ASK = auto()
    ASK_AGAIN = auto()
    START = auto()
    WAIT = auto()
    CONCLUDE = auto()


def decide_next_step(state: WorkbenchState, reported: Collection[RunId]) -> NextStep:
    """Decide the next step of a job.

    Args:
        state: Its workbench.
        reported: The runs whose failure was recorded as the job's outcome before: this is a retry.
    """
    run, newest = newest_job_run(state), state.last_request()
    is_asked = newest is not None and _is_job_message(newest.message_id)
    if run is None:
        return NextStep.START if is_asked else NextStep.ASK
    if run.status is RunStatus.RUNNING:
        return NextStep.WAIT
    if is_asked and newest is not None and newest.message_id != run.message_id:
        return NextStep.START  # asked again, and then stopped
    is_retry = state.run_id(run.number) in reported
    if run.status.is_final:
        was_in_vain = bool(failed_items(run)) or run.discarded or run.undone
        again = is_retry and was_in_vain and not is_published(state, run)
        return NextStep.ASK_AGAIN if again else NextStep.CONCLUDE
    if run.status is not RunStatus.INTERRUPTED and not is_retry:
        return NextStep.CONCLUDE
    # Only the newest message can be worked on, and a person may have sent one since.
    return NextStep.START if is_asked else NextStep.ASK_AGAIN


def newest_job_run(state: WorkbenchState) -> Run | None:
    """Return the newest run on a job's message; others are a person's own."""
    return next((run for run in reversed(state.runs) if _is_job_message(run.message_id)), None)


def failed_items(run: Run) -> list[Item]:
    """Return the items that failed for good, or of which the model says that it did not do them."""
    items = run.plan.items if run.plan else []
    return [item for item in items if item.state is ItemState.FAILED or item.declined]


def is_own_draft(state: WorkbenchState, run: Run) -> bool:
    """Return whether the open draft is the run's alone, as far as runs go."""
    return (
        state.draft is not None
        and state.draft.run == run.number
        and state.runs[-1].number == run.number
    )


def is_published(state: WorkbenchState, run: Run) -> bool:
    """Return whether the draft that a finished run left is published, by whomever."""
    is_gone = run.discarded or run.undone
    return run.left_draft and not is_gone and state.draft is None


def next_message_id(state: WorkbenchState) -> str:
    """Return the id of the job's next message: the same until it is sent."""
    # Those that a person undid are among them: an id is given once.
    sent = sum(map(_is_job_message, state.heard))
    return f"{_MESSAGE_PREFIX}{sent + 1}"


def _is_job_message(message_id: str) -> bool:
    return message_id.startswith(_MESSAGE_PREFIX)
