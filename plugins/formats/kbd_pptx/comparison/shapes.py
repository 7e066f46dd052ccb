"""Changes of the shapes of a slide: which came and went, where they are, what they say and show."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd_pptx.comparison.charts import compare_charts
from kbd_pptx.comparison.format_names import Details, name_differences
from kbd_pptx.comparison.markup import Fact, Resolve, differences, read_facts
from kbd_pptx.comparison.matches import Matches, match_shapes, moved_items
from kbd_pptx.comparison.places import paragraph_place, shape_places
from kbd_pptx.comparison.tables import compare_tables, table_bodies
from kbd_pptx.comparison.text import (
    add_embedded,
    add_links,
    compare_paragraphs,
    plain_paragraphs,
    read_paragraphs,
)
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.presentation import MC, P14, SHAPE_TAGS, A, P
from kbd_pptx.reader.boxes import EMU_PER_INCH, box_in_inches, parse_length
from kbd_pptx.reader.shapes import SlideShape, shape_transform
from kbd_pptx.reader.slide import Slide, chart_part, slide_diagram
from kbd_pptx.reader.text import format_lines, plain_text, table_rows

__all__ = ["SlideSide", "compare_shapes", "is_shape_changed"]

_GROUP = SHAPE_TAGS[3]
_ALTERNATE = f"{MC}AlternateContent"
_NAMED = ("name", "descr", "title", "hidden")
_OMITTED = {f"{P}cNvPr": _NAMED, f"{P14}cNvPr": ("id", *_NAMED)}
"""Attributes that are compared under names of their own."""

_WHAT = {"picture": "picture", "table": "table", "chart": "chart", "media": "media"}
_SIDES = {"x": "left", "y": "top", "width": "width", "height": "height"}


class SlideSide(NamedTuple):
    """A slide in one of two versions.

    Args:
        version: The version.
        slide: The slide.
        resolve: What its relations lead to.
        places: The places of its shapes.
    """

    version: DeckVersion
    slide: Slide
    resolve: Resolve
    places: list[Place]

    @classmethod
    def of(cls, version: DeckVersion, index: int) -> "SlideSide | None":
        """Return the side of a slide; None if it cannot be read."""
        slide = version.slide(index)
        if slide is None:
            return None
        return cls(version, slide, version.resolve(slide.part), shape_places(slide))

    def leads_alike(self, other: "SlideSide") -> bool:
        """Tell whether the same ids of relations lead to the same things on another slide."""
        return self.version.targets(self.slide.part) == other.version.targets(other.slide.part)


def compare_shapes(before: SlideSide, after: SlideSide, changes: ChangeList) -> None:
    """Add what differs between the shapes of two versions of a slide."""
    old, new = before.slide.shapes, after.slide.shapes
    matches = match_shapes(before.slide, after.slide)
    places, moved = matches.before, moved_items(len(old), len(new), matches)
    for j, shape in enumerate(new):
        i = places.get(j)
        if i is None:
            # What came with its group is told with it.
            if shape.parent < 0 or shape.parent in places:
                changes.add(_whole(after, j, "added"))
            continue
        if j in moved and shape.parent not in moved:
            details = {"position_in_order": (i + 1, j + 1)}
            changes.add(Change(
                after.places[j], "moved", "order", moved_from=before.places[i], details=details
            ))  # fmt: skip
        _compare_pair(before, i, after, j, matches, changes)
    for i, shape in enumerate(old):
        if i not in matches.after and (shape.parent < 0 or shape.parent in matches.after):
            changes.add(_whole(before, i, "removed"))


def is_shape_changed(before: SlideSide, i: int, after: SlideSide, j: int) -> bool:
    """Tell whether a shape differs, wherever it stands among the others."""
    found = ChangeList()
    _compare_pair(before, i, after, j, match_shapes(before.slide, after.slide), found)
    return found.comparison().total > 0


def _whole(side: SlideSide, at: int, kind: ChangeKind) -> Change:
    """Return the change of a shape that came or went."""
    shape = side.slide.shapes[at]
    value: Any = plain_text(shape.body, side.slide.number).strip()
    if shape.kind == "table":
        value = table_rows(shape.element)
    elif shape.kind == "group":
        inner = (s for s in side.slide.shapes if s.parent == at)
        value = "\n".join(filter(None, (plain_text(s.body, side.slide.number) for s in inner)))
    value = value or shape.alt_text or shape.name or None
    note = shape.kind.replace("_", " ")
    what = _WHAT.get(shape.kind, "shape")
    if kind == "added":
        return Change(side.places[at], kind, what, after=value, note=note)
    return Change(side.places[at], kind, what, before=value, note=note)


def _compare_pair(
    before: SlideSide,
    i: int,
    after: SlideSide,
    j: int,
    matches: Matches,
    changes: ChangeList,
) -> None:
    old, new, place = before.slide.shapes[i], after.slide.shapes[j], after.places[j]
    parents = _group(before, old), _group(after, new)
    same_group = matches.after.get(old.parent, -1) == new.parent
    if same_group and before.leads_alike(after) and _bytes(old) == _bytes(new):
        if old.kind == new.kind == "chart":
            _compare_charts(before, old, after, new, place, changes)
        return
    details = _named_details(old, new)
    if not same_group:
        details["group"] = parents
    if details:
        changes.add(Change(place, "changed", "shape", details=details))
    if position := _position_details(old, new):
        changes.add(Change(place, "changed", "position", details=position))
    told = _compare_contents(before, i, after, j, changes)
    looks = [list(_look(side, shape)) for side, shape in ((before, old), (after, new))]
    named = name_differences(differences(*looks))
    if named.details:
        changes.add(Change(place, "changed", "format", details=named.details))
    elif looks[0] != looks[1] and sorted(looks[0], key=str) == sorted(looks[1], key=str):
        # A line that is drawn by the same strokes in another order is another one.
        note = "what it is drawn of stands in another order"
        changes.add(Change(place, "changed", "format", note=note))
    add_links(named, place, changes)
    if old.kind == new.kind == "diagram":
        if named.parts and not told:
            changes.add(Change(place, "changed", "diagram", note="its layout or formatting"))
    else:
        add_embedded(named, place, changes)


def _group(side: SlideSide, shape: SlideShape) -> str | None:
    return None if shape.parent < 0 else side.slide.shapes[shape.parent].name


def _bytes(shape: SlideShape) -> bytes:
    """Return a shape as it is written, if it is no group, whose shapes are compared alone."""
    if shape.element.tag == _GROUP:
        return b"".join(
            etree.tostring(child) for child in shape.element if child.tag not in SHAPE_TAGS
        )
    return etree.tostring(shape.element)


def _inner_shapes(element: etree._Element) -> Iterator[etree._Element]:
    """Yield what is in a group."""
    if element.tag == _GROUP:
        for child in element:
            if child.tag in SHAPE_TAGS or child.tag == _ALTERNATE:
                yield child


def _named_details(old: SlideShape, new: SlideShape) -> Details:
    pairs: Details = {
        "kind": (old.kind, new.kind),
        "name": (old.name, new.name),
        "alternative_text": (old.alt_text, new.alt_text),
        "hidden": (old.is_hidden, new.is_hidden),
    }
    found = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if old.names is not None and new.names is not None:
        titles = old.names.get("title"), new.names.get("title")
        if titles[0] != titles[1] and "alternative_text" not in found:
            found["title"] = titles
    return found


def _position_details(old: SlideShape, new: SlideShape) -> Details:
    """Return what differs in where a shape is; nothing if only its group moved."""
    one, other = shape_transform(old.element), shape_transform(new.element)
    facts = [[] if x is None else list(read_facts(x, str)) for x in (one, other)]
    if facts[0] == facts[1]:
        return {}
    boxes = [None if shape.box is None else box_in_inches(shape.box) for shape in (old, new)]
    found: Details = {}
    for side, name in _SIDES.items():
        pair = tuple(None if box is None else box[side] for box in boxes)
        if pair[0] != pair[1]:
            found[name] = (pair[0], pair[1])
    for path, (was, now) in differences(*facts).items():
        if path == "@rot":
            found["rotation"] = (_degrees(was), _degrees(now))
        elif path in ("@flipH", "@flipV"):
            found[f"flip_{path[-1].lower()}"] = (was in ("1", "true"), now in ("1", "true"))
        elif path.startswith("ch"):
            # The coordinates inside of a group: what is in it is stretched by them.
            found[f"inside_{path.partition('@')[2]}"] = (_inches(was), _inches(now))
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def _degrees(value: object) -> float:
    text = str(value)
    return int(text) / 60_000 if text.lstrip("-").isdecimal() and len(text) < 12 else 0.0


def _inches(value: object) -> float | None:
    length = parse_length(str(value))
    return None if length is None else round(length / EMU_PER_INCH, 4)


def _look(side: SlideSide, shape: SlideShape) -> Iterable[Fact]:
    """Return the facts of a shape that are not compared under names of their own."""
    element = shape.element
    skipped = set(_inner_shapes(element))
    if shape.body is not None:
        skipped.update(shape.body.iterchildren(f"{A}p"))
    transform = shape_transform(element)
    if transform is not None:
        skipped.add(transform)
    if shape.kind == "table":
        skipped.update(table_bodies(element))
    elif shape.kind == "chart":
        data = element.find(f"{A}graphic/{A}graphicData")
        skipped.update(() if data is None else data)
    return read_facts(element, side.resolve, skipped, _OMITTED)


def _compare_contents(
    before: SlideSide, i: int, after: SlideSide, j: int, changes: ChangeList
) -> bool:
    """Add what differs in what a shape says or shows; return whether anything was added."""
    old, new = before.slide.shapes[i], after.slide.shapes[j]
    place, old_place = after.places[j], before.places[i]
    count = changes.total
    if old.kind == new.kind == "table":
        compare_tables(
            (old.element, before.resolve, old_place), (new.element, after.resolve, place), changes
        )
    elif old.kind == new.kind == "chart":
        _compare_charts(before, old, after, new, place, changes)
    elif old.kind == new.kind == "diagram":
        texts = [
            format_lines(iter(slide_diagram(side.version.deck, side.slide, shape)))
            for side, shape in ((before, old), (after, new))
        ]
        paragraphs = [plain_paragraphs(text) for text in texts]
        compare_paragraphs(
            paragraphs[0], paragraphs[1], lambda _: place, lambda _: old_place, changes
        )
    else:
        olds = read_paragraphs(old.body, before.resolve)
        news = read_paragraphs(new.body, after.resolve)
        # A shape without a body says the same as one with an empty one.
        if any(each.text for each in (*olds, *news)) or (olds and news):
            several = max(len(olds), len(news))
            compare_paragraphs(
                olds,
                news,
                lambda at: paragraph_place(place, at, several),
                lambda at: paragraph_place(old_place, at, several),
                changes,
            )
    return changes.total > count


def _compare_charts(
    before: SlideSide,
    old: SlideShape,
    after: SlideSide,
    new: SlideShape,
    place: Place,
    changes: ChangeList,
) -> None:
    parts = [
        (side.version, chart_part(side.version.deck, side.slide, shape))
        for side, shape in ((before, old), (after, new))
    ]
    digests = [version.part_digest(part) if part else "" for version, part in parts]
    if digests[0] == digests[1]:
        return
    count = changes.total
    if all(digests):
        try:
            compare_charts(parts[0], parts[1], place, changes)
        except FileReadFailed:
            changes.warn(f"the chart of {place.title} cannot be read; it differs")
    if changes.total == count:
        changes.add(Change(place, "changed", "chart", note="in what is not shown of it here"))
