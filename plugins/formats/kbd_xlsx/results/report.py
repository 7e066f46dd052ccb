"""Report of a calculation: its results in words, and why others are missing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest

from kbd.formats import Calculated
from kbd.office.operations import listed
from kbd.sheets.areas import cell_name
from kbd_xlsx.calculation.operand_ranges import Place
from kbd_xlsx.parts.cells import Result
from kbd_xlsx.results.plan import CalculationPlan, Reason

__all__ = ["tell"]

_SHOWN = 20
_SHOWN_PLACES = 5
_LONG = 60


def tell(
    plan: CalculationPlan,
    results: Mapping[Place, Result],
    titles: Sequence[str],
    show: Callable[[Place, Result], str],
    empty: Mapping[Place, str],
) -> Calculated:
    """Return what a calculation came to.

    Args:
        plan: What was to be worked out, and why some of it was not.
        results: What was stored.
        titles: Of the sheets.
        show: Returns a result as people read it.
        empty: Formulas and the empty cells that they read.
    """
    names = _Names(titles)
    asked = [place for place in results if place in plan.wanted]
    first = nsmallest(_SHOWN, asked, key=lambda place: (results[place].kind != "error", place))
    told = [f"{names.of(place)} = {_short(show(place, results[place]))}" for place in first]
    if len(asked) > _SHOWN:
        told.append(f"and {len(asked) - _SHOWN:,} more")
    besides = [place for place in results if place in plan.besides]
    if besides:
        told.append(f"Had no result before, and have one: {names.listed(besides)}")
    warnings = [
        *_errors(results, names), *_empty(empty, names), *_left_out(plan, names),
        *_still_open(plan, besides, names),
    ]  # fmt: skip
    return Calculated(len(results), tuple(told), tuple(warnings))


class _Names:
    def __init__(self, titles: Sequence[str]) -> None:
        self._titles = titles

    def of(self, place: Place) -> str:
        """Return a cell's name with its sheet."""
        return f"{self._titles[place[0]]}!{cell_name(place[1], place[2])}"

    def listed(self, places: Iterable[Place]) -> str:
        """Return the first of some cells by name, and how many more there are."""
        return listed([self.of(place) for place in sorted(places)], _SHOWN_PLACES)


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG]}…"


def _errors(results: Mapping[Place, Result], names: _Names) -> list[str]:
    found: dict[str, list[Place]] = {}
    for place, result in results.items():
        if result.kind == "error":
            found.setdefault(result.text, []).append(place)
    return [f"Formulas come to {text}: {names.listed(found[text])}." for text in sorted(found)]


def _empty(empty: Mapping[Place, str], names: _Names) -> list[str]:
    found: dict[str, list[Place]] = {}
    for place, cells in empty.items():
        found.setdefault(cells, []).append(place)
    told = [
        f"{names.listed(places)} reads {cells}, which is empty." for cells, places in found.items()
    ]
    more = len(told) - _SHOWN_PLACES
    return told if more <= 0 else [*told[:_SHOWN_PLACES], f"{more} more formulas read empty cells."]


def _left_out(plan: CalculationPlan, names: _Names) -> list[str]:
    """Return why formulas that were asked for have no result, a sentence a reason."""
    found: dict[str, list[Place]] = {}
    dependent: list[Place] = []
    for place in plan.wanted:
        reason = plan.reasons.get(place)
        if reason is None:
            continue
        root = _root(plan, place)
        if root == place:
            found.setdefault(_why(reason), []).append(place)
        elif root in plan.wanted:
            dependent.append(place)
        else:
            why = f"it depends on {names.of(root)}; {_why(plan.reasons[root])}"
            found.setdefault(why, []).append(place)
    told = [f"Not calculated here: {names.listed(found[why])} ({why})." for why in sorted(found)]
    if dependent:
        told.append(f"Nor what depends on such cells: {names.listed(dependent)}.")
    if told:
        told.append("Programs calculate these when they open the file.")
    return told


def _still_open(plan: CalculationPlan, besides: Sequence[Place], names: _Names) -> list[str]:
    """Return what has no result still, of what nobody asked for.

    It is said where others of these have got one, and not again at each edit.
    """
    told = []
    left = [place for place in plan.besides if place in plan.reasons]
    if besides and left:
        functions = sorted({plan.reasons[place].function for place in left} - {""})
        because = f" ({listed(functions, _SHOWN_PLACES)})" if functions else ""
        told.append(f"Had no result before, and have none: {names.listed(left)}{because}.")
    if plan.untried:
        told.append(f"{plan.untried:,} more formulas have no result; recalculate works them out.")
    return told


def _root(plan: CalculationPlan, place: Place) -> Place:
    """Return the cell that is to blame for a missing result."""
    seen = set()
    while place not in seen:
        seen.add(place)
        reason = plan.reasons.get(place)
        if reason is None or reason.cause is None:
            break
        place = reason.cause
    return place


def _why(reason: Reason) -> str:
    return f"{reason.function}: {reason.text}" if reason.function else reason.text
