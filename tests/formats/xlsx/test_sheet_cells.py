"""Single cells and rows of a worksheet part: what goes in, what stays, what is refused."""

import pytest

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.parts.cells import BLANK, CellEdit, Content, cell_xml
from kbd_xlsx.parts.sheet import SheetPart
from sheet_edits import FIVE, edited, part
from sheet_model import restyle
from sheet_reader import Held, read


def text(value: str) -> CellEdit:
    return CellEdit(Content("text", value))


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (Content("number", "12.5"), '<c r="B3" s="4"><v>12.5</v></c>'),
        (Content("boolean", "1"), '<c r="B3" s="4" t="b"><v>1</v></c>'),
        (Content("formula", 'A1&"<"'), '<c r="B3" s="4"><f>A1&amp;"&lt;"</f></c>'),
        (Content("text", "a"), '<c r="B3" s="4" t="inlineStr"><is><t>a</t></is></c>'),
        (BLANK, '<c r="B3" s="4"/>'),
    ],
)
def test_a_new_cell(content: Content, wanted: str) -> None:
    """A cell's XML is the plainest that holds its content; prefixes go on every name."""
    assert cell_xml("", "B3", 4, content) == wanted
    prefixed = wanted.replace("<", "<x:").replace("<x:/", "</x:")
    assert cell_xml("x:", "B3", 4, content) == prefixed


def test_a_blank_cell_without_a_style_is_nothing() -> None:
    """Nothing is written for a blank new cell that has no style."""
    assert cell_xml("", "B3", 0, BLANK) == ""


@pytest.mark.parametrize(
    "value", [" a", "a ", "a\n", "\ta", " ", "a\rb", "&<>\"'", "_x005F_x0041_"]
)
def test_texts_are_exact(value: str) -> None:
    """Blanks at the ends, line ends, carriage returns and signs of XML come back as they were."""
    sheet = SheetPart(part(""), "S")
    sheet.set(1, 1, text(value))

    xml = sheet.xml(restyle)
    assert read(xml).held[1, 1] == Held("text", value)
    assert (b"preserve" in xml) == (value != value.strip())


def test_unknown_attributes_of_a_cell_stay() -> None:
    """A new value keeps all attributes but those of the old value: its type and its metadata."""
    row = (
        '<row r="1"><c  r="A1" q:x=\'a>"b\' s="3" t="e" cm="1" vm="2" ph="1"><v>#N/A</v></c></row>'
    )
    head = '<sheetPr xmlns:q="urn:q"/>'

    assert edited(row, (1, 1, FIVE), head=head) == (
        '<row r="1"><c  r="A1" q:x=\'a>"b\' s="3" ph="1"><v>5</v></c></row>'
    )


def test_only_looks() -> None:
    """A look changes the style index and not a byte of the content, not of a rich text either."""
    row = '<row r="1"><c r="A1" t="inlineStr" s="2"><is><r><t>a</t></r></is></c></row>'
    look = CellEdit(styles=({"by": 5},))

    assert edited(row, (1, 1, look)) == row.replace('s="2"', 's="7"')
    assert edited(row.replace(' s="2"', ""), (1, 1, look)) == row.replace(' s="2"', "").replace(
        '"inlineStr"', '"inlineStr" s="5"'
    )


def test_later_edits_win_and_looks_add_up() -> None:
    """Of two contents the later stays; looks of both count."""
    first = CellEdit(Content("number", "1"), ({"by": 1},))
    second = CellEdit(Content("number", "2"), ({"by": 2},))

    assert edited("", (1, 1, first), (1, 1, second)) == (
        '<row r="1"><c r="A1" s="3"><v>2</v></c></row>'
    )


def test_a_look_after_a_value_keeps_the_value() -> None:
    """A later edit of looks, or one that forgets, leaves the value that came before."""
    look, forget = CellEdit(styles=({"by": 1},)), CellEdit(forget=True)

    assert edited("", (1, 1, FIVE), (1, 1, look), (1, 1, forget)) == (
        '<row r="1"><c r="A1" s="1"><v>5</v></c></row>'
    )


def test_blank_edits_make_no_cells() -> None:
    """Emptying what is not there makes nothing, under a column's style as well; a look does."""
    head = '<cols><col min="1" max="9" style="4" width="9"/></cols>'
    blank, look = CellEdit(BLANK), CellEdit(styles=({"by": 1},))

    assert edited("", (1, 1, blank), head=head) == ""
    assert edited("", (1, 1, blank), (1, 2, look), head=head) == (
        '<row r="1"><c r="B1" s="5"/></row>'
    )


def test_blank_cells() -> None:
    """An emptied cell stays where it has a style, or would inherit another; else it goes."""
    row = (
        '<row r="1"><c r="A1" s="2"><v>1</v></c><c r="B1"><v>1</v></c><c r="C1"><v>1</v></c></row>'
    )
    edits = [(1, column, CellEdit(BLANK)) for column in (1, 2, 3)]
    head = '<cols><col min="3" max="3" style="4" width="9"/></cols>'

    assert edited(row, *edits, head=head) == '<row r="1"><c r="A1" s="2"/><c r="C1"/></row>'


def test_cells_after_one_without_a_name_keep_their_places() -> None:
    """A cell that goes leaves an empty one where the next has its place only by it."""
    row = "<row><c><v>1</v></c><c><v>2</v></c><c><v>3</v></c></row>"

    assert edited(row, (1, 2, CellEdit(BLANK)), (1, 4, FIVE)) == (
        '<row><c><v>1</v></c><c/><c><v>3</v></c><c r="D1"><v>5</v></c></row>'
    )


def test_a_named_cell_before_one_without_a_name_keeps_its_name() -> None:
    """Where names are mixed, an emptied cell keeps the place that it gave to the next one."""
    row = '<row r="1"><c r="C1"><v>1</v></c><c><v>2</v></c></row>'

    assert edited(row, (1, 3, CellEdit(BLANK))) == '<row r="1"><c r="C1"/><c><v>2</v></c></row>'


def test_new_cells_inherit() -> None:
    """A new cell has the style of its row if the row has one for that, else of its column."""
    head = '<cols><col min="2" max="3" style="4" width="9"/></cols>'
    rows = '<row r="1" s="7" customFormat="1"/><row r="2" s="7"/>'
    sheet = SheetPart(part(rows, head), "S")

    assert [sheet.style_at(row, 2) for row in (1, 2, 3)] == [7, 4, 4]
    assert [sheet.style_at(row, 4) for row in (1, 2, 3)] == [7, 0, 0]
    assert edited(rows, (1, 2, FIVE), (2, 2, FIVE), (3, 2, FIVE), (3, 4, FIVE), head=head) == (
        '<row r="1" s="7" customFormat="1"><c r="B1" s="7"><v>5</v></c></row>'
        '<row r="2" s="7"><c r="B2" s="4"><v>5</v></c></row>'
        '<row r="3"><c r="B3" s="4"><v>5</v></c><c r="D3"><v>5</v></c></row>'
    )


def test_untouched_rows_and_cells_keep_their_bytes() -> None:
    """Whitespace, quotes, order of attributes and extensions stay, in the touched row as well."""
    rows = """
  <row r='1'  foo="1>2"><c r='A1' ><v>1</v></c> <c r="C1"/></row>
  <row r="3" spans='1:3'> <c r="A3" t="s"><v>0</v></c>
     <c r="C3"  s='1'><v>2</v></c> <extLst><ext uri="u"/></extLst> </row>
"""
    assert edited(rows, (3, 2, FIVE), (3, 4, FIVE)) == rows.replace(" spans='1:3'", "").replace(
        '\n     <c r="C3"', '\n     <c r="B3"><v>5</v></c><c r="C3"'
    ).replace("<v>2</v></c>", '<v>2</v></c><c r="D3"><v>5</v></c>')


def test_new_rows_go_where_they_belong() -> None:
    """Rows are put in before, between and after others, and into a closed sheetData."""
    rows = '<row r="2"/><row r="4"><c r="A4"/></row>'

    assert edited(rows, (1, 1, FIVE), (3, 1, FIVE), (9, 1, FIVE)) == (
        '<row r="1"><c r="A1"><v>5</v></c></row><row r="2"/>'
        '<row r="3"><c r="A3"><v>5</v></c></row><row r="4"><c r="A4"/></row>'
        '<row r="9"><c r="A9"><v>5</v></c></row>'
    )
    closed = SheetPart(part("").replace(b"></sheetData>", b' a="b"/>'), "S")
    closed.set(1, 1, FIVE)
    assert b'<sheetData a="b"><row r="1"><c r="A1"><v>5</v></c></row></sheetData>' in closed.xml(
        restyle
    )


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ('<row r="2"/><row r="1"/>', "row 1 comes after row 2"),
        ('<row r="2"/><row r="2"/>', "row 2 comes twice"),
        ('<row r="0"/>', "first row has no proper number.*counted from 1"),
        ('<row r="1048577"/>', "no proper number"),
        ('<row r="x"/>', "no proper number"),
        ('<row><c r="A7"/></row>', "does not say its number"),
        ('<row r="1"><c r="B1"/><c r="A1"/></row>', "cells of row 1 are not in order"),
        ('<row r="1"><c r="A1"/><c r="A1"/></row>', "cells of row 1 are not in order"),
        ('<row r="1"><c r="A2"/></row>', "cell of another row"),
        ('<row r="1"><c r="1"/></row>', "without a proper name"),
    ],
)
def test_disorder_is_refused(rows: str, reason: str) -> None:
    """Rows or cells that are not in order, twice, or have no proper number are refused by name."""
    with pytest.raises(ValidationFailed, match=reason):
        edited(rows, (1, 1, FIVE))


def test_clearing_costs_what_there_is() -> None:
    """A clear of the whole sheet empties what there is; cells set after it stay."""
    rows = '<row r="1"><c r="A1" s="2" t="s"><v>0</v></c><c r="B1"><v>1</v></c></row><row r="5"/>'
    sheet = SheetPart(part(rows), "S")
    sheet.set(2, 2, FIVE)
    sheet.clear(Area(1, 1, 1_048_576, 16_384))
    sheet.set(3, 3, FIVE)

    assert sheet.xml(restyle) == part(
        '<row r="1"><c r="A1" s="2"/></row><row r="3"><c r="C3"><v>5</v></c></row><row r="5"/>'
    )
    assert sheet.used() == Area(3, 3, 3, 3)
    assert sheet.last_row() == 3


def test_clear_all() -> None:
    """All rows and merges go, with the formulas that they shared; what is set then is all."""
    rows = '<row r="1"><c r="A1"><f t="array" ref="A1:B2">1</f></c></row><row r="7"/>'
    tail = '<mergeCells count="1"><mergeCell ref="D4:E5"/></mergeCells>'
    sheet = SheetPart(part(rows, '<dimension ref="A1:Z9"/>', tail), "S")
    sheet.clear_all()
    assert sheet.merges == []
    sheet.set(2, 1, FIVE)

    assert sheet.xml(restyle) == part(
        '<row r="2"><c r="A2"><v>5</v></c></row>', '<dimension ref="A2"/>'
    )
    assert sheet.removes_or_adds_formulas()


def test_ready_rows() -> None:
    """Ready rows go in as they are; cells set or cleared later count; filled rows are refused."""
    sheet = SheetPart(part('<row r="1"><c r="A1"/></row><row r="2" ht="9"/>'), "S")
    with pytest.raises(ValidationFailed, match="row 1 has cells"):
        sheet.put_row(1, "")
    sheet.put_row(2, '<c r="A2"><v>1</v></c>')
    sheet.put_row(3, '<c r="A3" s="3"><v>1</v></c><c r="B3"><v>2</v></c>')
    with pytest.raises(ValidationFailed, match="row 3 is filled"):
        sheet.put_row(3, "")
    sheet.set(3, 3, FIVE)
    sheet.clear(Area(3, 2, 3, 2))

    assert sheet.style_at(3, 1) == 3
    assert sheet.used() == Area(2, 1, 3, 3)
    assert Area(3, 1, 3, 2) in sheet.changed_areas()
    assert sheet.xml(restyle) == part(
        '<row r="1"><c r="A1"/></row><row r="2" ht="9"><c r="A2"><v>1</v></c></row>'
        '<row r="3"><c r="A3" s="3"><v>1</v></c><c r="C3"><v>5</v></c></row>'
    )


def test_changed_areas_are_joined() -> None:
    """Cells set side by side are told as one area, looks alone not at all."""
    sheet = SheetPart(part(""), "S")
    for row in (1, 2, 3, 7):
        for column in (2, 3):
            sheet.set(row, column, FIVE)
    sheet.set(9, 9, CellEdit(styles=({"by": 1},)))

    assert sheet.changed_areas() == [Area(1, 2, 3, 3), Area(7, 2, 7, 3)]


def test_heights() -> None:
    """A height is set on rows that there are and that there are not, other attributes stay."""
    sheet = SheetPart(part('<row r="1" ht="3" x="y"/>'), "S")
    sheet.set_height(1, 20.5)
    sheet.set_height(2, 30)

    assert sheet.xml(restyle) == part(
        '<row r="1" ht="20.5" x="y" customHeight="1"/><row r="2" ht="30" customHeight="1"/>'
    )
