"""Looks put on paragraphs, on the runs in them, and on cells: only what is given changes."""

from collections.abc import Iterator
from copy import deepcopy

from docx.oxml.parser import OxmlElement
from docx.oxml.text.paragraph import CT_P
from docx.shared import Inches, Pt, RGBColor
from docx.text.font import Font
from docx.text.parfmt import ParagraphFormat
from lxml import etree

from kbd_docx.document import PARAGRAPH, W, blocks
from kbd_docx.edits.formatting import (
    NO_HIGHLIGHT,
    NO_SHADING,
    DocxCellFormatting,
    DocxParagraphFormatting,
    DocxRunFormatting,
)
from kbd_docx.edits.likeness import alike_paragraph, run_properties
from kbd_docx.edits.settings import put_setting, settings_of, take_settings
from kbd_docx.edits.texts import apply_variant

__all__ = [
    "format_cell",
    "format_paragraph",
    "format_run",
    "format_text",
    "make_alike",
    "own_runs",
    "put_style",
]

_RUN = f"{W}r"
_PLAIN, _NO_FORMATTING = DocxRunFormatting(), DocxParagraphFormatting()
_OWN_PARAGRAPH = ("sectPr", "pPrChange", "cnfStyle")
_CHANGES = ("ins", "del", "moveFrom", "moveTo", "rPrChange")


def format_paragraph(
    paragraph: etree._Element, formatting: DocxParagraphFormatting, *, is_strict: bool
) -> None:
    """Put formatting on a paragraph."""
    # The library's setters leave an empty `pPr` even if all they are given is None.
    if formatting == _NO_FORMATTING:
        return
    assert isinstance(paragraph, CT_P), "the library has classes for paragraphs"
    found = ParagraphFormat(paragraph)
    if formatting.alignment is not None:
        found.alignment = formatting.alignment
    if formatting.line_spacing is not None:
        found.line_spacing = formatting.line_spacing
    if formatting.space_before is not None:
        found.space_before = Pt(formatting.space_before)
    if formatting.space_after is not None:
        found.space_after = Pt(formatting.space_after)
    if is_strict:
        # The library reads and writes the usual names of sides alone.
        apply_variant(settings_of(paragraph), is_strict=False)
    if formatting.indent_left is not None:
        found.left_indent = Inches(formatting.indent_left)
    if formatting.indent_right is not None:
        found.right_indent = Inches(formatting.indent_right)
    if formatting.indent_first_line is not None:
        found.first_line_indent = Inches(formatting.indent_first_line)
    if is_strict:
        apply_variant(settings_of(paragraph), is_strict=True)


def format_run(run: etree._Element, formatting: DocxRunFormatting) -> None:
    """Put formatting on a run."""
    if formatting == _PLAIN:
        return
    font = Font(run)  # type: ignore[arg-type] # it is one by its name
    if formatting.font_name is not None:
        font.name = formatting.font_name
    if formatting.font_size is not None:
        # Files hold half points.
        font.size = Pt(round(formatting.font_size * 2) / 2)
    if formatting.bold is not None:
        font.bold = formatting.bold
    if formatting.italic is not None:
        font.italic = formatting.italic
    if formatting.underline is not None:
        font.underline = formatting.underline
    if formatting.font_color is not None:
        font.color.rgb = RGBColor.from_string(formatting.font_color)
    if formatting.highlight_color is NO_HIGHLIGHT:
        take_settings(run.find(f"{W}rPr"), "highlight")
    elif formatting.highlight_color is not None:
        font.highlight_color = formatting.highlight_color


def format_text(paragraph: etree._Element, formatting: DocxRunFormatting) -> None:
    """Put formatting on all text of a paragraph and on its end, as programs do it."""
    if formatting == _PLAIN:
        return
    for run in own_runs(paragraph):
        format_run(run, formatting)
    _format_end(paragraph, formatting)


def own_runs(paragraph: etree._Element) -> Iterator[etree._Element]:
    """Yield the runs of a paragraph, without those of text boxes that are anchored in it."""
    for run in paragraph.iter(_RUN):
        if next(run.iterancestors(PARAGRAPH), None) is paragraph:
            yield run


def _format_end(paragraph: etree._Element, formatting: DocxRunFormatting) -> None:
    """Put formatting on a paragraph's end, by which its number and text to come look."""
    settings = settings_of(paragraph)
    end = settings.find(f"{W}rPr")
    # The library knows the settings of runs only, so that a run lends itself.
    run = OxmlElement("w:r")
    place = put_setting(settings, "rPr") if end is None else end
    parent_index = settings.index(place)
    run.append(place)
    format_run(run, formatting)
    settings.insert(parent_index, place)


def make_alike(paragraph: etree._Element, model: etree._Element) -> None:
    """Make a paragraph, and the text in it, look like another one.

    Ends of sections and tracked changes stay, and so do runs that have a style of their own, such
    as the signs of notes.
    """
    settings = paragraph.find(f"{W}pPr")
    own = [] if settings is None else [
        each for name in _OWN_PARAGRAPH for each in settings.findall(f"{W}{name}")
    ]  # fmt: skip
    marks = [] if settings is None else _taken(settings.find(f"{W}rPr"))
    made = alike_paragraph(model)
    properties = settings_of(made)
    if settings is not None:
        paragraph.remove(settings)
    paragraph.insert(0, properties)
    for each in own:
        put_setting(properties, each.tag.removeprefix(W))
        properties.replace(properties.find(each.tag), each)  # type: ignore[arg-type] # just put
    if marks:
        end = properties.find(f"{W}rPr")
        end = put_setting(properties, "rPr") if end is None else end
        _put_back(end, marks)
    look = run_properties(model)
    for run in own_runs(paragraph):
        found = run.find(f"{W}rPr")
        if found is not None and found.find(f"{W}rStyle") is not None:
            continue
        changes = _taken(found)
        if found is not None:
            run.remove(found)
        if look is not None or changes:
            mine = settings_of(run)
            for each in look if look is not None else ():
                mine.append(deepcopy(each))
            _put_back(mine, changes)


def _taken(settings: etree._Element | None) -> list[etree._Element]:
    if settings is None:
        return []
    return [each for name in _CHANGES for each in settings.findall(f"{W}{name}")]


def _put_back(settings: etree._Element, changes: list[etree._Element]) -> None:
    """Put marks of tracked changes into settings: what was formatted before stands last."""
    place = 0
    for each in changes:
        if each.tag == f"{W}rPrChange":
            settings.append(each)
        else:
            settings.insert(place, each)
            place += 1


def format_cell(
    cell: etree._Element, formatting: DocxCellFormatting, style: str | None, *, is_strict: bool
) -> None:
    """Put formatting on a cell, on its paragraphs and their text.

    Args:
        cell: The cell.
        formatting: What is put on it.
        style: The id of a style for its paragraphs, "" for the default one, None for none.
        is_strict: Whether the document is of the strict variant.
    """
    if formatting.shading is not None:
        fill = "auto" if formatting.shading is NO_SHADING else formatting.shading
        put_setting(settings_of(cell), "shd", val="clear", color="auto", fill=fill)
    if formatting.vertical_alignment is not None:
        put_setting(settings_of(cell), "vAlign", val=formatting.vertical_alignment)
    text = DocxRunFormatting(
        font_size=formatting.font_size,
        bold=formatting.bold,
        italic=formatting.italic,
        font_color=formatting.font_color,
    )
    aligned = DocxParagraphFormatting(alignment=formatting.alignment)
    for paragraph in [block for block in blocks(cell) if block.tag == PARAGRAPH]:
        if style is not None:
            put_style(paragraph, style)
        format_paragraph(paragraph, aligned, is_strict=is_strict)
        format_text(paragraph, text)


def put_style(paragraph: etree._Element, style: str) -> None:
    """Put a paragraph style on a paragraph by its id, "" for the default one."""
    if style:
        put_setting(settings_of(paragraph), "pStyle", val=style)
    else:
        take_settings(paragraph.find(f"{W}pPr"), "pStyle")
