"""An intent as the items of a plan, and in words. Pure."""

from collections.abc import Iterable, Sequence
from typing import assert_never

import msgspec

from kbd_offline.intents import (
    ColumnIntent,
    Condition,
    Declined,
    Deduped,
    Grouped,
    Intent,
    Merged,
    Profiled,
    Replaced,
    RowSelection,
    RowsIntent,
    Sheets,
    SortOrder,
    Split,
)

__all__ = ["PlanStep", "described", "listed", "steps"]

_MAX_ITEM_TEXT = 480
"""An item of a plan is one line of at most 500 characters."""


class PlanStep(msgspec.Struct, frozen=True):
    """An item of the plan: its short name, and what to do."""

    name: str
    text: str

    @property
    def line(self) -> str:
        """The item's text, on one line."""
        line = " ".join(f"{self.name} — {self.text}".split())
        return line if len(line) <= _MAX_ITEM_TEXT else line[: _MAX_ITEM_TEXT - 1] + "…"


def steps(intent: Intent) -> tuple[PlanStep, ...]:
    """Return the items that an intent takes; their places are what the work goes by."""
    match intent:
        case Split():
            return _split_steps(intent)
        case Sheets():
            return tuple(
                PlanStep(
                    f"Entity: {part.sheet}", f"{part.rows} rows of the sheet into {part.target}"
                )
                for part in intent.parts
            )
        case Merged():
            return tuple(
                PlanStep(
                    f"Entity: {part.table.label}", f"Its {part.rows} rows into {intent.target}"
                )
                for part in intent.parts
            )
        case Replaced(parts=(_, *_)):
            return tuple(
                PlanStep(f"Entity: {part.path}", f"{_replacing(intent)} in {part.path}")
                for part in intent.parts
            )
        case Grouped(target=None) | Replaced():
            return (PlanStep("Final: Answer", f"Answer: {described(intent)}"),)
        case Grouped() | RowsIntent() | Deduped() | Profiled():
            return (PlanStep(f"Final: {intent.target}", described(intent)),)
        case Declined():
            return (PlanStep("Final: Answer", "Say what was understood and what can be done"),)
        case _:
            assert_never(intent)


def described(intent: Intent) -> str:
    """Return an intent in one sentence."""
    match intent:
        case Split():
            text = f"One sheet for each {intent.key.label}{_of(intent.selection)} with"
            text += f" {_names(intent.columns)}{_sorted(intent.order)}"
            totals = f", and a sheet {intent.summary_sheet} with totals" if intent.measures else ""
            return f"{text}{totals}, in {intent.target}"
        case Grouped():
            figures = listed(measure.label for measure in intent.measures)
            by = f" by {listed(key.label for key in intent.keys)}" if intent.keys else ""
            where = f", in {intent.target}" if intent.target else ""
            return f"{figures}{by}{_of(intent.selection)}{_sorted(intent.order)}{where}"
        case RowsIntent():
            text = f"Rows{_of(intent.selection)} with {_names(intent.columns)}"
            return f"{text}{_sorted(intent.order)}, in {intent.target}"
        case Sheets():
            empty = f"; no table on {listed(intent.empty)}" if intent.empty else ""
            hidden = f"; hidden there: {listed(intent.hidden)}" if intent.hidden else ""
            return f"The sheets of {intent.source}, each as a text file of its own{empty}{hidden}"
        case Deduped():
            alike = (
                f"the same {_names(intent.keys)}" if intent.keys else "the same values throughout"
            )
            kept = "last" if intent.keeps_last else "first"
            text = f"Only the {kept} of the rows{_of(intent.selection)} with {alike}"
            return f"{text}, in {intent.target}"
        case Merged():
            tables = listed(part.table.label for part in intent.parts)
            origin = f", with {intent.origin} as a column" if intent.origin else ""
            return f"The rows of {tables} below each other{origin}, in {intent.target}"
        case Profiled():
            return f"A report on {listed(intent.paths)}, in {intent.target}"
        case Replaced():
            files = listed(part.path for part in intent.parts) if intent.parts else "no file"
            copy = f", as {intent.target}" if intent.target else ""
            return f"{_replacing(intent)} in {files}{copy}"
        case Declined():
            return intent.understood
        case _:
            assert_never(intent)


def listed(names: Iterable[str]) -> str:
    """Return names as a list in words: `A, B and C`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _names(columns: Iterable[ColumnIntent]) -> str:
    return listed(column.name for column in columns)


def _replacing(intent: Replaced) -> str:
    case = "" if intent.match_case else ", in capitals or not"
    return f'"{intent.search}" replaced by "{intent.replacement}"{case}'


def _split_steps(intent: Split) -> tuple[PlanStep, ...]:
    columns = ", ".join(column.name for column in intent.columns)
    sheets = tuple(
        PlanStep(
            f"Entity: {part.sheet}",
            f'Sheet "{part.sheet}" in {intent.target} with [{columns}] of the {part.rows} rows'
            f" where {intent.key.label} is {_shown(part.value)}{_sorted(intent.order)}",
        )
        for part in intent.parts
    )
    if not intent.measures:
        return sheets
    labels = ", ".join([intent.key.label, *(measure.label for measure in intent.measures)])
    text = f'Sheet "{intent.summary_sheet}" in {intent.target} with [{labels}] and a row of totals'
    return (*sheets, PlanStep(f"Final: {intent.summary_sheet}", text))


def _shown(value: str | None) -> str:
    return "empty" if value is None else f'"{value}"'


def _of(selection: RowSelection) -> str:
    joint = " or " if selection.any_of else " and "
    conditions = joint.join(_condition(condition) for condition in selection.conditions)
    return f" of {selection.table.label}" + (f" where {conditions}" if conditions else "")


def _condition(condition: Condition) -> str:
    if condition.operator in ("empty", "not empty"):
        return f"{condition.column.name} is {condition.operator}"
    value = condition.value if condition.column.is_number else f'"{condition.value}"'
    return f"{condition.column.name} {condition.operator} {value}"


def _sorted(order: Sequence[SortOrder]) -> str:
    ways = [f"{one.column}{' descending' if one.descending else ''}" for one in order]
    return f" sorted by {listed(ways)}" if ways else ""
