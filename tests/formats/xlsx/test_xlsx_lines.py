"""Rows and columns put in and taken out: what moves, what is kept, what is refused."""

import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Font
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.filters import AutoFilter
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.table import Table, TableColumn, TableFormula

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from shifted_books import Move, edit, loaded, misplaced


def insert(row: int, count: int = 1, sheet: str = "Data") -> dict[str, Any]:
    return {"op": "insert_rows", "sheet": sheet, "row": row, "count": count}


def delete(row: int, count: int = 1, sheet: str = "Data") -> dict[str, Any]:
    return {"op": "delete_rows", "sheet": sheet, "row": row, "count": count}


def insert_column(column: str, count: int = 1, sheet: str = "Data") -> dict[str, Any]:
    return {"op": "insert_columns", "sheet": sheet, "column": column, "count": count}


def delete_column(column: str, count: int = 1, sheet: str = "Data") -> dict[str, Any]:
    return {"op": "delete_columns", "sheet": sheet, "column": column, "count": count}


def read(path: Path, part: str) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(part).decode()


def rewrite(path: Path, part: str, *changes: tuple[str, str]) -> None:
    """Change texts of a part that openpyxl cannot write."""
    text = read(path, part)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    new_path = path.with_name("changed.xlsx")
    with Package(Source(path, path.name)) as package:
        rewriting = Rewriting(package)
        rewriting.put(part, text.encode())
        rewriting.save(new_path)
    new_path.replace(path)


SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Ten rows of numbers with all around them that openpyxl can write, and a second sheet."""
    book = openpyxl.Workbook()
    data = book.worksheets[0]
    data.title = "Data"
    data.append(["Item", "Cost", "Twice"])
    for row in range(2, 11):
        data.append([f"item {row}", row * 10, f"=B{row}*2"])
    data["B12"] = "=SUM(B2:B10)"
    data["E1"] = "=SUM(B:B)"
    for cell in data[4]:
        cell.font = Font(bold=True)
    data.merge_cells("G3:H6")
    rule = Rule("expression", dxf=DifferentialStyle(font=Font(bold=True)), formula=["$B2>$B1"])
    data.conditional_formatting.add("B2:B10", rule)
    lists_rule = DataValidation(type="list", formula1="Lists!$A$1:$A$3")
    lists_rule.add("A2:A10")
    data.add_data_validation(lists_rule)
    data["A5"].hyperlink = "https://example.com/"
    data["A7"].hyperlink = "#Data!B8"
    data["B9"].comment = Comment("why", "me")
    data.print_area = "A1:C12"
    data.print_title_rows = "1:1"
    data.row_breaks.append(Break(id=6))
    data.freeze_panes = "A2"
    data.auto_filter.ref = "A1:C10"
    data.row_dimensions[7].height = 30
    data.column_dimensions["B"].width = 20
    chart = BarChart()
    chart.add_data(Reference(data, min_col=2, min_row=1, max_row=10), titles_from_data=True)
    data.add_chart(chart, "J8")
    lists = book.create_sheet("Lists")
    lists["A1"], lists["A2"], lists["B1"] = "x", "=Data!B5", "=VLOOKUP(A1,Data!$A$2:$C$10,2,0)"
    other = LineChart()
    other.add_data(Reference(data, min_col=3, min_row=2, max_row=4))
    lists.add_chart(other, "D2")
    book.defined_names["Costs"] = DefinedName("Costs", attr_text="Data!$B$2:$B$10")
    path = tmp_path / "book.xlsx"
    book.save(path)
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "move",
    [
        Move("Data", "rows", 1, 1), Move("Data", "rows", 5, 3), Move("Data", "rows", 11, 1),
        Move("Data", "rows", 5, -1), Move("Data", "rows", 3, -6), Move("Data", "columns", 1, 2),
        Move("Data", "columns", 2, -1), Move("Data", "columns", 3, 1), Move("Lists", "rows", 1, 4),
    ],
    ids=str,
)  # fmt: skip
def test_cells_and_formulas_are_at_their_places(book: Path, tmp_path: Path, move: Move) -> None:
    """Values, styles and formulas of all sheets are where another tokenizer says."""
    out = tmp_path / "out.xlsx"

    edit(book, move.operation(), to=out)

    assert list(misplaced(book, out, move)) == []


def test_all_that_names_cells_follows(book: Path, tmp_path: Path) -> None:
    """Merges, rules, links, names, breaks, panes, heights, comments and charts go along."""
    out = tmp_path / "out.xlsx"

    edit(book, insert(5, 2), to=out)

    data, names = loaded(out)["Data"], loaded(out).defined_names
    assert [str(area) for area in data.merged_cells.ranges] == ["G3:H8"]
    [rules] = data.conditional_formatting
    assert str(rules.sqref) == "B2:B12"
    assert rules.rules[0].formula == ["$B2>$B1"]
    [validation] = data.data_validations.dataValidation
    assert (str(validation.sqref), validation.formula1) == ("A2:A12", "Lists!$A$1:$A$3")
    assert data["A7"].hyperlink.target == "https://example.com/"
    assert data["A9"].hyperlink.target == "#Data!B10"
    assert data["B11"].comment.text.endswith("why")
    assert data.print_area == "'Data'!$A$1:$C$14"
    assert data.print_title_rows == "$1:$1"
    assert [each.id for each in data.row_breaks.brk] == [8]
    assert (data.freeze_panes, data.auto_filter.ref) == ("A2", "A1:C12")
    assert data.row_dimensions[9].height == 30
    assert names["Costs"].attr_text == "Data!$B$2:$B$12"
    assert "'Data'!$B$2:$B$12" in read(out, "xl/charts/chart1.xml")
    assert "'Data'!$C$2:$C$4" in read(out, "xl/charts/chart2.xml")
    assert "row>9</" in read(out, "xl/drawings/drawing1.xml")
    assert loaded(out)["Lists"]["B1"].value == "=VLOOKUP(A1,Data!$A$2:$C$12,2,0)"


def test_columns_move_what_columns_have(book: Path, tmp_path: Path) -> None:
    """Widths, filters, names and print titles go along with columns."""
    out = tmp_path / "out.xlsx"

    edit(book, insert_column("B"), to=out)

    data = loaded(out)["Data"]
    assert data.column_dimensions["C"].width == 20
    assert data.column_dimensions["B"].width != 20
    assert data.auto_filter.ref == "A1:D10"
    assert loaded(out).defined_names["Costs"].attr_text == "Data!$C$2:$C$10"
    assert data["D2"].value == "=C2*2"


@pytest.mark.parametrize(
    ("there", "back"),
    [(insert(5, 2), delete(5, 2)), (insert(1), delete(1)), (insert(40), delete(40)),
     (insert_column("B", 3), delete_column("B", 3)), (insert_column("A"), delete_column("A"))],
    ids=["rows", "first row", "past the end", "columns", "first column"],
)  # fmt: skip
def test_insert_then_delete_is_the_identity(
    book: Path, tmp_path: Path, there: dict[str, Any], back: dict[str, Any]
) -> None:
    """What was put in and taken out again leaves the parts as they were, byte for byte."""
    out = tmp_path / "out.xlsx"

    edit(book, there, back, to=out)

    with zipfile.ZipFile(book) as one, zipfile.ZipFile(out) as two:
        differ = {name for name in one.namelist() if one.read(name) != two.read(name)}
    # The workbook part asks for calculation; a comment's box need not be as it was.
    assert differ <= {"xl/workbook.xml"}


def test_new_rows_look_as_the_row_above(book: Path, tmp_path: Path) -> None:
    """Their cells have its style and hold nothing."""
    out = tmp_path / "out.xlsx"

    edit(book, insert(5), to=out)

    data = loaded(out)["Data"]
    assert (data["A5"].font.bold, data["A5"].value) == (True, None)
    assert not data["A6"].font.bold


def test_lost_references_are_told(book: Path, tmp_path: Path) -> None:
    """What referred to deleted cells alone is #REF! and named."""
    out = tmp_path / "out.xlsx"

    applied = edit(book, delete(5), to=out)

    assert loaded(out)["Lists"]["A2"].value == "=Data!#REF!"
    assert any("#REF! now (1): Lists!A2" in text for text in applied.warnings)


def test_the_filter_goes_with_its_header(book: Path, tmp_path: Path) -> None:
    """A filter whose row of names is deleted is none, and its hidden name goes."""
    out = tmp_path / "out.xlsx"

    applied = edit(book, delete(1), to=out)

    assert loaded(out)["Data"].auto_filter.ref is None
    assert "_FilterDatabase" not in read(out, "xl/workbook.xml")
    assert any("filter of Data is gone" in text for text in applied.warnings)


def test_what_goes_with_its_cells_is_told(book: Path, tmp_path: Path) -> None:
    """Comments and links of deleted cells go, with what they lead to."""
    out = tmp_path / "out.xlsx"

    applied = edit(book, delete(5), delete(8), to=out)

    data = loaded(out)["Data"]
    assert "example.com" not in read(out, "xl/worksheets/_rels/sheet1.xml.rels")
    assert all(cell.comment is None for row in data.iter_rows() for cell in row)
    assert any("comments went with their cells: B8" in text for text in applied.warnings)
    assert any("a link went with its cells" in text for text in applied.warnings)


def test_a_row_before_the_first_stays_in_the_frozen_ones(book: Path, tmp_path: Path) -> None:
    """What was frozen stays so; a row behind it is in sight."""
    one, two = tmp_path / "one.xlsx", tmp_path / "two.xlsx"

    edit(book, insert(1), to=one)
    edit(book, insert(2), to=two)

    assert loaded(one)["Data"].freeze_panes == "A3"
    assert loaded(two)["Data"].freeze_panes == "A2"


def shared(path: Path, *texts: str, count: int = 8) -> None:
    """Have the columns from B on share a formula each, from row 2 on."""
    rows = []
    for row in range(2, count + 1):
        cells = [f'<c r="A{row}"><v>{row}</v></c>']
        for number, text in enumerate(texts):
            letter = "BCDEFGH"[number]
            first = f' ref="{letter}2:{letter}{count}"' if row == 2 else ""
            formula = f'<f t="shared"{first} si="{number}">{text if first else ""}</f>'
            cells.append(f'<c r="{letter}{row}">{formula}<v>0</v></c>')
        rows.append(f'<row r="{row}">{"".join(cells)}</row>')
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Data"
    book.save(path)
    rewrite(path, SHEET, ("<sheetData></sheetData>", f"<sheetData>{''.join(rows)}</sheetData>"))


@pytest.mark.parametrize(
    "move",
    [
        Move("Data", "rows", 5, 1),
        Move("Data", "rows", 2, -1),
        Move("Data", "rows", 4, -2),
        Move("Data", "columns", 2, 1),
        Move("Data", "rows", 1, 2),
    ],
    ids=str,
)
def test_shared_formulas_name_the_same_cells(tmp_path: Path, move: Move) -> None:
    """Cells that share a formula get one of their own where the shared one would mislead."""
    path, out = tmp_path / "book.xlsx", tmp_path / "out.xlsx"
    shared(path, "A2*2", "A1+A2", "SUM(A$2:A2)", "$A$5*A2", "F1+A2", "A4+A2")

    edit(path, move.operation(), to=out)

    assert list(misplaced(path, out, move)) == []


def test_shared_formulas_that_follow_stay_shared(tmp_path: Path) -> None:
    """Where the shared formula still fits, cells keep its number and their bytes."""
    path, out = tmp_path / "book.xlsx", tmp_path / "out.xlsx"
    shared(path, "A2*2")

    edit(path, insert(5), to=out)

    assert read(out, SHEET).count('t="shared"') == 7
    assert 'ref="B2:B9"' in read(out, SHEET)


EXT = (
    '<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" '
    'uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}"><x14:conditionalFormattings>'
    '<x14:conditionalFormatting xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main">'
    '<x14:cfRule type="expression" id="{1}"><xm:f>Lists!$A$1&lt;$B2</xm:f></x14:cfRule>'
    "<xm:sqref>B2:B10</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext>"
    '<ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main" '
    'uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}">'
    '<x14:sparklineGroups xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main">'
    "<x14:sparklineGroup><x14:sparklines><x14:sparkline><xm:f>Data!B2:B10</xm:f>"
    "<xm:sqref>D9</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup>"
    "</x14:sparklineGroups></ext></extLst>"
)


def test_extensions_go_along(book: Path, tmp_path: Path) -> None:
    """Conditional formats and sparklines of later versions move; one without cells goes."""
    out = tmp_path / "out.xlsx"
    rewrite(book, SHEET, ("</worksheet>", f"{EXT}</worksheet>"))

    edit(book, insert(4), to=out)
    moved = read(out, SHEET)
    edit(book, delete(9), to=out)
    gone = read(out, SHEET)

    assert "<xm:sqref>B2:B11</xm:sqref>" in moved
    assert "<xm:f>Lists!$A$1&lt;$B2</xm:f>" in moved
    assert "<xm:f>Data!B2:B11</xm:f><xm:sqref>D10</xm:sqref>" in moved
    assert "sparkline" not in gone
    assert "<xm:sqref>B2:B9</xm:sqref>" in gone


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with a column that is calculated, and formulas that name its columns."""
    book = openpyxl.Workbook()
    data = book.worksheets[0]
    data.title = "Data"
    data.append(["Item", "Cost", "Tax"])
    for row in range(2, 6):
        data.append([f"item {row}", row, "=Costs[[#This Row],[Cost]]*0.2"])
    made = Table(displayName="Costs", ref="A1:C5")
    made.tableColumns = [
        TableColumn(id=number, name=name) for number, name in enumerate(("Item", "Cost", "Tax"), 1)
    ]
    made.tableColumns[2].calculatedColumnFormula = TableFormula(
        attr_text="Costs[[#This Row],[Cost]]*0.2"
    )
    made.autoFilter = AutoFilter(ref="A1:C5")
    data.add_table(made)
    data["E1"] = "=SUM(Costs[Cost])"
    path = tmp_path / "table.xlsx"
    book.save(path)
    return path


def test_a_table_grows_with_rows(table: Path, tmp_path: Path) -> None:
    """New rows are of the table, look as its rows do, and have its formulas."""
    out = tmp_path / "out.xlsx"

    edit(table, insert(3, 2), to=out)

    data = loaded(out)["Data"]
    assert data.tables["Costs"].ref == "A1:C7"
    assert data.tables["Costs"].autoFilter.ref == "A1:C7"
    assert [data[f"C{row}"].value for row in (3, 4, 5)] == ["=Costs[[#This Row],[Cost]]*0.2"] * 3
    assert data["A3"].value is None


def test_a_table_gets_columns_with_names(table: Path, tmp_path: Path) -> None:
    """Columns put into a table are its columns, with names that no other one has."""
    out = tmp_path / "out.xlsx"

    edit(table, insert_column("B", 2), to=out)

    data = loaded(out)["Data"]
    assert data.tables["Costs"].ref == "A1:E5"
    names = [column.name for column in data.tables["Costs"].tableColumns]
    assert names == ["Item", "Column1", "Column2", "Cost", "Tax"]
    assert [cell.value for cell in data[1][:5]] == names
    ids = [column.id for column in data.tables["Costs"].tableColumns]
    assert len(set(ids)) == 5


def test_columns_of_tables_go_unless_formulas_name_them(table: Path, tmp_path: Path) -> None:
    """A column that formulas call by its name stays, and the refusal says so."""
    out = tmp_path / "out.xlsx"

    edit(table, delete_column("A"), to=out)
    with pytest.raises(ValidationFailed, match="'Cost' of table Costs is named by formulas"):
        edit(table, delete_column("B"), to=out)

    assert loaded(out)["Data"].tables["Costs"].ref == "A1:B5"


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (delete(1), "header of table Costs"),
        (delete(2, 4), "needs one"),
        (delete_column("A", 3), "no column left"),
        (insert(1_048_576, 5), "leave the sheet"),
        (insert_column("A1"), "is no column"),
        (delete_column("ZZZ"), "there is no column ZZZ"),
        (insert(1, sheet="Dta"), "there is no sheet 'Dta'"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_is_refused(
    table: Path, tmp_path: Path, operation: dict[str, Any], reason: str
) -> None:
    """What would break a table or leave the sheet is refused, with the reason."""
    with pytest.raises(ValidationFailed, match=re.escape(reason)):
        edit(table, operation, to=tmp_path / "out.xlsx")


def test_cells_are_not_pushed_off_the_sheet(tmp_path: Path) -> None:
    """Rows and columns are refused where the last ones hold something."""
    path = tmp_path / "book.xlsx"
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Data"
    book.worksheets[0]["A1048576"] = 1
    book.worksheets[0]["XFD1"] = 1
    book.save(path)

    with pytest.raises(ValidationFailed, match="pushed off"):
        edit(path, insert(1), to=tmp_path / "out.xlsx")
    with pytest.raises(ValidationFailed, match="pushed off"):
        edit(path, insert_column("A"), to=tmp_path / "out.xlsx")


def test_arrays_are_not_cut(tmp_path: Path) -> None:
    """An array formula moves as a whole, and goes as a whole."""
    path, out = tmp_path / "book.xlsx", tmp_path / "out.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    sheet["A1"] = 1
    book.save(path)
    rows = (
        '<sheetData><row r="3"><c r="B3"><f t="array" ref="B3:B4">A3:A4*2</f><v>1</v></c></row>'
        '<row r="4"><c r="B4"><v>2</v></c></row>'
    )
    rewrite(
        path, SHEET, ("<sheetData>", rows), ('<row r="1"', '<row r="9"'), ('<c r="A1"', '<c r="A9"')
    )

    for operation in (insert(4), delete(3)):
        with pytest.raises(ValidationFailed, match="B3:B4 holds one array formula"):
            edit(path, operation, to=out)
    edit(path, insert(2), to=out)

    assert '<f t="array" ref="B4:B5">A4:A5*2</f>' in read(out, SHEET)
    edit(path, delete(3, 2), to=out)
    assert "array" not in read(out, SHEET)


def test_results_that_only_moved_stay(tmp_path: Path) -> None:
    """A stored result stays unless its formula reads what came or went, or tells places."""
    path, out = tmp_path / "book.xlsx", tmp_path / "out.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    for row in range(1, 7):
        sheet[f"A{row}"] = row
    book.save(path)
    formulas = {"C1": "A1*2", "C2": "SUM(A1:A6)", "C3": "A6+1", "C6": "ROW()", "D6": "C6+1"}
    for cell, formula in formulas.items():
        place = f'<c r="A{cell[1:]}"'
        text = read(path, SHEET)
        end = text.index("</row>", text.index(place))
        new = f'{text[:end]}<c r="{cell}"><f>{formula}</f><v>7</v></c>{text[end:]}'
        rewrite(path, SHEET, (text, new))

    edit(path, insert(4), to=out)
    values = {row[2].row: row[2].value for row in loaded(out, values=True)["Data"].iter_rows()}
    edit(path, delete(4), to=out)
    after = {row[2].row: row[2].value for row in loaded(out, values=True)["Data"].iter_rows()}

    # The sum and what asks for its row are worked out anew; until then they have no result.
    assert (values[1], values[2], values[3], values[7]) == (7, None, 7, None)
    assert loaded(out, values=True)["Data"]["D5"].value is None
    assert (after[1], after[2], after[3]) == (7, None, 7)


def test_a_second_edit_on_top(book: Path, tmp_path: Path) -> None:
    """Rows, columns and cells in one call and in a second one."""
    one, two = tmp_path / "one.xlsx", tmp_path / "two.xlsx"
    new = {
        "op": "set_cells", "sheet": "Data",
        "cells": [{"cell": "A5", "value": "new"}, {"cell": "B5", "value": 1}],
    }  # fmt: skip

    edit(book, insert(5), new, insert_column("A"), to=one)
    edit(one, delete(2), insert(9), to=two)

    data = loaded(two)["Data"]
    assert (data["B4"].value, data["C4"].value) == ("new", 1)
    # A row went, one came in.
    assert data["C13"].value == "=SUM(C2:C11)"


def test_references_through_several_sheets_are_told(book: Path, tmp_path: Path) -> None:
    """They stay, for the other sheets did not move; the warning names them, the result goes."""
    out = tmp_path / "out.xlsx"
    rewrite(
        book,
        "xl/worksheets/sheet2.xml",
        ("<f>Data!B5</f><v></v>", "<f>SUM(Data:Lists!B9)</f><v>7</v>"),
    )

    applied = edit(book, insert(3), to=out)

    assert any("several sheets" in text and "Lists!A2" in text for text in applied.warnings)
    assert loaded(out)["Lists"]["A2"].value == "=SUM(Data:Lists!B9)"
    assert loaded(out, values=True)["Lists"]["A2"].value is None


def test_more_cells_than_a_call_may_make_are_refused(book: Path, tmp_path: Path) -> None:
    """Very many rows that would look as a styled one are refused, not written."""
    with pytest.raises(ValidationFailed, match="one call may make"):
        edit(book, insert(5, 900_000), to=tmp_path / "out.xlsx")


VML = (
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:x="urn:schemas-microsoft-com:office:excel">'
    '<v:shape id="a"><x:ClientData ObjectType="Note"><x:Anchor>3, 15, 8, 2, 5, 15, 12, 4</x:Anchor>'
    "<x:Row>8</x:Row><x:Column>1</x:Column></x:ClientData></v:shape></xml>"
)


def test_boxes_of_comments_stay_at_their_cells(book: Path, tmp_path: Path) -> None:
    """In the old format of drawings, which need not be XML, the box of a comment moves."""
    out = tmp_path / "out.xlsx"
    with zipfile.ZipFile(book) as archive:
        [part] = [name for name in archive.namelist() if name.endswith(".vml")]
    with Package(Source(book, book.name)) as package:
        rewriting = Rewriting(package)
        rewriting.put(part, VML.encode())
        rewriting.save(book.with_name("vml.xlsx"))

    edit(book.with_name("vml.xlsx"), insert(2, 3), insert_column("A"), to=out)

    assert "<x:Row>11</x:Row><x:Column>2</x:Column>" in read(out, part)
    assert "<x:Anchor>4, 15, 11, 2, 6, 15, 15, 4</x:Anchor>" in read(out, part)
