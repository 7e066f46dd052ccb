"""Islands of a sheet: rectangles of cells with blank rows or blank columns around them.

Rows are bit masks of their filled columns, and rows that follow each other with the same mask are
one run; so a table of a million rows is a run or two. Runs are split at blank rows, then at blank
columns, again and again until nothing splits. The first row of an island may name its columns.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kbd.formats.headings import are_series
from kbd.sheets.areas import Area
from kbd.sheets.values import Stamp, Value, plain_text

__all__ = [
    "SAMPLE_ROWS",
    "Island",
    "RowRun",
    "find_areas",
    "gives_number",
    "is_year",
    "joined",
    "names_columns",
]

SAMPLE_ROWS = 51
"""The rows of an island that show whether its first one is a header."""

MAX_WORK = 2_000_000
"""Runs that are looked at; past it, what is left is not split further. A sheet that is made to
split without end would take minutes."""

_FIRST_YEAR, _LAST_YEAR = 1900, 2100


class RowRun(msgspec.Struct, frozen=True):
    """Rows that follow each other and have the same cells filled: bit 0 of the mask is column A."""

    top: int
    bottom: int
    mask: int


class Island(msgspec.Struct, frozen=True):
    """An island, and its headers if its first row names its columns."""

    area: Area
    headers: tuple[str, ...] | None


def joined(runs: Iterable[RowRun]) -> Iterator[RowRun]:
    """Join runs that follow each other and are alike, and leave out the blank ones."""
    open_run: RowRun | None = None
    for run in runs:
        if open_run is not None:
            if run.mask == open_run.mask and run.top == open_run.bottom + 1:
                open_run = RowRun(open_run.top, run.bottom, run.mask)
                continue
            yield open_run
        open_run = run if run.mask else None
    if open_run is not None:
        yield open_run


def find_areas(runs: Sequence[RowRun]) -> list[Area]:
    """Find the islands of runs that go down the sheet, from top to bottom and left to right."""
    found: list[Area] = []
    # A list instead of recursion, because nested islands could exceed Python's limit.
    stack = [list(runs)] if runs else []
    work = 0
    while stack:
        group = stack.pop()
        work += len(group)
        parts = _split_rows(group)
        if len(parts) == 1:
            parts = _split_columns(group)
        if len(parts) == 1 or work > MAX_WORK:
            found.append(_around(group))
        else:
            stack.extend(reversed(parts))
    return sorted(found, key=lambda area: (area.top, area.left))


def _around(group: list[RowRun]) -> Area:
    union = _union(group)
    left = (union & -union).bit_length()
    return Area(group[0].top, left, group[-1].bottom, union.bit_length())


def _union(group: list[RowRun]) -> int:
    union = 0
    for run in group:
        union |= run.mask
    return union


def _split_rows(group: list[RowRun]) -> list[list[RowRun]]:
    parts, start = [], 0
    for place in range(1, len(group)):
        if group[place].top > group[place - 1].bottom + 1:
            parts.append(group[start:place])
            start = place
    return [*parts, group[start:]] if parts else [group]


def _split_columns(group: list[RowRun]) -> list[list[RowRun]]:
    union = _union(group)
    spans = []
    while union:
        low = union & -union
        # Adding the lowest bit carries over the ones beside it, and what changes is the span.
        span = union & ~(union + low)
        spans.append(span)
        union ^= span
    if len(spans) == 1:
        return [group]
    return [
        list(joined(RowRun(run.top, run.bottom, run.mask & span) for run in group))
        for span in spans
    ]


# Names of sheets and columns may look like operators. A bracket that nothing closes takes the rest:
# each of many would be searched to the end.
_QUOTED = re.compile(r"'[^']*'|\[[^\]]*\]?")
_NUMBER_CALL = re.compile(
    r"=[-+(]*(?:SUM|SUMIFS?|SUMPRODUCT|PRODUCT|SUBTOTAL|AGGREGATE|AVERAGE(?:IFS?|A)?|MEDIAN|COUNT"
    r"(?:A|BLANK|IFS?)?|MIN|MAX|ROUND(?:UP|DOWN)?|INT|ABS|SQRT|MOD|STDEV|VAR|NPV|PMT|YEAR|MONTH"
    r"|DAY|LEN)\(",
    re.IGNORECASE,
)
# A sum or a difference may be the next year or month, which heads a column.
_TIMES = frozenset("*/^")
_NO_PLAIN = frozenset('"&(),;{}<>')


def gives_number(formula: str) -> bool:
    """Tell whether a formula surely has a number for a result, or is an error, which names none."""
    if not formula.startswith("="):
        return formula.startswith("#")
    bare = _QUOTED.sub("x", formula.replace(" ", ""))
    if "&" in bare:
        return False
    signs = set(bare)
    return bool(_NUMBER_CALL.match(bare)) or bool(signs & _TIMES and not signs & _NO_PLAIN)


def names_columns(rows: Sequence[Sequence[Value]]) -> bool:
    """Tell whether the first of some rows is a header.

    It has a text, names are distinct or stand above figures, and no column goes on as it began: a
    number or date in the first row counts as a name only where what is below is of another kind, or
    if it is a year.
    """
    first = rows[0]
    # A header that stands again, as on printed pages, says nothing of what is below.
    below = [row for row in rows[1:] if row != first]
    filled = [plain_text(value) for value in first if value != ""]
    texts = sum(isinstance(value, str) and value != "" for value in first)
    if _heads_series(first, below):
        return True
    # A row with half of its cells blank is more likely a title above the table.
    if not texts or len(filled) * 2 <= len(first):
        return False
    if len(set(filled)) < len(filled) and not _head_figures(first, below):
        return False
    # With nothing below to compare with, only a full row of several texts counts.
    if not below:
        return texts == len(first) > 1
    differs = False
    for place, value in enumerate(first):
        under = [row[place] for row in below if row[place] != ""]
        kinds = {_kind(found) for found in under}
        kind = _kind(value)
        if kind == "text":
            differs = differs or (bool(kinds) and "text" not in kinds)
        elif kind and kind in kinds and not _heads_as_year(value, under):
            return False
        elif kind:
            differs = differs or bool(kinds)
    return differs or (texts == len(filled) and len(first) > 1)


def _heads_series(first: Sequence[Value], below: Sequence[Sequence[Value]]) -> bool:
    """Tell whether the first row has years that count on, above numbers that are not all years.

    What else it has is no more than the names above texts.
    """
    places = [place for place, value in enumerate(first) if _kind(value) == "number"]
    years = [int(value) for value in first if isinstance(value, int | float) and is_year(value)]
    if len(places) < 2 or len(years) < len(places) or not are_series(years):
        return False
    under = [[row[place] for row in below if row[place] != ""] for place in range(len(first))]
    if any(not under[n] or {*map(_kind, under[n])} != {"number"} for n in places):
        return False
    if any(all(map(is_year, under[n])) for n in places):
        return False
    others = [place for place in range(len(first)) if place not in places]
    return all(first[n] == "" or _kind(first[n]) == "text" for n in others) and all(
        {*map(_kind, under[n])} <= {"text"} for n in others
    )


def _head_figures(first: Sequence[Value], below: Sequence[Sequence[Value]]) -> bool:
    """Tell whether names that are there twice are texts above numbers or dates, each of them."""
    texts = [plain_text(value) for value in first]
    counts = Counter(texts)
    for place, text in enumerate(texts):
        if text and counts[text] > 1:
            kinds = {_kind(row[place]) for row in below} - {""}
            if _kind(first[place]) != "text" or not kinds or "text" in kinds:
                return False
    return True


def _kind(value: Value) -> str:
    match value:
        case "":
            return ""
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case Stamp():
            return "date" if value.kind in ("date", "datetime") else "time"


def _heads_as_year(value: Value, under: list[Value]) -> bool:
    """Tell whether a number is a year above numbers that are not all years."""
    return is_year(value) and not all(map(is_year, under))


def is_year(value: Value) -> bool:
    """Tell whether a value is a number that looks like a year."""
    return isinstance(value, int | float) and _FIRST_YEAR <= value <= _LAST_YEAR and value % 1 == 0
