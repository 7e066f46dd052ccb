"""Real workbooks: their values are those that another library finds."""

import datetime as dt
import random
import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import range_boundaries

from kbd.formats import Region, Source
from kbd_xlsx import XlsxFormat
from real_workbooks import real_workbooks
from samples import half_or_all

FORMAT = XlsxFormat()
SAMPLE_SEED = 114
NUMBER_FORMATS = "sheetjs__LONumbers-2010.xlsx"
"""It has numbers in every format that there is; openpyxl does not know `A/P` as one of times."""


def plain(value: Any) -> Any:
    """Return another library's value as ours is given; a day at midnight is a day."""
    match value:
        case None | "":
            return None
        case bool():
            return value
        case int() | float():
            return round(float(value), 9)
        case dt.timedelta():
            whole = round(value.total_seconds())
            minutes, seconds = divmod(abs(whole), 60)
            sign = "-" if whole < 0 else ""
            return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case dt.date() | dt.time():
            return value.isoformat().removesuffix("T00:00:00")
        case _:
            return str(value)


def ours(cell: Any) -> Any:
    """Return the value of a cell of a reading."""
    if isinstance(cell, dict):
        if "formula" in cell:
            return ours(cell["value"])
        return next(iter(cell.values())).removesuffix("T00:00:00")
    return plain(cell)


def differences(path: Path) -> list[Any] | None:
    """Compare every cell of a workbook with openpyxl's; None if one of the two cannot read it."""
    source = Source(path, path.name)
    if path.name == NUMBER_FORMATS:
        return None
    try:
        readings = {
            sheet["name"]: FORMAT.cells(source, Region(sheet=sheet["name"], range="A:XFD"))
            for sheet in FORMAT.map(source)["sheets"]
            if sheet["used_range"] and sheet["row_count"] * sheet["col_count"] < 20_000
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, data_only=True)
    except Exception:  # noqa: BLE001 - openpyxl raises anything
        return None
    found: list[Any] = []
    if readings.keys() - set(book.sheetnames):
        return None
    for title, reading in readings.items():
        assert reading.rows is not None
        assert reading.chunk_info is not None
        top = range_boundaries(reading.chunk_info.range)[1] or 1
        for number, row in enumerate(reading.rows, top):
            for column, cell in enumerate(row, 1):
                other = book[title].cell(number, column)
                if ours(cell) != plain(other.value) and not _known(other, cell):
                    found.append((title, other.coordinate, cell, other.value))
    return found


def _known(other: Any, cell: Any) -> bool:
    """Tell a difference that is openpyxl's, or of dates that there are not."""
    if other.hyperlink is not None and cell is None:
        return True  # it shows the address of a link as the value of its cell
    if isinstance(other.value, str):
        return "_x" in other.value  # it leaves escaped characters as they are stored
    return isinstance(other.value, dt.datetime) and other.value.year < 1900


@pytest.mark.corpora
def test_values_are_those_of_openpyxl(corpora: Path) -> None:
    """Every cell of a sample has the value that openpyxl finds."""
    chosen = random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), 30)
    found = {path.name: differences(path) for path in chosen if path.stat().st_size < 100_000}

    assert sum(each is not None for each in found.values()) > 20
    assert {name: each[:3] for name, each in found.items() if each} == {}


@pytest.mark.full
@pytest.mark.corpora
@half_or_all
def test_values_of_all_workbooks_are_those_of_openpyxl(corpora: Path, every: int) -> None:
    """The same of the whole corpus, and of the workbooks of forum questions."""
    paths = real_workbooks(corpora) + sorted((corpora / "spreadsheetbench").rglob("*_input.xlsx"))
    found = {path.name: differences(path) for path in paths[::every]}

    assert sum(each is not None for each in found.values()) > 0.9 * len(found)
    assert {name: each[:3] for name, each in found.items() if each} == {}
