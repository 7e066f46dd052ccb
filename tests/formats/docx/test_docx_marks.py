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


def test_paragraphs_show_their_changes_and_by_whom(tmp_path: Path) -> None:
    """A reading has paragraphs with both states side by side; the map counts by author."""
    by = 'w:author="{}"'
    run = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
    gone = "<w:r><w:delText>{}</w:delText></w:r>"
    looks = (
        f'<w:r><w:rPr><w:b/><w:rPrChange w:id="4" {by.format("Bo")}><w:rPr/></w:rPrChange></w:rPr>'
        "<w:t> EUR</w:t></w:r>"
    )
    changed = (
        f"<w:p>{run.format('It costs ')}"
        f'<w:del w:id="1" {by.format("Ann")}>{gone.format("12")}</w:del>'
        f'<w:ins w:id="2" {by.format("Ann")}>{run.format("14")}</w:ins>{looks}</w:p>'
    )
    ended = (
        f'<w:p><w:pPr><w:rPr><w:ins w:id="3" {by.format("Bo")}/></w:rPr></w:pPr>'
        f'<w:ins w:id="5" {by.format("Bo")}>{run.format("all new")}</w:ins></w:p>'
    )
    cell = f"<w:tbl><w:tr><w:tc>{changed}</w:tc></w:tr></w:tbl>"
    path = made(tmp_path / "a.docx", para("plain") + changed + ended + cell + para("end"))
    costs = "It costs [deleted by Ann: 12][inserted by Ann: 14] EUR"
    expected = [(2, costs), (3, "[inserted by Bo: all new¶]"), (3, costs)]

    reading = DocxFormat().objects(source(path), Region(section=0))
    assert reading.objects is not None
    found = [(each["paragraph"], each["text"]) for each in reading.objects["marked_paragraphs"]]
    assert found == expected
    assert f"Paragraph 2 with its changes: {costs}" in reading.warnings
    assert f"In the table after paragraph 3, with changes: {costs}" in reading.warnings
    assert "It costs 14 EUR" in reading.text
    assert mapped(path)["tracked_changes"]["by_author"] == [
        {"author": "Ann", "insertions": 2, "deletions": 2},
        {"author": "Bo", "insertions": 2, "deletions": 0, "looks": 2},
    ]
