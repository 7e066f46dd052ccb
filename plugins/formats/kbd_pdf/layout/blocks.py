"""Blocks of lines that may be a table which no rules draw, and the text columns of a page.

Text in two columns is no table of two: where a strip stays free between lines that are long on both
sides, each side is read for itself. What is left in a side, or stands over both, is looked through
for lines that fall into pieces one below the other.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from kbd_pdf.layout.columns import WIDE_GAP, letter_height, pieces
from kbd_pdf.layout.words import PlacedWord, WordLine, lines_of

__all__ = ["blocks_of", "text_columns"]

_FEWEST_LINES = 5
"""Text in columns has at least so many lines beside each other."""
_FULL = 0.55
"""A line of text fills so much of its column; the last of a paragraph fills less."""
_SHIFTED = 0.12
"""By how much of their height lines beside each other stand lower, if they are not of one row."""
_FEWEST_WORDS = 4
"""Words in a line of text, of most lines."""
_FAR = 3.0
"""A line so many heights of letters below the one above belongs to another block."""


def text_columns(words: Sequence[PlacedWord]) -> list[list[WordLine]]:
    """Return the lines of a page, text that stands in columns beside each other apart."""
    lines = lines_of(words)
    parted = _column_runs(lines)
    if parted is None:
        return [lines]
    found: list[list[WordLine]] = []
    waiting: list[WordLine] = []
    for line, cut in parted:
        if cut is None:
            waiting.append(line)
            continue
        if waiting:
            found.append(waiting)
            waiting = []
        begin, end, at = cut
        inside = [word for each in lines[begin:end] for word in each.words]
        left = [word for word in inside if word.box.center < at]
        right = [word for word in inside if word.box.center >= at]
        found += [group for side in (left, right) for group in text_columns(side) if group]
    if waiting:
        found.append(waiting)
    return found


def _column_runs(
    lines: Sequence[WordLine],
) -> list[tuple[WordLine, tuple[int, int, float] | None]] | None:
    """Return lines, each run of text in columns as its first line with where it is cut.

    None where nothing is.
    """
    if len(lines) < _FEWEST_LINES:
        return None
    size = letter_height(lines)
    for at in _candidates(lines, size):
        runs = [run for run in _free_runs(lines, at, size) if _is_text(lines[slice(*run)], at)]
        if runs:
            result: list[tuple[WordLine, tuple[int, int, float] | None]] = []
            place = 0
            for begin, end in runs:
                result += ((line, None) for line in lines[place:begin])
                result.append((lines[begin], (begin, end, at)))
                place = end
            return [*result, *((line, None) for line in lines[place:])]
    return None


def _candidates(lines: Sequence[WordLine], size: float) -> list[float]:
    """Return the middles of gaps that many lines have, those of most lines first."""
    counts: dict[int, int] = {}
    for line in lines:
        for one, other in pairwise(pieces(line, WIDE_GAP * size)):
            start, end = one.box.right, other.box.left
            # A gap counts for each place in it, in steps of 4 points.
            for step in range(int(start // 4) + 1, min(int(end // 4), int(start // 4) + 60) + 1):
                counts[step] = counts.get(step, 0) + 1
    best = sorted(counts, key=lambda step: (-counts[step], step))[:3]
    return [step * 4.0 for step in best if counts[step] >= _FEWEST_LINES]


def _free_runs(lines: Sequence[WordLine], at: float, size: float) -> Iterator[tuple[int, int]]:
    """Yield runs of lines of which no word stands in the way of a cut."""
    begin = None
    for place, line in enumerate((*lines, None)):
        is_free = line is not None and not any(
            word.box.left < at + size / 4 and word.box.right > at - size / 4 for word in line.words
        )
        if is_free and begin is None:
            begin = place
        elif not is_free and begin is not None:
            if place - begin >= _FEWEST_LINES:
                yield begin, place
            begin = None


def _is_text(lines: Sequence[WordLine], at: float) -> bool:
    """Tell whether lines on both sides of a cut are of running text.

    Or those on one side are, and the other has its lines at other heights: rows have them at one.
    """
    sides = [
        [
            words
            for line in lines
            if (words := [word for word in line.words if (word.box.center >= at) == side])
        ]
        for side in (False, True)
    ]
    found = [_is_running(side) for side in sides]
    return all(found) or (
        any(found) and min(map(len, sides)) >= _FEWEST_LINES and _is_shifted(lines, at)
    )


def _is_running(own: Sequence[Sequence[PlacedWord]]) -> bool:
    """Tell whether lines of a side are of running text: long ones, of several words."""
    if len(own) < _FEWEST_LINES:
        return False
    left = min(words[0].box.left for words in own)
    right = max(words[-1].box.right for words in own)
    full = [
        words
        for words in own
        if sum(word.box.right - word.box.left for word in words) >= _FULL * (right - left)
    ]
    if len(full) < max(_FEWEST_LINES, 0.4 * len(own)):
        return False
    return median(len(words) for words in full) >= _FEWEST_WORDS


def _is_shifted(lines: Sequence[WordLine], at: float) -> bool:
    """Tell whether words left and right of a cut stand at other heights, in most lines."""
    shifts = []
    for line in lines:
        left = [word.box for word in line.words if word.box.center < at]
        right = [word.box for word in line.words if word.box.center >= at]
        if left and right:
            size = max(left[-1].height, right[0].height, 1.0)
            shifts.append(abs(left[-1].bottom - right[0].bottom) / size)
    return len(shifts) >= _FEWEST_LINES and median(shifts) > _SHIFTED


def blocks_of(lines: Sequence[WordLine]) -> Iterator[list[WordLine]]:
    """Yield runs of lines that fall into pieces, with those between them that may go on."""
    size = letter_height(lines)
    block: list[WordLine] = []
    for line in lines:
        parts = pieces(line, WIDE_GAP * size)
        is_far = block and line.box.top - block[-1].box.bottom > _FAR * size
        if is_far:
            yield from _trimmed(block, size)
            block = []
        if len(parts) > 1:
            block.append(line)
        elif block:
            # What begins at the left is a title of what comes below; what is set in goes on.
            left = min(each.box.left for each in block)
            if line.box.left > left + size and line.box.top - block[-1].box.bottom < size:
                block.append(line)
            else:
                yield from _trimmed(block, size)
                block = []
    yield from _trimmed(block, size)


def _trimmed(block: Sequence[WordLine], size: float) -> Iterator[list[WordLine]]:
    """Yield a block without single pieces above it, if there is more than one line."""
    found = list(block)
    while found and len(pieces(found[0], WIDE_GAP * size)) < 2:
        del found[0]
    if len(found) >= 2:
        yield found
