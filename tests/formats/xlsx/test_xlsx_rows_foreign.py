"""Rows into workbooks of other programs: what they do not name is kept, or they are refused."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from lxml import etree
from openpyxl.styles import Font, PatternFill

from kbd.errors import ValidationFailed
from kbd.formats import Placement, Source
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting, xml_bytes
from written_rows import COLUMNS, foreign, parts, plain, values, write

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMES = """<definedName name="Whole">Data!$A:$B</definedName>
<definedName name="Whole" localSheetId="1">Other!$A$1</definedName>
<definedName name="Elsewhere">Other!$A$1:$A$3</definedName>
<definedName name="Moving">OFFSET(Data!$A$1,0,0,COUNTA(Data!$A:$A),2)</definedName>"""
HEAD = ["name", "amount"]
SALES: list[list[Any]] = [HEAD, ["a", 1], ["b", 2]]
ODD = [["who", "string"], ["sum", "integer"]]


def changed(before: Path, after: Path) -> set[str]:
    """Return the names of the parts that are not byte for byte as they were."""
    old, new = parts(before), parts(after)
    assert old.keys() <= new.keys()
    return {name for name in new if new[name] != old.get(name)}


def table_refs(path: Path) -> list[str]:
    """Return the ranges of the table of Data and of its filter."""
    table = openpyxl.load_workbook(path)["Data"].tables["Sales"]
    return [table.ref, table.autoFilter.ref]


@pytest.mark.parametrize(
    ("mode", "start", "written"),
    [("append_rows", "A1", "A4:B4"), ("write_range", "D2", "D2:E3"), ("replace_sheet", "A1",
      "A1:B2")],
)  # fmt: skip
def test_what_is_not_named_is_kept(tmp_path: Path, mode: Any, start: str, written: str) -> None:
    """Charts, comments, widths, rules and other sheets stay; parts that do not change are equal."""
    source = foreign(tmp_path / "a.xlsx", SALES)
    target = tmp_path / "b.xlsx"

    found = write(source, target, [["z", 9]], Placement("Data", mode, start_cell=start))

    assert found.written_range == written
    # The formula over the rows loses its result, so its sheet is written, too.
    assert changed(source, target) <= {
        "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml", "xl/workbook.xml", "xl/styles.xml",
    }  # fmt: skip
    book = openpyxl.load_workbook(target)
    sheet: Any = book["Data"]
    assert sheet.column_dimensions["A"].width == 33
    assert len(sheet.conditional_formatting) == 1
    assert len(sheet._charts) == 1
    assert sheet["A1"].comment.text == "a note"
    assert values(target, "Other") == [["=SUM(Data!B2:B50)"], ["=1+1"], ["kept"]]


def test_a_table_grows_with_the_rows_that_are_appended(tmp_path: Path) -> None:
    """Rows with its columns below a table become part of it, and the result says so."""
    source = foreign(tmp_path / "a.xlsx", [["a title"], *([None, *row] for row in SALES)],
                     table="B2:C4")  # fmt: skip
    target = tmp_path / "b.xlsx"

    written = write(source, target, [["c", 3], ["d", 4]], Placement("Data", "append_rows"))

    assert written.written_range == "B5:C6"
    assert written.warnings == (
        "The sheet has a header already: it was not written again.",
        "Table Sales was B2:C4 and is B2:C6 now.",
    )
    assert table_refs(target) == ["B2:C6", "B2:C6"]
    assert plain(target, "Data")[4] == ["", "c", 3]


def test_rows_with_other_columns_stay_outside_a_table(tmp_path: Path) -> None:
    """They go below it by position, and the result says that they are no part of it."""
    source = foreign(tmp_path / "a.xlsx", SALES, table="A1:B3")

    written = write(source, tmp_path / "b.xlsx", [["c", 3]], Placement("Data", "append_rows"), ODD)

    assert "no part of it" in written.warnings[0]
    assert table_refs(tmp_path / "b.xlsx") == ["A1:B3", "A1:B3"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("count", "placement", "ref"),
    [
        (4, Placement("Data", "replace_sheet"), "A1:B5"),
        (1, Placement("Data", "replace_sheet"), "A1:B2"),
        (0, Placement("Data", "replace_sheet"), "A1:B2"),
        (4, Placement("Data", "write_range"), "A1:B5"),
        (1, Placement("Data", "write_range"), "A1:B3"),
        (1, Placement("Data", "write_range", clear_target_range=True), "A1:B2"),
        (3, Placement("Data", "write_range", start_cell="A2", include_header=False), "A1:B4"),
        (3, Placement("Data", "write_range", start_cell="B2", include_header=False), "A1:B3"),
    ],
)
def test_a_table_fits_the_rows_that_take_its_place(
    tmp_path: Path, count: int, placement: Placement, ref: str
) -> None:
    """With its columns and its header it grows, and shrinks to what is left after emptying."""
    source = foreign(tmp_path / "a.xlsx", SALES, table="A1:B3")

    write(source, tmp_path / "b.xlsx", [[f"n{n}", n] for n in range(count)], placement)

    assert table_refs(tmp_path / "b.xlsx") == [ref, ref]


def sort_table(rewriting: Rewriting) -> None:
    """Have the table remember that it was sorted by its second column."""
    part = "xl/tables/table1.xml"
    data = rewriting.read(part)
    order = b'<sortState ref="A2:B3"><sortCondition ref="B2:B3"/></sortState><tableColumns'
    assert b"<tableColumns" in data
    rewriting.put(part, data.replace(b"<tableColumns", order))


def test_an_order_that_other_rows_had_is_forgotten(tmp_path: Path) -> None:
    """A table that shrinks does not say that rows past its end are sorted."""
    source = with_parts(foreign(tmp_path / "a.xlsx", SALES, table="A1:B3"), sort_table)

    write(source, tmp_path / "b.xlsx", [["c", 3]], Placement("Data", "replace_sheet"))

    assert b"sortState" in parts(source)["xl/tables/table1.xml"]
    assert b"sortState" not in parts(tmp_path / "b.xlsx")["xl/tables/table1.xml"]


def test_a_header_in_another_case_renames_the_columns_of_its_table(tmp_path: Path) -> None:
    """Programs repair a file whose table has other names than its header's cells."""
    source = foreign(tmp_path / "a.xlsx", SALES, table="A1:B3")
    columns = [["Name", "string"], ["Amount", "integer"]]

    write(source, tmp_path / "b.xlsx", [["c", 3]], Placement("Data", "replace_sheet"), columns)

    table = openpyxl.load_workbook(tmp_path / "b.xlsx")["Data"].tables["Sales"]
    assert table.column_names == ["Name", "Amount"]
    assert plain(tmp_path / "b.xlsx", "Data")[0] == ["Name", "Amount"]


@pytest.mark.parametrize(
    ("table", "totals", "placement", "columns", "reason"),
    [
        (
            "A1:B3",
            0,
            Placement("Data", "replace_sheet"),
            ODD,
            "header of table Sales",
        ),
        ("A1:B3", 0, Placement("Data", "replace_sheet", include_header=False), None, "header"),
        ("A2:B3", 0, Placement("Data", "replace_sheet"), None, "header of table Sales"),
        ("A1:B3", 0, Placement("Data", "write_range", include_header=False), None, "header"),
        ("A1:B3", 0, Placement("Data", "write_range", start_cell="B1"), None, "header"),
        ("A1:B3", 1, Placement("Data", "append_rows"), None, "ends with a row of totals"),
        ("A1:B3", 1, Placement("Data", "write_range"), None, "row of totals"),
        ("A1:B3", 1, Placement("Data", "replace_sheet"), None, "row of totals"),
    ],
)
def test_what_would_break_a_table_is_refused(
    tmp_path: Path, table: str, totals: int, placement: Placement, columns: Any, reason: str
) -> None:
    """The message names the table and what to do; no file is left."""
    cells = SALES if table.startswith("A1") else [["a title"], *SALES[:2]]
    source = foreign(tmp_path / "a.xlsx", cells, table=table, totals=totals)
    rows = [["z", 9], ["y", 8]]

    with pytest.raises(ValidationFailed, match=reason) as refused:
        write(source, tmp_path / "b.xlsx", rows, placement, columns or [[n, None] for n in HEAD])
    assert "into another sheet" in refused.value.message
    assert not (tmp_path / "b.xlsx").exists()


def merged(path: Path, *areas: str) -> Path:
    """Make a workbook whose sheet S has merged areas."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "S"
    sheet["A1"] = "first"
    for area in areas:
        sheet.merge_cells(area)
    book.save(path)
    return path


def test_a_merged_area_in_the_way_is_named(tmp_path: Path) -> None:
    """Rows are not written under it, be there cells or not; replacing the sheet takes it away."""
    source = merged(tmp_path / "a.xlsx", "A3:B3", "D9:E9")
    target = tmp_path / "b.xlsx"
    rows = [["a", 1], ["b", 2]]

    with pytest.raises(ValidationFailed, match="A3:B3"):
        write(source, target, rows, Placement("S", "append_rows"))
    with pytest.raises(ValidationFailed, match="D9:E9"):
        write(source, target, rows, Placement("S", "write_range", start_cell="D8"))
    write(source, target, rows, Placement("S", "replace_sheet"))

    assert not openpyxl.load_workbook(target)["S"].merged_cells.ranges


def test_cells_keep_their_look_unless_a_value_needs_another(tmp_path: Path) -> None:
    """A currency stays one, a fill stays; a date gets a date's format, a number loses it."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for place, code in (("A2", "#,##0.00 [$€]"), ("B2", "dd.mm.yyyy"), ("C2", "General"),
                        ("D2", "General"), ("E2", "dd.mm.yyyy")):  # fmt: skip
        sheet[place].number_format = code
        sheet[place].fill = PatternFill("solid", fgColor="FFEE00")
    sheet["A1"].font = Font(italic=True)
    book.save(tmp_path / "a.xlsx")
    columns = [["Price", "float"], ["Day", "date"], ["Due", "date"], ["Sum", "float"],
               ["Count", "integer"]]  # fmt: skip
    rows = [["1.50", "2024-01-31", "2024-02-01", "2.50", 3]]

    write(tmp_path / "a.xlsx", tmp_path / "b.xlsx", rows, Placement("Sheet", "write_range"),
          columns)  # fmt: skip

    found = openpyxl.load_workbook(tmp_path / "b.xlsx")["Sheet"]
    assert [cell.number_format for cell in found[2]] == [
        "#,##0.00 [$€]", "dd.mm.yyyy", "yyyy-mm-dd", "0.00", "General",
    ]  # fmt: skip
    assert {cell.fill.fgColor.rgb for cell in found[2]} == {"00FFEE00"}
    assert (found["A1"].font.i, found["A1"].font.b, found["B1"].font.b) == (True, False, True)


def test_appended_rows_look_as_their_columns_do(tmp_path: Path) -> None:
    """A column's own style is that of new cells in it."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["name", "amount"])
    sheet.column_dimensions["B"].font = Font(color="FF112233")
    book.save(tmp_path / "a.xlsx")

    write(tmp_path / "a.xlsx", tmp_path / "b.xlsx", [["c", 3]], Placement("Sheet", "append_rows"))

    found = openpyxl.load_workbook(tmp_path / "b.xlsx")["Sheet"]
    assert found["B2"].font.color.rgb == "FF112233"
    assert found["A2"].font.color is None or found["A2"].font.color.rgb != "FF112233"


def with_chartsheet(path: Path) -> Path:
    """Make a workbook that has a sheet of a chart."""
    book = openpyxl.Workbook()
    book.create_chartsheet("Chart")
    book.save(path)
    return path


def test_a_sheet_of_a_chart_has_no_rows(tmp_path: Path) -> None:
    """It is refused by name."""
    source = with_chartsheet(tmp_path / "a.xlsx")

    with pytest.raises(ValidationFailed, match="Chart"):
        write(source, tmp_path / "b.xlsx", [["c", 3]], Placement("Chart", "append_rows"))


def test_a_protected_sheet_is_written_with_a_warning(tmp_path: Path) -> None:
    """Protection keeps people from typing; the file can be written, and the reader is told."""
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.append(["name", "amount"])
    sheet.protection.sheet = True
    book.save(tmp_path / "a.xlsx")

    written = write(tmp_path / "a.xlsx", tmp_path / "b.xlsx", [["c", 3]],
                    Placement("Sheet", "append_rows"))  # fmt: skip

    assert any("protected" in warning for warning in written.warnings)
    assert openpyxl.load_workbook(tmp_path / "b.xlsx")["Sheet"].protection.sheet


def with_parts(path: Path, changes: Callable[[Rewriting], None]) -> Path:
    """Change a workbook's parts in place of another program."""
    changed = path.with_name(f"changed-{path.name}")
    with Package(Source(path, path.name)) as package:
        rewriting = Rewriting(package)
        changes(rewriting)
        rewriting.save(changed)
    return changed


def add_pivot(rewriting: Rewriting) -> None:
    """Give the first sheet a pivot table at E4:F9."""
    part = "xl/pivotTables/pivotTable1.xml"
    text = f'<pivotTableDefinition xmlns="{MAIN}" name="Sums"><location ref="E4:F9"/>'
    rewriting.put(part, f"{text}</pivotTableDefinition>".encode())
    rewriting.relate("xl/worksheets/sheet1.xml", "pivotTable", part)


def prefix_names(rewriting: Rewriting) -> None:
    """Write the first sheet with a prefix before each name, as some programs do."""
    part = "xl/worksheets/sheet1.xml"
    old = rewriting.root(part)
    root = etree.Element(old.tag, nsmap={"x": MAIN})
    root.extend(list(old))
    rewriting.put(part, xml_bytes(root))


def store_results(rewriting: Rewriting) -> None:
    """Give the formulas of the second sheet the results that they have."""
    part = "xl/worksheets/sheet2.xml"
    data = rewriting.read(part)
    for formula, result in ((b"SUM(Data!B2:B50)", b"3"), (b"1+1", b"2")):
        old = b"<f>" + formula + b"</f><v></v>"
        assert old in data
        data = data.replace(old, old.replace(b"<v></v>", b"<v>" + result + b"</v>"))
    rewriting.put(part, data)


@pytest.mark.parametrize(
    "placement",
    [
        Placement("Data", "replace_sheet"),
        Placement("Data", "write_range", start_cell="D3"),
        Placement("Data", "write_range", start_cell="A3", clear_target_range=True),
    ],
)
def test_a_pivot_table_is_not_written_over(tmp_path: Path, placement: Placement) -> None:
    """It is named, with its place; beside it rows may be written."""
    source = with_parts(foreign(tmp_path / "a.xlsx", SALES), add_pivot)

    with pytest.raises(ValidationFailed, match="pivot table Sums stands at E4:F9"):
        write(source, tmp_path / "b.xlsx", [["c", 3]], placement)
    beside = Placement("Data", "write_range", start_cell="E10")
    assert write(source, tmp_path / "b.xlsx", [["c", 3]], beside).written_range == "E10:F11"


def add_cache(source: str, rewriting: Rewriting) -> None:
    """Add names, and the cache of a pivot table with a source."""
    part = "xl/pivotCache/pivotCacheDefinition1.xml"
    text = f'<pivotCacheDefinition xmlns="{MAIN}"><cacheSource type="worksheet">'
    text += f"<worksheetSource {source}/></cacheSource></pivotCacheDefinition>"
    rewriting.put(part, text.encode())
    rewriting.relate("xl/workbook.xml", "pivotCacheDefinition", part)
    book = rewriting.read("xl/workbook.xml").replace(b"<definedNames/>", b"")
    names = f"</sheets><definedNames>{NAMES}</definedNames>"
    rewriting.put("xl/workbook.xml", book.replace(b"</sheets>", names.encode()))


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ('sheet="Data" ref="A1:B4"', "Data!A1:B4"),
        ('sheet="Data" ref="A1:B3"', ""),
        ('name="sales"', "sales"),
        ('name="Whole"', "Whole"),
        ('name="Moving"', "Moving"),
        ('name="Whole" sheet="Other"', ""),
        ('name="Elsewhere"', ""),
        ('name="Nobody"', ""),
        (f'name="Sales" xmlns:r="{RELATED}" r:id="rId1"', ""),
    ],
)
def test_a_pivot_table_that_shows_old_figures_is_told(
    tmp_path: Path, source: str, shown: str
) -> None:
    """Its data may be a range, a table or a name, in this workbook; of others nothing is said."""
    table = foreign(tmp_path / "a.xlsx", SALES, table="A1:B3")
    path = with_parts(table, partial(add_cache, source))

    written = write(path, tmp_path / "b.xlsx", [["c", 3]], Placement("Data", "append_rows"))

    note = [
        f"A pivot table still shows {shown} as it was, from a copy that the file keeps; refresh it."
    ]
    assert [text for text in written.warnings if "pivot" in text] == (note if shown else [])


def test_a_header_that_a_pivot_table_shows_is_told(tmp_path: Path) -> None:
    """The header of a table names the fields of a pivot table over it."""
    table = foreign(tmp_path / "a.xlsx", SALES, table="A1:B3")
    path = with_parts(table, partial(add_cache, 'name="Sales"'))
    columns, only = [["AMOUNT", "integer"]], Placement("Data", "write_range", start_cell="B1")

    written = write(path, tmp_path / "b.xlsx", [], only, columns)

    assert any("still shows Sales as it was" in text for text in written.warnings)


@pytest.mark.parametrize("mode", ["append_rows", "write_range", "replace_sheet"])
def test_names_with_a_prefix_are_written_with_it(tmp_path: Path, mode: Any) -> None:
    """Rows of a prefixed part are read by both libraries, be they new or over cells."""
    source = with_parts(foreign(tmp_path / "a.xlsx", SALES), prefix_names)
    assert b"<x:c " in parts(source)["xl/worksheets/sheet1.xml"]
    columns = [["name", "string"], ["amount", "float"]]

    write(source, tmp_path / "b.xlsx", [["z <&>", "9.50"]], Placement("Data", mode), columns)

    text = parts(tmp_path / "b.xlsx")["xl/worksheets/sheet1.xml"]
    assert b"<c " not in text
    assert ["z <&>", 9.5] in values(tmp_path / "b.xlsx", "Data")
    assert ["z <&>", 9.5] in plain(tmp_path / "b.xlsx", "Data")


def name_the_table(rewriting: Rewriting) -> None:
    """Have a formula add up a column of the table, with a result."""
    part = "xl/worksheets/sheet2.xml"
    old, new = b"<f>SUM(Data!B2:B50)</f><v></v>", b"<f>SUM(Sales[amount])</f><v>3</v>"
    data = rewriting.read(part)
    assert old in data
    rewriting.put(part, data.replace(old, new))


def test_a_result_over_a_table_that_grows_is_not_kept(tmp_path: Path) -> None:
    """The rows below the table were none of its own before; now a sum over it holds them, too."""
    path = foreign(tmp_path / "a.xlsx", SALES, table="A1:B3")
    source = with_parts(path, name_the_table)
    assert openpyxl.load_workbook(source, data_only=True)["Other"]["A1"].value == 3

    write(source, tmp_path / "b.xlsx", [["c", 30]], Placement("Data", "append_rows"))

    assert openpyxl.load_workbook(tmp_path / "b.xlsx", data_only=True)["Other"]["A1"].value is None


def test_a_result_that_the_rows_make_old_is_not_kept(tmp_path: Path) -> None:
    """A sum over them has no result until a program calculates it; another one keeps its own."""
    source = with_parts(foreign(tmp_path / "a.xlsx", SALES), store_results)
    read = openpyxl.load_workbook(source, data_only=True)["Other"]
    assert (read["A1"].value, read["A2"].value) == (3, 2)

    write(source, tmp_path / "b.xlsx", [["c", 30]], Placement("Data", "append_rows"))

    read = openpyxl.load_workbook(tmp_path / "b.xlsx", data_only=True)["Other"]
    assert (read["A1"].value, read["A2"].value) == (None, 2)


@pytest.mark.parametrize("text", ['x r="hello"', 'x r="A1"', 'x r="ZZZZ9"', '<c r="A1"'])
def test_a_text_like_markup_hides_no_changed_cell(tmp_path: Path, text: str) -> None:
    """A row whose text looks like a cell's address makes the same results old as any other."""
    source = with_parts(foreign(tmp_path / "a.xlsx", SALES), store_results)
    columns = [*COLUMNS, ["note", "string"]]

    write(source, tmp_path / "b.xlsx", [["c", 30, text]], Placement("Data", "append_rows"), columns)

    read = openpyxl.load_workbook(tmp_path / "b.xlsx", data_only=True)["Other"]
    assert (read["A1"].value, read["A2"].value) == (None, 2)
    assert values(tmp_path / "b.xlsx", "Data")[-1] == ["c", 30, text]
    data = parts(tmp_path / "b.xlsx")["xl/worksheets/sheet1.xml"]
    assert b'<dimension ref="A1:C4"' in data


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000, "-1", "x"])
def test_a_header_of_a_damaged_text_is_passed_over(tmp_path: Path, number: str) -> None:
    """What names no shared text counts as an empty name, whatever digits it is written with."""

    def damage(rewriting: Rewriting) -> None:
        part = "xl/worksheets/sheet1.xml"
        data = rewriting.read(part)
        old = b't="inlineStr"><is><t>name</t></is>'
        assert old in data
        rewriting.put(part, data.replace(old, f't="s"><v>{number}</v>'.encode()))

    source = with_parts(foreign(tmp_path / "a.xlsx", SALES), damage)

    written = write(source, tmp_path / "b.xlsx", [["c", 3]], Placement("Data", "append_rows"))

    assert written.written_range == "A4:B4"
    assert "sheet's header (, amount)" in written.warnings[0]
