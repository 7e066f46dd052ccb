"""Writer of results: formula cells of the usual form get others, or lose theirs.

Such cells are found by one search over many rows, which takes a fifth of the time of taking these
rows apart. Where a row holds a formula cell of another form, the caller takes it apart.
"""

import re

from kbd.sheets.areas import column_number
from kbd_xlsx.parts.cells import AreaIndex, PendingCells, Result, escaped
from kbd_xlsx.parts.markup import Splice
from kbd_xlsx.parts.outline import Outline, Rows

__all__ = ["RESULT_TYPES", "ResultWriter", "value_element"]

RESULT_TYPES = {"number": None, "text": b"str", "boolean": b"b", "error": b"e"}
"""What a cell's type is for a kind of result."""


def value_element(name: bytes, result: Result) -> bytes:
    """Return the element of a result.

    Args:
        name: Its name, with the part's prefix.
        result: The result.
    """
    text = escaped(result.text).encode()
    space = b' xml:space="preserve"' if text != text.strip() else b""
    return b"<" + name + space + b">" + text + b"</" + name + b">"


class ResultWriter:
    """Writes results into rows that nothing else changes.

    Args:
        outline: The part.
        rows: Its rows.
        pending: Results by row and column, and areas whose formulas lose theirs.
    """

    def __init__(self, outline: Outline, rows: Rows, pending: PendingCells) -> None:
        self._outline, self._rows, self._edits = outline, rows, pending.edits
        self._forgets = AreaIndex(pending.forgets) if pending.forgets else None
        self._value = outline.qualified(b"v")
        formula, value, cell = (re.escape(outline.qualified(name)) for name in (b"f", b"v", b"c"))
        # It begins with what is sought for, and the last branch is empty, so that a formula which
        # it cannot read is noticed.
        self._formula = re.compile(
            rb"<%b(?=[\s/>])(?:(?: [^<>]*)?(?:(?<=/)>|(?<!/)>[^<]*</%b>)"
            rb"(<%b/>|<%b>([^<]*)</%b>)?(?=</%b>)|)" % (formula, formula, value, value, value, cell)
        )
        self._nothing = len(outline.qualified(b"f")) + 1
        self._cell = re.compile(
            rb'<%b r="([A-Z]{1,3})([1-9][0-9]{0,6})"(?: s="[0-9]+")?( t="[a-z]+")?>' % cell
        )
        self._columns: dict[bytes, int] = {}

    def splices(self, first: int, last: int) -> list[Splice] | None:
        """Return the changes of rows; None if one of their formula cells has another form.

        Args:
            first: The place of the first row.
            last: The place of the last.
        """
        numbers, starts, data = self._rows.numbers, self._rows.starts, self._outline.data
        if self._outline.scan is not data:
            return None
        end = starts[last + 1] if last + 1 < len(starts) else self._outline.rows_end
        found: list[Splice] = []
        place, following = first - 1, starts[first]
        left = sum(len(self._edits.get(numbers[at], ())) for at in range(first, last + 1))
        for formula in self._formula.finditer(data, starts[first], end):
            start = data.rfind(b"<", 0, formula.start())
            cell = self._cell.fullmatch(data, start, formula.start())
            if cell is None or formula.end() - formula.start() == self._nothing:
                return None
            while following <= start:
                place += 1
                following = starts[place + 1] if place < last else end
            row, column = int(cell[2]), self._column(cell[1])
            if row != numbers[place]:
                return None
            edits = self._edits.get(row)
            edit = None if edits is None else edits.get(column)
            if edit is not None and edit.result is not None:
                left -= 1
                found.append(self._splice(cell, formula, edit.result))
            # An element without a value is no result, but of a text.
            elif (cell[3] == b' t="str"' or formula[2]) and self._is_forgotten(row, column):
                found.append(self._splice(cell, formula, None))
        return None if left else found

    def _is_forgotten(self, row: int, column: int) -> bool:
        return self._forgets is not None and self._forgets.at(row, column) is not None

    def _splice(
        self, cell: re.Match[bytes], formula: re.Match[bytes], result: Result | None
    ) -> Splice:
        """Return what stands in a cell from behind its name and style on."""
        start = cell.start(3) if cell[3] else cell.end() - 1
        end = formula.start(1) if formula[1] else formula.end()
        kept = self._outline.data[formula.start() : end]
        if result is None:
            return Splice(start, formula.end(), b">" + kept)
        word = RESULT_TYPES[result.kind]
        kind = b">" if word is None else b' t="' + word + b'">'
        return Splice(start, formula.end(), kind + kept + value_element(self._value, result))

    def _column(self, letters: bytes) -> int:
        column = self._columns.get(letters)
        if column is None:
            column = self._columns[letters] = column_number(letters.decode())
        return column
