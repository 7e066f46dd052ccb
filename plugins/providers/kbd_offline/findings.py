"""What research has found: the intent, and what is worth knowing of the files; as research.md."""

from collections.abc import Mapping
from typing import Any

import msgspec

from kbd_offline.conversation import PlannerConversation
from kbd_offline.intents import ColumnIntent, Declined, Intent, TableIntent, written
from kbd_offline.request_text import UnclearError
from kbd_offline.steps import described

__all__ = [
    "EMPTY_FIELDS",
    "FileFinding",
    "Findings",
    "check_sheet",
    "look_at",
    "look_at_all",
    "report",
]

EMPTY_FIELDS = "Empty fields stay empty and are left out of totals and averages."

MAX_INTENT_CHARACTERS = 18_000
"""The notes of a plan, which carry the intent on, hold 20,000."""

MAX_SHEET_ROWS = 1_000_000
MAX_SHEET_COLUMNS = 200


class Findings(msgspec.Struct, frozen=True):
    """What research has found.

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
        warnings: What the tools said.
    """

    table: TableIntent
    columns: tuple[ColumnIntent, ...]
    rows: int
    facts: Mapping[str, Any]
    lines: tuple[str, ...]
    warnings: tuple[str, ...]


def look_at(conversation: PlannerConversation, table: TableIntent) -> FileFinding:
    """Look at a table; see `PlannerConversation.call` for what it raises."""
    return look_at_all(conversation, [table])[0]


def look_at_all(conversation: PlannerConversation, tables: list[TableIntent]) -> list[FileFinding]:
    """Look at tables; see `PlannerConversation.call` for what it raises."""
    wanted = [
        (tool, table.arguments) for table in tables for tool in ("table_get_map", "table_describe")
    ]
    found = conversation.calls(*wanted)
    return [
        _seen(table, found[2 * place], found[2 * place + 1]) for place, table in enumerate(tables)
    ]


def check_sheet(rows: int, columns: int) -> None:
    """Check that a table fits on a sheet.

    Raises:
        UnclearError: It does not.
    """
    if rows > MAX_SHEET_ROWS or columns > MAX_SHEET_COLUMNS:
        raise UnclearError(
            f"{rows} rows of {columns} columns are too much for a sheet; ask for csv instead."
        )


def report(findings: Findings) -> str:
    """Return research.md.

    Raises:
        UnclearError: The intent is too long to be carried on by a plan.
    """
    intent = findings.intent
    if len(written(intent)) > MAX_INTENT_CHARACTERS:
        raise UnclearError("the table has more columns or values than fit into a plan.")
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
            f"- {described(intent)}",
            "- Read by the rules of the offline provider, which is not a model.",
            "",
            "## Constraints",
            *(f"- {one}" for one in dict.fromkeys(findings.constraints)),
            "",
            "## Samples",
            *(f"- {one}" for one in findings.samples),
            "",
            written(intent),
        ]
    )


def _seen(table: TableIntent, table_map: dict[str, Any], facts: dict[str, Any]) -> FileFinding:
    columns = tuple(ColumnIntent(str(c["name"]), str(c["inferred_type"])) for c in facts["columns"])
    lines = (
        f"- {table.label}: {facts['row_count']} rows, {len(columns)} columns",
        *(_column_line(fact) for fact in facts["columns"]),
    )
    told = [str(one) for result in (table_map, facts) for one in result.get("warnings", ())]
    warnings = tuple(dict.fromkeys(told))
    return FileFinding(table, columns, int(facts["row_count"]), table_map, lines, warnings)


def _column_line(fact: dict[str, Any]) -> str:
    filled = fact.get("non_null_count")
    return f'  - "{fact["name"]}": {fact["inferred_type"]}, {filled} filled'


def _declined(intent: Declined) -> str:
    return "\n".join(
        [
            "# Research",
            "",
            "## Request",
            f"- Understood: {intent.understood}",
            f"- Not done: {intent.reason}",
            "",
            written(intent),
        ]
    )
