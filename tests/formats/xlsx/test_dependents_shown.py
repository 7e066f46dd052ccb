"""After an edit no reader shows an old result: not openpyxl, not calamine, not LibreOffice.

A result may be absent: a reader that does not calculate then shows nothing. LibreOffice calculates
what is absent, and shows what is right.
"""

import csv
import random
import re
import subprocess
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from fixtures.make_slicers import write
from fixtures.parts_of_slicers import MAIN, content_types, relations, styles, worksheet
from judging import faults
from judging_trials import operations
from kbd.formats import Source
from kbd_xlsx import XlsxFormat

Results = dict[tuple[str, str], float | str]
"""What formulas show, by (sheet, cell)."""


class Inputs(NamedTuple):
    """The constants that formulas of the workbook depend on."""

    first: float = 1
    second: float = 2
    third: float = 3
    middle: float = 100
    amount: float = 5


PLACES = {
    "first": ("Data", "A1"),
    "second": ("Data", "A2"),
    "third": ("Data", "A3"),
    "middle": ("Mid", "A1"),
    "amount": ("Data", "F2"),
}


def results(given: Inputs) -> Results:
    """What each formula shows, worked out by hand."""
    a, b, c = given.first, given.second, given.third
    total = (a + b + c) * 10
    sales = given.amount + 6
    return {
        ("Data", "B1"): a * 10,
        ("Data", "B2"): b * 10,
        ("Data", "B3"): c * 10,
        ("Data", "C1"): total,
        ("Chain", "A1"): total + 1,
        ("Chain", "A2"): a * 2,
        ("Chain", "A3"): sales,
        ("Chain", "A4"): (a + b + c) * 2,
        ("Chain", "A5"): a * 3,
        ("Chain", "A6"): b * 3,
        ("Chain", "A7"): c * 3,
        ("Chain", "A8"): a + b + c,
        ("Chain", "A9"): "big" if total + 1 > 100 else "small",
        ("Chain", "A10"): a + given.middle,
        ("Chain", "A11"): a,
        ("Chain", "A12"): a,
        ("Chain", "A13"): "v" + format(a, "g"),
        ("Chain", "A14"): a * 3 + b * 3 + c * 3,
        ("Chain", "A15"): sales * 2,
        ("Chain", "B1"): 2,
    }


FORMULAS = {
    ("Data", "B1"): '<f t="shared" ref="B1:B3" si="0">A1*10</f>',
    ("Data", "B2"): '<f t="shared" si="0"/>',
    ("Data", "B3"): '<f t="shared" si="0"/>',
    ("Data", "C1"): "<f>SUM(Data!B1:B3)</f>",
    ("Chain", "A1"): "<f>Data!$C$1+1</f>",
    ("Chain", "A2"): "<f>Rate*2</f>",
    ("Chain", "A3"): "<f>SUM(Sales[Amount])</f>",
    ("Chain", "A4"): '<f t="array" ref="A4">SUM(Data!A1:A3*2)</f>',
    ("Chain", "A5"): '<f t="array" ref="A5:A7">Data!A1:A3*3</f>',
    ("Chain", "A6"): "",
    ("Chain", "A7"): "",
    ("Chain", "A8"): "<f>SUM(Data!A:A)</f>",
    ("Chain", "A9"): '<f>IF(A1&gt;100,"big","small")</f>',
    ("Chain", "A10"): "<f>SUM(Data:Mid!A1)</f>",
    ("Chain", "A11"): '<f>INDIRECT("Data!A1")+0</f>',
    ("Chain", "A12"): "<f>OFFSET(Data!A2,-1,0)+0</f>",
    ("Chain", "A13"): '<f>"v"&amp;A2/2</f>',
    ("Chain", "A14"): "<f>SUM(A5:A7)</f>",
    ("Chain", "A15"): "<f>Doubled</f>",
    ("Chain", "B1"): "<f>1+1</f>",
}
SHEETS = ("Data", "Mid", "Chain")


def _sheet(title: str, constants: dict[str, float | str], rest: str) -> str:
    """A worksheet part with constants, formulas and their results."""
    found: dict[tuple[int, str], str] = {}
    for cell, value in constants.items():
        found[int(cell[1:]), cell] = (
            f'<c r="{cell}" t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c r="{cell}"><v>{value}</v></c>'
        )
    for (sheet, cell), result in results(Inputs()).items():
        if sheet == title:
            kind = ' t="str"' if isinstance(result, str) else ""
            formula = FORMULAS[sheet, cell]
            found[int(cell[1:]), cell] = f'<c r="{cell}"{kind}>{formula}<v>{result}</v></c>'
    rows: dict[int, str] = {}
    for row, cell in sorted(found):
        rows[row] = rows.get(row, "") + found[row, cell]
    text = "".join(f'<row r="{row}">{cells}</row>' for row, cells in rows.items())
    return worksheet("A1:F20", text, rest)


@pytest.fixture(scope="module")
def chained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook whose results are stored and right, over every sort of reference."""
    given = Inputs()
    data: dict[str, float | str] = {
        "A1": given.first, "A2": given.second, "A3": given.third,
        "E1": "Item", "F1": "Amount", "E2": "Pen", "F2": given.amount, "E3": "Cup", "F3": 6,
    }  # fmt: skip
    table = (
        f'<table {MAIN} id="1" name="Sales" displayName="Sales" ref="E1:F3"><autoFilter '
        'ref="E1:F3"/><tableColumns count="2"><tableColumn id="1" name="Item"/><tableColumn id="2" '
        'name="Amount"/></tableColumns></table>'
    )
    tabs = "".join(
        f'<sheet name="{title}" sheetId="{number}" r:id="rId{number}"/>'
        for number, title in enumerate(SHEETS, 1)
    )
    parts = {
        "xl/workbook.xml": (
            f"<workbook {MAIN}><sheets>{tabs}</sheets><definedNames><definedName name="
            '"Doubled">Chain!$A$3*2</definedName><definedName name="Rate">Data!$A$1'
            "</definedName></definedNames></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": relations(
            *(("worksheet", f"worksheets/sheet{number}.xml") for number in (1, 2, 3)),
            ("styles", "styles.xml"),
        ),
        "xl/worksheets/sheet1.xml": _sheet(
            "Data", data, '<tableParts count="1"><tablePart r:id="rId1"/></tableParts>'
        ),
        "xl/worksheets/_rels/sheet1.xml.rels": relations(("table", "../tables/table1.xml")),
        "xl/tables/table1.xml": table,
        "xl/worksheets/sheet2.xml": _sheet("Mid", {"A1": given.middle}, ""),
        "xl/worksheets/sheet3.xml": _sheet("Chain", {}, ""),
        "xl/styles.xml": styles(),
    }
    whole = {
        "[Content_Types].xml": content_types(parts),
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
    }
    path = tmp_path_factory.mktemp("chained") / "chained.xlsx"
    write(path, whole | parts)
    return path


def edited(path: Path, target: Path, changes: dict[str, float]) -> None:
    """Set some of the inputs."""
    found: list[dict[str, Any]] = []
    for field, value in changes.items():
        sheet, cell = PLACES[field]
        found.append({"op": "set_cells", "sheet": sheet, "cells": [{"cell": cell, "value": value}]})
    XlsxFormat().apply(Source(path, path.name), operations(*found), target)


def by_openpyxl(path: Path) -> dict[tuple[str, str], Any]:
    """What openpyxl shows where there are formulas."""
    book = openpyxl.load_workbook(path, data_only=True)
    return {(sheet, cell): book[sheet][cell].value for sheet, cell in FORMULAS}


def by_calamine(path: Path) -> dict[tuple[str, str], Any]:
    """What calamine shows where there are formulas."""
    book = CalamineWorkbook.from_path(path)
    grids = {
        title: book.get_sheet_by_name(title).to_python(skip_empty_area=False) for title in SHEETS
    }
    return {key: shown(grids, *key) for key in FORMULAS}


def by_libreoffice(paths: list[Path], folder: Path) -> list[dict[tuple[str, str], Any]]:
    """What LibreOffice shows where there are formulas, of each file."""
    every = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless",
         "--convert-to", every, "--outdir", folder, *paths],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    found = []
    for path in paths:
        grids: dict[str, list[list[Any]]] = {}
        for title in SHEETS:
            text = (folder / f"{path.stem}-{title}.csv").read_text("utf-8")
            grids[title] = [
                [number(value) for value in row] for row in csv.reader(text.splitlines())
            ]
        found.append({key: shown(grids, *key) for key in FORMULAS})
    return found


def number(text: str) -> float | str:
    """A number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


def shown(grids: dict[str, list[list[Any]]], sheet: str, cell: str) -> Any:
    """A cell's value, None beyond the grid."""
    row, column = int(cell[1:]) - 1, ord(cell[0]) - ord("A")
    grid = grids[sheet]
    return grid[row][column] if row < len(grid) and column < len(grid[row]) else None


def old_results(found: dict[tuple[str, str], Any], new: Results, *, absent: bool) -> list[str]:
    """The cells that do not show the new result; nothing shown is right where it may be absent."""
    return [
        f"{sheet}!{cell}: {value!r}, not {new[sheet, cell]!r}"
        for (sheet, cell), value in found.items()
        if value != new[sheet, cell] and not (absent and value in (None, ""))
    ]


def test_the_workbook_shows_its_results_before(chained: Path) -> None:
    """Before an edit both readers show every result: what is missing afterwards went with it."""
    assert faults(chained) == []
    assert by_openpyxl(chained) == results(Inputs())
    assert by_calamine(chained) == results(Inputs())


@pytest.mark.parametrize("field", PLACES)
def test_readers_show_no_old_result(chained: Path, tmp_path: Path, field: str) -> None:
    """Whichever input is set: results are new or absent, and those of others are still there."""
    target = tmp_path / "after.xlsx"
    edited(chained, target, {field: 50})
    new, before = results(Inputs()._replace(**{field: 50})), results(Inputs())

    assert faults(target) == []
    for read in (by_openpyxl, by_calamine):
        found = read(target)
        assert old_results(found, new, absent=True) == []
        changed = {key for key in new if new[key] != before[key]}
        assert changed
        assert all(found[key] in (None, "") for key in changed)
        assert found["Chain", "B1"] == 2


@pytest.mark.libreoffice
def test_libreoffice_shows_the_new_results(chained: Path, tmp_path: Path) -> None:
    """LibreOffice, which trusts stored results, shows the new ones: the old ones are gone."""
    target = tmp_path / "after.xlsx"
    edited(chained, target, {"first": 50, "amount": 70})

    (found,) = by_libreoffice([target], tmp_path)

    assert old_results(found, results(Inputs(first=50, amount=70)), absent=False) == []


@pytest.mark.full
@pytest.mark.libreoffice
@pytest.mark.timeout(600)
def test_readers_after_chains_of_edits(chained: Path, tmp_path: Path) -> None:
    """After each of many edits, one on the other, three readers show no old result."""
    rng = random.Random(7)
    given, source = Inputs(), chained
    wanted: list[tuple[Path, Results]] = []
    for step in range(60):
        fields = rng.sample(sorted(PLACES), rng.randint(1, 3))
        changes = {field: float(rng.randint(1, 10_000)) for field in fields}
        given = given._replace(**changes)
        target = tmp_path / f"step{step:02}.xlsx"
        edited(source, target, changes)
        for read in (by_openpyxl, by_calamine):
            assert old_results(read(target), results(given), absent=True) == [], step
        wanted.append((target, results(given)))
        # Every third edit begins with stored results again, so that there is something to forget.
        source = filled(target, results(given)) if step % 3 == 0 else target
    shown_by_all = by_libreoffice([path for path, _ in wanted], tmp_path)
    for (path, new), found in zip(wanted, shown_by_all, strict=True):
        assert old_results(found, new, absent=False) == [], path.name


def filled(path: Path, new: Results) -> Path:
    """The same workbook with all results stored, as a program that calculates would leave it."""
    target = path.with_name(f"filled-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as archive:
        for entry in old.infolist():
            data = old.read(entry).decode()
            number = re.fullmatch(r"xl/worksheets/sheet(\d)\.xml", entry.filename)
            title = SHEETS[int(number[1]) - 1] if number else ""
            for (sheet, cell), result in new.items():
                if sheet == title:
                    kind = ' t="str"' if isinstance(result, str) else ""
                    pattern = rf'<c r="{cell}"[^>]*?(?:/>|>(<f.*?(?:/>|</f>))?.*?</c>)'
                    text = f'<c r="{cell}"{kind}>{FORMULAS[sheet, cell]}<v>{result}</v></c>'
                    (old_text,) = (match[0] for match in re.finditer(pattern, data))
                    data = data.replace(old_text, text)
            archive.writestr(entry.filename, data)
    return target
