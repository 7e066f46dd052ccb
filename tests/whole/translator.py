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

from model_server import Reply, call, calls, phase_of, text, turn_of

__all__ = ["CHUNK", "RATE", "TARGET", "WORDS", "Translator", "german_book"]

TARGET = "data_english.xlsx"
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
    """Plays the model."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        """Make a turn."""
        turn, found = turn_of(body), list(_results(body))
        match phase_of(body):
            case "research":
                return _research(found)
            case "plan":
                said = str(body["messages"][1]["content"])
                return text(_plan(json.loads(re.findall(r"Rows: (\{.*?\})", said)[0])))
            case "implement":
                opening = str(body["messages"][1]["content"])
                item = re.findall(r"<item [^>]*>\n(.*?)\n</item>", opening, re.DOTALL)[0]
                return _item(item, turn, found)
            case _:
                return text(f"{TARGET} holds the English text with prices in US dollars.")


def _results(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the tools answered in this chain; an error fails the script."""
    for message in body["messages"]:
        if message["role"] == "tool":
            yield json.loads(message["content"])


def _research(found: list[dict[str, Any]]) -> Reply:
    """Take the map, the rest of it if it came as a receipt, and a look at the first sheet."""
    if not found:
        return calls(call("get_file_map", {"path": "data.xlsx"}))
    if "receipt" in found[0] and len(found) == 1:
        entry = {"entry_id": found[0]["entry_id"], "limit": 64_000}
        return calls(call("recall_tool_result", entry))
    told = json.loads(found[1]["text"]) if "receipt" in found[0] else found[0]
    rows = {sheet["name"]: sheet["used_range"]["max_row"] for sheet in told["sheets"]}
    if len(found) < (3 if "receipt" in found[0] else 2):
        where = {"path": "data.xlsx", "sheet": next(iter(rows)), "range": "A1:F4"}
        return calls(call("read_file", where))
    return text(f"# Research\n\nRows: {json.dumps(rows)}\n\n{found[-1]['text']}")


def _plan(rows: dict[str, int]) -> str:
    pieces = [
        f"Entity: {sheet} — translate {sheet} rows {first}-{min(first + CHUNK - 1, last)}"
        for sheet, last in rows.items()
        for first in range(2, last + 1, CHUNK)
    ]
    items = [f"Entity: Copy — copy data.xlsx, translate the heads of {json.dumps(list(rows))}"]
    lines = "\n".join(f"- [ ] {n}. {item}" for n, item in enumerate([*items, *pieces], 1))
    return f"# Execution Plan\n\n## Task\nEnglish, US dollars\n\n## Items\n{lines}\n\n## Notes\n"


def _item(item: str, turn: int, found: list[dict[str, Any]]) -> Reply:
    if "copy" in item:
        return _copied(json.loads(item[item.index("[") :]), turn)
    sheet, first, last = re.findall(r"translate (.+) rows (\d+)-(\d+)", item)[0]
    where = {"path": TARGET, "sheet": sheet}
    if turn == 0:
        return calls(call("read_file", {**where, "range": f"A{first}:F{last}"}))
    pages = [each for each in found if "total" in each]
    if not pages or pages[-1]["has_more"]:
        entry = {"entry_id": found[0]["entry_id"], "limit": 64_000}
        offset = {"offset": pages[-1]["next_offset"]} if pages else {}
        return calls(call("recall_tool_result", {**entry, **offset}))
    after = turn - 1 - len(pages)
    if after == 0:
        rows = _rows(json.loads("".join(page["text"] for page in pages))["text"])
        assert [number for number, _ in rows] == list(range(int(first), int(last) + 1))
        edit = {"path": TARGET, "operations": _operations(sheet, int(first), rows)}
        return calls(call("xlsx_operations", edit))
    if after == 1:
        return calls(call("read_file", {**where, "range": f"A{last}:F{last}"}))
    return text(f"{sheet} to row {last} reads: {found[-1]['text']}")


def _copied(sheets: list[str], turn: int) -> Reply:
    if turn == 0:
        heads = [WORDS[head] for head in _HEAD]
        operations = [
            {"op": "set_range", "sheet": sheet, "start": "A1", "values": [heads]}
            for sheet in sheets
        ]
        copy = {"path": TARGET, "copy_from": "data.xlsx", "operations": operations}
        return calls(call("xlsx_operations", copy))
    if turn == 1:
        return calls(call("read_file", {"path": TARGET, "sheet": sheets[-1], "range": "A1:F2"}))
    return text("the copy has English heads")


def _rows(told: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a read text with their numbers."""
    lines = [line.split("\t") for line in told.split("\n")[2:] if line]
    return [(int(cells[0]), cells[1:]) for cells in lines]


def _operations(sheet: str, first: int, rows: list[tuple[int, list[str]]]) -> list[dict[str, Any]]:
    """Write the columns that change; the others stay as they were copied."""

    def column(letter: str, values: list[Any], **more: Any) -> dict[str, Any]:
        written = [[value] for value in values]
        return {"op": "set_range", "sheet": sheet, "start": f"{letter}{first}", "values": written,
                **more}  # fmt: skip

    prices = [float(cells[2]) * RATE for _, cells in rows]
    return [
        column("A", [WORDS[cells[0]] for _, cells in rows]),
        column("C", prices, style={"number_format": '"$"#,##0.00'}),
        column("E", [WORDS[cells[4]] or None for _, cells in rows]),
    ]
