"""Records of a job: its inputs, steps and checks. JSON on the wire, TOML for people.

A job is data. Its steps work on whole tables, in order; none knows a row by its number, and what
depends on the rows (counts, sums, the values to split by) is found when it runs. A step makes a
table under the name in `make`, out of the one in `of`; without `of` that is the table that the step
before made, at the beginning the first input. Expressions are texts in the language of
`kbd.jobs.expressions`.

    inputs    tables and files, by name and shape
    steps     filter, sort, select, derive, group, pivot, join, union, deduplicate, top, share,
              running, compare; then write, split, fill, replace, convert, report
    checks    what must hold, beside what every step checks of itself
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kbd.formats.records import ColumnName, SheetForm
from kbd.types import ReadAs

__all__ = [
    "VERSION",
    "Check",
    "CompareStep",
    "ConvertStep",
    "DeduplicateStep",
    "DeriveStep",
    "Figure",
    "FillStep",
    "FilterStep",
    "GroupStep",
    "HoldsCheck",
    "Input",
    "Job",
    "JoinStep",
    "KnownValuesCheck",
    "OutputStep",
    "PivotStep",
    "ReplaceStep",
    "ReportStep",
    "RowCountCheck",
    "RunningStep",
    "SelectStep",
    "ShareStep",
    "SortKey",
    "SortStep",
    "SplitStep",
    "Step",
    "SumsAgreeCheck",
    "TableStep",
    "TopStep",
    "UnionStep",
    "UniqueCheck",
    "ValueType",
    "WriteStep",
]

VERSION = 1
"""Of the language. A job of a later version is refused, not half understood."""

ValueType = Literal["text", "number", "date", "datetime", "time", "boolean", "any"]
"""What a column holds: `any` where it does not matter."""

TableLabel = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
"""A name of a table within the job."""

Made = Annotated[
    TableLabel | None, Meta(description="Name of the table that the step makes, to use it later.")
]
Source = Annotated[
    TableLabel | None,
    Meta(description="Table that is read; left out: what the step before made."),
]
Expression = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4000,
        description="SQL-like: \"Column\" = 'text' and year(Date) = 2024; see docs of jobs.",
    ),
]
FileTemplate = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=1000,
        description="File in the draft; {input} is that input's file name without its suffix.",
    ),
]
Aggregate = Literal["sum", "average", "count", "distinct", "minimum", "maximum", "median"]


class SortKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A column to sort by; empty fields come last either way."""

    column: ColumnName
    descending: bool = False


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A figure of each group.

    Args:
        name: The heading of its column.
        function: What is made of the column's values; `count` without a column counts rows, with
            one its filled fields; `distinct` counts different values.
        column: The column.
    """

    name: ColumnName
    function: Aggregate
    column: ColumnName | None = None


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table or a file that the job reads, told by its shape.

    Args:
        name: What steps call it.
        file: Its file; `*` and `?` stand for any letters, and then just one file must fit.
        sheet: Its sheet, of a workbook; None is the only one that has the columns.
        columns: The columns that must be there, each with what it holds; others may be.
        others: Whether columns that are not named may be there, too.
        doubts: What is done where figures would be doubtful: cells that hold something and are read
            as empty, amounts in several currencies, open questions about how it is read. They are
            told, or a reason to refuse.
        read_as: How it is read, where a person said so.
        kind: `table`, or `file` for a document or template that is read as a whole.
    """

    name: TableLabel
    file: Annotated[str, Meta(min_length=1, max_length=1000)]
    sheet: str | None = None
    columns: dict[ColumnName, ValueType] = {}
    others: bool = True
    doubts: Literal["tell", "refuse"] = "tell"
    read_as: ReadAs = ReadAs()
    kind: Literal["table", "file"] = "table"


class _Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True,
            tag_field="do"):  # fmt: skip
    """Base of steps: `do` names it."""


class FilterStep(_Step, frozen=True, tag="filter"):
    """Rows for which the condition is true; an empty field makes a comparison not true."""

    where: Expression
    of: Source = None
    make: Made = None


class SortStep(_Step, frozen=True, tag="sort"):
    """Rows in an order; rows that are alike in it stay in the order they had."""

    by: Annotated[tuple[SortKey, ...], Meta(min_length=1)]
    of: Source = None
    make: Made = None


class SelectStep(_Step, frozen=True, tag="select"):
    """Columns in an order, or all but some, some under other names.

    Args:
        columns: Those that stay, in order; empty for all.
        without: Those that go.
        rename: New names by the old ones.
    """

    columns: tuple[ColumnName, ...] = ()
    without: tuple[ColumnName, ...] = ()
    rename: dict[ColumnName, ColumnName] = {}
    of: Source = None
    make: Made = None


class DeriveStep(_Step, frozen=True, tag="derive"):
    """Columns computed of each row; one that is there already takes the new values in its place.

    Args:
        columns: An expression for each; a later one may use the earlier ones.
    """

    columns: Annotated[dict[ColumnName, Expression], Meta(min_length=1)]
    of: Source = None
    make: Made = None


class GroupStep(_Step, frozen=True, tag="group"):
    """One row for each group of rows that are alike in some columns, with figures.

    Args:
        by: The columns; none for one row over all.
        figures: The figures.
        exact: Whether texts that differ in capitals alone are different ones; otherwise they
            count as one, in the spelling that is there most often.
    """

    figures: Annotated[tuple[Figure, ...], Meta(min_length=1)]
    by: tuple[ColumnName, ...] = ()
    exact: bool = False
    of: Source = None
    make: Made = None


class PivotStep(_Step, frozen=True, tag="pivot"):
    """A row for each group, and a column for each value of one column.

    Args:
        rows: The columns to group by.
        column: The column whose values become columns, in their order.
        figure: What stands in the cells; its name is that of no column.
        total: The heading of a last column over all values; None for none.
    """

    rows: Annotated[tuple[ColumnName, ...], Meta(min_length=1)]
    column: ColumnName
    figure: Figure
    total: ColumnName | None = None
    of: Source = None
    make: Made = None


class JoinStep(_Step, frozen=True, tag="join"):
    """Rows with what another table has under the same key.

    Args:
        other: The other table.
        on: The columns of the key, by those of the other table: `{mine: theirs}`.
        kind: `left` keeps rows without a partner, `inner` drops them, `full` keeps those of both,
            `missing` keeps only rows without a partner.
        columns: Columns of the other table that are added; empty for all but its key.
        many: Whether several rows of the other table may have one key, which repeats rows.
    """

    other: TableLabel
    on: Annotated[dict[ColumnName, ColumnName], Meta(min_length=1)]
    kind: Literal["left", "inner", "full", "missing"] = "left"
    columns: tuple[ColumnName, ...] = ()
    many: bool = False
    of: Source = None
    make: Made = None


class UnionStep(_Step, frozen=True, tag="union"):
    """Tables below each other, their columns matched by name.

    Args:
        tables: The tables, in order.
        origin: A column that tells the file of each row; None for none.
        missing: What is done where a table lacks a column: refuse, or leave it empty.
    """

    tables: Annotated[tuple[TableLabel, ...], Meta(min_length=2)]
    origin: ColumnName | None = None
    missing: Literal["refuse", "empty"] = "refuse"
    make: Made = None


class DeduplicateStep(_Step, frozen=True, tag="deduplicate"):
    """Rows without those that were there before.

    Args:
        by: Columns in which rows are alike; none for all. Rows that are empty there all stay.
        keep: Which of them stays.
        exact: As of a group.
    """

    by: tuple[ColumnName, ...] = ()
    keep: Literal["first", "last"] = "first"
    exact: bool = False
    of: Source = None
    make: Made = None


class TopStep(_Step, frozen=True, tag="top"):
    """The first rows in an order, of each group if there is one.

    Args:
        count: How many.
        by: The order.
        per: The columns of the groups.
        ties: Whether rows that are alike with the last one are taken, too.
    """

    count: Annotated[int, Meta(ge=1)]
    by: Annotated[tuple[SortKey, ...], Meta(min_length=1)]
    per: tuple[ColumnName, ...] = ()
    ties: bool = False
    of: Source = None
    make: Made = None


class ShareStep(_Step, frozen=True, tag="share"):
    """A column that tells how much of the sum of a column each row is: 0.25 is a quarter.

    Args:
        column: The column of numbers.
        name: The heading of the new one.
        within: The columns of groups that each are a whole; none for all rows.
    """

    column: ColumnName
    name: ColumnName
    within: tuple[ColumnName, ...] = ()
    of: Source = None
    make: Made = None


class RunningStep(_Step, frozen=True, tag="running"):
    """A column that adds up another one row by row, in an order.

    Args:
        column: The column of numbers.
        name: The heading of the new one.
        by: The order.
        within: The columns of groups that each begin anew.
    """

    column: ColumnName
    name: ColumnName
    by: Annotated[tuple[SortKey, ...], Meta(min_length=1)]
    within: tuple[ColumnName, ...] = ()
    of: Source = None
    make: Made = None


class CompareStep(_Step, frozen=True, tag="compare"):
    """Rows in which two tables differ: the key, `Change`, and of each column before and after.

    Args:
        other: The later table; `of` is the earlier one.
        on: The columns of the key, which is unique in both.
        columns: The columns that are compared; empty for all that both have.
    """

    other: TableLabel
    on: Annotated[tuple[ColumnName, ...], Meta(min_length=1)]
    columns: tuple[ColumnName, ...] = ()
    of: Source = None
    make: Made = None


class WriteStep(_Step, frozen=True, tag="write"):
    """A table into a file, of a workbook into a sheet of it.

    Args:
        file: The file. One that is there keeps its other sheets; another kind is written anew.
        sheet: The sheet, of a workbook; None is one named like the table.
        form: What the sheet has beside the rows.
        mode: Whether the sheet is made anew, or rows are added below those that are there.
    """

    file: FileTemplate
    sheet: str | None = None
    form: SheetForm = SheetForm()
    mode: Literal["replace", "append"] = "replace"
    of: Source = None


class SplitStep(_Step, frozen=True, tag="split"):
    """A sheet or a file for each value of a column, in the values' order: none is ever missed.

    Args:
        by: The column; values that differ in capitals alone share one.
        file: The workbook; for files its name has `{value}`.
        into: What each value gets.
        sheet: The name of each sheet, with `{value}`.
        empty: The name in place of the value for rows that have none.
        form: What each sheet has beside its rows.
        exact: As of a group.
        keep_column: Whether the column itself is written, too.
    """

    by: ColumnName
    file: FileTemplate
    into: Literal["sheets", "files"] = "sheets"
    sheet: str = "{value}"
    empty: str = "(empty)"
    form: SheetForm = SheetForm()
    exact: bool = False
    keep_column: bool = True
    of: Source = None


class FillStep(_Step, frozen=True, tag="fill"):
    """A template filled in: a document, deck or workbook with `{{placeholders}}`.

    Args:
        template: The input that is the template, of kind `file`.
        file: The filled file; with `{value}` one for each row of `of`.
        values: Texts by placeholder; each an expression over the row.
        rows: Tables for repeated rows, by the name of the list.
        pictures: Pictures by placeholder, each an input of kind `file`.
        each: The column whose value is `{value}`; None fills one file from the only row.
    """

    template: TableLabel
    file: FileTemplate
    values: dict[str, Expression] = {}
    rows: dict[str, TableLabel] = {}
    pictures: dict[str, TableLabel] = {}
    each: ColumnName | None = None
    of: Source = None


class ReplaceStep(_Step, frozen=True, tag="replace"):
    """A text replaced wherever it stands in files; formulas, numbers and dates stay.

    Args:
        files: The files; `*` and `?` stand for any letters.
        search: The text.
        replacement: What stands there then.
        match_case: Whether capitals count.
        file: A copy that is changed in place of the only file; None changes the files.
    """

    files: Annotated[tuple[str, ...], Meta(min_length=1)]
    search: Annotated[str, Meta(min_length=1)]
    replacement: str
    match_case: bool = True
    file: FileTemplate | None = None


class ConvertStep(_Step, frozen=True, tag="convert"):
    """A table as it stands, whole, into another kind of file; rows that sum others up stay.

    Args:
        table: The input.
        file: The file.
    """

    table: TableLabel
    file: FileTemplate


class ReportStep(_Step, frozen=True, tag="report"):
    """An answer in words: the rows of a table, told in the run's answer, nothing written.

    Args:
        text: A sentence before them; `{Column}` is the value of the only row.
        rows: As many are told.
    """

    text: str = ""
    rows: Annotated[int, Meta(ge=1, le=200)] = 50
    of: Source = None


TableStep = (
    FilterStep | SortStep | SelectStep | DeriveStep | GroupStep | PivotStep | JoinStep | UnionStep
    | DeduplicateStep | TopStep | ShareStep | RunningStep | CompareStep
)  # fmt: skip
"""A step that makes a table of tables."""

OutputStep = WriteStep | SplitStep | FillStep | ReplaceStep | ConvertStep | ReportStep
"""A step that writes files, or answers."""

Step = TableStep | OutputStep


class _Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True,
             tag_field="check"):  # fmt: skip
    """Base of checks: `check` names it."""


class UniqueCheck(_Check, frozen=True, tag="unique"):
    """No two rows are alike in some columns; rows that are empty there are none."""

    table: TableLabel
    columns: Annotated[tuple[ColumnName, ...], Meta(min_length=1)]


class KnownValuesCheck(_Check, frozen=True, tag="known_values"):
    """A column has only values that were known.

    Args:
        table: The table.
        column: The column.
        values: The known ones.
        otherwise: Whether another one stops the job, or is only told.
    """

    table: TableLabel
    column: ColumnName
    values: tuple[str, ...]
    otherwise: Literal["stop", "tell"] = "stop"


class SumsAgreeCheck(_Check, frozen=True, tag="sums_agree"):
    """The sums of two columns are the same.

    Args:
        table, column: The one.
        other_table, other_column: The other.
        tolerance: By how much they may differ.
    """

    table: TableLabel
    column: ColumnName
    other_table: TableLabel
    other_column: ColumnName
    tolerance: Annotated[float, Meta(ge=0)] = 0.0


class RowCountCheck(_Check, frozen=True, tag="row_count"):
    """A table has so many rows.

    Args:
        table: The table.
        minimum: The least.
        maximum: The most; None for any.
        same_as: A table that has as many; None for none.
    """

    table: TableLabel
    minimum: Annotated[int, Meta(ge=0)] = 0
    maximum: int | None = None
    same_as: TableLabel | None = None


class HoldsCheck(_Check, frozen=True, tag="holds"):
    """A condition is true of every row; `text` says what it means."""

    table: TableLabel
    condition: Expression
    text: str = ""


Check = UniqueCheck | KnownValuesCheck | SumsAgreeCheck | RowCountCheck | HoldsCheck


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A program over tables and documents.

    Args:
        inputs: What it reads.
        steps: What it does, in order.
        version: Of the language.
        title: What it is for, in a few words.
        checks: What must hold before anything is written.
        assumptions: What a person agreed to take for granted (fiscal year, currency, unit).
        constants: Texts and numbers of its expressions that come from no input but from the person
            who asked, each with why it is there.
    """

    inputs: Annotated[tuple[Input, ...], Meta(min_length=1, max_length=64)]
    steps: Annotated[tuple[Step, ...], Meta(min_length=1, max_length=200)]
    version: Annotated[int, Meta(ge=1)] = VERSION
    title: str = ""
    checks: Annotated[tuple[Check, ...], Meta(max_length=200)] = ()
    assumptions: tuple[str, ...] = ()
    constants: dict[str, str] = {}
