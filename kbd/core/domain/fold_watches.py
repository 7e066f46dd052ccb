"""Fold of the events of watched folders into their state: a table by type of event."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.core.domain.watch_state import (
    HOUR_US,
    Ended,
    Landing,
    LandingStage,
    Start,
    Watch,
    Watching,
    WatchStatus,
    Written,
)
from kbd.events.base import Recorded
from kbd.events.watches import (
    FileLanded,
    FilesPassedOver,
    FilesWritten,
    LandingsDismissed,
    LandingsParked,
    LandingsRetried,
    WatchAdded,
    WatchCommandEnded,
    WatchPaused,
    WatchRemoved,
    WatchResumed,
    WatchRunFinished,
    WatchRunStarted,
    WatchSuspended,
)
from kbd.types import RunId, Seq, WorkbenchId

__all__ = ["RECENT_OUTCOMES", "WATCH_FOLDS"]

RECENT_OUTCOMES = 50
"""How many outcomes of a watch are kept at hand; all of them are in the log."""


def _added(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchAdded = record.data
    state.watches[data.watch_id] = Watch(data.watch_id, data.rule, record.ts_us)


def _passed_over(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: FilesPassedOver = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        watch.signatures.update((file.path, file.signature) for file in data.files)


def _removed(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: WatchRemoved = record.data
    if (watch := state.watches.get(data.watch_id)) is not None:
        watch.status, watch.code, watch.reason = WatchStatus.REMOVED, "", ""
        for landing in watch.in_stage(
            LandingStage.WAITING, LandingStage.RETRYING, LandingStage.PARKED
        ):
            del watch.landings[landing.landing_id]
        _forget_removed(state, watch)


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
        if data.consent is not None:
            watch.rule = msgspec.structs.replace(watch.rule, consent=data.consent)


def _set_status(watch: Watch | None, status: WatchStatus, code: str, reason: str) -> None:
    if watch is not None and watch.status is not WatchStatus.REMOVED:
        watch.status, watch.code, watch.reason = status, code, reason


def _landed(state: Watching, seq: Seq, record: Recorded) -> None:
    data: FileLanded = record.data
    watch = state.watches.get(data.watch_id)
    if watch is None:
        return
    watch.landed += 1
    if data.path in watch.signatures:
        _supersede(watch, data.path)
    watch.signatures[data.path] = data.signature
    if data.sha256:
        watch.contents[data.sha256] = (*watch.contents.get(data.sha256, ()), data.path)
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
    _forget_removed(state, watch)


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
        _forget_removed(state, watch)


def _written(state: Watching, _seq: Seq, record: Recorded) -> None:
    data: FilesWritten = record.data
    place = Written(data.folder, data.watch_id, data.depth)
    alone = (place,)
    for sha256 in data.hashes:
        known = state.written.get(sha256, ())
        if place not in known:
            # Most contents are written to one place; all of an event share it.
            state.written[sha256] = (*known, place) if known else alone


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


def _forget_removed(state: Watching, watch: Watch) -> None:
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
