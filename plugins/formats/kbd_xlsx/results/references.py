"""Names and structured references as plain ones: what `Rate` or `Sales[Amount]` means in a cell.

Engines read names and tables in ways of their own, and not all forms of them; plain ranges they all
read alike.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from kbd.sheets.areas import Area, column_letters
from kbd_xlsx.calculation.operand_ranges import DefinedName, Place, TableArea, cells_of_table
from kbd_xlsx.comparison.formula_texts import parse_formula

__all__ = ["PlainReferences"]

MAX_DEPTH = 8
"""Names that may stand for names, one in the other."""

MAX_CHARACTERS = 32_768
"""A formula that grows past these by what its names stand for is not written out."""

_STRING = r'"(?:[^"]|"")*"'
_INSIDE = r"(?:[^\[\]']|'.)*"
_STRUCTURED = re.compile(
    rf"{_STRING}|'(?:[^']|'')*'!?|([\w.\\?]*)\[({_INSIDE}(?:\[{_INSIDE}\]{_INSIDE})*)\]",
    re.DOTALL,
)
_NAME = re.compile(
    rf"{_STRING}|\[(?:{_INSIDE}|\[{_INSIDE}\])*\]"
    r"|(?:('(?:[^']|'')+'|[\w.]+)!)?(?<![\w.\\?$])([^\W\d][\w.\\?]*|\\[\w.\\?]+)(?![\w.\\?(!\[$])",
    re.DOTALL,
)
_FIXED = re.compile(
    r"(?:'(?:[^']|'')+'|[\w.]+)!\$[A-Z]{1,3}\$\d{1,7}(?::\$[A-Z]{1,3}\$\d{1,7})?", re.IGNORECASE
)
_BINDING = re.compile(r"(?<![\w.])(?:LET|LAMBDA)\(", re.IGNORECASE)


class PlainReferences:
    """Names and tables of a workbook, written out in its formulas.

    Args:
        titles: Of the sheets.
        names: The defined names.
        tables: The tables.
    """

    def __init__(
        self, titles: Sequence[str], names: Iterable[DefinedName], tables: Sequence[TableArea]
    ) -> None:
        self._titles = titles
        self._folded = {title.casefold(): title for title in titles}
        self._names: dict[tuple[str | None, str], str] = {
            (name.scope, name.name.casefold()): name.text.removeprefix("=") for name in names
        }
        self._words = {word for _, word in self._names}
        self._tables: Mapping[str, TableArea] = {table.name.casefold(): table for table in tables}

    def written_out(self, text: str, place: Place) -> str | None:
        """Return a formula with plain references alone.

        Args:
            text: The formula.
            place: The cell that it stands in.

        Returns:
            The formula; None if a name or a structured reference means no cells, or means others
            in each cell.
        """
        plain = self._named(text, self._titles[place[0]], MAX_DEPTH) if self._names else text
        if plain is None or len(plain) > MAX_CHARACTERS:
            return None
        return self._tabled(plain, place) if "[" in plain else plain

    def _named(self, text: str, own: str, depth: int) -> str | None:
        """Write names out."""
        # Parameters hide names.
        if _BINDING.search(text):
            return text
        fails = False

        def meaning(found: re.Match[str]) -> str:
            nonlocal fails
            word = (found[2] or "").casefold()
            if word not in self._words:
                return found[0]
            stands = self._stands(found[1], word, own)
            inner = stands and self._named(stands, own, depth - 1) if depth else None
            # What moves with the cell is written for the first cell.
            if inner is None or _moves(inner):
                fails = True
                return found[0]
            return inner if _FIXED.fullmatch(inner) else f"({inner})"

        plain = _NAME.sub(meaning, text)
        return None if fails else plain

    def _stands(self, sheet: str | None, word: str, own: str) -> str | None:
        """Return what a name stands for, None if there is no such name, or it is of elsewhere."""
        if sheet is not None:
            bare = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
            own = self._folded.get(bare.casefold(), "")
        text = self._names.get((own, word)) or self._names.get((None, word))
        if text is None or "#REF!" in text or re.search(r"\[\d+\]|\|", text):
            return None
        return text

    def _tabled(self, text: str, place: Place) -> str | None:
        """Write structured references out."""
        fails = False

        def plain(found: re.Match[str]) -> str:
            nonlocal fails
            if found[2] is None:
                return found[0]
            table = self._table(found[1], place)
            area = None if table is None else cells_of_table(table, found[2], place[1])
            if table is None or area is None:
                fails = True
                return found[0]
            sheet = table.sheet.replace("'", "''")
            return f"'{sheet}'!{_corners(area)}"

        resolved = _STRUCTURED.sub(plain, text)
        return None if fails else resolved

    def _table(self, name: str, place: Place) -> TableArea | None:
        if name:
            return self._tables.get(name.casefold())
        # Without a name it is the table that the formula stands in.
        sheet, row, column = place
        for table in self._tables.values():
            area = table.area
            if (
                table.sheet == self._titles[sheet]
                and area.top <= row <= area.bottom
                and area.left <= column <= area.right
            ):
                return table
        return None


def _moves(text: str) -> bool:
    """Tell whether any reference of a formula is relative."""
    return any(
        side and not fixed
        for reference in parse_formula(text).references
        for side, fixed in zip(reference[1:5], reference.fixed, strict=True)
    )


def _corners(area: Area) -> str:
    first = f"${column_letters(area.left)}${area.top}"
    last = f"${column_letters(area.right)}${area.bottom}"
    return first if first == last else f"{first}:{last}"
