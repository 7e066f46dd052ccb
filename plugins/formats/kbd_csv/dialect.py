"""How a delimited text is written: its delimiter, its quotes, whether it has a header.

Every candidate is tried on a sample and the one that gives the most regular, cleanest rows wins;
a suffix only breaks ties. Nothing is ever taken from a pattern of a library's report, so a bracket
in the text cannot become a quote.
"""

import csv
import io
import re
from collections import Counter
from pathlib import PurePosixPath

import msgspec

__all__ = ["SAMPLE_CHARS", "Dialect", "detect_dialect", "has_header", "suffix_delimiter"]

SAMPLE_CHARS = 128 * 1024
"""How much of a file decides; a regular file is regular from its start."""

_SAMPLE_ROWS = 500
_DELIMITERS = (",", ";", "\t", "|")
_BY_SUFFIX = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?[-+]?(\d[\d.,' ]*|[.,]\d+)([eE][-+]?\d+)?\s?[%€$)]*")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ]\d.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ]\d.*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_BOOLEANS = frozenset(("true", "false", "yes", "no"))
_YEAR = re.compile(r"(19|20)\d\d")


class Dialect(msgspec.Struct, frozen=True):
    """A way of writing rows.

    Args:
        delimiter: One of comma, semicolon, tab, bar.
        quote_char: What quotes fields; `"` is understood even where the sample has none.
        quoted: Whether the sample has quoted fields.
    """

    delimiter: str
    quote_char: str = '"'
    quoted: bool = False


def suffix_delimiter(name: str) -> str:
    """Return the delimiter that a file's suffix stands for: tab, bar, else comma."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower(), ",")


def detect_dialect(sample: str, name: str) -> Dialect:
    """Choose the dialect for a text that begins with `sample`, whole lines."""
    usual = suffix_delimiter(name)
    order = [usual, *(mark for mark in _DELIMITERS if mark != usual)]
    quote = _quote_char(sample)
    quoted = re.search(rf"(^|[,;\t|])\s?{quote}", sample, re.MULTILINE) is not None
    best, best_score = usual, 0.0
    for delimiter in order:
        score = _score(sample, delimiter, quote)
        # A tie stays with the earlier candidate, that is with the suffix.
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    return Dialect(best, quote, quoted)


def has_header(rows: list[list[str]]) -> bool:
    """Tell whether the first of a table's rows names its columns.

    A text above typed values speaks for it, a typed value above typed values against it, a year is
    a name where what is below are no years. Where all is text, a first row of distinct, filled
    fields is a header.
    """
    first, below = rows[0], rows[1:]
    filled = [field.strip() for field in first if field.strip()]
    if not filled:
        return False
    votes = 0
    for place, field in enumerate(first):
        kinds = {_kind(row[place]) for row in below if place < len(row)} - {""}
        kind = _kind(field)
        if kind in ("", "text"):
            votes += kind == "text" and kinds != set() and "text" not in kinds
        elif not (_YEAR.fullmatch(field.strip()) and kinds != {"year"} and len(filled) > 1):
            votes -= 1
    texts = sum(_kind(field) == "text" for field in first)
    if votes:
        return votes > 0 and texts > 0
    return texts > 0 and len(set(filled)) == len(filled)


def _quote_char(sample: str) -> str:
    """Return `'` only where fields are plainly quoted with it and none with `"`."""
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)", sample, re.MULTILINE))
    double = len(re.findall(r"(?:^|[,;\t|])\"", sample, re.MULTILINE))
    return "'" if single >= 2 and not double else '"'


def _score(sample: str, delimiter: str, quote: str) -> float:
    """Rate a candidate from 0 (it separates nothing) to 1 (every row alike, every field clean)."""
    reader = csv.reader(io.StringIO(sample), delimiter=delimiter, quotechar=quote, doublequote=True)
    rows = [row for row, _ in zip(reader, range(_SAMPLE_ROWS), strict=False) if row]
    if not rows:
        return 0.0
    widths = Counter(len(row) for row in rows)
    several = sum(count for width, count in widths.items() if width > 1) / len(rows)
    if several == 0 or len(rows[0]) == 1:
        # A header that the candidate does not split speaks strongly against it.
        several *= 0.3
    alike = widths.most_common(1)[0][1] / len(rows)
    fields = [field for row in rows for field in row if field]
    unclean = sum(_is_unclean(field, delimiter) for field in fields)
    clean = 1 - unclean / max(1, len(fields))
    return several * (0.4 + 0.6 * alike) * (0.4 + 0.6 * clean)


def _is_unclean(field: str, delimiter: str) -> bool:
    """Tell whether a field looks as if another delimiter should have split it."""
    if _NUMBER.fullmatch(field):
        return False
    others = [mark for mark in _DELIMITERS if mark != delimiter and mark in field]
    return any(re.search(rf"\S{re.escape(mark)}\S", field) for mark in others) or "\t" in others


def _kind(field: str) -> str:
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
