"""Changes of rows that are written alike, counted without taking their cells apart.

Once the list of changes is full nobody sees a value any more, so that it is enough to know how many
differ. Whatever is written in another way is left to the comparison of cells.
"""

import re
from collections import Counter
from collections.abc import Mapping
from math import isfinite

from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.line_maps import LineMap
from kbd_xlsx.comparison.raw_cells import of_attributes

__all__ = ["RowCounter", "shift_rows"]

_CELL = re.compile(rb'<c r="([A-Z]{1,3})\d{1,7}"([^>]*)>(?:<f>([^<]+)</f>)?<v>([^<]+)</v></c>')
_ROW_OF_CELL = re.compile(rb"(?<![\w.])(\$?[A-Z]{1,3}\$?)(\d{1,7})(?![\w.(!])")
# Quoted texts, names of sheets, tables and whole rows.
_NOT_PLAIN = re.compile(rb"[\"'!\[&]|\d:\$?\d")


class RowCounter:
    """Counts the changes of pairs of rows.

    Args:
        before: The sheet in the older version.
        after: The sheet in the newer version.
        rows: Which rows are which.
        is_comparable: Whether numbers of texts and looks mean the same in both versions.
    """

    def __init__(
        self, before: SheetSide, after: SheetSide, rows: LineMap, *, is_comparable: bool
    ) -> None:
        self._before, self._after = before, after
        self._rows = rows
        self._is_comparable = is_comparable
        self._texts: dict[tuple[bytes, bytes], tuple[bool, bool]] = {}
        self._kinds: dict[bytes, str] = {}
        # What one formula fills holds results, which are not told by their cells; days of another
        # date system are other numbers than those that are written.
        self._is_plain = not any(
            side.scan.groups or side.book.values.counts_from_1900 for side in (before, after)
        )

    def count(
        self, before: int, ours: bytes, after: int, theirs: bytes
    ) -> Mapping[str, int] | None:
        """Return how many cells and results changed, None where this cannot tell.

        Args:
            before: The row's number in the older version.
            ours: Its cells there.
            after: Its number in the newer version.
            theirs: Its cells there.
        """
        one, two = _CELL.findall(ours), _CELL.findall(theirs)
        if not self._is_plain or len(one) != len(two):
            return None
        if len(one) != ours.count(b"<c") or len(two) != theirs.count(b"<c"):
            return None
        found: Counter[str] = Counter()
        for old, new in zip(one, two, strict=True):
            is_plain = self._is_comparable or self._is_number(new[1])
            if old == new and is_plain and (before == after or not old[2]):
                continue
            if old[0] != new[0] or old[1] != new[1]:
                return None
            formula = old[2]
            if formula and before != after:
                formula = b"" if _NOT_PLAIN.search(formula) else shift_rows(formula, self._rows)
            # One formula alone, another one, or one that cannot be followed so simply.
            if formula != new[2] or (old[2] and not formula):
                return None
            differs: bool | None = False
            if old[3] != new[3] or not is_plain:
                differs = self._differs(old[1], old[3], new[3], bool(formula))
            if differs is None:
                return None
            if differs:
                found["result" if formula else "cell"] += 1
        # Of a cell that is written twice the last one counts.
        is_twice = bool(found) and len({old[0] for old in one}) < len(one)
        return None if is_twice else found

    def _differs(
        self,
        attributes: bytes,
        one: bytes,
        two: bytes,
        is_result: bool,  # noqa: FBT001
    ) -> bool | None:
        """Tell whether two values of cells of the same attributes differ, None if unknown."""
        kind = self._kinds.get(attributes) or self._kind(attributes)
        if kind == "s":
            known = self._texts.get((one, two)) or self._text(one, two)
            return known[is_result]
        if kind != "number":
            return None
        try:
            numbers = float(one), float(two)
        except ValueError:
            return None
        if not (isfinite(numbers[0]) and isfinite(numbers[1])):
            return None
        return numbers[0] != numbers[1]

    def _is_number(self, attributes: bytes) -> bool:
        """Tell whether equal cells with these attributes are equal whatever numbers mean."""
        return (self._kinds.get(attributes) or self._kind(attributes)) == "number"

    def _text(self, one: bytes, two: bytes) -> tuple[bool, bool]:
        """Tell whether two shared texts differ, and whether they do without their looks."""
        ours, theirs = self._before.book.values.shared(one), self._after.book.values.shared(two)
        found = self._texts[one, two] = ours != theirs, ours[0] != theirs[0]
        return found

    def _kind(self, attributes: bytes) -> str:
        """Return the kind of value that attributes say, "other" for one that is not compared."""
        style, kind, _ = of_attributes(attributes)
        looks = self._before.book.looks.key(style), self._after.book.looks.key(style)
        found = "other" if looks[0] != looks[1] else kind or "number"
        self._kinds[attributes] = found
        return found


def shift_rows(markup: bytes, rows: LineMap) -> bytes:
    """Return markup with the numbers that its rows have now."""
    get = rows.get
    return _ROW_OF_CELL.sub(lambda found: found[1] + b"%d" % (get(int(found[2])) or 0), markup)
