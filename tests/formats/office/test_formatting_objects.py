"""One reading of formatting for all formats: what can be understood is taken, the rest is named.

The same objects go through the three handlers, and a library of each format tells what came of
them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

import docx
import msgspec
import openpyxl
import pptx
import pytest
from openpyxl.cell import Cell

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Editable
from kbd_docx import DocxFormat
from kbd_docx.operations import OPERATIONS as DOCUMENT_OPERATIONS
from kbd_pptx import PptxFormat
from kbd_pptx.operations import OPERATIONS as DECK_OPERATIONS
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS as WORKBOOK_OPERATIONS


class Shown(NamedTuple):
    """What a text looks like, by its format's library; None is what nothing was said of."""

    name: str | None
    size: float | None
    bold: bool | None
    color: str | None
    underlined: bool
    alignment: str


def applied(handler: Editable, kinds: Any, operation: dict[str, Any], path: Path) -> Applied:
    """Make a new file by one operation."""
    record = msgspec.convert(operation, Union[kinds])  # noqa: UP007 - built at run time
    return handler.apply(None, (record,), path)


def in_document(path: Path, formatting: dict[str, Any], alignment: Any) -> tuple[Shown, Applied]:
    """Format a run of a new document."""
    runs = [{"text": "x", **formatting}]
    operation = {"op": "append_paragraph", "runs": runs, "alignment": alignment}
    result = applied(DocxFormat(), DOCUMENT_OPERATIONS, operation, path)
    paragraph: Any = docx.Document(str(path)).paragraphs[0]
    return of_library(paragraph.runs[0].font, paragraph, paragraph.runs[0].font.color.rgb), result


def in_deck(path: Path, formatting: dict[str, Any], alignment: Any) -> tuple[Shown, Applied]:
    """Format a run of a slide of a new deck."""
    runs = [{"text": "x", **formatting}]
    operation = {"op": "add_slide", "title_runs": runs, "alignment": alignment}
    result = applied(PptxFormat(), DECK_OPERATIONS, operation, path)
    slides: Any = pptx.Presentation(str(path)).slides
    paragraph = slides[0].shapes.title.text_frame.paragraphs[0]
    font = paragraph.runs[0].font
    color = font.color.rgb if font.color and font.color.type else None
    return of_library(font, paragraph, color), result


def in_workbook(path: Path, formatting: dict[str, Any], alignment: Any) -> tuple[Shown, Applied]:
    """Format a cell of a new workbook."""
    words = {"bold": "font_bold", "underline": "font_underline"}
    style = {words.get(key, key): value for key, value in formatting.items()}
    cells = [{"cell": "A1", "value": "x", "style": {**style, "h_align": alignment}}]
    operation = {"op": "set_cells", "sheet": "S", "cells": cells}
    result = applied(XlsxFormat(), WORKBOOK_OPERATIONS, operation, path)
    cell = openpyxl.load_workbook(path)["S"]["A1"]
    assert isinstance(cell, Cell)
    plain = openpyxl.Workbook()["Sheet"]["A1"].font
    font, color = cell.font, cell.font.color
    return Shown(
        font.name if font.name != plain.name else None,
        font.sz if font.sz != plain.sz else None,
        font.b or None,
        str(color.rgb)[2:] if color is not None and color.type == "rgb" else None,
        bool(font.u),
        cell.alignment.horizontal or "",
    ), result


def of_library(font: Any, paragraph: Any, color: Any) -> Shown:
    """What the libraries of documents and decks tell alike."""
    return Shown(
        font.name,
        font.size.pt if font.size is not None else None,
        font.bold,
        str(color) if color is not None else None,
        bool(font.underline),
        paragraph.alignment.name.lower() if paragraph.alignment is not None else "",
    )


FORMATS = [(in_document, "new.docx"), (in_deck, "new.pptx"), (in_workbook, "new.xlsx")]
each_format = pytest.mark.parametrize(
    ("formatted", "name"), FORMATS, ids=["document", "deck", "workbook"]
)

UNDERSTOOD: Sequence[tuple[dict[str, Any], Any, Shown]] = [
    (
        {"font_size": 14, "font_color": "#FF0000", "bold": True, "font_name": "Georgia"}, "center",
        Shown("Georgia", 14, True, "FF0000", underlined=False, alignment="center"),
    ),
    (
        {"font_size": "14", "font_color": "red", "bold": "true", "font_name": " Georgia "},
        "Centre",
        Shown("Georgia", 14, True, "FF0000", underlined=False, alignment="center"),
    ),
    (
        {"font_size": "14 pt", "font_color": "Dark_Blue", "underline": "Single"}, "end",
        Shown(None, 14, None, "00008B", underlined=True, alignment="right"),
    ),
    (
        {"font_size": "14PT", "colour": "orange", "underline": True}, "RIGHT",
        Shown(None, 14, None, "FFA500", underlined=True, alignment="right"),
    ),
    (
        {"font_size": " 14.5 ", "font_colour": "ff0000", "underline": "double"}, "justified",
        Shown(None, 14.5, None, "FF0000", underlined=True, alignment="justify"),
    ),
    (
        dict.fromkeys(("font_size", "font_color", "bold", "font_name", "underline")), None,
        Shown(None, None, None, None, underlined=False, alignment=""),
    ),
]  # fmt: skip


@pytest.mark.sampled(5)
@each_format
@pytest.mark.parametrize(("formatting", "alignment", "meant"), UNDERSTOOD)
def test_what_can_be_understood_is_taken(
    tmp_path: Path, formatted: Any, name: str, formatting: dict[str, Any], alignment: Any,
    meant: Shown,
) -> None:  # fmt: skip
    """Numbers as text, units, names of colors, spellings and nulls are as good in any format."""
    shown, result = formatted(tmp_path / name, formatting, alignment)

    assert shown == meant
    assert result.warnings == ()


@pytest.mark.sampled(11)
@each_format
@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("font_size", "large", "points from 1 to "), ("font_size", 0, "points from 1 to "),
        pytest.param("font_size", 10**400, "points from 1 to ", id="huge"),
        ("font_size", "nan", "points from 1 to "),
        ("font_size", True, "points from 1 to "), ("font_size", [14], "points from 1 to "),
        ("font_size", "14 mm", "points from 1 to "),
        ("font_color", "reddish", "#RRGGBB or a color's name"),
        ("font_color", "#F00000000", "#RRGGBB or a color's name"),
        ("font_name", "", "the name of a font"), ("font_name", "A\nB", "the name of a font"),
        ("bold", "maybe", "true or false"), ("bold", 1, "true or false"),
        ("underline", "sideways", "true, false or one of "),
    ],
)  # fmt: skip
def test_what_cannot_is_named(
    tmp_path: Path, formatted: Any, name: str, key: str, value: Any, wanted: str
) -> None:
    """A wrong value costs nothing but itself; its warning says what would do."""
    shown, result = formatted(tmp_path / name, {key: value}, "center")

    assert shown == Shown(None, None, None, None, underlined=False, alignment="center")
    (warning,) = result.warnings
    assert f"{key} cannot be " in warning
    assert f"and was skipped; it takes {wanted}" in warning
    assert len(warning) < 400


@each_format
def test_an_unknown_key_is_named(tmp_path: Path, formatted: Any, name: str) -> None:
    """A misspelt key is skipped, and what is right beside it applies."""
    shown, result = formatted(tmp_path / name, {"sparkle": 3, "font_size": 14}, None)

    assert shown.size == 14
    (warning,) = result.warnings
    assert "sparkle is unknown and was skipped; known: font_name, font_size, " in warning


@pytest.mark.parametrize(("formatted", "name"), FORMATS[:2], ids=["document", "deck"])
def test_a_run_has_a_text(tmp_path: Path, formatted: Any, name: str) -> None:
    """What is no run at all is refused with its place."""
    with pytest.raises(ValidationFailed, match=r"runs\[0\] has no text"):
        formatted(tmp_path / name, {"text": 5}, None)


@pytest.mark.parametrize(("key", "unit"), [("columns", "width"), ("rows", "height")])
def test_measures_are_numbers_as_well(tmp_path: Path, key: str, unit: str) -> None:
    """A width and a height may be texts of numbers; what is none is skipped and named."""
    where = {"columns": "column", "rows": "row"}[key]
    given = [{where: {"columns": "B", "rows": 2}[key], unit: "20"},
             {where: {"columns": "C", "rows": 3}[key], unit: "wide"}]  # fmt: skip
    operation = {"op": f"set_{where}_{unit}s", "sheet": "Sheet1", key: given}
    result = applied(XlsxFormat(), WORKBOOK_OPERATIONS, operation, tmp_path / "new.xlsx")

    sheet: Any = openpyxl.load_workbook(tmp_path / "new.xlsx").worksheets[0]
    found = {"columns": sheet.column_dimensions, "rows": sheet.row_dimensions}[key]
    first = found[{"columns": "B", "rows": 2}[key]]
    assert (first.width if key == "columns" else first.height) == 20
    assert len(result.warnings) == 1
    assert "wide" in result.warnings[0]
