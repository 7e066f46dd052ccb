"""Types of columns of numbers: exact where they can be, with a question where they stay open."""

from collections.abc import Mapping
from decimal import Decimal

from kbd_tables.column_types import TypedColumn
from kbd_tables.evidence import DecimalDecision, decide_decimals, decimal_question
from kbd_tables.numbers import DecimalMark, Notation, NumberColumn
from kbd_tables.verdicts import RawTable, Verdicts

__all__ = ["type_numbers"]

_EXACT_DIGITS = 18
"""A decimal of so many digits is held in 64 bits, and its sum is exact."""

_WIDE_DIGITS = 30
"""One of so many in 128; with more, a sum of a hundred million rows might not fit."""

_WRITTEN_SCALE = 12
"""Digits of a fraction that people write; what has more was a double before."""

_SHEET_SCALE = 6
"""The same where a format knows its numbers, which are doubles in the file."""

_DOUBLE_DIGITS = 18
"""What a program writes of a double, a zero before the point included (IEEE 754: 17)."""


def type_numbers(
    table: RawTable, verdicts: Verdicts, said: DecimalMark | None, summed: DecimalMark | None = None
) -> None:
    """Decide the columns of numbers.

    Args:
        table: The table.
        verdicts: Takes what is decided.
        said: The decimal mark that was said.
        summed: The one by which totals in the file are what their rows come to.
    """
    free: dict[int, NumberColumn] = {}
    for place, column in enumerate(table.findings):
        if not isinstance(column, NumberColumn):
            continue
        if table.known[place] is not None:
            # A format that knows its numbers writes them with a point; they say nothing of others.
            notation = next((one for one in column.notations if one.decimal == "."), None)
            if notation is not None and not column.fault:
                _type_number(table, verdicts, place, column, notation)
        elif column.fault:
            verdicts.note(place, f"{column.fault}; kept as text")
        else:
            free[place] = column
    open_ones = {}
    for place, decision in decide_decimals(table.names, free, said, summed).items():
        if decision.notation is not None:
            _decided(table, verdicts, place, free[place], decision)
        elif free[place].is_code:
            example = free[place].example
            verdicts.note(place, f"{example} may be a number in groups, or a code; kept as text")
        else:
            open_ones[place] = free[place]
    if open_ones:
        question = decimal_question(table.names, open_ones, _sums(table, open_ones))
        verdicts.questions.append(question)


def _sums(
    table: RawTable, columns: Mapping[int, NumberColumn]
) -> dict[int, dict[DecimalMark, Decimal | None]]:
    """Return the sum of each column by either mark, None where it has too many digits."""
    asked = [(place, notation) for place, one in columns.items() for notation in one.notations]
    answers = table.ask(
        *(
            f"sum(CAST({columns[place].sql(f'c{place}', notation)}"
            f" AS DECIMAL({_WIDE_DIGITS}, {notation.scale})))"
            if notation.digits + notation.scale <= _WIDE_DIGITS and not columns[place].has_exponents
            else "NULL"
            for place, notation in asked
        )
    )
    sums: dict[int, dict[DecimalMark, Decimal | None]] = {place: {} for place in columns}
    for (place, notation), total in zip(asked, answers, strict=True):
        sums[place][notation.decimal] = total
    return sums


def _decided(
    table: RawTable, verdicts: Verdicts, place: int, column: NumberColumn, decision: DecimalDecision
) -> None:
    """Type a column and say how it is read, where that is not plain."""
    notation = decision.notation
    assert notation is not None
    if not _type_number(table, verdicts, place, column, notation):
        return
    # A mark between groups tells, too, which one is left for decimals.
    if column.is_marked and (notation.scale or notation.group in (".", ",")):
        verdicts.decimals.add(notation.decimal)
    if notation.group:
        verdicts.groups.add(notation.group)
    if notation.group or decision.reason or (notation.scale and notation.decimal == ","):
        number = column.number(column.example, notation)
        verdicts.note(place, f"{column.example} is {number}{_reason(notation, decision)}")
    if column.set_off:
        # In statistics figures in brackets are uncertain ones, not negative.
        negative = column.number(column.set_off, notation)
        unit = "%" if column.is_percent else ""
        verdicts.note(place, f"{column.set_off} is {negative}{unit} (negative)")
    if column.is_percent:
        share = Decimal(column.number(column.example, notation)).scaleb(-2)
        text = f"in percent: {column.example} is {share:f}"
        verdicts.note(place, text, is_told=True)
    if column.currency:
        text = f"in {column.currency}, which is left out of the values"
        verdicts.note(place, text, is_told=True)
    verdicts.note_missing(place, column.missing, column.blank_count)


def _reason(notation: Notation, decision: DecimalDecision) -> str:
    """Return why a number is read so, as the end of a sentence."""
    if decision.reason:
        return f", {decision.reason}"
    if notation.scale and notation.decimal == ",":
        return " (decimal comma)"
    return " (groups of digits)"


def _type_number(
    table: RawTable, verdicts: Verdicts, place: int, column: NumberColumn, notation: Notation
) -> bool:
    """Give a column the type that holds all its numbers; tell whether there is one."""
    is_known = table.known[place] is not None
    sql = column.sql(f"c{place}", notation)
    if column.has_exponents:
        return _type_double(table, verdicts, place, column, sql)
    scale, shift = notation.scale, 2 if column.is_percent else 0
    if not scale and not shift and not is_known:
        # Whole numbers past 64 bits stay text: they are rather keys than counts.
        if notation.digits <= _EXACT_DIGITS:
            verdicts.typed[place] = TypedColumn("integer", "BIGINT", f"CAST({sql} AS BIGINT)")
        return notation.digits <= _EXACT_DIGITS
    digits = notation.digits + scale + shift
    is_exact = scale <= (_SHEET_SCALE if is_known else _WRITTEN_SCALE)
    if is_exact and digits <= (_EXACT_DIGITS if is_known else _WIDE_DIGITS):
        width = 18 if digits <= _EXACT_DIGITS else 38
        typed = f"CAST({sql} AS DECIMAL({digits}, {scale}))"
        if shift:
            # A quotient would be a double.
            typed = f"{typed} * CAST('0.01' AS DECIMAL(3, 2))"
        sql_type = f"DECIMAL({width}, {scale + shift})"
        verdicts.typed[place] = TypedColumn(
            "float", sql_type, f"CAST({typed} AS {sql_type})", is_percent=column.is_percent
        )
        return True
    is_typed = _type_double(table, verdicts, place, column, sql)
    if is_typed and digits > _DOUBLE_DIGITS and not is_known:
        note = f"numbers of up to {digits} digits, of which doubles keep 15 to 17"
        verdicts.note(place, note)
    return is_typed


def _type_double(
    table: RawTable, verdicts: Verdicts, place: int, column: NumberColumn, sql: str
) -> bool:
    """Hold a column as doubles, if all of them are finite; tell whether they are."""
    (is_finite,) = table.ask(
        f"bool_and(coalesce(isfinite(try_cast({sql} AS DOUBLE)), false))"
        f" FILTER (WHERE {sql} IS NOT NULL)"
    )
    if is_finite:
        value = f"CAST({sql} AS DOUBLE)" + (" / 100" if column.is_percent else "")
        verdicts.typed[place] = TypedColumn("float", "DOUBLE", value, is_percent=column.is_percent)
    return bool(is_finite)
