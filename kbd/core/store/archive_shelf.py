"""Shelf of archives: where they lie, and the steps between a workbench's folder and its archive.

    archives/<id>.tar.gz            an archive
    archives/stage/<id>.packing     one that is being written
    archives/stage/<id>.packed      one that is whole, until its event is recorded and the rest done
    archives/stage/<id>.unpacking   a folder that is being unpacked
    archives/stage/<id>.unpacked    one that is whole, until its event is recorded and the rest done
    archives/stage/<id>.removed     a folder whose archive is in its place
    archives/stage/<id>.aside       an archive that is to be removed
    archives/reading/<id>           the log of an archive, unpacked while somebody reads it

What is the workbench, its folder or its archive, says the daemon's log alone. Each step before the
event leaves what it says as it was; each step after it is done by `settle`, now or by the next
start, which finds in the stage what is left to be done. Everything here blocks.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping
from enum import Enum
from io import BufferedReader
from pathlib import Path, PurePosixPath

from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.runtime.folder_trees import remove_file, remove_tree
from kbd.core.runtime.paths import ARCHIVE_SUFFIX, Home, WorkbenchFolders, checked_id
from kbd.core.store.archive_file import PackedFolder, pack_folder, unpack_folder
from kbd.errors import ValidationFailed
from kbd.events.disk import DISK, SCRATCH_DISK, Disk
from kbd.types import BlobHash, FileName, WorkbenchId

__all__ = ["ArchiveShelf", "Kept", "archived_ids"]


class Kept(Enum):
    """What the daemon's log says that a workbench is: a folder, an archive, or neither any more."""

    FOLDER = "folder"
    ARCHIVE = "archive"
    GONE = "gone"


def archived_ids(home: Home) -> tuple[WorkbenchId, ...]:
    """Return the ids of the workbenches of which an archive is in its place, sorted."""
    try:
        names = sorted(os.listdir(home.archives))
    except FileNotFoundError:
        return ()
    found = []
    for name in names:
        with contextlib.suppress(ValidationFailed):
            if name.endswith(ARCHIVE_SUFFIX):
                found.append(checked_id(name.removesuffix(ARCHIVE_SUFFIX)))
    return tuple(found)


class ArchiveShelf:
    """The archives of a home.

    Args:
        home: The home; folders are made in it when there is something to put into them.
        disk: What writes.
    """

    def __init__(self, home: Home, disk: Disk = DISK) -> None:
        self._home, self._disk = home, disk
        self._stage, self._reading = home.archives / "stage", home.archives / "reading"

    def pack(
        self,
        workbench_id: WorkbenchId,
        shown: Mapping[FileName, BlobHash],
        tick: Callable[[], None] = lambda: None,
    ) -> PackedFolder:
        """Pack a workbench's folder, which stays; all is durable when this returns.

        Args:
            workbench_id: Which; nobody has it open.
            shown: As for `pack_folder`.
            tick: Likewise.

        Raises:
            KbdError: As `pack_folder`.
            OSError: Likewise.
        """
        self._disk.make_directory(self._stage)
        packing = self._staged(workbench_id, "packing")
        packing.unlink(missing_ok=True)
        packed = pack_folder(self._folder(workbench_id), packing, shown, self._disk, tick)
        self._move(packing, self._staged(workbench_id, "packed"))
        return packed

    def unpack(self, workbench_id: WorkbenchId, copy: ArchivedCopy) -> None:
        """Unpack a workbench's archive, which stays; all is durable when this returns.

        Args:
            workbench_id: Which.
            copy: Its archive, by the daemon's log.

        Raises:
            FileReadFailed: The archive is damaged or cannot be read.
            OSError: What it holds cannot be written.
        """
        self._disk.make_directory(self._stage)
        unpacking = self._staged(workbench_id, "unpacking")
        remove_tree(unpacking)
        try:
            unpack_folder(
                self._home.archive(workbench_id),
                copy.sha256,
                unpacking,
                take=_own_parts(copy),
                disk=self._disk,
            )
        except BaseException:
            remove_tree(unpacking)
            raise
        self._move(unpacking, self._staged(workbench_id, "unpacked"))

    def set_aside(self, workbench_id: WorkbenchId) -> None:
        """Set a workbench's archive aside: removed by `settle`, or brought back.

        One that is missing already is no hindrance.
        """
        self._disk.make_directory(self._stage)
        with contextlib.suppress(FileNotFoundError):
            self._move(self._home.archive(workbench_id), self._staged(workbench_id, "aside"))

    def unpack_log(self, workbench_id: WorkbenchId, copy: ArchivedCopy) -> Path:
        """Unpack the log of an archive, which stays, for somebody to read.

        Args:
            workbench_id: Whose.
            copy: The archive, by the daemon's log.

        Returns:
            A new folder with `log` and perhaps `snap` in it, which whoever reads it removes.

        Raises:
            KbdError: As `unpack`; nothing is left.
            OSError: Likewise.
        """
        SCRATCH_DISK.make_directory(self._reading)
        target = self._reading / f"{workbench_id}-{secrets.token_hex(4)}"
        try:
            unpack_folder(
                self._home.archive(workbench_id),
                copy.sha256,
                target,
                parts=("log", "snap"),
                take=_own_parts(copy),
                disk=SCRATCH_DISK,
            )
        except BaseException:
            remove_tree(target)
            raise
        return target

    def find(self, workbench_id: WorkbenchId) -> Path:
        """Return where the archive of a workbench is, which a crash may have left in the stage.

        If there is none, the path where it should be.
        """
        archive = self._home.archive(workbench_id)
        places = (archive, *(self._staged(workbench_id, step) for step in ("packed", "aside")))
        return next((place for place in places if os.path.lexists(place)), archive)

    def find_folders(self, workbench_id: WorkbenchId) -> WorkbenchFolders:
        """Return the folders of a workbench, which a crash may have left in the stage."""
        folders = self._home.workbench(workbench_id)
        staged = WorkbenchFolders(workbench_id, self._staged(workbench_id, "unpacked"))
        return staged if not folders.root.exists() and staged.exists() else folders

    def rescue(self, workbench_id: WorkbenchId) -> None:
        """Put what a crash left of a workbench in its place, where no log says what it is.

        Raises:
            OSError: It cannot be moved.
        """
        folder, archive = self._folder(workbench_id), self._home.archive(workbench_id)
        # Those first that are known to be whole.
        places = (("unpacked", folder), ("packed", archive), ("aside", archive))
        for step, place in (*places, ("removed", folder)):
            staged = self._staged(workbench_id, step)
            if not folder.exists() and not archive.exists() and staged.exists():
                self._move(staged, place)

    def clear_reading(self) -> None:
        """Remove what a daemon that died left of logs that were read; nobody reads any."""
        remove_tree(self._reading)

    def unsettled(self) -> tuple[WorkbenchId, ...]:
        """Return the workbenches of which something is in the stage."""
        try:
            names = os.listdir(self._stage)
        except FileNotFoundError:
            return ()
        return tuple(sorted({WorkbenchId(name.partition(".")[0]) for name in names}))

    def settle(self, workbench_id: WorkbenchId, kept: Kept) -> None:
        """Do what is left to be done once the daemon's log says what a workbench is.

        Doing it again, or after it was cut off, does the rest.

        Args:
            workbench_id: Which; nobody has it open.
            kept: What the log says.

        Raises:
            OSError: It cannot be done; the next call does what is left.
        """
        folder, archive = self._folder(workbench_id), self._home.archive(workbench_id)
        packed, unpacked, removed, aside = (
            self._staged(workbench_id, step) for step in ("packed", "unpacked", "removed", "aside")
        )
        match kept:
            case Kept.ARCHIVE:
                if packed.exists():
                    # The folder first: the packed one is what tells that this is to be done.
                    if folder.exists():
                        remove_tree(removed, self._disk)
                        self._move(folder, removed)
                    self._move(packed, archive)
                elif aside.exists() and not archive.exists():
                    self._move(aside, archive)
                self._discard(unpacked)
            case Kept.FOLDER:
                if unpacked.exists() and not folder.exists():
                    # The archive first: the unpacked folder is what tells that this is to be done.
                    if archive.exists():
                        self._move(archive, aside)
                    self._move(unpacked, folder)
                if folder.exists():
                    self._discard(packed, unpacked)
            case Kept.GONE:
                self._discard(packed, unpacked)
        self._discard(*(self._staged(workbench_id, each) for each in ("packing", "unpacking")))
        # Only beside the workbench itself: where that is missing these may be all there is of it.
        if kept is Kept.GONE or (archive if kept is Kept.ARCHIVE else folder).exists():
            self._discard(removed, aside)

    def _folder(self, workbench_id: WorkbenchId) -> Path:
        return self._home.workbench(workbench_id).root

    def _staged(self, workbench_id: WorkbenchId, step: str) -> Path:
        return self._stage / f"{workbench_id}.{step}"

    def _move(self, source: Path, target: Path) -> None:
        """Move a file or a folder; durable on return."""
        self._disk.rename(source, target)
        # Where it is before where it was: a crash in between leaves it under one name or both.
        for folder in (target.parent, source.parent):
            self._disk.sync_directory(folder)

    def _discard(self, *places: Path) -> None:
        for place in places:
            if place.is_dir() and not place.is_symlink():
                remove_tree(place, self._disk)
            else:
                remove_file(place, self._disk)


def _own_parts(copy: ArchivedCopy) -> Callable[[PurePosixPath, BufferedReader], bool]:
    """Return what of an archive is believed: of one that came with a restore no snapshot."""
    # It may be a stranger's, and say otherwise than the log.
    return lambda path, _data: not (copy.restored and path.parts[0] == "snap")
