"""Where a proof writes: a folder of its own, over the workbench's blobs, which it only reads."""

import os
from collections import Counter
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.workbench.blobs import Blobs
from kbd.errors import NotFound
from kbd.events.blobs import BlobStore
from kbd.events.disk import Disk
from kbd.events.runs import ToolReturned
from kbd.types import BlobHash, Seq

__all__ = ["Kept", "KeptResults", "ScratchBlobs"]


class _Hasty(Disk):
    """A disk that does not wait: nothing here needs to outlive a power cut."""

    def fsync(self, fd: int) -> None:
        """Return at once."""

    def fdatasync(self, fd: int) -> None:
        """Return at once."""


class ScratchBlobs(Blobs):
    """The workbench's blobs, with what is put landing elsewhere.

    Args:
        recorded: The folder of the workbench's blobs.
        scratch: The folder for new ones.
    """

    def __init__(self, recorded: Path, scratch: Path) -> None:
        super().__init__(BlobStore(scratch, _Hasty()))
        self._recorded = BlobStore(recorded)
        self._lock = anyio.Lock()
        self._made: Counter[BlobHash] = Counter()

    async def adopt(self, staged: Path) -> tuple[BlobHash, int]:
        """Move a staged file in; it stays until it is forgotten as often as it was made.

        Raises:
            DiskFull: No space is left.
        """
        async with self._lock:
            blob, size_bytes = await super().adopt(staged)
            self._made[blob] += 1
        return blob, size_bytes

    async def read(self, blob: BlobHash) -> bytes:
        """Return all bytes of a recorded blob; raises NotFound."""
        return await run_sync(self._recorded.read, blob)

    def path(self, blob: BlobHash) -> Path:
        """Return where a recorded blob lies."""
        return self._recorded.path(blob)

    def made(self, blob: BlobHash) -> Path:
        """Return where a blob lies that was made here."""
        return self.store.path(blob)

    async def forget(self, blob: BlobHash) -> None:
        """Remove a blob that was made here, unless another call has made the same."""
        async with self._lock:
            self._made[blob] -= 1
            if not self._made[blob]:
                await run_sync(lambda: self.made(blob).unlink(missing_ok=True))


class _Span(msgspec.Struct, frozen=True):
    """Where a result is kept, and which event returned it."""

    seq: Seq
    blob: BlobHash | None
    at: int = 0
    size_bytes: int = 0


class KeptResults:
    """The results of a workbench's calls, on disk: a long log has more than memory should hold.

    Args:
        file: Where to keep them; made anew.
        blobs: Those that are too long for the log.
    """

    def __init__(self, file: Path, blobs: Blobs) -> None:
        self._blobs = blobs
        self._fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._end = 0
        self._spans: dict[int, _Span] = {}

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)

    def keep(self, seq: Seq, returned: ToolReturned) -> None:
        """Keep the result that an event returned."""
        if returned.blob is not None:
            self._spans[returned.entry_id] = _Span(seq, returned.blob)
            return
        data = (returned.result or returned.shown).encode()
        self._spans[returned.entry_id] = _Span(seq, None, self._end, len(data))
        view = memoryview(data)
        while view:
            written = os.pwrite(self._fd, view, self._end)
            self._end, view = self._end + written, view[written:]

    async def read(self, entry_id: int, before: Seq) -> bytes:
        """Return a result that was recorded before an event.

        Raises:
            NotFound: There is none of that number.
        """
        span = self._spans.get(entry_id)
        if span is None or span.seq >= before:
            msg = f"no tool result has the entry id {entry_id}"
            raise NotFound(msg)
        if span.blob is not None:
            return await self._blobs.read(span.blob)
        return await run_sync(os.pread, self._fd, span.size_bytes, span.at)


class Kept:
    """`kbd.tools.Recall` for one call: what had been returned before it ended.

    Args:
        results: Of the workbench.
        before: The event that recorded the call's end.
    """

    def __init__(self, results: KeptResults, before: Seq) -> None:
        self._results, self._before = results, before

    async def result(self, entry_id: int) -> bytes:
        """Return the whole result of an earlier call; raises NotFound."""
        return await self._results.read(entry_id, self._before)
