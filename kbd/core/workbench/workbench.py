"""An open workbench: its Keeper, blobs, files, folders and locks in one record."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import anyio
import msgspec

from kbd.core.domain.commands import Command
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.store.history import state_at
from kbd.core.store.keeper import Keeper, Outcome
from kbd.core.store.snapshots import Snapshots
from kbd.core.workbench.file_store import Blobs, FileStore
from kbd.core.workbench.lineage import LineageReader
from kbd.errors import LogCorrupt
from kbd.events.base import Actor
from kbd.events.disk import LogPoisoned
from kbd.types import BlobHash, FileName, Seq, WorkbenchId

__all__ = ["OpenWorkbench", "draft_view"]


class OpenWorkbench(msgspec.Struct, frozen=True):
    """An open workbench: the parts that work on its folder.

    Args:
        folders: Where it lies.
        keeper: The single writer of its log.
        blobs: Its bytes.
        files: published/ and draft/.
        snapshots: Those of its state.
        publishing: Held while published/ is changed: by a publish, an undo, or a person's files.
        editing: Held by a client's own call while it edits: the next one sees what it wrote.
        lineages: Tells which steps made a file what it is.
        actor: The client for whom it is worked on; None for nobody.
        changed: Notified of each event.
    """

    folders: WorkbenchFolders
    keeper: Keeper[WorkbenchState, Command]
    blobs: Blobs
    files: FileStore
    snapshots: Snapshots[WorkbenchState]
    publishing: anyio.Lock = msgspec.field(default_factory=anyio.Lock)
    editing: anyio.Lock = msgspec.field(default_factory=anyio.Lock)
    lineages: LineageReader = msgspec.field(default_factory=LineageReader)
    actor: Actor | None = None
    changed: Notifier = msgspec.field(default_factory=Notifier)

    @property
    def id(self) -> WorkbenchId:
        """Its id."""
        return self.folders.id

    @property
    def state(self) -> WorkbenchState:
        """The state, folded from the durable events."""
        return self.keeper.state

    def state_at(self, seq: Seq) -> WorkbenchState:
        """Return the state as it was after an event: from a snapshot on, if there is one. Blocks.

        Raises:
            NotFound: The log ends before it.
            LogCorrupt: The log is damaged before it.
        """
        state = self.snapshots.state_at(seq)
        return state if state is not None else state_at(self.folders.log, seq)

    def acting(self, actor: Actor | None) -> "OpenWorkbench":
        """Return the same open workbench for a client: what is submitted by it names that one."""
        return msgspec.structs.replace(self, actor=actor)

    async def submit(self, command: Command) -> Outcome:
        """Submit a command for whom it is worked on; see `Keeper.submit`.

        Raises:
            KbdError: It was refused, or the log could not take it; nothing happened.
        """
        return await self.keeper.submit(command, self.actor)

    @contextmanager
    def fail_stop(self) -> Iterator[None]:
        """Work on its files within; the daemon ends where the disk does not make that durable.

        Raises:
            LogPoisoned: What was raised within; nothing more is recorded (reliability R11).
        """
        try:
            yield
        except LogPoisoned as failed:
            self.keeper.poison(failed)
            raise

    @property
    def damage(self) -> LogCorrupt | None:
        """Why it is read-only, if it is."""
        return self.keeper.journal.log.damage


def draft_view(state: WorkbenchState) -> Mapping[FileName, BlobHash | None]:
    """Return the files that draft/ should hold; None for one that the draft deletes."""
    if state.draft is None:
        return {}
    return {name: drafted.blob for name, drafted in state.draft.files.items()}
