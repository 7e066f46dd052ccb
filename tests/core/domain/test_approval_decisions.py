"""Approvals decided and folded without a disk: about something exact, decided once."""

import random

import pytest

from folding import BENCH, Folded, blob
from kbd.core.domain.approval_decisions import pending_approvals, publish_requests
from kbd.core.domain.approval_text import approval_title
from kbd.core.domain.commands import (
    CompletePublish,
    ConfirmDeletions,
    DecideApproval,
    DiscardDraft,
    GrantConsent,
    IntendPublish,
    RequestApprovals,
    SetContext,
)
from kbd.core.domain.consent import scope_hash
from kbd.core.domain.fold import MAX_ASKED, MAX_DECIDED
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.approvals import ApprovalDecided, ApprovalRequested, Decision
from kbd.events.drafts import DeletionConfirmed, DraftOpened, FileChanged, PublishIntended
from kbd.events.workbenches import ConsentGranted
from kbd.types import BlobHash, FileName

A, B, C = FileName("a.txt"), FileName("b.txt"), FileName("c.txt")
MODEL = "openai:m"


class Asked(Folded):
    """A workbench with a draft that changes a.txt, deletes b.txt and adds c.txt with a link."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.add(A, "a")
        self.add(B, "b")
        self.apply(DraftOpened("d1"))
        self.write(A, "c")
        self.write(B, None)
        self.write(C, "d", "http://ai.example")

    def write(self, name: FileName, mark: str | None, *references: str) -> None:
        """Change a file in the draft."""
        seen = self.state.current_file(name)
        after = blob(mark) if mark else None
        before = seen.blob if seen else None
        self.apply(FileChanged(name, before, after, 7, warnings=references))

    def ask(self, *names: FileName) -> list[ApprovalRequested]:
        """Ask to publish, and return what waits."""
        draft = self.state.draft
        assert draft is not None
        self.asked += 1
        wanted = publish_requests(draft, names or draft.files, f"{BENCH}-a{self.asked}")
        self.do(RequestApprovals(wanted))
        return self.waiting()

    def waiting(self) -> list[ApprovalRequested]:
        """Return what waits."""
        return [each.request for each in pending_approvals(self.state)]

    def consent(self, kind: str = "consent") -> ApprovalRequested:
        """Ask for consent."""
        self.asked += 1
        scope = scope_hash(self.state, MODEL)
        wanted = ApprovalRequested(
            f"{BENCH}-a{self.asked}", "call" if kind == "call" else "consent", (), "openai",
            MODEL, scope, "ai.example:443", "workspace_summarize" if kind == "call" else "",
        )  # fmt: skip
        self.do(RequestApprovals((wanted,)))
        return wanted

    def decide(self, request: ApprovalRequested, decision: Decision = "accept") -> list[object]:
        """Decide, and return the events."""
        return list(self.do(DecideApproval(request.approval_id, decision)).events)

    def publish(self, approval_id: str = "", *names: FileName) -> tuple[object, ...]:
        """Intend a publish and complete it."""
        found = {name: entry.blob for name, entry in self.state.files.items()}
        command = IntendPublish("p1", names or None, found, approval_id=approval_id)
        events = self.do(command).events
        self.do(CompletePublish("c1"))
        return events


def test_each_danger_is_a_question_of_its_own() -> None:
    """A deletion, new external references; then the publish of all."""
    bench = Asked()
    found = bench.ask()

    assert [(each.kind, [file.name for file in each.files]) for each in found] == [
        ("deletion", [B]), ("external", [C]), ("publish", [A, B, C]),
    ]  # fmt: skip
    assert bench.ask() == found


def test_a_publish_needs_the_others_first() -> None:
    """Refused while one of them waits; nothing is decided then."""
    bench = Asked()
    deletion, external, publish = bench.ask()
    with pytest.raises(ValidationFailed, match="would be deleted"):
        bench.publish(publish.approval_id, A, B, C)
    assert bench.decide(deletion)[1:] == [DeletionConfirmed((B,))]
    with pytest.raises(ValidationFailed, match="external references"):
        bench.publish(publish.approval_id, A, B, C)
    with pytest.raises(ValidationFailed, match="by publishing"):
        bench.decide(publish)
    bench.decide(external)
    assert bench.waiting() == [publish]

    with pytest.raises(ValidationFailed, match="something else"):
        bench.publish(publish.approval_id, A, C)
    decided, intended = bench.publish(publish.approval_id, A, B, C)

    assert decided == ApprovalDecided(publish.approval_id, "accept")
    assert isinstance(intended, PublishIntended)
    assert intended.accepted == ((C, ("http://ai.example",)),)
    assert bench.waiting() == []


def test_a_decision_counts_once() -> None:
    """Whatever the second one says, it is told what the first one said."""
    bench = Asked()
    deletion, external, publish = bench.ask()
    bench.decide(deletion, "decline")
    for decision in ("accept", "decline"):
        with pytest.raises(ValidationFailed, match="declined already") as told:
            bench.decide(deletion, decision)
        assert told.value.detail["decision"] == "decline"
    assert bench.waiting() == [external, publish]
    with pytest.raises(NotFound):
        bench.do(DecideApproval(f"{BENCH}-a99", "accept"))


def test_accepted_references_are_of_these_bytes() -> None:
    """Written anew, the file is asked about again."""
    bench = Asked()
    _, external, _ = bench.ask(C, B)
    bench.decide(external)
    bench.write(C, "e", "http://ai.example")
    assert [each.kind for each in bench.ask(C)] == ["deletion", "external", "publish"]


@pytest.mark.parametrize("change", ["bytes", "base", "draft"])
def test_what_has_changed_waits_no_more(change: str) -> None:
    """Nobody accepts what is not there any longer."""
    bench = Asked()
    (publish,) = bench.ask(A)
    match change:
        case "bytes":
            bench.write(A, "e")
        case "base":
            assert bench.state.draft is not None
            bench.state.draft.files[A].base = blob("e")
        case _:
            bench.do(DiscardDraft())

    assert bench.waiting() == []
    with pytest.raises(ValidationFailed, match=r"waits no more|declined already"):
        bench.publish(publish.approval_id)


def test_doing_it_decides_it() -> None:
    """A confirmed deletion, a publish, a discarded draft, a consent."""
    bench = Asked()
    deletion, external, publish = bench.ask()
    assert (
        ApprovalDecided(deletion.approval_id, "accept") in bench.do(ConfirmDeletions((B,))).events
    )
    found = {name: entry.blob for name, entry in bench.state.files.items()}
    events = bench.do(IntendPublish("p1", None, found, accept_external=True)).events
    assert set(events[:-1]) == {
        ApprovalDecided(each.approval_id, "accept") for each in (external, publish)
    }
    bench = Asked()
    waiting = bench.ask()
    events = bench.do(DiscardDraft()).events
    assert set(events[:-1]) == {ApprovalDecided(each.approval_id, "decline") for each in waiting}

    asked = bench.consent()
    granted = ConsentGranted("openai", MODEL, asked.scope_hash, endpoint="ai.example:443")
    events = bench.do(GrantConsent(granted, asked.scope_hash)).events
    assert events == (ApprovalDecided(asked.approval_id, "accept"), granted)


def test_a_consent_is_given_for_what_was_asked() -> None:
    """For good, or for one call; with other files it is not asked any more."""
    bench = Asked()
    asked, call = bench.consent(), bench.consent("call")
    assert [each.kind for each in bench.waiting()] == ["consent", "call"]
    decided, other, granted = bench.decide(call)
    assert (decided, other) == (
        ApprovalDecided(call.approval_id, "accept"),
        ApprovalDecided(asked.approval_id, "accept"),
    )
    assert isinstance(granted, ConsentGranted)
    assert (granted.persist, granted.scope_hash) == (False, asked.scope_hash)
    late = bench.consent()
    bench.do(SetContext("company-context", "other", "", 1000))
    assert bench.waiting() == []
    with pytest.raises(ValidationFailed, match="waits no more"):
        bench.decide(late)


def test_what_changed_while_it_was_asked_is_not_asked() -> None:
    """A question about other bytes than there are would wait for nobody."""
    bench = Asked()
    assert bench.state.draft is not None
    wanted = publish_requests(bench.state.draft, (A,), f"{BENCH}-a7")
    bench.write(A, "e")
    with pytest.raises(ValidationFailed, match="changed meanwhile") as told:
        bench.do(RequestApprovals(wanted))
    assert told.value.retryable
    scope = scope_hash(bench.state, MODEL)
    asked = ApprovalRequested(
        f"{BENCH}-a8", "consent", (), "openai", MODEL, scope, "ai.example:443"
    )
    bench.do(SetContext("company-context", "other", "", 1000))
    assert bench.do(RequestApprovals((asked,))).events == ()
    assert bench.state.approvals == {}


def test_what_is_asked_reads_as_it_is() -> None:
    """Addresses and names of models are other people's: nothing in them is obeyed, or unseen."""
    bench = Asked()
    bench.write(C, "e", "http://ai.example/\u202egpj.exe", "http://b\x1b[2J\n\tdelete nothing")
    external = next(each for each in bench.ask(C) if each.kind == "external")
    assert approval_title(external) == (
        "publish c.txt with new active content: "
        "http://ai.example/⟨U+202E⟩gpj.exe, "
        "http://b⟨U+001B⟩[2J⟨U+000A⟩⟨U+0009⟩delete nothing"
    )
    asked = ApprovalRequested("a", "call", (), "openai", "openai:m\u200b\n", "", "", "tool")
    assert approval_title(asked) == (
        "send to openai (model openai:m⟨U+200B⟩⟨U+000A⟩) what tool, "
        "and the run under way or else the next one, read"
    )


def test_what_was_decided_is_not_remembered_for_ever() -> None:
    """The state does not grow with each question."""
    bench = Asked()
    for number in range(MAX_DECIDED + 20):
        bench.write(A, "cdef"[number % 4])
        (publish,) = [each for each in bench.ask(A) if each.kind == "publish"]
        bench.decide(publish, "decline")

    assert len(bench.state.decided) == MAX_DECIDED
    assert not bench.state.approvals


def test_what_was_asked_of_older_drafts_is_not_kept_for_ever() -> None:
    """Who asks after each edit does not make the state grow; what waits is never dropped."""
    bench = Asked()
    asked = bench.consent()
    newest = first = bench.ask(A)[-1]
    for number in range(MAX_ASKED + 20):
        seen = bench.state.current_file(A)
        assert seen is not None
        bench.apply(FileChanged(A, seen.blob, BlobHash(f"{number:064x}"), 7))
        newest = bench.ask(A)[-1]
    assert len(bench.state.approvals) <= MAX_ASKED
    assert bench.waiting() == [asked, newest]
    with pytest.raises(NotFound):
        bench.decide(first)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_published_that_nobody_accepted(seed: int) -> None:
    """Random questions, edits and decisions: each intent has the bytes of an accepted question."""
    coin, bench = random.Random(seed), Asked()
    for _ in range(60):
        if bench.state.draft is None:
            bench.apply(DraftOpened("d2"))
        waiting = bench.waiting()
        try:
            match coin.choice(("write", "ask", "decide", "decide", "publish", "stale")):
                case "write":
                    name = coin.choice((A, B, C))
                    bench.write(name, coin.choice(["e", "f", "c", None]))
                case "ask":
                    bench.ask()
                case "decide" if waiting:
                    answer: Decision = coin.choice(("accept", "accept", "decline"))
                    bench.decide(coin.choice(waiting), answer)
                case "publish" if waiting:
                    request = coin.choice(waiting)
                    *decided, intended = bench.publish(
                        request.approval_id, *(file.name for file in request.files)
                    )
                    assert isinstance(intended, PublishIntended)
                    asked = {(file.name, file.blob) for file in request.files}
                    assert {(file.name, file.new) for file in intended.files} == asked
                    assert ApprovalDecided(request.approval_id, "accept") in decided
                case _:
                    known = list(bench.state.decided)
                    if known:
                        bench.publish(coin.choice(known))
                        raise AssertionError("decided twice")
        except KbdError:
            continue
