"""Maps and readings of workbooks, and files that are none."""

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import Rule
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Region, Source
from kbd.opc import guard
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()


def save(path: Path, rows: list[list[Any]], **others: list[list[Any]]) -> Source:
    """Save rows on the sheet Data, and more sheets by name."""
    book = openpyxl.Workbook()
    for name, found in {"Data": rows, **others}.items():
        sheet = book.create_sheet(name)
        for row in found:
            sheet.append(row)
    del book["Sheet"]
    book.save(path)
    return Source(path, path.name)


def islands(tmp_path: Path, rows: list[list[Any]]) -> list[tuple[str, str, Any]]:
    found = FORMAT.map(save(tmp_path / "i.xlsx", rows))["sheets"][0]["islands"]
    return [(island["range"], island["label"], island["headers"]) for island in found]


def test_map(tmp_path: Path) -> None:
    """A map has used range, islands, chunks of 50 rows with headers, and features."""
    rows: list[list[Any]] = [
        ["Date", "Item", "Amount"],
        *[[dt.date(2024, 1, 1), "x", n] for n in range(110)],
    ]

    sheet = FORMAT.map(save(tmp_path / "a.xlsx", rows))["sheets"][0]

    assert sheet["used_range"] == {"min_row": 1, "max_row": 111, "min_col": 1, "max_col": 3}
    assert (sheet["row_count"], sheet["col_count"]) == (111, 3)
    assert [chunk["range"] for chunk in sheet["chunks"]] == ["A1:C50", "A51:C100", "A101:C111"]
    assert sheet["chunks"][2] == {
        "index": 2, "range": "A101:C111", "rows": 11, "headers": ["Date", "Item", "Amount"],
    }  # fmt: skip
    assert sheet["islands"][0]["label"] == "header"


def test_islands(tmp_path: Path) -> None:
    """Blank rows and blank columns split islands; numbers and dates may stand in a header."""
    rows: list[list[Any]] = [
        ["Title"],
        [],
        ["Item", 2023, 2024, None, "Side"],
        ["Tea", 1, 2, None, 7],
        ["Cup", 3, 4, None, 8],
    ]

    assert islands(tmp_path, rows) == [
        ("A1", "data", None),
        ("A3:C5", "header", ["Item", "2023", "2024"]),
        ("E3:E5", "header", ["Side"]),
    ]
    assert islands(tmp_path, [[1, 2], [3, 4]]) == [("A1:B2", "data", None)]
    dated = [["Item", dt.date(2024, 1, 1), dt.date(2024, 2, 1)], ["Tea", 5, 6]]
    assert islands(tmp_path, dated)[0][1] == "header"


def test_used_range_is_where_content_is(tmp_path: Path) -> None:
    """Formats alone widen nothing; an empty sheet has no range."""
    book = openpyxl.Workbook()
    sheet = book["Sheet"]
    sheet["B2"] = 1
    sheet["Z500"].font = openpyxl.styles.Font(b=True)
    book.create_sheet("Empty")
    book.save(tmp_path / "a.xlsx")

    first, second = FORMAT.map(Source(tmp_path / "a.xlsx", "a.xlsx"))["sheets"]

    assert first["used_range"] == {"min_row": 2, "max_row": 2, "min_col": 2, "max_col": 2}
    assert (second["used_range"], second["chunks"], second["islands"]) == (None, [], [])


def test_features(tmp_path: Path) -> None:
    """Charts, merges, conditional formats, formulas, tables, names and hidden sheets are told."""
    book = openpyxl.Workbook()
    sheet: Any = book["Sheet"]
    for row in (["a", "b"], [1, 2], [3, 4], ["=A2+1", None]):
        sheet.append(row)
    sheet.merge_cells("D1:E1")
    sheet.add_table(Table(displayName="Costs", ref="A1:B3"))
    sheet.conditional_formatting.add("A1:A3", Rule("cellIs", operator="equal", formula=["2"]))
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=3))
    sheet.add_chart(chart, "G1")
    book.defined_names["Total"] = DefinedName("Total", attr_text="Sheet!$A$4")
    book.create_sheet("Back").sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")

    found = FORMAT.map(Source(tmp_path / "a.xlsx", "a.xlsx"))
    first, second = found["sheets"]

    for feature in ("charts", "merged_cells", "conditional_formatting", "formulas"):
        assert (first[f"has_{feature}"], second[f"has_{feature}"]) == (True, False), feature
    assert first["tables"] == [{"name": "Costs", "range": "A1:B3", "columns": ["a", "b"]}]
    assert found["defined_names"] == [{"name": "Total", "refers_to": "Sheet!$A$4"}]
    assert (first["hidden"], second["hidden"], first["has_pivots"]) == (False, True, False)


def test_a_range_is_read_as_a_grid(tmp_path: Path) -> None:
    """Rows have numbers, dates are ISO, numbers plain, text that looks typed stands in quotes."""
    rows: list[list[Any]] = [
        ["Day", "Code", "Sum"],
        [dt.date(2024, 1, 31), "007", 4.0],
        [],
        [dt.datetime(2024, 1, 31, 10, 5), "a\tb\nc", 0.5],  # noqa: DTZ001
    ]
    source = save(tmp_path / "a.xlsx", rows)

    whole = FORMAT.read(source, Region(sheet="data"))
    part = FORMAT.read(source, Region(range="Data!B2:C2"))

    assert whole.text.splitlines() == [
        "Data!A1:C4", "\tA\tB\tC", "1\tDay\tCode\tSum", '2\t2024-01-31\t"007"\t4',
        "4\t2024-01-31T10:05:00\ta\\tb\\nc\t0.5",
    ]  # fmt: skip
    assert whole.chunk_info is None
    assert part.text.splitlines()[1:] == ["\tB\tC", '2\t"007"\t4']


def test_chunks(tmp_path: Path) -> None:
    """Without a range the first 50 rows are read; chunk_info says where a range stands."""
    source = save(tmp_path / "a.xlsx", [[number] for number in range(1, 121)])

    first = FORMAT.read(source, Region()).chunk_info
    second = FORMAT.read(source, Region(range="A51:A100")).chunk_info
    last = FORMAT.read(source, Region(range="101:120")).chunk_info

    assert first is not None
    assert (first.chunk_index, first.total_chunks, first.has_more, first.range) == (
        0, 3, True, "A1:A50",
    )  # fmt: skip
    assert second is not None
    assert (second.chunk_index, second.has_more) == (1, True)
    assert last is not None
    assert (last.chunk_index, last.has_more) == (2, False)


def test_what_holds_all_rows_is_one_chunk(tmp_path: Path) -> None:
    """Cells of all rows are no chunk of several, however many rows there are."""
    source = save(tmp_path / "a.xlsx", [[number] for number in range(1, 121)])

    whole = FORMAT.cells(source, Region(range="A1:A120")).chunk_info
    part = FORMAT.cells(source, Region(range="A1:A119")).chunk_info

    assert whole is not None
    assert (whole.chunk_index, whole.total_chunks, whole.has_more) == (0, 1, False)
    assert part is not None
    assert (part.chunk_index, part.total_chunks, part.has_more) == (0, 3, True)


@pytest.mark.parametrize(
    ("first", "headers"),
    [
        (["=SUM(A2:A4)", "=SUM(B2:B4)"], None),
        (["=SUM(A2:A4)", "#N/A"], None),
        (["=Names!A1", "=Names!B1"], ["=Names!A1", "=Names!B1"]),
        (["Cost", '="in "&A1'], ["Cost", '="in "&A1']),
    ],
)
def test_sums_above_numbers_are_no_names(
    tmp_path: Path, first: list[str], headers: list[str] | None
) -> None:
    """A formula without a stored result names columns only if it may have a text for one."""
    source = save(tmp_path / "a.xlsx", [first, [1, 2], [3, 4], [5, 6]])

    (island,) = FORMAT.map(source)["sheets"][0]["islands"]

    assert island["headers"] == headers


def test_formulas_are_shown_with_what_was_stored(tmp_path: Path) -> None:
    """A formula's text and an error are shown; a missing result is said not to be there."""
    source = save(tmp_path / "a.xlsx", [[1, "#N/A", "=A1*2"]])

    reading = FORMAT.read(source, Region())

    assert reading.text.endswith("1\t1\t#N/A\t=A1*2 [not calculated]")
    assert "formula" in reading.warnings[0].lower()


@pytest.mark.parametrize(
    "region",
    [
        Region(sheet="Nope"),
        Region(range="XFE1"),
        Region(range="A1:"),
        Region(range="what"),
        Region(sheet="Data", range="Other!A1"),
        Region(line_start=1),
        Region(chunk=0),
    ],
)
def test_wrong_regions_are_refused(tmp_path: Path, region: Region) -> None:
    """A sheet or range that is none, and coordinates of other formats, are VALIDATION_FAILED."""
    source = save(tmp_path / "a.xlsx", [[1]], Other=[[2]])

    with pytest.raises(ValidationFailed):
        FORMAT.read(source, region)


def test_passages_name_sheet_and_range(tmp_path: Path) -> None:
    """Passages go through all sheets in chunks of 50 rows."""
    source = save(tmp_path / "a.xlsx", [[n, "x"] for n in range(60)], Other=[[2]])

    places = [passage.place for passage in FORMAT.passages(source)]

    assert places == ["Data!A1:B50", "Data!A51:B60", "Other!A1"]


OLE = bytes.fromhex("d0cf11e0a1b11ae1")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"name,amount\n1,2\n", "it is text"),
        (b"%PDF-1.7\n", "begins with '%PDF-1.7'"),
        (OLE + b"\0" * 600, "old binary Office file"),
        (OLE + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (b"PK\x03\x04" + b"junk" * 50, "damaged"),
        (b"\x7fELF\x00\x00\x00\x00", "something else"),
    ],
)
def test_what_is_no_workbook_is_said(tmp_path: Path, data: bytes, words: str) -> None:
    """A file that is something else is refused with what it is."""
    (tmp_path / "blob").write_bytes(data)

    with pytest.raises(FileReadFailed, match=words):
        FORMAT.map(Source(tmp_path / "blob", "a.xlsx"))


def repack(source: Path, target: Path, **parts: bytes) -> Source:
    """Copy a workbook with some parts replaced; underscores in names stand for slashes."""
    named = {name.replace("__", "/") + ".xml": data for name, data in parts.items()}
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            if entry not in named:
                new.writestr(entry, old.read(entry))
        for name, data in named.items():
            new.writestr(name, data)
    return Source(target, "a.xlsx")


def sheet_xml(body: bytes) -> bytes:
    namespace = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return b'<worksheet xmlns="' + namespace + b'">' + body + b"</worksheet>"


def test_bombs_are_refused_before_they_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cells far apart, too large a part, too many parts, a DTD: each is refused by name."""
    plain = save(tmp_path / "plain.xlsx", [[1]]).path
    far = sheet_xml(
        b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
        b'<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData>'
    )
    entity = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + sheet_xml(b"<sheetData/>")

    with pytest.raises(FileReadFailed, match="too large"):
        FORMAT.map(repack(plain, tmp_path / "far", xl__worksheets__sheet1=far))
    with pytest.raises(FileReadFailed, match="document type"):
        FORMAT.map(repack(plain, tmp_path / "dtd", xl__worksheets__sheet1=entity))
    # Smaller limits, so that the test does not write what they are for.
    monkeypatch.setattr(guard, "MAX_ENTRIES", 100)
    many = {f"x{number}": b"" for number in range(101)}
    with pytest.raises(FileReadFailed, match="parts"):
        FORMAT.map(repack(plain, tmp_path / "many", **many))
    monkeypatch.setattr(guard, "MAX_PART_BYTES", 100_000)
    with pytest.raises(FileReadFailed, match="too large"):
        FORMAT.map(repack(plain, tmp_path / "big", xl__media__x=bytes(100_001)))


def test_a_styled_empty_column_is_no_bomb(tmp_path: Path) -> None:
    """A million rows of empty, formatted cells are mapped by their contents."""
    plain = save(tmp_path / "plain.xlsx", [[1]]).path
    rows = b'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="ZZ1048576" s="0"/></row>'
    body = sheet_xml(b"<sheetData>" + rows + b"</sheetData>")

    found = FORMAT.map(repack(plain, tmp_path / "b", xl__worksheets__sheet1=body))["sheets"][0]

    assert found["used_range"] == {"min_row": 1, "max_row": 1, "min_col": 1, "max_col": 1}
