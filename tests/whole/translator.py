"""A model that translates a workbook as a good one would: map, plan, pieces, reading back.

It is a pure function of what it is asked. It holds no row that it did not read: what it writes is
made from the results of its own calls.
"""

import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter

from model_server import Reply, call, calls, phase_of, text, turn_of

__all__ = ["MARK", "RATE", "TARGET", "WORD", "WORDS", "Marker", "Translator", "german_book"]

SOURCE, TARGET = "data.xlsx", "data_english.xlsx"

MARK = " (EN)"

WORD = re.compile(r"(?!TRUE|FALSE)[A-Za-z](?:[A-Za-z0-9 ]*[A-Za-z])")
"""What stands in a cell that the marking model writes to: no number, no formula, no error."""

Rows = list[tuple[int, list[str]]]
"""Rows by their numbers, each with the texts of its cells."""

CHUNK = 1000
"""Rows that are read and written at once."""

RATE = 1.25
"""US dollars for a euro, exact in binary."""

WORDS = {
    "Artikel": "Item", "Menge": "Quantity", "Preis (EUR)": "Price (USD)", "Datum": "Date",
    "Bemerkung": "Remark", "Betrag": "Amount", "Schraube": "screw", "Mutter": "nut",
    "Unterlegscheibe": "washer", "eilig": "urgent", "für Müller": "for Müller", "": "",
}  # fmt: skip

_HEAD = ("Artikel", "Menge", "Preis (EUR)", "Datum", "Bemerkung", "Betrag")
_ITEMS = ("Schraube", "Mutter", "Unterlegscheibe")
_REMARKS = ("eilig", "", "für Müller")


def german_book(path: Path, sheets: int, rows: int) -> Path:
    """Write a styled workbook: so many sheets with so many rows below their heads."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for number in range(1, sheets + 1):
        sheet = book.create_sheet(f"Lager {number}")
        sheet.append(_HEAD)
        for row in range(2, rows + 2):
            price = (row * 7 + number) % 400 / 4
            day = date(2024, row % 12 + 1, row % 28 + 1)
            remark = _REMARKS[row % 3] or None
            sheet.append([_ITEMS[row % 3], row % 50, price, day, remark, f"=B{row}*C{row}"])
            sheet.cell(row, 3).number_format = '#,##0.00 "€"'
            sheet.cell(row, 4).number_format = "DD.MM.YYYY"
            if row % 10 == 0:
                sheet.cell(row, 1).fill = PatternFill("solid", fgColor="FFFF00")
        for cell in sheet[1]:
            cell.font = Font(bold=True, color="FF0000")
        sheet.column_dimensions["A"].width = 31
        sheet.freeze_panes = "A2"
    book.save(path)
    return path


class Translator:
    """Plays the model: it translates `german_book`."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        """Make a turn."""
        turn, found = turn_of(body), list(_results(body))
        match phase_of(body):
            case "research":
                return _research(found)
            case "plan":
                said = str(body["messages"][1]["content"])
                return text(_plan(json.loads(re.findall(r"Sizes: (\{.*?\})\n", said)[0])))
            case "implement":
                opening = str(body["messages"][1]["content"])
                item = re.findall(r"<item [^>]*>\n(.*?)\n</item>", opening, re.DOTALL)[0]
                return self._item(item, turn, found)
            case _:
                return text(f"{TARGET} holds the English text with prices in US dollars.")

    def heads(self, sheets: list[str]) -> list[dict[str, Any]]:
        """Return the operations that translate the heads."""
        heads = [WORDS[head] for head in _HEAD]
        return [
            {"op": "set_range", "sheet": sheet, "start": "A1", "values": [heads]}
            for sheet in sheets
        ]

    def edits(self, sheet: str, rows: Rows) -> list[dict[str, Any]]:
        """Return the operations that translate some rows: what stays is not written."""
        first = rows[0][0]

        def column(letter: str, values: list[Any], **more: Any) -> dict[str, Any]:
            written = [[value] for value in values]
            place = {"sheet": sheet, "start": f"{letter}{first}"}
            return {"op": "set_range", **place, "values": written, **more}

        prices = [float(cells[2]) * RATE for _, cells in rows]
        return [
            column("A", [WORDS[cells[0]] for _, cells in rows]),
            column("C", prices, style={"number_format": '"$"#,##0.00'}),
            column("E", [WORDS[cells[4]] or None for _, cells in rows]),
        ]

    def _item(self, item: str, turn: int, found: list[dict[str, Any]]) -> Reply:
        """Copy the book, or read a piece whole, write what it becomes, and read its end back."""
        if "copy" in item:
            return self._copied(json.loads(item[item.index("[") :]), turn)
        sheet, first, column, last = re.findall(r"translate (.+) A(\d+):([A-Z]+)(\d+)", item)[0]
        where = {"path": TARGET, "sheet": sheet}
        if turn == 0:
            return calls(call("read_file", {**where, "range": f"A{first}:{column}{last}"}))
        pages = [each for each in found if "total" in each]
        if "receipt" in found[0] and (not pages or pages[-1]["has_more"]):
            offset = {"offset": pages[-1]["next_offset"]} if pages else {}
            return calls(call("recall_tool_result", {**_whole(found[0]), **offset}))
        after = turn - 1 - len(pages)
        if after == 0:
            told = json.loads("".join(page["text"] for page in pages)) if pages else found[0]
            edits = self.edits(sheet, _rows(told["text"]))
            return calls(call("xlsx_operations", {"path": TARGET, "operations": edits}))
        if after == 1:
            return calls(call("read_file", {**where, "range": f"A{last}:{column}{last}"}))
        return text(f"{sheet} to row {last} reads: {found[-1]['text']}")

    def _copied(self, sheets: list[str], turn: int) -> Reply:
        if turn == 0:
            copy = {"path": TARGET, "copy_from": SOURCE, "operations": self.heads(sheets)}
            return calls(call("xlsx_operations", copy))
        if turn == 1:
            return calls(call("read_file", {"path": TARGET, "sheet": sheets[-1], "range": "A1:F2"}))
        return text("the copy has English heads")


class Marker(Translator):
    """Plays a model that marks each plain word of any book, and touches nothing else."""

    def heads(self, sheets: list[str]) -> list[dict[str, Any]]:
        """Return nothing: the heads of a table belong to it."""
        return []

    def edits(self, sheet: str, rows: Rows) -> list[dict[str, Any]]:
        """Return one operation that marks the words of some rows."""
        cells = [
            {"cell": f"{get_column_letter(column)}{row}", "value": cell + MARK, "type": "string"}
            for row, found in rows
            for column, cell in enumerate(found, 1)
            if row > 1 and WORD.fullmatch(cell)
        ]
        if not cells:
            return [{"op": "ensure_sheet", "sheet": sheet}]
        return [{"op": "set_cells", "sheet": sheet, "cells": cells}]


def _results(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the tools answered in this chain; an error fails the script."""
    for message in body["messages"]:
        if message["role"] == "tool":
            yield json.loads(message["content"])


def _whole(receipt: dict[str, Any]) -> dict[str, Any]:
    return {"entry_id": receipt["entry_id"], "limit": 64_000}


def _research(found: list[dict[str, Any]]) -> Reply:
    """Take the map, the rest of it if it came as a receipt, and a look at the first sheet."""
    if not found:
        return calls(call("get_file_map", {"path": SOURCE}))
    if "receipt" in found[0] and len(found) == 1:
        return calls(call("recall_tool_result", _whole(found[0])))
    told = json.loads(found[1]["text"]) if "receipt" in found[0] else found[0]
    used = {sheet["name"]: sheet["used_range"] for sheet in told["sheets"] if sheet["used_range"]}
    if len(found) < (3 if "receipt" in found[0] else 2):
        where = {"path": SOURCE, "sheet": next(iter(used)), "range": "A1:F4"}
        return calls(call("read_file", where))
    sizes = {name: [_letter(area["max_col"]), area["max_row"]] for name, area in used.items()}
    return text(f"# Research\n\nSizes: {json.dumps(sizes)}\n\n{found[-1]['text']}")


def _letter(column: int | str) -> str:
    return column if isinstance(column, str) else get_column_letter(column)


def _plan(sizes: dict[str, tuple[str, int]]) -> str:
    pieces = [
        f"Entity: {sheet} — translate {sheet} A{first}:{column}{min(first + CHUNK - 1, last)}"
        for sheet, (column, last) in sizes.items()
        for first in range(2, last + 1, CHUNK)
    ]
    items = [f"Entity: Copy — copy {SOURCE}, translate the heads of {json.dumps(list(sizes))}"]
    lines = "\n".join(f"- [ ] {n}. {item}" for n, item in enumerate([*items, *pieces], 1))
    return f"# Execution Plan\n\n## Task\nEnglish, US dollars\n\n## Items\n{lines}\n\n## Notes\n"


def _rows(told: str) -> Rows:
    """Return the rows of a read text with their numbers."""
    lines = [line.split("\t") for line in told.split("\n")[2:] if line]
    return [(int(cells[0]), cells[1:]) for cells in lines if cells[0].isdecimal()]
