"""The map of a deck: what is on its slides, without the texts."""

from typing import Any

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_pptx.presentation import A
from kbd_pptx.reader.boxes import EMU_PER_INCH, box_in_inches
from kbd_pptx.reader.deck import DeckReader, MasterNames, open_deck
from kbd_pptx.reader.notes import externals
from kbd_pptx.reader.shapes import FOOTERS, SlideShape, is_image, parse_id, reading_order
from kbd_pptx.reader.slide import (
    Slide,
    chart_part,
    is_off_slide,
    read_slide,
    slide_notes,
    slide_title,
)
from kbd_pptx.reader.text import plain_text

__all__ = ["deck_map", "facts"]

MAX_TITLE_CHARS = 200
MAX_SHAPES = 400
"""Shapes that a map lists, of whole slides from the first one on: some 40 KB."""
MAX_EXTERNAL = 100
"""Addresses that a map lists; `external_count` tells how many there are."""

_FLAGS = {
    "has_smartart": "diagram",
    "has_media": "media",
    "has_embedded_objects": "ole_object",
}
"""What a map says of a slide only where it is so, by the kind of shape."""


def facts(source: Source) -> dict[str, Any]:
    """Return how many slides there are; raises FileReadFailed."""
    with open_deck(source) as deck:
        return {"slide_count": len(deck.slides)}


def deck_map(source: Source) -> dict[str, Any]:
    """Map a deck; a slide that cannot be read is listed with the reason.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged as a whole, or past a limit.
    """
    with open_deck(source) as deck:
        sections = deck.sections()
        of_slide = {index: name for name, indices in sections for index in indices}
        external: list[dict[str, Any]] = []
        room = _ShapeRoom(MAX_SHAPES)
        slides = [
            _entry(deck, index, of_slide, external, room) for index in range(len(deck.slides))
        ]
        masters = deck.masters()
        external += _externals_of_masters(deck, masters)
        width, height = deck.size
        found: dict[str, Any] = {
            "slides": slides,
            "slide_count": len(slides),
            "slide_size": {
                "width": round(width / EMU_PER_INCH, 4), "height": round(height / EMU_PER_INCH, 4),
            },
            "layouts": [name for master in masters for name in master.layouts],
        }  # fmt: skip
        if len(masters) > 1:
            found["masters"] = [{"name": m.name, "layouts": list(m.layouts)} for m in masters]
        if sections:
            found["sections"] = [{"name": name, "slides": indices} for name, indices in sections]
        if external:
            found["external"] = external[:MAX_EXTERNAL]
            found["external_count"] = len(external)
        if room.first_left_out is not None:
            # A reading of a slide's objects tells the bounds of all that is on it.
            found["shapes_listed_before_slide"] = room.first_left_out
        if deck.warnings:
            found["warnings"] = list(dict.fromkeys(deck.warnings))
        return found


class _ShapeRoom:
    """Room for shapes in a map, which is used up once those of a slide do not fit any more."""

    def __init__(self, most: int) -> None:
        self._left = most
        self.first_left_out: int | None = None

    def takes(self, index: int, count: int) -> bool:
        """Tell whether the shapes of a slide are listed."""
        if self.first_left_out is None and count > self._left:
            self.first_left_out = index
        self._left -= count
        return self.first_left_out is None


def _entry(
    deck: DeckReader,
    index: int,
    sections: dict[int, str],
    external: list[dict[str, Any]],
    room: _ShapeRoom,
) -> dict[str, Any]:
    try:
        slide = read_slide(deck, index)
        found = _slide_entry(deck, slide)
        if room.takes(index, len(slide.shapes)):
            found["shapes"] = [_shape_entry(slide, shape) for shape in slide.shapes]
        external += _externals_of_slide(deck, slide)
    except FileReadFailed as error:
        deck.warnings.append(f"Slide {index + 1} (slide_index {index}): {error.message}")
        found = _unreadable_entry(index)
    if index in sections:
        found["section"] = sections[index]
    return found


def _unreadable_entry(index: int) -> dict[str, Any]:
    flags = dict.fromkeys(("has_images", "has_charts", "has_tables", "has_notes"), False)
    return {
        "index": index, "title": None, "layout": "", **flags, "shape_count": 0, "char_count": 0,
        "unreadable": True,
    }  # fmt: skip


def _slide_entry(deck: DeckReader, slide: Slide) -> dict[str, Any]:
    kinds = {shape.kind for shape in slide.shapes}
    title = slide_title(slide)
    found: dict[str, Any] = {
        "index": slide.index,
        "title": None if title is None else _cut(title),
        "layout": slide.layout.name,
        "has_images": any(map(is_image, slide.shapes)),
        "has_charts": "chart" in kinds,
        "has_tables": "table" in kinds,
        "has_notes": slide_notes(deck, slide) != "",
        "shape_count": sum(shape.kind != "group" for shape in slide.shapes),
        "char_count": sum(len(text.text or "") for text in slide.root.iter(f"{A}t")),
    }
    if not title:
        first = _first_text(deck, slide)
        if first:
            found["first_text"] = _cut(first)
    if slide.is_hidden:
        found["hidden"] = True
    found |= {flag: True for flag, kind in _FLAGS.items() if kind in kinds}
    if any(r.kind == "comments" for r in deck.parts.relations(slide.part).values()):
        found["has_comments"] = True
    return found


def _shape_entry(slide: Slide, shape: SlideShape) -> dict[str, Any]:
    """Return what a shape is and where, in the words of the operations that name and place it."""
    found: dict[str, Any] = {"id": parse_id(shape.id), "name": shape.name, "kind": shape.kind}
    if shape.placeholder:
        found["placeholder"] = shape.placeholder
    if shape.parent >= 0:
        found["group"] = parse_id(slide.shapes[shape.parent].id)
    box = shape.box
    if box is not None:
        sides = box_in_inches(box)
        found |= {
            "left": sides["x"],
            "top": sides["y"],
            "width": sides["width"],
            "height": sides["height"],
        }
    return found


def _first_text(deck: DeckReader, slide: Slide) -> str:
    """Return what a reader reads first, on one line, "" if there is no text."""
    for place in reading_order(slide.shapes):
        shape = slide.shapes[place]
        if shape.placeholder not in FOOTERS and not is_off_slide(deck, shape):
            text = " ".join(plain_text(shape.body, slide.number).split())
            if text:
                return text
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TITLE_CHARS else f"{text[: MAX_TITLE_CHARS - 1]}…"


def _externals_of_slide(deck: DeckReader, slide: Slide) -> list[dict[str, Any]]:
    """List what a slide and its charts name outside of the file."""
    charts = (chart_part(deck, slide, s) for s in slide.shapes if s.kind == "chart")
    parts = [slide.part, *filter(None, charts)]
    return [
        {"slide_index": slide.index, "kind": each.kind, "target": each.target}
        for part in parts
        for each in externals(deck.parts.relations(part))
    ]


def _externals_of_masters(deck: DeckReader, masters: list[MasterNames]) -> list[dict[str, Any]]:
    """List what masters and layouts name outside of the file."""
    return [
        {"slide_index": None, "kind": each.kind, "target": each.target}
        for master in masters
        for part in master.parts
        for each in externals(deck.parts.relations(part))
    ]
