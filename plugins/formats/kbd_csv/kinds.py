"""Kinds of fields by how they look, and whether a table's first row names its columns."""

import re
from collections.abc import Sequence

from kbd.formats import total_label

__all__ = ["has_header", "heads_figures", "is_number", "is_total", "kind"]

_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?[-+]?(\d[\d.,' ]*|[.,]\d+)([eE][-+]?\d+)?\s?[%€$)]*")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ]\d.*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_BOOLEANS = frozenset(("true", "false", "yes", "no"))
_YEAR = re.compile(r"(19|20)\d\d")


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


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first of a table's rows names its columns.

    A text above typed values speaks for it, a typed value above typed values against it, a year is
    a name where what is below are no years. Where all is text, a first row of distinct, filled
    fields is a header.
    """
    filled = [field.strip() for field in rows[0] if field.strip()]
    if not filled:
        return False
    votes = _votes(rows)
    texts = sum(kind(field) in ("text", "boolean") for field in rows[0])
    if votes:
        return votes > 0 and texts > 0
    return texts > 0 and len(set(filled)) == len(filled)


def heads_figures(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row plainly heads the others: texts above figures or dates."""
    return _votes(rows) > 0 and has_header(rows)


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
