"""Recovering a draft that ended: decided and folded without a disk."""

from copy import deepcopy

import pytest

from folding import Folded, blob
from kbd.core.domain.commands import (
    CompletePublish,
    ConfirmDeletions,
    DiscardDraft,
    EndRun,
    FailAttempt,
    IntendPublish,
    RecoverDraft,
    Rewind,
    SendMessage,
    StartRun,
)
from kbd.core.domain.consent import scope_hash
from kbd.core.domain.decision import Decision
from kbd.core.domain.recover_decisions import find_ended
from kbd.core.domain.rewind_decisions import draft_then, rewind_event
from kbd.core.domain.workbench_state import Draft
from kbd.errors import ConflictPublishedChanged, NotFound, ValidationFailed
from kbd.events.drafts import DraftOpened, DraftRecovered, FileChanged
from kbd.events.runs import ItemStarted, PlanWritten, RunFinished
from kbd.events.workbenches import DraftedThen, DraftThen, FileRemoved
from kbd.types import FileName, FocusHint, Seq

A, B, C = FileName("a.csv"), FileName("b.csv"), FileName("c.csv")


class Drafted(Folded):
    """A workbench with a.csv, and drafts that end."""

    def __init__(self) -> None:
        super().__init__()
        self.add(A, "a")
        self.ended: Draft | None = None

    def write(self, name: FileName, mark: str | None, run: int = 0) -> None:
        """Change a file in the draft."""
        if self.state.draft is None:
            self.apply(DraftOpened(f"d{self.state.seq}"), run=run)
        seen = self.state.current_file(name)
        before = seen.blob if seen else None
        self.apply(FileChanged(name, before, blob(mark) if mark else None, 7), run=run)

    def discard(self) -> None:
        """Discard the draft, and remember it as the log would."""
        self.ended = deepcopy(self.state.draft)
        self.do(DiscardDraft())

    def recover(self, *names: FileName) -> Decision:
        """Recover the newest."""
        assert self.ended is not None
        ended = find_ended(self.state, None, None)
        command = RecoverDraft(ended.seq, draft_then(self.ended), names or None)
        return self.do(command)

    def run(self, **writes: str) -> int:
        """Have a run write."""
        self.do(SendMessage(f"u{self.state.seq}", "do it"))
        number = self.do(StartRun(None, "p:m")).run
        for name, mark in writes.items():
            self.write(FileName(f"{name}.csv"), mark, run=number)
        has_draft = self.state.draft is not None
        self.do(EndRun(number, RunFinished(has_draft=has_draft)))
        return number

    def publish(self, **found: str) -> None:
        """Publish all; what is found is what kbd knows, but for `found`."""
        known = dict.fromkeys(self.state.draft.files if self.state.draft else ())
        known |= {name: entry.blob for name, entry in self.state.files.items()}
        known |= {FileName(f"{name}.csv"): blob(mark) for name, mark in found.items()}
        self.do(IntendPublish("p", None, known))
        self.do(CompletePublish(f"c{self.state.seq}"))

    def authors(self) -> list[bool]:
        """Which runs count as discarded."""
        return [run.discarded for run in self.state.runs]


def test_a_draft_comes_back_as_it_was() -> None:
    """Base, bytes, sizes, authors, warnings, notes and focus; and it is on the list no more."""
    drafted = Drafted()
    change = FileChanged(
        A, blob("a"), blob("b"), 9, 10, warnings=("a link",), notes=("2 rows",),
        focus=FocusHint(sheet="S"),
    )  # fmt: skip
    drafted.apply(DraftOpened("d"), change)
    drafted.run(b="c")
    was = deepcopy(drafted.state.draft)
    drafted.discard()
    assert [each.draft_id for each in drafted.state.ended_drafts] == ["d"]
    assert (drafted.state.draft, drafted.authors()) == (None, [True])
    drafted.recover()
    assert drafted.state.draft == was
    assert (drafted.state.ended_drafts, drafted.authors()) == ([], [False])


def test_a_confirmed_deletion_has_to_be_confirmed_anew() -> None:
    """What a person agreed to was the draft of then."""
    drafted = Drafted()
    drafted.write(A, None)
    drafted.do(ConfirmDeletions((A,)))
    drafted.discard()
    drafted.recover()
    with pytest.raises(ValidationFailed, match="confirm"):
        drafted.publish()


def test_what_was_published_in_between_is_not_overwritten() -> None:
    """The versions that the draft began from stay, so the publish is refused."""
    drafted = Drafted()
    drafted.write(A, "b")
    drafted.write(C, "c")
    drafted.discard()
    drafted.write(A, "d")
    drafted.write(C, "e")
    drafted.publish()
    drafted.recover()
    with pytest.raises(ConflictPublishedChanged) as refused:
        drafted.publish()
    assert refused.value.detail["files"] == [A, C]
    assert {n: e.blob for n, e in drafted.state.files.items()} == {A: blob("d"), C: blob("e")}


def test_a_file_that_was_removed_since_is_a_conflict() -> None:
    """It is not made anew without a word."""
    drafted = Drafted()
    drafted.write(A, "b")
    drafted.discard()
    drafted.apply(FileRemoved(A))
    drafted.recover()
    with pytest.raises(ConflictPublishedChanged):
        drafted.publish()


def test_what_is_published_already_falls_away() -> None:
    """A file that is published just so is no part of the draft any more."""
    drafted = Drafted()
    drafted.write(A, "b")
    drafted.write(B, "c")
    drafted.discard()
    drafted.write(A, "b")
    drafted.publish()
    drafted.recover()
    assert drafted.state.draft is not None
    assert list(drafted.state.draft.files) == [B]
    assert drafted.state.ended_drafts == []


def test_a_draft_without_a_difference_is_not_opened() -> None:
    """A draft is never empty; a deletion of what is gone is no difference, either."""
    drafted = Drafted()
    drafted.write(A, None)
    drafted.discard()
    drafted.apply(FileRemoved(A))
    with pytest.raises(ValidationFailed, match="published already"):
        drafted.recover()
    assert (drafted.state.draft, len(drafted.state.ended_drafts)) == (None, 1)


@pytest.mark.parametrize(
    ("drafted_name", "since"),
    [("B.csv", "b.csv"), ("b", "B/x.csv"), ("b.csv/x", "b.csv"), ("u\u0308.csv", "\u00fc.csv")],
)
def test_a_name_that_collides_is_refused(drafted_name: str, since: str) -> None:
    """A twin but for case or composition, and a folder where a file is; the others come back."""
    drafted = Drafted()
    drafted.write(FileName(drafted_name), "b")
    drafted.write(C, "c")
    drafted.discard()
    drafted.add(since, "d")
    with pytest.raises(ValidationFailed, match="collide") as refused:
        drafted.recover()
    assert f"{drafted_name} with {since}" in refused.value.message
    drafted.recover(C)
    assert drafted.state.draft is not None
    assert list(drafted.state.draft.files) == [C]


def test_a_name_in_another_case_comes_back_with_the_deletion_that_makes_room() -> None:
    """Without it it collides with the file that it was to take the place of."""
    drafted = Drafted()
    upper = FileName("A.csv")
    drafted.write(A, None)
    drafted.write(upper, "a")
    drafted.discard()
    with pytest.raises(ValidationFailed, match="collide"):
        drafted.recover(upper)
    drafted.recover()
    assert drafted.state.draft is not None
    assert set(drafted.state.draft.files) == {A, upper}


def test_a_draft_in_part_leaves_the_rest_on_the_list() -> None:
    """Only the runs whose files came back count as not discarded."""
    drafted = Drafted()
    drafted.run(a="b")
    drafted.run(c="c")
    drafted.discard()
    assert drafted.authors() == [True, True]
    first = drafted.state.ended_drafts[0]
    drafted.recover(C)
    assert drafted.authors() == [True, False]
    drafted.do(DiscardDraft())
    with pytest.raises(NotFound, match=r"'b.csv' was not changed"):
        drafted.recover(B)
    assert [each.draft_id for each in drafted.state.ended_drafts] == [first.draft_id] * 2
    assert find_ended(drafted.state, first.draft_id, first.seq) == first
    assert find_ended(drafted.state, first.draft_id, None).seq > first.seq
    for unknown in (("d0", None), (None, Seq(1))):
        with pytest.raises(NotFound):
            find_ended(drafted.state, *unknown)


def test_no_draft_is_recovered_over_another_or_under_a_run() -> None:
    """Refused, and nothing has happened."""
    drafted = Drafted()
    drafted.write(A, "b")
    drafted.discard()
    drafted.write(B, "c")
    with pytest.raises(ValidationFailed, match="a draft is open"):
        drafted.recover()
    found = {A: blob("a"), B: None}
    drafted.do(IntendPublish("p", None, found))
    with pytest.raises(ValidationFailed, match="publish is under way"):
        drafted.recover()
    drafted.do(CompletePublish("c1"))
    drafted.do(SendMessage("u1", "do it"))
    drafted.do(StartRun(None, "p:m"))
    with pytest.raises(ValidationFailed, match="under way"):
        drafted.recover()


def test_what_comes_back_of_a_file_that_is_gone_is_not_agreed_to() -> None:
    """Consent that was given while a file was away does not cover it; otherwise none is asked."""
    bench = Drafted()
    bench.add(B, "b")
    before = scope_hash(bench.state, "m:m")
    bench.write(A, "x")
    bench.discard()
    bench.recover()
    assert scope_hash(bench.state, "m:m") == before

    bench.discard()
    bench.apply(FileRemoved(A))
    without = scope_hash(bench.state, "m:m")
    assert without != before
    bench.recover()
    assert scope_hash(bench.state, "m:m") not in (before, without)

    # Another file has the name now; agreeing to that is not agreeing to the old one.
    bench.discard()
    bench.add(A, "z")
    replaced = scope_hash(bench.state, "m:m")
    bench.recover()
    assert scope_hash(bench.state, "m:m") != replaced


def test_only_runs_that_wrote_into_a_draft_are_discarded_with_it() -> None:
    """Not the newest one, whoever opened the draft; a run that left nothing left no draft."""
    drafted = Drafted()
    drafted.write(A, "b")
    quiet = drafted.state.run(drafted.run())
    busy = drafted.state.run(drafted.run(a="c"))
    assert (quiet.left_draft, busy.left_draft) == (False, True)
    drafted.discard()
    assert (quiet.discarded, busy.discarded) == (False, True)


def test_a_run_whose_attempt_was_rolled_back_is_no_author() -> None:
    """What is left of the file is a person's."""
    drafted = Drafted()
    drafted.write(A, "b")
    drafted.do(SendMessage("u1", "do it"))
    run = drafted.do(StartRun(None, "p:m")).run
    drafted.apply(PlanWritten("t", ("one",)), ItemStarted(1), run=run)
    drafted.write(A, "c", run=run)
    drafted.do(FailAttempt(run, "TURN_LIMIT", "no", final=False))
    assert drafted.state.draft is not None
    assert drafted.state.draft.authors() == set()


def test_an_undo_ends_a_draft_that_can_be_recovered() -> None:
    """And an undo to before or after a recovery restores what was then."""
    drafted = Drafted()
    drafted.do(SendMessage("u1", "one"))
    early = deepcopy(drafted.state)
    number = drafted.do(StartRun(None, "p:m")).run
    drafted.write(A, "b", run=number)
    drafted.do(EndRun(number, RunFinished(has_draft=True)))
    drafted.ended = deepcopy(drafted.state.draft)
    drafted.do(Rewind(rewind_event(early, "u1"), "p", {}))
    (ended,) = drafted.state.ended_drafts
    assert (ended.reason, drafted.state.draft) == ("undo", None)
    drafted.recover()
    assert drafted.state.draft == drafted.ended
    assert drafted.state.run(number).undone  # the conversation stands as it did

    drafted.do(SendMessage("u2", "two"))
    late = deepcopy(drafted.state)
    drafted.discard()
    drafted.do(Rewind(rewind_event(early, "u1"), "p", {}))
    assert drafted.state.draft is None
    drafted.do(Rewind(rewind_event(late, "u2"), "p", {}))
    assert drafted.state.draft == late.draft
    assert drafted.state.draft is not None
    # An undo that leaves the draft as it is ends none.
    count = len(drafted.state.ended_drafts)
    drafted.do(Rewind(rewind_event(late, "u2"), "p", {}))
    assert len(drafted.state.ended_drafts) == count


def test_a_draft_of_an_older_log_names_its_last_authors() -> None:
    """Before all authors were recorded with a draft, the last one of each file was."""
    drafted = Drafted()
    drafted.run(a="b")
    files = (DraftedThen(A, blob("a"), blob("b"), 7, 7, 1), DraftedThen(C, None, blob("c"), 7))
    drafted.do(DiscardDraft())
    drafted.apply(DraftRecovered(DraftThen("d", 1, 1, files), ended_seq=1))
    assert drafted.state.draft is not None
    assert drafted.state.draft.authors() == {1}
