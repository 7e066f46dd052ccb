"""What is tried on one real workbook: an edit by kbd or by openpyxl, and the judge's word on it.

Every function here takes one file and is run in a child. The places to edit are chosen from what
the judge reads, never from what kbd reads.
"""

import random
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Union

import msgspec
import openpyxl

from fidelity_figures import Outcome, Verdict
from judging import Difference, Edit, Formula, compare
from judging.book import Book, Sheet
from judging.package import children, flag
from judging.places import Place, box, name, place
from kbd.errors import KbdError
from kbd.formats import Region, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

__all__ = [
    "Free",
    "append_cell",
    "map_and_read",
    "one_cell",
    "one_look",
    "opened",
    "operations",
    "sixty_cells",
]

Editor = Literal["kbd", "openpyxl"]
Value = float | str | bool | Formula | None

ADDED_SHEET = "Kbd made this"


class Free:
    """Where values may be put in a sheet: not into merges, table headers, arrays, data tables."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        tables = [table for table in sheet.book.tables if table.sheet == sheet.title]
        self.tables = [table.area for table in tables]
        self.taken = [
            *(area._replace(bottom=area.top + table.header_rows - 1)
              for table, area in zip(tables, self.tables, strict=True)),
            *(area._replace(top=area.bottom + 1 - table.totals_rows)
              for table, area in zip(tables, self.tables, strict=True)),
            *sheet.merges,
            *(box(cell.array) for cell in sheet.cells.values() if cell.array),
        ]  # fmt: skip
        used = [c.at for c in sheet.cells.values() if c.kind != "blank" or c.formula is not None]
        self.last_row = max((at.row for at in used), default=0)
        self.last_column = max((at.column for at in used), default=1)

    def is_free(self, at: Place) -> bool:
        """Tell whether a cell may be set."""
        return not any(area.holds(at) for area in self.taken)

    def constant(self) -> Place | None:
        """The first cell that holds a number or a text."""
        for cell in self.sheet.cells.values():
            kept = cell.kind in ("number", "text") and cell.formula is None
            if kept and self.is_free(cell.at):
                return cell.at
        return None

    def below(self) -> Place:
        """A cell below everything, beside no table that could grow."""
        at = Place(self.last_row + 2, 1)
        while not self.is_free(at):
            at = at._replace(row=at.row + 1)
        return at


def operations(*found: dict[str, Any]) -> tuple[msgspec.Struct, ...]:
    """Operations as the tool takes them."""
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    return tuple(msgspec.convert(list(found), list[vocabulary]))


def _setting(sheet: str, cells: list[dict[str, Any]]) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": sheet, "cells": cells}


def _by_openpyxl(path: Path, target: Path, sheet: str, cell: str, value: str | float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path)
        book[sheet][cell] = value
        book.save(target)


def _judge(
    path: Path, target: Path, edit: Edit, work: Callable[[], object], errors: type[Exception]
) -> Verdict:
    started = time.process_time()
    try:
        work()
    except errors as error:
        code = getattr(error, "code", type(error).__name__)
        return Verdict("refused", (f"{code}: {error}"[:300],))
    cpu_s = time.process_time() - started
    found = compare(path, target, edit)
    material = [difference for difference in found if difference.material]
    details = tuple(_told(difference) for difference in material[:5])
    outcome: Outcome = "loss" if material else "exact"
    if any(difference.kind == "fault" for difference in material):
        outcome = "corrupt"
    minor = {difference.kind for difference in found if not difference.material}
    return Verdict(outcome, details, tuple(sorted(minor)), cpu_s)


def _told(found: Difference) -> str:
    return f"{found.kind} at {found.place}: {found.before[:120]!r} -> {found.after[:120]!r}"


def opened(path: Path) -> Book | None:
    """The workbook as the judge reads it, None if it is none."""
    try:
        book = Book(path)
        if any(sheet.cells for sheet in book.worksheets[:1]):
            return book
        return book if book.worksheets else None
    except Exception:  # noqa: BLE001 - damaged in any way
        return None


def one_cell(task: tuple[Path, Editor, bool]) -> Verdict:
    """Set one cell of the first worksheet: over a constant, or below all that is there."""
    path, editor, over = task
    book = opened(path)
    if book is None:
        return Verdict("unparseable")
    sheet = book.worksheets[0]
    free = Free(sheet)
    at = (free.constant() if over else None) or free.below()
    is_number = at in sheet.cells
    value: str | float = 987654.25 if is_number else "Set by a test"
    title, cell = sheet.title, name(at)
    book.close()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"after{path.suffix}"
        edit = Edit({(title, cell): value})

        def by_kbd() -> None:
            setting = _setting(title, [{"cell": cell, "value": value}])
            XlsxFormat().apply(Source(path, path.name), operations(setting), target)

        if editor == "kbd":
            return _judge(path, target, edit, by_kbd, KbdError)
        return _judge(
            path, target, edit, lambda: _by_openpyxl(path, target, title, cell, value), Exception
        )


_TEXTS = (
    "plain", " blanks around ", "two\nlines", "😀 und é", "=SUM(1,2)", "_x000D_ literal", "+49 30",
    "<a href=\"x\">&amp;'", "tab\there", "]]>", "x" * 300, "-", "@name", "007", "1e5", "TRUE",
)  # fmt: skip
_NUMBERS = (0, 1, -1, 0.1, 1e-300, -1.5e300, 123456789012345, 2**53, 3.141592653589793, 1e21)
_FORMULAS = ("1+2", "SUM(A1:B2)", '"x"&"<y>"', "IF(A1>0,1,2)", "ROW()", "TRUE")
_DAYS = (("1900-03-01", 61), ("2024-02-29", 45351), ("2099-12-31", 73050))
_EPOCH_1904_DAYS = 1462
"""How much later the days of a workbook with date1904 begin (ECMA-376 part 1, 18.17.4.1)."""


def _random_cell(rng: random.Random, shift: int) -> tuple[dict[str, Any], Value]:
    """A cell's setting, and what it is to hold."""
    match rng.choice(("number", "text", "formula", "boolean", "blank", "date", "datetime")):
        case "number":
            number = rng.choice((*_NUMBERS, rng.uniform(-1e6, 1e6), rng.randrange(10**9)))
            return {"value": number}, float(number)
        case "text":
            text = rng.choice(_TEXTS)
            return {"value": text, "type": "string"}, text
        case "formula":
            formula = rng.choice(_FORMULAS)
            return {"value": "=" + formula, "type": "formula"}, Formula(formula)
        case "boolean":
            chosen = rng.random() < 0.5
            return {"value": chosen}, chosen
        case "blank":
            return {"value": None}, None
        case "date":
            day, serial = rng.choice(_DAYS[1:])
            return {"value": day, "type": "date"}, float(serial - shift)
        case _:
            day, serial = rng.choice(_DAYS[1:])
            return {"value": f"{day}T18:00:00", "type": "datetime"}, serial - shift + 0.75


def sixty_cells(path: Path) -> Verdict:
    """Set 60 random cells, chosen by the file's name, in up to three worksheets at once."""
    book = opened(path)
    if book is None:
        return Verdict("unparseable")
    rng = random.Random(path.name)
    is_1904 = any(flag(e.get("date1904")) for e in children(book.root, "workbookPr"))
    meant: dict[tuple[str, str], Value] = {}
    dated: set[tuple[str, str]] = set()
    settings: dict[str, list[dict[str, Any]]] = {}
    sheets = [(sheet.title, Free(sheet)) for sheet in book.worksheets[:3]]
    for _ in range(60):
        title, free = rng.choice(sheets)
        row = rng.randint(1, min(free.last_row + 3, 1_048_576))
        at = Place(row, rng.randint(1, min(free.last_column + 3, 16_384)))
        if not free.is_free(at):
            continue
        setting, value = _random_cell(rng, _EPOCH_1904_DAYS if is_1904 else 0)
        key = title, name(at)
        settings.setdefault(title, []).append({"cell": name(at), **setting})
        meant[key] = value
        if setting.get("type") in ("date", "datetime"):
            dated.add(key)
    book.close()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"after{path.suffix}"

        def work() -> None:
            found = operations(*(_setting(title, cells) for title, cells in settings.items()))
            XlsxFormat().apply(Source(path, path.name), found, target)

        return _judge(path, target, Edit(meant, frozenset(dated)), work, KbdError)


def one_look(path: Path) -> Verdict:
    """Style, width, height, panes and a new sheet with a formula, in one edit."""
    book = opened(path)
    if book is None:
        return Verdict("unparseable")
    sheet = book.worksheets[0]
    title, at = sheet.title, name(Free(sheet).below())
    book.close()
    quoted = title.replace("'", "''")
    formula = f"'{quoted}'!{at}+1"
    style = {"font_bold": True, "fill_color": "#FFC000", "h_align": "center"}
    found = operations(
        _setting(title, [{"cell": at, "value": 42, "style": style}]),
        {"op": "set_column_widths", "sheet": title, "columns": [{"column": "B", "width": 21.5}]},
        {"op": "set_row_heights", "sheet": title, "rows": [{"row": 2, "height": 33}]},
        {"op": "freeze_panes", "sheet": title, "row": 1, "column": 1},
        {"op": "ensure_sheet", "sheet": ADDED_SHEET},
        _setting(ADDED_SHEET, [{"cell": "B2", "value": "=" + formula}]),
    )
    edit = Edit(
        {(title, at): 42.0, (ADDED_SHEET, "B2"): Formula(formula)},
        looks=frozenset({(title, at)}),
        widths=frozenset({(title, "B")}),
        heights=frozenset({(title, 2)}),
        frozen=frozenset({title}),
        added=(ADDED_SHEET,),
    )
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"after{path.suffix}"

        def work() -> None:
            XlsxFormat().apply(Source(path, path.name), found, target)

        verdict = _judge(path, target, edit, work, KbdError)
        if verdict.outcome == "exact" and (missing := _not_shown(target, title, at)):
            return Verdict("loss", (f"not as meant: {missing}",))
        return verdict


def _not_shown(target: Path, title: str, at: str) -> list[str]:
    """What of the looks that were asked for is not there."""
    book = Book(target)
    sheet = book.sheet(title)
    cell = sheet.cells[place(at)]
    look = book.looks.look(cell.style)
    rows = {row.number: row.attributes for row in sheet.rows}
    columns = [
        column for group in children(sheet.root, "cols") for column in children(group, "col")
    ]
    widths = [
        c.get("width", "") for c in columns if int(c.get("min", 0)) <= 2 <= int(c.get("max", 0))
    ]
    panes = [
        pane for group in children(sheet.root, "sheetViews")
        for view in children(group, "sheetView") for pane in children(view, "pane")
    ]  # fmt: skip
    wanted = {
        "bold": "b []" in look["font"],
        "fill": "FFC000" in look["fill"],
        "centred": "center" in look["alignment"],
        "width": [float(width) for width in widths] == [21.5],
        "height": float(rows.get(2, {}).get("ht", "0")) == 33,
        "panes": all(pane.get("topLeftCell") == "B2" for pane in panes) and panes,
    }
    book.close()
    return [name for name, is_so in wanted.items() if not is_so]


def append_cell(task: tuple[Path, Path]) -> tuple[str, str] | None:
    """Write a file with a text below everything; tell which cell, None where it cannot be."""
    path, target = task
    book = opened(path)
    if book is None:
        return None
    sheet = book.worksheets[0]
    title, cell = sheet.title, name(Free(sheet).below())
    book.close()
    setting = _setting(title, [{"cell": cell, "value": "Set by a test"}])
    try:
        XlsxFormat().apply(Source(path, path.name), operations(setting), target)
    except KbdError:
        return None
    return title, cell


def map_and_read(task: tuple[Path, Editor]) -> Verdict:
    """Map a file and read the beginning of each sheet; openpyxl goes through all of its cells."""
    path, editor = task
    if editor == "openpyxl":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for sheet in openpyxl.load_workbook(path).worksheets:
                for row in sheet.iter_rows():
                    for _ in row:
                        pass
        return Verdict("exact")
    source = Source(path, path.name)
    try:
        mapped = XlsxFormat().map(source)
        for sheet in mapped["sheets"]:
            for chunk in sheet.get("chunks", [])[:2]:
                XlsxFormat().read(source, Region(sheet=sheet["name"], range=chunk["range"]))
    except KbdError as error:
        return Verdict("refused", (f"{error.code}: {error}"[:300],))
    return Verdict("exact")
