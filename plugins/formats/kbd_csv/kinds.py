"""Kinds of fields by how they look, and whether a table's first row names its columns."""

import re
from collections.abc import Callable, Sequence

from kbd.formats import count_label, total_label
from kbd.formats.headings import are_series

__all__ = [
    "has_header",
    "heads_figures",
    "heads_series",
    "is_number",
    "is_total",
    "kind",
    "may_name_years",
    "sums_up",
]

_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?[-+]?(\d[\d.,' ]*|[.,]\d+)([eE][-+]?\d+)?\s?[%€$)]*")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ]\d.*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_BOOLEANS = frozenset(("true", "false", "yes", "no"))
_YEAR = re.compile(r"(19|20)\d\d")

_SURE_YEARS = 3
"""So many years that count on are names, even if what is below looks like years, too."""
_LEAST_YEARS = 2


def kind(field: str) -> str:
    """Name what a field looks like: "", year, number, date, boolean or text."""
    text = field.strip()
    if not text:
        return ""
    if _YEAR.fullmatch(text):
        return "year"
    if _DATE.fullmatch(text):
        return "date"
    if _NUMBER.fullmatch(text):
        return "number"
    return "boolean" if text.lower() in _BOOLEANS else "text"


def is_number(field: str) -> bool:
    """Tell whether a field looks like a number, with its currency or percent sign."""
    return _NUMBER.fullmatch(field) is not None


def is_total(fields: Sequence[str]) -> bool:
    """Tell whether a row has the label of a total."""
    return any(total_label(field) is not None for field in fields if field)


_GLUED = re.compile(r"([^0-9:=]+)[:=]\s*[^\w]*[0-9][0-9.,' ]*\W*\w{0,4}\W*")
"""A label with its figure in one field."""


def sums_up(fields: Sequence[str], rows: int | None = None) -> bool:
    """Tell whether a row has one value that says how many rows there are, or what they come to.

    Args:
        fields: The row.
        rows: How many there are above it; None where that is not known, so that any number will do.
    """
    valued = [field.strip() for field in fields if field.strip()]
    if len(valued) != 1:
        return False
    if (glued := _GLUED.fullmatch(valued[0])) and total_label(glued[1]) is not None:
        return True
    label = count_label(valued[0])
    return label is not None and rows in (None, label.count)


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first of a table's rows names its columns.

    Names that count on do so at once. A text above typed values speaks for it, a typed value above
    typed values against it, a year is a name where what is below are no years. Where all is text,
    a first row of distinct, filled fields is a header.
    """
    filled = [field.strip() for field in rows[0] if field.strip()]
    if not filled:
        return False
    if heads_series(rows):
        return True
    votes = _votes(rows)
    texts = sum(kind(field) in ("text", "boolean") for field in rows[0])
    if votes:
        return votes > 0 and texts > 0
    return texts > 0 and len(set(filled)) == len(filled)


def heads_figures(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row plainly heads the others: texts above figures or dates."""
    return _votes(rows) > 0 and has_header(rows)


def may_name_years(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row may name its columns by two years, or be a row as those below."""
    return not has_header(rows) and heads_series(rows, _LEAST_YEARS)


def heads_series(rows: Sequence[Sequence[str]], least_years: int = _SURE_YEARS) -> bool:
    """Tell whether the first row names its columns by years, days or numbers that count on.

    Below them stand figures that do not, and below what else it has, if anything, stand texts.

    Args:
        rows: The rows.
        least_years: How many years are names above figures that all look like years.
    """
    first, below = [field.strip() for field in rows[0]], rows[1:]
    kinds = [kind(field) for field in first]
    places = [place for place, own in enumerate(kinds) if own in ("year", "number", "date")]
    others = [place for place in range(len(first)) if place not in places]
    if len(places) < 2 or not below or any(kinds[place] == "boolean" for place in others):
        return False
    under = [{kind(row[n]) for row in below if n < len(row)} - {""} for n in range(len(first))]
    if not all(under[n] and under[n] <= {"number", "year"} for n in places):
        return False
    named = [first[place] for place in places]
    if all(kinds[place] == "date" for place in places):
        # Days above figures are names, for what is below them is no day.
        return len({*named}) == len(named) and all("text" in under[n] for n in others[:1])
    if not all(field.isdecimal() for field in named) or not are_series([*map(int, named)]):
        return False
    is_labeled = any("text" in under[place] for place in others)
    are_years = all(kinds[place] == "year" for place in places)
    like_years = [under[place] == {"year"} for place in places]
    # Without a label beside them they may be a row: that can be asked about, but is not sure.
    may_be_names = is_labeled or (least_years < _SURE_YEARS and not all(like_years))
    if any(like_years) and not (may_be_names and are_years and len(places) >= least_years):
        return False
    if any(map(_counts_on(places), below)):
        return False
    # Numbers alone that count from 1 may be the first row as well; years above figures are none.
    return is_labeled or (not others and are_years)


def _counts_on(places: Sequence[int]) -> Callable[[Sequence[str]], bool]:
    """Return what tells whether a row has numbers in some places that count on."""

    def test(row: Sequence[str]) -> bool:
        own = [row[place].strip() for place in places if place < len(row)]
        return all(field.isdecimal() for field in own) and are_series([*map(int, own)])

    return test


def _votes(rows: Sequence[Sequence[str]]) -> int:
    first, below = rows[0], rows[1:]
    filled = sum(bool(field.strip()) for field in first)
    votes = 0
    for place, field in enumerate(first):
        kinds = {kind(row[place]) for row in below if place < len(row)} - {""}
        own = kind(field)
        # "No" stands above numbers more often than for false.
        own = "text" if own == "boolean" and "boolean" not in kinds else own
        if own in ("", "text"):
            votes += own == "text" and kinds != set() and "text" not in kinds
        elif own != "boolean" and kinds == {"boolean"}:
            # Versions or sizes above yes and no: no value of the column, and no name for sure.
            continue
        elif not (_YEAR.fullmatch(field.strip()) and kinds != {"year"} and filled > 1):
            votes -= 1
    return votes
