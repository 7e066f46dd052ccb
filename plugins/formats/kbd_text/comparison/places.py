"""Places of a text: a line's number in the other version, and what people write for it."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from kbd.errors import ValidationFailed
from kbd.formats import Place, Source, Trace
from kbd.formats.alignment import Move
from kbd.plaintext import measure
from kbd.plaintext.stretches import Stretches
from kbd.plaintext.versions import read_version
from kbd_text.comparison.changes import line_place
from kbd_text.comparison.line_match import Match, match_lines
from kbd_text.comparison.lines import collect_stretches

__all__ = ["locate", "trace"]

MAX_LINES = 100_000
"""Lines of one place that are followed."""

_LINES = re.compile(
    r"\s*(?:lines?|l|#l?|:)?\s*\.?\s*(\d+)(?:\s*(?:-|–|to|\.\.|:|,)\s*l?(\d+))?\s*", re.IGNORECASE
)


def trace(
    before: Source, after: Source, places: Sequence[Place], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where lines of one version are in the other.

    Args:
        before: The older version.
        after: The newer version.
        places: Lines, or the parts "encoding", "line ending" and such, which are in both.
        forward: Whether the places are of the version before.

    Raises:
        FileReadFailed: A version cannot be opened, or is binary.
    """
    stretches = collect_stretches(read_version(before), read_version(after), 0)
    lines = _Lines(stretches, match_lines(stretches), is_forward=forward)
    return tuple(_traced(lines, place) for place in places)


def _traced(lines: "_Lines", place: Place) -> Trace:
    if place.line is None:
        return Trace(place if place.part else None)
    found = _LINES.fullmatch(place.title)
    # Only the title has the end of several lines.
    last = int(found[2]) if found and found[2] and int(found[1]) == place.line else place.line
    count = min(MAX_LINES, last - place.line + 1)
    numbers = [lines.follow(place.line - 1 + step) for step in range(max(1, count))]
    there = [number for number, _ in numbers if number is not None]
    if not there:
        return Trace(None)
    is_changed = any(changed for _, changed in numbers) or len(there) < len(numbers)
    first, end = min(there), max(there)
    is_run = end - first + 1 == len(there)
    return Trace(line_place(first, len(there) if is_run else 1), is_changed or not is_run)


class _Lines:
    """What became of each line, looked up by its number."""

    def __init__(self, stretches: Stretches[str], match: Match, *, is_forward: bool) -> None:
        self._stretches = stretches
        self._is_forward = is_forward
        self._partners = {
            (stretch.before_at + i if is_forward else stretch.after_at + j): (
                stretch.after_at + j if is_forward else stretch.before_at + i
            )
            for stretch, pairs in zip(match.stretches, match.pairs, strict=True)
            for i, j in pairs
        }
        turned = (
            match.moves if is_forward else [Move(m.after, m.before, m.length) for m in match.moves]
        )
        self._moves = sorted(turned)

    def follow(self, number: int) -> tuple[int | None, bool]:
        """Return the number of a line in the other version, if it is there, and if it differs."""
        partner = self._partners.get(number)
        if partner is not None:
            return partner, True
        place = bisect_right(self._moves, number, key=lambda move: move.before)
        if place:
            start, there, length = self._moves[place - 1]
            if number < start + length:
                return there + number - start, False
        stretches = self._stretches
        end = stretches.before_end if self._is_forward else stretches.after_end
        stretch, shifted = stretches.shift(number, forward=self._is_forward)
        # Behind the end of what was compared nobody knows.
        return (None, True) if stretch is not None or number >= end else (shifted, False)


def locate(source: Source, text: str) -> Place:
    """Return the lines that a text names: "line 12", "lines 3-5", "L12", "12".

    Raises:
        FileReadFailed: The file cannot be opened, or is binary.
        ValidationFailed: It names no line, or one that the file does not have.
    """
    name = text.strip().casefold()
    if name in ("encoding", "byte order mark", "line ending", "final newline", "bytes"):
        return Place(name, part=name)
    found = _LINES.fullmatch(text)
    if found is None:
        raise ValidationFailed(f'{text!r} is no place of a text; write "line 12" or "lines 12-20"')
    first, last = int(found[1]), int(found[2] or found[1])
    count = measure(source).line_count
    if not 1 <= first <= last:
        raise ValidationFailed(f"{text!r} is no range of lines; they are counted from 1")
    if last > count:
        raise ValidationFailed(
            f"{source.name} has {count:,} lines; line {last:,} is not one of them"
        )
    return line_place(first - 1, last - first + 1)
