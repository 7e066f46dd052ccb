"""Formulas of a worksheet part that more than one cell depends on."""

import pytest

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.parts.cells import BLANK, CellEdit, Content
from kbd_xlsx.parts.sheet import SheetPart
from sheet_edits import FIVE, edited, part
from sheet_model import restyle
from sheet_reader import Held, read

SHARED = (
    '<row r="1"><c r="A1"><f t="shared" ref="A1:B3" si="0">$D1&amp;"&lt;"&amp;E$1</f><v>7</v></c>'
    '<c r="B1" s="2"><f t="shared" ca="1" si="0"/><v>8</v></c></row>'
    '<row r="2"><c r="A2" t="str"><f si="0" t="shared"></f><v>9</v></c></row>'
    '<row r="3"><c r="A3"><f t="shared" si="1">1+1</f></c></row>'
)


def test_children_of_a_shared_formula_live_on() -> None:
    """When the master goes, each child gets its own formula, in rows no edit names as well."""
    assert edited(SHARED, (1, 1, FIVE)) == (
        '<row r="1"><c r="A1"><v>5</v></c>'
        '<c r="B1" s="2"><f ca="1">$D1&amp;"&lt;"&amp;F$1</f><v>8</v></c></row>'
        '<row r="2"><c r="A2" t="str"><f>$D2&amp;"&lt;"&amp;E$1</f><v>9</v></c></row>'
        '<row r="3"><c r="A3"><f t="shared" si="1">1+1</f></c></row>'
    )


def test_a_child_alone_is_plain() -> None:
    """A child is overwritten without a change of any other cell; a look changes no formula."""
    looks = CellEdit(styles=({"by": 1},))

    assert edited(SHARED, (1, 2, FIVE)) == SHARED.replace(
        '<c r="B1" s="2"><f t="shared" ca="1" si="0"/><v>8</v></c>',
        '<c r="B1" s="2"><v>5</v></c>',
    )
    assert edited(SHARED, (1, 1, looks)) == SHARED.replace('<c r="A1">', '<c r="A1" s="1">')


def test_a_master_and_children_together() -> None:
    """A clear over some of the cells takes these; the others get formulas of their own."""
    sheet = SheetPart(part(SHARED), "S")
    sheet.clear(Area(1, 1, 1, 9))
    found = read(sheet.xml(restyle))

    assert found.held == {
        (2, 1): Held("str", "9", '$D2&"<"&E$1'),
        (3, 1): Held("n", None, "1+1"),
    }
    assert sheet.removes_or_adds_formulas()


def test_a_master_that_cannot_be_read_is_refused() -> None:
    """A master without a text, or a number used twice, is refused by name."""
    empty = SHARED.replace('$D1&amp;"&lt;"&amp;E$1', "")
    twice = SHARED.replace('<f t="shared" si="1">', '<f t="shared" ref="A3" si="0">')

    for rows in (empty, twice):
        with pytest.raises(ValidationFailed, match="A1 holds a shared formula"):
            edited(rows, (1, 1, FIVE))


def test_many_children() -> None:
    """Thousands of children get their formulas in one pass, each its own."""
    rows = "".join(
        f'<row r="{row}"><c r="A{row}"><f t="shared" si="0"/></c></row>' for row in range(2, 3001)
    )
    first = '<row r="1"><c r="A1"><f t="shared" ref="A1:A3000" si="0">B1*2</f></c></row>'
    found = read(part(edited(first + rows, (1, 1, FIVE))))

    assert [held.formula for held in found.held.values()] == [
        None, *(f"B{row}*2" for row in range(2, 3001)),
    ]  # fmt: skip


ARRAY = (
    '<row r="1"><c r="A1"><f t="array" ref="A1:B2">C1:D2*2</f><v>1</v></c><c r="B1"><v>2</v></c>'
    '</row><row r="2"><c r="A2"><v>3</v></c><c r="B2"><v>4</v></c></row>'
)
TABLE = ARRAY.replace('t="array"', 't="dataTable"').replace(">C1:D2*2</f>", ' r1="F1"/>')
SPILL = ARRAY.replace('<c r="A1">', '<c r="A1" cm="1">')


@pytest.mark.parametrize(
    ("rows", "reason"),
    [(ARRAY, "A1:B2 holds one array formula"), (TABLE, r"A1:B2 is a data table")],
)
@pytest.mark.parametrize("place", [(1, 1), (2, 2)])
def test_parts_of_a_group_are_refused(rows: str, reason: str, place: tuple[int, int]) -> None:
    """An anchor or a member of an array formula or data table is refused, with what to do."""
    with pytest.raises(ValidationFailed, match=f"{reason}.*as a whole"):
        edited(rows, (*place, FIVE))
    sheet = SheetPart(part(rows), "S")
    sheet.clear(Area(place[0], 1, place[0], 9))
    with pytest.raises(ValidationFailed, match=reason):
        sheet.xml(restyle)


@pytest.mark.parametrize("rows", [ARRAY, TABLE])
def test_a_group_goes_as_a_whole(rows: str) -> None:
    """A clear over a whole group takes it away, and what is set there then stays."""
    sheet = SheetPart(part(rows), "S")
    sheet.clear(Area(1, 1, 2, 2))
    sheet.set(2, 2, FIVE)

    assert read(sheet.xml(restyle)).held == {(2, 2): Held("n", "5")}
    all_set = [(row, column, FIVE) for row in (1, 2) for column in (1, 2)]
    assert "<f" not in edited(rows, *all_set)


def test_looks_of_a_group_are_free() -> None:
    """Cells of an array can look otherwise; nothing else of them changes."""
    look = CellEdit(styles=({"by": 1},))

    assert edited(ARRAY, (2, 2, look)) == ARRAY.replace('<c r="B2">', '<c r="B2" s="1">')


def test_what_a_formula_spills_goes_with_it() -> None:
    """The anchor of a dynamic formula can be set; what it spilled goes, its members are refused."""
    with pytest.raises(ValidationFailed, match="the formula in A1 spills into A1:B2"):
        edited(SPILL, (2, 2, FIVE))
    sheet = SheetPart(part(SPILL), "S")
    sheet.set(1, 1, FIVE)

    assert sheet.xml(restyle) == part('<row r="1"><c r="A1"><v>5</v></c></row><row r="2"></row>')
    assert Area(1, 1, 2, 2) in sheet.changed_areas()


def test_an_array_in_one_cell_is_a_formula() -> None:
    """An array formula of one cell is overwritten like any other, metadata and all."""
    row = '<row r="1"><c r="A1" cm="1"><f t="array" ref="A1">SUM(B:B)</f><v>1</v></c></row>'

    assert edited(row, (1, 1, FIVE)) == '<row r="1"><c r="A1"><v>5</v></c></row>'


def test_forgetting_takes_results_only() -> None:
    """Results of formulas go, with their type; formulas, looks, metadata and constants stay."""
    rows = (
        '<row r="1"><c r="A1" s="1" t="str" cm="1" vm="3"><f ca="1">B1</f><v>x</v></c>'
        '<c r="B1" t="s"><v>0</v></c><c r="C1"><f>2</f></c></row>'
    )
    sheet = SheetPart(part(rows), "S")
    sheet.forget(Area(1, 1, 1, 9))

    assert sheet.xml(restyle) == part(
        rows.replace(' t="str" cm="1" vm="3"', ' cm="1"').replace("<v>x</v>", "")
    )
    assert sheet.changed_areas() == []
    assert not sheet.removes_or_adds_formulas()
    assert edited(rows, (1, 1, CellEdit(forget=True)), (1, 2, CellEdit(forget=True))) == (
        rows.replace(' t="str" cm="1" vm="3"', ' cm="1"').replace("<v>x</v>", "")
    )


@pytest.mark.parametrize("rows", [ARRAY, TABLE, SPILL])
def test_groups_forget_together(rows: str) -> None:
    """One forgotten cell of an array, a spill or a data table makes all of it forget."""
    sheet = SheetPart(part(rows), "S")
    sheet.forget(Area(2, 2, 2, 2))
    xml = sheet.xml(restyle)

    assert b"<v>" not in xml
    assert len(read(xml).styles) == 4
    assert b"<f" in xml


def test_a_formula_that_is_set_has_no_result() -> None:
    """A new formula takes the place of the old one and of its result."""
    row = '<row r="1"><c r="A1" t="str"><f>"a"</f><v>a</v></c></row>'
    formula = CellEdit(Content("formula", "B1<2"))

    assert edited(row, (1, 1, formula)) == '<row r="1"><c r="A1"><f>B1&lt;2</f></c></row>'


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        (FIVE, True),
        (CellEdit(BLANK), True),
        (CellEdit(styles=({"by": 1},)), False),
        (CellEdit(forget=True), False),
    ],
)
def test_formulas_that_come_or_go_are_told(edit: CellEdit, changes: bool) -> None:
    """Only an edit of what a formula cell holds takes a formula away."""
    rows = '<row r="1"><c r="A1"><f>1</f></c><c r="B1"/></row>'
    sheet = SheetPart(part(rows), "S")
    sheet.set(1, 2, FIVE)
    assert not sheet.removes_or_adds_formulas()
    sheet.set(1, 1, edit)

    assert sheet.removes_or_adds_formulas() is changes
