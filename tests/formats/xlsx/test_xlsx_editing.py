"""Operations on workbooks: what they write, what they refuse, and which files they touch."""

import datetime as dt
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

FORMAT = XlsxFormat()
GOOD: list[dict[str, Any]] = [
    {"op": "set_range", "sheet": "Data", "start": "A1", "values": [["Item", "Cost"], ["Tea", 4.5]]},
    {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "B3", "value": "=SUM(B2:B2)"}]},
    {"op": "freeze_panes", "sheet": "Data", "row": 1},
]


def operations(*found: dict[str, Any]) -> tuple[msgspec.Struct, ...]:
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    return tuple(msgspec.convert(list(found), list[vocabulary]))


def make(path: Path, *found: dict[str, Any]) -> Applied:
    return FORMAT.apply(None, operations(*found), path)


def cells(*found: dict[str, Any]) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": "S", "cells": list(found)}


def test_a_new_workbook_has_no_sheet_of_its_own(tmp_path: Path) -> None:
    """One set_range on Summary makes exactly the sheet Summary (conformance 114)."""
    make(
        tmp_path / "a.xlsx", {"op": "set_range", "sheet": "Summary", "start": "A1", "values": [[1]]}
    )

    assert openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames == ["Summary"]


def test_a_default_sheet_that_holds_something_is_kept(tmp_path: Path) -> None:
    """The first sheet of another program's workbook stays beside a new one (conformance 114)."""
    book = openpyxl.Workbook()
    book.worksheets[0]["A1"] = "mine"
    book.save(tmp_path / "a.xlsx")
    added = {"op": "set_range", "sheet": "Summary", "start": "A1", "values": [[1]]}
    FORMAT.apply(
        Source(tmp_path / "a.xlsx", "a.xlsx"),
        operations({"op": "ensure_sheet", "sheet": "Summary"}, added),
        tmp_path / "b.xlsx",
    )

    found = openpyxl.load_workbook(tmp_path / "b.xlsx")
    assert found.sheetnames == ["Sheet", "Summary"]
    assert found["Sheet"]["A1"].value == "mine"


def test_styles(tmp_path: Path) -> None:
    """A style is written in full; what is wrong is skipped and told (conformance 116)."""
    style = {
        "font_name": "Calibri", "font_size": 12, "font_bold": True, "font_color": "#FFFFFF",
        "fill_color": "2F5496", "fill_pattern": "solid", "h_align": "center", "v_align": "center",
        "wrap_text": True, "number_format": "#,##0.00", "font_underline": True,
        "border_bottom": {"style": "medium", "color": "#1F3864"},
        "font_italic": "maybe", "sparkle": 1, "border_top": {"style": "wavy"},
    }  # fmt: skip
    applied = make(
        tmp_path / "a.xlsx",
        cells({"cell": "A1", "value": "Category", "style": style}),
        {"op": "set_column_widths", "sheet": "S",
         "columns": [{"column": "A", "width": 25}, {"column": "?", "width": 5}]},
        {"op": "set_row_heights", "sheet": "S",
         "rows": [{"row": 1, "height": 20}, {"row": 0, "height": 5}]},
        {"op": "freeze_panes", "sheet": "S", "row": 1, "column": 1},
    )  # fmt: skip

    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["S"]
    cell = sheet["A1"]
    font, fill, place = cell.font, cell.fill, cell.alignment
    assert (font.b, font.name, font.sz, font.u) == (True, "Calibri", 12, "single")
    assert font.color is not None
    assert font.color.rgb == "FFFFFFFF"
    assert (fill.fill_type, fill.fgColor.rgb) == ("solid", "FF2F5496")
    assert (place.horizontal, place.vertical, place.wrap_text) == ("center", "center", True)
    assert (cell.border.bottom.style, cell.number_format) == ("medium", "#,##0.00")
    assert (sheet.freeze_panes, sheet.column_dimensions["A"].width) == ("B2", 25)
    assert sheet.row_dimensions[1].height == 20
    assert [warning.split(" cannot")[0].split(" is")[0] for warning in applied.warnings] == [
        "style font_italic", "style sparkle", "style border_top", "width of column '?'",
        "height of row 0",
    ]  # fmt: skip


VALUES: list[tuple[Any, str | None, Any, str]] = [
    (12, None, 12, "n"),
    (0.1, None, 0.1, "n"),
    ("12", "number", 12, "n"),
    ("12", None, "12", "s"),
    (12, "string", "12", "s"),
    (True, None, True, "b"),
    ("false", "boolean", False, "b"),
    ("2024-01-31", None, dt.datetime(2024, 1, 31), "d"),  # noqa: DTZ001
    ("2024-01-31", "date", dt.datetime(2024, 1, 31), "d"),  # noqa: DTZ001
    ("2024-01-31T10:05:00", "datetime", dt.datetime(2024, 1, 31, 10, 5), "d"),  # noqa: DTZ001
    ("=A1*2", None, "=A1*2", "f"),
    ("A1*2", "formula", "=A1*2", "f"),
    ("=A1*2", "string", "=A1*2", "s"),
    ("+1", "string", "+1", "s"),
    ("@x", None, "@x", "s"),
    ("#N/A", None, "#N/A", "s"),
    ("=", None, "=", "s"),
    (" two\nlines ", None, " two\nlines ", "s"),
    ("x" * 32_767, None, "x" * 32_767, "s"),
    (None, None, None, "n"),
    ("gone", "blank", None, "n"),
]


@pytest.mark.parametrize(("value", "kind", "expected", "letter"), VALUES)
def test_values_keep_their_type(
    tmp_path: Path, value: Any, kind: str | None, expected: Any, letter: str
) -> None:
    """Numbers, dates, formulas and texts are what the contract makes of them, in both ways."""
    typed = {"value": value, **({"type": kind} if kind else {})}
    make(
        tmp_path / "a.xlsx",
        cells({"cell": "A1", **typed}, {"cell": "A9", "value": 1}),
        {"op": "set_range", "sheet": "S", "start": "B1", "values": [[typed]]},
    )

    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["S"]
    assert [(c.value, c.data_type) for c in (sheet["A1"], sheet["B1"])] == [(expected, letter)] * 2


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("many", "number"), (True, "number"), ("2024-13-01", "date"), ("2024-01-31T10:00", "date"),
        ("2024-01-31T10:00:00Z", "datetime"), ("1899-12-31", "date"), ("", "formula"),
        ("2", "boolean"),
    ],
)  # fmt: skip
def test_values_of_another_type_are_refused(tmp_path: Path, value: Any, kind: str) -> None:
    """A value that is not of its type is VALIDATION_FAILED and names its cell."""
    with pytest.raises(ValidationFailed, match="S!A1"):
        make(tmp_path / "a.xlsx", cells({"cell": "A1", "value": value, "type": kind}))


def test_text_that_looks_escaped_stays_itself(tmp_path: Path) -> None:
    """A literal _x000D_ is not read as a carriage return."""
    make(tmp_path / "a.xlsx", cells({"cell": "A1", "value": "_x000D_ a\r\nb"}))

    book = CalamineWorkbook.from_path(str(tmp_path / "a.xlsx"))
    assert book.get_sheet_by_index(0).to_python() == [["_x000D_ a\r\nb"]]


@pytest.mark.parametrize(
    "cell", ["", "A", "1", "A0", "1A", "A-1", "XFE1", "A1048577", "A1:B2", "Ä1"]
)
def test_a_bad_cell_reference_is_a_fault_of_the_call(tmp_path: Path, cell: str) -> None:
    """A place that is none is refused as such, not as a failed write; nothing is written."""
    for operation in (
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": 1}]},
        {"op": "set_range", "sheet": "S", "start": cell, "values": [[1]]},
    ):
        with pytest.raises(ValidationFailed):
            make(tmp_path / "a.xlsx", operation)
    assert not (tmp_path / "a.xlsx").exists()


def test_own_workbooks_are_edited(tmp_path: Path) -> None:
    """A second call keeps values, types, looks, widths and frozen panes of the first."""
    first, second = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    make(
        first, *GOOD,
        {"op": "set_column_widths", "sheet": "Data", "columns": [{"column": "B", "width": 30}]},
        {"op": "set_cells", "sheet": "Data", "cells": [
            {"cell": "A2", "value": "=text", "type": "string", "style": {"font_bold": True}},
            {"cell": "C2", "value": "2024-01-31", "type": "date"}]},
    )  # fmt: skip

    FORMAT.apply(
        Source(first, "a.xlsx"),
        operations({"op": "set_cells", "sheet": "data", "cells": [{"cell": "B2", "value": 9}]}),
        second,
    )

    sheet = openpyxl.load_workbook(second)["Data"]
    found = [(cell.value, cell.data_type) for cell in sheet[2]]
    day = dt.datetime(2024, 1, 31)  # noqa: DTZ001
    assert found == [("=text", "s"), (9, "n"), (day, "d")]
    assert (sheet["A2"].font.b, sheet["B3"].value) == (True, "=SUM(B2:B2)")
    assert (sheet.column_dimensions["B"].width, sheet.freeze_panes) == (30, "A2")


def test_a_misspelt_sheet_is_refused_in_an_existing_workbook(tmp_path: Path) -> None:
    """Only ensure_sheet makes a sheet there; the error names near ones."""
    make(tmp_path / "a.xlsx", *GOOD)

    with pytest.raises(ValidationFailed, match="near it: Data"):
        FORMAT.apply(
            Source(tmp_path / "a.xlsx", "a.xlsx"),
            operations({"op": "freeze_panes", "sheet": "Dato", "row": 1}),
            tmp_path / "b.xlsx",
        )


def test_a_number_over_a_date_keeps_the_format_and_is_told(tmp_path: Path) -> None:
    """Nobody named the format, so it stays; a warning says how to have it shown as a number."""
    make(tmp_path / "a.xlsx", cells({"cell": "A1", "value": "2024-01-31", "type": "date"}))
    source = Source(tmp_path / "a.xlsx", "a.xlsx")
    plain = FORMAT.apply(source, operations(cells({"cell": "A1", "value": 5})), tmp_path / "b.xlsx")
    style = {"number_format": "0.00"}
    named = FORMAT.apply(
        source, operations(cells({"cell": "A1", "value": 5, "style": style})), tmp_path / "c.xlsx"
    )

    formats = [
        openpyxl.load_workbook(tmp_path / name)["S"]["A1"].number_format
        for name in ("b.xlsx", "c.xlsx")
    ]
    assert formats == ["yyyy-mm-dd", "0.00"]
    assert [len(applied.warnings) for applied in (plain, named)] == [1, 0]
