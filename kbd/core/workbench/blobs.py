"""Asynchronous access to a blob store: its blocking calls run in threads."""

from collections.abc import Callable
from pathlib import Path

from anyio.to_thread import run_sync

from kbd.events.blobs import BlobStore
from kbd.types import BlobHash

__all__ = ["Blobs"]


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
