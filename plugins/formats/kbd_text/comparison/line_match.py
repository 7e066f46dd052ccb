"""Which lines of one version became which of the other.

What was replaced pairs up where the words are much the same; a run of lines that was removed in one
place and added in another has moved.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

import msgspec

from kbd.formats import Span
from kbd.formats.alignment import Move, diff_words, pair_similar
from kbd.plaintext.stretches import Stretch, Stretches, find_moved
from kbd_text.comparison.lines import text_of

__all__ = ["Match", "match_lines"]

MAX_COMPARED = 300_000
"""Comparisons of two lines in all; past it lines that were replaced are removed and added."""

MAX_WORDS_CHARS = 1_500_000
"""Characters of the lines whose words are compared; some three seconds if none are the same."""

MIN_MOVED = 3
"""Letters and digits that a run must have to have moved: a bracket is everywhere."""

LEAST = 0.5
"""How similar a line must be to one to be it, changed."""

_MAX_WORDS_CHARS = 4_000
"""What of a line is looked at to find the one that it is like."""

_WORD = re.compile(r"\w+|[^\w\s]")


class _Words(msgspec.Struct):
    """Words of a line, with their lengths together."""

    counts: Counter[str]
    size: int


class Match:
    """What became of the lines that differ.

    Attributes:
        stretches: The lines that differ.
        pairs: For each stretch the places in it of lines that were changed.
        moves: The runs of lines that stand elsewhere, by their numbers in the versions, from 0.
    """

    def __init__(
        self,
        stretches: Sequence[Stretch[str]],
        pairs: Sequence[Sequence[tuple[int, int]]],
        moves: Sequence[Move],
    ) -> None:
        self.stretches = stretches
        self.pairs = pairs
        self.moves = moves
        self._left = MAX_WORDS_CHARS
        self._words: dict[tuple[str, str], tuple[Span, ...]] = {}

    def words(self, before: str, after: str) -> tuple[Span, ...]:
        """Return the words of a line that was changed; none once there are very many."""
        known = self._words.get((before, after))
        if known is not None:
            return known
        size = len(before) + len(after)
        if size > self._left:
            return ()
        self._left -= size
        found = diff_words(before, after)
        self._words[before, after] = found
        return found


def match_lines(stretches: Stretches[str]) -> Match:
    """Find the lines that were changed, and those that moved."""
    moves = _moves(stretches.found)
    gone = {move.before + step for move in moves for step in range(move.length)}
    come = {move.after + step for move in moves for step in range(move.length)}
    left = MAX_COMPARED
    pairs: list[tuple[tuple[int, int], ...]] = []
    for stretch in stretches.found:
        old = [i for i in range(len(stretch.before)) if stretch.before_at + i not in gone]
        new = [j for j in range(len(stretch.after)) if stretch.after_at + j not in come]
        # A line that stands where another one stood is that line, whatever it says now.
        if len(old) == len(new) == 1:
            pairs.append(((old[0], new[0]),))
            continue
        # To take a line apart costs as much as some comparisons.
        cost = len(old) * len(new) + 5 * (len(old) + len(new))
        if not old or not new or cost > left:
            pairs.append(())
            continue
        left -= cost
        found = pair_similar(
            [_words(stretch.before[i]) for i in old],
            [_words(stretch.after[j]) for j in new],
            _similarity,
            LEAST,
        )
        pairs.append(tuple((old[i], new[j]) for i, j in found))
    return Match(stretches.found, pairs, moves)


def _words(text: str) -> _Words:
    counts = Counter(_WORD.findall(text[:_MAX_WORDS_CHARS]))
    return _Words(counts, sum(len(word) * count for word, count in counts.items()))


def _similarity(one: _Words, other: _Words) -> float:
    """Return how much of both lines are words that they share, by their lengths."""
    if not one.size or not other.size:
        return 1.0 if one.size == other.size else 0.0
    if min(one.size, other.size) * 2 < LEAST * (one.size + other.size):
        return 0.0
    fewer, more = sorted((one.counts, other.counts), key=len)
    shared = sum(len(word) * min(count, more[word]) for word, count in fewer.items())
    return 2 * shared / (one.size + other.size)


def _moves(stretches: Sequence[Stretch[str]]) -> list[Move]:
    """Find the runs that moved, but for those that are as good as empty."""
    numbers = [stretch.before_at for stretch in stretches]
    moves = []
    for move in find_moved(stretches, text_of):
        stretch = stretches[bisect_right(numbers, move.before) - 1]
        first = move.before - stretch.before_at
        run = stretch.before[first : first + move.length]
        if sum(letter.isalnum() for text in run for letter in text[:100]) >= MIN_MOVED:
            moves.append(move)
    return moves
