"""Random edits of random sheets, against a plain model, read back by three readers."""

from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.parts.sheet import SheetPart
from sheet_model import (
    COLUMNS,
    ROWS,
    STRINGS,
    Base,
    Model,
    bases,
    cells,
    restyle,
    steps,
)
from sheet_reader import ReadSheet, read, workbook


def take(sheet: SheetPart, model: Model, step: tuple[Any, ...]) -> None:
    """Take a step in the part and in the model; what the model forbids the part refuses."""
    match step:
        case ("set", place, content, looks):
            edit, (row, column) = CellEdit(content, looks), place
            if not model.accepts(place, content):
                with pytest.raises(ValidationFailed, match="merged cells"):
                    sheet.set(row, column, edit)
                return
            sheet.set(row, column, edit)
            model.put(place, content)
            if looks:
                model.styles[place] = restyle(model.style(place), edit)
        case ("clear", area):
            sheet.clear(area)
            for place in cells(area):
                model.put(place, Content("blank"))
        case ("forget", area):
            sheet.forget(area)
            for place in cells(area):
                if model.results.pop(place, None) is not None:
                    model.touched.add(place[0])
        case ("merge", area):
            take_merge(sheet, model, area)
        case ("unmerge", area):
            take_unmerge(sheet, model, area)
        case _:
            take_layout(sheet, model, step)


def take_layout(sheet: SheetPart, model: Model, step: tuple[Any, ...]) -> None:
    match step:
        case ("width", column, width):
            sheet.set_width(column, width)
            model.widths[column] = width
        case ("height", row, height):
            sheet.set_height(row, height)
            model.heights[row] = height
            model.touched.add(row)
        case ("freeze", place):
            sheet.freeze(*place)
            model.frozen = place
        case _:
            pytest.fail(f"no such step: {step}")


def take_merge(sheet: SheetPart, model: Model, area: Area) -> None:
    if len(cells(area)) > 1 and (area in model.merges or model.may_merge(area)):
        sheet.merge(area)
        model.merges += [] if area in model.merges else [area]
        return
    with pytest.raises(ValidationFailed, match="merg"):
        sheet.merge(area)


def take_unmerge(sheet: SheetPart, model: Model, area: Area) -> None:
    left = [merged for merged in model.merges if not set(cells(merged)) <= set(cells(area))]
    if left != model.merges:
        sheet.unmerge(area)
        model.merges = left
        return
    with pytest.raises(ValidationFailed, match="no merged cells"):
        sheet.unmerge(area)


def seen(sheet: ReadSheet) -> dict[tuple[int, int], tuple[str, str]]:
    """What the test's own reader finds, in the words of the model."""
    found = {}
    for place, held in sheet.held.items():
        if held.formula is not None:
            found[place] = ("formula", held.formula)
        elif held.kind == "s":
            found[place] = ("text", STRINGS[int(held.value or 0)])
        else:
            kind = {"text": "text", "b": "boolean", "n": "number"}[held.kind]
            found[place] = (kind, held.value or "")
    return found


def python_value(kind: str, text: str) -> Any:
    match kind:
        case "number":
            return float(text)
        case "boolean":
            return text == "1"
        case "formula":
            return f"={text}"
        case _:
            return text


@settings(max_examples=60)
@given(bases(), st.lists(steps, min_size=1, max_size=12))
def test_edits_do_what_the_model_does(base: Base, taken: list[tuple[Any, ...]]) -> None:
    """Contents, styles, merges, sizes and panes are the model's; other rows keep their bytes."""
    sheet, model = SheetPart(base.part, "S"), base.model
    for step in taken:
        take(sheet, model, step)
    part = sheet.xml(restyle)

    assert sheet.xml(restyle) == part
    found = read(part)
    assert seen(found) == model.contents
    for place in ((row, column) for row in range(1, ROWS + 4) for column in range(1, COLUMNS + 4)):
        assert found.style(*place) == model.style(place), place
    results = {place: held.value for place, held in found.held.items() if held.formula}
    assert {place: value for place, value in results.items() if value} == model.results
    assert sorted(found.merges) == sorted(map(str, model.merges)) == sorted(map(str, sheet.merges))
    assert found.frozen == model.frozen
    for column, width in model.widths.items():
        assert float(found.columns[column]["width"]) == width
        assert found.columns[column]["customWidth"] == "1"
    for row, height in model.heights.items():
        assert float(found.heights[row]) == height
    for number, row_bytes in base.rows.items():
        assert number in model.touched or row_bytes in part, number


@settings(max_examples=40)
@given(bases(always_named=True), st.lists(steps, min_size=1, max_size=8))
def test_other_readers_see_the_same(base: Base, taken: list[tuple[Any, ...]]) -> None:
    """Openpyxl reads every content of the model, calamine every one that is no formula.

    Cells are named here: openpyxl cannot read shared formulas in cells without a name.
    """
    sheet, model = SheetPart(base.part, "S"), base.model
    for step in taken:
        take(sheet, model, step)
    part = sheet.xml(restyle)
    wanted = {place: python_value(kind, text) for place, (kind, text) in model.contents.items()}

    book = openpyxl.load_workbook(workbook(part, STRINGS), rich_text=False)
    values = {
        (cell.row, cell.column): cell.value
        for row in book["S"].iter_rows()
        for cell in row
        if cell.value is not None
    }
    assert values == wanted

    grid = CalamineWorkbook.from_filelike(workbook(part, STRINGS)).get_sheet_by_index(0)
    rows = grid.to_python(skip_empty_area=False)
    for (row, column), (kind, _) in model.contents.items():
        if kind != "formula":
            assert rows[row - 1][column - 1] == wanted[row, column], (row, column)


@settings(max_examples=20)
@given(bases())
def test_nothing_asked_is_nothing_changed(base: Base) -> None:
    """Without a change, and after one that meets nothing, the part is what it was."""
    sheet = SheetPart(base.part, "S")

    assert not sheet.is_changed
    assert sheet.xml(restyle) is base.part
    sheet.set(3, 3, CellEdit())
    assert sheet.xml(restyle) == base.part
