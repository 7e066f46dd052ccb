"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd.formats import (
    Applied,
    AssetPick,
    Celled,
    Editable,
    FormatHandler,
    Mappable,
    Passage,
    Placement,
    Reading,
    Region,
    Source,
    Styled,
    Table,
    Tabular,
    Written,
)
from kbd_xlsx.operations import OPERATIONS

__all__ = ["XlsxFormat"]


class XlsxFormat(FormatHandler, Mappable, Celled, Editable, Styled, Tabular):
    """Workbooks, whoever made them: mapped, read, queried, and edited without a loss."""

    name = "xlsx"
    wire_name = "Xlsx"
    kind = "spreadsheet"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
        ".xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        ".xltm": "application/vnd.ms-excel.template.macroEnabled.12",
    }
    preload = (
        "kbd_xlsx.edits.apply",
        "kbd_xlsx.filling",
        "kbd_xlsx.mapping",
        "kbd_xlsx.reading",
        "kbd_xlsx.styled.copy_assets",
        "kbd_xlsx.styled.listing",
        "kbd_xlsx.tables",
    )
    guidance = (
        "Look at the map first: it lists sheets, used ranges, islands and chunks of 50 rows; then "
        "read_file with sheet and range (A1:E50). Numbers stay numbers; dates need type date with "
        "an ISO text; a text that begins with = is a formula unless its type is string; arguments "
        'of formulas are separated by commas. In set_range such values are objects: {"value": '
        '"2024-01-31", "type": "date"}. Write large blocks with set_range, one call a few hundred '
        "rows. In a workbook that exists a new sheet needs ensure_sheet. Results of formulas are "
        "calculated when a person opens the file, not here. Not built yet: rename_sheet, inserting "
        "and deleting rows and columns, add_table, conditional_format, data_validation, add_chart."
    )
    style_file = "style.md"
    style_words = ("workbook", "workbooks", "spreadsheet", "spreadsheets", "excel")
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

    def cells(self, source: Source, region: Region) -> Reading:
        """Return a range with its cells as typed values."""
        from kbd_xlsx import reading  # noqa: PLC0415 - 270 ms with openpyxl

        return reading.read_cells(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield every sheet in chunks of 50 rows."""
        from kbd_xlsx import reading  # noqa: PLC0415 - 270 ms with openpyxl

        return reading.passages(source)

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Carry out operations on a new workbook or on one that there is."""
        from kbd_xlsx.edits import apply  # noqa: PLC0415 - 270 ms with openpyxl

        return apply.apply(source, operations, target)

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return how cells look, in the words of style objects, and what can be copied."""
        from kbd_xlsx.styled import listing  # noqa: PLC0415 - 70 ms for lxml

        return listing.get_styles(source, sheet)

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Copy looks, widths, conditional formats, pictures and charts into another workbook."""
        from kbd_xlsx.styled import copy_assets  # noqa: PLC0415 - 70 ms for lxml

        return copy_assets.copy_assets(source, into, picks, target)

    def read_table(self, source: Source, sheet: str | None, target: Path) -> Table:
        """Write a sheet's table in the plain form, typed where its cells agree."""
        from kbd_xlsx import tables  # noqa: PLC0415 - 270 ms with openpyxl

        return tables.read_table(source, sheet, target)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write rows with their types into a new workbook or one that there is."""
        from kbd_xlsx import filling  # noqa: PLC0415 - 270 ms with openpyxl

        return filling.write_table(source, rows, placement, target)
