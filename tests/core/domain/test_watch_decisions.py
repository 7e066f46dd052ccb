"""Decisions about watched folders: which content counts, and what a person may ask."""

import msgspec
import pytest

from folded_watches import FOLDER, WATCH, FoldedWatches, hash_of, rule
from kbd.core.domain.watch_decisions import (
    MAX_PASSED,
    MAX_WATCHES,
    PASSED_PER_EVENT,
    AddWatch,
    DismissLandings,
    PassOverFiles,
    PauseWatch,
    RecordCommandEnd,
    RecordLanding,
    RecordWrites,
    RemoveWatch,
    ResumeWatch,
    RetryLandings,
)
from kbd.core.domain.watch_state import RECENT_OUTCOMES, LandingStage, carries_consent
from kbd.errors import NotFound, ValidationFailed
from kbd.events.watches import (
    FailurePolicy,
    FilesPassedOver,
    FilesWritten,
    PassedFile,
    RuleLimits,
    WatchAdded,
    WatchCommandEnded,
    WatchConsent,
    WatchSuspended,
)
from kbd.types import Seq, WatchId

PARKED = LandingStage.PARKED


def test_what_is_passed_over_is_told_in_parts() -> None:
    """All files that were there are recorded with the watch, so many an event, none as landed."""
    folded = FoldedWatches()
    passed = tuple(PassedFile(f"{n}.csv", f"s{n}") for n in range(PASSED_PER_EVENT + 1))

    added, *parts = folded.do(AddWatch(WatchId("other"), rule(), passed))

    assert isinstance(added, WatchAdded)
    assert [len(x.files) for x in parts if isinstance(x, FilesPassedOver)] == [PASSED_PER_EVENT, 1]
    other = folded.state.watching.watches[WatchId("other")]
    assert (len(passed), 0, {}) == (len(other.signatures), other.landed, other.landings)


def test_a_content_that_lands_again_and_again_is_not_copied() -> None:
    """Where it landed before is added to, so that each landing costs the same, and no more."""
    folded = FoldedWatches()
    folded.land("1.csv", "same")
    paths = folded.watch.contents[hash_of("same")]

    for number in range(2, 6):
        folded.land(f"{number}.csv", "same")

    assert folded.watch.contents[hash_of("same")] is paths
    assert paths == [f"{number}.csv" for number in range(1, 6)]


def test_a_passed_file_may_be_renamed() -> None:
    """Its new place is known like the old one, and nothing landed."""
    folded = FoldedWatches()

    folded.do(PassOverFiles(WATCH, (PassedFile("b.csv", "s1"),)))

    assert (folded.watch.signatures, folded.watch.landed) == ({"b.csv": "s1"}, 0)
    assert folded.start() is None


def test_watches_have_their_limits() -> None:
    """An id is used once; neither too many watches nor too many files to pass over are taken."""
    folded = FoldedWatches()
    with pytest.raises(ValidationFailed):
        folded.do(AddWatch(WATCH, rule()))
    with pytest.raises(ValidationFailed):
        folded.do(AddWatch(WatchId("x"), rule(), (PassedFile("a", "s"),) * (MAX_PASSED + 1)))
    folded.do(AddWatch(WatchId("y"), rule(), (PassedFile("a", "s"),) * MAX_PASSED))
    for n in range(MAX_WATCHES - 2):
        folded.do(AddWatch(WatchId(f"w{n}"), rule()))

    with pytest.raises(ValidationFailed):
        folded.do(AddWatch(WatchId("x"), rule()))


@pytest.mark.parametrize(
    "command",
    [
        RecordLanding(WATCH, "a", FOLDER, hash_of("a"), 1, "s"),
        PassOverFiles(WATCH, ()),
        RemoveWatch(WATCH),
        PauseWatch(WATCH),
        ResumeWatch(WATCH),
        RetryLandings(WATCH, None),
        DismissLandings(WATCH, None),
    ],
    ids=lambda command: type(command).__name__,
)
def test_a_removed_watch_is_not_there(command: RecordLanding) -> None:
    """Nothing can be asked of a watch that was removed, even while a run of it is under way."""
    folded = FoldedWatches()
    folded.land("b", "b")
    folded.start()
    folded.do(RemoveWatch(WATCH))
    assert WATCH in folded.state.watching.watches

    with pytest.raises(NotFound):
        folded.do(command)


def test_a_content_lands_once_under_a_path() -> None:
    """The key is watch, path and content: seen again it is nothing new, at whatever stage it is."""
    folded = FoldedWatches()
    assert folded.land("a.csv", "v1") is not None
    assert folded.land("a.csv", "v1", signature="later") is None
    assert folded.land("a.csv", "v2") is not None
    folded.worked_on()

    assert (folded.land("a.csv", "v1"), folded.land("a.csv", "v2")) == (None, None)
    assert folded.land("b.csv", "v1") is not None
    folded.do(AddWatch(WatchId("other"), rule()))
    assert folded.land("a.csv", "v1", watch_id=WatchId("other")) is not None
    assert folded.watch.landed == 3


def test_a_renamed_file_starts_nothing() -> None:
    """Content whose old name is gone is recorded as moved, there and back, and runs once."""
    folded = FoldedWatches()
    folded.land("a.csv", "v1")

    moved = folded.land("b.csv", "v1", gone=("a.csv",))
    again = folded.land("c.csv", "v1", gone=("a.csv", "b.csv"))

    assert moved is not None
    assert (moved.outcome, moved.moved_from) == ("moved", "a.csv")
    assert again is not None
    assert (again.outcome, again.moved_from) == ("moved", "b.csv")
    assert folded.land("a.csv", "v1", gone=("c.csv",)) is None
    assert folded.worked_on() == ["a.csv"]
    assert folded.watch.ended == {"moved": 2, "published": 1}


def test_a_copy_is_no_move() -> None:
    """Content that also lies under its old name still, or that went away elsewhere, is new."""
    folded = FoldedWatches()
    folded.land("a.csv", "v1")

    folded.land("b.csv", "v1")
    folded.land("c.csv", "v2", gone=("a.csv",))

    assert folded.worked_on() == ["a.csv", "b.csv", "c.csv"]


def _wrote(folder: str, mark: str, watch_id: str = "", depth: int = 0) -> RecordWrites:
    return RecordWrites(FilesWritten(folder, (hash_of(mark),), watch_id, depth))


def test_what_kbd_wrote_there_is_its_own() -> None:
    """What a person had extracted there, or the watch itself delivered there, starts nothing."""
    folded = FoldedWatches()
    folded.do(_wrote(FOLDER, "extracted"))
    folded.do(_wrote(f"{FOLDER}/out", "delivered", WATCH, 1))

    landed = [
        folded.land("a.csv", "extracted"),
        folded.land("out/a.csv", "delivered", folder=f"{FOLDER}/out"),
    ]

    assert [each.outcome for each in landed if each is not None] == ["own", "own"]
    assert folded.worked_on() == []
    assert folded.watch.due == []
    # Somewhere else, or in other words, it is a person's.
    assert folded.land("out/b.csv", "extracted", folder=f"{FOLDER}/out") is not None
    assert folded.land("a.csv", "changed") is not None
    assert folded.worked_on() == ["out/b.csv", "a.csv"]


def test_a_chain_goes_on_until_it_is_too_deep() -> None:
    """What another watch delivers is worked on, one deeper; past the rule's depth it is parked."""
    folded = FoldedWatches(rule(RuleLimits(chain_depth=3)))
    for depth in (1, 2, 3):
        folded.do(_wrote(FOLDER, f"r{depth}", "other", depth))

    landed = [folded.land(f"{depth}.csv", f"r{depth}") for depth in (1, 2, 3)]

    assert [(x.depth, x.outcome) for x in landed if x] == [(2, ""), (3, ""), (4, "failed")]
    assert folded.paths(PARKED) == ["3.csv"]
    assert "result of 3 rules in turn" in folded.landing("3.csv").message
    assert folded.worked_on() == ["1.csv", "2.csv"]
    folded.do(RetryLandings(WATCH, None))
    assert folded.worked_on() == ["3.csv"]


def test_a_content_is_as_deep_as_its_deepest_source() -> None:
    """The same content written by several rules counts as the result of the longest chain."""
    folded = FoldedWatches()
    folded.do(_wrote("/elsewhere", "r", "x", 2))
    folded.do(_wrote("/elsewhere", "r", "y", 1))

    landed = folded.land("r.csv", "r")

    assert landed is not None
    assert landed.depth == 3


def test_what_was_written_is_noted_once() -> None:
    """After a crash the same intention is noted again, and changes nothing."""
    folded = FoldedWatches()
    assert folded.do(_wrote(FOLDER, "r", WATCH, 1))

    assert not folded.do(_wrote(FOLDER, "r", WATCH, 1))
    assert folded.do(_wrote(FOLDER, "r", WATCH, 2))
    assert folded.do(_wrote("/elsewhere", "r", WATCH, 1))


def test_an_unreadable_file_is_told_once() -> None:
    """A file that cannot be read is parked once for what it looks like, and the next one runs."""
    folded = FoldedWatches()
    landed = folded.misread("a.csv", "s1")

    assert landed is not None
    assert (landed.outcome, landed.code) == ("failed", "FILE_READ_FAILED")
    assert folded.misread("a.csv", "s1") is None
    folded.land("b.csv", "v1")
    assert folded.worked_on() == ["b.csv"]
    # In another shape it is another failure, and the old one is past.
    assert folded.misread("a.csv", "s2") is not None
    assert folded.paths(PARKED) == ["a.csv"]
    assert folded.watch.ended["failed"] == 2


def test_an_unreadable_file_is_retried_by_looking_again() -> None:
    """There is no copy to work on, so a retry forgets what the file looked like."""
    folded = FoldedWatches()
    folded.misread("a.csv", "s1")

    folded.do(RetryLandings(WATCH, None))

    assert (folded.watch.landings, folded.watch.signatures) == ({}, {})
    assert folded.start() is None
    assert folded.misread("a.csv", "s1") is not None


def test_a_file_that_became_readable_is_no_failure() -> None:
    """Once it landed, what could not be read before is not shown as failed any more."""
    folded = FoldedWatches()
    folded.misread("a.csv", "s1")
    folded.misread("b.csv", "s1")

    folded.land("a.csv", "v1")

    assert folded.paths(PARKED) == ["b.csv"]
    assert folded.worked_on() == ["a.csv"]


def test_only_parked_files_are_retried_or_dismissed() -> None:
    """Named ones must be parked; all of none is nothing to do."""
    folded = FoldedWatches()
    folded.land("a.csv", "a")
    for numbers in ((Seq(2),), (Seq(99),)):
        with pytest.raises(NotFound):
            folded.do(RetryLandings(WATCH, numbers))
        with pytest.raises(NotFound):
            folded.do(DismissLandings(WATCH, numbers))
    assert () == folded.do(RetryLandings(WATCH, None)) == folded.do(DismissLandings(WATCH, None))


def test_a_dismissed_file_is_done() -> None:
    """It is gone from what failed, and its content does not land again."""
    folded = FoldedWatches()
    folded.land("a.csv", "a")
    folded.misread("b.csv", "s1")
    folded.worked_on(outcome="failed")

    folded.do(DismissLandings(WATCH, None))

    assert folded.watch.landings == {}
    assert (folded.land("a.csv", "a"), folded.misread("b.csv", "s1")) == (None, None)
    assert folded.start() is None


def test_a_paused_watch_takes_but_does_not_start() -> None:
    """What lands meanwhile waits; a run that is under way ends as ever; pausing twice is once."""
    folded = FoldedWatches()
    folded.land("a.csv", "a")
    started = folded.start()

    assert folded.do(PauseWatch(WATCH, "busy"))
    assert not folded.do(PauseWatch(WATCH, "busy"))
    folded.land("b.csv", "b")
    assert folded.start() is None
    folded.finish(started)
    assert folded.watch.ended == {"published": 1}
    assert folded.do(ResumeWatch(WATCH))
    assert not folded.do(ResumeWatch(WATCH))
    assert folded.worked_on() == ["b.csv"]


def test_a_person_may_consent_later() -> None:
    """The consent becomes part of the rule, also of a watch that was not paused; for that model."""
    folded = FoldedWatches()
    consent = WatchConsent("p", "p:m")
    assert not carries_consent(folded.watch.rule, "p:m", "")

    assert folded.do(ResumeWatch(WATCH, consent))

    assert folded.watch.rule.consent == consent
    assert carries_consent(folded.watch.rule, "p:m", "")
    assert not carries_consent(folded.watch.rule, "p:other", "")
    moved = msgspec.structs.replace(consent, endpoint="here:443")
    rule = msgspec.structs.replace(folded.watch.rule, consent=moved)
    assert carries_consent(rule, "p:m", "here:443")
    assert not carries_consent(rule, "p:m", "there:443")


def test_an_idle_watch_is_forgotten_at_once() -> None:
    """With nothing under way there is nothing to keep; the id does not come back to life."""
    folded = FoldedWatches()
    folded.land("a.csv", "a")

    folded.do(RemoveWatch(WATCH))

    assert folded.state.watching.watches == {}
    with pytest.raises(NotFound):
        folded.land("a.csv", "a")


def test_outcomes_are_due_for_the_command() -> None:
    """Each outcome that a person may care about waits for the rule's command, oldest first."""
    folded = FoldedWatches(rule(on_outcome=("tell",), on_failure=FailurePolicy(1, 1)))
    folded.land("a.csv", "a")
    folded.land("b.csv", "a", gone=("a.csv",))
    folded.misread("c.csv", "s1")
    folded.finish(folded.start(), "failed")
    folded.pass_time(1)
    folded.finish(folded.start(), "failed")
    folded.do(RetryLandings(WATCH, None))
    folded.finish(folded.start(), "review")

    due = [(each.paths, each.outcome) for each in folded.watch.due]
    assert due == [(("c.csv",), "failed"), (("a.csv",), "failed"), (("a.csv",), "review")]
    ended = WatchCommandEnded(WATCH, folded.watch.due[1].landings, 0)
    assert folded.do(RecordCommandEnd(ended))
    assert [each.outcome for each in folded.watch.due] == ["failed", "review"]
    assert folded.do(RecordCommandEnd(ended))
    assert not folded.do(RecordCommandEnd(ended))
    assert [each.paths for each in folded.watch.due] == [("c.csv",)]


def test_a_removed_watch_runs_its_last_commands() -> None:
    """A watch that was removed is forgotten when the last outcome was told."""
    folded = FoldedWatches(rule(on_outcome=("tell",)))
    folded.land("a.csv", "a")
    folded.worked_on()
    folded.do(RemoveWatch(WATCH))
    (due,) = folded.watch.due

    folded.do(RecordCommandEnd(WatchCommandEnded(WATCH, due.landings, None, "not there")))

    assert folded.state.watching.watches == {}


def test_the_newest_outcomes_are_at_hand() -> None:
    """So many and no more; all are counted."""
    folded = FoldedWatches()
    for n in range(RECENT_OUTCOMES + 1):
        folded.land(f"{n}.csv", f"{n}")
    folded.worked_on()

    assert [f"{n + 1}.csv" for n in range(RECENT_OUTCOMES)] == [
        x.paths[0] for x in folded.watch.recent
    ]
    assert folded.watch.ended == {"published": RECENT_OUTCOMES + 1}
    assert WatchSuspended not in {type(record.data) for record in folded.records}
