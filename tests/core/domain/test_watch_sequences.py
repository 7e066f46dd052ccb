"""Whatever is asked of watched folders, in whatever order: nothing is lost, nothing runs twice."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from folded_watches import FOLDER, WATCH, FoldedWatches, hash_of
from folded_watches import rule as made
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import (
    AddWatch,
    DismissLandings,
    FinishRun,
    PauseWatch,
    RecordCommandEnd,
    RecordLanding,
    RecordWrites,
    RemoveWatch,
    ResumeWatch,
    RetryLandings,
    StartNext,
)
from kbd.core.domain.watch_state import LandingStage, WatchStatus
from kbd.errors import KbdError
from kbd.events import codec
from kbd.events.vocabulary import Event
from kbd.events.watches import (
    FailurePolicy,
    FileLanded,
    FilesWritten,
    LandingsDismissed,
    LandingsParked,
    LandingsRetried,
    RuleLimits,
    WatchCommandEnded,
    WatchRemoved,
    WatchRunFinished,
    WatchRunStarted,
)
from kbd.types import Seq, WatchId

OTHER = WatchId("fedcba9876543210")
WATCHES = st.sampled_from([WATCH, OTHER])
NAMES = st.sampled_from(["a.csv", "A.csv", "b.csv", "below/c.csv"])
MARKS = st.sampled_from(["", *(f"v{n}" for n in range(9))])
LIMITS = RuleLimits(runs_per_hour=6, runs_per_path_hour=3, chain_depth=2, batch_files=3)

Place = str
"""Where a landing is in the model: a stage's name, or "ended"."""


class Model:
    """What the log says, told again in the simplest words.

    Attributes:
        keys: Watch, path and content of all that landed.
        landed: The event of each landing.
        places: Where each landing is.
        runs: What is under way: watch and landings, with the workbench and the attempt.
        attempts: The runs that were begun: workbench and attempt.
        removed: Which watches were removed.
    """

    def __init__(self) -> None:
        self.keys: Counter[tuple[WatchId, str, str]] = Counter()
        self.landed: dict[Seq, FileLanded] = {}
        self.places: dict[Seq, Place] = {}
        self.runs: dict[tuple[Seq, ...], WatchRunStarted] = {}
        self.attempts: Counter[tuple[str, int]] = Counter()
        self.removed: set[WatchId] = set()

    def tell(self, seq: Seq, event: Event) -> None:
        """Note an event, and that it may happen now."""
        match event:
            case FileLanded():
                if event.sha256:
                    self.keys[event.watch_id, event.path, event.sha256] += 1
                # What could not be read there before is past.
                unread = (event.watch_id, event.path, "")
                self.put(
                    [x for x, e in self.landed.items() if unread == (e.watch_id, e.path, e.sha256)],
                    "ended",
                )
                self.landed[seq] = event
                at_once = {"": "waiting", "failed": "parked"}
                self.places[seq] = at_once.get(event.outcome, "ended")
            case WatchRunStarted():
                assert event.landings
                assert self.where(event.landings) <= {"waiting", "retrying"}
                self.runs[event.landings] = event
                self.attempts[event.workbench_id, event.attempt] += 1
                self.put(event.landings, "running")
            case WatchRunFinished():
                is_removed = event.watch_id in self.removed
                assert self.where(event.landings) == {"running"}
                assert self.runs.pop(event.landings).workbench_id == event.workbench_id
                failed = "parked" if event.outcome == "failed" and not is_removed else "ended"
                self.put(event.landings, "retrying" if event.retry_at_us else failed)
            case LandingsParked():
                assert self.where(event.landings) == {"waiting"}
                self.put(event.landings, "parked")
            case LandingsRetried():
                assert self.where(event.landings) == {"parked"}
                for landing in event.landings:
                    # What could not be read is looked at again, as if it were new.
                    self.places[landing] = "waiting" if self.landed[landing].sha256 else "ended"
            case LandingsDismissed():
                assert self.where(event.landings) == {"parked"}
                self.put(event.landings, "ended")
            case WatchRemoved():
                gone = [x for x, e in self.landed.items() if e.watch_id == event.watch_id]
                self.put([x for x in gone if self.places[x] != "running"], "ended")
                self.removed.add(event.watch_id)
            case _:
                pass

    def where(self, landings: tuple[Seq, ...]) -> set[Place]:
        """Return where landings are."""
        return {self.places[landing] for landing in landings}

    def put(self, landings: tuple[Seq, ...] | list[Seq], place: Place) -> None:
        """Move landings on."""
        self.places.update(dict.fromkeys(landings, place))


class Watched(RuleBasedStateMachine):
    """Two watches, one for files and one for batches, that deliver to each other."""

    def __init__(self) -> None:
        super().__init__()
        policy = FailurePolicy(retries=1, wait_s=10)
        told = ("tell",)
        self.folded = FoldedWatches(made(LIMITS, on_failure=policy, on_outcome=told))
        pausing = made(LIMITS, mode="batch", on_failure=FailurePolicy(1, 10, "pause"))
        self.model, self.told = Model(), 0
        self.folded.do(AddWatch(OTHER, pausing))

    def ask(self, command: Any) -> None:
        """Ask for something that may be refused, which then changes nothing."""
        before = len(self.folded.records)
        try:
            self.folded.do(command)
        except KbdError:
            assert len(self.folded.records) == before

    def stages(self) -> Counter[LandingStage]:
        """Return how many landings are how far."""
        watches = self.folded.state.watching.watches.values()
        return Counter(x.stage for watch in watches for x in watch.landings.values())

    @rule(watch_id=WATCHES, files=st.lists(st.tuples(NAMES, MARKS), min_size=1, max_size=4))
    def land(self, watch_id: WatchId, files: list[tuple[str, str]]) -> None:
        """Files land, or could not be read."""
        for path, mark in files:
            sha256, code = (hash_of(mark), "") if mark else ("", "FILE_READ_FAILED")
            self.ask(RecordLanding(watch_id, path, FOLDER, sha256, 1, f"{path} {mark}", (), code))

    @rule(watch_id=WATCHES, path=NAMES, pick=st.integers(0, 9))
    def rename(self, watch_id: WatchId, path: str, pick: int) -> None:
        """What landed before is seen under another name."""
        watch = self.folded.state.watching.watches.get(watch_id)
        known = list(watch.contents) if watch is not None else []
        if watch is not None and known:
            sha256 = known[pick % len(known)]
            gone = tuple(each for each in watch.contents[sha256] if each != path)
            self.ask(RecordLanding(watch_id, path, FOLDER, sha256, 1, f"{path} moved", gone))

    @precondition(lambda self: self.stages()[LandingStage.WAITING])
    @rule(closed=st.sampled_from([True, True, False]))
    def start(self, closed: bool) -> None:
        """Each watch begins its next run."""
        for watch_id in (WATCH, OTHER):
            self.ask(StartNext(watch_id, self.folded.now_us, closed))

    @precondition(lambda self: self.model.runs)
    @rule(
        outcome=st.sampled_from(["published", "failed", "failed", "review"]),
        retryable=st.sampled_from([True, True, False]),
        times=st.integers(1, 2),
    )
    def finish(self, outcome: Any, retryable: bool, times: int) -> None:
        """The oldest run that is under way ends, and is said to have ended once or twice."""
        run = next(iter(self.model.runs.values()))
        ended = WatchRunFinished(run.watch_id, run.landings, run.workbench_id, outcome)
        for _ in range(times):
            self.ask(FinishRun(ended, retryable, self.folded.now_us))

    @precondition(lambda self: self.stages()[LandingStage.RETRYING])
    @rule(seconds=st.sampled_from([5, 30, 4000]))
    def wait(self, seconds: int) -> None:
        """Time passes, and what is due is begun again."""
        self.folded.pass_time(seconds)
        for watch_id in (WATCH, OTHER):
            self.ask(StartNext(watch_id, self.folded.now_us, batch_closed=False))

    @precondition(lambda self: self.stages()[LandingStage.PARKED])
    @rule(watch_id=WATCHES, pick=st.none() | st.sets(st.integers(0, 3)), retry=st.booleans())
    def answer(self, watch_id: WatchId, pick: set[int] | None, retry: bool) -> None:
        """A person retries or dismisses some of what is there, parked or not, or all parked."""
        watch = self.folded.state.watching.watches.get(watch_id)
        held = list(watch.landings) if watch is not None else []
        some = None if pick is None else tuple(held[n] for n in sorted(pick) if n < len(held))
        self.ask((RetryLandings if retry else DismissLandings)(watch_id, some))

    @rule(
        what=st.sampled_from(["pause", "resume", "resume", "told", "told", "remove"]),
        watch_id=WATCHES,
    )
    def meanwhile(self, what: str, watch_id: WatchId) -> None:
        """A person pauses, resumes or, late, removes a watch, or an outcome is told."""
        watch = self.folded.state.watching.watches.get(watch_id)
        if what == "told" and watch is not None and watch.due:
            self.ask(RecordCommandEnd(WatchCommandEnded(watch_id, watch.due[0].landings, 0)))
        elif what == "remove" and len(self.folded.records) > 40:
            self.ask(RemoveWatch(watch_id))
        elif what == "pause":
            self.ask(PauseWatch(watch_id))
        elif what == "resume":
            self.ask(ResumeWatch(watch_id))

    @precondition(lambda self: self.model.places)
    @rule(mark=MARKS, by=st.sampled_from(["", WATCH, OTHER]), depth=st.integers(0, 3))
    def write(self, mark: str, by: str, depth: int) -> None:
        """Something is about to be written into the folder by kbd."""
        self.ask(RecordWrites(FilesWritten(FOLDER, (hash_of(mark),), by, depth)))

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        """No key lands twice, no attempt is begun twice, each landing is where the log has it."""
        for number, record in enumerate(self.folded.records[self.told :], self.told + 1):
            self.model.tell(Seq(number), record.data)
        self.told = len(self.folded.records)
        assert set(self.model.keys.values()) <= {1}
        assert set(self.model.attempts.values()) <= {1}
        watches = self.folded.state.watching.watches.values()
        held = [(x.landing_id, x.stage.value) for watch in watches for x in watch.landings.values()]
        assert sorted(held) == [
            (number, place) for number, place in self.model.places.items() if place != "ended"
        ]

    def teardown(self) -> None:
        """The log read again, through its bytes, gives the same state in both copies."""
        body = codec.encode(self.folded.records)
        for _ in range(2):
            state = DaemonState()
            for number, record in enumerate(codec.decode(body), 1):
                fold_daemon(state, Seq(number), record)
            assert state == self.folded.state
        assert all(self.counts_add_up(watch_id) for watch_id in (WATCH, OTHER))

    def counts_add_up(self, watch_id: WatchId) -> bool:
        """Each file that landed is under way or came to an outcome, unless its watch is gone."""
        watch = self.folded.state.watching.watches.get(watch_id)
        if watch is None or watch.status is WatchStatus.REMOVED:
            return True
        under_way = watch.in_stage(
            LandingStage.WAITING, LandingStage.RUNNING, LandingStage.RETRYING
        )
        return watch.landed <= len(under_way) + sum(watch.ended.values())


TestWatched = Watched.TestCase
TestWatched.settings = settings(max_examples=60, stateful_step_count=30)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_long_sequences() -> None:
    """The same holds over many more and longer ones."""
    run_state_machine_as_test(Watched, settings=settings(max_examples=400, stateful_step_count=100))
