"""Calls that made a draft's files, read from the log: what was asked, and what files were seen."""

from collections.abc import Collection

import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import (
    Draft,
    DraftFile,
    FileEntry,
    SeenFile,
    WorkbenchState,
)
from kbd.core.store.journal import Journal
from kbd.core.workbench.file_store import Blobs
from kbd.events.base import FileVersion, Recorded
from kbd.events.runs import ToolCalled
from kbd.types import BlobHash, FileName, Seq

__all__ = ["DraftedCall", "read_drafted_calls", "state_of_view"]

_PAGE_EVENTS = 5000


class DraftedCall(msgspec.Struct, frozen=True):
    """A call that wrote files of the draft.

    Args:
        seq: The event of its start.
        ts_us: When that was.
        called: That event.
        arguments: What it was asked for, as JSON text; "" if the log does not tell.
        blob: The hash of arguments that are too long for the log.
        view: The files as they stood when it began, by name.
    """

    seq: Seq
    ts_us: int
    called: ToolCalled
    arguments: str
    blob: BlobHash | None
    view: dict[FileName, SeenFile]

    async def text(self, blobs: Blobs) -> str:
        """Return the arguments as JSON text; "" if the log does not tell.

        Raises:
            NotFound: The blob that they are in is missing.
        """
        if self.blob is None:
            return self.arguments
        return (await blobs.read(self.blob)).decode()


async def read_drafted_calls(journal: Journal, wanted: Collection[Seq]) -> dict[Seq, DraftedCall]:
    """Return calls by the events of their starts.

    Args:
        journal: The workbench's log.
        wanted: Those events.

    Raises:
        LogCorrupt: The log is damaged before the last of them.
    """
    if not wanted:
        return {}
    return await run_sync(_read, journal, frozenset(wanted), max(wanted))


def _read(journal: Journal, wanted: frozenset[Seq], last: Seq) -> dict[Seq, DraftedCall]:
    state = WorkbenchState()
    found: dict[Seq, DraftedCall] = {}
    while state.seq < last:
        page = journal.log.read(state.seq, _PAGE_EVENTS)
        if not page:
            break
        for number, record in page:
            seq = Seq(number)
            fold_workbench(state, seq, record)
            if seq in wanted and isinstance(record.data, ToolCalled):
                found[seq] = _call(state, seq, record)
    return found


def _call(state: WorkbenchState, seq: Seq, record: Recorded) -> DraftedCall:
    called: ToolCalled = record.data
    arguments, blob = called.arguments, called.arguments_blob
    if record.run:
        # A run's stand in the reply that asked for the call.
        turns = state.run(record.run).chain.turns
        asked = [each for turn in turns[-1:] for each in turn.calls if each.id == called.call_id]
        arguments, blob = (asked[0].arguments, asked[0].blob) if asked else ("", None)
    view = {seen.name: seen for seen in state.current_files()}
    return DraftedCall(seq, record.ts_us, called, arguments, blob, view)


def state_of_view(
    view: dict[FileName, SeenFile], base: FileVersion | None = None
) -> WorkbenchState:
    """Return a workbench that holds just these files.

    Args:
        view: The files.
        base: What the draft of one of them started from, if that matters.
    """
    state = WorkbenchState()
    drafted: dict[FileName, DraftFile] = {}
    for name, seen in view.items():
        if not seen.in_draft:
            state.files[name] = FileEntry(seen.blob, seen.size_bytes, 0, seen.modified_at_us)
            continue
        drafted[name] = DraftFile(
            base=base.blob if base is not None and base.name == name else None,
            blob=seen.blob,
            size_bytes=seen.size_bytes,
            warnings=list(seen.warnings),
            notes=list(seen.notes),
            focus=seen.focus,
        )
    if drafted:
        state.draft = Draft("", 0, files=drafted)
    return state
