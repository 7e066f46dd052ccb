"""Functions of expressions as SQL of DuckDB."""

from collections.abc import Sequence
from datetime import date

from kbd.jobs.columns import ShapeType
from kbd.jobs.sql_text import fold_sql, text_of, trimmed_sql

__all__ = ["call_sql"]

_TEMPLATES = {
    "if": "(CASE WHEN {0} THEN {1} ELSE {2} END)",
    "coalesce": "coalesce({all})",
    "min_of": "least({all})",
    "max_of": "greatest({all})",
    "year": "year({0})",
    "quarter": "quarter({0})",
    "month": "month({0})",
    "week": "week({0})",
    "day": "day({0})",
    "weekday": "isodow({0})",
    "hour": "hour(CAST({0} AS TIMESTAMP))",
    "month_of": "strftime({0}, '%Y-%m')",
    # Year first: in the order of text it is the order of time.
    "quarter_of": "(strftime({0}, '%Y-Q') || quarter({0}))",
    "week_of": "strftime({0}, '%G-W%V')",
    "month_name": "monthname({0})",
    "weekday_name": "dayname({0})",
    # So many months on, the year is the one in which the fiscal year ends.
    "fiscal_year": "year({0} + to_months(CAST((13 - {1}) % 12 AS INTEGER)))",
    "start_of_month": "CAST(date_trunc('month', {0}) AS DATE)",
    "end_of_month": "last_day({0})",
    "add_days": "CAST({0} + to_days(CAST({1} AS INTEGER)) AS {moment})",
    "add_months": "CAST({0} + to_months(CAST({1} AS INTEGER)) AS {moment})",
    "days_between": "date_diff('day', CAST({0} AS DATE), CAST({1} AS DATE))",
    "months_between": "date_sub('month', CAST({0} AS TIMESTAMP), CAST({1} AS TIMESTAMP))",
    "years_between": "date_sub('year', CAST({0} AS TIMESTAMP), CAST({1} AS TIMESTAMP))",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "length": "length(nfc_normalize({0}))",
    # DuckDB counts from the end if the count is negative.
    "left": "left(nfc_normalize({0}), greatest({1}, 0))",
    "right": "right(nfc_normalize({0}), greatest({1}, 0))",
    "replace": "replace({0}, {1}, {2})",
    "contains": "contains(nfc_normalize({0}), nfc_normalize({1}))",
    "starts_with": "starts_with(nfc_normalize({0}), nfc_normalize({1}))",
    "ends_with": "ends_with(nfc_normalize({0}), nfc_normalize({1}))",
    "number": (
        "TRY_CAST(CASE WHEN length(regexp_replace({0}, '[^0-9]', '', 'g')) <= 15"
        " AND regexp_full_match(trim({0}), '[+-]?[0-9]+([.][0-9]+)?') THEN trim({0}) END AS DOUBLE)"
    ),
    "floor": "CAST(floor({0}) AS HUGEINT)",
    "ceil": "CAST(ceil({0}) AS HUGEINT)",
    "abs": "abs({0})",
    "sign": "CAST(sign({0}) AS BIGINT)",
}
"""Functions whose SQL hangs on no type, or only on that of the result."""


def call_sql(
    function: str, arguments: Sequence[tuple[str, ShapeType]], result: ShapeType, today: date
) -> str:
    """Return the SQL of a call.

    Args:
        function: Its name.
        arguments: The SQL and type of each argument; they fit.
        result: The type of what it gives.
        today: The day of `today()`.
    """
    values = [sql for sql, _ in arguments]
    match function:
        case "today":
            return f"DATE '{today.isoformat()}'"
        case "if" if len(values) == 2:
            return f"(CASE WHEN {values[0]} THEN {values[1]} END)"
        case "trim":
            return trimmed_sql(values[0])
        case "fold":
            return fold_sql(values[0])
        case "same":
            return f"({fold_sql(values[0])} = {fold_sql(values[1])})"
        case "concat":
            return f"concat({', '.join(text_of(*each) for each in arguments)})"
        case "text" | "round" | "date_of" | "substring":
            return _BY_TYPE[function](arguments)
        case _:
            moment = "TIMESTAMP" if result == "datetime" else "DATE"
            return _TEMPLATES[function].format(*values, all=", ".join(values), moment=moment)


def _text(arguments: Sequence[tuple[str, ShapeType]]) -> str:
    (sql, kind), *places = arguments
    if not places:
        return text_of(sql, kind)
    value = _round(arguments)
    return f"format('{{:.{{}}f}}', {value}, CAST({places[0][0]} AS INTEGER))"


def _round(arguments: Sequence[tuple[str, ShapeType]]) -> str:
    (sql, kind), *places = arguments
    # By its decimal figures: the binary fraction nearest to 2.675 is below it, and nobody knows.
    written = sql if kind == "integer" else text_of(sql, kind)
    count = "".join(f", CAST({place} AS INTEGER)" for place, _ in places)
    decimal = f"round(TRY_CAST({written} AS DECIMAL(38, 15)){count})"
    # One after the other: a decimal beside a binary fraction would become one.
    held = "DOUBLE" if places else "HUGEINT"
    return f"coalesce(CAST({decimal} AS {held}), CAST(round({sql}{count}) AS {held}))"


def _date_of(arguments: Sequence[tuple[str, ShapeType]]) -> str:
    sql, kind = arguments[0]
    if len(arguments) > 1:
        year, month, *days = (value for value, _ in arguments)
        day = days[0] if days else "1"
        return f"TRY_CAST(({year} || '-' || {month} || '-' || {day}) AS DATE)"
    if kind == "string":
        form = r"^\s*([0-9]{4}-[0-9]{1,2}-[0-9]{1,2})([T ].*)?$"
        return f"TRY_CAST(regexp_extract({sql}, '{form}', 1) AS DATE)"
    return f"CAST({sql} AS DATE)"


def _substring(arguments: Sequence[tuple[str, ShapeType]]) -> str:
    text, start, *counts = (value for value, _ in arguments)
    count = f", greatest({counts[0]}, 0)" if counts else ""
    return f"substring(nfc_normalize({text}), greatest({start}, 1){count})"


_BY_TYPE = {"text": _text, "round": _round, "date_of": _date_of, "substring": _substring}
