"""Tables and names that an edit makes, changes and deletes."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Source
from object_edits import FORMAT, differing, edit, entries, made, replaced


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The workbook of another program."""
    return made(tmp_path)


def table(**given: Any) -> dict[str, Any]:
    """An operation that makes the data a table."""
    return {"op": "add_table", "sheet": "Data", "range": "A1:C4", "name": "Costs", **given}


def named(name: str, refers_to: str, **given: Any) -> dict[str, Any]:
    """An operation that defines a name."""
    return {"op": "define_name", "name": name, "refers_to": refers_to, **given}


def put(sheet: str, **values: Any) -> dict[str, Any]:
    """An operation that sets cells."""
    cells = [{"cell": cell, "value": value} for cell, value in values.items()]
    return {"op": "set_cells", "sheet": sheet, "cells": cells}


def test_a_table_is_made_with_all_that_belongs_to_it(book: Path) -> None:
    """Part, type, relation and list are there, the rest stays to the byte; openpyxl reads it."""
    out = book.with_name("out.xlsx")
    applied = edit(book, out, table(style="TableStyleLight9"))

    assert applied.changed == ("Data!A1:C4: table Costs (3 columns)",)
    assert differing(book, out) == {
        "[Content_Types].xml", "xl/tables/table1.xml", "xl/worksheets/sheet1.xml",
        "xl/worksheets/_rels/sheet1.xml.rels",
    }  # fmt: skip
    found = openpyxl.load_workbook(out)["Data"].tables["Costs"]
    assert (found.ref, found.tableStyleInfo.name) == ("A1:C4", "TableStyleLight9")
    assert [column.name for column in found.tableColumns] == ["Item", "Cost", "Qty"]
    (change,) = FORMAT.compare(Source(book, "a"), Source(out, "b"), CompareOptions()).changes
    assert (change.what, change.place.title) == ("table", "Data!A1:C4")


def test_totals_are_formulas_in_a_row_below(book: Path) -> None:
    """The row belongs to the table; a column's name is written as references escape it."""
    out = book.with_name("out.xlsx")
    totals = [{"column": "cost [#1]"}, {"column": "Qty", "function": "average"}]
    edit(book, out, put("Data", B1="Cost [#1]"), table(totals=totals))

    sheet = openpyxl.load_workbook(out)["Data"]
    assert sheet.tables["Costs"].ref == "A1:C5"
    assert sheet["A5"].value == "Total"
    assert sheet["B5"].value == "=SUBTOTAL(109,Costs[Cost '['#1']])"
    assert sheet["C5"].value == "=SUBTOTAL(101,Costs[Qty])"
    with pytest.raises(ValidationFailed, match="needs it empty"):
        edit(book, out, put("Data", B5=1), table(totals=[{"column": "Cost"}]))


@pytest.mark.parametrize(
    ("before", "given", "reason"),
    [
        ([put("Data", B1=7)], {}, "number"),
        ([put("Data", B1=None)], {}, "empty"),
        ([put("Data", B1="ITEM")], {}, "repeats"),
        ([put("Data", B1='="a"')], {}, "formula"),
        ([put("Data", B1="x" * 256)], {}, "255"),
        ([], {"range": "A1:C1"}, "row below"),
        ([], {"range": "A:C"}, "rows named"),
        ([], {"name": "A1"}, "reads as a cell"),
        ([], {"name": "R2C3"}, "reads as a cell"),
        ([], {"name": "two words"}, "cannot be the name"),
        ([], {"style": "Fancy"}, "no table style"),
        ([named("costs", "1")], {}, "name Costs already"),
        ([table()], {"name": "Other", "range": "C1:D9"}, "overlaps table Costs"),
        ([{"op": "merge_cells", "sheet": "Data", "range": "A5:C6"}], {"range": "A1:C6"}, "merged"),
        ([{"op": "auto_filter", "sheet": "Data", "range": "A1:C4"}], {}, "filter"),
        ([], {"totals": [{"column": "Price"}]}, "no column 'Price'"),
    ],
)
def test_what_cannot_be_a_table_is_refused(
    book: Path, before: list[dict[str, Any]], given: dict[str, Any], reason: str
) -> None:
    """Headers, names and ranges that a program would repair are refused in words."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(book, book.with_name("out.xlsx"), *before, table(**given))


def test_a_table_covers_another_range(book: Path) -> None:
    """Columns that come in take their header's text, and formulas over it lose old results."""
    first, out = book.with_name("first.xlsx"), book.with_name("out.xlsx")
    edit(book, first, table(), put("Data", D1="Note", A5="Jam", B5=2, C5=4),
         put("My sums", B2="=SUM(Costs[Cost])"))  # fmt: skip
    stored = entries(first)["xl/worksheets/sheet2.xml"]
    told = edit(first, out, {"op": "resize_table", "table": "costs", "range": "A1:D5"})

    assert told.changed == ("Data!A1:D5: table Costs, was A1:C4",)
    found = openpyxl.load_workbook(out)["Data"].tables["Costs"]
    assert (found.ref, found.autoFilter.ref) == ("A1:D5", "A1:D5")
    assert [column.name for column in found.tableColumns] == ["Item", "Cost", "Qty", "Note"]
    assert len({column.id for column in found.tableColumns}) == 4
    assert b"SUM(Costs[Cost])" in stored
    for bad, reason in (
        ("A2:C5", "stays in row 1"), ("F1:G5", "no cell"), ("A1:E5", "E1 is empty"),
        ("A1:A5", "formulas refer"), ("A1:D1", "rows below"),
    ):  # fmt: skip
        with pytest.raises(ValidationFailed, match=reason):
            edit(out, book.with_name("bad.xlsx"),
                 {"op": "resize_table", "table": "Costs", "range": bad})  # fmt: skip
    with pytest.raises(ValidationFailed, match="no table 'X'; there are: Costs"):
        edit(out, book.with_name("bad.xlsx"), {"op": "resize_table", "table": "X", "range": "A1"})


def test_names_are_defined_and_changed(book: Path) -> None:
    """A range is written absolute with its sheet; what was meant before is told."""
    first, out = book.with_name("first.xlsx"), book.with_name("out.xlsx")
    edit(book, first, named("Costs", "Data!B2:B4"), named("Rate", "=0.19"),
         named("Own", "A1", sheet="my sums"), named("Both", "SUM(Costs)*Rate"),
         put("My sums", C1="=Both"))  # fmt: skip
    names = openpyxl.load_workbook(first)
    assert names.defined_names["Costs"].value == "Data!$B$2:$B$4"
    assert names.defined_names["Both"].value == "SUM(Costs)*Rate"
    assert names["My sums"].defined_names["Own"].value == "'My sums'!$A$1"

    told = edit(first, out, named("COSTS", "Data!$B$2:$B$3"))
    assert told.changed == ("name COSTS: Data!$B$2:$B$3, was Data!$B$2:$B$4",)
    assert list(openpyxl.load_workbook(out).defined_names) == ["Costs", "Rate", "Both"]
    again = edit(out, first, named("Costs", "Data!B2:B3"))
    assert "already" in again.changed[0]
    assert differing(out, first) == set()


def test_results_that_a_name_made_old_are_gone(book: Path) -> None:
    """Formulas that use a name, by way of another one too, forget what they came to."""
    first, out = book.with_name("first.xlsx"), book.with_name("out.xlsx")
    edit(book, first, named("Rate", "2"), named("Twice", "Rate*2"),
         put("My sums", C1="=Twice+1", C2="=1+1"))  # fmt: skip
    stored = entries(first)["xl/worksheets/sheet2.xml"]
    for formula in (b"Twice+1", b"1+1"):
        stored = stored.replace(b"<f>" + formula + b"</f>", b"<f>" + formula + b"</f><v>5</v>")
    replaced(first, "xl/worksheets/sheet2.xml", stored)
    edit(first, out, named("Rate", "3"))

    sheet = entries(out)["xl/worksheets/sheet2.xml"]
    assert b"<f>Twice+1</f><v>" not in sheet
    assert b"<f>1+1</f><v>5</v>" in sheet


@pytest.mark.parametrize(
    ("name", "refers_to", "reason"),
    [
        ("n", "Dta!A1", "no sheet Dta; there is 'Data'"),
        ("n", "A1:B2", "needs its sheet"),
        ("n", "SUM(Data!A1:B2)", "dollar signs"),
        ("n", "Rat*2", "no name Rat"),
        ("n", "n+1", "no name n"),
        ("n", "'[b.xlsx]S'!$A$1", "reaches out"),
        ("n", 'WEBSERVICE("http://x")', "reaches out"),
        ("n", "SUM(", "n"),
        ("n", "", "n"),
        ("AB12", "1", "reads as a cell"),
        ("c", "1", "reads as a cell"),
        ("_xlnm.Print_Area", "1", "cannot be the name"),
    ],
)
def test_names_that_mean_nothing_are_refused(
    book: Path, name: str, refers_to: str, reason: str
) -> None:
    """What is not there, moves with the cell, or leaves the workbook is refused in words."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(book, book.with_name("out.xlsx"), named(name, refers_to))


def test_names_in_use_stay(book: Path) -> None:
    """A name goes when no formula, name or rule uses it."""
    first, out = book.with_name("first.xlsx"), book.with_name("out.xlsx")
    edit(book, first, named("Rate", "2"), named("Free", "Rate"), put("My sums", C1="=Rate"))
    for name, reason in (("Rate", "name Free, My sums!C1"), ("Other", "there are: Rate, Free")):
        with pytest.raises(ValidationFailed, match=reason):
            edit(first, out, {"op": "delete_name", "name": name})
    edit(first, out, {"op": "delete_name", "name": "free"})
    assert list(openpyxl.load_workbook(out).defined_names) == ["Rate"]
