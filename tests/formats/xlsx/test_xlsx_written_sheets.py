"""Sheets with forms: styles, totals with their results, charts; other sheets stay as they are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import (
    ChartForm,
    ColumnType,
    Placement,
    ReadAs,
    SheetForm,
    SheetRows,
    Source,
    WrittenTables,
)
from kbd.testing.formats import write_rows
from kbd_xlsx.rows.table_writer import write_tables
from kbd_xlsx.tables import read_table
from written_rows import foreign, parts, plain, values

COLUMNS: list[tuple[str, ColumnType]] = [
    ("Shop", "string"), ("Day", "date"), ("Amount", "float"), ("Pieces", "integer"),
]  # fmt: skip
ROWS: list[list[Any]] = [
    ["West", "2024-01-31", "1234.50", 3],
    ["East", "2024-02-01", "-0.25", 4],
    ["=1+1", None, None, 5],
]
ALL_TOTALS = SheetForm(
    totals={"Day": "maximum", "Amount": "sum", "Pieces": "average"}, totals_label="Sum"
)


def sheet(
    folder: Path,
    name: str,
    form: SheetForm | None = None,
    rows: Sequence[Sequence[Any]] = ROWS,
    columns: Sequence[tuple[str, ColumnType]] = COLUMNS,
    mode: Any = "replace_sheet",
) -> SheetRows:
    """Return rows for a sheet."""
    stream = write_rows(folder / f"{name}.rows", [list(each) for each in columns], rows)
    return SheetRows(stream, Placement(sheet=name, mode=mode), form or SheetForm())


def write(target: Path, *sheets: SheetRows, source: Path | None = None) -> WrittenTables:
    """Write sheets to a path."""
    found = None if source is None else Source(source, source.name)
    return write_tables(found, sheets, target)


def test_totals_are_formulas_with_results(tmp_path: Path) -> None:
    """Who calculates and who does not see the same figures; the results are left to nobody."""
    path = tmp_path / "o.xlsx"
    written = write(path, sheet(tmp_path, "A", ALL_TOTALS))

    (found,) = written.sheets
    assert found.totals == {"Day": "2024-02-01", "Amount": 1234.25, "Pieces": 4.0}
    assert (found.written_range, found.row_count, found.column_count) == ("A1:D5", 3, 4)
    assert values(path, "A")[4] == ["Sum", "=MAX(B2:B4)", "=SUM(C2:C4)", "=AVERAGE(D2:D4)"]
    shown = plain(path, "A")[4]
    assert [str(shown[1]), *shown[2:]] == ["2024-02-01", 1234.25, 4.0]
    assert not written.lacks_results
    assert written.open_results == ()


def test_looks_are_those_of_roles(tmp_path: Path) -> None:
    """Headings and totals are bold, amounts have two decimals, dates stand left; plain has none."""
    path = tmp_path / "o.xlsx"
    form = SheetForm(
        title="Shops", totals={"Amount": "sum"}, formats={"Pieces": "0.0"}, widths={"Shop": 40}
    )
    plain_form = SheetForm(totals={"Amount": "sum"}, plain=True)
    write(path, sheet(tmp_path, "A", form), sheet(tmp_path, "B", plain_form))

    book = openpyxl.load_workbook(path)
    styled, bare = book["A"], book["B"]
    assert styled["A1"].value == "Shops"
    assert [cell.font.b for cell in styled[2]] == [True] * 4
    assert styled["A2"].fill.start_color.rgb == "FFD9E1F2"
    assert (styled["C3"].number_format, styled["D3"].number_format) == ("#,##0.00", "0.0")
    assert (styled["B3"].alignment.horizontal, styled["B3"].number_format) == ("left", "yyyy-mm-dd")
    assert (styled["C6"].font.b, styled["C6"].border.top.style) == (True, "thin")
    assert styled.freeze_panes == "A3"
    assert styled.column_dimensions["A"].width == pytest.approx(40, abs=1)
    assert [bare["A1"].font.b, bare["C5"].font.b, bare.freeze_panes] == [False, False, None]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("0.055", "#,##0.000"),
        (0.055, "#,##0.000"),
        ("-0.00043", "#,##0.00000"),
        (0.12, "#,##0.00"),
        ("1.005", "#,##0.00"),
        (0.0, "#,##0.00"),
        ("0.120", "#,##0.00"),
        (3e-15, "0.00E+00"),
    ],
)
def test_small_amounts_are_shown_as_they_are(tmp_path: Path, value: Any, code: str) -> None:
    """Two decimals would show 5.5 % as 0.06: a cell and its total have as many as it takes."""
    path = tmp_path / "o.xlsx"
    rows = sheet(tmp_path, "A", SheetForm(totals={"Rate": "sum"}), [[value]], [("Rate", "float")])
    write(path, rows)

    book = openpyxl.load_workbook(path)["A"]
    assert [book["A2"].number_format, book["A3"].number_format] == [code, code]
    assert book["A2"].value == pytest.approx(float(value))


def test_a_table_below_its_title_is_read_again(tmp_path: Path) -> None:
    """The title and the total are no rows of the table."""
    path = tmp_path / "o.xlsx"
    form = SheetForm(title="Shops", totals={"Amount": "sum", "Pieces": "sum"})
    write(path, sheet(tmp_path, "A", form))

    table = read_table(Source(path, path.name), "A", ReadAs(), tmp_path / "plain.csv")
    assert [column.name for column in table.columns] == [name for name, _ in COLUMNS]
    assert table.reading.header_row == 2


def test_no_rows_have_no_totals(tmp_path: Path) -> None:
    """A formula over nothing would show a zero: there are headings, and a note."""
    path = tmp_path / "o.xlsx"
    form = SheetForm(totals={"Amount": "sum"}, chart=ChartForm("bar", "Shop", ("Amount",)))
    written = write(path, sheet(tmp_path, "A", form, rows=()))

    assert values(path, "A") == [[name for name, _ in COLUMNS]]
    assert written.sheets[0].totals == {}
    assert any("no totals and no chart" in warning for warning in written.warnings)
    assert not any("chart" in name for name in parts(path))


def test_charts_show_the_rows(tmp_path: Path) -> None:
    """Neither the title nor the total is a point; a second run does not add a second chart."""
    path, again = tmp_path / "o.xlsx", tmp_path / "again.xlsx"
    chart = ChartForm("column", "Shop", ("Amount", "Pieces"), title="By shop")
    form = SheetForm(title="Shops", totals={"Amount": "sum"}, chart=chart)
    write(path, sheet(tmp_path, "My Shops", form))
    write(again, sheet(tmp_path, "My Shops", form, rows=ROWS[:2]), source=path)

    drawn = parts(path)["xl/charts/chart1.xml"].decode()
    for named in ("$A$3:$A$5", "$C$3:$C$5", "$D$3:$D$5", "$C$2", "<c:v>1234.5"):
        assert named in drawn
    # Without a theme LibreOffice draws no series.
    assert b"accent1" in parts(path)["xl/theme/theme1.xml"]
    charts = [name for name in parts(again) if "/chart" in name and name.endswith(".xml")]
    assert len(charts) == 1
    assert "$C$3:$C$4" in parts(again)[charts[0]].decode()


def test_other_sheets_stay(tmp_path: Path) -> None:
    """Of another program's workbook only the sheets that are named change."""
    old = foreign(tmp_path / "old.xlsx", [["name", "amount"], ["a", 1]])
    path = tmp_path / "o.xlsx"
    write(path, sheet(tmp_path, "New"), sheet(tmp_path, "Newer"), source=old)

    titles = openpyxl.load_workbook(path).sheetnames
    assert titles == [*openpyxl.load_workbook(old).sheetnames, "New", "Newer"]
    assert values(path, "Data") == values(old, "Data")


def test_appended_rows_get_no_form(tmp_path: Path) -> None:
    """A title, or a total of the new rows alone, would be wrong in the middle of a table."""
    path, more = tmp_path / "o.xlsx", tmp_path / "more.xlsx"
    form = SheetForm(title="Shops")
    write(path, sheet(tmp_path, "A", form, mode="append_rows"))
    written = write(more, sheet(tmp_path, "A", form, mode="append_rows"), source=path)

    assert written.sheets[0].written_range == "A6:D8"
    assert any("no title was added" in warning for warning in written.warnings)
    assert not any("not those of the sheet's header" in each for each in written.warnings)
    with pytest.raises(ValidationFailed, match=r"sheet A: .*totals"):
        write(tmp_path / "x.xlsx", sheet(tmp_path, "A", ALL_TOTALS, mode="append_rows"),
              source=path)  # fmt: skip
    write(tmp_path / "t.xlsx", sheet(tmp_path, "A", ALL_TOTALS))
    with pytest.raises(ValidationFailed, match="row 5 of sheet A is a total"):
        write(tmp_path / "x.xlsx", sheet(tmp_path, "A", mode="append_rows"),
              source=tmp_path / "t.xlsx")  # fmt: skip


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (SheetForm(totals={"Amuont": "sum"}), "sheet A: the form names the column Amuont"),
        (SheetForm(totals={"Shop": "average"}), "only count can"),
        (SheetForm(formats={"Nope": "0"}), "Nope"),
        (SheetForm(chart=ChartForm("pie", "Amount", ("Shop",))), "its values are numbers"),
    ],
)
def test_forms_that_do_not_fit(tmp_path: Path, form: SheetForm, said: str) -> None:
    """They are refused with the sheet, and no file is left."""
    path = tmp_path / "o.xlsx"
    with pytest.raises(ValidationFailed, match=said):
        write(path, sheet(tmp_path, "B"), sheet(tmp_path, "A", form))
    assert not path.exists()


@pytest.mark.parametrize(
    ("kind", "value", "function"),
    [
        ("integer", 12345678901234567, "sum"),
        ("float", "1234567890123.456", "maximum"),
        ("date", "1850-01-01", "minimum"),
        ("datetime", "2024-01-01T10:00:00+02:00", "maximum"),
    ],
)
def test_no_total_passes_over_a_text(
    tmp_path: Path, kind: ColumnType, value: Any, function: Any
) -> None:
    """What a sheet keeps as text its formulas leave out: the figure would be wrong."""
    form = SheetForm(totals={"n": function})
    columns: list[tuple[str, ColumnType]] = [("k", "string"), ("n", kind)]
    with pytest.raises(ValidationFailed, match="column n holds"):
        write(
            tmp_path / "o.xlsx",
            sheet(tmp_path, "A", form, rows=[["a", value]], columns=columns),
        )


def test_a_second_total_is_refused(tmp_path: Path) -> None:
    """Rows that end with their total would be counted twice."""
    rows = [["West", None, "1.50", 1], ["East", None, "2.25", 1], ["Total", None, "3.75", 2]]
    with pytest.raises(ValidationFailed, match="count twice"):
        write(tmp_path / "o.xlsx", sheet(tmp_path, "A", ALL_TOTALS, rows=rows))


def test_columns_without_values(tmp_path: Path) -> None:
    """No average of nothing, which would be an error; a sum and a count of nothing are 0."""
    columns: list[tuple[str, ColumnType]] = [
        ("k", "string"), ("a", "float"), ("b", "float"), ("c", "string"),
    ]  # fmt: skip
    form = SheetForm(totals={"a": "average", "b": "sum", "c": "count"})
    path = tmp_path / "o.xlsx"
    written = write(
        path, sheet(tmp_path, "A", form, rows=[["x", None, None, None]], columns=columns)
    )

    assert written.sheets[0].totals == {"b": 0, "c": 0}
    assert values(path, "A")[2] == ["Total", None, "=SUM(C2:C2)", "=COUNTA(D2:D2)"]


@pytest.mark.parametrize(
    "code", ['0.0 "EUR', "[[[", "0.00 EUR", "", "0;0;0;0;0", "0" * 256, "0\x00"]
)
def test_formats_that_break_a_file(tmp_path: Path, code: str) -> None:
    """Excel repairs a file whose number format it cannot read: none is written."""
    with pytest.raises(ValidationFailed, match="is no number format for column Amount"):
        write(tmp_path / "o.xlsx", sheet(tmp_path, "A", SheetForm(formats={"Amount": code})))


@pytest.mark.parametrize(
    "code",
    ["0%", "#,##0.00", '#,##0.00 "kg"', "[Red]-0.0;0.0", "[$€-407] #,##0.00", "dd.mm.yyyy",
     "h:mm AM/PM", "[h]:mm:ss", "0.00E+00", "# ?/?", "_-* #,##0.00\\ \\€_-", "mmm yyyy",
     "$#,##0", "@"],
)  # fmt: skip
def test_formats_of_spreadsheets(tmp_path: Path, code: str) -> None:
    """They are taken as they are."""
    path = tmp_path / "o.xlsx"
    write(path, sheet(tmp_path, "A", SheetForm(formats={"Amount": code})))
    assert openpyxl.load_workbook(path)["A"]["C2"].number_format == code


def test_a_sum_beyond_numbers(tmp_path: Path) -> None:
    """Neither an infinite figure is stored nor an error is met."""
    columns: list[tuple[str, ColumnType]] = [("k", "string"), ("n", "float")]
    form = SheetForm(totals={"n": "sum"})
    with pytest.raises(ValidationFailed, match="more than a cell can hold"):
        write(
            tmp_path / "o.xlsx",
            sheet(tmp_path, "A", form, rows=[["a", 1e308], ["b", 1e308]], columns=columns),
        )


def test_the_same_rows_are_the_same_bytes(tmp_path: Path) -> None:
    """A job that runs again over the same files gives the same file."""
    form = SheetForm(
        title="Shops", totals={"Amount": "sum"}, chart=ChartForm("line", "Shop", ("Amount",))
    )
    made = [tmp_path / name for name in ("one.xlsx", "two.xlsx")]
    for path in made:
        write(path, sheet(tmp_path, "A", form), sheet(tmp_path, "B", ALL_TOTALS))
    assert made[0].read_bytes() == made[1].read_bytes()
