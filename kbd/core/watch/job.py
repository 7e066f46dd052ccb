"""Records and callables of a watch job, so that the watcher need not know how a run is made."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import msgspec

from kbd.core.domain.watch_state import Ended
from kbd.events.watches import WatchRule
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = ["CommandRunner", "Job", "JobFile", "JobResult", "JobRunner"]


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
"""Carries a job out. Never raises but when it is cancelled, which leaves it to be gone on with."""

CommandRunner = Callable[[WatchId, WatchRule, Ended], Awaitable[tuple[int | None, str]]]
"""Runs a rule's command for an outcome; returns its exit code, and why there is none. Never raises
but when it is cancelled."""
