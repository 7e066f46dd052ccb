"""Tables of slides: added in the deck's style, their cells set, rows put in and taken out."""

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.util import Inches

from deck_edits import edit, make, slides
from deck_judge import DeckFile, changed_parts
from kbd.errors import ValidationFailed

ROWS = [["Region", "2023", "Change"], ["North", 1200, "12.5%"], ["South", 900.5, "-5.6%"]]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def tabled(tmp_path: Path) -> Path:
    """A deck with a table of three rows, whose first cells of the last two are one."""
    path = tmp_path / "tabled.pptx"
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Numbers"
    frame = slide.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(6), Inches(1.2))
    table = frame.table
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"{row}.{column}"
    run = table.cell(1, 1).text_frame.paragraphs[0].runs[0]
    run.font.bold, run.font.italic = True, True
    table.cell(1, 0).merge(table.cell(2, 0))
    deck.save(str(path))
    return path


def table_of(path: Path, index: int = 0) -> Any:
    """The first table of a slide."""
    return next(shape for shape in slides(path)[index].shapes if shape.has_table)


def cells(path: Path, index: int = 0) -> list[list[str]]:
    """The texts of the first table of a slide."""
    return [[cell.text for cell in row.cells] for row in table_of(path, index).table.rows]


def test_a_table_takes_the_empty_placeholder(out: Path) -> None:
    """It fills the layout's place for contents, with a header, figures at the right."""
    make(
        out,
        {"op": "add_slide", "title": "Sales"},
        {"op": "add_table", "index": 0, "rows": ROWS, "description": "Sales by region"},
    )

    frame = table_of(out)
    assert cells(out) == [
        ["Region", "2023", "Change"], ["North", "1200", "12.5%"], ["South", "900.5", "-5.6%"],
    ]  # fmt: skip
    assert frame.is_placeholder
    assert frame.placeholder_format.idx == 1
    place = slides(out)[0].slide_layout.placeholders[1]
    assert (frame.left, frame.top, frame.width) == (place.left, place.top, place.width)
    assert sum(column.width for column in frame.table.columns) == frame.width
    assert frame.table.first_row
    aligned = [p.alignment for c in frame.table.rows[1].cells for p in c.text_frame.paragraphs]
    assert [None if each is None else each.name for each in aligned] == [None, "RIGHT", "RIGHT"]
    described = frame.element.xpath("./p:nvGraphicFramePr/p:cNvPr/@descr")
    assert described == ["Sales by region"]


def test_a_table_beside_a_text_takes_the_other_place(out: Path) -> None:
    """Of two contents it takes the one that has no text; the text stays."""
    make(
        out,
        {"op": "add_slide", "layout": "two_content", "title": "T", "body": "left"},
        {"op": "add_table", "index": 0, "rows": ROWS},
    )

    assert table_of(out).placeholder_format.idx == 2
    assert slides(out)[0].placeholders[1].text_frame.text == "left"


def test_place_size_and_style_are_as_given(out: Path) -> None:
    """Inches, widths of columns, a style by its name; one that is not there is an error."""
    table = {
        "op": "add_table", "index": 0, "rows": ROWS, "left": 2, "top": 3,
        "column_widths": [3, 1, 1.5], "alignment": ["center", "left", "right"], "header": False,
        "style": "medium style 2 - accent 2",
    }  # fmt: skip
    make(out, {"op": "add_slide", "layout": "title_only", "title": "T"}, table)

    frame = table_of(out)
    assert [column.width for column in frame.table.columns] == [Inches(3), Inches(1), Inches(1.5)]
    assert (frame.left, frame.top) == (Inches(2), Inches(3))
    assert not frame.table.first_row
    assert (
        "{21E4AEA4-8DFA-4A89-87EB-49C32662AFE0}" in frame.element.xpath(".//a:tableStyleId")[0].text
    )
    with pytest.raises(ValidationFailed, match='near it: "Medium Style 2 - Accent 2"'):
        make(out, {"op": "add_slide"}, {**table, "style": "Medium Style 2 Accent 2"})


def test_a_table_that_does_not_fit_is_told(out: Path) -> None:
    """Text is made smaller first; what runs over the slide even so is named."""
    rows = [[f"Row {row}", row] for row in range(45)]
    applied = make(out, {"op": "add_slide", "title": "T"},
                   {"op": "add_table", "index": 0, "rows": rows})  # fmt: skip

    assert "text was made 10 points small" in applied.warnings[0]
    assert "inches too high for the slide" in applied.warnings[1]


def test_cells_are_set_and_keep_their_look(tabled: Path, out: Path) -> None:
    """The slide alone differs, the runs keep what they were set in."""
    applied = edit(
        tabled,
        {"op": "set_table_cells", "index": 0, "cells": [
            {"row": 1, "column": 1, "value": 1234.0}, {"row": 2, "column": 2, "value": None},
        ]},
        to=out,
    )  # fmt: skip

    assert applied.changed == ("slide 0: Table 2, 2 cells set",)
    assert cells(out)[1][1] == "1234"
    assert cells(out)[2][2] == ""
    run = table_of(out).table.cell(1, 1).text_frame.paragraphs[0].runs[0]
    assert (run.font.bold, run.font.italic) == (True, True)
    found = changed_parts(DeckFile(tabled), DeckFile(out))
    assert found == ({"ppt/slides/slide1.xml"}, set(), set())


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"op": "set_table_cells", "cells": [{"row": 2, "column": 0, "value": 1}]},
         "row 2, column 0 of Table 2 is merged into that in row 1, column 0; set that one"),
        ({"op": "set_table_cells", "cells": [{"row": 3, "column": 0, "value": 1}]},
         "Table 2 has no row 3: it has 3 rows, counted from 0; insert_table_rows adds some"),
        ({"op": "set_table_cells", "cells": [{"row": 0, "column": 3, "value": 1}]},
         "has no column 3: row 0 has 3 columns"),
        ({"op": "set_table_cells", "table": "Tabel 2", "cells": [
            {"row": 0, "column": 0, "value": 1}]},
         'no table .Tabel 2. on slide 0; near it: "Table 2"; tables there: "Table 2" .id 3.'),
        ({"op": "insert_table_rows", "at": 2, "rows": [["x"]]}, "merged cells of Table 2 reach"),
        ({"op": "insert_table_rows", "rows": [["1", "2", "3", "4"]]}, "a row of 4 cells is too"),
        ({"op": "delete_table_rows", "at": 2}, "merged cells of Table 2 reach over row 2"),
        ({"op": "delete_table_rows", "at": 0, "count": 3}, "would have no row left"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(
    operation: dict[str, Any], reason: str, tabled: Path, out: Path
) -> None:
    """Cells, rows and tables that there are not, and cuts through merged cells."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(tabled, {"index": 0, **operation}, to=out)


def test_rows_come_and_go(tabled: Path, out: Path) -> None:
    """New rows look like their neighbor and the frame grows; deleted texts leave the bytes."""
    before = table_of(tabled)
    edit(
        tabled,
        {"op": "insert_table_rows", "index": 0, "at": 1, "rows": [["new", 7]]},
        {"op": "delete_table_rows", "index": 0, "at": 0},
        {"op": "insert_table_rows", "index": 0, "rows": [["last"]]},
        to=out,
    )

    assert cells(out) == [
        ["new", "7", ""], ["1.0\n2.0", "1.1", "1.2"], ["", "2.1", "2.2"], ["last", "", ""],
    ]  # fmt: skip
    after = table_of(out)
    assert after.height == sum(row.height for row in after.table.rows)
    assert after.height > before.height
    assert b"0.1" not in DeckFile(out).entries["ppt/slides/slide1.xml"]
