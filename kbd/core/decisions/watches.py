"""Decisions about watched folders: which content counts, what runs, what is put aside.

The hour over which runs are counted ends at the `now_us` of a command.
"""

import hashlib
from typing import assert_never

import msgspec

from kbd.core.decisions.decision import Decision
from kbd.core.state.watches import HOUR_US, Landing, LandingStage, Watch, Watching, WatchStatus
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
    "Land",
    "NoteCommand",
    "NoteWritten",
    "PauseWatch",
    "RemoveWatch",
    "ResumeWatch",
    "RetryLandings",
    "StartNext",
    "WatchCommand",
    "decide_watch",
    "workbench_of",
]

PASSED_AT_ONCE = 1000
"""How many files one event names; a client reads events in messages of at most 10 MiB."""

MAX_PASSED = 300_000
"""How many files may be passed over: they are recorded in one frame, with the watch itself."""

MAX_WATCHES = 200
"""Each has a thread that listens, and its tree is looked through every minute."""


class AddWatch(msgspec.Struct, frozen=True):
    """Watch a folder from now on; `passed` were there before and are not to be worked on."""

    watch_id: WatchId
    rule: WatchRule
    passed: tuple[PassedFile, ...] = ()


class RemoveWatch(msgspec.Struct, frozen=True):
    """Watch a folder no more."""

    watch_id: WatchId


class PauseWatch(msgspec.Struct, frozen=True):
    """Start no runs until it is resumed."""

    watch_id: WatchId
    reason: str = ""


class ResumeWatch(msgspec.Struct, frozen=True):
    """Start runs again, perhaps with a consent that was missing."""

    watch_id: WatchId
    consent: WatchConsent | None = None


class Land(msgspec.Struct, frozen=True):
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
    """Record how a run ended; a failure that a retry may mend is put off instead of parked.

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


class NoteWritten(msgspec.Struct, frozen=True):
    """Record that kbd is about to write files into a folder."""

    written: FilesWritten


class NoteCommand(msgspec.Struct, frozen=True):
    """Record that a rule's command was run."""

    ended: WatchCommandEnded


WatchCommand = (
    AddWatch
    | RemoveWatch
    | PauseWatch
    | ResumeWatch
    | Land
    | StartNext
    | FinishRun
    | RetryLandings
    | DismissLandings
    | NoteWritten
    | NoteCommand
)
"""Everything that `decide_watch` answers."""


def decide_watch(state: Watching, command: WatchCommand) -> Decision:
    """Return what a command about watched folders leads to.

    Raises:
        NotFound: There is no such watch, or no such parked file.
        ValidationFailed: It is not allowed now.
    """
    match command:
        case AddWatch():
            return _add(state, command)
        case RemoveWatch(watch_id=watch_id):
            return Decision((WatchRemoved(_watch(state, watch_id).watch_id),))
        case PauseWatch(watch_id=watch_id, reason=reason):
            paused = _watch(state, watch_id).status is WatchStatus.PAUSED
            return Decision() if paused else Decision((WatchPaused(watch_id, reason),))
        case ResumeWatch(watch_id=watch_id, consent=consent):
            active = _watch(state, watch_id).status is WatchStatus.ACTIVE
            nothing = active and consent is None
            return Decision() if nothing else Decision((WatchResumed(watch_id, consent),))
        case Land():
            return _land(state, command)
        case StartNext():
            return _start_next(state, command)
        case FinishRun():
            return _finish(state, command)
        case RetryLandings(watch_id=watch_id, landings=numbers):
            parked = _parked(_watch(state, watch_id), numbers)
            return Decision((LandingsRetried(watch_id, parked),) if parked else ())
        case DismissLandings(watch_id=watch_id, landings=numbers):
            parked = _parked(_watch(state, watch_id), numbers)
            return Decision((LandingsDismissed(watch_id, parked),) if parked else ())
        case NoteWritten(written=written):
            return Decision((written,))
        case NoteCommand(ended=ended):
            return Decision((ended,))
        case _:
            assert_never(command)


def workbench_of(watch: Watch, group: tuple[Landing, ...]) -> WorkbenchId:
    """Return the id of the workbench for a run on landed files: the same for the same files."""
    digest = hashlib.sha256(watch.watch_id.encode())
    for landing in group:
        # Contents without a hash never run; path and hash are the key (reliability, section 2.6).
        digest.update(f"\0{landing.path}\0{landing.sha256}".encode())
    return WorkbenchId(digest.hexdigest()[:16])


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
    facts: list[Event] = [WatchAdded(command.watch_id, command.rule)]
    for place in range(0, len(command.passed), PASSED_AT_ONCE):
        files = command.passed[place : place + PASSED_AT_ONCE]
        facts.append(FilesPassedOver(command.watch_id, files))
    return Decision(tuple(facts))


def _land(state: Watching, command: Land) -> Decision:
    watch = _watch(state, command.watch_id)
    landed = FileLanded(
        watch_id=command.watch_id,
        path=command.path,
        sha256=command.sha256,
        size_bytes=command.size_bytes,
        signature=command.signature,
    )
    if not command.sha256:
        if watch.signatures.get(command.path) == command.signature:
            return Decision()
        failed = {"outcome": "failed", "code": command.code, "message": command.message}
        return Decision((msgspec.structs.replace(landed, **failed),))
    if watch.has_landed(command.path, command.sha256):
        return Decision()
    depth = state.depth_of(command.sha256)
    landed = msgspec.structs.replace(landed, depth=depth)
    before = watch.contents.get(command.sha256, ())
    gone = [path for path in before if path in command.gone]
    if gone:
        landed = msgspec.structs.replace(landed, outcome="moved", moved_from=gone[-1])
    elif state.is_own(command.sha256, command.folder, command.watch_id):
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


def _start_next(state: Watching, command: StartNext) -> Decision:
    watch = state.watches.get(command.watch_id)
    if watch is None or watch.status is not WatchStatus.ACTIVE:
        return Decision()
    due = _due_again(watch, command.now_us)
    if due:
        return _started(watch, due)
    waiting = watch.in_stage(LandingStage.WAITING)
    if watch.rule.mode == "batch":
        most = watch.rule.limits.batch_files
        if not command.batch_closed and len(waiting) < most:
            return Decision()
        waiting = waiting[:most]
    else:
        waiting = waiting[:1]
    if not waiting:
        return Decision()
    hour = [each for each in watch.starts if each.at_us > command.now_us - HOUR_US]
    limits = watch.rule.limits
    if len(hour) >= limits.runs_per_hour:
        reason = (
            f"{len(hour)} runs were started within an hour, and the rule allows "
            f"{limits.runs_per_hour}: look what lands there, then resume it"
        )
        return Decision((WatchSuspended(watch.watch_id, BudgetCapReached.code, reason),))
    counted = [path for each in hour for path in each.paths]
    busy = [x for x in waiting if counted.count(x.path) >= limits.runs_per_path_hour]
    if busy:
        message = (
            f"{limits.runs_per_path_hour} contents of this path were worked on within an hour, "
            "and the rule allows no more: retry it later"
        )
        numbers = tuple(landing.landing_id for landing in busy)
        return Decision((LandingsParked(watch.watch_id, numbers, BudgetCapReached.code, message),))
    return _started(watch, waiting)


def _due_again(watch: Watch, now_us: int) -> list[Landing]:
    """Return the files of the oldest run that is to be resumed now: they stay together."""
    for landing in watch.landings.values():
        again = landing.stage is LandingStage.WAITING and landing.group
        put_off = landing.stage is LandingStage.RETRYING and landing.retry_at_us <= now_us
        if again or put_off:
            return [
                watch.landings[number]
                for number in landing.group
                if number in watch.landings and watch.landings[number].stage is landing.stage
            ]
    return []


def _started(watch: Watch, group: list[Landing]) -> Decision:
    first = group[0]
    workbench_id = first.workbench_id or workbench_of(watch, tuple(group))
    numbers = tuple(landing.landing_id for landing in group)
    started = WatchRunStarted(watch.watch_id, numbers, workbench_id, first.attempt + 1)
    return Decision((started,), cause=numbers[-1])


def _finish(state: Watching, command: FinishRun) -> Decision:
    finished = command.finished
    watch = state.watches.get(finished.watch_id)
    if watch is None:
        return Decision()
    group = [watch.landings[n] for n in finished.landings if n in watch.landings]
    running = [landing for landing in group if landing.stage is LandingStage.RUNNING]
    if not running:
        return Decision()
    if finished.outcome != "failed":
        return Decision((finished,))
    policy, attempt = watch.rule.on_failure, running[0].attempt
    if command.retryable and attempt <= policy.retries and watch.status is not WatchStatus.REMOVED:
        wait_us = int(policy.wait_s * 2 ** (attempt - 1) * 1_000_000)
        put_off = msgspec.structs.replace(finished, retry_at_us=command.now_us + wait_us)
        return Decision((put_off,))
    facts: list[Event] = [finished]
    if policy.then == "pause" and watch.status is WatchStatus.ACTIVE:
        facts.append(WatchPaused(watch.watch_id, f"a run failed: {finished.message}"))
    return Decision(tuple(facts))


def _parked(watch: Watch, numbers: tuple[Seq, ...] | None) -> tuple[Seq, ...]:
    parked = {landing.landing_id for landing in watch.in_stage(LandingStage.PARKED)}
    if numbers is None:
        return tuple(sorted(parked))
    for number in numbers:
        if number not in parked:
            msg = f"no parked file of this watch has the number {number}"
            raise NotFound(msg)
    return tuple(sorted(set(numbers)))
