"""Rules and validations that take each other's cells, against a model that keeps them by cell."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.formula.translate import Translator

from kbd.errors import ValidationFailed
from object_edits import edit

SIZE = 5
Rules = dict[str, str]
"""The formula of each cell, as that cell reads it."""


def _cells(area: tuple[int, int, int, int]) -> Iterator[str]:
    top, left, bottom, right = area
    for row in range(min(top, bottom), max(top, bottom) + 1):
        for column in range(min(left, right), max(left, right) + 1):
            yield f"{'ABCDE'[column - 1]}{row}"


def _first(areas: list[tuple[int, int, int, int]]) -> str:
    return next(_cells((min(min(a[0], a[2]) for a in areas), min(min(a[1], a[3]) for a in areas),
                        99, 5)))  # fmt: skip


def _written(area: tuple[int, int, int, int]) -> str:
    found = list(_cells(area))
    return f"{found[0]}:{found[-1]}"


def _read(path: Path, kind: str) -> Rules:
    """What each cell has, by the ranges and formulas that another library reads."""
    sheet: Any = openpyxl.load_workbook(path)["S"]
    found: list[tuple[list[Any], str]] = []
    if kind == "validations":
        known = sheet.data_validations.dataValidation
        found += [(list(each.sqref.ranges), each.formula1) for each in known]
    else:
        for block in sheet.conditional_formatting:
            ranges = list(block.sqref.ranges)
            found += [(ranges, rule.formula[0]) for rule in block.rules]
    told: Rules = {}
    for ranges, formula in found:
        areas = [(r.min_row, r.min_col, r.max_row, r.max_col) for r in ranges]
        mover = Translator(f"={formula}", _first(areas))
        for cell in (cell for area in areas for cell in _cells(area)):
            assert cell not in told
            told[cell] = str(mover.translate_formula(cell))
    return told


SIDES = st.integers(1, SIZE)
AREAS = st.tuples(SIDES, SIDES, SIDES, SIDES)
STEPS = st.lists(st.tuples(st.booleans(), AREAS, st.integers(1, 9)), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", ["validations", "conditional_formats"])
@settings(max_examples=40)
@given(steps=STEPS)
def test_each_cell_has_the_last_rule_that_it_was_given(
    kind: str, steps: list[tuple[bool, tuple[int, int, int, int], int]]
) -> None:
    """Whatever is set and taken off in any order, with formulas as each cell reads them."""
    model: Rules = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "0.xlsx"
        edit(None, path, {"op": "ensure_sheet", "sheet": "S"})
        for number, (sets, area, limit) in enumerate(steps, 1):
            target = Path(name) / f"{number}.xlsx"
            made: dict[str, Any] = {"sheet": "S", "range": _written(area)}
            formula = f"=LEN({_written(area).partition(':')[0]})>{limit}+$A$1"
            if not sets:
                made |= {"op": "clear_objects", "what": [kind]}
            elif kind == "validations":
                made |= {"op": "set_data_validation", "type": "custom", "formula": formula}
            else:
                rule = {"type": "formula", "formula": formula}
                made |= {"op": "set_conditional_format", "rule": rule, "replace": True}
                made["style"] = {"font_bold": True}
            try:
                edit(path, target, made)
            except ValidationFailed as error:
                # Then nothing has changed, and the reason is the one that there may be.
                assert "written for its first cell" in error.message  # noqa: PT017
                continue
            path = target
            mover = Translator(formula, _written(area).partition(":")[0])
            for cell in _cells(area):
                model.pop(cell, None)
                if sets:
                    model[cell] = str(mover.translate_formula(cell))
        assert _read(path, kind) == model
