"""Decisions: what may happen, what is refused, and with which code."""

import pytest

from folding import Folded, blob
from kbd.core.domain.commands import (
    AddFiles,
    CompletePublish,
    ConfirmDeletions,
    DiscardDraft,
    EndRun,
    FailAttempt,
    FinishCall,
    GrantConsent,
    IntendPublish,
    InterruptRun,
    RecordRun,
    RemoveFiles,
    RequestCancel,
    SendMessage,
    StartCall,
    StartRun,
)
from kbd.core.domain.run_state import RunStatus
from kbd.errors import (
    ConflictPublishedChanged,
    NotFound,
    UserCanceled,
    ValidationFailed,
)
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ItemCompleted,
    ItemRetried,
    ItemStarted,
    PlanWritten,
    RunCancelled,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from kbd.events.workbenches import ConsentGranted, FileAdded, FileRemoved
from kbd.types import CallId, FileName

A, B = FileName("a.csv"), FileName("b.csv")
CALL = CallId("c1")


def _running() -> Folded:
    folded = Folded()
    folded.add(A, "a")
    folded.do(SendMessage("u1", "do it"))
    folded.do(StartRun(None, "p:m"))
    folded.do(RecordRun(1, (PlanWritten("t", ("one",)), ItemStarted(1))))
    return folded


def _write(folded: Folded, name: FileName, before: str | None, after: str | None) -> None:
    changed = FileChanged(name, blob(before) if before else None, blob(after) if after else None, 5)
    returned = ToolReturned(CALL, 1, ok=True, shown="{}")
    folded.do(FinishCall(1, returned, (changed,), draft_id="d1"))


def _drafted() -> Folded:
    folded = _running()
    _write(folded, A, "a", "b")
    folded.do(EndRun(1, RunFinished(has_draft=True)))
    return folded


def test_a_batch_over_the_limit_adds_nothing() -> None:
    """A batch that would be too many is refused whole."""
    folded = Folded()
    files = tuple(FileAdded(FileName(f"{n}.csv"), blob("a"), 1) for n in range(3))

    with pytest.raises(ValidationFailed):
        folded.do(AddFiles(files, max_files=2))

    assert folded.state.files == {}


def test_names_that_collide_are_added_once() -> None:
    """Case and spelling do not make another file."""
    folded = Folded()
    files = (FileAdded(FileName("A.csv"), blob("a"), 1), FileAdded(A, blob("b"), 1))

    assert (files[0],) == folded.do(AddFiles(files, max_files=9)).events


def test_removal_with_a_draft_open_is_a_deletion_to_confirm() -> None:
    """Without a draft a file is gone at once; with one the publish asks first."""
    folded = _drafted()
    folded.add(B, "c")
    removed = folded.do(RemoveFiles((B,)))

    assert [FileChanged] == [type(event) for event in removed.events]
    found = {A: blob("a"), B: blob("c")}
    with pytest.raises(ValidationFailed, match="would be deleted"):
        folded.do(IntendPublish("p", None, found))
    folded.do(ConfirmDeletions((B,)))
    folded.do(IntendPublish("p", None, found))
    folded.do(CompletePublish("c1"))
    assert list(folded.state.files) == [A]
    assert folded.state.draft is None

    assert (FileRemoved(A),) == folded.do(RemoveFiles((A,))).events
    with pytest.raises(NotFound):
        folded.do(RemoveFiles((A,)))


def test_consent_is_for_the_files_as_they_are() -> None:
    """Consent to another scope than the present one is refused."""
    folded = Folded()
    consent = ConsentGranted("p", "p:m", "old")

    with pytest.raises(ValidationFailed):
        folded.do(GrantConsent(consent, "new"))
    assert (consent,) == folded.do(GrantConsent(consent, "old")).events


def test_one_run_at_a_time() -> None:
    """A second run, or a message, is refused while one is under way, naming it."""
    folded = _running()

    for command in (StartRun(None, "p:m"), SendMessage("u2", "more")):
        with pytest.raises(ValidationFailed, match=f"{folded.state.workbench_id}-1"):
            folded.do(command)


def test_a_run_starts_resumes_or_is_finished() -> None:
    """The same message starts a run, resumes it after a stop, and is done after its end."""
    folded = Folded()
    with pytest.raises(ValidationFailed, match="no message"):
        folded.do(StartRun(None, "p:m"))
    folded.do(SendMessage("u1", "do it"))

    assert (RunStarted("u1", "p:m"),) == folded.do(StartRun(None, "p:m")).events
    assert (RunInterrupted("crash"),) == folded.do(InterruptRun("crash")).events
    assert (RunResumed("p:n"),) == folded.do(StartRun("u1", "p:n")).events
    folded.do(EndRun(1, RunFinished(has_draft=False)))
    again = folded.do(StartRun("u1", "p:n"))
    assert (again.events, again.run) == ((), 1)
    with pytest.raises(NotFound):
        folded.do(StartRun("u9", "p:n"))
    folded.do(SendMessage("u2", "next"))
    with pytest.raises(ValidationFailed, match="newest"):
        folded.do(StartRun("u1", "p:n"))
    assert folded.do(StartRun(None, "p:n")).run == 2


def test_after_a_cancel_nothing_starts_and_nothing_lands() -> None:
    """From the acknowledgement on tools and writes are refused; the run can only end."""
    folded = _running()
    folded.do(StartCall(1, CALL, "t", "p 1"))
    folded.do(RequestCancel())
    returned = ToolReturned(CALL, 1, ok=True, shown="{}")
    change = FileChanged(A, blob("a"), blob("b"), 5)

    for command in (
        StartCall(1, CallId("c2"), "t", "p 1"),
        FinishCall(1, returned, (change,)),
        RecordRun(1, (ItemStarted(1),)),
        FailAttempt(1, "X", "no", final=False),
    ):
        with pytest.raises(UserCanceled):
            folded.do(command)
    assert folded.state.draft is None
    assert (RunCancelled(),) == folded.do(EndRun(1, RunFinished(has_draft=False))).events
    assert folded.do(RequestCancel()).events == ()


def test_a_call_cut_off_keeps_its_entry() -> None:
    """A call that is started again after a crash has the number it had."""
    from kbd.events.base import ReplyCall
    from kbd.events.runs import ModelReplied

    folded = _running()
    folded.do(RecordRun(1, (ModelReplied(calls=(ReplyCall(CALL, "t"),)),)))
    first = folded.do(StartCall(1, CALL, "t", "p 1")).events
    second = folded.do(StartCall(1, CALL, "t", "p 1")).events

    assert (ToolCalled(CALL, 1, "t", "p 1"),) == first == second


def test_a_write_over_somebody_elses_is_refused() -> None:
    """A call that saw other bytes than there are now changes nothing."""
    folded = _running()

    with pytest.raises(ValidationFailed, match="changed by somebody"):
        _write(folded, A, "x", "b")

    assert folded.state.draft is None


def test_a_failed_attempt_is_rolled_back() -> None:
    """What the attempt wrote is undone in the frame that says it failed; what came before stays."""
    folded = _running()
    _write(folded, B, None, "b")
    folded.do(RecordRun(1, (ItemStarted(1),)))
    _write(folded, A, "a", "c")
    _write(folded, A, "c", "d")
    _write(folded, B, "b", "e")

    failed = folded.do(FailAttempt(1, "TURN_LIMIT", "too long", final=False))

    assert ItemRetried(1, "TURN_LIMIT", "too long") == failed.events[-1]
    seen = {seen.name: seen.blob for seen in folded.state.current_files()}
    assert {A: blob("a"), B: blob("b")} == seen


def test_a_publish_needs_the_files_it_started_from() -> None:
    """A file that changed meanwhile refuses the publish, or is kept beside ours."""
    folded = _drafted()
    with pytest.raises(ConflictPublishedChanged) as refused:
        folded.do(IntendPublish("p", None, {A: blob("x")}))
    assert refused.value.detail == {"files": [A]}
    other = FileName("a (kbd conflict).csv")
    folded.do(IntendPublish("p", None, {A: blob("x")}, keep_both=True, free_names={A: other}))
    folded.do(CompletePublish("c1"))

    assert {A: blob("a"), other: blob("b")} == {n: e.blob for n, e in folded.state.files.items()}
    assert folded.state.draft is None
    assert [
        (c.checkpoint_id, tuple(file.name for file in c.files)) for c in folded.state.checkpoints
    ] == [("c1", (A,))]


def test_a_part_of_the_draft_can_be_published() -> None:
    """What is not named stays in the draft."""
    folded = _running()
    _write(folded, A, "a", "b")
    _write(folded, B, None, "c")
    folded.do(EndRun(1, RunFinished(has_draft=True)))
    folded.do(IntendPublish("p", (B,), {B: None}))
    with pytest.raises(ValidationFailed, match="under way"):
        folded.do(DiscardDraft())
    folded.do(CompletePublish("c1"))

    assert folded.state.draft is not None
    assert list(folded.state.draft.files) == [A]
    assert blob("c") == folded.state.files[B].blob
    with pytest.raises(NotFound):
        folded.do(IntendPublish("p", (B,), {}))


def test_no_publish_while_a_run_works() -> None:
    """The draft of a run that is under way is neither published nor discarded."""
    folded = _running()
    _write(folded, A, "a", "b")

    for command in (IntendPublish("p", None, {A: blob("a")}), DiscardDraft()):
        with pytest.raises(ValidationFailed, match="still working"):
            folded.do(command)
    folded.do(EndRun(1, RunFinished(has_draft=True)))
    folded.do(DiscardDraft())

    assert folded.state.draft is None
    assert RunStatus.FINISHED is folded.state.run(1).status
    with pytest.raises(ValidationFailed, match="draft not found"):
        folded.do(DiscardDraft())


def test_a_publish_with_external_references_is_confirmed_first() -> None:
    """Files with warnings go only when that was accepted."""
    folded = _running()
    change = FileChanged(A, blob("a"), blob("b"), 5, warnings=("links to http://x",))
    folded.do(FinishCall(1, ToolReturned(CALL, 1, ok=True, shown=""), (change,), draft_id="d"))
    folded.do(EndRun(1, RunFinished(has_draft=True)))

    with pytest.raises(ValidationFailed, match="links to"):
        folded.do(IntendPublish("p", None, {A: blob("a")}))
    folded.do(IntendPublish("p", None, {A: blob("a")}, accept_external=True))


def test_a_removal_tells_what_was_there() -> None:
    """A removal records size, warnings and notes of the file before it, as an edit does."""
    folded = _drafted()
    folded.add(B, "c")

    (removed,) = folded.do(RemoveFiles((B,))).events

    assert removed == FileChanged(B, blob("c"), None, before_size_bytes=10, cause="removal")


def test_removals_keep_the_draft_that_they_change() -> None:
    """A removal of the draft's only file and of a published one leaves the same draft open."""
    folded = _running()
    _write(folded, B, None, "b")
    folded.do(EndRun(1, RunFinished(has_draft=True)))

    folded.do(RemoveFiles((B, A)))

    assert folded.state.draft is not None
    assert folded.state.draft.draft_id == "d1"
    assert list(folded.state.draft.files) == [A]


def test_a_call_that_puts_one_file_back_keeps_the_draft() -> None:
    """A call that ends the draft's only difference and makes another leaves the same draft open."""
    folded = _running()
    folded.add(B, "c")
    _write(folded, A, "a", "b")
    changes = (FileChanged(A, blob("b"), blob("a"), 5), FileChanged(B, blob("c"), blob("d"), 5))
    returned = ToolReturned(CALL, 1, ok=True, shown="{}")

    folded.do(FinishCall(1, returned, changes, draft_id="d2"))

    assert folded.state.draft is not None
    assert folded.state.draft.draft_id == "d1"
    assert list(folded.state.draft.files) == [B]


def test_a_rollback_keeps_the_draft_that_it_changes() -> None:
    """A rollback that ends one difference and brings another back leaves the same draft open."""
    folded = _running()
    folded.add(B, "c")
    _write(folded, A, "a", "b")
    folded.do(RecordRun(1, (ItemCompleted(1, "done"), ItemStarted(2))))
    _write(folded, B, "c", "d")
    _write(folded, A, "b", "a")

    folded.do(FailAttempt(1, "TURN_LIMIT", "not done", final=True))

    assert folded.state.draft is not None
    assert folded.state.draft.draft_id == "d1"
    assert {name: file.blob for name, file in folded.state.draft.files.items()} == {A: blob("b")}


def test_a_deletion_of_what_somebody_changed_is_refused() -> None:
    """There are no two versions of a deletion to keep, so it is a conflict either way."""
    folded = _drafted()
    folded.add(B, "c")
    folded.do(RemoveFiles((B,)))
    folded.do(ConfirmDeletions((B,)))
    found = {A: blob("a"), B: blob("x")}

    with pytest.raises(ConflictPublishedChanged) as refused:
        folded.do(IntendPublish("p", None, found, keep_both=True))
    assert refused.value.detail == {"files": [B]}
