"""The deck that every new file begins as."""

from pathlib import Path

import pptx
from pptx.util import Inches

from kbd_pptx.edits.blank import blank_deck, new_package
from kbd_pptx.presentation import PLAIN_TYPE


def write(path: Path) -> Path:
    """Write a blank deck."""
    new_package(blank_deck(), path.name, PLAIN_TYPE).save(path)
    return path


def test_a_new_deck_is_wide_and_has_the_usual_layouts(tmp_path: Path) -> None:
    """13.333 by 7.5 inches, nine layouts, nothing in any of them beyond the slide's edges."""
    deck = pptx.Presentation(str(write(tmp_path / "new.pptx")))

    assert (deck.slide_width, deck.slide_height) == (12_192_000, Inches(7.5))
    kinds = [layout.element.get("type") for layout in deck.slide_layouts]
    usual = ["title", "obj", "secHead", "twoObj", "twoTxTwoObj", "titleOnly", "blank"]
    assert kinds == [*usual, "objTx", "picTx"]
    placed = [shape for layout in deck.slide_layouts for shape in layout.shapes]
    assert len(placed) > 40
    for shape in placed:
        left, top, width, height = map(int, (shape.left, shape.top, shape.width, shape.height))
        assert 0 <= left < left + width <= int(deck.slide_width or 0)
        assert 0 <= top < top + height <= int(deck.slide_height or 0)
