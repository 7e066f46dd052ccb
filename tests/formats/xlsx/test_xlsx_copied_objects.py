"""What lies on copied cells: conditional formats, validations and links go along with them."""

import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.formatting.rule import Rule
from openpyxl.styles import PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink

from charted_books import FORMAT, edited, entries, records
from kbd.errors import KbdError
from kbd.formats import CompareOptions, Source
from real_workbooks import real_workbooks

RED = PatternFill(bgColor="FFC7CE", fill_type="solid")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Sheet Data with rules on B2:B5, a validation on C2:C5, links in D2 and D3; sheet Other."""
    made = openpyxl.Workbook()
    sheet = made.worksheets[0]
    sheet.title = "Data"
    for row in range(1, 6):
        for column in range(1, 5):
            sheet.cell(row, column, row * column)
    rules = sheet.conditional_formatting
    look = DifferentialStyle(fill=RED)
    rules.add("B2:B5", Rule(type="expression", formula=["$A2>B2*2"], dxf=look))
    rules.add("B2:B5", Rule(type="cellIs", operator="greaterThan", formula=["6"], dxf=look))
    check = DataValidation(type="custom", formula1="=C2>A2")
    check.add("C2:C5")
    sheet.add_data_validation(check)
    sheet["D2"].hyperlink = "https://example.org/a?b=1&c=2"
    sheet["D3"].hyperlink = Hyperlink("D3", location="Other!A1")
    other = made.create_sheet("Other")
    other["A1"] = 1
    keeps = DataValidation(type="whole", operator="lessThan", formula1="9")
    keeps.add("A1:H20")
    other.add_data_validation(keeps)
    made.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def copied(to: str, source: str = "A2:D3", **fields: Any) -> dict[str, Any]:
    return {"op": "copy_range", "sheet": "Data", "from": source, "to": to, "what": "all", **fields}


def rules_of(sheet: Any) -> dict[str, list[tuple[str, int]]]:
    """The formulas and priorities of a sheet's rules, by their ranges."""
    found = sheet.conditional_formatting
    return {
        str(each.sqref): [(rule.formula[0], rule.priority) for rule in each.rules] for each in found
    }


def checks_of(sheet: Any) -> dict[str, str]:
    return {str(each.sqref): each.formula1 for each in sheet.data_validations.dataValidation}


def links_of(sheet: Any) -> dict[str, str]:
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.hyperlink]
    return {cell.coordinate: cell.hyperlink.target or cell.hyperlink.location for cell in cells}


def test_they_go_along_within_a_sheet(book: Path) -> None:
    """Formulas move as those of cells do; rules keep their order behind those that there are."""
    applied = edited(book, copied("F8"))
    assert applied.warnings == ()
    assert applied.changed == (
        "Data!F8:I9: all of Data!A2:D3 with conditional formats, validations, links",
    )
    sheet = openpyxl.load_workbook(book.with_name("out.xlsx"))["Data"]

    rules = rules_of(sheet)
    assert rules["B2:B5"] == [("$A2>B2*2", 1), ("6", 2)]
    assert rules["G8:G9"] == [("$A8>G8*2", 3), ("6", 4)]
    assert checks_of(sheet) == {"C2:C5": "=C2>A2", "H8:H9": "=H8>F8"}
    address = "https://example.org/a?b=1&c=2"
    assert links_of(sheet) == {"D2": address, "D3": "Other!A1", "I8": address, "I9": "Other!A1"}


def test_they_go_along_to_another_sheet(book: Path) -> None:
    """A validation of the new place gives way there alone; a second copy on top changes nothing."""
    edited(book, copied("B2", to_sheet="Other"))
    out = book.with_name("out.xlsx")
    sheet = openpyxl.load_workbook(out)["Other"]
    checks = checks_of(sheet)
    assert checks.pop("D2:D3") == "=D2>B2"
    (rest,) = checks
    assert checks[rest] == "9"
    assert not {"B2", "D3", "E2"} & {
        c for r in rest.split() for row in sheet[r] for c in names(row)
    }
    assert list(rules_of(sheet)) == ["C2:C3"]
    assert links_of(sheet) == {"E2": "https://example.org/a?b=1&c=2", "E3": "Other!A1"}

    edited(out, copied("B2", to_sheet="Other"), to="again.xlsx")
    again = openpyxl.load_workbook(book.with_name("again.xlsx"))["Other"]
    assert checks_of(again) == checks_of(sheet)
    assert links_of(again) == links_of(sheet)
    assert list(rules_of(again)) == ["C2:C3"]


def names(row: Any) -> list[str]:
    cells = row if isinstance(row, tuple) else (row,)
    return [cell.coordinate for cell in cells]


def test_a_range_is_filled_with_copies(book: Path) -> None:
    """Each copy has its own."""
    edited(book, copied("F8:F11", source="C2:C3"))
    sheet = openpyxl.load_workbook(book.with_name("out.xlsx"))["Data"]
    assert checks_of(sheet) == {"C2:C5": "=C2>A2", "F8:F9": "=F8>D8", "F10:F11": "=F10>D10"}


def test_cells_of_the_same_range_have_the_same_already(book: Path) -> None:
    """A copy within the range of a rule leaves the sheet's rules as they are, byte for byte."""
    before = entries(book)["xl/worksheets/sheet1.xml"]
    edited(book, copied("B4", source="B2:B3"), copied("C4", source="C2:C3"))
    after = entries(book.with_name("out.xlsx"))["xl/worksheets/sheet1.xml"]
    assert before[before.index(b"</sheetData>") :] == after[after.index(b"</sheetData>") :]


@pytest.mark.parametrize("what", ["values", "formulas", "formats"])
def test_a_part_of_cells_takes_nothing_along(book: Path, what: str) -> None:
    """Only a copy of all takes them along."""
    edited(book, copied("F8") | {"what": what})
    sheet = openpyxl.load_workbook(book.with_name("out.xlsx"))["Data"]
    assert list(checks_of(sheet)) == ["C2:C5"]
    assert list(links_of(sheet)) == ["D2", "D3"]


def test_what_the_copied_cells_do_not_have_stays(book: Path) -> None:
    """Copied cells without a validation leave that of the new place."""
    edited(book, copied("B2", source="A2:A3", to_sheet="Other"))
    sheet = openpyxl.load_workbook(book.with_name("out.xlsx"))["Other"]
    assert list(checks_of(sheet)) == ["A1:H20"]


def test_comments_stay_behind_with_a_word(book: Path) -> None:
    """A comment of a copied cell is named; one beside the range is not."""
    made = openpyxl.load_workbook(book)
    made["Data"]["A2"].comment = Comment("why", "me")
    made.save(book)

    assert edited(book, copied("F8", source="B2:B3")).warnings == ()
    assert edited(book, copied("F8")).warnings == (
        "copy_range left behind of Data!A2:D3: comments.",
    )


def test_the_review_names_what_went_along(book: Path) -> None:
    """A rule, a validation and each link are changes of their own."""
    edited(book, copied("F8"))
    out = book.with_name("out.xlsx")
    found = FORMAT.compare(Source(book, "a.xlsx"), Source(out, "a.xlsx"), CompareOptions())
    whats = {change.what for change in found.changes}
    assert {"conditional format", "validation", "link"} <= whats


@pytest.mark.full
@pytest.mark.corpora
def test_real_objects_go_along(corpora: Path, tmp_path: Path) -> None:
    """What lies on real cells is on their copy, below and on a new sheet, as openpyxl reads it.

    What is copied alone differs, and what is elsewhere on the sheet is as before.
    """
    done = {"conditional formats": 0, "validations": 0, "links": 0}
    for path in real_workbooks(corpora):
        data = b"".join(d for n, d in entries(path).items() if "worksheets/sheet" in n)
        if not any(word in data for word in (b"<cfRule", b"<dataValidation ", b"<hyperlink ")):
            continue
        for gone in copied_to_new_sheet(path, tmp_path / path.name):
            done[gone] += 1
    assert min(done.values()) > 5, done


def copied_to_new_sheet(path: Path, target: Path) -> list[str]:
    """Copy the first rows of the first sheet with objects; return what went along."""
    try:
        before = read(path)
    except Exception:  # noqa: BLE001 - openpyxl raises anything
        return []
    named = [s for s in before.worksheets if checks_of(s) or links_of(s) or rules_in(s)]
    if not named:
        return []
    title = named[0].title
    operations = records(
        {"op": "ensure_sheet", "sheet": "Copy of all"},
        {"op": "copy_range", "sheet": title, "from": "A1:J40", "to": "A1", "what": "all",
         "to_sheet": "Copy of all"},
    )  # fmt: skip
    try:
        applied = FORMAT.apply(Source(path, path.name), operations, target)
    except KbdError:
        return []
    after = read(target)
    was, now, new = before[title], after[title], after["Copy of all"]
    assert checks_of(was) == checks_of(now), path.name
    assert links_of(was) == links_of(now), path.name
    assert rules_in(was) == rules_in(now), path.name
    went = [name for name in ("conditional formats", "validations", "links")
            if name in applied.changed[-1]]  # fmt: skip
    # Of links openpyxl keeps those of cells that are written.
    if "links" in went:
        assert links_of(new).items() <= links_of(now).items(), path.name
    if "validations" in went:
        assert checks_of(new), path.name
    if "conditional formats" in went:
        assert rules_in(new), path.name
    target.unlink()
    return went


def read(path: Path) -> Any:
    """A workbook as openpyxl reads it, the file closed also where it cannot."""
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return openpyxl.load_workbook(file)


def rules_in(sheet: Any) -> list[tuple[str, int]]:
    return [(str(each.sqref), len(each.rules)) for each in sheet.conditional_formatting]
