"""Rules for conditions: comparisons, values, empty fields, yes and no, figures of groups. Pure."""

from collections.abc import Sequence

import msgspec

from kbd_offline import expressions
from kbd_offline.clauses import ConditionClause, FigureClause, HavingClause
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import BESIDE, COMPOUND, STEM
from kbd_offline.names import slug, tokens
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.terminals import UNITS, NamedColumn, Number, Valued
from kbd_offline.value_texts import check_contained, is_marked, values_text

__all__ = ["ARTICLES", "CONDITION_RULES", "denied", "money_columns"]

_OPERATORS = {
    "more": ">", "at_least": ">=", "less": "<", "at_most": "<=", "or_more": ">=", "or_less": "<=",
    "negative": "<", "positive": ">",
}  # fmt: skip
_WORDS = {
    ">": "is over", ">=": "is at least", "<": "is under", "<=": "is at most", "=": "is",
}  # fmt: skip
_SIGNS = {">": "over", ">=": "from", "<": "under", "<=": "up-to", "=": ""}


def _compared(column: KnownColumn, operator: str, number: str) -> ConditionClause:
    return ConditionClause(
        expressions.compared(column.name, operator, number),
        f"{column.name} {_WORDS[operator]} {number}", (column,),
        slug="-".join(part for part in (slug(column.name), _SIGNS[operator], number) if part),
    )  # fmt: skip


def _bound(span: RequestSpan, named: NamedColumn, concept: str, number: Number) -> ConditionClause:
    return _compared(named.column, _OPERATORS[concept], number.of(span.scan, named.column))


def _bound_texts(_: RequestSpan, named: NamedColumn, _concept: str, _number: Number) -> None:
    """Say why a column of texts among numbers is not compared with a number."""
    if named.column.why_text:
        raise UnclearError(f'"{named.column.name}" holds no numbers: {named.column.why_text}')


def _bound_before(
    span: RequestSpan, concept: str, number: Number, named: NamedColumn
) -> ConditionClause | None:
    if named.level > COMPOUND and span.scan.value(named.start) is not None:
        return None
    return _bound(span, named, concept, number)


def _bounds(
    span: RequestSpan, named: NamedColumn, first: str, low: Number, second: str, high: Number
) -> tuple[ConditionClause, ...]:
    return (_bound(span, named, first, low), _bound(span, named, second, high))


def _between(span: RequestSpan, named: NamedColumn, low: Number, high: Number) -> ConditionClause:
    column, name = named.column, expressions.column(named.column.name)
    first, last = low.of(span.scan, column), high.of(span.scan, column)
    return ConditionClause(
        f"{name} >= {first} and {name} <= {last}", f"{column.name} is from {first} to {last}",
        (column,), slug=f"{slug(column.name)}-{first}-to-{last}",
    )  # fmt: skip


def _between_before(
    span: RequestSpan, low: Number, high: Number, named: NamedColumn | None
) -> ConditionClause | None:
    if named is None:
        words = [span.scan.word(at.end - 1) for at in (low, high)]
        if all(len(word) == 4 and word[:2] in ("19", "20") for word in words):
            return None
        named = _money(span)
    return None if named is None else _between(span, named, low, high)


def _equal_numbers(
    span: RequestSpan, named: NamedColumn, numbers: Sequence[Number], or_more: str | None = None
) -> ConditionClause | None:
    column, scan = named.column, span.scan
    word = scan.word(numbers[0].place)
    has_years = any(one.is_moment or one.role == "year" for one in scan.table.columns)
    is_led = bool(scan.at(named.end, "is"))
    if len(word) == 4 and word[:2] in ("19", "20") and has_years and column.role != "year" and (
        not is_led
    ):  # fmt: skip
        # "Revenue 2024" is no revenue of 2024.
        return None
    texts = [one.of(scan, column) for one in numbers]
    if or_more is not None:
        return _compared(column, _OPERATORS[or_more], texts[0]) if len(texts) == 1 else None
    if len(texts) == 1:
        return _compared(column, "=", texts[0])
    return ConditionClause(
        f"{expressions.column(column.name)} in ({', '.join(texts)})",
        f"{column.name} is {' or '.join(texts)}", (column,),
        slug=f"{slug(column.name)}-{'-'.join(texts)}",
    )  # fmt: skip


def _numbers_alone(
    span: RequestSpan, numbers: Sequence[Number], _end: object
) -> ConditionClause | None:
    """Read "alle mit 5 oder 6": of the only column of few numbers that has all of them."""
    scan = span.scan
    texts = {scan.word(one.place) for one in numbers}
    found = [
        c for c in scan.table.columns if c.is_number and c.is_listed and texts <= set(c.values)
    ]
    if len(found) != 1 or (found[0].adds_up is False and found[0].role == "id"):
        return None
    return _equal_numbers(span, NamedColumn(found[0], span.start, span.start), numbers)


def _number_or_more(
    span: RequestSpan, number: Number, named: NamedColumn, concept: str
) -> ConditionClause | None:
    """Read "3 rooms or more"."""
    return _equal_numbers(span, named, (number,), concept)


def _unlike_number(span: RequestSpan, named: NamedColumn, number: Number) -> ConditionClause:
    found = _equal_numbers(span, named, (number,))
    return denied(found or _compared(named.column, "=", number.of(span.scan, named.column)))


def _numbered(
    span: RequestSpan, numbers: Sequence[Number], named: NamedColumn
) -> ConditionClause | None:
    """Read "with 20% discount": the number stands before what it is of."""
    return None if span.scan.is_noun(named.start) else _equal_numbers(span, named, numbers)


def _against(
    _: RequestSpan, named: NamedColumn, concept: str, other: NamedColumn
) -> ConditionClause | None:
    mine, theirs, operator = named.column, other.column, _OPERATORS[concept]
    if mine == theirs:
        return None
    return ConditionClause(
        expressions.compared(mine.name, operator, expressions.column(theirs.name)),
        f"{mine.name} {_WORDS[operator]} {theirs.name}", (mine, theirs),
        slug=slug(f"{mine.name} {_SIGNS[operator]} {theirs.name}"),
    )  # fmt: skip


_LIMITS = frozenset(
    ["budget", "limit", "target", "plan", "soll", "ziel", "goal", "quota", "allowance", "reorder",
     "minimum", "maximum"]
)  # fmt: skip


def _against_limit(span: RequestSpan, concept: str, limit: NamedColumn) -> ConditionClause | None:
    """Read "under Mindestbestand", "projects over budget": of the column that has such a limit."""
    column, columns = limit.column, span.scan.table.columns
    found = [
        one for one in columns
        if one.is_number and one != column and len(one.name) >= 4
        and column.name.casefold().endswith(one.name.casefold())
    ]  # fmt: skip
    if not found and _LIMITS & set(tokens(column.name)):
        found = [one for one in columns if one.adds_up and one != column]
    if len(found) != 1:
        return None
    return _against(span, NamedColumn(found[0], span.start, span.start), concept, limit)


def money_columns(scan: RequestScan) -> list[KnownColumn]:
    """Return the columns that "over 100 euros" may be about."""
    named = [c for c in scan.vocabulary.meaning("money", "revenue", "cost") if c.role != "id"]
    named = named or [c for c in scan.table.columns if c.type == "float" and c.adds_up]
    named = [one for one in named if not BESIDE & set(tokens(one.name))] or named
    # An order of 100 euros is one whose amount is that, not its unit price.
    return [column for column in named if column.adds_up] or named


def _money(span: RequestSpan) -> NamedColumn | None:
    """Return the only column of money that a bound without a column may be about."""
    found = money_columns(span.scan)
    if len(found) > 1:
        scan = span.scan
        names = " or ".join(f'"{column.name}"' for column in found)
        raise SeveralError(
            f'"{span.text}" may be of {names}',
            [scan.rewritten(span.start, span.end, f"{quoted(c.name)} {span.text}") for c in found],
        )
    return NamedColumn(found[0], span.start, span.start) if found else None


_LENGTHS = frozenset(["length", "duration", "runtime", "lange", "dauer", "laufzeit"])
_AGES = frozenset(["age", "alter"])
_MEASURED = {
    "longer": _LENGTHS, "shorter": _LENGTHS, "langer": _LENGTHS, "kurzer": _LENGTHS,
    "older": _AGES, "younger": _AGES, "alter": _AGES, "junger": _AGES,
}  # fmt: skip
"""What names of columns say that may be longer or older than a number."""


def _bound_alone(span: RequestSpan, concept: str, number: Number) -> ConditionClause | None:
    scan = span.scan
    for names in (
        _MEASURED[word] for at in range(span.start, number.place)
        if (word := scan.word(at)) in _MEASURED
    ):  # fmt: skip
        # "Longer than 180" is of a length, and never of an amount of money.
        meant = [c for c in scan.table.columns if c.is_number and names & set(tokens(c.name))]
        fits = len(meant) == 1
        return _bound(span, NamedColumn(meant[0], 0, 0), concept, number) if fits else None
    behind = scan.column(span.end)
    if behind is not None and any(column.is_number for column in behind.columns):
        return None
    has_unit = scan.word(number.place) in UNITS or scan.word(number.end - 1) in UNITS
    ages = [c for c in scan.table.columns if c.is_number and _AGES & set(tokens(c.name))]
    if ages and not has_unit and money_columns(scan):
        # "People over 30" says no amount of money.
        raise SeveralError(
            f'"{span.text}" may be of "{ages[0].name}", or of an amount',
            [scan.rewritten(span.start, number.place, f"{quoted(ages[0].name)} {concept}")],
        )
    named = _money(span)
    if named is None:
        return None
    return msgspec.structs.replace(_bound(span, named, concept, number), is_bare=True)


def _amount_or_more(
    span: RequestSpan, number: Number, concept: str, named: NamedColumn | None
) -> ConditionClause | None:
    named = named or _money(span)
    return None if named is None else _equal_numbers(span, named, (number,), concept)


def _signed(span: RequestSpan, concept: str, named: NamedColumn | None) -> ConditionClause | None:
    money = money_columns(span.scan)
    column = named.column if named else money[0] if len(money) == 1 else None
    if column is None or not column.adds_up:
        return None
    found = _compared(column, _OPERATORS[concept], "0")
    return msgspec.structs.replace(found, slug=concept)


def _free(span: RequestSpan, _noun: int) -> ConditionClause | None:
    prices = [one for one in span.scan.table.columns if one.role == "unit price"]
    if len(prices) != 1:
        return None
    return msgspec.structs.replace(_compared(prices[0], "=", "0"), slug="free")


_FUNCTIONS = {
    "not_contains": ("contains", "does not contain"), "contains": ("contains", "contains"),
    "starts": ("starts_with", "starts with"), "ends": ("ends_with", "ends with"),
}  # fmt: skip


def _contains(span: RequestSpan, named: NamedColumn, concept: str, text: str) -> ConditionClause:
    column, (function, words) = named.column, _FUNCTIONS[concept]
    if not column.is_text:
        raise UnclearError(f'"{column.name}" holds no texts')
    check_contained(column, function, text, words)
    found = ConditionClause(
        expressions.contained(column, function, text, exact=span.scan.is_exact),
        f'{column.name} {words} "{text}"', (column,), slug=f"{slug(column.name)}-{slug(text)}",
    )  # fmt: skip
    negated = expressions.negated(column, found.expression)
    is_negative = concept == "not_contains"
    return msgspec.structs.replace(found, expression=negated) if is_negative else found


def _emptiness(column: KnownColumn, *, is_filled: bool) -> ConditionClause:
    text = expressions.filled(column.name) if is_filled else expressions.empty(column.name)
    return ConditionClause(
        text, f"{column.name} is {'not ' * is_filled}empty", (column,),
        slug=f"{'with' if is_filled else 'without'}-{slug(column.name)}",
    )  # fmt: skip


def _is_empty(_: RequestSpan, named: NamedColumn, concept: str) -> ConditionClause:
    return _emptiness(named.column, is_filled=concept == "not_empty")


def _empty_before(span: RequestSpan, concept: str, named: NamedColumn) -> ConditionClause:
    return _is_empty(span, named, concept)


ARTICLES = frozenset(["a", "an", "any", "ein", "eine", "einen", "keine", "keinen", "no"])


def _lacks(span: RequestSpan, concept: str, named: NamedColumn) -> ConditionClause | None:
    scan = span.scan
    if span.end < len(scan) and scan.value(span.end) is not None:
        return None
    words = {scan.word(at) for at in range(span.start, named.start)}
    # "Customers without email" are rows; "without email" may leave the column out.
    before = scan.column(span.start - 1)
    is_thing = before is not None and any(one.is_text for one in before.columns)
    is_row = (scan.is_noun(span.start - 1) or is_thing) and not words & {"the", "die", "das", "den"}
    is_filled, column = concept == "has_any", named.column
    if column.is_number and column.role != "id" and not is_filled and is_row:
        name = quoted(column.name)
        raise SeveralError(
            f'"{span.text}" may be rows where "{column.name}" is 0, or where it is empty',
            [scan.rewritten(span.start, span.end, f"where {name} is {one}")
             for one in ("0", "empty")],
        )  # fmt: skip
    if not (is_filled or is_row or words & ARTICLES):
        return None
    return _emptiness(named.column, is_filled=is_filled)


def _values_of(
    span: RequestSpan, column: KnownColumn, values: Sequence[Valued]
) -> tuple[str, ...] | None:
    """Return the spellings of values that a column has, None where it lacks one."""
    scan, found = span.scan, list[str]()
    for value in values:
        spelt = next((some for one, some in value.found if one.name == column.name), None)
        if spelt is None:
            return None
        if scan.is_exact:
            written = scan.text(value.start, value.end).strip("\"'“”")
            if written not in spelt:
                raise UnclearError(
                    f'no row has "{written}" as {column.name}{values_text(column, written)}'
                )
            spelt = (written,)
        found += [one for one in spelt if one not in found]
    return tuple(found)


def _equal(span: RequestSpan, column: KnownColumn, values: Sequence[str]) -> ConditionClause:
    """Return that a column is one of some values, of which spellings count as one."""
    scan, notes = span.scan, tuple[str, ...]()
    shown = list(values)
    if not scan.is_exact:
        best: dict[str, str] = {}
        for value in sorted(values, key=lambda one: -column.values.get(one, 0)):
            best.setdefault(value.casefold(), value)
        shown = list(best.values())
        if column.is_text and len(shown) < len(values):
            *most, last = (f'"{one}"' for one in sorted(values))
            told = f"{', '.join(most)} and {last} count as one {column.name}"
            notes = (f'{told} ("{shown[0]}"); say "exactly" to tell them apart',)
    named = " or ".join(shown)
    return ConditionClause(
        expressions.one_of(column, shown, exact=scan.is_exact), f"{column.name} is {named}",
        (column,), slug="-".join(map(slug, shown)), values=tuple(shown), notes=notes,
    )  # fmt: skip


def _is_value(
    span: RequestSpan, named: NamedColumn, _is: str | None, values: Sequence[Valued]
) -> ConditionClause | None:
    found = _values_of(span, named.column, values)
    return _equal(span, named.column, found) if found else None


def _is_no_value(
    span: RequestSpan, named: NamedColumn, _is: str, values: Sequence[Valued]
) -> ConditionClause | None:
    found = _is_value(span, named, None, values)
    return denied(found) if found else None


def _bare_values(
    span: RequestSpan, values: Sequence[Valued], behind: NamedColumn | None = None
) -> ConditionClause | None:
    """Read values that stand without their column, or before it: "Berlin or Bonn", "IT department".

    Raises:
        SeveralError: Several columns have them.
    """
    scan, first = span.scan, values[0]
    columns = [column for column, _ in first.found if not column.is_number]
    if behind is not None:
        columns = [one for one in columns if one.name == behind.column.name]
    columns = [one for one in columns if _values_of(span, one, values)]
    if not columns:
        return None
    if len(columns) > 1:
        text = scan.text(first.start, first.end)
        names = " or ".join(f'"{column.name}"' for column in columns)
        raise SeveralError(
            f'"{text}" is a value of {names}',
            [scan.rewritten(first.start, first.end, f"{quoted(c.name)} is {text}")
             for c in columns],
        )  # fmt: skip
    return _equal(span, columns[0], _values_of(span, columns[0], values) or ())


def _plain_values(span: RequestSpan, values: Sequence[Valued]) -> ConditionClause | None:
    """Read values whose words mean nothing else, or that are written as values."""
    scan = span.scan
    unmarked = [one for one in values if not one.is_plain and not is_marked(scan, one)]
    if unmarked or scan.kind(span.start) == "number":
        return None
    return _bare_values(span, values)


def _no_values(span: RequestSpan, _not: str, values: Sequence[Valued]) -> ConditionClause | None:
    """Read "not finished yet" of a value."""
    found = _bare_values(span, values)
    return None if found is None else denied(found)


def _missing_value(span: RequestSpan, named: NamedColumn, text: str) -> None:
    """Decline a value that no row has, with those that there are."""
    column = named.column
    if not column.is_text or not (column.values or column.is_listed):
        return
    if text.partition(" ")[0].casefold() in ("not", "nicht", "exactly", "exakt"):
        return
    if span.scan.value(span.end - 1) is not None:
        return
    raise UnclearError(f'no row has "{text}" as {column.name}{values_text(column, text)}')


def denied(condition: ConditionClause) -> ConditionClause:
    """Return that a condition does not hold; an empty field is no value."""
    column = condition.columns[0]
    for is_filled in (False, True):
        opposite = _emptiness(column, is_filled=not is_filled)
        if condition.expression == _emptiness(column, is_filled=is_filled).expression:
            return msgspec.structs.replace(
                condition, expression=opposite.expression, text=opposite.text,
                slug=opposite.slug, is_negative=True,
            )  # fmt: skip
    expression = expressions.negated(column, condition.expression)
    text = (
        condition.text.replace(" is ", " is not ", 1)
        if condition.values or " is in " in condition.text
        else f"not: {condition.text}"
    )
    return msgspec.structs.replace(
        condition, expression=expression, text=text, slug=f"without-{condition.slug}",
        is_negative=True,
    )  # fmt: skip


def _yes(span: RequestSpan, negation: str | None, named: NamedColumn) -> ConditionClause | None:
    """Read "billable hours", "not approved yet", "are active"."""
    scan, column = span.scan, named.column
    value = column.no if negation else column.yes
    follows = scan.value(span.end)
    own = follows is not None and any(one.name == column.name for one, _ in follows.found)
    if value is None or scan.at(span.end, "is", "is_not") or own:
        return None
    if not negation:
        behind = scan.column(span.end)
        is_before = (
            scan.is_noun(span.end)
            or follows is not None
            or (behind is not None and behind.columns[0].is_number and behind.level <= STEM)
        )
        if not is_before and scan.word(span.start - 1) not in _BEING:
            return None
    return _equal(span, column, (value,))


_BEING = frozenset(["are", "is", "were", "was", "sind", "ist", "waren", "war"])


def _not_dated(span: RequestSpan, _not: str, named: NamedColumn) -> ConditionClause | None:
    """Read "not returned yet" of a column of dates that is called so."""
    if not span.scan.word(named.start).endswith(("ed", "t", "en")):
        return None
    return _emptiness(named.column, is_filled=False)


def _having(
    _: RequestSpan, figures: Sequence[FigureClause], concept: str, number: Number
) -> HavingClause | None:
    if len(figures) != 1:
        return None
    return HavingClause(figures[0], _OPERATORS[concept], number)


def _having_count(
    span: RequestSpan, concept: str, number: Number, thing: NamedColumn | None, noun: int | None
) -> HavingClause | None:
    """Read "with more than 3 orders": of each of what was named before so many rows."""
    if (thing is None and noun is None) or (noun is not None and span.scan.value(noun)):
        return None
    subject = None if thing is None or span.scan.is_noun(thing.start) else thing.column
    figure = FigureClause("count", None, subject is None, span.start, subject)
    return HavingClause(figure, _OPERATORS[concept], number)


def _single(_: RequestSpan, condition: object) -> tuple[object, ...]:
    return condition if isinstance(condition, tuple) else (condition,)


def _more(_: RequestSpan, condition: object, joint: str, others: tuple[object, ...]) -> object:
    first, *rest = others
    joined = "or" if joint == "or" else "and"
    first = msgspec.structs.replace(first, joint=joined) if isinstance(
        first, ConditionClause) else first  # fmt: skip
    own = condition if isinstance(condition, tuple) else (condition,)
    return (*own, first, *rest)


def _denied_all(
    span: RequestSpan, _except: str, _noun: int | None, conditions: tuple[object, ...]
) -> object:
    """Return conditions that are left out: each of them."""
    found = [one for one in conditions if isinstance(one, ConditionClause)]
    if len(found) != len(conditions):
        return None
    if len({bool(one.values) for one in found}) > 1:
        # "Except west and only 2024": what is left out ends before the second.
        words = {span.scan.word(at) for at in range(span.start, span.end)}
        if words & _ONLY:
            return None
        raise UnclearError("it does not say what of it is left out")
    return tuple(msgspec.structs.replace(denied(one), joint="and") for one in found)


_ONLY = frozenset(["only", "just", "nur", "in", "im"])
_OF = "('of'|'von'|'a'|'an')"
_COMPARED = ":(more|at_least|less|at_most)"
_PLACED = (
    "('in'|'from'|'of'|'for'|'by'|'at'|'with'|'to'|'aus'|'von'|'fur'|'mit'|'bei'|'im'|'on'|'an'"
    "|'nach'|'via'|'durch'|'through')"
)
_YET = "('yet'|'been'|'noch'|'schon'|'already')*"

CONDITION_RULES: tuple[Production, ...] = (
    Production("condition", f"NUMERIC is? {_COMPARED} NUMBER", _bound),
    Production("condition", f"ANYNUMBER is? {_COMPARED} NUMBER", _bound, 0.1),
    Production("condition", f"TEXTS is? {_COMPARED} NUMBER", _bound_texts),
    Production("condition", f"NUMERIC is? {_COMPARED} NUMBER and {_COMPARED} NUMBER", _bounds),
    Production("condition", f"{_COMPARED} NUMBER {_OF}* ANYNUMBER", _bound_before, 0.1),
    Production("condition", f"{_COMPARED} NUMBER", _bound_alone, 0.6),
    Production("condition", "NUMERIC is? between NUMBER range_to NUMBER", _between),
    Production("condition", "between NUMBER range_to NUMBER NUMERIC?", _between_before),
    Production("condition", f"NUMERIC (is|{_OF}|'(')? NUMBER~ ')'?", _equal_numbers, 0.2),
    Production("condition", f"NUMERIC (is|{_OF})? NUMBER~ :(or_more|or_less)", _equal_numbers),
    Production("condition", "NUMBER NUMERIC :(or_more|or_less)", _number_or_more),
    Production("condition", "NUMERIC is_not NUMBER", _unlike_number),
    Production("condition", "('with'|'mit') NUMBER~ NUMERIC", _numbered),
    Production("condition", "('with'|'mit') NUMBER~ END", _numbers_alone, 0.5),
    Production("condition", f"NUMERIC is? {_COMPARED} NUMERIC", _against),
    Production("condition", f"{_COMPARED} EXACT", _against_limit, 0.2),
    Production("condition", f"{_OF}? NUMBER :(or_more|or_less) NUMERIC?", _amount_or_more, 0.4),
    Production("condition", ":(negative|positive) AMOUNT?", _signed),
    Production("condition", "('free'|'kostenlose'|'kostenlosen'|'gratis') NOUN", _free),
    Production("condition", "COLUMN :(not_contains|contains|starts|ends) RAW", _contains),
    Production("condition", "COLUMN is? :(not_empty|empty)", _is_empty),
    Production("condition", ":(empty) COLUMN", _empty_before),
    Production("condition", ":(lacks|has_any) COLUMN", _lacks, -0.4),
    Production("condition", "COLUMN :(is|one_of)? one_of? exactly? '('? VALUE~ ')'?", _is_value),
    Production("condition", "COLUMN :(is_not|not_one_of) exactly? VALUE~", _is_no_value),
    Production("condition", "COLUMN (is|is_not|one_of) exactly? RAW", _missing_value, 5.0),
    Production("condition", f":(is_not|except) {_YET} VALUE~", _no_values, 0.2),
    Production("condition", "VALUE~ COLUMN", _bare_values, 0.2),
    Production("condition", "VALUE~", _plain_values, 0.3),
    Production("condition", f"{_PLACED} VALUE~", _plain_values, -0.8),
    Production("led_condition", "VALUE~", _bare_values, 0.3),
    Production("condition", f":(is_not|except)? {_YET} YESNO {_YET}", _yes, 0.1),
    Production("condition", f":(is_not|except) {_YET} DAYS {_YET}", _not_dated, 0.1),
    Production("condition", f"figures {_COMPARED} NUMBER", _having, 0.1),
    Production("condition", f"{_COMPARED} NUMBER THING? NOUN?", _having_count, 0.5),
    Production("conditions", "condition", _single),
    Production("conditions", "condition :(or|and) conditions", _more, -0.1),
    Production("where_clause", "where* only? where* (only|where) NOUN? where* conditions",
         lambda _, __, found: found),
    Production("where_clause", "conditions", lambda _, found: found, 0.4),
    Production("where_clause", ":(except) where* NOUN? where* (conditions|led_conditions)",
         _denied_all, 0.1),
    Production("led_conditions", "led_condition", _single),
    Production("where_clause", "(where|only) NOUN? where* led_conditions",
         lambda _, __, found: found, 0.2),
)  # fmt: skip
"""Rules of `condition`, and of `where`, which is a clause."""
