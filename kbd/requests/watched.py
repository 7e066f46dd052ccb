"""What requests about watched folders and their answers hold: rules, landed files, outcomes."""

from typing import Annotated, Literal

import msgspec

from kbd.requests.base import UNSET, Unset
from kbd.requests.providers import ModelParam
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "FailedRow",
    "FailureParam",
    "LandingRow",
    "LimitsParam",
    "OutcomeRow",
    "TriedFile",
    "TriedRun",
    "WatchConsentParam",
    "WatchInfo",
    "WatchRow",
    "WatchRuleShown",
]


class LimitsParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a rule's runs may add up to.

    Args:
        runs_per_hour: Past so many the watch is suspended until it is resumed.
        runs_per_path_hour: Past so many for one path, its newest content is parked.
        chain_depth: How many rules may work in turn on each other's results.
        batch_files: The most files of one run in batch mode.
    """

    runs_per_hour: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100
    runs_per_path_hour: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 5
    chain_depth: Annotated[int, msgspec.Meta(ge=1, le=10)] = 3
    batch_files: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class FailureParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens when a run fails.

    Args:
        retries: How often it is resumed where that may help, before it is parked.
        wait_s: Seconds before the first retry; twice as long before each further one.
        then: Whether the next file runs, or the watch is paused.
    """

    retries: Annotated[int, msgspec.Meta(ge=0, le=20)] = 2
    wait_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 60.0
    then: Literal["park", "pause"] = "park"


class WatchConsentParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That whatever lands may be sent to this model."""

    provider_id: str
    model_id: ModelParam


class WatchRuleShown(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as it was made, with the consent that came later; fields as in `WatchAdd`."""

    folder: str
    prompt: str
    patterns: tuple[str, ...]
    model_id: str | Unset = UNSET
    mode: Literal["file", "batch"]
    quiet_s: float
    deliver_to: str | Unset = UNSET
    publish: Literal["review", "auto"]
    limits: LimitsParam
    on_failure: FailureParam
    on_outcome: tuple[str, ...]
    consent: WatchConsentParam | Unset = UNSET


class WatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One watch in a list.

    Args:
        watch_id: Its id.
        name: For people.
        folder: The folder.
        status: Whether it starts runs.
        code: Why it is suspended.
        reason: Why it is paused or suspended, or what keeps files from landing: a folder that
            cannot be read, a full disk.
        created_at: ISO 8601, UTC.
        hints: How changes are noticed: the system tells, or the folder is looked through again and
            again, or it is not there.
        landed: How many files landed.
        waiting: How many wait for their run, a retry included.
        running: How many are worked on.
        failed: How many are parked.
        outcomes: How many files came to which outcome.
    """

    watch_id: WatchId
    name: str
    folder: str
    status: Literal["active", "paused", "suspended"]
    code: str | Unset = UNSET
    reason: str | Unset = UNSET
    created_at: str
    hints: Literal["system", "scan", "missing"]
    landed: int
    waiting: int
    running: int
    failed: int
    outcomes: dict[str, int]


class LandingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A landed file that is not done.

    Args:
        landing_id: Its number: that of its event in the daemon's log.
        path: Its path below the folder.
        size_bytes: Its size.
        landed_at: ISO 8601, UTC.
        stage: How far it is.
        attempt: How many attempts were begun.
        retry_at: When it is tried again.
        workbench_id: Where its run is.
        run_id: The run.
        code: Why it failed last.
        message: The same for people.
    """

    landing_id: Seq
    path: str
    size_bytes: int
    landed_at: str
    stage: Literal["waiting", "running", "retrying", "parked"]
    attempt: int
    retry_at: str | Unset = UNSET
    workbench_id: WorkbenchId | Unset = UNSET
    run_id: RunId | Unset = UNSET
    code: str | Unset = UNSET
    message: str | Unset = UNSET


class OutcomeRow(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome: of a run on landed files, or of files that came to none.

    Args:
        landing_ids: The files' numbers.
        paths: Their paths below the folder; at most 100.
        outcome: What became of them.
        ended_at: ISO 8601, UTC.
        workbench_id: Where the run is.
        run_id: The run.
        code: Why it failed.
        message: The same for people; if nothing changed, what the run said.
        delivered: The paths of the copies in `deliver_to`.
    """

    landing_ids: tuple[Seq, ...]
    paths: tuple[str, ...]
    outcome: Literal["published", "review", "unchanged", "failed", "moved", "own"]
    ended_at: str
    workbench_id: WorkbenchId | Unset = UNSET
    run_id: RunId | Unset = UNSET
    code: str | Unset = UNSET
    message: str | Unset = UNSET
    delivered: tuple[str, ...] = ()


class WatchInfo(WatchRow, frozen=True, kw_only=True):
    """One watch in full.

    Args:
        rule: What is wanted.
        landings: What is not done, oldest first; at most 200.
        recent: The newest outcomes, newest first.
    """

    rule: WatchRuleShown
    landings: tuple[LandingRow, ...]
    recent: tuple[OutcomeRow, ...]


class FailedRow(LandingRow, frozen=True, kw_only=True):
    """A parked file.

    Args:
        watch_id: Whose.
        watch_name: The same for people.
        actions: What can be done, as short imperative texts.
    """

    watch_id: WatchId
    watch_name: str
    actions: tuple[str, ...] = ()


class TriedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the folder, and what the rule would do with it.

    Args:
        path: Its path below the folder.
        size_bytes: Its size.
        verdict: "run" for what a run would work on; "known" for content that landed before;
            "passed_over" for what was there before the watch; "own" for what kbd wrote there;
            "no_match", "temporary", "link", "special" for what is not looked at; "failed" for what
            could not be taken.
        reason: Why, where that is not plain.
    """

    path: str
    size_bytes: int
    verdict: Literal[
        "run", "known", "passed_over", "own", "no_match", "temporary", "link", "special", "failed"
    ]
    reason: str | Unset = UNSET


class TriedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that would be started, with the paths it would work on."""

    paths: tuple[str, ...]
