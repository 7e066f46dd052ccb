"""Conditions of a request: values, comparisons, empty fields, and days. Pure."""

from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause, FigureClause
from kbd_offline.empty_fields import of_emptiness
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import BESIDE, PART, STEM, ColumnMention
from kbd_offline.names import slug, tokens
from kbd_offline.numerals import UNITS, number_at
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.value_conditions import (
    add_condition,
    emptiness_condition,
    equal_condition,
    equality_condition,
    is_true,
    or_names,
    text_condition,
)

__all__ = ["column_condition", "comparison", "yes_or_no"]

_OPERATORS = (("more", ">"), ("at_least", ">="), ("less", "<"), ("at_most", "<="))
_WORDS = {
    ">": "is over", ">=": "is at least", "<": "is under", "<=": "is at most", "=": "is",
}  # fmt: skip
_SIGNS = {">": "over", ">=": "from", "<": "under", "<=": "up-to", "=": ""}


def column_condition(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "COLUMN operator value" at a place; return where it ends, 0 where none is there.

    Raises:
        UnclearError: It compares with nothing that fits.
    """
    at = scan.skip(place, "det")
    mention = scan.column(at)
    if mention is None or (scan.is_noun(at) and mention.level >= PART and mention.end == at + 1):
        return 0
    behind = scan.skip(mention.end, "det") if scan.at(mention.end, "det") and not (
        scan.at(mention.end, "in") or scan.at(mention.end, "between")
    ) else mention.end  # fmt: skip
    for start in dict.fromkeys((mention.end, behind)):
        end = (
            _numbers(scan, clauses, mention, start)
            or emptiness_condition(scan, clauses, mention, start)
            or text_condition(scan, clauses, mention, start)
            or equality_condition(scan, clauses, mention, start)
        )
        if end:
            return _more_bounds(scan, clauses, mention, end)
    return is_true(scan, clauses, mention)


def _more_bounds(scan: RequestScan, clauses: Clauses, mention: ColumnMention, end: int) -> int:
    """Read "and under 1000" behind a comparison of the same column."""
    behind = scan.at(end, "and")
    for concept, operator in _OPERATORS if behind else ():
        start = scan.at(behind, concept)
        if not start or start < _longest(scan, behind) or scan.kind(start) != "number":
            continue
        if not any(column.is_number for column in mention.columns):
            continue
        column = scan.only(mention, lambda one: one.is_number)
        number = number_at(scan, start, column)
        following = scan.column(number[1]) if number else None
        if number and (following is None or not any(one.is_number for one in following.columns)):
            return _compare(scan, clauses, column, operator, start)
    return end


def _numbers(scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    numbers = [
        c for c in mention.columns if c.is_number and (c.role != "id" or mention.level < PART)
    ]
    if not numbers:
        _check_texts(scan, mention, at)
        return 0
    if end := _between(scan, clauses, mention, at):
        return end
    for concept, operator in (*_OPERATORS, ("is", "=")):
        end = scan.at(at, concept)
        if concept == "at_least" and not end:
            end = 0
        if end and (end < scan.at(at, "is_not") or end < _longest(scan, at)):
            continue
        value = number_at(scan, end, numbers[0]) if end else None
        if value is not None:
            column = scan.only(mention, lambda one: one.is_number)
            return _compare(scan, clauses, column, operator, end)
    if end := _against_column(scan, clauses, mention, at):
        return end
    if end := _is_not_number(scan, clauses, mention, at):
        return end
    if at > mention.end and not all(
        scan.word(one) in _OF for one in range(mention.end, at)
    ):  # fmt: skip
        # "Revenue for 2024" is no revenue of 2024.
        return 0
    is_year = scan.word(at)[:2] in ("19", "20") and len(scan.word(at)) == 4
    if is_year and any(one.is_moment or one.role == "year" for one in scan.table.columns) and (
        numbers[0].role != "year"
    ):  # fmt: skip
        return 0
    if scan.kind(at) == "number" and number_at(scan, at, numbers[0]) is not None:
        column = scan.only(mention, lambda one: one.is_number)
        return _compare(scan, clauses, column, "=", at)
    return 0


def _check_texts(scan: RequestScan, mention: ColumnMention, at: int) -> None:
    """Say why a column of texts among numbers is not compared with a number.

    Raises:
        UnclearError: It is to be.
    """
    (column, *others) = mention.columns
    ends = [scan.at(at, concept) for concept, _ in _OPERATORS]
    if not others and column.why_text and any(scan.kind(end) == "number" for end in ends if end):
        raise UnclearError(f'"{column.name}" holds no numbers: {column.why_text}')


def _between(scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "amount between 5 and 10"."""
    end = scan.at(at, "between")
    if not end:
        return 0
    column = scan.only(mention, lambda one: one.is_number)
    low = number_at(scan, end, column)
    to = scan.at(low[1], "range_to") if low else 0
    high = number_at(scan, to, column) if to else None
    if low and high:
        name = expressions.column(column.name)
        add_condition(clauses, ConditionClause(
            f"{name} >= {low[0]} and {name} <= {high[0]}",
            f"{column.name} is from {low[0]} to {high[0]}", (column,),
            slug=f"{slug(column.name)}-{low[0]}-to-{high[0]}",
        ))  # fmt: skip
        return high[1]
    return 0


def _is_not_number(scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "amount is not 0"."""
    end = scan.at(at, "is_not")
    if not end:
        return 0
    column = scan.only(mention, lambda one: one.is_number)
    value = number_at(scan, end, column)
    if value is not None:
        plain = expressions.compared(column.name, "=", value[0])
        add_condition(clauses, ConditionClause(
            expressions.negated(column, plain), f"{column.name} is not {value[0]}", (column,),
            slug=f"{slug(column.name)}-not-{value[0]}",
        ))  # fmt: skip
        return value[1]
    return 0


def _against_column(scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "stock greater than reorder level"."""
    for concept, operator in _OPERATORS:
        end = scan.at(at, concept)
        other = scan.column(scan.behind_det(end)) if end and end >= _longest(scan, at) else None
        if other is None or other.level > PART or not any(one.is_number for one in other.columns):
            continue
        mine = scan.only(mention, lambda one: one.is_number)
        theirs = scan.only(other, lambda one: one.is_number)
        add_condition(
            clauses,
            ConditionClause(
                expressions.compared(mine.name, operator, expressions.column(theirs.name)),
                f"{mine.name} {_WORDS[operator]} {theirs.name}",
                (mine, theirs),
                slug=slug(f"{mine.name} {_SIGNS[operator]} {theirs.name}"),
            ),
        )
        return other.end
    return 0


def _longest(scan: RequestScan, at: int) -> int:
    """Return where the longest comparison ends, so that "is" is not read for "is more than"."""
    return max(scan.at(at, concept) for concept, _ in _OPERATORS)


def _compare(
    scan: RequestScan, clauses: Clauses, column: KnownColumn, operator: str, at: int
) -> int:
    value = number_at(scan, at, column)
    if value is None:
        return 0
    number, end = value
    if operator == "=":
        for concept, other in (("or_more", ">="), ("or_less", "<=")):
            if behind := scan.at(end, concept):
                operator, end = other, behind
    sign = _SIGNS[operator]
    if operator == "=" and (listed := _number_list(scan, column, number, end)):
        numbers, end = listed
        name = expressions.column(column.name)
        add_condition(clauses, ConditionClause(
            f"{name} in ({', '.join(numbers)})", f"{column.name} is {' or '.join(numbers)}",
            (column,), slug=f"{slug(column.name)}-{'-'.join(numbers)}",
        ))  # fmt: skip
        return end
    add_condition(clauses, ConditionClause(
        expressions.compared(column.name, operator, number),
        f"{column.name} {_WORDS[operator]} {number}", (column,),
        slug="-".join(part for part in (slug(column.name), sign, number) if part),
    ))  # fmt: skip
    return end


def _number_list(
    scan: RequestScan, column: KnownColumn, first: str, end: int
) -> tuple[list[str], int] | None:
    """Return the numbers of "1 or 2", "1, 2 or 3", where there are several."""
    found = [first]
    while True:
        at = scan.at(end, "or") or (end + 1 if scan.is_sign(end) else 0)
        if not at or scan.kind(at) != "number" or scan.column(at + 1) is not None:
            break
        number = number_at(scan, at, column)
        if number is None:
            break
        found.append(number[0])
        end = number[1]
    return (found, end) if len(found) > 1 else None


def comparison(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read a comparison that stands before its column, or without one: "over 100 euros".

    Raises:
        SeveralError: Several columns may be meant.
    """
    for concept, operator in _OPERATORS:
        end = scan.at(place, concept)
        if not end or end < _longest(scan, place):
            continue
        if scan.kind(end) == "number" or scan.word(end) in UNITS:
            return _without_column(scan, clauses, operator, place, end)
        if found := _against_limit(scan, clauses, operator, end):
            return found
    if end := _or_more(scan, clauses, place) or _with_number(scan, clauses, place):
        return end
    for concept, operator in (("negative", "<"), ("positive", ">")):
        if end := scan.at(place, concept):
            return _signed(scan, clauses, operator, end)
    if end := scan.at(place, "between"):
        return _between_without_column(scan, clauses, end)
    return 0


def _or_more(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "of 100 or more", "100 Euro und mehr" without a column."""
    at = place + (scan.word(place) in ("of", "von", "for", "with", "mit"))
    number = number_at(scan, at, None if not _money(scan) else _money(scan)[0])
    if number is None:
        return 0
    for concept, operator in (("or_more", ">="), ("or_less", "<=")):
        if not (end := scan.at(number[1], concept)):
            continue
        behind = scan.column(end)
        if behind is not None or len(_money(scan)) != 1:
            return 0
        return max(_compare(scan, clauses, _money(scan)[0], operator, at), end)
    return 0


def _with_number(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "with 20% discount", "free" of what has one price."""
    if scan.word(place) in _FREE:
        prices = [one for one in scan.table.columns if one.role == "unit price"]
        if len(prices) == 1 and (scan.is_noun(place + 1) or place + 1 == len(scan)):
            name = prices[0].name
            add_condition(clauses, ConditionClause(
                expressions.compared(name, "=", "0"), f"{name} is 0", (prices[0],), slug="free",
            ))  # fmt: skip
            return place + 1
        return 0
    if scan.word(place) not in ("with", "mit") or scan.kind(place + 1) != "number":
        return 0
    plain = number_at(scan, place + 1, _marked_column(scan))
    mention = scan.column(plain[1]) if plain else None
    if mention is None or mention.level > PART or scan.is_noun(mention.start):
        return 0
    numbers = [one for one in mention.columns if one.is_number and one.role != "id"]
    if len(numbers) != 1 or scan.at(mention.end, "share"):
        return 0
    _compare(scan, clauses, numbers[0], "=", place + 1)
    return mention.end


_FREE = frozenset(["free", "kostenlose", "kostenlosen", "kostenloser", "gratis", "kostenlos"])


def _marked_column(scan: RequestScan) -> KnownColumn | None:
    return next((column for column in scan.table.columns if column.decimal), None)


_OF = frozenset(["of", "a", "an", "the", "von", "der", "die", "das"])
_LIMITS = frozenset(
    ["budget", "limit", "target", "plan", "soll", "ziel", "goal", "quota", "allowance", "reorder",
     "minimum", "maximum"]
)  # fmt: skip


def _against_limit(scan: RequestScan, clauses: Clauses, operator: str, at: int) -> int:
    """Read "under Mindestbestand", "spent over budget": one column against another."""
    mention = scan.column(scan.skip(at, "det"))
    if mention is None or mention.level > STEM or len(mention.columns) > 1:
        return 0
    limit = mention.columns[0]
    if not limit.is_number or limit.role == "id" or scan.at(mention.end, "by"):
        return 0
    named = [one for one, _, weak in clauses.loose if not weak and one.is_number and one != limit]
    others = [
        one for one in scan.table.columns
        if one.is_number and one != limit and len(one.name) >= 4
        and limit.name.casefold().endswith(one.name.casefold())
    ]  # fmt: skip
    if not others and _LIMITS & set(tokens(limit.name)):
        others = [one for one in scan.table.columns if one.adds_up and one != limit]
    found = named or others
    if len(found) != 1:
        return 0
    clauses.loose = [one for one in clauses.loose if one[0] != found[0]]
    left, right = found[0].name, limit.name
    words = _WORDS[operator]
    add_condition(clauses, ConditionClause(
        f"{expressions.column(left)} {operator} {expressions.column(right)}",
        f"{left} {words} {right}", (found[0], limit),
        slug=f"{slug(left)}-{_SIGNS[operator]}-{slug(right)}",
    ))  # fmt: skip
    return mention.end


def yes_or_no(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "billable hours", "not approved yet", "books not returned"; 0 where none is there."""
    is_negative = scan.word(place) in _NOT
    at = place + is_negative
    while scan.word(at) in ("yet", "been", "noch", "schon", "already"):
        at += 1
    mention = scan.column(at)
    if mention is None or mention.level > STEM or len(mention.columns) > 1:
        return 0
    column = mention.columns[0]
    if column.is_moment and is_negative and scan.word(at).endswith(("ed", "t", "en")):
        add_condition(clauses, of_emptiness(column, is_filled=False))
        return mention.end
    value = column.no if is_negative else column.yes
    if value is None or scan.at(mention.end, "is", "is_not"):
        return 0
    if not is_negative:
        behind = scan.column(mention.end)
        is_number = behind is not None and behind.columns[0].is_number
        is_before = scan.is_noun(mention.end) or is_number
        is_said = scan.word(place - 1) in _BEING
        if not is_before and not is_said:
            return 0
    if scan.value(mention.end) is not None and column.name in [
        one.name
        for one, _ in scan.value(mention.end).found  # type: ignore[union-attr]
    ]:
        return 0
    equal_condition(clauses, column, [value], is_negative=False)
    return mention.end


_BEING = frozenset(["are", "is", "were", "was", "sind", "ist", "waren", "war"])
_NOT = frozenset(["not", "nicht", "never", "nie", "noch nicht"])


def _signed(scan: RequestScan, clauses: Clauses, operator: str, at: int) -> int:
    """Read "negative amounts"."""
    mention = scan.column(at)
    if mention is not None and any(column.adds_up for column in mention.columns):
        column, end = scan.only(mention, lambda one: one.adds_up), mention.end
    else:
        money = _money(scan)
        if len(money) != 1:
            return 0
        column, end = money[0], at
    add_condition(
        clauses,
        ConditionClause(
            expressions.compared(column.name, operator, "0"),
            f"{column.name} {_WORDS[operator]} 0",
            (column,),
            slug="negative" if operator == "<" else "positive",
        ),
    )
    return end


_LENGTHS = frozenset(["length", "duration", "runtime", "lange", "dauer", "laufzeit"])
_AGES = frozenset(["age", "alter"])
_MEASURED = {
    "longer": _LENGTHS, "shorter": _LENGTHS, "langer": _LENGTHS, "kurzer": _LENGTHS,
    "older": _AGES, "younger": _AGES, "alter": _AGES, "junger": _AGES,
}  # fmt: skip
"""What names of columns say that may be longer or older than a number."""


def _without_column(scan: RequestScan, clauses: Clauses, operator: str, start: int, at: int) -> int:
    plain = number_at(scan, at, None if not _money(scan) else _money(scan)[0])
    if plain is None:
        return 0
    for names in (
        _MEASURED[word] for one in range(start, at) if (word := scan.word(one)) in _MEASURED
    ):
        # "Longer than 180" is of a length, and never of an amount of money.
        meant = [c for c in scan.table.columns if c.is_number and names & set(tokens(c.name))]
        return _compare(scan, clauses, meant[0], operator, at) if len(meant) == 1 else 0
    behind = plain[1]
    mention = scan.column(behind)
    subject = _subject(clauses)
    if scan.is_noun(behind) or (
        mention is not None
        and mention.level <= PART
        and not any(c.is_number and c.role != "id" for c in mention.columns)
    ):
        # "customers with more than 3 orders": of each customer so many rows.
        if subject is not None:
            _having_count(scan, clauses, mention, operator, plain[0], behind)
            return (
                mention.end if mention is not None else max(behind + 1, scan.at(behind, "row_noun"))
            )
        return 0
    if mention is not None and any(column.adds_up for column in mention.columns):
        column = scan.only(mention, lambda one: one.adds_up)
        _compare(scan, clauses, column, operator, at)
        return mention.end
    money = _money(scan)
    if not money:
        return 0
    ages = [c for c in scan.table.columns if c.is_number and _AGES & set(tokens(c.name))]
    if scan.word(plain[1] - 1) not in UNITS and scan.word(at) not in UNITS:
        # "People over 30" says no amount of money.
        money = [*money, *(one for one in ages if one not in money)]
    if len(money) > 1:
        raise SeveralError(
            f'"{scan.text(start, plain[1])}" may be of {or_names(money)}',
            [scan.rewritten(start, at, f"{quoted(c.name)} {scan.text(start, at)}") for c in money],
        )
    return _compare(scan, clauses, money[0], operator, at)


def _between_without_column(scan: RequestScan, clauses: Clauses, at: int) -> int:
    money = _money(scan)
    if not money or scan.kind(at) != "number":
        return 0
    low = number_at(scan, at, money[0])
    to = scan.at(low[1], "range_to") if low else 0
    high = number_at(scan, to, money[0]) if to else None
    behind = scan.column(high[1]) if high else None
    if high and behind is not None and behind.level <= PART:
        numbers = [one for one in behind.columns if one.is_number and one.role != "id"]
        if len(numbers) == 1:
            money, high = numbers, (high[0], behind.end)
    if len(money) != 1:
        return 0
    if not low or not high or (
        _may_be_years(low[0], high[0]) and behind is None and scan.word(high[1] - 1) not in UNITS
    ):  # fmt: skip
        return 0
    name = expressions.column(money[0].name)
    add_condition(clauses, ConditionClause(
        f"{name} >= {low[0]} and {name} <= {high[0]}",
        f"{money[0].name} is from {low[0]} to {high[0]}", (money[0],),
        slug=f"{slug(money[0].name)}-{low[0]}-to-{high[0]}",
    ))  # fmt: skip
    return high[1]


def _may_be_years(low: str, high: str) -> bool:
    return all(len(one) == 4 and one[:2] in ("19", "20") for one in (low, high))


def _money(scan: RequestScan) -> list[KnownColumn]:
    """Return the columns that "over 100 euros" may be about."""
    named = [c for c in scan.vocabulary.meaning("money", "revenue", "cost") if c.role != "id"]
    if not named:
        named = [
            column for column in scan.table.columns if column.type == "float" and column.adds_up
        ]
    named = [one for one in named if not BESIDE & set(tokens(one.name))] or named
    # An order of 100 euros is one whose amount is that, not its unit price.
    return [column for column in named if column.adds_up] or named


def _subject(clauses: Clauses) -> KnownColumn | None:
    loose = [
        column for column, _, _ in clauses.loose if not column.is_number or column.role == "id"
    ]
    keys = [key.column for key in clauses.keys if key.column is not None and not key.part]
    found = [*loose, *keys]
    return found[0] if found else None


def _having_count(
    scan: RequestScan,
    clauses: Clauses,
    mention: ColumnMention | None,
    operator: str,
    number: str,
    at: int,
) -> None:
    counted = None if mention is None or scan.is_noun(at) else scan.only(mention)
    figure = FigureClause("count", None, counted is None, at, counted)
    clauses.having.append((figure, operator, number, f"{_WORDS[operator]} {number}"))
