"""Rows and cells of kbd's own workbooks: what is not touched stays, fast and slow agree."""

from pathlib import Path
from typing import Any, Union
from zipfile import ZipFile

import msgspec
import openpyxl
from python_calamine import CalamineWorkbook

from kbd.formats import Placement, Source, Written
from kbd.testing.formats import write_rows
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
COLUMNS = [["name", "string"], ["amount", "integer"]]


def write(
    source: Source | None, target: Path, rows: list[list[Any]], placement: Placement,
    columns: list[list[Any]] = COLUMNS,
) -> Written:  # fmt: skip
    stream = write_rows(target.with_suffix(".rows"), columns, rows)
    return FORMAT.write_table(source, stream, placement, target)


def applied(source: Source | None, target: Path, *plain: dict[str, Any]) -> None:
    records = msgspec.convert(list(plain), list[Union[FORMAT.operations]])  # type: ignore[name-defined]  # noqa: UP007 - a union made at run time
    FORMAT.apply(source, tuple(records), target)


def sheet_part(path: Path, number: int) -> bytes:
    """Return the bytes of a sheet."""
    with ZipFile(path) as archive:
        return archive.read(f"xl/worksheets/sheet{number}.xml")


def looks(path: Path, sheet: str) -> list[tuple[Any, ...]]:
    """Return what another library finds in a sheet's cells that are not all empty."""
    found = openpyxl.load_workbook(path)[sheet]
    return [
        (c.coordinate, c.value, c.data_type, c.number_format, c.font.b, c.fill.fgColor.rgb,
         c.border.top.style, c.alignment.horizontal, found.row_dimensions[c.row or 0].height)
        for row in found.iter_rows() for c in row if c.has_style or c.value is not None
    ]  # fmt: skip


def test_what_is_not_touched_stays_as_it_was(tmp_path: Path) -> None:
    """A write into one sheet keeps the others cell for cell: values, types, looks, heights."""
    styles: list[dict[str, Any]] = [
        {"font_bold": True}, {"fill_color": "#FFEE00"}, {"number_format": "#,##0.00"},
        {"border_top": {"style": "thin", "color": "#123456"}, "h_align": "center"},
    ]  # fmt: skip
    entries: list[dict[str, Any]] = [
        {"cell": "A1", "value": " <a> & _x0041_\r\n", "type": "string"},
        {"cell": "B1", "value": 1.5},
        {"cell": "C1", "value": "2024-01-31T10:00:00", "type": "datetime"},
        {"cell": "D1", "value": True}, {"cell": "E1", "value": '=A1&"<"'},
        {"cell": "F9", "value": None, "type": "blank"}, {"cell": "A2", "value": ""},
    ]  # fmt: skip
    for number, entry in enumerate(entries):
        entry["style"] = styles[number % len(styles)]
    first = tmp_path / "first.xlsx"
    applied(
        None, first,
        {"op": "set_cells", "sheet": "Kept", "cells": entries},
        {"op": "set_row_heights", "sheet": "Kept", "rows": [{"row": 5, "height": 40}]},
        {"op": "set_cells", "sheet": "Other", "cells": entries[:2]},
    )  # fmt: skip

    source, second = Source(first, "a.xlsx"), tmp_path / "second.xlsx"
    write(source, second, [["new", 1]], Placement(sheet="Other", mode="append_rows"))

    assert sheet_part(second, 1) == sheet_part(first, 1)
    assert looks(second, "Kept") == looks(first, "Kept")
    assert looks(second, "Other")[: len(looks(first, "Other"))] == looks(first, "Other")
    third = tmp_path / "third.xlsx"
    one = {"op": "set_cells", "sheet": "Kept", "cells": [{"cell": "Z99", "value": "end"}]}
    applied(Source(second, "a.xlsx"), third, one)
    kept = looks(third, "Kept")
    assert [cell for cell in kept if cell[0] != "Z99"] == looks(first, "Kept")


def test_fast_and_slow_rows_are_the_same(tmp_path: Path) -> None:
    """Rows into an empty sheet, written as text, and into one with cells mean the same."""
    columns: list[list[Any]] = [
        ["Day", "date"], ["At", "datetime"], ["Sum", "float"], ["Text", "string"],
        ["Whole", "integer"], ["Yes", "boolean"], ["Any", None],
    ]  # fmt: skip
    rows: list[list[Any]] = [
        ["2024-01-31", "2024-01-31T10:05:00", "12.50", "=1+1", 7, True, 1.5],
        ["0999-01-01", "2024-01-31T00:00:00+02:00", "-0.125", " <x> & \u00e9\n_x0041_", 10**17,
         False, "text"],
        ["1900-02-28", "1900-03-01T00:00:00", "+5", "form\x0cfeed", -3, None, True],
        [None, None, "123456789.1234567", "", 0, None, None],
        ["2024-01-31", None, "1e5", "a" * 32_767, None, None, "=2"],
        ["2024-02-01", None, 0.1, "\u00a0edge\t", 5, None, 10**18],
    ]  # fmt: skip
    fast, slow, start = tmp_path / "fast.xlsx", tmp_path / "slow.xlsx", tmp_path / "start.xlsx"
    corner = {"op": "set_cells", "sheet": "Sheet1", "cells": [{"cell": "Z99", "value": 1}]}
    applied(None, start, corner)

    one = write(None, fast, rows, Placement(), columns)
    two = write(Source(start, "a.xlsx"), slow, rows, Placement(mode="write_range"), columns)

    assert one == two
    assert looks(fast, "Sheet1") == [c for c in looks(slow, "Sheet1") if c[0] != "Z99"]
    assert CalamineWorkbook.from_path(str(fast)).get_sheet_by_index(0).to_python()[3][3] == (
        "form\x0cfeed"
    )


def test_a_frozen_header_heads_all_that_is_below(tmp_path: Path) -> None:
    """What kbd wrote reads back whole: one column of text, blank rows, rows that look like more."""
    rows: list[list[Any]] = [["x", None], [None, None], ["Title", None], ["a", "b"], ["1", "2"]]
    columns = [["name", "string"], ["2024", "string"]]
    write(None, tmp_path / "a.xlsx", rows, Placement(), columns)
    write(None, tmp_path / "b.xlsx", [["x"], ["y"]], Placement(), [["name", "string"]])

    whole = FORMAT.read_table(Source(tmp_path / "a.xlsx", "a.xlsx"), None, tmp_path / "plain")
    single = FORMAT.read_table(Source(tmp_path / "b.xlsx", "b.xlsx"), None, tmp_path / "plain2")

    assert [column.name for column in whole.columns] == ["name", "2024"]
    assert whole.row_count == 4
    assert whole.warnings == ("1 blank row(s) between others were skipped.",)
    assert ([column.name for column in single.columns], single.row_count) == (["name"], 2)
