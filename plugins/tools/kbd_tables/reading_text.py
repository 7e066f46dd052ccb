"""Text of how a table was read, for answers and reviews: a sentence a fact, none if it is plain."""

from collections.abc import Iterator

from kbd.formats import TableReading, TouchedRows

__all__ = ["reading_sentences"]

_PLAIN = frozenset(("", "ascii", "utf-8", "utf-8-sig"))
"""Encodings that leave no doubt."""

_ORDERS = {
    "dmy": "day, month, year",
    "mdy": "month, day, year",
    "ymd": "year, month, day",
}
_MARKS = {".": "a point", ",": "a comma", " ": "a blank", "'": "an apostrophe"}


def reading_sentences(table: str, reading: TableReading) -> tuple[str, ...]:
    """Return what a person must know of how a table's figures and letters came about.

    Args:
        table: The table's file, with its sheet where it has several.
        reading: How it was read.
    """
    return tuple(f"{table}: {text}" for text in _facts(reading))


def _facts(reading: TableReading) -> Iterator[str]:
    if reading.encoding not in _PLAIN:
        reason = f" ({reading.encoding_reason})" if reading.encoding_reason else ""
        yield f"its text was read as {reading.encoding}{reason}"
    if reading.decimal == "," or reading.thousands:
        parts = []
        if reading.decimal:
            parts.append(f"{_MARKS.get(reading.decimal, reading.decimal)} before decimals")
        if reading.thousands:
            named = _MARKS.get(reading.thousands, repr(reading.thousands))
            parts.append(f"{named} between thousands")
        yield f"its numbers have {' and '.join(parts)}"
    if reading.date_order in _ORDERS and reading.date_order != "ymd":
        yield f"its dates are {_ORDERS[reading.date_order]}"
    yield from (_rows_fact("left out", each) for each in reading.left_out)
    yield from (_rows_fact("changed in reading", each) for each in reading.repaired)


def _rows_fact(done: str, rows: TouchedRows) -> str:
    named = ", ".join(map(str, rows.rows[:3])) + (" …" if rows.count > 3 else "")
    place = f" ({'row' if rows.count == 1 else 'rows'} {named})" if rows.rows else ""
    count = "1 row" if rows.count == 1 else f"{rows.count:,} rows"
    return f"{count} {done}{place}: {rows.what}"
