"""Rows of the usual form are cut, not taken apart: what comes out is the same."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.parts import row_pieces
from kbd_xlsx.parts.cells import CellEdit, Result
from kbd_xlsx.parts.markup import EVERYWHERE
from kbd_xlsx.parts.outline import Outline, Rows
from kbd_xlsx.parts.row_pieces import RowCuts
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stored_cells import StoredCells
from kbd_xlsx.shifting.cells import moved_rows
from kbd_xlsx.shifting.line_map import LineMap, SheetMap, map_with_new
from sheet_edits import part
from sheet_model import restyle

UNUSUAL = "<!-- a part with this is never cut -->"

CELLS = (
    "",
    '<c r="{n}"/>',
    '<c r="{n}" s="4"/>',
    '<c r="{n}"><v>5</v></c>',
    '<c r="{n}" s="5" t="s"><v>12</v></c>',
    '<c r="{n}" t="b"><v>1</v></c>',
    '<c r="{n}" t="d"><v>2024-01-31</v></c>',
    '<c r="{n}"><v xml:space="preserve"> 5 &amp; 6</v></c>',
    '<c r="{n}" t="inlineStr"><is><t>5" pipe &lt; 6</t></is></c>',
    '<c r="{n}" s="3"><f>A1*2</f><v>9</v></c>',
    '<c r="{n}"><f>A1*2</f></c>',
    '<c r="{n}"><f>A1*2</f><v/></c>',
    '<c r="{n}"><f>A1*2</f><v></v></c>',
    '<c r="{n}" t="str"><f>A1&amp;"x"</f><v>old &amp; new</v></c>',
    '<c r="{n}" t="str"><f>A1</f><v></v></c>',
    '<c r="{n}" t="str" s="2"><f>A1</f><v>x</v></c>',
    '<c r="{n}" t="e" vm="1"><f ca="1">1/0</f><v>#DIV/0!</v></c>',
    '<c r="{n}" t="s"><f>B1</f><v>3</v></c>',
    '<c r="{n}" s="1"><f t="shared" si="7"/><v>2</v></c>',
    '<c r="{n}"> <f>1</f> <v>2</v> </c>\n',
    "<c r=\"{n}\" s='2'><f>1</f><v>2</v></c>",
    '<c r="{n}"><f>1</f><v>2</v><extLst><ext/></extLst></c>',
)
TAGS = (
    '<row r="{n}">', '<row r="{n}" s="{n}" customFormat="1">', '<row r="{n}" spans="1:4" >',
    '<row r="{n}">\n  ',
)  # fmt: skip
ENDS = ("</row>", "</row>\n", "</row >")
RESULTS = (Result("number", "1.5"), Result("text", " a<b"), Result("boolean", "1"))


@st.composite
def sheets(draw: st.DrawFn, tags: tuple[str, ...] = TAGS) -> str:
    """Rows with cells of all forms; only now and then one that is not cut."""
    # The last form keeps all rows from being cut.
    cells = st.sampled_from((*CELLS[:-1] * 4, *CELLS))
    rows = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        inner = "".join(draw(cells).replace("{n}", f"{c}{number}") for c in "ABCD")
        # Most often the first, which leaves the row to be cut.
        tag = draw(st.sampled_from((*tags[:1] * 4, *tags))).replace("{n}", str(number))
        rows.append(tag + inner + draw(st.sampled_from((*ENDS[:1] * 4, *ENDS))))
    return "".join(rows)


@given(sheets(), st.sets(st.integers(1, 5)))
def test_cells_are_read_as_if_taken_apart(rows: str, columns: set[int]) -> None:
    """Each cell that is asked for is found, with its kind, value and formula, and no other."""
    usual, unusual = StoredCells(part(rows), "S"), StoredCells(part(rows, UNUSUAL), "S")
    area = Area(1, 1, 3, 3)
    assert list(unusual.of(EVERYWHERE)) == list(usual.of(EVERYWHERE))
    assert list(unusual.of(area, columns)) == list(usual.of(area, columns))
    assert (unusual.last_row, unusual.last_column) == (usual.last_row, usual.last_column)


@settings(max_examples=300)
@given(
    sheets(),
    st.dictionaries(
        st.tuples(st.integers(1, 4), st.integers(1, 4)), st.sampled_from(RESULTS), max_size=6
    ),
    st.sampled_from((None, EVERYWHERE, Area(1, 2, 3, 2), Area(2, 1, 2, 9))),
)
def test_results_are_written_as_if_rows_were_taken_apart(
    rows: str, results: dict[tuple[int, int], Result], forgotten: Area | None
) -> None:
    """New results, and those that are forgotten, leave the same bytes either way."""
    texts = []
    for head in ("", UNUSUAL):
        sheet = SheetPart(part(rows, head), "S")
        if forgotten is not None:
            sheet.forget(forgotten)
        for (row, column), result in results.items():
            if f'r="{"ABCD"[column - 1]}{row}"' in rows:
                sheet.set(row, column, CellEdit(result=result))
        text = sheet.xml(restyle).decode().replace(UNUSUAL, "")
        # A row that is taken apart is written without blanks at the ends of its tags.
        texts.append(re.sub("(</?row[^>]*?) +>", r"\1>", text))
    assert texts[1] == texts[0]


@given(sheets(tuple(tag for tag in TAGS if "\n" not in tag)))
def test_rows_move_down_under_new_names_alone(rows: str) -> None:
    """A style, a text or a number that reads as the row's name stays."""
    lines = map_with_new(2, 3, 1_048_576)
    found = moved_rows(Outline(part(rows), "S"), SheetMap("S", "S", lines, LineMap()), None)
    name = re.compile(r'(<(?:row r="|c r="[A-D]))([2-9])"')
    assert name.sub(lambda each: f'{each[1]}{int(each[2]) + 3}"', rows) == found.decode()


@pytest.mark.parametrize(
    "rows",
    [
        '<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        '<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        '<row r="1"><c r="A1"><v>1</v></c><c r="B2"><v>2</v></c></row>',
        '<row r="1"><c r="A01"><v>1</v></c></row>',
        '<row r="1"><c r="XFE1"><v>1</v></c></row>',
        '<row r="1"><c r="A1"><v>1</v></c>',
    ],
)
def test_rows_out_of_order_are_refused_as_ever(rows: str) -> None:
    """A row with cells of another, twice or out of order is never read by halves."""
    outline = Outline(part(rows), "S")
    assert RowCuts(outline, Rows(outline)).of(0) is None
    with pytest.raises((FileReadFailed, ValidationFailed)):
        list(StoredCells(part(rows), "S").of(EVERYWHERE, {1}))


def test_very_many_orders_of_columns_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that have their cells in columns of their own are read right, in bounded memory."""
    monkeypatch.setattr(row_pieces, "MAX_ORDERS", 2)
    monkeypatch.setattr("kbd_xlsx.parts.stored_cells.MAX_ORDERS", 2)
    rows = "".join(
        f'<row r="{n}"><c r="{"ABCDE"[n % 5]}{n}"><v>{n}</v></c></row>' for n in range(1, 40)
    )
    found = [(cell.row, cell.column) for cell in StoredCells(part(rows), "S").of(EVERYWHERE)]
    assert [(n, n % 5 + 1) for n in range(1, 40)] == found
