"""Real workbooks after an edit: results that it reaches are gone, all others are still there.

Of plain totals, such as =SUM(B2:B6), they are worked out anew.

What an edit reaches is worked out here by openpyxl's tokenizer and a plain search, with no code of
the format. Where that does not understand a formula, neither is asked of its result.
"""

import io
import math
import random
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pytest
from openpyxl.formula import Tokenizer
from openpyxl.utils.cell import range_boundaries
from openpyxl.utils.datetime import to_excel
from openpyxl.worksheet.formula import ArrayFormula
from python_calamine import CalamineWorkbook

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import CellSetting, SetCells
from test_calculation_corpus import sheets, workbooks

SAMPLE_SEED = 117
SAMPLE_SIZE = 12
MAX_FORMULAS = 1_000
MAX_CELLS = 60_000
MAX_BYTES = 100_000

TOTAL = re.compile(
    r"=(SUM|MIN|MAX|COUNT|AVERAGE)\((\$?[A-Z]+\$?\d+:\$?[A-Z]+\$?\d+)\)", re.IGNORECASE
)

Place = tuple[str, int, int]
Bounds = tuple[str, int, int, int, int]


class Formula(NamedTuple):
    """What a formula reads, and whether all of it is understood."""

    reads: list[Bounds]
    is_understood: bool


def holds(reads: list[Bounds], place: Place) -> bool:
    """Whether one of some rectangles has a cell."""
    return any(
        place[0] == title and top <= place[1] <= bottom and left <= place[2] <= right
        for title, top, left, bottom, right in reads
    )


class Judge:
    """A workbook as openpyxl has it: formulas, stored results, constants."""

    def __init__(self, path: Path) -> None:
        # From memory: of a file that it cannot read openpyxl leaves the handle open.
        data = path.read_bytes()
        self.results = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        self.book = openpyxl.load_workbook(io.BytesIO(data))
        self.titles = {sheet.title.casefold(): sheet.title for sheet in self.book.worksheets}
        self.formulas: dict[Place, Formula] = {}
        self.numbers: list[Place] = []
        for sheet in self.book.worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    place = (sheet.title, int(cell.row or 0), int(cell.column or 0))
                    if isinstance(cell.value, str) and cell.data_type == "f":
                        self.formulas[place] = self.formula(cell.value, sheet.title)
                    elif cell.data_type == "f":
                        text = cell.value.text if isinstance(cell.value, ArrayFormula) else "=?()"
                        known = self.formula(text or "=?()", sheet.title)
                        self.formulas[place] = Formula(known.reads, is_understood=False)
                    elif isinstance(cell.value, int | float) and not cell.is_date:
                        self.numbers.append(place)

    def formula(self, text: str, title: str) -> Formula:
        """What a formula of a sheet reads, as far as it is plain."""
        reads, is_understood = [], True
        for token in Tokenizer(text).items:
            if token.type == "FUNC" and token.subtype == "OPEN":
                is_understood &= token.value.upper() in ("SUM(", "IF(", "ROUND(", "AVERAGE(")
            if token.type != "OPERAND" or token.subtype != "RANGE":
                continue
            bounds = self.bounds(token.value, title)
            if bounds is None:
                is_understood = False
            else:
                reads.append(bounds)
        return Formula(reads, is_understood)

    def bounds(self, written: str, title: str) -> Bounds | None:
        """The rectangle that a plain reference names, None for anything else."""
        sheet, bang, place = written.rpartition("!")
        named = self.titles.get(sheet.strip("'").replace("''", "'").casefold()) if bang else title
        if named is None or not re.fullmatch(r"\$?[A-Z]{1,3}\$?\d+(:\$?[A-Z]{1,3}\$?\d+)?", place):
            return None
        left, top, right, bottom = (side or 0 for side in range_boundaries(place))
        rows, columns = sorted((top, bottom)), sorted((left, right))
        return named, rows[0], columns[0], rows[1], columns[1]

    def reached(self, start: Place, *, perhaps: bool) -> set[Place]:
        """The formulas that read a cell, directly or not; with `perhaps` those that may."""
        found = {
            place for place, each in self.formulas.items() if perhaps and not each.is_understood
        }
        waiting = [start, *found]
        while waiting:
            changed = waiting.pop()
            for place, formula in self.formulas.items():
                if place not in found and holds(formula.reads, changed):
                    found.add(place)
                    waiting.append(place)
        return found

    def is_read(self, place: Place) -> bool:
        """Whether a formula reads a cell itself."""
        return any(holds(formula.reads, place) for formula in self.formulas.values())

    def result(self, place: Place) -> object:
        """The stored result of a formula, None if there is none."""
        return self.results[place[0]].cell(place[1], place[2]).value

    def total(self, place: Place) -> float | None:
        """What a plain total over numbers alone comes to, None if a formula is none."""
        written = self.book[place[0]].cell(place[1], place[2]).value
        found = TOTAL.fullmatch(written) if isinstance(written, str) else None
        if found is None:
            return None
        left, top, right, bottom = (int(side or 0) for side in range_boundaries(found[2].upper()))
        rows = self.book[place[0]].iter_rows(top, bottom, left, right)
        cells: list[Any] = [cell for row in rows for cell in row]
        if any(cell.data_type == "f" for cell in cells):
            return None
        convert: Any = to_excel
        values = [convert(cell.value) if cell.is_date else cell.value for cell in cells]
        numbers = [float(value) for value in values if type(value) in (int, float)]
        match found[1].upper():
            case "SUM":
                return math.fsum(numbers)
            case "COUNT":
                return float(len(numbers))
            case "AVERAGE":
                return math.fsum(numbers) / len(numbers) if numbers else None
            case "MIN":
                return min(numbers, default=0.0)
            case _:
                return max(numbers, default=0.0)


def with_formulas(corpora: Path) -> list[Path]:
    """The workbooks of moderate size that have formulas."""
    return [
        path
        for path in workbooks(corpora)
        if path.stat().st_size <= MAX_BYTES and any(b"<f>" in data for data in sheets(path))
    ]


def opened(path: Path) -> Judge | None:
    """A workbook that openpyxl reads and that is small enough for a plain search."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values = CalamineWorkbook.from_path(str(path))
            sizes = [values.get_sheet_by_name(name) for name in values.sheet_names]
            if sum(sheet.height * sheet.width for sheet in sizes) > MAX_CELLS:
                return None
            judge = Judge(path)
        except Exception:  # noqa: BLE001 - what openpyxl raises on real files is of every sort
            return None
    return judge if 0 < len(judge.formulas) <= MAX_FORMULAS else None


def shown(path: Path, place: Place) -> object:
    """What calamine shows of a cell."""
    rows = CalamineWorkbook.from_path(str(path)).get_sheet_by_name(place[0])
    cells = rows.to_python(skip_empty_area=False)
    is_there = place[1] <= len(cells) and place[2] <= len(cells[0])
    return cells[place[1] - 1][place[2] - 1] if is_there else ""


def examine(paths: list[Path], tmp_path: Path) -> tuple[int, int]:
    """Set one number that formulas read in each workbook; count results gone and kept."""
    gone = kept = 0
    for count, path in enumerate(paths):
        before = opened(path)
        if before is None:
            continue
        reading = [place for place in before.numbers if before.is_read(place)]
        if not reading:
            continue
        place = random.Random(count).choice(reading)
        value = before.book[place[0]].cell(place[1], place[2])
        operation = SetCells(place[0], (CellSetting(value.coordinate, 9_876_543),))
        target = tmp_path / f"{count}{path.suffix}"
        try:
            XlsxFormat().apply(Source(path, f"real{path.suffix}"), (operation,), target)
        except ValidationFailed as error:
            print(f"  {path.name}: {error}")
            continue
        after = opened(target)
        assert after is not None, path.name
        definite = before.reached(place, perhaps=False)
        possible = before.reached(place, perhaps=True)
        for formula in before.formulas:
            if formula in definite:
                total, result = after.total(formula), after.result(formula)
                is_added_up = (
                    total is not None
                    and isinstance(result, int | float)
                    and math.isclose(result, total, rel_tol=1e-12, abs_tol=1e-9)
                )
                assert result is None or is_added_up, (path.name, place, formula)
            elif formula not in possible:
                assert after.result(formula) == before.result(formula), (path.name, place, formula)
                kept += before.result(formula) is not None
        gone += sum(
            before.result(formula) is not None and after.result(formula) is None
            for formula in definite
        )
        is_open = after.result(min(definite)) is None
        assert (shown(target, min(definite)) == "") == is_open, (path.name, place)
    print(f"\n{gone} results that an edit reached are gone, {kept} others are kept")
    return gone, kept


@pytest.mark.corpora
def test_a_sample_of_real_results(corpora: Path, tmp_path: Path) -> None:
    """In a sample of real workbooks an edit takes the results that it reaches, and no other."""
    chosen = random.Random(SAMPLE_SEED).sample(with_formulas(corpora), SAMPLE_SIZE)
    gone, kept = examine(chosen, tmp_path)
    assert gone > 0
    assert kept > 0


@pytest.mark.corpora
@pytest.mark.full
def test_all_real_results(corpora: Path, tmp_path: Path) -> None:
    """In all real workbooks of moderate size the same."""
    gone, kept = examine(with_formulas(corpora), tmp_path)
    assert gone > 100
    assert kept > 100
