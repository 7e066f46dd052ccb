"""Changes of pages: which came, went and moved, and what differs on one, line by line."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd.formats.alignment import align, diff_words, find_moves, pair_similar
from kbd.formats.page_numbers import format_page_numbers
from kbd_pdf.comparison.version import MAX_DRAWN, MAX_SHADE, PageFacts, PdfVersion

__all__ = [
    "ItemPair",
    "PageMatches",
    "add_whole_page",
    "annotation_place",
    "compare_pages",
    "line_place",
    "match_pages",
    "page_place",
    "pair_lines",
]

LIKE = 0.4
"""The share of words that a page or a line has in common with what it was."""

MAX_WORDS = 3_000
_WORD = re.compile(r"\w+")

ItemPair = tuple[int | None, int | None]
"""The index of a page or a line before and after; None where it is not there."""


class PageMatches(NamedTuple):
    """Pages that are the same.

    Args:
        pairs: In the order after; those that are gone stand where they stood.
        moved: Indices after of those that stand elsewhere.
    """

    pairs: list[ItemPair]
    moved: frozenset[int]

    @property
    def after(self) -> dict[int, int]:
        """The index after, by that before."""
        return {i: j for i, j in self.pairs if i is not None and j is not None}

    @property
    def before(self) -> dict[int, int]:
        """The index before, by that after."""
        return {j: i for i, j in self.after.items()}


def page_place(index: int) -> Place:
    """Return the place of a page."""
    return Place(f"page {index + 1}", page=index + 1)


def line_place(page: int, line: int) -> Place:
    """Return the place of a line of a page, both from 0."""
    return Place(f"page {page + 1}, line {line + 1}", page=page + 1, line=line + 1)


def annotation_place(page: int, number: int) -> Place:
    """Return the place of an annotation, both from 0."""
    part = f"annotation {number + 1}"
    return Place(f"page {page + 1}, {part}", page=page + 1, part=part)


def match_pages(before: PdfVersion, after: PdfVersion) -> PageMatches:
    """Return which pages are the same: equal ones, those that moved, similar ones."""
    old, new = before.pages, after.pages
    # Past the last page that is drawn a page that shifts would lose its look.
    drawn = max(len(old), len(new)) <= MAX_DRAWN
    old_keys = [_key(page, with_look=drawn) for page in old]
    new_keys = [_key(page, with_look=drawn) for page in new]
    blocks = align(old_keys, new_keys)
    moves = {
        move.after + step: move.before + step
        for move in find_moves(blocks, old_keys, new_keys)
        for step in range(move.length)
    }
    gone = set(moves.values())
    words = [[_words(page.text) for page in pages] for pages in (old, new)]

    def like(i: int, j: int) -> float:
        return _likeness(words[0][i], words[1][j])

    pairs: list[ItemPair] = []
    for block in blocks:
        if block.kind == "equal":
            pairs += zip(range(block.i1, block.i2), range(block.j1, block.j2), strict=True)
            continue
        olds = [i for i in range(block.i1, block.i2) if i not in gone]
        news = [j for j in range(block.j1, block.j2) if j not in moves]
        for i, j in pair_stretch(olds, news, like):
            # A page that took the place of another one, with nothing of it, is another page.
            is_other = i is not None and j is not None and not like(i, j)
            if is_other and i is not None and j is not None and words[0][i] and words[1][j]:
                pairs += [(i, None), (None, j)]
            else:
                pairs.append((i, j))
    return PageMatches(
        _in_order([*pairs, *((i, j) for j, i in moves.items())], len(old)), frozenset(moves)
    )


def _in_order(pairs: Sequence[ItemPair], count: int) -> list[ItemPair]:
    """Return pairs in the order after; what is gone follows what stood before it."""
    places = {i: j for i, j in pairs if i is not None and j is not None}
    last, at = -1, dict[int, int]()
    for i in range(count):
        last = max(last, places.get(i, last))
        at[i] = last
    return sorted(pairs, key=lambda pair: (
        (pair[1], 0, 0) if pair[1] is not None else (at[pair[0] or 0], 1, pair[0] or 0)
    ))  # fmt: skip


def pair_stretch(olds: Sequence[int], news: Sequence[int], like: Any) -> list[ItemPair]:
    """Pair what replaced each other: similar ones, and between them as many as took their places.

    Args:
        olds: Indices before.
        news: Indices after.
        like: Returns how similar two are.
    """
    found: list[ItemPair] = []
    i = j = 0
    for next_i, next_j in [*pair_similar(olds, news, like, LIKE), (len(olds), len(news))]:
        between, others = olds[i:next_i], news[j:next_j]
        if len(between) == len(others):
            found += zip(between, others, strict=True)
        else:
            found += [*((each, None) for each in between), *((None, each) for each in others)]
        if next_i < len(olds):
            found.append((olds[next_i], news[next_j]))
        i, j = next_i + 1, next_j + 1
    return found


def _key(page: PageFacts, *, with_look: bool) -> Hashable:
    return (page.text, page.look) if with_look else page.text


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text)[:MAX_WORDS])


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else 0.0


def add_whole_page(version: PdfVersion, index: int, kind: ChangeKind, changes: ChangeList) -> None:
    """Add that a page came or went, with its text."""
    text = version.pages[index].text or None
    note = "" if text else "it has no text"
    if kind == "added":
        changes.add(Change(page_place(index), kind, "page", after=text, note=note))
    else:
        changes.add(Change(page_place(index), kind, "page", before=text, note=note))


def compare_pages(
    before: PdfVersion, after: PdfVersion, matches: PageMatches, changes: ChangeList
) -> None:
    """Add what differs between the pages of two versions."""
    after.faint.clear()
    for i, j in matches.pairs:
        if i is None and j is not None:
            add_whole_page(after, j, "added", changes)
        elif j is None and i is not None:
            add_whole_page(before, i, "removed", changes)
        elif i is not None and j is not None:
            if j in matches.moved:
                changes.add(Change(page_place(j), "moved", "page", moved_from=page_place(i)))
            compare_page(before, i, after, j, changes)
    if after.faint:
        listed = format_page_numbers([index + 1 for index in after.faint])
        changes.warn(
            f"On page {listed} pixels differ by at most {MAX_SHADE} of 255: that is what another "
            "program draws of the same, or something very faint; it is not told as a change"
        )


def compare_page(
    before: PdfVersion, i: int, after: PdfVersion, j: int, changes: ChangeList
) -> None:
    """Add what differs on a page: its look, its lines, its annotations."""
    old, new = before.pages[i], after.pages[j]
    if old == new:
        return
    details: dict[str, tuple[Any, Any]] = {}
    for name, was, now in zip(("width", "height", "rotation"), old.layout, new.layout, strict=True):
        # A file that only one library opens has no sizes.
        if was != now and any(old.layout) and any(new.layout):
            details[name] = (was, now)
    # Labels that follow the numbers of pages change with these.
    if old.label != new.label and i == j:
        details["label"] = (old.label or None, new.label or None)
    note = _note(before, i, after, j)
    if details or note:
        changes.add(Change(page_place(j), "changed", "page", details=details, note=note))
    if old.text != new.text:
        _compare_lines(old.text.split("\n"), new.text.split("\n"), i, j, changes)
    _compare_notes(old.notes, new.notes, i, j, changes)


def _note(before: PdfVersion, i: int, after: PdfVersion, j: int) -> str:
    """Return how much of a page looks otherwise, "" where nothing does and no text differs."""
    old, new = before.pages[i], after.pages[j]
    if not (old.look and new.look):
        return "it was compared by its text alone" if old.text != new.text else ""
    share = 0.0 if old.look == new.look else before.differing_pixels(i, after, j)
    if share is None:
        return ""
    if share:
        part = "under 0.01 %" if share < 0.0001 else f"{100 * share:.3g} %"
        return f"{part} of its pixels differ"
    if old.look != new.look and old.text == new.text:
        after.faint.append(j)
    return "it looks the same: people do not see what differs" if old.text != new.text else ""


def pair_lines(before: Sequence[str], after: Sequence[str]) -> list[ItemPair]:
    """Pair the lines of two versions of a page."""
    pairs: list[ItemPair] = []
    for block in align(before, after):
        olds, news = range(block.i1, block.i2), range(block.j1, block.j2)
        if block.kind == "equal":
            pairs += zip(olds, news, strict=True)
        else:
            pairs += pair_stretch(
                olds, news, lambda i, j: _likeness(_words(before[i]), _words(after[j]))
            )
    return pairs


def _compare_lines(
    before: Sequence[str], after: Sequence[str], i: int, j: int, changes: ChangeList
) -> None:
    for old, new in pair_lines(before, after):
        if old is None and new is not None:
            changes.add(Change(line_place(j, new), "added", "line", after=after[new] or None))
        elif new is None and old is not None:
            changes.add(Change(line_place(i, old), "removed", "line", before=before[old] or None))
        elif old is not None and new is not None and before[old] != after[new]:
            was, now = before[old], after[new]
            changes.add(Change(
                line_place(j, new), "changed", "line", before=was or None, after=now or None,
                words=diff_words(was, now),
            ))  # fmt: skip


def _compare_notes(
    before: Sequence[str], after: Sequence[str], i: int, j: int, changes: ChangeList
) -> None:
    for old, new in pair_lines(before, after):
        if old is None and new is not None:
            changes.add(Change(annotation_place(j, new), "added", "annotation", after=after[new]))
        elif new is None and old is not None:
            place = annotation_place(i, old)
            changes.add(Change(place, "removed", "annotation", before=before[old]))
        elif old is not None and new is not None and before[old] != after[new]:
            changes.add(Change(
                annotation_place(j, new), "changed", "annotation", before=before[old],
                after=after[new], words=diff_words(before[old], after[new]),
            ))  # fmt: skip
