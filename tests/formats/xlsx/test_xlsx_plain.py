"""Plain cells are read as the general readers read them, to the byte of what is kept."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from built_twice import differing, plain_sheets
from kbd.errors import FileReadFailed
from kbd.formats import Region, Source
from kbd.sheets.areas import cell_name
from kbd_xlsx import XlsxFormat
from kbd_xlsx.reader import parts, plain_cells
from read_twice import FORMATS, MAIN, book_of, sheet_xml
from real_workbooks import real_workbooks

SAMPLE_SEED = 271
ITEMS = (
    "<t>plain</t>", "<t>R&amp;D &lt;&quot;&apos;&gt;&amp;lt;</t>", "<t>漢 é\ta\nb</t>",
    '<t xml:space="preserve"> kept </t>', "<t>7</t>", "<t>a]]b</t>",
    "<t>\xa0no blank\u3000</t>", "<t>\x85\u2028</t>", "<t>&lt;/t&gt;&lt;si&gt;&lt;t&gt;</t>",
)  # fmt: skip
ODD_ITEMS = (
    "<t> cut</t>", "<t>cut\n</t>", "<t></t>", "<t>a_x000D_b</t>", "<t>&#65;</t>", "<t>a\rb</t>",
    "<r><t>rich </t></r><r><t>text</t></r>", "<t>a</t><t>b</t>", "<t/>", '<t x="y">a</t>',
    '<t>said</t><rPh sb="0" eb="1"><t>no</t></rPh>',
)  # fmt: skip
STRINGS = f'<sst xmlns="{MAIN}">' + "".join(f"<si>{i}</si>" for i in ITEMS + ODD_ITEMS) + "</sst>"

FIGURES = (
    "-0", "-0.0", "-0e1", "0.1", "1E+20", "1e-320", "123456789012345678901", "9007199254740993",
    "18446744073709551615", "-9223372036854775809", "1.7976931348623157E308", "2.5e0", "5E-324",
    "45000.41666666666", "45000.999999999", "0.5", "60", "59.99", "2958465.99", "8.5e-05",
    "0.30000000000000004", "179769313486231580000000000000000000", "1.00000000000000011102230246",
)  # fmt: skip
"""Figures whose signs, places or sizes a reader may lose."""

NUMBER = st.one_of(
    st.integers(0, 70).map(str),
    st.integers(-800_000, 3_000_000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e5, 3e6).map(lambda value: f"{value:.4f}"),
    st.sampled_from(FIGURES),
)
USUAL = st.one_of(
    st.tuples(st.just(""), NUMBER), st.tuples(st.just("s"), st.integers(0, len(ITEMS) - 1).map(str))
)
PLAIN = st.one_of(
    USUAL,
    st.tuples(st.just("n"), NUMBER),
    st.tuples(st.just("b"), st.sampled_from("01")),
    st.tuples(st.just("e"), st.sampled_from(["#N/A", "#DIV/0!", "#REF!", "#NAME?"])),
    st.tuples(st.just("str"), st.sampled_from(["a", "é 漢", "R&amp;D", "12", "\xa0a\u3000"])),
    st.tuples(st.just("inlineStr"), st.sampled_from(
        [">a", ">é 漢", ">R&amp;D", ">&lt;&gt;", ' xml:space="preserve"> kept ', ">12", ">\xa0"]
    )),
    st.tuples(st.sampled_from(["", "s", "str"]), st.just("")),
)  # fmt: skip
ODD = st.one_of(
    st.tuples(st.sampled_from(["", "n"]), st.sampled_from(
        ["+5", ".5", "5.", "01", " 5", "1_0", "1e400", "abc", "nan", "0x1", "1,5", "&#53;", "--1"]
    )),
    st.tuples(st.just("s"), st.one_of(
        st.integers(0, len(ITEMS + ODD_ITEMS) + 1).map(str), st.sampled_from(["00", "1.0", "-1"])
    )),
    st.tuples(st.just("b"), st.sampled_from(["true", "2", "false"])),
    st.tuples(st.just("str"), st.sampled_from([" a", "a\n", "_x0041_", "&#65;", "a\rb"])),
    st.tuples(st.just("d"), st.sampled_from(["2024-01-31", "10:05"])),
    st.tuples(st.just("inlineStr"), st.sampled_from(["", "> a", ">a\n", ">_x0041_", ">"])),
)  # fmt: skip
FORMULAS = st.sampled_from(
    ["", "", "<f>A1</f>", '<f t="shared" ref="A1:B2" si="0">A1</f>', '<f t="shared" si="0"/>',
     '<f ca="1">A1&amp;"x"</f>', '<f xml:space="preserve"> A1</f>']
)  # fmt: skip


def written(row: int, column: int, cell: tuple[tuple[str, str], int, str]) -> str:
    """Write a cell as nearly all programs do."""
    (kind, value), style, formula = cell
    attributes = f' s="{style}"' if style else ""
    attributes += f' t="{kind}"' if kind else ""
    held = formula + (f"<v>{value}</v>" if value else "")
    if kind == "inlineStr" and value:
        held = f"<is><t{value}</t></is>"
    name = cell_name(row, column)
    return f'<c r="{name}"{attributes}>{held}</c>' if held else f'<c r="{name}"{attributes}/>'


def sheets(values: st.SearchStrategy[tuple[str, str]]) -> st.SearchStrategy[str]:
    """Sheets of some cells, with rows and cells left out."""
    usual = st.tuples(values, st.sampled_from([0, 5, 99]), FORMULAS)
    timed = st.tuples(
        st.tuples(st.just(""), st.integers(1, 3_000_000).map(lambda n: str(n / 8))),
        st.integers(0, len(FORMATS)), FORMULAS,
    )  # fmt: skip
    cells = st.one_of(usual, timed, st.tuples(values, st.integers(0, len(FORMATS)), FORMULAS))
    rows = st.dictionaries(st.integers(1, 30), cells, max_size=4)
    return st.dictionaries(st.integers(1, 12), rows, min_size=1, max_size=8).map(
        lambda found: "".join(
            f'<row r="{row}" spans="1:5">'
            + "".join(written(row, column, cells[column]) for column in sorted(cells))
            + "</row>"
            for row, cells in sorted(found.items())
        )
    )


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut sheets into small pieces, and rows into small chunks, so that seams are everywhere."""
    monkeypatch.setattr(parts, "_BLOCK", 150)
    monkeypatch.setattr(plain_cells, "_CHUNK_ROWS", 2)
    monkeypatch.setattr(plain_cells, "_LOOK_BYTES", 60)
    monkeypatch.setattr(plain_cells, "_BATCH_ITEMS", 3)


@pytest.mark.usefixtures("cut")
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.one_of(sheets(PLAIN), sheets(USUAL), sheets(st.one_of(PLAIN, ODD))),
    is_1904=st.booleans(),
)
def test_any_sheet_is_kept_alike(tmp_path: Path, rows: str, is_1904: bool) -> None:
    """Values of every kind in every format, plain or not, with formulas, gaps and seams."""
    properties = 'date1904="1"' if is_1904 else ""
    path = book_of(
        tmp_path / "a.xlsx", sheet_xml(rows), properties=properties, strings=STRINGS
    )  # fmt: skip

    assert not differing(path)


def plain_rows(count: int) -> str:
    """Rows of some columns of each kind, in which cells and rows are missing now and then."""
    chance = random.Random(SAMPLE_SEED)
    lines = []
    for row in range(3, 3 + count):
        if row % 50 == 0:
            continue
        values: list[tuple[Any, int, str]] = [
            (("", str(row)), 0, ""), (("", str(45_000 + row / 8)), 3, ""), (("s", "1"), 0, ""),
            (("b", "1"), 0, ""), (("", f"{chance.random() * 99:.3f}"), 0, "<f>A1</f>"),
            (("e", "#N/A"), 0, ""), (("", ""), 1, ""), (("inlineStr", f">a{row % 7}"), 0, ""),
        ]  # fmt: skip
        if row > count // 2:
            values.append((("str", "late"), 0, "<f>B1</f>"))
        cells = enumerate(values, 2)
        kept = (written(row, column, cell) for column, cell in cells if chance.random() < 0.9)
        lines.append(f'<row r="{row}">{"".join(kept)}</row>')
    return "".join(lines)


def test_a_plain_sheet_takes_no_other_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a sheet written as nearly all programs do all values are found in its bytes."""
    path = book_of(tmp_path / "a.xlsx", sheet_xml(plain_rows(1_500)), strings=STRINGS)
    assert plain_sheets(path) == [True]
    assert not differing(path)

    monkeypatch.setattr("kbd_xlsx.reader.book.open_values", None)
    text = XlsxFormat().read(Source(path, path.name), Region(range="B3:D4")).text
    assert text.split("\n")[-1] == "4\t4\t2023-03-15T12:00:00\tR&D <\"'>&lt;"


def inline(held: str) -> str:
    """A row of one cell with a text within."""
    return f'<row r="1"><c r="A1" t="inlineStr">{held}</c></row>'


@pytest.mark.sampled(7)
@pytest.mark.parametrize(
    "rows",
    {
        "another order of attributes": '<row r="1"><c t="b" r="A1"><v>1</v></c></row>',
        "cells out of order": '<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        "a cell twice": '<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        "a cell of another row": '<row r="1"><c r="A2"><v>1</v></c></row>',
        "rows out of order": '<row r="2"><c r="A2"><v>1</v></c></row><row r="1"/>',
        "a row twice": '<row r="1"><c r="A1"><v>1</v></c></row><row r="1"/>',
        "a comment": '<row r="1"><c r="A1"><v>1</v></c><!-- --></row>',
        "a comment in a value": '<row r="1"><c r="A1"><v>1<!-- -->2</v></c></row>',
        "a section": '<row r="1"><c r="A1" t="str"><v><![CDATA[a]]></v></c></row>',
        "a text and a value": inline("<is><t>a</t></is><v>1</v>"),
        "a text that is a value": inline("<v>1</v>"),
        "a text of another kind": '<row r="1"><c r="A1" t="s"><is><t>a</t></is></c></row>',
        "a text of no kind": '<row r="1"><c r="A1"><is><t>a</t></is></c></row>',
        "a text in runs": inline("<is><r><t>a</t></r></is>"),
        "a formula and a text": inline("<f>1</f><is><t>a</t></is>"),
        "two values": '<row r="1"><c r="A1"><v>1</v><v>2</v></c></row>',
        "no value": '<row r="1"><c r="A1"><v></v></c><c r="B1"><v/></c></row>',
        "an extension": '<row r="1"><c r="A1"><v>1</v><extLst/></c></row>',
        "quotes of the other kind": "<row r='1'><c r='A1'><v>1</v></c></row>",
        "blanks between": '<row r="1">\n<c r="A1"><v>1</v></c></row>',
        "a row without a number": '<row><c r="A1"><v>1</v></c></row>',
        "a cell without a place": '<row r="1"><c><v>1</v></c></row>',
        "values of rich data": '<row r="1"><c r="A1" vm="1"><v>1</v></c></row>',
        "a negative time": '<row r="1"><c r="A1" s="3"><v>-0.25</v></c></row>',
        "a column past the last": '<row r="1"><c r="XFE1"><v>1</v></c></row>',
    }.items(),
    ids=lambda case: case[0],
)
def test_what_is_not_plain_is_left_to_others(rows: tuple[str, str], tmp_path: Path) -> None:
    """What is written otherwise, or means something else, is read as before, or refused."""
    path = book_of(tmp_path / "a.xlsx", sheet_xml(rows[1]), strings=STRINGS)
    try:
        assert plain_sheets(path) == [False]
    except FileReadFailed:
        pass

    assert not differing(path)


@pytest.mark.usefixtures("cut")
def test_rows_that_go_back_behind_a_seam_are_left_to_others(tmp_path: Path) -> None:
    """Of two cells for one place the later one counts; a seam between them changes nothing."""
    lines = [f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in (1, 2, 3, 4, 4, 6)]
    path = book_of(tmp_path / "a.xlsx", sheet_xml("".join(lines)), strings=STRINGS)

    assert plain_sheets(path) == [False]
    assert not differing(path)


def test_figures_keep_their_last_digit(tmp_path: Path) -> None:
    """Each figure is the number that is nearest to what is written, a negative zero one, too."""
    cells = (f'<row r="{n}"><c r="A{n}"><v>{v}</v></c></row>' for n, v in enumerate(FIGURES, 1))
    path = book_of(tmp_path / "a.xlsx", sheet_xml("".join(cells)), strings=STRINGS)

    assert plain_sheets(path) == [True]
    assert not differing(path)


@pytest.mark.usefixtures("cut")
def test_gaps_and_columns_behind_a_seam(tmp_path: Path) -> None:
    """Blank rows between chunks of rows are there, and columns that only later rows have."""
    places = ["C2", "D2", "C3", "D5", "C8", "B9", "C9", "D10", "A11", "E12", "C13", "C20"]
    rows: dict[str, str] = {}
    for place in places:
        row = place[1:]
        rows[row] = rows.get(row, "") + f'<c r="{place}"><v>{row}</v></c>'
    xml = "".join(f'<row r="{row}">{cells}</row>' for row, cells in rows.items())
    path = book_of(tmp_path / "a.xlsx", sheet_xml(xml), strings=STRINGS)

    assert plain_sheets(path) == [True]
    assert not differing(path)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("item", ODD_ITEMS)
def test_an_odd_text_is_left_to_others(item: str, tmp_path: Path) -> None:
    """A text in runs, with escapes, or with blanks to be cut; plain ones beside it are read."""
    strings = f'<sst xmlns="{MAIN}"><si><t>plain</t></si><si>{item}</si></sst>'
    cell = '<row r="1"><c r="A1" t="s"><v>{}</v></c></row>'
    for place in "01":
        path = book_of(tmp_path / "a.xlsx", sheet_xml(cell.format(place)), strings=strings)

        assert plain_sheets(path) == [place == "0"]
        assert not differing(path)


def test_more_cells_than_are_held_are_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of a sheet of many cells would take more memory than those of the library."""
    monkeypatch.setattr(plain_cells, "MAX_PLAIN_CELLS", 5_000)
    path = book_of(tmp_path / "a.xlsx", sheet_xml(plain_rows(1_500)), strings=STRINGS)

    assert plain_sheets(path) == [False]
    assert not differing(path)


def test_each_plain_text(tmp_path: Path) -> None:
    """Signs, blanks within, blanks that are none in XML, tags as texts: each as it is written."""
    names = enumerate("ABCDEFGHI")
    cells = "".join(f'<c r="{name}1" t="s"><v>{n}</v></c>' for n, name in names)
    xml = sheet_xml(f'<row r="1">{cells}</row>')
    head = '\ufeff<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
    for strings in (STRINGS, head + STRINGS):
        path = book_of(tmp_path / "a.xlsx", xml, strings=strings)

        assert plain_sheets(path) == [True]
        assert not differing(path)


def test_more_texts_than_are_held_are_left_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list of texts may be as large as a part may be: it is not held for nothing."""
    monkeypatch.setattr(plain_cells, "MAX_TEXT_BYTES", 500)
    path = book_of(tmp_path / "a.xlsx", sheet_xml(plain_rows(60)), strings=STRINGS)

    assert plain_sheets(path) == [False]
    assert not differing(path)


@pytest.mark.full
@pytest.mark.corpora
def test_every_real_sheet_is_kept_alike(corpora: Path) -> None:
    """Of real workbooks all that is kept is the same, however their values are read.

    Half of their sheets are plain, so that this compares something.
    """
    asked = sorted((corpora / "spreadsheetbench").rglob("*_input.xlsx"))
    plain = total = 0
    for path in [*real_workbooks(corpora), *asked]:
        try:
            assert differing(path) == [], path.name
            found = plain_sheets(path)
        except FileReadFailed:
            continue
        plain, total = plain + sum(found), total + len(found)

    assert total > 800
    assert plain > 0.45 * total
