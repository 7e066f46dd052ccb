"""Which formulas of a sheet sum up rows of its table: each in its own column, above or below."""

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.formats import AggregateRow, ReadAs, Source
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
ITEMS: list[list[Any]] = [["Item", "Amount"], ["a", 10], ["b", 20], ["c", 5]]


def aggregates(
    folder: Path, rows: list[list[Any]], title: str = "Data"
) -> tuple[AggregateRow, ...]:
    """Write a workbook of a sheet and return what its table's formulas sum up."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet(title, 0)
    for row in rows:
        sheet.append(row)
    del book["Sheet"]
    book.save(folder / "a.xlsx")
    source = Source(folder / "a.xlsx", "a.xlsx")
    return FORMAT.read_table(source, None, ReadAs(), folder / "plain").aggregates


SUMMED: dict[str, tuple[str, str]] = {
    "a sum": ("=SUM(B2:B4)", "sum"),
    "fixed ends": ("=sum( $B$2:$B$4 )", "sum"),
    "with its header": ("=SUM(B1:B4)", "sum"),
    "parts": ("=SUM(B2:B3,B4)", "sum"),
    "sums added up": ("=SUM(B2:B3)+SUM(B4:B4)", "sum"),
    "rounded": ("=ROUND(SUM(B2:B4),2)", "sum"),
    "guarded": ('=IFERROR(AVERAGE(B2:B4),"")', "average"),
    "its own sheet": ("=SUM(Data!B2:B4)", "sum"),
    "a subtotal": ("=SUBTOTAL(9,B2:B4)", "sum"),
    "what is seen alone": ("=SUBTOTAL(109,B2:B4)", "sum"),
    "a row of totals": ("=SUBTOTAL(109,Sales[Amount])", "sum"),
    "a count": ("=COUNTA(B2:B4)", "count"),
    "a subtotal that counts": ("=SUBTOTAL(103,B2:B4)", "count"),
    "a least value": ("=MIN(B2:B4)", "minimum"),
    "an aggregate": ("=_xlfn.AGGREGATE(14,6,B2:B4)", ""),
    "an aggregate that adds up": ("=_xlfn.AGGREGATE(9,6,B2:B4)", "sum"),
    "its row": ("=SUM(C2:D2)", ""),
    "another column": ("=SUM(C2:C4)", ""),
    "two columns": ("=SUM(B2:C4)", ""),
    "another sheet": ("=SUM(Other!B2:B4)", ""),
    "another table's column": ("=SUM(Sales[Amount])", ""),
    "a column of another name": ("=SUBTOTAL(109,Sales[Price])", ""),
    "single cells": ("=B2+B4", ""),
    "the last cells": ("=B3+B4", ""),
    "a cell twice": ("=B2+B3+B4+B4", ""),
    "all cells": ("=B2+B3+B4", "sum"),
    "all cells, fixed": ("=+$B$2 + B$3+B4", "sum"),
    "all cells, listed": ("=SUM(B2,B3,B4)", "sum"),
    "all cells, in part a range": ("=SUM(B2:B3)+B4", "sum"),
    "a single cell": ("=B4", ""),
    "a difference": ("=SUM(B2:B3)-B4", ""),
    "half of it": ("=SUM(B2:B4)/2", ""),
    "the next number": ("=MAX(B2:B4)+1", ""),
    "a condition": ('=SUMIF(B2:B4,">5")', ""),
    "cells beside the table": ("=SUM(B20:B30)", ""),
    "a text": ('="SUM(B2:B4)"', ""),
}
"""Formulas below three amounts, and what they make of them; "" for what is no such sum."""


@pytest.mark.sampled(9)
@pytest.mark.parametrize("case", SUMMED)
def test_a_function_over_its_own_column_sums_rows_up(tmp_path: Path, case: str) -> None:
    """A range of the column tells, however it is written; other cells and arithmetic do not."""
    formula, kind = SUMMED[case]
    found = aggregates(tmp_path, [*ITEMS, ["Ens.", formula]])
    assert [(each.row, each.kind) for each in found] == ([(3, kind)] if kind else [])
    assert all((each.side, each.columns) == ("above", (1,)) for each in found)


def test_sums_tell_where_their_rows_are(tmp_path: Path) -> None:
    """Above or below, by the places of the rows that are not blank, with other formulas beside."""
    above = aggregates(
        tmp_path,
        [["Item", "Qty", "Amount"], ["a", 1, 10], [None], ["b", 2, 20],
         ["x", "=SUM(B2:B4)", "=B5*10"], ["c", 3, 30], ["y", "=SUM(B6:B6)", None],
         ["z", "=B5+B7", None]],
    )  # fmt: skip
    assert above == (
        AggregateRow(2, "sum", "above", (1,), (1, 2), ((0, 1),)),
        AggregateRow(4, "sum", "above", (1,), (1,), ((3, 3),)),
        AggregateRow(5, "sum", "above", (1,), (1,), ((0, 1), (3, 3))),
    )
    below = aggregates(tmp_path, [ITEMS[0], ["Food", "=SUM(B3:B4)"], *ITEMS[1:3], ["Car", 4]])
    assert below == (AggregateRow(0, "sum", "below", (1,), (1,), ((1, 2),)),)


def test_cells_that_are_added_up_are_those_since_the_last_sum(tmp_path: Path) -> None:
    """Such sums may be added up again, with the rows between; blank cells do not count."""
    rows: list[list[Any]] = [
        ["Item", "Amount"], ["Food", None], ["a", 10], ["b", 20], ["x", "=B3+B4"], ["c", 4],
        ["d", 5], ["y", "=B6+B7"], ["z", "=B5+B8"], ["Tax", -1], ["Net", "=B9+B10"], ["e", 7],
    ]  # fmt: skip
    found = aggregates(tmp_path, rows)

    assert [(each.row, each.kind, each.ranges) for each in found] == [
        (3, "sum", ((1, 1), (2, 2))),
        (6, "sum", ((4, 4), (5, 5))),
        (7, "sum", ((1, 1), (2, 2), (4, 4), (5, 5))),
        (9, "sum", ((1, 1), (2, 2), (4, 4), (5, 5), (8, 8))),
    ]
    assert {each.side for each in found} == {"above"}


PLAIN: dict[str, list[list[Any]]] = {
    "sums of rows": [["Item", "Q1", "Q2", "Year"],
                     *([f"i{n}", n, n, f"=SUM(B{n}:C{n})"] for n in range(2, 6))],
    "a running balance": [["Day", "Move", "Balance"], ["d1", 5, 5],
                          *([f"d{n}", 5, f"=C{n - 1}+B{n}"] for n in range(3, 7))],
    "running sums": [["Day", "Move", "So far"],
                     *([f"d{n}", 5, f"=SUM($B$2:B{n})"] for n in range(2, 7))],
    "most rows": [["Day", "Move"], ["d1", 5],
                  *([f"d{n}", f"=SUM($B$2:B{n - 1})"] for n in range(3, 8))],
    "a series": [["Month", "Units"], ["m2", 1], ["m3", 2],
                 *([f"m{n}", f"=B{n - 2}+B{n - 1}"] for n in range(4, 7)),
                 *([f"m{n}", n] for n in range(7, 11))],
    "a moving average": [["Month", "Units"], *([f"m{n}", n] for n in range(2, 8)),
                         *([f"m{n}", f"=AVERAGE(B{n - 6}:B{n - 1})"] for n in range(8, 11))],
}  # fmt: skip


@pytest.mark.parametrize("case", PLAIN)
def test_what_stands_in_most_rows_is_data(tmp_path: Path, case: str) -> None:
    """Sums of a row, running ones and moving averages are values like others."""
    assert aggregates(tmp_path, PLAIN[case]) == ()


def test_a_formula_that_cells_share_is_each_cells_own(tmp_path: Path) -> None:
    """One that is filled to the right sums up the column that it stands in."""
    rows: list[list[Any]] = [["Item", "Qty", "Amount"], ["a", 1, 10], ["b", 2, 20]]
    aggregates(tmp_path, [*rows, ["c", 3, 30], ["x", "=SUM(B2:B4)", "=SUM(B9:B9)"]])
    path, changed = tmp_path / "a.xlsx", tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(changed, "w") as target:
        for name in book.namelist():
            part = book.read(name).replace(
                b"<f>SUM(B2:B4)</f>", b'<f t="shared" ref="B5:C5" si="0">SUM(B2:B4)</f>'
            )
            target.writestr(name, part.replace(b"<f>SUM(B9:B9)</f>", b'<f t="shared" si="0"/>'))
    source = Source(changed, "b.xlsx")
    found = FORMAT.read_table(source, None, ReadAs(), tmp_path / "plain").aggregates
    assert found == (AggregateRow(3, "sum", "above", (1, 2), (1, 2), ((0, 2),)),)
