"""Map of a deck: what is on its slides, without the texts."""

from pathlib import PurePath
from typing import Any

from kbd.formats import Source
from kbd.office.open_document import DC, open_metadata
from kbd_odp.deck import DeckSlide, open_deck
from kbd_odp.packages import KIND
from kbd_odp.shapes import FOOTERS, DeckShape
from kbd_odp.slide_text import is_off_slide, reading_order
from kbd_odp.warnings import deck_warnings

__all__ = ["deck_map", "facts", "shape_entry"]

MAX_TITLE_CHARS = 200
MAX_SHAPES = 400
"""Shapes that a map lists, of whole slides from the first one on: some 40 KB."""

_FLAGS = {"has_media": "media", "has_embedded_objects": "ole_object"}
"""What a map says of a slide only where it is so, by the kind of shape."""


def facts(source: Source) -> dict[str, Any]:
    """Return how many slides there are, and what the file says of itself; raises FileReadFailed."""
    found: dict[str, Any] = {"format": PurePath(source.name).suffix.lower().removeprefix(".")}
    with open_deck(source) as deck:
        found["slide_count"] = deck.count_slides()
    with open_metadata(source, KIND) as root:
        if root is None:
            return found
        for name, field in (("title", "title"), ("creator", "author"), ("subject", "subject"),
                            ("date", "modified_at")):  # fmt: skip
            text = root.findtext(f".//{DC}{name}", "").strip()
            if text:
                found[field] = text[:MAX_TITLE_CHARS]
    return found


def deck_map(source: Source) -> dict[str, Any]:
    """Map a deck.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    slides: list[dict[str, Any]] = []
    left, first_left_out = MAX_SHAPES, None
    with open_deck(source) as deck:
        for slide in deck.slides():
            entry = _slide_entry(slide)
            if first_left_out is None and len(slide.shapes) > left:
                first_left_out = slide.index
            left -= len(slide.shapes)
            if first_left_out is None:
                entry["shapes"] = [shape_entry(shape) for shape in slide.shapes]
            slides.append(entry)
        width, height = deck.size
        found: dict[str, Any] = {
            "slides": slides,
            "slide_count": len(slides),
            "slide_size": {"width": round(width, 4), "height": round(height, 4)},
            "layouts": [_cut(master.name) for master in deck.masters.values()],
        }
        if first_left_out is not None:
            # A reading of a slide's objects tells the bounds of all that is on it.
            found["shapes_listed_before_slide"] = first_left_out
        if warnings := deck_warnings(deck):
            found["warnings"] = list(warnings)
    return found


def _slide_entry(slide: DeckSlide) -> dict[str, Any]:
    kinds = {shape.kind for shape in slide.shapes}
    title = slide.title
    found: dict[str, Any] = {
        "index": slide.index,
        "name": _cut(slide.name),
        "title": None if title is None else _cut(title),
        "layout": _cut(slide.layout),
        "has_images": "picture" in kinds,
        "has_charts": "chart" in kinds,
        "has_tables": "table" in kinds,
        "has_notes": slide.notes != "",
        "shape_count": sum(shape.kind != "group" for shape in slide.shapes),
        "char_count": sum(
            len(shape.text) + sum(len(cell) for row in shape.rows for cell in row)
            for shape in slide.shapes
        ),
    }
    if not title:
        first = _first_text(slide)
        if first:
            found["first_text"] = _cut(first)
    if slide.is_hidden:
        found["hidden"] = True
    found |= {flag: True for flag, kind in _FLAGS.items() if kind in kinds}
    if slide.comments:
        found["has_comments"] = True
    return found


def shape_entry(shape: DeckShape) -> dict[str, Any]:
    """Return what a shape is and where, in inches."""
    found: dict[str, Any] = {"index": shape.index, "name": _cut(shape.name), "kind": shape.kind}
    if shape.placeholder:
        found["placeholder"] = _cut(shape.placeholder)
    if shape.group >= 0:
        found["group"] = shape.group
    if shape.box is not None:
        sides = shape.box.rounded()
        found |= {
            "left": sides["x"], "top": sides["y"],
            "width": sides["width"], "height": sides["height"],
        }  # fmt: skip
    return found


def _first_text(slide: DeckSlide) -> str:
    """Return what a reader reads first, on one line, "" if there is no text."""
    for shape in reading_order(slide.shapes):
        if shape.placeholder not in FOOTERS and not is_off_slide(slide, shape):
            text = " ".join(shape.text.split())
            if text:
                return text
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TITLE_CHARS else f"{text[: MAX_TITLE_CHARS - 1]}…"
