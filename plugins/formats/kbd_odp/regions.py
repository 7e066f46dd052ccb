"""Regions of a deck, what stands in them, and all of its text.

A slide's shapes, tables, pictures and charts as plain values, in the order of a reader.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd_odp.deck import DeckSlide, OdpReader, open_deck
from kbd_odp.shapes import DeckShape
from kbd_odp.slide_text import is_off_slide, reading_order, slide_text
from kbd_odp.warnings import deck_warnings

__all__ = ["KINDS", "passages", "read_objects", "read_region"]

KINDS = ("shapes", "tables", "images", "charts")
"""The lists of objects; each is there, if empty."""

CHUNK_CHARS = 20_000
"""A deck without more text than this is read whole; else its first slides up to it are."""

MAX_READ_CHARS = 200_000
"""What one reading holds at most, as of plain text: about 50,000 tokens."""


class _SlideReading(msgspec.Struct, frozen=True):
    """Slide with its text, cut to what a reading holds."""

    slide: DeckSlide
    text: str
    note: str = ""


def read_region(source: Source, region: Region) -> Reading:
    """Return the text of a slide, or of a deck from its first one.

    Slides are the chunks: `range` names those that are shown by their indices ("0-6").

    Raises:
        FileReadFailed: The deck cannot be read.
        ValidationFailed: There is no such slide, or the coordinates are another format's.
    """
    with open_deck(source) as deck:
        return _read(deck, region)[0]


def read_objects(source: Source, region: Region) -> Reading:
    """Return what `read_region` does, with the shapes, tables, images and charts.

    Raises as `read_region` does.
    """
    with open_deck(source) as deck:
        found, slides = _read(deck, region)
    objects: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for each in slides:
        _add_objects(each.slide, objects)
    return msgspec.structs.replace(
        found, objects={kind: tuple(entries) for kind, entries in objects.items()}
    )


def passages(source: Source) -> Iterator[Passage]:
    """Yield the text of each slide, long ones in pieces; raises FileReadFailed."""
    with open_deck(source) as deck:
        for slide in deck.slides():
            text = slide_text(slide)
            for start in range(0, max(1, len(text)), MAX_READ_CHARS):
                # What is longer than a reading is read as far as the first piece only.
                region = None if start else Region(slide_index=slide.index)
                yield Passage(text[start : start + MAX_READ_CHARS], slide.place, region)


def _read(deck: OdpReader, region: Region) -> tuple[Reading, list[_SlideReading]]:
    foreign = set(region.named()) - {"slide_index"}
    if foreign:
        raise ValidationFailed(f"{deck.name} is read by slide_index, not by {min(foreign)}")
    index = region.slide_index
    found: list[_SlideReading] = []
    size, is_full = 0, False
    for slide in deck.slides(index):
        # The rest is passed all the same: only so it is known how many slides there are.
        if is_full:
            continue
        shown = _cut(slide)
        # At least one slide is shown, however long it is: else nobody could read on.
        is_full = bool(found) and size + len(shown.text) > CHUNK_CHARS
        if not is_full:
            found.append(shown)
            size += len(shown.text)
    return _reading(deck, found, index), found


def _cut(slide: DeckSlide) -> _SlideReading:
    text = slide_text(slide)
    if len(text) <= MAX_READ_CHARS:
        return _SlideReading(slide, text)
    note = f"Of {slide.place} the first {MAX_READ_CHARS:,} of {len(text):,} characters are shown."
    return _SlideReading(slide, text[:MAX_READ_CHARS], note)


def _reading(deck: OdpReader, slides: list[_SlideReading], index: int | None) -> Reading:
    """Join the texts of slides, each under its place if there are several."""
    count, after = deck.count, len(slides)
    notes = [each.note for each in slides if each.note]
    chunk = None
    if index is not None and count > 1:
        chunk = ChunkInfo(index, count, index + 1 < count, str(index))
    elif index is None and after < count:
        chunk = ChunkInfo(0, count, has_more=True, range=f"0-{after - 1}")
        notes.append(
            f"Of {count} slides the first {after} are shown; go on with slide_index {after}."
        )
    if len(slides) == 1:
        text = slides[0].text
    else:
        text = "\n\n\n".join(f"{each.slide.place}\n\n{each.text}" for each in slides)
    return Reading(text, chunk, (*deck_warnings(deck), *notes))


def _add_objects(slide: DeckSlide, objects: dict[str, list[dict[str, Any]]]) -> None:
    """Add the objects on a slide by kind; each entry names its slide and its shape."""
    for shape in reading_order(slide.shapes):
        entry = _shape_object(slide, shape)
        named = {"slide_index": slide.index, "shape_index": shape.index, "name": shape.name}
        if shape.kind == "table":
            rows = [list(row) for row in shape.rows]
            entry["rows"] = rows
            width = max(map(len, rows), default=0)
            objects["tables"].append(
                {**named, "rows": rows, "row_count": len(rows), "column_count": width}
            )
        elif shape.chart is not None:
            chart = {
                "title": shape.chart.title,
                "kinds": list(shape.chart.kinds),
                "rows": [list(row) for row in shape.chart.rows],
            }
            entry["chart"] = chart
            objects["charts"].append({**named, **chart})
        elif shape.kind == "picture":
            objects["images"].append(
                {
                    **named,
                    "alt_text": shape.alt_text,
                    "bounds": entry["bounds"],
                    "file": shape.file,
                }
            )
        objects["shapes"].append(entry)


def _shape_object(slide: DeckSlide, shape: DeckShape) -> dict[str, Any]:
    found: dict[str, Any] = {
        "slide_index": slide.index,
        "index": shape.index,
        "name": shape.name,
        "kind": shape.kind,
        "bounds": None if shape.box is None else shape.box.rounded(),
    }
    if shape.kind in ("shape", "text_box", "connector"):
        found["text"] = shape.text
    if shape.placeholder:
        found["placeholder"] = shape.placeholder
    if shape.group >= 0:
        found["group"] = shape.group
    if shape.alt_text:
        found["alt_text"] = shape.alt_text
    if shape.is_hidden:
        found["hidden"] = True
    if is_off_slide(slide, shape):
        found["outside"] = True
    return found
