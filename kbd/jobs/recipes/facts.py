"""Facts of a run that its literals are told from: what was in the files, what came out."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from kbd.jobs.columns import ShapeColumn, ShapeType, folded
from kbd.jobs.recipes.request_words import words_folded
from kbd.jobs.shapes import GivenTable

__all__ = ["MAX_KNOWN_VALUES", "OFFSET", "ColumnFacts", "InputFacts", "KnownFigure", "LearnedFacts"]

MAX_KNOWN_VALUES = 1_000
"""Different values of a column that are looked at; of more the rest is not known."""


OFFSET = "an offset"
"""What the text of a figure begins with that follows from a count."""


class KnownFigure(msgspec.Struct, frozen=True):
    """A figure of the data, and what it is: "the number of rows of shops.csv"."""

    value: Decimal
    text: str


class ColumnFacts(msgspec.Struct, frozen=True):
    """Facts of a column.

    Args:
        name: Its name.
        type: Its type.
        values: Its different values as text, up to `MAX_KNOWN_VALUES`.
        distinct_count: How many there are.
        figures: Its sum, least and greatest value and the like, each with what it is.
    """

    name: str
    type: ShapeType = "any"
    values: tuple[str, ...] = ()
    distinct_count: int = 0
    figures: tuple[KnownFigure, ...] = ()


class InputFacts(msgspec.Struct, frozen=True):
    """Facts of an input as a job read it.

    Args:
        name: The input's name.
        file: The file that it was.
        columns: Its columns, in order; none of one that is read whole.
        row_count: Its rows.
        kind: As of the input.
        alike_sheets: Other sheets of the file that have the columns, too.
    """

    name: str
    file: str
    columns: tuple[ColumnFacts, ...] = ()
    row_count: int = 0
    kind: Literal["table", "file"] = "table"
    alike_sheets: tuple[str, ...] = ()

    @property
    def given(self) -> GivenTable:
        """The table as steps read it."""
        return GivenTable(tuple(ShapeColumn(c.name, c.type) for c in self.columns), self.file)


class LearnedFacts(msgspec.Struct, frozen=True):
    """All facts of a run.

    Args:
        inputs: Those of its inputs.
        results: Counts and sums that it told.
    """

    inputs: tuple[InputFacts, ...] = ()
    results: tuple[KnownFigure, ...] = ()

    def figure(self, number: Decimal) -> str | None:
        """Return what figure of the data a number is, or None."""
        sought = abs(number)
        return next((text for value, text in self._figures() if abs(value) == sought), None)

    def _figures(self) -> Iterator[tuple[Decimal, str]]:
        for each in self.inputs:
            if each.kind != "table":
                continue
            yield from _around(each.row_count, f"the number of rows of {each.file}")
            for column in each.columns:
                text = f"the number of different {column.name} in {each.file}"
                if column.distinct_count:
                    yield from _around(column.distinct_count, text)
            yield Decimal(len(each.columns)), f"the number of columns of {each.file}"
        for figure in self._told():
            yield figure.value, figure.text

    def _told(self) -> Iterator[KnownFigure]:
        for each in self.inputs:
            for column in each.columns:
                yield from column.figures
        yield from self.results

    def value(self, text: str, columns: Sequence[str] = ()) -> str | None:
        """Return which column of which file holds a text as a value, as words; or None.

        Args:
            text: The text; capitals do not count.
            columns: Where it is looked for first.
        """
        first = {folded(name) for name in columns}
        sought = words_folded(text)
        found = [
            (folded(column.name) not in first, f"a value of {column.name} in {each.file}")
            for each in self.inputs
            for column in each.columns
            if sought in {words_folded(value) for value in column.values}
        ]
        return min(found)[1] if found else None

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the values of columns of text, each with which column of which file holds it."""
        for each in self.inputs:
            for column in each.columns:
                if column.type == "string":
                    for value in column.values:
                        yield value, f"a value of {column.name} in {each.file}"


def _around(count: int, text: str) -> Iterator[tuple[Decimal, str]]:
    """Yield a count, and the places of rows that follow from it."""
    yield Decimal(count), text
    yield Decimal(count + 1), f"{OFFSET}, one more than {text}"
    yield Decimal(count + 2), f"{OFFSET}, two more than {text}"
