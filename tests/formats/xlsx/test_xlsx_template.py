"""Templates: placeholders in cells filled with typed values, rows repeated with what names them."""

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Border, Font, PatternFill, Side
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

from charted_books import FORMAT, records
from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from range_edits import calculated
from small_pictures import png


def filling(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the operation with values by name; those of a list are records."""
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    return {
        "op": "fill_template",
        "values": [
            {"name": name, **(value if isinstance(value, dict) else {"value": value})}
            for name, value in values.items()
            if name not in lists
        ],
        "lists": [
            {
                "name": name,
                "columns": list(found[0] if found else "x"),
                "rows": [
                    [
                        value["value"] if isinstance(value, dict) else value
                        for value in each.values()
                    ]
                    for each in found
                ],
                "types": [
                    value["type"] if isinstance(value, dict) else None
                    for value in (found[0] if found else {"x": None}).values()
                ],
            }
            for name, found in lists.items()
        ],
        **more,
    }


def fill(path: Path, values: dict[str, Any], files: tuple[Path, ...] = (), **more: Any) -> Applied:
    """Fill a template into out.xlsx."""
    found = {each.name: Source(each, each.name) for each in files}
    operations = records(filling(values, **more))
    target = path.with_name("out.xlsx")
    return FORMAT.apply_with_files(Source(path, path.name), operations, target, found)


def opened(path: Path) -> Any:
    """Return the result as openpyxl reads it."""
    return openpyxl.load_workbook(path.with_name("out.xlsx"), rich_text=True)


def cells(path: Path, area: str, sheet: str = "Bill") -> list[list[Any]]:
    """Return what cells of the result hold."""
    return [[cell.value for cell in row] for row in opened(path)[sheet][area]]


def plain_book(path: Path, rows: list[list[Any]]) -> Path:
    """Write a workbook of one sheet."""
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return path


ITEMS = [
    {"name": "Tea", "count": 3, "price": 4.5},
    {"name": "=1+1", "count": 2, "price": 1.25},
    {"name": "Salt", "count": 1, "price": 0.5},
]


@pytest.fixture
def bill(tmp_path: Path) -> Path:
    """A bill: a heading, one row of items, a total, a chart, a name, and a sheet that reads it."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Bill"
    sheet["A1"], sheet["A2"], sheet["B2"] = "Bill {{no}} for {{client}}", "{{no}}", "{{day}}"
    sheet["A2"].number_format, sheet["B1"] = "000", 0.2
    for column, text in enumerate(("Item", "Count", "Price", "Sum", "Note"), 1):
        sheet.cell(4, column, text)
    row = ("{{items.name}}", "{{items.count}}", "{{items.price}}", "=B5*C5*(1+$B$1)", "at {{no}}")
    for column, text in enumerate(row, 1):
        cell = sheet.cell(5, column, text)
        cell.fill, cell.border = PatternFill("solid", "FFEEDD"), Border(bottom=Side("thin"))
    sheet.merge_cells("E5:F5")
    sheet.row_dimensions[5].height = 30
    sheet["C5"].number_format = "#,##0.00"
    sheet["A6"], sheet["D6"] = "Total", "=SUM(D5:D5)"
    sheet["A6"].font = Font(bold=True)
    chart = BarChart()
    chart.title = "Sums of {{client}}"
    chart.add_data(Reference(sheet, min_col=4, min_row=5, max_row=5))
    chart.set_categories(Reference(sheet, min_col=1, min_row=5, max_row=5))
    sheet.add_chart(chart, "A9")
    header: Any = sheet.oddHeader
    header.left.text = "Bill {{no}} of {{client}}"
    other = book.create_sheet("Sums")
    other["A1"], other["A2"] = "=SUM(Bill!D5:D5)", "=Bill!D6"
    book.defined_names["Prices"] = DefinedName("Prices", attr_text="Bill!$C$5:$C$5")
    path = tmp_path / "bill.xlsx"
    book.save(path)
    return path


VALUES = {"no": 7, "client": "A & B", "day": {"value": "2026-03-01", "type": "date"}}


def test_a_row_is_repeated_with_all_that_names_it(bill: Path) -> None:
    """Values are typed, formulas go along, totals, charts, names and other sheets take them in."""
    done = fill(bill, {**VALUES, "items": ITEMS})

    sheet = opened(bill)["Bill"]
    assert sheet["A1"].value == "Bill 7 for A & B"
    assert (sheet["A2"].value, sheet["A2"].number_format) == (7, "000")
    assert sheet["B2"].value.date() == dt.date(2026, 3, 1)
    assert cells(bill, "A5:E8") == [
        ["Tea", 3, 4.5, "=B5*C5*(1+$B$1)", "at 7"],
        ["=1+1", 2, 1.25, "=B6*C6*(1+$B$1)", "at 7"],
        ["Salt", 1, 0.5, "=B7*C7*(1+$B$1)", "at 7"],
        ["Total", None, None, "=SUM(D5:D7)", None],
    ]
    assert sheet["A6"].data_type == "s"
    assert {sheet.row_dimensions[row].height for row in (5, 6, 7)} == {30}
    assert {str(each) for each in sheet.merged_cells.ranges} == {"E5:F5", "E6:F6", "E7:F7"}
    assert {sheet.cell(7, column).fill.fgColor.rgb for column in range(1, 6)} == {"00FFEEDD"}
    assert sheet["C7"].number_format == "#,##0.00"
    assert sheet["A8"].font.bold
    assert sheet.oddHeader.left.text == "Bill 7 of A && B"
    assert cells(bill, "A1:A2", "Sums") == [["=SUM(Bill!D5:D7)"], ["=Bill!D8"]]
    assert opened(bill).defined_names["Prices"].attr_text == "Bill!$C$5:$C$7"
    with zipfile.ZipFile(bill.with_name("out.xlsx")) as package:
        chart = package.read("xl/charts/chart1.xml").decode()
    assert "'Bill'!$D$5:$D$7" in chart
    assert "'Bill'!$A$5:$A$7" in chart
    assert ">Sums of A &amp; B<" in chart
    assert done.changed == ("19 placeholders filled, 3 repeated",)


def test_one_record_changes_nothing_else(bill: Path) -> None:
    """The row is filled where it is, and every other part of the file stays byte for byte."""
    fill(bill, {**VALUES, "items": ITEMS[:1]})

    assert cells(bill, "A5:D6") == [
        ["Tea", 3, 4.5, "=B5*C5*(1+$B$1)"], ["Total", None, None, "=SUM(D5:D5)"],
    ]  # fmt: skip
    with zipfile.ZipFile(bill) as old, zipfile.ZipFile(bill.with_name("out.xlsx")) as new:
        kept = {name for name in old.namelist() if old.read(name) == new.read(name)}
    assert "xl/worksheets/sheet2.xml" in kept


def test_without_records_a_row_that_formulas_need_is_emptied(bill: Path) -> None:
    """A total of nothing is no #REF!; the row stays, empty, and that is told."""
    done = fill(bill, {**VALUES, "items": []})

    assert cells(bill, "A5:D6") == [[None] * 4, ["Total", None, None, "=SUM(D5:D5)"]]
    assert any("row 5 of Bill was emptied" in each for each in done.warnings)


def test_without_records_a_row_goes(tmp_path: Path) -> None:
    """Where nothing needs it, what is below moves up."""
    path = plain_book(tmp_path / "a.xlsx", [["Head"], ["{{items.x}}"], ["end"]])
    fill(path, {"items": []})

    (sheet,) = opened(path).worksheets
    assert [cell.value for (cell,) in sheet["A1:A3"]] == ["Head", "end", None]


def test_two_lists_and_rows_that_belong_together(tmp_path: Path) -> None:
    """Neighboring rows of a list are repeated together; lists above do not disturb those below."""
    rows = [["{{a.x}}"], ["-"], ["{{b.x}}"], ["{{b.y}}"], ["{{n}}"], ["{{a.x}}"]]
    path = plain_book(tmp_path / "a.xlsx", rows)
    fill(path, {"a": [{"x": 1}, {"x": 2}], "b": [{"x": 3, "y": 4}, {"x": 5, "y": 6}], "n": True})

    (sheet,) = opened(path).worksheets
    assert [cell.value for (cell,) in sheet["A1:A10"]] == [1, 2, "-", 3, 4, 5, 6, True, 1, 2]


def test_a_table_grows(tmp_path: Path) -> None:
    """A table whose last row is repeated has all of them."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet["A1"], sheet["B1"], sheet["A2"], sheet["B2"] = "N", "P", "{{i.n}}", "=A2*2"
    sheet.add_table(Table(displayName="Things", ref="A1:B2"))
    path = tmp_path / "a.xlsx"
    book.save(path)
    fill(path, {"i": [{"n": 1}, {"n": 2}, {"n": 3}]})

    (sheet,) = opened(path).worksheets
    assert sheet.tables["Things"].ref == "A1:B4"
    assert [cell.value for (cell,) in sheet["B2:B4"]] == ["=A2*2", "=A3*2", "=A4*2"]


@pytest.mark.parametrize("formula", ["=A3/B1", "=A3/A5", "=SUM(A3:A5)"])
def test_a_formula_that_would_wander_is_refused(tmp_path: Path, formula: str) -> None:
    """A rate above or a total below would be another cell for each record."""
    rows: list[list[Any]] = [[None, 2], [None], ["{{i.n}}", formula], [None], ["total"]]
    path = plain_book(tmp_path / "a.xlsx", rows)

    with pytest.raises(ValidationFailed, match=r"write \$[15] if all"):
        fill(path, {"i": [{"n": 1}, {"n": 2}]})
    assert fill(path, {"i": [{"n": 1}]}).applied == 1


def test_running_totals_go_along_and_single_readers_are_told(tmp_path: Path) -> None:
    """The record before may be read; who reads one cell of the row reads the first record."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet["A2"], sheet["B2"], sheet["B3"] = "{{i.n}}", "=SUM(A$2:A2)+B1*0", "=A2"
    path = tmp_path / "a.xlsx"
    book.save(path)
    done = fill(path, {"i": [{"n": 1}, {"n": 2}]})

    (sheet,) = opened(path).worksheets
    assert [sheet[name].value for name in ("B2", "B3", "B4")] == [
        "=SUM(A$2:A2)+B1*0", "=SUM(A$2:A3)+B2*0", "=A2",
    ]  # fmt: skip
    assert any("the first record alone" in each and "Sheet!B3" in each for each in done.warnings)


def test_what_has_no_value_is_named(bill: Path) -> None:
    """All of them, unless they may be missing; what nothing asks for is told."""
    with pytest.raises(ValidationFailed, match=r"\{\{no\}\}.*\{\{day\}\}.*near"):
        fill(bill, {"client": "A", "noo": 1, "items": ITEMS})
    kept = fill(bill, {"client": "A", "items": ITEMS}, missing="keep")
    assert opened(bill)["Bill"]["A2"].value == "{{no}}"
    assert any("no and day: kept" in each or "no, day: kept" in each for each in kept.warnings)
    fill(bill, {"client": "A", "items": ITEMS}, missing="blank")
    assert opened(bill)["Bill"]["A1"].value == "Bill  for A"
    told = fill(bill, {**VALUES, "items": ITEMS, "more": 1}).warnings
    assert any("asks for more" in each for each in told)
    with pytest.raises(ValidationFailed, match="items"):
        fill(bill, {**VALUES, "items": [{"name": 1, "count": 2}]})


def test_a_picture_takes_the_place_of_a_cell(tmp_path: Path) -> None:
    """As large as the merged cells are, its proportions kept; not in a longer text."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet["B2"], sheet["A1"] = "{{logo}}", "see {{logo}}"
    sheet.merge_cells("B2:C5")
    path, logo = tmp_path / "a.xlsx", tmp_path / "logo.png"
    book.save(path)
    logo.write_bytes(png(400, 100))
    pictures = [{"name": "logo", "image": "logo.png"}]
    with pytest.raises(ValidationFailed, match=r"Sheet!A1.*a cell of its own"):
        fill(path, {}, (logo,), pictures=pictures)
    sheet["A1"] = None
    book.save(path)
    fill(path, {}, (logo,), pictures=pictures)

    (sheet,) = opened(path).worksheets
    (image,) = vars(sheet)["_images"]
    assert sheet["B2"].value is None
    assert (image.anchor._from.row, image.anchor._from.col) == (1, 1)
    assert (image.anchor.to.row, image.anchor.to.col) == (2, 2)


@pytest.mark.libreoffice
@pytest.mark.full
def test_libreoffice_calculates_the_filled_bill(bill: Path, tmp_path: Path) -> None:
    """The total that another program works out is that of all rows."""
    fill(bill, {**VALUES, "items": ITEMS})
    book = calculated("soffice", bill.with_name("out.xlsx"), tmp_path)
    assert (book["Bill"]["D8"].value, book["Sums"]["A1"].value) == (19.8, 19.8)
