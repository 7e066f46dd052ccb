"""Looks, pictures and charts carried into other workbooks, where nothing else changes."""

import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from drawn_books import PICTURE, chart_book, drawn_book, looks_book, repacked
from judging import Edit, compare, faults
from kbd.errors import ValidationFailed
from kbd.formats import Applied, AssetPick, Source
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()


@pytest.fixture
def looks(tmp_path: Path) -> Path:
    """A workbook with looks."""
    looks_book(tmp_path / "looks.xlsx")
    return tmp_path / "looks.xlsx"


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """A workbook with pictures."""
    drawn_book(tmp_path / "drawn.xlsx")
    return tmp_path / "drawn.xlsx"


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A workbook with a chart."""
    chart_book(tmp_path / "chart.xlsx")
    return tmp_path / "chart.xlsx"


def source(path: Path) -> Source:
    """Return a file as a source."""
    return Source(path, path.name)


def copy(
    path: Path, target: Path, *picks: tuple[str, str | None], into: Path | None = None
) -> Applied:
    """Copy assets and check that the result is sound."""
    found = FORMAT.copy_assets(
        source(path),
        source(into) if into else None,
        tuple(AssetPick(asset_id, place) for asset_id, place in picks),
        target,
    )

    assert faults(target) == []
    assert len(picks) == found.applied == len(found.changed)
    return found


def sheet(path: Path, name: str) -> Worksheet:
    """Return a sheet as another library reads it."""
    found = openpyxl.load_workbook(path)[name]
    assert isinstance(found, Worksheet)
    return found


def test_a_look_in_a_new_workbook(looks: Path, tmp_path: Path) -> None:
    """A new workbook has just the sheet of the target, and its cell looks as the one copied."""
    made = tmp_path / "made.xlsx"
    found = copy(looks, made, ("cell_style:Data!A1", "Report!B2"))

    assert found.changed == ("Report!B2: cell_style:Data!A1",)
    assert openpyxl.load_workbook(made).sheetnames == ["Report"]
    cell = sheet(made, "Report")["B2"]
    assert cell.value is None
    assert cell._style.xfId == 0
    assert cell.style_id != 0
    assert (cell.font.b, cell.font.name, cell.font.sz) == (True, "Arial", 14)
    assert cell.fill.fgColor.rgb == "FF2F5496"
    assert (cell.border.bottom.style, cell.border.bottom.color.rgb) == ("double", "FF112233")


def test_a_look_on_a_cell_of_the_same_sheet(looks: Path, tmp_path: Path) -> None:
    """A1 copied to B2 gives B2 its style and changes nothing else in the workbook."""
    made = tmp_path / "made.xlsx"
    copy(looks, made, ("cell_style:Data!A1", "Data!B2"), into=looks)

    assert compare(looks, made, Edit(looks=frozenset({("Data", "B2")}))) == []
    found = sheet(made, "Data")
    assert found["B2"].style_id == found["A1"].style_id != 0


def test_a_look_on_a_range_and_in_its_own_place(looks: Path, tmp_path: Path) -> None:
    """A target may be a range; without a target the cell of the same name is meant."""
    made = tmp_path / "made.xlsx"
    found = copy(looks, made, ("cell_style:Data!A1", "B2:C3"), ("cell_style:'Data'!D1", None))

    assert found.changed == ("Data!B2:C3: cell_style:Data!A1", "Data!D1: cell_style:'Data'!D1")
    cells = sheet(made, "Data")
    assert {cells[name].font.sz for name in ("B2", "C2", "B3", "C3")} == {14}
    assert cells["D1"].number_format == '0.0 "kg"'


def test_colours_of_another_theme_stay_as_they_look(looks: Path, tmp_path: Path) -> None:
    """Where themes differ the colours become RGB; where they are alike they stay the theme's."""
    other, made, like = (tmp_path / name for name in ("other.xlsx", "made.xlsx", "like.xlsx"))
    with zipfile.ZipFile(looks) as package:
        theme = package.read("xl/theme/theme1.xml").replace(b"4F81BD", b"00FF00")
    repacked(looks, other, {"xl/theme/theme1.xml": theme})
    copy(looks, made, ("cell_style:Data!B1", "Data!A9"), into=other)
    copy(looks, like, ("cell_style:Data!B1", "Data!A9"))

    cell = sheet(made, "Data")["A9"]
    # The second accent, C0504D, by 40 % lighter; the first, 4F81BD, by a quarter darker.
    assert cell.fill.fgColor.rgb == "FFD99694"
    assert cell.font.color.rgb == "FF376092"
    assert sheet(like, "Data")["A9"].fill.fgColor.theme == 5
    with zipfile.ZipFile(looks) as old, zipfile.ZipFile(like) as new:
        assert old.read("xl/theme/theme1.xml") == new.read("xl/theme/theme1.xml")


def test_named_styles(looks: Path, tmp_path: Path) -> None:
    """A named style comes with its look and its name, with cells or without."""
    made, again = tmp_path / "made.xlsx", tmp_path / "again.xlsx"
    copy(looks, made, ("named_style:mine", "Report!A1:B1"))
    copy(looks, again, ("named_style:Mine", None), ("cell_style:Data!C1", "Data!C1"))

    for cell in (sheet(made, "Report")["B1"], sheet(again, "Data")["C1"]):
        assert cell.style == "Mine"
        assert (cell.font.name, cell.font.i) == ("Courier New", True)
    with pytest.raises(ValidationFailed, match="no named style 'Yours'"):
        copy(looks, tmp_path / "no.xlsx", ("named_style:Yours", "A1"))


def test_a_named_style_that_differs_is_kept(looks: Path, tmp_path: Path) -> None:
    """A style of the same name is not replaced: the style is refused, a cell's look is told."""
    other = tmp_path / "other.xlsx"
    (styles,) = parts(looks, "styles.xml").values()
    assert b'<sz val="9"' in styles
    repacked(looks, other, {"xl/styles.xml": styles.replace(b'<sz val="9"', b'<sz val="30"')})

    with pytest.raises(ValidationFailed, match="'Mine' that looks different"):
        copy(looks, tmp_path / "no.xlsx", ("named_style:Mine", "Data!A5"), into=other)
    assert not (tmp_path / "no.xlsx").exists()
    made = tmp_path / "made.xlsx"
    found = copy(looks, made, ("cell_style:Data!C1", "Data!A5"), into=other)
    assert "named style Mine looks different" in found.warnings[0]
    assert sheet(made, "Data")["A5"].font.sz == 9


def test_number_formats(looks: Path, tmp_path: Path) -> None:
    """A number format goes to cells and leaves the rest of their look; it needs a target."""
    made = tmp_path / "made.xlsx"
    copy(looks, made, ('number_format:0.0 "kg"', "Data!A1:B1"), into=looks)

    cell = sheet(made, "Data")["A1"]
    assert (cell.number_format, cell.font.b, cell.value) == ('0.0 "kg"', True, 1)
    with pytest.raises(ValidationFailed, match="needs a target"):
        copy(looks, tmp_path / "no.xlsx", ("number_format:0.00", None), into=looks)


def test_column_widths(looks: Path, tmp_path: Path) -> None:
    """The widths of a sheet's columns go to a sheet; other columns keep theirs."""
    made = tmp_path / "made.xlsx"
    copy(looks, made, ("column_widths:data", "Report"))

    found = sheet(made, "Report").column_dimensions
    assert (found["A"].width, found["C"].width) == (31, 7.5)
    assert "B" not in found


def test_conditional_formats(looks: Path, tmp_path: Path) -> None:
    """Rules come with the looks that they give, after the rules that are there already."""
    made, twice = tmp_path / "made.xlsx", tmp_path / "twice.xlsx"
    copy(looks, made, ("conditional_formats:Data", "Report"))
    found = copy(looks, twice, ("conditional_formats:Data", None), into=looks)

    assert found.changed == ("Data: 2 conditional formats",)
    rules = [rule for each in sheet(made, "Report").conditional_formatting for rule in each.rules]
    assert [rule.type for rule in rules] == ["cellIs", "colorScale"]
    assert rules[0].dxf.font.color.rgb == "FFFF0000"
    assert rules[0].dxf.fill.bgColor.rgb == "FFFFFF00"
    priorities = [
        rule.priority for each in sheet(twice, "Data").conditional_formatting for rule in each.rules
    ]
    assert sorted(priorities) == [1, 2, 3, 4]


def test_rules_of_the_extended_kind_are_refused(looks: Path, tmp_path: Path) -> None:
    """Rules whose better half is in an extension would lose it, and are refused."""
    other = tmp_path / "other.xlsx"
    with zipfile.ZipFile(looks) as package:
        part = package.read("xl/worksheets/sheet1.xml")
    rules = (
        b'<extLst><ext uri="{78C0D931-6437-407d-A8EE-F0AAD7539E65}" '
        b'xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main">'
        b"<x14:conditionalFormattings><x14:conditionalFormatting/></x14:conditionalFormattings>"
        b"</ext></extLst></worksheet>"
    )
    repacked(looks, other, {"xl/worksheets/sheet1.xml": part.replace(b"</worksheet>", rules)})

    with pytest.raises(ValidationFailed, match="extended kind"):
        copy(other, tmp_path / "no.xlsx", ("conditional_formats:Data", "Report"))


def charts(found: Any) -> list[Any]:
    """Return the charts that another library finds on a sheet."""
    return list(found._charts)


def parts(path: Path, pattern: str) -> dict[str, bytes]:
    """Return the parts whose names fit a pattern."""
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist() if re.search(pattern, name)}


def anchors(path: Path) -> str:
    """Return the only drawing's XML without blanks between elements."""
    (drawing,) = parts(path, r"drawings/drawing\d+\.xml$").values()
    return re.sub(r">\s+<", "><", drawing.decode())


def test_a_picture_in_its_place(drawn: Path, tmp_path: Path) -> None:
    """A picture comes with its bytes, its anchor and its link; the type of its part is known."""
    made = tmp_path / "made.xlsx"
    found = copy(drawn, made, ("image:Data/Logo", None))

    assert found.changed == ("Data!B3:D6: image Data/Logo",)
    assert list(parts(made, "media/").values()) == [PICTURE]
    assert "<xdr:from><xdr:col>1</xdr:col><xdr:colOff>9</xdr:colOff>" in anchors(made)
    assert 'editAs="oneCell"' in anchors(made)
    assert b"https://example.org/" in parts(made, "drawing1.xml.rels").popitem()[1]
    assert found.external == ()
    assert FORMAT.get_styles(source(made), None)["assets"][0]["asset_id"] == "image:Data/Logo"


def test_a_picture_moved(drawn: Path, tmp_path: Path) -> None:
    """A picture that does not grow with cells keeps its size; another one keeps its cells."""
    made, twin = tmp_path / "made.xlsx", tmp_path / "twin.xlsx"
    found = copy(drawn, made, ("image:Data/Logo", "Report!C10"))
    copy(drawn, twin, ("image:Data/Twin#2", "Report!C10"))

    assert found.changed == ("Report!C10: image Data/Logo",)
    assert "<xdr:oneCellAnchor><xdr:from><xdr:col>2</xdr:col>" in anchors(made)
    assert '<xdr:ext cx="914400" cy="457200"/>' in anchors(made)
    assert "<xdr:to><xdr:col>4</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>12<" in anchors(twin)


@pytest.mark.parametrize(
    "lost",
    [
        "<xdr:from>.*?</xdr:from>",
        r"(?<=</xdr:colOff>)\s*<xdr:row>2</xdr:row>",
        "<xdr:col>1</xdr:col>",
        "<xdr:col>3</xdr:col>",
    ],
)
def test_a_picture_with_a_damaged_place_is_not_moved(
    drawn: Path, tmp_path: Path, lost: str
) -> None:
    """Where a corner lacks its row or column, it is refused instead of stretched or left."""
    part = parts(drawn, "drawing1.xml$").popitem()[1].decode()
    damaged, count = re.subn(lost, "", part, flags=re.DOTALL)
    assert count
    repacked(drawn, tmp_path / "a.xlsx", {"xl/drawings/drawing1.xml": damaged.encode()})

    with pytest.raises(ValidationFailed, match="its place is damaged"):
        copy(tmp_path / "a.xlsx", tmp_path / "no.xlsx", ("image:Data/Twin#2", "Report!C10"))
    assert not (tmp_path / "no.xlsx").exists()


def test_a_picture_beside_others(drawn: Path, chart: Path, tmp_path: Path) -> None:
    """On a sheet with a drawing the picture joins it under a number of its own."""
    made = tmp_path / "made.xlsx"
    copy(drawn, made, ("image:Data/Logo", None), ("image:Data/Logo", "Data!H20"), into=chart)

    numbers = re.findall(r'cNvPr id="(\d+)"', anchors(made))
    assert len(set(numbers)) == len(numbers) == 3
    old, new = parts(chart, r"sheet1\.xml$|chart1\.xml$"), parts(made, r"sheet1\.xml$|chart1\.xml$")
    assert old == new


def test_several_picks_on_one_sheet(drawn: Path, tmp_path: Path) -> None:
    """Widths, a picture and a look that go to one sheet are all there in the end."""
    wide, made = tmp_path / "wide.xlsx", tmp_path / "made.xlsx"
    (part,) = parts(drawn, r"sheet1\.xml$").values()
    cols = b'<cols><col min="1" max="2" width="20" customWidth="1"/></cols><sheetData>'
    repacked(drawn, wide, {"xl/worksheets/sheet1.xml": part.replace(b"<sheetData>", cols)})
    picks = ("column_widths:Data", "image:Data/Logo", "cell_style:Data!A1", "image:Data/Linked")
    found = copy(wide, made, *((pick, "Report!A1" if "!" in pick else "Report") for pick in picks))

    assert sheet(made, "Report").column_dimensions["A"].width == 20
    assert anchors(made).count("<xdr:pic>") == 2
    assert len(found.external) == 1


def test_what_a_picture_reaches_out_to_is_told(drawn: Path, tmp_path: Path) -> None:
    """A picture that is loaded from an address is an external reference of the result."""
    found = copy(drawn, tmp_path / "made.xlsx", ("image:Data/Linked", "Report!A1"))

    assert found.external == ("Report, image Linked: https://example.org/a.png",)


def test_a_chart_in_another_workbook(chart: Path, drawn: Path, tmp_path: Path) -> None:
    """A chart comes whole and keeps its references; what they mean there is told."""
    made, alone = tmp_path / "made.xlsx", tmp_path / "alone.xlsx"
    same = copy(chart, made, ("chart:Data/Chart 1", "Data!K2"), into=chart)
    new = copy(chart, alone, ("chart:Data/Chart 1", "Report!B2"))

    assert same.warnings == ()
    assert len(charts(sheet(made, "Data"))) == 2
    assert parts(chart, "chart1.xml").popitem()[1] == parts(made, "chart2.xml").popitem()[1]
    (found,) = charts(sheet(alone, "Report"))
    assert found.ser[0].val.numRef.f == "'Data'!$B$2:$B$3"
    assert "does not have" in new.warnings[0]
    book = openpyxl.load_workbook(chart)
    book["Data"]["B2"] = 99
    book.save(tmp_path / "changed.xlsx")
    other = copy(
        chart, tmp_path / "o.xlsx", ("chart:Data/Chart 1", "H2"), into=tmp_path / "changed.xlsx"
    )
    assert "is not the same as in the source" in other.warnings[0]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"<chart>", b'<pivotSource><name>P</name><fmtId val="0"/></pivotSource><chart>', "pivot"),
        (b"'Data'!$B$2", b"'[1]Data'!$B$2", "another workbook"),
    ],
)
def test_charts_that_cannot_live_elsewhere(
    chart: Path, tmp_path: Path, old: bytes, new: bytes, reason: str
) -> None:
    """A chart of a pivot table, or of another workbook's cells, is refused by name."""
    other = tmp_path / "other.xlsx"
    part = parts(chart, "chart1.xml").popitem()[1]
    assert old in part
    repacked(chart, other, {"xl/charts/chart1.xml": part.replace(old, new)})

    with pytest.raises(ValidationFailed, match=f"'Data/Chart 1' cannot be copied.*{reason}"):
        copy(other, tmp_path / "no.xlsx", ("chart:Data/Chart 1", "Report!A1"))
    assert not (tmp_path / "no.xlsx").exists()


@pytest.mark.parametrize(
    ("asset_id", "target", "reason"),
    [
        ("nothing:at all", None, "is no asset"),
        ("cell_style:", None, "is no asset"),
        ("cell_style:Data", None, "names no cell"),
        ("cell_style:Nowhere!A1", None, "no sheet 'Nowhere'"),
        ("cell_style:Data!A1", "Reprot!A1", "no sheet 'Reprot'"),
        ("cell_style:Data!A1", "Data!A:A", "no range of cells"),
        ("cell_style:Data!A1", "Data!A1:Z9999", "at most"),
        ("column_widths:Data", None, "no widths"),
        ("conditional_formats:Data", None, "no conditional formats"),
        ("image:Data/Nothing", None, "no image 'Data/Nothing'; there are: Data/Logo"),
        ("image:Data/Inner", None, "part of a group"),
        ("image:Data/Twin", "Data!XFD9", "past the end"),
        ("chart:Data/Logo", None, "no chart"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    drawn: Path, tmp_path: Path, asset_id: str, target: str | None, reason: str
) -> None:
    """A refusal says why, and no file is left; what was fine beside it is not done either."""
    made = tmp_path / "made.xlsx"
    with pytest.raises(ValidationFailed, match=reason):
        copy(drawn, made, ("cell_style:Data!A1", "Data!B9"), (asset_id, target), into=drawn)
    assert not made.exists()
