"""Matches: which slides, and which shapes of a slide, are the same in two versions.

Slides are the same by the deck's id of them as long as what is on them agrees with that: programs
may number slides anew, and then only their contents tell. So equal contents pair up first, then
what PowerPoint named for good, then similar contents, and only then bare ids.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from kbd.formats.alignment import align, pair_similar
from kbd_pptx.comparison.version import DeckVersion, SlideSketch
from kbd_pptx.presentation import R
from kbd_pptx.reader.shapes import SlideShape, picture_of
from kbd_pptx.reader.slide import Slide
from kbd_pptx.reader.text import plain_text

__all__ = ["Matches", "SlideMatches", "match_shapes", "match_slides", "moved_items"]

LIKE = 0.5
"""The share of words that similar slides and shapes have in common."""

MAX_PAIRS = 10_000
"""Slides that are held against each other; of more they pair in order."""


class Matches(NamedTuple):
    """Items of two sequences that are the same: each index before, and that after."""

    pairs: tuple[tuple[int, int], ...]

    @property
    def after(self) -> dict[int, int]:
        """The index after, by that before."""
        return dict(self.pairs)

    @property
    def before(self) -> dict[int, int]:
        """The index before, by that after."""
        return {j: i for i, j in self.pairs}


class SlideMatches(NamedTuple):
    """Slides that are the same, and those among them that are so to the byte.

    Args:
        slides: The pairs.
        same: Indices after of those whose bytes are equal.
        moved: Indices after of those that stand elsewhere.
    """

    slides: Matches
    same: frozenset[int]
    moved: frozenset[int]


class _Pairing:
    """Pairs as they are found, and what has none yet."""

    def __init__(self, before: int, after: int) -> None:
        self.pairs: dict[int, int] = {}
        self.before = dict.fromkeys(range(before))
        self.after = dict.fromkeys(range(after))

    def add(self, i: int, j: int) -> None:
        """Add a pair."""
        self.pairs[i] = j
        del self.before[i], self.after[j]

    def by_key(
        self,
        key_before: Callable[[int], Hashable],
        key_after: Callable[[int], Hashable],
        *,
        is_unique: bool = True,
    ) -> list[tuple[int, int]]:
        """Pair those of equal keys that are not empty, and return them.

        Args:
            key_before: The key of an item before.
            key_after: That of an item after.
            is_unique: Whether keys that occur more than once are left; else they pair in order.
        """
        old, new = _grouped(self.before, key_before), _grouped(self.after, key_after)
        found = []
        for key, places in old.items():
            others = new.get(key, [])
            if not key or (is_unique and not len(places) == len(others) == 1):
                continue
            found += list(zip(places, others, strict=False))
        for i, j in found:
            self.add(i, j)
        return found

    def matches(self) -> Matches:
        """Return what was found, in the order before."""
        return Matches(tuple(sorted(self.pairs.items())))


def _grouped(places: dict[int, None], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for place in places:
        found.setdefault(key(place), []).append(place)
    return found


def match_slides(before: DeckVersion, after: DeckVersion) -> SlideMatches:
    """Return which slides are the same; links to slides are named by it in both versions."""
    pairing = _Pairing(before.count, after.count)
    old_ids = [slide.slide_id for slide in before.deck.slides]
    new_ids = [slide.slide_id for slide in after.deck.slides]
    old_bytes = [before.bytes_key(index) for index in range(before.count)]
    new_bytes = [after.bytes_key(index) for index in range(after.count)]
    same = pairing.by_key(
        lambda i: (old_bytes[i], old_ids[i]),
        lambda j: (new_bytes[j], new_ids[j]),
        is_unique=False,
    )
    same += pairing.by_key(old_bytes.__getitem__, new_bytes.__getitem__, is_unique=False)
    if pairing.before and pairing.after:
        old = {index: before.sketch(index) for index in pairing.before}
        new = {index: after.sketch(index) for index in pairing.after}
        _pair_sketched(pairing, old, new, old_ids, new_ids)
    found = pairing.matches()
    _name_slides(before, after, found)
    moved = moved_items(before.count, after.count, found)
    return SlideMatches(found, frozenset(j for _, j in same), moved)


def _pair_sketched(
    pairing: _Pairing,
    old: dict[int, SlideSketch],
    new: dict[int, SlideSketch],
    old_ids: Sequence[str],
    new_ids: Sequence[str],
) -> None:
    """Pair slides by what is on them."""
    pairing.by_key(lambda i: (old[i].digest, old_ids[i]), lambda j: (new[j].digest, new_ids[j]))
    pairing.by_key(lambda i: old[i].digest, lambda j: new[j].digest, is_unique=False)
    is_renumbered = any(old_ids[i] != new_ids[j] for i, j in pairing.pairs.items())
    pairing.by_key(lambda i: old[i].creation_id, lambda j: new[j].creation_id)
    places = {new_ids[j]: j for j in pairing.after}
    for least in (LIKE, None):
        for i in list(pairing.before):
            j = places.get(old_ids[i])
            if j is None or j not in pairing.after or not old_ids[i]:
                continue
            like = _likeness(old[i], new[j])
            # An id alone is believed only where no slide shows that ids were given anew.
            is_it = not is_renumbered and _has_same_shapes(old[i], new[j])
            if is_it if least is None else like >= least:
                pairing.add(i, j)
        if least is not None:
            _pair_like(pairing, old, new)


def _has_same_shapes(old: SlideSketch, new: SlideSketch) -> bool:
    """Tell whether a slide may be another one with all of its words replaced, or its layout."""
    is_same_layout = old.layout == new.layout
    if not old.shapes or not new.shapes:
        # Of a slide without a word another layout may have taken the empty places along.
        return is_same_layout or not (old.words or new.words)
    like = 2 * len(old.shapes & new.shapes) / (len(old.shapes) + len(new.shapes))
    # Half of two is enough: a placeholder that a table took over is another shape.
    return like >= LIKE if is_same_layout else like > LIKE


def _pair_like(pairing: _Pairing, old: dict[int, SlideSketch], new: dict[int, SlideSketch]) -> None:
    """Pair slides with many words in common, the most similar first, wherever they stand."""
    befores, afters = list(pairing.before), list(pairing.after)
    if len(befores) * len(afters) > MAX_PAIRS:
        found = pair_similar(befores, afters, lambda i, j: _likeness(old[i], new[j]), LIKE)
        for i, j in found:
            pairing.add(befores[i], afters[j])
        return
    ranked = sorted(
        ((_likeness(old[i], new[j]), -i, -j) for i in befores for j in afters), reverse=True
    )
    for like, i, j in ranked:
        if like < LIKE:
            break
        if -i in pairing.before and -j in pairing.after:
            pairing.add(-i, -j)


def _likeness(old: SlideSketch, new: SlideSketch) -> float:
    """Return the share of words in common, from 0 to 1; 0 for slides without any."""
    total = old.words.total() + new.words.total()
    return 2 * (old.words & new.words).total() / total if total else 0.0


def _name_slides(before: DeckVersion, after: DeckVersion, found: Matches) -> None:
    for index, slide in enumerate(after.deck.slides):
        after.slide_names[slide.part] = f"slide {index + 1}"
    places = found.after
    for index, slide in enumerate(before.deck.slides):
        there = places.get(index)
        before.slide_names[slide.part] = (
            f"slide {index + 1}, removed" if there is None else f"slide {there + 1}"
        )


def moved_items(before: int, after: int, matches: Matches) -> frozenset[int]:
    """Return the indices after of matched items that stand in another order.

    Args:
        before: How many items there are before.
        after: How many there are after.
        matches: Which are the same.
    """
    places = matches.before
    # What has no partner is equal to nothing on the other side.
    old = [(0, i) if i in matches.after else (1, i) for i in range(before)]
    new = [(0, places[j]) if j in places else (2, j) for j in range(after)]
    held = {
        j for block in align(old, new) if block.kind == "equal" for j in range(block.j1, block.j2)
    }
    return frozenset(j for j in places if j not in held)


def match_shapes(before: Slide, after: Slide) -> Matches:
    """Return which shapes of a slide are the same."""
    old, new = before.shapes, after.shapes
    pairing = _Pairing(len(old), len(new))

    def pair(key: Callable[[SlideShape], Hashable]) -> None:
        if pairing.before and pairing.after:
            pairing.by_key(lambda i: key(old[i]), lambda j: key(new[j]))

    pair(lambda shape: (shape.id, shape.name, shape.kind) if shape.id else None)
    # Of one kind: a table that took over an empty placeholder came, and that went.
    pair(lambda shape: (shape.placeholder, shape.index, shape.kind) if shape.placeholder else None)
    pair(lambda shape: (shape.kind, text) if (text := plain_text(shape.body, 0).strip()) else None)
    pair(lambda shape: (shape.kind, id_) if (id_ := _picture_id(shape)) else None)
    pair(lambda shape: (shape.kind, shape.name) if shape.name else None)
    pair(lambda shape: (shape.kind, shape.id) if shape.id else None)
    # Several of one id and name: damaged, but real; they pair as they stand.
    pairing.by_key(
        lambda i: (old[i].id, old[i].name, old[i].kind),
        lambda j: (new[j].id, new[j].name, new[j].kind),
        is_unique=False,
    )
    return pairing.matches()


def _picture_id(shape: SlideShape) -> str:
    blip = picture_of(shape.element)
    return "" if blip is None else blip.get(f"{R}embed", "")
