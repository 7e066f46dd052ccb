"""Templates: the placeholders of texts, what they are filled with, and what is said of the rest.

A placeholder is `{{name}}` in a text that people see; `{{items.price}}` asks for a field of a list,
for whose records a row or a paragraph is repeated. What is put in is not looked at again.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Generic, TypeVar

import msgspec

from kbd.errors import ValidationFailed
from kbd.office.operations import listed

__all__ = [
    "MAX_REPEATED",
    "PLACEHOLDER",
    "Filled",
    "ListRecord",
    "PlaceholderHit",
    "TemplateAnswers",
    "find_placeholders",
    "list_records",
]

PLACEHOLDER = re.compile(r"\{\{[ \t]*([^{}\n]{1,200}?)[ \t]*\}\}")

MAX_REPEATED = 20_000
"""Rows and paragraphs that one operation makes; programs become unusable long before."""

V = TypeVar("V")


class PlaceholderHit(msgspec.Struct, frozen=True):
    """A placeholder in a text: where it begins and ends, and its name."""

    start: int
    end: int
    name: str


def find_placeholders(text: str) -> Iterator[PlaceholderHit]:
    """Yield the placeholders of a text, from the left."""
    if "{{" in text:
        for hit in PLACEHOLDER.finditer(text):
            yield PlaceholderHit(hit.start(), hit.end(), hit[1])


class ListRecord(msgspec.Struct, Generic[V], frozen=True):
    """A record that a row or paragraph was repeated for: the name of its list, and its fields."""

    name: str
    fields: Mapping[str, V]


class Filled(msgspec.Struct, Generic[V], frozen=True):
    """What a placeholder is filled with; `value` is None for nothing."""

    value: V | None


def list_records(
    name: str, columns: Sequence[str], rows: Iterable[Sequence[V]]
) -> list[ListRecord[V]]:
    """Return the records of a list: its rows by the names of its columns.

    Raises:
        ValidationFailed: A row has more or fewer values than there are columns.
    """
    records = []
    for number, row in enumerate(rows):
        if len(row) != len(columns):
            raise ValidationFailed(
                f"row {number} of {name} has {len(row)} values for "
                f"{len(columns)} columns; give null where there is none"
            )
        records.append(ListRecord(name, dict(zip(columns, row, strict=True))))
    return records


class TemplateAnswers(Generic[V]):
    """What the placeholders of one file are filled with.

    Args:
        values: By their names.
        lists: The records by the names of their lists.
        pictures: The pictures by their names: paths of the workbench.
        missing: What is done with a placeholder without a value: refuse, keep or blank.

    Attributes:
        lists: As given.
        repeated: How many rows and paragraphs were made for records.
    """

    def __init__(
        self,
        values: Mapping[str, V],
        lists: Mapping[str, Sequence[ListRecord[V]]],
        pictures: Mapping[str, str],
        missing: str,
    ) -> None:
        self._values, self._pictures, self._missing = values, pictures, missing
        self.lists = lists
        self.repeated = 0
        self._unknown: dict[str, None] = {}
        self._used: set[str] = set()

    def list_in(self, names: Iterable[str]) -> str | None:
        """Return the first list that names of placeholders ask for, None for none."""
        for name in names:
            head, dot, _ = name.partition(".")
            if dot and head in self.lists:
                return head
        return None

    def repeat(self, name: str, count: int) -> Sequence[ListRecord[V]]:
        """Return the records of a list, for each of which some rows or paragraphs are made.

        Args:
            name: The list.
            count: How many there are for one record.

        Raises:
            ValidationFailed: It makes too many.
        """
        records = self.lists[name]
        self._used.add(name)
        self.repeated += len(records) * count
        if self.repeated > MAX_REPEATED:
            raise ValidationFailed(
                f"{name} would make more than {MAX_REPEATED} rows or paragraphs in a file"
            )
        return records

    def picture(self, name: str) -> str | None:
        """Return the picture that a placeholder asks for, None where it asks for none."""
        found = self._pictures.get(name)
        if found is not None:
            self._used.add(name)
        return found

    def answer(self, name: str, record: ListRecord[V] | None) -> Filled[V] | None:
        """Return what a placeholder is filled with, None to leave it.

        Args:
            name: Its name.
            record: The record of the row or paragraph that it stands in.

        Raises:
            ValidationFailed: It asks for a list where nothing was repeated.
        """
        if record is not None and name.startswith(f"{record.name}."):
            field = name[len(record.name) + 1 :]
            if field in record.fields:
                return Filled(record.fields[field])
        elif name in self._values:
            self._used.add(name)
            return Filled(self._values[name])
        if (head := name.partition(".")[0]) in self.lists and record is None:
            raise ValidationFailed(
                f"{{{{{name}}}}} stands where nothing can be repeated for {head}; it belongs into "
                "a row of a table or a paragraph of its own"
            )
        self._unknown.setdefault(name)
        return Filled(None) if self._missing == "blank" else None

    def check(self, count: int, warn: Callable[[str], None], what: str, more: str = "") -> None:
        """Refuse what has no value; warn of values that nothing asked for.

        Args:
            count: How many placeholders were filled.
            warn: Takes warnings.
            what: What the file is called ("document").
            more: What else is a placeholder.

        Raises:
            ValidationFailed: A placeholder has no value, or there is none.
        """
        if self._unknown and self._missing == "refuse":
            names = list(self._unknown)
            known = [*self._values, *self.lists, *self._pictures]
            near = get_close_matches(names[0], known, 1, 0.7)
            hint = f"; {near[0]!r} is near {names[0]!r}" if near else ""
            raise ValidationFailed(
                f"no value was given for {listed([f'{{{{{name}}}}}' for name in names])}{hint}; "
                "give all, or say with missing whether they are kept or left blank"
            )
        if not count and not self._used:
            raise ValidationFailed(
                f"there is no placeholder; one is written {{{{name}}}} in the text{more}"
            )
        given = (*self._values, *self.lists, *self._pictures)
        unused = [name for name in given if name not in self._used]
        if unused:
            warn(f"Nothing in the {what} asks for {listed(unused)}.")
        if self._unknown:
            done = "kept" if self._missing == "keep" else "left blank"
            warn(f"Without a value, {listed(list(self._unknown))}: {done}.")

    def told(self, count: int) -> str:
        """Return what was done, in words."""
        repeated = f", {self.repeated} repeated" if self.repeated else ""
        return f"{count} placeholder{'' if count == 1 else 's'} filled{repeated}"
