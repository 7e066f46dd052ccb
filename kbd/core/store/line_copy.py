"""Readable copy of a part of a log: a file of JSON lines, each with its event's number.

It is a courtesy and no source: what is new is added at its end, and one that grows too long becomes
the older of two, so that it costs the same after a million events. What was cut off is in the log.
All blocks. Nothing is synced: what a crash takes is written anew.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kbd.types import Seq

__all__ = ["MAX_COPY_BYTES", "LineCopy"]

MAX_COPY_BYTES = 16 * 1024 * 1024
"""A copy that is longer becomes the older one; one that is written anew has at most half of it."""

_TAIL_BYTES = 256 * 1024
"""How much of its end is looked at; one that ends in a longer line is written anew."""


class _Line(msgspec.Struct):
    """Line of a copy, as far as it is read: its event's number."""

    seq: Seq


class LineCopy:
    """One readable copy.

    Args:
        path: The file; the older one beside it has `.1` before the ending.
        max_bytes: The size from which on it becomes the older one.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_COPY_BYTES) -> None:
        self.path, self._max_bytes = path, max_bytes
        self._older = path.with_name(f"{path.stem}.1{path.suffix}")

    def last_event(self) -> Seq | None:
        """Return the event of the last line; None for no copy, a torn one or somebody else's."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
                *_, last, after = file.read().rsplit(b"\n", 2)
            return None if after else msgspec.json.decode(last, type=_Line).seq
        except (OSError, ValueError, msgspec.DecodeError):
            return None

    def append(self, lines: Iterable[bytes]) -> bool:
        """Add lines at the end; return whether there was a copy to add to.

        Raises:
            OSError: They cannot be written.
        """
        data = b"".join(line + b"\n" for line in lines)
        try:
            if self.path.stat().st_size + len(data) > self._max_bytes:
                os.replace(self.path, self._older)
                self._write(data)
                return True
            with self.path.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(data)
        except FileNotFoundError:
            return False
        return True

    def replace(self, newest: Iterable[bytes]) -> None:
        """Write the copy anew.

        Args:
            newest: Its lines, the newest first; no more are taken than the copy may have.

        Raises:
            OSError: It cannot be written.
        """
        lines: list[bytes] = []
        size = 0
        for line in newest:
            size += len(line) + 1
            if lines and size > self._max_bytes // 2:
                break
            lines.append(line + b"\n")
        self._write(b"".join(reversed(lines)))
        # It may tell what is not so any more.
        self._older.unlink(missing_ok=True)

    def _write(self, data: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.path.with_name(f"{self.path.name}.new")
        fresh.write_bytes(data)
        os.replace(fresh, self.path)
