"""Rows of a table that sum others up, as formulas where a whole table goes into a workbook."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd.sheets.areas import column_letters
from kbd_offline.conversation import PlannerConversation
from kbd_offline.intents import TableIntent

__all__ = ["SummingRows", "kept_rows_text", "summing_rows"]

_FUNCTIONS = {"sum": "SUM", "minimum": "MIN", "maximum": "MAX", "average": "AVERAGE"}
_MAX_FORMULAS = 5_000
"""Cells of one call that writes them."""
_MAX_SUMMED = 100_000
"""Cells that formulas are of, all together: of more, their results are not stored with them."""
_MAX_NAMED = 3


class SummingRows(msgspec.Struct, frozen=True):
    """What becomes of rows that sum others up.

    Args:
        formulas: Cells, each with its formula.
        notes: Sentences on them.
    """

    formulas: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def summing_rows(
    conversation: PlannerConversation, table: TableIntent, columns: Sequence[str]
) -> SummingRows:
    """Return the formulas of a table that is written whole, its names in row 1 from A on.

    Args:
        conversation: See `PlannerConversation.call` for what it raises.
        table: It, with the rows that sum others up.
        columns: The names of its columns in order.
    """
    summing, unlike = _totals(conversation, table)
    letters = {name: column_letters(n) for n, name in enumerate(columns, 1)}
    cells = [cell for row in summing for cell in _cells(row, letters)]
    summed = sum(
        len(row["columns"]) * (last - first + 1) for row in summing for first, last in row["ranges"]
    )
    if len(cells) > _MAX_FORMULAS or summed > _MAX_SUMMED:
        note = "What sums others up is kept as values, for it is too much for formulas."
        return SummingRows(notes=(note,))
    notes = []
    if cells:
        named = ", ".join(f"{cell} {formula}" for cell, formula in cells[:_MAX_NAMED])
        more = f" and {len(cells) - _MAX_NAMED:,} more" if len(cells) > _MAX_NAMED else ""
        rows = "1 row" if len(summing) == 1 else f"{len(summing):,} rows"
        notes.append(f"What sums others up in {rows} is a formula ({named}{more}).")
    return SummingRows(tuple(cells), (*notes, *unlike))


def kept_rows_text(conversation: PlannerConversation, table: TableIntent) -> str:
    """Return sentences on the rows of a table, written whole as values, that sum others up.

    Args:
        conversation: See `PlannerConversation.call` for what it raises.
        table: It, with these rows.
    """
    summing, unlike = _totals(conversation, table)
    named = ", ".join(_label(row) for row in summing[:_MAX_NAMED])
    more = f" and {len(summing) - _MAX_NAMED:,} more" if len(summing) > _MAX_NAMED else ""
    if summing:
        sums = "sums others up and is" if len(summing) == 1 else "sum others up and are"
        rows = "Row" if len(summing) == 1 else "Rows"
        unlike.insert(0, f"{rows} {named}{more} {sums} kept.")
    return " ".join(unlike)


def _totals(
    conversation: PlannerConversation, table: TableIntent
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the rows that sum others up, and sentences on those that only seem to."""
    found = conversation.call("table_get_map", **table.arguments, read_as={"totals": "keep"})
    rows: Sequence[Mapping[str, Any]] = found.get("totals", ())
    unlike = [
        f"Row {_label(row)} is kept as it is: its figures are not what the rows beside it come to."
        for row in rows
        if not row["columns"]
    ]
    return [row for row in rows if row["columns"]], unlike[:_MAX_NAMED]


def _label(row: Mapping[str, Any]) -> str:
    return f"{row['row'] + 1} ({row['label'] or 'no label'})"


def _cells(row: Mapping[str, Any], letters: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the cells of a row that sums others up, with their formulas."""
    for name in row["columns"]:
        # A row of the table stands one below its number, for the names are in the first.
        ranges = ",".join(
            f"{letters[name]}{first + 1}:{letters[name]}{last + 1}" for first, last in row["ranges"]
        )
        if ranges:
            yield f"{letters[name]}{row['row'] + 1}", f"={_FUNCTIONS[row['kind']]}({ranges})"
