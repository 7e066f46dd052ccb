"""Intents of requests, as records; they travel as JSON in research and plan.

Split      one sheet for each value of a column, and a sheet of totals if asked
Grouped    totals, averages or counts by columns, into a file, or as an answer
Rows       rows filtered, sorted, with chosen columns, into a file
Sheets     sheets of a workbook, each into a text table of its own
Deduped    rows without those that were there before, into a file
Merged     the rows of several tables below each other, into a file
Profiled   a report of what files hold
Replaced   a text replaced in files
Declined   what was understood, and why it is not done
"""

import re
from typing import Any, Literal

import msgspec

__all__ = [
    "ColumnIntent",
    "Condition",
    "Declined",
    "Deduped",
    "Function",
    "Grouped",
    "Intent",
    "Key",
    "Measure",
    "MergePart",
    "Merged",
    "Operator",
    "Part",
    "Profiled",
    "ReplacePart",
    "Replaced",
    "RowSelection",
    "RowsIntent",
    "SheetExport",
    "SheetOut",
    "Sheets",
    "SortOrder",
    "Split",
    "TableIntent",
    "decode_intent",
    "encode_intent",
]  # fmt: skip

Part = Literal["year", "quarter", "month"]
Function = Literal["total", "average", "count", "distinct", "minimum", "maximum"]
Operator = Literal[
    "=", "!=", ">", ">=", "<", "<=", "contains", "starts with", "ends with", "empty", "not empty"
]


class ColumnIntent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Column of the table as `table_describe` reports it.

    Args:
        name: Its name.
        type: What it holds.
        role: What its numbers are where their sum means nothing ("unit price", "rate", "id" …).
        why_text: Why its values are texts, where that is not plain.
        decimal: The decimal mark that its numbers are written with, where the file has one.
    """

    name: str
    type: str = "string"
    role: str = ""
    why_text: str = ""
    decimal: str = ""

    @property
    def is_number(self) -> bool:
        """Whether its values can be added up."""
        return self.type in ("integer", "float")

    @property
    def is_moment(self) -> bool:
        """Whether its values are dates or times."""
        return self.type in ("date", "datetime")


class Condition(msgspec.Struct, frozen=True):
    """A condition on a row; `value` is a number, an ISO date, or text, by the column's type."""

    column: ColumnIntent
    operator: Operator
    value: str = ""


class SortOrder(msgspec.Struct, frozen=True):
    """A column to sort by; of a grouped result, the name of one of its columns."""

    column: str
    descending: bool = False


class Key(msgspec.Struct, frozen=True):
    """Key to group by: a column, or a part of its dates."""

    column: ColumnIntent
    part: Part | None = None

    @property
    def label(self) -> str:
        """The heading of its column."""
        return self.part.capitalize() if self.part else self.column.name


class Measure(msgspec.Struct, frozen=True):
    """A figure for each group; without a column, the count of rows."""

    function: Function
    column: ColumnIntent | None = None

    @property
    def label(self) -> str:
        """The heading of its column."""
        if self.column is None or self.function == "count":
            return "Count"
        if self.function == "distinct":
            return f"Different {self.column.name}"
        return f"{self.function.capitalize()} {self.column.name}"


class TableIntent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table: a file, of a workbook with its sheet.

    Args:
        path: The file.
        sheet: The sheet, "" where there is none to name.
        keeps_totals: Whether rows that sum others up are rows of it, as in a copy of the whole.
    """

    path: str
    sheet: str = ""
    keeps_totals: bool = False

    @property
    def label(self) -> str:
        """Label by which it differs from others."""
        return f"{self.path}: {self.sheet}" if self.sheet else self.path

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that name it to a table tool."""
        sheet = {"source_sheet": self.sheet} if self.sheet else {}
        totals = {"read_as": {"totals": "keep"}} if self.keeps_totals else {}
        return {"path": self.path, **sheet, **totals}


class RowSelection(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows of a table, by conditions.

    Args:
        source: The table's file.
        conditions: What is true of the rows.
        any_of: Whether one of them is enough.
        sheet: The table's sheet, "" where there is none to name.
        exact: Whether values that differ in capitals alone are different ones.
        respelt: The columns that have a value in several spellings, which count as one.
        notes: What the reader of the answer must know of these rows.
        keeps_totals: Whether rows that sum others up are rows of the table.
        counted: The columns that are named by what is counted ("how many customers").
    """

    source: str
    conditions: tuple[Condition, ...] = ()
    any_of: bool = False
    sheet: str = ""
    exact: bool = False
    respelt: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    keeps_totals: bool = False
    counted: tuple[ColumnIntent, ...] = ()

    @property
    def table(self) -> TableIntent:
        """The table itself."""
        return TableIntent(self.source, self.sheet, self.keeps_totals)


class SheetExport(msgspec.Struct, frozen=True):
    """A sheet of a split: its name, the value (None for an empty field), its count of rows."""

    sheet: str
    value: str | None
    rows: int


class Split(msgspec.Struct, frozen=True, tag="split", tag_field="offline"):
    """One sheet for each value of a column; `parts` are found by looking."""

    selection: RowSelection
    key: Key
    columns: tuple[ColumnIntent, ...]
    order: tuple[SortOrder, ...]
    measures: tuple[Measure, ...]
    target: str
    parts: tuple[SheetExport, ...] = ()
    summary_sheet: str = "Summary"
    widths: tuple[int, ...] = ()


class Grouped(msgspec.Struct, frozen=True, tag="grouped", tag_field="offline"):
    """Figures by keys; without a target they are the answer to a question."""

    selection: RowSelection
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    order: tuple[SortOrder, ...] = ()
    target: str | None = None


class RowsIntent(msgspec.Struct, frozen=True, tag="rows", tag_field="offline"):
    """Rows of the table into a file; `is_whole` if all rows and columns go over as they are."""

    selection: RowSelection
    columns: tuple[ColumnIntent, ...]
    order: tuple[SortOrder, ...]
    target: str
    rows: int = 0
    widths: tuple[int, ...] = ()
    is_whole: bool = False


class SheetOut(msgspec.Struct, frozen=True):
    """A sheet of a workbook, the file that it goes into, its count of rows."""

    sheet: str
    target: str
    rows: int


class Sheets(msgspec.Struct, frozen=True, tag="sheets", tag_field="offline"):
    """Sheets of a workbook, each as a text table; `empty` are those without a table.

    `hidden` are those of the parts that nobody sees in the workbook.
    """

    source: str
    parts: tuple[SheetOut, ...]
    empty: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


class Deduped(msgspec.Struct, frozen=True, tag="deduped", tag_field="offline"):
    """The first (or last) row of those that are alike; without keys, alike as a whole.

    The target may be the source itself.
    """

    selection: RowSelection
    columns: tuple[ColumnIntent, ...]
    keys: tuple[ColumnIntent, ...]
    keeps_last: bool
    target: str
    rows: int = 0
    removed: int = 0
    widths: tuple[int, ...] = ()


class MergePart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table of a merge.

    Args:
        table: Which.
        rows: How many rows it has, and `filled` how many of them hold any value.
        names: Its names of the columns in the result's order, None where it has none; empty where
            they are the result's own.
    """

    table: TableIntent
    rows: int
    filled: int
    names: tuple[str | None, ...] = ()


class Merged(msgspec.Struct, frozen=True, tag="merged", tag_field="offline"):
    """Tables merged below each other; `origin` is the column with each row's file, if any."""

    parts: tuple[MergePart, ...]
    columns: tuple[ColumnIntent, ...]
    target: str
    origin: str = ""
    widths: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows of the result."""
        return sum(part.rows for part in self.parts)


class Profiled(msgspec.Struct, frozen=True, tag="profiled", tag_field="offline"):
    """A report of what files hold; without a target it is the answer to a question."""

    paths: tuple[str, ...]
    target: str


class ReplacePart(msgspec.Struct, frozen=True):
    """A file in which a text is replaced; `hits` are known before only of texts and cells."""

    path: str
    hits: int | None = None


class Replaced(msgspec.Struct, frozen=True, tag="replaced", tag_field="offline"):
    """A text replaced wherever it stands in files.

    Args:
        search, replacement: The texts.
        match_case: Whether capitals count.
        parts: The files in which it is replaced.
        target: The name of a copy that is changed in place of the only file, or "".
        notes: Further notes: files without the text, files left out and why.
    """

    search: str
    replacement: str
    match_case: bool
    parts: tuple[ReplacePart, ...]
    target: str = ""
    notes: tuple[str, ...] = ()


class Declined(msgspec.Struct, frozen=True, tag="declined", tag_field="offline"):
    """Declined request: what was understood, and the reason."""

    understood: str
    reason: str


Intent = Split | Grouped | RowsIntent | Sheets | Deduped | Merged | Profiled | Replaced | Declined

_DECODER: msgspec.json.Decoder[Intent] = msgspec.json.Decoder(Intent)
# msgspec writes the tag of a record first, so the line of an intent begins like this.
_LINE = re.compile(r'^\{"offline":.*\}$', re.MULTILINE)


def encode_intent(intent: Intent) -> str:
    """Return an intent as a fenced line of JSON that `decode_intent` finds again."""
    # Nothing in it may look like the delimiter of a block or a fence.
    text = msgspec.json.encode(intent).decode().replace("<", "\\u003c").replace("`", "\\u0060")
    return f"```json\n{text}\n```"


def decode_intent(text: str) -> Intent | None:
    """Return the intent that a text holds, fenced or not, or None."""
    for line in _LINE.findall(text):
        try:
            return _DECODER.decode(line)
        # A line of the user's own may begin so; the intent may be the next one.
        except msgspec.DecodeError:
            continue
    return None
