"""Decisions about runs on landed files: which is next, what passes a limit, what its end leads to.

The oldest file that may run runs first. The files of one run stay together when it is resumed, in
the same workbench; an attempt there has a number of its own, so that it is never begun twice.
"""

import hashlib
from collections import Counter

import msgspec

from kbd.core.decisions.decision import Decision
from kbd.core.state import folded_name
from kbd.core.state.watches import HOUR_US, Landing, LandingStage, Watch, WatchStatus
from kbd.errors import BudgetCapReached
from kbd.events.vocabulary import Event
from kbd.events.watches import (
    LandingsParked,
    WatchPaused,
    WatchRunFinished,
    WatchRunStarted,
    WatchSuspended,
)
from kbd.types import WorkbenchId

__all__ = ["finish_run", "start_next", "workbench_of"]


def start_next(watch: Watch, now_us: int, *, batch_closed: bool) -> Decision:
    """Begin the next run of a watch, if one is due; or park or suspend what passes a limit.

    Args:
        watch: Whose.
        now_us: The time; the hour over which runs are counted ends then.
        batch_closed: In batch mode, whether nothing landed for a quiet window.
    """
    if watch.status is not WatchStatus.ACTIVE:
        return Decision()
    group = _next_group(watch, now_us, batch_closed=batch_closed)
    if not group or group[0].group:  # What was begun before was counted then.
        return _started(watch, group)
    hour = [each for each in watch.starts if each.at_us > now_us - HOUR_US]
    limits = watch.rule.limits
    if len(hour) >= limits.runs_per_hour:
        reason = (
            f"{len(hour)} runs were started within an hour, and the rule allows "
            f"{limits.runs_per_hour}: look what lands there, then resume it"
        )
        return Decision((WatchSuspended(watch.watch_id, BudgetCapReached.code, reason),))
    counted = Counter(path for each in hour for path in each.paths)
    busy = [x for x in group if counted[x.path] >= limits.runs_per_path_hour]
    if busy:
        message = (
            f"{limits.runs_per_path_hour} contents of this path were worked on within an hour, "
            "and the rule allows no more: retry it later"
        )
        numbers = tuple(landing.landing_id for landing in busy)
        return Decision((LandingsParked(watch.watch_id, numbers, BudgetCapReached.code, message),))
    return _started(watch, group)


def finish_run(
    watch: Watch, finished: WatchRunFinished, now_us: int, *, retryable: bool
) -> Decision:
    """Record how a run ended, once; a failure that a retry may mend is put off.

    Args:
        watch: Whose, which may be removed.
        finished: How it ended, with `retry_at_us` 0.
        now_us: The time.
        retryable: Whether a failure may be gone later.
    """
    first = watch.landings.get(finished.landings[0]) if finished.landings else None
    if first is None or first.stage is not LandingStage.RUNNING:
        return Decision()
    if (first.group, first.workbench_id) != (finished.landings, finished.workbench_id):
        return Decision()  # That run is not the one under way.
    if finished.outcome != "failed":
        return Decision((finished,))
    policy, failures = watch.rule.on_failure, first.attempt - first.pardoned
    if retryable and failures <= policy.retries and watch.status is not WatchStatus.REMOVED:
        wait_us = int(policy.wait_s * 2 ** (failures - 1) * 1_000_000)
        return Decision((msgspec.structs.replace(finished, retry_at_us=now_us + wait_us),))
    facts: list[Event] = [finished]
    if policy.then == "pause" and watch.status is WatchStatus.ACTIVE:
        facts.append(WatchPaused(watch.watch_id, f"a run failed: {finished.message}"))
    return Decision(tuple(facts))


def workbench_of(watch: Watch, group: list[Landing]) -> WorkbenchId:
    """Return the id of the workbench for a run on landed files: the same for the same files."""
    digest = hashlib.sha256(watch.watch_id.encode())
    for landing in group:
        # Contents without a hash never run; path and hash are the key (reliability, section 2.6).
        digest.update(f"\0{landing.path}\0{landing.sha256}".encode())
    return WorkbenchId(digest.hexdigest()[:16])


def _next_group(watch: Watch, now_us: int, *, batch_closed: bool) -> list[Landing]:
    """Return the files of the next run, none if none is due; what is to be resumed has a group."""
    for landing in watch.landings.values():
        if landing.stage is LandingStage.WAITING and not landing.group:
            if watch.rule.mode == "file":
                return [landing]
        elif landing.stage is LandingStage.WAITING or (
            landing.stage is LandingStage.RETRYING and landing.retry_at_us <= now_us
        ):
            return _together(watch, landing)
    return _batch(watch, closed=batch_closed) if watch.rule.mode == "batch" else []


def _together(watch: Watch, first: Landing) -> list[Landing]:
    """Return the files of a run that are to be resumed; a person may have asked for a part."""
    found = (watch.landings.get(number) for number in first.group)
    return [
        each
        for each in found
        if each is not None and (each.stage, each.group) == (first.stage, first.group)
    ]


def _batch(watch: Watch, *, closed: bool) -> list[Landing]:
    """Return the files of a new batch, the oldest first."""
    waiting = watch.in_stage(LandingStage.WAITING)
    most = watch.rule.limits.batch_files
    if not closed and len(waiting) < most:
        return []
    # A run has one file of a name: what landed under it later is for the next batch.
    batch: dict[str, Landing] = {}
    for landing in waiting:
        batch.setdefault(folded_name(landing.path), landing)
        if len(batch) == most:
            break
    return list(batch.values())


def _started(watch: Watch, group: list[Landing]) -> Decision:
    if not group:
        return Decision()
    first = group[0]
    numbers = tuple(landing.landing_id for landing in group)
    if first.group == numbers:
        workbench_id, attempt = first.workbench_id, first.attempt + 1
    else:  # The first one, or a part of a batch: that is another run.
        workbench_id, attempt = workbench_of(watch, group), 1
    started = WatchRunStarted(watch.watch_id, numbers, workbench_id, attempt)
    return Decision((started,), cause=numbers[-1])
