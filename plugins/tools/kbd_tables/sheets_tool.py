"""The tool that writes many sheets at once: their rows by one call of the worker, then each file.

All statements run on tables that are loaded once. A job of many sheets would else need several
calls for each of them.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.formats import (
    ChartForm,
    ColumnName,
    FormatHandler,
    Placement,
    ReadAs,
    SheetForm,
    SheetRows,
    TotalFunction,
    WrittenSheet,
    WrittenTables,
)
from kbd.sheets.sheet_names import sheet_names
from kbd.tools import FileRef, FormatCatalog, ToolContext, ToolResult
from kbd.types import FileName
from kbd_tables import jobs
from kbd_tables.cache import TableCache, TableRef
from kbd_tables.export_tools import (
    NO_ROWS,
    ExportTool,
    check_notation,
    for_files,
    found_target,
    has_sheets,
    is_text,
    notation_of,
    writes,
)
from kbd_tables.jobs import QueryLimits, lost_figures_note
from kbd_tables.named_tables import Answered, StatementCall, ask_many
from kbd_tables.open_questions import check_figures
from kbd_tables.read_tools import (
    HowToRead,
    OtherTables,
    SourceSheet,
    TablePath,
    answer_told,
    answer_warnings,
    other_refs,
)

__all__ = ["FileExport", "FormArguments", "SheetOutput", "SheetsArguments", "TableExportSheets"]

_Width = Annotated[float, Meta(gt=0, le=255)]
_MOST_SHEETS = 1_000
"""Sheets of one call, in however many files."""

_MOST_ASKED = 20
"""Statements of one call that are answered beside the sheets."""


class TotalChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A total below a column."""

    column: ColumnName
    function: TotalFunction


class FormatChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The number format of a column, as spreadsheets write it."""

    column: ColumnName
    format: str


class WidthChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The width of a column in characters."""

    column: ColumnName
    width: _Width


class FormArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a sheet has beside its rows: a `SheetForm`, its columns by name or as lists."""

    title: Annotated[str, Meta(description="A line above the headings.")] = ""
    totals: Annotated[
        dict[ColumnName, TotalFunction] | tuple[TotalChoice, ...],
        Meta(description="Totals in a last row, as formulas; count counts filled cells."),
    ] = {}
    totals_label: str = "Total"
    formats: Annotated[
        dict[ColumnName, str] | tuple[FormatChoice, ...],
        Meta(description="Number formats by column; fractions have #,##0.00 without."),
    ] = {}
    widths: dict[ColumnName, _Width] | tuple[WidthChoice, ...] = {}
    plain: Annotated[bool, Meta(description="No styles at all.")] = False
    chart: ChartForm | None = None

    @property
    def form(self) -> SheetForm:
        """The same with its columns by name."""
        totals, formats, widths = self.totals, self.formats, self.widths
        if not isinstance(totals, dict):
            totals = {each.column: each.function for each in totals}
        if not isinstance(formats, dict):
            formats = {each.column: each.format for each in formats}
        if not isinstance(widths, dict):
            widths = {each.column: each.width for each in widths}
        return SheetForm(
            self.title, totals, self.totals_label, formats, widths, self.plain, self.chart
        )


class SheetOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Rows of a statement for one sheet."""

    query: Annotated[str, Meta(description="A reading SQL statement as in table_query.")]
    sheet: Annotated[str, Meta(description="The sheet of a workbook.")] = "Sheet1"
    form: Annotated[
        FormArguments,
        Meta(description="What the sheet has beside its rows; headings are styled without, too."),
    ] = FormArguments()


class FileExport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file with its sheets; a text table or parquet file has one."""

    target_path: Annotated[str, Meta(description="The file to write, in the draft.")]
    sheets: Annotated[tuple[SheetOutput, ...], Meta(min_length=1, max_length=_MOST_SHEETS)]
    format: Annotated[
        str | None, Meta(description="Its format, which must fit the suffix; that tells it, too.")
    ] = None
    mode: Annotated[
        Literal["replace", "append"],
        Meta(description="Make each sheet anew, or add below its rows. Other sheets are kept."),
    ] = "replace"


class SheetsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which tables, and what is written of them."""

    path: TablePath
    outputs: Annotated[
        tuple[FileExport, ...],
        Meta(description="The files to write.", min_length=1, max_length=_MOST_SHEETS),
    ]
    tables: OtherTables = {}
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()
    ask: Annotated[
        tuple[str, ...],
        Meta(description="Queries answered before anything is written.", max_length=_MOST_ASKED),
    ] = ()


class _Output(msgspec.Struct, frozen=True):
    """A file that is written: what it is now, its sheets by legal names, and notes."""

    wanted: FileExport
    name: FileName
    existing: FileRef | None
    handler: FormatHandler
    names: tuple[str, ...]
    read_as: ReadAs
    notes: tuple[str, ...]
    renamed: tuple[str, ...]

    @property
    def source(self) -> FileRef | None:
        """The file that is changed; None where it is written anew."""
        is_anew = self.wanted.mode == "replace" and not has_sheets(self.handler)
        return None if is_anew else self.existing

    def placement(self, place: int) -> Placement:
        """Return where the rows of a sheet go."""
        mode: Literal["new_file", "replace_sheet", "append_rows"] = "replace_sheet"
        if self.wanted.mode == "append":
            mode = "append_rows"
        elif not has_sheets(self.handler) or self.existing is None:
            mode = "new_file"
        return Placement(sheet=self.names[place], mode=mode, read_as=self.read_as)


class TableExportSheets(ExportTool):
    """`table_export_sheets`: the rows of many statements as sheets of one file, or of several."""

    name: ClassVar[str] = "table_export_sheets"
    wire_method: ClassVar[str] = "TabularExportSheets"
    arguments = SheetsArguments

    def __init__(self, tables: TableCache, limits: QueryLimits, formats: FormatCatalog) -> None:
        super().__init__(tables, limits, formats)
        names = ", ".join(handler.name for handler in self._handlers)
        self.description = (
            "Write many sheets at once, each the rows of a query, with headings styled, totals as "
            "formulas, number formats and a chart as its form says: one call for a whole workbook, "
            "or for several files (all or nothing). tables gives other tables short names for SQL. "
            "Give each query an ORDER BY, and no total of its own: form.totals makes that. A file "
            f"that exists keeps its other sheets. Formats: {names}."
        )

    def path_of(self, arguments: SheetsArguments) -> str | None:
        """Return the first file that is written."""
        return arguments.outputs[0].target_path if arguments.outputs else None

    async def run(self, context: ToolContext, arguments: SheetsArguments) -> ToolResult:
        """Return `{outputs[{target_path, format, sheets[...], warnings}]}`, and what was asked.

        A sheet is `{sheet, written_range, row_count, column_count, totals}`. Where something is
        asked, `answers` has `{columns, rows, total_row_count, warnings}` for each, with the first
        5,000 rows.

        Raises:
            ValidationFailed: A format does not fit its target, or cannot hold the sheets; a
                statement or a form is refused, with the sheet that it is for.
            ToolTimeout: A statement needs more time or memory than it may use.
        """
        outputs = [await self._output(context, wanted) for wanted in arguments.outputs]
        _check_targets(outputs)
        sheets = [sheet for output in outputs for sheet in output.wanted.sheets]
        if len(sheets) > _MOST_SHEETS:
            raise ValidationFailed(
                f"one call writes up to {_MOST_SHEETS:,} sheets, not {len(sheets):,}: make several"
            )
        labels = [
            _labeled(output, name, many=len(sheets) > 1) for output in outputs
            for name in output.names
        ]  # fmt: skip
        rows = [context.files.stage() for _ in sheets]
        first, *more = (*arguments.ask, *(sheet.query for sheet in sheets))
        call = StatementCall(
            ref=TableRef(arguments.path, arguments.source_sheet, arguments.read_as),
            sql=first,
            limits=for_files(self._query_limits),
            job=jobs.export_queries,
            arguments={"targets": rows, "asked": len(arguments.ask)},
            tables=other_refs(arguments.tables),
            more=tuple(more),
            labels=(*("" for _ in arguments.ask), *labels),
        )
        found = await ask_many(self._tables, context, call)
        asked, made = found[: len(arguments.ask)], found[len(arguments.ask) :]
        answered = [
            _with_totals(each, sheet, label)
            for each, sheet, label in zip(made, sheets, labels, strict=True)
        ]
        values, puts, begin = list[dict[str, Any]](), list[_Put](), 0
        for output in outputs:
            end = begin + len(output.wanted.sheets)
            put = await _written(context, output, rows[begin:end], answered[begin:end])
            values.append(put.value)
            puts.append(put)
            begin = end
        # Last: whatever fails before leaves the draft as it was.
        for put in puts:
            put.land(context)
        told = dict.fromkeys(
            (
                *(sentence for each in asked for sentence in answer_told(each)),
                *(sentence for put in puts for sentence in put.told),
            )
        )
        answers = [_answer(each) for each in asked]
        value = {"outputs": values, **({"answers": answers} if answers else {})}
        return ToolResult(value, is_action=True, told=tuple(told))

    async def _output(self, context: ToolContext, wanted: FileExport) -> _Output:
        """Return what a file is and how it is written.

        Raises:
            ValidationFailed: Its suffix is of no format that tables are written to, or the one
                that is named does not fit.
        """
        existing, name, handler = found_target(context, wanted.target_path)
        if handler is None or not writes(handler):
            suffixes = ", ".join(suffix for each in self._handlers for suffix in each.suffixes)
            raise ValidationFailed(
                f"no table is written to {name}: target_path must end with one of {suffixes}"
            )
        if wanted.format is not None and wanted.format != handler.name:
            raise ValidationFailed(
                f"format {wanted.format} does not fit target_path: {name} is for {handler.name}"
            )
        given = tuple(sheet.sheet for sheet in wanted.sheets)
        names = sheet_names(given) if has_sheets(handler) else given
        renamed = tuple(
            f"sheet {old!r} is called {new!r}: a workbook takes no other name for it"
            for old, new in zip(given, names, strict=True)
            if old != new
        )
        notes, read_as = list[str](), ReadAs()
        if is_text(handler) and existing is not None:
            if wanted.mode == "replace":
                check_notation(existing)
            else:
                read_as = await notation_of(self._tables, context, name)
        if existing is not None and wanted.mode == "replace":
            notes.append(
                f"{name} exists: the sheets were written, others are kept"
                if has_sheets(handler)
                else f"{name} exists: it was written anew, and nothing of it is kept"
            )
        return _Output(
            wanted, name, existing, handler, names, read_as, tuple(notes), renamed
        )  # fmt: skip


class _Put(msgspec.Struct, frozen=True):
    """A file that was written and waits for the others, its part of the answer, what is told."""

    output: _Output
    staged: Path
    written: WrittenTables
    value: dict[str, Any]
    told: tuple[str, ...]

    def land(self, context: ToolContext) -> None:
        """Stage the file for the draft."""
        output, written = self.output, self.written
        context.files.put(
            output.name,
            self.staged,
            remaining=() if output.source is None else written.remaining,
            notes=tuple(
                dict.fromkeys((*output.notes, *output.renamed, *written.warnings, *self.told))
            ),
            focus=written.focus,
        )


def _answer(asked: Answered) -> dict[str, Any]:
    """Return the answer to what was asked as the tool returns it."""
    kept = {name: asked.answer[name] for name in ("columns", "rows", "total_row_count")}
    return {**kept, "warnings": answer_warnings(asked)}


def _check_targets(outputs: Sequence[_Output]) -> None:
    """Check that no file is written twice.

    Raises:
        ValidationFailed: One is.
    """
    seen: set[str] = set()
    for output in outputs:
        if output.name in seen:
            raise ValidationFailed(
                f"{output.name} is written twice: name all its sheets in one of the outputs"
            )
        seen.add(output.name)


def _labeled(output: _Output, name: str, *, many: bool) -> str:
    """Return what messages about the statement of a sheet call it."""
    if not many:
        return ""
    return f"sheet {name} of {output.name}" if has_sheets(output.handler) else output.name


_FUNCTIONS: Mapping[TotalFunction, str] = MappingProxyType(
    {"sum": "sum", "average": "avg", "minimum": "min", "maximum": "max", "count": "count"}
)


def _with_totals(found: Answered, sheet: SheetOutput, label: str) -> Answered:
    """Return the answer of a statement as one that makes the totals of its sheet, too.

    What must be known of such figures is so told of both: sums that mean nothing, currencies.

    Raises:
        ValidationFailed: The totals hang on an open question about which rows count.
    """
    totals = sheet.form.form.totals
    if not totals:
        return found
    for table in found.tables.values():
        try:
            check_figures(table.name, table.record.reading.questions)
        except ValidationFailed as error:
            where = f"{label}: " if label else ""
            raise ValidationFailed(f"{where}{error.message}", detail=error.detail) from None
    made = ", ".join(f"{_FUNCTIONS[how]}({_quoted(name)})" for name, how in totals.items())
    return msgspec.structs.replace(found, sql=f"SELECT {made} FROM (\n{found.sql}\n)")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


async def _written(
    context: ToolContext, output: _Output, rows: Sequence[Path], answered: Sequence[Answered]
) -> _Put:
    """Write a file of rows that were exported."""
    # A format with several suffixes writes what the suffix says: commas or tabs.
    staged = context.files.stage(PurePosixPath(output.name).suffix)
    sheets = [
        SheetRows(path, output.placement(place), output.wanted.sheets[place].form.form)
        for place, path in enumerate(rows)
    ]
    try:
        written = await context.formats.write_tables(output.handler, output.source, sheets, staged)
    except ValidationFailed as error:
        raise ValidationFailed(f"{output.name}: {error.message}", detail=error.detail) from error
    notes, told = list[str](), list[str]()
    for name, found in zip(output.names, answered, strict=True):
        own = _statement_notes(found)
        prefix = f"{name}: " if has_sheets(output.handler) and len(output.names) > 1 else ""
        notes += [*found.warnings, *(f"{prefix}{note}" for note in (*own, *found.sum_notes))]
        told += [*found.told, *(f"{output.name}, {prefix}{note}" for note in _told_notes(found))]
    warnings = dict.fromkeys(
        (*notes, *output.notes, *output.renamed, *written.warnings, *written.result_warnings)
    )
    value = {
        "target_path": output.name,
        "format": output.handler.name,
        "sheets": [_plain(sheet) for sheet in written.sheets],
        "warnings": list(warnings),
    }
    return _Put(output, staged, written, value, tuple(dict.fromkeys(told)))


def _plain(sheet: WrittenSheet) -> dict[str, Any]:
    return {name: getattr(sheet, name) for name in sheet.__struct_fields__}


def _statement_notes(found: Answered) -> list[str]:
    """Return what a model must know of the rows of a statement."""
    is_ordered = found.answer["is_ordered"]
    order = [] if is_ordered else ["no ORDER BY: the order of the rows is not defined"]
    return [*_told_notes(found), *order]


def _told_notes(found: Answered) -> list[str]:
    """Return what people must know of the rows of a statement, too."""
    answer = found.answer
    # A sheet may well be empty this time; but a misspelt value looks the same.
    notes = [*answer["spellings"], *answer["hints"]]
    if not answer["row_count"]:
        notes.append(NO_ROWS)
    if answer["lost_figures"]:
        notes.append(lost_figures_note(answer["lost_figures"]))
    return notes
