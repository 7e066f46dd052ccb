r"""Dialect of a delimited text: what separates its fields, what quotes them, what escapes a quote.

Every usual delimiter is tried on a sample and the one that gives the most regular, cleanest rows
wins; a suffix only breaks ties. Where none of them separates anything, rarer ones (`:`, `~`, `^`,
the separators of ASCII, columns set with blanks) are taken if every line is regular in them.
Nothing is ever taken from a pattern of a library's report, so a bracket in the text cannot become a
quote.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePosixPath

import msgspec

from kbd.errors import ValidationFailed
from kbd_csv.kinds import is_number, kind

__all__ = [
    "COLUMN_GAP",
    "SEPARATOR_LINE",
    "Dialect",
    "detect_dialect",
    "parsed",
    "said_delimiter",
    "suffix_delimiter",
]

COLUMN_GAP = "  "
"""The delimiter of columns that are set with blanks: two of them, or more."""

SEPARATOR_LINE = re.compile(r"\ufeff?\"?sep=([^\r\n\"])\"?[ ,;\t]*\r?\n?", re.IGNORECASE)
"""What Excel writes, and obeys, in a first line."""

_SAMPLE_ROWS = 500
_USUAL = (",", ";", "\t", "|")
_RARE = ("\x1f", "\x01", "~", "^", ":")
_BY_SUFFIX = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
_UNIT = "\x1f"
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":"}
_GAP = re.compile(r"[ \t]{2,}")
# A quote with a backslash before it and text behind it: no field ends there.
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\\"(?=[^,;\t|\r\n\"])")
_DOUBLED_QUOTE = re.compile(r"(?<![,;\t|\s\"\\])\"\"(?!\")")
_LONE_BACKSLASH = re.compile(r"\\(?![\\\"])")
_TIME = re.compile(r"(?<!\d)\d{1,2}:\d{2}(?!\d)")


class Dialect(msgspec.Struct, frozen=True):
    r"""Dialect of delimited text.

    Args:
        delimiter: One character, or `COLUMN_GAP`.
        quote_char: What quotes fields; `"` is understood even where the sample has none.
        quoted: Whether the sample has quoted fields.
        has_escapes: Whether a quote within a field is written `\"`.
        skips_blanks: Whether quotes stand behind blanks (`a, "b, c"`), which are no text then.
    """

    delimiter: str
    quote_char: str = '"'
    quoted: bool = False
    has_escapes: bool = False
    skips_blanks: bool = False


def suffix_delimiter(name: str) -> str:
    """Return the delimiter that a file's suffix stands for: tab, bar, else comma."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower(), ",")


def said_delimiter(said: str) -> str:
    """Return the delimiter that was said: a character, or its name ("tab").

    Raises:
        ValidationFailed: It cannot separate fields.
    """
    found = _NAMED.get(said.lower(), said)
    if found == COLUMN_GAP or (
        len(found) == 1 and found not in "\"'\r\n\0" and not found.isalnum()
    ):
        return found
    raise ValidationFailed(
        f"{said[:20]!r} cannot separate fields: a delimiter is one character, such as ; or tab"
    )


# Not DuckDB's sniffer: ragged rows or a zero byte make it report one column of text, silently.
def detect_dialect(sample: str, name: str, delimiter: str | None = None) -> Dialect:
    """Choose the dialect for a text that begins with `sample`, whole lines.

    Args:
        sample: The text.
        name: The file's, for its suffix.
        delimiter: What was said to separate fields; goes before what the file itself says.
    """
    separator = SEPARATOR_LINE.match(sample)
    if separator:
        sample = sample[separator.end() :]
        delimiter = delimiter or separator[1]
    sample = _without_comments(sample)
    quote = _quote_char(sample)
    delimiter = delimiter or _delimiter(sample, name, quote)
    mark = re.escape(delimiter)
    quoted = re.search(rf"(?:^|{mark})\s?{quote}", sample, re.MULTILINE) is not None
    return _with_habits(Dialect(delimiter, quote, quoted), sample)


def parsed(lines: Iterable[str], dialect: Dialect, *, quotes: bool = True) -> Iterator[list[str]]:
    """Yield the fields of rows; takes no more lines than the rows need."""
    if dialect.delimiter == COLUMN_GAP:
        units = (_GAP.sub(_UNIT, line.strip(" \t\r\n")) for line in lines)
        return csv.reader(units, delimiter=_UNIT, quoting=csv.QUOTE_NONE)
    if not quotes:
        return csv.reader(lines, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE)
    if dialect.has_escapes:
        # The csv module drops every backslash: one that escapes nothing is text (C:\temp).
        lines = (_LONE_BACKSLASH.sub(r"\\\\", line) if "\\" in line else line for line in lines)
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote_char,
        escapechar="\\" if dialect.has_escapes else None,
        skipinitialspace=dialect.skips_blanks,
    )


def _without_comments(sample: str) -> str:
    """Return a sample without the comments at its beginning, if it has anything else."""
    lines = sample.splitlines(keepends=True)
    place = 0
    while place < len(lines) and (lines[place].startswith("#") or not lines[place].strip()):
        place += 1
    return "".join(lines[place:]) or sample


def _quote_char(sample: str) -> str:
    """Return `'` only where fields are plainly quoted with it and none with `"`."""
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n]|$)", sample, re.MULTILINE))
    double = len(re.findall(r"(?:^|[,;\t|])\"", sample, re.MULTILINE))
    return "'" if single >= 2 and not double else '"'


def _delimiter(sample: str, name: str, quote: str) -> str:
    usual = suffix_delimiter(name)
    order = [usual, *(mark for mark in _USUAL if mark != usual)]
    best, best_score = usual, 0.0
    for delimiter in order:
        score = _score(sample, delimiter, quote)
        # A tie stays with the earlier candidate, that is with the suffix.
        if score > best_score + 1e-9:
            best, best_score = delimiter, score
    if best_score > _PLAIN_SCORE:
        return best
    return _rare_delimiter(sample) or best


_PLAIN_SCORE = 0.3
"""Above it a usual delimiter separates fields; below, a line in some has it by chance."""


def _score(sample: str, delimiter: str, quote: str) -> float:
    """Rate a candidate from 0 (it separates nothing) to 1 (every row alike, every field clean)."""
    rows = _rows(sample, Dialect(delimiter, quote))
    if not rows:
        return 0.0
    titles = 0
    while titles < len(rows) and len(rows[titles]) == 1:
        titles += 1
    body = rows[titles:]
    widths = Counter(map(len, body))
    # Titles above a regular table of more than two columns are no sign against what separates it.
    is_titled = len(body) > 1 and widths.most_common(1)[0] >= (3, 0.7 * len(body))
    if titles and is_titled:
        rows = body
    widths = Counter(map(len, rows))
    several = sum(count for width, count in widths.items() if width > 1) / len(rows)
    if titles and is_titled:
        # One that separates the first rows as well is more likely.
        several *= 0.6
    if several == 0 or len(rows[0]) == 1:
        # A header that the candidate does not split speaks strongly against it.
        several *= 0.3
    alike = widths.most_common(1)[0][1] / len(rows)
    fields = [field for row in rows for field in row if field]
    unclean = sum(_is_unclean(field, delimiter) for field in fields)
    clean = 1 - unclean / max(1, len(fields))
    return several * (0.4 + 0.6 * alike) * (0.4 + 0.6 * clean)


def _rows(sample: str, dialect: Dialect) -> list[list[str]]:
    return [row for row in islice(parsed(io.StringIO(sample), dialect), _SAMPLE_ROWS) if row]


def _is_unclean(field: str, delimiter: str) -> bool:
    """Tell whether a field looks as if another delimiter should have split it."""
    if is_number(field):
        return False
    others = [mark for mark in _USUAL if mark != delimiter and mark in field]
    return any(re.search(rf"\S{re.escape(mark)}\S", field) for mark in others) or "\t" in others


def _rare_delimiter(sample: str) -> str:
    """Return a delimiter in which every line is regular, or ""."""
    lines = [line for line in sample.splitlines()[:_SAMPLE_ROWS] if line.strip()]
    if len(lines) < 2:
        return ""
    for delimiter in _RARE:
        counts = {line.count(delimiter) for line in lines}
        if len(counts) == 1 and min(counts) > 0:
            rows = [line.split(delimiter) for line in lines]
            if delimiter != ":" or _are_records(rows, lines):
                return delimiter
    return COLUMN_GAP if _are_set_columns(lines) else ""


def _are_records(rows: list[list[str]], lines: list[str]) -> bool:
    """Tell whether colons separate fields: they stand in times, addresses and prose, too."""
    if len(rows) < 3 or len(rows[0]) < 3:
        return False
    if sum(_TIME.search(line) is not None for line in lines) > len(lines) / 2:
        return False
    kinds = [{kind(field) for field in column} - {""} for column in zip(*rows[1:], strict=True)]
    figures = any(found and "text" not in found for found in kinds)
    return figures and {"text"} in kinds and not any("://" in line for line in lines)


def _are_set_columns(lines: list[str]) -> bool:
    """Tell whether columns are set with blanks: each begins, or ends, in one place in all lines."""
    if len(lines) < 3:
        return False
    spans = [
        [match.span() for match in re.finditer(r"\S+(?: \S+)*", line.replace("\t", "  "))]
        for line in lines
    ]
    if len(set(map(len, spans))) != 1 or len(spans[0]) < 2:
        return False
    return all(
        len({start for start, _ in column}) == 1 or len({end for _, end in column}) == 1
        for column in zip(*spans, strict=True)
    )


def _with_habits(dialect: Dialect, sample: str) -> Dialect:
    """Add how quotes are written, where the file plainly does so and its rows bear it out."""
    quote = dialect.quote_char
    if not dialect.quoted or dialect.delimiter in (" ", COLUMN_GAP):
        return dialect
    mark = re.escape(dialect.delimiter)
    if re.search(rf"(?:^|{mark}) +{quote}[^{quote}\n]*{quote} *(?={mark}|$)", sample, re.MULTILINE):
        dialect = _more_regular(
            dialect, msgspec.structs.replace(dialect, skips_blanks=True), sample
        )
    if quote == '"' and _ESCAPED_QUOTE.search(sample) and not _DOUBLED_QUOTE.search(sample):
        dialect = _more_regular(dialect, msgspec.structs.replace(dialect, has_escapes=True), sample)
    return dialect


def _more_regular(plain: Dialect, other: Dialect, sample: str) -> Dialect:
    """Return the other dialect, unless the plain one makes more rows alike."""

    def alike(dialect: Dialect) -> float:
        rows = _rows(sample, dialect)
        return max(Counter(map(len, rows)).values(), default=0) / max(1, len(rows))

    return plain if alike(plain) > alike(other) else other
