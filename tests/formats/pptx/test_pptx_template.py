"""Templates: placeholders of decks filled wherever they stand, rows and bullets repeated."""

import io
import subprocess
from pathlib import Path
from typing import Any

import pptx
import pypdf
import pytest
from PIL import Image
from pptx.util import Inches, Pt

from deck_edits import FORMAT, operations, slides
from deck_judge import DeckFile, changed_parts
from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source


def filling(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the operation with values by name; those of a list are records."""
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    return {
        "op": "fill_template",
        "values": [
            {"name": name, "value": value} for name, value in values.items() if name not in lists
        ],
        "lists": [
            {
                "name": name,
                "columns": list(found[0] if found else "x"),
                "rows": [list(each.values()) for each in found],
            }
            for name, found in lists.items()
        ],
        **more,
    }


def fill(path: Path, values: dict[str, Any], files: tuple[Path, ...] = (), **more: Any) -> Applied:
    """Fill a template into out.pptx."""
    found = {each.name: Source(each, each.name) for each in files}
    target = path.with_name("out.pptx")
    target.unlink(missing_ok=True)
    records = operations(filling(values, **more))
    return FORMAT.apply_with_files(Source(path, path.name), records, target, found)


def result(path: Path, index: int = 0) -> Any:
    """A slide of the result, by python-pptx."""
    return slides(path.with_name("out.pptx"))[index]


def table_of(slide: Any) -> Any:
    """The first table of a slide."""
    return next(shape.table for shape in slide.shapes if shape.has_table)


def texts(table: Any) -> list[list[str]]:
    """The texts of a table, row by row."""
    return [[cell.text for cell in row.cells] for row in table.rows]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A deck with a title, bullets, notes and a group; a table; a place for a picture."""
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    paragraph = slide.shapes.title.text_frame.paragraphs[0]
    for text, bold in (("Report {{mo", True), ("nth", False), ("}} for {{client}}", False)):
        run = paragraph.add_run()
        run.text, run.font.bold = text, bold
    body = slide.placeholders[1].text_frame
    body.text = "Intro"
    for text in ("{{points.text}}: {{points.sum}}", "Outro {{month}}"):
        body.add_paragraph().text = text
    body.paragraphs[1].level = 1
    slide.notes_slide.notes_text_frame.text = "Say {{client}}"
    group = slide.shapes.add_group_shape()
    box = group.shapes.add_textbox(Inches(7), Inches(6), Inches(2), Inches(1))
    box.text_frame.text = "{{client}} inside"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    frame = second.shapes.add_table(3, 2, Inches(1), Inches(1), Inches(6), Inches(1.5))
    for row, cells in enumerate(
        (("Item", "Price"), ("{{items.name}}", "{{items.price}}"), ("Sum", "{{sum}}"))
    ):
        for column, text in enumerate(cells):
            frame.table.cell(row, column).text = text
    run = frame.table.cell(1, 1).text_frame.paragraphs[0].runs[0]
    run.font.italic, run.font.size = True, Pt(20)
    logo = second.shapes.add_textbox(Inches(6), Inches(5), Inches(2), Inches(2))
    logo.name, logo.text_frame.text = "Logo place", " {{logo}} "
    deck.slides.add_slide(deck.slide_layouts[6])
    path = tmp_path / "report.pptx"
    deck.save(str(path))
    return path


@pytest.fixture
def logo(tmp_path: Path) -> Path:
    data = io.BytesIO()
    Image.new("RGB", (40, 20), "navy").save(data, "png")
    path = tmp_path / "logo.png"
    path.write_bytes(data.getvalue())
    return path


ITEMS = [{"name": "A", "price": 3}, {"name": "B {{sum}}", "price": 9.5}, {"name": "C", "price": ""}]
VALUES = {
    "month": "May", "client": "A & B", "sum": 12.5, "items": ITEMS,
    "points": [{"text": "one", "sum": 1}, {"text": "two\nlines", "sum": 2}],
}  # fmt: skip
LOGO = {"pictures": [{"name": "logo", "image": "logo.png"}]}


def test_placeholders_are_filled_wherever_they_stand(report: Path, logo: Path) -> None:
    """Over runs, in groups and notes, with the look of their beginning; bullets are repeated."""
    done = fill(report, VALUES, (logo,), **LOGO)

    slide = result(report)
    runs = slide.shapes.title.text_frame.paragraphs[0].runs
    assert slide.shapes.title.text == "Report May for A & B"
    assert [runs[0].font.bold, runs[-1].font.bold] == [True, False]
    body = slide.placeholders[1].text_frame.paragraphs
    assert [(each.text, each.level) for each in body] == [
        ("Intro", 0), ("one: 1", 1), ("two\vlines: 2", 1), ("Outro May", 0),
    ]  # fmt: skip
    assert slide.notes_slide.notes_text_frame.text == "Say A & B"
    group = next(shape for shape in slide.shapes if shape.shape_type == 6)
    assert [shape.text_frame.text for shape in group.shapes] == ["A & B inside"]
    assert done.changed == ("17 placeholders filled, 5 repeated",)
    changed = changed_parts(DeckFile(report), DeckFile(report.with_name("out.pptx")))[0]
    assert "ppt/slides/slide3.xml" not in changed


def test_a_row_is_repeated_for_each_record(report: Path, logo: Path) -> None:
    """With its look; the frame is as high as its rows, and values are not filled again."""
    fill(report, VALUES, (logo,), **LOGO)

    table = table_of(result(report, 1))
    assert texts(table) == [
        ["Item", "Price"], ["A", "3"], ["B {{sum}}", "9.5"], ["C", ""], ["Sum", "12.5"],
    ]  # fmt: skip
    font = table.cell(2, 1).text_frame.paragraphs[0].runs[0].font
    assert (font.italic, font.size) == (True, Pt(20))
    frame = next(shape for shape in result(report, 1).shapes if shape.has_table)
    assert frame.height == sum(row.height for row in table.rows)


def test_without_records_nothing_is_left(report: Path, logo: Path) -> None:
    """The row and the bullet go; the only paragraph of a shape stays, empty."""
    fill(report, VALUES | {"items": [], "points": []}, (logo,), **LOGO)

    assert texts(table_of(result(report, 1))) == [["Item", "Price"], ["Sum", "12.5"]]
    body = result(report).placeholders[1].text_frame.paragraphs
    assert [each.text for each in body] == ["Intro", "Outro May"]


def test_a_picture_takes_the_place_of_a_shape(report: Path, logo: Path) -> None:
    """In its middle, as large as fits, its proportions kept; not in a longer text."""
    fill(report, VALUES, (logo,), **LOGO)

    shapes = result(report, 1).shapes
    assert "Logo place" not in [shape.name for shape in shapes]
    (picture,) = [shape for shape in shapes if shape.shape_type == 13]
    box = picture.left, picture.top, picture.width, picture.height
    assert box == (Inches(6), Inches(5.5), Inches(2), Inches(1))
    pictures = [{"name": name, "image": "logo.png"} for name in ("client", "logo")]
    with pytest.raises(ValidationFailed, match=r"slide 0.*\{\{client\}\}.*a shape of its own"):
        fill(report, VALUES, (logo,), pictures=pictures)


def test_what_has_no_value_is_named(report: Path) -> None:
    """All of them, unless they may be missing; a merge over a repeated row is refused."""
    with pytest.raises(ValidationFailed, match=r"\{\{client\}\}, \{\{logo\}\}"):
        fill(report, {name: VALUES[name] for name in ("month", "items", "points", "sum")})
    done = fill(report, {"items": ITEMS}, missing="keep")
    assert result(report).notes_slide.notes_text_frame.text == "Say {{client}}"
    assert any("kept" in each for each in done.warnings)
    fill(report, {"items": ITEMS}, missing="blank")
    assert result(report).shapes.title.text == "Report  for "

    deck: Any = pptx.Presentation(str(report))
    table = table_of(deck.slides[1])
    table.cell(0, 0).merge(table.cell(1, 0))
    deck.save(str(report))
    with pytest.raises(ValidationFailed, match="merged cells reach over"):
        fill(report, VALUES)


@pytest.mark.libreoffice
@pytest.mark.full
def test_libreoffice_opens_the_filled_deck(report: Path, logo: Path, tmp_path: Path) -> None:
    """It shows as many slides as the template has, and the figures on them."""
    fill(report, VALUES, (logo,), **LOGO)
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
         "--convert-to", "pdf", "--outdir", tmp_path, tmp_path / "out.pptx"],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    pages = [page.extract_text() for page in pypdf.PdfReader(tmp_path / "out.pdf").pages]
    assert len(pages) == 3
    assert "Report May for A & B" in pages[0]
    assert "9.5" in pages[1]
