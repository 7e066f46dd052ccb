"""Mistakes in styles, and dates and percents that are given as texts."""

import datetime as dt
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

FORMAT = XlsxFormat()
MARCH = dt.datetime(2024, 3, 1)  # noqa: DTZ001 - cells have no zone


def edit(book: Path, *found: dict[str, Any]) -> Applied:
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    operations = tuple(msgspec.convert(list(found), list[vocabulary]))
    return FORMAT.apply(Source(book, book.name), operations, book.with_name("out.xlsx"))


def setting(cell: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": value, **more}]}


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """A sheet whose columns show dates, percents, numbers, texts of dates, and texts."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "S"
    sheet.append(["Day", "Rate", "Count", "Text day", "Note", "New", "Marked"])
    for row in (2, 3):
        sheet.append([dt.date(2024, 1, row), 0.1, 5, f"2024-01-0{row}", f"note {row}"])
        sheet.cell(row, 1).number_format = "dd.mm.yyyy"
        sheet.cell(row, 2).number_format = "0.0%"
    sheet["G4"].number_format = "@"
    book.save(tmp_path / "in.xlsx")
    return tmp_path / "in.xlsx"


@pytest.mark.parametrize(
    ("style", "right"),
    [
        ({"bold": True}, "style bold is no key; write font_bold"),
        ({"italic": True}, "font_italic"), ({"background": "red"}, "fill_color"),
        ({"bg_color": "red"}, "fill_color"), ({"align": "center"}, "h_align"),
        ({"numFmt": "0%"}, "number_format"), ({"font-bold": True}, "font_bold"),
        ({"number_fromat": "0%"}, "number_format"), ({"border": "thin"}, "border_top"),
        ({"font_color": "#F00"}, 'write "#FF0000"'), ({"fill_color": "FF00AA11"}, "#00AA11"),
        ({"number_format": "percent"}, 'write "0%"'), ({"h_align": "centr"}, 'write "center"'),
        ({"bold": 1, "italic": 1}, "font_bold; style italic is no key; write font_italic"),
    ],
)  # fmt: skip
def test_a_style_key_with_a_plain_meaning_is_an_error(
    columns: Path, style: dict[str, Any], right: str
) -> None:
    """What another library calls a thing, or nearly its name, is refused with the right name."""
    calls = (
        setting("A9", 1, style=style),
        {"op": "set_range", "sheet": "S", "start": "A9", "values": [[1]], "style": style},
        {
            "op": "set_range",
            "sheet": "S",
            "start": "A9",
            "values": [[{"value": 1, "style": style}]],
        },
    )
    for call in calls:
        with pytest.raises(ValidationFailed) as refused:
            edit(columns, call)
        assert right in refused.value.message
        assert "S!A9" in refused.value.message


def test_what_is_understood_stays_understood(columns: Path) -> None:
    """Synonyms that were taken are taken, and what has no plain meaning is skipped and told."""
    style = {"color": "red", "font_colour": "blue", "h_align": "centre", "sparkle": 1}
    applied = edit(columns, setting("A9", 1, style=style))

    assert [text.split(" is ")[0] for text in applied.warnings] == ["style sparkle"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("cell", "text", "value", "shown"),
    [
        ("A4", "2024-03-01", MARCH, "dd.mm.yyyy"),
        ("B4", "12.5%", 0.125, "0.0%"),
        ("B4", "-7 %", -0.07, "0.0%"),
        ("D4", "2024-03-01", "2024-03-01", "General"),
        ("E4", "12%", "12%", "General"),
        ("F2", "2024-03-01", MARCH, "yyyy-mm-dd"),
        ("F2", "2024-03-01T10:30:00", MARCH.replace(hour=10, minute=30), "yyyy-mm-dd hh:mm:ss"),
        ("F2", "12%", 0.12, "0%"),
        ("F2", "12.5%", 0.125, "0.0%"),
        ("G4", "12%", "12%", "@"),
        ("F2", "2024-02-31", "2024-02-31", "General"),
        ("F2", "100% cotton", "100% cotton", "General"),
    ],
)  # fmt: skip
def test_a_figure_that_is_a_text_is_typed_by_its_column(
    columns: Path, cell: str, text: str, value: Any, shown: str
) -> None:
    """Dates and percents are figures where the column or nothing speaks against it."""
    for call in (
        setting(cell, text),
        {"op": "set_range", "sheet": "S", "start": cell, "values": [[text]]},
    ):
        edit(columns, call)
        found = openpyxl.load_workbook(columns.with_name("out.xlsx"))["S"][cell]
        assert (found.value, found.number_format) == (value, shown)


def test_a_figure_in_a_column_of_plain_numbers_is_asked(columns: Path) -> None:
    """What may be 12 or 0.12 is refused with what to write; a type answers."""
    with pytest.raises(ValidationFailed, match=r'S!C4: .12%. is unclear.*0.12.*"type": "string"'):
        edit(columns, setting("C4", "12%"))
    with pytest.raises(ValidationFailed, match='"2024-01-01", "type": "date"'):
        edit(columns, setting("B4", "2024-01-01"))

    edit(columns, setting("C4", "12%", type="string"))
    assert openpyxl.load_workbook(columns.with_name("out.xlsx"))["S"]["C4"].value == "12%"


def test_warnings_tell_what_was_typed_and_what_stayed(columns: Path) -> None:
    """No figure is written as text, and none is made of a text, without a word."""
    rows = [["2024-03-01", "12%"], ["2024-03-02", "13%"]]
    applied = edit(
        columns,
        {"op": "set_range", "sheet": "S", "start": "H2", "values": rows},
        setting("D4", "2024-03-01"),
    )

    typed, kept = applied.warnings
    assert "S!H2, S!I2, S!H3, S!I3" in typed
    assert "type string" in typed
    assert "S!D4" in kept
    assert "type date" in kept
