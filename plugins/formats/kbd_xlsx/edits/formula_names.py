"""Names in formulas that an edit writes: functions, sheets, defined names and tables must exist.

A misspelt one gives an error that shows only when somebody opens the file, so it is refused with
the nearest name that there is. It is looked up when all operations are through: a later one may
make the sheet.
"""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from kbd.errors import ValidationFailed
from kbd_xlsx.calculation.book import OperandReader
from kbd_xlsx.calculation.functions import PLAIN, VOLATILE, known_name
from kbd_xlsx.calculation.operands import NameUse, TableUse

__all__ = ["FormulaNames"]

_CONSTANTS = ("TRUE", "FALSE")
_BINDING = ("LET", "LAMBDA")
"""Functions whose arguments are names of their own."""

_NEAR = 3
_LIKENESS = 0.6


class FormulaNames:
    """The names in the formulas of one edit, each with the first cell that uses it."""

    def __init__(self) -> None:
        self._reader = OperandReader()
        self._functions: dict[str, str] = {}
        self._sheets: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._tables: dict[str, str] = {}

    def note(self, text: str, place: str) -> None:
        """Note the names of a formula, which is given without "="."""
        operands = self._reader.read(text)
        calls = {known_name(call) for call in operands.calls}
        for name in calls - PLAIN - VOLATILE:
            if not name.startswith("_XLPM."):
                self._functions.setdefault(name, place)
        others = [*operands.others, *(each for span in operands.spans for each in span)]
        for used in (*operands.references, *others):
            written = None if isinstance(used, TableUse) else used.sheet
            # The sheets of another workbook are not known here.
            if written is not None and "[" not in written:
                for title in _titles(written):
                    self._sheets.setdefault(title, place)
        binds = not calls.isdisjoint(_BINDING)
        for used in others:
            if isinstance(used, TableUse) and used.name:
                self._tables.setdefault(used.name, place)
            elif isinstance(used, NameUse) and used.sheet is None and not binds:
                self._names.setdefault(used.name, place)

    def rename_sheet(self, old: str, new: str) -> None:
        """Follow a sheet that is renamed, as the formulas do that were written before."""
        for title in list(self._sheets):
            if title.casefold() == old.casefold():
                self._sheets.setdefault(new, self._sheets.pop(title))

    def check(
        self,
        titles: Sequence[str],
        names: Iterable[str],
        tables: Callable[[], Iterable[str]],
        *,
        has_macros: bool,
    ) -> None:
        """Check that all names are known.

        Args:
            titles: Of the sheets.
            names: The defined names.
            tables: Returns the names of the tables; only asked where it matters.
            has_macros: Whether the workbook may define functions of its own.

        Raises:
            ValidationFailed: One is not.
        """
        defined = list(names)
        if not has_macros:
            # A name may stand for a function (LAMBDA).
            known = [*PLAIN, *VOLATILE, *(name.upper() for name in defined)]
            _check(self._functions, known, "function", "; functions have their English names")
        _check(self._sheets, titles, "sheet", "; make it with ensure_sheet")
        open_names = {
            name: place
            for name, place in self._names.items()
            if name.upper() not in _CONSTANTS and not name.upper().startswith("_XLPM.")
        }
        if open_names or self._tables:
            named = list(tables())
            _check(self._tables, named, "table", "")
            _check(open_names, [*defined, *named], "name", "; a text in a formula needs quotes")


def _titles(written: str) -> list[str]:
    """Return the titles that stand before "!", those of both ends of a range of sheets."""
    if written.startswith("'"):
        written = written[1:-1].replace("''", "'")
    return [title for title in written.split(":") if title]


def _check(used: dict[str, str], known: Iterable[str], what: str, advice: str) -> None:
    if not used:
        return
    folded = {name.casefold(): name for name in known}
    for name, place in used.items():
        if name.casefold() in folded:
            continue
        near = get_close_matches(name.casefold(), folded, _NEAR, _LIKENESS)
        hint = f" (near it: {', '.join(folded[each] for each in near)})" if near else ""
        raise ValidationFailed(
            f"{place}: there is no {what} {name[:60]!r}{hint}{advice if not near else ''}"
        )
