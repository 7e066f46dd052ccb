"""Warnings of a reading: what a deck shows with a label, or does not show."""

from collections.abc import Iterator

from kbd_odp.deck import OdpReader

__all__ = ["deck_warnings"]


def deck_warnings(deck: OdpReader) -> tuple[str, ...]:
    """Return what a reader must know of the slides that were passed, each once."""
    return tuple(dict.fromkeys(_warnings(deck)))


def _warnings(deck: OdpReader) -> Iterator[str]:
    yield from deck.warnings
    notices = deck.notices
    if notices.hidden:
        yield f"{_counted(notices.hidden, 'text')} shown as [hidden: …]: people do not see it."
    if notices.doubtful:
        yield f"{_counted(notices.doubtful, 'text')} shown as [maybe hidden: …]."
    if notices.shortened:
        yield f"{_counted(notices.shortened, 'long repeat')} of blanks or cells cut short."


def _counted(number: int, what: str) -> str:
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"
