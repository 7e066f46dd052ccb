"""Changes of a slide: its shapes with their texts and cells, its notes, what else belongs to it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd.formats.alignment import diff_words, match_rows
from kbd_odp.comparison.deck_matches import match_shapes, said
from kbd_odp.deck import DeckSlide
from kbd_odp.shapes import DeckShape

__all__ = [
    "add_whole_slide",
    "cell_place",
    "compare_slides",
    "shape_labels",
    "shape_place",
    "slide_part",
    "slide_place",
]

_NO_WORDS = "it is made otherwise in a way that has no words here"
_MAX_ROWS = 500


def slide_place(index: int) -> Place:
    """Return the place of a slide."""
    return Place(f"slide {index + 1}", slide=index)


def slide_part(index: int, what: str) -> Place:
    """Return the place of what belongs to a slide and is no shape ("notes")."""
    return Place(f"slide {index + 1}, {what}", slide=index, part=what)


def shape_labels(slide: DeckSlide) -> list[str]:
    """Return what each shape is called: its name, with its number where others have it, too."""
    names = [" ".join(shape.name.split()) or shape.placeholder for shape in slide.shapes]
    counts = Counter(name.casefold() for name in names)
    return [
        name if name and counts[name.casefold()] == 1 else f"{name or 'shape'} ({at})"
        for at, name in enumerate(names)
    ]


def shape_place(slide: DeckSlide, index: int) -> Place:
    """Return the place of a shape; `shape` is its index on the slide."""
    label = shape_labels(slide)[index]
    return Place(f"slide {slide.index + 1}, {label}", slide=slide.index, shape=index)


def cell_place(table: Place, row: int | None = None, column: int | None = None) -> Place:
    """Return the place of a row, a column, or a cell of a table."""
    title = table.title
    title += "" if row is None else f", row {row + 1}"
    title += "" if column is None else f", column {column + 1}"
    return msgspec.structs.replace(table, title=title, row=row, column=column)


def add_whole_slide(slide: DeckSlide, kind: ChangeKind, out: ChangeList) -> None:
    """Add a slide that came or went, with what it says."""
    text = "\n".join(filter(None, map(said, slide.shapes)))
    _add(out, slide_place(slide.index), kind, "slide", text or slide.name)


def compare_slides(one: DeckSlide, other: DeckSlide, out: ChangeList) -> None:
    """Add what differs between two versions of a slide."""
    for before, after in match_shapes(one.shapes, other.shapes):
        if after < 0:
            shape = one.shapes[before]
            _add(out, shape_place(one, before), "removed", _noun(shape), _value(shape))
        elif before < 0:
            shape = other.shapes[after]
            _add(out, shape_place(other, after), "added", _noun(shape), _value(shape))
        else:
            _compare_shapes(one.shapes[before], other.shapes[after], shape_place(other, after), out)
    _compare_texts("notes", one.notes, other.notes, other.index, out)
    for what, olds, news in (
        ("comment", one.comments, other.comments),
        ("footer", one.footers, other.footers),
        ("link", _told(one), _told(other)),
    ):
        for was, now in zip_longest(*_differing(olds, news), fillvalue=""):
            _compare_texts(what, was, now, other.index, out)
    _compare_facts(one, other, out)


def _compare_facts(one: DeckSlide, other: DeckSlide, out: ChangeList) -> None:
    details: dict[str, tuple[Any, Any]] = {}
    for name, was, now in (
        ("hidden", one.is_hidden, other.is_hidden),
        ("layout", one.layout, other.layout),
        ("name", one.name, other.name),
        ("size", list(one.size), list(other.size)),
    ):
        # Programs count names on where nobody gives one.
        if was != now and not (name == "name" and _is_counted(one, other)):
            details[name] = (was, now)
    place = slide_place(other.index)
    if details:
        out.add(Change(place, "changed", "slide", details=details))
    elif one.digest != other.digest and one.name == other.name:
        out.add(Change(place, "changed", "format", note=_NO_WORDS))


def _is_counted(one: DeckSlide, other: DeckSlide) -> bool:
    return one.name == f"page{one.index + 1}" and other.name == f"page{other.index + 1}"


def _compare_shapes(one: DeckShape, other: DeckShape, place: Place, out: ChangeList) -> None:
    before = out.total
    if one.text != other.text:
        words = diff_words(one.text, other.text)
        out.add(Change(place, "changed", "text", one.text, other.text, words=words))
    if one.rows != other.rows:
        _compare_rows(one.rows, other.rows, place, "cell", out)
    if one.chart != other.chart:
        olds = () if one.chart is None else one.chart.rows
        news = () if other.chart is None else other.chart.rows
        _compare_rows(olds, news, place, "point", out)
        titles = [each.chart.title if each.chart else "" for each in (one, other)]
        if titles[0] != titles[1]:
            was, now = titles
            words = diff_words(was, now)
            out.add(Change(place, "changed", "chart", was, now, words=words))
    details = _details(one, other)
    if details:
        out.add(Change(place, "changed", "format", details=details))
    if out.total == before and one.digest != other.digest:
        what = _noun(one) if one.kind in ("picture", "media", "ole_object", "chart") else "format"
        out.add(Change(place, "changed", what, note=_NO_WORDS))


def _details(one: DeckShape, other: DeckShape) -> dict[str, tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {}
    for name, was, now in (
        ("name", one.name, other.name),
        ("alt_text", one.alt_text, other.alt_text),
        ("hidden", one.is_hidden, other.is_hidden),
        ("placeholder", one.placeholder, other.placeholder),
    ):
        if was != now:
            found[name] = (was, now)
    # A group is where its shapes are, which tell it themselves.
    if one.box != other.box and one.kind != "group":
        olds = {} if one.box is None else one.box.rounded()
        news = {} if other.box is None else other.box.rounded()
        for side in news or olds:
            if olds.get(side) != news.get(side):
                found[side] = (olds.get(side), news.get(side))
    return found


def _compare_rows(
    olds: Sequence[tuple[str, ...]],
    news: Sequence[tuple[str, ...]],
    place: Place,
    what: str,
    out: ChangeList,
) -> None:
    for i, j in match_rows(olds, news):
        if j < 0:
            _add(out, cell_place(place, i), "removed", "row", list(olds[i]))
        elif i < 0:
            _add(out, cell_place(place, j), "added", "row", list(news[j]))
        else:
            for column, (was, now) in enumerate(zip_longest(olds[i], news[j], fillvalue="")):
                if was != now:
                    at = cell_place(place, j, column)
                    words = diff_words(was, now)
                    out.add(Change(at, "changed", what, was, now, words=words))


def _compare_texts(what: str, was: str, now: str, index: int, out: ChangeList) -> None:
    place = slide_part(index, what)
    if was and now and was != now:
        out.add(Change(place, "changed", what, was, now, words=diff_words(was, now)))
    elif was != now:
        _add(out, place, "removed" if was else "added", what, was or now)


def _told(slide: DeckSlide) -> tuple[str, ...]:
    return tuple(f"{link.text} -> {link.target}".strip() for link in slide.links)


def _differing(olds: Sequence[str], news: Sequence[str]) -> Iterator[list[str]]:
    yield [each for each in olds if each not in news]
    yield [each for each in news if each not in olds]


def _noun(shape: DeckShape) -> str:
    return {"text_box": "shape", "ole_object": "object", "graphic": "shape"}.get(
        shape.kind, shape.kind
    )


def _value(shape: DeckShape) -> Any:
    rows = shape.rows or (() if shape.chart is None else shape.chart.rows)
    if rows:
        return [list(row) for row in rows[:_MAX_ROWS]]
    return shape.text or shape.alt_text or shape.name


def _add(out: ChangeList, place: Place, kind: ChangeKind, what: str, value: Any) -> None:
    if kind == "added":
        out.add(Change(place, "added", what, after=value))
    else:
        out.add(Change(place, "removed", what, before=value))
