"""Dynamic arrays after an edit: no reader shows an old result, and the judge knows what may go."""

import zipfile
from pathlib import Path

import openpyxl
import pytest

from fixtures.make_slicers import write
from fixtures.parts_of_slicers import MAIN, content_types, relations, styles, worksheet
from judging import Edit, Formula, compare
from judging.book import Book
from judging.dependents import affected
from judging.places import name, place
from judging_trials import operations
from kbd.formats import Source
from kbd_xlsx import XlsxFormat

FILTER = "_xlfn._xlws.FILTER(A1:A4,A1:A4&gt;2)"
CELLS = {
    "A1": "<v>1</v>", "A2": "<v>2</v>", "A3": "<v>3</v>", "A4": "<v>4</v>",
    "C1": f'<f t="array" ref="C1:C2">{FILTER}</f><v>3</v>', "C2": "<v>4</v>",
    "E1": f'<f t="array" ref="E1">{FILTER}</f><v>#VALUE!</v>', "E2": "<v>9</v>",
    "H10": "<f>C3+0</f><v>0</v>", "H11": "<f>SUM(C4:C9)</f><v>0</v>",
    "H12": "<f>D2+1</f><v>1</v>", "H13": "<f>B9+1</f><v>1</v>", "H14": "<f>H11+1</f><v>1</v>",
    "H15": "<f>E3+0</f><v>0</v>", "H16": "<f>D9+1</f><v>1</v>", "J1": "<v>5</v>",
    "B11": "<f>B12*2</f><v>0</v>", "L10": "<f>J3+1</f><v>1</v>", "L11": "<f>J1+1</f><v>6</v>",
}  # fmt: skip
MARKS = {"C1": ' cm="1"', "E1": ' cm="1" t="e"'}


@pytest.fixture(scope="module")
def spilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook with a dynamic array, another that found no room, and who reads around them."""
    rows: dict[int, str] = {}
    for cell, inside in sorted(CELLS.items()):
        row = int(cell[1:])
        rows[row] = rows.get(row, "") + f'<c r="{cell}"{MARKS.get(cell, "")}>{inside}</c>'
    text = "".join(f'<row r="{row}">{cells}</row>' for row, cells in sorted(rows.items()))
    parts = {
        "xl/workbook.xml": (
            f'<workbook {MAIN}><sheets><sheet name="Data" sheetId="1" r:id="rId1"/></sheets>'
            "</workbook>"
        ),
        "xl/_rels/workbook.xml.rels": relations(
            ("worksheet", "worksheets/sheet1.xml"),
            ("styles", "styles.xml"),
        ),
        "xl/worksheets/sheet1.xml": worksheet("A1:L16", text, ""),
        "xl/styles.xml": styles(),
    }
    whole = {
        "[Content_Types].xml": content_types(parts),
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
    }
    path = tmp_path_factory.mktemp("spilled") / "spilled.xlsx"
    write(path, whole | parts)
    return path


FORMULAS = {cell for cell, inside in CELLS.items() if "<f" in inside} | {"C2"}
NEAR_E1 = {"H14", "H15", "L10", "L11"}
"""What reads below or right of E1, and so may be old with it."""

TRIALS: list[tuple[str, float | None, set[str], set[str]]] = [
    # The cell and its new value; which results must go, and which may besides.
    ("A2", 7.0, {"C1", "C2", "E1", "H10", "H12"}, {"H11", "H16"} | NEAR_E1),
    ("E2", None, {"E1"}, NEAR_E1),
    ("J1", 6.0, {"E1", "L11"}, NEAR_E1),
    ("B12", 1.0, {"B11"}, set()),
    ("C3", 1.0, {"H10"}, {"E1"} | NEAR_E1),
]


def shown(path: Path) -> set[str]:
    """The formulas whose results openpyxl shows."""
    sheet = openpyxl.load_workbook(path, data_only=True)["Data"]
    return {cell for cell in FORMULAS if sheet[cell].value is not None}


def material(before: Path, after: Path, edit: Edit) -> list[str]:
    """What the judge finds, but for what is not material."""
    found = compare(before, after, edit)
    return [f"{each.kind} at {each.place}" for each in found if each.material]


@pytest.mark.parametrize(("cell", "value", "must", "may"), TRIALS)
def test_old_results_are_gone(
    spilled: Path, tmp_path: Path, cell: str, value: float | None, must: set[str], may: set[str]
) -> None:
    """What reads where a dynamic array may spread has no result after an edit; the rest has."""
    target = tmp_path / "after.xlsx"
    operation = {"op": "set_cells", "sheet": "Data", "cells": [{"cell": cell, "value": value}]}
    book = Book(spilled)
    judged = affected(book, [("data", place(cell))])
    book.close()

    XlsxFormat().apply(Source(spilled, spilled.name), operations(operation), target)

    assert {name(at) for _, at in judged.must} == must
    assert {name(at) for _, at in judged.may} == must | may
    assert shown(spilled) == FORMULAS
    assert FORMULAS - shown(target) == must | may
    assert material(spilled, target, Edit({("Data", cell): value})) == []


def test_a_dynamic_array_that_is_written(spilled: Path, tmp_path: Path) -> None:
    """A new one may spread at once, up to the next formula: what reads there has no result."""
    formula = "SORT(A1:A4)"
    operation = {
        "op": "set_cells", "sheet": "Data", "cells": [{"cell": "B2", "value": f"={formula}"}]
    }  # fmt: skip
    target = tmp_path / "after.xlsx"
    XlsxFormat().apply(Source(spilled, spilled.name), operations(operation), target)

    written = Formula(f"_xlfn._xlws.{formula}")

    assert shown(target) == {"B11"}
    assert material(spilled, target, Edit({("Data", "B2"): written})) == []


def test_a_dynamic_array_that_goes(spilled: Path, tmp_path: Path) -> None:
    """Where one is written over, what it filled is empty, and who reads beside it is not old."""
    operation = {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "C1", "value": 5}]}
    target = tmp_path / "after.xlsx"
    XlsxFormat().apply(Source(spilled, spilled.name), operations(operation), target)

    assert FORMULAS - shown(target) == {"C2"}
    assert material(spilled, target, Edit({("Data", "C1"): 5.0})) == []


def test_an_old_result_is_found(spilled: Path, tmp_path: Path) -> None:
    """The judge sees it if the result of who reads next to a dynamic array was kept."""
    target = tmp_path / "after.xlsx"
    operation = {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "A2", "value": 7}]}
    XlsxFormat().apply(Source(spilled, spilled.name), operations(operation), target)
    kept = tmp_path / "kept.xlsx"
    with zipfile.ZipFile(target) as old, zipfile.ZipFile(kept, "w") as archive:
        for entry in old.namelist():
            data = old.read(entry)
            if entry == "xl/worksheets/sheet1.xml":
                assert data.count(b"<f>D2+1</f></c>") == 1
                data = data.replace(b"<f>D2+1</f></c>", b"<f>D2+1</f><v>1</v></c>")
            archive.writestr(entry, data)

    found = material(spilled, kept, Edit({("Data", "A2"): 7.0}))

    assert found == ["stale result at Data!H12"]
