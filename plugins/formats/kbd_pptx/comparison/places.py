"""Places in a deck: how titles write them, and what people mean who write them otherwise."""

import re
from collections import Counter
from collections.abc import Sequence

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Place
from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.reader.notes import read_comments
from kbd_pptx.reader.shapes import SlideShape
from kbd_pptx.reader.slide import Slide, read_slide, slide_notes, slide_title
from kbd_pptx.reader.text import table_rows

__all__ = [
    "cell_place",
    "locate_on_slides",
    "paragraph_place",
    "part_of_slide",
    "shape_labels",
    "shape_places",
    "slide_place",
]

HOW = (
    'write "slide 2", "slide 2, Title 1" (a shape by its name), "slide 2, notes" or '
    '"slide 2, Table 3, row 1, column 2"'
)

_SLIDE = re.compile(
    r"\s*(?:slides?\s*#?\s*)?(\d{1,6})\s*(?:$|[,:;]\s*(.*))", re.IGNORECASE | re.DOTALL
)
_CELL = re.compile(r"(?:row\s*(\d{1,6}))?[\s,]*(?:col(?:umn)?\s*(\d{1,6}))?\s*", re.IGNORECASE)
_PARAGRAPH = re.compile(r"par(?:agraph|\.)?\s*(\d{1,7})\s*", re.IGNORECASE)
_COMMENT = re.compile(r"comment\s*(\d{1,6})\s*", re.IGNORECASE)
_BELONGING = ("transition", "animation", "background", "comments")
"""What a slide has without a text."""


def slide_place(index: int) -> Place:
    """Return the place of a slide."""
    return Place(f"slide {index + 1}", slide=index)


def part_of_slide(index: int, what: str) -> Place:
    """Return the place of what belongs to a slide and is no shape ("notes", "comment 2")."""
    return Place(f"slide {index + 1}, {what}", slide=index, part=what)


def shape_labels(shapes: Sequence[SlideShape]) -> list[str]:
    """Return what each shape of a slide is called: its name, with its id where others have it."""
    counts = Counter(shape.name.strip().casefold() for shape in shapes)
    labels, seen = [], Counter[str]()
    for shape in shapes:
        name = " ".join(shape.name.split())
        label = name or f"shape {shape.id or '?'}"
        if name and counts[shape.name.strip().casefold()] > 1:
            label = f"{name} (id {shape.id or '?'})"
        seen[label] += 1
        # Real decks have several of the same name and id.
        labels.append(label if seen[label] == 1 else f"{label} [{seen[label]}]")
    return labels


def shape_places(slide: Slide) -> list[Place]:
    """Return the places of a slide's shapes."""
    labels = shape_labels(slide.shapes)
    return [
        Place(f"slide {slide.index + 1}, {label}", slide=slide.index, shape=_id(shape))
        for shape, label in zip(slide.shapes, labels, strict=True)
    ]


def _id(shape: SlideShape) -> int | str:
    """Return the id by which a shape is found, else its name."""
    return int(shape.id) if shape.id.isdecimal() and len(shape.id) < 16 else shape.name


def paragraph_place(around: Place, index: int, count: int = 2) -> Place:
    """Return the place of a paragraph of a shape or of notes; a single one is all of it.

    Args:
        around: The place of what it is in.
        index: Which one, from 0.
        count: How many there are.
    """
    if count < 2:
        return around
    title = f"{around.title}, paragraph {index + 1}"
    return Place(title, slide=around.slide, shape=around.shape, part=around.part, paragraph=index)


def cell_place(table: Place, row: int | None = None, column: int | None = None) -> Place:
    """Return the place of a row, a column, or a cell of a table."""
    title = table.title
    title += "" if row is None else f", row {row + 1}"
    title += "" if column is None else f", column {column + 1}"
    return Place(title, slide=table.slide, shape=table.shape, row=row, column=column)


def locate_on_slides(deck: DeckReader, text: str) -> Place | None:
    """Return the place on a slide that a text means, None if it names no slide.

    Raises:
        ValidationFailed: There is no such slide, or it has no such place.
        FileReadFailed: The slide cannot be read.
    """
    found = _SLIDE.fullmatch(text)
    if found is None:
        return _by_title(deck, text)
    number, rest = int(found[1]), (found[2] or "").strip()
    index = number - 1
    if not 0 <= index < len(deck.slides):
        count = len(deck.slides)
        raise ValidationFailed(
            f"{deck.name} has no slide {number}; it has {count} slide{'s' * (count != 1)}"
        )
    if not rest:
        return slide_place(index)
    return _on_slide(deck, read_slide(deck, index), rest)


def _by_title(deck: DeckReader, text: str) -> Place | None:
    wanted = " ".join(text.split()).casefold()
    for index in range(len(deck.slides) if wanted else 0):
        try:
            title = slide_title(read_slide(deck, index))
        except FileReadFailed:
            continue
        if title and title.casefold() == wanted:
            return slide_place(index)
    return None


def _on_slide(deck: DeckReader, slide: Slide, rest: str) -> Place:
    words = rest.casefold()
    labels = shape_labels(slide.shapes)
    places = shape_places(slide)
    ranked = sorted(range(len(labels)), key=lambda at: -len(labels[at]))
    for at in ranked:
        label = labels[at].casefold()
        after = words[len(label) :].lstrip()
        if words.startswith(label) and (not after or after[0] in ",:;"):
            return _in_shape(deck, slide.shapes[at], places[at], after.lstrip(",:; "))
    part, _, inner = (each.strip() for each in words.partition(","))
    if part == "notes":
        return _in_notes(deck, slide, inner)
    if part in _BELONGING:
        return part_of_slide(slide.index, part)
    if comment := _COMMENT.fullmatch(words):
        count = len(read_comments(deck, slide.part))
        if 1 <= int(comment[1]) <= count:
            return part_of_slide(slide.index, f"comment {int(comment[1])}")
        raise ValidationFailed(f"slide {slide.index + 1} has {count} comments; {HOW}")
    named = [at for at, shape in enumerate(slide.shapes) if shape.name.strip().casefold() == words]
    if named:
        return places[named[0]]
    if words == "title":
        title = next((at for at, shape in enumerate(slide.shapes) if shape.is_title), None)
        if title is not None:
            return places[title]
    shown = ", ".join(labels[:10])
    raise ValidationFailed(
        f'slide {slide.index + 1} of {deck.name} has no shape "{rest[:80]}"; '
        f"its shapes are: {shown or 'none'}; {HOW}"
    )


def _in_shape(deck: DeckReader, shape: SlideShape, place: Place, inner: str) -> Place:
    if not inner:
        return place
    if paragraph := _PARAGRAPH.fullmatch(inner):
        count = 0 if shape.body is None else len(shape.body.findall("{*}p"))
        if 1 <= int(paragraph[1]) <= count:
            return paragraph_place(place, int(paragraph[1]) - 1)
        raise ValidationFailed(f"{place.title} has {count} paragraphs; {HOW}")
    cell = _CELL.fullmatch(inner)
    if cell is None or not (cell[1] or cell[2]):
        raise ValidationFailed(f'"{inner[:80]}" is no place of {place.title}; {HOW}')
    rows = table_rows(shape.element)
    if shape.kind != "table":
        raise ValidationFailed(f"{place.title} of {deck.name} is no table; {HOW}")
    row = None if cell[1] is None else int(cell[1]) - 1
    column = None if cell[2] is None else int(cell[2]) - 1
    width = max(map(len, rows), default=0)
    if not 0 <= (row or 0) < max(1, len(rows)) or not 0 <= (column or 0) < max(1, width):
        raise ValidationFailed(
            f"{place.title} of {deck.name} has {len(rows)} rows and {width} columns; {HOW}"
        )
    return cell_place(place, row, column)


def _in_notes(deck: DeckReader, slide: Slide, inner: str) -> Place:
    notes = slide_notes(deck, slide)
    place = part_of_slide(slide.index, "notes")
    if not inner:
        return place
    paragraph = _PARAGRAPH.fullmatch(inner)
    count = notes.count("\n") + 1 if notes else 0
    if paragraph is None or not 1 <= int(paragraph[1]) <= count:
        raise ValidationFailed(
            f"slide {slide.index + 1} of {deck.name} has {count} paragraphs of notes, not "
            f'"{inner[:80]}"; {HOW}'
        )
    return paragraph_place(place, int(paragraph[1]) - 1)
