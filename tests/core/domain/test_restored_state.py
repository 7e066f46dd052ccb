"""What a log says that people agreed to is not in force after a restore: who knows who made it."""

import math

import pytest

from folded_watches import WATCH, FoldedWatches, rule
from folding import Folded, blob
from kbd.core.domain.commands import IntendPublish, RecoverDraft, Rewind
from kbd.core.domain.daemon_decisions import RecordDaemon, ReserveBudget
from kbd.core.domain.decide import decide
from kbd.core.domain.rewind_decisions import rewind_event
from kbd.core.domain.watch_decisions import (
    PauseWatch,
    RecordCommandEnd,
    RemoveWatch,
    ResumeWatch,
    StartNext,
    unconfirmed,
)
from kbd.core.domain.watch_state import LandingStage, WatchStatus, carries_consent
from kbd.core.domain.workbench_state import FROM_BACKUP
from kbd.errors import BudgetCapReached, ValidationFailed
from kbd.events.approvals import ApprovalDecided, ApprovalRequested, AskedFile
from kbd.events.base import MUST_UNDERSTAND, FileVersion
from kbd.events.codec import wrap_event
from kbd.events.drafts import (
    DeletionConfirmed,
    DraftDiscarded,
    DraftOpened,
    EffectIntended,
    FileChanged,
)
from kbd.events.restores import HomeRestored, WorkbenchRestored
from kbd.events.watches import (
    RuleConfirmation,
    WatchCommandEnded,
    WatchConsent,
    WatchRunStarted,
)
from kbd.events.workbenches import (
    BudgetCharged,
    BudgetReserved,
    ConsentGranted,
    SettingChanged,
    UserMessageAdded,
    WorkbenchCreated,
)
from kbd.types import FileName, Seq, WorkbenchId

RESTORED = HomeRestored("89abcdef01234567", "2026-11-22T13:37:00.000000Z")
CONSENT = WatchConsent("openai", "openai:m", "ai.example:443")
ACTS = {"on_outcome": ("sh", "-c", "x"), "publish": "auto", "deliver_to": "/srv/out"}
CONFIRMED = RuleConfirmation(("sh", "-c", "x"), "auto", "/srv/out")
A, B = FileName("a.csv"), FileName("b.csv")


def agreed() -> Folded:
    """A workbench in which people agreed to all that can be agreed to."""
    folded = Folded()
    folded.add("a.csv", "a")
    folded.add("b.csv", "b")
    folded.apply(UserMessageAdded("u1", "go"))
    link = ("a link",)
    folded.apply(
        DraftOpened("d1"),
        FileChanged(A, blob("a"), None),
        FileChanged(B, blob("b"), blob("c"), 9, warnings=link),
        DeletionConfirmed((A,)),
        ApprovalRequested("x", "external", (AskedFile(B, blob("b"), blob("c"), link),)),
        ApprovalDecided("x", "accept"),
        ConsentGranted("openai", "openai:m", "0" * 64),
        ApprovalRequested("c", "consent", provider_id="openai", model_id="openai:m"),
        ApprovalRequested("p", "publish", (AskedFile(A, blob("a")),)),
        EffectIntended("e1", "extract", "/home/somebody", FileVersion(B, blob("b"), 9)),
    )
    return folded


def test_nothing_that_people_agreed_to_holds_in_a_restored_workbench() -> None:
    """No consent, confirmed deletion, accepted reference, asked consent, or effect outside."""
    folded = agreed()
    draft = folded.state.draft
    assert draft is not None
    assert (draft.confirmed, draft.files[B].is_accepted) == ([A], True)
    assert len(folded.state.consents) == len(folded.state.effects) == 1

    folded.apply(WorkbenchRestored("89abcdef01234567"))
    assert (draft.confirmed, draft.files[B].is_accepted) == ([], False)
    assert (folded.state.consents, folded.state.effects) == ([], {})
    assert list(folded.state.approvals) == ["p"]
    assert set(draft.files) == {A, B}, "what the draft holds is as it was"
    assert folded.state.restore_id == "89abcdef01234567"


def test_what_a_backup_says_of_a_drafts_content_is_not_believed() -> None:
    """A file in which its log found nothing is asked about, until an edit has it looked into."""
    folded = Folded()
    folded.add("a.csv", "a")
    folded.apply(UserMessageAdded("u1", "go"), DraftOpened("d1"))
    folded.apply(FileChanged(A, blob("a"), blob("b"), 9))
    then = rewind_event(folded.state, "u1")
    publish = IntendPublish("p", None, {A: blob("a")})
    folded.apply(WorkbenchRestored("89abcdef01234567"))
    assert then.draft is not None
    for _ in range(2):
        with pytest.raises(ValidationFailed, match="came with a backup"):
            decide(folded.state, publish)

        folded.apply(FileChanged(A, blob("b"), blob("c"), 9, before_warnings=(FROM_BACKUP,)))
        assert decide(folded.state, publish).events
        folded.do(Rewind(then, "p1", {}))

    folded.apply(DraftDiscarded("d1"))
    ended = folded.state.ended_drafts[-1].seq
    folded.apply(WorkbenchRestored("0123456789abcdef"))
    folded.do(RecoverDraft(ended, then.draft))
    with pytest.raises(ValidationFailed, match="came with a backup"):
        decide(folded.state, publish)


def test_an_undo_to_before_the_restore_confirms_nothing() -> None:
    """The draft comes back as it was, and what would be deleted is asked about again."""
    folded = agreed()
    then = rewind_event(folded.state, "u1")
    assert then.draft is not None
    assert then.draft.confirmed == (A,)
    folded.apply(WorkbenchRestored("89abcdef01234567"))
    folded.do(Rewind(then, "p1", {}))
    draft = folded.state.draft
    assert draft is not None
    assert set(draft.files) == {A, B}
    assert draft.confirmed == []


def restored(**acts: object) -> FoldedWatches:
    """The daemon's log of a home that was restored while its rule was at work."""
    folded = FoldedWatches(rule(consent=CONSENT, **acts))  # type: ignore[arg-type]
    folded.do(RecordDaemon((SettingChanged("consent_mode", "allow_all"),)))
    folded.do(RecordDaemon((WorkbenchCreated(WorkbenchId("0" * 16), "w"),)))
    for name in ("a", "b", "c"):
        folded.land(name, name)
    folded.do(StartNext(WATCH, folded.now_us))
    return folded


def test_nothing_is_left_under_way_whatever_the_log_says() -> None:
    """Also of runs that overlap, which no daemon begins, and which the next would go on with."""
    folded = restored(**ACTS)
    first, second, _ = sorted(folded.watch.landings)
    both, one = (first, second), (first,)
    bench = WorkbenchId("1" * 16)
    folded.do(
        RecordDaemon((WatchRunStarted(WATCH, both, bench), WatchRunStarted(WATCH, one, bench)))
    )
    assert len(folded.watch.in_stage(LandingStage.RUNNING)) == 2
    folded.do(RecordDaemon((RESTORED,)))
    watch = folded.watch
    assert watch.in_stage(LandingStage.RUNNING) == []
    assert len(watch.in_stage(LandingStage.PARKED)) == 2
    assert (watch.status, watch.restored, watch.due) == (WatchStatus.PAUSED, True, [])
    assert folded.do(StartNext(WATCH, folded.now_us)) == ()
    assert folded.state.consent_mode == "ask"
    known = folded.state.workbenches[WorkbenchId("0" * 16)]
    assert known.restore_id == RESTORED.restore_id
    ended = WatchCommandEnded(WATCH, both, 0)
    assert folded.do(RecordCommandEnd(ended)) == ()


def test_a_removed_watch_has_nothing_left_to_do() -> None:
    """Its command, for what was to be told when the backup was made, is not run."""
    folded = restored(**ACTS)
    folded.do(RemoveWatch(WATCH))
    assert folded.state.watching.watches
    folded.do(RecordDaemon((RESTORED,)))
    assert folded.state.watching.watches == {}


@pytest.mark.parametrize("left", ACTS)
def test_each_act_of_a_restored_rule_is_confirmed_by_name(left: str) -> None:
    """A yes to all but one, or to another command or folder, resumes nothing."""
    folded = restored(**ACTS)
    folded.do(RecordDaemon((RESTORED,)))
    given = {name: value for name, value in ACTS.items() if name != left}
    for confirmed in (
        RuleConfirmation(**given),  # type: ignore[arg-type]
        RuleConfirmation(**given, **{left: ("rm",) if left == "on_outcome" else "/"}),  # type: ignore[arg-type]
        None,
    ):
        with pytest.raises(ValidationFailed) as refused:
            folded.do(ResumeWatch(WATCH, CONSENT, confirmed))
        assert left in refused.value.detail["unconfirmed"]
        assert folded.watch.status is WatchStatus.PAUSED
    # Nor does a person's own pause make it a rule of this home.
    folded.do(PauseWatch(WATCH))
    assert folded.watch.restored


def test_a_confirmed_rule_is_this_homes_and_its_old_consent_is_not() -> None:
    """After the resume it is paused and resumed as any other."""
    folded = restored(**ACTS)
    assert carries_consent(folded.watch.rule, "openai:m", "ai.example:443")
    folded.do(RecordDaemon((RESTORED,)))
    folded.do(ResumeWatch(WATCH, None, CONFIRMED))
    assert not carries_consent(folded.watch.rule, "openai:m", "ai.example:443")
    assert (folded.watch.status, folded.watch.restored) == (WatchStatus.ACTIVE, False)
    assert unconfirmed(folded.watch.rule, CONFIRMED) == {}
    folded.do(PauseWatch(WATCH))
    folded.do(ResumeWatch(WATCH))
    assert folded.watch.status is WatchStatus.ACTIVE


def test_a_second_restore_asks_again() -> None:
    """What was confirmed in a home does not hold in one that is made of its backup."""
    folded = restored(**ACTS)
    folded.do(RecordDaemon((RESTORED,)))
    folded.do(ResumeWatch(WATCH, CONSENT, CONFIRMED))
    folded.do(RecordDaemon((HomeRestored("0" * 16, "2026-11-23T13:37:00.000000Z"),)))
    with pytest.raises(ValidationFailed):
        folded.do(ResumeWatch(WATCH, CONSENT))


@pytest.mark.parametrize("cost", [-1e9, math.nan, -math.inf, math.inf])
def test_a_backup_cannot_lift_the_caps_of_a_day(cost: float) -> None:
    """Less than nothing was spent, or no number: it counts as nothing."""
    folded = FoldedWatches()
    day = "2026-11-22"
    bench = WorkbenchId("0" * 16)
    reserve = ReserveBudget("r2", day, bench, 1, "p:m", 60, 0.6, day_tokens=100, day_cost=1.0)
    folded.do(
        RecordDaemon(
            (BudgetReserved("r1", day, bench, 1, "p:m", 1), BudgetCharged("r1", -(10**9), cost))
        )
    )
    folded.do(RecordDaemon((RESTORED,)))
    folded.do(reserve)
    with pytest.raises(BudgetCapReached):
        folded.do(reserve)
    assert folded.state.day_usage(day).tokens == 60


def test_a_kbd_that_does_not_know_these_events_refuses_the_log() -> None:
    """One that passed them over would go on as if nothing had happened."""
    for event in (RESTORED, WorkbenchRestored("0" * 16)):
        assert wrap_event(event, 1).flags & MUST_UNDERSTAND
    assert wrap_event(WorkbenchCreated(WorkbenchId("0" * 16), "w"), Seq(1)).flags == 0
