"""Workbooks whose objects are edited: what tests of tables, names, rules and the like share."""

import zipfile
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl

from kbd.formats import Applied, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

__all__ = ["FORMAT", "VOCABULARY", "differing", "edit", "entries", "made", "replaced"]

FORMAT = XlsxFormat()
VOCABULARY = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007


def edit(book: Path | None, target: Path, *found: dict[str, Any]) -> Applied:
    """Apply operations, given as a tool's call has them."""
    operations = tuple(msgspec.convert(list(found), list[VOCABULARY]))
    return FORMAT.apply(Source(book, book.name) if book else None, operations, target)


def entries(path: Path) -> dict[str, bytes]:
    """The parts of a file."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {info.filename: archive.read(info) for info in archive.infolist()}


def differing(one: Path, two: Path) -> set[str]:
    """The names of the parts that are not the same bytes in two files."""
    ours, theirs = entries(one), entries(two)
    return {name for name in ours.keys() | theirs if ours.get(name) != theirs.get(name)}


def made(folder: Path) -> Path:
    """A workbook of another program: items with costs, formulas over them, a second sheet."""
    book = openpyxl.Workbook()
    data = book.worksheets[0]
    data.title = "Data"
    for row in (["Item", "Cost", "Qty"], ["Tea", 4.5, 2], ["Milk", 1.25, 3], ["Bread", 3, 1]):
        data.append(row)
    sums = book.create_sheet("My sums")
    sums["A1"], sums["B1"] = "Total", "=SUM(Data!B2:B4)"
    path = folder / "made.xlsx"
    book.save(path)
    return path


def replaced(path: Path, part: str, data: bytes) -> None:
    """Put other bytes into a part of a file."""
    parts = entries(path) | {part: data}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
