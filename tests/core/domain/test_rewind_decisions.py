"""Rewinding, restoring, forking: decided and folded without a disk."""

from copy import deepcopy

import pytest

from folding import BENCH, Folded, blob
from kbd.core.domain.commands import (
    AddFiles,
    CompletePublish,
    CreateCheckpoint,
    DiscardDraft,
    EndRun,
    IntendPublish,
    RemoveFiles,
    RestoreCheckpoint,
    Rewind,
    SendMessage,
    StartRun,
)
from kbd.core.domain.decision import Decision
from kbd.core.domain.rewind_decisions import find_exchange, find_message, rewind_event
from kbd.core.domain.workbench_decisions import check_forkable, fork_events, fork_point
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.workbench.notifications import notifications_of
from kbd.errors import ConflictPublishedChanged, KbdError, NotFound, ValidationFailed
from kbd.events.codec import wrap_event
from kbd.events.drafts import FileChanged
from kbd.events.runs import RunFinished
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ContextSet,
    ConversationRewound,
    FileAdded,
    WorkbenchForked,
)
from kbd.requests import notifications as wire
from kbd.types import BlobHash, FileName, ForkMode, Seq

A, B = FileName("a.csv"), FileName("b.csv")


class Spoken(Folded):
    """A workbench with a conversation, and how it stood after each message."""

    def __init__(self) -> None:
        super().__init__()
        self.then: dict[str, WorkbenchState] = {}
        self.last = Decision()

    def ask(self, message_id: str) -> None:
        """Say something."""
        self.do(SendMessage(message_id, message_id))
        self.then[message_id] = deepcopy(self.state)

    def answer(self, **writes: str) -> str:
        """Run, write, and return the answer's id."""
        number = self.do(StartRun(None, "p:m")).run
        for name, mark in writes.items():
            file = FileName(f"{name}.csv")
            seen = self.state.current_file(file)
            self.apply(FileChanged(file, seen.blob if seen else None, blob(mark), 7), run=number)
        said = AssistantMessageAdded(f"r{number}", "done")
        self.do(EndRun(number, RunFinished(has_draft=self.state.draft is not None), (said,)))
        self.then[f"r{number}"] = deepcopy(self.state)
        return f"r{number}"

    def publish(self) -> None:
        """Publish the draft."""
        found = {name: entry.blob for name, entry in self.state.files.items()}
        self.do(IntendPublish("p", None, found))
        self.do(CompletePublish(f"c{self.state.seq}"))

    def rewind(self, message_id: str, **found: str | None) -> None:
        """Undo and carry it out; published files are as kbd knows them, but for `found`."""
        back = rewind_event(self.then[message_id], message_id)
        known: dict[FileName, BlobHash | None] = dict.fromkeys((A, B))
        known |= {name: entry.blob for name, entry in self.state.files.items()}
        known |= {FileName(f"{n}.csv"): blob(m) if m else None for n, m in found.items()}
        self.last = self.do(Rewind(back, "p", known))
        if self.state.publish is not None:
            self.last = self.do(CompletePublish(f"c{self.state.seq}"))

    def stands(self) -> object:
        """What an undo brings back."""
        state = self.state
        runs = [(run.number, run.undone, run.discarded, run.status) for run in state.runs]
        return state.files, state.draft, state.said, state.current, runs


def _stood(then: WorkbenchState, runs: int) -> object:
    told = [(run.number, run.undone, run.discarded, run.status) for run in then.runs]
    later = [(number, True, False, "finished") for number in range(len(told) + 1, runs + 1)]
    return then.files, then.draft, then.said, then.current, [*told, *later]


def _spoken() -> Spoken:
    spoken = Spoken()
    spoken.add(A, "a")
    spoken.ask("u1")
    spoken.answer(a="b")
    spoken.publish()
    spoken.ask("u2")
    spoken.answer(b="c")
    return spoken


def test_all_stands_as_it_did_back_and_forward() -> None:
    """Files, draft, what was said, and how the runs stood; what was spent stays."""
    spoken = _spoken()
    for message_id in ("u1", "r2", "r1", "u2", "r2", "u1", "r1"):
        spoken.rewind(message_id)
        assert spoken.stands() == _stood(spoken.then[message_id], 2), message_id
    assert set(spoken.state.heard) == {"u1", "r1", "u2", "r2"}
    spoken.ask("u3")
    assert [said.message_id for said in spoken.state.said] == ["u1", "r1", "u3"]
    spoken.rewind("r2")
    assert [said.message_id for said in spoken.state.said] == ["u1", "r1", "u2", "r2"]


def test_a_draft_that_was_discarded_is_there_again() -> None:
    """With the run that made it, which is not discarded then."""
    spoken = _spoken()
    spoken.do(DiscardDraft())
    assert spoken.state.run(2).discarded
    spoken.rewind("r2")
    assert spoken.stands() == _stood(spoken.then["r2"], 2)
    assert spoken.do(StartRun(None, "p:m")).run == 2  # the finished one, found again


def test_another_answer_leaves_the_first_undone() -> None:
    """Both are about one message: of the two only that stands which the conversation has."""
    spoken = _spoken()
    spoken.rewind("u2")
    assert spoken.do(StartRun("u2", "p:m", "r2")).run == 3
    said = AssistantMessageAdded("r3", "otherwise")
    spoken.do(EndRun(3, RunFinished(has_draft=False), (said,)))
    spoken.then["r3"] = deepcopy(spoken.state)
    assert [run.undone for run in spoken.state.runs] == [False, True, False]
    spoken.rewind("r2")
    assert [run.undone for run in spoken.state.runs] == [False, False, True]
    spoken.rewind("r3")
    assert [run.undone for run in spoken.state.runs] == [False, True, False]


def test_what_somebody_changed_is_not_replaced() -> None:
    """A published file that is neither as it was nor as it will be: nothing happens."""
    spoken = _spoken()
    before = spoken.stands()
    with pytest.raises(ConflictPublishedChanged):
        spoken.rewind("u1", a="x")
    assert spoken.stands() == before
    spoken.rewind("u1", a="a")  # by hand, but as it is to be
    assert spoken.state.files[A].blob == blob("a")


def test_a_file_changed_in_the_last_moment_stays_beside_what_was_then() -> None:
    """What the log says is what published/ holds: both versions."""
    spoken = _spoken()
    back = rewind_event(spoken.then["u1"], "u1")
    spoken.do(Rewind(back, "p", {A: blob("b")}))
    beside = FileName("a (kbd conflict p).csv")
    spoken.do(CompletePublish("c9", ((A, beside),)))
    files = {name: entry.blob for name, entry in spoken.state.files.items()}
    assert files == {A: blob("b"), beside: blob("a")}
    assert spoken.state.said == spoken.then["u1"].said


def test_nothing_is_lost_while_an_undo_is_carried_out() -> None:
    """What would be forgotten with it is refused until it is done."""
    spoken = _spoken()
    spoken.do(Rewind(rewind_event(spoken.then["u1"], "u1"), "p", {A: blob("b")}))
    added = AddFiles((FileAdded(B, blob("e"), 1),), 9)
    checkpoint = CreateCheckpoint("c", "")
    for command in (SendMessage("u3", "x"), added, RemoveFiles((A,)), DiscardDraft(), checkpoint):
        with pytest.raises(ValidationFailed) as refused:
            spoken.do(command)
        assert refused.value.retryable
    with pytest.raises(ValidationFailed):
        spoken.do(Rewind(rewind_event(spoken.then["u1"], "u1"), "q", {A: blob("b")}))
    done = spoken.do(CompletePublish("c9"))
    assert [type(event).__name__ for event in done.events] == [
        "CheckpointCreated", "PublishCompleted", "ConversationRewound",
    ]  # fmt: skip
    assert spoken.stands() == _stood(spoken.then["u1"], 2)
    assert spoken.state.checkpoints[-1].reason == "undo"


def test_a_run_under_way_is_not_undone() -> None:
    """It has to be waited for, or cancelled."""
    spoken = _spoken()
    spoken.ask("u3")
    spoken.do(StartRun(None, "p:m"))
    with pytest.raises(ValidationFailed, match="under way"):
        spoken.rewind("u1")


def test_only_messages_can_be_named() -> None:
    """Ids that the conversation shows of other entries are told apart from unknown ones."""
    spoken = _spoken()
    assert find_message(spoken.state, "r1").role == "assistant"
    with pytest.raises(ValidationFailed, match="no message"):
        find_message(spoken.state, "m12")
    with pytest.raises(NotFound):
        find_message(spoken.state, "u9")


def test_what_is_answered_once_more() -> None:
    """Named by message, by answer, or the newest; also one that was cut off."""
    spoken = _spoken()

    def pair(named: str | None) -> tuple[str, ...]:
        return tuple(said.message_id for said in find_exchange(spoken.state, named))

    assert (pair(None), pair("u1"), pair("r1")) == (("u2", "r2"), ("u1", "r1"), ("u1", "r1"))
    spoken.rewind("u1")
    assert (pair("u2"), pair("r2")) == (("u2", "r2"), ("u2", "r2"))
    with pytest.raises(ValidationFailed, match="nothing was answered"):
        pair(None)


def test_a_checkpoint_is_restored_like_a_publish() -> None:
    """Files of then, and a checkpoint of now; what is restored is asked about anew."""
    spoken = _spoken()
    first = spoken.state.checkpoints[0].checkpoint_id
    with pytest.raises(ValidationFailed, match="draft is open"):
        spoken.do(RestoreCheckpoint(first, "p", {A: blob("b")}))
    spoken.do(DiscardDraft())
    with pytest.raises(NotFound):
        spoken.do(RestoreCheckpoint("c0", "p", {}))
    with pytest.raises(ConflictPublishedChanged):
        spoken.do(RestoreCheckpoint(first, "p", {A: blob("x")}))
    spoken.do(RestoreCheckpoint(first, "p", {A: blob("b")}))
    done = spoken.do(CompletePublish("c9"))
    assert [type(event).__name__ for event in done.events] == [
        "CheckpointCreated", "PublishCompleted", "CheckpointRestored",
    ]  # fmt: skip
    assert (spoken.state.files[A].blob, spoken.state.files[A].origin) == (blob("a"), blob("a"))
    assert spoken.state.checkpoints[-1].reason == "pre_restore"


def test_a_fork_takes_over_what_its_mode_says() -> None:
    """Never the draft, consent or runs; messages keep their ids and times."""
    spoken = _spoken()
    spoken.apply(ContextSet("situation", "we move"))
    with pytest.raises(ValidationFailed, match="draft is open"):
        check_forkable(spoken.state)
    expected: tuple[tuple[ForkMode, int, int, int], ...] = (
        ("clone_all", 4, 1, 1),
        ("clone_files_and_context_no_chat", 0, 1, 0),
        ("clone_files_only", 0, 0, 0),
    )
    for mode, said, context, checkpoints in expected:
        forked = WorkbenchForked(BENCH, mode, spoken.state.seq)
        other = Folded()
        other.apply(*fork_events(spoken.state, forked))
        state = other.state
        assert {name: entry.blob for name, entry in state.files.items()} == {A: blob("b")}
        assert (len(state.said), len(state.context)) == (said, context)
        assert len(state.checkpoints) == checkpoints
        assert (state.draft, state.consents, list(state.runs), state.current) == (None, [], [], 0)
        assert state.parent is not None
        for mine, theirs in zip(state.said, spoken.state.said, strict=False):
            assert (mine.message_id, mine.created_at_us) == (
                theirs.message_id, theirs.created_at_us,
            )  # fmt: skip


@pytest.mark.parametrize(
    ("message_id", "seq", "refusal"),
    [
        ("u1", Seq(1), ValidationFailed),
        ("u9", None, NotFound),
        ("m1", None, ValidationFailed),
        (None, Seq(0), ValidationFailed),
        (None, Seq(10_000), ValidationFailed),
    ],
)
def test_a_point_that_is_none_is_refused(
    message_id: str | None, seq: Seq | None, refusal: type[KbdError]
) -> None:
    """Both named, unknown, no message, before the first event, behind the last."""
    with pytest.raises(refusal):
        fork_point(_spoken().state, message_id, seq)


def test_a_rewind_without_a_difference_is_done_at_once() -> None:
    """No publish is intended, and no checkpoint made, where published/ need not change."""
    spoken = _spoken()
    decision = spoken.do(Rewind(rewind_event(spoken.then["u2"], "u2"), "p", {}))
    assert [type(event) for event in decision.events] == [ConversationRewound]
    assert spoken.state.draft is None


def test_an_undo_is_told_with_what_it_changed() -> None:
    """That it is done, whether there is a draft, and which published files are other now."""
    spoken = _spoken()
    spoken.rewind("u1")
    (back,) = [event for event in spoken.last.events if isinstance(event, ConversationRewound)]
    record = wrap_event(back, spoken.time_us)
    done, drafted, variant, files = notifications_of(spoken.state, spoken.state.seq, record)
    assert isinstance(done, wire.WorkshopUndoCompleted)
    assert (done.message_id, done.has_draft) == ("u1", False)
    assert isinstance(drafted, wire.DraftStateChanged)
    assert isinstance(variant, wire.WorkbenchDraftStateChanged)
    assert (drafted.has_draft, variant.has_draft) == (False, False)
    assert isinstance(files, wire.WorkbenchFilesChanged)
    assert (files.added, files.removed, files.updated) == ((), (), (A,))
