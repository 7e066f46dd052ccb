"""A workbench without a disk: decide and fold in memory, as the Keeper does."""

from kbd.core.domain.commands import Command
from kbd.core.domain.decide import decide
from kbd.core.domain.decision import Decision
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events.codec import wrap_event
from kbd.events.vocabulary import Event
from kbd.events.workbenches import FileAdded, WorkbenchCreated
from kbd.types import BlobHash, FileName, Seq, WorkbenchId

BENCH = WorkbenchId("0123456789abcdef")


def blob(mark: str) -> BlobHash:
    """Return a hash that stands for some bytes."""
    return BlobHash(mark[:1] * 64)


class Folded:
    """A state and the way to move it on."""

    def __init__(self) -> None:
        self.state = WorkbenchState()
        self.time_us = 1_000_000
        self.apply(WorkbenchCreated(BENCH, "bench"))

    def apply(self, *events: Event, run: int = 0) -> None:
        """Fold events as recorded."""
        for event in events:
            self.time_us += 1
            seq = Seq(self.state.seq + 1)
            fold_workbench(self.state, seq, wrap_event(event, self.time_us, run))

    def do(self, command: Command) -> Decision:
        """Decide a command and fold what it leads to."""
        decision = decide(self.state, command)
        self.apply(*decision.events, run=decision.run)
        return decision

    def add(self, name: str, mark: str) -> None:
        """Add a file."""
        self.apply(FileAdded(FileName(name), blob(mark), 10))
