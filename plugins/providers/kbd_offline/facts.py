"""Facts of tables that a request may be about: columns, values and what is open about a reading."""

from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["KnownColumn", "KnownTable"]

_YES = frozenset(["yes", "y", "true", "ja", "wahr", "j"])
_NO = frozenset(["no", "n", "false", "nein", "falsch"])


class KnownColumn(msgspec.Struct, frozen=True):
    """Column of a table.

    Args:
        name: Its name.
        type: What `table_describe` says it holds.
        role: Why its numbers do not add up (`unit price`, `id` …), "" where they do.
        filled: How many fields hold something.
        distinct: How many different values it has.
        values: Values by spelling, each with its number of rows: all, or those that are named.
        is_listed: Whether these are all.
        minimum, maximum: The least and the greatest, as text; "" where not known.
        decimal: The decimal mark of the file, of numbers; "" where not known.
        why_text: Why its numbers are kept as texts, "" where they are not.
    """

    name: str
    type: str = "string"
    role: str = ""
    filled: int = 0
    distinct: int = 0
    values: Mapping[str, int] = {}
    is_listed: bool = False
    minimum: str = ""
    maximum: str = ""
    decimal: str = ""
    why_text: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.type in ("integer", "float")

    @property
    def is_moment(self) -> bool:
        """Whether it holds dates."""
        return self.type in ("date", "datetime")

    @property
    def is_text(self) -> bool:
        """Whether it holds texts."""
        return self.type == "string"

    @property
    def yes(self) -> str | None:
        """What says yes in a column of yes and no, None where it is none."""
        return "true" if self.type == "boolean" else self._said(_YES)

    @property
    def no(self) -> str | None:
        """What says no in a column of yes and no, None where it is none or has no word for it."""
        if self.type == "boolean":
            return "false"
        return None if self.yes is None else self._said(_NO)

    def _said(self, words: frozenset[str]) -> str | None:
        spelt = {value.casefold(): value for value in self.values}
        if not self.is_listed or not set(spelt) <= _YES | _NO:
            return None
        return next((spelt[one] for one in sorted(spelt) if one in words), None)

    @property
    def adds_up(self) -> bool:
        """Whether a sum of it means something."""
        return self.is_number and not self.role


class KnownTable(msgspec.Struct, frozen=True):
    """Table that a request may be about.

    Args:
        path: Its file.
        sheet: Its sheet, of a workbook.
        columns: Its columns.
        rows: How many rows it has.
        questions: What is open about its reading, as `table_get_map` has it.
        delimiter, encoding: Of a delimited file.
        date_order: How its dates are written, "" where not known.
        sheets: How many sheets of its workbook hold anything.
    """

    path: str
    sheet: str = ""
    columns: tuple[KnownColumn, ...] = ()
    rows: int = 0
    questions: tuple[Mapping[str, Any], ...] = ()
    delimiter: str = ""
    encoding: str = ""
    date_order: str = ""
    sheets: int = 1

    @property
    def label(self) -> str:
        """Its file, with the sheet."""
        return f"{self.path}: {self.sheet}" if self.sheet else self.path

    @property
    def sums(self) -> list[KnownColumn]:
        """The columns of which a sum means something."""
        return [column for column in self.columns if column.adds_up]

    def column(self, name: str) -> KnownColumn | None:
        """Return the column of a name, None where there is none."""
        return next((column for column in self.columns if column.name == name), None)
