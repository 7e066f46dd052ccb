"""Workbooks before and after rows or columns were put in or taken out, compared by openpyxl.

What formulas should be is worked out with openpyxl's tokenizer, not with the code that is tested.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Union

import msgspec
import openpyxl
from openpyxl.cell.cell import MergedCell
from openpyxl.formula import Tokenizer
from openpyxl.utils import column_index_from_string, get_column_letter
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

from kbd.formats import Applied, Source
from kbd.opc.package import Package
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384
FORMAT = XlsxFormat()
VOCABULARY: Any = list[Union[OPERATIONS]]  # type: ignore[valid-type]  # noqa: UP007

_END = r"(\$?)([A-Za-z]{1,3})(\$?)(\d{1,7})"
_CELL = re.compile(_END)
_AREA = re.compile(f"{_END}:{_END}")
_COLUMNS = re.compile(r"(\$?)([A-Za-z]{1,3}):(\$?)([A-Za-z]{1,3})")
_ROWS = re.compile(r"(\$?)(\d{1,7}):(\$?)(\d{1,7})")


def edit(book: Path, *found: dict[str, Any], to: Path) -> Applied:
    """Apply operations, given as a model gives them."""
    operations = tuple(msgspec.convert(list(found), VOCABULARY))
    return FORMAT.apply(Source(book, book.name), operations, to)


class Move(NamedTuple):
    """Lines put into a sheet (`lines` above 0) or taken out of it.

    Args:
        sheet: The sheet's title.
        axis: "rows" or "columns".
        line: Before which, or from which on.
        lines: How many; below 0 they go.
    """

    sheet: str
    axis: str
    line: int
    lines: int

    def operation(self) -> dict[str, Any]:
        """The operation that does it."""
        does = "insert" if self.lines > 0 else "delete"
        place = self.line if self.axis == "rows" else get_column_letter(self.line)
        return {
            "op": f"{does}_{self.axis}", "sheet": self.sheet, self.axis[:-1]: place,
            "count": abs(self.lines),
        }  # fmt: skip

    def of(self, line: int, axis: str) -> int | None:
        """Where a line is afterwards."""
        if axis != self.axis or line < self.line:
            return line
        if line < self.line - self.lines:
            return None
        return line + self.lines

    def span(self, first: int, last: int, axis: str) -> tuple[int, int] | None:
        """What a range of lines is afterwards."""
        if axis != self.axis or (first, last) == (1, MAX_ROW if axis == "rows" else MAX_COLUMN):
            return first, last
        end = self.line - self.lines
        if self.lines < 0 and first >= self.line and last < end:
            return None
        one, two = self.of(first, axis), self.of(last, axis)
        limit = MAX_ROW if axis == "rows" else MAX_COLUMN
        one = self.line if one is None else one
        two = self.line - 1 if two is None else two
        return None if one > limit else (one, min(two, limit))

    def reference(self, text: str) -> str:
        """What the coordinates of a reference are afterwards."""
        if found := _CELL.fullmatch(text):
            column, row = column_index_from_string(found[2].upper()), int(found[4])
            if column > MAX_COLUMN or not 0 < row <= MAX_ROW:
                return text
            rows, columns = self.span(row, row, "rows"), self.span(column, column, "columns")
            if rows is None or columns is None:
                return "#REF!"
            return f"{found[1]}{get_column_letter(columns[0])}{found[3]}{rows[0]}"
        if found := _AREA.fullmatch(text):
            left, right = (column_index_from_string(found[n].upper()) for n in (2, 6))
            rows = self.span(int(found[4]), int(found[8]), "rows")
            columns = self.span(left, right, "columns")
            if rows is None or columns is None:
                return "#REF!"
            one = f"{found[1]}{get_column_letter(columns[0])}{found[3]}{rows[0]}"
            return f"{one}:{found[5]}{get_column_letter(columns[1])}{found[7]}{rows[1]}"
        if found := _COLUMNS.fullmatch(text):
            ends = [column_index_from_string(found[n].upper()) for n in (2, 4)]
            columns = self.span(ends[0], ends[1], "columns")
            if columns is None:
                return "#REF!"
            one, two = map(get_column_letter, columns)
            return f"{found[1]}{one}:{found[3]}{two}"
        if found := _ROWS.fullmatch(text):
            rows = self.span(int(found[2]), int(found[4]), "rows")
            return "#REF!" if rows is None else f"{found[1]}{rows[0]}:{found[3]}{rows[1]}"
        return text

    def formula(self, text: str, home: str) -> str:
        """What a formula is afterwards."""
        if not text.startswith("="):
            return text
        try:
            tokens = Tokenizer(text).items
        except Exception:  # noqa: BLE001 - openpyxl raises anything
            return text
        pieces = []
        for token in tokens:
            value = token.value
            if token.type == "OPERAND" and token.subtype == "RANGE":
                sheet, sign, place = value.rpartition("!")
                name = sheet.strip("'").replace("''", "'") if sign else home
                # The other way round no program writes a range, but openpyxl leaves one so.
                if name.casefold() == self.sheet.casefold():
                    value = sheet + sign + self.reference(place)
            pieces.append(value)
        return "=" + "".join(pieces)


def loaded(path: Path, *, values: bool = False) -> Any:
    """A workbook as openpyxl reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return openpyxl.load_workbook(path, data_only=values)


def _value(cell: Any, change: Callable[[str], str]) -> Any:
    value = cell.value
    if isinstance(value, ArrayFormula):
        text = value.text or ""
        return "array", change(text if text.startswith("=") else f"={text}")
    if isinstance(value, DataTableFormula):
        return "table"
    if isinstance(value, str) and cell.data_type == "f":
        return _plain(change(value))
    return value


def _filled(sheet: Any) -> set[str]:
    found: set[str] = set()
    for first, ref in sheet.array_formulae.items():
        if ":" in ref:
            found.update(cell.coordinate for row in sheet[ref] for cell in row)
        found.discard(first)
    return found


def _plain(formula: str) -> str:
    # The letters of cells come in either case, and lost ones with their sheet or without.
    return re.sub(r"[^\s!(,;=+*/<>&^-]*!#REF!", "#REF!", formula).replace(" ", "").upper()


def misplaced(before: Path, after: Path, move: Move) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield cells whose value, formula or style is not at its place: sheet, cell, right, found."""
    old, new = loaded(before), loaded(after)
    for sheet in old.worksheets:
        other = new[sheet.title]
        filled = _filled(sheet)
        # openpyxl gives the first cell of a merged area borders of its own making.
        merged = {str(area).partition(":")[0] for area in sheet.merged_cells.ranges}
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is None and not cell.has_style:
                    continue
                # What an array fills besides its first cell is a result, which may be old.
                if cell.coordinate in filled:
                    continue
                place = cell.row, cell.column
                if sheet.title == move.sheet:
                    lines = move.of(cell.row, "rows"), move.of(cell.column, "columns")
                    if lines[0] is None or lines[1] is None:
                        continue
                    place = lines[0], lines[1]
                there = other.cell(*place)
                if isinstance(cell, MergedCell) or isinstance(there, MergedCell):
                    continue
                right = _value(cell, partial(move.formula, home=sheet.title))
                found = _value(there, str)
                style = getattr(cell, "style_id", 0), getattr(there, "style_id", 0)
                is_styled = cell.coordinate in merged or style[0] == style[1]
                if right != found or not is_styled:
                    yield sheet.title, there.coordinate, right, found


# Parts that may differ; all others are copied byte for byte.
_NAMED = (
    "worksheets/", "workbook.xml", "tables/", "charts/", "drawings/", "comments",
    "threadedComments/", "pivot", "calcChain", "ctrlProps/", "[Content_Types]", ".rels",
    "connections",
)  # fmt: skip


def unnamed_differences(before: Path, after: Path) -> list[str]:
    """Parts that are others, though no cell of a sheet is named in them."""
    with Package(Source(before, before.name)) as one, Package(Source(after, after.name)) as two:
        return [
            key
            for key, info in one.by_key.items()
            if not info.is_dir()
            and not any(name.casefold() in key for name in _NAMED)
            and (key not in two.by_key or _packed(one, key) != _packed(two, key))
        ]


def _packed(package: Package, key: str) -> bytes:
    # As it lies in the zip: some parts are damaged, and copied as they are.
    return package.packed(package.by_key[key])
