"""Workbooks that calamine cannot read, and types of workbooks that few programs write."""

import zipfile
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Region, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import SetCells
from read_twice import MAIN, book_of, differences, parsed, sheet_xml

FORMAT = XlsxFormat()
BOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
EARLY_TEMPLATE = "application/vnd.ms-excel.template.main+xml"

UNREADABLE = {
    "extension": ('<c r="A1"><v>4</v><extLst/></c>', 4),
    "type": ('<c r="A1" t="later"><v>4</v></c>', 4),
    "boolean": ('<c r="A1" t="b"><v>2</v></c>', True),
    "long time": ('<c r="A1" s="4"><v>1e12</v></c>', 1_000_000_000_000),
    "endless": ('<c r="A1" s="4"><v>-1E400</v></c>', float("-inf")),
    "no number": ('<c r="A1" t="n"><v>four</v></c>', "four"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_calamine_cannot_read_is_read(tmp_path: Path, case: str) -> None:
    """A cell that calamine stumbles over takes neither its sheet nor the workbook along."""
    cell, value = UNREADABLE[case]
    rows = (
        f'<row r="1">{cell}<c r="B1"><f>1+1</f><v>2</v></c></row><row r="2"><c><v>7</v></c></row>'
    )
    path = book_of(tmp_path / "a.xlsx", sheet_xml(rows))

    reading = FORMAT.cells(Source(path, path.name), Region())

    assert differences(path) is None
    assert reading.rows == (
        (value, {"formula": "=1+1", "value": 2, "current": True}), (7, None),
    )  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    [
        '<c r="A1" t="s"><v>99</v></c>',
        '<c r="A1" t="s"><v>four</v></c>',
        '<c r="1A"><v>4</v></c>',
        '<c r="XFD1"><v>4</v></c><c><v>4</v></c>',
        f'<c t="s"><v>{"9" * 5000}</v></c>',
        '</row><row r="0"><c><v>4</v></c>',
        '</row><row r="1048576"/><row><c><v>4</v></c>',
    ],
    ids=[
        "no such text",
        "no number",
        "no address",
        "no column",
        "huge",
        "no row",
        "past the last row",
    ],
)
def test_what_neither_can_tell_is_damage(tmp_path: Path, cell: str) -> None:
    """A text that is missing is not left out silently."""
    path = book_of(tmp_path / "a.xlsx", sheet_xml(f'<row r="1">{cell}</row>'))

    with pytest.raises(FileReadFailed, match="damaged"):
        list(parsed(path))


@pytest.mark.corpora
def test_real_files_that_calamine_cannot_read(corpora: Path) -> None:
    """They are mapped and read: missing parts, odd ranges, sheets of Excel 4 macros."""
    missing, odd, macros = (
        Source(corpora / path, path.partition("__")[2])
        for path in (
            "xlsx/closedxml__tdf111974.xlsm",
            "xlsx/exceljs__test-issue-176.xlsx",
            "xlsx_rare/sheetjs__BlankSheetTypes.xlsm",
        )
    )

    assert len(FORMAT.map(missing)["sheets"]) == 10
    assert FORMAT.map(missing)["has_macros"] is True
    assert len(FORMAT.read(missing, Region(sheet="OP PLAN")).text.splitlines()) > 20
    assert FORMAT.map(odd)["sheets"][0]["used_range"] is not None
    kinds = {sheet["name"]: sheet["kind"] for sheet in FORMAT.map(macros)["sheets"]}
    assert kinds["Macro1"] == "xlMacrosheet"
    assert FORMAT.read(macros, Region(sheet="Macro1")).text == "Macro1: no values."


def test_a_sheet_of_old_macros_reads_as_any_other(tmp_path: Path) -> None:
    """Its formulas and values are shown; the map says by its kind what it is."""
    book = openpyxl.Workbook()
    book.create_sheet("Macros")
    book.save(tmp_path / "plain.xlsx")
    rows = '<row r="1"><c r="A1" t="str"><v>Auto_Open</v></c></row>'
    rows += '<row r="2"><c r="A2" t="b"><f>HALT()</f><v>1</v></c></row>'
    macros = "http://schemas.microsoft.com/office/excel/2006/main"
    with (
        zipfile.ZipFile(tmp_path / "plain.xlsx") as old,
        zipfile.ZipFile(tmp_path / "a.xlsm", "w") as new,
    ):
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/_rels/workbook.xml.rels":
                data = data.replace(
                    b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
                    b'worksheet" Target="/xl/worksheets/sheet2.xml"',
                    b'Type="http://schemas.microsoft.com/office/2006/relationships/xlMacrosheet" '
                    b'Target="/xl/macrosheets/sheet1.xml"',
                )
                assert b"xlMacrosheet" in data
            if name == "xl/worksheets/sheet2.xml":
                name = "xl/macrosheets/sheet1.xml"
                data = (
                    f'<xm:macrosheet xmlns="{MAIN}" xmlns:xm="{macros}"><sheetData>{rows}'
                    "</sheetData></xm:macrosheet>"
                ).encode()
            new.writestr(name, data)
    source = Source(tmp_path / "a.xlsm", "a.xlsm")

    assert FORMAT.map(source)["sheets"][1]["kind"] == "xlMacrosheet"
    assert FORMAT.cells(source, Region(sheet="Macros")).rows == (
        ("Auto_Open",), ({"formula": "=HALT()", "value": True, "current": True},),
    )  # fmt: skip


def with_type(path: Path, target: Path, content_type: str) -> Source:
    """Copy a workbook whose main part is of another type."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "[Content_Types].xml":
                assert BOOK_TYPE.encode() in data
                data = data.replace(BOOK_TYPE.encode(), content_type.encode())
            new.writestr(name, data)
    return Source(target, target.name)


def edits(**values: Any) -> tuple[SetCells, ...]:
    cells = [{"cell": cell, "value": value} for cell, value in values.items()]
    return (msgspec.convert({"op": "set_cells", "sheet": "Sheet", "cells": cells}, SetCells),)


@pytest.mark.parametrize("suffix", [".xltx", ".xlsx"])
def test_a_type_from_before_the_standard(tmp_path: Path, suffix: str) -> None:
    """It reads, and an edit gives it the type that programs take under its suffix."""
    openpyxl.Workbook().save(tmp_path / "plain.xlsx")
    source = with_type(tmp_path / "plain.xlsx", tmp_path / "a.xltx", EARLY_TEMPLATE)
    target = tmp_path / f"out{suffix}"

    assert [sheet["name"] for sheet in FORMAT.map(source)["sheets"]] == ["Sheet"]
    FORMAT.apply(source, edits(A1="new"), target)

    kind = "template" if suffix == ".xltx" else "sheet"
    with zipfile.ZipFile(target) as archive:
        types = archive.read("[Content_Types].xml").decode()
    assert f"spreadsheetml.{kind}.main+xml" in types
    assert "ms-excel" not in types
    assert FORMAT.cells(Source(target, target.name), Region()).rows == (("new",),)


@pytest.mark.parametrize(
    "content_type",
    [
        "application/vnd.ms-excel.sheet.binary.macroEnabled.main",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        "application/vnd.ms-powerpoint.template.macroEnabled.main+xml",
    ],
)
def test_other_packages_are_still_refused(tmp_path: Path, content_type: str) -> None:
    """A binary workbook, a document or a slide deck is none under the suffix of one."""
    openpyxl.Workbook().save(tmp_path / "plain.xlsx")

    with pytest.raises(FileReadFailed, match=r"binary|another kind"):
        FORMAT.map(with_type(tmp_path / "plain.xlsx", tmp_path / "a.xltx", content_type))


@pytest.mark.corpora
def test_a_workbook_of_a_trial_version(corpora: Path, tmp_path: Path) -> None:
    """What is written with the names of before the standard is read, and never half changed."""
    path = corpora / "xlsx/openxmlsdk__ProjectStatusReport_TP10094814.xltx"
    source = Source(path, path.name)

    sheets = FORMAT.map(source)["sheets"]
    text = FORMAT.read(source, Region()).text.splitlines()

    assert [(sheet["kind"], sheet["row_count"]) for sheet in sheets] == [
        ("worksheet", 9), ("worksheet", 9), ("worksheet", 13),
    ]  # fmt: skip
    assert text[7].startswith("7\tActual\t0.32\t99.92\t1200\t1243949")
    with pytest.raises(ValidationFailed, match="trial version"):
        FORMAT.apply(source, edits(A1=1), tmp_path / "out.xltx")
    assert not (tmp_path / "out.xltx").exists()
