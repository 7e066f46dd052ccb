"""Types of columns of dates: by the order that values prove, with a question where none does."""

from collections.abc import Sequence

from kbd.formats import ColumnType
from kbd_tables.column_types import TypedColumn
from kbd_tables.dates import DateColumn, DateOrder, offset_sql
from kbd_tables.duck import quoted_text
from kbd_tables.evidence import DateProof, decide_orders, order_question
from kbd_tables.shapes import trimmed_sql
from kbd_tables.verdicts import RawTable, Verdicts

__all__ = ["type_dates"]

_MAX_EXAMPLES = 3


def type_dates(table: RawTable, verdicts: Verdicts, said: DateOrder | None) -> None:
    """Decide the columns of dates.

    Args:
        table: The table.
        verdicts: Takes what is decided.
        said: The order of day, month and year that was said.
    """
    columns: dict[int, DateColumn] = {}
    proofs: dict[int, DateProof] = {}
    for place, column in enumerate(table.findings):
        if not isinstance(column, DateColumn):
            continue
        if fault := _fault(table.names[place], column):
            verdicts.note(place, f"{fault}; kept as text")
            continue
        columns[place] = column
        proof = _proof(table, place, column)
        if (
            proof.orders == ("ymd",)
            and _is_short(column)
            and not column.is_named_date(table.names[place])
        ):
            # Sort codes and the like are written so, too.
            verdicts.note(place, f"{column.example} may be a date, or a code; kept as text")
        elif proof.orders:
            proofs[place] = proof
        else:
            verdicts.note(place, f"kept as text, for {_impossible(table, place, column)}")
    open_ones: dict[tuple[DateOrder, ...], list[int]] = {}
    for place, (order, reason) in decide_orders(table.names, proofs, said).items():
        if order is None:
            open_ones.setdefault(proofs[place].orders, []).append(place)
        else:
            _type_date(table, verdicts, place, columns[place], order, reason)
            if proofs[place].proves or reason or columns[place].form.kind == "year first":
                verdicts.orders.add(order)
    _note_calendars(table, verdicts)
    for orders, places in open_ones.items():
        example = _telling_example(table, places[0], columns[places[0]], orders)
        days = _days(table, columns[places[0]], example, orders)
        readings = dict(zip(orders, days, strict=True))
        spans = _spans(table, places[0], columns[places[0]], orders)
        verdicts.questions.append(order_question(table.names, places, example, readings, spans))


def _is_short(column: DateColumn) -> bool:
    return column.form.kind == "figures" and column.form.year_digits == 2


def _fault(name: str, column: DateColumn) -> str:
    """Return why dates are not read as such, "" if they are."""
    if column.has_offsets is None:
        return "some of its times have an offset and others none"
    if column.is_code(name):
        return f"{column.example} may be a date, or a version or another code"
    if column.is_of_births(name):
        return f"{column.example} may be of either century, for its year has two digits"
    return ""


def _proof(table: RawTable, place: int, column: DateColumn) -> DateProof:
    """Return by which orders all values are dates; none where a value never is one."""
    name = f"c{place}"
    typed = {order: column.sql(name, order) for order in column.orders}
    pairs = [(a, b) for at, a in enumerate(column.orders) for b in column.orders[at + 1 :]]
    bad, differing = (
        table.ask(
            *(
                f"count(*) FILTER (WHERE {column.filled_test(name)} AND {sql} IS NULL)"
                for sql in typed.values()
            )
        ),
        table.ask(
            *(f"count(*) FILTER (WHERE {typed[a]} IS DISTINCT FROM {typed[b]})" for a, b in pairs)
        )
        if pairs
        else [],
    )
    fitting = tuple(order for order, count in zip(typed, bad, strict=True) if not count)
    is_written = column.form.kind == "figures"
    if column.form.mark == "." and "dmy" in fitting:
        # Days come first wherever dates are written with points.
        return DateProof(("dmy",), proves=is_written)
    is_telling = any(
        count for pair, count in zip(pairs, differing, strict=True) if set(pair) <= set(fitting)
    )
    if len(fitting) > 1 and not is_telling:
        # 05/05/2024 is one day, and proves nothing.
        return DateProof(fitting[:1], proves=False)
    return DateProof(fitting, proves=is_written and len(fitting) == 1)


def _impossible(table: RawTable, place: int, column: DateColumn) -> str:
    """Return which values of a column of dates are none, and in which rows."""
    name = f"c{place}"
    typed = [column.sql(name, order) for order in column.orders]
    never = " AND ".join(f"{sql} IS NULL" for sql in typed)
    is_filled = column.filled_test(name)
    selected = f"{trimmed_sql(name)}, file_row_number + 1"
    rows = table.rows(selected, f"{is_filled} AND {never}", _MAX_EXAMPLES + 1)
    what = "no date"
    if not rows:
        rows = table.rows(selected, f"{is_filled} AND {typed[0]} IS NULL", _MAX_EXAMPLES + 1)
        what = "no date with the day first, as others are"
    named = ", ".join(f"{value} (row {row})" for value, row in rows[:_MAX_EXAMPLES])
    more = ", …" if len(rows) > _MAX_EXAMPLES else ""
    return f"this is {what}: {named}{more}"


def _type_date(
    table: RawTable,
    verdicts: Verdicts,
    place: int,
    column: DateColumn,
    order: DateOrder,
    reason: str,
) -> None:
    """Type a column and say how it is read, where that is not plain."""
    form = column.form
    shift = False
    if form.offset == "offset":
        low, high = _offsets(table, place)
        shift = low != high
        if shift and column.has_bare_days:
            # Nobody knows by which clock these days begin.
            differ = f"the offsets of its times differ ({low}, {high})"
            verdicts.note(place, f"{differ}, and some days have no time; kept as text")
            return
        verdicts.note(
            place,
            f"times are brought to UTC, for their offsets differ ({low}, {high})"
            if shift
            else f"times are kept as written, all of them with the offset {low}",
        )
    kind: tuple[ColumnType, str] = ("datetime", "TIMESTAMP") if form.has_time else ("date", "DATE")
    verdicts.typed[place] = TypedColumn(*kind, column.sql(f"c{place}", order, shift=shift))
    if reason:
        (day,) = _days(table, column, column.example, [order])
        verdicts.note(place, f"{column.example} is {day}, {reason}")
    if form.year_digits != 4:
        text = "years of two digits are those from 1969 to 2068"
        verdicts.note(place, text, is_told=True)
    verdicts.note_missing(place, column.missing, column.blank_count)


_BUDDHIST, _PERSIAN = (2400, 2700), (1300, 1450)
"""Years that are this or the last century in calendars that offices use: of Thailand, of Iran."""


def _note_calendars(table: RawTable, verdicts: Verdicts) -> None:
    """Say of which columns all years are those of another calendar."""
    for place, column in verdicts.typed.items():
        if column.type not in ("date", "datetime") or table.known[place] is not None:
            continue
        low, high = table.ask(f"min(year({column.sql}))", f"max(year({column.sql}))")
        spans = (_BUDDHIST, _PERSIAN) if low is not None else ()
        if any(first <= low <= high <= last for first, last in spans):
            years = str(low) if low == high else f"{low} to {high}"
            text = f"its years are {years}, as written: those of another calendar are not converted"
            verdicts.note(place, text, is_told=True)


def _offsets(table: RawTable, place: int) -> tuple[str, str]:
    """Return the first and the last of the offsets that times are written with."""
    offset = offset_sql(trimmed_sql(f"c{place}"))
    low, high = table.ask(
        *(f"{one}({offset}) FILTER (WHERE {offset} <> '')" for one in ("min", "max"))
    )
    return low, high


def _days(
    table: RawTable, column: DateColumn, example: str, orders: Sequence[DateOrder]
) -> list[str]:
    """Return what a value is in some orders, as ISO dates."""
    found = table.values(*(column.sql(quoted_text(example), order) for order in orders))
    return [day.isoformat(" ") if column.form.has_time else day.isoformat() for day in found]


def _spans(
    table: RawTable, place: int, column: DateColumn, orders: Sequence[DateOrder]
) -> dict[DateOrder, str]:
    """Return from when to when a column's dates are in some orders."""
    days = [f"CAST({column.sql(f'c{place}', order)} AS DATE)" for order in orders]
    ends = table.ask(*(f"{end}({day})" for day in days for end in ("min", "max")))
    pairs = zip(orders, ends[::2], ends[1::2], strict=True)
    return {
        order: f"is {first}" if first == last else f"goes from {first} to {last}"
        for order, first, last in pairs
    }


def _telling_example(
    table: RawTable, place: int, column: DateColumn, orders: Sequence[DateOrder]
) -> str:
    """Return the first value that its orders read differently."""
    name = f"c{place}"
    first, *others = (column.sql(name, order) for order in orders)
    differs = " OR ".join(f"{first} IS DISTINCT FROM {other}" for other in others)
    ((value,),) = table.rows(trimmed_sql(name), differs, 1)
    return str(value)
