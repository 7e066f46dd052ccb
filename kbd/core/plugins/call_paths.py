"""Paths of a worker call: which files it reads, where it writes, and where its outputs land.

An argument that is a path is what the call may reach. One that names a file is read. One that names
nothing yet is written: the call gets a folder of its own beside it, and what it has made there is
moved to its place when the call has ended. A `CallFolder` is read and written.
"""

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kbd.core.plugins.confinement.process import CallReach
from kbd.core.plugins.worker_messages import Request, encode
from kbd.core.runtime.folder_trees import measure_tree, remove_tree
from kbd.errors import DiskFull, FileReadFailed
from kbd.events.checked_blobs import blob_paths
from kbd.events.disk import is_full

__all__ = ["CallFolder", "CallPaths"]


class CallFolder(os.PathLike[str]):
    """Folder for a call to read and write in; made when the call begins, and removed if empty.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def __fspath__(self) -> str:
        return self._path

    __str__ = __fspath__


class CallPaths:
    """The paths among the arguments of one call. All its methods wait for the disk."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._folders: list[str] = []
        self._outputs: list[tuple[str, str]] = []
        """Where the call writes a file, and where it lands."""

    @property
    def blobs(self) -> Sequence[str]:
        """The blobs among the files that are read."""
        return blob_paths(self._files)

    @property
    def has_folders(self) -> bool:
        """Whether there are folders of the call's own, to be removed when it has ended."""
        return bool(self._outputs or self._folders)

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders in which the call writes."""
        return (*self._folders, *(os.path.dirname(path) for path, _ in self._outputs))

    @property
    def size_bytes(self) -> int | None:
        """How much these take on the disk; None if it cannot be told."""
        sizes = [measure_tree(folder) for folder in self.folders]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def reach(self, program: str) -> CallReach:
        """Return what the call may reach: these, and a program to run, or ""."""
        return CallReach(tuple(self._files), self.folders, program)

    def pack(self, request: Request) -> bytes:
        """Return a request packed, and note its paths.

        Raises:
            TypeError, OverflowError, RecursionError: As `encode` does.
            DiskFull: No space is left for the folder of an output.
        """
        return encode(request, self._place)

    def land(self) -> None:
        """Move the outputs that there are to their places.

        Raises:
            FileReadFailed: One is no plain file of its own.
        """
        for made, place in self._outputs:
            try:
                found = os.lstat(made)
            except FileNotFoundError:
                continue
            # Where the system holds the call by no layer, it can leave a link to what it likes.
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                msg = "a call has left something that is no plain file"
                raise FileReadFailed(msg)
            # It may have made one that its owner cannot open.
            os.chmod(made, 0o600)
            os.rename(made, place)

    def drop(self) -> None:
        """Remove what is left of the call's own folders."""
        for made, _ in self._outputs:
            remove_tree(os.path.dirname(made))
        for folder in self._folders:
            # What a call keeps there stays; most keep nothing.
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def _place(self, value: Any) -> str:
        path = str(value)
        try:
            if isinstance(value, CallFolder):
                os.makedirs(path, mode=0o700, exist_ok=True)
                self._folders.append(path)
            elif os.path.exists(path) or blob_paths([path]):
                self._files.append(path)
            else:
                folder = f"{path}.call"
                os.mkdir(folder, mode=0o700)
                self._outputs.append((os.path.join(folder, os.path.basename(path)), path))
                return self._outputs[-1][0]
        except OSError as fault:
            if is_full(fault):
                msg = "no space is left on the device"
                raise DiskFull(msg) from None
            # The call finds nothing there, and says so in its own words.
        return path
