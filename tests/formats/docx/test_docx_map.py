"""The map of documents: sections, tables, pictures, and what a document reaches out to."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from kbd.formats import Region, Source
from kbd_docx import DocxFormat
from made_documents import made, para
from zipforge import forge, members

FORMAT = DocxFormat()
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def styled(text: str, style: str) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def style(key: str, inside: str) -> str:
    return f'<w:style w:type="paragraph" w:styleId="{key}">{inside}</w:style>'


def mapped(path: Path) -> dict[str, Any]:
    return FORMAT.map(Source(path, path.name))


def headings(path: Path) -> list[tuple[str, int]]:
    return [(section["heading"], section["level"]) for section in mapped(path)["sections"]]


def replaced(path: Path, name: str, parts: dict[str, bytes], types: tuple[bytes, bytes]) -> Path:
    """The document with more parts, and one type in place of another."""
    with zipfile.ZipFile(path) as archive:
        held = {each: archive.read(each) for each in archive.namelist()}
    held["[Content_Types].xml"] = held["[Content_Types].xml"].replace(*types)
    target = path.with_name(name)
    target.write_bytes(forge(members({**held, **parts})))
    return target


def test_sections_are_told_with_what_stands_in_them(tmp_path: Path) -> None:
    """Text before the first heading is a section; tables and chunks belong to theirs."""
    document = docx.Document()
    document.add_paragraph("before")
    document.add_heading("One", 1)
    for number in range(30):
        document.add_paragraph(f"{number} " + "word " * 60)
    document.add_heading("Two", 2)
    grid = document.add_table(3, 2)
    for place, text in enumerate(("Name", "Sum", "Tea", "4")):
        grid.cell(place // 2, place % 2).text = text
    document.add_paragraph("end")
    path = tmp_path / "a.docx"
    document.save(str(path))
    found = mapped(path)

    first, one, two = found["sections"]
    assert (first["heading"], first["level"], first["paragraphs"]) == ("", 0, "1-1")
    assert (one["heading"], one["level"], one["paragraphs"]) == ("One", 1, "2-32")
    assert (two["paragraphs"], two["has_tables"], one["has_tables"]) == ("33-34", True, False)
    assert [chunk["index"] for chunk in one["chunks"]] == [0, 1, 2]
    assert max(chunk["char_count"] for chunk in one["chunks"]) <= 4_000
    assert len(two["chunks"]) == 1
    assert found["tables"] == [
        {
            "index": 0, "section": "Two", "section_index": 2, "rows": 3, "cols": 2,
            "after_paragraph": 33, "header": ["Name", "Sum"],
        }
    ]  # fmt: skip
    assert found["paragraph_count"] == 34
    for index, section in enumerate(found["sections"]):
        texts = [
            FORMAT.read(Source(path, "a.docx"), Region(section=index, chunk=chunk["index"])).text
            for chunk in section["chunks"]
        ]
        assert [len(text) for text in texts] == [each["char_count"] for each in section["chunks"]]
        assert len("\n".join(texts)) == section["char_count"]


def test_headings_are_known_in_every_language_and_by_inheritance(tmp_path: Path) -> None:
    """By name, by outline level, by what a style is based on; a title and empty ones are none."""
    styles = (
        style("berschrift1", '<w:name w:val="heading 1"/>')
        + style("Own", '<w:name w:val="Kapitel"/><w:basedOn w:val="berschrift1"/>')
        + style("Level", '<w:name w:val="Niveau"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
        + style("Title", '<w:name w:val="Title"/>')
        + style("TOC", '<w:basedOn w:val="berschrift1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>')
    )
    text = "<w:r><w:t>Direct</w:t></w:r>"
    body = (
        styled("Name", "Title") + styled("One", "berschrift1") + styled("Two", "Own")
        + styled("Three", "Level") + styled("Contents", "TOC") + styled("", "berschrift1")
        + f'<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>{text}</w:p>'
    )  # fmt: skip
    path = made(tmp_path / "a.docx", body, {"styles": styles})

    assert headings(path) == [("", 0), ("One", 1), ("Two", 1), ("Three", 3), ("Direct", 2)]


@pytest.mark.parametrize("body", ["", para("a") * 3, "<w:p/>" * 3])
def test_a_document_without_headings_is_one_section(body: str, tmp_path: Path) -> None:
    """However little there is, there is a section to read."""
    path = made(tmp_path / "a.docx", body)
    (section,) = mapped(path)["sections"]

    assert (section["heading"], len(section["chunks"])) == ("", 1)
    assert FORMAT.read(Source(path, "a.docx"), Region(section=0, chunk=0)).text.split() == (
        ["a"] * body.count("<w:t")
    )


def test_facts_tell_the_kind_of_document(tmp_path: Path) -> None:
    """A template is one by its type, under whichever name it stands."""
    path = made(tmp_path / "a.docx", para("a"))
    template = replaced(path, "b.dotx", {}, (b"document.main+xml", b"template.main+xml"))

    assert FORMAT.info(Source(path, "a.docx")) == {"format": "docx"}
    assert FORMAT.info(Source(template, "b.dotx")) == {"format": "dotx"}


@pytest.mark.parametrize(
    "kind", [f"{OFFICE}/extended-properties",
             "http://purl.oclc.org/ooxml/officeDocument/relationships/extendedProperties"],
)  # fmt: skip
def test_stored_counts_are_told(tmp_path: Path, kind: str) -> None:
    """The counts that the program stored are told, whichever variant names where they are."""
    path = made(tmp_path / "a.docx", para("a"))
    app = b"<Properties><Pages>3</Pages><Words>70</Words></Properties>"
    rels = (
        f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/officeDocument" '
        f'Target="word/document.xml"/><Relationship Id="r2" Type="{kind}" Target="docProps/app.xml"'
        "/></Relationships>"
    )
    parts = {"docProps/app.xml": app, "_rels/.rels": rels.encode()}
    found = FORMAT.info(Source(replaced(path, "b.docx", parts, (b"", b"")), "b.docx"))

    assert found == {"format": "docx", "page_count_told": 3, "word_count_told": 70}


def test_what_a_document_reaches_out_to_is_named(tmp_path: Path) -> None:
    """Templates, linked pictures, inserted files and fields that fetch are told; links counted."""
    outside = ' TargetMode="External"'
    relations = "".join(
        f'<Relationship Id="r{place}" Type="{OFFICE}/{kind}" Target="{target}"'
        + (outside if "//" in target else "")
        + "/>"
        for place, (kind, target) in enumerate(
            (
                ("attachedTemplate", "http://x.org/t.dotm"),
                ("image", "file://server/a.png"),
                ("hyperlink", "https://x.org"),
                ("aFChunk", "part.html"),
            )
        )
    )
    field = '<w:p><w:fldSimple w:instr=" INCLUDETEXT c:/a.txt "/></w:p><w:altChunk r:id="r3"/>'
    path = made(tmp_path / "a.docx", field)
    rels = f'<Relationships xmlns="{PACKAGE}">{relations}</Relationships>'.encode()
    found = mapped(replaced(path, "b.docx", {"word/_rels/document.xml.rels": rels}, (b"", b"")))

    assert {(each["kind"], each["target"]) for each in found["external"]} == {
        ("attachedTemplate", "http://x.org/t.dotm"),
        ("image", "file://server/a.png"),
        ("inserted file", "word/part.html"),
        ("field", "INCLUDETEXT c:/a.txt"),
    }
    assert found["link_count"] == 1
    assert "are not read" in found["warnings"][0]
