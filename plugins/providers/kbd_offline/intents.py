"""What a request was understood to ask, as records; they travel as JSON in research and plan.

Split      one sheet for each value of a column, and a sheet of totals if asked
Grouped    totals, averages or counts by columns, into a file, or as an answer
Rows       rows filtered, sorted, with chosen columns, into a file
Declined   what was understood, and why it is not done
"""

import re
from typing import Literal

import msgspec

__all__ = [
    "Column", "Condition", "Declined", "Function", "Grouped", "Intent", "Key", "Measure",
    "Operator", "Order", "Part", "Rows", "Selection", "SheetPart", "Split", "found_in", "written",
]  # fmt: skip

Part = Literal["year", "quarter", "month"]
Function = Literal["total", "average", "count", "minimum", "maximum"]
Operator = Literal[
    "=", "!=", ">", ">=", "<", "<=", "contains", "starts with", "ends with", "empty", "not empty"
]


class Column(msgspec.Struct, frozen=True):
    """A column of the table as `table_describe` tells it."""

    name: str
    type: str = "string"

    @property
    def is_number(self) -> bool:
        """Whether it can be added up."""
        return self.type in ("integer", "float")

    @property
    def is_moment(self) -> bool:
        """Whether it holds dates or times."""
        return self.type in ("date", "datetime")


class Condition(msgspec.Struct, frozen=True):
    """A condition on a row; `value` is a number, an ISO date, or text, by the column's type."""

    column: Column
    operator: Operator
    value: str = ""


class Order(msgspec.Struct, frozen=True):
    """A column to sort by; of a grouped result, the name of one of its columns."""

    column: str
    descending: bool = False


class Key(msgspec.Struct, frozen=True):
    """What to group by: a column, or a part of its dates."""

    column: Column
    part: Part | None = None

    @property
    def label(self) -> str:
        """The heading of its column."""
        return self.part.capitalize() if self.part else self.column.name


class Measure(msgspec.Struct, frozen=True):
    """A figure for each group; without a column, the count of rows."""

    function: Function
    column: Column | None = None

    @property
    def label(self) -> str:
        """The heading of its column."""
        if self.column is None or self.function == "count":
            return "Count"
        return f"{self.function.capitalize()} {self.column.name}"


class Selection(msgspec.Struct, frozen=True):
    """Which rows of which file."""

    source: str
    conditions: tuple[Condition, ...] = ()
    any_of: bool = False


class SheetPart(msgspec.Struct, frozen=True):
    """A sheet of a split: its name, the value (None for an empty field), its count of rows."""

    sheet: str
    value: str | None
    rows: int


class Split(msgspec.Struct, frozen=True, tag="split", tag_field="offline"):
    """One sheet for each value of a column; `parts` are found by looking."""

    selection: Selection
    key: Key
    columns: tuple[Column, ...]
    order: tuple[Order, ...]
    measures: tuple[Measure, ...]
    target: str
    parts: tuple[SheetPart, ...] = ()
    summary_sheet: str = "Summary"
    widths: tuple[int, ...] = ()


class Grouped(msgspec.Struct, frozen=True, tag="grouped", tag_field="offline"):
    """Figures by keys; without a target they are the answer to a question."""

    selection: Selection
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    order: tuple[Order, ...] = ()
    target: str | None = None


class Rows(msgspec.Struct, frozen=True, tag="rows", tag_field="offline"):
    """Rows of the table into a file; no columns stand for all of them."""

    selection: Selection
    columns: tuple[Column, ...]
    order: tuple[Order, ...]
    target: str
    rows: int = 0
    widths: tuple[int, ...] = ()


class Declined(msgspec.Struct, frozen=True, tag="declined", tag_field="offline"):
    """What was understood, and why it is not done."""

    understood: str
    reason: str


Intent = Split | Grouped | Rows | Declined

_DECODER: msgspec.json.Decoder[Intent] = msgspec.json.Decoder(Intent)
_LINE = re.compile(r'^\{"offline":.*\}$', re.MULTILINE)


def written(intent: Intent) -> str:
    """Return an intent as a fenced line of JSON that `found_in` finds again."""
    # Nothing in it may look like the delimiter of a block or a fence.
    text = msgspec.json.encode(intent).decode().replace("<", "\\u003c").replace("`", "\\u0060")
    return f"```json\n{text}\n```"


def found_in(text: str) -> Intent | None:
    """Return the intent that a text holds, fenced or not, or None."""
    for line in _LINE.findall(text):
        try:
            return _DECODER.decode(line)
        except msgspec.DecodeError:
            continue
    return None
