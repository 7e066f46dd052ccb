"""Formulas that more than one cell depends on: shared ones, arrays, data tables.

A shared formula is written once, in its master; the others have only its number. When the master
goes, each of the others gets a formula of its own. An array formula, what a dynamic one spills
into, and a data table are one thing over an area and change only as a whole.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from openpyxl.formula.tokenizer import TokenizerError

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area, cell_name, overlaps
from kbd_xlsx.parts.cells import PendingCells, contains, escaped, size_of
from kbd_xlsx.parts.markup import (
    ATTRIBUTES,
    area_of,
    attribute,
    plain,
    start_tag,
    with_attributes,
    without_mark,
)
from kbd_xlsx.parts.outline import CellMarkup, Outline, RowMarkup, Rows
from kbd_xlsx.translator import FormulaTranslator

__all__ = ["Group", "Groups", "SharedFormulas", "checked_groups"]


class Group(NamedTuple):
    """Area with one formula; with `spills` it is that into which a dynamic formula spills."""

    area: Area
    is_table: bool
    spills: bool


class Groups:
    """The groups and masters of a part, found in one pass.

    Attributes:
        areas: Arrays and data tables of more than one cell.
        masters: The places of the tags of shared formulas' masters, by number; several under a
            number that is used twice.

    Args:
        outline: The part.
        are_gone: Whether to leave them out, as all rows are to be taken out.
    """

    def __init__(self, outline: Outline, *, are_gone: bool = False) -> None:
        self.areas: list[Group] = []
        self.masters: dict[str, list[int]] = {}
        name = re.escape(outline.qualified(b"f"))
        scan, start, end = outline.scan, outline.sheet_data[1], outline.rows_end
        if are_gone or not outline.has_formulas:
            return
        # A child of a shared formula is a closed tag without an area; there may be very many.
        telling = re.compile(
            rb"<" + name + rb"(?=\s)(?:(?=[^<]*\bref\s*=)|(?![^<>]*/>))(" + ATTRIBUTES + rb")>"
        )
        for found in telling.finditer(scan, start, end):
            kind = attribute(found[1], b"t")
            number = attribute(found[1], b"si")
            if kind == "shared" and number is not None:
                self._add_master(number, found.start(), attribute(found[1], b"ref") is not None)
            elif kind in ("array", "dataTable"):
                area = area_of(attribute(found[1], b"ref") or "")
                if area is not None and size_of(area) > 1:
                    begin = scan.rfind(b"<", 0, found.start())
                    cell = scan[begin : found.start()]
                    # Cell metadata marks a dynamic array; a legacy one has none.
                    spills = kind == "array" and attribute(cell[2:], b"cm") is not None
                    self.areas.append(Group(area, kind == "dataTable", spills))

    def _add_master(self, number: str, place: int, has_area: bool) -> None:  # noqa: FBT001
        places = self.masters.setdefault(number, [])
        # Without an area only the first one with a text is the master.
        if has_area or not places:
            places.append(place)


def checked_groups(groups: Groups, pending: PendingCells, outline: Outline) -> list[Area]:
    """Refuse to change a part of a group; return what dynamic formulas no longer spill into.

    Raises:
        ValidationFailed: An edit or a clear reaches a group, but not all of it.
    """
    gone = []
    for group in groups.areas:
        area = group.area
        count = pending.count_within(area)
        clears = [clear for clear in pending.clears if overlaps(clear, area)]
        if not count and not clears:
            continue
        if count == size_of(area) or any(contains(clear, area) for clear in clears):
            continue
        # The spilled values are results of the formula in the first cell and go with it.
        if group.spills and pending.replaces(area.top, area.left):
            gone.append(area)
            continue
        raise ValidationFailed(_refusal(group, outline.name))
    return gone


def _refusal(group: Group, sheet: str) -> str:
    area = group.area
    if group.is_table:
        return (
            f"sheet {sheet}: {area} is a data table (what-if), whose cells cannot be changed one "
            f"by one; leave it, or clear {area} as a whole first"
        )
    anchor = cell_name(area.top, area.left)
    if group.spills:
        return (
            f"sheet {sheet}: the formula in {anchor} spills into {area}; change or clear {anchor} "
            "instead of the other cells"
        )
    return (
        f"sheet {sheet}: {area} holds one array formula, which cannot be changed in parts; "
        f"leave it, or clear {area} as a whole first"
    )


class SharedFormulas:
    """Shared formulas whose masters go, and the cells that need a formula of their own.

    Attributes:
        rows: The places of the rows of those cells.

    Args:
        outline: The part.
        rows: Its rows.
        groups: Its masters.
        pending: What is to change.

    Raises:
        ValidationFailed: A master that goes cannot be read.
    """

    def __init__(self, outline: Outline, rows: Rows, groups: Groups, pending: PendingCells) -> None:
        self._outline = outline
        tag = start_tag(outline.qualified(b"f"))
        close = b"</" + re.escape(outline.qualified(b"f")) + rb"\s*+>"
        self._formula = re.compile(tag + rb"(?:(?<=/>)|(.*?)" + close + b")", re.DOTALL)
        self._translators: dict[str, FormulaTranslator] = {}
        self.rows: set[int] = set()
        for number, places in groups.masters.items():
            for place in places:
                self._look_at(number, place, len(places), rows, pending)
        if self._translators:
            self.rows.update(self._rows_of_children(rows))

    def _look_at(
        self, number: str, place: int, count: int, rows: Rows, pending: PendingCells
    ) -> None:
        row_place = rows.holding(place)
        row_number = rows.numbers[row_place]
        # Taking a row apart is slow, so it is done only where an edit could remove the master.
        if row_number not in pending.edits and not pending.clears_of(row_number):
            return
        row = rows.at(row_place)
        column = next((cell.column for cell in rows.cells(row) if cell.start < place < cell.end), 0)
        if not pending.replaces(row_number, column):
            return
        origin = cell_name(row_number, column)
        formula = self._formula.match(self._outline.data, place)
        text = _text(formula[2] or b"") if formula else ""
        # Where two masters have one number, nothing tells whose formula a cell shares.
        if count > 1 or not text:
            raise ValidationFailed(
                f"sheet {self._outline.name}: {origin} holds a shared formula that other cells "
                "need and that cannot be read; leave it"
            )
        try:
            self._translators[number] = FormulaTranslator(f"={text}", origin)
        except (TokenizerError, ValueError, IndexError) as error:
            raise ValidationFailed(
                f"sheet {self._outline.name}: {origin} holds a shared formula that other cells "
                "need and that cannot be taken apart; leave it"
            ) from error

    def _rows_of_children(self, rows: Rows) -> Iterator[int]:
        outline = self._outline
        numbers = b"|".join(re.escape(number.encode()) for number in self._translators)
        mark = re.compile(
            rb"<" + re.escape(outline.qualified(b"f")) + rb"(?=\s[^<]*\bsi\s*=\s*[\"'](?:"
            + numbers + rb")[\"'])"
        )  # fmt: skip
        for found in mark.finditer(outline.scan, outline.sheet_data[1], outline.rows_end):
            yield rows.holding(found.start())

    def own_formula(self, row: RowMarkup, cell: CellMarkup) -> bytes | None:
        """Return what is inside a cell, with a formula of its own; None if it had one."""
        if not self._translators:
            return None
        found = self._formula.search(row.scan, cell.inner, cell.inner_end)
        if found is None or attribute(found[1], b"t") != "shared":
            return None
        translator = self._translators.get(attribute(found[1], b"si") or "")
        if translator is None:
            return None
        text = translator.translate_formula(cell_name(row.number, cell.column))
        opening = found[1].removesuffix(b"/") if found[2] is None else found[1]
        # Other attributes, such as ca (always calculate), hold for the cell's own formula as well.
        opening = with_attributes(opening, {b"t": None, b"ref": None, b"si": None})
        name = self._outline.qualified(b"f")
        formula = escaped(text.removeprefix("=")).encode()
        return b"".join(
            (
                row.data[cell.inner : found.start()],
                b"<" + name + opening + b">" + formula + b"</" + name + b">",
                row.data[found.end() : cell.inner_end],
            )
        )


def _text(inner: bytes) -> str:
    """Return the text of a formula from what is inside its element."""
    return plain(without_mark(inner))
