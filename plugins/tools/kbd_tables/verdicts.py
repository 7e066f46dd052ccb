"""Verdicts on the columns of a table while they are made: types, notes, questions."""

from collections.abc import Sequence
from typing import Any

import duckdb
import msgspec

from kbd.formats import ColumnType, ReadingQuestion
from kbd_tables.column_types import Aggregates, ColumnFinding, TypedColumn
from kbd_tables.reading_text import ColumnNote

__all__ = ["RawTable", "TypedColumns", "Verdicts"]


class RawTable:
    """Table of texts whose columns are judged.

    Args:
        connection: A database.
        source: A relation of texts with columns c0, c1, ...
        names: The columns' names.
        known: The types that the format knows.
        findings: What each column is by its own values.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        source: str,
        names: Sequence[str],
        known: Sequence[ColumnType | None],
        findings: Sequence[ColumnFinding],
    ) -> None:
        self.names, self.known, self.findings = names, known, findings
        self._connection, self._source = connection, source
        self._aggregates = Aggregates(connection, source)

    def ask(self, *asked: str) -> list[Any]:
        """Return the value of each aggregate."""
        return self._aggregates.ask(asked)

    def rows(self, selected: str, condition: str, limit: int) -> list[tuple[Any, ...]]:
        """Return the first rows that meet a condition, in the file's order."""
        return self._connection.execute(
            f"SELECT {selected} FROM {self._source} WHERE {condition}"
            f" ORDER BY file_row_number LIMIT {limit}"
        ).fetchall()

    def values(self, *expressions: str) -> tuple[Any, ...]:
        """Return the values of expressions that need no row."""
        row = self._connection.execute(f"SELECT {', '.join(expressions)}").fetchone()
        assert row is not None
        return tuple(row)


class TypedColumns(msgspec.Struct, frozen=True):
    """Columns of a table with their types, and how the file was read.

    Args:
        columns: Each column.
        warnings: What a reader of the table must know.
        decimal: As in `TableReading`.
        thousands: As in `TableReading`.
        date_order: As in `TableReading`.
        questions: As in `TableReading`.
        notes: What must be known of a column, by its name; the warnings have it, too.
    """

    columns: tuple[TypedColumn, ...]
    warnings: tuple[str, ...]
    decimal: str
    thousands: str
    date_order: str
    questions: tuple[ReadingQuestion, ...]
    notes: dict[str, tuple[ColumnNote, ...]]


class Verdicts:
    """What was decided so far about the columns of a table; what is not is text.

    Attributes:
        typed: The type of each column that has one, by its place.
        questions: What has to be asked.
        decimals: The decimal marks that were found.
        groups: The marks between groups of digits.
        orders: The orders of day, month and year.
    """

    def __init__(self) -> None:
        self.typed: dict[int, TypedColumn] = {}
        self.questions: list[ReadingQuestion] = []
        self.decimals: set[str] = set()
        self.groups: set[str] = set()
        self.orders: set[str] = set()
        self._notes: dict[int, list[ColumnNote]] = {}

    def note(self, place: int, note: str, *, is_told: bool = False) -> None:
        """Add what a reader of a column must know; what is told is for people, too."""
        self._notes.setdefault(place, []).append(ColumnNote(note, is_told))

    def note_missing(self, place: int, missing: Sequence[tuple[str, int]], blank: int) -> None:
        """Say which texts are read as no value."""
        named = [f"{text} ({count:,})" for text, count in missing]
        if blank:
            named.append(f"blanks ({blank:,})")
        if named:
            self.note(place, f"read as empty: {', '.join(named)}", is_told=True)

    def result(self, names: Sequence[str]) -> TypedColumns:
        """Return the columns and how they were read."""
        columns = tuple(
            self.typed.get(place, TypedColumn("string", "VARCHAR", f"c{place}"))
            for place in range(len(names))
        )
        notes = (
            f"{names[place]}: {note.text}"
            for place, notes in sorted(self._notes.items())
            for note in notes
        )
        return TypedColumns(
            columns,
            (*notes, *(question.text for question in self.questions)),
            _only(self.decimals),
            _only(self.groups),
            _only(self.orders),
            tuple(self.questions),
            {names[place]: tuple(notes) for place, notes in self._notes.items()},
        )


def _only(found: set[str]) -> str:
    """Return the one mark, or order, that was found; "" for none and for several."""
    return next(iter(found)) if len(found) == 1 else ""
