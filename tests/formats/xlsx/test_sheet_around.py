"""The elements around the rows of a worksheet part: merges, widths, panes, filter, dimension."""

import pytest

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.parts.cells import BLANK, CellEdit
from kbd_xlsx.parts.sheet import SheetPart
from sheet_edits import FIVE, part
from sheet_model import restyle
from sheet_reader import read

MERGED = (
    '<mergeCells  count="2"><mergeCell ref="A1:B2" /><mergeCell x="y" ref="D4:E5"/></mergeCells>'
)
ROWS = '<row r="1"><c r="A1"><v>1</v></c></row><row r="8"><c r="B8"><v>1</v></c></row>'


def element(xml: bytes, name: str) -> str:
    """An element as written."""
    text = xml.decode()
    begin = text.index(f"<{name}")
    return text[begin : text.index(f"</{name}>") + len(name) + 3]


def test_merges_are_spliced() -> None:
    """Merged areas that stay keep their bytes; the count is right; the last one takes all along."""
    sheet = SheetPart(part(ROWS, tail=MERGED), "S")
    sheet.unmerge(Area(1, 1, 3, 3))
    sheet.merge(Area(7, 1, 7, 2))

    assert element(sheet.xml(restyle), "mergeCells") == (
        '<mergeCells  count="2"><mergeCell x="y" ref="D4:E5"/><mergeCell ref="A7:B7"/></mergeCells>'
    )
    sheet.unmerge(Area(1, 1, 99, 99))
    assert sheet.xml(restyle) == part(ROWS)


def test_a_first_merge_goes_where_the_schema_wants_it() -> None:
    """The element goes after the filter and before what follows it, whatever is missing."""
    tail = '<autoFilter ref="A1:B2"/><pageMargins left="1"/>'
    sheet = SheetPart(part(ROWS, tail=tail), "S")
    sheet.merge(Area(1, 1, 1, 2))

    assert read(sheet.xml(restyle)).names == [
        "sheetData", "autoFilter", "mergeCells", "pageMargins",
    ]  # fmt: skip


def test_merges_that_would_lose_are_refused() -> None:
    """An overlap and values outside the first cell are refused by name; cleared ones are none."""
    sheet = SheetPart(part(ROWS, tail=MERGED), "S")
    with pytest.raises(ValidationFailed, match="overlaps the merged cells A1:B2"):
        sheet.merge(Area(2, 2, 3, 3))
    with pytest.raises(ValidationFailed, match=r"B8 hold values.*clear them first"):
        sheet.merge(Area(8, 1, 8, 3))
    with pytest.raises(ValidationFailed, match="one cell"):
        sheet.merge(Area(8, 1, 8, 1))
    with pytest.raises(ValidationFailed, match=r"no merged cells; D4:E5 are"):
        sheet.unmerge(Area(4, 4, 4, 9))
    sheet.clear(Area(8, 2, 8, 2))
    sheet.merge(Area(8, 1, 8, 3))
    assert Area(8, 1, 8, 3) in sheet.merges


def test_a_value_under_a_merge_is_refused() -> None:
    """Only the first cell of merged ones takes a value; looks and blanks go anywhere."""
    sheet = SheetPart(part(ROWS, tail=MERGED), "S")
    with pytest.raises(ValidationFailed, match="S!B2 is inside the merged cells A1:B2; only A1"):
        sheet.set(2, 2, FIVE)
    sheet.set(1, 1, FIVE)
    sheet.set(2, 2, CellEdit(BLANK, ({"by": 1},)))
    sheet.set(20_000, 20, FIVE)

    assert read(sheet.xml(restyle)).style(2, 2) == 1


def test_merges_over_all_rows_are_found() -> None:
    """A merged area over very many rows guards its cells like a small one."""
    tall = '<mergeCells count="1"><mergeCell ref="C1:D1048576"/></mergeCells>'
    sheet = SheetPart(part("", tail=tall), "S")
    with pytest.raises(ValidationFailed, match="inside the merged"):
        sheet.set(500_000, 4, FIVE)


def test_widths_split_what_columns_share() -> None:
    """A width splits a range of columns; style, visibility and outline of all stay."""
    head = (
        '<cols><col min="2" max="5" width="9" style="3" hidden="1" bestFit="1"/>'
        '<col min="9" max="9" width="4"/></cols>'
    )
    sheet = SheetPart(part("", head), "S")
    for column, width in ((3, 20), (1, 7.25), (7, 8), (9, 5)):
        sheet.set_width(column, width)

    shared = 'style="3" hidden="1"'
    assert element(sheet.xml(restyle), "cols") == (
        '<cols><col min="1" max="1" width="7.25" customWidth="1"/>'
        f'<col min="2" max="2" width="9" {shared} bestFit="1"/>'
        f'<col min="3" max="3" width="20" {shared} customWidth="1"/>'
        f'<col min="4" max="5" width="9" {shared} bestFit="1"/>'
        '<col min="7" max="7" width="8" customWidth="1"/>'
        '<col min="9" max="9" width="5" customWidth="1"/></cols>'
    )


def test_first_columns_and_views_go_before_the_rows() -> None:
    """Columns and views are made where there are none, in the order of the schema."""
    sheet = SheetPart(part("", '<sheetPr/><sheetFormatPr defaultRowHeight="15"/>'), "S")
    sheet.set_width(1, 9)
    sheet.freeze(1, 0)

    assert read(sheet.xml(restyle)).names == [
        "sheetPr", "sheetViews", "sheetFormatPr", "cols", "sheetData",
    ]  # fmt: skip


VIEW = (
    '<sheetViews><sheetView tabSelected="1" zoomScale="85" topLeftCell="A50" workbookViewId="0">'
    "{}<pivotSelection/></sheetView></sheetViews>"
)
SELECTED = '<selection activeCell="C3" sqref="C3:D4"/>'


def view(inner: str, rows: int, columns: int) -> str:
    sheet = SheetPart(part("", VIEW.format(inner)), "S")
    sheet.freeze(rows, columns)
    text = sheet.xml(restyle).decode()
    assert 'tabSelected="1" zoomScale="85"' in text
    return text[text.index('0">') + 3 : text.index("<pivotSelection/></sheetView>")]


def test_freezing_both_ways() -> None:
    """Rows and columns freeze with a selection for each part; the user's goes to the last one."""
    assert view(SELECTED, 1, 2) == (
        '<pane xSplit="2" ySplit="1" topLeftCell="C2" activePane="bottomRight" state="frozen"/>'
        '<selection pane="topRight"/><selection pane="bottomLeft"/>'
        '<selection pane="bottomRight" activeCell="C3" sqref="C3:D4"/>'
    )


@pytest.mark.parametrize(
    ("rows", "columns", "pane", "attributes"),
    [
        (2, 0, "bottomLeft", 'ySplit="2" topLeftCell="A3"'),
        (0, 1, "topRight", 'xSplit="1" topLeftCell="B1"'),
    ],
)
def test_freezing_one_way(rows: int, columns: int, pane: str, attributes: str) -> None:
    """Only rows, or only columns: two parts, of which the lower or right one is active."""
    assert view("", rows, columns) == (
        f'<pane {attributes} activePane="{pane}" state="frozen"/><selection pane="{pane}"/>'
    )


def test_a_scrolled_view_freezes_the_first_rows() -> None:
    """A view that is scrolled would freeze the rows in sight, so it is scrolled back."""
    sheet = SheetPart(part("", VIEW.format("")), "S")
    sheet.freeze(1, 0)

    assert b"A50" not in sheet.xml(restyle)


def test_unfreezing() -> None:
    """A frozen pane goes, with the selections of its parts but the user's own; a split stays."""
    frozen = (
        '<pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/>'
        '<selection pane="topRight"/><selection pane="bottomRight" activeCell="F9" sqref="F9"/>'
    )
    split = '<pane ySplit="900" activePane="bottomLeft"/><selection pane="bottomLeft"/>'

    assert view(frozen, 0, 0) == '<selection activeCell="F9" sqref="F9"/>'
    assert view(split, 0, 0) == split
    assert 'state="frozen"' in view(split, 1, 0)
    untouched = SheetPart(part(""), "S")
    untouched.freeze(0, 0)
    assert not untouched.is_changed


def test_filters() -> None:
    """A filter's area is set; criteria go with another area, which is told, and stay with it."""
    tail = '<autoFilter ref="A1:C9" u="v"><filterColumn colId="0"/></autoFilter>'
    sheet = SheetPart(part("", tail=tail), "S")
    assert not sheet.auto_filter(Area(1, 1, 9, 3))
    assert not sheet.is_changed
    assert sheet.auto_filter(Area(2, 1, 9, 3))
    assert sheet.xml(restyle) == part("", tail='<autoFilter ref="A2:C9" u="v"/>')

    new = SheetPart(part("", tail='<mergeCells count="0"/>'), "S")
    assert not new.auto_filter(Area(1, 1, 1, 3))
    assert new.xml(restyle) == part("", tail='<autoFilter ref="A1:C1"/><mergeCells count="0"/>')


@pytest.mark.parametrize(
    ("place", "wanted"), [((2, 2), "A1:C3"), ((4, 5), "A1:E4"), ((1, 1), "A1:C3")]
)
def test_the_dimension_grows(place: tuple[int, int], wanted: str) -> None:
    """The used area that the part tells is widened where a cell is new, else kept."""
    sheet = SheetPart(part(ROWS, '<dimension  ref="A1:C3"></dimension>'), "S")
    sheet.set(*place, FIVE)
    xml = sheet.xml(restyle).decode()

    assert read(xml.encode()).dimension == wanted
    assert ('<dimension  ref="A1:C3"></dimension>' in xml) == (wanted == "A1:C3")
