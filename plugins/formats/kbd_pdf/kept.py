"""Which pages have no text, kept beside the file's bytes by whoever has looked at all of them."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

__all__ = ["keep_silent_pages", "kept_silent_pages"]

_NAME = "silent-pages-1.json"


def kept_silent_pages(shelf: Path | None) -> list[int] | None:
    """Return the numbers of all pages without text, or None where nobody has looked yet."""
    if shelf is None:
        return None
    try:
        return msgspec.json.decode((shelf / _NAME).read_bytes(), type=list[int])
    except (OSError, msgspec.MsgspecError):
        return None


def keep_silent_pages(shelf: Path | None, numbers: Sequence[int]) -> None:
    """Keep them; where that cannot be, nothing is kept."""
    if shelf is None:
        return
    fresh = shelf / f"{_NAME}.{os.getpid()}"
    with contextlib.suppress(OSError):
        shelf.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            fresh.write_bytes(msgspec.json.encode(list(numbers)))
            fresh.replace(shelf / _NAME)
        finally:
            fresh.unlink(missing_ok=True)
