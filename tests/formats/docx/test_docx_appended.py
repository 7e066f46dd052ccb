"""Another document appended: its look, its notes and links, and what stays behind."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied, differences, mapped, picture, text_of
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para, part_of

APPENDED = {"op": "append_document", "file": "other"}


def other(tmp_path: Path) -> Path:
    """A document with a picture, a list, notes, a link, a bookmark and a comment."""
    out = tmp_path / "other.docx"
    found: list[dict[str, Any]] = [
        {"op": "append_paragraph", "text": "Other", "style": "Heading 1"},
        {"op": "append_paragraph", "text": "Its own words", "alignment": "right"},
        {"op": "append_paragraph", "text": "item", "list": "number"},
        {"op": "add_footnote", "paragraph": 2, "text": "its note", "search": "own"},
        {"op": "add_hyperlink", "paragraph": 2, "text": " link", "address": "https://o.example"},
        {"op": "add_bookmark", "paragraph": 1, "name": "here"},
        {"op": "add_comment", "paragraph": 1, "text": "left", "author": "A"},
        {"op": "add_image", "image": "picture"},
        {"op": "set_section", "header": "behind"},
    ]
    applied(None, out, *found, picture=picture(tmp_path / "p.png"))
    return out


def test_a_document_is_appended_with_all_that_it_needs(tmp_path: Path) -> None:
    """Text, note, list, picture and link come along; comments and headers are told."""
    path, out = tmp_path / "a.docx", tmp_path / "out.docx"
    applied(None, path, {"op": "append_paragraph", "text": "First"},
            {"op": "append_paragraph", "text": "mine", "list": "number"},
            {"op": "add_footnote", "paragraph": 1, "text": "my note"},
            {"op": "add_bookmark", "paragraph": 1, "name": "here"})  # fmt: skip
    found = applied(path, out, APPENDED, {"op": "append_paragraph", "text": "last"},
                    other=other(tmp_path))  # fmt: skip

    text = text_of(out)
    for words in ("First[^1]", "1. mine", "# Other", "Its own[^2] words link <https://o.example",
                  "[^2]: its note", "1. item", "last"):  # fmt: skip
        assert words in text
    assert len(mapped(out)["images"]) == 1
    assert found.external == ("other.docx: hyperlink https://o.example",)
    assert found.applied == 2
    assert "Of other.docx stayed behind: 1 comment, its headers and footers." in found.warnings
    names = [each.get(f"{W}name") for each in body_of(out).iter(f"{W}bookmarkStart")]
    assert names == ["here", "here_2"]
    paragraphs = docx.Document(str(out)).paragraphs
    assert [each.text for each in paragraphs][-1] == "last"
    assert ("added", "note") in differences(path, out)
    assert ("removed", "paragraph") not in differences(path, out)
    assert not [name for name in zipfile.ZipFile(out).namelist() if "omment" in name]


def test_a_style_of_the_same_name_keeps_its_look(tmp_path: Path) -> None:
    """Where both define a style otherwise the appended text looks as it did."""
    styles = (
        '<w:style w:type="paragraph" w:styleId="Quote"><w:name w:val="Quote"/><w:rPr>{}</w:rPr>'
        "</w:style>"
    )
    look = '<w:pStyle w:val="Quote"/>'
    path = made(tmp_path / "a.docx", para("mine", look), {"styles": styles.format("<w:i/>")})
    theirs = made(tmp_path / "b.docx", para("theirs", look), {"styles": styles.format("<w:b/>")})
    out = tmp_path / "out.docx"
    applied(path, out, APPENDED | {"new_page": True}, other=theirs)

    mine, appended = docx.Document(str(out)).paragraphs
    assert mine.style is not None
    assert appended.style is not None
    assert mine.style.font.bold is None
    run = appended.runs[0]
    assert run.font.bold or appended.style.font.bold
    assert run.font.italic is not True
    assert appended.paragraph_format.page_break_before


def test_a_new_document_begins_with_another_one(tmp_path: Path) -> None:
    """Two of them make one; the same bytes each time, and nothing else lies beside it."""
    given = other(tmp_path)
    folder = tmp_path / "made"
    folder.mkdir()
    outs = [folder / "1.docx", folder / "2.docx"]
    for out in outs:
        applied(None, out, APPENDED, APPENDED, other=given)

    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert sorted(folder.iterdir()) == outs
    assert text_of(outs[0]).count("Its own") == 2
    assert len(part_of(outs[0], "word/footnotes.xml")) == 4


def test_what_cannot_come_along_is_refused(tmp_path: Path) -> None:
    """An object of another program is named, and so is a file that was not given."""
    path = made(tmp_path / "a.docx", para("x"))
    theirs = made(tmp_path / "b.docx", "<w:p><w:r><w:object/></w:r></w:p>")
    with pytest.raises(ValidationFailed, match="an object of another program"):
        applied(path, tmp_path / "out.docx", APPENDED, other=theirs)
    with pytest.raises(ValidationFailed, match="'other' was not given"):
        edit(path, APPENDED)
