"""Numbers as texts: where engines and spreadsheet programs turn a number into other digits.

A formula that joins, measures or cuts a number does so to its text. Programs write 15 digits of it,
engines as many as tell the float from all others: 1/3 has 17 characters there and 18 here, and both
engines agree. Such a result is found by its digits where it shows them, else by what is read.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from kbd_xlsx.calculation.operand_ranges import Cells, Place
from kbd_xlsx.parts.cells import Result
from kbd_xlsx.results.plan import CalculationPlan, Reason, calls_of, shape_of
from kbd_xlsx.results.small_book import SmallSheet

__all__ = ["find_number_texts"]

_DIGITS = 15
"""Digits that programs write of a number in a text."""

_JOINING = {"CONCAT", "CONCATENATE", "TEXTJOIN"}
_CUTTING = {
    "CLEAN", "CODE", "EXACT", "FIND", "FINDB", "LEFT", "LEFTB", "LEN", "LENB", "LOWER", "MID",
    "MIDB", "PROPER", "REPLACE", "REPLACEB", "REPT", "RIGHT", "RIGHTB", "SEARCH", "SEARCHB",
    "SUBSTITUTE", "TEXTAFTER", "TEXTBEFORE", "TRIM", "UNICODE", "UPPER", "VALUE",
}  # fmt: skip
_DIVIDING = {
    "ACOS", "ASIN", "ATAN", "ATAN2", "AVERAGE", "AVERAGEA", "AVERAGEIF", "AVERAGEIFS", "COS", "EXP",
    "GEOMEAN", "IRR", "LN", "LOG", "LOG10", "MEDIAN", "NOW", "NPV", "PERCENTILE", "PI", "PMT",
    "POWER", "QUARTILE", "SIN", "SQRT", "STDEV", "STDEVP", "TAN", "VAR", "VARP", "YEARFRAC",
}  # fmt: skip
_MAX_FUNCTIONS = 3
_STRING = re.compile(r'"(?:[^"]|"")*"')
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]\d+)?")
_WHOLE_LIMIT = 10.0**_DIGITS
_REASON = "a number becomes a text, of which programs write fewer digits"


def find_number_texts(
    plan: CalculationPlan,
    sheets: Sequence[SmallSheet],
    texts: Mapping[Place, str],
    found: Mapping[Place, Result | None],
) -> dict[Place, Reason]:
    """Return which results may hang on how a number is written as a text, and why.

    Args:
        plan: The formulas, and what they read.
        sheets: The values that are read.
        texts: The formulas as they are worked out, with the moment that it is.
        found: Their results.
    """
    turning = {
        place: (result, turn)
        for place, result in found.items()
        if result is not None and (turn := _turn_of(_shape(plan, texts, place))) is not None
    }
    if not turning:
        return {}
    numbers, long = _number_places(sheets, found)
    doubted = {}
    for place, (result, turn) in turning.items():
        reads = plan.reads[place]
        is_shown = result.kind == "text" and not turn.is_cut
        if not turn.is_cut:
            # Only single cells are joined; a condition looks at a range as it is.
            reads = [cells for cells in reads if cells[1:3] == cells[3:5]]
        if result.kind == "text" and _tells_long_number(result.text):
            is_doubted = bool(numbers) or not plan.reads[place]
        else:
            is_doubted = not is_shown and (
                long.has_any(reads) or (turn.divides and (not reads or numbers.has_any(reads)))
            )
        if is_doubted:
            doubted[place] = Reason(_REASON, turn.functions)
    return doubted


def _shape(plan: CalculationPlan, texts: Mapping[Place, str], place: Place) -> str:
    text = texts[place]
    return plan.shapes[place] if text is plan.texts[place] else shape_of(text)


class _Turn(msgspec.Struct, frozen=True):
    """How a formula turns numbers into texts.

    Args:
        is_cut: Whether it measures or cuts the text, so that the result does not show all of it.
        divides: Whether it may come upon a number of many digits, whatever it reads.
        functions: The functions that are to blame.
    """

    is_cut: bool
    divides: bool
    functions: str


@lru_cache(maxsize=4_096)
def _turn_of(shape: str) -> _Turn | None:
    """Return how formulas of a shape turn numbers into texts, None if they do not."""
    code = _STRING.sub('""', shape)
    calls = calls_of(code)
    cutting = calls & _CUTTING
    if "&" not in code and not cutting and calls.isdisjoint(_JOINING):
        return None
    divides = any(sign in code for sign in "/^%") or not calls.isdisjoint(_DIVIDING)
    return _Turn(bool(cutting), divides, ", ".join(sorted(cutting or calls)[:_MAX_FUNCTIONS]))


def _tells_long_number(text: str) -> bool:
    for number in _NUMBER.findall(text):
        mantissa, exponent, _ = number.lower().partition("e")
        whole, _, _ = mantissa.partition(".")
        is_long = len(mantissa.replace(".", "").lstrip("0")) > _DIGITS
        if exponent or (is_long and (mantissa != whole or len(whole) > _DIGITS)):
            return True
    return False


def _number_places(
    sheets: Sequence[SmallSheet], found: Mapping[Place, Result | None]
) -> tuple["_Places", "_Places"]:
    """Return where numbers are, and where those of more digits than programs write."""

    def values() -> Iterator[tuple[Place, Result]]:
        for number, sheet in enumerate(sheets):
            for row, cells in sheet.rows.items():
                for cell in cells:
                    if cell.value is not None:
                        yield (number, row, cell.column), cell.value
        yield from ((place, result) for place, result in found.items() if result is not None)

    numbers = [(place, value) for place, value in values() if value.kind == "number"]
    long = (place for place, value in numbers if _is_long(value.text))
    return _Places(place for place, _ in numbers), _Places(long)


def _is_long(text: str) -> bool:
    value = float(text)
    return abs(value) >= _WHOLE_LIMIT or float(f"{value:.{_DIGITS}g}") != value


class _Places:
    """Cells by sheet and column."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._rows: dict[tuple[int, int], list[int]] = {}
        for sheet, row, column in places:
            self._rows.setdefault((sheet, column), []).append(row)
        for rows in self._rows.values():
            rows.sort()

    def __bool__(self) -> bool:
        return bool(self._rows)

    def has_any(self, areas: Iterable[Cells]) -> bool:
        """Tell whether one of the cells is in some areas."""
        for sheet, top, left, bottom, right in areas:
            for (number, column), rows in self._rows.items():
                if number == sheet and left <= column <= right:
                    at = bisect_left(rows, top)
                    if at < len(rows) and rows[at] <= bottom:
                        return True
        return False
