"""Operations on ranges over real workbooks: no unnamed loss, LibreOffice agrees on values."""

import random
import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.formula.translate import Translator

from kbd.errors import KbdError
from range_edits import apply, calculated, entries
from real_workbooks import real_workbooks

SAMPLE_SEED = 23
_MAY_CHANGE = ("xl/styles.xml", "xl/calcChain.xml", "xl/workbook.xml", "[Content_Types].xml")
_OF_TEXTS = ("xl/sharedStrings.xml", "xl/charts/chart")


def loaded(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return openpyxl.load_workbook(path)


def bare(formula: str) -> str:
    """A formula without what kbd spells as files do: no blanks in front, prefixes of functions."""
    return formula.replace("_xlfn.", "").replace("= ", "=")


def operations(sheet: str, rows: int) -> list[dict[str, Any]]:
    """One of each on a sheet; what is filled and copied goes below all that there is."""
    below = rows + 3
    return [
        {"op": "format_range", "sheet": sheet, "range": "A1:C3", "style": {"font_bold": True}},
        {"op": "format_range", "sheet": sheet, "range": "B:B", "style": {"font_italic": True}},
        {"op": "format_range", "sheet": sheet, "range": "2:2", "style": {"wrap_text": True}},
        {"op": "fill_formula", "sheet": sheet, "range": f"A{below}:C{below + 5}",
         "formula": f"=A{below + 10}&$B$1"},
        {"op": "copy_range", "sheet": sheet, "from": "A1:D4", "to": f"A{below + 20}"},
        {"op": "replace_text", "search": "e", "replace": "3", "sheet": sheet},
        {"op": "sort_range", "sheet": sheet, "range": f"A1:Z{rows}", "header": True,
         "by": [{"column": "A"}]},
    ]  # fmt: skip


def lost(path: Path, target: Path, operation: dict[str, Any]) -> str | None:
    """Return what an operation lost, "" for nothing, None where it was refused by name."""
    copied = target / path.name
    copied.write_bytes(path.read_bytes())
    try:
        apply(copied, operation)
    except KbdError:
        return None
    old, new = entries(path), entries(target / "out.xlsx")
    own = {name for name in old if "/worksheets/sheet" in name or "comments" in name}
    other = {
        name
        for name, data in old.items()
        if name not in own
        and name not in _MAY_CHANGE
        and new.get(name) != data
        and not name.endswith((".vml", ".rels"))
        and "/tables/" not in name
        and "threadedComment" not in name
        # Texts that are replaced are gone from there, and from what charts keep of their cells.
        and not (operation["op"] == "replace_text" and name.startswith(_OF_TEXTS))
    }
    book, before = loaded(target / "out.xlsx"), loaded(path)
    if book.sheetnames != before.sheetnames:
        return "sheets"
    return f"parts {sorted(other)}" if other else ""


@pytest.mark.full
@pytest.mark.seeded(3)
@pytest.mark.corpora
@pytest.mark.parametrize("part", range(3))
def test_real_workbooks_lose_nothing(corpora: Path, tmp_path: Path, part: int) -> None:
    """Each operation on a sample of real workbooks keeps all other parts, or is refused by name."""
    chosen = random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), 45)[part::3]
    found: dict[str, str] = {}
    done = tried = 0
    for path in chosen:
        try:
            book = loaded(path)
            sheet = book.worksheets[0]
        except Exception:  # noqa: BLE001 - openpyxl raises anything
            continue
        if sheet.max_row > 2000:
            continue
        for operation in operations(sheet.title, sheet.max_row):
            tried += 1
            result = lost(path, tmp_path, operation)
            done += result is not None
            if result:
                found[f"{path.name} {operation['op']}"] = result

    assert found == {}
    assert done > 0.6 * tried


@pytest.mark.full
@pytest.mark.corpora
def test_filled_formulas_are_those_of_another_library(corpora: Path, tmp_path: Path) -> None:
    """Formulas of real workbooks, filled over a range, are those that openpyxl's translator has."""
    path = tmp_path / "in.xlsx"
    openpyxl.Workbook().save(path)
    texts: set[str] = set()
    for book in random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), 40):
        try:
            sheets = loaded(book).worksheets
        except Exception:  # noqa: BLE001 - openpyxl raises anything
            continue
        for sheet in sheets[:2]:
            held = (cell.value for row in sheet.iter_rows(max_row=200) for cell in row)
            texts.update([text for text in held if isinstance(text, str) and text[:1] == "="][:5])
    differences, checked = {}, 0
    for text in sorted(texts)[:150]:
        fill = {"op": "fill_formula", "sheet": "Sheet", "range": "C3:D5", "formula": text}
        try:
            apply(path, fill)
            expected = Translator(text, "C3").translate_formula("D5")
        except Exception:  # noqa: BLE001 - refused, or left the sheet
            continue
        found = loaded(tmp_path / "out.xlsx")["Sheet"]["D5"].value
        checked += 1
        if bare(found) != bare(expected):
            differences[text] = (found, expected)

    assert differences == {}
    assert checked > 30


@pytest.mark.full
@pytest.mark.libreoffice
def test_libreoffice_has_the_values_that_the_formulas_mean(tmp_path: Path) -> None:
    """What was filled, copied and sorted is calculated to the same values by LibreOffice."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "S"
    chance = random.Random(SAMPLE_SEED)
    rows = [
        (f"n{chance.randint(0, 9)}", chance.randint(1, 50), chance.randint(1, 9)) for _ in range(60)
    ]
    sheet.append(("Name", "Count", "Price"))
    for row in rows:
        sheet.append(row)
    book.save(tmp_path / "in.xlsx")
    apply(
        tmp_path / "in.xlsx",
        {"op": "fill_formula", "sheet": "S", "range": "D2:D61", "formula": "=B2*C2+$B$2*0"},
        {"op": "sort_range", "sheet": "S", "range": "A1:D61", "header": True,
         "by": [{"column": "Name"}, {"column": "Count", "descending": True}]},
        {"op": "copy_range", "sheet": "S", "from": "B2:D61", "to": "F2"},
    )  # fmt: skip
    found = calculated("soffice", tmp_path / "out.xlsx", tmp_path)["S"]

    expected = sorted(rows, key=lambda row: (row[0], -row[1]))
    shown = [[cell.value for cell in row] for row in found["A2:H61"]]
    assert [row[:4] for row in shown] == [[a, b, c, b * c] for a, b, c in expected]
    assert [row[5:7] for row in shown] == [[b, c] for _, b, c in expected]
    assert [row[7] for row in shown] == [b * c for _, b, c in expected]
