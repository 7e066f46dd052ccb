"""Ranges of days of one month in the tokens of a request: "1 to 15 July", "3. und 9. Mai". Pure.

The month, and the year if there is one, is said once for both days; here each day gets its own, so
that neither is taken for a number.
"""

import re
from collections.abc import Sequence

import msgspec

from kbd_offline.lexicon import LEXICON
from kbd_offline.request_tokens import RequestToken

__all__ = ["day_at", "is_day_before_month", "month_behind", "with_months"]

_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_LINKS = frozenset(["to", "bis", "until", "till", "through", "-", "–", "and", "und", "or", "oder"])
_LISTING = frozenset(["and", "und", "or", "oder"])
_ARTICLES = frozenset(["the", "dem", "den", "der", "zum", "am"])
_BETWEEN = frozenset(["between", "zwischen"])
_MAX_DAY = 31


class _Days(msgspec.Struct, frozen=True):
    """Two days: the place of the second one, the tokens between, and the place behind both."""

    last: int
    link: RequestToken
    behind: int


def is_day_before_month(tokens: Sequence[RequestToken], place: int) -> bool:
    """Tell whether a number is a day, for a month stands behind it: "5 March", "5. of May"."""
    return day_at(tokens, place) is not None and _is_month(tokens, month_behind(tokens, place + 1))


def with_months(tokens: Sequence[RequestToken], request: str) -> list[RequestToken]:
    """Return tokens in which each day of a range has its month and year.

    Args:
        tokens: Those of a request.
        request: It.
    """
    made: list[RequestToken] = []
    place = 0
    while place < len(tokens):
        days = _days_at(tokens, place, request)
        is_led = place > 0 and _is_month(tokens, place - 1)
        is_between = place > 1 and tokens[place - 2].word in _BETWEEN
        if days is None:
            made.append(tokens[place])
            place += 1
            continue
        first, last = tokens[place], tokens[days.last]
        month = month_behind(tokens, days.behind)
        if not is_led and _is_month(tokens, month):
            added = [tokens[month], *_year(tokens, month + 1)]
            made += [first, *(_beside(one, first) for one in added), days.link, last]
        elif is_led and (days.link.word not in _LISTING or is_between):
            year = [_beside(one, first) for one in _year(tokens, days.behind)]
            made += [first, *year, days.link, _beside(tokens[place - 1], last, at_end=False), last]
        else:
            made.append(first)
            place += 1
            continue
        place = days.behind
    return made


def _days_at(tokens: Sequence[RequestToken], place: int, request: str) -> _Days | None:
    """Return the two days at a place, the first of which is the earlier one."""
    first = day_at(tokens, place)
    if first is None:
        return None
    at = _behind_dot(tokens, place + 1)
    if at >= len(tokens):
        return None
    before = tokens[at - 1].end
    link = tokens[at]
    if request[before : link.start] == "-":
        # The sign is no token between two numbers.
        link = RequestToken("sign", "-", "-", before, before + 1)
    elif link.word in _LINKS:
        at += 1
    else:
        return None
    while at < len(tokens) and tokens[at].word in _ARTICLES:
        at += 1
    last = day_at(tokens, at)
    if last is None or last <= first:
        return None
    return _Days(at, link, _behind_dot(tokens, at + 1))


def day_at(tokens: Sequence[RequestToken], place: int) -> int | None:
    """Return the number of a day at a place: "5", "5th"; None for none."""
    if not 0 <= place < len(tokens) or tokens[place].kind not in ("number", "word"):
        return None
    found = _DAY.fullmatch(tokens[place].word)
    return int(found[1]) if found and 1 <= int(found[1]) <= _MAX_DAY else None


def _behind_dot(tokens: Sequence[RequestToken], place: int) -> int:
    return place + (place < len(tokens) and tokens[place].word == ".")


def month_behind(tokens: Sequence[RequestToken], place: int) -> int:
    """Return where a month may stand, of which the day ends before a place."""
    place = _behind_dot(tokens, place)
    while place < len(tokens) and tokens[place].word in ("of", "the", "des"):
        place += 1
    return place


def _is_month(tokens: Sequence[RequestToken], place: int) -> bool:
    if not 0 <= place < len(tokens) or tokens[place].kind != "word":
        return False
    return tokens[place].word in LEXICON.months


def _year(tokens: Sequence[RequestToken], place: int) -> list[RequestToken]:
    """Return the year at a place, behind a comma or a point if one is there; none for none."""
    place += place < len(tokens) and tokens[place].word in (",", ".")
    if place >= len(tokens) or tokens[place].kind != "number":
        return []
    word = tokens[place].word
    return [tokens[place]] if len(word) == 4 and word[:2] in ("19", "20") else []


def _beside(token: RequestToken, day: RequestToken, *, at_end: bool = True) -> RequestToken:
    """Return a token that is understood beside a day, and is not written there."""
    at = day.end if at_end else day.start
    return msgspec.structs.replace(token, start=at, end=at)
