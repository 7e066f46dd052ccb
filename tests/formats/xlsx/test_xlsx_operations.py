"""Operations on workbooks of other programs: what they change, what they keep, what they refuse."""

import zipfile
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.worksheet.table import Table, TableFormula
from python_calamine import CalamineWorkbook

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Applied, Source
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd.testing.formats import calculate_open
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS, CellSetting, SetCells

FORMAT = XlsxFormat()
WIDTHS = {"op": "set_column_widths", "sheet": "Spare", "columns": [{"column": "A", "width": 9}]}


def edit(book: Path, *found: dict[str, Any], to: str = "out.xlsx") -> Applied:
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    operations = tuple(msgspec.convert(list(found), list[vocabulary]))
    applied = FORMAT.apply(Source(book, book.name), operations, book.with_name(to))
    calculate_open(FORMAT, Source(book.with_name(to), to), applied)
    return applied


def cells(sheet: str, **values: Any) -> dict[str, Any]:
    return {
        "op": "set_cells", "sheet": sheet,
        "cells": [{"cell": cell, "value": value} for cell, value in values.items()],
    }  # fmt: skip


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {info.filename: archive.read(info) for info in archive.infolist()}


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """A workbook of another program: data in a table, a chart, a sheet of formulas, a name."""
    book = openpyxl.Workbook()
    data = book.worksheets[0]
    data.title = "Data"
    for row in (["Item", "Cost"], ["Tea", 4.5], ["Milk", 1.25], ["Bread", 3]):
        data.append(row)
    data.add_table(Table(displayName="Costs", ref="A1:B4"))
    chart = BarChart()
    chart.add_data(Reference(data, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    data.add_chart(chart, "D2")
    sums = book.create_sheet("Sums")
    sums["A1"], sums["B1"] = "Total", "=SUM(Data!B2:B4)"
    sums["B2"] = "=B1*2"
    spare = book.create_sheet("Spare")
    spare["A1"] = "nobody refers to this"
    book.defined_names["Costs_total"] = openpyxl.workbook.defined_name.DefinedName(
        "Costs_total", attr_text="Sums!$B$1"
    )
    book.save(tmp_path / "sales.xlsx")
    return tmp_path / "sales.xlsx"


def test_a_header_cell_renames_its_column(sales: Path) -> None:
    """The cell and the table's column keep one name; a number or a second one is refused."""
    edit(sales, cells("Data", B1="Price"))

    table = openpyxl.load_workbook(sales.with_name("out.xlsx"))["Data"].tables["Costs"]
    assert [column.name for column in table.tableColumns] == ["Item", "Price"]
    for value in (5, "item", None, "=A1"):
        with pytest.raises(ValidationFailed, match="Costs"):
            edit(sales, cells("Data", B1=value))


def test_a_header_that_formulas_use_stays(sales: Path) -> None:
    """A column that a formula names cannot be renamed: the formula would break."""
    edit(sales, cells("Spare", C1="=SUM(Costs[Cost])"), to="used.xlsx")

    with pytest.raises(ValidationFailed, match="formulas"):
        edit(sales.with_name("used.xlsx"), cells("Data", B1="Price"))
    with pytest.raises(ValidationFailed, match="formulas"):
        edit(sales, cells("Spare", C1="=SUM(Costs[Cost])"), cells("Data", B1="Price"))
    with pytest.raises(ValidationFailed, match="formulas"):
        edit(sales, cells("Data", E1="=SUM(Costs[Cost])", B1="Price"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("column", "formula"),
    [
        ("R&D", "=SUM(Costs[R&D])"),
        ("Net [a]", "=SUM(Costs[Net '[a']])"),
        ("It's #1", "=SUM(Costs[[#All],[It''s '#1]])"),
        ("Two\nlines", "=SUM(Costs[Two\nlines])"),
        ("<x>", "=SUM(Costs[@<x>])"),
        ("Cost", "=SUM(costs[ cost ])"),
    ],
)
def test_a_column_is_found_however_formulas_spell_it(
    sales: Path, column: str, formula: str
) -> None:
    """Signs that XML or structured references write otherwise hide no use; others are no use."""
    edit(sales, cells("Data", B1=column), to="named.xlsx")
    edit(sales.with_name("named.xlsx"), cells("Spare", C1=formula), to="used.xlsx")

    with pytest.raises(ValidationFailed, match="formulas"):
        edit(sales.with_name("used.xlsx"), cells("Data", B1="Price"))
    edit(sales.with_name("used.xlsx"), cells("Data", A1="Thing"))


def test_a_header_that_names_and_tables_use_stays(sales: Path) -> None:
    """A defined name and the formula of a calculated column keep the columns that they name."""
    book = openpyxl.load_workbook(sales)
    book.defined_names["Sum"] = openpyxl.workbook.defined_name.DefinedName(
        "Sum", attr_text="SUM(Costs[Cost])"
    )
    table = book["Data"].tables["Costs"]
    table.tableColumns[1].calculatedColumnFormula = TableFormula(attr_text="LEN(Costs[@Item])")
    book.save(sales)

    for change in ({"A1": "Thing"}, {"B1": "Price"}):
        with pytest.raises(ValidationFailed, match="formulas"):
            edit(sales, cells("Data", **change))


def test_delete_sheet(sales: Path) -> None:
    """A sheet that nothing refers to goes with its parts; names of later sheets move up."""
    applied = edit(sales, {"op": "delete_sheet", "sheet": "spare"})

    book = openpyxl.load_workbook(sales.with_name("out.xlsx"))
    assert book.sheetnames == ["Data", "Sums"]
    assert "Costs_total" in book.defined_names
    assert applied.changed == ("Spare: deleted",)
    names = entries(sales.with_name("out.xlsx"))
    assert "xl/worksheets/sheet3.xml" not in names
    assert b"sheet3.xml" not in names["[Content_Types].xml"]


@pytest.mark.parametrize(
    ("sheet", "before"),
    [
        ("Data", []),
        ("Sums", []),
        ("Spare", [cells("Sums", C1="=Spare!A1")]),
        ("Spare", [cells("Sums", C1="=SUM(Data:Spare!A1)")]),
        ("Spare", [cells("Sums", C1='=INDIRECT("Spare!A1")')]),
    ],
)
def test_a_sheet_that_is_referred_to_stays(
    sales: Path, sheet: str, before: list[dict[str, Any]]
) -> None:
    """Formulas (also of this very call), names and charts keep the sheets that they refer to."""
    with pytest.raises(ValidationFailed, match=f"{sheet} stays"):
        edit(sales, *before, {"op": "delete_sheet", "sheet": sheet})
    assert not sales.with_name("out.xlsx").exists()


def test_a_sheet_whose_table_feeds_a_pivot_table_stays(sales: Path) -> None:
    """A pivot table names the table alone, not its sheet; a column of that name is no reason."""
    path = sales.with_name("pivot.xlsx")
    book = openpyxl.load_workbook(sales)
    book["Spare"]["A2"] = "Tea"
    book["Spare"].add_table(Table(displayName="Spares", ref="A1:A2"))
    book.save(sales)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    for name, stays in (("spares", True), ("Costs", False)):
        part = "xl/pivotCache/pivotCacheDefinition1.xml"
        text = f'<pivotCacheDefinition xmlns="{main}"><cacheSource type="worksheet">'
        text += f'<worksheetSource name="{name}"/></cacheSource><cacheFields count="1">'
        text += '<cacheField name="Spares"/></cacheFields></pivotCacheDefinition>'
        with Package(Source(sales, sales.name)) as package:
            rewriting = Rewriting(package)
            rewriting.put(part, text.encode())
            rewriting.relate("xl/workbook.xml", "pivotCacheDefinition", part)
            rewriting.save(path)

        if stays:
            with pytest.raises(ValidationFailed, match="Spare stays: a pivot table shows"):
                edit(path, {"op": "delete_sheet", "sheet": "Spare"})
        else:
            edit(path, {"op": "delete_sheet", "sheet": "Spare"})
            assert "Spare" not in openpyxl.load_workbook(sales.with_name("out.xlsx")).sheetnames


def test_a_table_is_not_found_in_a_longer_name(sales: Path) -> None:
    """A table whose name ends that of another one keeps its sheet only if it is used itself."""
    book = openpyxl.load_workbook(sales)
    for cell, value in (("A1", "Item"), ("A2", "Tea")):
        book["Spare"][cell] = value
    book["Spare"].add_table(Table(displayName="sts", ref="A1:A2"))
    book["Sums"]["C1"] = "=SUM(Costs[Cost])"
    book.save(sales)

    edit(sales, {"op": "delete_sheet", "sheet": "Spare"})

    assert openpyxl.load_workbook(sales.with_name("out.xlsx")).sheetnames == ["Data", "Sums"]
    for text in ("=COUNTA(STS[Item])", '=COUNTA(INDIRECT("sts[Item]"))'):
        with pytest.raises(ValidationFailed, match="Spare stays"):
            edit(sales, cells("Sums", C2=text), {"op": "delete_sheet", "sheet": "Spare"})


def test_the_last_visible_sheet_stays(tmp_path: Path) -> None:
    """A workbook whose other sheets are hidden keeps the one that is not."""
    book = openpyxl.Workbook()
    book.create_sheet("Hidden").sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")

    with pytest.raises(ValidationFailed, match="not hidden"):
        edit(tmp_path / "a.xlsx", {"op": "delete_sheet", "sheet": "Sheet"})


def test_merges(sales: Path) -> None:
    """Cells are merged and taken apart; values that would go, tables and overlaps are refused."""

    def merge(area: str, op: str = "merge_cells") -> dict[str, Any]:
        return {"op": op, "sheet": "Spare", "range": area}

    edit(sales, merge("A1:C2"), merge("E1:E3"), merge("E1:E3", "unmerge_cells"))
    sheet = openpyxl.load_workbook(sales.with_name("out.xlsx"))["Spare"]
    assert [str(area) for area in sheet.merged_cells.ranges] == ["A1:C2"]
    assert sheet["A1"].value == "nobody refers to this"

    merged = sales.with_name("out.xlsx")
    for bad in (
        [merge("B2:D4")],
        [cells("Spare", B2="hidden")],
        [cells("Spare", F5=1, F6=2), merge("F5:F6")],
        [merge("G1:H2", "unmerge_cells")],
        [{"op": "merge_cells", "sheet": "Data", "range": "B3:C3"}],
    ):
        with pytest.raises(ValidationFailed):
            edit(merged, *bad, to="bad.xlsx")
        assert not merged.with_name("bad.xlsx").exists()


def test_clear_range(sales: Path) -> None:
    """Contents go, looks stay; the header of a table is refused."""
    edit(sales, {"op": "set_cells", "sheet": "Spare", "cells": [
        {"cell": "B2", "value": 1, "style": {"font_bold": True}}]},
        {"op": "clear_range", "sheet": "Spare", "range": "A1:C3"})  # fmt: skip

    sheet = openpyxl.load_workbook(sales.with_name("out.xlsx"))["Spare"]
    assert (sheet["A1"].value, sheet["B2"].value, sheet["B2"].font.b) == (None, None, True)
    with pytest.raises(ValidationFailed, match="header"):
        edit(sales, {"op": "clear_range", "sheet": "Data", "range": "A1:B2"})


def test_auto_filter(sales: Path) -> None:
    """The filter and the hidden name that programs keep for it are set; a table has its own."""
    edit(sales, {"op": "auto_filter", "sheet": "Sums", "range": "A1:B2"})

    book = openpyxl.load_workbook(sales.with_name("out.xlsx"))
    assert book["Sums"].auto_filter.ref == "A1:B2"
    assert b"'Sums'!$A$1:$B$2" in entries(sales.with_name("out.xlsx"))["xl/workbook.xml"]
    with pytest.raises(ValidationFailed, match="Costs"):
        edit(sales, {"op": "auto_filter", "sheet": "Data", "range": "A1:B4"})


def test_old_results_are_not_kept(tmp_path: Path) -> None:
    """Results that depend on a changed cell go, over sheets and names; others stay stored."""
    path = stored(tmp_path)
    change = SetCells("Data", (CellSetting("A1", 10),))
    FORMAT.apply(Source(path, path.name), (change,), tmp_path / "out.xlsx")

    book = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True)
    assert book["Data"]["B1"].value is None
    assert book["Data"]["C1"].value is None
    assert book["Data"]["D1"].value == 7
    shown = CalamineWorkbook.from_path(str(tmp_path / "out.xlsx")).get_sheet_by_name("Data")
    assert shown.to_python() == [[10, "", "", 7]]


def stored(folder: Path) -> Path:
    """Make a workbook whose formulas have stored results: B1 and C1 come from A1, D1 does not."""
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Data"
    for cell, value in (("A1", 1), ("B1", "=A1*2"), ("C1", "=B1+1"), ("D1", "=3+4")):
        book["Data"][cell] = value
    plain = folder / "plain.xlsx"
    book.save(plain)
    path = folder / "stored.xlsx"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            for formula, result in (("A1*2", 2), ("B1+1", 3), ("3+4", 7)):
                data = data.replace(
                    f"<f>{formula}</f><v/>".encode(), f"<f>{formula}</f><v>{result}</v>".encode()
                ).replace(
                    f"<f>{formula}</f><v></v>".encode(),
                    f"<f>{formula}</f><v>{result}</v>".encode(),
                )
            new.writestr(info.filename, data)
    read = openpyxl.load_workbook(path, data_only=True)["Data"]
    assert [cell.value for cell in read[1]] == [1, 2, 3, 7]
    return path


def test_a_look_alone_keeps_what_a_cell_holds(tmp_path: Path) -> None:
    """A style without a value changes neither the formula nor any stored result."""
    style = {"fill_color": "#FFFF00"}
    look = [{"cell": cell, "style": style} for cell in ("A1", "B1", "Z9")]
    edit(stored(tmp_path), {"op": "set_cells", "sheet": "Data", "cells": look})

    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Data"]
    shown = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True)["Data"]
    assert [sheet[cell].fill.fgColor.rgb for cell in ("A1", "B1", "Z9")] == ["FFFFFF00"] * 3
    assert (sheet["B1"].value, sheet["Z9"].value) == ("=A1*2", None)
    assert [cell.value for cell in shown[1]][:4] == [1, 2, 3, 7]
    for bad in ({"cell": "A1"}, {"cell": "A1", "type": "number", "style": style}):
        with pytest.raises(ValidationFailed, match="A1 has no value"):
            edit(tmp_path / "stored.xlsx", {"op": "set_cells", "sheet": "Data", "cells": [bad]})


def test_what_reaches_out_is_told(sales: Path) -> None:
    """Formulas that fetch or lead to other files are written, and named for the review."""
    applied = edit(
        sales,
        cells("Spare", A2='=WEBSERVICE("http://x")', A3="=SUM(A1:A2)", A4="='[b.xlsx]S'!A1"),
    )

    assert [text.split(":")[0] for text in applied.external] == ["Spare!A2", "Spare!A4"]


def test_text_like_formulas_is_told(sales: Path) -> None:
    """A text that looks like a formula is text, and a warning names it; plain text is not named."""
    texts = {"value": "=1+1", "type": "string"}, {"value": "-5 degrees"}, {"value": "+cmd|'x'!A1"}
    applied = edit(sales, {"op": "set_range", "sheet": "Spare", "start": "A5",
                           "values": [[text] for text in texts]})  # fmt: skip

    assert [w for w in applied.warnings if "looks like a formula" in w] == [
        "Text that looks like a formula was written as text: Spare!A5, Spare!A7."
    ]
    sheet = openpyxl.load_workbook(sales.with_name("out.xlsx"))["Spare"]
    assert [sheet.cell(row, 1).data_type for row in (5, 6, 7)] == ["s", "s", "s"]


def test_new_functions_get_their_prefix(sales: Path) -> None:
    """Functions newer than the format are spelt as programs read them."""
    edit(sales, cells("Spare", A2='=XLOOKUP("Tea",Data!A:A,Data!B:B)&IFS(A1="x",1)'))

    found = openpyxl.load_workbook(sales.with_name("out.xlsx"))["Spare"]["A2"].value
    assert found == '=_xlfn.XLOOKUP("Tea",Data!A:A,Data!B:B)&_xlfn.IFS(A1="x",1)'


def quarters(path: Path) -> Path:
    """Make four sheets Q1 to Q4 of amounts by category."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    rows = {
        "Q1": [["Software", 49.99], ["Travel", 100], ["Travel", 20.5]],
        "Q2": [["Travel", 10]],
        "Q3": [["software ", 75], ["Office", -3.2]],
        "Q4": [["Office", 8]],
    }
    for name, found in rows.items():
        sheet = book.create_sheet(name)
        for row in (["Category", "Note", "Amount"], *([a, "x", b] for a, b in found)):
            sheet.append(row)
    book.save(path)
    return path


def test_summarize_by_category(tmp_path: Path) -> None:
    """Sums over Q1 to Q4: exact header and rows, a column a sheet, a total (conformance 113)."""
    edit(quarters(tmp_path / "q.xlsx"), {
        "op": "summarize_by_category", "sheet": "Summary",
        "source_sheets": ["Q1", "Q2", "Q3", "Q4"],
        "category_col": "A", "amount_col": "Amount", "category_header": "Category"})  # fmt: skip

    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True)["Summary"]
    assert list(sheet.iter_rows(values_only=True)) == [
        ("Category", "Q1", "Q2", "Q3", "Q4", "Total"),
        ("Office", 0, 0, -3.2, 8, 4.8),
        ("Software", 49.99, 0, 75, 0, 124.99),
        ("Travel", 120.5, 10, 0, 0, 130.5),
    ]
    formulas = openpyxl.load_workbook(tmp_path / "out.xlsx")["Summary"]
    assert [cell.value for cell in formulas["F"]] == ["Total", "=SUM(B2:E2)", "=SUM(B3:E3)",
                                                      "=SUM(B4:E4)"]  # fmt: skip


def test_a_summary_counts_no_total_twice(tmp_path: Path) -> None:
    """A row that sums up those above it is left out; prices that are added up are named."""
    book = openpyxl.Workbook()
    rows: list[list[Any]] = [
        ["Kind", "Unit price"], ["Tea", 0.1], ["Cup", 0.2], ["Total", 0.3], ["Tea", 4],
        ["Subtotal", 4], ["Grand total", 4.3], ["Sum", 99],
    ]  # fmt: skip
    for row in rows:
        book.worksheets[0].append(row)
    book.save(tmp_path / "a.xlsx")
    applied = edit(tmp_path / "a.xlsx", {
        "op": "summarize_by_category", "sheet": "Summary", "source_sheets": ["Sheet"],
        "category_col": "Kind", "amount_col": "B"})  # fmt: skip
    found = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True)["Summary"]
    assert [row[:3] for row in found.iter_rows(min_row=2, values_only=True)] == [
        ("Cup", 0.2, 0.2), ("Sum", 99, 99), ("Tea", 4.1, 4.1),
    ]  # fmt: skip
    told = [
        (
            "Sheet: left out as totals of the rows above: row 4 (Total), row 6 (Subtotal), "
            "row 7 (Grand total)."
        ),
        "Sheet: may be totals, but do not agree with the rows above; kept: row 8 (Sum).",
        "Sheet: Unit price was summed; it is a price for one piece (by its name).",
    ]
    assert list(applied.told) == told
    assert [text for text in applied.warnings if text in told] == told


def test_a_summary_sees_what_the_call_has_set(tmp_path: Path) -> None:
    """Cells set before in the same call count; a formula without result is refused by name."""
    path = quarters(tmp_path / "q.xlsx")
    asked = {
        "op": "summarize_by_category", "sheet": "Summary", "source_sheets": ["Q2"],
        "category_col": "Category", "amount_col": "C",
    }  # fmt: skip
    edit(path, cells("Q2", A3="Travel", C3=5), asked)
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True)["Summary"]
    assert list(sheet.iter_rows(values_only=True))[1] == ("Travel", 15, 15)

    with pytest.raises(ValidationFailed, match="Q2!C3 is a formula without a stored result"):
        edit(path, cells("Q2", A3="Travel", C3="=C2*2"), asked, to="bad.xlsx")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.xlsx", "q.xlsx"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_sheets": ["Q9"]}, "no sheet"),
        ({"category_col": "Kind"}, "no column 'Kind'; it has: Category, Note, Amount"),
        ({"sheet": "Q1"}, "needs A1:F"),
    ],
)
def test_a_summary_that_cannot_be_made(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """A missing sheet or column, or no room, is refused by name."""
    asked = {
        "op": "summarize_by_category", "sheet": "Summary",
        "source_sheets": ["Q1", "Q2", "Q3", "Q4"],
        "category_col": "Category", "amount_col": "Amount",
    }  # fmt: skip
    with pytest.raises(ValidationFailed, match=message):
        edit(quarters(tmp_path / "q.xlsx"), {**asked, **changes})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"</worksheet>", b""),
        (b"</worksheet>", b"</worksheet>more"),
        (b"<sheetData>", b"<sheetData><row>"),
        (b"nobody refers", b"nobody & refers"),
        (b"nobody refers", b"nobody \x01 refers"),
    ],
)
def test_a_sheet_that_is_no_xml_is_not_edited(sales: Path, old: bytes, new: bytes) -> None:
    """A part that no program opens is refused with the place of the fault; others are edited."""
    parts = entries(sales)
    parts["xl/worksheets/sheet3.xml"] = parts["xl/worksheets/sheet3.xml"].replace(old, new)
    with zipfile.ZipFile(sales, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)

    for operation in (cells("Spare", B9=1), WIDTHS):
        with pytest.raises(FileReadFailed, match=r"Spare .* no XML from line 1, column \d+ on"):
            edit(sales, operation)
    edit(sales, cells("Sums", D1=1))


def test_macros_under_a_plain_name_are_refused_with_what_to_do(sales: Path) -> None:
    """Programs open no such file: the suffix that it needs is named."""
    parts = entries(sales)
    types = parts["[Content_Types].xml"]
    plain = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    macros = b"application/vnd.ms-excel.sheet.macroEnabled.main+xml"
    parts["[Content_Types].xml"] = types.replace(plain, macros)
    with zipfile.ZipFile(sales, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)

    with pytest.raises(ValidationFailed, match=r"programs do not open it; write it as \.xlsm"):
        edit(sales, cells("Sums", D1=1))
    edit(sales, cells("Sums", D1=1), to="out.xlsm")
