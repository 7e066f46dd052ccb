"""Operations on sheets among the others: renamed, moved, copied, hidden."""

import io
import random
import warnings
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.formatting.rule import Rule
from openpyxl.styles import PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.table import Table
from PIL import Image as Picture

from kbd.errors import KbdError, ValidationFailed
from kbd_xlsx.edits.tabs.sheet_names import SheetRename
from range_edits import apply, calculated, edit, entries, values
from real_workbooks import real_workbooks

SAMPLE_SEED = 23


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook in which everything refers to the sheet Data."""
    made = openpyxl.Workbook()
    data, sums = made.worksheets[0], made.create_sheet("Sums")
    data.title = "Data"
    for row in (["Item", "Cost", "Twice"], ["Tea", 4, "=Data!B2*2"], ["Milk", 1, "=B3*2"]):
        data.append(row)
    data.column_dimensions["A"].width = 33
    data.merge_cells("E1:F1")
    data.add_table(Table(displayName="Costs", ref="A1:C3"))
    data["A2"].comment = Comment("mine", "me")
    data["A3"].hyperlink = Hyperlink(ref="A3", location="Data!A1")
    data["H1"] = "=SUM(Costs[Cost])"
    picture = io.BytesIO()
    Picture.new("RGB", (4, 4), "red").save(picture, "png")
    data.add_image(Image(picture), "J9")
    chart = BarChart()
    chart.add_data(Reference(data, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    data.add_chart(chart, "J1")
    red = DifferentialStyle(fill=PatternFill("solid", bgColor="FF0000"))
    rule = Rule(type="expression", dxf=red, formula=["Data!B2>2"])
    data.conditional_formatting.add("B2:B3", rule)
    sums["A1"], sums["A2"], sums["A3"] = (
        "=SUM(Data!B2:B3)",
        '=INDIRECT("Data!B2")',
        "=SUM('Data:Last'!B2)",
    )
    checks = DataValidation(type="list", formula1="Data!$A$2:$A$3")
    checks.add("C1")
    sums.add_data_validation(checks)
    sums.conditional_formatting.add("A1", rule)
    made.create_sheet("Last")["A1"] = 7
    made.defined_names["Prices"] = DefinedName("Prices", attr_text="Data!$B$2:$B$3")
    data.print_area = "A1:C3"
    data.defined_names["Own"] = DefinedName("Own", attr_text="Data!$A$1")
    made.save(tmp_path / "in.xlsx")
    return tmp_path / "in.xlsx"


def rename(sheet: str, name: str) -> dict[str, Any]:
    return {"op": "rename_sheet", "sheet": sheet, "name": name}


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("Data", "Raw", "SUM(Data!B2:data!B3)", "SUM(Raw!B2:Raw!B3)"),
        ("Data", "My Raw", "Data!A1+'Data'!A2", "'My Raw'!A1+'My Raw'!A2"),
        ("My Data", "Raw", "'My Data'!A1", "Raw!A1"),
        ("It's", "Bob's", "'It''s'!A1", "'Bob''s'!A1"),
        ("Data", "A1", "Data!A1", "'A1'!A1"),
        ("Data", "Raw", 'IF("Data!A1"="",Data2!A1,My!A1)', 'IF("Data!A1"="",Data2!A1,My!A1)'),
        ("Data", "Raw", "[1]Data!A1+'[Book.xlsx]Data'!A1", "[1]Data!A1+'[Book.xlsx]Data'!A1"),
        ("Data", "Raw", "Data:Last!A1+'Data:Last'!B1", "Raw:Last!A1+Raw:Last!B1"),
        ("Data", "Raw", "Data!A:Data!B", "Raw!A:Raw!B"),
        ("Data", "Raw", "Tab[[#This Row],[Data!x]]+Data!Own", "Tab[[#This Row],[Data!x]]+Raw!Own"),
        ("Größe", "Maß", "Größe!A1", "Maß!A1"),
    ],
)  # fmt: skip
def test_names_in_formulas(old: str, new: str, before: str, after: str) -> None:
    """A name is replaced where it names the sheet, and quoted where it has to be."""
    assert SheetRename(old, new).formula(before) == after


def test_all_that_refers_to_a_sheet_follows(book: Path) -> None:
    """Formulas, names, charts, rules, validations, links and the file's properties follow."""
    applied = apply(book, rename("data", "It's raw & new"))
    out = book.with_name("out.xlsx")
    found = openpyxl.load_workbook(out)
    quoted = "'It''s raw & new'"

    assert found.sheetnames == ["It's raw & new", "Sums", "Last"]
    assert [found["Sums"][cell].value for cell in ("A1", "A3")] == [
        f"=SUM({quoted}!B2:B3)", "=SUM('It''s raw & new:Last'!B2)",
    ]  # fmt: skip
    assert found["It's raw & new"]["C2"].value == f"={quoted}!B2*2"
    assert found["It's raw & new"]["A3"].hyperlink.location == f"{quoted}!A1"
    assert found.defined_names["Prices"].attr_text == f"{quoted}!$B$2:$B$3"
    assert found["It's raw & new"].print_area == f"{quoted}!$A$1:$C$3"
    assert found["Sums"].data_validations.dataValidation[0].formula1 == f"{quoted}!$A$2:$A$3"
    assert applied.warnings == (
        "Formulas name Data in a text, which does not follow a rename: Sums!A2.",
    )
    assert applied.focus is not None
    assert applied.focus.sheet == "It's raw & new"
    left = {name for name, data in entries(out).items() if b"Data!" in data.replace(b'"Data!', b"")}
    assert left == set()
    assert b"raw &amp; new" in entries(out)["xl/charts/chart1.xml"]


def test_a_rename_and_back_is_the_identity(book: Path) -> None:
    """After a second rename to the old name every part is as it was."""
    apply(book, {"op": "recalculate"}, to="results.xlsx")
    book = book.with_name("results.xlsx")
    apply(book, rename("Sums", "Other"), to="once.xlsx")
    apply(book.with_name("once.xlsx"), rename("Other", "Sums"))
    apply(book, rename("Data", "Xy"), rename("Xy", "Data"), to="both.xlsx")

    old = entries(book)
    for name in ("out.xlsx", "both.xlsx"):
        new = entries(book.with_name(name))
        changed = {part for part in old if old[part] != new[part]}
        # Of a quoted name no quotes are left that it does not need.
        assert changed <= {"xl/workbook.xml", "xl/worksheets/sheet2.xml", "xl/charts/chart1.xml"}


def test_later_operations_know_the_new_name(book: Path) -> None:
    """An edit after a rename in one call goes to the sheet, and results that it makes old go."""
    found = edit(
        book,
        rename("Data", "Raw"),
        {"op": "set_cells", "sheet": "Raw", "cells": [{"cell": "B2", "value": 9}]},
        {"op": "ensure_sheet", "sheet": "Data"},
    )
    assert (found["Raw"]["B2"].value, found.sheetnames[-1]) == (9, "Data")


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (rename("Data", "sums"), "there is a sheet Sums already"),
        (rename("Data", "a/b"), "cannot name a sheet"),
        (rename("Dat", "b"), "near it: Data"),
        ({"op": "move_sheet", "sheet": "Data", "to": 9}, "there is no position 9"),
        ({"op": "copy_sheet", "sheet": "Data", "name": "Last"}, "there is a sheet Last already"),
    ],
)
def test_wrong_names_and_positions_are_refused(
    book: Path, operation: dict[str, Any], reason: str
) -> None:
    """What cannot be done is said, and nothing is written."""
    with pytest.raises(ValidationFailed, match=reason):
        apply(book, operation)
    assert not book.with_name("out.xlsx").exists()


def test_a_moved_sheet_keeps_what_is_its_own(book: Path) -> None:
    """Local names, the shown sheet and the file's properties follow; spans over sheets are told."""
    applied = apply(book, {"op": "move_sheet", "sheet": "Data", "to": 3})
    found: Any = openpyxl.load_workbook(book.with_name("out.xlsx"))

    assert found.sheetnames == ["Sums", "Last", "Data"]
    assert found["Data"].print_area == "'Data'!$A$1:$C$3"
    assert list(found["Data"].defined_names) == ["Own"]
    assert found.active.title == "Data"
    assert applied.warnings == (
        "Formulas over several sheets now span others than before: Data:Last.",
    )
    again = edit(
        book.with_name("out.xlsx"), {"op": "move_sheet", "sheet": "Data", "to": 1}, to="b.xlsx"
    )
    assert again.sheetnames == openpyxl.load_workbook(book).sheetnames


def test_hidden_sheets(book: Path) -> None:
    """A sheet is hidden and shown again; the one that people saw gives way; one always stays."""
    hide = {"op": "hide_sheet", "sheet": "Data"}
    found = edit(book, hide)
    assert (found["Data"].sheet_state, found.active.title) == ("hidden", "Sums")
    assert not found["Data"].sheet_view.tabSelected
    assert found["Sums"].sheet_view.tabSelected
    back = edit(book.with_name("out.xlsx"), {**hide, "hidden": False}, to="back.xlsx")
    assert back["Data"].sheet_state == "visible"
    with pytest.raises(ValidationFailed, match="Last stays in sight"):
        apply(book, hide, {**hide, "sheet": "Sums"}, {**hide, "sheet": "Last"})


def test_a_copied_sheet_has_all_that_is_on_it(book: Path) -> None:
    """Cells, looks, rules, notes, pictures, charts, tables and local names are there twice."""
    apply(book, {"op": "recalculate"}, to="results.xlsx")
    book = book.with_name("results.xlsx")
    applied = apply(book, {"op": "copy_sheet", "sheet": "Data", "name": "Data 2"})
    found: Any = openpyxl.load_workbook(book.with_name("out.xlsx"))
    old, new = found["Data"], found["Data 2"]

    assert found.sheetnames == ["Data", "Sums", "Last", "Data 2"]
    assert new["C2"].value == "='Data 2'!B2*2"
    assert (new["C3"].value, new["H1"].value) == ("=B3*2", "=SUM(Costs2[Cost])")
    assert (old["H1"].value, list(old.tables), list(new.tables)) == (
        "=SUM(Costs[Cost])", ["Costs"], ["Costs2"],
    )  # fmt: skip
    assert (new["A2"].comment.text, old["A2"].comment.text) == ("mine", "mine")
    assert new["A3"].hyperlink.location == "'Data 2'!A1"
    assert (len(new._images), len(new._charts)) == (1, 1)
    assert new._charts[0].series[0].val.numRef.f == "'Data 2'!$B$2:$B$3"
    assert old._charts[0].series[0].val.numRef.f == "'Data'!$B$2:$B$3"
    assert (new.column_dimensions["A"].width, str(new.merged_cells)) == (33, "E1:F1")
    assert new.print_area == "'Data 2'!$A$1:$C$3"
    assert new.defined_names["Own"].attr_text == "'Data 2'!$A$1"
    assert not new.sheet_view.tabSelected
    assert applied.changed[0].startswith("Data 2: copy of Data, with its ")
    changed = {name for name, data in entries(book).items()
               if entries(book.with_name("out.xlsx"))[name] != data}  # fmt: skip
    assert changed <= {"xl/workbook.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"}


def test_a_copy_is_edited_by_itself(book: Path) -> None:
    """An edit of the copy, in the same call or later, leaves the sheet as it was."""
    setting = {"op": "set_cells", "sheet": "New", "cells": [{"cell": "A2", "value": "Juice"}]}
    found = edit(book, {"op": "copy_sheet", "sheet": "Data", "name": "New"}, setting)
    assert (found["New"]["A2"].value, found["Data"]["A2"].value) == ("Juice", "Tea")
    later = edit(book.with_name("out.xlsx"), {"op": "delete_sheet", "sheet": "New"}, to="l.xlsx")
    assert values(later["Data"]) == values(openpyxl.load_workbook(book)["Data"])


@pytest.mark.full
@pytest.mark.libreoffice
def test_libreoffice_calculates_the_same_after_all_of_them(book: Path, tmp_path: Path) -> None:
    """A renamed, moved and copied sheet has the values that it had."""
    before = calculated("soffice", book, tmp_path)
    apply(
        book, rename("Data", "It's raw"), {"op": "move_sheet", "sheet": "Last", "to": 1},
        {"op": "copy_sheet", "sheet": "It's raw", "name": "Copy"},
        {"op": "hide_sheet", "sheet": "It's raw"},
    )  # fmt: skip
    after = calculated("soffice", book.with_name("out.xlsx"), tmp_path)

    assert values(after["It's raw"]) == values(before["Data"])
    assert values(after["Copy"]) == values(before["Data"])
    assert after["Sums"]["A1"].value == before["Sums"]["A1"].value == 5


@pytest.mark.full
@pytest.mark.corpora
def test_real_workbooks_keep_their_formulas(corpora: Path, tmp_path: Path) -> None:
    """Renamed and back, each formula of a sample is as it was; copies open and hold the values."""
    checked = copied = 0
    for path in random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), 45):
        target = tmp_path / path.name
        target.write_bytes(path.read_bytes())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                before = openpyxl.load_workbook(path)
            title = before.worksheets[0].title
            apply(target, rename(title, "Renamed 1"), to="once.xlsx")
        except (KbdError, ValueError, KeyError, TypeError, AttributeError, OSError):
            # Refused by name, or no workbook that openpyxl reads.
            continue
        apply(tmp_path / "once.xlsx", rename("Renamed 1", title), to="back.xlsx")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            after = openpyxl.load_workbook(tmp_path / "back.xlsx")
        assert after.sheetnames == before.sheetnames, path.name
        for sheet in before.worksheets:
            old = [[str(v).replace("'", "") for v in row] for row in values(sheet)]
            new = [[str(v).replace("'", "") for v in row] for row in values(after[sheet.title])]
            assert old == new or "object at" in str(old), path.name
        checked += 1
        try:
            apply(target, {"op": "copy_sheet", "sheet": title, "name": "Copied 1"}, to="copy.xlsx")
        except ValidationFailed:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = openpyxl.load_workbook(tmp_path / "copy.xlsx")
        assert found.sheetnames[-1] == "Copied 1"
        copied += 1

    assert checked > 25
    assert copied > 20


@pytest.mark.parametrize(("active", "left"), [(1, "C"), (2, "D"), (4, "D")])
def test_a_sheet_in_sight_is_in_front_once_the_active_one_is_deleted(
    tmp_path: Path, active: int, left: str
) -> None:
    """Programs would open the workbook with a hidden sheet, or none, in front."""
    book = openpyxl.Workbook()
    book.worksheets[0].title = "A"
    for title in "BCDE":
        book.create_sheet(title)
    book.active = active
    titles = book.sheetnames
    for title in {"A", "B", "D", "E"} - {titles[active], left}:
        book[title].sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")

    found = edit(tmp_path / "a.xlsx", {"op": "delete_sheet", "sheet": titles[active]})

    assert found.active.title == left
