"""Raw values of the tables: money, dates and names as people's files have them."""

import csv
import io
import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from openpyxl import Workbook

__all__ = ["day", "deu", "dmy", "euro", "messy", "people", "usd", "write_table"]

Row = Sequence[Any]


def usd(value: float) -> str:
    """Return money as `$1,234.50`, `-$20.00` where it is less than none."""
    return f"{'-' if value < 0 else ''}${abs(value):,.2f}"


def deu(value: float, places: int = 2) -> str:
    """Return a number as German files have it: `1.234,50`."""
    return f"{value:,.{places}f}".translate(str.maketrans(",.", ".,"))


def euro(value: float) -> str:
    """Return money as `1.234,50 €`."""
    return f"{deu(value)} €"


def dmy(value: date) -> str:
    """Return a day as `05.03.2024`."""
    return value.strftime("%d.%m.%Y")


def day(rng: Random, first: str, days: int) -> date:
    """Return one of the days from the first one on."""
    return date.fromisoformat(first) + timedelta(days=rng.randrange(days))


def people(rng: Random, firsts: Sequence[str], lasts: Sequence[str], count: int) -> list[str]:
    """Return so many different names."""
    return rng.sample([f"{first} {last}" for first in firsts for last in lasts], count)


def messy(rng: Random, text: str) -> str:
    """Return a text as it is, or, one time in eight, with blanks around it or other capitals."""
    match rng.randrange(24):
        case 0:
            return f" {text}"
        case 1:
            return f"{text} "
        case 2:
            return text.upper() if rng.random() < 0.5 else text.lower()
        case _:
            return text


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date | datetime) else value


def write_table(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a table as its suffix says; `.csv` of German headings with semicolons."""
    match path.suffix:
        case ".xlsx":
            book = Workbook()
            book.properties.created = book.properties.modified = datetime(2025, 1, 2, 8, 0)
            sheet = book.worksheets[0]
            sheet.title = "Data"
            for row in (columns, *rows):
                sheet.append(list(row))
            book.save(path)
        case ".json":
            listed = [dict(zip(columns, map(_plain, row), strict=True)) for row in rows]
            path.write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n")
        case ".jsonl":
            lines = [
                json.dumps(dict(zip(columns, map(_plain, row), strict=True)), ensure_ascii=False)
                for row in rows
            ]
            path.write_text("\n".join(lines) + "\n")
        case suffix:
            text = io.StringIO()
            comma = "\t" if suffix == ".tsv" else ";" if _is_german(rows) else ","
            writer = csv.writer(text, delimiter=comma, lineterminator="\n")
            writer.writerows([columns, *([_plain(value) for value in row] for row in rows)])
            path.write_text(text.getvalue())


def _is_german(rows: Sequence[Row]) -> bool:
    """Whether some number has a decimal comma, or a date is written d.m.Y."""
    texts = [value for row in rows[:5] for value in row if isinstance(value, str)]
    return any("," in text or text.count(".") == 2 for text in texts if text[:1].isdigit())
