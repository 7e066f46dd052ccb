"""Places that a comparison names: found by their titles, followed; and files that are no good."""

from pathlib import Path

import docx
import pytest

from compared_documents import compared, contract, insert_row, move
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Place, Source
from kbd_docx import DocxFormat
from made_documents import made, para

FORMAT = DocxFormat()


def test_a_version_that_is_not_there(tmp_path: Path) -> None:
    """All of a new document was added, a change a paragraph and a table; removed the other way."""
    path = tmp_path / "a.docx"
    contract(path)
    added, removed = compared(None, path), compared(path, None)

    assert {"added"} == {each.kind for each in added.changes}
    assert [each.after for each in added.changes] == [each.before for each in removed.changes]
    assert [each.what for each in added.changes] == [
        *["paragraph"] * 9, "table", *["paragraph"] * 2, "picture", "header",
    ]  # fmt: skip


def test_places_are_found_by_their_titles(tmp_path: Path) -> None:
    """And in other spellings; what is in another section, or nowhere, is refused."""
    path = tmp_path / "a.docx"
    contract(path)
    here = Source(path, path.name)

    for place in [
        Place("Pricing, paragraph 3", section=0, paragraph=2),
        Place("Terms, paragraph 11", section=1, paragraph=10),
        Place("Pricing, table 1, row 2, column 3", section=0, table=0, row=1, column=2),
        Place("header 1", part="header 1"),
    ]:
        assert place == FORMAT.locate(here, place.title)
    assert FORMAT.locate(here, "paragraph 3").paragraph == 2
    assert FORMAT.locate(here, "PRICING: Paragraph 3").paragraph == 2
    assert FORMAT.locate(here, "Terms").paragraph == 9
    for wrong in (
        "Terms, paragraph 3",
        "paragraph 99",
        "table 1, row 9",
        "",
        "nonsense",
        "table 4",
    ):
        with pytest.raises(ValidationFailed):
            FORMAT.locate(here, wrong)


def test_places_are_followed_both_ways(tmp_path: Path) -> None:
    """Through insertions, deletions and moves of paragraphs, rows and columns."""
    before, after = tmp_path / "before.docx", tmp_path / "after.docx"
    contract(before)
    document = docx.Document(str(before))
    move(document)
    insert_row(document)
    document.tables[0].cell(3, 1).text = "9"
    document.paragraphs[0].insert_paragraph_before("A new beginning")
    document.save(str(after))
    old, new = Source(before, before.name), Source(after, after.name)

    def followed(place: Place, *, forward: bool) -> tuple[Place | None, bool]:
        (found,) = FORMAT.trace(old, new, (place,), forward=forward)
        return found.place, found.is_changed

    for title, there, is_changed in (
        ("paragraph 1", "Pricing, paragraph 2", False),
        ("paragraph 3", "Pricing, paragraph 9", False),
        ("table 1, row 3, column 2", "Pricing, table 1, row 4, column 2", True),
        ("table 1, row 3, column 3", "Pricing, table 1, row 4, column 3", False),
        ("table 1, row 3", "Pricing, table 1, row 4", True),
        ("table 1, row 2", "Pricing, table 1, row 2", False),
        ("table 1", "Pricing, table 1", True),
        ("header 1", "header 1", False),
    ):
        here = FORMAT.locate(old, title)
        found, differs = followed(here, forward=True)
        assert found is not None
        assert (there, is_changed) == (found.title, differs)
        assert (here, is_changed) == followed(found, forward=False)
    assert followed(FORMAT.locate(new, "paragraph 1"), forward=False) == (None, False)
    assert followed(FORMAT.locate(new, "table 1, row 3"), forward=False) == (None, False)


@pytest.mark.parametrize(
    "data", [b"", b"no zip", b"PK\x05\x06" + bytes(18)], ids=["empty", "text", "no parts"]
)
def test_damaged_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """With the error that says so, on either side."""
    good, bad = tmp_path / "good.docx", tmp_path / "bad.docx"
    made(good, para("x"))
    bad.write_bytes(data)

    for pair in ((good, bad), (bad, good), (None, bad), (bad, None)):
        with pytest.raises(FileReadFailed):
            compared(*pair)


@pytest.mark.parametrize(
    "body",
    [
        "<w:sdt/><w:sdt><w:sdtPr/><w:sdtContent/></w:sdt>" * 50,
        "<w:tbl/><w:tbl><w:tr/><w:tr><w:tc/></w:tr></w:tbl>",
        "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='99999999'/></w:tcPr></w:tc></w:tr></w:tbl>",
        "<w:p><w:r><w:fldChar/><w:drawing/><w:pict/><w:object/></w:r><w:hyperlink/><w:ruby/></w:p>",
        "<w:p><w:pPr><w:numPr><w:numId w:val='x'/><w:ilvl w:val='y'/></w:numPr></w:pPr></w:p>",
        "<mc:AlternateContent/><m:oMath/><w:altChunk r:id='nowhere'/>",
        "<w:p><w:r><w:footnoteReference/></w:r></w:p><w:sectPr><w:pgSz w:w='?'/></w:sectPr>",
    ],
)
def test_odd_bodies_are_compared(tmp_path: Path, body: str) -> None:
    """What no program writes is compared all the same; with itself it differs in nothing."""
    odd = made(tmp_path / "odd.docx", body + para("x"))
    plain = made(tmp_path / "plain.docx", para("x"))

    assert compared(odd, odd).total == 0
    assert compared(odd, plain).total == compared(plain, odd).total > 0
