"""Printed documents, which are the same bytes each time."""

import io
import re
import time
from pathlib import Path

import pypdf
import pytest

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_pdf.handler import PdfFormat
from pdf_forge import text_pages

INFORMATION = (
    b"/Producer<FEFF004C>\n/CreationDate(D:%s%s)>>\nendobj\n%%padding\ntrailer\n<<"
    b"/ID [ <%s>\n<%s> ]\n/DocChecksum /%s\n>>\nstartxref\n9\n%%%%EOF\n"
)


def printed(folder: Path, date: bytes, digit: bytes, zone: bytes = b"Z'") -> Source:
    """A document as LibreOffice ends it, with a date and an identity."""
    path = folder / "printed.pdf"
    chance = digit * 32
    end = INFORMATION % (date, zone, chance, chance, chance[::-1])
    path.write_bytes(text_pages(["Page"]) + end)
    return Source(path, "a.docx")


def settled(source: Source, target: Path) -> bytes:
    """A printed document without what differs."""
    PdfFormat().settle_print(source, target)
    return target.read_bytes()


def test_two_prints_are_the_same_bytes(tmp_path: Path) -> None:
    """Whenever and wherever they were made; of another document the identity is another one."""
    first = settled(printed(tmp_path, b"20261128151747", b"A"), tmp_path / "1")
    second = settled(printed(tmp_path, b"20270101000000", b"7"), tmp_path / "2")
    source = printed(tmp_path, b"20261128151747", b"A")
    source.path.write_bytes(source.path.read_bytes().replace(b"%padding", b"%another"))
    other = settled(source, tmp_path / "3")

    assert first == second
    identities = [re.findall(rb"<([0-9A-F]{32})>", each) for each in (first, other)]
    assert identities[0][0] == identities[0][1] != identities[1][0]
    assert b"CreationDate" not in first


def test_no_byte_moves(tmp_path: Path) -> None:
    """Offsets stay right: all but the date, the identity and the checksum is as it was."""
    source = printed(tmp_path, b"20261128151747", b"A", b"+01'00'")
    before = source.path.read_bytes()
    after = settled(source, tmp_path / "made")

    assert len(after) == len(before)
    assert after.startswith(text_pages(["Page"]))
    assert after.endswith(b"startxref\n9\n%%EOF\n")
    assert source.path.read_bytes() == before


def test_text_that_looks_like_a_date_stays(tmp_path: Path) -> None:
    """Only the entry of the file's information goes, no words of a page or a title."""
    path = tmp_path / "a.pdf"
    path.write_bytes(text_pages(["/CreationDate(D:20261128151747Z')"]))
    made = settled(Source(path, "a.docx"), tmp_path / "made")

    assert made == path.read_bytes()


def test_a_print_that_is_gone_is_told(tmp_path: Path) -> None:
    """By a typed error with the document's name, without a path."""
    with pytest.raises(FileReadFailed, match=r"a\.docx") as told:
        PdfFormat().settle_print(Source(tmp_path / "none", "a.docx"), tmp_path / "made")

    assert str(tmp_path) not in told.value.message


def test_a_file_with_dates_is_still_read(tmp_path: Path) -> None:
    """What a library made with a date opens as before, without it."""
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    stream = io.BytesIO()
    writer.write(stream)
    date = time.strftime("D:%Y%m%d%H%M%SZ", time.gmtime(0)).encode()
    data = stream.getvalue().replace(
        b"/Producer (pypdf)", b"/Producer (pypdf)\n/CreationDate(%s)" % date
    )
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    made = settled(Source(path, "a.docx"), tmp_path / "made")

    assert made != data
    reader = pypdf.PdfReader(io.BytesIO(made))
    assert len(reader.pages) == 1
    assert reader.metadata is not None
    assert "/CreationDate" not in reader.metadata
