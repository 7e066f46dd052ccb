"""Doing a merge: the first table makes the result, the others are added below."""

from kbd.errors import ValidationFailed
from kbd_offline import sql
from kbd_offline.conversation import Conversation
from kbd_offline.exporting import exported, rows_of
from kbd_offline.files import BOOK_SUFFIX
from kbd_offline.intents import Column, Merged, MergePart
from kbd_offline.names import split_suffix
from kbd_offline.sheets import Sheet, lay_out, write_rows

__all__ = ["stack"]

_SHEET = "Sheet1"


def stack(conversation: Conversation, intent: Merged, number: int) -> str:
    """Add one table to the result and tell it; see `Conversation.call` for what it raises.

    Raises:
        ValidationFailed: Another number of rows was written, or can be read back at the end.
    """
    part = intent.parts[number - 1]
    query = _query(intent, part)
    if split_suffix(intent.target)[1] == BOOK_SUFFIX:
        count = _onto_sheet(conversation, intent, number, query)
    elif number == 1:
        exported(conversation, part.table, intent.target, query, part.rows)
        count = part.rows
    else:
        written = conversation.call(
            "table_update_from_export",
            **part.table.arguments,
            target_path=intent.target,
            sheet=_SHEET,
            mode="append_rows",
            query=query,
        )
        count = int(written["row_count"])
    if count != part.rows:
        raise ValidationFailed(f"{part.table.label} gave {count} rows instead of {part.rows}.")
    told = f"{rows_of(count)} of {part.table.label}"
    if number < len(intent.parts):
        return f"{told} are in {intent.target}."
    _check(conversation, intent)
    return f"{told}; {intent.target} now has {rows_of(intent.rows)} in all, read back and counted."


def _query(intent: Merged, part: MergePart) -> str:
    names = part.names or tuple(column.name for column in intent.columns)
    origin = (intent.origin, part.table.label) if intent.origin else None
    return sql.merged(intent.columns, names, origin)


def _onto_sheet(conversation: Conversation, intent: Merged, number: int, query: str) -> int:
    part = intent.parts[number - 1]
    origin = (Column(intent.origin),) if intent.origin else ()
    sheet = Sheet(
        target=intent.target,
        name=_SHEET,
        table=part.table,
        query=query,
        columns=(*intent.columns, *origin),
        rows=intent.rows,
        widths=intent.widths,
    )
    if number == 1:
        lay_out(conversation, sheet)
    if not part.rows:
        return 0
    before = sum(other.rows for other in intent.parts[: number - 1])
    return write_rows(conversation, sheet, before + 2)


def _check(conversation: Conversation, intent: Merged) -> None:
    """Read back how many rows there are; rows without any value may not count."""
    is_book = split_suffix(intent.target)[1] == BOOK_SUFFIX
    sheet = {"source_sheet": _SHEET} if is_book else {}
    found = conversation.call(
        "table_read_rows", path=intent.target, row_start=1, row_count=1, **sheet
    )
    filled = intent.rows if intent.origin else sum(part.filled for part in intent.parts)
    if found["total_rows"] not in (intent.rows, filled):
        raise ValidationFailed(
            f"{intent.target} reads back as {found['total_rows']} rows instead of {intent.rows}."
        )
