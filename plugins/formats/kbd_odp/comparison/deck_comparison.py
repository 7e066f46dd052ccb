"""Comparison of two versions of a deck; places followed, and found by what they are called."""

import re

from kbd.errors import ValidationFailed
from kbd.formats import (
    Change,
    ChangeKind,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    Source,
    Trace,
)
from kbd.formats.alignment import match_rows
from kbd_odp.comparison.deck_matches import DeckMatches, match_shapes, match_slides, slide_events
from kbd_odp.comparison.deck_version import OdpVersion, read_version
from kbd_odp.comparison.slide_changes import (
    add_whole_slide,
    cell_place,
    compare_slides,
    shape_labels,
    shape_place,
    slide_part,
    slide_place,
)
from kbd_odp.deck import DeckSlide

__all__ = ["compare", "locate", "trace"]

_HOW = (
    'write "slide 2", "slide 2, Title 1" (a shape by its name), "slide 2, notes" or '
    '"slide 2, Table 3, row 1, column 2"'
)
_SLIDE = re.compile(
    r"\s*(?:slides?\s*#?\s*)?(\d{1,6})\s*(?:$|[,:;]\s*(.*))", re.IGNORECASE | re.DOTALL
)
_CELL = re.compile(r"(?:row\s*(\d{1,6}))?[\s,]*(?:col(?:umn)?\s*(\d{1,6}))?\s*", re.IGNORECASE)
_BELONGING = ("notes", "comment", "footer", "link")
_SHOWN = 10
_CHARS = 80
_NO_WORDS = "it is made otherwise in a way that has no words here"


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Return what differs between two versions of a deck, in the order of its slides.

    Raises:
        FileReadFailed: A version cannot be read.
        ValidationFailed: An option is given; decks have none.
    """
    source = after or before
    assert source is not None
    if options.named():
        raise ValidationFailed(
            f"{source.name} is compared whole; a deck takes no {options.named()[0]}"
        )
    out = ChangeList()
    if before is None or after is None:
        version = read_version(source)
        kind: ChangeKind = "added" if before is None else "removed"
        for slide in version.slides:
            add_whole_slide(slide, kind, out)
    else:
        old, new = read_version(before), read_version(after)
        _compare(old, new, out)
    return out.comparison()


def _compare(old: OdpVersion, new: OdpVersion, out: ChangeList) -> None:
    found = match_slides(old.slides, new.slides)
    for i, j in slide_events(old.slides, new.slides, found):
        if i < 0:
            add_whole_slide(new.slides[j], "added", out)
        elif j < 0:
            add_whole_slide(old.slides[i], "removed", out)
        else:
            if j in found.moved:
                out.add(Change(slide_place(j), "moved", "slide", moved_from=slide_place(i)))
            compare_slides(old.slides[i], new.slides[j], out)
    properties = Place("properties", part="properties")
    for name in sorted({*old.properties, *new.properties}):
        was, now = old.properties.get(name), new.properties.get(name)
        if was != now:
            details = {name: (was, now)}
            out.add(Change(properties, "changed", "property", was, now, details=details))
    _compare_parts(old, new, out)


def _compare_parts(old: OdpVersion, new: OdpVersion, out: ChangeList) -> None:
    """Add the parts that differ; what has another name than before has changed for nobody."""
    ours, theirs = set(old.parts.values()), set(new.parts.values())
    for name in sorted({*old.parts, *new.parts}):
        was, now = old.parts.get(name), new.parts.get(name)
        # Pictures and objects are told where they are shown, by what they hold.
        if was == now or name.startswith(("Pictures/", "media/", "Object ")):
            continue
        place = Place(name, part=name)
        before, after = (None if each is None else {"size_bytes": each[0]} for each in (was, now))
        if was is None and now not in ours:
            out.add(Change(place, "added", "part", after=after))
        elif now is None and was not in theirs:
            out.add(Change(place, "removed", "part", before=before))
        elif was is not None and now is not None:
            out.add(Change(place, "changed", "part", before, after, note=_NO_WORDS))


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where places of one version stand in the other; raises FileReadFailed."""
    old, new = read_version(before), read_version(after)
    if not forward:
        old, new = new, old
    found = match_slides(old.slides, new.slides)
    return tuple(_traced(place, old, new, found) for place in places)


def _traced(place: Place, old: OdpVersion, new: OdpVersion, found: DeckMatches) -> Trace:
    if place.slide is None:
        part = place.part or ""
        if part == "properties":
            return Trace(place, is_changed=old.properties != new.properties)
        if part in old.parts and part not in new.parts:
            return Trace(None)
        return Trace(place, is_changed=old.parts.get(part) != new.parts.get(part))
    at = found.forward.get(place.slide)
    if at is None or not 0 <= place.slide < len(old.slides):
        return Trace(None)
    one, other = old.slides[place.slide], new.slides[at]
    if place.part is not None:
        is_same = one.notes == other.notes if place.part == "notes" else one == other
        return Trace(slide_part(at, place.part), is_changed=not is_same)
    if place.shape is None:
        return Trace(slide_place(at), is_changed=not _is_same_slide(one, other))
    return _traced_shape(place, one, other)


def _is_same_slide(one: DeckSlide, other: DeckSlide) -> bool:
    out = ChangeList()
    compare_slides(one, other, out)
    return not out.total


def _traced_shape(place: Place, one: DeckSlide, other: DeckSlide) -> Trace:
    pairs = {i: j for i, j in match_shapes(one.shapes, other.shapes) if i >= 0}
    index = place.shape if isinstance(place.shape, int) else -1
    at = pairs.get(index, -1)
    if at < 0:
        return Trace(None)
    shape, there = one.shapes[index], other.shapes[at]
    to = shape_place(other, at)
    if place.row is None:
        return Trace(to, is_changed=shape.digest != there.digest or shape.box != there.box)
    rows = {i: j for i, j in match_rows(shape.rows, there.rows) if i >= 0}
    row = rows.get(place.row, -1)
    if row < 0:
        return Trace(None)
    was, now = shape.rows[place.row], there.rows[row]
    column = place.column if isinstance(place.column, int) else None
    if column is not None:
        was, now = was[column : column + 1], now[column : column + 1]
    return Trace(cell_place(to, row, column), is_changed=was != now)


def locate(source: Source, text: str) -> Place:
    """Return the place that a text means.

    Raises:
        FileReadFailed: The deck cannot be read.
        ValidationFailed: It names no place of the deck.
    """
    version = read_version(source)
    found = _SLIDE.fullmatch(text)
    wanted = _folded(text)
    if found is None:
        for slide in version.slides:
            if wanted and wanted in (_folded(slide.title or ""), _folded(slide.name)):
                return slide_place(slide.index)
        if wanted == "properties" or text.strip() in version.parts:
            return Place(text.strip(), part=text.strip())
        raise ValidationFailed(f'"{text[:_CHARS]}" is no place of {source.name}; {_HOW}')
    number, rest = int(found[1]), (found[2] or "").strip()
    count = len(version.slides)
    if not 1 <= number <= count:
        raise ValidationFailed(
            f"{source.name} has no slide {number}; it has {count} slide{'s' * (count != 1)}"
        )
    if not rest:
        return slide_place(number - 1)
    return _on_slide(version.slides[number - 1], rest, source.name)


def _on_slide(slide: DeckSlide, rest: str, name: str) -> Place:
    words, labels = _folded(rest), shape_labels(slide)
    if words in _BELONGING:
        return slide_part(slide.index, words)
    # The longest first: a name may begin with another one.
    for at in sorted(range(len(labels)), key=lambda at: -len(labels[at])):
        label = _folded(labels[at])
        after = words[len(label) :].lstrip()
        if words.startswith(label) and (not after or after[0] in ",:;"):
            return _in_shape(slide, at, after.lstrip(",:; "))
    title = next((shape.index for shape in slide.shapes if shape.is_title), None)
    if words == "title" and title is not None:
        return shape_place(slide, title)
    shown = ", ".join(labels[:_SHOWN])
    raise ValidationFailed(
        f'slide {slide.index + 1} of {name} has no shape "{rest[:_CHARS]}"; its shapes are: '
        f"{shown or 'none'}; {_HOW}"
    )


def _in_shape(slide: DeckSlide, at: int, inner: str) -> Place:
    place, rows = shape_place(slide, at), slide.shapes[at].rows
    if not inner:
        return place
    cell = _CELL.fullmatch(inner)
    if cell is None or not (cell[1] or cell[2]):
        raise ValidationFailed(f'"{inner[:_CHARS]}" is no place of {place.title}; {_HOW}')
    row, column = (None if each is None else int(each) - 1 for each in (cell[1], cell[2]))
    width = max(map(len, rows), default=0)
    if not 0 <= (row or 0) < len(rows) or not 0 <= (column or 0) < width:
        raise ValidationFailed(
            f"{place.title} has {len(rows)} rows and {width} columns, counted from 1; {_HOW}"
        )
    return cell_place(place, row, column)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
