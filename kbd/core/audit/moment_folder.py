"""Export of a workbench as it stood after an event, to a new folder that people look into.

    files/                what runs saw: the published files, with the draft's versions over them
    published/ draft/     as both folders of the workbench were
    state.json            all that was true; its SHA-256 is the state's hash
    plan.md research.md   of the newest run, as far as they were written
    conversation.jsonl    the messages of person and runs, if there were any

Every file's bytes are checked against their hash on the way. Blocking.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from kbd.core.audit.whole_paths import NewFolder
from kbd.core.domain.state_text import conversation_lines, plan_markdown
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.history import encoded_state
from kbd.core.workbench.destination import create_partial_file
from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.errors import BlobCollected, DiskFull, FileWriteFailed, LogCorrupt, NotFound
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import BlobDamaged
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.shortages import raise_shortage
from kbd.types import BlobHash, FileName

__all__ = ["folder_files", "write_moment"]

_COPIED_BYTES = 1024 * 1024


def folder_files(state: WorkbenchState) -> dict[str, dict[FileName, BlobHash]]:
    """Return which files each folder of a moment holds."""
    drafted = state.draft.files if state.draft else {}
    return {
        "files": {seen.name: seen.blob for seen in state.current_files()},
        "published": {name: entry.blob for name, entry in state.files.items()},
        "draft": {name: file.blob for name, file in drafted.items() if file.blob is not None},
    }


def write_moment(state: WorkbenchState, blobs: BlobStore, place: Path, disk: Disk = DISK) -> None:
    """Write a workbench as it stood to a folder, which appears whole or not at all.

    Args:
        state: How it stood.
        blobs: The bytes of its files.
        place: Where, as `resolve_new_folder` returned it: nothing is there, or an empty folder.
        disk: What makes it durable.

    Raises:
        ValidationFailed: Something else is being written there.
        LogCorrupt: A file's bytes are missing, or not what they were.
        DiskFull: No space is left; nothing was written.
        FileWriteFailed: It cannot be written; nothing was.
    """
    try:
        made = NewFolder(place, disk)
        try:
            for folder, files in folder_files(state).items():
                _write_files(made.folder / folder, files, blobs)
            for name, text in _text_files(state).items():
                (made.folder / name).write_bytes(text)
            made.land()
        finally:
            made.remove()
    except OSError as error:
        if is_full(error):
            raise DiskFull("no space is left to write the moment; nothing was written") from None
        raise_shortage(error)
        reason = os.strerror(error.errno or 0)
        raise FileWriteFailed(f"the moment cannot be written: {reason}") from None


def _write_files(folder: Path, files: Mapping[FileName, BlobHash], blobs: BlobStore) -> None:
    folder.mkdir(mode=0o700)
    root = ConfinedRoot(folder)
    try:
        for name, blob in files.items():
            with root.parent(name, create=True) as (held, last):
                # Opened within its folder's descriptor: no name of the log, and no link, leads out
                # of it.
                target = create_partial_file(held, last, 0o600)
                try:
                    _copy_file(blobs, target, name, blob)
                finally:
                    os.close(target)
    finally:
        root.close()


def _copy_file(blobs: BlobStore, target: int, name: FileName, blob: BlobHash) -> None:
    try:
        blobs.copy_to(blob, target)
    except BlobCollected:
        raise
    except NotFound:
        raise LogCorrupt(f"the bytes of {name!r} are missing; `kbd verify` says more") from None
    except BlobDamaged:
        msg = f"the bytes of {name!r} are not what they were; `kbd verify` says more"
        raise LogCorrupt(msg) from None


def _text_files(state: WorkbenchState) -> dict[str, bytes]:
    texts = {"state.json": encoded_state(state)}
    run = state.runs[-1] if state.runs else None
    if run is not None and run.plan is not None:
        texts["plan.md"] = plan_markdown(run.plan).encode("utf-8", "replace")
    if run is not None and run.research is not None:
        texts["research.md"] = run.research.encode("utf-8", "replace")
    if state.said:
        texts["conversation.jsonl"] = conversation_lines(state.said).encode("utf-8", "replace")
    return texts
