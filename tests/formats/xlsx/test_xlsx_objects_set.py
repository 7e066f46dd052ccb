"""Links, comments, print settings, protection and pivot tables that an edit sets."""

import posixpath
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest
from openpyxl.comments import Comment

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Source
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_xlsx.operations import OPERATIONS
from object_edits import FORMAT, VOCABULARY, differing, edit, entries, made, replaced

SHEET = "xl/worksheets/sheet1.xml"
ALL = ["comments", "hyperlinks", "validations", "conditional_formats"]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The workbook of another program."""
    return made(tmp_path)


def link(cell: str = "A2", **given: Any) -> dict[str, Any]:
    """An operation that links a cell."""
    return {"op": "set_hyperlink", "sheet": "Data", "cell": cell, **given}


def comment(cell: str = "A2", text: str = "Why?", **given: Any) -> dict[str, Any]:
    """An operation that comments a cell."""
    return {"op": "set_comment", "sheet": "Data", "cell": cell, "text": text, **given}


def clear(range_: str, *what: str) -> dict[str, Any]:
    """An operation that takes objects off."""
    return {"op": "clear_objects", "sheet": "Data", "range": range_, "what": list(what or ALL)}


def _fits(sheet: Any) -> bool:
    """Whether a sheet is printed to fit pages."""
    return bool(sheet.sheet_properties.pageSetUpPr.fitToPage)


def printed(**given: Any) -> dict[str, Any]:
    """An operation that sets how a sheet is printed."""
    return {"op": "set_print", "sheet": "my SUMS", **given}


def changes(one: Path, two: Path) -> list[tuple[str, str]]:
    """What the review tells, with its places."""
    found = FORMAT.compare(Source(one, "a"), Source(two, "b"), CompareOptions()).changes
    return sorted((change.what, change.place.title) for change in found)


def test_links_lead_outside_and_within(book: Path) -> None:
    """Addresses are told as what the workbook reaches out to, places in it are not."""
    out = book.with_name("out.xlsx")
    applied = edit(
        book, out, link(target="https://example.org/?a=1&b=2", text="see", tooltip='"x" & y'),
        link("A3", location="#my sums!$A$1"), link("A4", location="B2:C3"),
    )  # fmt: skip

    assert applied.external == ("Data!A2: https://example.org/?a=1&b=2",)
    sheet = openpyxl.load_workbook(out)["Data"]
    found = [sheet[cell].hyperlink for cell in ("A2", "A3", "A4")]
    assert found[0].target == "https://example.org/?a=1&b=2"
    assert found[0].tooltip == '"x" & y'
    assert [each.location for each in found[1:]] == ["'my sums'!A1".replace("my", "My"),
                                                     "Data!B2:C3"]  # fmt: skip
    assert (sheet["A2"].value, sheet["A2"].font.u, sheet["A3"].value) == ("see", "single", "Milk")
    assert ("link", "Data!A2") in changes(book, out)
    again = out.with_name("again.xlsx")
    told = edit(out, again, link(target="mailto:a@b.org"), clear("A4", "hyperlinks"))
    assert "instead of another" in told.changed[0]
    rels = entries(again)["xl/worksheets/_rels/sheet1.xml.rels"]
    assert b"example.org" not in rels
    edit(again, out, clear("A1:A9", "hyperlinks"))
    assert b"hyperlink" not in entries(out)[SHEET]


def test_a_link_that_is_gone_is_no_reach(book: Path) -> None:
    """Later edits are told that it is still there, until one takes it off."""
    out, again = book.with_name("out.xlsx"), book.with_name("again.xlsx")
    told = edit(book, out, link(target="https://x.org/a"), link("A3", target="https://x.org/b"))
    assert told.external == ("Data!A2: https://x.org/a", "Data!A3: https://x.org/b")

    def after(operation: dict[str, Any]) -> tuple[str, ...] | None:
        records = tuple(msgspec.convert([operation], list[VOCABULARY]))
        source = Source(out, "out.xlsx", external=told.external)
        return FORMAT.apply(source, records, again).remaining

    assert after(comment("B1")) == told.external
    assert after(clear("A2", "hyperlinks")) == told.external[1:]
    assert after(link("A3", location="A1")) == told.external[:1]
    assert after(clear("A:A", "hyperlinks")) == ()


def test_a_link_over_a_range_keeps_its_other_cells(book: Path) -> None:
    """What is left of its range leads where it led, and its relation stays."""
    edit(book, book.with_name("a.xlsx"), link("B2", target="https://example.org/"))
    data = entries(book.with_name("a.xlsx"))[SHEET].replace(b'ref="B2"', b'ref="B2:B4"')
    replaced(book.with_name("a.xlsx"), SHEET, data)
    out = book.with_name("out.xlsx")
    edit(book.with_name("a.xlsx"), out, link("B3", location="Data!A1"))
    sheet = openpyxl.load_workbook(out)["Data"]
    assert [sheet[cell].hyperlink.target for cell in ("B2", "B4")] == ["https://example.org/"] * 2
    assert sheet["B3"].hyperlink.location == "Data!A1"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "either a target or a location"),
        ({"target": "javascript:alert(1)"}, "no address"),
        ({"target": "file:///etc/passwd"}, "no address"),
        ({"target": r"\\host\share"}, "no address"),
        ({"target": "https://a b"}, "no address"),
        ({"target": "https://x", "location": "A1"}, "either"),
        ({"location": "Nowhere!A1"}, "no sheet 'Nowhere'"),
        ({"location": "nothing"}, "no place"),
        ({"target": "https://x", "tooltip": "x" * 256}, "255"),
        ({"cell": "A0", "target": "https://x"}, "not a cell"),
    ],
)
def test_links_that_lead_nowhere_are_refused(
    book: Path, given: dict[str, Any], reason: str
) -> None:
    """And those that run or open something on the machine."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(book, book.with_name("out.xlsx"), link(**given))


def test_a_comment_has_its_text_and_its_drawing(book: Path) -> None:
    """Excel shows no comment without the drawing; a second one goes into the same parts."""
    out, again = book.with_name("out.xlsx"), book.with_name("again.xlsx")
    edit(book, out, comment(text="Is it?\nAsk <Eva> & Bob.", author="Ann"))
    edit(out, again, comment("B1", "Head"))

    assert differing(book, out) == {
        "[Content_Types].xml", SHEET, "xl/worksheets/_rels/sheet1.xml.rels", "xl/comments1.xml",
        "xl/drawings/vmlDrawing1.vml",
    }  # fmt: skip
    assert differing(out, again) == {"xl/comments1.xml", "xl/drawings/vmlDrawing1.vml"}
    sheet = openpyxl.load_workbook(again)["Data"]
    assert sheet["A2"].comment.text == "Is it?\nAsk <Eva> & Bob."
    assert (sheet["A2"].comment.author, sheet["B1"].comment.author) == ("Ann", "kbd")
    drawing = entries(again)["xl/drawings/vmlDrawing1.vml"]
    assert drawing.count(b"<v:shape ") == 2
    assert len({part.split(b'"')[0] for part in drawing.split(b'<v:shape id="')[1:]}) == 2
    assert changes(book, again) == [("comment", "Data!A2"), ("comment", "Data!B1")]


def test_comments_of_other_programs_are_replaced_and_taken_off(book: Path) -> None:
    """The shape of a comment stays its own, and goes with it; others stay to the byte."""
    found = openpyxl.load_workbook(book)
    for cell in ("A2", "B3"):
        found["Data"][cell].comment = Comment(f"old of {cell}", "Bob")
    found.save(book)
    (drawing,) = (name for name in entries(book) if name.endswith(".vml"))
    out = book.with_name("out.xlsx")
    told = edit(book, out, comment(text="new"))
    assert told.changed == ("Data!A2: comment instead of another one",)
    assert entries(out)[drawing] == entries(book)[drawing]
    sheet = openpyxl.load_workbook(out)["Data"]
    assert [sheet[cell].comment.text for cell in ("A2", "B3")] == ["new", "old of B3"]

    edit(out, book, clear("A1:A9", "comments"))
    assert b"old of A2" not in b"".join(entries(book).values())
    assert entries(book)[drawing].count(b"ClientData ") == 1
    assert openpyxl.load_workbook(book)["Data"]["A2"].comment is None


def test_the_last_comment_goes_with_its_parts(book: Path) -> None:
    """Neither the names of those who commented nor an empty drawing stay behind."""
    one, out, again = (book.with_name(name) for name in ("one.xlsx", "out.xlsx", "again.xlsx"))
    edit(book, one, comment(author="Secret Ann"), comment("B3", author="Bob"))
    edit(one, out, clear("A2", "comments"))
    assert "xl/comments1.xml" in entries(out)
    edit(out, again, clear("B3", "comments"))
    parts = entries(again)
    assert parts.keys() - entries(book).keys() == {"xl/worksheets/_rels/sheet1.xml.rels"}
    assert b"Bob" not in b"".join(parts.values())
    assert b"vml" not in b"".join((parts[SHEET], parts["xl/worksheets/_rels/sheet1.xml.rels"]))
    assert changes(one, again) == [("comment", "Data!A2"), ("comment", "Data!B3")]
    edit(again, out, comment())
    assert openpyxl.load_workbook(out)["Data"]["A2"].comment.text == "Why?"


def test_a_thread_of_comments_stays(book: Path) -> None:
    """A cell with a thread is refused by name; other cells of the sheet take comments."""
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    with Package(Source(book, book.name)) as package:
        rewriting = Rewriting(package)
        text = f'<ThreadedComments xmlns="{space}"><threadedComment ref="A2" id="{{0}}"/>'
        part = "xl/threadedComments/threadedComment1.xml"
        rewriting.add(part, f"{text}</ThreadedComments>".encode(), "application/xml")
        rewriting.relate(SHEET, kind, part)
        rewriting.save(book.with_name("threads.xlsx"))
    threads, out = book.with_name("threads.xlsx"), book.with_name("out.xlsx")
    for operation in (comment(), clear("A1:A9", "comments")):
        with pytest.raises(ValidationFailed, match="Data!A2 has a thread"):
            edit(threads, out, operation)
    edit(threads, out, comment("B2"))
    with pytest.raises(ValidationFailed, match="is empty"):
        edit(book, out, comment(text=" "))


def test_print_settings(book: Path) -> None:
    """Names and elements are those that programs print by; a second edit keeps the rest."""
    out, again = book.with_name("out.xlsx"), book.with_name("again.xlsx")
    edit(
        book, out,
        printed(area="A1:B9,D1:D9", title_rows="1:2", orientation="landscape", paper="a4",
                fit_to_width=1, margins={"left": 0.25}, center_horizontally=True, gridlines=True),
    )  # fmt: skip
    sheet = openpyxl.load_workbook(out)["My sums"]
    assert sheet.print_area == "'My sums'!$A$1:$B$9,'My sums'!$D$1:$D$9"
    assert sheet.print_title_rows == "$1:$2"
    setup = sheet.page_setup
    assert (setup.orientation, str(setup.paperSize)) == ("landscape", "9")
    assert (setup.fitToWidth, setup.fitToHeight) == (1, 0)
    assert _fits(sheet)
    assert (sheet.page_margins.left, sheet.page_margins.top) == (0.25, 1)
    assert sheet.print_options.horizontalCentered

    edit(out, again, printed(area="", title_columns="A", scale=80, gridlines=False))
    sheet = openpyxl.load_workbook(again)["My sums"]
    assert not sheet.print_area
    assert (sheet.print_title_cols, sheet.print_title_rows) == ("$A:$A", "$1:$2")
    assert (sheet.page_setup.scale, sheet.page_setup.orientation) == (80, "landscape")
    assert not _fits(sheet)
    assert sheet.print_options.horizontalCentered
    told = {what for what, _ in changes(book, out)}
    assert told == {"name", "page"} or told == {"name", "page", "setting"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "nothing to set"),
        ({"title_rows": "A:B"}, "title_rows is as"),
        ({"title_columns": "1:2"}, "title_columns is as"),
        ({"area": "nowhere"}, "not a cell"),
        ({"scale": 50, "fit_to_width": 1}, "exclude"),
    ],
)
def test_print_settings_that_mean_nothing_are_refused(
    book: Path, given: dict[str, Any], reason: str
) -> None:
    """Each with what is wrong."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(book, book.with_name("out.xlsx"), printed(**given))


def test_protection_without_a_password(book: Path) -> None:
    """It is set, changed and lifted; one with a password stays."""
    out, again = book.with_name("out.xlsx"), book.with_name("again.xlsx")
    protect = {"op": "protect_sheet", "sheet": "Data"}
    edit(book, out, {**protect, "allow": ["sort", "auto_filter", "objects"]})
    found = openpyxl.load_workbook(out)["Data"].protection
    assert (found.sheet, found.sort, found.autoFilter, found.formatCells) == (
        True, False, False, True,
    )  # fmt: skip
    assert (found.objects, found.scenarios) == (False, True)
    assert changes(book, out) == [("protection", "Data")]
    edit(out, again, {**protect, "protect": False})
    assert entries(again)[SHEET] == entries(book)[SHEET]

    locked = openpyxl.load_workbook(book)
    locked["Data"].protection.set_password("secret")
    locked.save(book)
    for protects in (True, False):
        with pytest.raises(ValidationFailed, match="password"):
            edit(book, out, {**protect, "protect": protects})


def test_a_pivot_table_is_refreshed_on_opening(book: Path) -> None:
    """A flag of its data is set, and nothing else; unknown names tell the known ones."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cache, pivot = "xl/pivotCache/pivotCacheDefinition1.xml", "xl/pivotTables/pivotTable1.xml"
    with Package(Source(book, book.name)) as package:
        rewriting = Rewriting(package)
        source = '<cacheSource type="worksheet"><worksheetSource sheet="Data" ref="A1:C4"/>'
        text = f'<pivotCacheDefinition xmlns="{main}" a="1">{source}</cacheSource>'
        rewriting.put(cache, f"{text}</pivotCacheDefinition>".encode())
        rewriting.put(pivot, f'<pivotTableDefinition xmlns="{main}" name="By item"/>'.encode())
        rewriting.relate("xl/workbook.xml", "pivotCacheDefinition", cache)
        rewriting.relate("xl/worksheets/sheet2.xml", "pivotTable", pivot)
        rewriting.relate(pivot, "pivotCacheDefinition", cache)
        rewriting.save(book.with_name("pivot.xlsx"))
    path, out = book.with_name("pivot.xlsx"), book.with_name("out.xlsx")
    cost = {"op": "set_range", "sheet": "Data", "start": "B2", "values": [[9]]}
    assert any("pivot table still shows" in text for text in edit(path, out, cost).warnings)
    edit(path, out, {"op": "refresh_pivot", "pivot": "by ITEM"})
    assert differing(path, out) == {cache}
    assert b'a="1" refreshOnLoad="1"><cacheSource' in entries(out)[cache]
    assert edit(out, out.with_name("cost.xlsx"), cost).warnings == ()
    again = edit(out, path, {"op": "refresh_pivot", "pivot": "By item"})
    assert "already" in again.changed[0]
    assert differing(path, out) == set()
    with pytest.raises(ValidationFailed, match="no pivot table 'X'; there are: By item"):
        edit(out, path, {"op": "refresh_pivot", "pivot": "X"})


def test_sheets_that_are_not_there_are_refused(book: Path) -> None:
    """By every operation that names one."""
    for operation in (
        link(target="https://x.org"), comment(), clear("A1"), printed(scale=50),
        {"op": "protect_sheet"}, {"op": "define_name", "name": "n", "refers_to": "1"},
        {"op": "set_data_validation", "range": "A1", "type": "list", "choices": ["a"]},
    ):  # fmt: skip
        with pytest.raises(ValidationFailed, match="no sheet 'Dta'"):
            edit(book, book.with_name("out.xlsx"), {**operation, "sheet": "Dta"})


def test_all_of_it_in_a_new_workbook(tmp_path: Path) -> None:
    """Each sheet that is named is made, and two edits come to the same bytes."""
    operations: list[dict[str, Any]] = [
        {"op": "set_range", "sheet": "Data", "start": "A1", "values": [["a", "b"], [1, 2]]},
        {"op": "add_table", "sheet": "Data", "range": "A1:B2", "name": "T"},
        {"op": "define_name", "name": "Rate", "refers_to": "0.2"},
        link(target="https://x.org"), comment(), printed(scale=50),
        {"op": "set_data_validation", "sheet": "Data", "range": "A2", "type": "list",
         "choices": ["a"]},
        {"op": "set_conditional_format", "sheet": "Data", "range": "B2",
         "rule": {"type": "data_bar"}},
        {"op": "protect_sheet", "sheet": "Data"},
    ]  # fmt: skip
    for name in ("one.xlsx", "two.xlsx"):
        edit(None, tmp_path / name, *operations)
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()
    assert openpyxl.load_workbook(tmp_path / "one.xlsx").sheetnames == ["Data", "my SUMS"]


def test_a_model_sees_what_it_can_set(book: Path) -> None:
    """What is listed of a file's objects has the words of the operations that set them."""
    out = book.with_name("out.xlsx")
    edit(
        book, out, link(target="https://x.org/a"), link("A3", location="My sums!A1"),
        comment(text="Why?", author="Ann"),
        {"op": "set_data_validation", "sheet": "Data", "range": "A2", "type": "list",
         "choices": ["a", 'b "c"']},
        {"op": "set_data_validation", "sheet": "Data", "range": "B2", "type": "text_length",
         "operator": "less_or_equal", "value": 5, "error": "no"},
        {"op": "set_data_validation", "sheet": "Data", "range": "C2", "type": "custom",
         "formula": "=C2>1"},
        printed(area="A1:B2", title_rows="1", orientation="landscape", fit_to_width=1),
        {"op": "add_table", "sheet": "Data", "range": "A1:C4", "name": "T",
         "totals": [{"column": "Cost"}]},
        {"op": "protect_sheet", "sheet": "Data", "allow": ["sort", "format_cells"]},
    )  # fmt: skip
    found = FORMAT.get_styles(Source(out, "out.xlsx"), None)

    assert found["validations"] == [
        {"sheet": "Data", "range": "A2", "type": "list", "choices": ["a", 'b "c"']},
        {"sheet": "Data", "range": "B2", "type": "text_length", "operator": "less_or_equal",
         "values": ["5"], "error": "no"},
        {"sheet": "Data", "range": "C2", "type": "custom", "formula": "=C2>1"},
    ]  # fmt: skip
    assert found["links"] == [
        {"sheet": "Data", "cell": "A2", "target": "https://x.org/a"},
        {"sheet": "Data", "cell": "A3", "location": "'My sums'!A1"},
    ]
    assert found["comments"] == [{"sheet": "Data", "cell": "A2", "text": "Why?", "author": "Ann"}]
    assert found["print_settings"] == [
        {"sheet": "My sums", "orientation": "landscape", "fit_to_width": 1, "fit_to_height": 0,
         "area": "'My sums'!$A$1:$B$2", "titles": "'My sums'!$1:$1"},
    ]  # fmt: skip
    assert found["protection"] == [{"sheet": "Data", "allow": ["format_cells", "sort"]}]
    assert found["tables"] == [
        {"sheet": "Data", "name": "T", "range": "A1:C5", "style": "TableStyleMedium2",
         "has_totals": True},
    ]  # fmt: skip
    assert FORMAT.get_styles(Source(out, "out.xlsx"), "My sums")["links"] == []


def _moved(book: Path, *operations: dict[str, Any]) -> Any:
    """The operations as they are carried over to the book with a row put in above."""
    after = book.with_name("after.xlsx")
    found = openpyxl.load_workbook(book)
    found["Data"].insert_rows(2)
    found["Data"]["A2"] = "new"
    found["My sums"]["B1"] = "=SUM(Data!B3:B5)"
    found.save(after)
    records = tuple(msgspec.convert(list(operations), list[VOCABULARY]))
    return FORMAT.relocate(records, Source(book, "a.xlsx"), Source(after, "b.xlsx"))


def test_operations_are_carried_over_to_shifted_rows(book: Path) -> None:
    """Ranges, cells and formulas are where the rows are then."""
    rule = {"type": "cell_is", "operator": "greater_than", "value": "=B3"}
    found = _moved(
        book,
        {"op": "add_table", "sheet": "Data", "range": "A3:C4", "name": "T"},
        {"op": "define_name", "name": "n", "refers_to": "Data!$B$3"},
        {"op": "set_conditional_format", "sheet": "Data", "range": "B3:B4", "rule": rule},
        {"op": "set_data_validation", "sheet": "Data", "range": "B3, C4", "type": "list",
         "source": "Data!A3:A4"},
        link("A3", location="Data!A4"), comment("A4"), clear("A3:C4"),
        {"op": "set_print", "sheet": "Data", "area": "A3:C4", "title_rows": "1"},
        {"op": "protect_sheet", "sheet": "Data"}, {"op": "refresh_pivot", "pivot": "p"},
        {"op": "delete_name", "name": "n"},
    )  # fmt: skip
    assert found.reason == ""
    told = [
        (each.get("range") or each.get("cell") or each.get("refers_to") or each.get("area") or "")
        for each in found.operations
    ]
    assert told == ["A4:C5", "=Data!$B$4", "B4:B5", "B4, C5", "A4", "A5", "A4:C5", "A4:C5",
                    "", "", ""]  # fmt: skip
    assert found.operations[2]["rule"]["value"] == "=B4"
    assert found.operations[3]["source"] == "Data!A4:A5"
    assert found.operations[4]["location"] == "Data!A5"
    assert found.operations[7]["title_rows"] == "1:1"
    refused = _moved(book, {"op": "resize_table", "table": "T", "range": "A1:C9"})
    assert "table T" in refused.reason


def test_every_operation_is_tried(request: pytest.FixtureRequest) -> None:
    """The tests of objects know each operation on them by its name."""
    texts = "".join(
        Path(posixpath.join(request.path.parent, name)).read_text("utf-8")
        for name in (
            "test_xlsx_objects_set.py", "test_xlsx_rules_set.py", "test_xlsx_tables_made.py",
        )
    )  # fmt: skip
    objects = ("kbd_xlsx.operations.objects", "kbd_xlsx.operations.rules")
    tags = [each.__struct_config__.tag for each in OPERATIONS if each.__module__ in objects]
    assert len(tags) == 12
    assert [tag for tag in tags if f'"{tag}"' not in texts] == []
