"""Shapes of the tables of a job: which columns each step makes of those that it gets.

A step is refused here if it cannot work: a column or table that is not there, two columns of one
name, a sum of texts, keys of two types. What a pivot makes is known once its values are; until then
its table is open, and a column that is not known may be one of them.
"""

from collections.abc import Collection, Mapping

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.columns import TYPE_WORDS, ShapeColumn, ShapeType, folded, near_name
from kbd.jobs.output_shapes import check_output
from kbd.jobs.records import (
    CompareStep,
    ConvertStep,
    FillStep,
    Input,
    Job,
    JoinStep,
    OutputStep,
    ReplaceStep,
    Step,
    TableStep,
    UnionStep,
    ValueType,
)
from kbd.jobs.step_shapes import PivotValues, TableShape, shape_of

__all__ = [
    "GivenTable",
    "JobShapes",
    "TableDoubt",
    "misfits",
    "shapes_of",
    "step_label",
    "tables_read",
    "with_blanks",
]


_TYPES_DUE: dict[ValueType, ShapeType] = {
    "text": "string",
    "number": "float",
    "date": "date",
    "datetime": "datetime",
    "time": "string",
    "boolean": "boolean",
    "any": "any",
}
"""The type of a column without a value, by what its input says that it holds."""


class TableDoubt(msgspec.Struct, frozen=True):
    """Why values or figures of a table may not be what people see in the file.

    Args:
        column: The column; "" where it is the rows of the whole table.
        text: What is doubtful: "some cells: formula without a stored result, read as empty".
        by: The column that tells the values apart, if one does: a job that names it knows of them.
        is_of_figures: Whether a value is right as it is shown, and what is made of several is not.
    """

    column: str
    text: str
    by: str = ""
    is_of_figures: bool = False


class GivenTable(msgspec.Struct, frozen=True):
    """A table as the table tools report it.

    Args:
        columns: Its columns; `any` as the type of one without a value.
        file: The file that it is in.
        blank: The columns without a value whose type is the one that is due: they are read as it.
        doubts: What is doubtful of it.
    """

    columns: tuple[ShapeColumn, ...]
    file: str = ""
    blank: frozenset[str] = frozenset()
    doubts: tuple[TableDoubt, ...] = ()


class JobShapes(msgspec.Struct, frozen=True):
    """The tables of a job.

    Args:
        tables: Shape of each table by its name: inputs, and what each step makes, in order.
        sources: Of each step the table that it reads; None for one that reads none, or several.
        made: Of each step the table that it makes; None for one that makes none.
        files: Of each table the file that its rows are from; None where they are from several.
    """

    tables: Mapping[str, TableShape]
    sources: tuple[str | None, ...]
    made: tuple[str | None, ...]
    files: Mapping[str, str | None]


def step_label(number: int) -> str:
    """Return what the table is called that a step without `make` makes; no name that a job gives.

    Args:
        number: Of the step, counted from 1.
    """
    return f"step {number}"


def shapes_of(
    job: Job, given: Mapping[str, GivenTable], pivots: Mapping[int, PivotValues] | None = None
) -> JobShapes:
    """Return the tables that a job makes of tables that are there.

    Args:
        job: The job.
        given: The tables of its inputs by name; those of kind `file` have none.
        pivots: The values of pivots' columns by the step's number, as far as they are known.

    Raises:
        ValidationFailed: A step cannot work; the message begins with its number.
    """
    labels = _Labels(job, given)
    for number, step in enumerate(job.steps, 1):
        try:
            labels.add(number, step, (pivots or {}).get(number))
        except ValidationFailed as fault:
            kind = step.__struct_config__.tag
            raise ValidationFailed(f"step {number} ({kind}): {fault.message}") from None
    return JobShapes(labels.tables, tuple(labels.sources), tuple(labels.made), labels.files)


def tables_read(job: Job, shapes: JobShapes) -> frozenset[str]:
    """Return the tables that steps read as tables; one that is converted whole is none by that.

    Args:
        job: The job.
        shapes: Its tables.
    """
    read = {name for name in shapes.sources if name is not None}
    for step in job.steps:
        match step:
            case UnionStep():
                read.update(step.tables)
            case JoinStep() | CompareStep():
                read.add(step.other)
            case FillStep():
                read.update(step.rows.values())
            case _:
                pass
    return frozenset(read)


class _Labels:
    """The tables of a job while its steps are gone through.

    Args:
        job: The job.
        given: The tables of its inputs.

    Raises:
        ValidationFailed: Two inputs are called alike, or one has no table.
    """

    def __init__(self, job: Job, given: Mapping[str, GivenTable]) -> None:
        self.tables: dict[str, TableShape] = {}
        self.files: dict[str, str | None] = {}
        self.sources: list[str | None] = []
        self.made: list[str | None] = []
        self._inputs = {each.name: each for each in job.inputs}
        self._later = {
            step.make: number
            for number, step in enumerate(job.steps, 1)
            if not isinstance(step, OutputStep) and step.make is not None
        }
        self._last: str | None = None
        taken: set[str] = set()
        for place, each in enumerate(job.inputs):
            if each.name.lower() in taken:
                raise ValidationFailed(f'inputs[{place}].name: two inputs are called "{each.name}"')
            taken.add(each.name.lower())
            if each.kind == "table":
                self._begin(each.name, given)

    def _begin(self, name: str, given: Mapping[str, GivenTable]) -> None:
        table = given.get(name)
        if table is None:
            raise ValidationFailed(f'input "{name}" has no table')
        self.tables[name] = TableShape(table.columns)
        self.files[name] = table.file
        self._last = self._last or name

    def add(self, number: int, step: Step, values: PivotValues | None) -> None:
        """Take in what a step reads and makes.

        Raises:
            ValidationFailed: It cannot work.
        """
        source = None
        if isinstance(step, UnionStep):
            for name in step.tables:
                self._known(name)
        elif not isinstance(step, ReplaceStep | ConvertStep):
            source = self._source(step)
        self.sources.append(source)
        made = None
        if isinstance(step, OutputStep):
            shape = None if source is None else self.tables[source]
            check_output(step, shape, self.tables, self._inputs)
        else:
            made = self._make(number, step, source, values)
        self.made.append(made)

    def _source(self, step: Step) -> str | None:
        of = None if isinstance(step, UnionStep | ReplaceStep | ConvertStep) else step.of
        if of is not None:
            return self._known(of)
        if self._last is None and not isinstance(step, FillStep):
            raise ValidationFailed(
                "there is no table that it may read; name an input of kind table"
            )
        return self._last

    def _known(self, name: str) -> str:
        """Return the name of a table as it was made.

        Raises:
            ValidationFailed: There is none of it yet.
        """
        if name in self.tables:
            return name
        if name in self._inputs:
            raise ValidationFailed(f'input "{name}" is a file that is read whole, and no table')
        if name in self._later:
            raise ValidationFailed(f'table "{name}" is made later, in step {self._later[name]}')
        known = [each for each in self.tables if " " not in each]
        raise ValidationFailed(f'there is no table "{name}"{near_name(name, known)}')

    def _make(
        self, number: int, step: TableStep, source: str | None, values: PivotValues | None
    ) -> str:
        if isinstance(step, JoinStep | CompareStep):
            self._known(step.other)
        if isinstance(step, CompareStep) and step.other == source:
            raise ValidationFailed(f'table "{step.other}" is compared with itself; name another')
        first = source if source is not None else self._first_of(step)
        shape = shape_of(step, self.tables[first], self.tables, values)
        label = step.make or step_label(number)
        if label.lower() in {each.lower() for each in (*self.tables, *self._inputs)}:
            raise ValidationFailed(
                f'there is a table "{label}" already; give this one another name'
            )
        self.tables[label] = shape
        self.files[label] = self._file_of(step, first)
        self._last = label
        return label

    def _first_of(self, step: TableStep) -> str:
        assert isinstance(step, UnionStep)
        return step.tables[0]

    def _file_of(self, step: TableStep, source: str) -> str | None:
        if isinstance(step, UnionStep):
            if step.origin is not None:
                for name in step.tables:
                    if self.files[name] is None:
                        raise ValidationFailed(
                            f'the rows of "{name}" are from several files; add the column'
                            f' "{step.origin}" where they come together'
                        )
            files = {self.files[name] for name in step.tables}
            return files.pop() if len(files) == 1 else None
        return self.files[source]


def with_blanks(asked: Input, given: GivenTable, blank: Collection[str]) -> GivenTable:
    """Return a table whose columns without a value are of the types that an input asks for.

    Args:
        asked: The input.
        given: The table.
        blank: The names of its columns without a value.
    """
    due = {folded(name): _TYPES_DUE[kind] for name, kind in asked.columns.items()}
    columns = tuple(
        ShapeColumn(each.name, due.get(folded(each.name), "any")) if each.name in blank else each
        for each in given.columns
    )
    return msgspec.structs.replace(given, columns=columns, blank=frozenset(blank))


def misfits(asked: Input, given: GivenTable) -> tuple[str, ...]:
    """Tell in what a table is not of the shape that an input asks for, a text each.

    Args:
        asked: The input.
        given: The table that is to be it.
    """
    faults: list[str] = []
    known = {folded(column.name): column for column in given.columns}
    for name, kind in asked.columns.items():
        column = known.pop(folded(name), None)
        if column is None:
            near = near_name(name, [each.name for each in given.columns])
            faults.append(f'there is no column "{name}"{near}')
        elif not _fits(column, kind):
            faults.append(
                f'column "{column.name}" holds {TYPE_WORDS[column.type]}, and {kind} is needed'
            )
    if not asked.others:
        faults += [f'column "{column.name}" is new' for column in known.values()]
    return tuple(faults)


def _fits(column: ShapeColumn, kind: ValueType) -> bool:
    """Tell whether a column may be one that holds a kind of values."""
    if "any" in (kind, column.type):
        return True
    # A day is a time without its hours; times of day are texts.
    allowed = {"datetime": ("date", "datetime"), "time": ("text",)}.get(kind, (kind,))
    return column.holds in allowed
