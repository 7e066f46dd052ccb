"""Texts about totals of a table: what is left out, what stands below a total, what has to be asked.

The figures of an answer are those of the table that it makes.
"""

from collections.abc import Sequence
from typing import Any, Literal

import duckdb
import msgspec

from kbd.formats import ColumnType, ReadingOption, ReadingQuestion, TableReading, TouchedRows
from kbd_tables.clock_times import clock_text
from kbd_tables.duck import json_value, parquet_rows
from kbd_tables.evidence import figure
from kbd_tables.total_rows import Judged, TotalCandidate, TotalsColumn

__all__ = [
    "Clock",
    "SummedColumn",
    "counted_note",
    "left_out_note",
    "totals_question",
    "touched",
]

Clock = Literal["", "time", "duration"]
"""What a column of seconds holds: times that may be of day or not, or durations for sure."""

_MAX_SHOWN = 10
_MAX_SAMPLES = 3
_SHOWN_CHARACTERS = 80
_REMARK = "remark below the last total"
_KEEPS = {_REMARK: "leave_out_proven"}
"""What keeps rows that are left out, where "keep" keeps the totals as well."""


class SummedColumn(msgspec.Struct, frozen=True):
    """A column of a table that is loaded.

    Args:
        name: Its name.
        type: Its reported type.
        sql_type: The SQL type that holds it.
        value: The SQL of its typed value, of the untyped column c0, c1, ...
        clock: What it holds where its values are the seconds of texts such as 7:30.
        is_percent: Whether its values were written with percent signs.
    """

    name: str
    type: ColumnType
    sql_type: str
    value: str
    clock: Clock = ""
    is_percent: bool = False

    @property
    def for_totals(self) -> TotalsColumn:
        """The column as rows are judged by it."""
        is_time = self.clock == "time"
        return TotalsColumn(self.name, self.type == "integer", is_time, self.is_percent)

    @property
    def is_additive(self) -> bool:
        """Whether sums of it make sense."""
        return self.for_totals.is_additive

    def shown(self, value: Any) -> str:
        """Return a value, or a sum, as it is shown in one line."""
        return clock_text(int(value)) if self.clock else str(json_value(value))


_WHAT = {
    ("sum", "above"): "total of the rows above",
    ("sum", "below"): "total of the rows below",
    ("sum", "unsure"): "total, as was said",
    ("carried", "above"): "sum carried forward",
    ("carried", "below"): "sum carried forward",
    ("carried", "unsure"): "sum carried forward, as was said",
    ("average", "above"): "average of the rows above",
    ("average", "below"): "average of the rows below",
    ("average", "unsure"): "average, as was said",
    ("minimum", "above"): "minimum of the rows above",
    ("minimum", "below"): "minimum of the rows below",
    ("minimum", "unsure"): "minimum, as was said",
    ("maximum", "above"): "maximum of the rows above",
    ("maximum", "below"): "maximum of the rows below",
    ("maximum", "unsure"): "maximum, as was said",
    ("count", "above"): "count of the rows above",
    ("count", "below"): "count of the rows below",
    ("count", "unsure"): "count, as was said",
    ("median", "above"): "median of the rows above",
    ("median", "unsure"): "median, as was said",
    ("deviation", "above"): "standard deviation of the rows above",
    ("deviation", "unsure"): "standard deviation, as was said",
    ("variance", "above"): "variance of the rows above",
    ("variance", "unsure"): "variance, as was said",
}
"""What a row is that is left out, by its label and its figures."""
_BELOW = {"remark": _REMARK, "doubtful": "row below the last total, as was said"}
"""What one is that stands below a total."""


def _what(judged: Judged) -> str:
    kind = judged.candidate.label.kind if judged.candidate.label else "sum"
    return _BELOW.get(judged.verdict) or _WHAT[kind, judged.verdict]


def touched(
    out: Sequence[Judged], reading: TableReading, columns: Sequence[SummedColumn]
) -> list[TouchedRows]:
    """Return the rows that are left out, by what they are."""
    by_what: dict[str, list[TotalCandidate]] = {}
    for each in out:
        by_what.setdefault(_what(each), []).append(each.candidate)
    return [
        TouchedRows(
            what,
            len(found),
            tuple(_file_row(each.row, reading) for each in found[:_MAX_SHOWN]),
            "; ".join(_sample(each, columns)[:_SHOWN_CHARACTERS] for each in found[:_MAX_SAMPLES]),
        )
        for what, found in by_what.items()
    ]


def _file_row(row: int, reading: TableReading) -> int:
    """Return the number in the file of a row of the table, rows left out before it counted."""
    number = reading.header_row + 1 + row
    for gone in sorted(n for each in reading.left_out for n in each.rows):
        number += reading.header_row < gone <= number
    return number


def _numbers(columns: Sequence[SummedColumn]) -> list[SummedColumn]:
    """Return the columns of figures, those of candidates among them and in their order."""
    return [each for each in columns if each.type in ("integer", "float")]


def _sample(candidate: TotalCandidate, columns: Sequence[SummedColumn]) -> str:
    # Of very many columns of figures a candidate has the first ones.
    pairs = zip(_numbers(columns), candidate.figures, strict=False)
    figures = (column.shown(figure) for column, figure in pairs if figure is not None)
    return " | ".join([candidate.text or "(no label)", *figures])


def left_out_note(rows: TouchedRows) -> str:
    """Return a warning about rows that are left out, with what keeps them."""
    more = " …" if rows.count > len(rows.rows) else ""
    shown = f"{rows.sample}; …" if rows.count > _MAX_SAMPLES else rows.sample
    named = ", ".join(map(str, rows.rows))
    numbered = "row" if rows.count == 1 else "rows"
    which = "1 row is" if rows.count == 1 else f"{rows.count:,} rows are"
    keeps = _KEEPS.get(rows.what, "keep")
    return (
        f"{which} left out ({rows.what}): {numbered} {named}{more} ({shown}); "
        f'read_as {{"totals": "{keeps}"}} keeps such rows'
    )


def counted_note(
    counted: Sequence[Judged], reading: TableReading, columns: Sequence[SummedColumn]
) -> str:
    """Return a warning about rows below the last total that are filled as those above it are."""
    rows = ", ".join(str(_file_row(each.candidate.row, reading)) for each in counted[:_MAX_SHOWN])
    more = " …" if len(counted) > _MAX_SHOWN else ""
    one = len(counted) == 1
    which = "1 row stands" if one else f"{len(counted):,} rows stand"
    return (
        f"{which} below the last total and {'is' if one else 'are'} counted, for "
        f"{'it is' if one else 'they are'} filled as those above: {'row' if one else 'rows'} "
        f"{rows}{more} ({_sample(counted[0].candidate, columns)[:_SHOWN_CHARACTERS]})"
    )


def totals_question(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    unsure: Sequence[Judged],
    out: Sequence[Judged],
    reading: TableReading,
) -> ReadingQuestion:
    """Return the question about rows that may be totals, with what each answer means.

    Args:
        connection: A database.
        raw: The untyped table, without the rows that are left out.
        columns: Its columns.
        unsure: The rows that are asked about.
        out: Those that are left out without a question.
        reading: How the format read the table, which counted the rows.
    """
    numbers = _numbers(columns)
    theirs = unsure[0].candidate.figures
    filled = [n for n, figure in enumerate(theirs) if figure is not None]
    added = [n for n in filled if numbers[n].is_additive]
    place = (added or filled)[0]
    first = numbers[place]
    row = connection.execute(
        f"SELECT sum({first.value}), count(*) FROM {parquet_rows(raw)}"
    ).fetchone()
    assert row is not None, "an aggregate has one row"
    total, count = row[0] or 0, int(row[1])

    def meaning(added: Sequence[Judged], taken: Sequence[Judged] = ()) -> str:
        # The sum is in it, so they are of one type.
        plus: Any = sum(each.candidate.figures[place] or 0 for each in added)
        minus: Any = sum(each.candidate.figures[place] or 0 for each in taken)
        rows = count + len(added) - len(taken)
        came = total + plus - minus
        shown = first.shown(came) if first.clock else figure(came)
        return f"{first.name} adds up to {shown} in {rows:,} rows"

    options = [ReadingOption("leave_out", meaning((), unsure))]
    if out:
        remarks = [each for each in out if each.verdict == "remark"]
        options.append(ReadingOption("leave_out_proven", meaning(remarks)))
    options.append(ReadingOption("keep", meaning(out)))
    names = tuple(column.name for column in numbers)
    return ReadingQuestion("totals", names, _asked(unsure, reading, columns), tuple(options))


def _asked(unsure: Sequence[Judged], reading: TableReading, columns: Sequence[SummedColumn]) -> str:
    """Return what is asked about rows."""
    shown = ", ".join(str(_file_row(each.candidate.row, reading)) for each in unsure[:_MAX_SHOWN])
    first = _sample(unsure[0].candidate, columns)[:_SHOWN_CHARACTERS]
    below = [each for each in unsure if each.verdict == "doubtful"]
    one = len(unsure) == 1
    if not below:
        doubt = "may sum others up"
    elif len(below) == len(unsure):
        stands = "stands" if one else "stand"
        doubt = f"{stands} below the last total, and may remark on it or be rows like others"
        doubt = doubt.replace("rows like others", "a row like others") if one else doubt
    else:
        doubt = "may sum others up, or stand below the last total"
    if one:
        return f"Row {shown} ({first}) {doubt}: leave it out, or keep it?"
    more = " …" if len(unsure) > _MAX_SHOWN else ""
    return (
        f"{len(unsure):,} rows {doubt}: leave them out, or keep them?"
        f" (rows {shown}{more}; the first: {first})"
    )
