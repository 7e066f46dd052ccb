"""The files that benchmarks/documents.py measures with: the same on every machine."""

import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import docx
import pptx
from docx.oxml.parser import parse_xml
from pptx.util import Inches

__all__ = ["PARAGRAPHS_PER_SECTION", "write_deck", "write_document", "write_pages"]

PARAGRAPHS_PER_SECTION = 50

_WORDS = (
    "account", "balance", "board", "budget", "change", "client", "contract", "cost", "customer",
    "date", "delivery", "demand", "draft", "figure", "growth", "invoice", "item", "margin",
    "market", "month", "office", "order", "paid", "plan", "price", "product", "quarter", "report",
    "result", "risk", "sales", "sheet", "staff", "start", "supply", "target", "team", "total",
)  # fmt: skip
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_LINES_PER_PAGE = 40
_PAGES_PER_ENTRY = 20


def _sentences(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words)).capitalize() + "."


def write_document(path: Path, paragraphs: int, tables: int = 0) -> None:
    """Write a document in which every fiftieth paragraph is a heading, with tables between."""
    chance = random.Random(11)
    document = docx.Document()
    body = document.element.body
    ending = body[-1]
    every = paragraphs // tables if tables else paragraphs + 1
    for number in range(paragraphs):
        if number % PARAGRAPHS_PER_SECTION:
            style, text = "", _sentences(chance, 18)
        else:
            style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
            text = f"Section {number // PARAGRAPHS_PER_SECTION}"
        runs = f"<w:r><w:t>{text[:40]}</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>{text[40:]}</w:t>"
        ending.addprevious(parse_xml(f'<w:p xmlns:w="{_W}">{style}{runs}</w:r></w:p>'))
        if number % every == every - 1:
            ending.addprevious(parse_xml(_table(chance)))
    document.save(str(path))


def _table(chance: random.Random) -> str:
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    rows = "".join(
        f"<w:tr>{''.join(cell.format(chance.choice(_WORDS)) for _ in range(4))}</w:tr>"
        for _ in range(8)
    )
    return f'<w:tbl xmlns:w="{_W}"><w:tblPr/><w:tblGrid/>{rows}</w:tbl>'


def write_deck(path: Path, slides: int) -> None:
    """Write a deck of a title, six points and a text box a slide; every fifth has notes."""
    chance = random.Random(12)
    deck = pptx.Presentation()
    for number in range(slides):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number} on {chance.choice(_WORDS)}"
        slide.placeholders[1].text = "\n".join(_sentences(chance, 7) for _ in range(6))
        box = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(4), Inches(1))
        box.text_frame.text = _sentences(chance, 4)
        if number % 5 == 0:
            slide.notes_slide.notes_text_frame.text = _sentences(chance, 20)
    deck.save(str(path))


def write_pages(path: Path, pages: int) -> None:
    """Write a PDF of text, forty lines a page, with an outline that names each twentieth page."""
    parts = list(_objects(pages))
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(parts) + 1, start)
    path.write_bytes(out)


def _objects(pages: int) -> Iterator[bytes]:
    """Yield the objects of the file in order: catalog, pages, font, outline, entries, each page."""
    chance = random.Random(13)
    entries = range(0, pages, _PAGES_PER_ENTRY)
    first_entry, first_page = 5, 5 + len(entries)
    yield b"<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>"
    kids = b" ".join(b"%d 0 R" % (first_page + 2 * page) for page in range(pages))
    yield b"<</Type/Pages/Count %d/Kids[%b]>>" % (pages, kids)
    yield b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
    last = first_entry + len(entries) - 1
    yield b"<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>" % (
        first_entry, last, len(entries),
    )  # fmt: skip
    for place, page in enumerate(entries):
        number = first_entry + place
        beside = b"" if number == first_entry else b"/Prev %d 0 R" % (number - 1)
        beside += b"" if number == last else b"/Next %d 0 R" % (number + 1)
        yield b"<</Title(Chapter %d)/Parent 4 0 R%b/Dest[%d 0 R/Fit]>>" % (
            place + 1, beside, first_page + 2 * page,
        )  # fmt: skip
    for page in range(pages):
        yield (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>"
            b"/Contents %d 0 R>>" % (first_page + 2 * page + 1)
        )
        lines = (f"({_sentences(chance, 12)})Tj T*".encode() for _ in range(_LINES_PER_PAGE))
        text = b"BT /F 11 Tf 18 TL 50 790 Td " + b"\n".join(lines) + b" ET"
        packed = zlib.compress(text)
        yield b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(packed), packed)
