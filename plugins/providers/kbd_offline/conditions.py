"""Conditions of a request: values, comparisons, empty fields, and days. Pure."""

from collections.abc import Sequence

from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause, FigureClause
from kbd_offline.empty_fields import has_article, of_emptiness
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import BESIDE, PART, STEM, ColumnMention
from kbd_offline.names import slug, tokens
from kbd_offline.numerals import UNITS, number_at
from kbd_offline.scan import Scan, SeveralError, UnclearError, quoted
from kbd_offline.value_texts import check_contained, is_marked, values_text

__all__ = ["bare_value", "column_condition", "comparison", "empty_field", "yes_or_no"]

_OPERATORS = (("more", ">"), ("at_least", ">="), ("less", "<"), ("at_most", "<="))
_WORDS = {
    ">": "is over", ">=": "is at least", "<": "is under", "<=": "is at most", "=": "is",
}  # fmt: skip
_SIGNS = {">": "over", ">=": "from", "<": "under", "<=": "up-to", "=": ""}
_YES = frozenset(["yes", "y", "true", "ja", "wahr", "1", "j", "x"])


def _add(clauses: Clauses, condition: ConditionClause) -> None:
    joint = clauses.joint or "and"
    clauses.conditions.append(
        ConditionClause(
            condition.expression, condition.text, condition.columns, joint,
            condition.slug, condition.values, condition.is_negative,
        )
    )  # fmt: skip
    clauses.joint = ""


def column_condition(scan: Scan, clauses: Clauses, place: int) -> int:
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
            or _emptiness(scan, clauses, mention, start)
            or _texts(scan, clauses, mention, start)
            or _equality(scan, clauses, mention, start)
        )
        if end:
            return _more_bounds(scan, clauses, mention, end)
    return _is_true(scan, clauses, mention)


def _more_bounds(scan: Scan, clauses: Clauses, mention: ColumnMention, end: int) -> int:
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


def _numbers(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    numbers = [
        c for c in mention.columns if c.is_number and (c.role != "id" or mention.level < PART)
    ]
    if not numbers:
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


def _between(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
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
        _add(clauses, ConditionClause(
            f"{name} >= {low[0]} and {name} <= {high[0]}",
            f"{column.name} is from {low[0]} to {high[0]}", (column,),
            slug=f"{slug(column.name)}-{low[0]}-to-{high[0]}",
        ))  # fmt: skip
        return high[1]
    return 0


def _is_not_number(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "amount is not 0"."""
    end = scan.at(at, "is_not")
    if not end:
        return 0
    column = scan.only(mention, lambda one: one.is_number)
    value = number_at(scan, end, column)
    if value is not None:
        plain = expressions.compared(column.name, "=", value[0])
        _add(clauses, ConditionClause(
            expressions.negated(column, plain), f"{column.name} is not {value[0]}", (column,),
            slug=f"{slug(column.name)}-not-{value[0]}",
        ))  # fmt: skip
        return value[1]
    return 0


def _against_column(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "stock greater than reorder level"."""
    for concept, operator in _OPERATORS:
        end = scan.at(at, concept)
        other = scan.column(scan.behind_det(end)) if end and end >= _longest(scan, at) else None
        if other is None or other.level > PART or not any(one.is_number for one in other.columns):
            continue
        mine = scan.only(mention, lambda one: one.is_number)
        theirs = scan.only(other, lambda one: one.is_number)
        _add(
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


def _longest(scan: Scan, at: int) -> int:
    """Return where the longest comparison ends, so that "is" is not read for "is more than"."""
    return max(scan.at(at, concept) for concept, _ in _OPERATORS)


def _compare(scan: Scan, clauses: Clauses, column: KnownColumn, operator: str, at: int) -> int:
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
        _add(clauses, ConditionClause(
            f"{name} in ({', '.join(numbers)})", f"{column.name} is {' or '.join(numbers)}",
            (column,), slug=f"{slug(column.name)}-{'-'.join(numbers)}",
        ))  # fmt: skip
        return end
    _add(clauses, ConditionClause(
        expressions.compared(column.name, operator, number),
        f"{column.name} {_WORDS[operator]} {number}", (column,),
        slug="-".join(part for part in (slug(column.name), sign, number) if part),
    ))  # fmt: skip
    return end


def _number_list(
    scan: Scan, column: KnownColumn, first: str, end: int
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


def comparison(scan: Scan, clauses: Clauses, place: int) -> int:
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


def _or_more(scan: Scan, clauses: Clauses, place: int) -> int:
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


def _with_number(scan: Scan, clauses: Clauses, place: int) -> int:
    """Read "with 20% discount", "free" of what has one price."""
    if scan.word(place) in _FREE:
        prices = [one for one in scan.table.columns if one.role == "unit price"]
        if len(prices) == 1 and (scan.is_noun(place + 1) or place + 1 == len(scan)):
            name = prices[0].name
            _add(clauses, ConditionClause(
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


def _marked_column(scan: Scan) -> KnownColumn | None:
    return next((column for column in scan.table.columns if column.decimal), None)


_OF = frozenset(["of", "a", "an", "the", "von", "der", "die", "das"])
_LIMITS = frozenset(
    ["budget", "limit", "target", "plan", "soll", "ziel", "goal", "quota", "allowance", "reorder",
     "minimum", "maximum"]
)  # fmt: skip


def _against_limit(scan: Scan, clauses: Clauses, operator: str, at: int) -> int:
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
    _add(clauses, ConditionClause(
        f"{expressions.column(left)} {operator} {expressions.column(right)}",
        f"{left} {words} {right}", (found[0], limit),
        slug=f"{slug(left)}-{_SIGNS[operator]}-{slug(right)}",
    ))  # fmt: skip
    return mention.end


def yes_or_no(scan: Scan, clauses: Clauses, place: int) -> int:
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
        _add(clauses, of_emptiness(column, is_filled=False))
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
    _equal(clauses, column, [value], is_negative=False)
    return mention.end


_BEING = frozenset(["are", "is", "were", "was", "sind", "ist", "waren", "war"])
_NOT = frozenset(["not", "nicht", "never", "nie", "noch nicht"])


def _signed(scan: Scan, clauses: Clauses, operator: str, at: int) -> int:
    """Read "negative amounts"."""
    mention = scan.column(at)
    if mention is not None and any(column.adds_up for column in mention.columns):
        column, end = scan.only(mention, lambda one: one.adds_up), mention.end
    else:
        money = _money(scan)
        if len(money) != 1:
            return 0
        column, end = money[0], at
    _add(
        clauses,
        ConditionClause(
            expressions.compared(column.name, operator, "0"),
            f"{column.name} {_WORDS[operator]} 0",
            (column,),
            slug="negative" if operator == "<" else "positive",
        ),
    )
    return end


def _without_column(scan: Scan, clauses: Clauses, operator: str, start: int, at: int) -> int:
    plain = number_at(scan, at, None if not _money(scan) else _money(scan)[0])
    if plain is None:
        return 0
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
    if len(money) > 1:
        raise SeveralError(
            f'"{scan.text(start, plain[1])}" may be of {_or_names(money)}',
            [scan.rewritten(start, at, f"{quoted(c.name)} {scan.text(start, at)}") for c in money],
        )
    return _compare(scan, clauses, money[0], operator, at)


def _between_without_column(scan: Scan, clauses: Clauses, at: int) -> int:
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
    _add(clauses, ConditionClause(
        f"{name} >= {low[0]} and {name} <= {high[0]}",
        f"{money[0].name} is from {low[0]} to {high[0]}", (money[0],),
        slug=f"{slug(money[0].name)}-{low[0]}-to-{high[0]}",
    ))  # fmt: skip
    return high[1]


def _may_be_years(low: str, high: str) -> bool:
    return all(len(one) == 4 and one[:2] in ("19", "20") for one in (low, high))


def _money(scan: Scan) -> list[KnownColumn]:
    """Return the columns that "over 100 euros" may be about."""
    named = [c for c in scan.vocabulary.meaning("money", "revenue", "cost") if c.role != "id"]
    if not named:
        named = [
            column for column in scan.table.columns if column.type == "float" and column.adds_up
        ]
    named = [one for one in named if not BESIDE & set(tokens(one.name))] or named
    # An order of 100 euros is one whose amount is that, not its unit price.
    return [column for column in named if column.adds_up] or named


def _or_names(columns: Sequence[KnownColumn]) -> str:
    return " or ".join(f'"{column.name}"' for column in columns)


def _subject(clauses: Clauses) -> KnownColumn | None:
    loose = [
        column for column, _, _ in clauses.loose if not column.is_number or column.role == "id"
    ]
    keys = [key.column for key in clauses.keys if key.column is not None and not key.part]
    found = [*loose, *keys]
    return found[0] if found else None


def _having_count(
    scan: Scan, clauses: Clauses, mention: ColumnMention | None, operator: str, number: str, at: int
) -> None:
    counted = None if mention is None or scan.is_noun(at) else scan.only(mention)
    figure = FigureClause("count", None, counted is None, at, counted)
    clauses.having.append((figure, operator, number, f"{_WORDS[operator]} {number}"))


def empty_field(scan: Scan, clauses: Clauses, place: int) -> int:
    """Read "without an email", "that have a phone": whether a column has a value."""
    for concept, is_filled in (("lacks", False), ("has_any", True)):
        end = scan.at(place, concept)
        mention = scan.column(scan.skip(end, "det")) if end else None
        if mention is None or (mention.end < len(scan) and scan.value(mention.end)):
            continue
        column = scan.only(mention)
        # "Customers without email" are rows; "without email" may leave the column out.
        is_row = scan.is_noun(place - 1) and scan.word(end) not in ("the", "die", "das", "den")
        if not is_filled and not is_row and not has_article(scan, place, mention.start):
            continue
        _add(clauses, of_emptiness(column, is_filled=is_filled))
        return mention.end
    if (end := scan.at(place, "empty")) and (mention := scan.column(scan.skip(end, "det"))):
        column = scan.only(mention)
        _add(clauses, of_emptiness(column, is_filled=False))
        return mention.end
    return 0


def _emptiness(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    is_filled = scan.at(at, "not_empty")
    end = max(is_filled, scan.at(at, "empty"))
    if not end:
        verb = scan.at(at, "is")
        is_filled = scan.at(verb, "not_empty") if verb else 0
        end = max(is_filled, scan.at(verb, "empty")) if verb else 0
    if not end or (scan.value(at) is not None and not scan.at(at, "is")):
        return 0
    column = scan.only(mention)
    _add(clauses, of_emptiness(column, is_filled=bool(is_filled) and is_filled >= end))
    return end


_FUNCTIONS = (
    ("not_contains", "contains", "does not contain", True),
    ("contains", "contains", "contains", False),
    ("starts", "starts_with", "starts with", False), ("ends", "ends_with", "ends with", False),
)  # fmt: skip


def _texts(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    for concept, function, words, is_negative in _FUNCTIONS:
        end = scan.at(at, concept)
        if not end:
            continue
        column = scan.only(mention, lambda one: one.is_text)
        if not column.is_text:
            raise UnclearError(f'"{column.name}" holds no texts')
        value, behind = _raw(scan, end)
        if not value:
            raise UnclearError(f'"{column.name}" is compared with nothing that I can see')
        plain = expressions.contained(column, function, value, exact=clauses.exact)
        check_contained(column, function, value, words)
        _add(clauses, ConditionClause(
            expressions.negated(column, plain) if is_negative else plain,
            f'{column.name} {words} "{value}"', (column,),
            slug=f"{slug(column.name)}-{slug(value)}",
        ))  # fmt: skip
        return behind
    return 0


def _raw(scan: Scan, place: int) -> tuple[str, int]:
    """Return the text from a place on to the end of its clause, or the one in quotes."""
    at = scan.skip(place, "det") if scan.kind(scan.skip(place, "det")) == "quoted" else place
    if scan.kind(at) in ("quoted", "file"):
        return scan.tokens[at].text, at + 1
    end = at
    while end < len(scan) and not scan.is_sign(end, ",;.?!") and not (
        end > at
        and (scan.at(end, "and", "or", "sort", "by", "into_name") or scan.kind(end) == "file")
    ):  # fmt: skip
        end += 1
    return scan.text(at, end), end


def _equality(scan: Scan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "is X", "is not X or Y", or a value alone behind its column."""
    ends = {c: scan.at(at, c) for c in ("is", "is_not", "one_of", "not_one_of")}
    start = max(ends.values())
    is_negative = bool(start) and start in (ends["is_not"], ends["not_one_of"])
    if _value_of_columns(scan, at, mention.columns, is_exact=clauses.exact) is not None:
        # A value may begin as a comparison does: In Progress.
        start, is_negative = at, False
    start = start or at
    inner = scan.at(start, "one_of") if start != at else 0
    start = inner or start
    start = scan.at(start, "exactly") or start
    if scan.word(start) == "(":
        start += 1
    is_exact = clauses.exact or bool(scan.at(start - 1, "exactly"))
    values, end, column = _values(scan, mention, start, is_exact=is_exact)
    if column is None:
        if start == at or scan.kind(start) in ("date", "") or not _takes_text(mention):
            return 0
        other = scan.value(start)
        is_in = scan.word(start - 1) in ("in", "from", "aus", "im")
        if is_in or (other is not None and other.is_plain):
            # "Cities in France", "tickets that are not closed": of another column.
            return 0
        if scan.at(start, *_NO_VALUES) or scan.word(start) in ("there", "here", "da", "hier"):
            return 0
        return _missing_value(scan, mention, start)
    if scan.word(end) == ")":
        end += 1
    _equal(clauses, column, values, is_negative=is_negative)
    return end


_NO_VALUES = (
    "most_frequent", "maximum", "minimum", "largest", "smallest", "top", "most", "fewest", "more",
    "less", "at_least", "at_most", "sum", "average", "by", "since", "before", "after",
    "until", "sort",
)  # fmt: skip
"""What no value begins with where it is compared with one."""


def _takes_text(mention: ColumnMention) -> bool:
    return any(column.is_text for column in mention.columns)


def _values(
    scan: Scan, mention: ColumnMention, start: int, *, is_exact: bool
) -> tuple[list[str], int, KnownColumn | None]:
    """Return the values of a list, where it ends, and the column that they are of."""
    at = scan.skip(start, "det") if scan.value(start) is None else start
    allowed = list(mention.columns)
    values: list[str] = []
    end = at
    while True:
        found = _value_of_columns(scan, at, allowed, is_exact=is_exact)
        if found is None:
            break
        column, spellings, end = found
        allowed = [column]
        values += [one for one in spellings if one not in values]
        behind = scan.behind_connector(end)
        behind = scan.at(behind, "or") or behind if behind != end else scan.at(end, "or")
        if (
            not behind
            or behind == end
            or (scan.column(behind) is not None and (scan.value(behind) is None))
        ):
            break
        at = (
            scan.skip(scan.at(behind, "is_not", "except") or behind, "det")
            if scan.value(behind) is None
            else behind
        )
    return values, end, allowed[0] if values else None


def _value_of_columns(
    scan: Scan, at: int, columns: Sequence[KnownColumn], *, is_exact: bool
) -> tuple[KnownColumn, tuple[str, ...], int] | None:
    names = {column.name for column in columns}
    found = scan.value(at)
    if found is not None:
        for column, spellings in found.found:
            if column.name in names:
                written = scan.tokens[at].text if found.end == at + 1 else scan.text(at, found.end)
                exact = tuple(one for one in spellings if one == written)
                if is_exact and not exact:
                    continue
                return column, exact if is_exact else spellings, found.end
    for column in columns:
        if column.type == "boolean" and scan.word(at) in (
            *_YES,
            "no",
            "false",
            "nein",
            "falsch",
            "0",
        ):
            return column, ("true" if scan.word(at) in _YES else "false",), at + 1
    return None


def _missing_value(scan: Scan, mention: ColumnMention, start: int) -> int:
    """Decline a value that no row has, with those that there are."""
    column = scan.only(mention, lambda one: one.is_text)
    value, _ = _raw(scan, start)
    if not value or (not column.values and not column.is_listed):
        return 0
    raise UnclearError(f'no row has "{value}" as {column.name}{values_text(column, value)}')


def _equal(
    clauses: Clauses, column: KnownColumn, values: Sequence[str], *, is_negative: bool
) -> None:
    if clauses.exact:
        shown = list(values)
    else:
        best: dict[str, str] = {}
        for value in sorted(values, key=lambda one: -column.values.get(one, 0)):
            best.setdefault(value.casefold(), value)
        shown = list(best.values())
        if column.is_text and len(shown) < len(values):
            *most, last = (f'"{one}"' for one in sorted(values))
            told = f"{', '.join(most)} and {last}"
            clauses.notes.append(
                f'{told} count as one {column.name} ("{shown[0]}");'
                ' say "exactly" to tell them apart'
            )
    plain = expressions.one_of(column, shown, exact=clauses.exact)
    named = " or ".join(shown)
    _add(clauses, ConditionClause(
        expressions.negated(column, plain) if is_negative else plain,
        f"{column.name} is {'not ' * is_negative}{named}", (column,),
        slug=f"{'without-' * is_negative}{'-'.join(map(slug, shown))}",
        values=tuple(shown), is_negative=is_negative,
    ))  # fmt: skip


def bare_value(scan: Scan, clauses: Clauses, place: int, *, is_negative: bool, leads: bool) -> int:
    """Read values that stand without their column: "cancelled", "Berlin or Bonn".

    Args:
        scan: The request.
        clauses: What is understood so far.
        place: Where it may stand.
        is_negative: Whether it is left out.
        leads: Whether a word before it says that it is a value.

    Raises:
        SeveralError: Several columns have it.
    """
    at = place if scan.value(place) else scan.skip(place, "det")
    found = scan.value(at)
    if found is None or (scan.kind(at) == "number" and not leads):
        return 0
    if not found.is_plain and not leads and not is_marked(scan, found):
        return 0
    if not leads and scan.at(at, "sum", "average", "count", "maximum", "minimum") >= found.end:
        return 0
    named = [(column, spellings) for column, spellings in found.found if not column.is_number]
    behind = scan.column(found.end)
    if len(named) > 1 and behind is not None:
        # "Berlin city": the column stands behind.
        named = [
            one for one in named if any(other.name == one[0].name for other in behind.columns)
        ] or named
    if len(named) > 1:
        text = scan.text(at, found.end)
        raise SeveralError(
            f'"{text}" is a value of {_or_names([one[0] for one in named])}',
            [scan.rewritten(at, found.end, f"{quoted(c.name)} is {text}") for c, _ in named],
        )
    if not named:
        return 0
    column = named[0][0]
    if clauses.exact and scan.text(at, found.end) not in named[0][1]:
        text = scan.text(at, found.end)
        raise UnclearError(f'no row has "{text}" as {column.name}{values_text(column, text)}')
    mention = ColumnMention((column,), at, at, 0)
    values, end, _ = _values(scan, mention, at, is_exact=clauses.exact)
    behind = scan.column(end)
    if (
        behind is not None
        and any(one.name == column.name for one in behind.columns)
        and behind.level <= PART
    ):
        # "The IT department": the column stands behind its value.
        end = behind.end
    _equal(clauses, column, values, is_negative=is_negative)
    return end


def _is_true(scan: Scan, clauses: Clauses, mention: ColumnMention) -> int:
    """Read a column of yes and no that stands alone before a noun: "active customers"."""
    column = mention.columns[0]
    behind = scan.column(mention.end)
    is_thing = scan.is_noun(mention.end) or (behind is not None and behind.level >= PART)
    if len(mention.columns) > 1 or not is_thing:
        return 0
    yes = [value for value in column.values if value.casefold() in _YES]
    if column.type != "boolean" and not (yes and column.distinct == 2 and column.is_text):
        return 0
    value = "true" if column.type == "boolean" else yes[0]
    _equal(clauses, column, [value], is_negative=False)
    return mention.end
