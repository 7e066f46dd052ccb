"""What maps and readings tell beside the text: direct formatting, and tracked changes by place."""

from pathlib import Path

from edited_documents import mapped, source
from kbd.formats import Region
from kbd_docx import DocxFormat
from made_documents import made, para


def test_formatting_that_paragraphs_have_directly_is_listed(tmp_path: Path) -> None:
    """Alike paragraphs in a row are one entry; what only some of the text has is left out."""
    bold = '<w:r><w:rPr><w:b/><w:sz w:val="28"/></w:rPr><w:t>{}</w:t></w:r>'
    center = '<w:jc w:val="center"/><w:spacing w:before="120" w:line="360"/>'
    body = (
        para("plain") + para("a", center) + para("b", center)
        + f"<w:p>{bold.format('all')}{bold.format(' of it')}</w:p>"
        + f"<w:p>{bold.format('some')}<w:r><w:t>not</w:t></w:r></w:p>"
        + '<w:p><w:pPr><w:ind w:left="720" w:hanging="360"/></w:pPr></w:p>'
    )  # fmt: skip
    path = made(tmp_path / "a.docx", body)

    expected = [
        {"paragraphs": "2-3", "alignment": "center", "space_before": 6.0, "line_spacing": 1.5},
        {"paragraphs": "4-4", "bold": True, "font_size": 14.0},
        {"paragraphs": "6-6", "indent_left": 0.5, "indent_first_line": -0.25},
    ]
    assert mapped(path)["formatting"] == expected
    objects = DocxFormat().objects(source(path), Region(section=0)).objects
    assert objects is not None
    assert list(objects["formatting"]) == expected


def test_tracked_changes_are_listed_with_their_authors(tmp_path: Path) -> None:
    """Each with its kind, author, date, text and paragraph, in the map and in the reading."""
    inserted = (
        '<w:ins w:id="1" w:author="Ann" w:date="2026-01-02"><w:r><w:t>new</w:t></w:r></w:ins>'
    )
    deleted = '<w:del w:id="2" w:author="Bo"><w:r><w:delText>old</w:delText></w:r></w:del>'
    path = made(tmp_path / "a.docx", para("x") + f"<w:p>{inserted}{deleted}</w:p>")

    told = mapped(path)["tracked_changes"]
    assert (told["insertions"], told["deletions"], told["authors"]) == (1, 1, ["Ann", "Bo"])
    assert told["changes"] == [
        {"kind": "inserted", "author": "Ann", "date": "2026-01-02", "text": "new", "paragraph": 2},
        {"kind": "deleted", "author": "Bo", "text": "old", "paragraph": 2},
    ]
    objects = DocxFormat().objects(source(path), Region(section=0)).objects
    assert objects is not None
    assert [each["text"] for each in objects["tracked_changes"]] == ["new", "old"]
