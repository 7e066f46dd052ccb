"""Documents that are made to do harm: each is read as far as it can be, cheaply, or refused."""

import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from confined import Answer, Confined, confined, opened, refused
from kbd_docx import DocxFormat
from made_documents import W, made, para
from zipforge import forge, members

ACTIONS = ("map", "objects", "info")
MAX_BYTES = 200 << 20
MAX_CPU_S = 12.0
"""A worker has 1.5 GiB and 30 s; what is measured beside other work must leave room."""

Build = Callable[[Path], Path]


@pytest.fixture(scope="module")
def cell() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(DocxFormat, ACTIONS) as found:
        yield found


def told(cell: Confined, folder: Path, build: Build) -> dict[str, Answer]:
    """Do everything to a document, and see that it stayed within bounds."""
    data = build(folder / "made.docx").read_bytes()
    found = opened(cell, folder / "blob", data, "a.docx")
    for action, answer in found.items():
        assert answer.peak_bytes <= MAX_BYTES, (action, answer.peak_bytes >> 20)
        assert answer.cpu_s <= MAX_CPU_S, (action, answer.cpu_s)
    return found


def body(xml: str, **parts: str) -> Build:
    """A document with a body and more parts."""
    return lambda path: made(path, xml, parts)


def nested(opening: str, closing: str, count: int, inside: str = "") -> Build:
    return body(opening * count + inside + closing * count)


def styled(text: str, style: str) -> str:
    return para(text).replace("<w:p>", f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>', 1)


def table(cells: str) -> str:
    return f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"


CELL = "<w:tbl><w:tr><w:tc>"
CELL_END = "</w:tc></w:tr></w:tbl>"
WIDE = '<w:tc><w:tcPr><w:gridSpan w:val="1000000000"/></w:tcPr><w:p/></w:tc>'
BOX = "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>"
BOX_END = "</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
LISTED = '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr></w:p>'


def level(start: str, form: str, text: str = "%1.") -> str:
    return (
        f'<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="{start}"/>'
        f'<w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )


def mixed(count: int) -> Build:
    """Runs whose texts do not repeat, so that no ratio gives them away."""

    def build(path: Path) -> Path:
        chance = random.Random(1)
        runs = "".join(f"<w:r><w:t>{chance.getrandbits(64):x}</w:t></w:r>" for _ in range(count))
        return made(path, f"<w:p>{runs}</w:p>")

    return build


def styles(count: int) -> str:
    """A chain of styles, each based on the next, the last on the first."""
    return "".join(
        f'<w:style w:type="paragraph" w:styleId="s{n}"><w:basedOn w:val="s{(n + 1) % count}"/>'
        "</w:style>"
        for n in range(count)
    )


LINKED_NUMBERING = "".join(
    f'<w:abstractNum w:abstractNumId="{n}"><w:numStyleLink w:val="l{1 - n}"/></w:abstractNum>'
    for n in (0, 1)
) + "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in (0, 1))
LINKED_STYLES = "".join(
    f'<w:style w:type="numbering" w:styleId="l{n}"><w:pPr><w:numPr><w:numId w:val="{n + 1}"/>'
    "</w:numPr></w:pPr></w:style>"
    for n in (0, 1)
)

READ: dict[str, Build] = {
    "a table that claims 10^9 columns": body(table(WIDE * 1000) + "<w:p/>"),
    "a row of 20,000 cells": body(table("<w:tc><w:p/></w:tc>" * 20_000) + "<w:p/>"),
    "a start of 5,000 digits": body(LISTED, numbering=level("9" * 5000, "decimal")),
    "letters up to 10^9": body(para("a") + LISTED, numbering=level("1000000000", "lowerLetter")),
    "Roman numbers up to 10^9": body(LISTED, numbering=level("1000000000", "upperRoman")),
    "a label of 1 MB": body(LISTED * 2000, numbering=level("1", "decimal", "%1" * 500_000)),
    "styles in a circle": body(styled("a", "s1"), styles=styles(2)),
    "a chain of 20,000 styles": body(styled("a", "s0"), styles=styles(20_000)),
    "lists that stand for each other": body(
        LISTED, numbering=LINKED_NUMBERING, styles=LINKED_STYLES
    ),
    "a paragraph of 40,000 runs": mixed(40_000),
    "fields that never end": body(
        "<w:p>" + '<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * 20_000 + "</w:p>"
    ),
    "fields that end first": body(
        "<w:p>" + '<w:r><w:fldChar w:fldCharType="end"/></w:r>' * 20_000 + "</w:p>"
    ),
    "8,000 headings": body(
        "".join(
            f'<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>h{n}</w:t></w:r></w:p>'
            for n in range(8_000)
        )
    ),
    "one note cited 10,000 times": body(
        '<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>' * 10_000,
        footnotes=f'<w:footnote w:id="1">{para("x" * 50_000)}</w:footnote>',
    ),
    "a note that cites itself": body(
        '<w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>',
        footnotes='<w:footnote w:id="1"><w:p><w:r><w:footnoteReference w:id="1"/></w:r></w:p>'
        "</w:footnote>",
    ),
    "headers within a header": body(
        para("a") + '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/></w:sectPr>',
        header1=para("h") + '<w:sectPr><w:headerReference w:type="default" r:id="rheader1"/>'
        "</w:sectPr>",
    ),
    "a header named 5,000 times": body(
        ('<w:p><w:pPr><w:sectPr><w:headerReference r:id="rheader1"/></w:sectPr></w:pPr></w:p>')
        * 5_000,
        header1=para("h" * 10_000),
    ),
    "text boxes in text boxes": nested(BOX, BOX_END, 30, para("deep")),
    "tables in tables": nested(CELL, CELL_END, 50, para("deep")),
    "hidden runs by turns": body(
        "<w:p>"
        + "<w:r><w:rPr><w:vanish/></w:rPr><w:t> </w:t></w:r><w:r><w:t>a</w:t></w:r>" * 8_000
        + "</w:p>"
    ),
    "60,000 breaks": body("<w:p><w:r>" + "<w:br/>" * 60_000 + "</w:r></w:p>"),
    "20,000 page breaks": body("<w:p><w:r>" + '<w:br w:type="page"/>' * 20_000 + "</w:r></w:p>"),
}  # fmt: skip


LONG = (
    "a row of 20,000 cells", "a label of 1 MB", "8,000 headings", "fields that end first",
    "one note cited 10,000 times", "a header named 5,000 times", "60,000 breaks",
    "20,000 page breaks", "hidden runs by turns",
)  # fmt: skip
"""Too many seconds for `make test`."""


@pytest.mark.parametrize(
    "which",
    [pytest.param(each, marks=pytest.mark.full if each in LONG else ()) for each in READ],
)
def test_documents_that_claim_too_much_are_read_within_bounds(
    which: str, cell: Confined, tmp_path: Path
) -> None:
    """Whatever a document claims, what is there is read, in time and memory that it is worth."""
    for action, answer in told(cell, tmp_path, READ[which]).items():
        assert answer.kind == "returned", (action, answer.text[:300])


def holding(inside: bytes, part: str = "word/document.xml") -> Build:
    """A document with one part's contents replaced."""

    def build(path: Path) -> Path:
        with zipfile.ZipFile(made(path, para("a"))) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        path.write_bytes(forge(members({**parts, part: inside})))
        return path

    return build


BOMB = b"<w:document xmlns:w='%s'><w:body>" % W[1:-1].encode() + b"<w:p/>" * (50 << 17)

REFUSED: dict[str, tuple[Build, str]] = {
    "tables 200,000 deep": (nested(CELL, CELL_END, 50_000), "damaged"),
    "content controls 200,000 deep": (
        nested("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>", 100_000), "damaged",
    ),
    "empty paragraphs without end": (holding(BOMB), "unpacks to"),
    "no body": (holding(b"<w:document xmlns:w='%s'/>" % W[1:-1].encode()), "no body"),
    "a style part that is cut": (
        lambda path: made(path, para("a"), {"styles": "<w:style"}), "damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", REFUSED)
def test_documents_that_cannot_be_read_are_refused(
    which: str, cell: Confined, tmp_path: Path
) -> None:
    """What is nested without end, fills the memory or is cut is refused by name, cheaply."""
    build, words = REFUSED[which]
    found = told(cell, tmp_path, build)
    # What a document tells of itself stands elsewhere, and may be told.
    found.pop("info")

    refused(found, words)


def test_parts_that_dangle_or_are_damaged_beside_the_text_cost_nothing(
    cell: Confined, tmp_path: Path
) -> None:
    """A missing header, a chart that is no XML and broken relations of a header are passed over."""
    chart = (
        "<w:p><w:r><w:t>kept</w:t></w:r><w:r><w:drawing><wp:inline><a:graphic><a:graphicData>"
        '<c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
        ' r:id="rchart1"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
        '<w:sectPr><w:headerReference w:type="default" r:id="rnone"/></w:sectPr>'
    )
    found = told(cell, tmp_path, body(chart, **{"chart1.xml": "<no xml"}))

    assert "kept" in found["objects"].text
    assert "[chart]" in found["objects"].text
