"""What a file format must offer: a handler, and the capabilities that it implements.

A handler is synchronous and runs in a worker process of its plugin, never in the daemon. It is
given files to read and a path to write to; it knows nothing of drafts, events or models. What it
can do is told by the capabilities it inherits:

    Mappable   map()                       the structure of a file, without its contents
    Readable   read(), passages()          the text of a region; all text with its places
    Celled     cells()                     a region's cells as typed values, beside its text
    Composed   objects()                   a region's tables, pictures and shapes, beside its text
    Previewable  preview()                 a page, slide or picture as people see it
    Editable   operations, apply()         typed operations on a new or an existing file
    Tabular    read_table(), write_table() a file or sheet as rows with named, typed columns
    Styled     get_styles(), copy_assets() how a file looks, and what of it another one can take

Comparable joins when the first format offers it.

A plugin's package declares handlers in its `__init__` and imports its heavy libraries in other
modules: those named in `preload` are imported once in the worker's zygote, the daemon never
imports them. Handlers raise `kbd.errors.KbdError`; anything else they raise is reported as
FILE_READ_FAILED (or FILE_WRITE_FAILED when writing) without a traceback.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

__all__ = [
    "Applied",
    "AssetPick",
    "CellValue",
    "Celled",
    "ChunkInfo",
    "Column",
    "ColumnType",
    "Composed",
    "Editable",
    "FormatHandler",
    "Mappable",
    "Passage",
    "Placement",
    "Preview",
    "Previewable",
    "Readable",
    "Reading",
    "Region",
    "Source",
    "Styled",
    "Table",
    "Tabular",
    "Written",
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
    """

    path: Path
    name: str
    shelf: Path | None = None


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
    """A piece of a file's text and the place where it stands, as people would name it."""

    text: str
    place: str


class Applied(msgspec.Struct, frozen=True):
    """What an edit did.

    Args:
        applied: How many operations were applied: all of them, for a call is all or nothing.
        changed: What changed, one short text an operation ("Sheet1!A1:C3", "3 replacements").
        warnings: What was skipped or should be looked at.
        external: What the file reaches out to now and did not before ("Sheet1!B2: WEBSERVICE"); it
            is not published before a person accepts it.
    """

    applied: int
    changed: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    external: tuple[str, ...] = ()


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
        encoding: The encoding that was detected or declared; "" where there is none to detect.
        encoding_confidence: 0 to 1.
        details: What the map shows beside it (delimiter, quote_char, has_header, sheet …).
        warnings: Rows that were padded or cut, guesses with low confidence.
    """

    columns: tuple[Column, ...]
    row_count: int
    encoding: str = ""
    encoding_confidence: float = 1.0
    details: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()


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
    """

    sheet: str = "Sheet1"
    mode: Literal["new_file", "replace_sheet", "append_rows", "write_range"] = "new_file"
    start_cell: str = "A1"
    include_header: bool = True
    create_sheet_if_missing: bool = True
    clear_target_range: bool = False


class Written(msgspec.Struct, frozen=True):
    """What `write_table` wrote: the range ("A1:C40", "" where there are no cells) and its size."""

    written_range: str
    row_count: int
    column_count: int
    warnings: tuple[str, ...] = ()


class FormatHandler(ABC):
    """A file format. Class attributes declare it; capabilities say what it can do.

    Attributes:
        name: Short and lower case; `<name>_operations` is built from it if it is Editable.
        wire_name: The prefix of its wire methods ("Xlsx" of `XlsxGetMap`).
        kind: The word that manifests show ("spreadsheet", "text", "table" …).
        suffixes: Lower-case suffixes with their MIME types, each with its dot; a name without a
            suffix may be given by its whole lower-case name ("makefile").
        preload: Modules that the worker imports once, before it forks for calls.
        guidance: What a model should know to use the format well; shown with its tools.
        wire_info: What the wire method that answers `info` is called, without the prefix.
        wire_methods: Which of the wire methods that its capabilities give clients get, without the
            prefix ("GetMap"); None for all. Those of `Readable.wire_reads` are not named here.
    """

    name: ClassVar[str]
    wire_name: ClassVar[str]
    kind: ClassVar[str]
    suffixes: ClassVar[Mapping[str, str]]
    preload: ClassVar[tuple[str, ...]] = ()
    guidance: ClassVar[str] = ""
    wire_info: ClassVar[str] = "GetInfo"
    wire_methods: ClassVar[tuple[str, ...] | None] = None

    def info(self, source: Source) -> dict[str, Any]:
        """Return what `get_file_info` shows beside size and kind (sheets, page_count …)."""
        del source
        return {}


class Mappable(ABC):
    """A format that can tell a file's structure without its contents."""

    @abstractmethod
    def map(self, source: Source) -> dict[str, Any]:
        """Return the map as plain values, with the field names of the contract, section 8.

        Raises:
            FileReadFailed: The file is not what its name says, encrypted, or damaged.
        """


class Readable(ABC):
    """A format whose text can be read by region."""

    coordinates: ClassVar[tuple[str, ...]] = ()
    """The fields of `Region` that this format understands."""

    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Wire methods that read a region, without the prefix, each with the coordinates that it takes
    (`{"ReadRange": ("sheet", "range")}`)."""

    @abstractmethod
    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of a region; of a large file without coordinates, its first chunk.

        Raises:
            FileReadFailed: The file cannot be read.
            ValidationFailed: The region does not exist or is not in this format's coordinates.
        """

    @abstractmethod
    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text with its places, in order.

        Raises:
            FileReadFailed: The file cannot be read.
        """


class Celled(Readable):
    """A readable format whose regions are made of typed cells."""

    @abstractmethod
    def cells(self, source: Source, region: Region) -> Reading:
        """Return what `read` does, with `rows`, and `chunk_info` even of the whole.

        `rows` is the rectangle of `chunk_info.range`, blank rows and cells included. Raises as
        `read` does.
        """


class Composed(Readable):
    """A readable format whose regions hold objects beside text."""

    @abstractmethod
    def objects(self, source: Source, region: Region) -> Reading:
        """Return what `read` does, with `objects`; the same for the same bytes each time.

        Raises as `read` does.
        """


class Preview(msgspec.Struct, frozen=True):
    """What people would see.

    Args:
        data: The picture's bytes, at most 5 MiB.
        mime_type: "image/png" or "image/jpeg".
        width: In pixels.
        height: In pixels.
        count: How many pages, slides or frames the file has.
        warnings: What differs from what people would see.
    """

    data: bytes
    mime_type: str
    width: int
    height: int
    count: int = 1
    warnings: tuple[str, ...] = ()


class Previewable(ABC):
    """A format that can show a page, a slide or a picture."""

    preview_unit: ClassVar[Literal["Page", "Slide", ""]] = ""
    """What one preview shows: the wire method is named for it (`ReviewGetPdfPreviewPage`); "" for a
    format whose files are one picture (`ReviewGetImagePreview`)."""

    @abstractmethod
    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Return a page, slide or frame as a picture whose longer edge has at most `edge_px`.

        Args:
            source: The file.
            index: Which one, from 0.
            edge_px: From 16 to 4,096.

        Raises:
            FileReadFailed: The file cannot be read, or is past a limit.
            ValidationFailed: There is no such page, slide or frame.
        """


class Editable(ABC):
    """A format that can be changed by operations."""

    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = ()
    """The operation records, each a frozen Struct tagged by `op`; the tool's schema is theirs."""

    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names under which operations' fields are taken, which no schema teaches ({"find":
    "search"}): in an operation that has the field, and not the other name for one of its own."""

    @abstractmethod
    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Write the file that results from the operations to `target`.

        Args:
            source: The file to start from, or None for a new one. It is not changed.
            operations: Instances of the classes in `operations`, in order.
            target: A path that does not exist yet.

        Everything that the operations do not name is kept, or the edit is refused.

        Raises:
            ValidationFailed: An operation cannot be applied, or not without a loss.
            FileReadFailed: The source cannot be read.
        """


class Styled(ABC):
    """A format that can tell how a file looks, and carry looks and media into another file."""

    @abstractmethod
    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return the styles as plain values, with `assets`: a list of {asset_id, kind, …}.

        Args:
            source: The file.
            sheet: Of which sheet, for formats with sheets; None for the whole file.

        Raises:
            FileReadFailed: The file cannot be read.
            ValidationFailed: There is no such sheet, or the format has none.
        """

    @abstractmethod
    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Write to `target` the file that results from copying assets into `into`.

        Args:
            source: The file that has the assets. It is not changed.
            into: The file that gets them, or None for a new one. It is not changed.
            picks: What to copy, in order; all or nothing.
            target: A path that does not exist yet.

        Raises:
            ValidationFailed: There is no such asset, or it cannot be copied without a loss.
            FileReadFailed: A file cannot be read.
        """


class Tabular(ABC):
    """A format whose files, or sheets of them, are tables."""

    @abstractmethod
    def read_table(self, source: Source, sheet: str | None, target: Path) -> Table:
        """Write the table to `target` in the plain form and describe it.

        The plain form is UTF-8 CSV: comma, `"` quotes doubled inside, LF, a header row with the
        names of `Table.columns`, every row of the same width, an empty field for no value.
        Typed values are written as 1234.5, true/false, 2024-01-31, 2024-01-31T10:00:00.

        Raises:
            FileReadFailed: The file cannot be read.
            ValidationFailed: There is no such sheet, or it is needed and not given.
        """

    @abstractmethod
    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write rows into a file.

        Args:
            source: The file to change, or None for a new one.
            rows: A msgpack stream: first the columns as `[[name, type], …]`, then one array a
                row. Values are nil, bool, int, float, str; a date or datetime is its ISO text, and
                a float column may hold exact decimals as text ("12.50").
            placement: Where they go.
            target: A path that does not exist yet.

        Text that looks like a formula is written as text.

        Raises:
            ValidationFailed: The placement does not fit the format or the file.
            FileReadFailed: The source cannot be read.
        """
