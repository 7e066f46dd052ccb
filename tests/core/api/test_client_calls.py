"""A client's own call: one frame that has happened whole, never while others work on the draft."""

import pytest

from folding import BENCH, Folded, blob
from kbd.core.domain.commands import (
    CompletePublish,
    DiscardDraft,
    EndRun,
    FailAttempt,
    FinishCall,
    IntendPublish,
    InterruptRun,
    RecordCall,
    RecordRun,
    SendMessage,
    StartRun,
)
from kbd.core.domain.long_lists import decode_state, encode_state
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import ValidationFailed
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import ItemStarted, PlanWritten, RunFailed, ToolCalled, ToolReturned
from kbd.types import CallId, FileName

A, B = FileName("a.csv"), FileName("b.csv")
CALL = CallId("w1")


def call(*changes: FileChanged, ok: bool = True) -> RecordCall:
    """A client's call that wrote these."""
    called = ToolCalled(CALL, 0, "BookApplyOps", "kbd_book 1.0", '{"ops":[]}')
    return RecordCall(called, ToolReturned(CALL, 0, ok, "{}"), changes, "d1")


def change(
    name: FileName,
    before: str | None,
    after: str,
    warnings: tuple[str, ...] = (),
    had: tuple[str, ...] = (),
) -> FileChanged:
    """A write of a file, with what the review should show of it now and before."""
    return FileChanged(
        name, blob(before) if before else None, blob(after), 5, call_id=CALL, warnings=warnings,
        before_warnings=had,
    )  # fmt: skip


def benched() -> Folded:
    """A workbench with a file."""
    folded = Folded()
    folded.add(A, "a")
    return folded


def running(folded: Folded) -> Folded:
    """The same with a run that works on an item."""
    folded.do(SendMessage("u1", "do it"))
    folded.do(StartRun(None, "p:m"))
    folded.do(RecordRun(1, (PlanWritten("t", ("one",)), ItemStarted(1))))
    return folded


def written(folded: Folded, *changes: FileChanged) -> None:
    """A call of the run that wrote these."""
    folded.do(FinishCall(1, ToolReturned(CALL, 9, ok=True, shown="{}"), changes, "d9"))


def test_a_call_is_one_frame_without_a_run() -> None:
    """The call, the opened draft, the change and the result, in this order, under one number."""
    folded = benched()
    decision = folded.do(call(change(A, "a", "b")))

    assert decision.run == 0
    called, opened, changed, returned = decision.events
    assert isinstance(called, ToolCalled)
    assert isinstance(returned, ToolReturned)
    assert (called.entry_id, returned.entry_id) == (1, 1)
    assert called.arguments == '{"ops":[]}'
    assert opened == DraftOpened("d1")
    assert changed == change(A, "a", "b")
    assert folded.state.draft is not None
    assert (folded.state.draft.run, folded.state.draft.draft_id) == (0, "d1")
    assert (dict(folded.state.entries), folded.state.next_entry) == ({1: folded.state.seq}, 2)


def test_calls_are_numbered_on_and_share_the_draft() -> None:
    """The next number is the next call's, a run's or a client's; a draft is opened once."""
    folded = benched()
    folded.do(call(change(A, "a", "b")))
    second = folded.do(call(change(A, "b", "c")))

    assert [type(event) for event in second.events] == [ToolCalled, FileChanged, ToolReturned]
    assert folded.state.next_entry == 3


def test_a_call_that_failed_opens_nothing() -> None:
    """It is in the log with its number, and that is all."""
    folded = benched()
    events = folded.do(call(ok=False)).events

    assert [type(event) for event in events] == [ToolCalled, ToolReturned]
    assert folded.state.draft is None


def test_a_call_waits_for_a_run() -> None:
    """While one is under way a client writes nothing; the refusal names the run."""
    folded = running(benched())
    with pytest.raises(ValidationFailed, match="is under way") as refused:
        folded.do(call(change(A, "a", "b")))

    assert refused.value.retryable
    assert refused.value.detail == {"run_id": f"{BENCH}-1"}
    folded.do(InterruptRun("stop"))
    assert folded.do(call(change(A, "a", "b"))).events


def test_a_call_waits_for_a_publish() -> None:
    """What is being published is not changed meanwhile."""
    folded = benched()
    folded.do(call(change(A, "a", "b")))
    folded.do(IntendPublish("p", None, {A: blob("a")}))
    with pytest.raises(ValidationFailed, match="a publish is under way"):
        folded.do(call(change(A, "b", "c")))

    folded.do(CompletePublish("c"))
    assert folded.do(call(change(A, "b", "c"))).events


def test_of_two_calls_on_one_file_the_second_lands_on_the_first_or_not_at_all() -> None:
    """A call that saw what is not there any more is refused, and nothing of it is recorded."""
    folded = benched()
    folded.do(call(change(A, "a", "b")))
    seq = folded.state.seq
    with pytest.raises(ValidationFailed, match="changed by somebody else"):
        folded.do(call(change(B, None, "c"), change(A, "a", "c")))

    assert folded.state.seq == seq
    assert folded.state.current_file(B) is None


def test_the_state_is_the_same_from_the_log() -> None:
    """What folds give of calls without a run can be stored and read as a snapshot."""
    folded = benched()
    folded.do(call(change(A, "a", "b", ("a link",))))
    packed = encode_state(folded.state)

    assert decode_state(packed, WorkbenchState) == folded.state


def test_a_rollback_brings_back_what_the_review_showed_before() -> None:
    """Warnings of a failed attempt go with its bytes; earlier ones come back."""
    folded = benched()
    folded.do(call(change(A, "a", "b", ("a link",))))
    running(folded)
    written(folded, change(A, "b", "c", ("a link", "a query"), ("a link",)))
    written(folded, change(A, "c", "d", ("a link", "a query"), ("a link", "a query")))
    shown = folded.state.current_file(A)
    assert shown is not None
    assert shown.warnings == ("a link", "a query")

    folded.do(FailAttempt(1, "TURN_LIMIT", "too long", final=False))
    shown = folded.state.current_file(A)
    assert shown is not None
    assert (shown.blob, shown.warnings) == (blob("b"), ("a link",))


def test_a_rollback_leaves_what_a_person_wrote_since() -> None:
    """A client edits a file while the run stands still: the attempt's failure takes it not away."""
    folded = running(benched())
    written(folded, change(A, "a", "b"), change(B, None, "b"))
    folded.do(EndRun(1, RunFailed("PROVIDER_UNAVAILABLE", "gone", "rpi_implement")))
    folded.do(call(change(A, "b", "c")))
    folded.do(StartRun(None, "p:m"))
    folded.do(FailAttempt(1, "TURN_LIMIT", "too long", final=False))

    kept = folded.state.current_file(A)
    assert kept is not None
    assert kept.blob == blob("c")
    assert folded.state.current_file(B) is None


def test_a_publish_waits_until_what_a_file_reaches_out_to_is_accepted() -> None:
    """The refusal names it; what was published or discarded is asked about no more."""
    folded = benched()
    folded.do(call(change(A, "a", "b", ("B2: WEBSERVICE",))))
    with pytest.raises(ValidationFailed, match=r"a\.csv: B2: WEBSERVICE"):
        folded.do(IntendPublish("p", None, {A: blob("a")}))
    folded.do(IntendPublish("p", None, {A: blob("a")}, accept_external=True))
    folded.do(CompletePublish("c"))

    published = folded.state.current_file(A)
    assert published is not None
    assert (published.blob, published.warnings) == (blob("b"), ())
    folded.do(call(change(A, "b", "c")))
    folded.do(DiscardDraft())
    assert folded.state.draft is None
