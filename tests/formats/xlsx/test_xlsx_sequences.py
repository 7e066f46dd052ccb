"""Random operations against a model of the workbook, read back by two other readers."""

import tempfile
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from openpyxl.utils import get_column_letter
from python_calamine import CalamineWorkbook

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

FORMAT = XlsxFormat()
SIZE = 6
Place = tuple[int, int]
Box = tuple[int, int, int, int]


class Refused(Exception):
    """The model says that this call cannot be done."""


class Model:
    """A workbook as a person would keep it on paper: values, merges and widths by sheet."""

    def __init__(self) -> None:
        self.values: dict[str, dict[Place, Any]] = {"Base": {(1, 1): "kept", (2, 2): 5}}
        self.merges: dict[str, set[Box]] = {"Base": set()}
        self.widths: dict[str, dict[int, float]] = {"Base": {}}

    def _title(self, name: str) -> str:
        for title in self.values:
            if title.casefold() == name.casefold():
                return title
        raise Refused

    def do(self, operation: dict[str, Any]) -> None:
        """Carry out an operation, or raise Refused."""
        name = operation["sheet"]
        if operation["op"] == "ensure_sheet":
            if not any(title.casefold() == name.casefold() for title in self.values):
                self.values[name], self.merges[name], self.widths[name] = {}, set(), {}
            return
        title = self._title(name)
        match operation:
            case {"op": "delete_sheet"}:
                if len(self.values) == 1:
                    raise Refused
                del self.values[title], self.merges[title], self.widths[title]
            case {"op": "set_cells", "cells": cells}:
                for cell in cells:
                    self._set(title, place(cell["cell"]), cell["value"])
            case {"op": "set_range", "start": start, "values": rows}:
                top, left = place(start)
                for row, values in enumerate(rows, top):
                    for column, value in enumerate(values, left):
                        self._set(title, (row, column), value)
            case {"op": "set_column_widths", "columns": [column]}:
                number = place(f"{column['column']}1")[1]
                self.widths[title][number] = column["width"]
            case {"op": kind, "range": area}:
                self._change(kind, title, box(area))

    def _change(self, kind: str, title: str, area: Box) -> None:
        match kind:
            case "clear_range":
                kept = {p: v for p, v in self.values[title].items() if not within(p, area)}
                self.values[title] = kept
            case "merge_cells":
                self._merge(title, area)
            case _:
                self._unmerge(title, area)

    def _set(self, title: str, found: Place, value: Any) -> None:
        for merge in self.merges[title]:
            if value is not None and within(found, merge) and found != merge[:2]:
                raise Refused
        if value is None:
            self.values[title].pop(found, None)
        else:
            self.values[title][found] = value

    def _merge(self, title: str, area: Box) -> None:
        if area[:2] == area[2:]:
            raise Refused
        corners = self.merges[title]
        if any(overlap(area, merge) for merge in corners):
            raise Refused
        if any(within(found, area) and found != area[:2] for found in self.values[title]):
            raise Refused
        corners.add(area)

    def _unmerge(self, title: str, area: Box) -> None:
        inside = {m for m in self.merges[title] if within(m[:2], area) and within(m[2:], area)}
        if not inside:
            raise Refused
        self.merges[title] -= inside


def place(cell: str) -> Place:
    return int(cell[1:]), ord(cell[0]) - 64


def box(area: str) -> Box:
    (top, left), (bottom, right) = (place(cell) for cell in area.split(":"))
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)


def within(found: tuple[int, ...], area: Box) -> bool:
    return area[0] <= found[0] <= area[2] and area[1] <= found[1] <= area[3]


def overlap(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


names = st.sampled_from(["Base", "base", "Two", "Ünï & <3>"])
places = st.builds(
    "{}{}".format, st.sampled_from("ABCDEF"[:SIZE]), st.integers(min_value=1, max_value=SIZE)
)
areas = st.builds("{}:{}".format, places, places)
values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(10**12), max_value=10**12),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["plain", " blanks ", "a\nb", "<&>\"'", "😀 _x0041_", "'quoted", "1.5", "="]),
    st.sampled_from(["=A1+1", "=SUM(A1:C3)", '=IF(B2>1,"a","b")&""']),
)
operations = st.one_of(
    st.fixed_dictionaries({"op": st.just("ensure_sheet"), "sheet": names}),
    st.fixed_dictionaries({"op": st.just("delete_sheet"), "sheet": names}),
    st.fixed_dictionaries(
        {
            "op": st.just("set_cells"),
            "sheet": names,
            "cells": st.lists(
                st.fixed_dictionaries({"cell": places, "value": values}), min_size=1, max_size=4
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            "op": st.just("set_range"),
            "sheet": names,
            "start": places,
            "values": st.lists(st.lists(values, min_size=1, max_size=3), min_size=1, max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["clear_range", "merge_cells", "unmerge_cells"]),
            "sheet": names,
            "range": areas,
        }
    ),
    st.fixed_dictionaries(
        {
            "op": st.just("set_column_widths"),
            "sheet": names,
            "columns": st.lists(
                st.fixed_dictionaries(
                    {"column": st.sampled_from("ABC"), "width": st.sampled_from([3.5, 40.0])}
                ),
                min_size=1,
                max_size=1,
            ),
        }
    ),
)


@example(
    calls=[
        [
            {"op": "ensure_sheet", "sheet": "Two"},
            {"op": "ensure_sheet", "sheet": "Base"},
            {"op": "delete_sheet", "sheet": "base"},
        ]
    ]
)
@given(calls=st.lists(st.lists(operations, min_size=1, max_size=5), min_size=1, max_size=3))
def test_operations_do_what_the_model_does(calls: list[list[dict[str, Any]]]) -> None:
    """Call upon call, the workbook is what the model says, or the call is refused as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "0.xlsx"
        base(path)
        done: list[list[dict[str, Any]]] = []
        for count, call in enumerate(calls, 1):
            target = Path(folder) / f"{count}.xlsx"
            model = Model()
            try:
                for operation in (one for earlier in [*done, call] for one in earlier):
                    model.do(operation)
            except Refused:
                with pytest.raises(ValidationFailed):
                    apply(path, call, target)
                assert not target.exists()
                continue
            apply(path, call, target)
            done.append(call)
            check(target, model)
            path = target


def base(path: Path) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Base"
    for (row, column), value in Model().values["Base"].items():
        book.worksheets[0].cell(row, column, value)
    book.save(path)


def apply(path: Path, call: list[dict[str, Any]], target: Path) -> None:
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    records = tuple(msgspec.convert(call, list[vocabulary]))
    FORMAT.apply(Source(path, "book.xlsx"), records, target)


def check(path: Path, model: Model) -> None:
    """Compare with what openpyxl and calamine read."""
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == list(model.values)
    shown = CalamineWorkbook.from_path(str(path))
    for title, expected in model.values.items():
        sheet = book[title]
        found = {
            (cell.row, cell.column): cell.value
            for row in sheet.iter_rows()
            for cell in row
            if cell.value is not None
        }
        assert {p: read_back(v) for p, v in expected.items()} == found
        merged = {(m.min_row, m.min_col, m.max_row, m.max_col) for m in sheet.merged_cells.ranges}
        assert merged == model.merges[title]
        widths = {
            column: sheet.column_dimensions[get_column_letter(column)].width
            for column in model.widths[title]
        }
        assert widths == model.widths[title]
        check_values(shown, title, expected)


def read_back(value: Any) -> Any:
    """Return a value as openpyxl reads it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value.replace("_x0041_", "_x005F_x0041_") if isinstance(value, str) else value


def check_values(book: CalamineWorkbook, title: str, expected: dict[Place, Any]) -> None:
    plain = {
        found: value
        for found, value in expected.items()
        if not (isinstance(value, str) and value.startswith("=") and len(value) > 1)
    }
    sheet = book.get_sheet_by_name(title)
    rows = sheet.to_python(skip_empty_area=False)
    for (row, column), value in plain.items():
        assert rows[row - 1][column - 1] == value
