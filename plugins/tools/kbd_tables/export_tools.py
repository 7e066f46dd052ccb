"""Tools that export tables: to a new file, or into a sheet of a workbook.

Rows go through a file, which the target's format reads.
"""

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.formats import FormatHandler, Placement, Readable, ReadAs, Tabular, Written
from kbd.tools import CallLimits, FileRef, FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect, FileName
from kbd_tables import jobs
from kbd_tables.cache import TableCache, TableRef
from kbd_tables.jobs import WORK_LIMITS, QueryLimits, lost_figures_note
from kbd_tables.named_tables import StatementCall, ask_tables
from kbd_tables.read_tools import HowToRead, SourceSheet, TablePath

__all__ = [
    "NO_ROWS",
    "ExportTool",
    "Exported",
    "RowExport",
    "TableExport",
    "TableUpdateFromExport",
    "check_notation",
    "export_rows",
    "for_files",
    "found_target",
    "has_sheets",
    "is_text",
    "notation_of",
    "writes",
]


class RowExport(msgspec.Struct, frozen=True):
    """Rows to export.

    Args:
        table: The table.
        query: The statement that makes the rows; None for the whole table.
        keep_text: Whether numbers stay as they are written in the file, where that is possible.
        limits: Time, memory and threads of a statement.
    """

    table: TableRef
    query: str | None
    keep_text: bool
    limits: QueryLimits


class Exported(msgspec.Struct, frozen=True):
    """What must be known of rows that were exported.

    Args:
        notes: What the reader of the result must know.
        told: How their table was read, and what was lost of it, for people.
    """

    notes: list[str]
    told: tuple[str, ...]


async def export_rows(
    tables: TableCache, context: ToolContext, row_export: RowExport, rows: Path
) -> Exported:
    """Write the rows to a path.

    Raises:
        ValidationFailed, ToolTimeout, FileReadFailed, NotFound: As for
            `kbd_tables.named_tables.ask_tables`; ValidationFailed, too, where the statement finds
            nothing because no row has a value that it asks for.
    """
    if row_export.query is not None:
        call = StatementCall(
            ref=row_export.table,
            sql=row_export.query,
            limits=for_files(row_export.limits),
            job=jobs.export_query,
            arguments={"target": rows},
        )
        found = await ask_tables(tables, context, call)
        notes, told, answer = [*found.warnings, *found.sum_notes], found.told, found.answer
        notes += answer["spellings"]
        told = (*told, *answer["spellings"])
        _check_found(answer)
        if not answer["row_count"]:
            notes.append(NO_ROWS)
            told = (*told, NO_ROWS)
    elif row_export.keep_text:
        return await _plain(tables, context, row_export, rows)
    else:
        target = {"target": rows}
        table, answer = await tables.run(context, row_export.table, jobs.export, target)
        facts = table.column_facts([column.name for column in table.record.columns])
        notes, told = list(table.record.warnings), (*table.told, *facts)
    if not answer["is_ordered"]:
        notes.append("no ORDER BY: the order of the rows is not defined")
    if answer["lost_figures"]:
        lost = lost_figures_note(answer["lost_figures"])
        notes.append(lost)
        told = (*told, lost)
    return Exported(notes, told)


def for_files(limits: QueryLimits) -> QueryLimits:
    """Return the limits of a statement whose rows fill a file, which has twice the memory.

    Its rows are more than a window has: to sort 4.7 million of eight columns for the first 100,000
    took 600 MiB, and 200 for a window.
    """
    return msgspec.structs.replace(limits, query_memory_mb=2 * limits.query_memory_mb)


NO_ROWS = "the statement found no rows: there are only the names of its columns"


def _check_found(answer: Mapping[str, Any]) -> None:
    """Refuse to write what a misspelt value leaves: nothing, which looks like a result.

    Raises:
        ValidationFailed: No row has a value that is asked for; the message names those there are.
    """
    if answer["hints"]:
        raise ValidationFailed(f"nothing is written: {'; '.join(answer['hints'])}")


async def _plain(
    tables: TableCache, context: ToolContext, row_export: RowExport, rows: Path
) -> Exported:
    """Export the whole table with its numbers as they are written in the file."""
    plain = context.files.stage()
    file = context.files.get(row_export.table.path)
    # For its types and warnings; the rows are read again below, as the file spells them.
    opened = await tables.open(context, row_export.table)
    read = await context.formats.read_table(file, row_export.table.sheet, opened.read_as, plain)
    request = {
        "plain": plain,
        "names": [column.name for column in read.columns],
        "columns": [msgspec.structs.astuple(column) for column in opened.record.columns],
        "left_out_rows": opened.record.left_out_rows,
        "target": rows,
    }
    await context.isolate(jobs.export_plain, request, limits=WORK_LIMITS)
    return Exported(list(opened.record.warnings), opened.told)


_NOTATION = ("encoding", "delimiter", "header_row", "decimal", "date_order")
"""Fields of `ReadAs` that say how a text table is written."""

_CELL = re.compile(r"[A-Za-z]{1,3}[1-9][0-9]{0,6}")

_TOTALS = (
    "For totals let the last row be one (UNION ALL): a label such as Total, its other texts NULL, "
    "and the sums; in a workbook the sums of the rows above become formulas."
)

Query = Annotated[
    str | None,
    Meta(description="A reading SQL statement as in table_query; without it the whole table."),
]
TargetPath = Annotated[str, Meta(description="The file to write, in the draft.")]


def has_sheets(handler: FormatHandler) -> bool:
    """Tell whether a format has typed cells in sheets; else it is a table as plain text."""
    return isinstance(handler, Readable) and "sheet" in handler.coordinates


def writes(handler: FormatHandler) -> bool:
    """Tell whether tables are written to files of a format."""
    return isinstance(handler, Tabular) and handler.writes_tables


def is_text(handler: FormatHandler) -> bool:
    """Tell whether a format that tables are written to has neither sheets nor types: plain text."""
    return isinstance(handler, Tabular) and not handler.writes_types and not has_sheets(handler)


class UpdateArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to write into which sheet."""

    path: TablePath
    target_path: TargetPath
    sheet: Annotated[str, Meta(description="The sheet to write to.")]
    mode: Annotated[
        Literal["replace_sheet", "append_rows", "write_range"],
        Meta(description="Replace the sheet, append below its rows, or write at start_cell."),
    ]
    query: Query = None
    start_cell: Annotated[str, Meta(description="write_range: the top left cell.")] = "A1"
    include_header: Annotated[bool, Meta(description="Write the column names first.")] = True
    create_workbook_if_missing: Annotated[
        bool, Meta(description="Make the workbook if it is not there.")
    ] = True
    create_sheet_if_missing: Annotated[
        bool, Meta(description="Make the sheet if it is not there.")
    ] = True
    clear_target_range: Annotated[
        bool, Meta(description="write_range: first empty what is there.")
    ] = False
    source_sheet: SourceSheet = None
    read_as: HowToRead = ReadAs()


class ExportTool(Tool):
    """Base of the tools that export.

    Args:
        tables: The typed tables that are kept.
        limits: Time, memory and threads of a statement.
        formats: The installed formats.
    """

    effect: ClassVar[Effect] = Effect.WRITE
    limits: ClassVar[CallLimits] = WORK_LIMITS
    preload: ClassVar[tuple[str, ...]] = ("kbd_tables.results",)

    def __init__(self, tables: TableCache, limits: QueryLimits, formats: FormatCatalog) -> None:
        self._tables = tables
        self._query_limits = limits
        self._handlers = [handler for handler in formats.handlers() if writes(handler)]

    def path_of(self, arguments: Any) -> str | None:
        """Return the file that is written, not the one that is read."""
        path = arguments.target_path
        return path if isinstance(path, str) else None


class TableExport(ExportTool):
    """`table_export`: a table, or what a query makes of it, as a file."""

    name: ClassVar[str] = "table_export"
    wire_method: ClassVar[str] = "TabularExport"

    def __init__(self, tables: TableCache, limits: QueryLimits, formats: FormatCatalog) -> None:
        super().__init__(tables, limits, formats)
        names = [handler.name for handler in self._handlers]
        self.description = (
            "Write a table, or what a query makes of it, to a file in the draft, types kept: dates "
            "are dates in workbooks, numbers keep their text form in text tables. To change "
            f"one sheet of a workbook use table_update_from_export. {_TOTALS} "
            f"Formats: {', '.join(names)}."
        )
        self.arguments = _export_arguments(names)

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Return `{target_path, format, row_count, column_count, warnings}`.

        A workbook that exists keeps its other sheets; of another file nothing is kept, and the
        warnings say so.

        Raises:
            ValidationFailed: The format does not fit the target, the target is read by what was
                said of it, or the query is refused.
        """
        existing, name, handler = found_target(context, arguments.target_path)
        if handler is not None and not writes(handler):
            suffixes = ", ".join(suffix for each in self._handlers for suffix in each.suffixes)
            raise ValidationFailed(
                f"no table is written to {name}: files of the format {handler.name} are not "
                f"written as tables; target_path must end with one of {suffixes}"
            )
        if handler is None or handler.name != arguments.format:
            kind = f"is for {handler.name}" if handler else "has no format's suffix"
            raise ValidationFailed(
                f"format {arguments.format} does not fit target_path: {name} {kind}"
            )
        if existing is not None and is_text(handler):
            check_notation(existing)
        placement, source = Placement(sheet=arguments.sheet), None  # the file is written anew
        warnings = []
        if existing is not None and has_sheets(handler):
            placement, source = Placement(sheet=arguments.sheet, mode="replace_sheet"), existing
            warnings.append(f"{name} exists: sheet {arguments.sheet} was written, others are kept")
        elif existing is not None:
            warnings.append(f"{name} exists: it was written anew, and nothing of it is kept")
        row_export = RowExport(
            table=TableRef(arguments.path, arguments.source_sheet, arguments.read_as),
            query=arguments.query,
            # A text table keeps "12.50" as it is written; a workbook gets the number.
            keep_text=is_text(handler),
            limits=self._query_limits,
        )
        target = _Target(handler, name, source, placement, tuple(warnings))
        written, exported = await _write(self._tables, context, row_export, target)
        value = {
            "target_path": name,
            "format": handler.name,
            "row_count": written.row_count,
            "column_count": written.column_count,
            "warnings": [*exported.notes, *warnings, *written.warnings, *written.result_warnings],
        }
        if has_sheets(handler):
            value["sheet"] = arguments.sheet
        return ToolResult(value, is_action=True, told=exported.told)


class TableUpdateFromExport(ExportTool):
    """`table_update_from_export`: rows into a sheet of a workbook, the rest of it kept."""

    name: ClassVar[str] = "table_update_from_export"
    wire_method: ClassVar[str] = "TabularUpdateFromExport"
    arguments = UpdateArguments

    def __init__(self, tables: TableCache, limits: QueryLimits, formats: FormatCatalog) -> None:
        super().__init__(tables, limits, formats)
        names = ", ".join(handler.name for handler in self._handlers if has_sheets(handler))
        plain = ", ".join(handler.name for handler in self._handlers if is_text(handler))
        self.description = (
            "Write a table, or what a query makes of it, into one sheet of a workbook "
            f"({names}) in the draft; other sheets are kept. Modes: replace_sheet, append_rows "
            "(below what is there), write_range (at start_cell). Give the query an ORDER BY. "
            f"{_TOTALS} "
            f"append_rows also adds to the end of a text table that exists ({plain})."
        )

    async def run(self, context: ToolContext, arguments: UpdateArguments) -> ToolResult:
        """Return `{target_path, sheet, written_range, row_count, column_count, warnings}`.

        Raises:
            ValidationFailed: An argument does not fit; each has its own message.
            NotFound: The workbook does not exist and shall not be made.
        """
        _check(arguments)
        existing, name, handler = found_target(context, arguments.target_path)
        if handler is None or not (
            (has_sheets(handler) and writes(handler)) or _can_append(handler, existing, arguments)
        ):
            suffixes = ", ".join(s for h in self._handlers if has_sheets(h) for s in h.suffixes)
            raise ValidationFailed(
                f"target_path must be a workbook ({suffixes}); {_why_not(handler, name)}"
            )
        if existing is None and not arguments.create_workbook_if_missing:
            existing = context.files.get(name)  # raises, naming near matches
        notation = ReadAs()
        if is_text(handler):
            notation = await notation_of(self._tables, context, name)
        placement = Placement(
            sheet=arguments.sheet,
            mode=arguments.mode,
            start_cell=arguments.start_cell.upper(),
            include_header=arguments.include_header,
            create_sheet_if_missing=arguments.create_sheet_if_missing,
            clear_target_range=arguments.clear_target_range,
            read_as=notation,
        )
        row_export = RowExport(
            table=TableRef(arguments.path, arguments.source_sheet, arguments.read_as),
            query=arguments.query,
            # As values: they are written in the notation of the file that they are added to.
            keep_text=False,
            limits=self._query_limits,
        )
        target = _Target(handler, name, existing, placement)
        written, exported = await _write(self._tables, context, row_export, target)
        value = {
            "target_path": name,
            "sheet": arguments.sheet if has_sheets(handler) else None,
            "written_range": written.written_range,
            "row_count": written.row_count,
            "column_count": written.column_count,
            "warnings": [*exported.notes, *written.warnings, *written.result_warnings],
        }
        return ToolResult(value, is_action=True, told=exported.told)


async def notation_of(tables: TableCache, context: ToolContext, name: FileName) -> ReadAs:
    """Return how a text table is read that rows are added to.

    Raises:
        ValidationFailed: It is not known what its figures are, so rows could not go on in their
            way; or it cannot be read as it was said of it.
    """
    try:
        table = await tables.open(context, TableRef(name))
    except ValidationFailed:
        file = context.files.get(name)
        if file.size_bytes and file.read_as != ReadAs():
            raise
        # It holds no table yet: what was said of it is all that is known of its notation.
        return file.read_as
    reading = table.record.reading
    for question in reading.questions:
        if question.about != "totals":
            meanings = "; ".join(f"{one.value}: {one.meaning}" for one in question.options)
            raise ValidationFailed(
                f"{name} can be read in two ways, so rows cannot be added in its notation: "
                f"{question.text} ({meanings}); it has to be said of the file first"
            )
    found = {"decimal": reading.decimal, "date_order": reading.date_order}
    return msgspec.convert(
        {name: value for name, value in found.items() if value}
        | msgspec.to_builtins(table.read_as),
        ReadAs,
    )


def check_notation(file: FileRef) -> None:
    """Refuse to write a text table anew of which it was said how it is written.

    Raises:
        ValidationFailed: What was said goes on to hold for the name, and figures that are written
            otherwise would be read by it.
    """
    said = {name: getattr(file.read_as, name) for name in _NOTATION}
    told = [f"{name} {value}" for name, value in said.items() if value is not None]
    if told:
        raise ValidationFailed(
            f"{file.name} is read as it was said of it ({', '.join(told)}), and what is exported "
            "is written otherwise; name another target_path"
        )


def _can_append(
    handler: FormatHandler, existing: FileRef | None, arguments: UpdateArguments
) -> bool:
    """Tell whether rows can be added to a table without sheets: at its end, in its own form."""
    is_wanted = existing is not None and arguments.mode == "append_rows"
    return is_wanted and writes(handler) and is_text(handler)


def _why_not(handler: FormatHandler | None, name: FileName) -> str:
    """Return why a file is none of whose sheets can be written, and what can be done instead."""
    if handler is None or not isinstance(handler, Tabular):
        return f"{name} is not"
    if writes(handler):
        return f"{name} is not; table_export writes it whole"
    if has_sheets(handler):
        return f"{name} is read, not written, as is every file of the format {handler.name}"
    return f"{name} is not, and no table is written to files of the format {handler.name}"


def _export_arguments(formats: list[str]) -> type[msgspec.Struct]:
    """Return the record of an export; its formats are those that are installed."""
    return msgspec.defstruct(
        "ExportArguments",
        [
            ("path", TablePath),
            ("target_path", TargetPath),
            (
                "format",
                Annotated[
                    str,
                    Meta(
                        description="The target's format; it must fit the suffix of target_path.",
                        extra_json_schema={"enum": formats},
                    ),
                ],
            ),
            ("query", Query, None),
            ("sheet", Annotated[str, Meta(description="The sheet of a workbook.")], "Sheet1"),
            ("source_sheet", SourceSheet, None),
            ("read_as", HowToRead, ReadAs()),
        ],
        frozen=True,
        forbid_unknown_fields=True,
        module=__name__,
    )


def _check(arguments: UpdateArguments) -> None:
    """Check what the record cannot.

    Raises:
        ValidationFailed: With a text of its own for each fault (conformance 77).
    """
    if not arguments.target_path.strip():
        raise ValidationFailed("target_path is missing")
    if not arguments.sheet.strip():
        raise ValidationFailed("sheet is missing: name the sheet to write to")
    if not _CELL.fullmatch(arguments.start_cell):
        raise ValidationFailed(f"start_cell {arguments.start_cell!r} is not a cell such as B2")
    if arguments.mode == "write_range":
        return
    if arguments.clear_target_range:
        raise ValidationFailed(f"clear_target_range is for write_range, not {arguments.mode}")
    if arguments.start_cell.upper() != "A1":
        raise ValidationFailed(f"start_cell is for write_range, not {arguments.mode}")


def found_target(
    context: ToolContext, path: str
) -> tuple[FileRef | None, FileName, FormatHandler | None]:
    """Return the file that is there, the name to write, and the handler that writes it."""
    existing = context.files.find(path)
    name = context.files.new(path) if existing is None else existing.name
    return existing, name, context.formats.for_name(name)


class _Target(msgspec.Struct, frozen=True):
    """Where rows go: the format that writes them, the file and what it is now, and the place.

    `warnings` are what becomes of what is there.
    """

    handler: FormatHandler
    name: FileName
    source: FileRef | None
    placement: Placement
    warnings: tuple[str, ...] = ()


async def _write(
    tables: TableCache, context: ToolContext, row_export: RowExport, target: _Target
) -> tuple[Written, Exported]:
    """Export the rows, have the format write them, and stage the file for the draft."""
    rows = context.files.stage()
    source, placement = target.source, target.placement
    # A format with several suffixes writes what the suffix says: commas or tabs.
    staged = context.files.stage(PurePosixPath(target.name).suffix)
    exported = await export_rows(tables, context, row_export, rows)
    written = await context.formats.write_table(target.handler, source, rows, placement, staged)
    # Last: whatever fails before leaves the draft as it was.
    is_whole = source is None or placement.mode == "new_file"
    remaining = () if is_whole else written.remaining
    context.files.put(
        target.name,
        staged,
        remaining=remaining,
        notes=(*target.warnings, *written.warnings, *exported.told),
        focus=written.focus,
    )
    return written, exported
