"""The research phase: look at the table, read the request, write down the intent."""

from typing import Any

import msgspec

from kbd_offline import sql
from kbd_offline.conversation import CallFailedError, Conversation
from kbd_offline.files import Files, choose_files, without_stems
from kbd_offline.intents import (
    Column,
    Declined,
    Grouped,
    Intent,
    Rows,
    SheetPart,
    Split,
    written,
)
from kbd_offline.names import sheet_names
from kbd_offline.sheets import fitted_widths
from kbd_offline.steps import described
from kbd_offline.understanding import refused, shortened, understand
from kbd_offline.wording import UnclearError

__all__ = ["research"]

MAX_SHEETS = 100
"""More than anybody turns over; such a column is more likely one of names or amounts."""

MAX_INTENT_CHARACTERS = 18_000
"""The notes of a plan, which carry the intent on, hold 20,000."""

MAX_SHEET_ROWS = 1_000_000
MAX_SHEET_COLUMNS = 200


def research(conversation: Conversation) -> str:
    """Return research.md; see `Conversation.call` for what it raises."""
    request = conversation.request
    try:
        files = choose_files(request, conversation.paths)
    except UnclearError as unclear:
        conversation.call("list_files")
        return _declined(
            Declined(shortened(request), refused(without_stems(request)) or str(unclear))
        )
    try:
        return _looked(conversation, request, files)
    except (CallFailedError, UnclearError) as failed:
        return _declined(Declined(shortened(request), f"{files.source}: {failed}"))


def _looked(conversation: Conversation, request: str, files: Files) -> str:
    path = files.source
    table_map, facts = conversation.calls(
        ("table_get_map", {"path": path}), ("table_describe", {"path": path})
    )
    columns = [Column(str(c["name"]), str(c["inferred_type"])) for c in facts["columns"]]
    intent = _measured(conversation, understand(request, files, columns))
    if len(written(intent)) > MAX_INTENT_CHARACTERS:
        raise UnclearError("the table has more columns or values than fit into a plan.")
    if isinstance(intent, Declined):
        return _declined(intent)
    return "\n".join(
        [
            "# Research",
            "",
            "## Files",
            f"- {path}: {facts['row_count']} rows, {len(columns)} columns",
            *(_column_line(fact) for fact in facts["columns"]),
            "",
            "## Request",
            f"- {described(intent)}",
            "- Read by the rules of the offline provider, which is not a model.",
            "",
            "## Constraints",
            "- Empty fields stay empty and are left out of totals and averages.",
            *(f"- {warning}" for warning in _warnings(table_map, facts)),
            "",
            "## Samples",
            *_samples(intent),
            "",
            written(intent),
        ]
    )


def _measured(conversation: Conversation, intent: Intent) -> Intent:
    """Complete an intent with what only looking tells: values, counts, widths."""
    match intent:
        case Split():
            return _measured_split(conversation, intent)
        case Rows():
            path = intent.selection.source
            count, widths = conversation.calls(
                ("table_query", {"path": path, "query": sql.count_rows(intent.selection)}),
                ("table_query", {"path": path, "query": sql.widths(intent.columns)}),
            )
            found = int(count["rows"][0][0])
            if intent.target.endswith(".xlsx"):
                _check_sheet(found, len(intent.columns))
            fitted = fitted_widths(intent.columns, widths["rows"][0])
            return msgspec.structs.replace(intent, rows=found, widths=fitted)
        case Grouped() | Declined():
            return intent


def _measured_split(conversation: Conversation, intent: Split) -> Split:
    path, key = intent.selection.source, intent.key
    values, widths = conversation.calls(
        (
            "table_query",
            {
                "path": path,
                "query": sql.values_of(intent.selection, key),
                "window_rows": MAX_SHEETS,
            },
        ),
        ("table_query", {"path": path, "query": sql.widths(intent.columns)}),
    )
    count = int(values["total_row_count"])
    if count > MAX_SHEETS:
        raise UnclearError(f'"{key.label}" has {count} values; I make up to {MAX_SHEETS} sheets.')
    if not count:
        raise UnclearError("no row is left to put on a sheet.")
    found = [(row[0], int(row[1])) for row in values["rows"]]
    _check_sheet(max(rows for _, rows in found), len(intent.columns))
    reserved = (intent.summary_sheet,) if intent.measures else ()
    names = sheet_names((value or "" for value, _ in found), reserved)
    parts = (SheetPart(name, *one) for name, one in zip(names, found, strict=True))
    fitted = fitted_widths(intent.columns, widths["rows"][0])
    return msgspec.structs.replace(intent, parts=tuple(parts), widths=fitted)


def _check_sheet(rows: int, columns: int) -> None:
    if rows > MAX_SHEET_ROWS or columns > MAX_SHEET_COLUMNS:
        raise UnclearError(
            f"{rows} rows of {columns} columns are too much for a sheet; ask for csv instead."
        )


def _column_line(fact: dict[str, Any]) -> str:
    filled = fact.get("non_null_count")
    return f'  - "{fact["name"]}": {fact["inferred_type"]}, {filled} filled'


def _warnings(*results: dict[str, Any]) -> list[str]:
    told = [str(warning) for result in results for warning in result.get("warnings", ())]
    return list(dict.fromkeys(told))


def _samples(intent: Intent) -> list[str]:
    if isinstance(intent, Split):
        return [f"- {part.sheet}: {part.rows} rows" for part in intent.parts]
    return ["- None needed: the figures are worked out over all rows."]


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
