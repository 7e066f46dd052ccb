"""Reader of closed logs for the index, in a process of its own.

To fold ten thousand logs takes half a minute of processor, in which the daemon's event loop would
run nothing else. The process (`python -m kbd.core.home_index.reader HOME`) reads on its standard
input which workbenches are wanted, and writes a row for each as soon as it has it. It changes
nothing. If it dies, or its daemon does, nothing is lost.
"""

import os
import struct
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.home_index.rows import (
    DAMAGED_MARK,
    IndexedWorkbench,
    closed_mark,
    indexed_workbench,
)
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.store.archive_shelf import ArchiveShelf
from kbd.core.store.snapshots import workbench_snapshots
from kbd.core.workbench.rows import FolderSizes, folder_sizes
from kbd.errors import KbdError, ToolWorkerUnavailable
from kbd.events.base import Recorded
from kbd.events.scan import read_log
from kbd.events.watches import WatchRunStarted
from kbd.types import Seq, WatchId, WorkbenchId

__all__ = ["LENGTH", "main", "read_workbench", "watches_of"]

LENGTH = struct.Struct(">I")
"""Before each part of the output: how many bytes it has. The first part says which workbench was
made by which watch, as `watches_of` returns it; each other is an `IndexedWorkbench`."""

_NICENESS = 10
"""It yields to everything that somebody waits for."""


def read_workbench(home: Home, known: KnownWorkbench) -> IndexedWorkbench:
    """Return the row of a workbench that is closed, by its log as it lies on disk. Blocks.

    Args:
        home: The home.
        known: The workbench, as the daemon's log knows it.
    """
    # Before the log: one that is written meanwhile has another by then, and is read once more.
    mark = closed_mark(home, known)
    if known.archive is None:
        folders = home.workbench(known.workbench_id)
        return _read_folders(known, folders, folder_sizes(folders), mark)
    sizes = FolderSizes(other=known.archive.size_bytes)
    try:
        shelf = ArchiveShelf(home)
        folder = shelf.unpack_log(known.workbench_id, known.archive)
        try:
            folders = WorkbenchFolders(known.workbench_id, folder)
            return _read_folders(known, folders, sizes, mark)
        finally:
            remove_tree(folder)
    except KbdError as error:
        reason = error.message
    except OSError as error:
        reason = f"the archive cannot be unpacked: {error.strerror}"
    return indexed_workbench(known, WorkbenchState(), reason, sizes, (), mark=DAMAGED_MARK)


def _read_folders(
    known: KnownWorkbench, folders: WorkbenchFolders, sizes: FolderSizes, mark: bytes
) -> IndexedWorkbench:
    state, damage = workbench_snapshots(folders.log, folders.snap).read()
    try:
        return indexed_workbench(known, state, damage, sizes, state.runs, mark=mark)
    except ToolWorkerUnavailable:
        # A page of the state was damaged, and is gone by now: the log is folded from its beginning.
        state, damage = workbench_snapshots(folders.log, folders.snap).read()
        return indexed_workbench(known, state, damage, sizes, state.runs, mark=mark)


def watches_of(home: Home) -> dict[WorkbenchId, WatchId]:
    """Return which watches made which workbenches, by the daemon's log. Blocks.

    Args:
        home: The home; its daemon may be writing the log.
    """
    found: dict[WorkbenchId, WatchId] = {}

    def note(seq: Seq, record: Recorded) -> None:
        del seq
        if isinstance(record.data, WatchRunStarted):
            found[record.data.workbench_id] = record.data.watch_id

    try:
        read_log(home.daemon_log, note)
    except (KbdError, OSError):
        pass  # As far as it can be read; what is wrong with it is its daemon's to tell.
    return found


def main(folder: str, wanted: BinaryIO, found: BinaryIO) -> int:
    """Read the workbenches that are wanted, and write their rows; return 0.

    Args:
        folder: `$KBD_HOME`.
        wanted: Which: `KnownWorkbench`es as one MessagePack array.
        found: Takes the rows.
    """
    os.nice(_NICENESS)
    home = Home(Path(folder), Path(folder) / "kbd.sock")
    known = msgspec.msgpack.decode(wanted.read(), type=tuple[KnownWorkbench, ...])
    _write(found, watches_of(home))
    for each in known:
        _write(found, read_workbench(home, each))
    return 0


def _write(found: BinaryIO, part: object) -> None:
    packed = msgspec.msgpack.encode(part)
    found.write(LENGTH.pack(len(packed)) + packed)
    found.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.stdin.buffer, sys.stdout.buffer))
