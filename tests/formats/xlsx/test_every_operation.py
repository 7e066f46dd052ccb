"""Every operation: the same bytes each time, read back, named by the review, edited once more."""

import subprocess
from pathlib import Path

import openpyxl
import pytest

from every_operation import USES, OperationUse, applied, full_book
from kbd.formats import CompareOptions, Source
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
MORE = OperationUse(
    {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "Z9", "value": 9}]},
    frozenset({("Data!Z9", "cell")}),
)
"""An edit on top, of what no operation of these touches."""

each_use = pytest.mark.parametrize("use", USES, ids=lambda use: use.operation["op"])


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The workbook that has everything."""
    return full_book(tmp_path)


def named(before: Path, after: Path) -> set[tuple[str, str]]:
    """Return what the review names."""
    found = FORMAT.compare(Source(before, before.name), Source(after, after.name), CompareOptions())
    assert found.total == len(found.changes)
    return {(change.place.title, change.what) for change in found.changes}


def test_each_operation_is_here() -> None:
    """But the one that needs a pivot table, which has a test of its own."""
    known = {each.__struct_config__.tag for each in FORMAT.operations}
    assert known - {use.operation["op"] for use in USES} == {"refresh_pivot"}


@pytest.mark.sampled(9)
@each_use
def test_the_review_names_just_what_was_done(book: Path, use: OperationUse) -> None:
    """And after an edit on top, both; openpyxl reads what came out."""
    once = applied(book, use, "once.xlsx")
    assert named(book, once) == use.named
    openpyxl.load_workbook(once)
    twice = applied(once, MORE, "twice.xlsx")
    assert named(once, twice) == MORE.named
    assert openpyxl.load_workbook(twice)["Data"]["Z9"].value == 9


@pytest.mark.sampled(8)
@each_use
def test_the_same_call_writes_the_same_bytes(book: Path, use: OperationUse) -> None:
    """A replay compares hashes of files."""
    one, other = applied(book, use, "one.xlsx"), applied(book, use, "other.xlsx")
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.full
@pytest.mark.libreoffice
def test_libreoffice_calculates_what_is_stored(book: Path, tmp_path: Path) -> None:
    """It opens each result, and what it calculates there is what kbd has written."""
    made = [applied(book, use, f"{use.operation['op']}.xlsx") for use in USES]
    (tmp_path / "libre").mkdir()
    subprocess.run(
        ["soffice", "--headless", f"-env:UserInstallation=file://{tmp_path}/profile",
         "--convert-to", "xlsx", "--outdir", str(tmp_path / "libre"), *map(str, made)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    for path in made:
        theirs = openpyxl.load_workbook(tmp_path / "libre" / path.name, data_only=True)
        ours = openpyxl.load_workbook(path, data_only=True)
        assert theirs.sheetnames == ours.sheetnames, path.name
        for sheet in ours.worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    if isinstance(cell.value, float | int):
                        there = theirs[sheet.title][cell.coordinate].value
                        assert there == pytest.approx(cell.value), (path.name, cell)
