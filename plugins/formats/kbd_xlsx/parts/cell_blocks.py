"""Cells of a worksheet part as they are written, taken from their places and put into others.

Nothing of a cell is read but its place: its style, its runs and its extensions come along. Formulas
that cells share are taken apart first, as one that moves alone would lose its text.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from openpyxl.formula.tokenizer import TokenizerError

from kbd.sheets.areas import Area, cell_name, column_letters
from kbd_xlsx.parts.cells import escaped
from kbd_xlsx.parts.formulas import Groups
from kbd_xlsx.parts.markup import (
    ATTRIBUTES,
    Splice,
    Tag,
    area_of,
    attribute,
    element,
    opened,
    plain,
    start_tag,
    with_attributes,
    without_mark,
)
from kbd_xlsx.parts.outline import CellMarkup, Outline, RowMarkup, Rows
from kbd_xlsx.parts.row_writer import row_style
from kbd_xlsx.parts.sheet_elements import ColumnStyles, SheetElements, spliced
from kbd_xlsx.translator import FormulaTranslator

__all__ = ["CellBlocks", "LooseCell", "NewCells"]


class LooseCell(NamedTuple):
    """A cell as it is written: its attributes without its name, and what is inside."""

    attributes: bytes
    inner: bytes

    @property
    def kind(self) -> str:
        """The type of its value as it is written, "n" for a number."""
        # Most cells say no type, or begin with it: to take all attributes apart is slow.
        if b"t=" not in self.attributes and b"t " not in self.attributes:
            return "n"
        return attribute(self.attributes, b"t") or "n"

    @property
    def style(self) -> int:
        """The index of its style."""
        if b"s=" not in self.attributes and b"s " not in self.attributes:
            return 0
        word = attribute(self.attributes, b"s") or "0"
        return int(word) if word.isdigit() else 0

    def styled(self, index: int) -> "LooseCell":
        """Return the same with another style."""
        if index == self.style:
            return self
        style = b"%d" % index if index else None
        return self._replace(attributes=with_attributes(self.attributes, {b"s": style}))


NewCells = Mapping[int, Mapping[int, LooseCell | None]]
"""Cells by row and column; None takes one out."""


class CellBlocks:
    """The cells of one part.

    Args:
        data: The part.
        name: The sheet's title, for messages.

    Attributes:
        prefix: The prefix of the part's names.
        columns: The styles of its columns.
        groups: Its arrays, data tables and shared formulas.

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._outline = outline = Outline(data, name)
        self._rows = Rows(outline)
        self._ends = SheetElements(outline)
        self.prefix = outline.prefix
        self.columns = ColumnStyles(self._ends.seen("cols"), self.prefix)
        self.groups = Groups(outline)
        formula = outline.qualified(b"f")
        self._begin = b"<" + formula
        self._letters: dict[int, bytes] = {}
        close = b"</" + re.escape(formula) + rb"\s*+>"
        self._formula = re.compile(
            start_tag(formula) + rb"(?:(?<=/>)|(.*?)" + close + b")", re.DOTALL
        )
        value = re.escape(outline.qualified(b"v"))
        self._value = re.compile(
            rb"<%b(?=[\s/>])%b>(?:(?<=/>)|(.*?)</%b\s*+>)" % (value, ATTRIBUTES, value), re.DOTALL
        )

    def seen(self, name: str) -> bytes:
        """Return an element around the rows to be read, b"" if there is none."""
        return self._ends.seen(name)

    def row_numbers(self, area: Area) -> list[int]:
        """Return the rows of an area that there are."""
        return [self._rows.numbers[place] for place in self._rows.places(area)]

    def row_attributes(self, number: int) -> bytes:
        """Return the attributes of a row, b"" if there is no such row."""
        place = self._rows.place(number)
        return b"" if place is None else self._rows.at(place).attributes

    def own_style(self, number: int) -> int | None:
        """Return the style that new cells of a row inherit from it, None if they do not."""
        return row_style(self.row_attributes(number))

    def places(self, area: Area) -> dict[int, set[int]]:
        """Return the columns of the cells of an area that there are, by row."""
        found = {}
        for place in self._rows.places(area):
            row = self._rows.at(place)
            columns = {
                cell.column
                for cell in self._rows.cells(row)
                if area.left <= cell.column <= area.right
            }
            if columns:
                found[row.number] = columns
        return found

    def cells(self, area: Area) -> dict[int, dict[int, LooseCell]]:
        """Return the cells of an area by row and column; shared formulas are written out.

        Raises:
            ValidationFailed: A shared formula cannot be read, or comments stand between cells.
        """
        found: dict[int, dict[int, LooseCell]] = {}
        shared = self._shared(area)
        for place in self._rows.places(area):
            row = self._rows.at(place)
            self._check_comments(row)
            cells = {
                cell.column: shared.get((row.number, cell.column)) or _raw(row, cell)
                for cell in self._rows.cells(row)
                if area.left <= cell.column <= area.right
            }
            if cells:
                found[row.number] = cells
        return found

    def formula(self, cell: LooseCell) -> str | None:
        """Return the formula of a cell without "=", None if it has none."""
        found = self._formula.search(cell.inner) if self._begin in cell.inner else None
        return None if found is None else plain(without_mark(found[2] or b"")).strip()

    def value(self, cell: LooseCell) -> str:
        """Return the stored value of a cell, "" for none."""
        found = self._value.search(cell.inner)
        return "" if found is None else plain(without_mark(found[1] or b""))

    def with_formula(self, cell: LooseCell, text: str, area: str = "") -> LooseCell:
        """Return a cell with another formula, and the area that an array of one cell is of."""
        found = self._formula.search(cell.inner)
        assert found is not None
        attributes = found[1].removesuffix(b"/") if found[2] is None else found[1]
        changes = {b"ref": area.encode()} if area and b"ref" in attributes else {}
        new = element(
            Tag(
                self._outline.qualified(b"f"),
                with_attributes(attributes, changes),
                escaped(text).encode(),
            )
        )
        inner = cell.inner[: found.start()] + new + cell.inner[found.end() :]
        return cell._replace(inner=inner)

    def without_result(self, cell: LooseCell) -> LooseCell:
        """Return a cell with a formula, without what that came to."""
        attributes = with_attributes(cell.attributes, {b"t": None, b"vm": None})
        return LooseCell(attributes, self._value.sub(b"", cell.inner))

    def without_formula(self, cell: LooseCell) -> LooseCell:
        """Return a cell with the result of its formula as its value."""
        inner = self._formula.sub(b"", cell.inner)
        return LooseCell(with_attributes(cell.attributes, {b"cm": None}), inner)

    def with_cells(self, new: NewCells) -> bytes:
        """Return the part with cells in the places of others.

        Shared formulas that any of the places is of are written out in all of their cells.

        Raises:
            ValidationFailed: As `cells`.
        """
        whole: dict[int, dict[int, LooseCell | None]] = {
            row: dict(cells) for row, cells in new.items() if cells
        }
        for row, columns in self._left_behind(whole).items():
            for column, cell in columns.items():
                whole.setdefault(row, {}).setdefault(column, cell)
        splices = list(self._row_splices(whole))
        around = self._ends.splices(self._dimension(whole))
        rows_start = self._outline.sheet_data[0]
        before = [each for each in around if each.end <= rows_start]
        return spliced(self._outline.data, [*before, *splices, *around[len(before) :]])

    def _left_behind(self, new: NewCells) -> dict[int, dict[int, LooseCell]]:
        """Return the cells that share a formula with changed ones, each with its own."""
        found: dict[int, dict[int, LooseCell]] = {}
        if self.groups.masters:
            places = {(row, column) for row, columns in new.items() for column in columns}
            for (row, column), cell in self._shared_with(places).items():
                found.setdefault(row, {})[column] = cell
        return found

    def _shared(self, area: Area) -> dict[tuple[int, int], LooseCell]:
        """Return all cells of the shared formulas that an area has cells of, written out."""
        if not self.groups.masters:
            return {}
        within = {
            (row, column)
            for cells in self._members.values()
            for row, column in cells
            if area.top <= row <= area.bottom and area.left <= column <= area.right
        }
        return self._shared_with(within)

    def _shared_with(self, places: set[tuple[int, int]]) -> dict[tuple[int, int], LooseCell]:
        found: dict[tuple[int, int], LooseCell] = {}
        for cells in self._members.values():
            if not places.isdisjoint(cells):
                found.update(self._written_out(cells))
        return found

    @cached_property
    def _members(self) -> dict[str, dict[tuple[int, int], LooseCell]]:
        """The cells of each shared formula by its number."""
        outline = self._outline
        mark = re.compile(
            rb"<" + re.escape(outline.qualified(b"f")) + rb"(?=\s[^<>]*\bt\s*=\s*[\"']shared[\"'])"
        )
        found: dict[str, dict[tuple[int, int], LooseCell]] = {}
        last, row = -1, None
        cells: list[CellMarkup] = []
        for hit in mark.finditer(outline.scan, outline.sheet_data[1], outline.rows_end):
            place = self._rows.holding(hit.start())
            if place != last or row is None:
                last, row = place, self._rows.at(place)
                cells = self._rows.cells(row)
            cell = next(each for each in cells if each.start < hit.start() < each.end)
            formula = self._formula.match(outline.data, hit.start())
            number = attribute(formula[1], b"si") if formula else None
            if number is not None:
                found.setdefault(number, {})[row.number, cell.column] = _raw(row, cell)
        return found

    def _written_out(
        self, cells: Mapping[tuple[int, int], LooseCell]
    ) -> dict[tuple[int, int], LooseCell]:
        masters = [(place, text) for place, cell in cells.items() if (text := self.formula(cell))]
        if len(masters) != 1 and not all(self.formula(cell) for cell in cells.values()):
            raise self._outline.refused("a formula that its cells share cannot be read")
        found = {}
        for place, cell in cells.items():
            (origin, text) = next((m for m in masters if m[0] == place), masters[0])
            try:
                translator = FormulaTranslator(f"={text}", cell_name(*origin))
                own = translator.translate_formula(cell_name(*place)).removeprefix("=")
            except (TokenizerError, ValueError, IndexError) as error:
                raise self._outline.refused(
                    "a formula that its cells share cannot be taken apart"
                ) from error
            found[place] = self._unshared(cell, own)
        return found

    def _unshared(self, cell: LooseCell, text: str) -> LooseCell:
        whole = self.with_formula(cell, text)
        formula = self._formula.search(whole.inner)
        assert formula is not None
        attributes = with_attributes(formula[1], {b"t": None, b"ref": None, b"si": None})
        start = formula.start() + 1 + len(self._outline.qualified(b"f"))
        inner = whole.inner[:start] + attributes + whole.inner[start + len(formula[1]) :]
        return whole._replace(inner=inner)

    def _check_comments(self, row: RowMarkup) -> None:
        if row.data is not row.scan and (
            row.data[row.inner : row.inner_end] != row.scan[row.inner : row.inner_end]
        ):
            raise self._outline.refused(f"row {row.number} holds comments")

    def _row_splices(self, new: NewCells) -> list[Splice]:
        outline = self._outline
        found = []
        opens, closes = b"", b""
        if outline.is_closed:
            start, end = outline.sheet_data
            tag = outline.data[start:end].removesuffix(b"/>").rstrip() + b">"
            opens, closes = tag, b"</" + outline.qualified(b"sheetData") + b">"
        for number in sorted(new):
            place = self._rows.place(number)
            if place is not None:
                found.append(self._changed_row(self._rows.at(place), new[number]))
                continue
            cells = {column: cell for column, cell in new[number].items() if cell is not None}
            if cells:
                name = outline.qualified(b"row")
                inner = self._cells_text(number, cells)
                text = b"<" + name + b' r="%d">' % number + inner + b"</" + name + b">"
                at = self._rows.start_after(number)
                found.append(Splice(at, at, text))
        if opens and found:
            start, end = outline.sheet_data
            return [Splice(start, end, opens + b"".join(each.text for each in found) + closes)]
        return found

    def _changed_row(self, row: RowMarkup, new: Mapping[int, LooseCell | None]) -> Splice:
        self._check_comments(row)
        cells: dict[int, LooseCell | bytes] = {}
        for cell in self._rows.cells(row):
            if cell.column not in new:
                raw = _raw(row, cell)
                cells[cell.column] = row.data[cell.start : cell.end] if cell.is_named else raw
        cells.update((column, cell) for column, cell in new.items() if cell is not None)
        attributes = with_attributes(row.attributes, {b"spans": None})
        inner = self._cells_text(row.number, cells)
        name = self._outline.qualified(b"row")
        return Splice(row.start, row.end, element(Tag(name, attributes, inner)))

    def _cells_text(self, row: int, cells: Mapping[int, LooseCell | bytes]) -> bytes:
        name = self._outline.qualified(b"c")
        pieces: list[bytes] = []
        for column in sorted(cells):
            cell = cells[column]
            if isinstance(cell, bytes):
                pieces.append(cell)
                continue
            letters = self._letters.get(column)
            if letters is None:
                letters = self._letters[column] = column_letters(column).encode()
            place = b' r="%b%d"' % (letters, row)
            pieces.append(element(Tag(name, place + cell.attributes, cell.inner)))
        return b"".join(pieces)

    def _dimension(self, new: NewCells) -> dict[str, bytes]:
        """Return the element that tells the used area, where that has grown."""
        old = self._ends.seen("dimension")
        known = area_of(attribute(opened(old).attributes, b"ref") or "") if old else None
        filled = {
            row: [column for column, cell in cells.items() if cell is not None]
            for row, cells in new.items()
        }
        filled = {row: columns for row, columns in filled.items() if columns}
        if known is None or not filled:
            return {}
        box = Area(
            min(known.top, *filled), min(known.left, *map(min, filled.values())),
            max(known.bottom, *filled), max(known.right, *map(max, filled.values())),
        )  # fmt: skip
        if box == known:
            return {}
        tag = opened(old)
        attributes = with_attributes(tag.attributes, {b"ref": str(box).encode()})
        return {"dimension": element(Tag(tag.name, attributes, tag.inner))}


def _raw(row: RowMarkup, cell: CellMarkup) -> LooseCell:
    attributes = cell.attributes
    # Nearly all cells begin with their names in double quotes.
    if attributes.startswith(b' r="'):
        attributes = attributes[attributes.index(b'"', 4) + 1 :]
    else:
        attributes = with_attributes(attributes, {b"r": None})
    return LooseCell(attributes, row.data[cell.inner : cell.inner_end])
