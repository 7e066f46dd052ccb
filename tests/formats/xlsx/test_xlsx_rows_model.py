"""Random tables at random places, against a model of the sheet and two libraries."""

import datetime as dt
import tempfile
from pathlib import Path
from typing import Any

import openpyxl
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.formats import Placement
from written_rows import plain, values, write

Cells = dict[tuple[int, int], Any]

_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t=<&_x"),
    min_size=1, max_size=8,
)  # fmt: skip
_VALUES = {
    None: st.none() | _TEXT | st.integers(-(10**9), 10**9) | st.booleans(),
    "string": st.none() | _TEXT,
    "integer": st.none() | st.integers(-(10**14), 10**14),
    "float": st.none() | st.decimals(-1000, 1000, places=2).map(str),
    "date": st.none() | st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)).map(str),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[Any]], list[list[Any]]]:
    """Draw the columns and rows of a table."""
    kinds = draw(st.lists(st.sampled_from(list(_VALUES)), min_size=1, max_size=4))
    columns = [[f"c{number}", kind] for number, kind in enumerate(kinds)]
    rows = draw(st.lists(st.tuples(*(_VALUES[kind] for kind in kinds)), max_size=6))
    return columns, [list(row) for row in rows]


placements = st.builds(
    Placement,
    sheet=st.just("S"),
    mode=st.sampled_from(["replace_sheet", "append_rows", "write_range"]),
    start_cell=st.sampled_from(["A1", "B2", "A5", "D1", "AA7"]),
    include_header=st.booleans(),
    clear_target_range=st.booleans(),
)
starts = st.dictionaries(
    st.tuples(st.integers(1, 8), st.integers(1, 5)), st.integers(1, 99) | st.just("was"), max_size=9
)


def started(path: Path, cells: Cells) -> None:
    """Make a workbook of another program, with cells that are styled and hold nothing."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "S"
    for (row, column), value in cells.items():
        sheet.cell(row, column, value)
    sheet.cell(4, 3).number_format = "0.0"
    sheet.row_dimensions[6].height = 30
    book.create_sheet("Other")["A1"] = "kept"
    book.save(path)


def placed(cells: Cells, columns: list[Any], rows: list[Any], placement: Placement) -> Cells:
    """Return what a sheet holds after a write, by the rules of the modes."""
    cells, header = dict(cells), placement.include_header
    top = left = 1
    match placement.mode:
        case "append_rows" if cells:
            top, left = max(row for row, _ in cells) + 1, min(column for _, column in cells)
            header = False
        case "write_range":
            top, left = {"A1": (1, 1), "B2": (2, 2), "A5": (5, 1), "D1": (1, 4), "AA7": (7, 27)}[
                placement.start_cell
            ]
            if placement.clear_target_range:
                cells = {(r, c): v for (r, c), v in cells.items() if r < top or c < left}
        case "replace_sheet":
            cells = {}
        case _:
            pass
    kinds = [kind for _, kind in columns]
    names = [name for name, _ in columns]
    lines = [(names, [None] * len(names))] if header else []
    lines += [(row, kinds) for row in rows]
    for row, (line, types) in enumerate(lines, top):
        for column, (value, kind) in enumerate(zip(line, types, strict=True), left):
            cells[row, column] = _meant(kind, value)
    return {place: value for place, value in cells.items() if value is not None}


def _meant(kind: str | None, value: Any) -> Any:
    match kind:
        case "float" if value is not None:
            return float(value)
        case "date" if value is not None:
            return dt.datetime.fromisoformat(value)
        case _:
            return value


def by_place(rows: list[list[Any]]) -> Cells:
    """Return values by row and column, those that are none left out."""
    return {
        (row, column): dt.datetime.combine(value, dt.time()) if type(value) is dt.date else value
        for row, line in enumerate(rows, 1) for column, value in enumerate(line, 1)
        if value not in (None, "")
    }  # fmt: skip


@settings(max_examples=30)
@given(starts, st.lists(st.tuples(tables(), placements), min_size=1, max_size=3))
def test_a_sheet_holds_what_its_model_holds(cells: Cells, writes: list[Any]) -> None:
    """Whatever is written where, both libraries find what the rules say, and no other cell."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "0.xlsx")
        started(path, cells)
        for number, ((columns, rows), placement) in enumerate(writes, 1):
            target = Path(folder, f"{number}.xlsx")
            write(path, target, rows, placement, columns)
            cells, path = placed(cells, columns, rows, placement), target

        assert by_place(values(path, "S")) == cells
        assert by_place(plain(path, "S")) == cells
        assert values(path, "Other") == [["kept"]]
