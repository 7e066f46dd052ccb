"""State of watched folders: the rule of each, what waits, what runs, what is parked.

Below the records, their fold: a table by type of event.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.errors import UserCanceled
from kbd.events.base import Recorded
from kbd.events.restores import HomeRestored
from kbd.events.watches import (
    FileLanded,
    FilesPassedOver,
    FilesWritten,
    LandingsDismissed,
    LandingsParked,
    LandingsRetried,
    RuleRetention,
    WatchAdded,
    WatchCommandEnded,
    WatchPaused,
    WatchRemoved,
    WatchResumed,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
    WatchSuspended,
)
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "HOUR_US",
    "RECENT_OUTCOMES",
    "WATCH_FOLDS",
    "Ended",
    "Landing",
    "LandingStage",
    "Start",
    "Watch",
    "WatchStatus",
    "Watching",
    "Written",
    "carries_consent",
    "suspend_restored",
]


HOUR_US = 3_600_000_000
"""The time over which a rule's runs are counted."""


class WatchStatus(StrEnum):
    """Status of a watch: whether it starts runs; in all but the last, landings are recorded."""

    ACTIVE = "active"
    PAUSED = "paused"
    SUSPENDED = "suspended"
    REMOVED = "removed"


class LandingStage(StrEnum):
    """Stage of a landed file; one that is done is no landing any more."""

    WAITING = "waiting"
    RUNNING = "running"
    RETRYING = "retrying"
    PARKED = "parked"


class Landing(msgspec.Struct):
    """A landed file that is not done.

    Args:
        landing_id: The number of its `FileLanded`.
        path: Its path below the folder.
        sha256: The hash of its copy; "" if there is none.
        size_bytes: Its size.
        depth: How deep in a chain of rules.
        landed_at_us: When it was recorded.
        stage: How far it is.
        group: The landings of its last run, itself among them; () before the first.
        workbench_id: Where that run is; "" before the first.
        run_id: The run, as far as one is known.
        attempt: How many attempts were begun in that workbench.
        pardoned: How many of them do not count as retries any more: a person asked for another.
        retry_at_us: When it is tried again, while it is retrying.
        code: Why it failed last.
        message: The same for people.
    """

    landing_id: Seq
    path: str
    sha256: str
    size_bytes: int
    depth: int
    landed_at_us: int
    stage: LandingStage = LandingStage.WAITING
    group: tuple[Seq, ...] = ()
    workbench_id: WorkbenchId = WorkbenchId("")
    run_id: RunId = RunId("")
    attempt: int = 0
    pardoned: int = 0
    retry_at_us: int = 0
    code: str = ""
    message: str = ""


class Ended(msgspec.Struct, frozen=True):
    """An outcome: of a run on landed files, or of files that came to none.

    Args:
        landings: Their numbers.
        paths: Their paths below the folder.
        outcome: "published", "review", "unchanged", "failed", "moved" or "own".
        ended_at_us: When it was recorded.
        workbench_id: Where the run is; "" if there was none.
        run_id: The run.
        code: Why it failed.
        message: The same for people; if nothing changed, what the run said.
        delivered: The paths of the copies in `deliver_to`.
    """

    landings: tuple[Seq, ...]
    paths: tuple[str, ...]
    outcome: str
    ended_at_us: int
    workbench_id: WorkbenchId = WorkbenchId("")
    run_id: RunId = RunId("")
    code: str = ""
    message: str = ""
    delivered: tuple[str, ...] = ()


class Start(msgspec.Struct, frozen=True):
    """A first attempt that was begun; what the limits of an hour count."""

    at_us: int
    paths: tuple[str, ...]


class Watch(msgspec.Struct):
    """A watched folder.

    Args:
        watch_id: Its id.
        rule: What is wanted; with the consent that came later.
        created_at_us: When it was added.
        status: Whether it starts runs.
        code: Why it is suspended.
        reason: Why it is paused or suspended.
        landings: What is not done, by number, oldest first.
        contents: Under which paths each content landed, by its hash.
        signatures: What each path looked like when it last landed or was passed over.
        starts: The runs of the hour before the newest, oldest first.
        recent: The newest outcomes, oldest first.
        due: Outcomes for which the rule's command was not run yet, oldest first.
        landed: How many files landed.
        ended: How many outcomes were recorded, by name.
        restored: Whether its rule came with a restored home and nobody resumed it since: nothing
            of the rule is in force, and its folder is not looked at.
        retention: After how long what the rule made goes; None for what `[retention]` says.
    """

    watch_id: WatchId
    rule: WatchRule
    created_at_us: int
    status: WatchStatus = WatchStatus.ACTIVE
    code: str = ""
    reason: str = ""
    landings: dict[Seq, Landing] = {}
    contents: dict[str, list[str]] = {}
    signatures: dict[str, str] = {}
    starts: list[Start] = []
    recent: list[Ended] = []
    due: list[Ended] = []
    landed: int = 0
    ended: dict[str, int] = {}
    restored: bool = False
    retention: RuleRetention | None = None

    def has_landed(self, path: str, sha256: str) -> bool:
        """Tell whether this content landed under this path before."""
        return path in self.contents.get(sha256, ())

    def in_stage(self, *stages: LandingStage) -> list[Landing]:
        """Return the landings that are so far, oldest first."""
        return [landing for landing in self.landings.values() if landing.stage in stages]


def carries_consent(rule: WatchRule, model_id: str, endpoint: str) -> bool:
    """Return whether a person agreed, with the rule, that what lands may go to a model.

    Args:
        rule: The rule.
        model_id: The model.
        endpoint: The host and port that it is at now.
    """
    given = rule.consent
    # The place, too: a setting may since lead the same model's name to another server.
    if given is None or given.endpoint not in ("", endpoint):
        return False
    return (given.provider_id, given.model_id) == (model_id.partition(":")[0], model_id)


class Written(msgspec.Struct, frozen=True):
    """Record of a content that kbd wrote into a folder itself.

    Args:
        folder: Where.
        watch_id: The watch that delivered it, or "".
        depth: How deep in a chain of rules it was made.
    """

    folder: str
    watch_id: str
    depth: int


class Watching(msgspec.Struct):
    """State of all watched folders.

    Args:
        watches: By id, oldest first.
        written: What kbd wrote where people may watch, by the content's hash.
    """

    watches: dict[WatchId, Watch] = {}
    written: dict[str, tuple[Written, ...]] = {}

    def depth_of(self, sha256: str) -> int:
        """Return how deep in a chain of rules a landed content is; 1 for a person's."""
        return 1 + max((each.depth for each in self.written.get(sha256, ())), default=0)

    def is_written_by_kbd(self, sha256: str, folder: str, watch_id: WatchId) -> bool:
        """Return whether kbd itself wrote this content into this folder, and not for this watch.

        What another watch delivered there is a link of a chain that somebody made on purpose.
        """
        return any(
            each.folder == folder and each.watch_id in ("", watch_id)
            for each in self.written.get(sha256, ())
        )


RECENT_OUTCOMES = 50
"""How many outcomes of a watch are kept at hand; all of them are in the log."""


def _added(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchAdded = record.data
    state.watches[data.watch_id] = Watch(
        data.watch_id, data.rule, record.ts_us, retention=data.retention
    )


def _passed_over(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: FilesPassedOver = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        watch.signatures.update((file.path, file.signature) for file in data.files)


def _removed(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchRemoved = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        watch.status, watch.code, watch.reason = WatchStatus.REMOVED, "", ""
        # What is running stays until the end of its run is recorded, which lets go of it.
        for landing in watch.in_stage(
            LandingStage.WAITING, LandingStage.RETRYING, LandingStage.PARKED
        ):
            del watch.landings[landing.landing_id]
        _drop_removed(state, watch)


def _paused(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchPaused = record.data
    _set_status(state.watches.get(data.watch_id), WatchStatus.PAUSED, "", data.reason)


def _suspended(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchSuspended = record.data
    _set_status(state.watches.get(data.watch_id), WatchStatus.SUSPENDED, data.code, data.reason)


def _resumed(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchResumed = record.data
    watch = state.watches.get(data.watch_id)
    _set_status(watch, WatchStatus.ACTIVE, "", "")
    if watch is not None:
        # A person has looked: what the hour held before does not count against the watch again.
        watch.starts.clear()
        # What a backup says that a person agreed to, no person may have said.
        if data.consent is not None or watch.restored:
            watch.rule = msgspec.structs.replace(watch.rule, consent=data.consent)
        watch.restored = False


def _set_status(watch: Watch | None, status: WatchStatus, code: str, reason: str) -> None:
    if watch is not None and watch.status is not WatchStatus.REMOVED:
        watch.status, watch.code, watch.reason = status, code, reason


def _landed(state: Watching, seq: Seq, record: Recorded) -> None:
    data: FileLanded = record.data
    watch = state.watches.get(data.watch_id)
    if watch is None:
        return
    watch.landed += 1
    # Only a path that was looked at before can be parked; many new files cost no search.
    if data.path in watch.signatures:
        _supersede(watch, data.path)
    watch.signatures[data.path] = data.signature
    if data.sha256:
        known = watch.contents.get(data.sha256)
        if known is None:
            watch.contents[data.sha256] = [data.path]
        else:
            # Never copied: one content may land under a hundred thousand paths.
            known.append(data.path)
    landing = Landing(
        landing_id=seq,
        path=data.path,
        sha256=data.sha256,
        size_bytes=data.size_bytes,
        depth=data.depth,
        landed_at_us=record.ts_us,
        code=data.code,
        message=data.message,
    )
    if data.outcome in ("", "failed"):
        watch.landings[seq] = landing
    if data.outcome == "failed":
        landing.stage = LandingStage.PARKED
    if data.outcome:
        _record_outcome(watch, _outcome(data.outcome, [landing], record.ts_us))


def _supersede(watch: Watch, path: str) -> None:
    """Let go of what could not be read under a path: it could now, or could not in another way."""
    for landing in watch.in_stage(LandingStage.PARKED):
        if landing.path == path and not landing.sha256:
            del watch.landings[landing.landing_id]


def _started(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchRunStarted = record.data
    watch = state.watches.get(data.watch_id)
    if watch is None:
        return
    group = _landings(watch, data.landings)
    for landing in group:
        landing.stage, landing.attempt = LandingStage.RUNNING, data.attempt
        landing.group, landing.workbench_id = data.landings, data.workbench_id
        landing.retry_at_us = 0
        if data.attempt == 1:  # In a workbench that is new to it.
            landing.pardoned, landing.run_id = 0, RunId("")
    if data.attempt == 1:
        over = 0
        while over < len(watch.starts) and watch.starts[over].at_us <= record.ts_us - HOUR_US:
            over += 1
        del watch.starts[:over]
        watch.starts.append(Start(record.ts_us, tuple(landing.path for landing in group)))


def _finished(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchRunFinished = record.data
    watch = state.watches.get(data.watch_id)
    if watch is None:
        return
    group = _landings(watch, data.landings)
    for landing in group:
        landing.run_id, landing.code, landing.message = data.run_id, data.code, data.message
        if data.retry_at_us:
            landing.stage, landing.retry_at_us = LandingStage.RETRYING, data.retry_at_us
        elif data.outcome == "failed" and watch.status is not WatchStatus.REMOVED:
            landing.stage = LandingStage.PARKED
        else:
            del watch.landings[landing.landing_id]
    if not data.retry_at_us:
        _record_outcome(watch, _outcome(data.outcome, group, record.ts_us, data.delivered))
    _drop_removed(state, watch)


def _parked(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: LandingsParked = record.data
    watch = state.watches.get(data.watch_id)
    if watch is None:
        return
    group = _landings(watch, data.landings)
    for landing in group:
        landing.stage = LandingStage.PARKED
        landing.code, landing.message = data.code, data.message
    _record_outcome(watch, _outcome("failed", group, record.ts_us))


def _retried(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: LandingsRetried = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        for landing in _landings(watch, data.landings):
            if landing.sha256:
                landing.stage, landing.pardoned = LandingStage.WAITING, landing.attempt
            else:  # There is no copy to work on: the file is looked at as if it were new.
                del watch.landings[landing.landing_id]
                watch.signatures.pop(landing.path, None)


def _dismissed(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: LandingsDismissed = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        for landing in _landings(watch, data.landings):
            del watch.landings[landing.landing_id]


def _command_ended(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchCommandEnded = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        # The oldest only: files that were retried meanwhile came to another outcome since.
        for place, ended in enumerate(watch.due):
            if ended.landings == data.landings:
                del watch.due[place]
                break
        _drop_removed(state, watch)


def _written(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: FilesWritten = record.data
    place = Written(data.folder, data.watch_id, data.depth)
    alone = (place,)
    for sha256 in data.hashes:
        known = state.written.get(sha256, ())
        if place not in known:
            # Most contents are written to one place; all of an event share it.
            state.written[sha256] = (*known, place) if known else alone


def suspend_restored(state: Watching, record: Recorded) -> None:
    """Pause every watch of a home that was restored, and end what was under way.

    The home that the backup is of may still be at work on the same folders, or it is a stranger's:
    no run goes on, no command that is due is run, and no rule holds before a person resumes it.
    """
    data: HomeRestored = record.data
    when = f"{data.created_at[:16].replace('T', ' ')} UTC"
    for watch in tuple(state.watches.values()):
        _park_interrupted(watch, record.ts_us)
        watch.due.clear()
        if watch.status is WatchStatus.REMOVED:
            del state.watches[watch.watch_id]
            continue
        watch.restored = True
        reason = (
            f"this home was restored from a backup of {when}: resume it when no other kbd watches "
            "the folder"
        )
        _set_status(watch, WatchStatus.PAUSED, "", reason)


def _park_interrupted(watch: Watch, at_us: int) -> None:
    """Put aside what a run was at work on, together with what it was begun with."""
    groups: dict[tuple[Seq, ...], list[Landing]] = {}
    for landing in watch.in_stage(LandingStage.RUNNING):
        groups.setdefault(landing.group, []).append(landing)
    for group in groups.values():
        for landing in group:
            landing.stage, landing.code = LandingStage.PARKED, UserCanceled.code
            landing.message = (
                "it was under way when the backup was made from which this home was restored, and "
                "may have come to its end elsewhere"
            )
        _record_outcome(watch, _outcome("failed", group, at_us))


def _landings(watch: Watch, numbers: tuple[Seq, ...]) -> list[Landing]:
    return [watch.landings[number] for number in numbers if number in watch.landings]


def _outcome(
    outcome: str, group: list[Landing], at_us: int, delivered: tuple[str, ...] = ()
) -> Ended:
    """Return the outcome of landings that were worked on, or put aside, together."""
    first = group[0] if group else None
    return Ended(
        landings=tuple(landing.landing_id for landing in group),
        paths=tuple(landing.path for landing in group),
        outcome=outcome,
        ended_at_us=at_us,
        workbench_id=first.workbench_id if first else WorkbenchId(""),
        run_id=first.run_id if first else RunId(""),
        code=first.code if first else "",
        message=first.message if first else "",
        delivered=delivered,
    )


def _record_outcome(watch: Watch, ended: Ended) -> None:
    if not ended.landings:  # None of them is there any more.
        return
    watch.ended[ended.outcome] = watch.ended.get(ended.outcome, 0) + len(ended.landings)
    watch.recent = [*watch.recent[-RECENT_OUTCOMES + 1 :], ended]
    if watch.rule.on_outcome and ended.outcome not in ("moved", "own"):
        watch.due.append(ended)


def _drop_removed(state: Watching, watch: Watch) -> None:
    """Let go of a removed watch when nothing of it is under way any more."""
    if watch.status is WatchStatus.REMOVED and not watch.landings and not watch.due:
        del state.watches[watch.watch_id]


WATCH_FOLDS: Mapping[type, Callable[[Watching, Seq, Any], None]] = MappingProxyType(
    {
        WatchAdded: _added,
        FilesPassedOver: _passed_over,
        WatchRemoved: _removed,
        WatchPaused: _paused,
        WatchSuspended: _suspended,
        WatchResumed: _resumed,
        FileLanded: _landed,
        WatchRunStarted: _started,
        WatchRunFinished: _finished,
        LandingsParked: _parked,
        LandingsRetried: _retried,
        LandingsDismissed: _dismissed,
        WatchCommandEnded: _command_ended,
        FilesWritten: _written,
    }
)
"""What each event of a watched folder changes; a missing watch is one that was removed."""
