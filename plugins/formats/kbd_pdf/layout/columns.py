"""Columns that nobody drew: pieces of lines, and the gaps that stand below each other.

A line falls into pieces at its wide gaps. Where gaps of most lines share a strip of the page there
is a gutter, and a column on each side of it; a title may cross one, and is one piece all the same.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from kbd_pdf.layout.words import PlacedWord, WordBox, WordLine

__all__ = ["Piece", "column_of", "gutters", "is_number", "letter_height", "pieces"]

WIDE_GAP = 0.9
"""A gap that ends a piece of a line, in heights of its letters; a blank is about 0.25 of it, and in
justified text seldom more than 0.6."""

_NARROW_GAP = 0.35
"""Gutters are at least so wide, where their lines agree on them."""

_BLANK = 1.3
"""A gap at a place where columns are parted is wider than a blank of its line by so much."""

_CROSSING = 0.15
"""Of the lines so many may cross a gutter: titles over several columns."""

_NUMBER = re.compile(
    r"[(\[<>~≈±+\-−–]*\s?[$€£¥₩#]?\s?[+\-−–]?\d[\d.,'’ :/\u00a0]*\s?"
    r"(?:[%‰€$£¥†‡*∗)\]]|[A-Za-z]{1,3})*(?:\s?\([\d.,]+\s?%?\))?"
)


class Piece(NamedTuple):
    """Words of a line that belong together."""

    words: tuple[PlacedWord, ...]
    box: WordBox

    @property
    def text(self) -> str:
        """Its words, with a blank between."""
        return " ".join(word.text for word in self.words)


def is_number(text: str) -> bool:
    """Tell whether a text is a number, with a unit or a mark perhaps."""
    return _NUMBER.fullmatch(text.strip()) is not None


def letter_height(lines: Sequence[WordLine]) -> float:
    """Return how high letters of lines are, as most of them."""
    heights = [word.box.height for line in lines for word in line.words]
    return median(heights) if heights else 10.0


def pieces(line: WordLine, gap: float, cuts: Sequence[float] = ()) -> list[Piece]:
    """Return the pieces of a line.

    Args:
        line: The line.
        gap: A wider gap ends a piece.
        cuts: Places that end one, too, where words leave them free with more than a blank.
    """
    found: list[list[PlacedWord]] = []
    at_cut = _least_at_cut(line, gap) if cuts else gap
    for word in line.words:
        if found:
            before = found[-1][-1].box.right
            free = word.box.left - before
            is_cut = free > at_cut and any(
                before - 0.5 <= cut <= word.box.left + 0.5 for cut in cuts
            )
            if free <= gap and not is_cut:
                found[-1].append(word)
                continue
        found.append([word])
    return [_piece(words) for words in found]


def _least_at_cut(line: WordLine, gap: float) -> float:
    """Return what is more than a blank in a line: a third more than its narrowest gap."""
    gaps = [other.box.left - one.box.right for one, other in pairwise(line.words)]
    own = min((free for free in gaps if free > gap / 9), default=gap)
    return min(gap / 2, max(_BLANK * own, gap / 5)) if len(gaps) > 1 else gap * 0.4


def _piece(words: list[PlacedWord]) -> Piece:
    box = words[0].box
    for word in words[1:]:
        box = box.around(word.box)
    return Piece(tuple(words), box)


def gutters(lines: Sequence[WordLine], *, least_gaps: int = 2) -> list[float]:
    """Return where columns of lines are parted, from the left.

    Args:
        lines: Lines of one table, which have their words from left to right.
        least_gaps: So many lines must have a wide gap at a gutter.
    """
    size = letter_height(lines)
    parted = [found for line in lines if len(found := pieces(line, WIDE_GAP * size)) > 1]
    if len(parted) < least_gaps:
        return []
    # Lines of one piece tell nothing of columns: they are titles, or stand in one column.
    allowed = int(len(parted) * _CROSSING) or int(len(parted) >= 4)
    events: list[tuple[float, int]] = []
    for line in parted:
        for piece in line:
            for word_box in _closed(piece, _NARROW_GAP * size):
                events += ((word_box[0], 1), (word_box[1], -1))
    return [
        at
        for at in _freest(events, allowed, _NARROW_GAP * size)
        if _supported(parted, at, WIDE_GAP * size) >= max(least_gaps, len(parted) // 4)
    ]


def _freest(events: list[tuple[float, int]], allowed: int, least: float) -> Iterator[float]:
    """Yield the middle of the emptiest part of each strip that few enough lines cross.

    Args:
        events: Where pieces of lines begin (1) and end (-1).
        allowed: So many may cross a strip.
        least: How wide a strip is, at least.
    """
    events.sort()
    strip: list[tuple[int, float, float]] = []
    depth = 0
    for (at, step), (after, _) in pairwise(events):
        depth += step
        if depth <= allowed:
            if after > at:
                strip.append((depth, at, after))
            continue
        if strip and strip[-1][2] - strip[0][1] >= least:
            yield _emptiest(strip)
        strip = []


def _emptiest(strip: list[tuple[int, float, float]]) -> float:
    lowest = min(depth for depth, _, _ in strip)
    best = max((end - start, start, end) for depth, start, end in strip if depth == lowest)
    return (best[1] + best[2]) / 2


def _closed(piece: Piece, gap: float) -> list[tuple[float, float]]:
    """Return the stretches that a piece covers, gaps that are narrow closed."""
    found: list[tuple[float, float]] = []
    for word in piece.words:
        if found and word.box.left - found[-1][1] < gap:
            found[-1] = (found[-1][0], max(found[-1][1], word.box.right))
        else:
            found.append((word.box.left, word.box.right))
    return found


def _supported(parted: Sequence[Sequence[Piece]], at: float, gap: float) -> int:
    """Return how many lines have pieces on both sides of a place, with a wide gap or at an edge."""
    count = 0
    for line in parted:
        left = [piece for piece in line if piece.box.right <= at + 1]
        right = [piece for piece in line if piece.box.left >= at - 1]
        if left and right and right[0].box.left - left[-1].box.right >= gap * 0.9:
            count += 1
    return count


def column_of(box: WordBox, cuts: Sequence[float]) -> tuple[int, int]:
    """Return the first column that a box stands in, and how many it spans."""
    size = box.right - box.left
    touched = []
    edges = (float("-inf"), *cuts, float("inf"))
    for column in range(len(edges) - 1):
        shared = min(box.right, edges[column + 1]) - max(box.left, edges[column])
        if shared > min(3.0, size / 3):
            touched.append(column)
    if not touched:
        return sum(cut < box.center for cut in cuts), 1
    return touched[0], touched[-1] - touched[0] + 1
