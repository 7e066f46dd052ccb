"""Evidence about how a file writes numbers and dates, and what it decides for each column.

A file has one way of writing. What a column proves by its own values holds for it; for a column
that can be read in two ways the others decide, then what was said, and else it is asked. Neither
the separator of the fields nor the encoding counts: files with decimal commas come with commas
between their fields, and files with decimal points with semicolons.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec

from kbd.formats import ReadingOption, ReadingQuestion
from kbd_tables.dates import DateOrder
from kbd_tables.numbers import DecimalMark, Notation, NumberColumn

__all__ = [
    "DateProof",
    "DecimalDecision",
    "decide_decimals",
    "decide_orders",
    "decimal_question",
    "figure",
    "order_question",
]

_DEGREES = re.compile(
    r"(^|_|\b)(lat|lon|lng|long|latitude|longitude|breite|l[äa]nge)(\b|_|$)", re.IGNORECASE
)
"""Degrees of the earth: with groups of thousands they would be off the globe."""

_MARK_NAMES = {".": "point", ",": "comma"}
_ORDER_NAMES = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}
_MAX_NAMED = 3


class DecimalDecision(msgspec.Struct, frozen=True):
    """How a column is read: one of its ways, or None while that is not known; and why."""

    notation: Notation | None
    reason: str = ""


class DateProof(msgspec.Struct, frozen=True):
    """What the values of a column of dates leave open.

    Args:
        orders: The orders by which all of them are dates; one where these make no difference.
        proves: Whether they are written in figures that only this order fits, so that it is one of
            the file.
    """

    orders: tuple[DateOrder, ...]
    proves: bool


def decide_decimals(
    names: Sequence[str],
    columns: Mapping[int, NumberColumn],
    said: DecimalMark | None,
    summed: DecimalMark | None = None,
) -> dict[int, DecimalDecision]:
    """Decide how the columns of numbers are read; a column with a fault is not among them.

    Args:
        names: Of all columns of the file.
        columns: Those of numbers, by their place.
        said: The decimal mark that was said.
        summed: The one by which totals in the file are what their rows come to.
    """
    proven: dict[DecimalMark, int] = {}
    groups: dict[str, int] = {}
    for place, column in columns.items():
        if len(column.notations) == 1 and not column.is_code:
            if column.is_marked:
                proven.setdefault(column.notations[0].decimal, place)
            if group := column.notations[0].group:
                groups.setdefault(group, place)
    decisions = {}
    for place, column in columns.items():
        if column.is_code:
            decisions[place] = _code(names, column, proven, groups, said)
        elif len(column.notations) == 1:
            decisions[place] = _proven(column, said)
        else:
            decisions[place] = _open(names, place, column, proven, said, summed)
    return decisions


def _proven(column: NumberColumn, said: DecimalMark | None) -> DecimalDecision:
    """Decide a column that can be read in one way alone, whatever was said."""
    (notation,) = column.notations
    if column.is_marked and said not in (None, notation.decimal):
        other = _MARK_NAMES["." if notation.decimal == "," else ","]
        return DecimalDecision(
            notation, f"which no decimal {other} can mean, although one was said"
        )
    return DecimalDecision(notation)


def _code(
    names: Sequence[str],
    column: NumberColumn,
    proven: Mapping[DecimalMark, int],
    groups: Mapping[str, int],
    said: DecimalMark | None,
) -> DecimalDecision:
    """Decide a column of what may be numbers in groups, or codes."""
    (notation,) = column.notations
    if notation.group in groups:
        return DecimalDecision(
            notation, f"for {names[groups[notation.group]]} has groups like these"
        )
    if notation.group == "." and said == ",":
        return DecimalDecision(notation, "as was said")
    if notation.group == "." and list(proven) == [","]:
        return DecimalDecision(notation, f"for {names[proven[',']]} has decimal commas")
    return DecimalDecision(None)


def _open(
    names: Sequence[str],
    place: int,
    column: NumberColumn,
    proven: Mapping[DecimalMark, int],
    said: DecimalMark | None,
    summed: DecimalMark | None,
) -> DecimalDecision:
    """Decide a column that can be read in two ways."""
    by_mark = {notation.decimal: notation for notation in column.notations}
    if said is not None:
        return DecimalDecision(by_mark[said], "as was said")
    if _DEGREES.search(names[place]) and by_mark["."].scale:
        return DecimalDecision(by_mark["."], "for it holds degrees by its name")
    if len(proven) == 1:
        ((mark, proof),) = proven.items()
        return DecimalDecision(
            by_mark[mark], f"for {names[proof]} has decimal {_MARK_NAMES[mark]}s"
        )
    if summed is not None and not proven:
        name = _MARK_NAMES[summed]
        return DecimalDecision(by_mark[summed], f"for a total fits its rows by a decimal {name}")
    return DecimalDecision(None)


def decimal_question(
    names: Sequence[str],
    columns: Mapping[int, NumberColumn],
    sums: Mapping[int, Mapping[DecimalMark, Decimal | None]],
) -> ReadingQuestion:
    """Return the question which mark is the decimal one in columns that leave it open.

    Args:
        names: Of all columns of the file.
        columns: The open ones, by their place.
        sums: The sum of each, by either mark; None where it has too many digits.
    """
    places = sorted(columns)
    first = columns[places[0]]
    values = [
        first.number(first.example, notation)
        for notation in sorted(first.notations, key=lambda one: one.decimal == ".")
    ]
    options = []
    for mark in (".", ","):
        texts = []
        for place in places[:_MAX_NAMED]:
            column, total = columns[place], sums[place][mark]
            (notation,) = (one for one in column.notations if one.decimal == mark)
            texts.append(
                f"{column.example} is {column.number(column.example, notation)}"
                if total is None
                else f"{names[place]} adds up to {figure(total)}"
            )
        options.append(ReadingOption(mark, f"decimal {_MARK_NAMES[mark]}: {'; '.join(texts)}"))
    return ReadingQuestion(
        about="decimal",
        columns=tuple(names[place] for place in places),
        text=f"{_named([names[place] for place in places])}: is {first.example} "
        f"{values[0]} or {values[1]}?",
        options=tuple(options),
    )


def decide_orders(
    names: Sequence[str], proofs: Mapping[int, DateProof], said: DateOrder | None
) -> dict[int, tuple[DateOrder | None, str]]:
    """Decide the order of day, month and year of columns of dates, each with the reason.

    None where it stays open; a column that no order fits is not among them.
    """
    proven: dict[DateOrder, int] = {}
    for place, proof in proofs.items():
        if proof.proves:
            proven.setdefault(proof.orders[0], place)
    decided: dict[int, tuple[DateOrder | None, str]] = {}
    for place, proof in proofs.items():
        candidates = [order for order in proven if order in proof.orders]
        if len(proof.orders) == 1:
            (order,) = proof.orders
            contradicts = proof.proves and said not in (None, order)
            reason = f"although {_ORDER_NAMES[said]} was said" if contradicts and said else ""
            decided[place] = (order, reason)
        elif said in proof.orders:
            decided[place] = (said, "as was said")
        elif len(proven) == 1 and candidates:
            reason = f"for {names[proven[candidates[0]]]} has the {_ORDER_NAMES[candidates[0]]}"
            decided[place] = (candidates[0], reason)
        else:
            decided[place] = (None, "")
    return decided


def order_question(
    names: Sequence[str],
    places: Sequence[int],
    example: str,
    readings: Mapping[DateOrder, str],
    spans: Mapping[DateOrder, str],
) -> ReadingQuestion:
    """Return the question in which order dates are written.

    Args:
        names: Of all columns of the file.
        places: The columns that leave it open.
        example: A value of the first of them.
        readings: What it is in each order that is left, as an ISO date.
        spans: From when to when the dates of that column are in each order ("is …").
    """
    listed = " or ".join(readings.values())
    return ReadingQuestion(
        about="date_order",
        columns=tuple(names[place] for place in places),
        text=f"{_named([names[place] for place in places])}: is {example} {listed}?",
        options=tuple(
            ReadingOption(order, f"{_ORDER_NAMES[order]}: {names[places[0]]} {spans[order]}")
            for order in readings
        ),
    )


def figure(value: Decimal | float) -> str:
    """Return a number as nobody takes it for another: blanks between thousands, a decimal point."""
    # By its shortest text: formatted itself, a float has six decimals.
    text = f"{Decimal(str(value)):,f}".replace(",", " ")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _named(names: Sequence[str]) -> str:
    """Return names in a row, at most three of them."""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more
