"""Comparisons of workbooks: what is told of an edit, and that nothing else is."""

import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Font, PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table

from compared_books import (
    applied,
    book,
    cells_of,
    compared,
    replayed,
    source,
    table,
    told,
    told_cells,
)
from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import Source
from kbd.sheets.areas import cell_name
from kbd_xlsx import XlsxFormat
from real_workbooks import real_workbooks
from samples import half_or_all

SAMPLE_SEED = 75
NEW = ["new", "x", 1, 2]


@pytest.fixture
def plain(tmp_path: Path) -> Source:
    """A table of 50 rows with formulas, and sums in row 52."""
    return book(tmp_path / "plain.xlsx", table(50))


def test_an_inserted_row_is_one_change(plain: Source, tmp_path: Path) -> None:
    """All below it is shifted, formulas too, and only the row itself is told."""
    after = book(tmp_path / "after.xlsx", table(50, (5, NEW)))

    found = compared(plain, after)

    assert told(found) == [("added", "row", "Data!6:6")]
    formula = {"formula": "=C6*D6", "value": None, "current": False}
    assert found.changes[0].after == [*NEW, formula]
    assert told(compared(after, plain)) == [("removed", "row", "Data!6:6")]


def test_edits_beside_an_inserted_row_are_told_where_they_are(
    plain: Source, tmp_path: Path
) -> None:
    """A changed text with its words, a changed type with a note, a formula that really changed."""
    rows = table(50, (30, NEW))
    rows[10][1], rows[11][2], rows[12][4] = "Changed item", "5", "=C13+D13"
    rows[40][2] = 99
    after = book(tmp_path / "after.xlsx", rows)

    found = compared(plain, after)

    assert told(found) == [
        ("changed", "cell", "Data!B11"),
        ("changed", "cell", "Data!C12"),
        ("changed", "cell", "Data!E13"),
        ("added", "row", "Data!31:31"),
        ("changed", "cell", "Data!C41"),
    ]
    text, kind, formula, _, number = found.changes
    assert "".join(word for span, word in text.words if span != "added") == "Item 10"
    assert kind.note == "it was a number and is a text now"
    assert (formula.before["formula"], formula.after["formula"]) == ("=C13*D13", "=C13+D13")
    assert (number.before, number.after) == (39 % 7, 99)


def test_a_formula_that_did_not_follow_a_shift_is_told(plain: Source, tmp_path: Path) -> None:
    """Rows that a library inserted without their formulas name other cells than before."""

    def insert(_: Any, sheet: Any) -> None:
        sheet.insert_rows(10)

    found = compared(plain, book(tmp_path / "after.xlsx", table(50), insert))

    assert told(found)[0] == ("added", "row", "Data!10:10")
    notes = [each.note for each in found.changes if each.place.cell == "E20"]
    assert notes == ["the formula did not follow the rows or columns that moved"]


def test_a_moved_row_is_one_change(plain: Source, tmp_path: Path) -> None:
    """It is told where it is and where it stood."""
    rows = table(50)
    rows.insert(20, rows.pop(5))
    for number, row in enumerate(rows[1:-1], 2):
        row[4] = f"=C{number}*D{number}"

    found = compared(plain, book(tmp_path / "after.xlsx", rows))

    assert told(found) == [("moved", "row", "Data!21:21")]
    assert found.changes[0].moved_from is not None
    assert found.changes[0].moved_from.range == "6:6"


def test_inserted_and_appended_columns_are_one_change_each(tmp_path: Path) -> None:
    """Cells right of a new column are shifted, their formulas with them."""
    rows = [[n, n * 3, f"text {n}", f"=A{n}*B{n}"] for n in range(1, 41)]
    wider = [[a, f"new {a}", b, c, f"=A{a}*C{a}"] for a, b, c, _ in rows]
    longer = [[*row, f"last {row[0]}"] for row in rows]
    before = book(tmp_path / "before.xlsx", rows)
    inserted = book(tmp_path / "inserted.xlsx", wider)

    assert told(compared(before, inserted)) == [("added", "column", "Data!B:B")]
    assert compared(before, inserted).changes[0].after[:2] == ["new 1", "new 2"]
    assert told(compared(inserted, before)) == [("removed", "column", "Data!B:B")]
    appended = compared(before, book(tmp_path / "appended.xlsx", longer))
    assert told(appended) == [("added", "column", "Data!E:E")]


def test_a_column_put_into_a_form_is_one_change(tmp_path: Path) -> None:
    """Most rows of a form end before the column; the few that go on are not told one by one."""
    rows = [[f"Question {n}", n, *(["yes", "no", "why", "when"] if n % 5 == 0 else [])]
            for n in range(1, 31)]  # fmt: skip
    before = book(tmp_path / "before.xlsx", rows)
    inserted = applied(
        before, tmp_path / "after.xlsx", {"op": "insert_columns", "sheet": "Data", "column": "C"}
    )

    assert told(compared(before, inserted)) == [("added", "column", "Data!C:C")]
    assert told(compared(inserted, before)) == [("removed", "column", "Data!C:C")]


def test_a_column_put_between_headers_is_one_change(tmp_path: Path) -> None:
    """Columns that have a header alone, as in a sheet to be filled in, are shifted as others."""
    names = ["Order", "Method", "Ship date", "Sale date", "Items", "Rate", "Total"]
    before = book(tmp_path / "before.xlsx", [names, *([n, f"way {n}"] for n in range(20))])
    inserting = {"op": "insert_columns", "sheet": "Data", "column": "C"}

    found = told(compared(before, applied(before, tmp_path / "after.xlsx", inserting)))

    assert found == [("added", "column", "Data!C:C")]


def test_a_cell_far_below_and_a_cleared_one_are_cells(plain: Source, tmp_path: Path) -> None:
    """The blank rows between are nothing that anybody added."""
    after = applied(
        plain,
        tmp_path / "after.xlsx",
        {"op": "set_cells", "sheet": "Data", "cells": [
            {"cell": "C500", "value": 7}, {"cell": "B3", "value": None},
        ]},
    )  # fmt: skip

    assert told(compared(plain, after)) == [
        ("removed", "cell", "Data!B3"),
        ("added", "cell", "Data!C500"),
    ]


def test_a_figure_in_row_40000_is_one_change(tmp_path: Path) -> None:
    """The size of the sheet does not matter."""

    def rows(figure: int) -> str:
        values = {40_000: figure}
        return "".join(
            f'<row r="{n}"><c r="A{n}"><v>{n}</v></c>'
            f'<c r="B{n}"><v>{values.get(n, n % 9)}</v></c></row>'
            for n in range(1, 41_001)
        )

    before = _with_sheet(tmp_path / "before.xlsx", rows(4))
    after = _with_sheet(tmp_path / "after.xlsx", rows(-1))

    found = compared(before, after)

    assert told(found) == [("changed", "cell", "Data!B40000")]
    assert (found.changes[0].before, found.changes[0].after) == (4, -1)


def test_results_that_an_edit_made_old_are_told_as_such(tmp_path: Path) -> None:
    """Those that touch are one range, and none of them is a changed cell."""
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><f>A{n}*$D$1</f><v>{n}</v></c>'
        + ('<c r="D1"><v>1</v></c>' if n == 1 else "")
        + "</row>"
        for n in range(1, 21)
    )
    before = _with_sheet(tmp_path / "before.xlsx", rows)
    edit = {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "D1", "value": 2}]}

    found = compared(before, applied(before, tmp_path / "after.xlsx", edit))

    assert told(found) == [("changed", "cell", "Data!D1"), ("changed", "result", "Data!B1:B20")]
    assert found.changes[1].note == "the stored result is out of date"


def _with_sheet(path: Path, rows: str, head: str = "") -> Source:
    """Write a workbook whose sheet has the rows as they are given."""
    book(path, [[1]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{space}">{head}<sheetData>{rows}</sheetData></worksheet>'
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, sheet if name == "xl/worksheets/sheet1.xml" else data)
    return source(path)


def test_shared_formulas_count_as_what_each_cell_has(tmp_path: Path) -> None:
    """A group that is written out is the same; one whose first formula changed is not."""

    def rows(master: str, child: str) -> str:
        return f"<row r='1'><c r='A1'><v>1</v></c></row>{master}{child}".replace("'", '"')

    master = (
        "<row r='2'><c r='A2'><v>2</v></c>"
        "<c r='B2'><f t='shared' ref='B2:B3' si='0'>{}</f><v>3</v></c></row>"
    )
    child = "<row r='3'><c r='A3'><v>3</v></c><c r='B3'><f t='shared' si='0'/><v>4</v></c></row>"
    own = "<row r='3'><c r='A3'><v>3</v></c><c r='B3'><f>A3+1</f><v>4</v></c></row>"
    first = _with_sheet(tmp_path / "a.xlsx", rows(master.format("A2+1"), child))
    same = _with_sheet(tmp_path / "b.xlsx", rows(master.format("A2+1"), own))
    other = _with_sheet(tmp_path / "c.xlsx", rows(master.format("A2+2"), child))

    assert told(compared(first, same)) == []
    found = compared(first, other)
    assert told(found) == [("changed", "cell", "Data!B2"), ("changed", "cell", "Data!B3")]
    assert found.changes[1].after["formula"] == "=A3+2"


def test_how_cells_are_written_does_not_matter(tmp_path: Path) -> None:
    """Shared and inline texts, 1 and 1.0, other quotes and blanks between tags are the same."""
    one = (
        '<row r="1"><c r="A1"><v>1</v></c>'
        '<c r="B1" t="inlineStr"><is><t>a &amp; b</t></is></c></row>'
    )
    two = (
        "<row r='1' spans='1:2'>\n <c r='A1' s='0'>\n<v>1.0</v></c>"
        "<c r='B1' t='str'><v>a &amp; b</v></c><c r='C1'/></row>\n<row r='7'/>"
    )
    before = _with_sheet(tmp_path / "a.xlsx", one)

    assert told(compared(before, _with_sheet(tmp_path / "b.xlsx", two))) == []


def _bold(_: Any, sheet: Any) -> None:
    for column in range(1, 6):
        sheet.cell(1, column).font = Font(name="Calibri", size=11, bold=True)
    for row in range(3, 6):
        sheet.cell(row, 2).fill = PatternFill("solid", fgColor="FFFFFF00")


def test_looks_that_changed_alike_are_one_range(plain: Source, tmp_path: Path) -> None:
    """With what differs by name: before and after."""
    found = compared(plain, book(tmp_path / "after.xlsx", table(50), _bold))

    assert told(found) == [
        ("changed", "format", "Data!A1:E1"),
        ("changed", "format", "Data!B3:B5"),
    ]
    assert found.changes[0].details["font_bold"] == (False, True)
    assert found.changes[1].details["fill_color"] == (None, "FFFF00")


def _named(made: Any, _: Any) -> None:
    made.defined_names.add(
        openpyxl.workbook.defined_name.DefinedName("Rate", attr_text="Data!$A$2")
    )


def _chart(_: Any, sheet: Any) -> None:
    chart = BarChart()
    chart.title = "Costs"
    chart.add_data(Reference(sheet, min_col=4, min_row=1, max_row=9), titles_from_data=True)
    sheet.add_chart(chart, "H2")


def _validated(_: Any, sheet: Any) -> None:
    rule = DataValidation(type="whole", operator="between", formula1="1", formula2="9")
    rule.add("C2:C9")
    sheet.add_data_validation(rule)


def _ruled(_: Any, sheet: Any) -> None:
    look = DifferentialStyle(font=Font(color="FFFF0000"))
    rule = Rule(type="cellIs", operator="greaterThan", formula=["5"], dxf=look)
    sheet.conditional_formatting.add("C2:C9", rule)


def _commented(_: Any, sheet: Any) -> None:
    sheet["B2"].comment = Comment("Check this", "Ann")


def _sized(_: Any, sheet: Any) -> None:
    sheet.column_dimensions["B"].width = 30
    sheet.row_dimensions[3].height = 33


def _set(place: str, value: Any) -> Callable[[Any, Any], None]:
    def change(_: Any, sheet: Any) -> None:
        owner = sheet
        *names, last = place.split(".")
        for name in names:
            owner = getattr(owner, name)
        setattr(owner, last, value)

    return change


def _linked(_: Any, sheet: Any) -> None:
    sheet["B2"].hyperlink = "https://example.org/"


def _tabled(_: Any, sheet: Any) -> None:
    sheet.add_table(Table(displayName="Items", ref="A1:E51"))


def _renamed(_: Any, sheet: Any) -> None:
    sheet.title = "Renamed"


def _more_sheets(made: Any, _: Any) -> None:
    made.create_sheet("Other").append([1, 2, 3])


PLANTED: dict[str, tuple[Callable[[Any, Any], None], list[tuple[str, str, str]]]] = {
    "a name": (_named, [("added", "name", "name Rate")]),
    "a chart": (_chart, [("added", "chart", "Data, chart Chart 1")]),
    "a validation": (_validated, [("added", "validation", "Data!C2:C9")]),
    "a rule": (_ruled, [("added", "conditional format", "Data!C2:C9")]),
    "a comment": (_commented, [("added", "comment", "Data!B2")]),
    "sizes": (_sized, [("changed", "width", "Data!B:B"), ("changed", "height", "Data!3:3")]),
    "panes": (_set("freeze_panes", "B2"), [("changed", "frozen panes", "Data")]),
    "a filter": (_set("auto_filter.ref", "A1:E9"), [("added", "filter", "Data!A1:E9")]),
    "a tab": (_set("sheet_properties.tabColor", "FFFF0000"), [("changed", "sheet", "Data")]),
    "a link": (_linked, [("added", "link", "Data!B2")]),
    "a table": (_tabled, [("added", "table", "Data!A1:E51")]),
    "a page": (_set("page_setup.orientation", "landscape"), [("added", "page", "Data")]),
    "protection": (_set("protection.sheet", True), [("added", "protection", "Data")]),
    "grid lines": (_set("sheet_view.showGridLines", False), [("changed", "view", "Data")]),
    "a name of a sheet": (_renamed, [("changed", "sheet", "Renamed")]),
    "a sheet": (_more_sheets, [("added", "sheet", "Other"), ("added", "row", "Other!1:1")]),
}


@pytest.mark.parametrize("which", PLANTED)
def test_what_is_not_in_cells_is_found_and_named(which: str, plain: Source, tmp_path: Path) -> None:
    """One planted thing gives its changes and no others, and is gone the other way."""
    change, expected = PLANTED[which]
    after = book(tmp_path / "after.xlsx", table(50), change)

    found = told(compared(plain, after))
    # Drawn and linked things have looks of their own, which a library sets.
    assert [each for each in found if each[1] != "format"] == expected
    back = [each for each in told(compared(after, plain)) if each[1] != "format"]
    assert len(back) == len(expected)


def test_what_is_around_cells_follows_a_shift(plain: Source, tmp_path: Path) -> None:
    """Merged cells, rules, names, comments and charts that moved along are no changes."""

    def dress(rows: int) -> Callable[[Any, Any], None]:
        def change(made: Any, sheet: Any) -> None:
            sheet.merge_cells(f"G{20 + rows}:H{21 + rows}")
            rule = Rule(type="cellIs", operator="greaterThan", formula=[f"$A${20 + rows}"])
            sheet.conditional_formatting.add(f"C{20 + rows}:C{29 + rows}", rule)
            sheet[f"B{20 + rows}"].comment = Comment("Check this", "Ann")
            made.defined_names.add(
                openpyxl.workbook.defined_name.DefinedName("Rate", attr_text=f"Data!$A${30 + rows}")
            )
            chart = BarChart()
            chart.add_data(Reference(sheet, min_col=4, min_row=20 + rows, max_row=29 + rows))
            sheet.add_chart(chart, f"J{20 + rows}")

        return change

    before = book(tmp_path / "before.xlsx", table(50), dress(0))
    after = book(tmp_path / "after.xlsx", table(50, (5, NEW)), dress(1))

    assert told(compared(before, after)) == [("added", "row", "Data!6:6")]


def test_a_version_that_is_not_there_adds_or_removes_all(plain: Source) -> None:
    """A sheet and its rows."""
    found = compared(None, plain)

    assert told(found)[:2] == [("added", "sheet", "Data"), ("added", "row", "Data!1:1")]
    assert found.changes[0].after == {"range": "A1:E52", "rows": 52, "columns": 5}
    assert found.total == 53
    gone = compared(plain, None)
    assert {each.kind for each in gone.changes} == {"removed"}
    assert gone.total == 53


def test_the_list_is_bounded_and_all_is_counted(tmp_path: Path) -> None:
    """Of 24,000 changed cells the first 10,000 are listed."""

    def rows(sign: int) -> str:
        cells = '<c r="{0}{1}"><v>{2}</v></c>'
        return "".join(
            f'<row r="{n}">'
            + "".join(cells.format(letter, n, sign * (n + k)) for k, letter in enumerate("ABC"))
            + "</row>"
            for n in range(1, 8_001)
        )

    before = _with_sheet(tmp_path / "before.xlsx", rows(1))
    after = _with_sheet(tmp_path / "after.xlsx", rows(-1))

    found = compared(before, after)

    assert (len(found.changes), found.total) == (10_000, 24_000)
    assert found.warnings == ("of 24,000 changes the first 10,000 are listed",)


def test_one_sheet_is_compared_by_its_name_in_either_version(tmp_path: Path) -> None:
    """A name of neither version is refused with those that there are."""
    before = book(tmp_path / "before.xlsx", table(9), _more_sheets)

    def renamed(made: Any, sheet: Any) -> None:
        _more_sheets(made, sheet)
        sheet.title, sheet["A2"] = "New", 77
        made["Other"]["A1"] = 5

    after = book(tmp_path / "after.xlsx", table(9), renamed)

    for name in ("Data", "new"):
        assert told(compared(before, after, name)) == [
            ("changed", "sheet", "New"),
            ("changed", "cell", "New!A2"),
        ]
    with pytest.raises(ValidationFailed, match="neither version has a sheet"):
        compared(before, after, "Nowhere")


def test_parts_that_are_not_understood_are_told_as_such(plain: Source, tmp_path: Path) -> None:
    """With size and digest; one that is only written otherwise is none."""

    def with_part(name: str, data: str) -> Source:
        path = tmp_path / name
        with zipfile.ZipFile(plain.path) as archive, zipfile.ZipFile(path, "w") as copy:
            for each in archive.namelist():
                copy.writestr(each, archive.read(each))
            copy.writestr("customXml/item1.xml", data)
        return source(path)

    one = with_part("a.xlsx", '<a x="1" y="2"><b/></a>')
    assert told(compared(one, with_part("b.xlsx", '<a y="2" x="1"> <b></b></a>'))) == []
    found = compared(one, with_part("c.xlsx", '<a x="1" y="3"><b/></a>'))
    assert told(found) == [("changed", "part", "customXml/item1.xml")]
    assert found.changes[0].before["size_bytes"] == 23


def _edit(chosen: random.Random, sheet: dict[str, Any]) -> dict[str, Any]:
    """Return an operation that sets a few cells of a sheet."""
    used = sheet["used_range"] or {"max_row": 5, "max_col": 5}
    values = [chosen.randrange(1000), f"text {chosen.randrange(99)}", "=1+1", None, 1.5]
    cells = {
        cell_name(
            chosen.randrange(1, used["max_row"] + 3), chosen.randrange(1, used["max_col"] + 2)
        ): chosen.choice(values)
        for _ in range(chosen.randrange(1, 4))
    }
    return {
        "op": "set_cells",
        "sheet": sheet["name"],
        "cells": [{"cell": name, "value": value} for name, value in cells.items()],
    }


def _edits_are_told(paths: list[Path], folder: Path, chosen: random.Random) -> int:
    """Edit each workbook, and see that its diff is the edit; return how many were compared."""
    done = 0
    for path in paths:
        before = source(path)
        try:
            sheets = [each for each in XlsxFormat().map(before)["sheets"]
                      if each["kind"] == "worksheet"]  # fmt: skip
            after = applied(before, folder / f"{done}.xlsx", _edit(chosen, chosen.choice(sheets)))
        except (KbdError, IndexError):
            continue
        old, new = cells_of(before), cells_of(after)
        found = compared(before, after)
        if old is None or new is None or any(each.what == "column" for each in found.changes):
            continue
        done += 1
        differ = {place for place in old.keys() | new.keys() if old.get(place) != new.get(place)}
        # Of results that are no text, and of metadata, readings tell nothing.
        surplus = told_cells(found) - differ
        assert differ <= told_cells(found), path.name
        assert all(old.get(place) == new.get(place) for place in surplus), path.name
        assert len(surplus) <= len(differ) + 3, (path.name, surplus)
        assert replayed(old, found) == new, path.name
    return done


@pytest.mark.corpora
def test_the_diff_of_an_edit_is_the_edit(corpora: Path, tmp_path: Path) -> None:
    """Random edits of real workbooks: exactly their cells, and applied to before they are after."""
    chosen = random.Random(SAMPLE_SEED)
    paths = [path for path in real_workbooks(corpora) if path.stat().st_size < 30_000]

    assert _edits_are_told(chosen.sample(paths, 40), tmp_path, chosen) > 25


@pytest.mark.full
@pytest.mark.corpora
@half_or_all
def test_the_diff_of_an_edit_is_the_edit_in_all_workbooks(
    corpora: Path, tmp_path: Path, every: int
) -> None:
    """The same of the whole corpus."""
    chosen = random.Random(SAMPLE_SEED + 1)
    paths = real_workbooks(corpora)[::every]

    assert _edits_are_told(paths, tmp_path, chosen) > 0.7 * len(paths)


def _differ_from_themselves(paths: list[Path]) -> dict[str, Any]:
    found = {}
    for path in paths:
        try:
            changes = compared(source(path), source(path)).changes
        except KbdError:
            continue
        if changes:
            found[path.name] = changes[:3]
    return found


@pytest.mark.corpora
def test_a_workbook_does_not_differ_from_itself(corpora: Path) -> None:
    """Nothing is told of a sample."""
    chosen = random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), 40)

    assert _differ_from_themselves(chosen) == {}


@pytest.mark.full
@pytest.mark.corpora
def test_no_workbook_differs_from_itself(corpora: Path) -> None:
    """Nothing is told of any."""
    assert _differ_from_themselves(real_workbooks(corpora)) == {}


@pytest.mark.full
@pytest.mark.corpora
def test_any_two_workbooks_are_compared_or_refused(corpora: Path) -> None:
    """A comparison ends in an answer or in an error of ours."""
    chosen = random.Random(SAMPLE_SEED)
    paths = real_workbooks(corpora)
    answered = 0
    for path in chosen.sample(paths, 120):
        try:
            answered += compared(source(path), source(chosen.choice(paths))).total > 0
        except KbdError:
            continue
    assert answered > 100


DAMAGED = {
    "rows cut off": '<row r="1"><c r="A1"><v>1</v>',
    "a row past the last": '<row r="9999999"><c r="A9999999"><v>1</v></c></row>',
    "no XML": '<row r="1"><c r="A1" <v>1</v></row>',
}


@pytest.mark.parametrize("which", DAMAGED)
def test_damaged_sheets_are_refused(which: str, plain: Source, tmp_path: Path) -> None:
    """With an error of ours, whichever version it is."""
    bad = _with_sheet(tmp_path / "bad.xlsx", DAMAGED[which])

    for pair in ((plain, bad), (bad, plain)):
        with pytest.raises(FileReadFailed):
            compared(*pair)


def test_rows_that_are_out_of_order_are_compared_by_their_numbers(tmp_path: Path) -> None:
    """As programs read them."""
    one = '<row r="1"><c r="A1"><v>1</v></c></row>'
    two = '<row r="2"><c r="A2"><v>{}</v></c></row>'
    before = _with_sheet(tmp_path / "a.xlsx", one + two.format(2))

    assert told(compared(before, _with_sheet(tmp_path / "b.xlsx", two.format(2) + one))) == []
    found = compared(before, _with_sheet(tmp_path / "c.xlsx", two.format(3) + one))
    assert told(found) == [("changed", "cell", "Data!A2")]
