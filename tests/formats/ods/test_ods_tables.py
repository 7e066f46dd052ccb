"""Sheets of OpenDocument as tables: typed cells, repeats, merges, formulas, and what is told."""

import csv
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ReadAs, Region, Source, Table
from kbd.sheets.table_rows import MERGED
from kbd_ods import OdsFormat
from ods_books import cell, flat_book, ods_book, rich_book, row, table, typed

FORMAT = OdsFormat()


def read(
    folder: Path,
    sheets: str,
    sheet: str | None = None,
    said: ReadAs | None = None,
    settings: str = "",
) -> tuple[Table, list[list[str]]]:  # fmt: skip
    """Write a spreadsheet and read a table of it: what is told, and its lines."""
    path = ods_book(folder / "a.ods", sheets, settings=settings)
    found = FORMAT.read_table(Source(path, path.name), sheet, said or ReadAs(), folder / "plain")
    with (folder / "plain").open(encoding="utf-8", newline="") as file:
        return found, list(csv.reader(file))


def types(found: Table) -> dict[str, str | None]:
    """The types of its columns by their names."""
    return {column.name: column.type for column in found.columns}


HEADER = row("Day", "At", "Long", "Price", "Share", "Ok", "Code", "Big", "Moment")
TYPED = row(
    typed("date", "2024-01-31", "31/01/24"),
    typed("time", "PT10H30M05S", "10:30"),
    typed("time", "PT27H30M00S", "27:30"),
    typed("currency", "1234.5", "1.234,50 €", 'office:currency="EUR"'),
    typed("percentage", "0.25", "25%"),
    typed("boolean", "true", "WAHR"),
    "007",
    cell(None, 'office:value-type="float"', 'office:value="12345678901234567891"'),
    typed("date", "2024-01-31T10:00:00.5", "31/01/24 10:00"),
)


def test_values_are_those_of_the_file_not_of_their_looks(tmp_path: Path) -> None:
    """What a cell shows (1.234,50 €, 25%, 31/01/24) is never read; digits past 2**53 are kept."""
    found, lines = read(tmp_path, table(rows=HEADER + TYPED * 2))
    assert lines[1] == [
        "2024-01-31", "10:30:05", "27:30:00", "1234.5", "0.25", "true", "007",
        "12345678901234567891", "2024-01-31T10:00:00.500000",
    ]  # fmt: skip
    assert types(found) == {
        "Day": "date", "At": "string", "Long": "string", "Price": "float", "Share": "float",
        "Ok": "boolean", "Code": "string", "Big": "integer", "Moment": "datetime",
    }  # fmt: skip
    assert found.row_count == 2
    assert found.reading.header_row == 1


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ("", ["time", "datetime"]),
        (('<table:calculation-settings><table:null-date table:date-value="1904-01-01"/>'
         "</table:calculation-settings>"), ["datetime", "time"]),
    ],
    ids=["usual", "1904"],
)  # fmt: skip
def test_a_moment_on_the_null_date_is_a_time(
    tmp_path: Path, settings: str, kinds: list[str]
) -> None:
    """The day that a file counts from is none that was meant; on any other one it is a date."""
    cells = [typed("date", f"{day}T16:00:00", "x") for day in ("1899-12-30", "1904-01-01")]
    path = ods_book(tmp_path / "a.ods", settings + table(*cells))
    rows = FORMAT.cells(Source(path, path.name), Region()).rows
    assert rows is not None
    assert [list(value) for value in rows[0] if isinstance(value, dict)] == [[k] for k in kinds]


def test_a_text_among_numbers_makes_a_column_of_texts(tmp_path: Path) -> None:
    """A column is decided whole: no figure comes out of one that has a text."""
    found, lines = read(tmp_path, table(rows=row("Item", "Sum") + row("a", 1.5) + row("b", "some")))
    assert types(found) == {"Item": "string", "Sum": "string"}
    assert lines[1:] == [["a", "1.5"], ["b", "some"]]


def test_numbers_stored_as_text_are_read_and_told(tmp_path: Path) -> None:
    """Texts among numbers that one reading fits are numbers; a missing value's row is kept."""
    texts: list[str | float] = [1.5, "12,5", "n/a", "1.234", "-"]
    rows = row("Sum", "Note") + "".join(row(each) for each in texts) + row(4, "last")
    found, lines = read(tmp_path, table(rows=rows))
    assert [line[0] for line in lines[1:]] == ["1.5", "12.5", "", "1234", "", "4"]
    assert types(found)["Sum"] == "float"
    assert (found.row_count, found.reading.decimal, found.reading.questions) == (6, ",", ())
    assert [(each.what, each.count, each.rows) for each in found.reading.repaired] == [
        ("number stored as text, read as a number", 2, (3, 5)),
        ("text for a missing value, read as empty", 2, (4, 6)),
    ]


def test_labels_merged_over_rows_are_told(tmp_path: Path) -> None:
    """Only the first row has such a label; a group by it is without the others, which are named."""
    label = cell("North", 'table:number-rows-spanned="2"', 'table:number-columns-spanned="1"')
    rows = row("Region", "Sum") + f"<table:table-row>{label}{cell(1)}</table:table-row>"
    rows += f"<table:table-row><table:covered-table-cell/>{cell(2)}</table:table-row>"
    found, lines = read(tmp_path, table(rows=rows))
    assert lines[1:] == [["North", "1"], ["", "2"]]
    assert [(each.what, each.count, each.rows) for each in found.reading.repaired] == [
        (MERGED, 1, (3,)),
    ]


def test_two_readings_of_a_text_among_numbers_are_asked(tmp_path: Path) -> None:
    """Until it is answered the column is text; each answer gives its own figure."""
    rows = row("Item", "Sum") + row("a", 1.5) + row("b", "1.234")
    found, lines = read(tmp_path, table(rows=rows))
    (question,) = found.reading.questions
    assert (question.about, types(found)["Sum"], lines[2]) == ("decimal", "string", ["b", "1.234"])
    for said, plain in (ReadAs(decimal="."), "1.234"), (ReadAs(decimal=","), "1234"):
        found, lines = read(tmp_path, table(rows=rows), said=said)
        assert (found.reading.questions, types(found)["Sum"]) == ((), "float")
        assert lines[2] == ["b", plain]


def test_a_sum_without_label_and_result_is_a_row_of_its_table(tmp_path: Path) -> None:
    """It ends the rows above, so that what stands below is told from them."""
    total = row(None, cell(None, 'table:formula="of:=SUM([.B2:.B3])"'))
    rows = row("Item", "Amount") + row("a", 10) + row("b", 20) + total + row("Soll", 40)
    found, lines = read(tmp_path, table(rows=rows))
    (one,) = found.aggregates
    assert lines[1 + one.row] == ["", ""]
    assert found.row_count == len(lines) - 1 == 4
    kept, _ = read(tmp_path, table(rows=rows), said=ReadAs(totals="keep"))
    assert (kept.row_count, kept.aggregates) == (3, ())


def test_a_total_without_a_result_is_left_out_unless_totals_are_kept(tmp_path: Path) -> None:
    """A row of a label alone is no row of the table; who says that totals stay has it."""
    total = row("Total", cell(None, 'table:formula="of:=SUM([.B2:.B3])"'))
    sheets = table(rows=row("Item", "Sum") + row("a", 1.5) + row("b", 2) + total)
    found, _ = read(tmp_path, sheets)
    assert (found.row_count, found.details["range"]) == (2, "A1:B3")
    (left_out,) = found.reading.left_out
    assert (left_out.what, left_out.rows) == ("total whose formulas have no stored result", (4,))
    found, lines = read(tmp_path, sheets, said=ReadAs(totals="keep"))
    assert (found.row_count, lines[-1]) == (3, ["Total", ""])


def test_a_table_goes_on_below_a_gap_and_ends_above_a_remark(tmp_path: Path) -> None:
    """Names above a gap head the larger block below it; names twice above figures are names."""
    rows = (
        row("Item", "Sum", "Sum") + row("a", 1.5, 2) + row(None)
        + row("b", 2.25, 3) + row("c", 4, 4) + row("d", 5, 5) + row("* as of May")
    )  # fmt: skip
    found, lines = read(tmp_path, table(rows=rows))
    assert lines[0] == ["Item", "Sum", "Sum_2"]
    assert (found.row_count, found.reading.header_row) == (4, 1)
    assert ("line below the table", (7,)) in [
        (each.what, each.rows) for each in found.reading.left_out
    ]


def test_what_is_repeated_counts_as_often(tmp_path: Path) -> None:
    """Rows and cells that a file writes once stand as often as it says; the empty end does not."""
    rows = (
        row("Item", "Sum", "Tax")
        + row("a", cell(2, 'table:number-columns-repeated="2"'))
        + row("b", 1, 1, more='table:number-rows-repeated="3"')
        + row(cell(None, 'table:number-columns-repeated="16384"'),
              more='table:number-rows-repeated="1048571"')
    )  # fmt: skip
    found, lines = read(tmp_path, table(rows=rows))
    assert found.row_count == 4
    assert lines == [["Item", "Sum", "Tax"], ["a", "2", "2"], *[["b", "1", "1"]] * 3]
    assert found.details["range"] == "A1:C5"


@pytest.mark.parametrize(
    "rows",
    [
        row(cell(1, 'table:number-columns-repeated="1000"'),
            more='table:number-rows-repeated="1000000"'),
        row(cell(1, 'table:number-columns-repeated="1000000000"')),
        row(1, more='table:number-rows-repeated="99999999999999999999"'),
        row(cell(1, 'table:number-columns-repeated="16000"')) * 300,
        row(cell(1, 'table:formula="of:=1"'), more='table:number-rows-repeated="1048576"') * 1,
    ],
    ids=["rows of cells", "cells", "rows", "many rows", "formulas"],
)  # fmt: skip
def test_more_cells_than_a_sheet_has_are_refused(tmp_path: Path, rows: str) -> None:
    """A file of a kilobyte cannot fill the memory."""
    with pytest.raises(FileReadFailed, match=r"too large to be read") as caught:
        read(tmp_path, table(rows=rows))
    assert caught.value.code == "FILE_READ_FAILED"


def test_errors_have_no_figure(tmp_path: Path) -> None:
    """Programs store 0 beside an error that they show: it is no 0. A text that looks so is text."""
    zero = 'office:value-type="float" office:value="0"'
    rows = row("Item", "Sum", "Note") + row("a", 2, "#N/A") + row(
        "b", f'<table:table-cell table:formula="of:=1/0" {zero}><text:p>#DIV/0!</text:p>'
        "</table:table-cell>", "x",
    ) + row(
        "c", '<table:table-cell table:formula="of:=NA()" office:value-type="string" '
        'office:string-value="" calcext:value-type="error"><text:p>odd</text:p>'
        "</table:table-cell>", "x",
    ) + row("d", '<table:table-cell table:formula="of:=[.B2]*2"/>', "x") + row(
        "e", cell(4, 'table:formula="of:=[.B2]*2"'), "x"
    )  # fmt: skip
    found, lines = read(tmp_path, table(rows=rows))
    assert [line[1] for line in lines[1:]] == ["2", "", "", "", "4"]
    assert lines[1][2] == "#N/A"
    assert types(found)["Sum"] == "integer"
    assert found.warnings == (
        "1 value(s) are results of formulas, as last stored.",
        "1 formula(s) have no stored result; their cells are empty here.",
        "2 cell(s) hold an error (#DIV/0!, odd); they are empty here.",
    )


@pytest.mark.parametrize("shown", ["#WERT!", "#DIV/0!", "#¿NOMBRE?", "#N/A", "#NV", "Err:508"])
def test_errors_are_known_in_other_languages(tmp_path: Path, shown: str) -> None:
    """A program shows them in its own one; the 0 that is stored beside is no value."""
    broken = (
        '<table:table-cell table:formula="of:=1/0" office:value-type="float" office:value="0">'
        f"<text:p>{shown}</text:p></table:table-cell>"
    )
    rows = row("Item", "Sum") + row("a", 2) + row("b", broken)
    _, lines = read(tmp_path, table(rows=rows))
    assert [line[1] for line in lines[1:]] == ["2", ""]


def test_a_truth_that_is_stored_as_a_number_is_one(tmp_path: Path) -> None:
    """LibreOffice makes formulas of the booleans of other workbooks, and stores some as 0.

    They are the values that they were, no results that may be stale.
    """
    zero = 'table:formula="of:=FALSE()"'
    truth = typed("boolean", "true", "TRUE", 'table:formula="of:=TRUE()"')
    rows = row("Item", "Ok") + row("a", cell(0, zero)) + row("b", truth)
    found, lines = read(tmp_path, table(rows=rows))
    assert [line[1] for line in lines[1:]] == ["false", "true"]
    assert types(found)["Ok"] == "boolean"
    assert found.warnings == ()


def test_a_number_that_is_shown_as_a_truth_is_one(tmp_path: Path) -> None:
    """LibreOffice writes a 2 in the format of booleans as one whose value is 2."""
    rows = row("Item", "N") + row("a", typed("boolean", "2", "TRUE")) + row("b", 5)
    found, lines = read(tmp_path, table(rows=rows))
    assert [line[1] for line in lines[1:]] == ["2", "5"]
    assert types(found)["N"] == "integer"


def test_what_people_do_not_see_is_told(tmp_path: Path) -> None:
    """Hidden rows and columns stay and are told; what a merged cell covers is not read."""
    covered = '<table:covered-table-cell office:value-type="float" office:value="900"/>'
    rows = (
        '<table:table-column/><table:table-column table:visibility="collapse"/>'
        + row("Item", "Sum")
        + row("a", 1)
        + row("b", 2, more='table:visibility="collapse"')
        + row("c", 3, more='table:visibility="filter"')
        + row(cell("d", 'table:number-columns-spanned="2"'), covered)
    )
    found, lines = read(tmp_path, table(rows=rows))
    assert lines[1:] == [["a", "1"], ["b", "2"], ["c", "3"], ["d", ""]]
    assert found.warnings == (
        "2 row(s) of the table are hidden from people.",
        "1 column(s) of the table are hidden from people.",
        "1 value(s) below merged cells, which nobody sees, are not read.",
    )


def test_a_hidden_sheet_is_told(tmp_path: Path) -> None:
    """Nobody who opens the file sees where the rows are from; the sheet before it has no note."""
    source = Source(rich_book(tmp_path / "b.ods"), "b.ods")
    notes = {
        name: FORMAT.read_table(source, name, ReadAs(), tmp_path / name).warnings
        for name in ("Front", "Back")
    }
    assert "The sheet Back is hidden." in notes["Back"]
    assert not any("The sheet" in note for note in notes["Front"])


def test_a_header_row_is_said_of_one_sheet(tmp_path: Path) -> None:
    """It holds for the sheet that it is said of alone, and that one has to be there."""
    rows = row("x", "y") + row("a", 2) + row("k", "m") + row("b", 4)
    sheets = table(rows=rows, name="A") + table(rows=rows, name="B")
    said = ReadAs(header_row=3, header_sheet="B")
    assert read(tmp_path, sheets, "A", said)[1][0] == ["x", "y"]
    assert read(tmp_path, sheets, "B", said)[1][0] == ["k", "m"]
    with pytest.raises(ValidationFailed, match="C"):
        read(tmp_path, sheets, "A", ReadAs(header_row=3, header_sheet="C"))


def test_amounts_in_several_currencies_are_told(tmp_path: Path) -> None:
    """Euros and dollars in one column look alike as numbers: their sum is no amount."""
    euro, dollar = (
        typed("currency", "5", "5", f'office:currency="{code}"') for code in ("EUR", "USD")
    )
    rows = row("Item", "Price") + row("a", euro) + row("b", dollar)
    found, _ = read(tmp_path, table(rows=rows))
    assert found.warnings == (
        "Column B has amounts in several currencies (EUR, USD): a sum of them is none.",
    )
    found, _ = read(tmp_path, table(rows=row("Item", "Price") + row("a", euro) * 2))
    assert found.warnings == ()


ITEMS = row("Item", "Day", "Sum", "Who") + "".join(
    row(f"item {n}", typed("date", f"2024-01-0{n}", "x"), n * 1.5, "Ann") for n in range(1, 6)
)


def test_titles_and_remarks_are_left_out_by_the_rules_of_all_sheets(tmp_path: Path) -> None:
    """They are named with their rows; a header row that is said is obeyed."""
    rows = row("Report of 2024") + ITEMS + row(None) + row("as of today")
    found, lines = read(tmp_path, table(rows=rows))
    assert lines[0] == ["Item", "Day", "Sum", "Who"]
    assert found.row_count == 5
    assert found.reading.header_row == 2
    assert [(each.what, each.rows) for each in found.reading.left_out][:1] == [
        ("line above the header", (1,))
    ]
    assert any(9 in each.rows for each in found.reading.left_out[1:])
    said, lines = read(tmp_path, table(rows=rows), said=ReadAs(header_row=3))
    assert lines[0][0] == "item 1"
    assert said.row_count == 4


def test_a_header_of_two_rows_is_joined(tmp_path: Path) -> None:
    """A merged year over plan and actual gives each column its whole name."""
    year = 'table:number-columns-spanned="2"'
    covered = "<table:covered-table-cell/>"
    rows = row(None, cell("2023", year), covered, cell("2024", year), covered)
    rows += row("Item", "Plan", "Actual", "Plan", "Actual")
    rows += "".join(row(f"i{n}", n, n + 1, n + 2, n + 3) for n in range(4))
    found, _ = read(tmp_path, table(rows=rows))
    assert list(types(found)) == ["Item", "2023 Plan", "2023 Actual", "2024 Plan", "2024 Actual"]
    assert [each.what for each in found.reading.repaired] == ["column names joined of two rows"]


def test_texts_are_as_their_program_shows_them(tmp_path: Path) -> None:
    """Blanks, tabs and lines of a text; no notes, no text of shapes; entities, in names, too."""
    text = (
        '<table:table-cell office:value-type="string"><office:annotation><text:p>note</text:p>'
        '</office:annotation><text:p>\n  a<text:s text:c="3"/>b<text:tab/>c\n   d  e</text:p>'
        "<text:p><text:span>e</text:span> &amp; <text:a>f</text:a><text:line-break/>g </text:p>"
        "<draw:frame><draw:text-box><text:p>shape</text:p></draw:text-box></draw:frame>"
        "</table:table-cell>"
    )
    rows = row("Text", "N") + row(text, 1) + row(cell("x", 'office:string-value="R&amp;D"'), 2)
    found, lines = read(tmp_path, table(rows=rows, name="R&amp;D"))
    assert lines[1:] == [["a   b\tc d  e\ne & f\ng ", "1"], ["R&D", "2"]]
    assert found.details["sheet"] == "R&D"


def test_which_sheet_is_said(tmp_path: Path) -> None:
    """Several filled sheets are asked about; copies of another file's cells are no sheet."""
    copied = table(1, name="'file:///other.ods'#$A")
    both = table(rows=ITEMS, name="A") + table(rows=ITEMS, name="B") + copied
    with pytest.raises(ValidationFailed, match=r"name one of: A, B$"):
        read(tmp_path, both)
    assert read(tmp_path, both, "b")[0].details["sheet"] == "B"
    assert read(tmp_path, table(rows=ITEMS) + table(name="E", rows=row(None)))[0].row_count == 5
    for said in (ReadAs(encoding="cp1252"), ReadAs(delimiter=";")):
        with pytest.raises(ValidationFailed, match=r"no (encoding|delimiter) to say"):
            read(tmp_path, both, "A", said)


def test_a_frozen_row_of_names_heads_all_that_is_below(tmp_path: Path) -> None:
    """As in other workbooks; what is frozen stands in the settings of the file."""
    settings = "".join(
        f'<config:config-item config:name="{name}">{value}</config:config-item>'
        for name, value in (("VerticalSplitMode", 2), ("VerticalSplitPosition", 1))
    )
    settings = (
        f'<config:config-item-map-entry config:name="S">{settings}</config:config-item-map-entry>'
    )
    rows = row("A", "B") + row("x", "y") + row(None) * 2 + row("v", "w")
    found, _ = read(tmp_path, table(rows=rows), settings=settings)
    assert list(types(found)) == ["A", "B"]
    assert found.row_count == 2


def test_flat_files_are_read_as_well(tmp_path: Path) -> None:
    """One XML file with all of it; a document type in it is refused."""
    path = tmp_path / "a.fods"
    path.write_bytes(flat_book(table(rows=ITEMS)))
    found = FORMAT.read_table(Source(path, path.name), None, ReadAs(), tmp_path / "plain")
    assert found.row_count == 5
    path.write_bytes(flat_book(table(rows=ITEMS), '<!DOCTYPE a [<!ENTITY x "y">]>'))
    with pytest.raises(FileReadFailed, match="document type"):
        FORMAT.map(Source(path, path.name))


def test_what_is_not_of_the_format_is_refused(tmp_path: Path) -> None:
    """Encrypted files, texts under another name and files without sheets, each by its reason."""
    entry = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    kind = "application/vnd.oasis.opendocument.text"
    locked = ods_book(tmp_path / "locked.ods", table(rows=ITEMS), manifest=entry)
    other = ods_book(tmp_path / "other.ods", table(rows=ITEMS), kind=kind)
    for path, words in ((locked, "encrypted with a password"), (other, "is an OpenDocument text")):
        with pytest.raises(FileReadFailed, match=words) as caught:
            FORMAT.map(Source(path, path.name))
        assert str(tmp_path) not in caught.value.message
    with pytest.raises(FileReadFailed, match="no sheets"):
        read(tmp_path, "")


def test_it_is_not_written(tmp_path: Path) -> None:
    """The refusal names the format that is."""
    with pytest.raises(ValidationFailed, match="xlsx"):
        FORMAT.write_table(None, tmp_path / "rows", None, tmp_path / "out.ods")  # type: ignore[arg-type]


def test_a_header_that_stands_again_is_no_row(tmp_path: Path) -> None:
    """The rows of all printed pages are one table, whose numbers stay numbers."""
    page = row("Item", "Sum") + row("a", 1) + row("b", 2)
    found, lines = read(tmp_path, table(rows=page + page))
    assert lines == [["Item", "Sum"], ["a", "1"], ["b", "2"], ["a", "1"], ["b", "2"]]
    assert types(found)["Sum"] == "integer"
    assert [(each.what, each.rows) for each in found.reading.left_out] == [
        ("header repeated between rows", (4,)),
    ]


def test_rows_below_a_repeated_header_are_counted_as_the_plain_form_has_them(
    tmp_path: Path,
) -> None:
    """A sum's place and its rows are those of the rows that are left."""
    total = row(None, cell(15, 'table:formula="of:=SUM([.B2:.B5])"'))
    rows = row("Item", "Sum") + row("a", 10) + row("Item", "Sum") + row("b", 2) + row("c", 3)
    found, lines = read(tmp_path, table(rows=rows + total))
    (one,) = found.aggregates
    assert (lines[1 + one.row][1], one.ranges) == ("15", ((0, 2),))
