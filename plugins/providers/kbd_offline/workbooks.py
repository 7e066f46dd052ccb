"""Sheets of workbooks: which a request names or may mean, and the writing of one.

A sheet is written style first, then the rows, then a look at what came out.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd_offline.conversation import PlannerConversation
from kbd_offline.files import READ_BOOKS, RequestFiles
from kbd_offline.intents import ColumnIntent, TableIntent
from kbd_offline.names import fold, split_suffix
from kbd_offline.request_text import UnclearError
from kbd_offline.sql import filled_rows

__all__ = [
    "HEADER",
    "Sheet",
    "WorkbookFacts",
    "column_letters",
    "column_widths",
    "create_sheet",
    "fill_sheet",
    "inspect_workbooks",
    "is_book",
    "on_sheet",
    "take_sheets",
    "wants_each_sheet",
    "without_sheet",
    "write_rows",
]

_SHEET = r"(?:work)?(?:sheets?|tabs?)"
_EACH = (
    rf"\b(?:each|every|all|both)\s+(?:of\s+)?(?:(?:the|its|my|single|different)\s+)*{_SHEET}\b"
    rf"|\b{_SHEET}\s+(?:each|separately|individually)\b"
)
_QUOTES = "\"'“”‘’`"
_LEADS_TO_TABLE = (
    r"(?:of|in|from|on|for|within|convert|copy|export|filter|order|save|sort|transform|turn)"
)


class WorkbookFacts(msgspec.Struct, frozen=True):
    """A workbook's sheets by name: all, those that hold anything, those that nobody sees."""

    path: str
    sheets: tuple[str, ...]
    filled: tuple[str, ...]
    hidden: tuple[str, ...] = ()

    def several(self) -> UnclearError:
        """Return the refusal to choose among its sheets."""
        names = ", ".join(f'"{name}"' for name in self.filled)
        return UnclearError(f"{self.path} has several sheets: {names}; say which one")


def is_book(path: str) -> bool:
    """Tell whether a file is a workbook."""
    return split_suffix(path)[1] in READ_BOOKS


def inspect_workbooks(
    conversation: PlannerConversation, paths: Sequence[str]
) -> list[WorkbookFacts]:
    """Return workbooks with their sheets; see `PlannerConversation.call` for what it raises."""
    infos = conversation.calls(*(("get_file_info", {"path": path}) for path in paths))
    return [
        WorkbookFacts(
            path,
            tuple(str(sheet["name"]) for sheet in info.get("sheets", ())),
            tuple(str(sheet["name"]) for sheet in info.get("sheets", ()) if sheet.get("range")),
            tuple(str(sheet["name"]) for sheet in info.get("sheets", ()) if sheet.get("hidden")),
        )
        for path, info in zip(paths, infos, strict=True)
    ]


def take_sheets(text: str, sheets: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the sheets that a text names beside the word "sheet", and the text without them.

    Raises:
        UnclearError: A sheet that is named in quotes is not there.
    """
    # The longest first: "Q1 2024" is not "Q1".
    names = "|".join(re.escape(fold(name)) for name in sorted(sheets, key=len, reverse=True))
    one = rf"[{_QUOTES}]?(?:{names})(?![\w-])[{_QUOTES}]?"
    many = rf"{one}(?:\s*(?:,|and|&|,\s*and)\s*{one})*"
    pattern = (
        rf"\b{_SHEET}\s+(?:(?:called|named)\s+)?(?P<after>{many})"
        rf"|(?P<before>{many})\s+{_SHEET}\b"
    )
    folded = fold(text)
    found = re.search(pattern, folded) if sheets else None
    if found is None:
        missing = re.search(rf"\b{_SHEET}\s+(?:called\s+|named\s+)?[\"“`]([^\"”`]+)[\"”`]", folded)
        if missing:
            named, there = text[missing.start(1) : missing.end(1)], ", ".join(sheets)
            raise UnclearError(f'there is no sheet "{named}"; there are {there}')
        return (), text
    listed = found.group("after") or found.group("before")
    by_name = {fold(name): name for name in sheets}
    chosen = [by_name[match] for match in re.findall(rf"(?:{names})(?![\w-])", listed)]
    blank = " " * (found.end() - found.start())
    return tuple(dict.fromkeys(chosen)), text[: found.start()] + blank + text[found.end() :]


def without_sheet(text: str, sheet: str) -> str | None:
    """Return a text without the name of a sheet that it is about, None where it names it nowhere.

    Without the word "sheet" only what leads to a table, or quotes, tell that a sheet is meant.
    """
    name = re.escape(fold(sheet))
    plain = rf"(?:^|\b{_LEADS_TO_TABLE}\s+)(?:the\s+)?(?P<plain>{name})(?![\w-])"
    quoted = rf"[{_QUOTES}](?P<quoted>{name})[{_QUOTES}]"
    found = re.search(rf"{quoted}|{plain}", fold(text))
    if found is None:
        return None
    start, end = found.span("quoted" if found.group("quoted") else "plain")
    if found.group("quoted"):
        start, end = start - 1, end + 1
    return text[:start] + " " * (end - start) + text[end:]


def wants_each_sheet(text: str) -> bool:
    """Tell whether a request speaks of every sheet."""
    return re.search(_EACH, fold(text)) is not None


def on_sheet(conversation: PlannerConversation, files: RequestFiles) -> RequestFiles:
    """Return the files of a request about one table; of a workbook with its sheet.

    Raises:
        UnclearError: More than one sheet may be meant.
    """
    if files.sheet or not is_book(files.source):
        return files
    (book,) = inspect_workbooks(conversation, [files.source])
    chosen, text = take_sheets(files.text, book.sheets)
    meant = chosen or book.filled
    if len(meant) > 1 or wants_each_sheet(text):
        raise book.several()
    if not meant:
        raise UnclearError(f"{book.path} holds no table")
    return msgspec.structs.replace(files, sheet=meant[0], text=text)


def tables_in(book: WorkbookFacts, chosen: Sequence[str]) -> tuple[TableIntent, ...]:
    """Return the tables of a workbook: of the chosen sheets, else of all that hold anything."""
    return tuple(TableIntent(book.path, sheet) for sheet in chosen or book.filled)


HEADER = {
    "font_bold": True,
    "fill_color": "#D9E1F2",
    "border_bottom": {"style": "thin", "color": "#8EA9DB"},
}
"""Style of headings."""

_TOTALS = {"font_bold": True, "border_top": {"style": "thin", "color": "#8EA9DB"}}
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_AMOUNT = "#,##0.00"
_MIN_WIDTH, _MAX_WIDTH = 6, 60
# Excel cuts a text that is too long, but shows a date that does not fit as #####.
_MOMENT_WIDTHS = {"date": 12, "datetime": 20}
_MAX_STYLED_ROWS = 20_000
"""A style is given with a cell's value, here blanks; beyond this the call would be too long."""


class Sheet(msgspec.Struct, frozen=True):
    """A sheet to be written.

    Args:
        target: The workbook.
        name: The sheet.
        table: What the query reads.
        query: Its rows, in order, with the columns.
        columns: Headings and types.
        rows: How many rows the query gives.
        widths: Widths of the columns in characters.
        totals: The last row, which the query does not give; empty for none.
        functions: How each of its figures comes out of those above it ("SUM"), "" where none does;
            such a figure is a formula.
        formulas: Cells among its rows that are formulas, each with it.
    """

    target: str
    name: str
    table: TableIntent
    query: str
    columns: tuple[ColumnIntent, ...]
    rows: int
    widths: tuple[int, ...]
    totals: tuple[Any, ...] = ()
    functions: tuple[str, ...] = ()
    formulas: tuple[tuple[str, str], ...] = ()


def fill_sheet(conversation: PlannerConversation, sheet: Sheet) -> None:
    """Write a sheet and check what was written; see `PlannerConversation.call` for what it raises.

    Raises:
        ValidationFailed: What can be read back is not what was to be written.
    """
    create_sheet(conversation, sheet)
    if sheet.rows:
        write_rows(conversation, sheet, 2)
    if sheet.formulas:
        cells = [{"cell": cell, "value": text, "type": "formula"} for cell, text in sheet.formulas]
        operation = {"op": "set_cells", "sheet": sheet.name, "cells": cells}
        conversation.call("xlsx_operations", path=sheet.target, operations=[operation])
    if sheet.totals:
        # After the rows, so that what they come to is stored with the formulas.
        totals = [_totals_row(sheet)]
        conversation.call("xlsx_operations", path=sheet.target, operations=totals)
    if sheet.rows:
        _check(conversation, sheet)


def create_sheet(conversation: PlannerConversation, sheet: Sheet) -> None:
    """Make a sheet with all but its rows: headings, styles, widths."""
    conversation.call(
        "xlsx_operations",
        path=sheet.target,
        operations=_operations(sheet),
        create_if_missing=True,
    )


def write_rows(conversation: PlannerConversation, sheet: Sheet, row: int) -> int:
    """Write a sheet's rows from a row on (counted from 1), and return how many they were."""
    written = conversation.call(
        "table_update_from_export",
        **sheet.table.arguments,
        target_path=sheet.target,
        sheet=sheet.name,
        mode="write_range",
        query=sheet.query,
        start_cell=f"A{row}",
        include_header=False,
    )
    return int(written["row_count"])


def column_widths(
    columns: Sequence[ColumnIntent], longest: Sequence[int | None]
) -> tuple[int, ...]:
    """Return widths that show headings in bold and, within reason, values.

    Args:
        columns: The columns.
        longest: The characters of the longest value of each as plain text, None where none is.
    """
    return tuple(
        # Bold letters are about an eighth wider.
        min(max(_value_width(column, length or 0), len(column.name) * 9 // 8 + 2), _MAX_WIDTH)
        for column, length in zip(columns, longest, strict=True)
    )


def _value_width(column: ColumnIntent, length: int) -> int:
    """Return the width of the longest value as it is shown."""
    if column.type == "float":
        # Two decimals may be added, and a comma after every third digit.
        return max(length + 2 + length // 3, _MIN_WIDTH) + 2
    return max(_MOMENT_WIDTHS.get(column.type, length + 2), _MIN_WIDTH)


def column_letters(number: int) -> str:
    """Return the letters of a column counted from 1: A, Z, AA."""
    text = ""
    while number:
        # No letter is a zero: AA follows Z.
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _operations(sheet: Sheet) -> list[dict[str, Any]]:
    name = sheet.name
    headings = [_heading(column) for column in sheet.columns]
    widths = [
        {"column": column_letters(place), "width": width}
        for place, width in enumerate(sheet.widths, 1)
    ]
    operations: list[dict[str, Any]] = [
        {"op": "ensure_sheet", "sheet": name},
        {"op": "set_range", "sheet": name, "start": "A1", "values": [headings], "style": HEADER},
    ]
    styled = {place: _style(column) for place, column in enumerate(sheet.columns, 1)}
    styled = {place: style for place, style in styled.items() if style}
    if sheet.rows and sheet.rows * len(styled) <= _MAX_STYLED_ROWS:
        operations += [
            _styled_column(name, place, sheet.rows, style) for place, style in styled.items()
        ]
    operations.append({"op": "set_column_widths", "sheet": name, "columns": widths})
    operations.append({"op": "freeze_panes", "sheet": name, "row": 1, "column": 0})
    return operations


def _heading(column: ColumnIntent) -> dict[str, Any]:
    """Return a heading that stands over its values: programs put numbers to the right."""
    style = {"style": {"h_align": "right"}} if column.is_number else {}
    return {"value": column.name, "type": "string", **style}


def _style(column: ColumnIntent) -> dict[str, Any]:
    """Return how the values of a column look: a date at the right would touch a text beside it."""
    if column.type == "float":
        return {"number_format": _AMOUNT}
    return {"h_align": "left"} if column.is_moment else {}


def _styled_column(name: str, place: int, rows: int, style: dict[str, Any]) -> dict[str, Any]:
    return {
        "op": "set_range",
        "sheet": name,
        "start": f"{column_letters(place)}2",
        "values": [[None]] * rows,
        "style": style,
    }


def _totals_row(sheet: Sheet) -> dict[str, Any]:
    row = sheet.rows + 2  # below the headings and all rows
    functions = sheet.functions if sheet.rows else ()
    cells = []
    for place, (value, column) in enumerate(zip(sheet.totals, sheet.columns, strict=True), 1):
        letters = column_letters(place)
        function = functions[place - 1] if functions and value is not None else ""
        # A formula, so that a row which is added or changed later counts.
        formula = {"value": f"={function}({letters}2:{letters}{row - 1})", "type": "formula"}
        style = _TOTALS | ({"number_format": _AMOUNT} if column.type == "float" else {})
        content = formula if function else _typed(value, column)
        cells.append({"cell": f"{letters}{row}", **content, "style": style})
    return {"op": "set_cells", "sheet": sheet.name, "cells": cells}


def _typed(value: Any, column: ColumnIntent) -> dict[str, Any]:
    if value is None:
        return {"value": None, "type": "blank"}
    if column.is_number and not isinstance(value, str):
        return {"value": value, "type": "number"}
    is_date = column.is_moment and _ISO_DATE.match(str(value))
    return {"value": value, "type": column.type if is_date else "string"}


def _check(conversation: PlannerConversation, sheet: Sheet) -> None:
    """Read back the headings and the number of rows."""
    # The sheet begins with its headings, wherever those of its source were said to be.
    header = {"header_row": 1} if "header_row" in conversation.read_as else {}
    found = conversation.call(
        "table_read_rows",
        path=sheet.target,
        source_sheet=sheet.name,
        row_start=1,
        row_count=1,
        read_as={"totals": "keep", **header},
    )
    rows = sheet.rows
    if found["total_rows"] < rows + bool(sheet.totals):
        # A row without any value is no row of a sheet.
        query = filled_rows(sheet.query, sheet.columns)
        answer = conversation.call("table_query", **sheet.table.arguments, query=query)
        rows = int(answer["rows"][0][0])
    expected = rows + bool(sheet.totals)
    headings = [" ".join(column.name.split()) for column in sheet.columns]
    if found["total_rows"] != expected or list(found["columns"]) != headings:
        raise ValidationFailed(
            f"sheet {sheet.name} of {sheet.target} reads back as {found['total_rows']} rows"
            f" instead of {expected}, or under other headings"
        )
