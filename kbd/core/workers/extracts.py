"""A part of all text of a file: cut where it is long enough, with where to go on."""

from collections.abc import Iterable

import msgspec

from kbd.formats import Passage

__all__ = ["Extract", "extract", "short_text"]


class Extract(msgspec.Struct, frozen=True):
    """A part of all text.

    Args:
        text: Passages, each on lines of its own, the last line ended, too.
        places: The place of each, and the character of `text` where it starts.
        following: The passage and the character of it to go on with; None at the end.
    """

    text: str
    places: tuple[tuple[str, int], ...]
    following: tuple[int, int] | None = None


def extract(passages: Iterable[Passage], passage: int, character: int, limit: int) -> Extract:
    """Return the text from a place on; the parts, one after the other, are the whole.

    Args:
        passages: All passages of the file.
        passage: The first one that is wanted, from 0; past the end there is no text.
        character: The first character of it that is wanted.
        limit: The most characters, at least 1.
    """
    parts: list[str] = []
    places: list[tuple[str, int]] = []
    length = 0
    following = None
    for number, found in enumerate(passages):
        if number < passage:
            continue
        begin = character if number == passage else 0
        room = limit - length
        if room == 0:
            following = (number, begin)
            break
        lines = found.text if found.text.endswith("\n") else found.text + "\n"
        places.append((found.place, length))
        parts.append(lines[begin : begin + room])
        length += len(parts[-1])
        if begin + room < len(lines):
            following = (number, begin + room)
            break
    return Extract("".join(parts), tuple(places), following)


def short_text(passages: Iterable[Passage], most_bytes: int) -> str | None:
    """Return all text if it is at most so many bytes, else None."""
    found = extract(passages, 0, 0, most_bytes)
    fits = found.following is None and len(found.text.encode()) <= most_bytes
    return found.text if fits else None
