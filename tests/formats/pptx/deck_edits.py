"""Edits of decks as a model sends them, and what stands on slides afterwards, by python-pptx."""

from pathlib import Path
from typing import Any, Union

import msgspec
import pptx

from kbd.formats import Applied, Source
from kbd_pptx import PptxFormat
from kbd_pptx.operations import OPERATIONS

__all__ = ["FORMAT", "edit", "make", "operations", "slides", "texts"]

FORMAT = PptxFormat()
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
