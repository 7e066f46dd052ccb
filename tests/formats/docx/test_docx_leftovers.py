"""What an edit deletes is gone from the bytes of the result, or the answer says that it is not."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from format_cases import entries
from kbd.formats import CompareOptions, Source
from kbd_docx import DocxFormat
from made_documents import edit, made, para

FORMAT = DocxFormat()
W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
W15 = "http://schemas.microsoft.com/office/word/2012/wordml"
CID = "http://schemas.microsoft.com/office/word/2016/wordml/cid"
CEX = "http://schemas.microsoft.com/office/word/2018/wordml/cex"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def out(path: Path) -> Path:
    return path.with_name("out.docx")


def with_parts(path: Path, parts: Mapping[str, tuple[str, str]], rels: str = "") -> Path:
    """Add parts to a document: their names, the kinds of their relations, what they hold."""
    found: dict[str, bytes] = dict(entries(path))
    types, relations = "", rels
    for number, (name, (kind, data)) in enumerate(parts.items()):
        found[f"word/{name}"] = data.encode()
        types += f'<Override PartName="/word/{name}" ContentType="application/x{number}+xml"/>'
        relations += f'<Relationship Id="n{number}" Type="{kind}" Target="{name}"/>'
    for name, end, more in (
        ("[Content_Types].xml", b"</Types>", types.encode()),
        ("word/_rels/document.xml.rels", b"</Relationships>", relations.encode()),
    ):
        found[name] = found[name].replace(end, more + end)
    with zipfile.ZipFile(path, "w") as archive:
        for name, contents in found.items():
            archive.writestr(name, contents)
    return path


def whole(path: Path) -> bytes:
    return b"\n".join(name.encode() + data for name, data in entries(path).items())


def comment(number: int, author: str, text: str) -> str:
    paragraph = (
        f"<w:p xmlns:w14='{W14}' w14:paraId='0000000{number}'><w:r><w:t>{text}</w:t></w:r></w:p>"
    )
    return f"<w:comment w:id='{number}' w:author='{author}'>{paragraph}</w:comment>"


def commented(path: Path) -> Path:
    """A document of three paragraphs with a comment each; the first one has a reply."""
    signs = "".join(
        f"<w:p><w:r><w:t>text {n}</w:t></w:r><w:r><w:commentReference w:id='{n}'/></w:r></w:p>"
        for n in (1, 3)
    )
    comments = comment(1, "Ann", "first remark") + comment(2, "Bob", "reply to it")
    comments += comment(3, "Cem", "other remark")
    made(path, signs, {"comments": comments})
    entry = "<w15:commentEx w15:paraId='0000000{}' {}/>"
    extended = "".join(
        entry.format(n, "w15:paraIdParent='00000001'" if n == 2 else "") for n in (1, 2, 3)
    )
    ids = "".join(
        f"<c:commentId c:paraId='0000000{n}' c:durableId='A000000{n}'/>" for n in (1, 2, 3)
    )
    times = "".join(f"<c:commentExtensible c:durableId='A000000{n}'/>" for n in (1, 2, 3))
    people = "".join(f"<w15:person w15:author='{each}'/>" for each in ("Ann", "Bob", "Cem"))
    return with_parts(path, {
        "commentsExtended.xml": (f"{W15}/x/commentsExtended",
                                 f"<w15:commentsEx xmlns:w15='{W15}'>{extended}</w15:commentsEx>"),
        "commentsIds.xml": (f"{CID}/commentsIds",
                            f"<c:commentsIds xmlns:c='{CID}'>{ids}</c:commentsIds>"),
        "commentsExtensible.xml": (f"{CEX}/commentsExtensible",
                                   f"<c:e xmlns:c='{CEX}'>{times}</c:e>"),
        "people.xml": (f"{W15}/people", f"<w15:people xmlns:w15='{W15}'>{people}</w15:people>"),
    })  # fmt: skip


def test_a_comment_goes_with_its_text(tmp_path: Path) -> None:
    """So do its reply, what other parts say of both, and people who wrote nothing else."""
    path = commented(tmp_path / "a.docx")
    edit(path, {"op": "delete_paragraphs", "from": 1})

    found = whole(out(path))
    for gone in (b"first remark", b"reply to it", b"00000001", b"00000002", b"A0000001",
                 b"A0000002", b"Ann", b"Bob"):  # fmt: skip
        assert gone in whole(path)
        assert gone not in found, gone
    for kept in (b"other remark", b"00000003", b"A0000003", b"Cem"):
        assert kept in found, kept


def test_a_comment_stays_while_something_shows_it(tmp_path: Path) -> None:
    """An edit that takes no sign away touches no part of comments."""
    path = commented(tmp_path / "a.docx")
    edit(path, {"op": "replace_text", "search": "text 1", "replace": "other"})

    before, after = entries(path), entries(out(path))
    assert [name for name in before if before[name] != after.get(name)] == ["word/document.xml"]


def test_notes_go_with_their_signs(tmp_path: Path) -> None:
    """Of a note that goes, the links, pictures and comments go, too; separators stay."""
    sign = "<w:p><w:r><w:{}Reference w:id='{}'/></w:r></w:p>"
    note = (
        "<w:footnote w:type='separator' w:id='0'><w:p/></w:footnote><w:footnote w:id='2'>"
        "<w:p><w:r><w:t>secret note</w:t></w:r><w:r><w:commentReference w:id='7'/></w:r></w:p>"
        "</w:footnote>"
    )
    path = made(
        tmp_path / "a.docx",
        sign.format("footnote", 2) + sign.format("endnote", 3) + para("stays"),
        {
            "footnotes": note,
            "endnotes": f"<w:endnote w:id='3'>{para('secret end')}</w:endnote>",
            "comments": comment(7, "Ann", "secret remark"),
        },
    )
    applied = edit(path, {"op": "delete_paragraphs", "from": 1, "count": 2})

    found = whole(out(path))
    assert b"secret" not in found
    assert b"separator" in found
    assert "1 footnote, 1 endnote" in applied.warnings[0]


def test_copies_elsewhere_are_named(tmp_path: Path) -> None:
    """Data that controls show, titles and other stories keep their text, and the answer says so."""
    path = made(tmp_path / "a.docx", para("Confidential heading") + para("x"),
                {"header1": para("Confidential heading")})  # fmt: skip
    applied = edit(path, {"op": "delete_paragraphs", "from": 1})
    assert applied.warnings == (
        "Text that is gone from the body stands elsewhere in the file still: word/header1.xml.",
    )
    assert not edit(path, {"op": "delete_paragraphs", "from": 2}).warnings
    replace = {"op": "replace_text", "search": "Confidential heading", "replace": "x"}
    assert not edit(path, replace).warnings, "a header's text is replaced, too"
    with_parts(path, {"data.xml": (f"{_OFFICE}/customXml", "<x>Confidential heading</x>")})
    assert edit(path, replace).warnings == (
        "Text that is gone from the body stands elsewhere in the file still: word/data.xml.",
    )


def test_drawings_that_a_cell_held_are_named(tmp_path: Path) -> None:
    """Of every kind, also of those that only newer programs know."""
    alternatives = "<w:r><mc:AlternateContent><mc:Choice><w:drawing>{}</w:drawing></mc:Choice>"
    alternatives += "<mc:Fallback><w:drawing><pic:pic/></w:drawing></mc:Fallback>"
    alternatives += "</mc:AlternateContent></w:r>"
    office = "http://schemas.microsoft.com/office"
    for inside, name in (
        (f"<x:model3d xmlns:x='{office}/drawing/2017/model3d'/>", "1 3D model"),
        (f"<x:chart xmlns:x='{office}/drawing/2014/chartex'/>", "1 chart"),
        ("<pic:pic/>", "1 image"),
        ("<wps:wsp/>", "1 drawing"),
    ):
        cell = f"<w:tc><w:p>{alternatives.format(inside)}</w:p></w:tc>"
        path = made(tmp_path / "a.docx", f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>{para('x')}")
        change = {"row": 0, "col": 0, "text": "new"}
        applied = edit(path, {"op": "set_table_cells", "table": 0, "cells": [change]})
        assert applied.warnings == (f"With the old text of cells went {name} (row 0, col 0).",)


def test_text_that_is_not_replaced_is_told(tmp_path: Path) -> None:
    """Comments and building blocks are passed by, and the answer says that it stands there."""
    path = made(tmp_path / "a.docx", para("old word"), {"comments": comment(1, "A", "an Old word")})
    glossary = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'"
    glossary = f"<w:glossaryDocument {glossary}>{para('old')}</w:glossaryDocument>"
    with_parts(path, {"glossary.xml": (f"{_OFFICE}/glossaryDocument", glossary)})
    applied = edit(path, {"op": "replace_text", "search": "old", "replace": "new"})

    assert applied.changed == ("1 replacement",)
    assert applied.warnings == (
        "'old' stands in comments, too (1), which replace_text leaves alone.",
        "'old' stands in the file's building blocks, too (1), which replace_text leaves alone.",
    )
    assert b"an Old word" in whole(out(path))


def test_the_review_names_references_to_the_outside(tmp_path: Path) -> None:
    """Linked pictures, templates and objects are named with their kind and address."""
    before = made(tmp_path / "a.docx", para("x"))
    for kind in ("image", "oleObject", "attachedTemplate", "subDocument", "frame"):
        relation = (
            f'<Relationship Id="rX" Type="{_OFFICE}/{kind}" Target="http://x.example/{kind}" '
            'TargetMode="External"/>'
        )
        after = with_parts(made(tmp_path / f"{kind}.docx", para("x")), {}, relation)
        sources = Source(before, before.name), Source(after, after.name)
        (change,) = FORMAT.compare(*sources, CompareOptions()).changes
        assert (change.what, change.kind) == ("external reference", "added")
        assert (change.place.title, change.after) == (
            f"external {kind}",
            f"http://x.example/{kind}",
        )
        assert FORMAT.active_content(sources[1], sources[:1]) == (
            f"external {kind}: http://x.example/{kind}",
        )
