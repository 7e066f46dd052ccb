"""Names of a table's columns: one for each, those that were changed, and a first row as a heading.

What a first row says of the rows below it is for `Passage.heading`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

__all__ = [
    "ABOVE_REPEATED",
    "RENAMED",
    "REPEATED",
    "are_series",
    "changed_names",
    "names_of_columns",
    "repeats_header",
    "unique_names",
]

MAX_CHARACTERS = 300
"""Of the names of a wide table, the first ones are enough to tell it by."""

NAME_CHARACTERS = 80
"""What is longer is text and not a name."""

SHARE = 0.8
"""As many of the cells must be words, and different ones."""

RENAMED = "column name empty or repeated, changed"
"""What was done to a header, as `TouchedRows` names it."""

REPEATED = "header repeated between rows"
ABOVE_REPEATED = "title above a repeated header"
"""What is left out between rows of a table, as `TouchedRows` names it."""

_MOST_CHANGED = 4

_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_LEAST_COUNTED = 3

_NUMBER = re.compile(r"[\W\d_]+")


def names_of_columns(row: Iterable[str]) -> str:
    """Return a first row as one line if its cells can be the names of columns, else "".

    Args:
        row: The cells as text, blank ones included.
    """
    cells = [" ".join(cell.split()) for cell in row]
    cells = [cell for cell in cells if cell]
    words = [c for c in cells if len(c) <= NAME_CHARACTERS and not _NUMBER.fullmatch(c)]
    if len(cells) < 2 or len(set(words)) < SHARE * len(cells):
        return ""
    line = ""
    for cell in words:
        if len(line) + len(cell) > MAX_CHARACTERS:
            break
        line = f"{line} {cell}".lstrip()
    return line


def are_series(names: Sequence[int]) -> bool:
    """Tell whether whole numbers are names that count on, as years of a period or months do.

    Two years in a row are one; other numbers are from three on that begin with 0 or 1.
    """
    steps = {later - earlier for earlier, later in pairwise(names)}
    if len(steps) != 1 or not steps <= {1, -1}:
        return False
    are_years = all(_FIRST_YEAR <= each <= _LAST_YEAR for each in names)
    return are_years or (len(names) >= _LEAST_COUNTED and min(names) in (0, 1))


def repeats_header(row: Sequence[str], header: Sequence[str]) -> bool:
    """Tell whether a row of a table is its header again, as the pages of a printed one have it.

    Capitals and blanks around do not count; a header of one name may be a value as well.
    """
    folded = [field.strip().casefold() for field in row]
    named = sum(map(bool, folded))
    return named > 1 and folded == [field.strip().casefold() for field in header]


def unique_names(given: Iterable[str]) -> list[str]:
    """Return names of columns made unique without regard to case; an empty one says its place.

    Args:
        given: As they are called, without blanks around them.
    """
    names: list[str] = []
    taken: set[str] = set()
    # Where a name's numbers go on: thousands of equal names must not be tried one by one.
    counts: dict[str, int] = {}
    for place, each in enumerate(given, 1):
        stem = each or f"column_{place}"
        name, count = stem, counts.get(stem.casefold(), 2)
        while name.casefold() in taken:
            name, count = f"{stem}_{count}", count + 1
        counts[stem.casefold()] = count
        taken.add(name.casefold())
        names.append(name)
    return names


def changed_names(given: Sequence[str], names: Sequence[str]) -> str:
    """Return which column is which where names are empty or repeated, "" where none are.

    Args:
        given: The names as they stand in the header.
        names: Those that the columns have, in the same order.
    """
    bare = [" ".join(name.split()).casefold() for name in given]
    counts = Counter(bare)
    found = [
        f"{name} is column {place}" if own else f"column {place} without a name is {name}"
        for place, (own, name) in enumerate(zip(bare, names, strict=False), 1)
        if not own or counts[own] > 1
    ]
    more = len(found) - _MOST_CHANGED
    return ", ".join([*found[:_MOST_CHANGED], *([f"and {more:,} more"] if more > 0 else [])])
