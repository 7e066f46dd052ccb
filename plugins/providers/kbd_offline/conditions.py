"""Conditions on rows: "where Amount > 100 and Category is Food". Pure.

Like a clause, a condition is taken out of the wording, or refused with `UnclearError`.
"""

import re
from datetime import date

from kbd_offline.intents import ColumnIntent, Condition, Operator
from kbd_offline.request_text import NUMERAL, Mention, UnclearError, Wording, read_numeral

__all__ = ["take_conditions"]

_IS = r"(?:is|are|was|were|be|has|have)\s+"
_MORE = r"(?:great|larg|high|bigg|lat)er\s+than|more\s+than|over|above|after|exceeding"
_LESS = r"(?:less|lower|smaller|fewer|earlier)\s+than|under|below|before"
# "from 2024" is a condition; "per Store from sales.csv" names a file.
_FROM = r"from(?=\s+[\"'“‘`€$£(]*\s*[-+]?\d)"
# The first that matches counts, so what begins with another goes before it: "<>" before "<",
# "is not" before "is", "not empty" before all.
_OPERATORS: tuple[tuple[Operator, str], ...] = (
    ("not empty", rf"(?:{_IS})?(?:not\s+(?:empty|blank|missing|null)|filled)\b"),
    ("empty", rf"(?:{_IS})?(?:empty|blank|missing|null)\b"),
    (">=", rf">=|≥|(?:{_IS})?(?:at\s+least|{_FROM}|since|on\s+or\s+after|not\s+less\s+than)\b"),
    ("<=", rf"<=|≤|(?:{_IS})?(?:at\s+most|until|up\s+to|on\s+or\s+before|not\s+more\s+than)\b"),
    ("!=", rf"!=|<>|≠|(?:{_IS})?(?:not\s+equal\s+to|other\s+than)\b|(?:is|are)\s+not\b|isn't\b"),
    (">", rf">|(?:{_IS})?(?:{_MORE})\b|exceeds?\b"),
    ("<", rf"<|(?:{_IS})?(?:{_LESS})\b"),
    ("contains", r"(?:contains?|containing|includes)\b"),
    ("starts with", r"(?:starts?|begins?|starting|beginning)\s+with\b"),
    ("ends with", r"(?:ends?|ending)\s+(?:with|in)\b"),
    ("=", r"==?|(?:equals?|equal\s+to|is\s+equal\s+to|is\s+exactly|(?:is|are)(?!\s+there\b))\b"),
)  # fmt: skip
_BETWEEN = r"(?:(?:is|are)\s+)?between\b"
_JOIN = re.compile(r"\s*,?\s*\b(and|or)\b\s*")
_LEAD = re.compile(
    r"(?:\b(?:only|just|the|all|those|rows?|records?|lines?|entries|transactions?|where|whose|with"
    r"|which|that|for|if|when|keep|filter|filtered|show|to|by|on|have|having|include|including)\b"
    r"\s*)+\Z"
)
_QUOTED = re.compile(r"""\s*["'“‘`]([^"'”’`]*)["'”’`]""")
_DATE = re.compile(r"\s*(\d{4}-\d{2}-\d{2})\b")
# A text without quotes ends where another clause may begin; one with such a word needs quotes.
_WORDS = re.compile(
    r"\s*((?:(?!\b(?:and|or|sort(?:ed)?|order(?:ed)?|into|in|to|as|save|by|per|with|group(?:ed)?"
    r"|for|then|descending|ascending)\b)[^,;.?!<>=\x00])+)"
)


def take_conditions(wording: Wording) -> tuple[tuple[Condition, ...], bool]:
    """Return the conditions on rows, and whether any of them is enough.

    Raises:
        UnclearError: A condition is meant but not understood, or "and" and "or" are mixed.
    """
    conditions: list[Condition] = list(_without_blanks(wording))
    joins: set[str] = set()
    last_end = -1
    for mention in wording.mentions():
        found, end = _condition_at(wording, mention)
        if not found:
            continue
        start = _clause_start(wording, mention.start)
        join = _JOIN.fullmatch(wording.folded, last_end, start) if last_end >= 0 else None
        if join:
            joins.add(join.group(1))
        wording.take(last_end if join else start, end)
        last_end = end
        conditions.extend(found)
    # SQL would bind "and" closer; whether the sentence does nobody can tell.
    if len(joins) > 1:
        raise UnclearError('it mixes "and" with "or"')
    return tuple(conditions), joins == {"or"}


def _without_blanks(wording: Wording) -> list[Condition]:
    """Take "without empty amounts" and the like."""
    clause = wording.find(
        r"\b(?:without|excluding|exclude|ignoring|except)\s+(?:rows\s+with\s+)?(?:the\s+)?"
        r"(?:empty|blank|missing)\b"
    )
    mention = wording.column_at(clause.end()) if clause else None
    if clause is None or mention is None:
        return []
    wording.take(clause.start(), mention.end)
    return [Condition(mention.only(), "not empty")]


def _condition_at(wording: Wording, mention: Mention) -> tuple[list[Condition], int]:
    quote_end = re.compile(r"[\"'”`)]*\s*").match(wording.folded, mention.end)
    place = quote_end.end() if quote_end else mention.end
    between = re.compile(_BETWEEN).match(wording.folded, place)
    if between:
        low, end = _value(wording, mention.only(), ">=", between.end())
        joined = re.compile(r"\s*and\b").match(wording.folded, end)
        if joined is None:
            raise UnclearError('"between" needs two values')
        high, end = _value(wording, mention.only(), "<=", joined.end())
        return [low, high], end
    for operator, pattern in _OPERATORS:
        sign = re.compile(pattern).match(wording.folded, place)
        if sign and operator in ("empty", "not empty"):
            return [Condition(mention.only(), operator)], sign.end()
        if sign:
            condition, end = _value(wording, mention.only(), operator, sign.end())
            return [condition], end
    return [], place


def _value(
    wording: Wording, column: ColumnIntent, operator: Operator, start: int
) -> tuple[Condition, int]:
    # From the original, which has capitals and accents; folding keeps each character's place.
    quoted = _QUOTED.match(wording.original, start)
    if column.is_number:
        number = NUMERAL.match(wording.original, start)
        if number and wording.original[number.end() :].lstrip().startswith("%"):
            # A column of percentages may hold 10 or 0.1 for 10 %.
            raise UnclearError(
                f'"{column.name}" is compared with {number.group(1)}%: say {number.group(1)} or'
                " its hundredth, as the column holds it"
            )
        if number is None:
            raise UnclearError(
                f'"{column.name}" holds numbers, and it is compared with something else'
            )
        return Condition(column, operator, read_numeral(number.group(1), column)), number.end()
    if column.is_moment:
        return _date_value(wording, column, operator, start)
    if operator in (">", ">=", "<", "<="):
        # As texts, "9" is more than "100": nobody who says "more than" means that.
        raise UnclearError(
            f'"{column.name}" holds {column.type} values: none is more or less than another'
        )
    if quoted:
        return Condition(column, operator, quoted.group(1)), quoted.end()
    words = _WORDS.match(wording.folded, start)
    if words is None or not words.group(1).strip():
        raise UnclearError(f'"{column.name}" is compared with nothing that I can see')
    start, end = words.span(1)
    return Condition(column, operator, wording.original[start:end].strip()), end


def _date_value(
    wording: Wording, column: ColumnIntent, operator: Operator, start: int
) -> tuple[Condition, int]:
    # Quotes become blanks, not nothing: the places must stay those of the request.
    found = _DATE.match(wording.original.replace('"', " ").replace("'", " "), start)
    year = re.compile(r"\s*(\d{4})(?![\w-])").match(wording.original, start)
    try:
        if found and operator in ("=", "!=", ">", ">=", "<", "<="):
            moment = date.fromisoformat(found.group(1)).isoformat()
            return Condition(column, operator, moment), found.end()
        # "Since 2024" and "before 2024" mean its first day; "after 2024" may mean that or its last.
        if year and operator in (">=", "<"):
            return Condition(column, operator, f"{year.group(1)}-01-01"), year.end()
    except ValueError:
        # There is no such day, as February 30: told below, with the form of a date.
        pass
    raise UnclearError(f'"{column.name}" holds dates: write the date as YYYY-MM-DD')


def _clause_start(wording: Wording, start: int) -> int:
    """Return where the words that lead to a condition begin ("only rows where …")."""
    lead = _LEAD.search(wording.folded[:start].rstrip("\"'“`("))
    return lead.start() if lead else start
