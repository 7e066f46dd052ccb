"""Edits of workbooks in tests of operations on ranges and sheets, and what is read of them."""

import subprocess
import zipfile
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest

from kbd.formats import Applied, Source
from kbd.testing.formats import calculate_open
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

__all__ = ["apply", "calculated", "edit", "entries", "values"]

FORMAT = XlsxFormat()


def apply(book: Path, *found: dict[str, Any], to: str = "out.xlsx") -> Applied:
    """Apply operations to a workbook, into a file beside it, with the results of its formulas."""
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    operations = tuple(msgspec.convert(list(found), list[vocabulary]))
    applied = FORMAT.apply(Source(book, book.name), operations, book.with_name(to))
    calculate_open(FORMAT, Source(book.with_name(to), to), applied)
    return applied


def edit(book: Path, *found: dict[str, Any], to: str = "out.xlsx") -> Any:
    """Apply operations and return the workbook that openpyxl reads."""
    apply(book, *found, to=to)
    return openpyxl.load_workbook(book.with_name(to))


def values(sheet: Any) -> list[list[Any]]:
    """Return what the cells of a sheet hold, row by row."""
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def entries(path: Path) -> dict[str, bytes]:
    """Return the parts of a file."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {info.filename: archive.read(info) for info in archive.infolist()}


def calculated(soffice: str, book: Path, folder: Path) -> Any:
    """Return a workbook as LibreOffice calculates it."""
    done = subprocess.run(
        [soffice, f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to",
         "xlsx:Calc MS Excel 2007 XML", "--outdir", str(folder / "calculated"), str(book)],
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    target = folder / "calculated" / book.name
    if not target.exists():
        pytest.fail(f"LibreOffice did not open {book.name}: {done.stderr.decode()[:500]}")
    return openpyxl.load_workbook(target, data_only=True)
