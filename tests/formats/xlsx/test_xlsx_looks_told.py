"""What get_styles tells of a workbook, and that all it lists can be taken."""

import json
import random
import shutil
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest
from openpyxl.styles import Font, PatternFill

from drawn_books import chart_book, drawn_book, looks_book, repacked
from judging import faults
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import AssetPick, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.parts.formatting import read_cell_formatting
from real_workbooks import real_workbooks

FORMAT = XlsxFormat()
SAMPLE_SEED = 29
SAMPLE_SIZE = 40


@pytest.fixture
def looks(tmp_path: Path) -> Path:
    """A workbook with looks."""
    looks_book(tmp_path / "looks.xlsx")
    return tmp_path / "looks.xlsx"


def told(path: Path, sheet: str | None = None) -> dict[str, Any]:
    """Return what is told of a workbook, as it crosses to other processes."""
    found = FORMAT.get_styles(Source(path, path.name), sheet)

    assert json.loads(msgspec.json.encode(found)) == found
    return found


def test_looks_are_told_in_the_words_of_operations(looks: Path) -> None:
    """Each look in use is a style object that an operation takes as it is."""
    formats = {entry["ranges"][0]: entry for entry in told(looks)["cell_formats"]}

    assert formats["A1"]["style"] == {
        "font_name": "Arial",
        "font_size": 14,
        "font_color": "FFFFFF",
        "font_bold": True,
        "fill_color": "2F5496",
        "border_bottom": {"style": "double", "color": "112233"},
    }
    assert formats["B1"]["style"]["fill_color"] == "D99694"
    assert formats["B1"]["theme_colors"] == {
        "font_color": "accent1 -25%",
        "fill_color": "accent2 +40%",
    }
    assert formats["C1"]["named_style"] == "Mine"
    assert formats["D1"]["style"]["number_format"] == '0.0 "kg"'
    for entry in formats.values():
        assert read_cell_formatting(entry["style"])[1] == ()


def test_the_rest_of_a_workbook(looks: Path) -> None:
    """Named styles, rules with their looks, widths, what stays in view, the theme."""
    found = told(looks, "data")

    assert found["sheets"] == ["Data"]
    assert [entry["name"] for entry in found["named_styles"]] == ["Normal", "Mine"]
    assert found["named_styles"][1]["style"]["font_italic"] is True
    over, scale = found["conditional_formats"]
    assert (over["ranges"], over["type"], over["operator"]) == ("A2:A9", "cellIs", "greaterThan")
    assert (over["formulas"], over["priority"]) == (["10"], 1)
    assert over["style"] == {"font_color": "FF0000", "fill_color": "FFFF00"}
    assert (scale["points"], scale["colors"]) == (["min", "max"], ["00FF00", "0000FF"])
    assert found["column_widths"] == [
        {"sheet": "Data", "columns": "A", "width": 31},
        {"sheet": "Data", "columns": "C", "width": 7.5},
    ]
    assert found["frozen"] == [{"sheet": "Data", "row": 1, "column": 1}]
    assert found["theme"]["fonts"] == {"headings": "Cambria", "body": "Calibri"}
    assert found["theme"]["colors"]["accent1"] == "4F81BD"
    assert found["left_out"] == []
    with pytest.raises(ValidationFailed, match="no sheet"):
        told(looks, "Nowhere")


@pytest.mark.parametrize("size", ["nan", "inf", "1e999", "x", ""])
def test_a_damaged_size_is_left_out(looks: Path, tmp_path: Path, size: str) -> None:
    """A font whose size is none keeps the rest of its look."""
    with zipfile.ZipFile(looks) as package:
        styles = package.read("xl/styles.xml")
    assert b'<sz val="14"' in styles
    damaged = styles.replace(b'<sz val="14"', f'<sz val="{size}"'.encode())
    repacked(looks, tmp_path / "a.xlsx", {"xl/styles.xml": damaged})

    formats = {entry["ranges"][0]: entry for entry in told(tmp_path / "a.xlsx")["cell_formats"]}

    assert formats["A1"]["style"]["font_size"] is None
    assert formats["A1"]["style"]["font_name"] == "Arial"


def test_equal_cells_are_ranges(tmp_path: Path) -> None:
    """Neighbours of one look are one range, whole columns too; a sample cell has the look."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    bold = Font(b=True)
    for row in range(1, 5):
        for column in range(1, 4):
            sheet.cell(row, column, 1).font = bold
    sheet["B3"].font = Font(i=True)
    sheet.column_dimensions["F"].fill = PatternFill("solid", fgColor="FF00FF00")
    book.save(tmp_path / "a.xlsx")
    formats = told(tmp_path / "a.xlsx")["cell_formats"]

    assert [(entry["ranges"], entry["cells"]) for entry in formats] == [
        (["A1:C2", "A3", "C3", "A4:C4"], 11),
        (["B3"], 1),
        (["F:F"], 0),
    ]
    assert formats[2]["asset_id"] == "cell_style:Sheet!F1048576"


def test_an_answer_is_bounded(tmp_path: Path) -> None:
    """Of a workbook with thousands of looks the most frequent are told, and how many more."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for number in range(1, 1001):
        sheet.cell(number, 1, number).font = Font(sz=number % 200 + 1, b=number > 400)
        sheet.row_dimensions[number].height = number % 7 + 10
    book.save(tmp_path / "a.xlsx")
    found = told(tmp_path / "a.xlsx")

    assert len(found["cell_formats"]) == 60
    assert "cell_formats: 340 more" in found["left_out"]
    assert len(found["row_heights"]) == 60
    assert len(json.dumps(found)) < 40_000


def test_pictures_and_charts_are_assets(tmp_path: Path) -> None:
    """What stands alone can be copied and is listed once each; what does not is told."""
    drawn_book(tmp_path / "a.xlsx")
    found = told(tmp_path / "a.xlsx")

    images = [each["name"] for each in found["assets"] if each["kind"] == "image"]
    assert images == ["Data/Logo", "Data/Linked", "Data/Twin", "Data/Twin#2"]
    assert [each["range"] for each in found["assets"][:1]] == ["B3:D6"]
    assert found["left_out"] == ["assets: image:Data/Inner, which is part of a group of shapes"]


def test_styles_of_an_unknown_form_are_told_as_such(looks: Path, tmp_path: Path) -> None:
    """Where styles cannot be understood the rest is told."""
    draft = b'<styleSheet xmlns="http://schemas.microsoft.com/office/excel/2005/8/styles"/>'
    repacked(looks, tmp_path / "a.xlsx", {"xl/styles.xml": draft})
    found = told(tmp_path / "a.xlsx")

    assert found["cell_formats"] == []
    assert found["left_out"] == ["cell_formats: the styles are of an unknown form"]
    assert found["column_widths"]


def test_a_large_sheet_is_read_as_a_stream(tmp_path: Path) -> None:
    """A sheet of 50,000 equal cells is one range."""
    looks_book(tmp_path / "looks.xlsx")
    cells = "".join(f'<c r="{letter}{{0}}" s="1"><v>1</v></c>' for letter in "ABCDEFGHIJ")
    rows = "".join(f'<row r="{row}">{cells.format(row)}</row>' for row in range(1, 5_001))
    with zipfile.ZipFile(tmp_path / "looks.xlsx") as package:
        part = package.read("xl/worksheets/sheet1.xml").decode()
    head, _, rest = part.partition("<sheetData>")
    tail = rest.partition("</sheetData>")[2]
    part = f"{head}<sheetData>{rows}</sheetData>{tail}"
    repacked(
        tmp_path / "looks.xlsx", tmp_path / "a.xlsx", {"xl/worksheets/sheet1.xml": part.encode()}
    )
    found = told(tmp_path / "a.xlsx")

    assert [(entry["ranges"], entry["cells"]) for entry in found["cell_formats"]] == [
        (["A1:J5000"], 50_000)
    ]


def taken(path: Path, folder: Path, most: int) -> tuple[list[str], list[str]]:
    """Copy what a workbook lists into a new one; return what went well, and what was refused."""
    source = Source(path, f"{path.stem}.xlsx")
    try:
        found = FORMAT.get_styles(source, None)
    except KbdError as error:
        return [], [f"{path.name}: {error.message}"]
    done, refused = [], []
    assert len(json.dumps(found)) < 100_000, path.name
    for count, asset in enumerate(found["assets"][:most]):
        target = folder / f"{path.stem}-{count}.xlsx"
        place = "Report!C3" if asset["kind"] != "column_widths" else "Report"
        try:
            FORMAT.copy_assets(source, None, (AssetPick(asset["asset_id"], place),), target)
        except KbdError as error:
            refused.append(f"{path.name}: {asset['asset_id']}: {error.message}")
            continue
        assert faults(target) == [], (path.name, asset["asset_id"])
        done.append(str(target))
    return done, refused


@pytest.mark.corpora
def test_real_files_are_told_and_taken_from(corpora: Path, tmp_path: Path) -> None:
    """A sample: looks are told or a typed error is given, what is listed goes into sound files."""
    chosen = random.Random(SAMPLE_SEED).sample(real_workbooks(corpora), SAMPLE_SIZE)
    results = [taken(path, tmp_path, 3) for path in chosen]

    done = sum(len(files) for files, _ in results)
    refused = [reason for _, reasons in results for reason in reasons]
    assert done > 60
    assert len(refused) <= 0.1 * done, refused


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("every", "fewest"), [(4, 900), pytest.param(1, 4_000, marks=pytest.mark.soak)]
)
def test_all_real_files_are_told_and_taken_from(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], every: int, fewest: int
) -> None:
    """The same over files of the corpora and all that they list; the figures are printed."""
    began = time.process_time()
    results = [taken(path, tmp_path, 200) for path in real_workbooks(corpora)[::every]]

    done = sum(len(files) for files, _ in results)
    refused = [reason for _, reasons in results for reason in reasons]
    with capsys.disabled():
        spent = time.process_time() - began
        counts = f"{done} assets copied, {len(refused)} refused"
        print(f"\n{len(results)} workbooks, {counts}, {spent:.0f} s of the processor")
        print("\n".join(refused[:20]))
    assert done > fewest
    assert len(refused) <= 0.05 * done


@pytest.mark.libreoffice
@pytest.mark.full
def test_libreoffice_opens_what_was_copied(looks: Path, tmp_path: Path) -> None:
    """A workbook with a copied look, picture and chart is converted, and keeps all three."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    drawn_book(tmp_path / "drawn.xlsx")
    chart_book(tmp_path / "chart.xlsx")
    first, made = tmp_path / "first.xlsx", tmp_path / "made.xlsx"
    for old, into, target, asset_id, place in (
        ("looks.xlsx", None, first, "cell_style:Data!A1", "Data!B9"),
        ("chart.xlsx", first, tmp_path / "second.xlsx", "chart:Data/Chart 1", "Data!C12"),
        ("drawn.xlsx", tmp_path / "second.xlsx", made, "image:Data/Logo", "Data!F9"),
    ):
        FORMAT.copy_assets(
            Source(tmp_path / old, old),
            Source(into, "into.xlsx") if into else None,
            (AssetPick(asset_id, place),),
            target,
        )
    subprocess.run(
        [office, f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
         "--convert-to", "ods", "--outdir", str(tmp_path), str(made)],
        check=True, capture_output=True, timeout=170,
    )  # fmt: skip

    with zipfile.ZipFile(tmp_path / "made.ods") as package:
        assert any(name.startswith("Pictures/") for name in package.namelist())
        content = package.read("content.xml").decode()
    assert 'draw:name="Logo"' in content
    assert "<draw:object " in content
    assert "#2f5496" in content
