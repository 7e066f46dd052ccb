"""File store of a workbench: published/ and draft/, projections of the log for people; its blobs.

All bytes are blobs, durable before an event names them, so whatever is missing here can be written
again. Bytes that the log does not know are somebody's: they are kept as a blob before anything
takes their place. `FileStore` blocks, so callers use threads; `Blobs` brings its own.
"""

import errno
import hashlib
import os
import shutil
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from anyio.to_thread import run_sync

from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.errors import DiskFull, FileWriteFailed, NotFound, SandboxViolation
from kbd.events.blobs import BlobStore
from kbd.events.drafts import PlannedFile
from kbd.types import BlobHash, FileName

__all__ = ["Blobs", "FileStore", "conflict_name"]


_COPY_BYTES = 1 << 20


def conflict_name(name: FileName, mark: str) -> FileName:
    """Return a name for a second version of a file: `a (kbd conflict 1f2e).txt`."""
    folder, _, last = name.rpartition("/")
    stem, suffix = os.path.splitext(last)
    renamed = f"{stem} (kbd conflict {mark[:8]}){suffix}"
    return FileName(f"{folder}/{renamed}" if folder else renamed)


class FileStore:
    """The files of one workbench on disk.

    Args:
        published: The folder of what is published.
        draft: The folder of what differs in the draft.
        stage: A folder on the same disk, for files that are being written.
        blobs: The workbench's blobs.
    """

    def __init__(self, published: Path, draft: Path, stage: Path, blobs: BlobStore) -> None:
        self._draft, self._stage, self._blobs = draft, stage, blobs
        self._published = ConfinedRoot(published)

    def close(self) -> None:
        """Close the folders' descriptors."""
        self._published.close()

    def published_hash(self, name: FileName) -> BlobHash | None:
        """Return the hash of what published/ holds under a name now, or None for no file.

        Raises:
            SandboxViolation: What is there is a link or not a regular file.
        """
        try:
            with self._published.open(name) as held:
                return _hash_file(held)
        except NotFound:
            return None

    def place(self, name: FileName, blob: BlobHash) -> None:
        """Write a blob to published/ under a name; bytes that kbd did not know become a blob first.

        Raises:
            DiskFull: No space is left; published/ is as it was.
            FileWriteFailed: It cannot be written.
            SandboxViolation: What is there is a link or not a regular file.
        """
        found = self.published_hash(name)
        if found == blob:
            return
        # The only copy of somebody's bytes: durable as a blob before the rename hides it
        # (reliability R4).
        if found is not None and not self._blobs.has(found):
            self._preserve(name)
        _replace_file(self._published, name, self._blobs.path(blob), self._stage)

    def remove(self, name: FileName) -> None:
        """Remove a name from published/; bytes that kbd did not know become a blob first."""
        found = self.published_hash(name)
        if found is None:
            return
        if not self._blobs.has(found):
            self._preserve(name)
        with self._published.parent(name) as (folder, last):
            os.unlink(last, dir_fd=folder)
            # Before the outcome is recorded: a file that the log says is gone must not come back.
            os.fsync(folder)

    def restore_missing(self, files: Mapping[FileName, BlobHash]) -> None:
        """Write files that are missing from published/; existing ones stay as they are."""
        for name, blob in files.items():
            try:
                with self._published.open(name):
                    continue
            except SandboxViolation:
                continue  # Somebody put a link there: that is theirs, and the workbench opens.
            except NotFound:
                self.place(name, blob)

    def remove_leftovers(self, removed: Mapping[FileName, BlobHash]) -> None:
        """Finish removals that a crash cut off; a file that is not the removed one stays."""
        for name, blob in removed.items():
            try:
                leftover = self.published_hash(name) == blob
            except SandboxViolation:
                continue
            if leftover:
                self.remove(name)

    def carry_out(
        self, files: tuple[PlannedFile, ...], mark: str
    ) -> tuple[tuple[FileName, FileName], ...]:
        """Carry out an intended publish, from wherever it stopped; may be repeated.

        Immediately before each rename the file is hashed again: one that somebody changed since
        the check is left as it is, and kbd's version is put beside it.

        Returns:
            The files so left, each with the name of kbd's version (the same for a deletion).

        Raises:
            DiskFull: No space is left; repeat when there is.
            FileWriteFailed: published/ cannot be written; repeat when it can.
        """
        conflicted: list[tuple[FileName, FileName]] = []
        for planned in files:
            found = self.published_hash(planned.name)
            # Carried out before a crash.
            if found == planned.new:
                continue
            if found != planned.old:
                given = planned.name
                if planned.new is not None:
                    given = conflict_name(planned.name, mark)
                    self.place(given, planned.new)
                conflicted.append((planned.name, given))
            elif planned.new is None:
                self.remove(planned.name)
            else:
                self.place(planned.name, planned.new)
        return tuple(conflicted)

    def show_draft(self, files: Mapping[FileName, BlobHash | None]) -> None:
        """Write exactly the draft's versions to draft/, as copies for people to open."""
        self._draft.mkdir(mode=0o700, exist_ok=True)
        root = ConfinedRoot(self._draft)
        try:
            for name in root.names():
                if files.get(FileName(name)) is None:
                    self._remove_drafted(root, FileName(name))
            for name, blob in files.items():
                if blob is not None and _hash_below(root, name) != blob:
                    self._write_drafted(root, name, blob)
        finally:
            root.close()

    def show_drafted(self, files: Mapping[FileName, BlobHash | None]) -> None:
        """Write some of the draft's versions to draft/; None removes one, the others stay.

        Raises:
            DiskFull: No space is left.
            FileWriteFailed: draft/ cannot be written.
            SandboxViolation: A folder on the way is a link.
        """
        self._draft.mkdir(mode=0o700, exist_ok=True)
        root = ConfinedRoot(self._draft)
        try:
            # Removed first: a file may stand where another had its folder.
            for name, blob in files.items():
                if blob is None:
                    self._remove_drafted(root, name)
            for name, blob in files.items():
                if blob is not None:
                    self._write_drafted(root, name, blob)
        finally:
            root.close()

    def _write_drafted(self, root: ConfinedRoot, name: FileName, blob: BlobHash) -> None:
        # Not synced, for somebody waits for it: what a crash takes is written anew when the
        # workbench is next opened.
        _replace_file(root, name, self._blobs.path(blob), self._stage, sync=False)

    def _remove_drafted(self, root: ConfinedRoot, name: FileName) -> None:
        with suppress(NotFound, FileNotFoundError), root.parent(name) as (folder, last):
            os.unlink(last, dir_fd=folder)
        for above in (self._draft / name).parents:
            if above == self._draft or not _remove_empty(above):
                return

    def clear_stage(self) -> None:
        """Empty the stage of a stopped daemon's leftovers."""
        shutil.rmtree(self._stage, ignore_errors=True)
        self._stage.mkdir(mode=0o700)

    def _preserve(self, name: FileName) -> None:
        with self._published.open(name) as held:
            copy = self._stage / f"kept-{uuid.uuid4().hex}"
            with copy.open("xb") as target:
                _copy_bytes(held, target.fileno())
            self._blobs.adopt(copy)


def _hash_below(root: ConfinedRoot, name: FileName) -> BlobHash | None:
    try:
        with root.open(name) as held:
            return _hash_file(held)
    except (NotFound, SandboxViolation):
        return None  # A link in its place is replaced, not followed.


def _hash_file(held: int) -> BlobHash:
    digest = hashlib.sha256()
    while chunk := os.read(held, _COPY_BYTES):
        digest.update(chunk)
    return BlobHash(digest.hexdigest())


def _copy_bytes(source: int, target: int) -> None:
    while chunk := os.read(source, _COPY_BYTES):
        view = memoryview(chunk)
        while view:
            view = view[os.write(target, view) :]


def _remove_empty(folder: Path) -> bool:
    """Remove a folder if it is empty; return whether it was."""
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _replace_file(
    root: ConfinedRoot, name: FileName, source: Path, stage: Path, *, sync: bool = True
) -> None:
    """Replace a file atomically: write beside, sync, rename, sync the folder."""
    staged = stage / f"place-{uuid.uuid4().hex}"
    try:
        # A copy and no link: who edits the file in place would change the blob.
        with source.open("rb") as original, staged.open("xb") as copy:
            _copy_bytes(original.fileno(), copy.fileno())
            # Bytes before the name: a crash after the rename must not leave an empty file.
            if sync:
                os.fsync(copy.fileno())
        with root.parent(name, create=True) as (folder, last):
            # Atomic, for the stage is on the same file system; durable only with the folder.
            os.rename(staged, last, dst_dir_fd=folder)
            if sync:
                os.fsync(folder)
    except OSError as error:
        staged.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            msg = f"no space is left to write {name!r}"
            raise DiskFull(msg) from None
        msg = f"{name!r} cannot be written: {os.strerror(error.errno or 0)}"
        raise FileWriteFailed(msg) from None


class Blobs:
    """A `BlobStore` with its blocking calls in threads.

    Args:
        store: The store.
        redact: Removes known keys from text of a conversation.
    """

    def __init__(self, store: BlobStore, redact: Callable[[bytes], bytes] = bytes) -> None:
        self.store, self._redact = store, redact

    async def put(self, data: bytes) -> BlobHash:
        """Store text of a conversation (openings, arguments, results), with known keys redacted.

        Durable on return. People's files come with `put_file` or `adopt`, which change no byte.

        Raises:
            DiskFull: No space is left.
        """
        return await run_sync(self.store.put_bytes, self._redact(data))

    async def put_file(self, source: Path) -> tuple[BlobHash, int]:
        """Copy a file in while hashing it; durable on return. Returns its hash and size.

        Raises:
            DiskFull: No space is left.
            FileReadFailed: It cannot be read.
            SandboxViolation: It is a link or not a regular file.
        """
        return await run_sync(self.store.put_file, source)

    async def adopt(self, staged: Path) -> tuple[BlobHash, int]:
        """Move a staged file in; durable on return. Returns its hash and size.

        Raises:
            DiskFull: No space is left.
        """
        return await run_sync(self.store.adopt, staged)

    async def read(self, blob: BlobHash) -> bytes:
        """Return all bytes of a blob.

        Raises:
            NotFound: There is no such blob.
        """
        return await run_sync(self.store.read, blob)

    def path(self, blob: BlobHash) -> Path:
        """Return the path of a blob, for workers that read it."""
        return self.store.path(blob)
