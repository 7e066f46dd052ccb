"""Columns of tables while a job is worked out: names and types, and how one is found by name.

Names of columns are compared without regard to capitals, as a spreadsheet does, unless two differ
in these alone: then as they are written.
"""

import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.records import ValueType

__all__ = [
    "TYPE_WORDS",
    "ShapeColumn",
    "ShapeType",
    "column_named",
    "folded",
    "free_name",
    "near_name",
]

ShapeType = Literal["string", "integer", "float", "boolean", "date", "datetime", "any"]
"""The type of a column as the table tools report it; `any` where it is not known, or there is no
value that would tell. Times of day are texts."""

TYPE_WORDS: dict[ShapeType, str] = {
    "string": "a text",
    "integer": "a number",
    "float": "a number",
    "boolean": "true or false",
    "date": "a date",
    "datetime": "a date with a time",
    "any": "any value",
}
"""The types as people say them."""

_HELD: dict[ShapeType, ValueType] = {
    "string": "text",
    "integer": "number",
    "float": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime",
    "any": "any",
}

_MAX_NAMES = 30
"""As many names are told where none is near."""


class ShapeColumn(msgspec.Struct, frozen=True):
    """A column: its name and type."""

    name: str
    type: ShapeType = "any"

    @property
    def holds(self) -> ValueType:
        """What it holds, in the words of an input."""
        return _HELD[self.type]


def folded(name: str) -> str:
    """Return a name as names are compared: without regard to capitals and ways to write accents."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def column_named(name: str, columns: Sequence[ShapeColumn]) -> ShapeColumn | None:
    """Find a column by its name, or None.

    Raises:
        ValidationFailed: Several are called so but for capitals.
    """
    sought = folded(name)
    found = [column for column in columns if folded(column.name) == sought]
    if len(found) > 1:
        exact = [column for column in found if column.name == name]
        if len(exact) != 1:
            names = " and ".join(f'"{column.name}"' for column in found)
            raise ValidationFailed(f'"{name}" may be {names}; write it as the table does')
        return exact[0]
    return found[0] if found else None


def near_name(name: str, known: Iterable[str]) -> str:
    """Return the end of an error's text: the name that was probably meant, or which there are."""
    names = list(known)
    by_fold = {folded(each): each for each in names}
    if near := difflib.get_close_matches(folded(name)[:200], by_fold, 1):
        return f'; did you mean "{by_fold[near[0]]}"?'
    if not names:
        return "; there are none"
    listed = ", ".join(f'"{each}"' for each in names[:_MAX_NAMES])
    return f"; there are: {listed}{', …' * (len(names) > _MAX_NAMES)}"


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that none of others is like, with a number behind it if need be."""
    used = {folded(each) for each in taken}
    found, number = name, 2
    while folded(found) in used:
        found, number = f"{name} ({number})", number + 1
    return found
