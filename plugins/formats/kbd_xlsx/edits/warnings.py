"""Warnings of an edit, and of what it touches without being named and cannot bring up to date."""

import re
from collections.abc import Mapping, Sequence

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings, listed
from kbd.opc.rewriter import Rewriting
from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area, overlaps, parse_area

__all__ = ["WorkbookWarnings", "is_protected", "old_pivots"]

_MAX_LISTED = 20
_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_PROTECTION = re.compile(rb"<(?:[\w.-]+:)?sheetProtection\s[^>]*\bsheet=[\"'](?:1|true)")


class WorkbookWarnings(EditWarnings):
    """Warnings of an edit of a workbook."""

    def __init__(self) -> None:
        super().__init__()
        self._like_formulas: list[str] = []

    def like_formula(self, place: str) -> None:
        """Note that a text that looks like a formula was written as text."""
        self._like_formulas.append(place)

    @property
    def texts(self) -> tuple[str, ...]:
        """The warnings so far; that of texts like formulas is one, and the last."""
        if not self._like_formulas:
            return super().texts
        places = listed(self._like_formulas, _MAX_LISTED)
        note = f"Text that looks like a formula was written as text: {places}."
        return (*super().texts, note)

    @property
    def external(self) -> tuple[str, ...]:
        """What the workbook reaches out to now, the first ones if it is much."""
        found = super().external
        if len(found) <= _MAX_LISTED:
            return found
        return (*found[:_MAX_LISTED], f"and {len(found) - _MAX_LISTED} more")


def is_protected(part: bytes) -> bool:
    """Tell whether a sheet's part asks programs to keep people from changing it."""
    return b"sheetProtection" in part and _PROTECTION.search(part) is not None


def old_pivots(rewriting: Rewriting, main: str, changed: Mapping[str, Sequence[Area]]) -> list[str]:
    """Return the ranges whose data pivot tables keep a copy of, and which the edit changed.

    Args:
        rewriting: The package.
        main: The workbook part.
        changed: The changed cells by the title of their sheet.
    """
    folded = {title.casefold(): areas for title, areas in changed.items()}
    found = []
    for relation in rewriting.relations(main):
        if relation.kind != "pivotCacheDefinition" or relation.target not in rewriting:
            continue
        source = rewriting.root(relation.target).find("{*}cacheSource/{*}worksheetSource")
        title = source.get("sheet", "") if source is not None else ""
        if source is None or title.casefold() not in folded:
            continue
        area = _area(source.get("ref", ""))
        if any(overlaps(area, one) for one in folded[title.casefold()]):
            found.append(f"{title}!{area}" if area != _WHOLE else title)
    return found


def _area(text: str) -> Area:
    """Return a range, or the whole sheet where none is told."""
    try:
        return parse_area(text, _WHOLE) if text else _WHOLE
    except ValidationFailed:
        return _WHOLE
