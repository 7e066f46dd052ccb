"""Currencies that number formats of a workbook show: amounts of several have no sum."""

from pathlib import Path

import openpyxl
import pytest

from kbd.formats import ReadAs, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.reader.cell_currencies import format_currency

FORMAT = XlsxFormat()
EURO, DOLLAR = '#,##0.00 "€"', "[$$-409]#,##0.00"


def warnings(folder: Path, *formats: str, header: str = "General") -> tuple[str, ...]:
    """Write a workbook with an amount in each of some number formats, and return what is told."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["Item", "Amount"])
    sheet["B1"].number_format = header
    for row, code in enumerate(formats, 2):
        sheet.append([f"item {row}", row])
        sheet.cell(row, 2).number_format = code
    book.save(folder / "a.xlsx")
    source = Source(folder / "a.xlsx", "a.xlsx")
    return FORMAT.read_table(source, None, ReadAs(), folder / "plain").warnings


def test_amounts_in_several_currencies_are_told(tmp_path: Path) -> None:
    """What the cells show tells that their sum is none, though all are plain numbers."""
    assert warnings(tmp_path, EURO, DOLLAR, EURO) == (
        "Column B has amounts in several currencies (EUR, USD): a sum of them is none.",
    )


@pytest.mark.parametrize(
    ("formats", "header"),
    [
        ((EURO, "[$€-407] #,##0", "#,##0 [$EUR]"), "General"),
        ((EURO, "0.00", "General"), "General"),
        ((EURO, EURO), DOLLAR),
        (('0 "kg"', '0 "PCS"'), "General"),
    ],
)
def test_amounts_in_one_currency_are_no_news(
    tmp_path: Path, formats: tuple[str, ...], header: str
) -> None:
    """However it is written; units, plain cells and the header do not count."""
    assert warnings(tmp_path, *formats, header=header) == ()


@pytest.mark.parametrize(
    ("code", "currency"),
    [
        ('_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-', "EUR"), ("[$CHF-807] #,##0", "CHF"),
        ("$#,##0.00;[Red]-$#,##0.00", "USD"), ("\\£0.00", "GBP"), ("[$-407]d. mmmm", ""),
        ('0 "kg"', ""), ("General", ""), ('0;"EUR"', ""), ("", ""), ("#,##0.00 [$zł-415]", "PLN"),
    ],
)  # fmt: skip
def test_a_number_format_shows_a_currency(code: str, currency: str) -> None:
    """By its sign or its code, in brackets, quotes or bare; a language alone is none."""
    assert format_currency(code) == currency
