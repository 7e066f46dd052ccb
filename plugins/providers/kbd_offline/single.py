"""Reading of a request against one table: its job with input, steps and output. Pure."""

from collections.abc import Iterator, Sequence

import msgspec

from kbd.formats.records import SheetForm
from kbd.jobs import records
from kbd.jobs.expressions import parse_expression
from kbd.jobs.records import Input, Job, Step, TableStep, ValueType
from kbd.jobs.terms import columns_of
from kbd.types import ReadAs
from kbd_offline.clauses import Clauses
from kbd_offline.composed_job import ComposedJob, SplitPart
from kbd_offline.composition import compose
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.names import fold, slug, split_suffix
from kbd_offline.reading import read_clauses
from kbd_offline.request_files import BOOK_SUFFIX, RESULT_SUFFIXES, TABLE_SUFFIXES, free_target
from kbd_offline.scan import RequestScan, UnclearError

__all__ = ["JobFiles", "finish", "input_of", "label_of", "read_table", "value_types"]

_TYPES: dict[str, ValueType] = {
    "string": "text", "integer": "number", "float": "number", "date": "date",
    "datetime": "datetime", "time": "time", "boolean": "boolean",
}  # fmt: skip
_MAX_SHEETS = 100
"""More than anybody turns over; such a column is more likely one of names or amounts."""
_MAX_ANSWER = 50
_FIGURES = ("sum", "average", "median", "minimum", "maximum", "count", "how_many", "distinct")
_NO_ROWS = "it has column names and no rows below them, so there is nothing to work out"
_MAX_STEM = 80


class JobFiles(msgspec.Struct, frozen=True):
    """Files of a job: those of the workbench, the name for the result as asked for, the day."""

    taken: tuple[str, ...]
    target: str
    today: str


def read_table(scan: RequestScan, files: JobFiles) -> tuple[Job, str, tuple[str, ...]]:
    """Return the job that a request asks of a table, in words, and what must be said beside it.

    Raises:
        SeveralError: It has several readings.
        UnclearError: It has none.
    """
    table = scan.table
    if not table.rows and any(scan.at(place, *_FIGURES) for place in range(len(scan))):
        raise UnclearError(_NO_ROWS)
    clauses = read_clauses(scan)
    composed = compose(scan, clauses)
    source = input_of(table, value_types(table.columns, composed))
    return finish(scan, clauses, composed, (source,), (), files)


def label_of(table: KnownTable, taken: Sequence[str] = ()) -> str:
    """Return what steps call a table: by its file, or its sheet."""
    stem = split_suffix(table.path.rpartition("/")[2])[0]
    plain = slug(table.sheet or stem).encode("ascii", "ignore").decode().replace("-", "_")
    name = plain if plain[:1].isalpha() else f"table_{plain}".rstrip("_")
    candidate, number = name[:60], 2
    while candidate in taken:
        candidate, number = f"{name[:60]}_{number}", number + 1
    return candidate


def input_of(table: KnownTable, columns: dict[str, ValueType], taken: Sequence[str] = ()) -> Input:
    """Return a table as an input of a job."""
    return Input(label_of(table, taken), table.path, table.sheet or None, columns)


def value_types(columns: Sequence[KnownColumn], composed: ComposedJob) -> dict[str, ValueType]:
    """Return the columns that steps use, each with what it holds."""
    steps = [*composed.steps, *(composed.split.summary if composed.split else ())]
    names = {name for step in steps for name in _used(step)}
    names |= {composed.split.by} if composed.split else set()
    return {c.name: _TYPES.get(c.type, "any") for c in columns if c.name in names}


def _used(step: TableStep) -> Iterator[str]:
    """Yield the columns that a step reads."""
    match step:
        case records.FilterStep():
            yield from columns_of(parse_expression(step.where))
        case records.DeriveStep():
            for expression in step.columns.values():
                yield from columns_of(parse_expression(expression))
        case records.GroupStep():
            yield from step.by
            yield from (figure.column for figure in step.figures if figure.column)
        case records.PivotStep():
            yield from (*step.rows, step.column, *filter(None, (step.figure.column,)))
        case records.SelectStep():
            yield from (*step.columns, *step.without, *step.rename)
        case records.DeduplicateStep():
            yield from step.by
        case records.SortStep() | records.TopStep() | records.RunningStep():
            yield from (key.column for key in step.by)
            yield from getattr(step, "per", ())
        case _:
            return


def finish(
    scan: RequestScan,
    clauses: Clauses,
    composed: ComposedJob,
    inputs: tuple[Input, ...],
    before: tuple[TableStep, ...],
    files: JobFiles,
    *,
    stem: str = "",
) -> tuple[Job, str, tuple[str, ...]]:
    """Return a job with its output: an answer, or a file of the asked kind and name.

    Args:
        scan: The request.
        clauses: What was understood.
        composed: The steps.
        inputs: What it reads.
        before: Steps that make the table of others.
        files: The files.
        stem: How the result is called by its sources; "" for the name of the table.

    Raises:
        UnclearError: The result cannot be made like that.
    """
    table, split = scan.table, composed.split
    if not table.rows and composed.is_figures:
        raise UnclearError(_NO_ROWS)
    stem = stem or _stem(table)
    has_file = bool(files.target or clauses.suffix)
    is_answer = composed.is_answer and not has_file and not clauses.converts
    steps: tuple[Step, ...] = (*before, *composed.steps)
    words, target = composed.words, ""
    if not steps and split is None and (is_answer or not has_file):
        raise UnclearError("I found nothing in it that I can do with a table")
    if not is_answer or split is not None:
        # A copy of a whole file is called as that, of which one sheet of many is but a part.
        is_copy = not steps and split is None and table.sheets <= 1
        target = _target(scan, clauses, composed, files, _file_stem(table) if is_copy else stem)
    if split is not None:
        of = "parts" if composed.steps else ""
        steps = (*_labelled(steps), *_split_outputs(table, split, target, of))
    elif is_answer:
        steps = (*steps, records.ReportStep(rows=_MAX_ANSWER))
    elif not steps:
        # A copy of the whole keeps rows that sum others up.
        inputs = tuple(
            msgspec.structs.replace(one, read_as=ReadAs(totals="keep")) for one in inputs
        )
        steps, words = (records.ConvertStep(inputs[0].name, target),), f"{table.label} as it stands"
    else:
        if clauses.in_place and clauses.deduplicates:
            target = _in_place(table, files)
        sheet = "Summary" if composed.is_figures else "Sheet1"
        steps = (*steps, _written(target, sheet, composed.form))
    words = f"{words[:1].upper()}{words[1:]}{', in ' * bool(target)}{target}"
    notes = (*composed.notes, *_currencies(table, steps), *scan.corrections)
    return Job(inputs, steps, title=words, checks=_checks(steps)), words, notes


def _written(file: str, sheet: str, form: SheetForm) -> records.WriteStep:
    """Return the step that writes a file: only a sheet has a name, a row of totals and formats."""
    is_book = split_suffix(file)[1] == BOOK_SUFFIX
    return records.WriteStep(file, sheet if is_book else None, form if is_book else SheetForm())


def _file_stem(table: KnownTable) -> str:
    return split_suffix(table.path.rpartition("/")[2])[0]


def _stem(table: KnownTable) -> str:
    """Return how a result is called by its table: by the file, of several sheets by the sheet."""
    own = _file_stem(table)
    return slug(f"{own}-{table.sheet}" if table.sheets > 1 else own)


def _currencies(table: KnownTable, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the note that a sum is of amounts in several currencies, if one is."""
    text = msgspec.json.encode(steps).decode()
    groups = [step for step in steps if isinstance(step, records.GroupStep)]
    sums = {
        figure.column for step in groups for figure in step.figures
        if figure.function in ("sum", "average") and figure.column
    }  # fmt: skip
    for column in table.columns:
        is_named = fold(column.name) in ("currency", "wahrung", "ccy", "curr", "devise")
        if is_named and sums and len(column.values) > 1 and f'"{column.name}"' not in text:
            listed = ", ".join(sorted(column.values))
            named = ", ".join(sorted(sums))
            return (f"{table.label}: {named} is in several currencies ({column.name}: {listed})",)
    return ()


def _checks(steps: Sequence[Step]) -> tuple[records.RowCountCheck, ...]:
    """Return the check that rows are left, where some are chosen to be shown."""
    counts = [
        step for step in steps if isinstance(step, records.GroupStep) and not step.by
        and all(figure.function in ("count", "distinct") for figure in step.figures)
    ]  # fmt: skip
    if counts and isinstance(steps[-1], records.ReportStep):
        # That there are none is an answer to "how many".
        return ()
    made = [step.make for step in steps if isinstance(step, records.FilterStep) and step.make]
    return tuple(records.RowCountCheck(name, 1) for name in made)


def _labelled(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps of which the last one's table has the name that outputs read."""
    *most, last = steps or (None,)
    if last is None or not hasattr(last, "make"):
        return tuple(steps)
    return (*most, msgspec.structs.replace(last, make="parts"))


def _split_outputs(table: KnownTable, split: SplitPart, target: str, of: str) -> Iterator[Step]:
    """Yield the steps that write a split, and its sheet of totals."""
    stem, suffix = split_suffix(target)
    is_files = split.into == "files"
    if not is_files and suffix != BOOK_SUFFIX:
        raise UnclearError("sheets need a workbook: name the result with .xlsx")
    column = table.column(split.by)
    if column is not None and column.distinct > _MAX_SHEETS:
        raise UnclearError(
            f'"{split.by}" has {column.distinct} values; I make up to {_MAX_SHEETS} sheets'
        )
    file = f"{stem}-{{value}}{suffix}" if is_files else target
    yield records.SplitStep(
        split.by, file, split.into, keep_column=split.keeps_column, of=of or None
    )
    if split.summary:
        first, *rest = split.summary
        yield msgspec.structs.replace(first, of=of) if of and hasattr(first, "of") else first
        yield from rest
        yield _written(f"{stem}-summary{suffix}" if is_files else target, "Summary", split.form)


def _target(
    scan: RequestScan, clauses: Clauses, composed: ComposedJob, files: JobFiles, stem: str
) -> str:
    """Return the name of the result: the requested one, else a free one that tells what it is.

    Raises:
        UnclearError: The request names a file that is there already, or of another kind.
    """
    source = split_suffix(scan.table.path)[1]
    plain = source if source in TABLE_SUFFIXES else BOOK_SUFFIX
    suffix = clauses.suffix or (BOOK_SUFFIX if composed.is_figures else plain)
    if composed.split is not None and not clauses.suffix:
        suffix = plain if composed.split.into == "files" else BOOK_SUFFIX
    if not files.target:
        name = "-".join(filter(None, (stem, composed.slug)))[:_MAX_STEM].strip("-")
        return free_target(f"{name}{suffix}", files.taken, files.today)
    head, given = split_suffix(files.target)
    if given and given not in RESULT_SUFFIXES:
        raise UnclearError(f"I do not write {given} files, only xlsx, csv, tsv, psv and parquet")
    target = files.target if given else head + suffix
    if target.casefold() == scan.table.path.casefold():
        raise UnclearError("the result would overwrite the table that it is made from")
    if target.casefold() in {path.casefold() for path in files.taken}:
        raise UnclearError(f"{target} is in the workbench already: name another result")
    return target


def _in_place(table: KnownTable, files: JobFiles) -> str:
    """Return the file itself, where it can be written again as it was.

    Raises:
        UnclearError: It would come out in another form.
    """
    if files.target:
        raise UnclearError(f"it asks to change {table.path} and to write {files.target}")
    suffix = split_suffix(table.path)[1]
    if suffix not in TABLE_SUFFIXES:
        raise UnclearError(
            f"rows are not taken out of {table.path} in place: formulas and looks would stay"
            " behind; I make a new file of it"
        )
    expected = {".csv": ",", ".psv": "|"}.get(suffix, "\t")
    if table.delimiter != expected or table.encoding not in ("utf-8", "ascii"):
        raise UnclearError(
            f"{table.path} has {table.delimiter!r} between its fields and is {table.encoding}, and"
            f" I would write it with {expected!r} as utf-8; I make a new file of it"
        )
    return table.path
