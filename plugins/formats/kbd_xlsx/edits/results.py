"""Stored results that an edit made old are taken away, so that no reader shows them.

Programs that calculate do so when they open the file; those that do not show nothing there, which
is the truth. What an edit does not reach keeps its result.
"""

import re
from collections.abc import Mapping, Sequence

from kbd_xlsx.calculation import FormulaBook, stale_results
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.references import Area

__all__ = ["has_formulas", "without_stale_results"]

# Two patterns that begin with a literal cost a tenth of one that has both.
_FORMULA = re.compile(rb"<f[\s>/]")
_PREFIXED_FORMULA = re.compile(rb":f[\s>/]")


def has_formulas(part: bytes) -> bool:
    """Tell whether a sheet's part has formulas."""
    return _FORMULA.search(part) is not None or _PREFIXED_FORMULA.search(part) is not None


def without_stale_results(
    book: FormulaBook, parts: Mapping[str, bytes], changed: Mapping[str, Sequence[Area]]
) -> dict[str, bytes]:
    """Return the parts that lose old results, without them.

    Args:
        book: The formulas as they are after the edit.
        parts: The sheets' parts after the edit, by title.
        changed: The cells that the edit changed, by title.
    """
    found = {}
    for title, areas in stale_results(book, changed).items():
        sheet = SheetPart(parts[title], title)
        for area in areas:
            sheet.forget(area)
        found[title] = sheet.xml(_as_it_is)
    return found


def _as_it_is(base: int, _: object) -> int:
    return base
