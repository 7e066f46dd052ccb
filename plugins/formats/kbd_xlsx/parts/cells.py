"""Edits of cells until a worksheet is written: their areas, their contents, the XML of a cell."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, assert_never

import msgspec

from kbd.sheets.areas import Area

__all__ = [
    "BLANK",
    "AreaIndex",
    "CellEdit",
    "Content",
    "PendingCells",
    "PutRow",
    "Restyle",
    "Result",
    "cell_xml",
    "contains",
    "escaped",
    "inner_xml",
    "size_of",
]

_SHIFT = 4
_MAX_BUCKETS = 64


class AreaIndex:
    """Index of areas by buckets of 16 rows; those over very many rows have a list of their own.

    Args:
        areas: The areas.
    """

    def __init__(self, areas: Iterable[Area]) -> None:
        self._tall: list[Area] = []
        self._buckets: dict[int, list[Area]] = {}
        for area in areas:
            first, last = area.top >> _SHIFT, area.bottom >> _SHIFT
            # An area of whole columns would otherwise be entered in 65,536 buckets.
            if last - first > _MAX_BUCKETS:
                self._tall.append(area)
                continue
            for bucket in range(first, last + 1):
                self._buckets.setdefault(bucket, []).append(area)

    def of_row(self, row: int) -> tuple[Area, ...]:
        """Return the areas that reach a row."""
        near = self._buckets.get(row >> _SHIFT, ())
        return tuple(
            area for areas in (near, self._tall) for area in areas if area.top <= row <= area.bottom
        )

    def at(self, row: int, column: int) -> Area | None:
        """Return the first area that a cell lies in, None if there is none."""
        for areas in (self._buckets.get(row >> _SHIFT, ()), self._tall):
            for area in areas:
                if area.top <= row <= area.bottom and area.left <= column <= area.right:
                    return area
        return None

    def overlapping(self, area: Area) -> bool:
        """Tell whether any area shares a cell with another one."""
        buckets: Iterable[int] = range(area.top >> _SHIFT, (area.bottom >> _SHIFT) + 1)
        # A whole sheet has 65,536 buckets; then it is quicker to go through those that there are.
        if len(self._buckets) < (area.bottom - area.top) >> _SHIFT:
            buckets = self._buckets
        near = (known for bucket in buckets for known in self._buckets.get(bucket, ()))
        return any(
            known.top <= area.bottom
            and area.top <= known.bottom
            and known.left <= area.right
            and area.left <= known.right
            for areas in (near, self._tall)
            for known in areas
        )


def contains(outer: Area, inner: Area) -> bool:
    """Tell whether an area holds all of another."""
    return (
        outer.top <= inner.top
        and outer.left <= inner.left
        and outer.bottom >= inner.bottom
        and outer.right >= inner.right
    )


def size_of(area: Area) -> int:
    """Return how many cells an area has."""
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)


ContentKind = Literal["blank", "number", "text", "boolean", "formula"]


class Result(msgspec.Struct, frozen=True, gc=False):
    """Result of a formula, or a value, with its type.

    Args:
        kind: What it is.
        text: As it is stored: a number, a boolean as "1" or "0", an error ("#N/A"), a text with the
            format's own escapes done. Not XML-escaped.
    """

    kind: Literal["number", "text", "boolean", "error"]
    text: str


class Content(msgspec.Struct, frozen=True):
    """Content of a cell after an edit.

    Args:
        kind: What it is.
        text: A number as it is stored ("12.5"); a boolean as "1" or "0"; a formula without its
            "="; a text with the format's own escapes (_x005F_, _x0007_) done. Not XML-escaped.
        show: What a number, or what a formula comes to, stands for: "" for itself, "date",
            "datetime" or "time".
        result: What a formula came to, a number as it is stored; "" where that is not known.
        array: The cell's own address where the formula is an array formula; else "".
    """

    kind: ContentKind
    text: str = ""
    show: str = ""
    result: str = ""
    array: str = ""


class CellEdit(msgspec.Struct, frozen=True):
    """A change of one cell.

    Args:
        content: What it holds from now on; None keeps what it holds.
        styles: Style objects of operations, applied in order.
        forget: Drop the stored result of a formula; the formula stays.
        result: Store this as the result of the formula that the cell has.
    """

    content: Content | None = None
    styles: tuple[Mapping[str, Any], ...] = ()
    forget: bool = False
    result: Result | None = None


Restyle = Callable[[int, CellEdit], int]
"""Returns the style index of an edited cell from the index that it has, or would inherit.

It is called only for edits with styles, or whose content is shown as a date or time.
"""

BLANK = Content("blank")


def cell_xml(prefix: str, place: str, style: int, content: Content) -> str:
    """Return a whole new cell, text inline; "" for a blank one without a style.

    Args:
        prefix: The prefix of the part's names: "" or "x:".
        place: Its name, as B3.
        style: Its style index.
        content: What it holds.
    """
    look = f' s="{style}"' if style else ""
    match content.kind:
        case "number":
            return f'<{prefix}c r="{place}"{look}><{prefix}v>{content.text}</{prefix}v></{prefix}c>'
        case "text":
            # Inline, so that the part of shared strings stays as it is.
            word = ' t="inlineStr"'
        case "formula":
            word = ""
        case "boolean":
            word = ' t="b"'
        case "blank":
            return f'<{prefix}c r="{place}"{look}/>' if style else ""
        case other:
            assert_never(other)
    inner = inner_xml(prefix, content)
    return f'<{prefix}c r="{place}"{look}{word}>{inner}</{prefix}c>'


def inner_xml(prefix: str, content: Content) -> str:
    """Return what stands inside a cell that holds something."""
    match content.kind:
        case "text":
            text = content.text
            # Without the mark readers may drop blanks at the ends.
            space = "" if text == text.strip() else ' xml:space="preserve"'
            return f"<{prefix}is><{prefix}t{space}>{escaped(text)}</{prefix}t></{prefix}is>"
        case "number" | "boolean":
            return f"<{prefix}v>{content.text}</{prefix}v>"
        case "formula":
            result = f"<{prefix}v>{content.result}</{prefix}v>" if content.result else ""
            array = f' t="array" ref="{content.array}"' if content.array else ""
            return f"<{prefix}f{array}>{escaped(content.text)}</{prefix}f>{result}"
        case "blank":
            return ""
        case other:
            assert_never(other)


def escaped(text: str) -> str:
    """Return a text as XML; a carriage return as a reference, as parsers change a bare one."""
    if "&" in text or "<" in text or ">" in text:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;") if "\r" in text else text


class PutRow(msgspec.Struct, frozen=True):
    """A row of ready cells: their XML, and how many clears came before it."""

    cells: bytes
    clears_before: int


class PendingCells:
    """Edits of cells by row and column, and of whole areas, which cost only what they are.

    Attributes:
        edits: Of single cells: by row, then by column.
        clears: Areas whose cells are emptied, unless an edit fills them again.
        forgets: Areas whose formulas lose their stored results.
        puts: Ready rows.
        heights: Of rows, in points.

    Args:
        is_wiped: Whether all rows that there were are gone.
    """

    def __init__(self, *, is_wiped: bool = False) -> None:
        self.edits: dict[int, dict[int, CellEdit]] = {}
        self.clears: list[Area] = []
        self.forgets: list[Area] = []
        self.puts: dict[int, PutRow] = {}
        self.heights: dict[int, float] = {}
        self.is_wiped = is_wiped
        self._has_others = False
        self._index: AreaIndex | None = None

    def __bool__(self) -> bool:
        return bool(
            self.edits or self.clears or self.forgets or self.puts or self.heights or self.is_wiped
        )

    @property
    def are_results(self) -> bool:
        """Whether results of formulas are written or forgotten, and nothing else changes."""
        return not (
            self._has_others or self.clears or self.puts or self.heights or self.is_wiped
        )  # fmt: skip

    def set(self, row: int, column: int, edit: CellEdit) -> None:
        """Change a cell; the later content wins, styles add up."""
        if edit.content is not None or edit.styles or edit.forget:
            self._has_others = True
        cells = self.edits.get(row)
        if cells is None:
            cells = self.edits[row] = {}
        old = cells.get(column)
        if old is not None:
            content = old.content if edit.content is None else edit.content
            # A new content has no stored result that could be forgotten.
            forget = edit.forget or (old.forget and edit.content is None)
            edit = CellEdit(content, old.styles + edit.styles, forget, edit.result)
        cells[column] = edit

    def clear(self, area: Area) -> None:
        """Empty the cells of an area."""
        self.clears.append(area)
        self._index = None
        for row in rows_within(self.edits, area):
            cells = self.edits[row]
            for column, edit in cells.items():
                if area.left <= column <= area.right:
                    # When rows are written, an edit takes precedence over clears, so an earlier one
                    # is emptied here.
                    cells[column] = CellEdit(BLANK, edit.styles)

    def clears_of(self, row: int) -> tuple[Area, ...]:
        """Return the clears that reach a row, those after it was put if it was."""
        if not self.clears:
            return ()
        put = self.puts.get(row)
        if put is not None:
            # Clears from before the row was put in must not empty it.
            later = self.clears[put.clears_before :]
            return tuple(area for area in later if area.top <= row <= area.bottom)
        if self._index is None:
            self._index = AreaIndex(self.clears)
        return self._index.of_row(row)

    def replaces(self, row: int, column: int) -> bool:
        """Tell whether what a cell of the part holds is to go."""
        edit = self.edits.get(row, {}).get(column)
        if edit is not None and edit.content is not None:
            return True
        return any(area.left <= column <= area.right for area in self.clears_of(row))

    def count_within(self, area: Area) -> int:
        """Count the cells of an area that get a content, a blank one too."""
        return sum(
            edit.content is not None and area.left <= column <= area.right
            for row in rows_within(self.edits, area)
            for column, edit in self.edits[row].items()
        )


def rows_within(rows: dict[int, dict[int, CellEdit]], area: Area) -> list[int]:
    """Return those rows of a mapping that an area reaches."""
    # The shorter way is taken: a clear may span a million rows, and so may the edits.
    if area.bottom - area.top < len(rows):
        return [row for row in range(area.top, area.bottom + 1) if row in rows]
    return [row for row in rows if area.top <= row <= area.bottom]
