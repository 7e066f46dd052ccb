"""TableLayout of a table in a text: where it begins below titles, what its rows look like.

Found by the first rows as a whole: the width and the kinds of values that most of them have tell
which rows above are none of the table.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from kbd.formats import MISSING_TEXTS, is_remark
from kbd.formats.unit_rows import has_units
from kbd_csv.dialect import SEPARATOR_LINE
from kbd_csv.kinds import has_header, heads_figures, is_total, kind
from kbd_csv.page_lines import are_pages_apart, is_page_line
from kbd_csv.preambles import names_below
from kbd_csv.record_types import record_code

__all__ = [
    "COMMENT_MARK",
    "LineRow",
    "TableLayout",
    "filled_count",
    "find_layout",
    "value_count",
]

COMMENT_MARK = "#"

_RULES = ("---", "===", "___")
_RULE_SIGNS = "-=_+|:*,; \t\r\n"

_FIGURES_SHARE = 0.8
"""So many of a column's values are figures or dates, if it is one of these."""

_FEW_REMARKS = 3

_LEAST_ABOVE = 2
"""Rows above a gap whose kinds of values are those of the table."""

_NAME = re.compile(r"[^\W\d_][^\d@:;,!?]{0,39}")
_ASIDE_WIDTH = 4
"""From so many values a row on, one alone is no row of the table."""


class LineRow(NamedTuple):
    """Row as it was read: the line at which it begins, from 1, its fields, and its text."""

    line: int
    fields: list[str]
    text: str


class TableLayout(msgspec.Struct, frozen=True):
    """TableLayout of a table.

    Args:
        start: The line of its first row, which is its header if it has one.
        header: The fields of the header, or None.
        declared: Fields that a row should have, as its header or its first row has.
        width: Columns that the first rows have, trailing empty ones not counted.
        typical: Values that most rows have.
        figures: The columns of figures, dates and truth values.
        has_comments: Whether lines that begin with `#` are comments.
        has_lone_comments: Whether those are that begin with `#` and a blank, and are no row.
        has_plain_firsts: Whether no row that is filled has a first value in the form of a remark.
        has_plain_blanks: Whether no row of several fields has a blank behind a delimiter.
        has_rules: Whether lines are drawn above or below the header.
        has_page_lines: Whether a number of a page alone in a row is no value of the table.
        has_separator_line: Whether the first line names the delimiter (`sep=;`).
        is_lower: Whether lines with values stand above it.
        is_chosen: Whether it was chosen from several tables.
        is_list: Whether it has one column, in which an empty line is an empty value.
        units_line: The line below the header that has the units of the figures, 0 for none.
        record_code: The first field of the table's rows, in a file of several types of records.
    """

    start: int = 1
    header: list[str] | None = None
    declared: int = 0
    width: int = 0
    typical: int = 0
    figures: frozenset[int] = frozenset()
    has_comments: bool = False
    has_lone_comments: bool = False
    has_plain_firsts: bool = False
    has_plain_blanks: bool = False
    has_rules: bool = False
    has_page_lines: bool = False
    has_separator_line: bool = False
    is_lower: bool = False
    is_chosen: bool = False
    is_list: bool = False
    units_line: int = 0
    record_code: str = ""

    def is_other_record(self, row: LineRow) -> bool:
        """Tell whether a row is a record of another type than those of the table."""
        return (
            self.record_code != ""
            and value_count(row.fields) > 0
            and (row.fields[0] != self.record_code)
        )

    def is_comment(self, row: LineRow) -> bool:
        """Tell whether a row is a comment."""
        if self.has_comments:
            return row.text.startswith(COMMENT_MARK)
        return self.has_lone_comments and _is_lone_comment(row, self.declared)

    def is_rule(self, row: LineRow) -> bool:
        """Tell whether a row is a drawn line."""
        return self.has_rules and is_rule(row)

    def is_page_line(self, fields: Sequence[str]) -> bool:
        """Tell whether a row is a line of a page between the table's rows."""
        return self.has_page_lines and is_page_line(fields, self.declared)

    def is_aside(self, fields: Sequence[str]) -> bool:
        """Tell whether a row could be a remark beside the table: it has few values, no figure.

        A row that looks like a total has a label and figures, and is none.
        """
        if self._is_written_remark(fields):
            return True
        count = value_count(fields)
        if not 0 < count <= max(1, self.typical // 2) or self.declared < 2 or is_total(fields):
            return False
        return not any(
            kind(field) != "text"
            for place, field in enumerate(fields)
            if place in self.figures and field.strip()
        ) and any(kind(field) == "text" for field in fields)

    def contradicts(self, fields: Sequence[str]) -> bool:
        """Tell whether a row has a text where the table has figures or dates."""
        return any(
            place in self.figures
            and kind(field) == "text"
            and field.strip().lower() not in MISSING_TEXTS
            for place, field in enumerate(fields)
        )

    def may_head(self, fields: Sequence[str]) -> bool:
        """Tell whether a row below a gap could name as many columns as the table has."""
        names = {field.strip().casefold() for field in fields}
        return len(names) == len(fields) == self.declared > 1 and all(map(_may_name, fields))

    def is_surely_aside(self, fields: Sequence[str]) -> bool:
        """Tell whether a row that could be a remark is one, with no blank line to say so."""
        if self._is_written_remark(fields):
            return True
        return value_count(fields) == 1 and (
            self.contradicts(fields) or (self.typical >= _ASIDE_WIDTH and len(fields) == 1)
        )

    def _is_written_remark(self, fields: Sequence[str]) -> bool:
        """Tell whether a row is a remark by its form, with delimiters that end words of it.

        It has fewer fields than a row, or is alone in having blanks behind them, and no row of the
        table begins so.
        """
        return (
            self.has_plain_firsts
            and 0 < len(fields) <= self.declared
            and (len(fields) < self.declared or self.has_plain_blanks)
            and is_remark(fields[0])
            and _is_prose(fields)
            and not is_total(fields)
        )

    def begins_table(self, row: Sequence[str], below: Sequence[str]) -> bool:
        """Tell whether a row below a blank line heads another table, of which one more row is."""
        if len(row) != len(below) or value_count(row) < 2:
            return False
        if not all(kind(field) == "text" for field in row if field.strip()):
            return False
        if filled_count(row) != self.declared and value_count(below) > 1:
            return True
        return self.contradicts(row) and not self.contradicts(below)


def _may_name(field: str) -> bool:
    """Tell whether a field may be the name of a column: a few words without figures."""
    name = field.strip()
    is_missing = name.lower() in MISSING_TEXTS
    return kind(name) == "text" and not is_missing and _NAME.fullmatch(name) is not None


def is_rule(row: LineRow) -> bool:
    """Tell whether a row would be a drawn line, as printed lists have: nothing but its signs."""
    text = row.text
    return any(rule in text for rule in _RULES) and not text.strip(_RULE_SIGNS)


def value_count(fields: Sequence[str]) -> int:
    """Count the fields that are not blank."""
    return sum(1 for field in fields if field and not field.isspace())


def filled_count(fields: Sequence[str]) -> int:
    """Count a row's fields without the empty ones at its end."""
    size = len(fields)
    while size and not fields[size - 1]:
        size -= 1
    return size


def find_layout(
    rows: Sequence[LineRow], said: int | None = None, *, is_first: bool = False
) -> TableLayout:
    """Find the layout of a table by the first rows of a file.

    Args:
        rows: They, empty lines as well.
        said: The line of the header if it was said, 0 for no header; then `rows` may begin there.
        is_first: Whether the table begins with the first of the rows.
    """
    layout, body, commented = _without_marked_lines(rows)
    code, body = _of_one_type(body) if said is None and not is_first else ("", body)
    place = 0 if said or is_first else _start(body)
    table = _block(body[place:])
    layout = msgspec.structs.replace(layout, record_code=code)
    if not table:
        return layout
    if commented is not None and not said and _heads(commented, table):
        table = [commented, *table]
    if said is None and not is_first and _are_bands(table):
        table = table[1:]
    names = _joined_names(table) if said is None and not is_first else None
    table = table[1:] if names else table
    header = names or _header(table, 0 if code else said)
    below = table[1:] if header is not None else table
    units_line = _units_line(below) if header is not None and len(header) > 1 else 0
    below = below[1:] if units_line else below
    declared = len(table[0].fields)
    plain = [row.fields for row in _without_last_remarks(table)]
    return msgspec.structs.replace(
        layout,
        start=table[0].line,
        is_lower=any(row.line < table[0].line and row.fields for row in rows)
        or bool(said)
        or is_first,
        header=header,
        declared=declared,
        width=max(min(declared, 1), *(filled_count(row.fields) for row in table)),
        typical=_typical(below or table),
        figures=_figures_below(header, below),
        has_plain_firsts=not any(len(row) >= declared > 1 and is_remark(row[0]) for row in plain),
        has_plain_blanks=declared > 1 and not any(map(_has_blanks, plain)),
        is_chosen=is_first,
        units_line=units_line,
        is_list=max(filled_count(row.fields) for row in [*body, *table]) < 2,
    )


def _without_marked_lines(
    rows: Sequence[LineRow],
) -> tuple[TableLayout, Sequence[LineRow], LineRow | None]:
    """Return rows without comments, drawn lines and lines of pages, and which of these there are.

    And the last comment at the top, which may name the columns.
    """
    has_separator = bool(rows) and rows[0].line == 1 and _is_separator(rows[0])
    body = rows[1:] if has_separator else rows
    has_comments, commented = _comments(body)
    if has_comments:
        body = [row for row in body if not row.text.startswith(COMMENT_MARK)]
    usual = 0 if has_comments else _width_beside_comments(body)
    if usual:
        body = [row for row in body if not _is_lone_comment(row, usual)]
    has_rules, body = _without_rules(body)
    has_page_lines, body = _without_page_lines(body)
    found = TableLayout(
        has_comments=has_comments,
        has_lone_comments=usual > 0,
        has_rules=has_rules,
        has_page_lines=has_page_lines,
        has_separator_line=has_separator,
    )
    return found, body, commented


def _of_one_type(body: Sequence[LineRow]) -> tuple[str, Sequence[LineRow]]:
    """Return the code of the details of a file of record types, "" for others, and its details."""
    code = record_code([row.fields for row in body])
    if not code:
        return "", body
    return code, [row for row in body if not value_count(row.fields) or row.fields[0] == code]


def _without_rules(body: Sequence[LineRow]) -> tuple[bool, Sequence[LineRow]]:
    """Return whether rules are drawn between rows, and the rows without these and empty fields."""
    has_rules = any(map(is_rule, body)) and any(len(row.fields) > 1 for row in body)
    if has_rules:
        body = [row for row in body if not is_rule(row)]
    valued = [row for row in body if value_count(row.fields) or not row.fields]
    return has_rules, valued if any(row.fields for row in valued) else body


def _without_page_lines(body: Sequence[LineRow]) -> tuple[bool, Sequence[LineRow]]:
    """Return whether numbers of pages alone in a row are no rows, and the rows without these."""
    rows = [row.fields for row in body if row.fields]
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    if not are_pages_apart(rows, width):
        return False, body
    return True, [row for row in body if not is_page_line(row.fields, width)]


def _is_separator(row: LineRow) -> bool:
    return SEPARATOR_LINE.fullmatch(row.text) is not None


def _comments(rows: Sequence[LineRow]) -> tuple[bool, LineRow | None]:
    """Tell whether lines that begin with # are comments, and return the last one at the top.

    They are, if all of them at the top are followed by rows that do not begin so and have another
    number of fields: else # begins a column's name, or a value. So it does where several fields of
    a row begin with it.
    """
    top = []
    for row in rows:
        if row.fields and not row.text.startswith(COMMENT_MARK):
            break
        if row.fields:
            top.append(row)
    rest = [row for row in rows if row.fields and not row.text.startswith(COMMENT_MARK)]
    if not top or not rest:
        return False, None
    if any(_are_marked_names(row.fields) for row in rows):
        return False, None
    usual = Counter(len(row.fields) for row in rest).most_common(1)[0][0]
    if usual == 1:
        # A list may have anything in it; a comment is written with a blank.
        return all(row.text.startswith("# ") for row in top), None
    same = [row for row in top if len(row.fields) == usual]
    if same == [top[-1]] and top[-1].fields[0].strip() != COMMENT_MARK:
        last = LineRow(
            top[-1].line, [_uncommented(top[-1].fields[0]), *top[-1].fields[1:]], top[-1].text
        )
        # Alone it is a header as others are, whose first name begins so.
        return len(top) > 1 or top[-1].text.startswith("# "), last
    return not same, None


def _are_marked_names(fields: Sequence[str]) -> bool:
    return len(fields) > 1 and all(field.startswith(COMMENT_MARK) for field in fields)


def _width_beside_comments(rows: Sequence[LineRow]) -> int:
    """Return how many fields rows have if a line with # and a blank is a comment, else 0.

    It is in a table of several columns none of whose rows begins with #.
    """
    widths = Counter(len(row.fields) for row in rows if row.fields).most_common(1)
    usual = widths[0][0] if widths else 0
    marked = (row for row in rows if row.text.startswith(COMMENT_MARK))
    are_lone = all(_is_lone_comment(row, usual) or len(row.fields) == 1 for row in marked)
    return usual if usual > 1 and are_lone else 0


def _is_lone_comment(row: LineRow, usual: int) -> bool:
    is_marked = row.text.startswith(f"{COMMENT_MARK} ")
    return is_marked and len(row.fields) < usual and _is_prose(row.fields)


def _without_last_remarks(table: Sequence[LineRow]) -> Sequence[LineRow]:
    """Return rows without the last ones if these could be remarks, as few as remarks are."""
    end = len(table)
    while end and is_remark(table[end - 1].fields[0]) and _is_prose(table[end - 1].fields):
        end -= 1
    return table[:end] if len(table) - end <= min(_FEW_REMARKS, end - 1) else table


def _has_blanks(fields: Sequence[str]) -> bool:
    return any(field.startswith(" ") for field in fields[1:])


def _is_prose(fields: Sequence[str]) -> bool:
    """Tell whether delimiters between fields end words, for blanks follow them."""
    return all(field.startswith(" ") for field in fields[1:])


def _are_bands(table: Sequence[LineRow]) -> bool:
    """Tell whether the first row heads groups of columns, whose own names stand below it.

    It has gaps; the second row has none, is all texts, and plainly heads the figures below.
    """
    if len(table) < 3:
        return False
    upper, lower = table[0].fields, table[1].fields
    return (
        len(upper) == len(lower) == value_count(lower) > value_count(upper)
        and all(kind(field) == "text" for field in lower)
        and heads_figures([row.fields for row in table[1:]])
    )


def _joined_names(table: Sequence[LineRow]) -> list[str] | None:
    """Return the names that two rows make together: years below names that head several columns.

    Each column has a name in one of them, and the upper one heads more columns than its own.
    """
    if len(table) < 3:
        return None
    upper, lower = table[0].fields, table[1].fields
    if len(upper) != len(lower) or value_count(upper) == len(upper):
        return None
    kinds = [kind(field) for field in lower]
    if "year" not in kinds or not {*kinds} <= {"", "text", "year"}:
        return None
    if any(kind(field) not in ("", "text") for field in upper):
        return None
    names, group = [], ""
    for above, below in zip(upper, lower, strict=True):
        group = above.strip() or group
        names.append(f"{group} {below.strip()}".strip() if below.strip() else above.strip())
    rest = [row.fields for row in table[2:]]
    years = [place for place, own in enumerate(kinds) if own == "year"]
    are_years = any(all(kind(row[n]) == "year" for row in rest if n < len(row)) for n in years)
    are_named = all(names) and not are_years
    return names if are_named and heads_figures([names, *rest]) else None


def _units_line(rows: Sequence[LineRow]) -> int:
    """Return the line of the first row if it has the units of the figures below it, else 0."""
    if not rows:
        return 0
    first, rest = rows[0].fields, [row.fields for row in rows[1:]]
    figures = _figures(rest)
    are_texts = all(kind(first[n]) in ("", "text") for n in figures if n < len(first))
    return rows[0].line if are_texts and has_units(first, rest, figures) else 0


def _uncommented(name: str) -> str:
    return name.lstrip(COMMENT_MARK).strip()


def _heads(commented: LineRow, table: Sequence[LineRow]) -> bool:
    """Tell whether a comment above a table names its columns, because its first row does not."""
    own = [row.fields for row in table]
    return not heads_figures(own) and has_header([commented.fields, *own])


def _start(rows: Sequence[LineRow]) -> int:
    """Return the place of the table's first row: below titles, if there plainly are some."""
    first = next((place for place, row in enumerate(rows) if row.fields), 0)
    widths = Counter(len(row.fields) for row in rows if len(row.fields) > 1)
    if not widths:
        return first
    # A few rows of a wide table outweigh a longer list of remarks above it.
    usual = max(widths, key=lambda width: (widths[width] * width, width))
    # Titles may be as wide, with few values; the fuller rows are those of the table.
    counts = sorted(value_count(row.fields) for row in rows if len(row.fields) == usual)
    typical = counts[3 * len(counts) // 4]
    for place, row in enumerate(rows):
        if value_count(row.fields) > max(1, typical // 2):
            start = place if _are_titles(rows, first, place, typical) else first
            return start + names_below([each.fields for each in rows[start:]], usual)
    return first


def _are_titles(rows: Sequence[LineRow], first: int, place: int, typical: int) -> bool:
    """Tell whether the rows above a place are titles, and no rows of a table that begins thinly."""
    above = [row.fields for row in rows[first:place] if row.fields]
    if not above or not any(kind(field) == "text" for field in above[0]):
        return False
    table = [row.fields for row in _block(rows[place:])]
    if len(table) > 1 and heads_figures(table):
        return True
    if not rows[place - 1].fields:
        return len(table) > 1 or len(above) == 1 or len(table[0]) > 2
    return typical >= _ASIDE_WIDTH and all(len(row) == 1 or value_count(row) == 1 for row in above)


def _block(rows: Sequence[LineRow]) -> list[LineRow]:
    """Return the rows of a table that begins with the first, without what is below or beside it."""
    found: list[LineRow] = []
    gap = False
    for row in rows:
        if not row.fields:
            gap = bool(found)
            continue
        if not found:
            found.append(row)
            continue
        if gap and len(row.fields) != len(found[0].fields) and len(found) > 1:
            break
        gap = False
        found.append(row)
    usual = _typical(found)
    declared = len(found[0].fields) if found else 0
    return [
        row
        for place, row in enumerate(found)
        if place == 0
        or declared < 2
        or value_count(row.fields) > 1
        or usual < _ASIDE_WIDTH
        or len(row.fields) == declared
    ]


def _typical(rows: Sequence[LineRow]) -> int:
    """Return how many values the rows have: the middle one of their counts."""
    counts = sorted(value_count(row.fields) for row in rows if row.fields)
    return counts[len(counts) // 2] if counts else 0


def _header(table: Sequence[LineRow], said: int | None) -> list[str] | None:
    if said is not None:
        return table[0].fields if said else None
    return table[0].fields if has_header([row.fields for row in table]) else None


def _figures_below(header: Sequence[str] | None, rows: Sequence[LineRow]) -> frozenset[int]:
    """Return the columns of figures of all rows, and of those above the first gap.

    Below it may be another table. A header that is repeated is none of the values.
    """
    body = [row for row in rows if row.fields != header]
    end = next((n for n, pair in enumerate(pairwise(body), 1) if _is_gap(*pair)), 0)
    found = _figures([row.fields for row in body])
    above = _figures([row.fields for row in body[:end]]) if end >= _LEAST_ABOVE else frozenset()
    return found | above


def _is_gap(row: LineRow, other: LineRow) -> bool:
    """Tell whether lines without a value stand between two rows."""
    return other.line - row.line > max(1, len(row.text.splitlines()))


def _figures(rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """Return the places of the columns whose values are figures, dates or truth values."""
    counts: Counter[int] = Counter()
    texts: Counter[int] = Counter()
    for row in rows:
        for place, field in enumerate(row):
            found = kind(field)
            counts[place] += found != ""
            texts[place] += found == "text"
    return frozenset(
        place
        for place, count in counts.items()
        if count and texts[place] <= (1 - _FIGURES_SHARE) * count
    )
