"""Conditions on values of a request: a text, a yes or no, an empty field, a value alone. Pure."""

from collections.abc import Sequence

from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause
from kbd_offline.empty_fields import has_article, of_emptiness
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import PART, ColumnMention
from kbd_offline.names import slug
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.value_texts import check_contained, is_marked, values_text

__all__ = [
    "add_condition",
    "bare_value",
    "emptiness_condition",
    "empty_field",
    "equal_condition",
    "equality_condition",
    "is_true",
    "or_names",
    "text_condition",
]


_YES = frozenset(["yes", "y", "true", "ja", "wahr", "1", "j", "x"])


def add_condition(clauses: Clauses, condition: ConditionClause) -> None:
    """Add a condition, joined to the one before as the words say."""
    joint = clauses.joint or "and"
    clauses.conditions.append(
        ConditionClause(
            condition.expression, condition.text, condition.columns, joint,
            condition.slug, condition.values, condition.is_negative,
        )
    )  # fmt: skip
    clauses.joint = ""


def or_names(columns: Sequence[KnownColumn]) -> str:
    """Return names of columns as a person would list them, with "or"."""
    return " or ".join(f'"{column.name}"' for column in columns)


def empty_field(scan: RequestScan, clauses: Clauses, place: int) -> int:
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
        if column.is_number and column.role != "id" and not is_filled:
            text = scan.text(place, mention.end)
            name = quoted(column.name)
            raise SeveralError(
                f'"{text}" may be rows where "{column.name}" is 0, or where it is empty',
                [scan.rewritten(place, mention.end, f"where {name} is {what}")
                 for what in ("0", "empty")],
            )  # fmt: skip
        add_condition(clauses, of_emptiness(column, is_filled=is_filled))
        return mention.end
    if (end := scan.at(place, "empty")) and (mention := scan.column(scan.skip(end, "det"))):
        column = scan.only(mention)
        add_condition(clauses, of_emptiness(column, is_filled=False))
        return mention.end
    return 0


def emptiness_condition(
    scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int
) -> int:
    """Read that a column is filled or empty; return where that ends."""
    is_filled = scan.at(at, "not_empty")
    end = max(is_filled, scan.at(at, "empty"))
    if not end:
        verb = scan.at(at, "is")
        is_filled = scan.at(verb, "not_empty") if verb else 0
        end = max(is_filled, scan.at(verb, "empty")) if verb else 0
    if not end or (scan.value(at) is not None and not scan.at(at, "is")):
        return 0
    column = scan.only(mention)
    add_condition(clauses, of_emptiness(column, is_filled=bool(is_filled) and is_filled >= end))
    return end


_FUNCTIONS = (
    ("not_contains", "contains", "does not contain", True),
    ("contains", "contains", "contains", False),
    ("starts", "starts_with", "starts with", False), ("ends", "ends_with", "ends with", False),
)  # fmt: skip


def text_condition(scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read a condition on a column of texts; return where it ends, 0 where none is there."""
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
        add_condition(clauses, ConditionClause(
            expressions.negated(column, plain) if is_negative else plain,
            f'{column.name} {words} "{value}"', (column,),
            slug=f"{slug(column.name)}-{slug(value)}",
        ))  # fmt: skip
        return behind
    return 0


def _raw(scan: RequestScan, place: int) -> tuple[str, int]:
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


def equality_condition(scan: RequestScan, clauses: Clauses, mention: ColumnMention, at: int) -> int:
    """Read "is X", "is not X or Y", or a value alone behind its column."""
    ends = {c: scan.at(at, c) for c in ("is", "is_not", "one_of", "not_one_of")}
    start = max(ends.values())
    is_negative = bool(start) and start in (ends["is_not"], ends["not_one_of"])
    if _value_of_columns(scan, at, mention.columns, is_exact=clauses.exact) is not None:
        # A value may begin as a comparison does: In Progress.
        start, is_negative = at, False
    elif is_negative and ends["is"] and _value_of_columns(
        scan, ends["is"], mention.columns, is_exact=clauses.exact
    ) is not None:  # fmt: skip
        # "Is no" of a column that holds yes and no.
        start, is_negative = ends["is"], False
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
    equal_condition(clauses, column, values, is_negative=is_negative)
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
    scan: RequestScan, mention: ColumnMention, start: int, *, is_exact: bool
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
    scan: RequestScan, at: int, columns: Sequence[KnownColumn], *, is_exact: bool
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


def _missing_value(scan: RequestScan, mention: ColumnMention, start: int) -> int:
    """Decline a value that no row has, with those that there are."""
    column = scan.only(mention, lambda one: one.is_text)
    value, _ = _raw(scan, start)
    if not value or (not column.values and not column.is_listed):
        return 0
    raise UnclearError(f'no row has "{value}" as {column.name}{values_text(column, value)}')


def equal_condition(
    clauses: Clauses, column: KnownColumn, values: Sequence[str], *, is_negative: bool
) -> None:
    """Add that a column is, or is not, one of some values."""
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
    add_condition(clauses, ConditionClause(
        expressions.negated(column, plain) if is_negative else plain,
        f"{column.name} is {'not ' * is_negative}{named}", (column,),
        slug=f"{'without-' * is_negative}{'-'.join(map(slug, shown))}",
        values=tuple(shown), is_negative=is_negative,
    ))  # fmt: skip


def bare_value(
    scan: RequestScan, clauses: Clauses, place: int, *, is_negative: bool, leads: bool
) -> int:
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
            f'"{text}" is a value of {or_names([one[0] for one in named])}',
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
    equal_condition(clauses, column, values, is_negative=is_negative)
    return end


def is_true(scan: RequestScan, clauses: Clauses, mention: ColumnMention) -> int:
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
    equal_condition(clauses, column, [value], is_negative=False)
    return mention.end
