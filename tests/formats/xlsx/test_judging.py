"""The judge of edits is judged: it finds each kind of loss, and nothing where nothing is lost."""

import re
import subprocess
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.table import Table

from charted_books import edited, entries, months_book
from fixtures import make_slicers
from judging import Edit, Formula, compare, faults
from judging.book import Book
from judging.dependents import affected
from judging.places import name, place

FIXTURES = Path(__file__).parent / "fixtures"
SLICERS = sorted(FIXTURES.glob("*.xlsx"))


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook with a bit of everything that openpyxl can write, and stored results."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    sheet = book.create_sheet("Data")
    for row in (("Item", "Price", "Count"), ("Pen", 1.5, 4), ("Cup", 3, 2), ("Hat", 12, 1)):
        sheet.append(row)
    sheet["E1"], sheet["E2"], sheet["E3"] = "=B2*C2", "=SUM(B:B)", "=Total*2"
    sheet["F1"] = "=SUM(Goods[Price])"
    sheet["G1"] = ArrayFormula("G1:G2", "=B2:B3*2")
    sheet["A2"].font = Font(bold=True, color="FF0000")
    sheet["B2"].number_format = "0.00"
    sheet["A8"], sheet["A9"] = "https://example.org/", "merged"
    sheet["A8"].hyperlink = "https://example.org/"
    sheet.merge_cells("A9:C9")
    sheet["C2"].comment = Comment("Check this", "Ann")
    sheet.column_dimensions["A"].width = 23
    sheet.row_dimensions[3].height = 30
    sheet.row_dimensions[4].hidden = True
    sheet.freeze_panes = "B2"
    sheet.add_table(Table(displayName="Goods", ref="A1:C4"))
    red = PatternFill("solid", bgColor="FF0000")
    sheet.conditional_formatting.add("B2:B4", CellIsRule("greaterThan", ["2"], fill=red))  # type: ignore[no-untyped-call]
    rule = DataValidation("list", formula1='"a,b"')
    rule.add("D2")
    sheet.add_data_validation(rule)
    sheet.print_options.gridLines = True
    chart = BarChart()
    chart.title = "Prices"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "I2")
    book.defined_names["Total"] = DefinedName("Total", attr_text="Data!$E$1")
    other = book.create_sheet("Other")
    other["A1"], other["A2"], other["A3"] = "=Data!E2+1", "=A1", '=INDIRECT("Data!B2")'
    other["A4"] = 5
    other.sheet_state = "hidden"
    book.create_sheet("Last")["B2"] = "=SUM(Data:Other!B3)"
    path = tmp_path_factory.mktemp("rich") / "rich.xlsx"
    book.save(path)
    results = [(rb"</f><v ?/>", b"</f><v>7</v>"), (rb"</f><v></v>", b"</f><v>7</v>")]
    for number in (1, 2, 3):
        for pattern, text in results:
            change(path, path, f"xl/worksheets/sheet{number}.xml", pattern, text, at_least=0)
    return path


def change(
    source: Path, target: Path, part: str, pattern: bytes, text: bytes | None, at_least: int = 1
) -> None:
    """Copy a package with something replaced in a part; with None for the text the part is gone."""
    with zipfile.ZipFile(source) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    assert part in parts
    if text is None:
        del parts[part]
    else:
        parts[part], count = re.subn(pattern, text, parts[part], flags=re.DOTALL)
        assert count >= at_least, (part, pattern)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in parts.items():
            archive.writestr(entry, data)


SHEET = "xl/worksheets/sheet1.xml"
BOOK = "xl/workbook.xml"

LOSSES = [
    ("stored result lost", SHEET, rb'(r="E2".*?)<v>7</v>', rb"\1<v/>"),
    ("stored result changed", SHEET, rb'(r="E2".*?)<v>7</v>', rb"\1<v>8</v>"),
    ("cell value", SHEET, rb"<v>1.5</v>", b"<v>1.6</v>"),
    ("cell value", SHEET, rb'<c r="B4"[^>]*>.*?</c>', b""),
    ("cell value", SHEET, rb"Pen", b"Pan"),
    ("cell value", SHEET, rb"</row></sheetData>", b'<c r="Z9"><v>1</v></c></row></sheetData>'),
    ("formula", SHEET, rb"<f>B2\*C2</f>", b"<f>B2*C3</f>"),
    ("formula", SHEET, rb"<f>B2\*C2</f>", b""),
    ("formula or cell metadata", SHEET, rb'ref="G1:G2"', b'ref="G1:G3"'),
    ("look: font", "xl/styles.xml", rb"<b val=\"1\" ?/>", b""),
    ("look: number format", SHEET, rb'(r="B2") s="\d+"', rb"\1"),
    ("column width", SHEET, rb'width="23"', b'width="24"'),
    ("row ht", SHEET, rb'ht="30"', b'ht="31"'),
    ("row hidden", SHEET, rb' hidden="1"', b""),
    ("sheetViews", SHEET, rb"<pane [^>]*>", b""),
    ("merges", SHEET, rb"<mergeCells.*?</mergeCells>", b""),
    ("conditionalFormatting", SHEET, rb"<conditionalFormatting.*</conditionalFormatting>", b""),
    ("conditionalFormatting", "xl/styles.xml", rb"<dxf>.*</dxf>", b"<dxf/>"),
    ("dataValidations", SHEET, rb'sqref="D2"', b'sqref="D3"'),
    ("hyperlinks", SHEET, rb"<hyperlinks>.*</hyperlinks>", b""),
    ("hyperlinks", "xl/worksheets/_rels/sheet1.xml.rels", rb"example.org", b"example.com"),
    ("printOptions", SHEET, rb"<printOptions[^>]*>", b""),
    ("comment", "xl/comments/comment1.xml", rb"Check", b"Chuck"),
    ("content", "xl/charts/chart1.xml", rb"Prices", b"Costs"),
    ("content", "xl/charts/chart1.xml", rb"<legend>.*</legend>", b""),
    ("content", "xl/drawings/drawing1.xml", rb"<(xdr:)?row>1</", rb"<\1row>2</"),
    ("link lost", SHEET, rb"<drawing [^>]*>", b""),
    ("table", "xl/tables/table1.xml", rb'name="Count"', b'name="Sum"'),
    ("table header unlike its columns", "xl/tables/table1.xml", rb'name="Count"', b'name="Sum"'),
    ("table", "xl/tables/table1.xml", rb'ref="A1:C4"', b'ref="A1:C3"'),
    ("defined name", BOOK, rb"<definedName .*?</definedName>", b""),
    ("defined name", BOOK, rb"\$E\$1", b"$E$2"),
    ("sheets", BOOK, rb'state="hidden"', b'state="visible"'),
    ("sheets", BOOK, rb'name="Other"', b'name="Others"'),
    ("fault", SHEET, rb'(<c r="A2"[^>]*?) s="\d+"', rb'\1 s="999"'),
    ("fault", SHEET, rb'<row r="3"', b'<row r="2"'),
    ("fault", SHEET, rb'<c r="B3"', b'<c r="A3"'),
    ("fault", SHEET, rb'<dimension ref="[^"]*"', b'<dimension ref="A1:B2"'),
    ("fault", SHEET, rb"</worksheet>", b"</worksheets>"),
    ("content type", "[Content_Types].xml", rb"<Override [^>]*chart1.xml[^>]*>", b""),
    ("fault", "xl/charts/chart1.xml", b"", None),
    ("fault", "xl/styles.xml", rb'<cellXfs count="\d+"', b'<cellXfs count="77"'),
    ("fault", "xl/worksheets/_rels/sheet1.xml.rels", rb"<Relationship .*/>", b""),
]  # fmt: skip


@pytest.mark.sampled(11)
@pytest.mark.parametrize(("kind", "part", "pattern", "text"), LOSSES)
def test_each_loss_is_found(
    rich: Path, tmp_path: Path, kind: str, part: str, pattern: bytes, text: bytes | None
) -> None:
    """What is taken from a workbook or changed in it by hand is told, by its kind, as material."""
    damaged = tmp_path / "damaged.xlsx"
    change(rich, damaged, part, pattern, text)

    found = compare(rich, damaged)

    assert kind in {difference.kind for difference in found if difference.material}, found


@pytest.mark.parametrize("path", SLICERS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_slicers_lost_by_a_library_are_found(path: Path, tmp_path: Path) -> None:
    """A library that cannot keep slicers and timelines drops them: part, cache, list and frame."""
    saved = tmp_path / "saved.xlsx"
    openpyxl.load_workbook(path).save(saved)

    kinds = [(found.kind, found.place) for found in compare(path, saved) if found.material]

    lost = {place.split(" > ")[-1] for kind, place in kinds if kind == "part lost"}
    wanted = {"slicer", "slicerCache", "drawing"}
    assert wanted | ({"timeline", "timelineCache"} if "timeline" in path.stem else set()) == lost
    assert any(kind == "extension lost" and "workbook" in place for kind, place in kinds)
    assert any(kind == "extension lost" and "workbook" not in place for kind, place in kinds)


def test_nothing_is_found_where_nothing_is_lost(rich: Path) -> None:
    """A file differs from itself in nothing and has no fault, slicers and timelines included."""
    assert SLICERS
    for path in (rich, *SLICERS):
        assert faults(path) == []
        assert compare(path, path) == []


Rewrite = Callable[[str, bytes], tuple[str, bytes]]
"""(name, data) -> the name and data that take their place."""


def rewritten(source: Path, target: Path, rewrite: Rewrite) -> None:
    """Copy a package with names and parts written in another way."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            part, data = rewrite(entry.filename, old.read(entry))
            info = zipfile.ZipInfo("placeholder")
            # The name is set afterwards: ZipInfo would turn "\\" into "/".
            info.filename = part
            new.writestr(info, data)


def _prefixed(part: str, data: bytes) -> tuple[str, bytes]:
    if not part.startswith("xl/worksheets/sheet"):
        return part, data
    data = re.sub(rb"<(/?)([A-Za-z]+)(?=[\s/>])", rb"<\1x:\2", data)
    return part, data.replace(b'xmlns="http', b'xmlns:x="http', 1)


def _unnumbered(part: str, data: bytes) -> tuple[str, bytes]:
    return part, re.sub(rb'<row r="1"', b"<row", data) if part == SHEET else data


def _strict(part: str, data: bytes) -> tuple[str, bytes]:
    home = b"http://schemas.openxmlformats.org/"
    data = data.replace(
        home + b"officeDocument/2006/", b"http://purl.oclc.org/ooxml/officeDocument/"
    )
    return part, data.replace(
        home + b"spreadsheetml/2006/main", b"http://purl.oclc.org/ooxml/spreadsheetml/main"
    )


def _utf16(part: str, data: bytes) -> tuple[str, bytes]:
    if not part.startswith("xl/worksheets/sheet"):
        return part, data
    return part, b'<?xml version="1.0" encoding="UTF-16"?>'.decode().encode("utf-16") + data.split(
        b"?>", 1
    )[-1].decode().encode("utf-16-le")


def _backslashes(part: str, data: bytes) -> tuple[str, bytes]:
    return part.replace("/", "\\"), data


def _shared(part: str, data: bytes) -> tuple[str, bytes]:
    """The texts of the first sheet as shared strings, in a part that takes the place of another."""
    texts = (b"Item", b"Price", b"Count", b"Pen", b"Cup", b"Hat")
    if part == SHEET:
        for number, text in enumerate(texts):
            old = b't="inlineStr"><is><t>%b</t></is>' % text
            assert old in data
            data = data.replace(old, b't="s"><v>%d</v>' % number)
    if part == "docProps/app.xml":
        items = b"".join(b"<si><t>%b</t></si>" % text for text in texts)
        return "xl/sharedStrings.xml", b"<sst>" + items + b"</sst>"
    if part == "xl/_rels/workbook.xml.rels":
        link = b'<Relationship Id="s" Type="x/sharedStrings" Target="sharedStrings.xml"/>'
        data = data.replace(b"</Relationships>", link + b"</Relationships>")
    return part, data.replace(b"docProps/app.xml", b"xl/sharedStrings.xml")


@pytest.mark.parametrize("way", [_prefixed, _unnumbered, _strict, _utf16, _backslashes, _shared])
def test_ways_of_writing_do_not_count(rich: Path, tmp_path: Path, way: Rewrite) -> None:
    """Prefixes, missing numbers, the strict form, encodings and back slashes change nothing."""
    other = tmp_path / "other.xlsx"
    rewritten(rich, other, way)
    assert other.read_bytes() != rich.read_bytes()

    assert [found for found in compare(rich, other) if found.material] == []
    assert [found for found in compare(other, rich) if found.material] == []


def _affected(path: Path, *cells: tuple[str, str]) -> tuple[set[str], set[str]]:
    book = Book(path)
    found = affected(book, [(sheet, place(cell)) for sheet, cell in cells])
    book.close()
    return tuple({f"{sheet}!{name(at)}" for sheet, at in spots} for spots in found)  # type: ignore[return-value]


def test_dependents(rich: Path) -> None:
    """They are found over chains, sheets, names, tables, whole columns, arrays and 3D ranges."""
    may, must = _affected(rich, ("data", "B2"))

    assert {"data!E1", "data!E2", "data!E3", "data!F1", "data!G1", "data!G2"} <= must
    assert {"other!A1", "other!A2"} <= must
    assert "last!B2" not in may
    assert "other!A3" in may - must

    may, must = _affected(rich, ("other", "B3"))
    assert must == {"last!B2"}


def test_an_edit_is_judged_by_what_it_means(rich: Path, tmp_path: Path) -> None:
    """Cells as meant and dependents without results are no difference; old results are one."""
    target = tmp_path / "edited.xlsx"
    change(rich, target, SHEET, rb"<v>12</v>", b"<v>13</v>")
    edit = Edit({("Data", "B4"): 13})
    stale = {found.place for found in compare(rich, target, edit) if found.kind == "stale result"}
    assert stale == {"Data!E2", "Data!F1", "Other!A1", "Other!A2"}

    for number in (1, 2):
        part = f"xl/worksheets/sheet{number}.xml"
        pattern = rb'(<c r="(?:E2|F1|A1|A2)"[^>]*>\s*<f>[^<]*</f>)<v>7</v>'
        change(target, target, part, pattern, rb"\1")
    assert [found for found in compare(rich, target, edit) if found.material] == []

    for wrong in (14, "13", True, None, Formula("13")):
        kinds = [found.kind for found in compare(rich, target, Edit({("Data", "B4"): wrong}))]
        assert "cell not as meant" in kinds, wrong


def test_slicer_fixtures_are_made_the_same_each_time(tmp_path: Path) -> None:
    """The kept workbooks are what their maker makes, to the byte."""
    make_slicers.write(tmp_path / "table_slicer.xlsx", make_slicers.make_table_workbook())
    made = make_slicers.make_pivot_workbook()
    make_slicers.write(tmp_path / "pivot_slicer_timeline.xlsx", made)

    assert len(SLICERS) == 2
    for path in SLICERS:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.full
@pytest.mark.libreoffice
def test_slicer_fixtures_open(tmp_path: Path) -> None:
    """LibreOffice opens them and shows their cells; openpyxl does as well.

    For `make test` it is enough that they are what they were, to the byte.
    """
    profile = (tmp_path / "profile").as_uri()
    subprocess.run(
        ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "csv",
         "--outdir", tmp_path, *SLICERS],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip

    for path in SLICERS:
        shown = (tmp_path / f"{path.stem}.csv").read_text("utf-8").splitlines()
        assert shown[0].startswith("Region,Date,Amount")
        assert "262.25" in shown[8]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = openpyxl.load_workbook(path, data_only=True)
        assert read["Data"]["E9"].value == 262.25


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("sheetjs__threaded_comments_none.xlsx", {"threadedComment"}),
        ("closedxml__FileWithButton.xlsm", {"ctrlProp"}),
        ("openxmlsdk__QueryTable.xlsx", {"connections", "queryTable"}),
        ("xlsxwriter__embed_image03.xlsx", {"sheetMetadata"}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_losses_of_a_library_are_found(
    corpora: Path, tmp_path: Path, name: str, lost: set[str]
) -> None:
    """What openpyxl is known to drop from real files is told."""
    saved = tmp_path / "saved.xlsx"
    openpyxl.load_workbook(corpora / "xlsx_rare" / name).save(saved)

    found = compare(corpora / "xlsx_rare" / name, saved)

    assert lost <= {x.place.split(" > ")[-1] for x in found if x.kind == "part lost" and x.material}


def test_points_that_no_cell_holds_are_found(tmp_path: Path) -> None:
    """A chart that keeps a value otherwise than its cell has it is a material difference."""
    book = months_book(tmp_path / "book.xlsx")
    chart = {"op": "add_chart", "sheet": "Other", "type": "bar", "series": [{"values": "B2:B4"}]}
    edited(book, chart, to="charted.xlsx")
    charted, wrong = tmp_path / "charted.xlsx", tmp_path / "wrong.xlsx"
    with zipfile.ZipFile(wrong, "w") as archive:
        for name, data in entries(charted).items():
            archive.writestr(name, data.replace(b"<c:v>4.5</c:v>", b"<c:v>5.5</c:v>"))

    assert compare(charted, charted) == []
    found = compare(charted, wrong)
    assert {(each.kind, each.material) for each in found} == {("points", True)}
