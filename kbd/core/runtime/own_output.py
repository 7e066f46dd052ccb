"""Output of this process: what is written to its descriptors 1 and 2, past Python's streams.

C code of a library does so, and a plugin may (`os.write`): in the log of the daemon it would be a
line that nobody escaped, which can pass for an entry. So the log gets a descriptor of its own, and
1 and 2 lead to a file of the home, whose lines become entries of the log.

A file and no pipe: what a dying process says last (the interpreter, the allocator, a library that
aborts) is in the file when nobody of that process can read a pipe any more, and the next start
tells it; and nobody who writes ever waits for a reader, who may need the lock that the writer has.
"""

import fcntl
import io
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO

from kbd.core.runtime.diagnostics import get_logger

__all__ = ["OutputFile", "silent_output", "told_output"]

LOOK_S = 0.25
"""How often the file is looked at."""

LINE_BYTES = 65_536
"""Of a line that has not ended, after which it is told as it is; of last words, what is told."""

FILE_BYTES = 1024 * 1024
"""Of what is told at one look; of more than that behind it nothing is told but how much it was."""

_log = get_logger(__name__)


class OutputFile:
    """File that the descriptors 1 and 2 lead to. `told_output` makes entries of its lines.

    What was told is overwritten with zeros in its place, for whoever starts next; so nothing is
    told twice, and nothing that is written at the same moment is lost. Whoever inherits 1 or 2
    writes behind what others wrote: all have one offset.

    Args:
        path: Where it lies. Where it cannot be, what is written is told, but outlives no process.
    """

    def __init__(self, path: Path) -> None:
        self._held = _open_plain(path)
        self._told = self._emptied = 0

    def redirect(self) -> TextIO:
        """Lead 1 and 2 here; return a stream to where 2 led."""
        apart = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, 3)
        for descriptor in (1, 2):
            os.dup2(self._held, descriptor)
        return os.fdopen(apart, "w", encoding="utf-8", errors="backslashreplace")

    def tell_last_words(self) -> None:
        """Tell what an earlier process left here; before anything else is written."""
        with suppress(OSError):
            size = os.fstat(self._held).st_size
            left = os.pread(self._held, LINE_BYTES, max(0, size - LINE_BYTES))
            os.ftruncate(self._held, 0)
            for line in left.splitlines():
                _tell("last_words", line)

    def tell(self, *, ends: bool = False) -> None:
        """Tell the lines that were written since; with `ends` also one that was only begun."""
        with suppress(OSError):
            most = self._told + FILE_BYTES
            while self._told < most and (data := os.pread(self._held, LINE_BYTES, self._told)):
                whole = data.rfind(b"\n") + 1
                if not whole:
                    if len(data) < LINE_BYTES and not ends:
                        break
                    whole = len(data)
                for line in data[:whole].splitlines():
                    _tell("printed", line)
                os.pwrite(self._held, bytes(whole), self._told)
                self._told += whole
            self._keep_small()

    def _keep_small(self) -> None:
        """Empty the file when much of it was told, or more was written than anybody tells."""
        left = os.fstat(self._held).st_size - self._told
        if left > FILE_BYTES:
            _log.warning("printed", stream="descriptor", lost_bytes=left)
            self._told += left
        elif left > 0 or self._told - self._emptied < FILE_BYTES:
            return
        # The offset stays, and with it where the next line is looked for: what is before is a hole.
        os.ftruncate(self._held, 0)
        self._emptied = self._told


def _tell(event: str, line: bytes) -> None:
    if text := line.strip(b"\0").decode("utf-8", "backslashreplace").strip():
        _log.info(event, stream="descriptor", text=text)


def _open_plain(path: Path) -> int:
    """Open a file of ours, or one without a name where that cannot be."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        held = os.open(path, flags, 0o600)
        # One with a second name may be anybody's, and would be emptied.
        found = os.fstat(held)
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
            os.fchmod(held, 0o600)
            return held
        os.close(held)
    return os.memfd_create("printed")


@contextmanager
def told_output(output: OutputFile) -> Iterator[None]:
    """Make an entry of each line that comes into the file, within the block.

    What comes after it is for whoever starts next.
    """
    ended = threading.Event()

    def follow() -> None:
        while not ended.wait(LOOK_S):
            output.tell()

    output.tell_last_words()
    following = threading.Thread(target=follow, name="own-output", daemon=True)
    following.start()
    try:
        yield
    finally:
        ended.set()
        following.join()
        output.tell(ends=True)


@contextmanager
def silent_output() -> Iterator[None]:
    """Throw away what is written to 1 and 2 within the block, by whatever code."""
    kept = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 3) for each in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for each in (1, 2):
            os.dup2(nowhere, each)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        for each, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, each)
            os.close(descriptor)
        os.close(nowhere)
