"""The daemon's log without a disk, with one watched folder: decide and fold as the Keeper does."""

from collections.abc import Sequence
from typing import TypeVar

from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import AddWatch, FinishRun, RecordLanding, StartNext
from kbd.core.domain.watch_state import Landing, LandingStage, Watch
from kbd.events.base import Recorded
from kbd.events.codec import wrap_event
from kbd.events.vocabulary import Event
from kbd.events.watches import (
    FileLanded,
    RuleLimits,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
)
from kbd.types import RunId, Seq, WatchId

__all__ = ["FOLDER", "WATCH", "FoldedWatches", "hash_of", "rule"]

WATCH = WatchId("0123456789abcdef")
FOLDER = "/home/someone/inbox"
SECOND_US = 1_000_000
T = TypeVar("T")

MANY = RuleLimits(runs_per_hour=1000, runs_per_path_hour=1000)


def hash_of(mark: str) -> str:
    """Return a hash that stands for some content."""
    return mark.encode().hex().ljust(64, "0")


def rule(limits: RuleLimits = MANY, **wanted: object) -> WatchRule:
    """Return a rule that allows many runs, unless something else is wanted."""
    fields = {"name": "inbox", "folder": FOLDER, "prompt": "do it", **wanted}
    return WatchRule(**fields, limits=limits)  # type: ignore[arg-type]


class FoldedWatches:
    """A state, all that was recorded, and the time.

    Args:
        of: The rule of the first watch.
    """

    def __init__(self, of: WatchRule | None = None) -> None:
        self.state = DaemonState()
        self.records: list[Recorded] = []
        self.now_us = 1_000_000_000 * SECOND_US
        self.do(AddWatch(WATCH, of or rule()))

    @property
    def watch(self) -> Watch:
        """The first watch."""
        return self.state.watching.watches[WATCH]

    def pass_time(self, seconds: float) -> None:
        """Have so many seconds go by."""
        self.now_us += int(seconds * SECOND_US)

    def do(self, command: DaemonCommand) -> tuple[Event, ...]:
        """Decide a command and fold what it leads to."""
        decision = decide_daemon(self.state, command)
        for event in decision.events:
            record = wrap_event(event, self.now_us, decision.run, decision.cause)
            self.records.append(record)
            fold_daemon(self.state, Seq(self.state.seq + 1), record)
        return decision.events

    def land(self, path: str, mark: str, **other: object) -> FileLanded | None:
        """Have a content land; return what was recorded, if anything was."""
        fields = {"watch_id": WATCH, "folder": FOLDER, "signature": f"{path} {mark}", **other}
        events = self.do(RecordLanding(path=path, sha256=hash_of(mark), size_bytes=3, **fields))  # type: ignore[arg-type]
        return _only(events, FileLanded)

    def misread(self, path: str, signature: str) -> FileLanded | None:
        """Have a file land that could not be read."""
        land = RecordLanding(
            WATCH, path, FOLDER, "", 3, signature, code="FILE_READ_FAILED", message="no"
        )
        return _only(self.do(land), FileLanded)

    def start(self, *, batch_closed: bool = True) -> WatchRunStarted | None:
        """Begin what is next; return it if it is a run."""
        events = self.do(StartNext(WATCH, self.now_us, batch_closed))
        return _only([x for x in events if isinstance(x, WatchRunStarted)], WatchRunStarted)

    def finish(
        self, started: WatchRunStarted | None, outcome: str = "published", *, retryable: bool = True
    ) -> tuple[Event, ...]:
        """End a run that was begun; return what was recorded."""
        assert started is not None
        code, message = ("NETWORK_UNAVAILABLE", "gone") if outcome == "failed" else ("", "")
        finished = WatchRunFinished(
            started.watch_id,
            started.landings,
            started.workbench_id,
            outcome,  # type: ignore[arg-type]
            RunId("1"),
            code,
            message,
        )
        return self.do(FinishRun(finished, retryable, self.now_us))

    def worked_on(self, *, outcome: str = "published") -> list[str]:
        """Begin and end runs until none is due; return the paths in the order of their runs."""
        paths: list[str] = []
        while (started := self.start()) is not None:
            paths += [self.watch.landings[number].path for number in started.landings]
            self.finish(started, outcome, retryable=False)
        return paths

    def paths(self, *stages: LandingStage) -> list[str]:
        """Return the paths of the landings that are so far, oldest first."""
        return [landing.path for landing in self.watch.in_stage(*stages)]

    def landing(self, path: str) -> Landing:
        """Return the newest landing of a path that is not done."""
        return [x for x in self.watch.landings.values() if x.path == path][-1]


def _only(events: Sequence[Event], kind: type[T]) -> T | None:
    if not events:
        return None
    (event,) = events
    assert isinstance(event, kind)
    return event
