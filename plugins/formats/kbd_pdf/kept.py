"""Which pages have no text, kept on the file's shelf by whoever has looked at all of them."""

from collections.abc import Sequence
from pathlib import Path

from kbd.formats.shelves import keep, kept

__all__ = ["keep_silent_pages", "kept_silent_pages"]

_KEPT = "silent-pages.2"
"""The name on the shelf, with the version of what is in it."""


def kept_silent_pages(shelf: Path | None) -> list[int] | None:
    """Return the numbers of all pages without text, or None where nobody has looked yet."""
    return kept(shelf, _KEPT, list[int])


def keep_silent_pages(shelf: Path | None, numbers: Sequence[int]) -> None:
    """Keep them; where that cannot be, nothing is kept."""
    keep(shelf, _KEPT, list(numbers))
