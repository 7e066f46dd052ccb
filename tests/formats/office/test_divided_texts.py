"""Figures that are divided by what people do not see are read, found and replaced whole."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from pptx.util import Inches

from kbd.formats import Region, Source
from kbd_docx import DocxFormat
from kbd_odt import OdtFormat
from kbd_pptx import PptxFormat
from odt_texts import text_file

DIVIDED = {
    "a comment": b"12<!-- x -->345",
    "an instruction": b"12<?x y?>345",
    "an entity": b"12&#51;45",
    "a section": b"12<![CDATA[345]]>",
}


def _document(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("pay 12345 now")
    document.add_table(1, 1).cell(0, 0).text = "cell 12345"
    document.sections[0].header.paragraphs[0].text = "head 12345"
    document.save(str(path))


def _deck(path: Path) -> None:
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box = Inches(1), Inches(1), Inches(3), Inches(1)
    slide.shapes.add_textbox(*box).text_frame.text = "pay 12345 now"
    slide.shapes.add_table(1, 1, *box).table.cell(0, 0).text = "cell 12345"
    slide.notes_slide.notes_text_frame.text = "head 12345"
    deck.save(str(path))


FORMATS: dict[str, tuple[Any, Any]] = {
    "docx": (DocxFormat(), _document),
    "pptx": (PptxFormat(), _deck),
}


def _divided(path: Path, by: bytes) -> Source:
    whole = path.with_stem("whole")
    path.with_suffix(".plain").rename(whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            new.writestr(info, old.read(info).replace(b"12345", by))
    return Source(path, path.name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("by", DIVIDED)
@pytest.mark.parametrize("name", FORMATS)
def test_a_divided_figure_is_read_and_replaced_whole(name: str, by: str, tmp_path: Path) -> None:
    """In a paragraph, a cell, a header and notes; nothing of it is left where it was replaced."""
    handler, make = FORMATS[name]
    path = tmp_path / f"a.{name}"
    make(path.with_suffix(".plain"))
    source = _divided(path, DIVIDED[by])

    text = handler.read(source, Region()).text
    assert [part in text for part in ("pay 12345 now", "cell 12345", "head 12345")] == [True] * 3

    changed = tmp_path / f"b.{name}"
    replace = next(each for each in handler.operations if each.__name__ == "ReplaceText")
    handler.apply(source, (replace(search="12345", replace="777"),), changed)
    text = handler.read(Source(changed, changed.name), Region()).text
    assert [part in text for part in ("pay 777 now", "cell 777", "head 777")] == [True] * 3
    with zipfile.ZipFile(changed) as archive:
        parts = [archive.read(each) for each in archive.namelist() if each.endswith(".xml")]
    assert b"345" not in b"".join(part for part in parts if b"777" in part)


@pytest.mark.parametrize("by", DIVIDED)
def test_a_divided_figure_of_an_opendocument_text_is_read_whole(by: str, tmp_path: Path) -> None:
    """In a paragraph."""
    path = text_file(tmp_path / "a.odt", f"<text:p>pay {DIVIDED[by].decode()} now</text:p>")
    assert "pay 12345 now" in OdtFormat().read(Source(path, path.name), Region()).text
