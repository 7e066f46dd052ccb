"""Sections of pages: paper, margins, columns, headers for some sections only."""

from pathlib import Path
from typing import Any

import docx
import pytest
from docx.enum.section import WD_ORIENT, WD_SECTION
from docx.shared import Inches, Twips

from edited_documents import applied, differences, mapped, relocated
from kbd.errors import ValidationFailed
from made_documents import W, at, edit, made, para, part_of


def three(path: Path) -> Path:
    """A document of three sections, the last two inheriting the header of the first."""
    section = '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/></w:sectPr>'
    body = para("one", section) + para("two", "<w:sectPr/>") + para("three") + "<w:sectPr/>"
    return made(path, body, {"header1": para("shared")})


def headers(path: Path) -> list[str]:
    return [each.header.paragraphs[0].text for each in docx.Document(str(path)).sections]


def test_a_shared_header_changes_for_the_named_section_only(tmp_path: Path) -> None:
    """The section before and the one behind show what they showed."""
    path, out = three(tmp_path / "a.docx"), tmp_path / "out.docx"
    edit(path, {"op": "set_section", "section": 1, "header": "mine"})

    assert headers(out) == ["shared", "mine", "shared"]
    edit(out, {"op": "set_section", "header": "all"}, to=tmp_path / "b.docx")
    assert headers(tmp_path / "b.docx") == ["all"] * 3


def test_pages_are_set_up_and_what_is_not_given_stays(tmp_path: Path) -> None:
    """Paper, orientation, margins, columns and numbers, each by itself."""
    path, out = three(tmp_path / "a.docx"), tmp_path / "out.docx"
    given: dict[str, Any] = {
        "page_size": "A4", "orientation": "landscape", "margins": {"left": 0.5}, "columns": 2,
        "column_spacing": 0.3, "page_number_start": 4, "page_number_format": "lowerRoman",
    }  # fmt: skip
    edit(path, {"op": "set_section", "section": 2, **given})

    first, _, last = docx.Document(str(out)).sections
    assert last.orientation == WD_ORIENT.LANDSCAPE
    assert (last.page_width, last.page_height) == (Twips(16838), Twips(11906))
    assert (last.left_margin, last.right_margin) == (Inches(0.5), Inches(1))
    section = part_of(out).find(f"{W}body/{W}sectPr")
    assert section is not None
    columns, numbers = at(section, "cols"), at(section, "pgNumType")
    assert (columns.get(f"{W}num"), columns.get(f"{W}space")) == ("2", "432")
    assert (numbers.get(f"{W}start"), numbers.get(f"{W}fmt")) == ("4", "lowerRoman")
    assert first.page_width is None
    assert differences(path, out) == [("changed", "section")]


def test_a_footer_with_fields_and_pages_with_their_own(tmp_path: Path) -> None:
    """Fields of the page and their count; first and even pages have their own headers."""
    path, out = three(tmp_path / "a.docx"), tmp_path / "out.docx"
    given = {"footer": "Page {page} of {pages}", "first_header": "start", "even_header": "even"}
    edit(path, {"op": "set_section", "section": 0, **given})

    document = docx.Document(str(out))
    first, second, _ = document.sections
    assert first.footer.paragraphs[0].text == "Page 1 of 1"
    told = [each.text for each in first.footer._element.iter(f"{W}instrText")]
    assert told == [" PAGE ", " NUMPAGES "]
    assert first.different_first_page_header_footer
    assert document.settings.odd_and_even_pages_header_footer
    assert first.first_page_header.paragraphs[0].text == "start"
    assert first.even_page_header.paragraphs[0].text == "even"
    # Even pages of the others showed the shared header, and still do.
    assert second.even_page_header.paragraphs[0].text == "shared"
    assert second.footer.paragraphs[0].text == ""
    assert {each["type"] for each in mapped(out)["headers"]} == {"default", "first", "even"}


def test_a_break_makes_two_sections_that_look_alike(tmp_path: Path) -> None:
    """Both show the same header; the second one begins as the break says."""
    path, out = three(tmp_path / "a.docx"), tmp_path / "out.docx"
    edit(path, {"op": "insert_paragraph", "at": 1, "text": "zero"},
         {"op": "insert_section_break", "after": 1, "kind": "continuous"})  # fmt: skip

    assert headers(out) == ["shared"] * 4
    assert docx.Document(str(out)).sections[1].start_type == WD_SECTION.CONTINUOUS
    with pytest.raises(ValidationFailed, match="a section ends after paragraph 1 already"):
        edit(out, {"op": "insert_section_break", "after": 1}, to=tmp_path / "b.docx")
    found = relocated({"op": "set_section", "section": 2, "columns": 2}, path, out)
    assert found.is_shifted


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"section": 3, "columns": 2}, "there is no section 3 of pages; there are 3"),
        ({"page_size": "A9"}, "'A9' is no paper; there are A3, A4"),
        ({"margins": {"left": 5, "right": 5}}, "no room for text"),
        ({}, "needs something to set"),
    ],
)
def test_pages_that_cannot_be_are_refused(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    """The error says what there is."""
    with pytest.raises(ValidationFailed, match=message):
        edit(three(tmp_path / "a.docx"), {"op": "set_section", **given})


def test_the_same_bytes_each_time(tmp_path: Path) -> None:
    """Two edits alike make one file."""
    path = three(tmp_path / "a.docx")
    outs = [tmp_path / "1.docx", tmp_path / "2.docx"]
    for out in outs:
        applied(path, out, {"op": "set_section", "header": "a\tb", "first_footer": "{date}"})

    assert outs[0].read_bytes() == outs[1].read_bytes()
