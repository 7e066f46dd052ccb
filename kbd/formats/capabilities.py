"""What a handler declares, and the capabilities that it may inherit."""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats.comparison import CompareOptions, Comparison, Place, Trace
from kbd.formats.layout import LayoutPart, PageLayout
from kbd.formats.records import (
    Applied,
    AssetPick,
    Calculated,
    Calculation,
    Grid,
    GridWindow,
    Passage,
    Placement,
    Preview,
    Reading,
    Region,
    SheetRows,
    Source,
    Table,
    Written,
    WrittenSheet,
    WrittenTables,
)
from kbd.types import ReadAs

__all__ = [
    "Calculable",
    "Celled",
    "Comparable",
    "Composed",
    "Editable",
    "FormatHandler",
    "Gridded",
    "Inspectable",
    "LaidOut",
    "Mappable",
    "Previewable",
    "Printable",
    "Readable",
    "Receiptable",
    "Styled",
    "Tabular",
]


class FormatHandler(ABC):
    """A file format. Class attributes declare it; capabilities say what it can do.

    Attributes:
        name: Short and lower case; `<name>_operations` is built from it if it is Editable.
        wire_name: The prefix of its wire methods ("Xlsx" of `XlsxGetMap`).
        kind: The word that manifests show ("spreadsheet", "text", "table" …).
        suffixes: Lower-case suffixes with their MIME types, each with its dot; a name without a
            suffix may be given by its whole lower-case name ("makefile").
        preload: Modules that the worker imports once, before it forks for calls; with
            `module:function` as for `kbd.tools.Tool`.
        guidance: What a model should know to use the format well; shown with its tools.
        style_file: A text file in the handler's package that says how good files of the format
            look ("style.md"), at most 16 KiB; a run that is about the format is told it. "" for
            none.
        style_words: Words of a request that ask for such files ("slides"), beside the name and the
            suffixes.
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
    style_file: ClassVar[str] = ""
    style_words: ClassVar[tuple[str, ...]] = ()
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
        """Yield all text with its places, in order, each with the region that reads it again.

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


class LaidOut(Readable):
    """A readable format whose pages have words at places, and tables that are only seen."""

    @abstractmethod
    def layout(self, source: Source, region: Region, show: LayoutPart) -> PageLayout:
        """Return the tables, the words, or the text as it stands on its pages, of a region.

        Of a large file without coordinates it is the first part, with `chunk_info`. Raises as
        `read` does.
        """


class Previewable(ABC):
    """A format that can show a page, a slide or a picture."""

    preview_unit: ClassVar[Literal["Page", "Slide", ""]] = ""
    """What one preview shows: the wire method is named for it (`ReviewGetPdfPreviewPage`); "" for a
    format whose files are one picture (`ReviewGetImagePreview`)."""

    print_suffix: ClassVar[str] = ""
    """The suffix of printed documents in this format (".pdf"): files of formats that are
    `Printable` are printed so, and shown by `preview`; "" for a format that none are printed in."""

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

    def settle_print(self, source: Source, target: Path) -> None:
        """Write a printed document to `target` without what differs each time it is printed.

        Printing the same file twice is to give the same bytes: dates and numbers drawn by chance
        go. A format that has neither need not override it.

        Args:
            source: The document, as the program has printed it. It is not changed.
            target: A path that does not exist yet.

        Raises:
            FileReadFailed: The document cannot be read.
        """
        shutil.copyfile(source.path, target)


class Printable:
    """A format whose files an office program prints, in a `Previewable` format that shows them.

    It has no method: the work is done by the program, where one is installed. Before a file is
    printed, `FormatHandler.info` is asked for it, and refuses what is damaged or encrypted.
    """

    preview_unit: ClassVar[Literal["Page", "Slide"]] = "Page"
    """What one printed page shows; see `Previewable.preview_unit`."""

    print_filters: ClassVar[Mapping[str, str]] = {}
    """The export filter of LibreOffice, with its options, by the suffix of the printed document
    ({".pdf": "impress_pdf_Export:{…}"}); where none is named the program chooses."""

    page_count_field: ClassVar[str] = ""
    """Which field of `FormatHandler.info` tells how many pages must be printed ("slide_count"); ""
    for a format whose pages are known only when they are printed."""

    print_notes: ClassVar[tuple[str, ...]] = ()
    """What printed documents of this format do not hold or show otherwise, a sentence each ("Hidden
    sheets are left out."); whoever prints a file is told."""


class Gridded(ABC):
    """A format whose files, or sheets of them, can be shown as a grid of cells."""

    grid_method: ClassVar[str] = ""
    """What the wire method that answers a window is called after `ReviewGet` ("XlsxPreviewGrid");
    "" for none."""

    @abstractmethod
    def grid(self, source: Source, window: GridWindow) -> Grid:
        """Return the cells of a window as people see them.

        Raises:
            FileReadFailed: The file cannot be read.
            ValidationFailed: There is no such sheet.
        """


class Comparable(ABC):
    """A format that can tell two versions of a file apart in the terms of its contents."""

    compare_method: ClassVar[str] = ""
    """What the wire method that answers the comparison is called after `ReviewGet` ("XlsxDiff");
    "" for none: `ReviewGetDiff` answers it for any format."""

    compare_options: ClassVar[tuple[str, ...]] = ()
    """The fields of `CompareOptions` that this format understands."""

    @abstractmethod
    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions of a file; nothing for equal contents.

        Args:
            before: The older version; None for a file that is new: all that it holds was added.
            after: The newer version; None for one that is deleted: all was removed. One is given.
            options: What it is narrowed to.

        Raises:
            FileReadFailed: A version cannot be read.
            ValidationFailed: An option does not fit the files (no such sheet, no such column).
        """

    @abstractmethod
    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other, and whether they differ there.

        Rows, paragraphs and slides that moved or were shifted are followed. A whole row, sheet or
        slide differs where anything in it does.

        Args:
            before: The older version.
            after: The newer version.
            places: As `compare` and `locate` give them; in `before` if forward, else in `after`.
            forward: Which way to look.

        Returns:
            One for each place, in order.

        Raises:
            FileReadFailed: A version cannot be read.
        """

    @abstractmethod
    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a person means by a text, as titles of places have it ("Data!B7").

        Raises:
            FileReadFailed: The file cannot be read.
            ValidationFailed: The text is no place of this format, or the file has no such place; it
                says how places are written.
        """


class Receiptable(ABC):
    """A format that can tell for a receipt what differs inside a file, in recomputable facts."""

    @abstractmethod
    def receipt_facts(
        self, versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
    ) -> dict[str, Any]:
        """Return what differs between the first and the last version, and by which steps.

        Each fact follows from the bytes alone, as `docs/reference/receipts.md` defines it:
        `receipt_check` of the same package, which imports nothing but the standard library, finds
        it again without this. `kbd.formats.receipts` makes the lists.

        Args:
            versions: The file as each step found it and left it: one more than there are steps;
                None where there was no file.
            steps: The numbers of the steps, by which the facts name them.
            limit: How many entries of lists may be shown in all; all are in the lists' digests.

        Returns:
            Plain values: the `inside` of a file in a receipt.

        Raises:
            FileReadFailed: A version cannot be read.
        """


class Inspectable(ABC):
    """A format that can tell what active content its files carry.

    Active content is what a program does that opens the file, beside showing it: it runs code,
    evaluates, fetches from elsewhere, sends on, or starts what is embedded.
    """

    is_told_by_map: ClassVar[bool] = False
    """Whether the map has it as `active_content` already, perhaps of files that are damaged."""

    @abstractmethod
    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return the active content of a file that none of some others carries.

        `kbd.formats.active.ActiveContent` makes the texts and finds what is new.

        Args:
            source: The file.
            known: Files of the format whose active content is no news: what the file was made
                from, what else a person added.

        Returns:
            A text each, the same for the same bytes, what it is first ("script: alert(1)").

        Raises:
            FileReadFailed: A file cannot be read.
        """


class Editable(ABC):
    """A format that can be changed by operations."""

    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = ()
    """The operation records, each a frozen Struct tagged by `op`; the tool's schema is theirs."""

    new_files_only: ClassVar[bool] = False
    """Whether operations make new files alone, perhaps of a copy: a file that there is stays."""

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

    def apply_with_files(
        self,
        source: Source | None,
        operations: tuple[msgspec.Struct, ...],
        target: Path,
        files: Mapping[str, Source],
    ) -> Applied:
        """Do what `apply` does, where operations name other files of the workbench.

        It is called in place of `apply` where a field of type `kbd.formats.FilePath` is given; a
        format that declares such a field overrides it.

        Args:
            source: As in `apply`, as are `operations` and `target`.
            operations: Their fields name files by the keys of `files`.
            target: A path that does not exist yet.
            files: The files, by the paths that the operations have. They are not changed.

        Raises:
            ValidationFailed: An operation cannot be applied, or the format takes no other files.
            FileReadFailed: A file cannot be read.
        """
        del source, operations, target
        raise ValidationFailed(f"operations of this format take no other files ({min(files)})")


class Calculable(ABC):
    """A format whose files hold formulas with their results.

    It is called after an edit that left results open, in a call of its own: one that takes too long
    or fails costs the results, and not the edit.
    """

    @abstractmethod
    def calculate(self, source: Source, wanted: Calculation, target: Path) -> Calculated:
        """Write the file with the results of formulas; without any nothing is written.

        What is not known for sure is left out and told. The same call writes the same bytes, so
        functions that ask for the time are told `wanted.now_us`.

        Args:
            source: The file.
            wanted: Which formulas, and what time it is.
            target: A path that does not exist yet, in a folder that other files may be made in.

        Raises:
            FileReadFailed: The file cannot be read.
            ValidationFailed: It cannot be changed without a loss.
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

    table_suffixes: ClassVar[tuple[str, ...] | None] = None
    """The suffixes of the files that are; None for all that the format reads."""

    writes_tables: ClassVar[bool] = True
    """Whether tables are written, too."""

    writes_types: ClassVar[bool] = False
    """Whether what is written has types of its own without having sheets; else a file without
    sheets is text, and its numbers keep their text form."""

    def is_table(self, name: str) -> bool:
        """Tell whether a file of this format is a table, by its name."""
        return self.table_suffixes is None or name.lower().endswith(self.table_suffixes)

    @abstractmethod
    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write the table to `target` in the plain form and describe it.

        What `read_as` says is taken as it is said; the rest is found out. What numbers and dates
        of a text format mean is found out by whoever types the table: `Table.reading` need not
        say it, and their fields keep their text.

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

    def write_tables(
        self, source: Source | None, sheets: tuple[SheetRows, ...], target: Path
    ) -> WrittenTables:
        """Write several sheets of one file at once, with what each has beside its rows.

        This one is for formats without sheets: it writes one table, and refuses what such a file
        has no place for. A format with sheets overrides it.

        Args:
            source: The file to change, or None for a new one.
            sheets: The sheets, in order.
            target: A path that does not exist yet.

        Raises:
            ValidationFailed: As `write_table`; there are several sheets, or one has a title, totals
                or a chart.
            FileReadFailed: The source cannot be read.
        """
        if len(sheets) != 1:
            names = ", ".join(each.placement.sheet for each in sheets[:10])
            raise ValidationFailed(
                f"a file of this format has no sheets, so it holds one table, not {len(sheets)} "
                f"({names}): write each into a file of its own, or into a workbook"
            )
        (only,) = sheets
        form = only.form
        wanted = {"title": form.title, "totals": form.totals, "chart": form.chart}
        if named := [name for name, value in wanted.items() if value]:
            raise ValidationFailed(
                f"{', '.join(named)}: only sheets of workbooks have that; leave it out, or write "
                "a workbook"
            )
        found = self.write_table(source, only.rows, only.placement, target)
        sheet = WrittenSheet("", found.written_range, found.row_count, found.column_count)
        return WrittenTables(
            (sheet,), found.warnings, found.remaining, found.focus, found.open_results,
            found.lacks_results,
        )  # fmt: skip
