"""File store of a workbench: published/ and draft/, projections of the log for people; its blobs.

All bytes are blobs, durable before an event names them, so whatever is missing here can be written
again. Bytes that the log does not know are somebody's: they are kept as a blob before anything
takes their place. `FileStore` blocks, so callers use threads; `Blobs` brings its own.
"""

import os
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from anyio.to_thread import run_sync

from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.folder_trees import remove_empty, remove_tree
from kbd.core.workbench.sandbox import ConfinedRoot
from kbd.core.workbench.sources import CopiedSource, copy_source
from kbd.core.workbench.transaction import (
    PublishTransaction,
    hash_file,
    translate_write_errors,
)
from kbd.errors import BlobCollected, KbdError, NotFound, SandboxViolation
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import BlobDamaged
from kbd.events.disk import DISK, Disk, LogPoisoned
from kbd.events.drafts import PlannedFile
from kbd.types import BlobHash, FileName

__all__ = ["Blobs", "FileStore", "refuse_collected"]


_log = get_logger(__name__)


class FileStore:
    """The files of one workbench on disk.

    Args:
        published: The folder of what is published.
        draft: The folder of what differs in the draft.
        stage: A folder on the same disk, for files that are being written.
        blobs: The workbench's blobs.
        disk: What writes.
    """

    def __init__(
        self, published: Path, draft: Path, stage: Path, blobs: BlobStore, disk: Disk = DISK
    ) -> None:
        self._draft, self._stage, self._blobs, self._disk = draft, stage, blobs, disk
        self._published = ConfinedRoot(published, disk)

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
                return hash_file(held)
        except NotFound:
            return None

    def place(self, name: FileName, blob: BlobHash) -> None:
        """Write a blob to published/ under a name; bytes that kbd did not know become a blob first.

        Raises:
            BlobDamaged: The blob is not what its name says; published/ is as it was.
            DiskFull: No space is left; published/ is as it was.
            FileWriteFailed: It cannot be written.
            LogPoisoned: The disk does not make it durable.
            SandboxViolation: What is there is a link or not a regular file.
        """
        found = self.published_hash(name)
        if found == blob:
            return
        if found is not None:
            self._secure(name, found)
        self._replace_file(self._published, name, blob)

    def remove(self, name: FileName) -> None:
        """Remove a name from published/; bytes that kbd did not know become a blob first."""
        found = self.published_hash(name)
        if found is None:
            return
        self._secure(name, found)
        with translate_write_errors(repr(name)), self._published.parent(name) as (folder, last):
            self._disk.unlink(last, folder)
            # Before the outcome is recorded: a file that the log says is gone must not come back.
            self._disk.sync(folder)

    def restore_missing(self, files: Mapping[FileName, BlobHash]) -> None:
        """Write files that are missing from published/; existing ones stay as they are.

        One whose stored bytes are damaged stays missing, for a wrong one would be worse: who asks
        for it is refused, and the workbench opens.
        """
        for name, blob in files.items():
            try:
                with self._published.open(name):
                    continue
            except SandboxViolation:
                continue  # Somebody put a link there: that is theirs, and the workbench opens.
            except NotFound:
                try:
                    self.place(name, blob)
                except (BlobDamaged, NotFound) as fault:
                    _log.error("blob_damaged", file=name, blob=blob, error=fault.message)

    def remove_leftovers(self, removed: Mapping[FileName, BlobHash]) -> None:
        """Finish removals that a crash cut off; a file that is not the removed one stays."""
        for name, blob in removed.items():
            try:
                leftover = self.published_hash(name) == blob
            except SandboxViolation:
                continue
            if leftover:
                self.remove(name)

    def transaction(self, publish_id: str, files: tuple[PlannedFile, ...]) -> PublishTransaction:
        """Return the transaction of a publish, begun or not."""
        return PublishTransaction(
            self._published, self._stage, self._blobs, publish_id, files, self._disk
        )

    def show_draft(self, files: Mapping[FileName, BlobHash | None]) -> None:
        """Write exactly the draft's versions to draft/, as copies for people to open."""
        with self._held_draft(is_made=any(files.values())) as root:
            if root is None:
                return
            for name in root.names():
                if files.get(FileName(name)) is None:
                    self._remove_drafted(root, FileName(name))
            for name, blob in files.items():
                if blob is not None and _hash_below(root, name) != blob:
                    self._write_drafted(root, name, blob)

    def show_drafted(self, files: Mapping[FileName, BlobHash | None]) -> None:
        """Write some of the draft's versions to draft/; None removes one, the others stay.

        Raises:
            DiskFull: No space is left.
            FileWriteFailed: draft/ cannot be written.
            SandboxViolation: A folder on the way is a link.
        """
        with self._held_draft(is_made=any(files.values())) as root:
            if root is None:
                return
            # Removed first: a file may stand where another had its folder.
            for name, blob in files.items():
                if blob is None:
                    self._remove_drafted(root, name)
            for name, blob in files.items():
                if blob is not None:
                    self._write_drafted(root, name, blob)

    @contextmanager
    def _held_draft(self, *, is_made: bool) -> Iterator[ConfinedRoot | None]:
        """Hold draft/ open, and remove it at the end if nothing lies there.

        Args:
            is_made: Whether it is made if it is not there; else there is none to hold.
        """
        if is_made:
            self._draft.mkdir(mode=0o700, exist_ok=True)
        elif not os.path.lexists(self._draft):
            yield None
            return
        root = ConfinedRoot(self._draft)
        try:
            yield root
        finally:
            root.close()
            remove_empty(self._draft, self._disk)

    def _write_drafted(self, root: ConfinedRoot, name: FileName, blob: BlobHash) -> None:
        # Not synced, for somebody waits for it: what a crash takes is written anew when the
        # workbench is next opened.
        try:
            self._replace_file(root, name, blob, sync=False)
        except (BlobDamaged, NotFound) as fault:
            # No copy rather than a wrong one; a publish says what is wrong.
            self._remove_drafted(root, name)
            _log.error("blob_damaged", file=name, blob=blob, error=fault.message)

    def _replace_file(
        self, root: ConfinedRoot, name: FileName, blob: BlobHash, *, sync: bool = True
    ) -> None:
        """Replace a file atomically: write beside, sync, rename, sync the folder."""
        staged = self._stage / f"place-{uuid.uuid4().hex}"
        try:
            with translate_write_errors(repr(name)):
                # A copy and no link: who edits the file in place would change the blob.
                fd = os.open(staged, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
                try:
                    self._blobs.copy_to(blob, fd)
                    # Bytes before the name: a crash after the rename must not leave an empty file.
                    if sync:
                        self._disk.sync(fd)
                finally:
                    os.close(fd)
                with (
                    _held_folder(self._stage) as stage,
                    root.parent(name, create=True) as (folder, last),
                ):
                    # Atomic, for the stage is on the same file system; durable only with the
                    # folder.
                    self._disk.move((stage, staged.name), (folder, last))
                    if sync:
                        self._disk.sync(folder)
        except KbdError:
            staged.unlink(missing_ok=True)
            raise

    def _remove_drafted(self, root: ConfinedRoot, name: FileName) -> None:
        with suppress(NotFound, FileNotFoundError), root.parent(name) as (folder, last):
            os.unlink(last, dir_fd=folder)
        above, _, _ = name.rpartition("/")
        while above:
            # From where the root is held: the path of the draft may lead elsewhere by now.
            with suppress(NotFound), root.parent(FileName(above)) as (folder, last):
                try:
                    os.rmdir(last, dir_fd=folder)
                except OSError:
                    return  # It is not empty.
            above, _, _ = above.rpartition("/")

    def clear_stage(self, unfinished: PublishTransaction | None) -> None:
        """Empty the stage of a stopped daemon's leftovers.

        Args:
            unfinished: A publish that has yet to be completed, whose slots stay.
        """
        for entry in self._stage.iterdir():
            if unfinished is not None and entry == unfinished.folder:
                continue
            if entry.is_dir() and not entry.is_symlink():
                remove_tree(entry)
            else:
                entry.unlink(missing_ok=True)

    def _secure(self, name: FileName, found: BlobHash) -> None:
        """Make sure that what a file holds is stored before anything hides it (reliability R4)."""
        # Whose it is only the log says, and it may say nothing: no collection is to take it.
        with translate_write_errors(repr(name)):
            self._blobs.kept.add((found,))
        try:
            self._blobs.check(found)
        except (NotFound, BlobDamaged):
            # It is the only good copy of somebody's bytes.
            with self._published.open(name) as held:
                self._blobs.put_open(held, name)


def refuse_collected(
    store: BlobStore, versions: Iterable[tuple[FileName, BlobHash]], missing: Collection[BlobHash]
) -> None:
    """Refuse what needs versions whose bytes were removed on purpose; blocks.

    Args:
        store: Where they were.
        versions: What is needed, each with its file's name.
        missing: The blobs that are not there.

    Raises:
        BlobCollected: One was collected; the message says which file's, when and why.
    """
    for name, blob in versions:
        if blob not in missing:
            continue
        try:
            store.check(blob)
        except BlobCollected as fault:
            msg = f"{name!r}: {fault.message}; nothing was changed"
            raise BlobCollected(msg, actions=fault.actions, detail=fault.detail) from None
        except (NotFound, BlobDamaged):
            continue


def _hash_below(root: ConfinedRoot, name: FileName) -> BlobHash | None:
    try:
        with root.open(name) as held:
            return hash_file(held)
    except (NotFound, SandboxViolation):
        return None  # A link in its place is replaced, not followed.


@contextmanager
def _held_folder(folder: Path) -> Iterator[int]:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield held
    finally:
        os.close(held)


class Blobs:
    """A `BlobStore` with its blocking calls in threads.

    Args:
        store: The store.
        redact: Removes known keys from text of a conversation.
        poison: Takes the error of a sync that failed; the daemon ends by it.
    """

    def __init__(
        self,
        store: BlobStore,
        redact: Callable[[bytes], bytes] = bytes,
        poison: Callable[[LogPoisoned], None] = lambda _: None,
    ) -> None:
        self.store, self._redact, self._poison = store, redact, poison

    async def put(self, data: bytes) -> BlobHash:
        """Store text of a conversation (openings, arguments, results), with known keys redacted.

        Durable on return. People's files come with `put_file` or `adopt`, which change no byte.

        Raises:
            DiskFull: No space is left.
            LogPoisoned: The disk does not make it durable; the daemon ends.
        """
        with self._fail_stop():
            return await run_sync(self.store.put_bytes, self._redact(data))

    async def put_file(self, source: Path) -> tuple[BlobHash, int]:
        """Copy a file in while hashing it; durable on return. Returns its hash and size.

        Raises:
            DiskFull: No space is left.
            FileReadFailed: It cannot be read.
            SandboxViolation: It is a link or not a regular file.
            LogPoisoned: The disk does not make it durable; the daemon ends.
        """
        with self._fail_stop():
            return await run_sync(self.store.put_file, source)

    async def put_source(self, path: str, limit_bytes: int) -> CopiedSource:
        """Copy a file that a client names in; durable on return.

        Args:
            path: Its absolute path.
            limit_bytes: The largest file that is copied.

        Raises:
            KbdError: As for `kbd.core.workbench.sources.copy_source`; after LogPoisoned the daemon
                ends.
        """
        with self._fail_stop():
            return await run_sync(copy_source, self.store, path, limit_bytes)

    async def adopt(self, staged: Path) -> tuple[BlobHash, int]:
        """Move a staged file in; durable on return. Returns its hash and size.

        Raises:
            DiskFull: No space is left.
            LogPoisoned: The disk does not make it durable; the daemon ends.
        """
        with self._fail_stop():
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

    @contextmanager
    def _fail_stop(self) -> Iterator[None]:
        try:
            yield
        except LogPoisoned as failed:
            self._poison(failed)
            raise
