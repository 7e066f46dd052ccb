"""Matches of two decks: which slides, and which shapes of a slide, are the same."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from kbd.formats.alignment import align, find_moves, pair_similar
from kbd_odp.deck import DeckSlide
from kbd_odp.shapes import DeckShape

__all__ = ["DeckMatches", "ShapePair", "match_shapes", "match_slides", "said", "slide_events"]

_LEAST = 0.5


class ShapePair(NamedTuple):
    """A shape of two versions of a slide: its indices, -1 where it is not."""

    before: int
    after: int


class DeckMatches(msgspec.Struct):
    """Matches of the slides of two decks.

    Args:
        forward: Which slide before is which after.
        moved: Those after that stood elsewhere.
    """

    forward: dict[int, int] = {}
    moved: set[int] = set()

    @property
    def back(self) -> dict[int, int]:
        """Which slide after is which before."""
        return {j: i for i, j in self.forward.items()}


def said(shape: DeckShape) -> str:
    """Return all that a shape says, in one text."""
    cells = (cell for row in shape.rows for cell in row)
    charts = () if shape.chart is None else (cell for row in shape.chart.rows for cell in row)
    titled = "" if shape.chart is None else shape.chart.title
    return " ".join(filter(None, (shape.text, titled, *cells, *charts)))


def match_slides(old: Sequence[DeckSlide], new: Sequence[DeckSlide]) -> DeckMatches:
    """Return which slides of two decks are the same: those that say the same, or much of it."""
    before, after = [_known(each) for each in old], [_known(each) for each in new]
    blocks = align(before, after)
    found = DeckMatches()
    for move in find_moves(blocks, before, after):
        for at in range(move.length):
            # Slides without a text are all alike: none of them is known to have moved.
            if before[move.before + at]:
                found.forward[move.before + at] = move.after + at
                found.moved.add(move.after + at)
    for block in blocks:
        if block.kind == "equal":
            found.forward |= {block.i1 + at: block.j1 + at for at in range(block.i2 - block.i1)}
            continue
        ours = [i for i in range(block.i1, block.i2) if i not in found.forward]
        theirs = [j for j in range(block.j1, block.j2) if j not in found.moved]
        pairs = pair_similar([old[i] for i in ours], [new[j] for j in theirs], _likeness, _LEAST)
        found.forward |= {ours[i]: theirs[j] for i, j in pairs}
    _pair_titles(old, new, found)
    return found


def _pair_titles(old: Sequence[DeckSlide], new: Sequence[DeckSlide], found: DeckMatches) -> None:
    """Pair what is left and has the only slide of its title on the other side: it moved."""
    kept = set(found.forward.values())
    ours = [i for i in range(len(old)) if i not in found.forward and old[i].title]
    theirs = [j for j in range(len(new)) if j not in kept and new[j].title]
    counts = Counter(old[i].title for i in ours), Counter(new[j].title for j in theirs)
    places = {new[j].title: j for j in theirs}
    for i in ours:
        title = old[i].title
        if counts[0][title] == 1 == counts[1][title]:
            found.forward[i] = places[title]
            found.moved.add(places[title])


def slide_events(
    old: Sequence[DeckSlide], new: Sequence[DeckSlide], found: DeckMatches
) -> Iterator[tuple[int, int]]:
    """Yield slides in the order after, by their indices; those that went stand where they stood."""
    back = found.back
    gone = [i for i in range(len(old)) if i not in found.forward]
    for j in range(len(new)):
        i = back.get(j, -1)
        while gone and j not in found.moved and 0 <= gone[0] < i:
            yield gone.pop(0), -1
        yield i, j
    yield from ((i, -1) for i in gone)


def match_shapes(old: Sequence[DeckShape], new: Sequence[DeckShape]) -> list[ShapePair]:
    """Return which shapes of a slide are the same: by their names, then by what they are."""
    pairs: dict[int, int] = {}
    left = dict(enumerate(old)), dict(enumerate(new))
    for key in (_exactly, _by_name, _by_kind):
        places: dict[Hashable, list[int]] = {}
        for i, shape in left[0].items():
            places.setdefault(key(shape), []).append(i)
        for j, shape in list(left[1].items()):
            waiting = places.get(key(shape), [])
            if waiting and key(shape) is not None:
                i = waiting.pop(0)
                pairs[j] = i
                del left[0][i], left[1][j]
    return _in_order(len(old), len(new), pairs)


def _in_order(before: int, after: int, pairs: Mapping[int, int]) -> list[ShapePair]:
    found = [ShapePair(pairs.get(j, -1), j) for j in range(after)]
    kept = set(pairs.values())
    return [*found, *(ShapePair(i, -1) for i in range(before) if i not in kept)]


def _exactly(shape: DeckShape) -> Hashable:
    return (shape.name, shape.kind, said(shape), shape.digest)


def _by_name(shape: DeckShape) -> Hashable:
    return (shape.name, shape.kind) if shape.name else None


def _by_kind(shape: DeckShape) -> Hashable:
    return (shape.kind, shape.placeholder)


def _known(slide: DeckSlide) -> Hashable:
    return tuple(text for text in map(said, slide.shapes) if text)


def _likeness(before: DeckSlide, after: DeckSlide) -> float:
    """Return from 0 to 1 how much of two slides is the same: words, names, what stands on them."""
    if before.title and before.title == after.title:
        return 1.0
    old, new = _words(before), _words(after)
    total = old.total() + new.total()
    words = 2 * (old & new).total() / total if total else 1.0
    # Slides without much text are told by their names: programs count on where nobody gives one.
    named = before.name == after.name and before.name != ""
    return max(words, 0.6) if named and before.index == after.index else words


def _words(slide: DeckSlide) -> Counter[str]:
    return Counter(word for shape in slide.shapes for word in said(shape).split())
