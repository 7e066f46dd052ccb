"""The declaration of the format; what does its work is a table of functions."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from kbd.formats import (
    Applied,
    Calculable,
    Calculated,
    Calculation,
    Celled,
    Comparable,
    CompareOptions,
    Comparison,
    Grid,
    Gridded,
    GridWindow,
    Inspectable,
    Place,
    Placement,
    Printable,
    ReadAs,
    Reading,
    Region,
    Relocatable,
    Relocation,
    SheetRows,
    Source,
    Table,
    Tabular,
    Trace,
    Written,
    WrittenTables,
)
from kbd.office.handler import OfficeFormat
from kbd_xlsx.operations import OPERATIONS

__all__ = ["XlsxFormat"]


class XlsxFormat(
    OfficeFormat,
    Calculable,
    Celled,
    Gridded,
    Tabular,
    Printable,
    Comparable,
    Relocatable,
    Inspectable,
):
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
    functions: ClassVar[Mapping[str, str]] = {
        "info": "kbd_xlsx.workbook_map:facts",
        "map": "kbd_xlsx.workbook_map:workbook_map",
        "read": "kbd_xlsx.regions:read_region",
        "cells": "kbd_xlsx.regions:read_cells",
        "grid": "kbd_xlsx.grid:read_grid",
        "passages": "kbd_xlsx.regions:passages",
        "apply": "kbd_xlsx.edits.apply:apply",
        "calculate": "kbd_xlsx.results.calculate:calculate",
        "active_content": "kbd_xlsx.active_content:active_content",
        "receipt_facts": "kbd_xlsx.receipt:receipt_facts",
        "get_styles": "kbd_xlsx.styles.style_list:get_styles",
        "copy_assets": "kbd_xlsx.assets.copy_assets:copy_assets",
        "read_table": "kbd_xlsx.tables:read_table",
        "write_table": "kbd_xlsx.rows.table_writer:write_table",
        "write_tables": "kbd_xlsx.rows.table_writer:write_tables",
        "compare": "kbd_xlsx.comparison.book_changes:compare",
        "trace": "kbd_xlsx.comparison.traces:trace",
        "locate": "kbd_xlsx.comparison.traces:locate",
        "relocate": "kbd_xlsx.relocation.operations:relocate",
    }
    guidance = (
        "Look at the map first: it lists sheets, used ranges, islands and chunks of 50 rows; then "
        "read_file with sheet and range (A1:E50). Numbers stay numbers; dates need type date with "
        "an ISO text; a text that begins with = is a formula unless its type is string; arguments "
        'of formulas are separated by commas. In set_range such values are objects: {"value": '
        '"2024-01-31", "type": "date"}. Write large blocks with set_range, one call a few hundred '
        "rows. One formula over many cells is one fill_formula; looks of ranges, whole columns and "
        "rows are format_range. In a workbook that exists a new sheet needs ensure_sheet. Formulas "
        "are calculated: the answer has their `results`, errors first. Names, rules, validations, "
        "links, comments, print settings and pivots are listed with styles. Charts draw ranges "
        "(Data!B2:B13), columns of tables (Table1[Amount]), or table with columns; the map lists "
        "the charts that there are. Rows and columns that are put in or taken out shift those "
        "behind them: operations after that count as the sheet is then. A template with {{name}} "
        "is filled by fill_template."
    )
    style_file = "style.md"
    style_words = ("workbook", "workbooks", "spreadsheet", "spreadsheets", "excel")
    coordinates: ClassVar[tuple[str, ...]] = ("sheet", "range")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadRange": coordinates}
    print_filters: ClassVar[Mapping[str, str]] = {".pdf": "calc_pdf_Export"}
    print_notes: ClassVar[tuple[str, ...]] = (
        "Formulas show the results that the file holds; those without one, what is worked out now.",
        "TODAY and the like, and headers with a date, show the day of printing.",
        "Hidden sheets, rows and columns are left out, and what lies outside of print areas.",
        "A column shows what fits: longer texts are cut, figures rounded or shown as ###.",
    )
    grid_method = "XlsxPreviewGrid"
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS
    compare_method = "XlsxDiff"
    compare_options: ClassVar[tuple[str, ...]] = ("sheet",)
    derived: ClassVar[tuple[str, ...]] = ("result",)
    laid_on: ClassVar[tuple[str, ...]] = (
        "comment", "conditional format", "filter", "link", "page", "page break", "protection",
        "sort order", "validation",
    )  # fmt: skip
    compares_in_place = True
    shifting: ClassVar[tuple[str, ...]] = (
        "insert_rows", "delete_rows", "insert_columns", "delete_columns", "delete_rows_where",
        "fill_template",
    )  # fmt: skip

    def cells(self, source: Source, region: Region) -> Reading:
        """Return a range with its cells as typed values."""
        found: Reading = self.function("cells")(source, region)
        return found

    def grid(self, source: Source, window: GridWindow) -> Grid:
        """Return a window of a sheet as people see it."""
        found: Grid = self.function("grid")(source, window)
        return found

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write a sheet's table in the plain form, typed where its cells agree."""
        found: Table = self.function("read_table")(source, sheet, read_as, target)
        return found

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write rows with their types into a new workbook or one that there is."""
        found: Written = self.function("write_table")(source, rows, placement, target)
        return found

    def write_tables(
        self, source: Source | None, sheets: tuple[SheetRows, ...], target: Path
    ) -> WrittenTables:
        """Write several sheets at once, with what each has beside its rows."""
        found: WrittenTables = self.function("write_tables")(source, sheets, target)
        return found

    def calculate(self, source: Source, wanted: Calculation, target: Path) -> Calculated:
        """Write a workbook with the results of its formulas."""
        found: Calculated = self.function("calculate")(source, wanted, target)
        return found

    def apply_with_files(
        self,
        source: Source | None,
        operations: tuple[msgspec.Struct, ...],
        target: Path,
        files: Mapping[str, Source],
    ) -> Applied:
        """Apply operations that put pictures of the workbench onto sheets."""
        found: Applied = self.function("apply")(source, operations, target, files)
        return found

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a file refers to, runs, fetches or embeds."""
        found: tuple[str, ...] = self.function("active_content")(source, known)
        return found

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Compare two versions by sheet, row and cell."""
        found: Comparison = self.function("compare")(before, after, options)
        return found

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Follow cells, rows, columns and sheets from one version to the other."""
        found: tuple[Trace, ...] = self.function("trace")(before, after, places, forward=forward)
        return found

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text such as "Data!B7" names."""
        found: Place = self.function("locate")(source, text)
        return found

    def relocate(
        self, operations: tuple[msgspec.Struct, ...], before: Source, after: Source
    ) -> Relocation:
        """Carry operations over to a version in which rows stand elsewhere."""
        found: Relocation = self.function("relocate")(operations, before, after)
        return found
