"""Columns that a request has computed: "Kosten = Stunden mal 92,50", "days from A to B".

What stands in brackets behind a name says what it is: "stock value (quantity x unit cost)". Pure.
"""

from kbd_offline import expressions
from kbd_offline.changes import expression_at, is_computed, make_column
from kbd_offline.clauses import Clauses
from kbd_offline.facts import KnownColumn
from kbd_offline.figures import figure_at, keys_at
from kbd_offline.mentions import COMPOUND, STEM
from kbd_offline.names import fold, stem
from kbd_offline.scan import RequestScan, UnclearError

__all__ = ["days_column", "drop_explained", "equation", "explained", "ratio"]

_MAX_NAME = 6
_ADDING = frozenset(
    ["add", "adds", "new", "neue", "neuen", "column", "spalte", "a", "an", "the", "eine", "die",
     "als", "as", "with", "mit", "compute", "calculate", "berechne", "erganze", "show", "zeige",
     "called", "named", "namens", "fuge", "hinzu", "please", "bitte", "und", "and"]
)  # fmt: skip
_PER = frozenset(["per", "pro", "je"])
_GROUPING = _PER | frozenset(["by", "nach", "each", "every", "jede", "jeder", "jedes"])
_MAX_GROUPS = 12
"""Different whole numbers that rows may be grouped by: more of them are amounts."""
_DURATIONS = ("zeit", "dauer", "time", "duration")
_DAYS = frozenset(["days", "day", "tage", "tagen", "tag"])


def explained(scan: RequestScan, clauses: Clauses) -> None:
    """Make the column that brackets say how to compute, named by the words before them."""
    for place in range(1, len(scan)):
        if scan.word(place) != "(":
            continue
        made = expression_at(scan, place + 1)
        if made is None or not is_computed(made[0]) or scan.word(made[1]) != ")":
            continue
        start = place
        while start and scan.kind(start - 1) in ("word", "number"):
            start -= 1
        first = start
        while start < place and scan.word(start) in _ADDING:
            start += 1
        if start == place:
            continue
        worded = start
        while (figure := figure_at(scan, start)) is not None and figure[1] < place:
            # "Average spend per country (…)": the figure is of what is computed.
            start = scan.skip(figure[1], "det")
        end = _before_groups(scan, start, place)
        name = scan.text(start, end)
        if name in {column.name for column in scan.table.columns}:
            continue
        if not any(scan.word(at) in ("column", "spalte") for at in range(first, start)):
            _check_name(scan, start, end)
        make_column(scan, clauses, name, made[0])
        clauses.passed[place] = made[1] + 1
        if end == place and start == worded:
            clauses.passed[first] = made[1] + 1


def _before_groups(scan: RequestScan, start: int, place: int) -> int:
    """Return where the name of what is computed ends, before "per warehouse (…)" if that is it."""
    for at in range(start + 1, place):
        leads = scan.at(at, "by")
        if not leads:
            continue
        keys, across, end = keys_at(scan, leads)
        sums = [key for key in keys if key.column is not None and key.column.adds_up]
        if keys and not across and not sums and end == place:
            return at
    return place


def _check_name(scan: RequestScan, start: int, end: int) -> None:
    """Check that a new column's name is not made of groups, or of columns that are there.

    Raises:
        UnclearError: It would be.
    """
    for at in range(start, end):
        mention = scan.column(at)
        is_named = mention is not None and mention.level <= STEM and end > start + 1 and not any(
            column.is_number and column.role != "id" for column in mention.columns
        )  # fmt: skip
        if scan.at(at, "by") or scan.word(at) in _GROUPING or is_named:
            raise UnclearError(f'I do not see what "{scan.text(start, end)}" is to be computed by')


def drop_explained(scan: RequestScan, clauses: Clauses) -> None:
    """Take words for known that a condition in brackets behind them explains.

    "Unhappy people (satisfaction 1 or 2)", "Reisekosten (Kategorie Reise)": only a word right
    before the brackets, or one that begins with a value that stands in them.
    """
    for opening in range(1, len(scan)):
        closing = opening + 1
        if scan.word(opening) != "(":
            continue
        while closing < len(scan) and scan.word(closing) != ")":
            closing += 1
        inside = set(range(opening + 1, closing))
        if not inside or not inside <= clauses.condition_places | {closing}:
            continue
        values = [stem(fold(value)) for one in clauses.conditions for value in one.values]
        last = opening - 1
        while last in clauses.unknown or scan.is_noun(last) or scan.at(last, "filler"):
            if last in clauses.unknown:
                clauses.unknown.remove(last)
                break
            last -= 1
        clauses.unknown = [
            place for place in clauses.unknown if place > opening or not any(
                len(value) >= 4 and scan.word(place).startswith(value) for value in values
            )
        ]  # fmt: skip


def equation(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "profit = revenue - cost", "quantity x unit cost as new column"; 0 where none is there.

    Raises:
        UnclearError: The column is there already.
    """
    if place and scan.kind(place - 1) != "sign" and not scan.at(place - 1, "add_column"):
        return 0
    start = place
    while start < len(scan) and scan.word(start) in _ADDING and start - place < 4:
        start += 1
    end = start
    while end < len(scan) and end - start < _MAX_NAME and scan.kind(end) in ("word", "quoted"):
        end += 1
    if end == start or scan.word(end) != "=":
        return _percent_named(scan, clauses, start, end)
    made = expression_at(scan, end + 1)
    if made is None or not is_computed(made[0]):
        return 0
    is_quoted = scan.kind(start) == "quoted" and end == start + 1
    if any(scan.at(at, "where") for at in range(start, end)):
        raise UnclearError("it may be a new column, or a condition on the rows")
    name = scan.tokens[start].text if is_quoted else scan.text(start, end)
    if any(column.name.casefold() == name.casefold() for column in scan.table.columns):
        raise UnclearError(f'there is a column "{name}" already: name the new one otherwise')
    make_column(scan, clauses, name, made[0])
    return _behind_as_column(scan, made[1])[0]


def _percent_named(scan: RequestScan, clauses: Clauses, start: int, end: int) -> int:
    """Read "Skonto 2 % vom Brutto als neue Spalte"."""
    if end == start or scan.kind(end) != "number" or not scan.is_sign(end + 1, "%"):
        return 0
    if any(scan.column(at) is not None for at in range(start, end)):
        return 0
    made = expression_at(scan, end)
    if made is None or not is_computed(made[0]):
        return 0
    stop, name = _behind_as_column(scan, made[1])
    if stop == made[1]:
        return 0
    make_column(scan, clauses, name or scan.text(start, end), made[0])
    return stop


def _behind_as_column(scan: RequestScan, place: int) -> tuple[int, str]:
    """Return the place behind "as a new column called X", and the name; the place if none."""
    at = place
    if scan.word(at) not in ("as", "als", "in", "into"):
        return place, ""
    while scan.word(at) in ("as", "als", "in", "into", "a", "an", "new", "neue", "eine", "extra"):
        at += 1
    if scan.word(at) not in ("column", "spalte"):
        return place, ""
    at += 1
    while scan.word(at) in ("called", "named", "namens"):
        at += 1
    if scan.kind(at) in ("word", "quoted") and not scan.at(at, "and", "sort", "where", "by"):
        return at + 1, scan.tokens[at].text
    return at, ""


def days_column(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "days between order date and ship date", "Lieferzeit in Tagen"; 0 if none is there."""
    behind = scan.at(place, "add_column")
    while behind and scan.word(behind) in ("with", "mit", "for", "the", "den", "die", "der", "of"):
        behind += 1
    place = behind or place
    found = _days_between(scan, place) or _days_to(scan, place) or _duration(scan, place)
    if found is None:
        return 0
    first, last, end = found
    name = scan.text(place, end).strip("() ")
    name = name[:1].upper() + name[1:60]
    expression = f"days_between({expressions.column(first.name)}, {expressions.column(last.name)})"
    make_column(scan, clauses, name, expression)
    is_figure = bool(clauses.figures) and clauses.figures[-1].column is None
    made = scan.table.column(name)
    if is_figure and made is not None:
        clauses.loose.append((made, place, False))
    return _behind_as_column(scan, end)[0]


def _days_between(scan: RequestScan, place: int) -> tuple[KnownColumn, KnownColumn, int] | None:
    at = place + (scan.word(place) in ("number", "anzahl", "zahl"))
    while scan.word(at) in ("of", "der", "the", "die"):
        at += 1
    if scan.word(at) not in _DAYS or scan.word(at + 1) not in (
        "between", "from", "zwischen", "von", "vom",
    ):  # fmt: skip
        return None
    first = _moment(scan, at + 2)
    to = first[1] if first else 0
    if not first or scan.word(to) not in ("and", "to", "und", "bis", "until"):
        return None
    to += 1 + (scan.word(to + 1) in ("zum", "zur"))
    last = _moment(scan, to)
    return (first[0], last[0], last[1]) if last and last[0] != first[0] else None


def _moment(scan: RequestScan, place: int) -> tuple[KnownColumn, int] | None:
    mention = scan.column(place) or scan.column(scan.skip(place, "det"))
    if mention is None or not any(one.is_moment for one in mention.columns):
        return None
    return scan.only(mention, lambda one: one.is_moment), mention.end


def _other_moment(scan: RequestScan, column: KnownColumn) -> KnownColumn | None:
    others = [one for one in scan.table.columns if one.is_moment and one != column]
    return others[0] if len(others) == 1 else None


def _days_to(scan: RequestScan, place: int) -> tuple[KnownColumn, KnownColumn, int] | None:
    """Read "days to close", of two columns of dates of which one is that."""
    if scan.word(place) not in _DAYS or scan.word(place + 1) not in ("to", "until", "till", "bis"):
        return None
    at = scan.skip(place + 2, "det")
    root = scan.word(at).rstrip("e")
    named = [one for one in scan.table.columns if one.is_moment and len(root) >= 4
             and one.name.casefold().startswith(root)]  # fmt: skip
    other = _other_moment(scan, named[0]) if len(named) == 1 else None
    if other is None or not other.minimum or other.minimum > named[0].minimum:
        return None
    return other, named[0], at + 1


def _duration(scan: RequestScan, place: int) -> tuple[KnownColumn, KnownColumn, int] | None:
    """Read "Lieferzeit in Tagen", of two columns of dates, the first of which comes first."""
    at = place
    while scan.kind(at) == "word" and at - place < 3:
        if scan.word(at).endswith(_DURATIONS):
            break
        at += 1
    if not scan.word(at).endswith(_DURATIONS) or scan.word(at + 1) != "in":
        return None
    moments = [one for one in scan.table.columns if one.is_moment]
    if scan.word(at + 2) not in _DAYS or len(moments) != 2:
        return None
    first, last = sorted(moments, key=lambda one: one.minimum)
    root = scan.word(place)[:5]
    if root not in last.name.casefold() and at == place:
        return None
    return first, last, at + 3


def ratio(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "per kg" behind an amount, where kg are amounts, too: each row's quotient.

    Raises:
        UnclearError: A figure of it is asked for, which may be a sum of quotients or one of sums.
    """
    if scan.word(place) not in _PER or scan.column(place) is not None:
        return 0
    below = scan.column(scan.skip(place + 1, "det"))
    if below is None or below.level > COMPOUND or len(below.columns) != 1:
        return 0
    column = below.columns[0]
    if not column.adds_up or (column.type != "float" and column.distinct <= _MAX_GROUPS):
        return 0
    numbers = [one for one, at, weak in clauses.loose if one.is_number and not weak and at < place]
    above = scan.column(place - 1)
    is_plain = column.type == "float" and not clauses.figures and len(numbers) == 1
    if not is_plain or above is None or above.level > STEM:
        name = column.name
        raise UnclearError(f'I do not group by the amounts of "{name}", and see no amount per it')
    clauses.loose = [one for one in clauses.loose if one[0] != numbers[0]]
    upper, lower = expressions.column(numbers[0].name), expressions.column(column.name)
    make_column(scan, clauses, f"{numbers[0].name} per {column.name}", f"{upper} / {lower}")
    return _behind_as_column(scan, below.end)[0]
