"""The deck that every new file begins as."""

import zipfile
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


def test_nothing_tells_of_the_templates_past(tmp_path: Path) -> None:
    """No properties, no thumbnail, no printer's settings; each part is reached and has a type."""
    with zipfile.ZipFile(write(tmp_path / "new.pptx")) as archive:
        names = archive.namelist()
        types = archive.read("[Content_Types].xml").decode()

    assert not [name for name in names if "docProps" in name or "printer" in name]
    assert not [name for name in names if not name.endswith((".xml", ".rels"))]
    for name in names:
        if name != "[Content_Types].xml" and not name.endswith(".rels"):
            assert f'PartName="/{name}"' in types


def test_new_decks_are_alike_to_the_byte(tmp_path: Path) -> None:
    """The same call gives the same file."""
    first, second = write(tmp_path / "first.pptx"), write(tmp_path / "second.pptx")

    assert first.read_bytes() == second.read_bytes()
