"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from kbd.errors import ValidationFailed
from kbd.formats import (
    Celled,
    FormatHandler,
    Mappable,
    Passage,
    Placement,
    Printable,
    ReadAs,
    Reading,
    Region,
    Source,
    Table,
    Tabular,
    Written,
)

__all__ = ["OdsFormat"]


class OdsFormat(FormatHandler, Mappable, Celled, Tabular, Printable):
    """OpenDocument spreadsheets, read-only: mapped, read by sheet and range, used as tables."""

    name = "ods"
    wire_name = "Ods"
    kind = "spreadsheet"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".ods": "application/vnd.oasis.opendocument.spreadsheet",
        ".ots": "application/vnd.oasis.opendocument.spreadsheet-template",
        ".fods": "application/vnd.oasis.opendocument.spreadsheet-flat-xml",
    }
    preload = ("kbd_ods.regions", "kbd_ods.tables", "kbd_ods.workbook_map")
    guidance = (
        "Read-only; to change such a workbook, write a new .xlsx file. Look at the map first: it "
        "lists sheets, used ranges, islands and chunks of 50 rows; then read_file with sheet and "
        "range (A1:E50), or use the table tools with the sheet."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("sheet", "range")
    writes_tables = False
    wire_methods = ("ExtractText", "GetInfo", "GetMap")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadRange": coordinates}
    print_filters: ClassVar[Mapping[str, str]] = {".pdf": "calc_pdf_Export"}
    print_notes: ClassVar[tuple[str, ...]] = (
        "Formulas show the results that the file holds; those without one, what is worked out now.",
        "TODAY and the like, and headers with a date, show the day of printing.",
        "Hidden sheets, rows and columns are left out, and what lies outside of print areas.",
        "A column shows what fits: longer texts are cut, figures rounded or shown as ###.",
    )

    def info(self, source: Source) -> dict[str, Any]:
        """Return the sheets with their sizes."""
        from kbd_ods import workbook_map  # noqa: PLC0415 - 30 ms for lxml

        return workbook_map.facts(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return sheets, used ranges, islands and chunks."""
        from kbd_ods import workbook_map  # noqa: PLC0415 - 30 ms for lxml

        return workbook_map.workbook_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return a range as text."""
        from kbd_ods import regions  # noqa: PLC0415 - 30 ms for lxml

        return regions.read_region(source, region)

    def cells(self, source: Source, region: Region) -> Reading:
        """Return a range with its cells as typed values."""
        from kbd_ods import regions  # noqa: PLC0415 - 30 ms for lxml

        return regions.read_cells(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text by chunks of sheets."""
        from kbd_ods import regions  # noqa: PLC0415 - 30 ms for lxml

        return regions.passages(source)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write a sheet's table in the plain form, typed where its cells agree."""
        from kbd_ods import tables  # noqa: PLC0415 - 30 ms for lxml

        return tables.read_table(source, sheet, read_as, target)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Refuse: such files are read only."""
        del source, rows, placement, target
        raise ValidationFailed(
            "an OpenDocument spreadsheet is read, not written; write an .xlsx file"
        )
