"""Recovery of drafts that ended without being published: as the draft again, or as files.

What such a draft held is read by folding the log up to its end, so nothing of it need be kept
beside the log. Its bytes are blobs, and are checked by their hashes before anything is done.
"""

from collections.abc import Sequence

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RecoverDraft
from kbd.core.domain.recover_decisions import choose_files, find_ended, refuse_recovery
from kbd.core.domain.rewind_decisions import draft_then
from kbd.core.domain.state_text import collection_text
from kbd.core.domain.workbench_state import Draft, EndedDraft, WorkbenchState
from kbd.core.runtime.clock import Clock
from kbd.core.store.history import drafts_before
from kbd.core.workbench.destination import Destination
from kbd.core.workbench.extraction import extract_version
from kbd.core.workbench.file_store import refuse_collected
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileWriteFailed, NotFound
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.codec import format_time
from kbd.events.drafts import DraftRecovered
from kbd.events.workbenches import DraftedThen, DraftThen
from kbd.requests import drafts as wire
from kbd.requests.base import UNSET, Unset
from kbd.requests.workbenches import ExtractResult
from kbd.types import BlobHash, FileName, Seq

__all__ = [
    "FoundDraft",
    "draft_versions",
    "extract_draft",
    "find_draft",
    "list_ended",
    "recover_draft",
]


class FoundDraft(msgspec.Struct, frozen=True):
    """A draft that ended, with what it held.

    Args:
        ended: How it ended.
        draft: What it held before that.
    """

    ended: EndedDraft
    draft: DraftThen


async def list_ended(workbench: OpenWorkbench, limit: int) -> wire.DiscardedDraftsFound:
    """List the drafts that can be recovered, newest first.

    Args:
        workbench: The workbench.
        limit: The most that are listed.

    Raises:
        LogCorrupt: The log is damaged.
    """
    ended = workbench.state.ended_drafts
    newest = ended[: -limit - 1 : -1]
    seqs = [each.seq for each in newest]
    rows = await run_sync(_read_rows, workbench, newest, seqs)
    return wire.DiscardedDraftsFound(drafts=rows, total=len(ended))


def _read_rows(
    workbench: OpenWorkbench, newest: Sequence[EndedDraft], seqs: Sequence[Seq]
) -> tuple[wire.DiscardedDraft, ...]:
    held = drafts_before(workbench.folders.log, seqs)
    return tuple(_row(workbench, each, held[each.seq]) for each in newest if each.seq in held)


def _row(workbench: OpenWorkbench, ended: EndedDraft, draft: Draft) -> wire.DiscardedDraft:
    store = workbench.blobs.store
    files = tuple(
        wire.DiscardedFile(
            path=name,
            change_type=_change_type(file.base is None, file.blob is None),
            size_bytes=file.size_bytes,
            is_available=file.blob is None or store.has(file.blob),
            collected=_collection(workbench, file.blob),
        )
        for name, file in sorted(draft.files.items())
    )
    return wire.DiscardedDraft(
        draft_id=ended.draft_id,
        ended_seq=ended.seq,
        reason=ended.reason,
        discarded_at=format_time(ended.ended_at_us),
        created_at=format_time(draft.created_at_us),
        run_id=workbench.state.run_id(draft.run) if draft.run else msgspec.UNSET,
        files=files,
        is_complete=all(file.is_available for file in files),
    )


def _collection(workbench: OpenWorkbench, blob: BlobHash | None) -> str | Unset:
    """Return when and why the bytes of a version were collected."""
    note = workbench.state.collected.get(blob) if blob is not None else None
    return collection_text(note) if note is not None else UNSET


def _change_type(is_new: bool, is_deleted: bool) -> wire.ChangeType:  # noqa: FBT001 - two facts
    if is_deleted:
        return "deleted"
    return "added" if is_new else "modified"


async def find_draft(
    workbench: OpenWorkbench, draft_id: str | None, ended_seq: Seq | None
) -> FoundDraft:
    """Read a draft that can be recovered from the log; the newest that is meant.

    Raises:
        NotFound: There is none.
        LogCorrupt: The log is damaged before its end.
    """
    ended = find_ended(workbench.state, draft_id, ended_seq)
    held = await run_sync(drafts_before, workbench.folders.log, (ended.seq,))
    return FoundDraft(ended, draft_then(held[ended.seq]))


async def recover_draft(
    workbench: OpenWorkbench, found: FoundDraft, names: tuple[FileName, ...] | None
) -> wire.DraftRecovered:
    """Make a draft that had ended the draft again, whole or in part.

    Args:
        workbench: The workbench.
        found: The draft.
        names: Which of its files, or None for all.

    Raises:
        ValidationFailed: A draft is open, a run or a publish is under way, a name would collide, or
            nothing differs from what is published.
        NotFound: A file is not in it.
        BlobCollected: Bytes that would be needed were removed on purpose.
        FileWriteFailed: Bytes that would be needed are damaged or missing.
        DiskFull: There is no room to record it; nothing was changed.
    """
    # Before the bytes are read: of large files that takes a while.
    refuse_recovery(workbench.state)
    chosen = choose_files(found.draft, names)
    harmed = await run_sync(_harmed_files, workbench.blobs.store, chosen)
    if harmed:
        rest = [file.name for file in chosen if file.name not in harmed]
        help_text = "; choose the other files by name" if rest else ""
        msg = f"the bytes are damaged or missing of: {', '.join(sorted(harmed))}{help_text}"
        raise FileWriteFailed(msg, detail={"files": sorted(harmed)})
    # Shielded: whoever goes away now is not told, but what is recorded is shown, too.
    with anyio.CancelScope(shield=True):
        command = RecoverDraft(found.ended.seq, found.draft, names)
        outcome = await workbench.submit(command)
    (event,) = (each for each in outcome.events if isinstance(each, DraftRecovered))
    recovered = {file.name for file in event.draft.files}
    return wire.DraftRecovered(
        draft_id=found.ended.draft_id,
        ended_seq=found.ended.seq,
        recovered=tuple(sorted(recovered)),
        already_published=tuple(f.name for f in chosen if f.name not in recovered),
        changed_since=_changed_since(workbench.state, event.draft.files),
    )


def _changed_since(state: WorkbenchState, files: Sequence[DraftedThen]) -> tuple[FileName, ...]:
    """Return the files whose published version is not the one that the draft began from."""
    published = {name: entry.blob for name, entry in state.files.items()}
    return tuple(file.name for file in files if published.get(file.name) != file.base)


def _harmed_files(store: BlobStore, files: Sequence[DraftedThen]) -> set[FileName]:
    needed = [(file.name, file.blob) for file in files if file.blob is not None]
    looked = store.verify({blob for _, blob in needed})
    refuse_collected(store, needed, looked.missing)
    harmed = {*looked.damaged, *looked.missing}
    return {file.name for file in files if file.blob in harmed}


async def extract_draft(
    workbench: OpenWorkbench,
    clock: Clock,
    found: FoundDraft,
    destination: Destination,
    names: tuple[FileName, ...] | None,
) -> wire.DraftRecovered:
    """Copy the files of a draft that had ended to a folder; a failure is one file's result.

    Args:
        workbench: The workbench; a draft may be open in it.
        clock: Names the effects.
        found: The draft.
        destination: Where; made if it is not there.
        names: Which of its files, or None for all that it does not delete.

    Raises:
        NotFound: A file is not in it, or it deletes one.
    """
    results: list[ExtractResult] = []
    for version in draft_versions(found.draft, names):
        # Between two files a client may go away; within one, intent and outcome belong together.
        await anyio.lowlevel.checkpoint()
        with anyio.CancelScope(shield=True):
            results.append(await extract_version(workbench, clock, destination, version))
    done = tuple(FileName(r.workbench_path) for r in results if r.status == "extracted")
    return wire.DraftRecovered(
        draft_id=found.ended.draft_id,
        ended_seq=found.ended.seq,
        recovered=done,
        extract_results=tuple(results),
    )


def draft_versions(draft: DraftThen, names: tuple[FileName, ...] | None) -> tuple[FileVersion, ...]:
    """Return what a draft holds of files that it does not delete.

    Raises:
        NotFound: A file that is named is not in it, or it deletes it.
    """
    chosen = choose_files(draft, names)
    deleted = [file.name for file in chosen if file.blob is None]
    if names is not None and deleted:
        msg = f"draft {draft.draft_id} deletes {', '.join(deleted)}: it has no bytes of that"
        raise NotFound(msg)
    return tuple(
        FileVersion(file.name, file.blob, file.size_bytes)
        for file in chosen
        if file.blob is not None
    )
