"""Runs within a cell, conditions and merges that hide text are labeled; what is seen is not."""

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.formatting import rule as made
from openpyxl.styles import Color, Font, GradientFill, PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.styles.numbers import NumberFormat
from openpyxl.worksheet.table import Table, TableStyleInfo

from kbd.formats import ReadAs, Region, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.reader.cell_looks import CellLook, Sight, sight
from kbd_xlsx.reader.conditions import MAX_CONDITIONS

FORMAT = XlsxFormat()
RULES: Any = made
SECRET = "pay them"
WHITE, BLACK = Color(rgb="FFFFFFFF"), Color(rgb="FF000000")
SHEET, TEXTS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
DARK = PatternFill("solid", fgColor=Color(rgb="FF1F3864"))


def saved(book: openpyxl.Workbook, folder: Path) -> Source:
    """Save a workbook as a file."""
    book.save(folder / "a.xlsx")
    return Source(folder / "a.xlsx", "a.xlsx")


def new_book(value: object = SECRET) -> tuple[openpyxl.Workbook, Any]:
    """A workbook with a value between two words, and its sheet."""
    book = openpyxl.Workbook()
    page: Any = book.active
    page["A1"], page["B2"], page["C3"] = "apple", value, "pear"
    return book, page


def second_row(source: Source) -> str:
    """Return the second row as it is read, which a search finds alike."""
    reading = FORMAT.read(source, Region())
    (row,) = [line for line in reading.text.splitlines() if line.startswith("2\t")]
    (passage,) = FORMAT.passages(source)
    assert row in passage.text
    return row.removeprefix("2\t\t")


def counts(source: Source) -> dict[str, int]:
    """Return what the map counts."""
    (page,) = FORMAT.map(source)["sheets"]
    return {name: page[name] for name in page if "hidden_cell_count" in name}


def rich(*runs: tuple[str, Color | None, float]) -> CellRichText:
    """A text in runs of some colors and sizes; without a color a run is plain."""
    return CellRichText(
        *(
            text if color is None else TextBlock(InlineFont(color=color, sz=size), text)
            for text, color, size in runs
        )
    )


RUNS: dict[str, tuple[CellRichText, Font, PatternFill | None, str, str]] = {
    "white": (rich(("sum ", None, 11), (SECRET, WHITE, 11)), Font(), None,
              f"sum [hidden: {SECRET}]", "partly_hidden_cell_count"),
    "tiny": (rich(("sum ", BLACK, 11), (SECRET, BLACK, 1)), Font(), None,
             f"sum [hidden: {SECRET}]", "partly_hidden_cell_count"),
    "white between two": (rich(("a ", None, 11), (SECRET, WHITE, 11), (" b", BLACK, 9)), Font(),
                          None, f"a [hidden: {SECRET}] b", "partly_hidden_cell_count"),
    "all of it": (rich((SECRET, WHITE, 11)), Font(), None,
                  f"[hidden: {SECRET}]", "hidden_cell_count"),
    "plain in a white cell": (rich((SECRET, None, 11), (" seen", BLACK, 11)), Font(color=WHITE),
                              None, f"[hidden: {SECRET}] seen", "partly_hidden_cell_count"),
    "white on dark": (rich(("sum ", WHITE, 11), ("head", WHITE, 14)), Font(), DARK,
                      "sum head", ""),
    "dark on dark": (rich(("sum ", WHITE, 11), (SECRET, Color(rgb="FF1F3864"), 11)), Font(), DARK,
                     f"sum [hidden: {SECRET}]", "partly_hidden_cell_count"),
    "red": (rich(("sum ", None, 11), ("red", Color(rgb="FFFF0000"), 11)), Font(), None,
            "sum red", ""),
    "white blanks": (rich(("sum", None, 11), ("\u00a0", WHITE, 11), ("x", BLACK, 11)), Font(), None,
                     "sum\u00a0x", ""),
}  # fmt: skip


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("which", RUNS)
@pytest.mark.sampled(4)
def test_runs_that_are_not_seen_are_labeled(which: str, is_shared: bool, tmp_path: Path) -> None:
    """Just they, wherever the text lies; a cell none of whose runs is seen counts as hidden."""
    text, font, fill, row, counted = RUNS[which]
    book, page = new_book(text)
    page["B2"].font = font
    if fill is not None:
        page["B2"].fill = fill
    source = saved(book, tmp_path)
    if is_shared:
        share(source)
    assert second_row(source) == row
    assert counts(source) == ({counted: 1} if counted else {})


def rewritten(source: Source, change: Callable[[dict[str, str]], None]) -> None:
    """Write a workbook anew with other parts."""
    with zipfile.ZipFile(io.BytesIO(source.path.read_bytes())) as old:
        members = {name: old.read(name).decode() for name in old.namelist()}
    change(members)
    with zipfile.ZipFile(source.path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)


def share(source: Source, mention: str = '<c r="B2" {style}t="s"><v>3</v></c>') -> None:
    """Move the text in runs of a workbook to the shared ones, as the fourth of them."""

    def change(members: dict[str, str]) -> None:
        before, _, rest = members[SHEET].partition('<c r="B2"')
        cell, _, after = rest.partition("</c>")
        style = 's="1" ' if ' s="1"' in cell else ""
        runs = cell.partition("<is>")[2].partition("</is>")[0]
        members[SHEET] = before + mention.format(style=style) + after
        few = "<si><t>fig</t></si>" * 3
        members[TEXTS] = f'<sst xmlns="{MAIN}">{few}<si>{runs}</si></sst>'
        relation = f'<Relationship Id="rId99" Type="{KIND}" Target="/{TEXTS}"/></Relationships>'
        name = "xl/_rels/workbook.xml.rels"
        members[name] = members[name].replace("</Relationships>", relation)

    rewritten(source, change)


MENTIONS = {
    "quotes": "<c r='B2' t='s'><v>3</v></c>",
    "a reference for its kind": '<c r="B2" t="&#115;"><v>3</v></c>',
    "zeros": '<c r="B2" t="s"><v>03</v></c>',
    "no address": '<c/><c t="s"><v>3</v></c>',
}


@pytest.mark.parametrize("mention", MENTIONS)
@pytest.mark.sampled(3)
def test_however_a_shared_text_is_mentioned(mention: str, tmp_path: Path) -> None:
    """In any spelling that a program takes for its number."""
    book, _ = new_book(RUNS["white"][0])
    source = saved(book, tmp_path)
    share(source, MENTIONS[mention])
    assert f"sum [hidden: {SECRET}]" in FORMAT.read(source, Region()).text


WHITE_FONT = Font(color=WHITE)
DARK_DIFFERENCE = PatternFill(bgColor=Color(rgb="FF1F3864"))


def formula(text: str, **looks: Any) -> Any:
    """A rule by a formula."""
    return RULES.FormulaRule(formula=[text], **(looks or {"font": WHITE_FONT}))


def of_texts(kind: str, text: str) -> Any:
    """A rule about the text of a cell."""
    style = DifferentialStyle(font=WHITE_FONT)
    return RULES.Rule(type=kind, operator="containsText", text=text, dxf=style, formula=['"x"="y"'])


NOTHING = RULES.Rule(
    type="expression", formula=["TRUE"],
    dxf=DifferentialStyle(numFmt=NumberFormat(numFmtId=170, formatCode=";;;")),
)  # fmt: skip

HIDDEN, MAYBE, SEEN = "[hidden: {}]", "[maybe hidden: {}]", "{}"

CONDITIONS: dict[str, tuple[list[Any], object, str]] = {
    "true": ([formula("TRUE")], SECRET, HIDDEN),
    "one": ([formula("1")], SECRET, HIDDEN),
    "false": ([formula("FALSE")], SECRET, SEEN),
    "a cell that is so": ([formula('$A$1="APPLE"')], SECRET, HIDDEN),
    "a cell that is not": ([formula('$A$1="pear"')], SECRET, SEEN),
    "a repeat": ([formula("B2=B1")], SECRET, SEEN),
    "its length": ([formula("LEN(B2)>3")], SECRET, HIDDEN),
    "an error": ([formula("ISERROR(B2)")], SECRET, SEEN),
    "what nobody here computes": ([formula("MOD(ROW(),2)=0")], SECRET, MAYBE),
    "a long one": ([formula("TRUE" + " " * 300 + "=TRUE")], SECRET, MAYBE),
    "equal to a text": (
        [RULES.CellIsRule("equal", [f'"{SECRET}"'], font=WHITE_FONT)], SECRET, HIDDEN),
    "above a number": ([RULES.CellIsRule("greaterThan", ["0"], font=WHITE_FONT)], SECRET, HIDDEN),
    "below a number": ([RULES.CellIsRule("lessThan", ["0"], font=WHITE_FONT)], SECRET, SEEN),
    "a number": ([RULES.CellIsRule("equal", ["0"], font=WHITE_FONT)], 0, SEEN),
    "a text in it": ([of_texts("containsText", "PAY")], SECRET, HIDDEN),
    "a text not in it": ([of_texts("containsText", "pear")], SECRET, SEEN),
    "a text not begun": ([of_texts("beginsWith", "them")], SECRET, SEEN),
    "twice": ([RULES.Rule(type="duplicateValues", dxf=DifferentialStyle(font=WHITE_FONT))], SECRET,
              MAYBE),
    "by a number format": ([NOTHING], SECRET, HIDDEN),
    "white on dark": ([formula("TRUE", font=WHITE_FONT, fill=DARK_DIFFERENCE)], SECRET, SEEN),
    "dark behind dark": ([formula("TRUE", fill=PatternFill(bgColor=BLACK))], SECRET, HIDDEN),
    "white by one, dark by another": (
        [formula("TRUE"), formula("1", fill=DARK_DIFFERENCE)], SECRET, SEEN),
    "dark only maybe": (
        [formula("TRUE"), formula("RAND()>2", fill=DARK_DIFFERENCE)], SECRET, MAYBE),
    "red first": ([formula("TRUE", font=Font(color="FFFF0000")), formula("TRUE")], SECRET, SEEN),
    "stopped before": (
        [formula("TRUE", font=Font(bold=True), stopIfTrue=True), formula("TRUE")], SECRET, SEEN),
    "red": ([formula("RAND()>2", font=Font(color="FFFF0000"))], SECRET, SEEN),
}  # fmt: skip


@pytest.mark.parametrize("which", CONDITIONS)
@pytest.mark.sampled(6)
def test_a_condition_that_hides_a_text_is_labeled(which: str, tmp_path: Path) -> None:
    """As hidden where it surely applies, as maybe where nobody can tell, else not at all."""
    rules, value, row = CONDITIONS[which]
    book, page = new_book(value)
    for rule in rules:
        page.conditional_formatting.add("B2:B9", rule)
    source = saved(book, tmp_path)
    assert second_row(source) == row.format(value)
    names = {HIDDEN: "hidden_cell_count", MAYBE: "maybe_hidden_cell_count"}
    assert counts(source) == ({names[row]: 1} if row in names else {})


def test_a_condition_shows_what_its_cell_hides(tmp_path: Path) -> None:
    """White letters are seen where it surely makes the ground dark; a doubt leaves a label."""
    for text, row in (("TRUE", SEEN), ("FALSE", HIDDEN), ("RAND()>2", MAYBE)):
        book, page = new_book()
        page["B2"].font = WHITE_FONT
        page.conditional_formatting.add("A1:C3", formula(text, fill=DARK_DIFFERENCE))
        assert second_row(saved(book, tmp_path)) == row.format(SECRET), text


def test_a_condition_leaves_the_cells_alone_that_are_dark(tmp_path: Path) -> None:
    """A white header in the range of a rule that makes letters white is seen."""
    book, page = new_book()
    page["B2"].fill = DARK
    page["C2"] = SECRET
    page.conditional_formatting.add("A2:C3", formula("TRUE"))
    assert second_row(saved(book, tmp_path)) == f"{SECRET}\t[hidden: {SECRET}]"


def test_a_condition_of_a_later_version_is_found(tmp_path: Path) -> None:
    """It lies in an extension of the sheet, with its look beside it."""
    source = saved(new_book()[0], tmp_path)
    rule = (
        '<extLst><ext xmlns:x14="urn:x14" uri="{78}"><x14:conditionalFormattings>'
        '<x14:conditionalFormatting xmlns:xm="urn:xm"><x14:cfRule type="expression">'
        '<xm:f>$A$1&lt;&gt;5</xm:f><x14:dxf><font><color theme="0"/></font></x14:dxf>'
        "</x14:cfRule>"
        "<xm:sqref>B2:B9</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext>"
        "</extLst></worksheet>"
    )

    def change(members: dict[str, str]) -> None:
        members[SHEET] = members[SHEET].replace("</worksheet>", rule)

    rewritten(source, change)
    assert second_row(source) == f"[hidden: {SECRET}]"


def test_many_conditions_are_bounded(tmp_path: Path) -> None:
    """Those that are not looked at one by one may hide any text."""
    source = saved(new_book()[0], tmp_path)
    rule = '<cfRule type="expression" priority="{0}" dxfId="0"><formula>A1={0}</formula></cfRule>'
    block = '<conditionalFormatting sqref="F{0}">' + rule + "</conditionalFormatting>"

    def change(members: dict[str, str]) -> None:
        many = "".join(map(block.format, range(1, MAX_CONDITIONS + 2)))
        members[SHEET] = members[SHEET].replace("</sheetData>", f"</sheetData>{many}")
        dxf = '<dxfs count="1"><dxf><font><color rgb="FFFFFFFF"/></font></dxf></dxfs>'
        styles = re.sub(r"<dxfs[^>]*/>|(?=<tableStyles)", dxf, members["xl/styles.xml"], count=1)
        members["xl/styles.xml"] = styles

    rewritten(source, change)
    assert second_row(source) == f"[maybe hidden: {SECRET}]"


def test_what_conditions_hide_is_told_with_its_ranges(tmp_path: Path) -> None:
    """In the map, and by a note of the reading."""
    book, page = new_book()
    page.conditional_formatting.add("B2:B9", formula("MOD(ROW(),2)=0"))
    page.conditional_formatting.add("C2:C9", formula("TRUE", font=Font(color="FFFF0000")))
    source = saved(book, tmp_path)
    (sheet,) = FORMAT.map(source)["sheets"]
    assert sheet["hiding_conditions"] == ["B2:B9"]
    note = "Cells that may be hidden, by a condition or their number format: B2."
    assert note in FORMAT.read(source, Region()).warnings


def test_a_formula_below_a_merge_is_labeled(tmp_path: Path) -> None:
    """Nobody sees it; the first cell of the range is seen."""
    book, page = new_book("=1+1")
    page["C2"] = '="pay"&" them"'
    page.merge_cells("B2:C2")
    source = saved(book, tmp_path)
    covered = '<c r="C2"><f>"pay"&amp;" them"</f></c>'

    def change(members: dict[str, str]) -> None:
        # Programs that merge by hand leave it there.
        members[SHEET] = re.sub(r'<c r="C2"[^>]*/>|(?=</row><row r="3")', covered, members[SHEET])

    rewritten(source, change)
    assert second_row(source) == (
        '=1+1 [not calculated]\t[hidden: ="pay"&" them" [not calculated]]'
    )


def test_a_row_too_low_to_be_read_is_hidden(tmp_path: Path) -> None:
    """One of two points and less; a low one that shows something is not."""
    for height, told in ((0.5, True), (2, True), (2.5, False), (12, False)):
        book, page = new_book()
        page.row_dimensions[2].height = height
        notes = FORMAT.read(saved(book, tmp_path), Region()).warnings
        assert ("Rows that are hidden: 2." in notes) is told, height


GROUNDS = {
    "a pattern of one color": (PatternFill("darkGrid", fgColor=WHITE, bgColor=WHITE), True),
    "few dots": (PatternFill("gray0625"), True),
    "a gradient of one color": (GradientFill(stop=("FFFFFF", "FFFEFE")), True),
    "a pattern": (PatternFill("darkGrid", fgColor=BLACK, bgColor=WHITE), False),
    "a gradient": (GradientFill(stop=("FFFFFF", "1F3864")), False),
}


@pytest.mark.parametrize("which", GROUNDS)
@pytest.mark.sampled(3)
def test_white_on_a_pattern(which: str, tmp_path: Path) -> None:
    """A pattern or gradient of which all is white hides white letters; others are not judged."""
    fill, is_hidden = GROUNDS[which]
    book, page = new_book()
    page["B2"].font, page["B2"].fill = WHITE_FONT, fill
    assert second_row(saved(book, tmp_path)) == (HIDDEN if is_hidden else SEEN).format(SECRET)


STYLES = {
    "TableStyleMedium2": SEEN, "TableStyleLight9": SEEN, "TableStyleDark1": SEEN,
    "TableStyleLight1": HIDDEN, "Nobody": HIDDEN,
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.sampled(3)
def test_white_in_a_tables_header(style: str, tmp_path: Path) -> None:
    """Seen where the style makes the header dark, not where it does not or is none."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for row in (["x", "y", "z"], ["", SECRET, "b"], ["", "c", "d"]):
        page.append(row)
    page["B2"].font = WHITE_FONT
    table = Table(displayName="T", ref="B2:C3")
    table.tableStyleInfo = TableStyleInfo(name=style)
    page.add_table(table)
    assert second_row(saved(book, tmp_path)).startswith(STYLES[style].format(SECRET) + "\t")


CODES: dict[str, dict[object, Sight]] = {
    '[>0]""': {5: Sight.HIDDEN, -5: Sight.SEEN, "x": Sight.SEEN},
    "[>100]0;": {500: Sight.SEEN, 5: Sight.HIDDEN, -5: Sight.HIDDEN},
    "[<0];[>9]0;": {-1: Sight.HIDDEN, 10: Sight.SEEN, 5: Sight.HIDDEN},
    "[>9]0;;0": {-1: Sight.HIDDEN, 10: Sight.SEEN, 5: Sight.MAYBE},
    "0;;;": {5: Sight.SEEN, -5: Sight.HIDDEN, 0: Sight.SEEN, "x": Sight.HIDDEN},
    ';;;""': {5: Sight.HIDDEN, "x": Sight.HIDDEN},
    '" "': {5: Sight.HIDDEN, "x": Sight.SEEN},
    ";-0": {5: Sight.HIDDEN, -5: Sight.SEEN, "x": Sight.SEEN},
    ";;;@": {5: Sight.HIDDEN, -5: Sight.HIDDEN, "x": Sight.SEEN},
    "0;0;0;": {5: Sight.SEEN, "x": Sight.HIDDEN},
    "[White]General": {5: Sight.HIDDEN, "x": Sight.MAYBE},
    "[White]@": {"x": Sight.HIDDEN},
    "[Red]General": {5: Sight.SEEN, "x": Sight.SEEN},
    '0;-0;"-"': {0: Sight.SEEN, 5: Sight.SEEN},
}


def test_a_number_format_hides_by_the_section_of_its_value() -> None:
    """By the sign of a number, by the conditions of the sections, by the place for texts."""
    for code, values in CODES.items():
        look = CellLook("000000", "FFFFFF", code)
        assert {value: sight(look, value) for value in values} == values, code  # type: ignore[arg-type]


def test_a_table_of_a_hidden_sheet_says_so(tmp_path: Path) -> None:
    """Nobody who opens the workbook sees where its rows are from."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for state, note in (
        ("visible", None),
        ("hidden", "The sheet Back is hidden."),
        ("veryHidden", "The sheet Back is hidden, and no program offers to show it."),
    ):
        if state == "visible":
            page.title = "Front"
            back = book.create_sheet("Back")
            for row in (["x", "y"], ["a", 1]):
                back.append(row)
        hidden: Any = book["Back"]
        hidden.sheet_state = state
        table = FORMAT.read_table(saved(book, tmp_path), "Back", ReadAs(), tmp_path / "t.csv")
        assert [each for each in table.warnings if "sheet" in each] == ([note] if note else [])


def test_a_table_warns_of_what_people_do_not_see_in_it(tmp_path: Path) -> None:
    """Its rows have no place for a label."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for row in (["x", "y", "z"], ["a", SECRET, "b"], ["c", RUNS["white"][0], "d"]):
        page.append(row)
    page["B2"].font = WHITE_FONT
    page["C9"] = "beside"
    table = FORMAT.read_table(saved(book, tmp_path), None, ReadAs(), tmp_path / "t.csv")
    assert "2 cell(s) of the table are hidden from people (1 in part): B2, B3." in table.warnings
    page["B2"].font = Font()
    page["B3"] = "seen"
    table = FORMAT.read_table(saved(book, tmp_path), None, ReadAs(), tmp_path / "t.csv")
    assert not [each for each in table.warnings if "hidden" in each]
