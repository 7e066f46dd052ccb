"""Active content of a deck, as of all OpenDocument files."""

from kbd.formats import Source
from kbd.office.open_active import open_active_content
from kbd_odp.packages import KIND

__all__ = ["active_content"]


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return the active content of a deck that none of some others has.

    Raises:
        FileReadFailed: A file is damaged, encrypted, or past a limit.
    """
    return open_active_content(source, known, KIND)
