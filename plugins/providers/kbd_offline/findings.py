"""Findings of research as research.md, and the plan's items: an intent and its files in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

import msgspec

from kbd_offline.conversation import CallFailedError, PlannerConversation
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
    TableIntent,
    encode_intent,
)
from kbd_offline.request_text import UnclearError

__all__ = [
    "EMPTY_FIELDS",
    "FileFinding",
    "Findings",
    "PlanStep",
    "check_sheet",
    "describe_intent",
    "inspect_outcomes",
    "inspect_table",
    "inspect_tables",
    "listed",
    "plan_steps",
    "report",
    "row_count_text",
]

_MAX_ITEM_TEXT = 480
"""An item of a plan is one line of at most 500 characters."""


class PlanStep(msgspec.Struct, frozen=True):
    """An item of the plan: its short name, and what to do."""

    name: str
    text: str

    @property
    def line(self) -> str:
        """The item's text, on one line."""
        # A plan is read by lines: a line break in a value would begin another item.
        line = " ".join(f"{self.name} — {self.text}".split())
        return line if len(line) <= _MAX_ITEM_TEXT else line[: _MAX_ITEM_TEXT - 1] + "…"


def plan_steps(intent: Intent) -> tuple[PlanStep, ...]:
    """Return the items that an intent takes; their places are what the work goes by."""
    match intent:
        case Split():
            return _split_steps(intent)
        case Sheets():
            return tuple(
                PlanStep(
                    f"Entity: {part.sheet}",
                    f"{row_count_text(part.rows)} of the sheet into {part.target}",
                )
                for part in intent.parts
            )
        case Merged():
            return tuple(
                PlanStep(
                    f"Entity: {part.table.label}",
                    f"{row_count_text(part.rows)} into {intent.target}",
                )
                for part in intent.parts
            )
        case Replaced(parts=(_, *_)):
            return tuple(
                PlanStep(f"Entity: {part.path}", f"{_replacing(intent)} in {part.path}")
                for part in intent.parts
            )
        case Grouped(target=None) | Profiled(target="") | Replaced():
            return (PlanStep("Final: Answer", f"Answer: {describe_intent(intent)}"),)
        case Grouped() | RowsIntent() | Deduped() | Profiled():
            return (PlanStep(f"Final: {intent.target}", describe_intent(intent)),)
        case Declined():
            return (PlanStep("Final: Answer", "Say what was understood and what can be done"),)
        case _:
            assert_never(intent)


def describe_intent(intent: Intent) -> str:
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
            which = "last" if intent.keeps_last else "first"
            text = f"Only the {which} of the rows{_of(intent.selection)} with {alike}"
            return f"{text}, in {intent.target}"
        case Merged():
            tables = listed(part.table.label for part in intent.parts)
            origin = f", with {intent.origin} as a column" if intent.origin else ""
            return f"The rows of {tables} below each other{origin}, in {intent.target}"
        case Profiled():
            if not intent.target:
                return f"What {listed(intent.paths)} hold{'s' * (len(intent.paths) == 1)}"
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


def row_count_text(count: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


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
            f'Sheet "{part.sheet}" in {intent.target} with [{columns}] of the '
            f"{row_count_text(part.rows)} where {intent.key.label} is {_shown(part.value)}"
            f"{_sorted(intent.order)}",
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


EMPTY_FIELDS = "Empty fields stay empty and are left out of totals and averages."

MAX_INTENT_CHARACTERS = 18_000
"""Well within what the notes of a plan, which carry the intent on, hold."""

# A sheet has 1,048,576 rows; headings and totals need some of them.
MAX_SHEET_ROWS = 1_000_000
MAX_SHEET_COLUMNS = 200


class Findings(msgspec.Struct, frozen=True):
    """Findings of research.

    Args:
        intent: What is to be done.
        files: Lines on the files.
        constraints: What has to be kept in mind.
        samples: Lines on values.
    """

    intent: Intent
    files: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    samples: tuple[str, ...] = ("None needed.",)


class FileFinding(msgspec.Struct, frozen=True):
    """A table that was looked at.

    Args:
        table: Which.
        columns: Its columns.
        rows: How many rows it has.
        facts: What `table_get_map` says.
        lines: It in words: the table and, below it, its columns.
        warnings: The warnings of the tools.
    """

    table: TableIntent
    columns: tuple[ColumnIntent, ...]
    rows: int
    facts: Mapping[str, Any]
    lines: tuple[str, ...]
    warnings: tuple[str, ...]


def _column(fact: Mapping[str, Any], kind: str, decimal: str) -> ColumnIntent:
    """Return a column as a description has it, its numbers with a table's decimal mark."""
    notes = "; ".join(str(note) for note in fact.get("notes", ()))
    why = notes if kind == "string" else ""
    mark = decimal if kind in ("integer", "float") else ""
    return ColumnIntent(str(fact["name"]), kind, str(fact.get("role", "")), why, mark)


def inspect_table(conversation: PlannerConversation, table: TableIntent) -> FileFinding:
    """Inspect a table; see `PlannerConversation.call` for what it raises."""
    return inspect_tables(conversation, [table])[0]


def inspect_tables(
    conversation: PlannerConversation, tables: list[TableIntent]
) -> list[FileFinding]:
    """Inspect tables; see `PlannerConversation.call` for what it raises."""
    found = list[FileFinding]()
    for outcome in inspect_outcomes(conversation, tables):
        if isinstance(outcome, CallFailedError):
            raise outcome
        found.append(outcome)
    return found


def inspect_outcomes(
    conversation: PlannerConversation, tables: Sequence[TableIntent]
) -> list[FileFinding | CallFailedError]:
    """Inspect tables, some of which may not be readable.

    Raises:
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    wanted = [
        (tool, table.arguments) for table in tables for tool in ("table_get_map", "table_describe")
    ]
    # In the order of the calls: of each table its map, then its columns.
    found = conversation.outcomes(*wanted)
    return [
        _outcome(table, found[2 * place], found[2 * place + 1])
        for place, table in enumerate(tables)
    ]


def _outcome(
    table: TableIntent,
    table_map: dict[str, Any] | CallFailedError,
    facts: dict[str, Any] | CallFailedError,
) -> FileFinding | CallFailedError:
    if isinstance(table_map, CallFailedError):
        return table_map
    return facts if isinstance(facts, CallFailedError) else _seen(table, table_map, facts)


def check_sheet(rows: int, columns: int) -> None:
    """Check that a table fits on a sheet.

    Raises:
        UnclearError: It does not.
    """
    if rows > MAX_SHEET_ROWS or columns > MAX_SHEET_COLUMNS:
        raise UnclearError(
            f"{rows} rows of {columns} columns are too much for a sheet; ask for csv instead"
        )


def report(findings: Findings) -> str:
    """Return research.md.

    Raises:
        UnclearError: The intent is too long to be carried on by a plan.
    """
    intent = findings.intent
    if len(encode_intent(intent)) > MAX_INTENT_CHARACTERS:
        raise UnclearError("the table has more columns or values than fit into a plan")
    if isinstance(intent, Declined):
        return _declined(intent)
    return "\n".join(
        [
            "# Research",
            "",
            "## Files",
            *findings.files,
            "",
            "## Request",
            f"- {describe_intent(intent)}",
            "- Read by the rules of the offline provider, which is not a model.",
            "",
            "## Constraints",
            *(f"- {one}" for one in dict.fromkeys(findings.constraints)),
            "",
            "## Samples",
            *(f"- {one}" for one in findings.samples),
            "",
            encode_intent(intent),
        ]
    )


def _seen(table: TableIntent, table_map: dict[str, Any], facts: dict[str, Any]) -> FileFinding:
    decimal = str(table_map.get("reading", {}).get("decimal", ""))
    columns = tuple(_column(one, str(one["inferred_type"]), decimal) for one in facts["columns"])
    lines = (
        f"- {table.label}: {row_count_text(int(facts['row_count']))}, {len(columns)} columns",
        *(_column_line(fact) for fact in facts["columns"]),
    )
    messages = [str(one) for result in (table_map, facts) for one in result.get("warnings", ())]
    warnings = tuple(dict.fromkeys(messages))
    return FileFinding(table, columns, int(facts["row_count"]), table_map, lines, warnings)


def _column_line(fact: dict[str, Any]) -> str:
    filled = fact.get("non_null_count")
    role = f", {fact['role']}: not summed unless it is named" if "role" in fact else ""
    return f'  - "{fact["name"]}": {fact["inferred_type"]}, {filled} filled{role}'


def _declined(intent: Declined) -> str:
    return "\n".join(
        [
            "# Research",
            "",
            "## Request",
            f"- Understood: {intent.understood}",
            f"- Not done: {intent.reason}",
            "",
            encode_intent(intent),
        ]
    )
