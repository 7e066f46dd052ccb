"""The works on workbooks that benchmarks/xlsx.py measures, each in a process of its own.

`python -m benchmarks._xlsx_works WORK PATH` does a work on a workbook and prints, as JSON, what it
cost. Modules are loaded before, as kbd's workers load them once for all calls.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Union

import formualizer
import ironcalc
import msgspec
import openpyxl
from openpyxl.styles import Border, Font, PatternFill, Side
from python_calamine import CalamineWorkbook

from benchmarks._child import Run, Work, answer
from benchmarks._workbooks import HEADERS, rows
from kbd.formats import Calculation, Region, Source
from kbd_xlsx import XlsxFormat

MADE_ROWS = 5_000
FIRST_ROWS = 50
STYLE: Mapping[str, Any] = MappingProxyType({
    "font_name": "Calibri", "font_size": 12, "font_bold": True, "fill_color": "#FFEECC",
    "number_format": "0.00", "border_top": {"style": "thin", "color": "#808080"},
})  # fmt: skip


def block() -> list[list[Any]]:
    """Return the values of a new sheet."""
    return [list(HEADERS), *rows(MADE_ROWS - 1)]


def kbd_map(path: Path, folder: Path) -> Run:
    """Map a workbook that was never looked into."""
    return lambda: XlsxFormat().map(Source(path, path.name, folder / "shelf"))


def kbd_read(path: Path, folder: Path) -> Run:
    """Read rows of a workbook that was looked into before."""
    source, region = Source(path, path.name, folder / "shelf"), Region(range=f"A1:J{FIRST_ROWS}")
    XlsxFormat().read(source, region)
    return lambda: XlsxFormat().read(source, region)


def kbd_set(*cells: str) -> Work:
    """Set cells."""
    wanted = [{"cell": cell, "value": "edited"} for cell in cells]

    def made(path: Path, folder: Path) -> Run:
        operations = _operations({"op": "set_cells", "sheet": "Data", "cells": wanted})
        source = Source(path, path.name)
        return lambda: XlsxFormat().apply(source, operations, folder / "edited.xlsx")

    return made


def kbd_insert(path: Path, folder: Path) -> Run:
    """Put a row in above all others but the header; formulas and what names cells follow."""
    operations = _operations({"op": "insert_rows", "sheet": "Data", "row": 2})
    source = Source(path, path.name)
    return lambda: XlsxFormat().apply(source, operations, folder / "edited.xlsx")


def kbd_calculate(path: Path, folder: Path) -> Run:
    """Work out all formulas of a workbook, whatever results it has, and store theirs."""
    source, wanted = Source(path, path.name), Calculation(0, (("Data", ""),))
    return lambda: XlsxFormat().calculate(source, wanted, folder / "calculated.xlsx")


def formualizer_calculate(path: Path, _: Path) -> Run:
    """Load a workbook and calculate it: the one engine with nothing around it."""
    return lambda: formualizer.Workbook.from_path(str(path)).evaluate_all()


def ironcalc_calculate(path: Path, _: Path) -> Run:
    """Load a workbook and calculate it: the other engine."""
    return lambda: ironcalc.load_from_xlsx(str(path), "en", "UTC").evaluate()


def kbd_plain(_: Path, folder: Path) -> Run:
    """Make a workbook of plain values."""
    return _created(folder, {"values": block()})


def kbd_styled(_: Path, folder: Path) -> Run:
    """Make a workbook with one style for all cells."""
    return _created(folder, {"values": block(), "style": dict(STYLE)})


def kbd_each_styled(_: Path, folder: Path) -> Run:
    """Make a workbook in which each cell brings its style."""
    values = [[{"value": value, "style": dict(STYLE)} for value in row] for row in block()]
    return _created(folder, {"values": values})


def peer_map(path: Path, _: Path) -> Run:
    """Load a workbook, and look how far it reaches."""
    return lambda: openpyxl.load_workbook(path).worksheets[0].dimensions


def peer_read(path: Path, _: Path) -> Run:
    """Load a workbook, and take rows."""
    return lambda: list(openpyxl.load_workbook(path).worksheets[0].iter_rows(max_row=FIRST_ROWS))


def peer_values(path: Path, _: Path) -> Run:
    """Load a workbook, and take all values."""
    return lambda: list(openpyxl.load_workbook(path).worksheets[0].values)


def calamine_values(path: Path, _: Path) -> Run:
    """Take all values with nothing around it: what kbd reads values with."""
    return lambda: CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()


def peer_set(*cells: str) -> Work:
    """Load a workbook, set cells and save it."""

    def made(path: Path, folder: Path) -> Run:
        def run() -> None:
            book = openpyxl.load_workbook(path)
            for cell in cells:
                book.worksheets[0][cell] = "edited"
            book.save(folder / "edited.xlsx")

        return run

    return made


def peer_insert(path: Path, folder: Path) -> Run:
    """Put a row in; openpyxl moves the cells, but no formula and nothing that names them."""

    def run() -> None:
        book = openpyxl.load_workbook(path)
        book.worksheets[0].insert_rows(2)
        book.save(folder / "edited.xlsx")

    return run


def peer_plain(_: Path, folder: Path) -> Run:
    """Make a workbook of plain values."""
    values = block()

    def run() -> None:
        book = openpyxl.Workbook()
        for row in values:
            book.worksheets[0].append(row)
        book.save(folder / "new.xlsx")

    return run


def peer_styled(_: Path, folder: Path) -> Run:
    """Make a workbook in which each cell is given its style."""
    values = block()
    font, fill = Font("Calibri", 12, b=True), PatternFill("solid", "FFEECC")
    border = Border(top=Side("thin", "808080"))

    def run() -> None:
        book = openpyxl.Workbook()
        sheet = book.worksheets[0]
        for number, row in enumerate(values, 1):
            for column, value in enumerate(row, 1):
                cell = sheet.cell(number, column, value)
                cell.font, cell.fill, cell.border = font, fill, border
                cell.number_format = "0.00"
        book.save(folder / "new.xlsx")

    return run


WORKS: Mapping[str, Work] = MappingProxyType({
    "kbd map": kbd_map, "kbd read": kbd_read, "kbd set 1": kbd_set("C3000"),
    "kbd set 2": kbd_set("C3000", "D3001"), "kbd plain": kbd_plain, "kbd styled": kbd_styled,
    "kbd each styled": kbd_each_styled, "kbd insert row": kbd_insert,
    "kbd calculate": kbd_calculate, "formualizer calculate": formualizer_calculate,
    "ironcalc calculate": ironcalc_calculate,
    "openpyxl map": peer_map, "openpyxl read": peer_read, "openpyxl values": peer_values,
    "calamine values": calamine_values,
    "openpyxl insert row": peer_insert,
    "openpyxl set 1": peer_set("C3000"), "openpyxl set 2": peer_set("C3000", "D3001"),
    "openpyxl plain": peer_plain, "openpyxl styled": peer_styled,
})  # fmt: skip


def _created(folder: Path, more: Mapping[str, Any]) -> Run:
    operations = _operations({"op": "set_range", "sheet": "Data", "start": "A1", **more})
    return lambda: XlsxFormat().apply(None, operations, folder / "new.xlsx")


def _operations(wanted: Mapping[str, Any]) -> tuple[msgspec.Struct, ...]:
    # The union is made at run time, of what the format declares.
    return (msgspec.convert(wanted, Union[XlsxFormat.operations]),)  # noqa: UP007


if __name__ == "__main__":
    answer(WORKS, XlsxFormat.preload)
