"""Files that a job wrote, compared with the rows that must stand in them.

Texts are compared without regard to capitals and blanks, for a job writes the spelling that stands
there most often; numbers up to the last places of a binary fraction.
"""

import csv
import io
import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import docx
import openpyxl
import pptx

from jobs.recipes.true_rows import WantedRows

__all__ = ["file_fault", "rows_fault", "sheets_fault"]

_WORDS = ("n/a", "soon")
"""What stands in the place of a value that is not there."""


def file_fault(wanted: WantedRows, data: bytes, dates: Collection[str]) -> str:
    """Return in what a file differs from what must stand in it; "" if in nothing.

    Args:
        wanted: What must stand in it.
        data: Its bytes.
        dates: The forms in which dates of the source may be written, where they stay texts.
    """
    if wanted.is_text:
        whole = _plain(" ".join(_texts(data, wanted.file)))
        lacking = [row[-1] for row in wanted.rows if _plain(row[-1]) not in whole]
        return f"{lacking[0]} is not in it: {whole}" if lacking else ""
    if wanted.file.endswith(".xlsx"):
        lines = _book_lines(data, wanted.sheet)
    else:
        lines = _text_lines(data, len(wanted.names))
    heads = [[_plain(cell) for cell in line if cell not in (None, "")] for line in lines]
    named = [_plain(name) for name in wanted.names]
    if named not in heads:
        return f"the headings {named} are not there, but {lines[:2]}"
    body = [
        line
        for line in lines[heads.index(named) + 1 :]
        if any(cell not in (None, "") for cell in line)
    ]
    return rows_fault(wanted, wanted.names, body, dates)


def sheets_fault(wanted: Sequence[WantedRows], data: bytes) -> str:
    """Return how the sheets of a workbook differ from the wanted ones; "" if in nothing."""
    if not all(each.sheet for each in wanted):
        return ""
    found = {_plain(name) for name in openpyxl.load_workbook(io.BytesIO(data)).sheetnames}
    named = {_plain(_sheet_name(each.sheet)) for each in wanted}
    return "" if found == named else f"sheets {sorted(found)}, expected {sorted(named)}"


def _book_lines(data: bytes, sheet: str) -> list[tuple[Any, ...]]:
    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    if not sheet:
        return list(book.worksheets[0].iter_rows(values_only=True))
    named = {_plain(name): name for name in book.sheetnames}
    found = named.get(_plain(_sheet_name(sheet)))
    return [] if found is None else list(book[found].iter_rows(values_only=True))


def _sheet_name(name: str) -> str:
    """Return a name with what no sheet may be called left out."""
    return re.sub(r"[\[\]:*?/\\]", " ", name)[:31].strip("'")


def _text_lines(data: bytes, count: int) -> list[tuple[Any, ...]]:
    """Return the lines of a text file, by the sign that makes as many columns of the first one."""
    text = data.decode("utf-8-sig")
    read = [list(csv.reader(io.StringIO(text), delimiter=sign)) for sign in ",;\t"]
    lines = next((some for some in read if some and len(some[0]) == count), read[0])
    return [tuple(line) for line in lines]


def rows_fault(
    wanted: WantedRows,
    columns: Sequence[str],
    found: Sequence[Sequence[Any]],
    dates: Collection[str] = (),
) -> str:
    """Return in what rows differ from those that must be there; "" if in nothing."""
    if [_plain(name) for name in wanted.names] != [_plain(name) for name in columns]:
        return f"columns {list(columns)}, expected {list(wanted.names)}"
    if len(wanted.rows) != len(found):
        shown = f"{list(found)[:3]}, {wanted.rows[:3]}"
        return f"{len(found)} rows, expected {len(wanted.rows)}: {shown}"
    mine, theirs = (
        [
            tuple(_comparable(value, kind) for value, kind in zip(row, wanted.types, strict=False))
            for row in rows
        ]
        for rows in (wanted.rows, found)
    )
    if not wanted.is_ordered:
        mine, theirs = sorted(mine, key=_sorting), sorted(theirs, key=_sorting)
    for one, other in zip(mine, theirs, strict=True):
        if not all(_are_alike(a, b, dates) for a, b in zip(one, other, strict=True)):
            return f"{other}, expected {one}"
    return ""


def _comparable(value: Any, kind: str) -> Any:
    """Return a value as it is compared: numbers, days as ISO text, texts without capitals."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float | Decimal):
        return float(value)
    if isinstance(value, str):
        is_number = "INT" in kind or "DECIMAL" in kind or kind == "DOUBLE"
        with suppress(ValueError):
            # A text stays as it was written, with its currency.
            plain = re.sub(r"[€$\s]|EUR", "", value)
            return float(plain.replace(",", ".")) if is_number else _plain(value)
        return value
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time().isoformat() == "00:00:00" else str(value)
    return value.isoformat() if isinstance(value, date) else _plain(value)


def _plain(value: Any) -> str:
    """Return a text as it is compared; what begins like a formula has a quote in a text file."""
    text = " ".join(unicodedata.normalize("NFC", str(value)).casefold().split())
    return text.removeprefix("'") if text.startswith("'=") else text


def _sorting(row: tuple[Any, ...]) -> list[tuple[str, Any]]:
    # Texts first, so that figures that differ in the last place do not part rows from each other.
    texts = [("text", str(each)) for each in row if not isinstance(each, float)]
    return [*texts, *(("number", round(each, 3)) for each in row if isinstance(each, float))]


def _are_alike(one: Any, other: Any, dates: Collection[str]) -> bool:
    """Tell whether a value is the one that SQL gives, or stands as it was written in the source."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)
    if isinstance(one, str) and re.fullmatch(r"\d{5}(\.0)?", str(other)):
        # A date that is written as the number that spreadsheets store.
        return one == (date(1899, 12, 30) + timedelta(float(other))).isoformat()
    return (
        bool(one == other)
        or (
            # A day with the time at which it begins is that day.
            isinstance(other, str) and one == re.sub(r"[t ]00:00:00\Z", "", other)
        )
        or (
            isinstance(other, str)
            and (other in _WORDS if one is None else one in _days(other, dates))
        )
    )


def _days(text: str, forms: Collection[str]) -> Iterator[str]:
    """Yield the days, as ISO text, that a text is in the forms in which it may be written."""
    for form in forms:
        with suppress(ValueError):
            yield datetime.strptime(text, form).date().isoformat()  # noqa: DTZ007 - a day has no zone


def _texts(data: bytes, file: str) -> Iterator[str]:
    """Yield the texts of a document or a deck, a row of a table each as one."""
    if file.endswith(".docx"):
        document = docx.Document(io.BytesIO(data))
        yield from (each.text for each in document.paragraphs)
        return
    for slide in pptx.Presentation(io.BytesIO(data)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
