"""A rebase decided and folded without a disk: one frame, only on what it saw, known to lineages."""

from copy import deepcopy

import pytest

from folding import BENCH, Folded, blob
from kbd.core.domain.commands import (
    ConfirmDeletions,
    IntendPublish,
    RebasedCall,
    RebasedFile,
    RecordRebase,
    RemoveFiles,
    SendMessage,
    StartRun,
)
from kbd.core.domain.lineage import LineageFold
from kbd.errors import ValidationFailed
from kbd.events.codec import wrap_event
from kbd.events.drafts import DraftOpened, DraftRebased, FileAdopted, FileChanged
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.events.workbenches import FileAdded, WorkbenchCreated
from kbd.types import CallId, FileName, Seq

A, B = FileName("a.csv"), FileName("b.csv")
NEW = FileAdopted(A, blob("n"), 12)


def _called(call_id: str) -> ToolCalled:
    return ToolCalled(CallId(call_id), 1, "CsvEdit")


def drafted() -> Folded:
    """Return a workbench whose draft changes one file and deletes another."""
    folded = Folded()
    folded.add(A, "a")
    folded.add(B, "b")
    folded.apply(
        _called("c1"),
        DraftOpened("d1"),
        FileChanged(A, blob("a"), blob("c"), 11, 10, call_id=CallId("c1"), warnings=("a link",)),
        ToolReturned(CallId("c1"), 1, True, "{}"),
    )
    folded.do(RemoveFiles((B,)))
    folded.do(ConfirmDeletions((B,)))
    return folded


def rebase(*, base: str = "a", drafted: str = "c", after: str = "r") -> RecordRebase:
    """Return the rebase of the changed file."""
    change = FileChanged(A, blob("n"), blob(after), 13, 12, call_id=CallId("r1"), cause="rebase")
    call = RebasedCall(
        ToolCalled(CallId("r1"), 0, "CsvEdit", repeats=4),
        ToolReturned(CallId("r1"), 0, True, "{}"),
        change,
    )
    return RecordRebase("d1", "d2", (RebasedFile(blob(base), blob(drafted), NEW, (call,)),))


def test_what_is_published_and_the_draft_are_new_at_once() -> None:
    """One frame: adopted bytes, calls with their numbers, and last that the draft is another."""
    folded = drafted()
    entry = folded.state.next_entry
    decision = folded.do(rebase())

    assert [type(event).__name__ for event in decision.events] == [
        "FileAdopted", "ToolCalled", "FileChanged", "ToolReturned", "DraftRebased",
    ]  # fmt: skip
    assert [e.entry_id for e in decision.events if isinstance(e, ToolCalled | ToolReturned)] == [
        entry, entry,
    ]  # fmt: skip
    state = folded.state
    published, draft = state.files[A], state.draft
    assert (published.blob, published.origin, published.size_bytes) == (blob("n"), blob("n"), 12)
    assert draft is not None
    assert draft.draft_id == "d2"
    file = draft.files[A]
    assert (file.base, file.blob, file.base_size_bytes) == (blob("n"), blob("r"), 12)
    # What it reaches out to is found anew; the file that was left alone is as it was.
    assert file.warnings == []
    assert (draft.files[B].blob, draft.confirmed) == (None, [B])


def test_nothing_lands_on_what_the_rebase_did_not_see() -> None:
    """Another draft, or another version of the file: refused whole (reliability, R8)."""
    for command in (rebase(base="x"), rebase(drafted="x")):
        folded = drafted()
        before = deepcopy(folded.state)
        with pytest.raises(ValidationFailed, match="changed by somebody else"):
            folded.do(command)
        assert folded.state == before
    folded = drafted()
    folded.do(rebase())
    with pytest.raises(ValidationFailed, match="another draft"):
        folded.do(rebase())


def test_it_is_refused_while_others_work_on_the_draft() -> None:
    """A run or a publish under way, or no draft at all."""
    folded = drafted()
    folded.do(SendMessage("m1", "go"))
    folded.do(StartRun("m1", "offline:planner"))
    with pytest.raises(ValidationFailed, match="under way"):
        folded.do(rebase())
    folded = drafted()
    folded.do(IntendPublish("p1", None, {A: blob("a"), B: blob("b")}, accept_external=True))
    with pytest.raises(ValidationFailed, match="a publish is under way"):
        folded.do(rebase())
    with pytest.raises(ValidationFailed, match="nothing to rebase"):
        Folded().do(rebase())


def test_a_file_that_does_not_differ_any_more_leaves_the_draft() -> None:
    """With it goes the draft, if that was all."""
    folded = Folded()
    folded.add(A, "a")
    folded.apply(DraftOpened("d1"), FileChanged(A, blob("a"), blob("n"), 12, 10))
    folded.do(RecordRebase("d1", "d2", (RebasedFile(blob("a"), blob("n"), NEW),)))

    assert folded.state.draft is None
    assert folded.state.files[A].blob == blob("n")


def test_a_file_that_both_removed_is_gone() -> None:
    """Its confirmed deletion goes with it."""
    folded = drafted()
    gone = RebasedFile(blob("b"), None, FileAdopted(B, None))
    folded.do(RecordRebase("d1", "d2", (gone,)))

    assert B not in folded.state.files
    assert folded.state.draft is not None
    assert list(folded.state.draft.files) == [A]
    assert folded.state.draft.confirmed == []


def test_a_lineage_names_the_call_that_was_first_made() -> None:
    """What somebody did beside kbd stands before it."""
    folded = drafted()
    events = [
        WorkbenchCreated(BENCH, "bench"),
        FileAdded(A, blob("a"), 10),
        FileAdded(B, blob("b"), 10),
        _called("c1"),
        DraftOpened("d1"),
        FileChanged(A, blob("a"), blob("c"), 11, 10, call_id=CallId("c1")),
        ToolReturned(CallId("c1"), 1, True, "{}"),
        FileChanged(B, blob("b"), None, before_size_bytes=10, cause="removal"),
        *folded.do(rebase()).events,
    ]
    lineage = LineageFold()
    for number, event in enumerate(events, 1):
        lineage.add(Seq(number), wrap_event(event, number))
    heads = lineage.file(A)

    assert heads.published is not None
    assert heads.drafted is not None
    assert (heads.published.kind, heads.published.after) == ("adopted", blob("n"))
    assert heads.base is heads.published
    assert heads.drafted.older is heads.published
    assert heads.drafted.original.call_id == "c1"
    assert heads.published.older is not None
    assert heads.published.older.kind == "added"


def test_the_event_says_what_it_was() -> None:
    """The draft that it was and is, and the files."""
    (*_, last) = drafted().do(rebase()).events

    assert last == DraftRebased("d2", "d1", (A,))
