"""Tables of pages, words with their boxes, and text in columns, on pages made here."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import FoundTable, Region, Source
from kbd_pdf import PdfFormat
from pdf_forge import FONT, forged, one_page, shown, stream

PDF = PdfFormat()

ROWS = (("Item", "Place", "Sold"), ("Bolt", "B-07", "289"), ("Nut", "C-15", "-23"))
LEFTS = (72, 200, 320)


def written(tmp_path: Path, data: bytes) -> Source:
    """A file with these bytes."""
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    return Source(path, path.name)


def texts(rows: Sequence[Sequence[str]], top: int = 700, pitch: int = 20) -> bytes:
    """What paints rows of texts in three columns."""
    return b"".join(
        shown(text, f"{left} {top - pitch * number}")
        for number, row in enumerate(rows)
        for left, text in zip(LEFTS, row, strict=True)
        if text
    )


def lines(*ends: tuple[int, int, int, int]) -> bytes:
    """What strokes lines."""
    return b"".join(b"%d %d m %d %d l S\n" % each for each in ends)


def tables(source: Source, pages: str | None = None) -> tuple[FoundTable, ...]:
    """The tables of a file."""
    return PDF.layout(source, Region(pages=pages), "tables").tables


def test_unruled_columns_are_a_table_with_blank_cells_kept(tmp_path: Path) -> None:
    """Texts in columns without lines are a table; a cell that is blank is blank, not skipped."""
    rows = (*ROWS, ("", "D-22", "156"), ("Washer", "", "+15"))
    (table,) = tables(written(tmp_path, one_page(stream(texts(rows)))))
    assert table.rows == rows
    assert not table.is_ruled


def test_a_ruled_table_has_its_lines_as_rows(tmp_path: Path) -> None:
    """Where lines are drawn two lines of text between them are one cell."""
    rows = (("Item", "Place", "Sold"), ("Long", "B-07", "289"))
    content = texts(rows, pitch=40) + shown("name", "72 646")
    across = [(60, y, 400, y) for y in (720, 680, 640)]
    down = [(x, 640, x, 720) for x in (60, 190, 310, 400)]
    (table,) = tables(written(tmp_path, one_page(stream(content + lines(*across, *down)))))
    assert table.rows == (("Item", "Place", "Sold"), ("Long name", "B-07", "289"))
    assert table.is_ruled
    assert table.box == (60.0, 80.0, 400.0, 160.0)


def test_a_merged_header_is_told_by_its_span(tmp_path: Path) -> None:
    """A cell over two columns has its text in the first, and is named as merged."""
    content = shown("Item", "72 700") + shown("Both together", "220 700")
    content += texts(ROWS[1:], top=660, pitch=40)
    across = [(60, y, 400, y) for y in (720, 680, 640, 600)]
    down = [(60, 600, 60, 720), (190, 600, 190, 720), (310, 600, 310, 680), (400, 600, 400, 720)]
    (table,) = tables(written(tmp_path, one_page(stream(content + lines(*across, *down)))))
    assert table.rows == (("Item", "Both together", ""), *ROWS[1:])
    (merge,) = table.merged
    assert (merge.row, merge.column, merge.row_count, merge.column_count) == (1, 2, 1, 2)


def test_rows_of_a_frame_are_parted_by_their_figures(tmp_path: Path) -> None:
    """Where lines part only columns and the header, each line with figures is a row."""
    across = [(60, y, 400, y) for y in (715, 690, 640)]
    down = [(x, 640, x, 715) for x in (60, 190, 310, 400)]
    (table,) = tables(written(tmp_path, one_page(stream(texts(ROWS) + lines(*across, *down)))))
    assert table.rows == ROWS


def test_a_wrapped_cell_without_lines_goes_on(tmp_path: Path) -> None:
    """Words right below words, with nothing in the first column, belong to the row above."""
    content = texts(ROWS, pitch=40) + shown("and more", "200 647")
    (table,) = tables(written(tmp_path, one_page(stream(content))))
    assert table.rows == (ROWS[0], ("Bolt", "B-07 and more", "289"), ROWS[2])


def test_text_in_two_columns_is_no_table(tmp_path: Path) -> None:
    """Running text beside running text is not taken for a table of two columns."""
    words = "of a page of running text"
    content = b"".join(
        shown(f"Line {n} {words}", f"{x} {700 - 14 * n}") for n in range(20) for x in (50, 330)
    )
    assert tables(written(tmp_path, one_page(stream(content)))) == ()


def test_a_table_that_goes_on_over_the_page_says_so(tmp_path: Path) -> None:
    """A table at the foot and one with its columns at the head of the next page are one."""
    down = [(x, 40, x, 790) for x in (60, 190, 310, 400)]
    across = [(60, y, 400, y) for y in (790, 440, 40)]
    grid = lines(*down, *across)
    foot = texts(ROWS, top=700) + texts(ROWS, top=200)
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
        *(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R"
            b"/Resources<</Font<</F 7 0 R>>>>>>" % number
            for number in (5, 6)
        ),
        stream(foot + grid),
        stream(foot + grid),
        FONT,
    )
    found = tables(written(tmp_path, forged(objects)))
    assert [(table.page, table.goes_on) for table in found] == [(1, False), (2, True)]


def test_a_turned_page_has_its_table_as_it_is_seen(tmp_path: Path) -> None:
    """Where a page is shown turned, rows and boxes are those that are seen."""
    turned = b"".join(
        f"BT /F 12 Tf 0 1 -1 0 {100 + 20 * number} {left} Tm ({text}) Tj ET\n".encode()
        for number, row in enumerate(ROWS)
        for left, text in zip(LEFTS, row, strict=True)
    )
    source = written(tmp_path, one_page(stream(turned), page=b"/Rotate 90"))
    (table,) = tables(source)
    assert table.rows == ROWS
    assert table.box[2] - table.box[0] > table.box[3] - table.box[1]


def test_words_have_boxes_from_the_top_left(tmp_path: Path) -> None:
    """Each word has its page and its box, in points from the corner at the top left."""
    source = written(tmp_path, one_page(stream(shown("Two words", "72 700"))))
    first, second = PDF.layout(source, Region(), "words").words
    assert (first.text, first.page, second.text) == ("Two", 1, "words")
    left, top, right, bottom = first.box
    assert 71 <= left < right < second.box[0]
    assert 80 < top < 100 < bottom < 110


def test_text_in_layout_keeps_columns_apart(tmp_path: Path) -> None:
    """In the text as it stands on the page columns begin below each other."""
    text = PDF.layout(written(tmp_path, one_page(stream(texts(ROWS)))), Region(), "text").text
    header, bolt, _ = (line for line in text.splitlines() if "[" not in line and line.strip())
    assert header.index("Place") == bolt.index("B-07")
    assert header.index("Sold") == bolt.index("289")


def test_pages_that_are_not_there_are_refused_in_words(tmp_path: Path) -> None:
    """A page that is not there, or another coordinate, is refused by name."""
    source = written(tmp_path, one_page(stream(texts(ROWS))))
    with pytest.raises(ValidationFailed, match="page 2 is not one of them"):
        tables(source, "2")
    with pytest.raises(ValidationFailed, match="not by sheet"):
        PDF.layout(source, Region(sheet="A"), "tables")


def test_a_page_of_rules_does_not_hang(tmp_path: Path) -> None:
    """Ten thousand lines that cross each other are given up on, and the text is read."""
    many = b"".join(
        b"0 %d m 600 %d l S\n%d 0 m %d 800 l S\n" % (n % 800, n % 800, n % 600, n % 600)
        for n in range(5000)
    )
    source = written(tmp_path, one_page(stream(texts(ROWS) + many)))
    assert len(PDF.layout(source, Region(), "words").words) == 9
    tables(source)
