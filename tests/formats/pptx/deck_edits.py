"""Edits of decks as a model sends them, and what stands on slides afterwards, by python-pptx."""

from pathlib import Path
from typing import Any, Union

import msgspec
import pptx
from pptx.dml.color import RGBColor
from pptx.util import Inches, Pt

from kbd.formats import Applied, Source
from kbd_pptx import PptxFormat
from kbd_pptx.operations import OPERATIONS

__all__ = [
    "FORMAT",
    "PREVIEW_WARNING",
    "edit",
    "make",
    "operations",
    "slides",
    "talk_deck",
    "texts",
]

FORMAT = PptxFormat()

PREVIEW_WARNING = (
    "The preview picture of the file (docProps/thumbnail.jpeg) still shows its first slide as it "
    "was."
)
"""What is told of an edit of the first slide; decks that python-pptx made have such a picture."""

# python-pptx tells no types of it.
COLOUR: Any = RGBColor
VOCABULARY = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007


def operations(*found: dict[str, Any]) -> tuple[msgspec.Struct, ...]:
    """Return operations as records."""
    return tuple(msgspec.convert(list(found), list[VOCABULARY]))


def make(path: Path, *found: dict[str, Any]) -> Applied:
    """Make a new deck."""
    path.unlink(missing_ok=True)
    return FORMAT.apply(None, operations(*found), path)


def edit(deck: Path, *found: dict[str, Any], to: Path) -> Applied:
    """Edit a deck into another file."""
    to.unlink(missing_ok=True)
    return FORMAT.apply(Source(deck, deck.name), operations(*found), to)


def slides(path: Path) -> list[Any]:
    """Return the slides; python-pptx tells types of some of what is on them."""
    return list(pptx.Presentation(str(path)).slides)


def texts(path: Path) -> list[list[str]]:
    """Return the texts of each slide's shapes, paragraphs parted by line ends."""
    return [
        [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
        for slide in slides(path)
    ]


def talk_deck(path: Path) -> Path:
    """Write a deck of three slides: a formatted title and body, two contents, a text box."""
    deck: Any = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    run = first.shapes.title.text_frame.paragraphs[0].add_run()
    run.text, run.font.bold, run.font.size = "Old title", True, Pt(33)
    frame = first.placeholders[1].text_frame
    for level, text in enumerate(("Top", "Deeper", "Deepest")):
        paragraph = frame.paragraphs[0] if level == 0 else frame.add_paragraph()
        paragraph.level = level
        run = paragraph.add_run()
        run.text, run.font.italic = text, True
        run.font.color.rgb = COLOUR(0x11, 0x22, 0x33 + level)
    second = deck.slides.add_slide(deck.slide_layouts[3])
    second.shapes.title.text_frame.text = "Two"
    second.placeholders[1].text_frame.text = "left"
    second.placeholders[2].text_frame.text = "right"
    third = deck.slides.add_slide(deck.slide_layouts[6])
    box = third.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1))
    box.text_frame.text = "free text"
    deck.save(str(path))
    return path
