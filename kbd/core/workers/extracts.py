"""A part of all text of a file: cut where it is long enough, with where to go on."""

from collections.abc import Iterable

import msgspec

from kbd.formats import Passage

__all__ = ["Extract", "extract"]


class Extract(msgspec.Struct, frozen=True):
    """A part of all text.

    Args:
        text: Passages, each on lines of its own.
        places: The place of each, and the character of `text` where it starts.
        following: The passage and the character of it to go on with; None at the end.
    """

    text: str
    places: tuple[tuple[str, int], ...]
    following: tuple[int, int] | None = None


def extract(passages: Iterable[Passage], passage: int, character: int, limit: int) -> Extract:
    """Return the text from a place on.

    Args:
        passages: All passages of the file.
        passage: The first one that is wanted, from 0; past the end there is no text.
        character: The first character of it that is wanted.
        limit: The most characters, at least 1.
    """
    text = ""
    parts: list[str] = []
    places: list[tuple[str, int]] = []
    length = 0
    for number, found in enumerate(passages):
        if number < passage:
            continue
        begin = character if number == passage else 0
        separator = "\n" if parts and not text.endswith("\n") else ""
        room = limit - length - len(separator)
        if room <= 0:
            return Extract("".join(parts), tuple(places), (number, begin))
        text = found.text[begin : begin + room]
        places.append((found.place, length + len(separator)))
        parts += separator, text
        length += len(separator) + len(text)
        if begin + room < len(found.text):
            return Extract("".join(parts), tuple(places), (number, begin + room))
    return Extract("".join(parts), tuple(places))
