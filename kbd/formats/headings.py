"""Names of a table's columns: one for each, and a line of them for `Passage.heading`."""

import re
from collections.abc import Iterable

__all__ = ["names_of_columns", "unique_names"]

MAX_CHARACTERS = 300
"""Of the names of a wide table, the first ones are enough to tell it by."""

NAME_CHARACTERS = 80
"""What is longer is text and not a name."""

SHARE = 0.8
"""As many of the cells must be words, and different ones."""

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
