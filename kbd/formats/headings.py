"""What a table's first row says of the rows below it, for `Passage.heading`."""

import re
from collections.abc import Iterable

__all__ = ["names_of_columns"]

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
