"""Text of how a table was read, for answers and reviews: a sentence a fact, none if it is plain."""

from collections.abc import Iterator, Sequence

import msgspec

from kbd.formats import ReadingQuestion, TableReading, TouchedRows

__all__ = ["AmountCurrencies", "ColumnNote", "how_to_answer", "reading_sentences"]

_PLAIN = frozenset(("", "ascii", "utf-8", "utf-8-sig"))
"""Encodings that leave no doubt."""

_ORDERS = {
    "dmy": "day, month, year",
    "mdy": "month, day, year",
    "ymd": "year, month, day",
}
_MARKS = {".": "a point", ",": "a comma", " ": "a blank", "'": "an apostrophe"}


class AmountCurrencies(msgspec.Struct, frozen=True):
    """Amounts of several currencies.

    Args:
        column: The column that names the currency of each row.
        values: The first of them.
        amounts: The columns of numbers that may be amounts.
    """

    column: str
    values: tuple[str, ...]
    amounts: tuple[str, ...]


class ColumnNote(msgspec.Struct, frozen=True):
    """What a reader of a column must know.

    Args:
        text: It, without the column's name.
        is_told: Whether a person must know it who gets figures or values of the column.
    """

    text: str
    is_told: bool = False


def reading_sentences(table: str, reading: TableReading) -> tuple[str, ...]:
    """Return what a person must know of how a table's figures and letters came about.

    Args:
        table: The table's file, with its sheet where it has several.
        reading: How it was read.
    """
    return tuple(f"{table}: {text}" for text in _facts(reading))


def how_to_answer(questions: Sequence[ReadingQuestion]) -> tuple[str, ...]:
    """Return how the open questions of a table are answered, in one sentence; none without any."""
    answers = {
        question.about: f'"{question.about}": '
        + " or ".join(f'"{option.value}"' for option in question.options)
        for question in questions
    }
    if not answers:
        return ()
    # Letters are no figures; what only they leave open keeps its types.
    waits = any(about != "encoding" for about in answers)
    until = "; until then there are no figures of what is asked about" if waits else ""
    return (f"To answer, say read_as {{{', '.join(answers.values())}}}{until}.",)


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
    named = ", ".join(map(str, rows.rows[:3]))
    if (more := rows.count - len(rows.rows[:3])) > 0 and rows.rows:
        named += f" and {more:,} more"
    sample = f": {' '.join(rows.sample.split())}" if rows.sample else ""
    place = f" ({'row' if rows.count == 1 else 'rows'} {named}{sample})" if rows.rows else ""
    count = "1 row" if rows.count == 1 else f"{rows.count:,} rows"
    return f"{count} {done}{place}: {rows.what}"
