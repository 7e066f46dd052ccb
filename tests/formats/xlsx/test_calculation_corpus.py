"""Formulas of real workbooks: found as a parser finds them, read as another tokenizer does."""

import csv
import random
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree
from openpyxl.formula import Tokenizer
from openpyxl.formula.tokenizer import TokenizerError
from openpyxl.utils.cell import range_boundaries

from kbd.errors import FileReadFailed
from kbd_xlsx.calculation.book import OperandReader
from kbd_xlsx.calculation.cells import FormulaCell, formula_cells
from kbd_xlsx.calculation.operands import Reference, TableUse, read_operands

SAMPLE_SEED = 116
SAMPLE_SIZE = 60
MAX_BYTES = 500_000
Found = tuple[int, int, str, str | None, bool]


def workbooks(corpora: Path) -> list[Path]:
    """The workbooks that are neither hostile nor encrypted."""
    with (corpora / "manifest.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    named = [
        corpora / row["path"]
        for row in rows
        if row["path"].startswith(("xlsx/", "xlsx_rare/"))
        and not re.search("hostile|encrypted", row["tags"])
    ]
    return [*named, *sorted((corpora / "spreadsheetbench").rglob("*.xlsx"))]


def sheets(path: Path) -> Iterator[bytes]:
    """The parts of a package that are sheets with formulas, by their content."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if re.search(r"(work|macro|dialog)sheets[/\\]+[^/\\]*\.xml$", name, re.IGNORECASE):
                    yield archive.read(name)
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return


def walked(data: bytes) -> list[Found] | None:
    """The formula cells of a sheet by a walk over its whole tree; None if it is no XML."""
    try:
        root = etree.fromstring(data)
    except etree.XMLSyntaxError:
        return None
    found: list[Found] = []
    row_number = 0
    for row in root.iterfind("{*}sheetData/{*}row"):
        row_number = int(row.get("r") or row_number + 1)
        column = 0
        for cell in row.iterfind("{*}c"):
            place, number = cell.get("r"), row_number
            column += 1
            if place:
                left, top, _, _ = range_boundaries(place.upper())
                column, number = int(left or 0), int(top or 0)
            formula = cell.find("{*}f")
            if formula is not None:
                result = cell.find("{*}v")
                stored = result is not None and bool(result.text or cell.get("t") == "str")
                group = formula.get("si") if formula.get("t") == "shared" else None
                found.append((number, column, formula.text or "", group, stored))
    return found


def as_found(cell: FormulaCell) -> Found:
    return cell.row, cell.column, cell.text, cell.group, cell.is_stored


def judged(text: str) -> Counter[object]:
    """What a formula refers to by the other tokenizer: places as bounds, the rest as it is."""
    found: Counter[object] = Counter()
    for token in Tokenizer(f"={text}").items:
        if token.type != "OPERAND" or token.subtype != "RANGE":
            continue
        # It takes a range whose ends both name their sheet for one operand.
        for value in re.split(r"(?<=\d):(?=[^!]+!)", token.value):
            sheet, bang, place = value.rpartition("!")
            if place.startswith("#") or sheet.endswith("#REF"):
                continue
            try:
                sides = tuple(side or 0 for side in range_boundaries(place.upper()))
            except (ValueError, TypeError):
                sides = ()
            found[(sheet if bang else None, sides or place)] += 1
    return found


def own(text: str) -> Counter[object]:
    """The same by the scanner."""
    operands = read_operands(text)
    found: Counter[object] = Counter()
    for each in (*operands.references, *operands.others):
        match each:
            case Reference(sheet="#REF"):
                continue
            case Reference():
                rows = (
                    (each.top, each.bottom) if (each.top, each.bottom) != (1, 1048576) else (0, 0)
                )
                columns = (
                    (each.left, each.right) if (each.left, each.right) != (1, 16384) else (0, 0)
                )
                found[(each.sheet, (columns[0], rows[0], columns[1], rows[1]))] += 1
            case TableUse():
                found[(None, f"{each.name}[{each.inside}]")] += 1
            case _ if each.name.upper() not in ("TRUE", "FALSE"):
                found[(each.sheet, each.name)] += 1
            case _:
                continue
    return found


def examine(paths: list[Path]) -> None:
    """Hold every formula of workbooks against the parser and the other tokenizer."""
    books, count, same, texts = 0, 0, 0, 0
    differing: list[tuple[str, str]] = []
    for path in paths:
        has_formulas = False
        reader = OperandReader()
        for data in sheets(path):
            expected = walked(data)
            if expected is None:
                continue
            try:
                cells = list(formula_cells(data, path.name))
            except FileReadFailed:
                assert any(row == 0 for row, *_ in expected), path.name
                continue
            assert [as_found(cell) for cell in cells] == expected, path.name
            count += len(cells)
            has_formulas |= bool(cells)
            for text in {cell.text for cell in cells if cell.text}:
                texts += 1
                assert reader.read(text) == read_operands(text), text
                try:
                    wanted = judged(text)
                except TokenizerError:
                    continue
                if own(text) == wanted:
                    same += 1
                else:
                    differing.append((path.name, text))
        books += has_formulas
    print(f"\n{books} workbooks with {count} formulas; {same} of {texts} texts read the same")
    for name, text in differing:
        print(f"  {name}: {text[:300]}\n     {own(text) - judged(text)} {judged(text) - own(text)}")
    assert books >= 10
    assert not differing


@pytest.mark.corpora
def test_a_sample_of_real_formulas(corpora: Path) -> None:
    """In a sample of real workbooks all formulas are found, and read as by another tokenizer."""
    small = [path for path in workbooks(corpora) if path.stat().st_size <= MAX_BYTES]
    examine(random.Random(SAMPLE_SEED).sample(small, min(SAMPLE_SIZE, len(small))))


@pytest.mark.corpora
@pytest.mark.full
def test_all_real_formulas(corpora: Path) -> None:
    """In all real workbooks all formulas are found, and read as by another tokenizer."""
    examine(workbooks(corpora))
