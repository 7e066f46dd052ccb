"""Tables written as plain text, and how many rows they got."""

from kbd.errors import ValidationFailed
from kbd_offline.conversation import Conversation
from kbd_offline.intents import Table

__all__ = ["exported", "rows_of"]


def exported(
    conversation: Conversation,
    table: Table,
    target: str,
    query: str | None = None,
    rows: int | None = None,
) -> str:
    """Write a table as plain text, check how many rows were written, and tell it.

    Args:
        conversation: See `Conversation.call` for what it raises.
        table: What is read.
        target: The file.
        query: What makes its rows; without one the table goes over as it is, numbers as spelt.
        rows: How many there should be, if that is known.

    Raises:
        ValidationFailed: There are more or fewer rows.
    """
    asked = {} if query is None else {"query": query}
    written = conversation.call(
        "table_export", **table.arguments, target_path=target, format="csv", **asked
    )
    count = int(written["row_count"])
    if rows is not None and count != rows:
        raise ValidationFailed(f"{target} has {count} rows instead of {rows}.")
    # Of a text table they tell of its encoding and types; of a sheet, of what is not in its table.
    warnings = written.get("warnings", ()) if table.sheet else ()
    return " ".join([f"{target} has {rows_of(count)}.", *map(str, warnings)])


def rows_of(count: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if count == 1 else f"{count:,} rows"
