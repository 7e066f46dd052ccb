"""Formulas that calculate with whole ranges: told apart, and stored as what was meant."""

import re
from pathlib import Path
from zipfile import ZipFile

import openpyxl
import pytest
from openpyxl.utils import get_column_letter

from kbd_xlsx.calculation.array_use import ArrayUse, array_use
from range_edits import apply, calculated

PLAIN = (
    "A1+B1", "SUM(A1:A3)", "SUM(A1:A3)/COUNT(A1:A3)", 'SUMIFS(B:B,A:A,D2,C:C,">5")',
    "VLOOKUP(A2,T!A:C,3,FALSE)", "INDEX(B:B,MATCH(A2,A:A,0))", "T[@c]*2", "T[[#This Row],[a]]*2",
    "SUM(T[c])", "SUM(A1:INDEX(A:A,3))", "ROW()-1", "ROWS(A1:A3)*2", "-SUM(A1:A3)%",
    "SUM((A1:A2,B3))", "SUMPRODUCT((A1:A3>1)*B1:B3)", "SUMPRODUCT(--(A1:A3>1),B1:B3)",
    "LOOKUP(2,1/(A1:A3=2),B1:B3)", "SUM({1,2,3}*2)", "SUM(OFFSET(A1,0,0,3,1))", "@A1:A3*2",
    "INDEX(A1:C9,2,3)*2", "SUM(INDEX(A1:C9,0,3))", 'INDIRECT("A"&B1)*2', "Rate*2",
    "LET(x,SUM(A1:A3),x*2)", 'COUNTIF(A:A,">"&AVERAGE(A:A))', "IF(SUM(A1:A3)>2,SUM(B1:B3),0)",
    "SUM(IF(TRUE,A1:A3))", "NETWORKDAYS(A1,B1,H1:H9)", '"A1:A3"&B1', "TREND(B1:B3,A1:A3,4)",
)  # fmt: skip
WITH_ARRAYS = (
    "SUM(A1:A3*B1:B3)", "SUM(IF(A1:A3>1,B1:B3))", 'MAX((C1:C3="x")*B1:B3)', "SUM(--(A1:A3>1))",
    'INDEX(B1:B3,MATCH(1,(A1:A3=2)*(C1:C3="y"),0))', "SUM(-A1:A3)", "SUM(LEN(C1:C3))",
    "SUM(A1:A3*{1;2;3})", "SUM(INDEX(A1:A3,0)*2)", "SUM(OFFSET(A1,0,0,3,1)*2)", "SUM(ROW(A1:A3))",
    "SUMPRODUCT(IF(A1:A3>1,B1:B3,0))", "SUM(FILTER(B1:B3,A1:A3>1))", "COUNTA(UNIQUE(C1:C3))",
    "AND(A1:A3>0)", 'TEXTJOIN(",",TRUE,IF(A1:A3>1,A1:A3,""))', "SUM(Costs*2)", "SUM(T[c]*2)",
    "LET(a,A1:A3,SUM(a*2))", "SUM(A:A*2)", "SUM(A1:C1%)",
)  # fmt: skip
MANY = (
    "A1:A3", "A1:A3*2", "LEN(C1:C3)", "FILTER(B1:B3,A1:A3>1)", "UNIQUE(C1:C3)", "INDEX(B1:B3,0)",
    'IF(A1:A3>1,"a","b")', "TRANSPOSE(A1:A3)", 'SUMIFS(B1:B3,C1:C3,{"x","y"})', "Costs",
    "VLOOKUP(A1:A3,A1:C3,2,FALSE)", "T[c]*2", "COUNTIF(C1:C3,C1:C3)", "{1,2}",
)  # fmt: skip
UNCLEAR = ("SUM(", "A1:A3)", "MAP(A1:A3,LAMBDA(a,a*2))", "A1#", "SUM(" * 90 + "1" + ")" * 90)


def use(text: str) -> ArrayUse | None:
    """Return how a formula uses ranges, where Costs is a name of several cells."""
    return array_use(text, lambda name: name == "Costs")


@pytest.mark.parametrize("text", PLAIN)
def test_plain_formulas_are_plain(text: str) -> None:
    """Where functions take ranges, and operators single cells, nothing is asked for."""
    found = use(text)
    assert found is not None
    assert (found.is_needed, found.gives_many) == (False, False)


@pytest.mark.parametrize("text", WITH_ARRAYS)
def test_formulas_over_ranges_are_seen(text: str) -> None:
    """One value comes out of an operation on ranges."""
    found = use(text)
    assert found is not None
    assert (found.is_needed, found.gives_many) == (True, False)


@pytest.mark.parametrize("text", MANY)
def test_formulas_of_several_values_are_seen(text: str) -> None:
    """Their result is more than one cell."""
    found = use(text)
    assert found is not None
    assert found.gives_many


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_cannot_be_told_is_said_to_be_so(text: str) -> None:
    """Formulas that call formulas, and texts that are none."""
    assert use(text) is None


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Three rows of numbers and a text."""
    made = openpyxl.Workbook()
    sheet = made.worksheets[0]
    sheet.title = "S"
    for row in ((1, 10, "x"), (2, 20, "yy"), (3, 30, "x")):
        sheet.append(row)
    made.save(tmp_path / "in.xlsx")
    return tmp_path / "in.xlsx"


def stored(book: Path, cell: str) -> tuple[str, str, str]:
    """Return the attributes and text of a stored formula, and its result, "" for none."""
    part = ZipFile(book.with_name("out.xlsx")).read("xl/worksheets/sheet1.xml").decode()
    found = re.search(rf'<c r="{cell}"[^>]*><f([^>]*)>([^<]*)</f>(?:<v>([^<]*)</v>)?</c>', part)
    assert found is not None
    return found[1].strip(), found[2], found[3] or ""


def written(formula: str, cell: str = "F8") -> dict[str, object]:
    """Return the operation that writes a formula."""
    return {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": formula}]}


def test_a_formula_over_ranges_is_stored_as_an_array_formula(book: Path) -> None:
    """As a plain one it would come to #VALUE! outside of rows 1 to 3; the answer says so."""
    applied = apply(book, written("=SUM(A1:A3*B1:B3)"))
    assert stored(book, "F8") == ('t="array" ref="F8"', "SUM(A1:A3*B1:B3)", "140")
    assert applied.warnings == ("Calculates with whole ranges, and so is an array formula: S!F8.",)
    fill = {"op": "fill_formula", "sheet": "S", "range": "F8:F9", "formula": "=SUM(A1:B1*2)"}
    apply(book, fill)
    assert stored(book, "F9") == ('t="array" ref="F9"', "SUM(A2:B2*2)", "44")
    apply(book, written("=SUM(A1:A3)"))
    assert stored(book, "F8") == ("", "SUM(A1:A3)", "6")


def test_an_array_formula_is_edited_as_any_cell(book: Path) -> None:
    """Its address goes along with rows, and it is replaced like another formula."""
    apply(book, written("=SUM(A1:A3*B1:B3)"), to="array.xlsx")
    array = book.with_name("array.xlsx")
    apply(array, {"op": "insert_rows", "sheet": "S", "row": 2})
    assert stored(book, "F9") == ('t="array" ref="F9"', "SUM(A1:A4*B1:B4)", "140")
    apply(array, written("=1+1"))
    assert stored(book, "F8") == ("", "1+1", "2")


def test_names_of_ranges_are_ranges(book: Path) -> None:
    """What a name stands for counts."""
    name = {"op": "define_name", "name": "Amounts", "refers_to": "S!$B$1:$B$3"}
    apply(book, name, written("=SUM(Amounts*2)"))
    assert stored(book, "F8")[0] == 't="array" ref="F8"'


def test_a_formula_of_several_values_is_warned_of(book: Path) -> None:
    """Programs show one of them, so no result is stored."""
    applied = apply(book, written("=A1:A3*2"))
    assert stored(book, "F8") == ("", "A1:A3*2", "")
    assert applied.warnings[0].startswith("Gives more than one cell, of which programs show the")


def test_a_plain_formula_that_reads_one_cell_of_a_range_has_no_result(book: Path) -> None:
    """Engines take it for an array formula: they give 140, and programs 40 or #VALUE!."""
    made = openpyxl.load_workbook(book)
    made["S"]["F2"] = "=SUM(A1:A3*B1:B3)"
    made["S"]["F3"] = "=SUMPRODUCT(1/COUNTIF(C1:C3,C1:C3))"
    made.save(book)
    apply(book, written("=F2+F3", "G1"))
    assert [stored(book, cell)[2] for cell in ("F2", "F3", "G1")] == ["", "", ""]


@pytest.mark.full
@pytest.mark.libreoffice
def test_libreoffice_gives_what_is_stored(book: Path, tmp_path: Path) -> None:
    """In a row beside the ranges and in one below them, for each formula that has a result."""
    formulas = [
        text
        for text in (*PLAIN, *WITH_ARRAYS, *MANY)
        # Some of these LibreOffice does not know in all of its versions.
        if not re.search(r"^@|T\[|T!|Rate|Costs|LET|FILTER|UNIQUE", text)
    ]
    cells = [
        {"cell": f"{get_column_letter(10 + place)}{row}", "value": f"={text}"}
        for row in (2, 8)
        for place, text in enumerate(formulas)
    ]
    apply(book, {"op": "set_cells", "sheet": "S", "cells": cells})
    ours = openpyxl.load_workbook(book.with_name("out.xlsx"), data_only=True)["S"]
    # Without stored results, as it would show those.
    bare = openpyxl.load_workbook(book.with_name("out.xlsx"))
    bare.save(tmp_path / "bare.xlsx")
    theirs = calculated("soffice", tmp_path / "bare.xlsx", tmp_path)["S"]
    known = [cell for row in ours.iter_rows(min_col=10) for cell in row if cell.value is not None]
    assert len(known) > 40
    assert [
        (cell.coordinate, bare["S"][cell.coordinate].value, cell.value, there)
        for cell in known
        if (there := theirs[cell.coordinate].value) != cell.value
        and there != pytest.approx(cell.value)
    ] == []
