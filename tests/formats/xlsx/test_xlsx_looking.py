"""What is looked up in workbooks: features, formulas in odd XML, and what is kept of a sheet."""

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from openpyxl.worksheet.datavalidation import DataValidation

from kbd.formats import ReadAs, Region, Source
from kbd.sheets import islands
from kbd.sheets.areas import Area
from kbd.sheets.islands import RowRun, find_areas
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def plain_book(path: Path) -> Path:
    """Save a workbook with one empty sheet, whose part is replaced by what a test is about."""
    openpyxl.Workbook().save(path)
    return path


def with_sheet(folder: Path, xml: str, shelf: Path | None = None) -> Source:
    """Make a workbook whose only sheet is given as XML; "" in front of names is the namespace."""
    plain, target = plain_book(folder / "plain.xlsx"), folder / "a.xlsx"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            is_sheet = name == "xl/worksheets/sheet1.xml"
            new.writestr(name, xml if is_sheet else old.read(name))
    return Source(target, "a.xlsx", shelf)


def sheet(rows: str, before: str = "", after: str = "") -> str:
    data = f"<sheetData>{rows}</sheetData>"
    return f'<worksheet xmlns="{NAMESPACE}">{before}{data}{after}</worksheet>'


def text(source: Source, **region: Any) -> str:
    """Read a region and return its lines without the heading."""
    return "\n".join(FORMAT.read(source, Region(**region)).text.splitlines()[2:])


SHARED = (
    '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f t="shared" ref="B1:B2" si="0">A1&amp;"\r\n"</f>'
    '<v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/><v>2</v>'
    '</c><c r="C2" t="e"><v>#N/A</v></c><c r="D2" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>'
)
SHOWN = (
    '1\t1\t=A1&"\\n" [stored: 1]\n'
    '2\t2\t=A2&"\\n" [stored: 2]\t#N/A\t=1/0 [stored: #DIV/0!]'
)  # fmt: skip


def prefixed(rows: str) -> str:
    """Write every element with a prefix, as some producers do."""
    named = sheet(rows).replace("</", "\0").replace("<", "<x:").replace("\0", "</x:")
    return named.replace("xmlns=", "xmlns:x=")


@pytest.mark.parametrize(
    "xml",
    [
        sheet(SHARED),
        sheet(SHARED.replace("\r\n", "\n")),
        prefixed(SHARED),
        sheet(SHARED.replace('"B2"', '"B2" s="0"').replace('<c r="D2" t="e">', '<c t="e" r="D2">')),
        sheet(SHARED.replace('r="C2" t="e"', "r='C2' t='e'")),
        sheet(SHARED.replace("1/0", "<![CDATA[1/0]]>")),
        sheet(SHARED.replace(' r="1"', "").replace(' r="2"', "").replace('r="D2" ', "")),
        '<?xml version="1.0" encoding="UTF-16"?>' + sheet(SHARED),
    ],
    ids=["plain", "lf", "prefix", "order", "quotes", "cdata", "unnumbered", "utf16"],
)
def test_formulas_are_found_however_they_are_written(tmp_path: Path, xml: str) -> None:
    """Searched or parsed, shared formulas are written out, results and errors stand beside."""
    data: Any = xml.encode("utf-16") if "UTF-16" in xml else xml
    shown = text(with_sheet(tmp_path, data)).replace('\n")', "").replace("\\r\\n", "\\n")

    assert shown.replace('&"\n"', '&"\\n"') == SHOWN


def test_cells_are_typed(tmp_path: Path) -> None:
    """Cells come as plain values with their types; the rectangle is that of chunk_info."""
    book = openpyxl.Workbook()
    page: Any = book.active
    page["B2"], page["C2"], page["D2"] = 1.5, True, dt.date(2024, 1, 31)
    page["B3"], page["C3"], page["E3"] = "=NOW()", "=B2*2", "#N/A"
    page["B5"], page["C5"] = dt.time(10, 5), dt.datetime(2024, 1, 31, 10, 5)  # noqa: DTZ001
    book.save(tmp_path / "a.xlsx")

    reading = FORMAT.cells(Source(tmp_path / "a.xlsx", "a.xlsx"), Region(range="A2:E9"))

    assert reading.chunk_info is not None
    assert reading.chunk_info.range == "A2:E5"
    assert reading.rows == (
        (None, 1.5, True, {"datetime": "2024-01-31T00:00:00"}, None)
        if reading.rows
        and isinstance(reading.rows[0][3], dict)
        and "datetime" in reading.rows[0][3]
        else (None, 1.5, True, {"date": "2024-01-31"}, None),
        (
            None,
            {"formula": "=NOW()", "value": None, "current": False},
            {"formula": "=B2*2", "value": None, "current": False},
            None,
            {"error": "#N/A"},
        ),
        (None, None, None, None, None),
        (None, {"time": "10:05:00"}, {"datetime": "2024-01-31T10:05:00"}, None, None),
    )
    assert FORMAT.read(Source(tmp_path / "a.xlsx", "a.xlsx"), Region()).rows is None


def test_durations_below_zero_keep_their_hours(tmp_path: Path) -> None:
    """A negative duration is the positive one with its sign before it."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for column, minutes in enumerate((-30, 30, -90, -60, 27 * 60), 1):
        page.cell(1, column, dt.timedelta(minutes=minutes))
    book.save(tmp_path / "a.xlsx")

    reading = FORMAT.cells(Source(tmp_path / "a.xlsx", "a.xlsx"), Region())

    texts = ("-0:30:00", "0:30:00", "-1:30:00", "-1:00:00", "27:00:00")
    assert reading.rows == (tuple({"duration": text} for text in texts),)


@pytest.mark.parametrize("is_1904", [False, True])
def test_numbers_below_zero_are_no_times(tmp_path: Path, *, is_1904: bool) -> None:
    """A negative number in the format of a time or a date is the number, not a time of the day."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for column, (value, look) in enumerate(
        ((-0.25, "h:mm"), (-5, "yyyy-mm-dd"), (0.25, "h:mm"), (-0.25, "[h]:mm"), (-0.25, "0.00")), 1
    ):
        page.cell(1, column, value).number_format = look
    if is_1904:
        book.epoch = CALENDAR_MAC_1904
    book.save(tmp_path / "a.xlsx")

    reading = FORMAT.cells(Source(tmp_path / "a.xlsx", "a.xlsx"), Region())

    time, duration = {"time": "06:00:00"}, {"duration": "-6:00:00"}
    assert reading.rows == ((-0.25, -5, time, duration, -0.25),)


def test_what_a_stored_result_is_worth(tmp_path: Path) -> None:
    """A result is current, of the last calculation, or not there; empty text is a result."""
    source = with_sheet(
        tmp_path,
        sheet(
            '<row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>TODAY()</f><v>45000</v></c>'
            '<c r="C1"><f>2+2</f></c><c r="D1" t="str"><f>""</f><v></v></c>'
            '<c r="E1"><f ca="1">B1</f><v>1</v></c></row>'
        ),
    )

    reading = FORMAT.cells(source, Region())

    assert reading.text.splitlines()[2] == (
        "1\t=1+1 [stored: 2]\t=TODAY() [stored then: 45000]\t=2+2 [not calculated]"
        '\t="" [stored: ""]\t=B1 [stored then: 1]'
    )
    assert reading.rows is not None
    currents = [cell["current"] for cell in reading.rows[0] if isinstance(cell, dict)]
    assert currents == [True, False, False, True, False]


def test_merged_cells_have_the_value_of_the_first(tmp_path: Path) -> None:
    """What lies under a merged cell is not shown and widens nothing; its first cell counts."""
    rows = "".join(
        f'<row r="{row}">'
        + "".join(f'<c r="{column}{row}"><v>{row}</v></c>' for column in "BCD")
        + "</row>"
        for row in (2, 3)
    )
    merged = '<mergeCells count="2"><mergeCell ref="B2:C3"/><mergeCell ref="D2:E9"/></mergeCells>'

    source = with_sheet(tmp_path, sheet(rows, after=merged))

    assert text(source) == "2\t2\t\t2"
    assert FORMAT.map(source)["sheets"][0]["used_range"]["max_row"] == 2


def test_what_is_hidden_is_said(tmp_path: Path) -> None:
    """Hidden rows and columns are read, and named: by the reading, and counted by the map."""
    hidden = dict.fromkeys((2, 3, 5), ' hidden="1"')
    rows = "".join(
        f'<row r="{row}"{hidden.get(row, "")}>'
        f'<c r="A{row}"><v>1</v></c><c r="B{row}"><v>2</v></c></row>'
        for row in range(1, 7)
    )
    before = '<cols><col min="2" max="4" width="9" hidden="1"/></cols>'
    source = with_sheet(tmp_path, sheet(rows, before))

    mapped = FORMAT.map(source)["sheets"][0]

    assert FORMAT.read(source, Region(range="A1:B4")).warnings == (
        "Rows that are hidden: 2-3.", "Columns that are hidden: B.",
    )  # fmt: skip
    assert (mapped["hidden_row_count"], mapped["hidden_columns"]) == (3, ["B:D"])


def test_a_sheet_that_no_program_offers_is_named_so(tmp_path: Path) -> None:
    """Very hidden is more than hidden: a person has no way to see it."""
    book = openpyxl.Workbook()
    book.create_sheet("Deep").sheet_state = "veryHidden"
    book["Deep"]["A1"] = "words"
    book.save(tmp_path / "a.xlsx")
    source = Source(tmp_path / "a.xlsx", "a.xlsx")

    _, deep = FORMAT.map(source)["sheets"]

    assert (deep["hidden"], deep["very_hidden"]) == (True, True)
    warnings = FORMAT.read(source, Region(sheet="Deep")).warnings
    assert "The sheet Deep is hidden, and no program offers to show it." in warnings


def test_rare_features_are_named_where_they_are(tmp_path: Path) -> None:
    """Validations, comments, filters, panes and protection: only where there are any."""
    book = openpyxl.Workbook()
    page: Any = book.active
    page.append(["a", "b"])
    page.append([1, 2])
    page["A1"].comment = Comment("look", "me")
    check = DataValidation(type="whole")
    check.add("A2")
    page.add_data_validation(check)
    page.auto_filter.ref = "A1:B2"
    page.freeze_panes = "B2"
    page.protection.sheet = True
    book.create_sheet("Plain")["A1"] = 1
    book.save(tmp_path / "a.xlsx")

    first, plain = FORMAT.map(Source(tmp_path / "a.xlsx", "a.xlsx"))["sheets"]

    expected = {
        "data_validation_count": 1, "has_comments": True, "auto_filter": "A1:B2",
        "frozen_rows": 1, "frozen_columns": 1, "is_protected": True,
    }  # fmt: skip
    assert {key: first.get(key) for key in expected} == expected
    assert not expected.keys() & plain.keys()


def test_a_frozen_header_counts_for_map_and_table(tmp_path: Path) -> None:
    """Who freezes a row of names heads all below it, in the map as in the table."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for row in (["name", "n"], ["a", 1], [None, None], ["Title", None], ["b", 2]):
        page.append(row)
    page.freeze_panes = "A2"
    book.save(tmp_path / "a.xlsx")
    source = Source(tmp_path / "a.xlsx", "a.xlsx")

    mapped = FORMAT.map(source)["sheets"][0]
    table = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain")

    assert [(each["range"], each["headers"]) for each in mapped["islands"]] == [
        ("A1:B5", ["name", "n"])
    ]
    assert table.details["range"] == "A1:B5"


def kept(tmp_path: Path, rows: int = 300) -> Source:
    book = openpyxl.Workbook()
    page: Any = book.active
    page.append(["name", "n", "day"])
    for number in range(rows):
        page.append([f"row {number}", number, dt.date(2024, 1, 1 + number % 28)])
    page.append(["sum", f"=SUM(B2:B{rows + 1})", None])
    book.save(tmp_path / "a.xlsx")
    return Source(tmp_path / "a.xlsx", "a.xlsx", tmp_path / "cache" / "shelf")


def told(source: Source, target: Path) -> list[Any]:
    """Ask for all that there is to ask."""
    return [
        FORMAT.map(source), FORMAT.info(source), FORMAT.cells(source, Region(range="A120:C260")),
        list(FORMAT.passages(source)), FORMAT.read_table(source, None, ReadAs(), target),
        target.read_bytes(),
    ]  # fmt: skip


def test_the_second_look_needs_no_file(tmp_path: Path) -> None:
    """What was looked at once is read again from the shelf alone, and is the same."""
    source = kept(tmp_path)
    without = told(Source(source.path, source.name), tmp_path / "t")

    first = told(source, tmp_path / "t")
    source.path.write_bytes(b"")

    assert first == without
    assert told(source, tmp_path / "t") == without


@pytest.mark.sampled(3)
@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "folder"])
def test_a_damaged_shelf_is_made_anew(tmp_path: Path, damage: str) -> None:
    """A shelf is not believed: whatever happened to it, the answers are those of the file."""
    source = kept(tmp_path)
    expected = told(source, tmp_path / "t")
    assert source.shelf is not None
    for file in source.shelf.iterdir():
        data = file.read_bytes()
        for place in (0, 9, len(data) // 3, len(data) // 2, len(data) - 30, len(data) - 1):
            file.unlink() if file.is_file() else file.rmdir()
            match damage:
                case "cut":
                    file.write_bytes(data[:place])
                case "flipped":
                    file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
                case "empty":
                    file.write_bytes(b"")
                case "foreign":
                    file.write_bytes(b"KBDSHEET" * 9)
                case _:
                    file.mkdir()
            assert told(source, tmp_path / "t") == expected, (file.name, place)


def test_a_shelf_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    """A file where the folder should be costs time and nothing else."""
    source = kept(tmp_path)
    (tmp_path / "cache").write_text("in the way")

    assert FORMAT.read(source, Region(range="A2")).text.endswith("row 0")


@pytest.mark.parametrize("length", [0, 2**20 - 140, 2**20 - 135, 2**20 - 128, 2**21 + 5])
def test_cells_begin_anywhere(tmp_path: Path, length: int) -> None:
    """What stands before the cells may be long; their begin is found across the seams of blocks."""
    before = f"<sheetPr/><!--{'x' * length}-->"
    source = with_sheet(tmp_path, sheet(SHARED.replace("\r\n", ""), before))

    assert text(source).startswith('1\t1\t=A1&"" [stored: 1]')


def test_islands_are_split_again_and_again() -> None:
    """Blank rows within a column part split it, though the whole has none."""
    runs = [RowRun(1, 3, 0b011), RowRun(4, 4, 0b001), RowRun(5, 9, 0b1011), RowRun(20, 20, 0b1)]

    assert find_areas(runs) == [Area(1, 1, 9, 2), Area(5, 4, 9, 4), Area(20, 1, 20, 1)]


def test_a_sheet_that_splits_without_end_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past a bound of work islands are left whole, and every filled cell is in one."""
    runs = [RowRun(row, row, 0b10001) for row in range(1, 200, 2)]
    whole = find_areas(runs)
    monkeypatch.setattr(islands, "MAX_WORK", 150)

    short = find_areas(runs)

    assert len(whole) > len(short) > 0
    assert all(any(_holds(area, cell) for area in short) for cell in whole)


def _holds(area: Area, other: Area) -> bool:
    return (
        area.top <= other.top and other.bottom <= area.bottom
        and area.left <= other.left and other.right <= area.right
    )  # fmt: skip
