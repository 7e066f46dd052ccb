"""Conditional formats and validations: set, cut where another one takes their place, taken off."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.formatting.rule import Rule
from openpyxl.worksheet.datavalidation import DataValidation

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Source
from object_edits import FORMAT, differing, edit, entries, made, replaced
from written_books import written

SHEET = "xl/worksheets/sheet1.xml"
RED = {"fill_color": "#FFC7CE", "font_color": "#9C0006"}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The workbook of another program."""
    return made(tmp_path)


def rule(range_: str = "B2:B4", replace: bool = False, **given: Any) -> dict[str, Any]:
    """An operation that sets a rule."""
    style = given.pop("style", None)
    return {
        "op": "set_conditional_format", "sheet": "Data", "range": range_, "rule": given,
        "replace": replace, "style": style,
    }  # fmt: skip


def checked(range_: str = "C2:C4", **given: Any) -> dict[str, Any]:
    """An operation that sets a validation."""
    return {"op": "set_data_validation", "sheet": "Data", "range": range_, **given}


def rules(path: Path) -> list[tuple[str, str, int, list[str]]]:
    """Ranges, types, priorities and formulas of a file's rules, as openpyxl reads them."""
    found = openpyxl.load_workbook(path)["Data"].conditional_formatting
    return [
        (str(block.sqref), each.type, each.priority, each.formula)
        for block in found
        for each in block.rules
    ]


def test_each_kind_of_rule_is_read_by_others(book: Path) -> None:
    """All rules are there with their formats, in the order of their priorities."""
    out = book.with_name("out.xlsx")
    edit(
        book, out,
        rule(type="cell_is", operator="between", value=1, value2="=$B$4", style=RED),
        rule(type="cell_is", operator="equal", value='say "x"', style={"font_bold": False}),
        rule("A2:A4", type="formula", formula="$B2>2", style=RED),
        rule("A2:A4", type="text", operator="begins_with", text='T"', style=RED),
        rule(type="top", count=5, percent=True, bottom=True, style=RED),
        rule(type="average", below=True, style=RED),
        rule("A2:A4,C2:C4", type="duplicates", unique=True, style=RED),
        rule(type="color_scale", colors=["red", "#FFEB84", "#63BE7B"]),
        rule(type="data_bar", points=["number 0", "=$B$2"]),
        rule(type="icon_set", icons="4Arrows", reverse=True, show_value=False),
    )  # fmt: skip

    assert rules(out) == [
        ("B2:B4", "cellIs", 1, ["1", "$B$4"]),
        ("B2:B4", "cellIs", 2, ['"say ""x"""']),
        ("B2:B4", "top10", 5, []),
        ("B2:B4", "aboveAverage", 6, []),
        ("B2:B4", "colorScale", 8, []),
        ("B2:B4", "dataBar", 9, []),
        ("B2:B4", "iconSet", 10, []),
        ("A2:A4", "expression", 3, ["$B2>2"]),
        ("A2:A4", "beginsWith", 4, ['LEFT(A2,LEN("T"""))="T"""']),
        ("A2:A4 C2:C4", "uniqueValues", 7, []),
    ]
    formats = vars(openpyxl.load_workbook(out))["_differential_styles"].styles
    # Equal looks are one format.
    assert len(formats) == 2
    assert formats[0].fill.bgColor.rgb == "FFFFC7CE"
    assert differing(book, out) == {SHEET, "xl/styles.xml"}
    told = FORMAT.compare(Source(book, "a"), Source(out, "b"), CompareOptions()).changes
    assert {change.what for change in told} == {"conditional format"}
    assert len(told) == 10


@pytest.mark.filterwarnings("ignore:Workbook contains no default style")
def test_a_rule_is_read_where_the_style_sheet_is_empty(tmp_path: Path) -> None:
    """Some libraries write one without a cell format, and then others take no part of it."""
    empty = '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>'
    written(tmp_path / "bare.xlsx", parts={"xl/styles.xml": empty})

    average = rule("A1", style={"font_color": "red"}, type="average")
    edit(tmp_path / "bare.xlsx", tmp_path / "out.xlsx", average)

    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets[0]
    (found,) = sheet.conditional_formatting
    assert found.rules[0].dxf.font.color.rgb == "FFFF0000"


def test_a_rule_replaces_those_of_its_cells_alone(book: Path) -> None:
    """Rules of other cells stay; formulas are written for the cell that is first now."""
    found = openpyxl.load_workbook(book)
    known: Any = found["Data"].conditional_formatting
    known.add("B2:C9", Rule("expression", formula=["$A2=B$1"]))
    known.add("E1:E9", Rule("cellIs", operator="equal", formula=["1"]))
    found.save(book)
    out = book.with_name("out.xlsx")
    edit(book, out, rule("B2:C3", replace=True, type="color_scale", colors=["red", "blue"]))

    assert rules(out) == [
        ("B4:C9", "expression", 1, ["$A4=B$1"]),
        ("E1:E9", "cellIs", 2, ["1"]),
        ("B2:C3", "colorScale", 3, []),
    ]
    edit(out, book.with_name("no.xlsx"), {
        "op": "clear_objects", "sheet": "Data", "range": "A1:Z99", "what": ["conditional_formats"]
    })  # fmt: skip
    assert rules(book.with_name("no.xlsx")) == []
    assert b"conditionalFormatting" not in entries(book.with_name("no.xlsx"))[SHEET]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": "cell_is", "operator": "between", "value": 1, "style": RED}, "needs a value"),
        ({"type": "cell_is", "operator": "equal", "value": 1, "value2": 2, "style": RED}, "value2"),
        ({"type": "cell_is", "operator": "equal", "value": "2024-01-31", "style": RED},
         r"=DATE\(2024,1,31\)"),
        ({"type": "cell_is", "operator": "equal", "value": 1, "style": {}}, "changes nothing"),
        ({"type": "formula", "formula": "='My sums'!A1>1", "style": RED}, "define a name"),
        ({"type": "formula", "formula": "=Foo>1", "style": RED}, "no name Foo"),
        ({"type": "formula", "formula": '=WEBSERVICE("http://x")=1', "style": RED}, "reaches out"),
        ({"type": "average"}, "changes nothing"),
        ({"type": "data_bar", "style": RED}, "has no style"),
        ({"type": "color_scale", "colors": ["red", "nocolor"]}, "no color"),
        ({"type": "color_scale", "colors": ["red", "blue"], "points": ["min"]}, "points"),
        ({"type": "icon_set", "icons": "3Flags", "points": ["min"] * 3}, "none of them"),
        ({"type": "data_bar", "points": ["percent 101", "max"]},
         "0 to 100"),
        ({"type": "data_bar", "points": ["half", "max"]}, "is no point"),
        ({"type": "data_bar", "points": ["number x", "max"]}, "is no point"),
    ],
)  # fmt: skip
def test_rules_that_no_program_takes_are_refused(
    book: Path, given: dict[str, Any], reason: str
) -> None:
    """Each with what to do instead."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(book, book.with_name("out.xlsx"), rule(**given))


def validations(path: Path) -> list[tuple[str, str | None, str | None, str | None]]:
    """Ranges, types and formulas of a file's validations, as openpyxl reads them."""
    found = openpyxl.load_workbook(path)["Data"].data_validations
    assert found.count == len(found.dataValidation)
    return [
        (str(each.sqref), each.type, each.formula1, each.formula2) for each in found.dataValidation
    ]


def test_each_kind_of_validation_is_read_by_others(book: Path) -> None:
    """Limits are stored as programs compare them; messages keep their lines."""
    out = book.with_name("out.xlsx")
    edit(
        book, out,
        checked("A2:A4", type="list", choices=["yes", 'so "so"', 3, True]),
        checked("B2:B4", type="list", source="'My sums'!A1:A9", allow_blank=False),
        checked("C2:C4", type="whole", value=1, value2="=$B$2", error_style="warning",
                prompt_title="Qty", prompt='1 to "many"\n& so on', error="no"),
        checked("D2:D4", type="date", operator="greater_than", value="2024-01-31"),
        checked("E2:E4", type="time", value="08:30", value2="18:00:00"),
        checked("F2:F4", type="text_length", operator="less_or_equal", value=5),
        checked("G2:G4", type="custom", formula="=ISNUMBER(G2)"),
        checked("H2:H4", type="decimal", operator="not_equal", value=0.5),
    )  # fmt: skip

    assert validations(out) == [
        ("A2:A4", "list", '"yes,so ""so"",3,TRUE"', None),
        ("B2:B4", "list", "'My sums'!$A$1:$A$9", None),
        ("C2:C4", "whole", "1", "$B$2"),
        ("D2:D4", "date", "45322", None),
        ("E2:E4", "time", repr(8.5 / 24), "0.75"),
        ("F2:F4", "textLength", "5", None),
        ("G2:G4", "custom", "ISNUMBER(G2)", None),
        ("H2:H4", "decimal", "0.5", None),
    ]
    quantity = openpyxl.load_workbook(out)["Data"].data_validations.dataValidation[2]
    assert (quantity.errorStyle, quantity.prompt) == ("warning", '1 to "many"\n& so on')
    assert differing(book, out) == {SHEET}
    told = FORMAT.compare(Source(book, "a"), Source(out, "b"), CompareOptions()).changes
    assert [change.what for change in told] == ["validation"] * 8


@pytest.mark.filterwarnings("ignore:.*extension is not supported")
def test_a_validation_takes_the_cells_of_others(book: Path) -> None:
    """What other ones check beside them stays, also those that only an extension holds."""
    found = openpyxl.load_workbook(book)
    found["Data"].add_data_validation(DataValidation("custom", "LEN(A1)>0", sqref="A1:C9"))
    found["Data"].add_data_validation(DataValidation("whole", formula1="1", sqref="F1:F3"))
    found.save(book)
    space = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
    extension = (
        f'<extLst><ext uri="{{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}}" xmlns:x14="{space}">'
        '<x14:dataValidations count="2" xmlns:xm="http://schemas.microsoft.com/office/excel/2006/'
        'main"><x14:dataValidation type="list"><x14:formula1><xm:f>\'My sums\'!$A$1:$A$2</xm:f>'
        "</x14:formula1><xm:sqref>H1:H9</xm:sqref></x14:dataValidation><x14:dataValidation "
        'type="custom"><x14:formula1><xm:f>I1&gt;H1</xm:f></x14:formula1><xm:sqref>I1</xm:sqref>'
        "</x14:dataValidation></x14:dataValidations></ext></extLst></worksheet>"
    )
    data = entries(book)[SHEET].replace(b"</worksheet>", extension.encode())
    replaced(book, SHEET, data)
    out = book.with_name("out.xlsx")
    applied = edit(book, out, checked("A1:C5,H2:I5", type="whole", value=1, value2=2))

    assert applied.changed[0].endswith("instead of what 2 range(s) had")
    assert validations(out) == [
        ("A6:C9", "custom", "LEN(A6)>0", None),
        ("F1:F3", "whole", "1", None),
        ("A1:C5 H2:I5", "whole", "1", "2"),
    ]
    part = entries(out)[SHEET].decode()
    assert "<xm:sqref>H1 H6:H9</xm:sqref>" in part
    assert "<xm:sqref>I1</xm:sqref>" in part


def test_a_cut_that_would_leave_no_first_cell_is_refused(book: Path) -> None:
    """Programs differ in which cell a formula of such ranges is for, so nobody guesses."""
    first, out = book.with_name("first.xlsx"), book.with_name("out.xlsx")
    edit(book, first, checked("A1:C9", type="custom", formula="=LEN(A1)>0"))
    with pytest.raises(ValidationFailed, match="name all of that range"):
        edit(first, out, checked("A1:B5", type="whole", value=1, value2=2))
    edit(first, out, checked("A1:C5", type="whole", value=1, value2=2))
    assert validations(out)[0] == ("A6:C9", "custom", "LEN(A6)>0", None)


def test_validations_are_taken_off(book: Path) -> None:
    """Cells in between are free again; without any the element is gone."""
    first, out = book.with_name("first.xlsx"), book.with_name("out.xlsx")
    edit(book, first, checked("A1:A9", type="whole", value=1, value2=2))
    clear = {"op": "clear_objects", "sheet": "Data", "what": ["validations"]}
    applied = edit(first, out, {**clear, "range": "A3:B4"})
    assert applied.changed == ("Data!A3:B4: 1 validations taken off",)
    assert validations(out) == [("A1:A2 A5:A9", "whole", "1", "2")]
    edit(out, first, {**clear, "range": "A:A"})
    assert entries(first)[SHEET] == entries(book)[SHEET]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": "list"}, "either choices or a source"),
        ({"type": "list", "choices": ["a,b"]}, "commas part them"),
        ({"type": "list", "choices": ["x" * 300]}, "255"),
        ({"type": "list", "source": "A1:B9"}, "one row or column"),
        ({"type": "list", "source": "Foo"}, "no name Foo"),
        ({"type": "list", "choices": ["a"], "value": 1}, "no use for value"),
        ({"type": "whole", "value": 1}, "value2"),
        ({"type": "whole", "operator": "equal", "value": 1.5}, "whole numbers"),
        ({"type": "whole", "operator": "equal", "value": "1"}, "with numbers"),
        ({"type": "date", "operator": "equal", "value": "31.1.2024"}, "31.1.2024"),
        ({"type": "time", "operator": "equal", "value": "25:00"}, "no time"),
        ({"type": "custom"}, "needs a formula"),
        ({"type": "custom", "formula": "=LEN("}, "formula"),
        ({"type": "custom", "formula": "=A1", "prompt_title": "x" * 33}, "32 at most"),
        ({"type": "custom", "formula": "=A1", "range_": "A1,A1:A2"}, "overlap"),
        ({"type": "custom", "formula": "=A1", "range_": "B"}, "not a cell"),
    ],
)
def test_validations_that_no_program_takes_are_refused(
    book: Path, given: dict[str, Any], reason: str
) -> None:
    """Each with what is wrong."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(book, book.with_name("out.xlsx"), checked(**given))
