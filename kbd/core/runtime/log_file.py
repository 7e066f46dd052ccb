"""File of the daemon's own log: an entry a line, rotated when it has grown.

    daemon.log      what is written now
    daemon.log.1    what was written before it, and so on, the oldest last

One process writes it: the one that holds the home. What cannot be written is lost, whole: no entry
is ever half there, and the disk that is full of other things keeps nobody from working.
"""

import errno
import io
import os
import stat
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

__all__ = ["LogFile"]


class LogFile(io.TextIOBase):
    """Stream of the log into a file of the home. One thread writes at a time.

    It is looked at anew at each entry: who deletes, empties or renames the file meanwhile, as
    logrotate does, finds the next entry in a file of that name.

    Args:
        path: The file.
        file_bytes: What it may hold before it is rotated.
        files: How many older ones are kept.
    """

    def __init__(self, path: Path, *, file_bytes: int, files: int) -> None:
        self._path, self._file_bytes, self._files = path, file_bytes, files
        self._held: int | None = None

    def write(self, text: str, /) -> int:
        """Append an entry.

        Raises:
            OSError: It is lost; nothing of it is in the file.
        """
        data = text.encode("utf-8", "backslashreplace")
        held = self._open()
        size = os.fstat(held).st_size
        if size and size + len(data) > self._file_bytes:
            data = self._rotate(held) + data
            held = self._open()
            size = os.fstat(held).st_size
        written = os.write(held, data)
        if written < len(data):
            # Taking back takes no space, also where there is none.
            os.ftruncate(held, size)
            raise OSError(errno.ENOSPC, "an entry had no room")
        return len(text)

    def close(self) -> None:
        """Close the file."""
        if self._held is not None:
            os.close(self._held)
            self._held = None
        super().close()

    def _open(self) -> int:
        """Return the descriptor of the file that has the name now; make it if there is none."""
        if self._held is not None:
            found = None
            with suppress(FileNotFoundError):
                found = os.stat(self._path, follow_symlinks=False)
            if found is not None and os.path.samestat(found, os.fstat(self._held)):
                return self._held
            os.close(self._held)
            self._held = None
        # A link may lead anywhere, and opening a pipe or a device can wait for ever.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        held = os.open(self._path, flags | os.O_CLOEXEC, 0o600)
        if not stat.S_ISREG(os.fstat(held).st_mode):
            os.close(held)
            raise OSError(errno.EINVAL, "the log is not a file")
        self._held = held
        return held

    def _rotate(self, held: int) -> bytes:
        """Let the file become the first of the older ones, and the oldest go.

        Where that cannot be, the file is emptied: it must not grow for ever.

        Returns:
            The entry that says so, if that is so.
        """
        try:
            self._remove_from(self._files + 1)
            for number in range(self._files, 0, -1):
                with suppress(FileNotFoundError):
                    os.replace(self._numbered(number - 1), self._numbered(number))
            if not self._files:
                os.ftruncate(held, 0)
        except OSError as error:
            os.ftruncate(held, 0)
            entry = {
                "event": "log_emptied",
                "level": "warning",
                "reason": f"it could not be rotated: {error.strerror}",
                "ts": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            }
            return msgspec.json.encode(entry) + b"\n"
        return b""

    def _remove_from(self, number: int) -> None:
        """Remove the older ones from a number on, which other settings may have kept."""
        with suppress(FileNotFoundError):
            while True:
                os.unlink(self._numbered(number))
                number += 1

    def _numbered(self, number: int) -> str:
        return f"{self._path}.{number}" if number else str(self._path)
