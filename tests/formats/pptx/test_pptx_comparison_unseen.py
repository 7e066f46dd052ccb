"""What a deck holds that a comparison must not pass over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pptx
from lxml import etree
from pptx.util import Inches

from compared_decks import changes_of
from kbd_pptx.presentation import A


def deck(path: Path, edit: Callable[[Any], None]) -> Path:
    """Write a deck of one slide that was edited."""
    presentation = pptx.Presentation()
    edit(presentation.slides.add_slide(presentation.slide_layouts[6]))
    presentation.save(str(path))
    return path


def add_cell(slide: Any, texts: tuple[str, ...], bold: int) -> None:
    """Put a table with a cell on a slide, of which the first runs are bold."""
    frame = slide.shapes.add_table(1, 1, 0, 0, Inches(4), Inches(1))
    paragraph = frame.table.cell(0, 0).text_frame.paragraphs[0]
    for at, text in enumerate(texts):
        run = paragraph.add_run()
        run.text = text
        run.font.bold = True if at < bold else None


def test_bold_words_of_a_cell_that_are_more_are_told(tmp_path: Path) -> None:
    """Though there are as many runs with the same formatting as before."""
    words = ("one ", "two ", "three")
    before = deck(tmp_path / "a.pptx", lambda slide: add_cell(slide, words, 1))
    after = deck(tmp_path / "b.pptx", lambda slide: add_cell(slide, words, 2))

    (found,) = changes_of(before, after)

    assert (found.what, found.details) == ("format", {"bold": (None, True)})


def test_a_changed_text_of_a_cell_hides_no_formatting(tmp_path: Path) -> None:
    """The words that stay are compared in how they look."""
    before = deck(tmp_path / "a.pptx", lambda slide: add_cell(slide, ("one ", "two"), 0))
    after = deck(tmp_path / "b.pptx", lambda slide: add_cell(slide, ("one ", "four"), 1))

    assert [each.what for each in changes_of(before, after)] == ["cell", "format"]


def add_line(slide: Any, *, is_first: bool) -> None:
    """Put a drawn line on a slide, with a move before or after its strokes."""
    builder = slide.shapes.build_freeform(0, 0)
    builder.add_line_segments([(100, 100), (200, 50)])
    path = next(builder.convert_to_shape()._element.iter(f"{A}path"))
    move = etree.SubElement(path, f"{A}cubicBezTo")
    for at in (1, 2, 3):
        etree.SubElement(move, f"{A}pt", x=str(at * 100), y="7")
    if is_first:
        path.insert(1, move)


def test_strokes_in_another_order_are_told(tmp_path: Path) -> None:
    """They draw another line."""
    before = deck(tmp_path / "a.pptx", lambda slide: add_line(slide, is_first=False))
    after = deck(tmp_path / "b.pptx", lambda slide: add_line(slide, is_first=True))

    (found,) = changes_of(before, after)

    assert (found.kind, found.what) == ("changed", "format")


def laid_out(path: Path, index: int) -> Path:
    """Write a deck of a slide on one of two layouts of one name."""
    presentation = pptx.Presentation()
    layouts = presentation.slide_layouts
    layouts[5].name = layouts[6].name = "Same"
    slide = presentation.slides.add_slide(layouts[6])
    slide.shapes.add_textbox(0, 0, 99, 99).text_frame.text = "What it says"
    leads = [each for each in slide.part.rels.values() if each.reltype.endswith("slideLayout")]
    leads[0]._target = layouts[index].part
    presentation.save(str(path))
    return path


def test_another_layout_of_the_same_name_is_told(tmp_path: Path) -> None:
    """It is another one, and its part tells which."""
    (found,) = changes_of(laid_out(tmp_path / "a.pptx", 6), laid_out(tmp_path / "b.pptx", 5))

    assert (found.what, found.before != found.after) == ("layout", True)
