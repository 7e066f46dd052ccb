"""The map of a PDF file, and what it says of itself."""

import io
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter
from pypdf.annotations import FreeText, Text
from pypdf.constants import UserAccessPermissions
from pypdf.generic import Fit

from kbd.errors import FileReadFailed
from kbd.formats import CompareOptions, Region, Source
from kbd_pdf import PdfFormat
from pdf_forge import forged, one_page, rows, shown, stream, text_pages

PDF = PdfFormat()


def source(tmp_path: Path, data: bytes, *, shelf: bool = False) -> Source:
    """The file as a handler gets it."""
    path = tmp_path / "blob"
    path.write_bytes(data)
    return Source(path, "a.pdf", tmp_path / "shelf" if shelf else None)


def mapped(tmp_path: Path, data: bytes) -> dict[str, Any]:
    """The map of a file."""
    return PDF.map(source(tmp_path, data))


def by_pypdf(count: int) -> PdfWriter:
    """A writer with some blank pages."""
    writer = PdfWriter()
    for _ in range(count):
        writer.add_blank_page(300, 400)
    return writer


def written(writer: PdfWriter) -> bytes:
    """What a writer makes."""
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


OUTLINE = (
    b"<</Type/Outlines/First 10 0 R/Last 13 0 R>>",
    b"<</Title(One)/Parent 9 0 R/Next 12 0 R/First 11 0 R/Last 11 0 R/Dest[4 0 R/Fit]>>",
    b"<</Title(One, in it)/Parent 10 0 R/Dest(by name)>>",
    b"<</Title(Two)/Parent 9 0 R/Next 13 0 R/A<</S/GoTo/D/old>>>>",
    b"<</Title(Elsewhere)/Parent 9 0 R/A<</S/URI/URI(https://a.example/b)>>>>",
)


def test_the_table_of_contents_has_real_pages_and_levels(tmp_path: Path) -> None:
    """Places told by page, by name in the tree, by name in the old table, and none at all."""
    names = b"/Names<</Dests<</Names[(by name)[6 0 R/XYZ 0 0 0]]>>>>/Dests<</old[8 0 R/Fit]>>"
    # Two pages are objects 4 to 7, so that 8 is a third one.
    third = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>"
    data = text_pages(rows(2), third, *OUTLINE, catalogue=b"/Outlines 9 0 R" + names)
    data = data.replace(b"/Kids[4 0 R 6 0 R]/Count 2", b"/Kids[4 0 R 6 0 R 8 0 R]/Count 3")
    found = mapped(tmp_path, data)
    assert found["has_toc"] is True
    assert found["toc"] == [
        {"title": "One", "page": 1, "level": 1},
        {"title": "One, in it", "page": 2, "level": 2},
        {"title": "Two", "page": 3, "level": 1},
        {"title": "Elsewhere", "page": None, "level": 1},
    ]


def test_contents_written_by_another_library_are_found(tmp_path: Path) -> None:
    """Nested entries as pypdf writes them."""
    writer = by_pypdf(12)
    parent = writer.add_outline_item(title="Introduction", page_number=0)
    writer.add_outline_item(title="Methods\r\n and more", page_number=4, parent=parent)
    writer.add_outline_item(title="Längen", page_number=11, fit=Fit.fit_horizontally(top=10))
    assert mapped(tmp_path, written(writer))["toc"] == [
        {"title": "Introduction", "page": 1, "level": 1},
        {"title": "Methods and more", "page": 5, "level": 2},
        {"title": "Längen", "page": 12, "level": 1},
    ]


def test_a_plain_file_has_pages_and_chunks(tmp_path: Path) -> None:
    """Chunks of five pages, the last one shorter; pages that have no text are named."""
    texts = rows(12)
    texts[3] = texts[11] = ""
    assert mapped(tmp_path, text_pages(texts)) == {
        "page_count": 12,
        "has_toc": False,
        "toc": [],
        "has_forms": False,
        "has_annotations": False,
        "pages_without_text": [4, 12],
        "chunks": [
            {"index": 0, "pages": "1-5"},
            {"index": 1, "pages": "6-10"},
            {"index": 2, "pages": "11-12"},
        ],
    }


def test_form_fields_have_their_full_names_and_values(tmp_path: Path) -> None:
    """Names and kinds are handed down; buttons tell whether they are ticked."""
    fields = (
        b"<</T(person)/FT/Tx/Kids[7 0 R 8 0 R]>>",
        b"<</T(name)/Parent 6 0 R/V(Ada)>>",
        b"<</T(age)/Parent 6 0 R/V(36)>>",
        b"<</T(agreed)/FT/Btn/V/Yes>>",
        b"<</T(colour)/FT/Ch/V[(red)(blue)]>>",
        b"<</T(send)/FT/Btn/Ff 65536>>",
    )
    form = b"/AcroForm<</Fields[6 0 R 9 0 R 10 0 R 11 0 R]>>"
    found = mapped(tmp_path, one_page(stream(shown("A form")), *fields, catalogue=form))
    assert found["has_forms"] is True
    assert found["form_field_count"] == 5
    assert found["form_fields"] == [
        {"name": "person.name", "type": "text", "value": "Ada"},
        {"name": "person.age", "type": "text", "value": "36"},
        {"name": "agreed", "type": "checkbox", "value": "Yes"},
        {"name": "colour", "type": "choice", "value": ["red", "blue"]},
        {"name": "send", "type": "button", "value": None},
    ]


def test_annotations_are_counted_by_kind(tmp_path: Path) -> None:
    """What people put on a page; the windows of notes are no notes."""
    writer = by_pypdf(2)
    writer.add_annotation(page_number=0, annotation=Text(text="See", rect=(5, 5, 50, 50)))
    writer.add_annotation(page_number=1, annotation=FreeText(text="Here", rect=(5, 5, 50, 50)))
    found = mapped(tmp_path, written(writer))
    assert found["has_annotations"] is True
    assert found["annotations"] == {"FreeText": 1, "Text": 1}


def test_what_a_file_would_do_is_told_and_not_done(tmp_path: Path) -> None:
    """Scripts, programs, forms that are sent, other files, links; also one after another."""
    page = (
        b"/AA<</O<</S/JavaScript/JS(app.alert(1))>>>>/Annots[<</Subtype/Link/Rect[0 0 9 9]"
        b"/A<</S/URI/URI(https://a.example/x)/Next[<</S/Launch/F(cmd.exe)>>"
        b"<</S/GoToR/F(\\\\\\\\host\\\\share\\\\b.pdf)>>]>>>>"
        b"<</Subtype/Widget/T(b)/A<</S/SubmitForm/F<</F(http://b.example/)>>>>>>]"
    )
    catalogue = (
        b"/OpenAction<</S/JavaScript/JS(this.print())>>"
        b"/Names<</EmbeddedFiles<</Names[(tool.exe)<</F(tool.exe)>>]>>>>"
    )
    found = mapped(tmp_path, one_page(stream(shown("x")), page=page, catalogue=catalogue))
    warnings = "\n".join(found["warnings"])
    for words in (
        "JavaScript when it is opened", "JavaScript by itself", "starting a program at a click",
        "opening another file at a click", "sending what is in its form in a form field",
        "never done here", "cmd.exe", r"\\host\share\b.pdf", "http://b.example/", "a.example",
        "Files are attached",
    ):  # fmt: skip
        assert words in warnings, words
    assert found["attachments"] == ["tool.exe"]


def test_page_labels_are_listed_where_they_differ(tmp_path: Path) -> None:
    """Small Roman numbers, then numbers that begin anew."""
    labels = b"/PageLabels<</Nums[0<</S/r>>2<</S/D>>]>>"
    found = mapped(tmp_path, text_pages(rows(4), catalogue=labels))
    assert found["page_labels"] == [
        {"page": 1, "label": "i"}, {"page": 2, "label": "ii"},
        {"page": 3, "label": "1"}, {"page": 4, "label": "2"},
    ]  # fmt: skip


def test_facts_are_what_the_file_says_of_itself(tmp_path: Path) -> None:
    """Titles, dates as ISO, the size of a page in inches."""
    about = b"<</Title(Annual  report)/Author(A. Writer)/CreationDate(D:20240131123005+01'00')>>"
    data = one_page(stream(shown("x")), about, trailer=b"/Info 6 0 R")
    assert PDF.info(source(tmp_path, data)) == {
        "format": "pdf",
        "page_count": 1,
        "title": "Annual report",
        "author": "A. Writer",
        "created": "2024-01-31T12:30:05+01:00",
        "page_size": {"width": 8.33, "height": 11.11},
    }


def test_a_long_file_tells_what_was_not_looked_at(tmp_path: Path) -> None:
    """The first 50 pages are; once somebody has read it all, the shelf knows all of them."""
    texts = rows(130)
    texts[4] = texts[120] = ""
    given = source(tmp_path, text_pages(texts), shelf=True)
    found = PDF.map(given)
    assert (found["pages_without_text"], found["pages_looked_at"]) == ([5], "1-50")
    assert len(list(PDF.passages(given))) == 130
    found = PDF.map(given)
    assert found["pages_without_text"] == [5, 121]
    assert "pages_looked_at" not in found
    for kept in (tmp_path / "shelf").iterdir():
        kept.write_bytes(b"{")
    assert PDF.map(given)["pages_looked_at"] == "1-50"


def test_a_very_long_file_is_mapped_in_part(tmp_path: Path) -> None:
    """2,000 pages have chunks; pages beyond can be read, and the map says so."""
    pages = b"3 0 R " * 2500
    data = forged([
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count 2500>>" % pages,
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
    ])  # fmt: skip
    given = source(tmp_path, data)
    found = PDF.map(given)
    assert (found["page_count"], len(found["chunks"])) == (2500, 400)
    assert "2,000 of 2,500 pages" in "".join(found["warnings"])
    assert "[page 2500, without text]" in PDF.read(given, Region(pages="2500")).text


@pytest.mark.parametrize("how", ["RC4-128", "AES-128", "AES-256"])
def test_encrypted_files_are_named_unless_anybody_may_open_them(tmp_path: Path, how: str) -> None:
    """An empty password opens it; another one is asked for in words."""
    writer = by_pypdf(2)
    writer.encrypt("", "owner", algorithm=how, permissions_flag=UserAccessPermissions.PRINT)
    given = source(tmp_path, written(writer))
    assert PDF.map(given)["page_count"] == 2
    assert PDF.info(given)["is_encrypted"] is True
    writer = by_pypdf(2)
    writer.encrypt("secret", algorithm=how)
    given = source(tmp_path, written(writer))
    for ask in (PDF.map, PDF.info, lambda given: PDF.read(given, Region())):
        with pytest.raises(FileReadFailed, match=r"a\.pdf is encrypted and needs a password"):
            ask(given)


def test_structure_that_is_not_found_out_is_said(tmp_path: Path) -> None:
    """A file that only pdfium takes is mapped all the same."""
    data = text_pages(rows(3))
    found = mapped(tmp_path, data[: data.rindex(b"xref")])
    assert found["page_count"] == 3
    assert "cut off" in found["warnings"][0]


def test_what_is_no_pdf_is_refused_in_words(tmp_path: Path) -> None:
    """Empty, text, and a file without pages."""
    for data, words in (
        (b"", "is empty"), (b"hello", "is no PDF file"), (b"%PDF-1.7\nhello", "is damaged"),
        (forged([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"]), "no page"),
    ):  # fmt: skip
        with pytest.raises(FileReadFailed, match=words):
            mapped(tmp_path, data)


@pytest.mark.parametrize("name", [b"/Annots", b"/Ann#6fts", b"/#41nnots"])
def test_names_in_a_roundabout_way_are_seen(tmp_path: Path, name: bytes) -> None:
    """Pages are looked at for annotations unless the bytes say that there are none."""
    page = name + b"[<</Subtype/Text/Contents(a)>>]"
    assert mapped(tmp_path, one_page(stream(shown("x")), page=page))["annotations"] == {"Text": 1}


def test_texts_with_half_a_pair_of_surrogates_are_told(tmp_path: Path) -> None:
    """In what a file says of itself, in its contents and as a page's label: U+FFFD stands there."""
    half = b"<FEFF0061D8000062>"
    data = one_page(
        stream(shown("text")),
        b"<</Title%s>>" % half,
        b"<</First 8 0 R/Last 8 0 R/Count 1>>",
        b"<</Title%s/Parent 7 0 R/Dest[3 0 R/Fit]>>" % half,
        catalogue=b"/Outlines 7 0 R/PageLabels<</Nums[0<</P%s>>]>>" % half,
        trailer=b"/Info 6 0 R",
    )
    file = source(tmp_path, data)

    found = PDF.map(file)
    assert found["toc"][0]["title"] == "a\ufffdb"
    assert [each["label"] for each in found["page_labels"]] == ["a\ufffdb"]
    assert PDF.info(file)["title"] == "a\ufffdb"
    assert "numbered a\ufffdb" in PDF.read(file, Region()).text
    assert PDF.compare(None, file, CompareOptions()).total > 0
