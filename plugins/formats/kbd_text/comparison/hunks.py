"""Hunks: the lines that differ with those around them, bounded."""

from collections.abc import Iterator, Sequence

from kbd.formats import Hunk, HunkLine
from kbd.formats.comparison import MAX_CHANGE_CHARACTERS
from kbd.plaintext.stretches import Stretch
from kbd_text.comparison.line_match import Match
from kbd_text.comparison.lines import excerpts, text_of

__all__ = ["MAX_HUNK_LINES", "HunkWriter", "make_hunks"]

MAX_HUNK_CHARS = 3 * 1024 * 1024
"""Characters of all hunks: an answer is at most 64 MiB, and words say them again."""

MAX_HUNK_LINES = 60_000


class HunkWriter:
    """Writer of one hunk after the other, until there is no more room.

    Attributes:
        is_full: Whether lines were left out.
    """

    def __init__(self) -> None:
        self.is_full = False
        self._chars = MAX_HUNK_CHARS
        self._count = MAX_HUNK_LINES
        self._hunks: list[Hunk] = []
        self._lines: list[HunkLine] = []
        self._start = (0, 0)

    def begin(self, before_at: int, after_at: int) -> None:
        """Begin a hunk at the numbers of its first lines, from 0."""
        self._finish()
        self._start = (before_at, after_at)

    def add(self, line: HunkLine) -> None:
        """Add a line, if there is room; a long one is cut."""
        size = min(len(line.text), MAX_CHANGE_CHARACTERS)
        if self.is_full or size > self._chars or not self._count:
            self.is_full = True
            return
        if size < len(line.text):
            line = HunkLine(line.kind, line.text[:size] + "…")
        self._chars -= size
        self._count -= 1
        self._lines.append(line)

    def hunks(self) -> tuple[Hunk, ...]:
        """Return all that were written."""
        self._finish()
        return tuple(self._hunks)

    def _finish(self) -> None:
        if not self._lines:
            return
        old = sum(line.kind != "added" for line in self._lines)
        new = sum(line.kind != "removed" for line in self._lines)
        # As in a unified diff: a side without lines stands behind the line before it.
        start = self._start[0] + bool(old), self._start[1] + bool(new)
        self._hunks.append(Hunk(start[0], old, start[1], new, tuple(self._lines)))
        self._lines = []


def make_hunks(match: Match, context: int | None) -> tuple[tuple[Hunk, ...], bool]:
    """Return the hunks of what differs, and whether lines had to be left out.

    Args:
        match: What differs.
        context: Equal lines to show around it; None for all.
    """
    writer = HunkWriter()
    trail: Sequence[str] = ()
    for number, (stretch, pairs) in enumerate(zip(match.stretches, match.pairs, strict=True)):
        lead = stretch.lead
        is_joined = number and stretch.gap == len(trail) + len(lead)
        _add_context(writer, trail)
        if not is_joined:
            writer.begin(stretch.before_at - len(lead), stretch.after_at - len(lead))
        _add_context(writer, lead)
        for line in _stretch_lines(match, stretch, pairs):
            writer.add(line)
        if writer.is_full:
            break
        trail = stretch.trail[:context]
    _add_context(writer, trail)
    return writer.hunks(), writer.is_full


def _add_context(writer: HunkWriter, lines: Sequence[str]) -> None:
    for line in lines:
        writer.add(HunkLine("context", text_of(line)))


def _stretch_lines(
    match: Match, stretch: Stretch[str], pairs: Sequence[tuple[int, int]]
) -> Iterator[HunkLine]:
    """Yield what was removed, then what was added, with the words of those that were changed."""
    words = {}
    texts: dict[tuple[str, int], str] = {}
    for i, j in pairs:
        old, new = text_of(stretch.before[i]), text_of(stretch.after[j])
        if max(len(old), len(new)) > MAX_CHANGE_CHARACTERS:
            # Cut at its end, a long line would look as it did.
            old, new, _ = excerpts(old, new)
            texts["removed", i], texts["added", j] = old, new
        words[i, j] = match.words(old, new)
    by_old = {i: found for (i, _), found in words.items()}
    by_new = {j: found for (_, j), found in words.items()}
    for i, line in enumerate(stretch.before):
        mine = tuple(each for each in by_old.get(i, ()) if each[0] != "added")
        yield HunkLine("removed", texts.get(("removed", i), text_of(line)), mine)
    for j, line in enumerate(stretch.after):
        mine = tuple(each for each in by_new.get(j, ()) if each[0] != "removed")
        yield HunkLine("added", texts.get(("added", j), text_of(line)), mine)
