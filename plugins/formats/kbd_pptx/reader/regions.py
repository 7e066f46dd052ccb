"""Regions of a deck, what stands in them, and all of its text.

A slide's shapes, tables, pictures and charts as plain values, in the order of a reader.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd_pptx.presentation import R
from kbd_pptx.reader.boxes import box_in_inches
from kbd_pptx.reader.charts import point_value
from kbd_pptx.reader.deck import DeckReader, open_deck
from kbd_pptx.reader.shapes import SlideShape, is_image, parse_id, picture_of, reading_order
from kbd_pptx.reader.slide import (
    Slide,
    is_off_slide,
    read_slide,
    slide_chart,
    slide_diagram,
    slide_text,
)
from kbd_pptx.reader.text import plain_text, table_rows
from kbd_pptx.reader.unseen import SlideLooks

__all__ = ["KINDS", "passages", "read_objects", "read_region", "slide_objects"]

KINDS = ("shapes", "tables", "images", "charts")
"""The lists of objects; each is there, if empty."""


def slide_objects(deck: DeckReader, slide: Slide) -> dict[str, list[dict[str, Any]]]:
    """Return the objects on a slide by kind; each entry names its slide and its shape."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for place in reading_order(slide.shapes):
        shape = slide.shapes[place]
        entry = _shape_object(deck, slide, shape)
        named = {"slide_index": slide.index, "shape_id": entry["id"], "name": shape.name}
        if shape.kind == "table":
            rows = table_rows(shape.element)
            width = max(map(len, rows), default=0)
            entry["rows"] = rows
            found["tables"].append(
                {**named, "rows": rows, "row_count": len(rows), "column_count": width}
            )
        elif shape.kind == "chart":
            chart = _chart_object(deck, slide, shape)
            entry["chart"] = chart
            found["charts"].append({**named, **chart})
        elif shape.kind == "diagram":
            entry["text"] = "\n".join(line.text for line in slide_diagram(deck, slide, shape))
        if is_image(shape):
            blip = picture_of(shape.element)
            picture = {**named, "alt_text": shape.alt_text, "bounds": entry["bounds"]}
            linked = _linked_target(deck, slide, "" if blip is None else blip.get(f"{R}link", ""))
            found["images"].append({**picture, "linked": linked} if linked else picture)
        found["shapes"].append(entry)
    return found


def _shape_object(deck: DeckReader, slide: Slide, shape: SlideShape) -> dict[str, Any]:
    found: dict[str, Any] = {
        "slide_index": slide.index,
        "id": parse_id(shape.id),
        "name": shape.name,
        "kind": shape.kind,
        "bounds": None if shape.box is None else box_in_inches(shape.box),
    }
    if shape.body is not None:
        found["text"] = plain_text(shape.body, slide.number)
    if shape.placeholder:
        found["placeholder"] = shape.placeholder
        found["placeholder_index"] = parse_id(shape.index)
    if shape.parent >= 0:
        found["group"] = parse_id(slide.shapes[shape.parent].id)
    if shape.alt_text:
        found["alt_text"] = shape.alt_text
    if not shape.is_shown:
        found["hidden"] = True
    if is_off_slide(deck, shape):
        found["outside"] = True
    return found


def _chart_object(deck: DeckReader, slide: Slide, shape: SlideShape) -> dict[str, Any]:
    chart = slide_chart(deck, slide, shape)
    if chart is None:
        return {"title": "", "kinds": [], "series": []}
    series = [
        {
            "name": each.name,
            "categories": list(each.categories),
            "values": [point_value(value) for value in each.values],
        }
        for each in chart.series
    ]
    return {"title": chart.title, "kinds": list(chart.kinds), "series": series}


def _linked_target(deck: DeckReader, slide: Slide, id_: str) -> str:
    relation = deck.parts.relations(slide.part).get(id_)
    return relation.target if relation is not None and relation.external else ""


CHUNK_CHARS = 20_000
"""A deck without more text than this is read whole; else its first slides up to it are."""

MAX_READ_CHARS = 200_000
"""What one reading holds at most, as of plain text: about 50,000 tokens."""


Objects = dict[str, list[dict[str, Any]]]


class _SlideReading(msgspec.Struct, frozen=True):
    """Reading of a slide: its place, its text, and its objects if they are wanted."""

    place: str
    text: str
    objects: Objects
    note: str = ""


def read_region(source: Source, region: Region) -> Reading:
    """Return the text of a slide, or of a deck from its first one.

    Slides are the chunks: `range` names those that are shown by their indices ("0-6").

    Raises:
        FileReadFailed: The deck, or the slide that is asked for, cannot be read.
        ValidationFailed: There is no such slide, or the coordinates are another format's.
    """
    with open_deck(source) as deck:
        return _read(deck, region, lambda _: {})[0]


def read_objects(source: Source, region: Region) -> Reading:
    """Return what `read_region` does, with the shapes, tables, images and charts.

    Raises as `read_region` does.
    """
    with open_deck(source) as deck:
        found, slides = _read(deck, region, lambda slide: slide_objects(deck, slide))
        objects = {
            kind: tuple(entry for slide in slides for entry in slide.objects[kind])
            for kind in KINDS
        }
        return msgspec.structs.replace(found, objects=objects)


def passages(source: Source) -> Iterator[Passage]:
    """Yield the text of each slide, long ones in pieces; a slide that cannot be read is left out.

    Raises:
        FileReadFailed: The deck cannot be read.
    """
    with open_deck(source) as deck:
        looks = SlideLooks(deck)
        for index in range(len(deck.slides)):
            with deck.skip_unreadable("A slide"):
                slide = read_slide(deck, index)
                text = slide_text(deck, slide, looks)
                for start in range(0, max(1, len(text)), MAX_READ_CHARS):
                    # What is longer than a reading is read as far as the first piece only.
                    region = None if start else Region(slide_index=index)
                    yield Passage(text[start : start + MAX_READ_CHARS], slide.place, region)


def _read(
    deck: DeckReader, region: Region, objects_of: Callable[[Slide], Objects]
) -> tuple[Reading, list[_SlideReading]]:
    foreign = set(region.named()) - {"slide_index"}
    if foreign:
        raise ValidationFailed(f"{deck.name} is read by slide_index, not by {min(foreign)}")
    count, index = len(deck.slides), region.slide_index
    if index is None:
        return _read_from_first(deck, objects_of)
    shown = _read_slide(deck, index, SlideLooks(deck), objects_of)
    chunk = ChunkInfo(index, count, index + 1 < count, str(index)) if count > 1 else None
    return _reading(deck, [shown], chunk), [shown]


def _read_from_first(
    deck: DeckReader, objects_of: Callable[[Slide], Objects]
) -> tuple[Reading, list[_SlideReading]]:
    """Read the slides from the first one as far as they fit; one that cannot be read is told."""
    found: list[_SlideReading] = []
    looks = SlideLooks(deck)
    count, size, after = len(deck.slides), 0, 0
    for index in range(count):
        try:
            shown = _read_slide(deck, index, looks, objects_of)
        except FileReadFailed as error:
            deck.warnings.append(f"Slide {index + 1} (slide_index {index}): {error.message}")
        else:
            # At least one slide is shown, however long it is: else nobody could read on.
            if found and size + len(shown.text) > CHUNK_CHARS:
                break
            found.append(shown)
            size += len(shown.text)
        # A slide that cannot be read is passed, too: to go on with it would only fail.
        after = index + 1
    chunk = None
    if after < count:
        chunk = ChunkInfo(0, count, has_more=True, range=f"0-{after - 1}")
        deck.warnings.append(
            f"Of {count} slides the first {after} are shown; go on with slide_index {after}."
        )
    return _reading(deck, found, chunk), found


def _read_slide(
    deck: DeckReader, index: int, looks: SlideLooks, objects_of: Callable[[Slide], Objects]
) -> _SlideReading:
    slide = read_slide(deck, index)
    text = slide_text(deck, slide, looks)
    note = ""
    if len(text) > MAX_READ_CHARS:
        note = (
            f"Of {slide.place} the first {MAX_READ_CHARS:,} of {len(text):,} characters are shown."
        )
    return _SlideReading(slide.place, text[:MAX_READ_CHARS], objects_of(slide), note)


def _reading(deck: DeckReader, slides: list[_SlideReading], chunk: ChunkInfo | None) -> Reading:
    """Join the texts of slides, each under its place if there are several."""
    if len(slides) == 1:
        text = slides[0].text
    else:
        text = "\n\n\n".join(f"{slide.place}\n\n{slide.text}" for slide in slides)
    notes = (slide.note for slide in slides if slide.note)
    # Each warning once: a damaged chart warns with the text and again with the objects.
    return Reading(text, chunk, tuple(dict.fromkeys((*deck.warnings, *notes))))
