"""Columns as they are held: typed by what they and the other columns of the file prove.

What stays open is text, with a question that has the figures of either answer. Whatever is not
plain from the values is said in a warning with its reason.
"""

from kbd.formats import ReadAs
from kbd_tables.column_types import TextColumn, TypedColumn
from kbd_tables.date_types import type_dates
from kbd_tables.number_types import type_numbers
from kbd_tables.numbers import DecimalMark
from kbd_tables.verdicts import RawTable, TypedColumns, Verdicts

__all__ = ["type_columns"]


def type_columns(table: RawTable, said: ReadAs, summed: DecimalMark | None = None) -> TypedColumns:
    """Decide how each column is held.

    Args:
        table: The columns and what they are by their own values.
        said: How the table is to be read.
        summed: The decimal mark by which its totals are what their rows come to.
    """
    verdicts = Verdicts()
    for place, finding in enumerate(table.findings):
        if isinstance(finding, TypedColumn):
            verdicts.typed[place] = finding
            if finding.type in ("date", "datetime") and table.known[place] is None:
                verdicts.orders.add("ymd")
        elif isinstance(finding, TextColumn) and (
            note := _text_note(finding, is_stored=table.known[place] == "string")
        ):
            verdicts.note(place, note)
    type_numbers(table, verdicts, said.decimal, summed)
    type_dates(table, verdicts, said.date_order)
    return verdicts.result(table.names)


def _text_note(column: TextColumn, *, is_stored: bool) -> str:
    """Return what a reader would not expect of a column of texts, "" for nothing.

    Args:
        column: The column.
        is_stored: Whether a format knows its values as texts.
    """
    if column.unlike:
        one, other = column.unlike
        return f'its dates are written in several ways ("{one}", "{other}"); kept as text'
    if is_stored and column.number_count > column.date_count and not column.is_coded:
        # A sum of the file's own program would leave those out that are stored as text.
        return (
            f"{column.number_count:,} of {column.value_count:,} values look like numbers, but are "
            "stored as text or stand among texts; kept as text"
        )
    if is_stored or column.odd is None or not column.is_likely:
        return ""
    kind = "numbers" if column.number_count >= column.date_count else "dates"
    count = max(column.number_count, column.date_count)
    value, row = column.odd
    return (
        f'{count:,} of {column.value_count:,} values are {kind}, but not "{value}" (row {row}); '
        "kept as text"
    )
