"""Files of record types: the first field of a row says what the row is (H, D, T; 00, 10, 99).

Their rows are of several kinds, with other fields each: a header record, the details, a trailer
record with their count and sum. The table is that of the details; the others are none of its rows.
"""

import re
from collections import Counter
from collections.abc import Sequence

from kbd_csv.kinds import kind

__all__ = ["record_code"]

_CODE = re.compile("[A-Z0-9]{1,4}")
_RECORD_WORDS = """
begin data detail details end file footer head header item line payment record summary total totals
trailer transaction
"""
_WORDS = frozenset(_RECORD_WORDS.split())
_MOST_CODES = 6
_LEAST_DETAILS = 2
_LEAST_OTHERS = 2
_FIGURES = frozenset(("number", "date", "year"))


def record_code(rows: Sequence[Sequence[str]]) -> str:
    """Return the code of the details of a file of record types, "" where it is no such file.

    The first row is a record of its own, or heads a group as others do, and all that are of another
    code than the details are so by their form as well: with another number of fields, with texts
    where those have figures, or with nothing where those all have something. A first row of texts
    alone names columns, unless a record of a third code follows the details.

    Args:
        rows: The first rows of the file.
    """
    filled = [row for row in rows if any(row)]
    counts = Counter(row[0] for row in filled)
    if not filled or not 1 < len(counts) <= _MOST_CODES or not _are_codes(counts):
        return ""
    code, count = counts.most_common(1)[0]
    details = [row for row in filled if row[0] == code]
    others = [row for row in filled if row[0] != code]
    first = filled[0]
    if count < _LEAST_DETAILS or first[0] == code:
        return ""
    if counts[first[0]] > 1 and not _heads_groups(filled, code):
        return ""
    width = len(details[0])
    if width < 2 or any(len(row) != width for row in details):
        return ""
    is_named = all(kind(field) in ("", "text") for field in first)
    if is_named and (len(counts) < 3 or filled[-1][0] == code):
        return ""
    behind = [row for row in others if row is not first]
    # Between a first and a last record of their own there is more to tell them by.
    is_framed = filled[-1][0] not in (code, first[0]) and counts[filled[-1][0]] == 1
    is_first = _is_unlike(first, details) or (is_framed and _has_gap(first, details))
    are_unlike = is_first and all(
        _is_unlike(row, details) or _has_gap(row, details) for row in behind
    )
    return code if are_unlike else ""


def _are_codes(fields: Counter[str]) -> bool:
    """Tell whether first fields are codes of one make: of one length, or words for such records."""
    if all(field.casefold() in _WORDS for field in fields):
        return True
    return len({*map(len, fields)}) == 1 and all(map(_CODE.fullmatch, fields))


def _heads_groups(rows: Sequence[Sequence[str]], code: str) -> bool:
    """Tell whether rows like the first one, of one length, come again between the details.

    Where the details are of the same length, each of them is followed by one, and at least two
    fields of theirs are of another kind in all of them.
    """
    heads = [place for place, row in enumerate(rows) if row[0] == rows[0][0]]
    first_detail = next(place for place, row in enumerate(rows) if row[0] == code)
    lengths = {len(rows[place]) for place in heads}
    if heads[-1] < first_detail or lengths != {len(rows[0])}:
        return False
    if lengths != {len(rows[first_detail])}:
        return True
    # A code may be a type of values as well, but then it tells what one field is.
    followers = {rows[place + 1][0] for place in heads if place + 1 < len(rows)}
    details = [row for row in rows if row[0] == code]
    if followers != {code} or not (rows[0][0] + code).isalpha():
        return False
    return _other_kinds([rows[place] for place in heads], details) >= _LEAST_OTHERS


def _other_kinds(heads: Sequence[Sequence[str]], details: Sequence[Sequence[str]]) -> int:
    """Count the fields that all heads have, and that are of another kind in all details."""
    count = 0
    for own, theirs in zip(zip(*heads, strict=True), zip(*details, strict=False), strict=False):
        kinds, others = set(map(kind, own)), set(map(kind, theirs)) - {""}
        are_apart = kinds <= _FIGURES and others == {"text"}
        are_apart = are_apart or (kinds == {"text"} and bool(others) and others <= _FIGURES)
        count += are_apart
    return count


def _has_gap(row: Sequence[str], details: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row has nothing where all details have something."""
    return any(
        not own.strip() and all(field.strip() for field in theirs)
        for own, *theirs in zip(row, *details, strict=True)
    )


def _is_unlike(row: Sequence[str], details: Sequence[Sequence[str]]) -> bool:
    """Tell whether a row has other fields than the details."""
    if len(row) != len(details[0]):
        return True
    for own, *theirs in zip(row[1:], *(each[1:] for each in details), strict=True):
        kinds = {kind(field) for field in theirs} - {""}
        if kind(own) == "text" and kinds and kinds <= _FIGURES:
            return True
        if kind(own) in _FIGURES and kinds == {"text"}:
            return True
    return False
