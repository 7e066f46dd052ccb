"""Notes of how tables were read, as the log keeps them beside a call; pure.

A setting is kept as text, and only where something was decided. Whatever a plugin notes becomes
what the log can hold and read again.
"""

from collections.abc import Mapping
from itertools import islice

from kbd.events.base import TableRead
from kbd.formats import ReadingQuestion, TableReading, TouchedRows
from kbd.types import FileName

__all__ = ["MAX_NOTED_CHARACTERS", "MAX_NOTED_COLUMNS", "MAX_NOTED_TABLES", "note_table"]

MAX_NOTED_COLUMNS = 100
"""Columns whose types are kept of one table: a note stands in the log for each call."""

MAX_NOTED_TABLES = 20
"""Tables that are noted of one call; of those behind it is not told whether they are read anew."""

MAX_NOTED_CHARACTERS = 200
"""Characters of a setting, or of a sheet's or a column's name."""

_MAX_PATH_CHARACTERS = 4096
_MAX_ROWS = 2**53


def note_table(
    name: FileName,
    sheet: str | None,
    reading: TableReading,
    columns: Mapping[str, str],
    row_count: int,
) -> TableRead:
    """Return the note of a table that was read.

    Args:
        name: Its file.
        sheet: Its sheet, if one was named.
        reading: How it was read.
        columns: The type of each column.
        row_count: Its rows.
    """
    settings = {
        "encoding": reading.encoding,
        "delimiter": reading.delimiter,
        "quote_char": reading.quote_char,
        "header_row": str(reading.header_row or "none"),
        "decimal": reading.decimal,
        "thousands": reading.thousands,
        "date_order": reading.date_order,
        "left_out": "; ".join(_rows_text(each) for each in reading.left_out),
        "repaired": "; ".join(_rows_text(each) for each in reading.repaired),
        "questions": "; ".join(_question_text(each) for each in reading.questions),
    }
    typed = islice(columns.items(), MAX_NOTED_COLUMNS)
    return TableRead(
        FileName(_clean(name, _MAX_PATH_CHARACTERS)),
        _clean(sheet or ""),
        {setting: _clean(text) for setting, text in settings.items() if text},
        tuple((_clean(column), _clean(kind)) for column, kind in typed),
        max(0, min(int(row_count), _MAX_ROWS)),
    )


def _rows_text(rows: TouchedRows) -> str:
    # The first rows alone: all of them may be thousands.
    places = ", ".join(map(str, rows.rows[:3])) + (" …" if rows.count > 3 else "")
    return f"{rows.what}: {rows.count}" + (f" (row {places})" if places else "")


def _question_text(question: ReadingQuestion) -> str:
    about = ", ".join(question.columns)
    return f"{question.about} of {about}" if about else question.about


def _clean(text: object, limit: int = MAX_NOTED_CHARACTERS) -> str:
    """Return what the log can hold: names come from files and models, types from plugins."""
    return str(text)[:limit].encode("utf-8", "replace").decode()
