"""OpenDocument texts: what is in them is mapped and read, and what is not shown is told."""

from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Reading, Region, Source
from kbd_odt import OdtFormat
from odt_texts import AUTOMATIC, BODY, content, flat, rich_text, text_file


@pytest.fixture
def rich(tmp_path: Path) -> Source:
    """A text with a bit of everything."""
    return Source(rich_text(tmp_path / "rich"), "report.odt")


def read(source: Source, **region: str | int) -> Reading:
    """Read a region."""
    return OdtFormat().read(source, Region(**region))  # type: ignore[arg-type]


def test_the_map_lists_sections_tables_and_images(rich: Source) -> None:
    """Sections begin at headings, and text before the first one is a section; all is tied to it."""
    found = OdtFormat().map(rich)

    shown = [(s["heading"], s["level"], s["paragraphs"]) for s in found["sections"]]
    assert shown == [
        ("", 0, "1-1"), ("First part", 1, "2-10"), ("Table", 2, "11-12"), ("Pictures", 1, "13-15"),
    ]  # fmt: skip
    assert [s["has_tables"] for s in found["sections"]] == [False, False, True, False]
    assert [s["has_images"] for s in found["sections"]] == [False, False, False, True]
    assert found["tables"] == [
        {"index": 0, "section": "Table", "section_index": 2, "rows": 5, "cols": 3,
         "name": "Prices", "header": ["Item", "Price"]}
    ]  # fmt: skip
    assert found["images"] == [
        {"index": 0, "section": "Pictures", "section_index": 3, "alt_text": "Sales by month",
         "name": "Graph", "file": "Pictures/1.png"}
    ]  # fmt: skip
    assert found["has_headers_footers"]
    assert found["headers"] == [
        {"page_style": "Standard", "type": "default", "text": "Our firm"},
        {"page_style": "Standard", "type": "first", "text": "Cover"},
    ]
    assert "footers" not in found
    assert (found["paragraph_count"], found["footnote_count"], found["endnote_count"]) == (15, 1, 0)
    assert found["has_comments"]
    assert found["has_tracked_changes"]
    assert found["total_char_count"] == sum(s["char_count"] for s in found["sections"])
    for index, section in enumerate(found["sections"]):
        assert section["char_count"] == len(read(rich, section=index).text)
        assert [chunk["paragraphs"] for chunk in section["chunks"]] == [section["paragraphs"]]


def test_text_is_read_as_it_is_shown(rich: Source) -> None:
    """Blanks, tabs, breaks, lists with their labels, tables, notes, boxes, pictures, fields."""
    text = read(rich).text

    assert "# First part\nOne   two\tthree\nfour five [hidden: six] link\n" in text
    assert "1. apples\n  1.a green\n  1.b red\n7. pears\n  of two kinds\n" in text
    assert "in a section\n[hidden: kept back]\n## Table\n" in text
    table = "[table 0: 5 rows, 3 columns]\n| Item | Price |\n| Tea / green | 3 | 3 |\n|  |\n"
    assert table in text
    assert "After[footnote 1: as of May] it[comment by Ann: sure?]\n" in text
    assert "[image: Sales by month][text box: boxed / twice]\n[text box: on a shape]\n" in text
    assert text.endswith("page 4[hidden: secret]")
    assert "struck out" not in text


def test_what_is_not_shown_is_told(rich: Source) -> None:
    """Deletions, insertions, hidden texts and comments are counted in the warnings."""
    warnings = read(rich).warnings

    assert warnings == tuple(OdtFormat().map(rich)["warnings"])
    assert "1 tracked deletion is not shown." in warnings
    assert any("3 hidden texts" in warning for warning in warnings)
    assert any("1 comment" in warning for warning in warnings)


def test_sections_are_found_by_heading_or_index(tmp_path: Path) -> None:
    """By the heading, blanks and case ignored if need be; a number that is none is an index."""
    headings = ("Intro", "2024", "Summary of all", "Summary", "summary", "Same", "Same")
    body = "".join(
        f'<text:h text:outline-level="1">{h}</text:h><text:p>{i}</text:p>'
        for i, h in enumerate(headings)
    )
    source = Source(text_file(tmp_path / "a", body), "a.odt")

    for wanted, index in (
        ("Intro", 0), ("intro ", 0), ("2024", 1), ("summaryofall", 2), ("Summary", 3),
        ("summary", 4), ("5", 5), (6, 6), ("0", 0),
    ):  # fmt: skip
        assert read(source, section=wanted).text == f"# {headings[index]}\n{index}", wanted

    for wanted, told in (
        ("Same", "5, 6"), ("SUMMARY", "3, 4"), ("Else", "Intro"), (7, "from 0 to 6"),
        ("-1", "0 to"),
    ):  # fmt: skip
        with pytest.raises(ValidationFailed, match=told):
            read(source, section=wanted)


def test_long_texts_are_read_by_chunks(tmp_path: Path) -> None:
    """A section of many paragraphs, and a table of many rows, are parted at their borders."""
    rows = "".join(
        f"<table:table-row><table:table-cell><text:p>row {n} {'x' * 90}</text:p></table:table-cell>"
        "</table:table-row>"
        for n in range(100)
    )
    body = "".join(f"<text:p>paragraph {n} {'y' * 80}</text:p>" for n in range(200))
    body += f"<table:table>{rows}</table:table>"
    source = Source(text_file(tmp_path / "a", body), "a.odt")
    chunks = OdtFormat().map(source)["sections"][0]["chunks"]

    assert len(chunks) > 6
    assert all(chunk["char_count"] <= 4_000 for chunk in chunks)
    texts = [read(source, chunk=index) for index in range(len(chunks))]
    assert [len(each.text) for each in texts] == [chunk["char_count"] for chunk in chunks]
    whole = "\n".join(each.text for each in texts)
    assert all(f"paragraph {n} y" in whole for n in range(200))
    assert all(f"| row {n} x" in whole for n in range(100))
    first = read(source)
    assert first.text == texts[0].text == read(source, section=0).text
    assert first.chunk_info == texts[0].chunk_info
    assert first.chunk_info is not None
    assert first.chunk_info.has_more
    assert first.chunk_info.range == f"section 0, paragraphs {chunks[0]['paragraphs']}"
    assert "this is the first" in first.warnings[0]
    last = texts[-1].chunk_info
    assert last is not None
    assert last.range == "section 0, table 0"
    with pytest.raises(ValidationFailed, match="there is no chunk 99"):
        read(source, chunk=99)


def test_facts_are_what_the_file_tells(rich: Source) -> None:
    """Title and counts as the program stored them; the suffix says which kind."""
    told = {"format": "odt", "title": "Report", "page_count_told": 2, "word_count_told": 99}
    assert OdtFormat().info(rich) == told


def test_numbering_goes_on_where_it_is_said(tmp_path: Path) -> None:
    """A list that continues another one counts on; one that does not begins anew."""
    item = "<text:list-item><text:p>x</text:p></text:list-item>"
    body = "".join(
        f'<text:list text:style-name="L1" {more}>{item}{item}</text:list>'
        for more in ("", 'text:continue-numbering="true"', "")
    )
    source = Source(text_file(tmp_path / "a", body, automatic=AUTOMATIC), "a.odt")

    assert read(source).text.split() == ["1.", "x", "2.", "x", "3.", "x", "4.", "x",
                                         "1.", "x", "2.", "x"]  # fmt: skip


def test_a_flat_text_is_read_alike(tmp_path: Path) -> None:
    """One XML file with all of it is the same text."""
    path = tmp_path / "flat"
    path.write_bytes(flat(BODY))

    found = read(Source(path, "a.fodt")).text

    assert "After[footnote 1: as of May] it[comment by Ann: sure?]\n" in found


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("application/vnd.oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet"),
        ("application/vnd.oasis.opendocument.presentation-template", "presentation"),
        ("application/vnd.sun.xml.writer", "a package of type application/vnd.sun.xml.writer"),
        ("", None),
        ("application/vnd.oasis.opendocument.text-template\n", None),
    ],
)
def test_what_it_says_that_it_is(tmp_path: Path, kind: str, told: str | None) -> None:
    """Another kind is named; one that says nothing, or is a template, is read."""
    source = Source(text_file(tmp_path / "a", "<text:p>x</text:p>", kind=kind), "a.odt")
    if told is None:
        assert read(source).text == "x"
        return
    with pytest.raises(FileReadFailed, match=told):
        read(source)


def test_a_spreadsheet_without_a_name_is_named(tmp_path: Path) -> None:
    """What the contents are counts, too."""
    sheet = content("").replace("office:text", "office:spreadsheet")
    path = text_file(tmp_path / "a", "", kind="")
    path = text_file(path, "", kind="", content=sheet)

    with pytest.raises(FileReadFailed, match="it is a spreadsheet"):
        read(Source(path, "a.odt"))


def test_an_encrypted_text_is_named(tmp_path: Path) -> None:
    """That it needs a password is told, whatever its parts look like."""
    entry = (
        '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
        "</manifest:file-entry>"
    )
    source = Source(text_file(tmp_path / "a", "<text:p/>", manifest=entry), "a.odt")

    for ask in (OdtFormat().map, OdtFormat().info):
        with pytest.raises(FileReadFailed, match="encrypted with a password"):
            ask(source)
