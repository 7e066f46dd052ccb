"""One use of each operation on one workbook, and what the review says of it."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Font
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.table import Table
from PIL import Image as Picture

from kbd.formats import Applied, Source
from kbd.testing.formats import calculate_open
from kbd_xlsx import XlsxFormat
from range_edits import apply

__all__ = ["USES", "OperationUse", "applied", "edited", "full_book"]

ROWS = (
    ("Item", "Region", "Price", "Count", "Total"),
    ("Tea", "north", 4, 3, "=C2*D2"),
    ("Milk", "south", 1.5, 10, "=C3*D3"),
    ("Bread", "north", 2.25, 7, "=C4*D4"),
    ("Salt", "east", 0.5, 2, "=C5*D5"),
)


class OperationUse(NamedTuple):
    """An operation and the titles of what the review names, with what each is: all of it."""

    operation: dict[str, Any]
    named: frozenset[tuple[str, str]]


def _use(operation: dict[str, Any], *named: tuple[str, str]) -> OperationUse:
    return OperationUse(operation, frozenset(named))


def full_book(folder: Path) -> Path:
    """Make a workbook with tables, charts, pictures, names, rules, notes, links and results."""
    book = openpyxl.Workbook()
    data, sums, spare = book.worksheets[0], book.create_sheet("Sums"), book.create_sheet("Spare")
    data.title = "Data"
    for row in ROWS:
        data.append(row)
    data["G1"], data["G2"], data["G3"] = "Note", "left", "{{due}}"
    data["A1"].font = Font(bold=True)
    data.merge_cells("G4:H4")
    data.freeze_panes = "A2"
    data["A2"].comment = Comment("mine", "me")
    data["A3"].hyperlink = Hyperlink(ref="A3", location="Sums!A1")
    sums["A1"], sums["A2"], sums["A3"] = "=SUM(Data!E2:E5)", "=Data!C2", "=Rate*2"
    for few in ROWS[:4]:
        spare.append(few[:3])
    spare.add_table(Table(displayName="Costs", ref="A1:C4"))
    book.defined_names["Rate"] = DefinedName("Rate", attr_text="Data!$C$2")
    book.defined_names["Idle"] = DefinedName("Idle", attr_text="Data!$A$1")
    rule = Rule(type="cellIs", operator="greaterThan", formula=["3"], dxf=DifferentialStyle())
    data.conditional_formatting.add("C2:C5", rule)
    check = DataValidation(type="list", formula1='"north,south,east"')
    check.add("B2:B5")
    data.add_data_validation(check)
    chart = BarChart()
    chart.add_data(Reference(data, min_col=3, min_row=1, max_row=5), titles_from_data=True)
    data.add_chart(chart, "J1")
    picture = io.BytesIO()
    Picture.new("RGB", (4, 4), "red").save(picture, "png")
    data.add_image(Image(picture), "J20")
    path = folder / "made.xlsx"
    book.save(path)
    apply(path, {"op": "recalculate"}, to="full.xlsx")
    return folder / "full.xlsx"


def edited(book: Path, operation: dict[str, Any], target: Path) -> Applied:
    """Apply an operation, with the results of formulas; it may name the picture dot.png.

    Raises:
        KbdError: It is refused.
    """
    picture = book.with_name("dot.png")
    Picture.new("RGB", (4, 4), "blue").save(picture)
    handler = XlsxFormat()
    record = next(
        each for each in handler.operations if each.__struct_config__.tag == operation["op"]
    )
    found = (msgspec.convert(operation, record),)
    files = {"dot.png": Source(picture, "dot.png")}
    result = handler.apply_with_files(Source(book, book.name), found, target, files)
    calculated = calculate_open(handler, Source(target, target.name), result)
    return msgspec.structs.replace(result, result_warnings=calculated.warnings)


def applied(book: Path, use: OperationUse, to: str) -> Path:
    """Apply a use of an operation; the file stands beside the workbook."""
    target = book.with_name(to)
    edited(book, use.operation, target)
    return target


USES = (
    _use(
        {"op": "ensure_sheet", "sheet": "Fresh"},
        ("Fresh", "sheet"),
    ),
    _use(
        {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "C3", "value": 2}]},
        ("Data!C3", "cell"),
        ("Data!E3", "result"),
        ("Sums!A1", "result"),
    ),
    _use(
        {"op": "set_range", "sheet": "Spare", "start": "F1", "values": [["x", 1], ["y", 2]]},
        ("Spare!F1", "cell"),
        ("Spare!G1", "cell"),
        ("Spare!F2", "cell"),
        ("Spare!G2", "cell"),
    ),
    _use(
        {"op": "set_column_widths", "sheet": "Data", "columns": [{"column": "A", "width": 22}]},
        ("Data!A:A", "width"),
    ),
    _use(
        {"op": "set_row_heights", "sheet": "Data", "rows": [{"row": 2, "height": 33}]},
        ("Data!2:2", "height"),
    ),
    _use(
        {"op": "freeze_panes", "sheet": "Data", "row": 2, "column": 1},
        ("Data", "frozen panes"),
    ),
    _use(
        {"op": "merge_cells", "sheet": "Data", "range": "G6:H6"},
        ("Data!G6:H6", "merged range"),
    ),
    _use(
        {"op": "unmerge_cells", "sheet": "Data", "range": "G4:H4"},
        ("Data!G4:H4", "merged range"),
    ),
    _use(
        {"op": "clear_range", "sheet": "Data", "range": "G2"},
        ("Data!G2", "cell"),
    ),
    _use(
        {"op": "auto_filter", "sheet": "Data", "range": "A1:E5"},
        ("Data!A1:E5", "filter"),
    ),
    _use(
        {"op": "insert_rows", "sheet": "Data", "row": 3},
        ("Data!3:3", "row"),
    ),
    _use(
        {"op": "delete_rows", "sheet": "Data", "row": 5},
        ("Data!5:5", "row"),
        ("Data, picture Image 2", "picture"),
        ("Sums!A1", "result"),
    ),
    _use(
        {"op": "insert_columns", "sheet": "Data", "column": "B"},
        ("Data!B:B", "column"),
    ),
    _use(
        {"op": "delete_columns", "sheet": "Data", "column": "G"},
        ("Data!G1", "cell"),
        ("Data!G2", "cell"),
        ("Data!G3", "cell"),
        ("Data!G4:H4", "merged range"),
        ("Data, chart Chart 1", "chart"),
        ("Data, picture Image 2", "picture"),
    ),
    _use(
        {
            "op": "delete_rows_where",
            "sheet": "Data",
            "range": "A1:E5",
            "column": "Item",
            "condition": {"op": "=", "value": "Salt"},
        },
        ("Data!5:5", "row"),
        ("Data, picture Image 2", "picture"),
        ("Sums!A1", "result"),
    ),
    _use(
        {"op": "delete_sheet", "sheet": "Spare"},
        ("Spare", "sheet"),
        ("Spare!1:1", "row"),
        ("Spare!2:2", "row"),
        ("Spare!3:3", "row"),
        ("Spare!4:4", "row"),
        ("Spare!A1:C4", "table"),
    ),
    _use(
        {
            "op": "summarize_by_category",
            "sheet": "By region",
            "source_sheets": ["Data"],
            "category_col": "B",
            "amount_col": "C",
        },
        ("By region", "sheet"),
        ("By region!1:1", "row"),
        ("By region!2:2", "row"),
        ("By region!3:3", "row"),
        ("By region!4:4", "row"),
    ),
    _use(
        {"op": "recalculate"},
    ),
    _use(
        {
            "op": "format_range",
            "sheet": "Data",
            "range": "C2:C5",
            "style": {"number_format": "0.00"},
        },
        ("Data!C2:C5", "format"),
    ),
    _use(
        {"op": "fill_formula", "sheet": "Data", "range": "F2:F5", "formula": "=E2*1.2"},
        ("Data!F2", "cell"),
        ("Data!F3", "cell"),
        ("Data!F4", "cell"),
        ("Data!F5", "cell"),
    ),
    _use(
        {"op": "copy_range", "sheet": "Data", "from": "C2:C3", "to": "G7"},
        ("Data!G7", "cell"),
        ("Data!G8", "cell"),
        ("Data!G7:G8", "conditional format"),
    ),
    _use(
        {
            "op": "sort_range",
            "sheet": "Spare",
            "range": "A1:C4",
            "header": True,
            "by": [{"column": "C"}],
        },
        ("Spare!4:4", "row"),
    ),
    _use(
        {"op": "replace_text", "search": "north", "replace": "North", "sheet": "Data"},
        ("Data!B2", "cell"),
        ("Data!B4", "cell"),
    ),
    _use(
        {"op": "fill_template", "values": [{"name": "due", "value": 5}]},
        ("Data!G3", "cell"),
    ),
    _use(
        {"op": "rename_sheet", "sheet": "Sums", "name": "Totals"},
        ("Totals", "sheet"),
    ),
    _use(
        {"op": "move_sheet", "sheet": "Spare", "to": 1},
        ("Spare", "sheet"),
    ),
    _use(
        {"op": "copy_sheet", "sheet": "Sums", "name": "Sums 2"},
        ("Sums 2", "sheet"),
        ("Sums 2!1:1", "row"),
        ("Sums 2!2:2", "row"),
        ("Sums 2!3:3", "row"),
    ),
    _use(
        {"op": "hide_sheet", "sheet": "Spare"},
        ("Spare", "sheet"),
    ),
    _use(
        {"op": "add_table", "sheet": "Data", "range": "A1:E5", "name": "Sales"},
        ("Data!A1:E5", "table"),
    ),
    _use(
        {"op": "resize_table", "table": "Costs", "range": "A1:C3"},
        ("Spare!A1:C3", "table"),
    ),
    _use(
        {"op": "define_name", "name": "Prices", "refers_to": "Data!C2:C5"},
        ("name Prices", "name"),
    ),
    _use(
        {"op": "delete_name", "name": "Idle"},
        ("name Idle", "name"),
    ),
    _use(
        {
            "op": "set_conditional_format",
            "sheet": "Data",
            "range": "D2:D5",
            "rule": {"type": "cell_is", "operator": "greater_than", "value": 5},
            "style": {"fill_color": "#FFC000"},
        },
        ("Data!D2:D5", "conditional format"),
    ),
    _use(
        {
            "op": "set_data_validation",
            "sheet": "Data",
            "range": "D2:D5",
            "type": "whole",
            "operator": "greater_than",
            "value": 0,
        },
        ("Data!D2:D5", "validation"),
    ),
    _use(
        {"op": "set_hyperlink", "sheet": "Data", "cell": "A4", "location": "Spare!A1"},
        ("Data!A4", "format"),
        ("Data!A4", "link"),
    ),
    _use(
        {"op": "set_comment", "sheet": "Data", "cell": "A5", "text": "look"},
        ("Data!A5", "comment"),
    ),
    _use(
        {"op": "clear_objects", "sheet": "Data", "range": "A2", "what": ["comments"]},
        ("Data!A2", "comment"),
    ),
    _use(
        {"op": "set_print", "sheet": "Data", "area": "A1:E5", "orientation": "landscape"},
        ("Data", "page"),
        ("name _xlnm.Print_Area of Data", "name"),
    ),
    _use(
        {"op": "protect_sheet", "sheet": "Data"},
        ("Data", "protection"),
    ),
    _use(
        {
            "op": "add_chart",
            "sheet": "Spare",
            "type": "pie",
            "series": [{"values": "C2:C4", "categories": "A2:A4"}],
            "title": "Prices",
        },
        ("Spare, chart Chart 1", "chart"),
    ),
    _use(
        {"op": "set_chart", "sheet": "Data", "chart": "Chart 1", "title": "Prices"},
        ("Data, chart Chart 1", "chart"),
    ),
    _use(
        {"op": "delete_chart", "sheet": "Data", "chart": "Chart 1"},
        ("Data, chart Chart 1", "chart"),
    ),
    _use(
        {"op": "add_image", "sheet": "Spare", "image": "dot.png", "place": "F6"},
        ("Spare, picture Picture 1", "picture"),
    ),
    _use(
        {"op": "delete_image", "sheet": "Data", "image": "Image 2"},
        ("Data, picture Image 2", "picture"),
    ),
)
"""All but `refresh_pivot`, which needs a pivot table."""
