"""Content that is deleted or replaced: nothing breaks around it, and what goes is told."""

from pathlib import Path

import docx
import pytest

from format_cases import entries
from kbd.errors import ValidationFailed
from made_documents import W, at, body_of, edit, made, para, part_of, shown

SIGN = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
PICTURE = (
    "<w:r><w:drawing><wp:inline><a:graphic><a:graphicData><pic:pic><pic:blipFill>"
    "<a:blip r:embed='{}'/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>"
    "</w:drawing></w:r>"
)


def out(path: Path) -> Path:
    return path.with_name("out.docx")


def section(header: str = "", extra: str = "") -> str:
    reference = f"<w:headerReference w:type='default' r:id='{header}'/>" if header else ""
    return f"<w:sectPr>{reference}{extra}</w:sectPr>"


def test_deleting_paragraphs(tmp_path: Path) -> None:
    """They are counted as the map counts; tables between them stay; numbers move up at once."""
    table = f"<w:tbl><w:tr><w:tc>{para('cell')}</w:tc></w:tr></w:tbl>"
    path = made(tmp_path / "a.docx", "".join(map(para, "123")) + table + "".join(map(para, "4567")))
    applied = edit(
        path,
        {"op": "delete_paragraphs", "from": 3, "count": 2},
        {"op": "delete_paragraphs", "from": 3},
        {"op": "delete_paragraphs", "from": 4},
    )

    assert shown(body_of(out(path))) == ["1", "2", "cell", "6"]
    assert applied.changed == (
        "paragraphs 3-4: deleted", "paragraph 3: deleted", "paragraph 4: deleted",
    )  # fmt: skip
    assert applied.warnings == ()
    for first, count in ((8, 1), (7, 2), (1, 8)):
        with pytest.raises(ValidationFailed, match="has 7 paragraphs, counted from 1"):
            edit(path, {"op": "delete_paragraphs", "from": first, "count": count})


def test_a_document_keeps_a_paragraph(tmp_path: Path) -> None:
    """One is left when all go; a table does not come last by it; touching tables are told."""
    table = f"<w:tbl><w:tr><w:tc>{para('t')}</w:tc></w:tr></w:tbl>"
    path = made(tmp_path / "a.docx", f"{para('1')}{para('2')}<w:sectPr/>")
    assert "needs a paragraph" in edit(
        path, {"op": "delete_paragraphs", "from": 1, "count": 2}
    ).warnings[0]  # fmt: skip
    assert shown(body_of(out(path))) == [""]

    path = made(tmp_path / "b.docx", f"{table}{para('1')}{table}{para('2')}")
    applied = edit(path, {"op": "delete_paragraphs", "from": 1, "count": 2})
    assert "Two tables stand next to each other now" in applied.warnings[0]
    assert [each.tag[len(W) :] for each in body_of(out(path))] == ["tbl", "tbl", "p"]


def test_a_section_keeps_its_settings(tmp_path: Path) -> None:
    """They move to the paragraph before; where there is none to hold them it is refused."""
    landscape = section(extra="<w:pgSz w:orient='landscape'/>")
    path = made(
        tmp_path / "a.docx",
        f"{para('1')}{para('2')}{para('3', landscape)}{para('4', section())}{para('5')}<w:sectPr/>",
    )
    edit(path, {"op": "delete_paragraphs", "from": 2, "count": 2})

    first = body_of(out(path))[0]
    assert at(first, "pPr/sectPr/pgSz").get(f"{W}orient") == "landscape"
    assert shown(body_of(out(path))) == ["1", "4", "5"]
    for number, count in ((4, 1), (3, 2), (1, 3)):
        with pytest.raises(ValidationFailed, match="settings of a section"):
            edit(path, {"op": "delete_paragraphs", "from": number, "count": count})


def test_ranges_that_go_on_stay(tmp_path: Path) -> None:
    """A bookmark or a comment that is only partly in what goes keeps both of its ends."""
    path = made(
        tmp_path / "a.docx",
        "<w:p><w:commentRangeStart w:id='0'/><w:r><w:t>1</w:t></w:r></w:p>"
        "<w:p><w:bookmarkStart w:id='1' w:name='long'/><w:bookmarkStart w:id='2' w:name='own'/>"
        "<w:r><w:t>2</w:t></w:r><w:bookmarkEnd w:id='2'/><w:commentRangeEnd w:id='0'/>"
        "<w:r><w:commentReference w:id='0'/></w:r></w:p>"
        "<w:p><w:r><w:t>3</w:t></w:r><w:bookmarkEnd w:id='1'/></w:p>",
        {"comments": "<w:comment w:id='0' w:author='A'><w:p/></w:comment>"},
    )
    applied = edit(path, {"op": "delete_paragraphs", "from": 2})

    body = body_of(out(path))
    first = [each.tag[len(W) :] for each in body[0].iter() if each is not body[0]]
    assert first == [
        "commentRangeStart", "r", "t", "commentRangeEnd", "r", "commentReference",
    ]  # fmt: skip
    assert [each.get(f"{W}name") for each in body.iter(f"{W}bookmarkStart")] == ["long"]
    assert len(list(body.iter(f"{W}bookmarkEnd"))) == 1
    assert shown(body) == ["1", "3"]
    assert "bookmarks long, own" in applied.warnings[0]


def test_the_sign_of_a_comment_stays_without_its_run(tmp_path: Path) -> None:
    """A comment that stays in part keeps its sign and the sign's look; text beside it goes."""
    sign = "<w:commentReference w:id='{}'/>"
    path = made(
        tmp_path / "a.docx",
        "<w:p><w:commentRangeStart w:id='0'/><w:commentRangeStart w:id='1'/>"
        "<w:r><w:t>1</w:t></w:r></w:p><w:p><w:commentRangeEnd w:id='0'/>"
        f"<w:commentRangeEnd w:id='1'/><w:r><w:rPr><w:b/></w:rPr><w:t>gone</w:t>{sign.format(0)}"
        f"<w:br/>{sign.format(1)}{sign.format(2)}<w:t>too</w:t></w:r></w:p>{para('3')}",
        {"comments": "".join(f"<w:comment w:id='{n}'><w:p/></w:comment>" for n in range(3))},
    )
    edit(path, {"op": "delete_paragraphs", "from": 2})

    body = body_of(out(path))
    assert shown(body) == ["1", "3"]
    run = body[0][-1]
    assert [each.tag[len(W) :] for each in run] == ["rPr", "commentReference", "commentReference"]
    assert [each.get(f"{W}id") for each in list(run)[1:]] == ["0", "1"]


def test_a_field_is_not_torn(tmp_path: Path) -> None:
    """One that goes over several paragraphs goes whole or not; what is put into it is told."""
    signs = [SIGN.format(kind) for kind in ("begin", "separate", "end")]
    path = made(
        tmp_path / "a.docx",
        f"{para('1')}<w:p>{signs[0]}<w:r><w:instrText>TOC</w:instrText></w:r>{signs[1]}</w:p>"
        f"{para('entry')}<w:p>{signs[2]}</w:p>{para('5')}",
    )
    for first, count in ((2, 1), (2, 2), (4, 1), (3, 2), (4, 2)):
        with pytest.raises(ValidationFailed, match="lies only partly"):
            edit(path, {"op": "delete_paragraphs", "from": first, "count": count})
    edit(path, {"op": "delete_paragraphs", "from": 3})
    for place, is_told in ((2, False), (3, True), (4, True), (5, False)):
        applied = edit(path, {"op": "insert_paragraph", "at": place, "text": "x"})
        assert bool(applied.warnings) is is_told
    applied = edit(path, {"op": "delete_paragraphs", "from": 2, "count": 3})

    assert shown(body_of(out(path))) == ["1", "5"]
    assert applied.warnings == ("With the deleted text went 1 field.",)


def test_controls_and_alternatives(tmp_path: Path) -> None:
    """A control without content goes and is told; one that is locked, and alternatives, stay."""
    control = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    alternatives = f"<mc:AlternateContent><mc:Choice>{para('3')}{para('4')}</mc:Choice>"
    alternatives += "</mc:AlternateContent>"
    locked = control.format("<w:lock w:val='sdtLocked'/>", para("2"))
    begun = "<w:p><w:bookmarkStart w:id='5' w:name='on'/></w:p>"
    path = made(
        tmp_path / "a.docx",
        f"{control.format('', begun)}{locked}{alternatives}<w:bookmarkEnd w:id='5'/>",
    )
    applied = edit(path, {"op": "delete_paragraphs", "from": 1})
    (mark,) = body_of(out(path)).iter(f"{W}bookmarkStart")

    assert mark.get(f"{W}id") == "5"
    assert applied.warnings[1:] == ("With the deleted text went a content control.",)
    assert len(list(body_of(out(path)).iter(f"{W}sdt"))) == 1
    for number, told in ((2, "locked"), (3, "alternatives")):
        with pytest.raises(ValidationFailed, match=told):
            edit(path, {"op": "delete_paragraphs", "from": number})
    with pytest.raises(ValidationFailed, match="choose another place"):
        edit(path, {"op": "insert_paragraph", "at": 4, "text": "x"})
    edit(path, {"op": "insert_paragraph", "at": 3, "text": "before"})
    assert shown(body_of(out(path))) == ["", "2", "before", "3", "4"]


def test_a_new_body_keeps_what_surrounds_it(tmp_path: Path) -> None:
    """Styles, headers, footers and settings stay, also headers that come down from before."""
    path = made(
        tmp_path / "a.docx",
        para("1", section("rheader1")) + para("2", section("rheader2", "<w:titlePg/>"))
        + para("3") + "<w:sectPr><w:footerReference w:type='default' r:id='rfooter1'/>"
        "<w:pgSz w:w='11906'/></w:sectPr>",
        {"header1": para("H1"), "header2": para("H2"), "footer1": para("F"), "styles": ""},
    )  # fmt: skip
    applied = edit(
        path, {"op": "set_paragraphs", "paragraphs": [{"text": "new"}, {"text": "body"}]}
    )

    body = body_of(out(path))
    assert shown(body) == ["new", "body"]
    assert applied.changed == ("body: 2 paragraphs",)
    assert applied.warnings == (
        "The old body is gone, and with it 2 section breaks.",
        "With the sections that are gone went a header or footer that only they had.",
    )
    found = docx.Document(str(out(path))).sections
    assert len(found) == 1
    assert [found[0].header.paragraphs[0].text, found[0].footer.paragraphs[0].text] == ["H2", "F"]
    assert at(body, "sectPr/pgSz").get(f"{W}w") == "11906"
    before, after = entries(path), entries(out(path))
    assert [name for name in before if before[name] != after.get(name)] == [
        "word/document.xml", "word/header1.xml", "word/_rels/document.xml.rels",
        "[Content_Types].xml",
    ]  # fmt: skip
    assert "word/header1.xml" not in after, "a header that nothing shows any more is gone"


def test_what_goes_with_a_body_is_told(tmp_path: Path) -> None:
    """Tables, pictures, notes and all else; a picture that nothing shows leaves the package."""
    box = f"<w:txbxContent>{para('box')}</w:txbxContent>"
    alternates = (
        f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}{PICTURE.format('rimage1')}</mc:Fallback></mc:AlternateContent></w:r>"
    )
    path = made(
        tmp_path / "a.docx",
        f"<w:tbl><w:tr><w:tc>{para('t')}</w:tc></w:tr></w:tbl><w:p>{PICTURE.format('rimage1')}"
        f"{PICTURE.format('rimage2')}{alternates}<w:r><w:footnoteReference w:id='1'/></w:r>"
        "<w:bookmarkStart w:id='1' w:name='place'/><w:bookmarkEnd w:id='1'/><m:oMath/>"
        "<w:ins w:id='9'><w:r/></w:ins><w:hyperlink r:id='rnone'/></w:p>",
        {"image1.png": "one", "image2.png": "two", "header1": ""},
    )
    applied = edit(path, {"op": "set_paragraphs", "paragraphs": []})

    (told,) = applied.warnings
    for what in ("1 table", "2 images", "1 text box", "1 footnote", "1 equation", "1 link",
                 "1 tracked change", "bookmark place"):  # fmt: skip
        assert what in told
    names = entries(out(path))
    assert not [name for name in names if name.endswith(".png")]
    assert b"image" not in names["word/_rels/document.xml.rels"]
    assert b"header" in names["word/_rels/document.xml.rels"]


def test_a_picture_that_is_shown_elsewhere_stays(tmp_path: Path) -> None:
    """Deleting one of two places that show it keeps it; deleting the other one does not."""
    shows = f"<w:p>{PICTURE.format('rimage1')}</w:p>"
    path = made(tmp_path / "a.docx", f"{shows}{shows}{para('x')}", {"image1.png": "one"})
    applied = edit(path, {"op": "delete_paragraphs", "from": 1})

    assert applied.warnings == ("With the deleted text went 1 image.",)
    assert entries(out(path))["word/image1.png"] == b"one"
    edit(out(path), {"op": "delete_paragraphs", "from": 1}, to=tmp_path / "both.docx")
    assert "word/image1.png" not in entries(tmp_path / "both.docx")


def test_cells_keep_the_ends_of_ranges(tmp_path: Path) -> None:
    """A comment that begins before a cell and ends in it is still whole when the cell is set."""
    cell = (
        "<w:p><w:r><w:t>old</w:t></w:r><w:commentRangeEnd w:id='0'/>"
        "<w:r><w:commentReference w:id='0'/></w:r></w:p>"
    )
    table = f"<w:tbl><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>"
    path = made(tmp_path / "a.docx", f"<w:p><w:commentRangeStart w:id='0'/></w:p>{table}")
    cells = [{"row": 0, "col": 0, "text": "new"}]
    edit(path, {"op": "set_table_cells", "table": 0, "cells": cells})

    body = body_of(out(path))
    assert shown(body) == ["", "new"]
    for mark in ("commentRangeStart", "commentRangeEnd", "commentReference"):
        assert len(list(body.iter(f"{W}{mark}"))) == 1


def test_parts_that_are_not_named_stay(tmp_path: Path) -> None:
    """Deleting text touches the main part, and of the notes only the one whose sign went."""
    path = made(
        tmp_path / "a.docx",
        "<w:p><w:r><w:footnoteReference w:id='1'/></w:r></w:p>"
        "<w:p><w:r><w:footnoteReference w:id='2'/></w:r></w:p>",
        {
            "footnotes": f"<w:footnote w:id='1'>{para('stays')}</w:footnote>"
            f"<w:footnote w:id='2'>{para('goes')}</w:footnote>",
            "settings": "",
        },
    )
    edit(path, {"op": "delete_paragraphs", "from": 2})

    before, after = entries(path), entries(out(path))
    assert [name for name in before if before[name] != after.get(name)] == [
        "word/document.xml", "word/footnotes.xml",
    ]  # fmt: skip
    assert shown(part_of(out(path), "word/footnotes.xml")) == ["stays"]
