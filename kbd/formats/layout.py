"""What a `LaidOut` format tells of its pages: tables, words with their boxes, text in columns.

Boxes are left, top, right and bottom in points (1/72 inch), from the top left corner of the page as
people see it.
"""

from typing import Literal

import msgspec

from kbd.formats.records import ChunkInfo, GridMerge

__all__ = ["BoxSides", "FoundTable", "FoundWord", "LayoutPart", "PageLayout"]

BoxSides = tuple[float, float, float, float]
"""Left, top, right and bottom."""

LayoutPart = Literal["tables", "words", "text"]
"""What may be asked of a layout: its tables, its words with their boxes, or its text as it stands
on the page."""


class FoundTable(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table of a page.

    Args:
        page: The page, from 1.
        box: Where it stands.
        rows: The texts of its cells, as many in each row; "" for a blank one, and for all of a
            merged cell but its first.
        is_ruled: Whether lines part its rows and columns; else they were found by its gaps.
        merged: Cells that span several rows or columns.
        goes_on: Whether it goes on with the last table of the page before.
    """

    page: int
    box: BoxSides
    rows: tuple[tuple[str, ...], ...]
    is_ruled: bool
    merged: tuple[GridMerge, ...] = ()
    goes_on: bool = False


class FoundWord(msgspec.Struct, frozen=True):
    """A word, its page from 1, and where it stands."""

    text: str
    page: int
    box: BoxSides


class PageLayout(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was asked of a region; what was not asked for is empty.

    Args:
        tables: Its tables, from top to bottom.
        words: Its words, in the order of the file.
        text: Its text, with what stands in columns kept apart by blanks.
        warnings: As of a reading.
        chunk_info: As of a reading.
    """

    tables: tuple[FoundTable, ...] = ()
    words: tuple[FoundWord, ...] = ()
    text: str = ""
    warnings: tuple[str, ...] = ()
    chunk_info: ChunkInfo | None = None
