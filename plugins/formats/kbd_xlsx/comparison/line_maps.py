"""Which rows, columns and cells of one version are which of the other, on all sheets.

A formula follows a shift if each of its references names the same cells as before. Of rows that
have no counterpart, it may name any that took their place.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kbd.sheets.areas import cell_name, column_letters
from kbd_xlsx.comparison.formula_texts import FormulaReference, FormulaText, ParsedFormula
from kbd_xlsx.shifting.line_map import LineMap, LineRun, SheetMap

__all__ = [
    "NO_SHIFT",
    "BookMaps",
    "LineMap",
    "LineRun",
    "SheetMap",
    "Shift",
    "joined_runs",
    "last_shift",
]


_SHEET = re.compile(r"""\"(?:[^"]|"")*"|((?:'(?:[^']|'')+'|[\w.]+)(?=!))""")
"""The sheet of what is no cell: of a name, or of cells that are lost. Texts are none."""


class BookMaps:
    """The sheets of both versions.

    Args:
        sheets: Those that both have.
    """

    def __init__(self, sheets: Iterable[SheetMap] = ()) -> None:
        self._by_name: Mapping[str, SheetMap] = {each.before.casefold(): each for each in sheets}

    def sheet(self, name: str) -> SheetMap | None:
        """Return a sheet by its name in the version before."""
        return self._by_name.get(name.casefold())

    def follows(self, before: FormulaText, after: FormulaText, home: SheetMap | None) -> bool:
        """Tell whether a formula names the same cells as before.

        Args:
            before: The formula in the version before.
            after: The formula now.
            home: The sheet that it is of; None for none.
        """
        one, two = before.parsed(), after.parsed()
        if one.pieces != two.pieces and tuple(map(self._renamed, one.pieces)) != two.pieces:
            return False
        if len(one.references) != len(two.references):
            return False
        return all(
            self._same(ours, theirs, home)
            for ours, theirs in zip(one.references, two.references, strict=True)
        )

    def translated(self, text: str, home: SheetMap | None) -> str:
        """Return a formula as it is if it only followed the shift."""
        parsed = FormulaText(text).parsed()
        moved = [self._became(each, home) for each in parsed.references]
        pieces = tuple(map(self._renamed, parsed.pieces))
        # What did not change is left as it is written.
        if tuple(moved) == parsed.references and pieces == parsed.pieces:
            return text
        written = [pieces[0]]
        for piece, reference in zip(pieces[1:], moved, strict=True):
            written.extend((_written(reference), piece))
        return "".join(written)

    def parsed(self, text: str) -> ParsedFormula:
        """Take a formula apart."""
        return FormulaText(text).parsed()

    def _same(self, one: FormulaReference, two: FormulaReference, home: SheetMap | None) -> bool:
        if one.fixed != two.fixed or one.is_area != two.is_area:
            return False
        sheet = self._named(one.sheet, home)
        if one.sheet != two.sheet:
            if sheet is None or _bare(two.sheet).casefold() != sheet.after.casefold():
                return False
            if not one.sheet or not two.sheet:
                return False
        mine = one.top, one.left, one.bottom, one.right
        other = two.top, two.left, two.bottom, two.right
        if sheet is None:
            return mine == other
        if bool(one.top) != bool(two.top) or bool(one.left) != bool(two.left):
            return False
        rows = not one.top or _accepted(
            sheet.rows, (one.top, one.bottom), (two.top, two.bottom), is_area=one.is_area
        )
        return rows and (
            not one.left
            or _accepted(
                sheet.columns, (one.left, one.right), (two.left, two.right), is_area=one.is_area
            )
        )

    def _renamed(self, piece: str) -> str:
        """Return a text between references with its sheets' names of today."""
        if "!" not in piece:
            return piece
        return _SHEET.sub(lambda found: self._name(found[1]) if found[1] else found[0], piece)

    def _name(self, written: str) -> str:
        """Return a sheet's name in the version after as a formula has it."""
        sheet = self.sheet(_bare(written))
        return written if sheet is None or sheet.before == sheet.after else _quoted(sheet.after)

    def _named(self, written: str, home: SheetMap | None) -> SheetMap | None:
        """Return the sheet that a reference is to."""
        if not written:
            return home
        # A range of sheets counts as its first one.
        return self.sheet(_bare(written)) or self.sheet(_bare(written).partition(":")[0])

    def _became(self, reference: FormulaReference, home: SheetMap | None) -> FormulaReference:
        """Return a reference as it is if it only followed the shift."""
        sheet = self._named(reference.sheet, home)
        if sheet is None:
            return reference
        top, left, bottom, right = reference[1:5]
        name = reference.sheet
        if top:
            top, bottom = sheet.rows.first(top), sheet.rows.last(bottom)
        if left:
            left, right = sheet.columns.first(left), sheet.columns.last(right)
        if name and ":" not in name:
            name = self._name(name)
        return reference._replace(sheet=name, top=top, left=left, bottom=bottom, right=right)


class Shift(NamedTuple):
    """What references on a sheet have become; without maps they are as they were."""

    maps: BookMaps | None = None
    sheet: SheetMap | None = None

    def ranges(self, text: str) -> str:
        """Return ranges as they have become."""
        return text if self.sheet is None or not text else self.sheet.ranges(text)

    def formula(self, text: str) -> str:
        """Return a formula as it is if it only followed the shift."""
        return text if self.maps is None or not text else self.maps.translated(text, self.sheet)


NO_SHIFT = Shift()


def _written(reference: FormulaReference) -> str:
    prefix = f"{reference.sheet}!" if reference.sheet else ""
    if reference.top > reference.bottom or reference.left > reference.right:
        return f"{prefix}#REF!"
    fixed = reference.fixed
    first = _corner(reference.top, reference.left, fixed[0], fixed[1])
    if not reference.is_area:
        return prefix + first
    return f"{prefix}{first}:{_corner(reference.bottom, reference.right, fixed[2], fixed[3])}"


def _accepted(
    lines: LineMap, before: tuple[int, int], after: tuple[int, int], *, is_area: bool
) -> bool:
    if is_area:
        return lines.accepts_span(before, after)
    return lines.accepts(before[0], after[0])


def _corner(row: int, column: int, row_fixed: bool, column_fixed: bool) -> str:  # noqa: FBT001
    letters = ("$" if column_fixed else "") + column_letters(column) if column else ""
    digits = ("$" if row_fixed else "") + str(row) if row else ""
    return letters + digits if letters or digits else cell_name(1, 1)


def _bare(written: str) -> str:
    """Return a sheet's name without its quotes."""
    if written.startswith("'") and written.endswith("'") and len(written) > 1:
        return written[1:-1].replace("''", "'")
    return written


def _quoted(name: str) -> str:
    if name.replace("_", "a").isalnum() and not name[0].isdigit():
        return name
    return "'" + name.replace("'", "''") + "'"


def last_shift(runs: Sequence[LineRun], moved: Sequence[LineRun]) -> int:
    """Return how far the last lines were shifted that did not move by themselves."""
    moves = set(moved)
    last = max((run for run in runs if run not in moves), default=LineRun(0, 0, 0))
    return last.after - last.before


def joined_runs(runs: list[LineRun]) -> list[LineRun]:
    """Join runs that go on one another."""
    found: list[LineRun] = []
    for run in sorted(runs):
        last = found[-1] if found else None
        if (
            last is not None
            and last.before + last.length == run.before
            and last.after + last.length == run.after
        ):
            found[-1] = last._replace(length=last.length + run.length)
        else:
            found.append(run)
    return found
