"""Words for the events of watched folders: what landed, what ran, what was put aside."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kbd.core.domain.event_context import EventContext
from kbd.events import watches
from kbd.figures import counted, size

__all__ = ["WATCH_DIGITS", "WATCH_TEXTS"]

LANDINGS_NAMED = 5
"""How many landed files a title names by their numbers."""

WATCH_DIGITS = 8
"""How much of a watch's id names it."""


def _watch(data: Any) -> str:
    return f"watch {data.watch_id[:WATCH_DIGITS]}"


def _landings(data: Any) -> str:
    """Name landed files by the numbers of the events that tell of them."""
    numbers = [str(number) for number in data.landings]
    left = len(numbers) - LANDINGS_NAMED
    more = f" and {left} more" if left > 0 else ""
    return f"no. {', '.join(numbers[:LANDINGS_NAMED])}{more}"


def _landed(data: watches.FileLanded, _context: EventContext) -> str:
    became = {
        "moved": f", known before as {data.moved_from}: no run",
        "own": ", written by kbd itself: no run",
        "failed": f", put aside: {data.code}: {data.message}",
    }.get(data.outcome, "")
    return f"{_watch(data)}: {data.path} landed ({size(data.size_bytes)}){became}"


def _watch_run_started(data: watches.WatchRunStarted, _context: EventContext) -> str:
    where = f"worked on in {data.workbench_id}, attempt {data.attempt}"
    return f"{_watch(data)}: {_landings(data)} {where}"


def _watch_run_finished(data: watches.WatchRunFinished, _context: EventContext) -> str:
    if data.outcome == "failed":
        again = "to be tried again: " if data.retry_at_us else ""
        ended = f"failed, {again}{data.code}: {data.message}"
    else:
        delivered = ", ".join(data.delivered)
        ended = f"{data.outcome}{f', delivered {delivered}' if delivered else ''}"
    return f"{_watch(data)}: {_landings(data)} ended: {ended}"


def _command_ended(data: watches.WatchCommandEnded, _context: EventContext) -> str:
    how = f"with code {data.exit_code}" if data.exit_code is not None else f"badly: {data.message}"
    return f"{_watch(data)}: command for {_landings(data)} ended {how}"


def _written(data: watches.FilesWritten, _context: EventContext) -> str:
    files = counted(len(data.hashes), "file")
    return f"kbd writes {files} into {data.folder}: no reason for a run"


def _retention(own: watches.RuleRetention | None) -> str:
    if own is None:
        return ""
    archived = counted(own.archive_after_days, "day") if own.archive_after_days else "never"
    removed = counted(own.remove_after_days, "day") if own.remove_after_days else "never"
    return f"; archived after: {archived}, removed after: {removed}"


WATCH_TEXTS: Mapping[type, Callable[[Any, EventContext], str]] = MappingProxyType(
    {
        watches.WatchAdded: lambda e, _: (
            f"watching {e.rule.folder} ({e.rule.name}) as"
            f" {e.watch_id[:WATCH_DIGITS]}{_retention(e.retention)}"
        ),
        watches.FilesPassedOver: lambda e, _: (
            f"{_watch(e)}: {counted(len(e.files), 'file')} there already, passed over"
        ),
        watches.WatchRemoved: lambda e, _: f"{_watch(e)} was removed",
        watches.WatchPaused: lambda e, _: (
            f"{_watch(e)} paused{f': {e.reason}' if e.reason else ''}"
        ),
        watches.WatchSuspended: lambda e, _: f"{_watch(e)} suspended: {e.code}: {e.reason}",
        watches.FileLanded: _landed,
        watches.WatchRunStarted: _watch_run_started,
        watches.WatchRunFinished: _watch_run_finished,
        watches.LandingsParked: lambda e, _: (
            f"{_watch(e)}: {_landings(e)} put aside: {e.code}: {e.message}"
        ),
        watches.LandingsRetried: lambda e, _: f"{_watch(e)}: {_landings(e)} taken up again",
        watches.LandingsDismissed: lambda e, _: f"{_watch(e)}: {_landings(e)} dismissed",
        watches.WatchCommandEnded: _command_ended,
        watches.FilesWritten: _written,
    }
)
"""What each type of their events tells."""
