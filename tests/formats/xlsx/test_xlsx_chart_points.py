"""What charts store of their cells follows every edit of these, and no other byte of them does."""

import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from charted_books import FORMAT, edited, entries, months_book, records
from kbd.errors import KbdError
from kbd.formats import Placement, Source
from real_workbooks import real_workbooks
from written_rows import write

PART = "xl/charts/chart1.xml"
_POINT = re.compile(r'<c:pt idx="(\d+)"[^>]*><c:v>([^<]*)</c:v></c:pt>')


@pytest.fixture
def charted(tmp_path: Path) -> Path:
    """Sheet My data with a chart of costs and gains by item, and its points."""
    book = months_book(tmp_path / "book.xlsx")
    chart = {
        "op": "add_chart", "sheet": "My data", "type": "column", "title": "Money",
        "table": "A1:E7", "columns": ["Cost", "Gain"], "categories": "B2:B7",
    }  # fmt: skip
    edited(book, chart, to="charted.xlsx")
    return book.with_name("charted.xlsx")


def put(*cells: tuple[str, Any], sheet: str = "My data") -> dict[str, Any]:
    values = [{"cell": cell, "value": value} for cell, value in cells]
    return {"op": "set_cells", "sheet": sheet, "cells": values}


def replaced(book: Path, old: str, new: str) -> None:
    """Write a text of the chart's part in place of another one."""
    parts = entries(book)
    text = parts[PART].decode()
    assert old in text
    parts[PART] = text.replace(old, new).encode()
    with zipfile.ZipFile(book, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def points(book: Path) -> dict[str, dict[int, str]]:
    """The points of each range that the chart names; of levels those of the last."""
    text = entries(book)[PART].decode()
    found: dict[str, dict[int, str]] = {}
    for formula, copy in re.findall(r"<c:f>([^<]*)</c:f>(.*?)</c:\w+Ref>", text, re.DOTALL):
        found[formula] = {int(index): value for index, value in _POINT.findall(copy)}
    return found


def test_points_of_changed_cells_alone_are_others(charted: Path) -> None:
    """A number, a category and a header get their new texts; the rest of the part keeps its bytes.

    The copy is the same after a second edit that writes the old values.
    """
    before = entries(charted)[PART]
    edited(charted, put(("C3", 500), ("B4", "Tea & milk"), ("C1", "Costs"), ("D7", None)))
    out = charted.with_name("out.xlsx")

    gone = b'<c:pt idx="5"><c:v>85</c:v></c:pt>'
    expected = (
        before.replace(b"<c:v>107.5</c:v>", b"<c:v>500</c:v>")
        .replace(b"<c:v>Item 2</c:v>", b"<c:v>Tea &amp; milk</c:v>")
        .replace(b"<c:v>Cost</c:v>", b"<c:v>Costs</c:v>")
        .replace(gone, b"")
    )
    assert gone in before
    assert entries(out)[PART] == expected
    back = put(("C3", 107.5), ("B4", "Item 2"), ("C1", "Cost"), ("D7", 85))
    edited(out, back, to="back.xlsx")
    assert entries(charted.with_name("back.xlsx"))[PART] == before


def test_charts_of_other_cells_keep_their_bytes(charted: Path) -> None:
    """An edit beside the ranges, or of a value that is the same, leaves the chart alone."""
    before = entries(charted)[PART]
    edited(charted, put(("E3", "x"), ("C3", 107.5)), put(("B3", 9), sheet="Other"))
    assert entries(charted.with_name("out.xlsx"))[PART] == before


@pytest.mark.sampled(3)
@pytest.mark.parametrize("operation", [
    {"op": "sort_range", "sheet": "My data", "range": "A1:E7", "header": True,
     "by": [{"column": "Cost", "descending": True}]},
    {"op": "insert_rows", "sheet": "My data", "row": 4, "count": 2},
    {"op": "delete_rows", "sheet": "My data", "row": 3, "count": 2},
    {"op": "copy_range", "sheet": "My data", "from": "B6:D7", "to": "B2"},
    {"op": "clear_range", "sheet": "My data", "range": "B3:D4"},
    {"op": "replace_text", "sheet": "My data", "search": "Item", "replace": "Thing"},
])  # fmt: skip
def test_points_are_those_of_the_cells(charted: Path, operation: dict[str, Any]) -> None:
    """After any operation that moves or changes cells the points are what the cells hold."""
    edited(charted, operation)
    out = charted.with_name("out.xlsx")

    found = points(out)
    assert len(found) == 5
    for formula, stored in found.items():
        area = formula.rpartition("!")[2].replace("$", "")
        held = cells_of(out, area)
        assert stored == held, formula


def cells_of(book: Path, area: str) -> dict[int, str]:
    """What the cells of a column hold, by place, as openpyxl reads them."""
    sheet = openpyxl.load_workbook(book, data_only=True)["My data"]
    cells = sheet[area]
    line = [row[0] for row in cells] if isinstance(cells, tuple) else [cells]
    return {n: str(cell.value) for n, cell in enumerate(line) if cell.value is not None}


def test_rows_of_a_table_are_followed(charted: Path) -> None:
    """Rows that are written over the cells of a chart are drawn by it."""
    out = charted.with_name("rows.xlsx")
    columns = [["Item", "string"], ["Cost", "float"]]
    write(charted, out, [["Tea", "5.50"]], Placement("My data", "write_range", start_cell="B1"),
          columns)  # fmt: skip

    found = points(out)
    assert found["'My data'!$B$2:$B$7"][0] == "Tea"
    assert float(found["'My data'!$C$2:$C$7"][0]) == 5.5


def test_a_boolean_among_texts_is_a_word(charted: Path) -> None:
    """As the cell shows it, not as it is stored."""
    edited(charted, put(("B3", True), ("B4", False)))
    names = points(charted.with_name("out.xlsx"))["'My data'!$B$2:$B$7"]
    assert (names[1], names[2]) == ("TRUE", "FALSE")


def test_texts_of_numbers_stay_as_they_were_shown(charted: Path) -> None:
    """A number among categories of texts is stored as a program showed it; others are changed."""
    replaced(charted, "<c:v>Item 1</c:v>", "<c:v>1,00 €</c:v>")
    edited(charted, put(("B5", "new")))
    found = points(charted.with_name("out.xlsx"))["'My data'!$B$2:$B$7"]
    assert found[1] == "1,00 €"
    assert found[3] == "new"


def test_names_of_several_levels(charted: Path) -> None:
    """Each level has the texts of its column, the nearest first."""
    text = entries(charted)[PART].decode()
    old = re.search(r"<c:cat>.*?</c:cat>", text)
    assert old is not None
    inner = "".join(f'<c:pt idx="{n}"><c:v>Item {n}</c:v></c:pt>' for n in range(6))
    outer = '<c:pt idx="0"><c:v>A</c:v></c:pt>'
    replaced(
        charted, old[0],
        "<c:cat><c:multiLvlStrRef><c:f>'My data'!$A$2:$B$7</c:f><c:multiLvlStrCache>"
        f'<c:ptCount val="6"/><c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl>'
        "</c:multiLvlStrCache></c:multiLvlStrRef></c:cat>",
    )  # fmt: skip
    before = entries(charted)[PART].decode()

    edited(charted, put(("A2", "North"), ("B3", "Oil"), ("A5", "South")))
    after = entries(charted.with_name("out.xlsx"))[PART].decode()

    south = '<c:pt idx="3"><c:v>South</c:v></c:pt></c:lvl></c:multiLvlStrCache>'
    expected = before.replace("<c:v>A</c:v>", "<c:v>North</c:v>").replace("Item 1", "Oil")
    assert after == expected.replace("</c:lvl></c:multiLvlStrCache>", south)
    edited(charted, {"op": "insert_rows", "sheet": "My data", "row": 4}, to="in.xlsx")
    inserted = entries(charted.with_name("in.xlsx"))[PART].decode()
    assert '<c:ptCount val="7"/><c:lvl><c:pt idx="0"><c:v>Item 0</c:v>' in inserted


def test_cells_of_hidden_rows_are_left_out(charted: Path) -> None:
    """Where the copy has the shown cells alone, their places are counted among these."""
    book = charted.with_name("hidden.xlsx")
    parts = entries(charted)
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(
        '<row r="3"', '<row r="3" hidden="1"'
    ).encode()
    with zipfile.ZipFile(book, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    text = parts[PART].decode()
    shown = re.sub(r'<c:pt idx="1"><c:v>Item 1</c:v></c:pt>', "", text)
    shown = re.sub(r'(<c:strCache><c:ptCount val=")6', r"\g<1>5", shown)
    for index in range(2, 6):
        shown = shown.replace(
            f'<c:pt idx="{index}"><c:v>Item {index}<', f'<c:pt idx="{index - 1}"><c:v>Item {index}<'
        )
    replaced(book, text, shown)

    edited(book, put(("B4", "Tea")))
    found = points(charted.with_name("out.xlsx"))["'My data'!$B$2:$B$7"]
    assert found == {0: "Item 0", 1: "Tea", 2: "Item 3", 3: "Item 4", 4: "Item 5"}


def test_ranges_that_are_named_together(charted: Path) -> None:
    """A series of several ranges counts their cells one after the other."""
    replaced(charted, "'My data'!$C$2:$C$7", "('My data'!$C$2:$C$4,'My data'!$C$5:$C$7)")
    edited(charted, put(("C6", 7)))
    found = points(charted.with_name("out.xlsx"))
    (united,) = [value for key, value in found.items() if key.startswith("(")]
    assert united[4] == "7"
    assert united[0] == "100"


def test_results_that_became_old_have_no_points(tmp_path: Path) -> None:
    """A formula without a result is not drawn with its old one."""
    book = months_book(tmp_path / "book.xlsx")
    chart = {"op": "add_chart", "sheet": "Other", "type": "bar", "series": [{"values": "B2:B4"}]}
    edited(book, chart, to="charted.xlsx")
    charted = book.with_name("charted.xlsx")
    edited(charted, {"op": "set_cells", "sheet": "Other",
                     "cells": [{"cell": "B3", "value": "=B2*2"}]})  # fmt: skip
    found = points(charted.with_name("out.xlsx"))["Other!$B$2:$B$4"]
    assert found == {0: "3", 2: "1"}


def test_charts_without_copies_get_none(tmp_path: Path) -> None:
    """A chart of a program that stores no points keeps its bytes."""
    book = months_book(tmp_path / "book.xlsx")
    chart = {"op": "add_chart", "sheet": "Other", "type": "bar", "series": [{"values": "B2:B4"}]}
    edited(book, chart, to="charted.xlsx")
    charted = book.with_name("charted.xlsx")
    text = entries(charted)[PART].decode()
    replaced(charted, text, re.sub(r"<c:(num|str)Cache>.*?</c:\1Cache>", "", text))
    before = entries(charted)[PART]

    edited(charted, put(("B3", 9), sheet="Other"))
    assert entries(charted.with_name("out.xlsx"))[PART] == before


@pytest.mark.full
@pytest.mark.corpora
def test_real_charts_follow_a_cell(corpora: Path, tmp_path: Path) -> None:
    """Of charts of any program points alone differ after a cell that they draw is another."""
    done = 0
    for path in real_workbooks(corpora):
        with zipfile.ZipFile(path) as archive:
            if not any("charts/chart" in name for name in archive.namelist()):
                continue
        done += followed(path, tmp_path / path.name)
    assert done > 40


def followed(path: Path, target: Path) -> int:
    """Change the first cell of the first plain range of a workbook's charts; count the charts."""
    named = re.compile(rb"<(?:c:)?val><(?:c:)?numRef><(?:c:)?f>'?([^<'!]+)'?!\$([A-Z]+)\$(\d+)")
    before = entries(path)
    found = next((f for name, data in before.items() if "charts/" in name and
                  (f := named.search(data))), None)  # fmt: skip
    if found is None:
        return 0
    sheet, cell = found[1].decode(), (found[2] + found[3]).decode()
    try:
        operation = records(put((cell, 987_654), sheet=sheet))
        FORMAT.apply(Source(path, path.name), operation, target)
    except KbdError:
        return 0
    after, count = entries(target), 0
    points_of = re.compile(rb"<(?:c:)?pt [^>]*>\s*<(?:c:)?v>[^<]*</(?:c:)?v>\s*</(?:c:)?pt>|\s+")
    for name, data in before.items():
        if re.fullmatch(r"xl/charts/chart\d+\.xml", name) and after[name] != data:
            assert points_of.sub(b"", data) == points_of.sub(b"", after[name]), (path.name, name)
            assert b"987654" in after[name], (path.name, name)
            count += 1
    return count
