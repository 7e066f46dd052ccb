"""Rules for conditions: comparisons, values, empty fields, yes and no, figures of groups. Pure."""

import difflib
from collections.abc import Sequence

import msgspec

from kbd_offline import expressions
from kbd_offline.clauses import ConditionClause, FigureClause, HavingClause, condition_on
from kbd_offline.facts import KnownColumn
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import BESIDE, COMPOUND, PART, STEM
from kbd_offline.names import slug, tokens
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, cued, is_cue, quoted
from kbd_offline.terminals import UNITS, NamedColumn, Number, Valued

__all__ = ["CONDITION_RULES"]

_Found = tuple[object, ...]
_Perhaps = ConditionClause | None
"""None where the words may not mean one, so that other rules have them."""
_OPERATORS = {
    "more": ">", "at_least": ">=", "less": "<", "at_most": "<=", "or_more": ">=", "or_less": "<=",
    "negative": "<", "positive": ">",
}  # fmt: skip
_WORDS = {
    ">": ("is over", "over"), ">=": ("is at least", "from"), "<": ("is under", "under"),
    "<=": ("is at most", "up-to"), "=": ("is", ""),
}  # fmt: skip
"""What operators are called in words, and in names of files."""
_CONTAINS = {
    "not_contains": ("contains", "does not contain"), "contains": ("contains", "contains"),
    "starts": ("starts_with", "starts with"), "ends": ("ends_with", "ends with"),
}  # fmt: skip
_LENGTHS = frozenset(["length", "duration", "runtime", "lange", "dauer", "laufzeit"])
_AGES = frozenset(["age", "alter"])
_MEASURED = {
    "longer": _LENGTHS, "shorter": _LENGTHS, "langer": _LENGTHS, "kurzer": _LENGTHS,
    "older": _AGES, "younger": _AGES, "alter": _AGES, "junger": _AGES,
}  # fmt: skip
"""What names of columns say that may be longer or older than a number."""
_MAX_LISTED = 12


def _compared(column: KnownColumn, operator: str, number: str) -> ConditionClause:
    word, sign = _WORDS[operator]
    name = "-".join(filter(None, (slug(column.name), sign, number)))
    expression = expressions.compared(column.name, operator, number)
    return condition_on(column, expression, f"{word} {number}", name)


def _bound(span: RequestSpan, named: NamedColumn, concept: str, number: Number) -> ConditionClause:
    return _compared(named.column, _OPERATORS[concept], number.of(span.scan, named.column))


def _bound_texts(_: RequestSpan, named: NamedColumn, _concept: str, _number: Number) -> None:
    """Say why a column of texts among numbers is not compared with a number."""
    if named.column.why_text:
        raise UnclearError(f'"{named.column.name}" holds no numbers: {named.column.why_text}')


def _bound_before(span: RequestSpan, concept: str, number: Number, named: NamedColumn) -> _Perhaps:
    is_value = named.level > COMPOUND and span.scan.value(named.start) is not None
    return None if is_value else _bound(span, named, concept, number)


def _between(
    span: RequestSpan, low: Number, high: Number, named: NamedColumn | None = None
) -> _Perhaps:
    if named is None and all(_is_year(span.scan.word(one.end - 1)) for one in (low, high)):
        return None
    named = named or _money(span)
    if named is None:
        return None
    column, name = named.column, expressions.column(named.column.name)
    first, last = low.of(span.scan, column), high.of(span.scan, column)
    return condition_on(
        column, f"{name} >= {first} and {name} <= {last}", f"is from {first} to {last}",
        f"{slug(column.name)}-{first}-to-{last}",
    )  # fmt: skip


def _is_year(word: str) -> bool:
    return len(word) == 4 and word[:2] in ("19", "20")


def _equal_numbers(
    span: RequestSpan, named: NamedColumn | None, numbers: Sequence[Number], way: str | None = None
) -> _Perhaps:
    """Read "5 or 6 rooms", "3 rooms or more", "5 or more" of the only amount of money."""
    named = named or _money(span)
    if named is None:
        return None
    column, scan = named.column, span.scan
    has_years = any(one.is_moment or one.role == "year" for one in scan.table.columns)
    is_led = column.role == "year" or scan.at(named.end, "is")
    if has_years and _is_year(scan.word(numbers[0].place)) and not is_led:
        # "Revenue 2024" is no revenue of 2024.
        return None
    texts = [one.of(scan, column) for one in numbers]
    if len(texts) == 1:
        return _compared(column, _OPERATORS[way] if way else "=", texts[0])
    return None if way else condition_on(
        column, f"{expressions.column(column.name)} in ({', '.join(texts)})",
        f"is {' or '.join(texts)}", f"{slug(column.name)}-{'-'.join(texts)}",
    )  # fmt: skip


def _numbers_alone(span: RequestSpan, numbers: Sequence[Number], _end: object) -> _Perhaps:
    """Read "alle mit 5 oder 6": of the only column of few numbers that has all of them."""
    texts = {span.scan.word(one.place) for one in numbers}
    found = [
        one for one in span.scan.table.columns
        if one.is_number and one.is_listed and texts <= set(one.values)
    ]  # fmt: skip
    if len(found) != 1 or found[0].role == "id":
        return None
    return _equal_numbers(span, _meant(span, found[0]), numbers)


def _meant(span: RequestSpan, column: KnownColumn) -> NamedColumn:
    """Return a column that is meant and not named."""
    return NamedColumn(column, span.start, span.start)


def _denied_if(condition: ConditionClause | None) -> _Perhaps:
    return None if condition is None else _denied(condition)


def _unlike_number(span: RequestSpan, named: NamedColumn, number: Number) -> ConditionClause:
    found = _equal_numbers(span, named, (number,))
    return _denied(found or _compared(named.column, "=", number.of(span.scan, named.column)))


def _against(_: RequestSpan, named: NamedColumn, concept: str, other: NamedColumn) -> _Perhaps:
    mine, theirs, operator = named.column, other.column, _OPERATORS[concept]
    if mine == theirs:
        return None
    word, sign = _WORDS[operator]
    expression = expressions.compared(mine.name, operator, expressions.column(theirs.name))
    name = slug(f"{mine.name} {sign} {theirs.name}")
    return ConditionClause(
        expression, f"{mine.name} {word} {theirs.name}", (mine, theirs), slug=name
    )


def _against_limit(span: RequestSpan, concept: str, limit: NamedColumn) -> _Perhaps:
    """Read "under Mindestbestand", "projects over budget": of the column that has such a limit."""
    column = limit.column
    others = [one for one in span.scan.table.columns if one.is_number and one != column]
    found = [
        one for one in others
        if len(one.name) >= 4 and column.name.casefold().endswith(one.name.casefold())
    ]  # fmt: skip
    if not found and LEXICON.cues["limit"] & set(tokens(column.name)):
        found = [one for one in others if one.adds_up]
    return _against(span, _meant(span, found[0]), concept, limit) if len(found) == 1 else None


def _money_columns(scan: RequestScan) -> list[KnownColumn]:
    """Return the columns that "over 100 euros" may be about."""
    named = [c for c in scan.vocabulary.meaning("money", "revenue", "cost") if c.role != "id"]
    named = named or [c for c in scan.table.columns if c.type == "float" and c.adds_up]
    named = [one for one in named if not BESIDE & set(tokens(one.name))] or named
    # An order of 100 euros is one whose amount is that, not its unit price.
    return [column for column in named if column.adds_up] or named


def _money(span: RequestSpan) -> NamedColumn | None:
    """Return the only column of money that a bound without a column may be about."""
    found = _money_columns(span.scan)
    if len(found) > 1:
        names = " or ".join(f'"{column.name}"' for column in found)
        raise SeveralError(
            f'"{span.text}" may be of {names}',
            [span.rewritten(f"{quoted(one.name)} {span.text}") for one in found],
        )
    return _meant(span, found[0]) if found else None


def _bound_alone(span: RequestSpan, concept: str, number: Number) -> _Perhaps:
    scan = span.scan
    numeric = [one for one in scan.table.columns if one.is_number]
    led = (_MEASURED.get(scan.word(at)) for at in range(span.start, number.place))
    if names := next(filter(None, led), None):
        # "Longer than 180" is of a length, and never of an amount of money.
        meant = [one for one in numeric if names & set(tokens(one.name))]
        return _bound(span, _meant(span, meant[0]), concept, number) if len(meant) == 1 else None
    behind = scan.column(span.end)
    if behind is not None and any(column.is_number for column in behind.columns):
        return None
    has_unit = {scan.word(number.place), scan.word(number.end - 1)} & set(UNITS)
    ages = [one for one in numeric if _AGES & set(tokens(one.name))]
    if ages and not has_unit and _money_columns(scan):
        # "People over 30" says no amount of money.
        raise SeveralError(
            f'"{span.text}" may be of "{ages[0].name}", or of an amount',
            [scan.rewritten(span.start, number.place, f"{quoted(ages[0].name)} {concept}")],
        )
    named = _money(span)
    if named is None:
        return None
    return msgspec.structs.replace(_bound(span, named, concept, number), is_bare=True)


def _signed(span: RequestSpan, concept: str, named: NamedColumn | None) -> _Perhaps:
    columns = [named.column] if named else _money_columns(span.scan)
    if len(columns) != 1 or not columns[0].adds_up:
        return None
    found = _compared(columns[0], _OPERATORS[concept], "0")
    return msgspec.structs.replace(found, slug=concept)


def _free(span: RequestSpan, _noun: int) -> _Perhaps:
    prices = [one for one in span.scan.table.columns if one.role == "unit price"]
    if len(prices) != 1:
        return None
    return msgspec.structs.replace(_compared(prices[0], "=", "0"), slug="free")


def _contains(span: RequestSpan, named: NamedColumn, concept: str, text: str) -> ConditionClause:
    column, (function, words) = named.column, _CONTAINS[concept]
    if not column.is_text:
        raise UnclearError(f'"{column.name}" holds no texts')
    small, found = text.casefold(), [one.casefold() for one in column.values]
    has = {"starts_with": str.startswith, "ends_with": str.endswith}.get(function, str.__contains__)
    if column.is_listed and not any(has(one, small) for one in found):
        raise UnclearError(f'in no row {column.name} {words} "{text}"{_values_text(column)}')
    expression = expressions.contained(column, function, text, exact=span.scan.is_exact)
    if concept == "not_contains":
        expression = expressions.negated(column, expression)
    return condition_on(
        column, expression, f'{words} "{text}"', f"{slug(column.name)}-{slug(text)}"
    )


def _emptiness(column: KnownColumn, *, is_filled: bool) -> ConditionClause:
    words = f"is {'not ' * is_filled}empty"
    name = f"{'with' if is_filled else 'without'}-{slug(column.name)}"
    return condition_on(column, f"{expressions.column(column.name)} {words}", words, name)


def _lacks(span: RequestSpan, concept: str, named: NamedColumn) -> _Perhaps:
    scan = span.scan
    if scan.value(span.end) is not None:
        return None
    # "Customers without email" are rows; "without email" may leave the column out.
    before = scan.column(span.start - 1)
    is_thing = before is not None and any(one.is_text for one in before.columns)
    is_row = (scan.is_noun(span.start - 1) or is_thing) and not (
        cued(scan, "the", span.start, named.start)
    )
    is_filled, column = concept == "has_any", named.column
    if column.is_number and column.role != "id" and not is_filled and is_row:
        raise SeveralError(
            f'"{span.text}" may be rows where "{column.name}" is 0, or where it is empty',
            [span.rewritten(f"where {quoted(column.name)} is {one}") for one in ("0", "empty")],
        )
    if not (is_filled or is_row or cued(scan, "article", span.start, named.start)):
        return None
    return _emptiness(column, is_filled=is_filled)


def _values_text(column: KnownColumn, value: str = "") -> str:
    """Return the values that a column has, and the one near another."""
    text = f"; {column.name} has {column.distinct:,} different values"
    best: dict[str, str] = {}
    rows_of: dict[str, int] = {}
    for one in sorted(column.values, key=lambda one: -column.values[one]):
        best.setdefault(one.casefold(), one)
        rows_of[one.casefold()] = rows_of.get(one.casefold(), 0) + column.values[one]
    shown = [best[small] for small in sorted(rows_of, key=lambda one: -rows_of[one])]
    if column.is_listed and len(shown) <= _MAX_LISTED:
        rows = sum(column.values.values())
        text = f"; {column.name} is one of {', '.join(shown)} ({rows:,} rows)"
    near = difflib.get_close_matches(value.strip().casefold(), list(rows_of), 1, 0.5)
    return f'{text}; did you mean "{best[near[0]]}"?' if near else text


def _is_marked(scan: RequestScan, found: Valued) -> bool:
    """Tell whether a word that may mean something else is written as the value, before a noun."""
    text = scan.text(found.start, found.end)
    spelt = any(text == value for _, values in found.found for value in values)
    mention = scan.column(found.end)
    before_noun = scan.is_noun(found.end) or (mention is not None and mention.level <= PART)
    listed = scan.value(scan.behind_connector(found.end))
    is_listed = listed is not None and listed.start > found.end and listed.is_plain and any(
        column == other for column, _ in found.found for other, _ in listed.found
    )  # fmt: skip
    is_inside = is_cue(scan, found.start - 1, "inside")
    is_spelt = spelt and text[:1].isupper() and found.start > 0
    return before_noun or is_listed or is_inside or is_spelt


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
                raise _no_row(column, written)
            spelt = (written,)
        found += [one for one in spelt if one not in found]
    return tuple(found)


def _no_row(column: KnownColumn, text: str) -> UnclearError:
    return UnclearError(f'no row has "{text}" as {column.name}{_values_text(column, text)}')


def _equal(span: RequestSpan, column: KnownColumn, values: Sequence[str]) -> ConditionClause:
    """Return that a column is one of some values, of which spellings count as one."""
    exact, notes = span.scan.is_exact, tuple[str, ...]()
    shown = list(values)
    if not exact:
        best: dict[str, str] = {}
        for value in sorted(values, key=lambda one: -column.values.get(one, 0)):
            best.setdefault(value.casefold(), value)
        shown = list(best.values())
        if column.is_text and len(shown) < len(values):
            notes = (expressions.spellings_note(column.name, sorted(values), shown[0]),)
    found = condition_on(
        column, expressions.one_of(column, shown, exact=exact), f"is {' or '.join(shown)}",
        "-".join(map(slug, shown)),
    )  # fmt: skip
    return msgspec.structs.replace(found, values=tuple(shown), notes=notes)


def _is_value(
    span: RequestSpan, named: NamedColumn, _is: str | None, values: Sequence[Valued]
) -> _Perhaps:
    found = _values_of(span, named.column, values)
    return _equal(span, named.column, found) if found else None


def _bare_values(
    span: RequestSpan, values: Sequence[Valued], behind: NamedColumn | None = None
) -> _Perhaps:
    """Read values that stand without their column, or before it: "Berlin or Bonn", "IT department".

    Raises:
        SeveralError: Several columns have them.
    """
    scan, first = span.scan, values[0]
    columns = [column for column, _ in first.found if not column.is_number]
    if behind is not None:
        columns = [one for one in columns if one.name == behind.column.name]
    spelt = [(one, found) for one in columns if (found := _values_of(span, one, values))]
    if len(spelt) > 1:
        text = scan.text(first.start, first.end)
        names = " or ".join(f'"{column.name}"' for column, _ in spelt)
        raise SeveralError(
            f'"{text}" is a value of {names}',
            [scan.rewritten(first.start, first.end, f"{quoted(c.name)} is {text}")
             for c, _ in spelt],
        )  # fmt: skip
    return _equal(span, *spelt[0]) if spelt else None


def _plain_values(span: RequestSpan, values: Sequence[Valued]) -> _Perhaps:
    """Read values whose words mean nothing else, or that are written as values."""
    scan = span.scan
    unmarked = [one for one in values if not one.is_plain and not _is_marked(scan, one)]
    is_number = scan.kind(span.start) == "number"
    return None if unmarked or is_number else _bare_values(span, values)


def _missing_value(span: RequestSpan, named: NamedColumn, text: str) -> None:
    """Decline a value that no row has, with those that there are."""
    column = named.column
    is_known = column.is_text and (column.values or column.is_listed)
    is_led = text.partition(" ")[0].casefold() in ("not", "nicht", "exactly", "exakt")
    if is_known and not is_led and span.scan.value(span.end - 1) is None:
        raise _no_row(column, text)


def _denied(condition: ConditionClause) -> ConditionClause:
    """Return that a condition does not hold; an empty field is no value."""
    column, text, name = condition.columns[0], condition.text, f"without-{condition.slug}"
    expression = expressions.negated(column, condition.expression)
    for is_filled in (False, True):
        if condition.expression == _emptiness(column, is_filled=is_filled).expression:
            opposite = _emptiness(column, is_filled=not is_filled)
            return msgspec.structs.replace(opposite, is_negative=True)
    is_one = condition.values or " is in " in text
    text = text.replace(" is ", " is not ", 1) if is_one else f"not: {text}"
    return msgspec.structs.replace(
        condition, expression=expression, text=text, slug=name, is_negative=True
    )


def _yes(span: RequestSpan, negation: str | None, named: NamedColumn) -> _Perhaps:
    """Read "billable hours", "not approved yet", "are active"."""
    scan, column = span.scan, named.column
    value = column.no if negation else column.yes
    follows, behind = scan.value(span.end), scan.column(span.end)
    own = follows is not None and any(one.name == column.name for one, _ in follows.found)
    if value is None or scan.at(span.end, "is", "is_not") or own:
        return None
    is_number = behind is not None and behind.columns[0].is_number and behind.level <= STEM
    is_before = scan.is_noun(span.end) or follows is not None or is_number
    if not negation and not is_before and not is_cue(scan, span.start - 1, "being"):
        return None
    return _equal(span, column, (value,))


def _not_dated(span: RequestSpan, _not: str, named: NamedColumn) -> _Perhaps:
    """Read "not returned yet" of a column of dates that is called so."""
    is_called = span.scan.word(named.start).endswith(("ed", "t", "en"))
    return _emptiness(named.column, is_filled=False) if is_called else None


def _having_count(
    span: RequestSpan, concept: str, number: Number, thing: NamedColumn | None, noun: int | None
) -> HavingClause | None:
    """Read "with more than 3 orders": of each of what was named before so many rows."""
    if (thing is None and noun is None) or (noun is not None and span.scan.value(noun)):
        return None
    subject = None if thing is None or span.scan.is_noun(thing.start) else thing.column
    figure = FigureClause("count", None, subject is None, span.start, subject)
    return HavingClause(figure, _OPERATORS[concept], number)


def _single(_: RequestSpan, condition: object) -> _Found:
    return condition if isinstance(condition, tuple) else (condition,)


def _more(span: RequestSpan, condition: object, joint: str, others: _Found) -> _Found:
    first, *rest = others
    if isinstance(first, ConditionClause):
        first = msgspec.structs.replace(first, joint="or" if joint == "or" else "and")
    return (*_single(span, condition), first, *rest)


def _denied_all(
    span: RequestSpan, _except: str, _noun: int | None, conditions: _Found
) -> _Found | None:
    """Return conditions that are left out: each of them."""
    found = [one for one in conditions if isinstance(one, ConditionClause)]
    if len(found) != len(conditions):
        return None
    if len({bool(one.values) for one in found}) > 1:
        # "Except west and only 2024": what is left out ends before the second.
        if cued(span.scan, "only", span.start, span.end):
            return None
        raise UnclearError("it does not say what of it is left out")
    return tuple(msgspec.structs.replace(_denied(one), joint="and") for one in found)


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
    Production("condition", f"NUMERIC is? {_COMPARED} NUMBER and {_COMPARED} NUMBER",
         lambda s, c, *bounds: (_bound(s, c, *bounds[:2]), _bound(s, c, *bounds[2:]))),
    Production("condition", f"{_COMPARED} NUMBER {_OF}* ANYNUMBER", _bound_before, 0.1),
    Production("condition", f"{_COMPARED} NUMBER", _bound_alone, 0.6),
    Production("condition", "NUMERIC is? between NUMBER range_to NUMBER",
         lambda s, column, low, high: _between(s, low, high, column)),
    Production("condition", "between NUMBER range_to NUMBER NUMERIC?", _between),
    Production("condition", f"NUMERIC (is|{_OF}|'(')? NUMBER~ ')'?", _equal_numbers, 0.2),
    Production("condition", f"NUMERIC (is|{_OF})? NUMBER~ :(or_more|or_less)", _equal_numbers),
    Production("condition", "NUMBER NUMERIC :(or_more|or_less)",
         lambda s, number, column, way: _equal_numbers(s, column, (number,), way)),
    Production("condition", "NUMERIC is_not NUMBER", _unlike_number),
    Production("condition", "('with'|'mit') NUMBER~ NUMERIC",
         lambda s, n, one: None if s.scan.is_noun(one.start) else _equal_numbers(s, one, n)),
    Production("condition", "('with'|'mit') NUMBER~ END", _numbers_alone, 0.5),
    Production("condition", f"NUMERIC is? {_COMPARED} NUMERIC", _against),
    Production("condition", f"{_COMPARED} EXACT", _against_limit, 0.2),
    Production("condition", f"{_OF}? NUMBER :(or_more|or_less) NUMERIC?",
         lambda s, number, way, column: _equal_numbers(s, column, (number,), way), 0.4),
    Production("condition", ":(negative|positive) AMOUNT?", _signed),
    Production("condition", "('free'|'kostenlose'|'kostenlosen'|'gratis') NOUN", _free),
    Production("condition", "COLUMN :(not_contains|contains|starts|ends) RAW", _contains),
    Production("condition", "COLUMN is? :(not_empty|empty)",
         lambda _, one, way: _emptiness(one.column, is_filled=way == "not_empty")),
    Production("condition", "empty COLUMN", lambda _, one: _emptiness(one.column, is_filled=False)),
    Production("condition", ":(lacks|has_any) COLUMN", _lacks, -0.4),
    Production("condition", "COLUMN :(is|one_of)? one_of? exactly? '('? VALUE~ ')'?", _is_value),
    Production("condition", "COLUMN :(is_not|not_one_of) exactly? VALUE~",
         lambda s, *more: _denied_if(_is_value(s, *more))),
    Production("condition", "COLUMN (is|is_not|one_of) exactly? RAW", _missing_value, 5.0),
    Production("condition", f":(is_not|except) {_YET} VALUE~",
         lambda s, _, values: _denied_if(_bare_values(s, values)), 0.2),
    Production("condition", "VALUE~ COLUMN", _bare_values, 0.2),
    Production("condition", "VALUE~", _plain_values, 0.3),
    Production("condition", f"{_PLACED} VALUE~", _plain_values, -0.8),
    Production("led_condition", "VALUE~", _bare_values, 0.3),
    Production("condition", f":(is_not|except)? {_YET} YESNO {_YET}", _yes, 0.1),
    Production("condition", f":(is_not|except) {_YET} DAYS {_YET}", _not_dated, 0.1),
    Production("condition", f"figures {_COMPARED} NUMBER", lambda _, figures, way, number: (
         HavingClause(figures[0], _OPERATORS[way], number) if len(figures) == 1 else None), 0.1),
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
