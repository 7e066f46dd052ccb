"""Decisions about watched folders and about the runs on landed files.

About a folder: which content counts, and what is put aside. About a run: which files are next,
what passes a limit, what its end leads to.

The oldest file that may run runs first. The files of one run stay together when it is resumed, in
the same workbench; an attempt there has a number of its own, so that it is never begun twice.
"""

import hashlib
from collections import Counter
from typing import assert_never

import msgspec

from kbd.core.domain.decision import Decision
from kbd.core.domain.watch_state import (
    HOUR_US,
    Landing,
    LandingStage,
    Watch,
    Watching,
    WatchStatus,
    Written,
)
from kbd.core.domain.workbench_state import folded_name
from kbd.errors import BudgetCapReached, NotFound, ValidationFailed
from kbd.events.vocabulary import Event
from kbd.events.watches import (
    FileLanded,
    FilesPassedOver,
    FilesWritten,
    LandingsDismissed,
    LandingsParked,
    LandingsRetried,
    PassedFile,
    RuleConfirmation,
    RuleRetention,
    WatchAdded,
    WatchCommandEnded,
    WatchConsent,
    WatchPaused,
    WatchRemoved,
    WatchResumed,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
    WatchSuspended,
)
from kbd.types import Seq, WatchId, WorkbenchId

__all__ = [
    "AddWatch",
    "DismissLandings",
    "FinishRun",
    "PassOverFiles",
    "PauseWatch",
    "RecordCommandEnd",
    "RecordLanding",
    "RecordWrites",
    "RemoveWatch",
    "ResumeWatch",
    "RetryLandings",
    "StartNext",
    "WatchCommand",
    "decide_watch",
    "finish_run",
    "start_next",
    "unconfirmed",
    "workbench_for",
]


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
    """Record the outcome of a run, once; a failure that a retry may mend is postponed.

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
        # The moment goes into the log, not the pause: a restart does not begin the wait anew.
        wait_us = int(policy.wait_s * 2 ** (failures - 1) * 1_000_000)
        return Decision((msgspec.structs.replace(finished, retry_at_us=now_us + wait_us),))
    facts: list[Event] = [finished]
    # A watch that is paused or suspended already keeps the reason that it has.
    if policy.then == "pause" and watch.status is WatchStatus.ACTIVE:
        facts.append(WatchPaused(watch.watch_id, f"a run failed: {finished.message}"))
    return Decision(tuple(facts))


def workbench_for(watch: Watch, group: list[Landing]) -> WorkbenchId:
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
            # In batch mode the search goes on: what is to be resumed comes before a new batch.
            if watch.rule.mode == "file":
                return [landing]
        elif landing.stage is LandingStage.WAITING or (
            landing.stage is LandingStage.RETRYING and landing.retry_at_us <= now_us
        ):
            return _resumed_group(watch, landing)
    return _batch(watch, closed=batch_closed) if watch.rule.mode == "batch" else []


def _resumed_group(watch: Watch, first: Landing) -> list[Landing]:
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
        workbench_id, attempt = workbench_for(watch, group), 1
    started = WatchRunStarted(watch.watch_id, numbers, workbench_id, attempt)
    return Decision((started,), cause=numbers[-1])


PASSED_PER_EVENT = 1000
"""How many files one event names; a client reads events in messages of at most 10 MiB."""

MAX_PASSED = 300_000
"""How many files may be passed over: they are recorded in one frame, with the watch itself."""

MAX_WATCHES = 200
"""Each has a thread that listens, and its tree is looked through every minute."""


class AddWatch(msgspec.Struct, frozen=True):
    """Watch a folder from now on.

    Args:
        watch_id: Its new id.
        rule: What is wanted.
        passed: What was there before and is not to be worked on.
        retention: After how long what the rule made goes; None for what `[retention]` says.
    """

    watch_id: WatchId
    rule: WatchRule
    passed: tuple[PassedFile, ...] = ()
    retention: RuleRetention | None = None


class PassOverFiles(msgspec.Struct, frozen=True):
    """Go on leaving files alone that were passed over: they were renamed, or their mode changed."""

    watch_id: WatchId
    passed: tuple[PassedFile, ...]


class RemoveWatch(msgspec.Struct, frozen=True):
    """Watch a folder no more."""

    watch_id: WatchId


class PauseWatch(msgspec.Struct, frozen=True):
    """Start no runs until it is resumed."""

    watch_id: WatchId
    reason: str = ""


class ResumeWatch(msgspec.Struct, frozen=True):
    """Start runs again, perhaps with a consent that was missing.

    Args:
        watch_id: Which.
        consent: What was missing.
        confirmed: What the rule does by itself, as a person confirmed it; needed for a watch of a
            restored home.
    """

    watch_id: WatchId
    consent: WatchConsent | None = None
    confirmed: RuleConfirmation | None = None


class RecordLanding(msgspec.Struct, frozen=True):
    """Record a file that was copied whole, or could not be; nothing if this content was here.

    Args:
        watch_id: Where.
        path: Its path below the folder.
        folder: The folder that it lies in itself, an absolute path without links.
        sha256: The hash of the durable copy, or "".
        size_bytes: Its size.
        signature: What it looked like when it was copied.
        gone: Paths under which this content landed before and which do not hold it any more.
        code: Why it could not be taken, or "".
        message: The same for people.
    """

    watch_id: WatchId
    path: str
    folder: str
    sha256: str
    size_bytes: int
    signature: str
    gone: tuple[str, ...] = ()
    code: str = ""
    message: str = ""


class StartNext(msgspec.Struct, frozen=True):
    """Begin the next run of a watch, if one is due; or park or suspend what passes a limit.

    Args:
        watch_id: Whose.
        now_us: The time.
        batch_closed: In batch mode, whether nothing landed for a quiet window.
    """

    watch_id: WatchId
    now_us: int
    batch_closed: bool = True


class FinishRun(msgspec.Struct, frozen=True):
    """Record the outcome of a run; a failure that a retry may mend is postponed, not parked.

    Args:
        finished: How it ended, with `retry_at_us` 0.
        retryable: Whether a failure may be gone later.
        now_us: The time.
    """

    finished: WatchRunFinished
    retryable: bool
    now_us: int


class RetryLandings(msgspec.Struct, frozen=True):
    """Work on parked files after all; None for all of them."""

    watch_id: WatchId
    landings: tuple[Seq, ...] | None


class DismissLandings(msgspec.Struct, frozen=True):
    """Forget parked files; None for all of them."""

    watch_id: WatchId
    landings: tuple[Seq, ...] | None


class RecordWrites(msgspec.Struct, frozen=True):
    """Record that kbd is about to write files into a folder."""

    written: FilesWritten


class RecordCommandEnd(msgspec.Struct, frozen=True):
    """Record that a rule's command was run."""

    ended: WatchCommandEnded


WatchCommand = (
    AddWatch
    | PassOverFiles
    | RemoveWatch
    | PauseWatch
    | ResumeWatch
    | RecordLanding
    | StartNext
    | FinishRun
    | RetryLandings
    | DismissLandings
    | RecordWrites
    | RecordCommandEnd
)
"""Everything that `decide_watch` answers."""


def decide_watch(state: Watching, command: WatchCommand) -> Decision:
    """Decide a command about watched folders.

    Raises:
        NotFound: There is no such watch, or no such parked file.
        ValidationFailed: It is not allowed now.
    """
    match command:
        case AddWatch():
            return _add(state, command)
        case PassOverFiles(watch_id=watch_id, passed=passed):
            return Decision((FilesPassedOver(_watch(state, watch_id).watch_id, passed),))
        case RemoveWatch(watch_id=watch_id):
            return Decision((WatchRemoved(_watch(state, watch_id).watch_id),))
        case PauseWatch(watch_id=watch_id, reason=reason):
            paused = _watch(state, watch_id).status is WatchStatus.PAUSED
            return Decision() if paused else Decision((WatchPaused(watch_id, reason),))
        case ResumeWatch():
            return _resume(state, command)
        case RecordLanding():
            return _land(state, command)
        case StartNext(watch_id=watch_id, now_us=now_us, batch_closed=batch_closed):
            watch = state.watches.get(watch_id)
            return start_next(watch, now_us, batch_closed=batch_closed) if watch else Decision()
        case FinishRun(finished=finished, retryable=retryable, now_us=now_us):
            watch = state.watches.get(finished.watch_id)
            return finish_run(watch, finished, now_us, retryable=retryable) if watch else Decision()
        case RetryLandings(watch_id=watch_id) | DismissLandings(watch_id=watch_id):
            parked = _parked(_watch(state, watch_id), command.landings)
            retried = isinstance(command, RetryLandings)
            kind = LandingsRetried if retried else LandingsDismissed
            return Decision((kind(watch_id, parked),) if parked else ())
        case RecordWrites(written=written):
            return Decision() if _is_recorded(state, written) else Decision((written,))
        case RecordCommandEnd(ended=ended):
            watch = state.watches.get(ended.watch_id)
            due = watch.due if watch is not None else ()
            is_due = any(each.landings == ended.landings for each in due)
            return Decision((ended,)) if is_due else Decision()
        case _:
            assert_never(command)


def _watch(state: Watching, watch_id: WatchId) -> Watch:
    watch = state.watches.get(watch_id)
    if watch is None or watch.status is WatchStatus.REMOVED:
        msg = f"there is no watch {watch_id}"
        raise NotFound(msg)
    return watch


def _add(state: Watching, command: AddWatch) -> Decision:
    if command.watch_id in state.watches:
        msg = "that watch id is taken"
        raise ValidationFailed(msg)
    if len(state.watches) >= MAX_WATCHES:
        msg = f"{MAX_WATCHES} folders are watched, and no more can be: remove one first"
        raise ValidationFailed(msg)
    if len(command.passed) > MAX_PASSED:
        msg = f"more than {MAX_PASSED:,} files are in the folder: watch a folder below it"
        raise ValidationFailed(msg)
    facts: list[Event] = [WatchAdded(command.watch_id, command.rule, command.retention)]
    # In one frame with the watch: after a crash between them every old file would land as new.
    for place in range(0, len(command.passed), PASSED_PER_EVENT):
        files = command.passed[place : place + PASSED_PER_EVENT]
        facts.append(FilesPassedOver(command.watch_id, files))
    return Decision(tuple(facts))


def _resume(state: Watching, command: ResumeWatch) -> Decision:
    watch = _watch(state, command.watch_id)
    if watch.status is WatchStatus.ACTIVE and command.consent is None:
        return Decision()
    if not watch.restored:
        return Decision((WatchResumed(watch.watch_id, command.consent),))
    confirmed = command.confirmed or RuleConfirmation()
    missing = unconfirmed(watch.rule, confirmed)
    if missing:
        raise ValidationFailed(
            "the rule of this watch came with a restored home, and nobody has confirmed what it "
            f"does by itself: {', '.join(missing)}; confirm each as `detail` names it",
            actions=("resume it with `confirm`, or remove the watch",),
            detail={"unconfirmed": missing},
        )
    return Decision((WatchResumed(watch.watch_id, command.consent, confirmed),))


def unconfirmed(rule: WatchRule, confirmed: RuleConfirmation) -> dict[str, object]:
    """Return what a rule does by itself and a person did not confirm, by its parameter.

    Word for word: a yes to another command, or another folder, is none.
    """
    missing: dict[str, object] = {}
    if rule.on_outcome and confirmed.on_outcome != rule.on_outcome:
        missing["on_outcome"] = list(rule.on_outcome)
    if rule.publish == "auto" and confirmed.publish != rule.publish:
        missing["publish"] = rule.publish
    if rule.deliver_to is not None and confirmed.deliver_to != rule.deliver_to:
        missing["deliver_to"] = rule.deliver_to
    return missing


def _land(state: Watching, command: RecordLanding) -> Decision:
    watch = _watch(state, command.watch_id)
    landed = FileLanded(
        watch_id=command.watch_id,
        path=command.path,
        sha256=command.sha256,
        size_bytes=command.size_bytes,
        signature=command.signature,
    )
    if not command.sha256:
        # The same file fails in the same way at every scan; it is recorded once.
        if watch.signatures.get(command.path) == command.signature:
            return Decision()
        failed = {"outcome": "failed", "code": command.code, "message": command.message}
        return Decision((msgspec.structs.replace(landed, **failed),))
    if watch.has_landed(command.path, command.sha256):
        return Decision()
    depth = state.depth_of(command.sha256)
    landed = msgspec.structs.replace(landed, depth=depth)
    before = watch.contents.get(command.sha256, ())
    # Asked first: a known content whose old path no longer holds it was renamed, whoever wrote it.
    gone = [path for path in before if path in command.gone]
    if gone:
        landed = msgspec.structs.replace(landed, outcome="moved", moved_from=gone[-1])
    elif state.is_written_by_kbd(command.sha256, command.folder, command.watch_id):
        landed = msgspec.structs.replace(landed, outcome="own")
    elif depth > watch.rule.limits.chain_depth:
        landed = msgspec.structs.replace(
            landed,
            outcome="failed",
            code=ValidationFailed.code,
            message=(
                f"it is the result of {depth - 1} rules in turn, and the rule allows a chain of "
                f"{watch.rule.limits.chain_depth}: the rules may feed each other"
            ),
        )
    return Decision((landed,))


def _is_recorded(state: Watching, written: FilesWritten) -> bool:
    place = Written(written.folder, written.watch_id, written.depth)
    return all(place in state.written.get(sha256, ()) for sha256 in written.hashes)


def _parked(watch: Watch, numbers: tuple[Seq, ...] | None) -> tuple[Seq, ...]:
    parked = {landing.landing_id for landing in watch.in_stage(LandingStage.PARKED)}
    if numbers is None:
        return tuple(sorted(parked))
    for number in numbers:
        if number not in parked:
            msg = f"no parked file of this watch has the number {number}"
            raise NotFound(msg)
    return tuple(sorted(set(numbers)))
