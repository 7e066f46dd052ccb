"""Workbooks that are parsed for their values read as calamine reads them."""

import datetime as dt
import random
import re
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kbd.errors import FileReadFailed
from kbd.formats import Region, Source
from kbd.sheets.areas import Area, cell_name
from kbd_xlsx import XlsxFormat
from kbd_xlsx.reader import fallback_parser as parsed_module
from kbd_xlsx.reader.fallback_parser import are_misread
from read_twice import FORMATS, MAIN, SHARED, book_of, differences, of_one, sheet_xml, typed
from real_workbooks import real_workbooks

STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
SAMPLE_SEED = 176

KNOWN: dict[str, set[tuple[Any, ...]]] = {
    # Calamine leaves escapes above U+00FF as they are written.
    "phpss__issue.4724.xlsx": {("Worksheet", "A4", "_xC1EF_", "\uc1ef")},
    # It takes the half of the day alone, A/P, for a time, as openpyxl does not.
    "sheetjs__LONumbers-2010.xlsx": {
        ("Sheet1", f"{column}{row}", *pair)
        for row in (34, 36)
        for column, pair in {
            "B": (dt.date(1900, 1, 1), 1.0),
            "D": (dt.datetime(1900, 1, 12, 7, 12), 12.3),  # noqa: DTZ001
            "F": (dt.datetime(1900, 5, 2, 10, 48), 123.45),  # noqa: DTZ001
            "H": (dt.datetime(1903, 5, 18, 13, 36, 28, 800_000), 1234.567),  # noqa: DTZ001
            "J": (dt.datetime(1933, 10, 18, 16, 17, 36, 960_000), 12345.6789),  # noqa: DTZ001
        }.items()
    },
}
"""All differences in the corpus, each with calamine's value first."""

UNREAD_BY_CALAMINE = {
    "closedxml__tdf111974.xlsm",
    "exceljs__test-issue-176.xlsx",
    "openxmlsdk__ProjectStatusReport_TP10094814.xltx",
    "sheetjs__BlankSheetTypes.xlsm",
}


def files(corpora: Path) -> list[Path]:
    """List the workbooks that have sheets and are neither hostile nor large."""
    return [path for path in real_workbooks(corpora) if "BadWorkbook" not in path.name]


def check_alike(paths: list[Path]) -> set[str]:
    """Check that the two readers agree but for what is known; return what calamine cannot read."""
    unread = set()
    for path in paths:
        found = differences(path)
        if found is None:
            unread.add(path.name)
        else:
            assert set(found) == KNOWN.get(path.name, set()), path.name
    return unread


@pytest.mark.corpora
def test_a_parsed_workbook_reads_as_calamine_reads_it(corpora: Path) -> None:
    """Cell by cell, types included, in a sample of the corpus and where differences are known."""
    paths = [path for path in files(corpora) if path.stat().st_size < 60_000]
    chosen = random.Random(SAMPLE_SEED).sample(paths, 60)
    known = [path for path in files(corpora) if path.name in KNOWN]

    assert len(known) == len(KNOWN)
    assert check_alike([*chosen, *known]) <= UNREAD_BY_CALAMINE


@pytest.mark.full
@pytest.mark.corpora
def test_every_parsed_workbook_reads_as_calamine_reads_it(corpora: Path) -> None:
    """The same of the whole corpus, and of the workbooks of forum questions."""
    asked = sorted((corpora / "spreadsheetbench").rglob("*_input.xlsx"))
    small = [path for path in asked if path.stat().st_size < 100_000]

    assert check_alike([*files(corpora), *small]) == UNREAD_BY_CALAMINE


SIGNS = st.sampled_from(["a", "é", "漢", "<", "&", '"', " ", "\n", "_x0041_", "_x005F_", "7"])
TEXT = st.lists(SIGNS, max_size=5).map("".join)
NUMBER = st.one_of(
    st.integers(-3, 70),
    st.integers(-800_000, 3_000_000),
    st.floats(-2, 62).map(lambda value: round(value, 7)),
    st.floats(-1e5, 3e6).map(lambda value: round(value, 5)),
).map(repr)


def _is_half(text: str) -> bool:
    """Tell a number on the edge between two milliseconds."""
    return abs(float(text) * 86_400_000 % 1 - 0.5) < 0.01


PLAIN = st.tuples(st.just(""), NUMBER.filter(lambda text: not _is_half(text)))
TYPED = st.one_of(
    st.tuples(st.just("str"), TEXT),
    st.tuples(st.just("inlineStr"), TEXT),
    st.tuples(st.just("s"), st.integers(0, len(SHARED) - 1).map(str)),
    st.tuples(st.just("b"), st.sampled_from(["0", "1", "true", "false"])),
    st.tuples(st.just("e"), st.sampled_from(["#N/A", "#DIV/0!", "#REF!"])),
    st.tuples(st.just("d"), st.one_of(
        st.dates().map(str),
        st.datetimes().map(dt.datetime.isoformat),
        st.sampled_from(["10:05", "10:05:07", "junk", "2024-13-01", "2024-01-31T10:05:00Z"]),
    )),
    st.tuples(st.sampled_from(["", "n", "str", "s", "b"]), st.just("")),
    st.tuples(st.just(""), st.sampled_from(["abc", "1,5", "1e3", "0x1", ".5", "1."])),
)  # fmt: skip
CELL = st.tuples(
    st.one_of(PLAIN, TYPED), st.integers(0, len(FORMATS)), st.booleans(), st.booleans()
)
SHEET = st.dictionaries(
    st.integers(1, 9), st.dictionaries(st.integers(1, 6), CELL, max_size=4), max_size=5
)


def cell_xml(row: int, column: int, cell: Any, *, is_next: bool) -> str:
    """Write a cell; one that is next to the last one need not say where it is."""
    (kind, text), style, has_address, has_formula = cell
    place = "" if is_next and not has_address else f' r="{cell_name(row, column)}"'
    named = f' t="{kind}"' if kind else ""
    before = "<f>A1</f>" if has_formula and kind != "inlineStr" else ""
    held = escape(text)
    value = f"<is><t>{held}</t></is>" if kind == "inlineStr" else f"<v>{held}</v>"
    return f'<c{place}{named} s="{style}">{before}{value}</c>'


def rows_xml(sheet: dict[int, dict[int, Any]], order: list[int]) -> str:
    """Write rows in an order."""
    written = []
    for row in order:
        cells, last = "", 0
        for column, cell in sorted(sheet[row].items()):
            cells += cell_xml(row, column, cell, is_next=column == last + 1)
            last = column
        written.append(f'<row r="{row}">{cells}</row>')
    return "".join(written)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sheet=SHEET, is_1904=st.booleans(), data=st.data())
def test_any_small_sheet_reads_alike(
    tmp_path: Path, sheet: dict[int, dict[int, Any]], is_1904: bool, data: st.DataObject
) -> None:
    """Values of every kind in every format, rows in any order, cells with and without places."""
    order = data.draw(st.permutations(sorted(sheet)))
    properties = 'date1904="1"' if is_1904 else ""
    path = book_of(
        tmp_path / "a.xlsx", sheet_xml(rows_xml(sheet, order)), properties=properties
    )  # fmt: skip

    assert differences(path) == []


def test_forms_of_xml(tmp_path: Path) -> None:
    """Prefixes, the strict variant, UTF-16, comments, missing places: the values are the same."""
    rows = (
        '<row r="2"><c r="B2" t="s"><v>5</v></c><c><v>1.5</v></c></row>'
        '<row><c t="b"><v>1</v></c><c t="inlineStr"><is><r><t>a</t></r><r><t>b</t></r></is></c>'
        '<c s="1"><v>45000</v></c></row>'
    )
    plain = sheet_xml(rows)
    prefixed = plain.replace("</", "\0").replace("<", "<x:").replace("\0", "</x:")
    forms: list[str | bytes] = [
        plain,
        prefixed.replace("xmlns=", "xmlns:x="),
        plain.replace(MAIN, STRICT),
        ('<?xml version="1.0" encoding="UTF-16"?>' + plain).encode("utf-16"),
        plain.replace("<v>1.5", "<v><!--1-->1<?p?>.5").replace("<row>", "<!--c--><row>"),
    ]
    expected = [["", "richtext", 1.5], [True, "ab", dt.date(2023, 3, 15)]]

    for form in forms:
        found = of_one(book_of(tmp_path / "a.xlsx", form))

        assert found is not None
        assert found[0] == Area(2, 1, 3, 3)
        assert typed(found[1]) == typed(expected)


def test_cells_out_of_their_places(tmp_path: Path) -> None:
    """A cell is where it says, whatever its row says; of two for one place the later counts."""
    rows = (
        '<row r="2"><c r="B3"><v>1</v></c><c><v>2</v></c></row>'
        '<row><c><v>6</v></c><c r="A1"><v>7</v></c></row><row r="1"><c r="A1"><v>8</v></c></row>'
    )
    path = book_of(tmp_path / "a.xlsx", sheet_xml(rows))

    assert of_one(path) == (Area(1, 1, 3, 3), [[8, "", ""], ["", "", 2], [6, 1, ""]])
    assert differences(path) == []


def test_a_sheet_too_large_to_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read twice, once to measure it; all of its rows come, in their order."""
    monkeypatch.setattr(parsed_module, "_MAX_CACHED", 20_000)
    rows, columns = 2_001, 10
    cells = "<c><v>7</v></c>" * columns
    path = book_of(tmp_path / "a.xlsx", sheet_xml(f"<row>{cells}</row>" * rows))

    assert of_one(path) == (Area(1, 1, rows, columns), [[7.0] * columns] * rows)


def test_shared_texts(tmp_path: Path) -> None:
    """Runs are joined without what tells how to say them, space is cut as the file says."""
    cells = "".join(f'<c t="s"><v>{place}</v></c>' for place in range(len(SHARED)))

    found = of_one(book_of(tmp_path / "a.xlsx", sheet_xml(f'<row r="1">{cells}</row>')))

    assert found == (Area(1, 1, 1, len(SHARED)), [SHARED])


ODD_VALUES = {
    "a number by an entity": ("<c><v>1&#50;</v></c>", "12"),
    "a number and a comment": ("<c><v>1<!-- x -->2</v></c>", "12"),
    "a number and an instruction": ("<c><v>1<?x y?>2</v></c>", "12"),
    "a number in a section": ("<c><v><![CDATA[12]]></v></c>", "12"),
    "blanks before a number": ("<c><v> 12</v></c>", "12"),
    "a line around a number": ("<c><v>\n12\n</v></c>", "12"),
    "a value with attributes": ('<c><v a="b"> 12 </v></c>', "12"),
    "a shared text by an entity": ('<c t="s"><v>&#53;</v></c>', "richtext"),
    "a shared text and a comment": ('<c t="s"><v><!-- -->5</v></c>', "richtext"),
    "blanks before a shared text": ('<c t="s"><v> 5</v></c>', "richtext"),
    "blanks behind a shared text": ("<c t='s'><v>5\t</v></c>", "richtext"),
    "a truth with blanks": ('<c t="b"><v> 0 </v></c>', "false"),
    "a text in a section": ('<c t="str"><v>a<![CDATA[b]]></v></c>', "ab"),
    "a formula and a comment": (
        "<c><f>SUM(A1:<!-- x -->A1)</f><v>7</v></c>",
        "=SUM(A1:A1) [stored: 7]",
    ),
    "a comment like another cell": ('<c t="s"><!--<c t="str">--><v> 5</v></c>', "richtext"),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("which", ODD_VALUES)
@pytest.mark.parametrize("prefix", ["", "x:"])
def test_an_odd_value_is_read_as_it_is_meant(prefix: str, which: str, tmp_path: Path) -> None:
    """Office programs read it so; calamine has another figure or text, or none, without a word."""
    cell, expected = ODD_VALUES[which]
    xml = sheet_xml(f'<row r="1"><c><v>7</v></c>{cell}</row>')
    if prefix:
        xml = re.sub(r"(</?)(?=\w)", rf"\1{prefix}", xml).replace("xmlns=", "xmlns:x=", 1)
    path = book_of(tmp_path / "a.xlsx", xml)

    text = XlsxFormat().read(Source(path, path.name), Region()).text
    assert text.split("\n")[-1] == f"1\t7\t{expected}"


@pytest.mark.parametrize("place", ["+5", "-1", "5.0", "5e0", "0x5"])
def test_a_shared_text_at_an_odd_place_is_refused(place: str, tmp_path: Path) -> None:
    """Programs do not agree what it is, and the first of the texts it is in none of them."""
    path = book_of(tmp_path / "a.xlsx", sheet_xml(f'<row><c t="s"><v>{place}</v></c></row>'))

    with pytest.raises(FileReadFailed):
        XlsxFormat().read(Source(path, path.name), Region())


@pytest.mark.parametrize(
    "cells",
    [
        '<c t="str"><v> a &amp; b </v></c>',
        "<c><f>A1&amp;&quot; &quot;</f><v>-1.5E+3</v></c>",
        '<c t="inlineStr"><is><t> a &lt; b </t></is></c>',
        '<c t="e"><v>#N/A</v></c><c/><c><v/></c><c><v></v></c>',
        '<c r="B2" s="1" t="str"><f>1</f><v>x\n</v></c>',
    ],
)
def test_usual_values_take_no_other_reader(cells: str) -> None:
    """That one takes ten times as long."""
    assert not are_misread(f'<row r="1">{cells}</row>'.encode())
