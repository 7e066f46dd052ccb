"""Lineages of files: content that came back has its own makers, what went away again has none."""

import random
from copy import deepcopy
from typing import NamedTuple

import pytest

from folding import Folded
from kbd.core.domain.commands import (
    AddFiles,
    CompletePublish,
    ConfirmDeletions,
    CreateCheckpoint,
    DiscardDraft,
    EndRun,
    FailAttempt,
    FinishCall,
    IntendPublish,
    InterruptRun,
    RecordCall,
    RecordRun,
    RemoveFiles,
    RestoreCheckpoint,
    Rewind,
    SendMessage,
    StartCall,
    StartRun,
)
from kbd.core.domain.lineage import FileLineage, LineageFold, LineageStep, walk_steps
from kbd.core.domain.rewind_decisions import differences, find_checkpoint, rewind_event
from kbd.core.domain.workbench_decisions import fork_events
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import KbdError
from kbd.events.codec import wrap_event
from kbd.events.drafts import CheckpointCreated, FileChanged
from kbd.events.runs import (
    ItemCompleted,
    ItemStarted,
    ModelReplied,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    RunFinished,
    ToolCalled,
    ToolReturned,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import AssistantMessageAdded, FileAdded, WorkbenchForked
from kbd.types import BlobHash, CallId, FileName, Phase, Seq, WorkbenchId

A, B, C = FileName("a.csv"), FileName("b.csv"), FileName("c.csv")

Makers = tuple[int, ...]
"""The events of a lineage's steps, newest first."""


def mark(number: int) -> BlobHash:
    """Return a hash of its own for each number."""
    return BlobHash(f"{number:064x}")


class Heads(NamedTuple):
    """What a test expects of a workbench: the steps behind each published and drafted file."""

    published: dict[FileName, Makers]
    drafted: dict[FileName, Makers]


class Lined(Folded):
    """A workbench with its lineages, and the commands that change files in it."""

    def __init__(self) -> None:
        self.lineages = LineageFold()
        self.events: list[tuple[Seq, Event]] = []
        self.then: dict[str, WorkbenchState] = {}
        self.calls = 0
        super().__init__()

    def apply(self, *events: Event, run: int = 0) -> None:
        """Fold events as recorded, into lineages as well."""
        for event in events:
            super().apply(event, run=run)
            self.lineages.add(self.state.seq, wrap_event(event, self.time_us, run))
            self.events.append((self.state.seq, event))

    def ask(self) -> str:
        """Say something and return its id."""
        message_id = f"u{self.state.seq}"
        self.do(SendMessage(message_id, message_id))
        self.then[message_id] = deepcopy(self.state)
        return message_id

    def start(self) -> int:
        """Start a run that has planned three items, or go on with one, and return its number."""
        run = self.do(StartRun(None, "p:m")).run
        if self.state.run(run).plan is None:
            plan = PlanWritten("task", ("First", "Second", "Third"))
            phases = (PhaseStarted(Phase.PLAN), plan, PhaseCompleted(Phase.PLAN))
            self.do(RecordRun(run, (*phases, PhaseStarted(Phase.IMPLEMENT))))
        return run

    def item(self, run: int, item: int, attempt: int = 1) -> None:
        """Begin an item."""
        self.do(RecordRun(run, (ItemStarted(item, attempt),)))

    def change(self, name: FileName, blob: BlobHash | None) -> FileChanged:
        """Return a change of a file as it is now."""
        seen = self.state.current_file(name)
        call_id = CallId(f"k{self.calls}")
        return FileChanged(name, seen.blob if seen else None, blob, 7, call_id=call_id)

    def write(self, run: int, **marks: int) -> None:
        """Have a run's call write files; `a=1` is a.csv."""
        self.calls += 1
        call_id = CallId(f"k{self.calls}")
        changes = [self.change(FileName(f"{n}.csv"), mark(m)) for n, m in marks.items()]
        self.do(RecordRun(run, (ModelReplied(),)))
        self.do(StartCall(run, call_id, "edit_table", ""))
        entry = self.state.next_entry - 1
        self.do(FinishCall(run, ToolReturned(call_id, entry, True, ""), tuple(changes), "d"))

    def write_myself(self, **marks: int) -> None:
        """Have a client's call write files."""
        self.calls += 1
        call_id = CallId(f"k{self.calls}")
        changes = [self.change(FileName(f"{n}.csv"), mark(m)) for n, m in marks.items()]
        called = ToolCalled(call_id, 0, "CsvEdit")
        self.do(RecordCall(called, ToolReturned(call_id, 0, True, ""), tuple(changes), "d"))

    def end(self, run: int) -> str:
        """End a run and return its answer's id."""
        facts = (PhaseCompleted(Phase.IMPLEMENT), AssistantMessageAdded(f"r{run}", "done"))
        self.do(EndRun(run, RunFinished(has_draft=self.state.draft is not None), facts))
        self.then[f"r{run}"] = deepcopy(self.state)
        return f"r{run}"

    def publish(self, *names: FileName, changed: FileName | None = None) -> None:
        """Publish the draft, or some files; one may be kept beside what somebody changed."""
        assert self.state.draft is not None
        drafted = self.state.draft.files
        self.do(ConfirmDeletions(tuple(n for n, file in drafted.items() if file.blob is None)))
        found: dict[FileName, BlobHash | None] = {n: f.base for n, f in drafted.items()}
        if changed is not None:
            found[changed] = mark(999)
        free = {name: FileName(f"beside-{self.state.seq}-{name}") for name in drafted}
        both = changed is not None
        publish_id = f"p{self.state.seq}"
        self.do(IntendPublish(publish_id, names or None, found, both, free))
        self.do(CompletePublish(f"c{self.state.seq}"))

    def rewind(self, message_id: str) -> None:
        """Undo to a message, behind a publish as well."""
        back = rewind_event(self.then[message_id], message_id)
        found = {file.name: file.old for file in differences(self.state, back.files)}
        self.do(Rewind(back, f"p{self.state.seq}", found))
        if self.state.publish is not None:
            self.do(CompletePublish(f"c{self.state.seq}"))

    def restore(self, checkpoint_id: str) -> None:
        """Restore a checkpoint."""
        files = find_checkpoint(self.state, checkpoint_id).files
        found = {file.name: file.old for file in differences(self.state, files)}
        self.do(RestoreCheckpoint(checkpoint_id, f"p{self.state.seq}", found))
        self.do(CompletePublish(f"c{self.state.seq}"))

    def heads(self) -> Heads:
        """Return the lineages, which must lead to what the state holds."""
        drafts = self.state.draft.files if self.state.draft else {}
        published: dict[FileName, Makers] = {}
        drafted: dict[FileName, Makers] = {}
        for name in {*self.state.files, *drafts, A, B, C}:
            file = self.lineages.file(name)
            assert (name in self.state.files) == (file.published is not None)
            assert (name in drafts) == (file.drafted is not None)
            if file.published is not None:
                assert file.published.after == self.state.files[name].blob
                published[name] = seqs(file.published)
            if file.drafted is not None:
                assert file.drafted.after == drafts[name].blob
                assert (file.base.after if file.base else None) == drafts[name].base
                drafted[name] = seqs(file.drafted)
        return Heads(published, drafted)

    def made(self, name: FileName) -> list[tuple[str, int, int, str]]:
        """Return kind, run, item and tool of each step behind a file's current version."""
        steps = walk_steps(self.lineages.file(name).current)
        return [(step.kind, step.run, step.item, step.tool) for step in steps]


def seqs(head: LineageStep | None) -> Makers:
    """Return the events of a lineage."""
    return tuple(step.seq for step in walk_steps(head))


def added(lined: Lined, **marks: int) -> None:
    """Add files."""
    files = tuple(FileAdded(FileName(f"{n}.csv"), mark(m), 7) for n, m in marks.items())
    lined.do(AddFiles(files, 100))


EDIT = "edit_table"


def test_a_step_names_run_item_and_tool() -> None:
    """Of a run's call, of a client's own, and of a person's file."""
    lined = Lined()
    added(lined, a=1)
    lined.ask()
    run = lined.start()
    lined.item(run, 2)
    lined.write(run, a=2)
    lined.end(run)
    lined.write_myself(a=3)

    assert lined.made(A) == [
        ("client_call", 0, 0, "CsvEdit"),
        ("tool_call", 1, 2, EDIT),
        ("added", 0, 0, ""),
    ]
    newest = lined.lineages.file(A).current
    assert newest is not None
    assert newest.entry_id == 2
    assert newest.call_id == "k2"


def test_what_a_failed_attempt_wrote_is_not_in_a_lineage() -> None:
    """Even where the attempt came back to the first bytes on its way."""
    lined = Lined()
    added(lined, a=1)
    lined.ask()
    run = lined.start()
    lined.item(run, 1)
    lined.write(run, a=2)
    lined.do(RecordRun(run, (ItemCompleted(1),)))
    before = lined.heads()
    lined.item(run, 2)
    for number in (3, 2, 4):
        lined.write(run, a=number, b=number)
    lined.do(FailAttempt(run, "E", "no", final=False))
    assert lined.heads() == before
    lined.item(run, 2, 2)
    lined.write(run, a=5)

    assert lined.made(A)[:2] == [("tool_call", 1, 2, EDIT), ("tool_call", 1, 1, EDIT)]


def test_an_interrupted_attempt_is_rolled_back_whole() -> None:
    """What it wrote before the daemon stopped goes, too."""
    lined = Lined()
    added(lined, a=1)
    lined.ask()
    run = lined.start()
    lined.item(run, 1)
    lined.write(run, a=2)
    lined.do(InterruptRun("stopped"))
    assert lined.start() == run
    lined.write(run, a=3)
    lined.do(FailAttempt(run, "E", "no", final=True))

    assert lined.made(A) == [("added", 0, 0, "")]


def test_a_discarded_draft_leaves_the_makers_of_what_is_published() -> None:
    """A later edit goes on from there."""
    lined = Lined()
    added(lined, a=1)
    lined.write_myself(a=2)
    lined.publish()
    lined.write_myself(a=3)
    lined.do(DiscardDraft())
    lined.write_myself(a=4)

    assert lined.made(A) == [("client_call", 0, 0, "CsvEdit")] * 2 + [("added", 0, 0, "")]


def test_an_undo_and_its_undo_choose_among_makers() -> None:
    """Behind a publish: content that is cut off has its makers again when it comes back."""
    lined = Lined()
    added(lined, a=1)
    first = lined.ask()
    run = lined.start()
    lined.write(run, a=2, b=3)
    answer = lined.end(run)
    drafted = lined.heads()
    lined.publish()
    lined.rewind(first)
    assert lined.made(A) == [("added", 0, 0, "")]
    assert lined.made(B) == []
    lined.rewind(answer)

    assert lined.heads() == drafted


def test_a_restored_checkpoint_has_the_makers_of_its_moment() -> None:
    """Of files that are gone meanwhile, too."""
    lined = Lined()
    added(lined, a=1, b=1)
    lined.write_myself(a=2, b=2)
    lined.publish()
    then = lined.heads()
    lined.do(CreateCheckpoint("c", ""))
    lined.write_myself(a=3)
    lined.publish()
    lined.do(RemoveFiles((B,)))
    assert lined.made(B) == []
    lined.restore("c")

    assert lined.heads() == then


def test_a_file_that_is_removed_and_made_again_has_all_three_steps() -> None:
    """In a draft, where the published file is still what is compared with."""
    lined = Lined()
    added(lined, a=1, b=1)
    lined.write_myself(b=2)
    lined.do(RemoveFiles((A,)))
    assert lined.made(A) == [("removed", 0, 0, ""), ("added", 0, 0, "")]
    lined.write_myself(a=2)

    assert [kind for kind, *_ in lined.made(A)] == ["client_call", "removed", "added"]


def test_what_is_kept_beside_a_changed_file_has_the_makers_of_the_draft() -> None:
    """Under its new name; the file itself is as it was."""
    lined = Lined()
    added(lined, a=1)
    lined.write_myself(a=2)
    lined.publish(changed=A)
    beside = next(name for name in lined.state.files if name.startswith("beside"))

    assert lined.made(A) == [("added", 0, 0, "")]
    assert lined.made(beside) == [("client_call", 0, 0, "CsvEdit"), ("added", 0, 0, "")]


def test_what_a_fork_takes_over_begins_there() -> None:
    """A restored checkpoint of the other workbench does, too; what is added later does not."""
    source = Lined()
    added(source, a=1)
    source.do(CreateCheckpoint("c", ""))
    source.write_myself(a=2)
    source.publish()
    fork = Lined()
    forked = WorkbenchForked(WorkbenchId("f" * 16), "clone_all", source.state.seq)
    now_us = fork.time_us + 1
    for fact in fork_events(source.state, forked):
        fork.time_us = now_us - 1  # They have one time.
        fork.apply(fact)
    added(fork, b=1)

    assert fork.made(A) == [("forked", 0, 0, "")]
    assert fork.made(B) == [("added", 0, 0, "")]
    assert any(isinstance(event, CheckpointCreated) for _, event in fork.events)
    fork.restore("c")
    assert fork.made(A) == [("forked", 0, 0, "")]


class Random(Lined):
    """A workbench in which anything happens, with what is expected of its lineages.

    The expectation is made of copies: whatever brings a moment back brings back what was expected
    then.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = random.Random(seed)
        self.expected = Heads({}, {})
        self.asked: dict[str, Heads] = {}
        self.checkpoints: dict[str, dict[FileName, Makers]] = {}
        self.attempt: Heads | None = None
        self.run_number = self.open_item = 0

    def act(self) -> None:
        """Do something at random; what is refused changes nothing."""
        acts = [self.edit] * 6 + [self.turn_run] * 4
        acts += [self.remove, self.add_new, self.discard, self.publish_some, self.publish_some]
        acts += [self.undo, self.undo, self.restore_one, self.keep]
        try:
            self.chance.choice(acts)()
        except KbdError:
            return
        self.remember_checkpoints()

    def remember_checkpoints(self) -> None:
        """Remember what is expected of the checkpoints that there are now."""
        for each in self.state.checkpoints:
            self.checkpoints.setdefault(each.checkpoint_id, dict(self.before.published))
        self.before = deepcopy(self.expected)

    before = Heads({}, {})

    def expect_step(self, name: FileName, seq: int) -> None:
        """Expect one more step behind a file, unless the draft is as published again."""
        makers = self.expected.drafted.get(name) or self.expected.published.get(name, ())
        self.expected.drafted[name] = (seq, *makers)
        self.drop_same(name)

    def drop_same(self, name: FileName) -> None:
        """Expect nothing of a file that is not in the draft any more."""
        if self.state.draft is None or name not in self.state.draft.files:
            self.expected.drafted.pop(name, None)

    def edit(self) -> None:
        """Write files, in the run if one is under way; to few contents, so that some come back."""
        names = self.chance.sample("abc", self.chance.choice((1, 1, 2)))
        marks = {name: self.chance.randrange(5) for name in names}
        known = {n: self.state.current_file(FileName(f"{n}.csv")) for n in names}
        at = len(self.events)
        if self.state.active_run() is not None:
            self.write(self.run_number, **marks)
        else:
            self.write_myself(**marks)
        for seq, event in self.events[at:]:
            if isinstance(event, FileChanged):
                seen = known[event.name[0]]
                if (seen.blob if seen else None) != event.after:
                    self.expect_step(event.name, seq)
                self.drop_same(event.name)

    def turn_run(self) -> None:
        """Ask and start, begin an item, complete or fail it, end the run."""
        if self.state.active_run() is None:
            self.asked[self.ask()] = deepcopy(self.expected)
            self.run_number, self.open_item = self.start(), 0
        elif not self.open_item:
            if self.chance.random() < 0.4:
                self.asked[self.end(self.run_number)] = deepcopy(self.expected)
                return
            self.open_item = self.chance.randint(1, 3)
            self.item(self.run_number, self.open_item)
            self.attempt = deepcopy(self.expected)
        else:
            item, self.open_item = self.open_item, 0
            if self.chance.random() < 0.5:
                self.do(FailAttempt(self.run_number, "E", "no", final=False))
                assert self.attempt is not None
                self.expected = deepcopy(self.attempt)
            else:
                self.do(RecordRun(self.run_number, (ItemCompleted(item),)))

    def remove(self) -> None:
        """Remove a file; in a draft that is a step."""
        if self.state.active_run() is not None:
            return  # Of what a person does to an attempt's files another test tells.
        name = self.chance.choice((A, B, C))
        had_draft = self.state.draft is not None
        self.do(RemoveFiles((name,)))
        if had_draft:
            self.expect_step(name, self.state.seq)
        else:
            del self.expected.published[name]

    def add_new(self) -> None:
        """Add a file."""
        if self.state.active_run() is None:
            seq = self.state.seq
            added(self, **{self.chance.choice("abc"): self.chance.randrange(5)})
            if self.state.seq > seq:
                name = next(n for n in (A, B, C) if self.is_new(n))
                self.expected.published[name] = (self.state.seq,)

    def is_new(self, name: FileName) -> bool:
        """Return whether a file is published and was not."""
        return name in self.state.files and name not in self.expected.published

    def discard(self) -> None:
        """Discard the draft."""
        self.do(DiscardDraft())
        self.expected.drafted.clear()

    def publish_some(self) -> None:
        """Publish the draft, or one file."""
        if self.state.draft is None or self.state.active_run() is not None:
            return
        names = sorted(self.state.draft.files)
        if self.chance.random() < 0.4:
            names = [self.chance.choice(names)]
        self.publish(*names)
        for name in names:
            makers = self.expected.drafted.pop(name)
            self.expected.published.pop(name, None)
            if name in self.state.files:
                self.expected.published[name] = makers

    def undo(self) -> None:
        """Go back to a message, cut off or not."""
        if not self.asked:
            return
        message_id = self.chance.choice(sorted(self.asked))
        self.rewind(message_id)
        self.expected = deepcopy(self.asked[message_id])

    def restore_one(self) -> None:
        """Restore a checkpoint."""
        if not self.checkpoints:
            return
        checkpoint_id = self.chance.choice(sorted(self.checkpoints))
        self.restore(checkpoint_id)
        now = self.checkpoints[checkpoint_id]
        self.expected = Heads(dict(now), {})

    def keep(self) -> None:
        """Make a checkpoint."""
        self.do(CreateCheckpoint(f"c{self.state.seq}", ""))


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.sampled(4)
def test_whatever_happens_a_lineage_is_what_was_done(seed: int) -> None:
    """Edits, rollbacks, undos, discards, publishes, restores, removals in a seeded order."""
    bench = Random(seed)
    added(bench, a=0, b=1)
    bench.expected.published.update({A: (bench.state.seq - 1,), B: (bench.state.seq,)})
    bench.before = deepcopy(bench.expected)
    for _ in range(120):
        bench.act()

        assert bench.heads() == bench.expected
    assert bench.lineages.seq == bench.state.seq


def test_nothing_is_known_of_a_file_that_there_is_not() -> None:
    """Its lineage is empty."""
    assert LineageFold().file(A) == FileLineage()
