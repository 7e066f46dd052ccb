"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd.formats import (
    Applied,
    Editable,
    FormatHandler,
    Mappable,
    Passage,
    Placement,
    Readable,
    Reading,
    Region,
    Source,
    Table,
    Tabular,
    Written,
)
from kbd_xlsx.operations import OPERATIONS

__all__ = ["XlsxFormat"]


class XlsxFormat(FormatHandler, Mappable, Readable, Editable, Tabular):
    """Workbooks: mapped, read and queried whoever made them, edited if kbd wrote them."""

    name = "xlsx"
    wire_name = "Xlsx"
    kind = "spreadsheet"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
    }
    preload = (
        "kbd_xlsx.editing",
        "kbd_xlsx.filling",
        "kbd_xlsx.mapping",
        "kbd_xlsx.reading",
        "kbd_xlsx.tables",
    )
    guidance = (
        "Look at the map first: it lists sheets, used ranges, islands and chunks of 50 rows; then "
        "read_file with sheet and range (A1:E50). Numbers stay numbers; dates need type date with "
        "an ISO text; a text that begins with = is a formula unless its type is string. In "
        'set_range such values are objects: {"value": "2024-01-31", "type": "date"}. Write '
        "large blocks with set_range, one call a few hundred rows. Only workbooks that were made "
        "here can be edited; for others write a new workbook or use the table tools. Not built "
        "yet: delete_sheet, summarize_by_category, merge_cells, unmerge_cells, clear_range, "
        "auto_filter."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("sheet", "range")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadRange": coordinates}
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS

    def info(self, source: Source) -> dict[str, Any]:
        """Return the sheets with their used ranges and sizes."""
        from kbd_xlsx import mapping  # noqa: PLC0415 - 70 ms for lxml and calamine

        return {"format": "xlsx", "sheets": mapping.sheet_dimensions(source)}

    def map(self, source: Source) -> dict[str, Any]:
        """Return sheets with islands, chunks and features, and the defined names."""
        from kbd_xlsx import mapping  # noqa: PLC0415 - 70 ms for lxml and calamine

        return mapping.workbook_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return a range as a grid of typed values; formulas as their text."""
        from kbd_xlsx import reading  # noqa: PLC0415 - 270 ms with openpyxl

        return reading.read_region(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield every sheet in chunks of 50 rows."""
        from kbd_xlsx import reading  # noqa: PLC0415 - 270 ms with openpyxl

        return reading.passages(source)

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Carry out operations on a new workbook or on one that kbd wrote."""
        from kbd_xlsx import editing  # noqa: PLC0415 - 270 ms with openpyxl

        return editing.apply(source, operations, target)

    def read_table(self, source: Source, sheet: str | None, target: Path) -> Table:
        """Write a sheet's table in the plain form, typed where its cells agree."""
        from kbd_xlsx import tables  # noqa: PLC0415 - 270 ms with openpyxl

        return tables.read_table(source, sheet, target)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write rows with their types into a new workbook or one that kbd wrote."""
        from kbd_xlsx import filling  # noqa: PLC0415 - 270 ms with openpyxl

        return filling.write_table(source, rows, placement, target)
