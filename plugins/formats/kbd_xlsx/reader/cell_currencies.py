"""Currencies of cells, as their number formats say: amounts in euros and dollars have no sum."""

import re
from collections.abc import Mapping, Sequence

from kbd.sheets.areas import Area
from kbd_xlsx.reader.cell_looks import WorkbookLooks
from kbd_xlsx.reader.unseen import UnseenRun

__all__ = ["format_currencies", "format_currency", "seen_currencies"]

_PART = re.compile(r"\[\$([^\]-]+)(?:-[0-9A-Fa-f]+)?\]|\"([^\"]*)\"|\\(.)|([€$£¥₹₽₩₺₴])")
_LANGUAGE = re.compile(r"\[\$-[^\]]*\]")
_SIGNS = {
    "€": "EUR", "Euro": "EUR", "£": "GBP", "$": "USD", "US$": "USD", "¥": "JPY", "₹": "INR",
    "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH", "zł": "PLN", "Kč": "CZK", "Ft": "HUF",
}  # fmt: skip
"""Signs with the code of the currency that they stand for most."""
_CODES = frozenset(
    (
        *_SIGNS.values(), "CHF", "CNY", "SEK", "NOK", "DKK", "ISK", "RON", "BGN", "CAD", "AUD",
        "NZD", "HKD", "SGD", "BRL", "MXN", "ZAR", "ILS", "THB", "AED", "SAR", "RSD",
    )
)  # fmt: skip


def format_currency(code: str) -> str:
    """Return the code of the currency that a number format shows, "" for none that is known."""
    for bracketed, quoted, escaped, sign in _PART.findall(
        _LANGUAGE.sub("", code.partition(";")[0])
    ):
        text = (bracketed or quoted or escaped or sign).strip()
        found: str = _SIGNS.get(text, text)
        if found in _CODES:
            return found
    return ""


def format_currencies(looks: WorkbookLooks) -> tuple[dict[int, int], tuple[str, ...]]:
    """Return the cell formats with a currency, each with its place among them, and the currencies.

    Where a workbook has formats of one currency alone, there is nothing to find.
    """
    found = [format_currency(look.code) for look in looks.looks]
    named = tuple(sorted({code for code in found if code}))
    if len(named) < 2:
        return {}, ()
    formats = enumerate(found[place] for place in looks.of_format)
    return {number: named.index(code) for number, code in formats if code}, named


def seen_currencies(
    runs: Sequence[UnseenRun], named: Sequence[str], area: Area
) -> Mapping[int, list[str]]:
    """Return the currencies of the cells of an area, by their columns."""
    found: dict[int, set[str]] = {}
    for run in runs:
        if run.look < 0 or run.bottom < area.top or run.top > area.bottom:
            continue
        for column in run.in_row(area.left, area.right):
            found.setdefault(column, set()).add(named[run.look])
    return {column: sorted(codes) for column, codes in sorted(found.items())}
