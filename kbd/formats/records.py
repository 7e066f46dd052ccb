"""What is handed to a format's handler, and what it hands back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kbd.formats.table_reading import AggregateRow, TableReading
from kbd.types import FocusHint, ReadAs

__all__ = [
    "Applied",
    "AssetPick",
    "Calculated",
    "Calculation",
    "CellValue",
    "ChartForm",
    "ChunkInfo",
    "Column",
    "ColumnName",
    "ColumnType",
    "Grid",
    "GridMerge",
    "GridWindow",
    "Passage",
    "Placement",
    "Preview",
    "Printed",
    "Reading",
    "Region",
    "SheetForm",
    "SheetRows",
    "Source",
    "Table",
    "TotalFunction",
    "Written",
    "WrittenSheet",
    "WrittenTables",
]

ColumnType = Literal["integer", "float", "boolean", "date", "datetime", "string"]
"""The types of columns that tables report."""

CellValue = None | bool | int | float | str | dict[str, Any]
"""A cell as a plain value; see `Reading.rows`."""


class Source(msgspec.Struct, frozen=True):
    """A file to read.

    Args:
        path: Where its bytes are. The name there means nothing: it is content-addressed.
        name: The file's name in the workbench, for its suffix and for messages.
        shelf: A folder, perhaps not there yet, for what a handler derives from these very bytes and
            wants again in a later call. It may be emptied at any time, and several calls may write
            to it at once: write beside and rename. None where nothing is kept.
        external: What the edits of the draft made it reach out to (`Applied.external`), in an edit:
            what is left of that is `Applied.remaining`.
    """

    path: Path
    name: str
    shelf: Path | None = None
    external: tuple[str, ...] = ()


class Region(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which part of a file to read, in the coordinates that its map gives.

    `sheet` and `range` are of workbooks, `section` and `chunk` of documents (heading, else
    0-based index), `slide_index` is 0-based, `pages` like "1-5" or "2,7-9" and `line_start` are
    1-based. A format refuses coordinates that are not its own with VALIDATION_FAILED.
    """

    sheet: str | None = None
    range: str | None = None
    section: str | int | None = None
    chunk: int | None = None
    slide_index: int | None = None
    pages: str | None = None
    line_start: int | None = None
    line_count: int | None = None

    def named(self) -> tuple[str, ...]:
        """Name the coordinates that are given."""
        given = msgspec.structs.asdict(self)
        return tuple(name for name, value in given.items() if value is not None)


class ChunkInfo(msgspec.Struct, frozen=True):
    """Where a reading stands in the whole: `range` is in the format's own coordinates."""

    chunk_index: int
    total_chunks: int
    has_more: bool
    range: str


class Reading(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text of a region.

    Args:
        text: The content as a reader would want it.
        chunk_info: Where it stands, or None if it is the whole file.
        warnings: What the reader must know: guessed encodings, values that are not current.
        rows: The same cells as values, only by `Celled.cells`: null, number, boolean, text, or one
            of {"date": ISO}, {"datetime": ISO}, {"time": ISO}, {"duration": h:mm:ss}, {"error":
            "#N/A"}, {"formula": "=A1*2", "value": what was stored, or null, "current": boolean}.
        objects: What stands in the region, only by `Composed.objects`: lists of plain values by
            kind ("tables", "images", "shapes").
    """

    text: str
    chunk_info: ChunkInfo | None = None
    warnings: tuple[str, ...] = ()
    rows: tuple[tuple[CellValue, ...], ...] | None = None
    objects: Mapping[str, tuple[dict[str, Any], ...]] | None = None


class Passage(msgspec.Struct, frozen=True):
    """A piece of a file's text and where it stands.

    Args:
        text: The piece.
        place: Its place as people would name it ("Sheet1!A1:E50", "page 3").
        region: The same in the coordinates that read this piece again; None where none do.
        heading: What stands above it and says what it is, such as the names of a table's columns;
            no part of its text. A search finds the piece by these words, too.
    """

    text: str
    place: str
    region: Region | None = None
    heading: str = ""


class Applied(msgspec.Struct, frozen=True):
    """What an edit did.

    Args:
        applied: How many operations were applied: all of them, for a call is all or nothing.
        changed: What changed, one short text an operation ("Sheet1!A1:C3", "3 replacements").
        warnings: What was skipped or should be looked at.
        external: What the file reaches out to now and did not before ("Sheet1!B2: WEBSERVICE"); it
            is not published before a person accepts it.
        remaining: Of `Source.external`, what the file still reaches out to after the edit. None
            where that is not known: then all of it counts.
        focus: Where to look first.
        told: What people must know of figures that were worked out, a sentence each.
        open_results: The cells whose formulas have no result, or an old one, since this edit, as
            sheets and ranges; of a format that is `Calculable`.
        formulas_written: Of these, those that the edit wrote.
        lacks_results: Whether formulas of the file have no result, these or any others.
        results: What formulas came to, in words; filled in by who has them calculated, as is
        result_warnings: Which of them have none, and why; errors.
    """

    applied: int
    changed: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    remaining: tuple[str, ...] | None = None
    focus: FocusHint | None = None
    told: tuple[str, ...] = ()
    open_results: tuple[tuple[str, str], ...] = ()
    formulas_written: tuple[tuple[str, str], ...] = ()
    lacks_results: bool = False
    results: tuple[str, ...] = ()
    result_warnings: tuple[str, ...] = ()


class Calculation(msgspec.Struct, frozen=True):
    """Results of formulas that are asked for; those that have none are worked out besides.

    Args:
        now_us: What time it is for functions that ask, in microseconds since 1970 UTC.
        places: The cells whose formulas are worked out, as sheets and ranges ("Sheet1", "C2:C9").
        written: Of these, the cells whose formulas somebody wrote just now.
    """

    now_us: int
    places: tuple[tuple[str, str], ...] = ()
    written: tuple[tuple[str, str], ...] = ()


class Calculated(msgspec.Struct, frozen=True):
    """What a calculation came to.

    Args:
        count: How many results were stored; without any no file was written.
        results: The first of them in words, errors first ("Sheet1!E1 = 42").
        warnings: What was not worked out, and why; errors, and formulas that read empty cells.
    """

    count: int
    results: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class AssetPick(msgspec.Struct, frozen=True):
    """Something to be copied from one file into another.

    Args:
        asset_id: "kind:name", as `get_styles` lists it under `assets`.
        target: Where it goes, in the format's own words, or None where that is plain.
    """

    asset_id: str
    target: str | None = None


class Column(msgspec.Struct, frozen=True):
    """A column of a table; `type` is None where the format does not know it (text formats)."""

    name: str
    type: ColumnType | None = None


class Table(msgspec.Struct, frozen=True):
    """What `read_table` found.

    Args:
        columns: The columns in order; names are unique and not empty.
        row_count: Data rows, the header not counted.
        reading: How it was read.
        details: What the map shows beside it (sheet, range …).
        warnings: Rows that were padded or cut, guesses with low confidence.
        aggregates: Rows whose formulas sum others up, where the file has formulas.
    """

    columns: tuple[Column, ...]
    row_count: int
    reading: TableReading = TableReading()
    details: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()
    aggregates: tuple[AggregateRow, ...] = ()


class Placement(msgspec.Struct, frozen=True):
    """Where `write_table` puts rows.

    Args:
        sheet: The sheet, for formats with sheets.
        mode: `new_file`: the file holds just these rows; `replace_sheet`, `append_rows` and
            `write_range` change the sheet of an existing file.
        start_cell: The top left cell of `write_range` (A1 style).
        include_header: Whether the column names are written as the first row.
        create_sheet_if_missing: Whether a sheet that is not there is made.
        clear_target_range: Whether `write_range` first empties what was below and right.
        read_as: How the file is read that rows are appended to, where it does not say so itself:
            what was said of it, and its decimal mark and order of dates.
    """

    sheet: str = "Sheet1"
    mode: Literal["new_file", "replace_sheet", "append_rows", "write_range"] = "new_file"
    start_cell: str = "A1"
    include_header: bool = True
    create_sheet_if_missing: bool = True
    clear_target_range: bool = False
    read_as: ReadAs = ReadAs()


class Written(msgspec.Struct, frozen=True):
    """What `write_table` wrote: the range ("A1:C40", "" where there are no cells) and its size.

    `remaining` is that of `Applied`, where a part of a file was written; `focus` says where to look
    first. `open_results`, `lacks_results`, `results` and `result_warnings` are those of `Applied`,
    too.
    """

    written_range: str
    row_count: int
    column_count: int
    warnings: tuple[str, ...] = ()
    remaining: tuple[str, ...] | None = None
    focus: FocusHint | None = None
    open_results: tuple[tuple[str, str], ...] = ()
    lacks_results: bool = False
    results: tuple[str, ...] = ()
    result_warnings: tuple[str, ...] = ()


ColumnName = Annotated[str, Meta(min_length=1, max_length=1000)]
"""The name of a column, as an argument."""

TotalFunction = Literal["sum", "average", "minimum", "maximum", "count"]
"""How a total is made of the values above it; `count` counts those that are filled."""


class ChartForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A chart beside the rows of a sheet.

    Args:
        kind: What it looks like.
        category: The column of its labels.
        values: The columns of its series.
        title: Its title.
    """

    kind: Literal["column", "bar", "line", "pie"]
    category: ColumnName
    values: Annotated[tuple[ColumnName, ...], Meta(min_length=1)]
    title: str = ""


class SheetForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a written sheet has beside its rows, by role.

    Args:
        title: A line above the headings, "" for none.
        totals: Columns with a total below their rows, each with how it is made; a formula.
        totals_label: What stands in the first column of the row of totals.
        formats: Number formats of columns, as spreadsheets write them.
        widths: Widths of columns in characters; others fit their contents.
        plain: Whether headings and totals look like any row.
        chart: A chart; None for none.
    """

    title: str = ""
    totals: dict[ColumnName, TotalFunction] = {}
    totals_label: str = "Total"
    formats: dict[ColumnName, str] = {}
    widths: dict[ColumnName, Annotated[float, Meta(gt=0, le=255)]] = {}
    plain: bool = False
    chart: ChartForm | None = None


class SheetRows(msgspec.Struct, frozen=True):
    """Rows for one sheet of a file, of several that are written at once.

    Args:
        rows: The rows, as `Tabular.write_table` takes them.
        placement: Where they go; of modes `new_file`, `replace_sheet` and `append_rows`.
        form: What the sheet has beside them.
    """

    rows: Path
    placement: Placement
    form: SheetForm = SheetForm()


class WrittenSheet(msgspec.Struct, frozen=True):
    """What was written into one sheet.

    Args:
        sheet: Its name; "" for formats without sheets.
        written_range: The cells with the title, the headings and the totals; "" for none.
        row_count: Rows that were put, headings and totals not counted.
        column_count: Their columns.
        totals: What the totals come to, by their columns: a number, or a date as ISO text.
    """

    sheet: str
    written_range: str
    row_count: int
    column_count: int
    totals: dict[str, int | float | str] = {}


class WrittenTables(msgspec.Struct, frozen=True):
    """What `write_tables` wrote, a sheet each in their order; the rest is that of `Written`."""

    sheets: tuple[WrittenSheet, ...]
    warnings: tuple[str, ...] = ()
    remaining: tuple[str, ...] | None = None
    focus: FocusHint | None = None
    open_results: tuple[tuple[str, str], ...] = ()
    lacks_results: bool = False
    results: tuple[str, ...] = ()
    result_warnings: tuple[str, ...] = ()


class Preview(msgspec.Struct, frozen=True):
    """What people would see.

    Args:
        data: The picture's bytes, at most 5 MiB.
        mime_type: "image/png" or "image/jpeg".
        width: In pixels.
        height: In pixels.
        count: How many pages, slides or frames the file has.
        warnings: What differs from what people would see.
        size: The width and height of what is shown, upright: of a page in points, of a picture in
            its own pixels; None where that is not known.
    """

    data: bytes
    mime_type: str
    width: int
    height: int
    count: int = 1
    warnings: tuple[str, ...] = ()
    size: tuple[float, float] | None = None


class Printed(msgspec.Struct, frozen=True):
    """What printing a document made.

    Args:
        page_count: How many pages it has.
        program: What has printed it, as people call it.
        warnings: What the printed document does not hold, or shows otherwise.
    """

    page_count: int
    program: str
    warnings: tuple[str, ...] = ()


class GridWindow(msgspec.Struct, frozen=True, omit_defaults=True):
    """Window of a sheet or table: which cells of it to show.

    Args:
        sheet: Which sheet, for formats with sheets; None for the first one.
        row_start: Its first row, from 1; of a delimited table its first data row.
        row_count: The most rows.
        column_start: Its first column, from 1.
        column_count: The most columns.
    """

    sheet: str | None = None
    row_start: int = 1
    row_count: int = 50
    column_start: int = 1
    column_count: int = 26


class GridMerge(msgspec.Struct, frozen=True):
    """Merged range: its first cell, which has the value, and its size; counted from 1."""

    row: int
    column: int
    row_count: int
    column_count: int


class Grid(msgspec.Struct, frozen=True, omit_defaults=True):
    """Cells of a window, as people see them.

    Args:
        sheet: The sheet; "" where there are none.
        sheets: All sheets, in order.
        row_start: The first row.
        column_start: The first column.
        columns: What the window's columns are called: letters in a sheet, else their names.
        rows: Of each row its values as text: None for a blank cell, and for all of a merged range
            but its first one. Fewer rows than were asked for where the cells end, or where the
            window is full.
        merged: The merged ranges that reach into the window.
        total_rows: Rows up to the last one that holds anything.
        total_columns: Columns, likewise.
        warnings: What the reader must know: texts that were cut, results that are not stored.
    """

    sheet: str
    sheets: tuple[str, ...]
    row_start: int
    column_start: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    total_rows: int
    total_columns: int
    merged: tuple[GridMerge, ...] = ()
    warnings: tuple[str, ...] = ()
