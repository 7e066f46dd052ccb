"""Documents of a folder: every file below it that a format reads, hidden ones left out."""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from kbd.core.search.index_file import is_index_folder
from kbd.core.search.ports import SourceFile
from kbd.errors import NotFound

__all__ = ["DocumentFolder", "FileSignature", "FolderListing"]

UNSETTLED_S = 2.0
"""A file written as lately as this may change again with the same time on it (the coarsest clock
of a file system in use), so its hash is not relied on the next time."""


class FileSignature(msgspec.Struct, frozen=True):
    """Signature of a file when it was hashed, and its hash.

    Args:
        signature: Its size, times and inode.
        content: The SHA-256 of its bytes.
    """

    signature: str
    content: str


class FolderListing(msgspec.Struct, frozen=True):
    """Listing of a folder of documents.

    Args:
        files: The documents, sorted by name.
        seen: Signatures of files that need not be hashed the next time, by name.
        troubles: What could not be looked into, one sentence each.
    """

    files: tuple[SourceFile, ...]
    seen: Mapping[str, FileSignature]
    troubles: tuple[str, ...] = ()


class DocumentFolder:
    """A folder of documents.

    Symbolic links to files are followed where they stay below the folder, links to folders are
    not: what they lead to is listed where it is, or is not ours.

    Args:
        base_dir: The folder.

    Raises:
        NotFound: It is not there, or is no folder.
    """

    def __init__(self, base_dir: Path) -> None:
        self._base_dir = base_dir
        self._root()

    def listing(
        self, is_document: Callable[[str], bool], seen: Mapping[str, FileSignature], without: Path
    ) -> FolderListing:
        """Return the documents there are now; only what has changed is read, to hash it.

        Args:
            is_document: Whether a file of that name can be one.
            seen: What was seen before.
            without: A folder that holds none, wherever it is.

        Raises:
            NotFound: The folder is gone.
        """
        root = self._root()
        left_out = os.path.realpath(without)
        files: list[SourceFile] = []
        fresh: dict[str, FileSignature] = {}
        troubles: list[str] = []
        waiting = [(root, "")]
        while waiting:
            folder, prefix = waiting.pop()
            try:
                inside = list(os.scandir(folder))
            except OSError as fault:
                if not prefix:
                    raise self._missing() from None
                troubles.append(f"the folder {prefix[:-1]} cannot be read: {fault.strerror}")
                continue
            if is_index_folder(entry.name for entry in inside):
                # Another version of the index, side by side with the one in use.
                continue
            for entry in inside:
                name = prefix + _name_text(entry.name)
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if os.path.realpath(entry.path) != left_out:
                        waiting.append((entry.path, f"{name}/"))
                elif is_document(name):
                    status = _status(entry, root, left_out)
                    if status is not None:
                        files.append(_source_file(entry.path, name, status, seen, fresh))
        files.sort(key=lambda file: file.name)
        return FolderListing(tuple(files), fresh, tuple(sorted(troubles)))

    def _root(self) -> str:
        if not self._base_dir.is_dir():
            raise self._missing()
        return os.path.realpath(self._base_dir)

    def _missing(self) -> NotFound:
        return NotFound(f"there is no folder {self._base_dir} that can be read")


def _status(entry: os.DirEntry[str], root: str, without: str) -> os.stat_result | None:
    """Return the status of a regular file below the root; None for one to leave out."""
    try:
        if entry.is_symlink():
            target = os.path.realpath(entry.path)
            # A link that somebody put here must not make files outside the folder found.
            if not _is_below(target, root) or _is_below(target, without):
                return None
        status = entry.stat()
    except OSError:
        # It went while we looked, or is a link to nothing.
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _is_below(path: str, folder: str) -> bool:
    # Only the root folder ends in a slash already.
    return path.startswith(folder.rstrip("/") + "/")


def _source_file(
    path: str,
    name: str,
    status: os.stat_result,
    seen: Mapping[str, FileSignature],
    fresh: dict[str, FileSignature],
) -> SourceFile:
    """Return a file with its hash, which is computed only if its signature has changed."""
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    signature = f"{status.st_size} {times} {status.st_dev} {status.st_ino}"
    known = seen.get(name)
    if known is not None and known.signature == signature:
        content = known.content
        fresh[name] = known
    else:
        is_settled = max(status.st_mtime, status.st_ctime) < time.time() - UNSETTLED_S
        content = _hash_file(path)
        if is_settled and content:
            fresh[name] = FileSignature(signature, content)
    return SourceFile(
        name=name,
        content=content,
        path=Path(path),
        size_bytes=status.st_size,
        # Linux's stat result has no time of birth; macOS's has.
        created_at=getattr(status, "st_birthtime", status.st_mtime),
        updated_at=status.st_mtime,
    )


def _hash_file(path: str) -> str:
    """Return the hash of a file; "" if it cannot be read, which whoever reads it will tell."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _name_text(name: str) -> str:
    """Return a file's name as text, bytes that are none written out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
