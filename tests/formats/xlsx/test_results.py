"""Results of formulas after an edit: stored with their types, or left out and named."""

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula
from openpyxl.worksheet.table import Table

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Calculated, Calculation, Source
from kbd.testing.formats import calculate_open
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import (
    AddChart,
    CellSetting,
    ChartSeries,
    EnsureSheet,
    FillFormula,
    FormatRange,
    Recalculate,
    SetCells,
    SetRange,
)
from kbd_xlsx.parts.cells import CellEdit, Result
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.results import plan
from leftover_texts import share_texts

FORMAT = XlsxFormat()
NOON_US = 1_772_539_200_000_000
"""2026-03-03 12:00 UTC, serial 46084.5."""


def made(path: Path, **sheets: Mapping[str, Any]) -> Path:
    """A workbook of another program: cells by their names; formulas have no results in it."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, cells in sheets.items():
        sheet = book.create_sheet(title)
        for name, value in cells.items():
            sheet[name] = value
    book.save(path)
    return path


def edit(path: Path, **values: Any) -> tuple[Applied, Calculated]:
    """Set cells of sheet S of a workbook, or of a new one, and have the results worked out."""
    source = Source(path, path.name) if path.exists() else None
    settings = tuple(CellSetting(cell, value) for cell, value in values.items())
    applied = FORMAT.apply(source, (SetCells("S", settings),), path.with_name("edited.xlsx"))
    path.with_name("edited.xlsx").replace(path)
    return applied, calculate_open(FORMAT, Source(path, path.name), applied, now_us=NOON_US)


def results(path: Path, *cells: str, sheet: str = "S") -> list[Any]:
    """What is stored in some cells, as openpyxl reads it."""
    found = openpyxl.load_workbook(path, data_only=True)[sheet]
    return [found[cell].value for cell in cells]


def warned(found: Calculated) -> str:
    return "\n".join(found.warnings)


def test_results_have_their_types(tmp_path: Path) -> None:
    """Numbers, texts, booleans and errors are stored as such, and the formulas stay."""
    path = tmp_path / "a.xlsx"
    formulas = {
        "B1": "=A1*2", "B2": '="<"&A1&"> "', "B3": "=A1=21", "B4": "=A1/0", "B5": "=A9",
        "B6": '=IF(A1>1,"","x")', "B7": "=1/3", "B8": "=VLOOKUP(5,A1:A2,1,FALSE)",
    }  # fmt: skip
    _, found = edit(path, A1=21, **formulas)

    assert results(path, *formulas) == [42, "<21> ", True, "#DIV/0!", 0, None, 1 / 3, "#N/A"]
    kept = openpyxl.load_workbook(path)["S"]
    assert [kept[cell].value for cell in formulas] == list(formulas.values())
    part = ZipFile(path).read("xl/worksheets/sheet1.xml").decode()
    assert '<c r="B6" t="str"><f>IF(A1&gt;1,"","x")</f><v></v></c>' in part
    assert found.results[:4] == ("S!B4 = #DIV/0!", "S!B8 = #N/A", "S!B1 = 42", "S!B2 = <21> ")
    assert "S!B5 reads S!A9, which is empty." in found.warnings
    assert found.count == 8


def test_dependents_follow_an_edit_and_nothing_else_does(tmp_path: Path) -> None:
    """All that hangs on a changed cell has its new result, on other sheets, too."""
    path = made(
        tmp_path / "a.xlsx",
        S={"A1": 2, "A2": 3, "B1": "=A1*10", "B2": "=A2*10", "C1": "=SUM(B1:B2)"},
        T={"A1": "=S!C1+1", "A2": "=S!A2"},
    )
    edit(path, A1=2, A2=3)
    _, found = edit(path, A1=5)

    assert results(path, "B1", "B2", "C1") == [50, 30, 80]
    assert results(path, "A1", "A2", sheet="T") == [81, 3]
    assert [text.partition(" ")[0] for text in found.results] == ["S!B1", "S!C1", "T!A1"]


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("=RAND()*2", "RAND: it is another number each time"),
        ("=RANDBETWEEN(1,9)", "RANDBETWEEN: it is another number each time"),
        ('=INDIRECT("A1")', "INDIRECT: which cells it reads"),
        ('=CELL("filename",A1)', "CELL: what it tells depends on the program"),
        ('=TEXT(A1,"mmmm")', "TEXT: its text hangs on the language"),
        ('=TEXT(A1,"0,00")', "TEXT: its text hangs on the language"),
        ("=LEFT(TRUE,2)", "LEFT: the engines here differ"),
        ('=CUBEVALUE("a","b")', "CUBEVALUE: it asks a database"),
        ("=LOOKUP(2,A1:A2)", "LOOKUP: engines agree on results of it that are not"),
        ("=SUMX2PY2(A1:A2,A1:A2)", "SUMX2PY2: engines agree on results of it that are not"),
        ('=A1/3&""', "a number becomes a text"),
        ("=LEN(A1/3)", "LEN: a number becomes a text"),
        ('=COUNTIF(A1:A2,">"&AVERAGE(A1:A2))', "COUNTIF: a number becomes a text"),
        ("=RIGHT(T!B1,2)", "RIGHT: a number becomes a text"),
        ("=BAHTTEXT(A1)", "not all engines here know it"),
        ("=DATE(1900,2,29)", "DATE: programs count the first days of 1900"),
        ("=B1+1", "it refers to itself"),
        ("=SORT(A1:A2)", "it is an array formula"),
        (f"={'(' * 900}A1{')' * 900}", "it is nested too deep"),
        ("=SUM(S:T!A1)", "it reads the same cells of several sheets"),
    ],
)
def test_what_is_not_known_for_sure_is_left_out_and_named(
    tmp_path: Path, formula: str, told: str
) -> None:
    """Neither the formula nor what reads it gets a result; everything else does."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2, "A2": 3}, T={"A1": 1, "B1": 1 / 3})
    _, found = edit(path, B1=formula, C1="=B1&A1", D1="=A1+A2")

    assert results(path, "B1", "C1", "D1") == [None, None, 5]
    assert told in warned(found)
    assert "Not calculated here: S!B1" in warned(found)
    # Of a ring nobody can say where it begins.
    assert "Nor what depends on such cells: S!C1." in found.warnings or "B1+1" in formula


def test_numbers_of_few_digits_become_texts(tmp_path: Path) -> None:
    """They are written alike everywhere, however they are joined, measured or looked for."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2.5, "A2": "a,b,c", "A3": 1 / 3})
    edit(
        path,
        B1='="Sum: "&SUM(A1:A1)',
        B2='=LEN(A2)-LEN(SUBSTITUTE(A2,",",""))',
        B3='=COUNTIF(A1:A3,">"&A1-1)',
        B4='=MID(A2,FIND(",",A2)+1,1)',
    )
    assert results(path, "B1", "B2", "B3", "B4") == ["Sum: 2.5", 2, 1, "b"]


def test_what_a_new_array_may_fill_is_not_read_as_empty(tmp_path: Path) -> None:
    """Its cells are filled when a program calculates it, in this call or in a later one."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2, "A2": 3, "A3": 4})
    edit(path, C1="=SORT(A1:A3)", D1="=SUM(C2:C9)", E1="=SUM(A1:A3)")
    assert results(path, "D1", "E1") == [None, 9]
    _, found = edit(path, F1="=C3*2")
    assert results(path, "F1") == [None]
    assert "Not calculated here: S!F1 (it depends on S!C1; it is an array" in warned(found)


def test_legacy_arrays_and_data_tables_stay_without_results(tmp_path: Path) -> None:
    """What fills several cells as one is no formula of a cell."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2, "A2": 3, "C1": "=A1"})
    book = openpyxl.load_workbook(path)
    book["S"]["D1"] = ArrayFormula("D1:D2", "=A1:A2*2")
    book["S"]["F2"] = DataTableFormula("F2:F3", r1="A1", dt2D=False)
    book.save(path)
    _, found = edit(path, A1=7)

    assert results(path, "C1", "D1", "F2") == [7, None, None]
    assert "array formula" in warned(found)
    assert "data table" in warned(found)


def test_the_time_is_that_of_the_call(tmp_path: Path) -> None:
    """TODAY and NOW come from the call, so that it writes the same bytes when it is repeated."""
    first, second = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    for path in (first, second):
        edit(path, A1="=TODAY()", A2="=NOW()", A3='="TODAY()"', A4="=MOD(NOW(),1)")
    noon = datetime(2026, 3, 3, 12)  # noqa: DTZ001 - cells have no zone
    midnight = noon.replace(hour=0)
    assert results(first, "A1", "A2", "A3", "A4") == [midnight, noon, "TODAY()", 0.5]
    assert first.read_bytes() == second.read_bytes()


def test_a_formula_of_a_day_is_shown_as_one(tmp_path: Path) -> None:
    """As programs do where nobody has chosen a number format; one that was chosen stays."""
    path = tmp_path / "a.xlsx"
    settings = (
        CellSetting("A1", "=TODAY()+1"), CellSetting("A2", "=DATE(2026,(1+1)*2,3)"),
        CellSetting("A3", "=NOW()"), CellSetting("A4", "=YEAR(TODAY())"),
        CellSetting("A5", "=TODAY()", style={"number_format": "0.0"}),
    )  # fmt: skip
    FORMAT.apply(None, (SetCells("S", settings),), path)
    sheet = openpyxl.load_workbook(path)["S"]
    looks = [sheet.cell(row, 1).number_format for row in range(1, 6)]
    assert looks == ["yyyy-mm-dd", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "General", "0.0"]
    _, found = edit(path, A6=1, A1="=TODAY()")
    assert found.results[0] == "S!A1 = 2026-03-03"


def test_workbooks_that_count_from_1904(tmp_path: Path) -> None:
    """Their days are their own."""
    path = made(tmp_path / "a.xlsx", S={"A1": 1})
    book = openpyxl.load_workbook(path)
    book.epoch = CALENDAR_MAC_1904
    book.save(path)
    edit(path, B1="=TODAY()+A1")
    part = ZipFile(path).read("xl/worksheets/sheet1.xml").decode()
    assert f"<v>{46_084 - 1_462 + 1}</v>" in part


def test_structured_references_and_names(tmp_path: Path) -> None:
    """Tables by column, by row and by part, names of the book and of a sheet."""
    path = made(tmp_path / "a.xlsx", S={"A1": "Item", "B1": "Net [a]", "A2": "x", "B2": 4,
                                        "A3": "y", "B3": 6}, T={"A1": 100})  # fmt: skip
    book = openpyxl.load_workbook(path)
    book["S"].add_table(Table(displayName="Sales", ref="A1:B3"))
    book.defined_names["Rate"] = DefinedName("Rate", attr_text="T!$A$1")
    book["S"].defined_names["Rate"] = DefinedName("Rate", attr_text="S!$B$3")
    book.defined_names["Twice"] = DefinedName("Twice", attr_text="T!$A$1*2")
    book.defined_names["Gone"] = DefinedName("Gone", attr_text="#REF!$A$1")
    book.save(path)
    _, found = edit(
        path, D2="=SUM(Sales[Net '[a']])", D3="=Sales[[#This Row],[Net '[a']]]*2",
        D4="=Sales[[#Headers],[Item]]", D5="=Rate+1", D6="=Twice", D7="=Gone",
        D8="=COUNTA(Sales[])", D9='="Sales[Item]"',
    )  # fmt: skip

    assert results(path, "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9") == [
        10, 12, "Item", 7, 200, None, 4, "Sales[Item]",
    ]  # fmt: skip
    assert "it uses a name that stands for no cells here" in warned(found)


def test_a_shared_formula_keeps_the_sheet_of_a_name(tmp_path: Path) -> None:
    """A name of another sheet and one of its own are two names, also where a formula is shared."""
    path = made(tmp_path / "a.xlsx", S={"A1": 1, "A2": 2, "B1": "=T!Rate*A1"}, T={"A1": 10})
    book = openpyxl.load_workbook(path)
    book["T"].defined_names["Rate"] = DefinedName("Rate", attr_text="T!$A$1")
    book["S"].defined_names["Rate"] = DefinedName("Rate", attr_text="S!$A$2")
    book["S"]["B2"] = "=T!Rate*A2"
    book.save(path)
    part = ZipFile(path).read("xl/worksheets/sheet1.xml")
    shared = part.replace(b"<f>T!Rate*A1<", b'<f t="shared" ref="B1:B2" si="0">T!Rate*A1<')
    shared = shared.replace(b"<f>T!Rate*A2</f>", b'<f t="shared" si="0"/>')
    assert shared.count(b"shared") == 2
    replace_part(path, "xl/worksheets/sheet1.xml", shared)
    edit(path, A1=3)
    assert results(path, "B1", "B2") == [30, 20]
    edit(path, B1="=1+1")
    assert openpyxl.load_workbook(path)["S"]["B2"].value == "=T!Rate*A2"
    assert results(path, "B2") == [20]


def test_subtotals_pass_over_each_other_and_over_nothing_hidden(tmp_path: Path) -> None:
    """Nested ones count once; where rows are hidden a filter decides, so there is no result."""
    path = made(tmp_path / "a.xlsx", S={"A1": 1, "A2": 2, "A3": "=SUBTOTAL(9,A1:A2)", "A4": 5})
    edit(path, A5="=SUBTOTAL(9,A1:A4)")
    assert results(path, "A3", "A5") == [3, 8] or results(path, "A5") == [8]
    book = openpyxl.load_workbook(path)
    book["S"].row_dimensions[2].hidden = True
    book.save(path)
    _, found = edit(path, A4=6)
    assert results(path, "A5") == [None]
    assert "SUBTOTAL: it leaves out rows that are hidden" in warned(found)


def test_precision_as_displayed_counts_for_fractions(tmp_path: Path) -> None:
    """There formulas see what cells show, which engines do not; whole numbers show all digits."""
    path = made(tmp_path / "a.xlsx", S={"A1": 0.126, "A2": 3})
    book = openpyxl.load_workbook(path)
    book.calculation.fullPrecision = False
    book.save(path)
    _, found = edit(path, B1="=A1*100", B2="=A2*2", B3="=A2/2", B4="=B3*2", B5="=IF(A2=3,4,A2)")
    assert results(path, "B1", "B2", "B3", "B4", "B5") == [None, 6, None, None, 4]
    assert "the digits that it shows" in warned(found)


def test_a_stored_result_counts_as_it_is(tmp_path: Path) -> None:
    """A formula that no edit reached is read as what it came to, whoever calculated it."""
    path = tmp_path / "a.xlsx"
    edit(path, A1=1, B1="=A1+1")
    data = ZipFile(path).read("xl/worksheets/sheet1.xml").replace(b"<v>2</v>", b"<v>99</v>")
    replace_part(path, "xl/worksheets/sheet1.xml", data)
    edit(path, C1="=B1*2")
    assert results(path, "B1", "C1") == [99, 198]


def replace_part(path: Path, name: str, data: bytes) -> None:
    """Replace a part of a package."""
    parts = {name: ZipFile(path).read(name) for name in ZipFile(path).namelist()}
    with ZipFile(path, "w") as archive:
        for each, part in (parts | {name: data}).items():
            archive.writestr(each, part)


def test_an_edit_leaves_no_formula_without_a_result(tmp_path: Path) -> None:
    """What had none gets one, in all sheets; the answer tells these apart, and what stays open."""
    cells = {"A1": 2, "B1": "=A1*2", "C1": "=RAND()"}
    path = made(tmp_path / "a.xlsx", S=cells, T={"A1": "=S!B1"})
    applied, found = edit(path, D1="=B1+1")
    assert results(path, "B1", "C1", "D1") == [4, None, 5]
    assert results(path, "A1", sheet="T") == [4]
    assert found.results == ("S!D1 = 5", "Had no result before, and have one: S!B1, T!A1")
    assert found.warnings == ("Had no result before, and have none: S!C1 (RAND).",)
    assert applied.lacks_results
    assert edit(path, D2="=D1*2")[1].warnings == ()


def test_an_edit_of_looks_leaves_no_formula_without_a_result(tmp_path: Path) -> None:
    """Also where no value changed: what is published has its results; those there are stay."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2, "B1": "=A1*2"})
    operation = FormatRange("S", "A1", {"font_bold": True})
    for name, told in (("b.xlsx", ("Had no result before, and have one: S!B1",)), ("c.xlsx", ())):
        applied = FORMAT.apply(Source(path, "a.xlsx"), (operation,), tmp_path / name)
        path = tmp_path / name
        found = calculate_open(FORMAT, Source(path, name), applied)
        assert (found.results, applied.open_results) == (told, ())
        assert results(path, "B1") == [4]


@pytest.mark.parametrize(
    ("cell", "lacks"),
    [
        ("<c r='A1'><f>1+1</f></c>", True),
        ("<c r='A1'><f>1+1</f><v/></c>", True),
        ("<c r='A1'><f>1+1</f><v></v></c>", True),
        ("<c r='A1'><f t='shared' si='0'/> <v xml:space='preserve' /></c>", True),
        ("<c r='A1'><f>1+1</f><v>2</v></c>", False),
        ("<c r='A1'><f t='shared' si='0'/><v>2</v></c>", False),
        ("<c r='A1'><v>2</v></c><c r='B1'/>", False),
    ],
)
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_cells_without_results_are_seen(
    tmp_path: Path, prefix: str, cell: str, *, lacks: bool
) -> None:
    """However a program writes that there is no result, an edit tells that there is none."""
    path = made(tmp_path / "a.xlsx", S={"Z9": 1})
    name = "xmlns:x" if prefix else "xmlns"
    spelt = re.sub(
        r"<(/?)(?=\w)", rf"<\1{prefix}", f"<sheetData><row r='1'>{cell}</row></sheetData>"
    )
    sheet = (
        f'<{prefix}worksheet {name}="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"{spelt}</{prefix}worksheet>"
    )
    replace_part(path, "xl/worksheets/sheet1.xml", sheet.encode())
    applied = FORMAT.apply(Source(path, "a.xlsx"), (EnsureSheet("T"),), tmp_path / "b.xlsx")
    assert applied.lacks_results is lacks


def test_a_damaged_sheet_costs_only_its_own_results(tmp_path: Path) -> None:
    """Where cells cannot be found for sure, no result is written, nor for what reads them."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2}, T={"A1": 7, "B1": "=A1"})
    twice = ZipFile(path).read("xl/worksheets/sheet2.xml")
    row = re.search(b"<row.*</row>", twice)
    assert row is not None
    replace_part(path, "xl/worksheets/sheet2.xml", twice.replace(row[0], row[0] * 2))
    _, found = edit(path, B1="=A1*2", C1="=T!A1")
    assert results(path, "B1", "C1") == [4, None]
    assert "S!C1 (its sheet, or one that it reads, is damaged)" in warned(found)


def test_more_than_can_be_worked_out_in_one_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ones are, and the answer says how many are not; what is asked for goes before."""
    monkeypatch.setattr(plan, "MAX_BESIDES", 1)
    path = made(tmp_path / "a.xlsx", S={"A1": 2, "B1": "=A1*2", "C1": "=A1*3", "D1": "=A1*4"})
    _, found = edit(path, E1="=C1+1")
    assert results(path, "B1", "C1", "D1", "E1") == [4, None, None, 7]
    assert found.warnings == ("2 more formulas have no result; recalculate works them out.",)


def test_recalculate_works_out_all_of_a_sheet_or_of_the_book(tmp_path: Path) -> None:
    """Old results are replaced where new ones are known; the others stay, and are named."""
    cells = {"A1": 2, "B1": "=A1*2", "B2": "=RAND()"}
    path = made(tmp_path / "a.xlsx", S=cells, T={"A1": "=S!A1+1"})
    found = Calculated(0)
    for sheet, wanted in (("T", [4, 3]), (None, [4, 3])):
        applied = FORMAT.apply(Source(path, "a.xlsx"), (Recalculate(sheet),), tmp_path / "b.xlsx")
        found = calculate_open(FORMAT, Source(tmp_path / "b.xlsx", "b.xlsx"), applied)
        after = [
            *results(tmp_path / "b.xlsx", "B1"),
            *results(tmp_path / "b.xlsx", "A1", sheet="T"),
        ]
        assert after == wanted
    assert "S!B2 (RAND: it is another number each time)" in warned(found)


def test_charts_over_results_have_their_points(tmp_path: Path) -> None:
    """A chart of formulas that the same call has written shows them, and follows the next edit."""
    path = tmp_path / "a.xlsx"
    rows = (("Item", "Cost", "Twice"), ("a", 1), ("b", 2))
    series = (ChartSeries(values="C2:C3", categories="A2:A3", name="=S!C1"),)
    operations = (
        SetRange("S", "A1", rows), FillFormula("S", "C2:C3", "=B2*2"),
        AddChart("S", "column", series=series),
    )  # fmt: skip
    applied = FORMAT.apply(None, operations, path)
    calculate_open(FORMAT, Source(path, "a.xlsx"), applied)
    assert applied.warnings == ()
    assert points(path) == ["2", "4"]
    edit(path, B3=5)
    assert points(path) == ["2", "10"]


def points(path: Path) -> list[str]:
    """The numbers that the chart of a workbook stores."""
    chart = ZipFile(path).read("xl/charts/chart1.xml").decode()
    return re.findall(r"<c:v>([0-9]+)</c:v>", chart)


def test_a_result_changes_nothing_else_of_its_cell() -> None:
    """Shared formulas stay shared, extensions and looks stay; the type is that of the result."""
    rows = (
        b'<row r="1"><c r="B1"><f t="shared" ref="B1:B3" si="0">A1*2</f><v>9</v></c></row>'
        b'<row r="2"><c r="B2" t="str"><f t="shared" si="0"/><v>old</v></c></row>'
        b'<row r="3"><c r="B3" s="2" vm="1"><f t="shared" si="0"/></c>'
        b'<c r="C3"><f>1&lt;2</f><v/><extLst><ext/></extLst></c><c r="D3"><v>5</v></c></row>'
    )
    space = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    part = b'<worksheet xmlns="%b"><sheetData>%b</sheetData></worksheet>' % (space, rows)
    sheet = SheetPart(part, "S")
    sheet.set(1, 2, CellEdit(result=Result("number", "2")))
    sheet.set(2, 2, CellEdit(result=Result("number", "4")))
    sheet.set(3, 2, CellEdit(result=Result("text", "a<b ")))
    sheet.set(3, 3, CellEdit(result=Result("boolean", "1")))
    # A cell without a formula has no result.
    sheet.set(3, 4, CellEdit(result=Result("number", "7")))
    found = sheet.xml(lambda base, _: base)
    assert (
        b'<row r="1"><c r="B1"><f t="shared" ref="B1:B3" si="0">A1*2</f><v>2</v></c></row>'
        b'<row r="2"><c r="B2"><f t="shared" si="0"/><v>4</v></c></row>'
        b'<row r="3"><c r="B3" s="2" t="str"><f t="shared" si="0"/>'
        b'<v xml:space="preserve">a&lt;b </v></c>'
        b'<c r="C3" t="b"><f>1&lt;2</f><v>1</v><extLst><ext/></extLst></c>'
        b'<c r="D3"><v>5</v></c></row>'
    ) in found


@pytest.mark.parametrize("form", ['t="s"', "t = 's' s=\"0\""])
def test_a_text_that_a_result_replaces_is_gone(tmp_path: Path, form: str) -> None:
    """Some programs share texts that formulas come to; with the result, the old one goes."""
    path = made(tmp_path / "a.xlsx", S={"A1": 2, "B1": "=A1*2", "C1": "a secret"})
    share_texts(path)
    found = tmp_path / "calculated.xlsx"
    with ZipFile(path) as old, ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in old.namelist():
            data = old.read(name).decode()
            if name.endswith("sheet1.xml"):
                data, count = re.subn(
                    r'<c r="B1".*?</c><c r="C1".*?</c>',
                    f'<c r="B1" {form}><f>A1*2</f><v>0</v></c>', data,
                )  # fmt: skip
                assert count == 1
            new.writestr(name, data)
    told = FORMAT.calculate(
        Source(tmp_path / "b.xlsx", "a.xlsx"), Calculation(NOON_US, (("S", "B1"),)), found
    )
    assert told.results == ("S!B1 = 4",)
    assert b"secret" in ZipFile(tmp_path / "b.xlsx").read("xl/sharedStrings.xml")
    assert b"secret" not in ZipFile(found).read("xl/sharedStrings.xml")


def test_too_much_is_left_to_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is bounded before it is begun, and the sentence says so."""
    monkeypatch.setattr("kbd_xlsx.results.plan.MAX_WORK", 10)
    path = tmp_path / "a.xlsx"
    _, found = edit(path, A1=1, B1="=SUM(A1:A20)", C1="=A1")
    assert results(path, "B1", "C1") == [None, None]
    assert "too much to calculate here" in warned(found)


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("=XLOOKP(1,A1:A2,A1:A2)", "S!B1: there is no function 'XLOOKP' .*XLOOKUP"),
        ("=SUMM(A1)", "there is no function 'SUMM' .near it: SUM"),
        ("=SVERWEIS(1,A:B,2)", "there is no function 'SVERWEIS'"),
        ("=Missing!A1", "there is no sheet 'Missing'; make it with ensure_sheet"),
        ("='Daten 2'!A1", "there is no sheet 'Daten 2' .near it: Daten 1"),
        ("=SUM(S:Nowhere!A1)", "there is no sheet 'Nowhere'"),
        ("=Umsatz*2", "there is no name 'Umsatz'; a text in a formula needs quotes"),
        ("=SUM(Sals[Net])", "there is no table 'Sals' .near it: Sales"),
    ],
)
def test_names_that_are_not_there_are_refused(tmp_path: Path, formula: str, told: str) -> None:
    """A misspelt name is an error with the nearest one, and nothing is written."""
    path = made(tmp_path / "a.xlsx", S={"A1": "Net", "A2": 1}, **{"Daten 1": {"A1": 1}})
    book = openpyxl.load_workbook(path)
    book["S"].add_table(Table(displayName="Sales", ref="A1:A2"))
    book.save(path)
    with pytest.raises(ValidationFailed, match=told):
        edit(path, B1=formula)
    assert not (tmp_path / "edited.xlsx").exists()


@pytest.mark.parametrize(
    "formula",
    [
        "=LET(x,2,x*A1)", "=TRUE", "=_xlfn.CONCAT(A1:A2)", "=s!A1", "=Net_total", "=Double(A1)",
        "=[1]Data!A1", "=Sales[Net]", '=COUNTIF(A1:A2,">"&A1)', "=#REF!+1", "=New!A1",
    ],
)  # fmt: skip
def test_names_that_are_there_are_taken(tmp_path: Path, formula: str) -> None:
    """Parameters, constants, functions by names and what a later operation makes are names."""
    path = made(tmp_path / "a.xlsx", S={"A1": "Net", "A2": 1})
    book = openpyxl.load_workbook(path)
    book["S"].add_table(Table(displayName="Sales", ref="A1:A2"))
    book.defined_names["Net_total"] = DefinedName("Net_total", attr_text="S!$A$2")
    text = "_xlfn.LAMBDA(_xlpm.x,_xlpm.x*2)"
    book.defined_names["Double"] = DefinedName("Double", attr_text=text)
    book.save(path)
    operations = (SetCells("S", (CellSetting("B5", formula),)), EnsureSheet("New"))
    FORMAT.apply(Source(path, "a.xlsx"), operations, tmp_path / "b.xlsx")
    assert openpyxl.load_workbook(tmp_path / "b.xlsx")["S"]["B5"].value is not None


@given(
    st.lists(st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.sampled_from(["SUM", "AVERAGE", "MIN", "MAX", "COUNT", "PRODUCT"]),
)
def test_aggregates_are_those_of_python(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float], function: str
) -> None:
    """Numbers of all sizes, by another way to calculate."""
    path = tmp_path_factory.mktemp("book") / "a.xlsx"
    cells = {f"A{row}": number for row, number in enumerate(numbers, 1)}
    edit(path, **cells, B1=f"={function}(A1:A{len(numbers)})")
    product = 1.0
    for number in numbers:
        product *= number
    wanted = {
        "SUM": sum(numbers), "AVERAGE": sum(numbers) / len(numbers), "MIN": min(numbers),
        "MAX": max(numbers), "COUNT": len(numbers), "PRODUCT": product,
    }[function]  # fmt: skip
    (found,) = results(path, "B1")
    assert found is None or found == pytest.approx(wanted, rel=1e-9, abs=1e-6)
