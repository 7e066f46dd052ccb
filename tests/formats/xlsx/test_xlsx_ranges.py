"""Operations on ranges as a whole: looks, filled formulas, copies, texts."""

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from openpyxl.styles.colors import Color
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.table import Table

from kbd.errors import ValidationFailed
from range_edits import apply, edit, entries, values


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A sheet with a header, numbers and formulas, and an empty one."""
    made = openpyxl.Workbook()
    sheet = made.worksheets[0]
    sheet.title = "S"
    for row in (
        ["Item", "Count", "Price", "Sum"],
        ["Tea", 2, 4.5, "=B2*C2"],
        ["Milk", 3, 1, "=B3*C3"],
    ):
        sheet.append(row)
    sheet["A2"].font = Font(italic=True)
    made.create_sheet("T")
    made.save(tmp_path / "in.xlsx")
    return tmp_path / "in.xlsx"


def formatted(area: str, **style: Any) -> dict[str, Any]:
    return {"op": "format_range", "sheet": "S", "range": area, "style": style}


def copied(source: str, to: str, **more: Any) -> dict[str, Any]:
    return {"op": "copy_range", "sheet": "S", "from": source, "to": to, **more}


def test_a_look_changes_no_value(book: Path) -> None:
    """Cells of a range get the look and keep what they hold; other parts stay byte for byte."""
    before = openpyxl.load_workbook(book)["S"]
    found = edit(book, formatted("A1:D2", font_bold=True))["S"]

    assert values(found) == values(before)
    assert [found[name].font.b for name in ("A1", "D2", "A3")] == [True, True, False]
    assert found["A2"].font.i
    old, new = entries(book), entries(book.with_name("out.xlsx"))
    changed = {name for name in old if old[name] != new[name]}
    assert changed == {"xl/worksheets/sheet1.xml", "xl/styles.xml"}


def test_whole_columns_are_one_element(book: Path) -> None:
    """A column's look stands at the column and its cells; new cells below take it on."""
    found = edit(book, formatted("B:C", number_format="0.00"), formatted("C:C", font_bold=True))[
        "S"
    ]

    assert [found[name].number_format for name in ("B2", "C3", "D2")] == ["0.00", "0.00", "General"]
    assert (found["C2"].font.b, found["B2"].font.b, found.max_row) == (True, False, 3)
    later = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "C9", "value": 1}]}
    again = edit(book.with_name("out.xlsx"), later, to="again.xlsx")["S"]
    assert (again["C9"].number_format, again["C9"].font.b) == ("0.00", True)
    assert again.column_dimensions["B"].width == pytest.approx(9.14, abs=0.01)


def test_whole_rows_and_sheets(book: Path) -> None:
    """A row's look holds for its new cells, that of all columns for every cell without one."""
    found = edit(book, formatted("A:XFD", font_name="Arial"), formatted("5:6", font_bold=True))["S"]

    assert {found[name].font.name for name in ("A1", "D3")} == {"Arial"}
    later = {
        "op": "set_cells",
        "sheet": "S",
        "cells": [{"cell": "C5", "value": 1}, {"cell": "J9", "value": 1}],
    }
    again = edit(book.with_name("out.xlsx"), later, to="again.xlsx")["S"]
    assert (again["C5"].font.b, again["J9"].font.b, again["J9"].font.name) == (True, False, "Arial")


def test_where_a_row_and_a_column_cross_both_looks_hold(book: Path) -> None:
    """A column that is formatted after a row changes the empty cell where they cross."""
    found = edit(book, formatted("2:2", font_bold=True), formatted("G:G", fill_color="#FFFF00"))[
        "S"
    ]

    assert (found["G2"].font.b, found["G2"].fill.fgColor.rgb) == (True, "FFFFFF00")


def test_one_formula_fills_a_range(book: Path) -> None:
    """Relative references move, absolute ones stay, texts and names are left alone."""
    filled = {"op": "fill_formula", "sheet": "S", "range": "E2:F4",
              "formula": '=SUM($B$2:B2)+C2*LOG10(10)&"B2"&\'T\'!A1'}  # fmt: skip
    found = edit(book, filled)["S"]

    assert found["E2"].value == "=SUM($B$2:B2)+C2*LOG10(10)&\"B2\"&'T'!A1"
    assert found["F4"].value == "=SUM($B$2:C4)+D4*LOG10(10)&\"B2\"&'T'!B3"


def test_a_plain_total_that_is_filled_has_its_result(book: Path) -> None:
    """Totals over numbers are worked out, one for each cell of the range."""
    apply(book, {"op": "fill_formula", "sheet": "S", "range": "B5:C5", "formula": "=SUM(B2:B3)"})
    found = openpyxl.load_workbook(book.with_name("out.xlsx"), data_only=True)["S"]

    assert [found["B5"].value, found["C5"].value] == [5, 5.5]


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"op": "fill_formula", "range": "A1:A3", "formula": "=XFD1048575"}, "leaves the sheet"),
        ({"op": "fill_formula", "range": "A:C", "formula": "=1"}, "name the rows that are meant"),
        ({"op": "fill_formula", "range": "A1", "formula": "=SUM(A1"}, "brackets"),
        ({"op": "format_range", "range": "A1:B2", "style": {"bold": True}}, "write font_bold"),
        ({"op": "format_range", "range": "1:90000", "style": {}}, "format the columns instead"),
        ({"op": "copy_range", "from": "A1:B2", "to": "A1:C3"}, "no whole number of copies"),
        ({"op": "copy_range", "from": "A1:B2", "to": "XFD1"}, "leaves no room"),
        ({"op": "copy_range", "from": "D2", "to": "F2", "what": "values"}, "no stored result"),
        ({"op": "copy_range", "from": "A1", "to": "B2", "to_sheet": "Nope"}, "there is no sheet"),
        ({"op": "sort_range", "range": "A1:D3", "header": True, "by": [{"column": "Colour"}]},
         r"no column of A1:D3; its columns: A \(Item\), B \(Count\)"),
        ({"op": "sort_range", "range": "A1:D3", "header": True, "by": [{"column": "D"}]},
         "without a stored result"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(book: Path, operation: dict[str, Any], reason: str) -> None:
    """A wrong argument gets a clear error, and nothing is written."""
    with pytest.raises(ValidationFailed, match=reason):
        apply(book, {"sheet": "S", **operation})
    assert not book.with_name("out.xlsx").exists()


def test_a_copy_is_all_of_its_cells(book: Path) -> None:
    """Values, looks and moved formulas are copied to another sheet; what was there is gone."""
    first = edit(
        book,
        {"op": "set_cells", "sheet": "T", "cells": [{"cell": "C3", "value": "old"}]},
        {"op": "merge_cells", "sheet": "S", "range": "B6:C6"},
        copied("A1:D6", "B2", to_sheet="T"),
    )["T"]

    assert [[cell.value for cell in row] for row in first["B2:E4"]] == [
        ["Item", "Count", "Price", "Sum"], ["Tea", 2, 4.5, "=C3*D3"], ["Milk", 3, 1, "=C4*D4"],
    ]  # fmt: skip
    assert (first["B3"].font.i, str(first.merged_cells)) == (True, "C7:D7")


def test_a_copy_of_formulas_alone_keeps_the_look_there(book: Path) -> None:
    """Formulas fill a larger range; formats bring looks alone; blanks clear what was there."""
    found = edit(
        book,
        formatted("F2:F5", fill_color="#00FF00"),
        copied("D2", "F2:F4", what="formulas"),
        copied("A2:B2", "H1", what="formats"),
        copied("A9:B9", "A3", what="all"),
    )["S"]

    assert [found[f"F{row}"].value for row in (2, 3, 4)] == ["=D2*E2", "=D3*E3", "=D4*E4"]
    assert found["F3"].fill.fgColor.rgb == "FF00FF00"
    assert (found["H1"].value, found["H1"].font.i) == (None, True)
    assert (found["A3"].value, found["B3"].value) == (None, None)


def test_a_copy_has_the_looks_of_rows_and_columns(book: Path) -> None:
    """Cells that are not there look as their row does, and so do their copies."""
    found = edit(
        book,
        formatted("1:1", font_bold=True),
        formatted("8:8", font_italic=True),
        copied("A1:F1", "A8"),
        copied("A9:B9", "A8", what="formats"),
    )["S"]

    assert [found[name].font.b for name in ("D8", "F8")] == [True, True]
    assert [found[name].font.i for name in ("D8", "F8", "A8", "G8")] == [False, False, False, False]


def test_values_are_stored_results(book: Path) -> None:
    """Values stand in the place of formulas where results are stored."""
    total = {"op": "fill_formula", "sheet": "S", "range": "B5", "formula": "=SUM(B2:B3)"}
    apply(book, total, to="sum.xlsx")
    found = edit(book.with_name("sum.xlsx"), copied("B5", "C7", what="values"))["S"]

    assert found["C7"].value == 5


def test_copies_over_arrays_merges_and_headers_are_refused(book: Path) -> None:
    """What cannot be overwritten in part is named."""
    made = openpyxl.load_workbook(book)
    made["S"]["H1"] = ArrayFormula("H1:H2", "=B2:B3*2")
    made["S"].merge_cells("J1:K1")
    made["T"].append(["a", "b"])
    made["T"].append([1, 2])
    made["T"].add_table(Table(displayName="Tab", ref="A1:B2"))
    made.save(book)

    for operation, reason in (
        (copied("A1", "H2"), "H1:H2 holds one array formula"),
        (copied("A1", "K1"), "merged cells J1:K1"),
        (copied("A1", "B1", to_sheet="T"), "header of table Tab"),
    ):
        with pytest.raises(ValidationFailed, match=reason):
            apply(book, operation)
    assert edit(book, copied("A1", "B2", to_sheet="T"))["T"]["B2"].value == "Item"


def test_a_shared_formula_is_taken_apart(tmp_path: Path, book: Path) -> None:
    """The cells that share a formula with a copied or sorted one keep theirs."""
    parts = entries(book)
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    sheet = sheet.replace("<f>B2*C2</f>", '<f t="shared" ref="D2:D3" si="0">B2*C2</f>')
    sheet = sheet.replace("<f>B3*C3</f>", '<f t="shared" si="0"/>')
    rewritten(book, tmp_path / "shared.xlsx", {"xl/worksheets/sheet1.xml": sheet.encode()})
    found = edit(tmp_path / "shared.xlsx", copied("A1", "D2"), copied("D3", "F6"))["S"]

    assert [found[name].value for name in ("D2", "D3", "F6")] == ["Item", "=B3*C3", "=D6*E6"]


def rewritten(book: Path, target: Path, parts: dict[str, bytes]) -> None:
    """Write a workbook with other parts."""
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in (entries(book) | parts).items():
            archive.writestr(name, data)


def replaced(**more: Any) -> dict[str, Any]:
    return {"op": "replace_text", **more}


def test_a_text_is_replaced_where_it_is_asked_for(book: Path) -> None:
    """Cells of other sheets that share the text keep it; numbers and formulas are not texts."""
    shared = book.with_name("shared.xlsx")
    made = openpyxl.load_workbook(book)
    made["T"]["A1"] = "Tea"
    made["S"]["A5"] = "green tea, black TEA"
    made.save(shared)
    applied = apply(shared, replaced(sheet="S", search="tea", replace="Coffee"))
    found = openpyxl.load_workbook(shared.with_name("out.xlsx"))

    assert applied.changed == ("3 replaced in 2 cells: S!A2, S!A5",)
    assert [found["S"][name].value for name in ("A2", "A5")] == [
        "Coffee",
        "green Coffee, black Coffee",
    ]
    assert (found["T"]["A1"].value, found["S"]["A2"].font.i) == ("Tea", True)


def test_texts_stored_as_those_of_formulas_are_replaced(book: Path) -> None:
    """Some programs write every text as a formula's result; without a formula it is a text."""
    sheet = "xl/worksheets/sheet1.xml"
    old = entries(book)[sheet]
    cell = b'<c r="A5" t="str"><v>East &amp; West</v></c>'
    new = old.replace(b"</sheetData>", b'<row r="5">' + cell + b"</row></sheetData>")
    stored = book.with_name("stored.xlsx")
    rewritten(book, stored, {sheet: new})
    found = edit(stored, replaced(search="st & W", replace="<"))["S"]

    assert found["A5"].value == "Ea<est"


def test_case_whole_cells_and_formulas(book: Path) -> None:
    """The search is as wide as it is asked to be, and a miss is told."""
    miss = apply(book, replaced(search="TEA", replace="x", match_case=True))
    assert miss.warnings == ("replace_text: 'TEA' was not found.",)
    assert apply(book, replaced(search="te", replace="x", whole_cell=True)).warnings

    found = edit(book, replaced(search="B", replace="$B", in_formulas=True, match_case=True))["S"]
    assert (found["D2"].value, found["A1"].value) == ("=$B2*C2", "Item")
    assert edit(book, replaced(search="Tea", replace=""))["S"]["A2"].value is None


def test_parts_of_a_text_keep_their_looks(book: Path) -> None:
    """A hit in a rich text gets the look of its first sign; the rest looks as before."""
    made = openpyxl.load_workbook(book)
    bold = TextBlock(InlineFont(b=True, color=Color("FFFF0000")), "very important")
    made["S"]["A6"] = CellRichText("This is ", bold, " indeed")
    made.save(book)
    apply(book, replaced(search="important", replace="<minor> & so"))
    found = openpyxl.load_workbook(book.with_name("out.xlsx"), rich_text=True)["S"]["A6"].value

    assert str(found) == "This is very <minor> & so indeed"
    runs = [run for run in found if isinstance(run, TextBlock)]
    assert [(run.text, run.font.b) for run in runs] == [("very <minor> & so", True)]


def test_a_replaced_header_renames_the_column(book: Path) -> None:
    """The column of a table has the name that its header cell has afterwards."""
    made = openpyxl.load_workbook(book)
    made["S"].add_table(Table(displayName="Tab", ref="A1:C3"))
    made.save(book)
    found = edit(book, replaced(search="Price", replace="Cost"))["S"]

    assert [column.name for column in found.tables["Tab"].tableColumns] == ["Item", "Count", "Cost"]
