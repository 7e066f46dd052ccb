"""Running code of plugins: which stranger's plugin is at work in the daemon, for its next start.

A plugin can end the daemon on the spot (`os._exit`, a crash in C code), where nobody in the process
can tell any more. So its name stands in a file that is mapped into memory for as long as its code
runs: what is stored there is the kernel's, outlives the process, and costs no call to the system.
"""

import mmap
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["PluginCode", "RunningCode"]

_BYTES = 1024
"""Of the file: a name and a version, of which each is cut to less than half of that."""


class PluginCode(NamedTuple):
    """Plugin whose code ran, as its distribution calls it."""

    name: str
    version: str


class RunningCode:
    """The plugins of somebody else whose code runs in this process; safe to use from any thread.

    Args:
        path: The file that says so; None to tell nobody. Where it cannot be, nobody is told.

    Attributes:
        left: The plugin whose code ran when the process before this one ended; None if none did.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._map = _map_file(path) if path else None
        self._lock = threading.Lock()
        self._running: list[PluginCode] = []
        self.left = _parse(self._map[:]) if self._map else None

    def clear(self) -> None:
        """Forget what was left, once that is recorded."""
        with self._lock:
            self._tell()

    @contextmanager
    def entered(self, plugin: PluginCode) -> Iterator[None]:
        """Have a plugin's code count as running within the block."""
        with self._lock:
            self._running.append(plugin)
            self._tell()
        try:
            yield
        finally:
            # Code in other threads may have begun since, and ends when it ends.
            with self._lock:
                self._running.remove(plugin)
                self._tell()

    def _tell(self) -> None:
        """Have the file name what began last of what runs."""
        if self._map:
            parts = self._running[-1] if self._running else ()
            line = b"\0".join(part.encode("utf-8", "replace")[:500] for part in parts)
            self._map[:] = line.ljust(_BYTES, b"\0")


def _parse(data: bytes) -> PluginCode | None:
    name, _, version = data.rstrip(b"\0").decode("utf-8", "replace").partition("\0")
    return PluginCode(name, version) if name else None


def _map_file(path: Path) -> mmap.mmap | None:
    """Map a file of ours into memory; None where that cannot be."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        held = os.open(path, flags, 0o600)
    except OSError:
        return None
    try:
        # One with a second name may be anybody's, and would be written over.
        found = os.fstat(held)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            return None
        os.fchmod(held, 0o600)
        # With its blocks: a store to a page that a full disk has no block for ends the process.
        os.posix_fallocate(held, 0, _BYTES)
        return mmap.mmap(held, _BYTES)
    except OSError:
        return None
    finally:
        os.close(held)
