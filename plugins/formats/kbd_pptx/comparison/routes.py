"""Ways of places from one version of a deck to the other.

They lead over the same pairs of slides, shapes, rows and paragraphs that a comparison finds, and a
place differs where the comparison has a change in it.
"""

from collections.abc import Sequence

from kbd.formats import Change, ChangeList, Place, Trace
from kbd_pptx.comparison.deck import compare_decks, deck_places, design_parts, match_designs
from kbd_pptx.comparison.matches import SlideMatches, match_shapes
from kbd_pptx.comparison.places import cell_place, paragraph_place, part_of_slide, slide_place
from kbd_pptx.comparison.shapes import SlideSide, is_shape_changed
from kbd_pptx.comparison.slides import compare_slides, is_same
from kbd_pptx.comparison.tables import match_tables
from kbd_pptx.comparison.text import (
    ItemPair,
    pair_items,
    pair_with_moved,
    plain_paragraphs,
    read_paragraphs,
)
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.reader.notes import read_comments
from kbd_pptx.reader.slide import slide_notes
from kbd_pptx.reader.text import table_rows

__all__ = ["PlaceRoute"]

_GONE = Trace(None)


class _SlidePair:
    """A slide in both versions, with what differs on it."""

    def __init__(self, before: SlideSide, after: SlideSide, changes: Sequence[Change]) -> None:
        self.before = before
        self.after = after
        self.changes = changes
        self.shapes = match_shapes(before.slide, after.slide)


class PlaceRoute:
    """The way from one version to the other.

    Args:
        before: The older version.
        after: The newer version.
        slides: Which slides are the same.
        forward: Whether it leads from the older to the newer one.
    """

    def __init__(
        self, before: DeckVersion, after: DeckVersion, slides: SlideMatches, *, forward: bool
    ) -> None:
        self._before, self._after = before, after
        self._slides = slides
        self._forward = forward
        self._pairs: dict[int, _SlidePair | None] = {}
        self._same: dict[int, bool] = {}
        self._deck_changes: tuple[Change, ...] | None = None

    def trace(self, place: Place) -> Trace:
        """Return where a place stands in the other version."""
        if place.slide is None:
            return self._trace_deck(place)
        there = self._ends(self._slides.slides.after, self._slides.slides.before, place.slide)
        if there is None:
            return _GONE
        i, j = there
        end = j if self._forward else i
        if self._is_same(i, j) and place.shape is None:
            # Whatever stands on it stands on the other one, under the same names.
            return Trace(_on(place, end))
        pair = self._pair(i, j)
        if pair is None:
            return Trace(slide_place(end), is_changed=True)
        if place.shape is not None:
            return self._trace_shape(place, pair)
        if place.part is not None:
            return self._trace_part(place, pair)
        return Trace(slide_place(end), is_changed=bool(pair.changes))

    def _ends(
        self, after: dict[int, int], before: dict[int, int], at: int
    ) -> tuple[int, int] | None:
        """Return an index before and after, None if the item is not on both sides."""
        other = after.get(at) if self._forward else before.get(at)
        if other is None:
            return None
        return (at, other) if self._forward else (other, at)

    def _is_same(self, i: int, j: int) -> bool:
        if j not in self._same:
            self._same[j] = is_same(self._before, i, self._after, j, self._slides)
        return self._same[j]

    def _pair(self, i: int, j: int) -> _SlidePair | None:
        if j not in self._pairs:
            old, new = SlideSide.of(self._before, i), SlideSide.of(self._after, j)
            found = ChangeList()
            compare_slides(self._before, i, self._after, j, found)
            changes = found.comparison().changes
            self._pairs[j] = None if old is None or new is None else _SlidePair(old, new, changes)
        return self._pairs[j]

    def _trace_shape(self, place: Place, pair: _SlidePair) -> Trace:
        here, there = (pair.before, pair.after) if self._forward else (pair.after, pair.before)
        ranked = [at for at, each in enumerate(here.places) if each.shape == place.shape]
        # Where several have the same id, the name in the title tells which one is meant.
        titles = [each.title for each in here.places]
        ranked.sort(key=lambda at: -len(titles[at]) * place.title.startswith(titles[at]))
        if not ranked:
            named = [at for at, s in enumerate(here.slide.shapes) if s.name == place.shape]
            ranked = named
        ends = self._ends(pair.shapes.after, pair.shapes.before, ranked[0]) if ranked else None
        if ends is None:
            return _GONE
        i, j = ends
        target = there.places[j if self._forward else i]
        if place.row is not None or place.column is not None:
            return self._trace_cell(place, pair, ends, target)
        if place.paragraph is not None:
            return self._trace_paragraph(place, pair, ends, target)
        return Trace(target, is_changed=is_shape_changed(pair.before, i, pair.after, j))

    def _trace_cell(
        self, place: Place, pair: _SlidePair, ends: tuple[int, int], target: Place
    ) -> Trace:
        i, j = ends
        old = table_rows(pair.before.slide.shapes[i].element)
        new = table_rows(pair.after.slide.shapes[j].element)
        matches = match_tables(old, new)
        column = place.column if isinstance(place.column, int) else None
        row_ends = self._item(matches.rows, place.row)
        column_ends = self._item(matches.columns, column)
        if (place.row is not None and row_ends is None) or (
            column is not None and column_ends is None
        ):
            return _GONE
        side = 1 if self._forward else 0
        found = cell_place(
            target,
            None if row_ends is None else row_ends[side],
            None if column_ends is None else column_ends[side],
        )
        shape = pair.after.places[j].shape
        return Trace(found, is_changed=any(
            change.place.shape == shape
            and change.kind != "removed"
            and _covers(change.place.row, row_ends)
            and _covers(change.place.column, column_ends)
            for change in pair.changes
            if change.what not in ("order", "position", "row", "column")
            or (change.what == "row" and row_ends) or (change.what == "column" and column_ends)
        ))  # fmt: skip

    def _item(self, pairs: Sequence[ItemPair], at: int | None) -> tuple[int, int] | None:
        """Return both indices of an item by that on this side, None if it is not on both."""
        both = ((i, j) for i, j in pairs if i is not None and j is not None)
        side = 0 if self._forward else 1
        return next((ends for ends in both if ends[side] == at), None)

    def _trace_paragraph(
        self, place: Place, pair: _SlidePair, ends: tuple[int, int], target: Place
    ) -> Trace:
        i, j = ends
        old = read_paragraphs(pair.before.slide.shapes[i].body, pair.before.resolve)
        new = read_paragraphs(pair.after.slide.shapes[j].body, pair.after.resolve)
        found = self._item(pair_with_moved(old, new), place.paragraph)
        if found is None:
            return _GONE
        side = 1 if self._forward else 0
        count = len(new if self._forward else old)
        return Trace(
            paragraph_place(target, found[side], count), is_changed=old[found[0]] != new[found[1]]
        )

    def _trace_part(self, place: Place, pair: _SlidePair) -> Trace:
        there = pair.after if self._forward else pair.before
        part = place.part or ""
        if part.startswith("comment "):
            return self._trace_comment(part, pair, there)
        target = part_of_slide(there.slide.index, part)
        changes = [change for change in pair.changes if change.place.part == part]
        if part != "notes":
            is_gone = any(
                change.kind == ("removed" if self._forward else "added") for change in changes
            )
            return _GONE if is_gone else Trace(target, is_changed=bool(changes))
        old, new = (
            slide_notes(side.version.deck, side.slide) for side in (pair.before, pair.after)
        )
        if not (new if self._forward else old):
            return _GONE
        if place.paragraph is None:
            return Trace(target, is_changed=bool(changes))
        olds, news = plain_paragraphs(old), plain_paragraphs(new)
        found = self._item(pair_with_moved(olds, news), place.paragraph)
        if found is None:
            return _GONE
        side = 1 if self._forward else 0
        count = len(news if self._forward else olds)
        return Trace(
            paragraph_place(target, found[side], count),
            is_changed=olds[found[0]] != news[found[1]],
        )

    def _trace_comment(self, part: str, pair: _SlidePair, there: SlideSide) -> Trace:
        number = part.removeprefix("comment ")
        old, new = (
            read_comments(side.version.deck, side.slide.part) for side in (pair.before, pair.after)
        )
        pairs = pair_items(old, new, lambda i, j: float(old[i].author == new[j].author))
        found = self._item(pairs, int(number) - 1 if number.isdecimal() else None)
        if found is None:
            return _GONE
        at = found[1 if self._forward else 0]
        place = part_of_slide(there.slide.index, f"comment {at + 1}")
        return Trace(place, is_changed=old[found[0]] != new[found[1]])

    def _trace_deck(self, place: Place) -> Trace:
        here, there = (self._before, self._after) if self._forward else (self._after, self._before)
        if self._deck_changes is None:
            found = ChangeList()
            compare_decks(self._before, self._after, self._slides, found)
            self._deck_changes = found.comparison().changes
        part = place.part
        designs = design_parts(here), design_parts(there)
        at = next((n for n, each in enumerate(designs[0]) if each.part == part), None)
        target = place
        if at is not None:
            other = match_designs(*designs).after.get(at)
            if other is None:
                return _GONE
            target = designs[1][other].place
        elif not any(each.part == part for each in deck_places(there)):
            return _GONE
        names = (part, target.part)
        changed = any(
            each.place.slide is None and each.place.part in names for each in self._deck_changes
        )
        return Trace(target, is_changed=changed)


def _on(place: Place, slide: int) -> Place:
    """Return the same place on a slide of another index."""
    _, comma, rest = place.title.partition(",")
    return Place(
        f"slide {slide + 1}{comma}{rest}", slide=slide, shape=place.shape, part=place.part,
        paragraph=place.paragraph, row=place.row, column=place.column,
    )  # fmt: skip


def _covers(at: int | str | None, ends: tuple[int, int] | None) -> bool:
    """Tell whether a change of a row or column, or of all of them, is one of what is traced."""
    return at is None or ends is None or at == ends[1]
