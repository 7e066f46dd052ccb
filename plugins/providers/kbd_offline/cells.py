"""Cells of workbooks that hold a text, found by reading all sheets.

A reading shows each cell on one line, text that could be taken for something else in quotes. Only
texts are taken: formulas, numbers and dates that happen to hold the same signs are told of.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from kbd_offline.conversation import Conversation
from kbd_offline.texts import occurrences
from kbd_offline.wording import UnclearError

__all__ = ["Cell", "FoundCells", "cells_with"]

MAX_CELLS = 200_000
MAX_FOUND = 20_000

_ROWS = 200
_AREA = re.compile(r"([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?\Z")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SIGNS = {"t": "\t", "r": "\r", "n": "\n"}
_TYPED = re.compile(r"[0-9.+-].*[0-9]\Z|[0-9]\Z|=|(?i:true|false)\Z", re.DOTALL)


class Cell(msgspec.Struct, frozen=True):
    """A cell that holds a text."""

    sheet: str
    name: str
    text: str


class FoundCells(msgspec.Struct, frozen=True):
    """The cells with a text, how often it is in them, and what was left alone."""

    cells: tuple[Cell, ...]
    hits: int
    notes: tuple[str, ...]


def cells_with(
    conversation: Conversation, path: str, search: str, *, match_case: bool
) -> FoundCells:
    """Return the cells of a workbook that hold a text.

    Raises:
        UnclearError: There are more cells than are read this way.
        PendingError, CallFailedError, ValidationFailed: As for `Conversation.call`.
    """
    info = conversation.call("get_file_info", path=path)
    calls = [call for sheet in info.get("sheets", ()) for call in _reads(path, sheet)]
    cells, formulas, others = list[Cell](), 0, 0
    for (_, arguments), found in zip(calls, conversation.calls(*calls), strict=True):
        for name, shown in _cells(path, arguments, str(found["text"])):
            text = _text(shown)
            if not occurrences(shown if text is None else text, search, match_case=match_case):
                continue
            if text is not None:
                cells.append(Cell(arguments["sheet"], name, text))
            elif shown.startswith(("=", "{=")):
                formulas += 1
            else:
                others += 1
    if len(cells) > MAX_FOUND:
        raise UnclearError(f"{path} has it in {len(cells)} cells; I change up to {MAX_FOUND}.")
    hits = sum(occurrences(cell.text, search, match_case=match_case) for cell in cells)
    left = ((formulas, "formula", "formulas"), (others, "number or date", "numbers or dates"))
    notes = tuple(
        f"{count} {one if count == 1 else many} of {path} with it left alone"
        for count, one, many in left
        if count
    )
    return FoundCells(tuple(cells), hits, notes)


def _reads(path: str, sheet: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    area = _AREA.match(str(sheet.get("range") or ""))
    if area is None:
        return
    if int(sheet["row_count"]) * int(sheet["col_count"]) > MAX_CELLS:
        raise UnclearError(f"{path} has more than {MAX_CELLS:,} cells on sheet {sheet['name']}.")
    left, top, right, bottom = area.group(1), int(area.group(2)), area.group(3), area.group(4)
    last = int(bottom or top)
    for start in range(top, last + 1, _ROWS):
        end = min(start + _ROWS - 1, last)
        yield (
            "read_file",
            {
                "path": path,
                "sheet": str(sheet["name"]),
                "range": f"{left}{start}:{right or left}{end}",
            },
        )


def _cells(path: str, arguments: dict[str, Any], text: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of a reading: their names, and what is shown of them.

    Raises:
        UnclearError: The reading was cut.
    """
    place, _, grid = text.partition("\n")
    wanted = arguments["range"].rpartition(":")[2].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    got = re.search(r"(\d+)\Z", place)
    if got is None or int(got.group(1)) < int(wanted):
        raise UnclearError(f"sheet {arguments['sheet']} of {path} holds more text than I read.")
    header, *rows = grid.split("\n")
    letters = header.split("\t")[1:]
    for row in rows:
        number, *shown = row.split("\t")
        # Blank cells at a row's end are left out.
        for letter, value in zip(letters, shown, strict=False):
            yield f"{letter}{number}", value


def _text(shown: str) -> str | None:
    """Return the text of a cell, or None if it holds something else."""
    if len(shown) > 1 and shown[0] == shown[-1] == '"':
        return _unescaped(shown[1:-1])
    if _TYPED.match(shown) or shown.startswith(("{=", "#")):
        return None
    return _unescaped(shown)


def _unescaped(line: str) -> str:
    return _ESCAPED.sub(lambda found: _SIGNS.get(found.group(1), found.group(1)), line)
