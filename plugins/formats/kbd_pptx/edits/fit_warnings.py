"""Warnings of text that does not fit: in its shape, on its slide, in the rows of a table."""

from lxml import etree

from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.fonts import FontMeasure, font_measure
from kbd_pptx.edits.found_shapes import SlideEdit, names_of, table_of
from kbd_pptx.edits.new_places import inches
from kbd_pptx.edits.placeholders import box_of, parse_emu
from kbd_pptx.edits.text_fit import EMU_A_POINT, FONT_SIZE, LINE_EM, estimated_ems, fit
from kbd_pptx.edits.textbody import paragraphs_of, text_of
from kbd_pptx.presentation import A

__all__ = ["fit_text", "warn_of_table_fit"]

_SMALL_PT = 12
"""Text that people in a room cannot read any more."""
_CELL_INSETS = 14.4, 7.2
"""Across and down, in points: ECMA-376, part 1, 21.1.3.17."""
_MAX_CELLS = 2_000
"""Of a larger table nobody asks whether it fits a slide."""


def fit_text(
    deck: DeckEdit, slide: SlideEdit, shape: etree._Element, what: str, *, grown: bool = False
) -> None:
    """Shrink a shape's text if the shape does that, and warn of what does not fit.

    Args:
        deck: The deck.
        slide: The slide.
        shape: The shape.
        what: What it is called ("body").
        grown: Whether text was added to what it had.
    """
    found = fit(
        shape, slide.parents, grown=grown, strict=deck.is_strict, measure=font_measure(slide)
    )
    if found is None:
        return
    place = f"Slide {slide.index}: the {what}"
    if found.is_cut:
        deck.warnings.warn(f"{place} is too long for its place; split it over slides.")
    elif found.bottom > deck.size[1] and not found.is_shrunk:
        deck.warnings.warn(f"{place} runs over the lower edge of the slide.")
    elif found.is_shrunk and found.points < _SMALL_PT:
        deck.warnings.warn(
            f"{place} is long and shrinks to about {found.points:.0f} points; split it over slides."
        )


def warn_of_table_fit(deck: DeckEdit, slide: SlideEdit, frame: etree._Element) -> None:
    """Warn of a table whose rows, as high as their texts need, run over the slide."""
    table, box = table_of(frame), box_of(frame, *slide.parents)
    if table is None or box is None:
        return
    measure = font_measure(slide)
    try:
        widths = [parse_emu(c.get("w", "")) for c in table.iterfind(f"{A}tblGrid/{A}gridCol")]
        lines = table.findall(f"{A}tr")
        if len(widths) * len(lines) > _MAX_CELLS:
            return
        bottom = box.y
        for line in lines:
            needed = max(
                (
                    _cell_height(cell, width, measure)
                    for cell, width in zip(line.iterchildren(f"{A}tc"), widths, strict=False)
                    if cell.get("rowSpan") is None and cell.get("gridSpan") is None
                ),
                default=0.0,
            )
            bottom += max(parse_emu(line.get("h", "0")), round(needed * EMU_A_POINT))
    except ValueError:
        return
    over = bottom - deck.size[1]
    if over > 0:
        names = names_of(frame)
        name = "the table" if names is None else names.get("name") or "the table"
        deck.warnings.warn(
            f"Slide {slide.index}: {name} is about {inches(over)} inches too high for the slide; "
            "split it over slides, or set fewer rows."
        )


def _cell_height(cell: etree._Element, width: int, measure: FontMeasure) -> float:
    """Return how high a cell must be for its text, in points."""
    total = _CELL_INSETS[1]
    for body in cell.iterchildren(f"{A}txBody"):
        for paragraph in paragraphs_of(body):
            text = text_of(paragraph)
            size = _size(paragraph)
            font = next((each.get("typeface", "") for each in paragraph.iter(f"{A}latin")), "")
            measured = measure(text, font)
            ems = estimated_ems(text) if measured is None else measured
            room = max((width / EMU_A_POINT - _CELL_INSETS[0]) / size, 1)
            total += (max(1, -int(-ems // room)) + text.count("\v")) * size * LINE_EM
    return total


def _size(paragraph: etree._Element) -> float:
    sizes = [
        each.get("sz", "")
        for each in paragraph.iter(f"{A}rPr", f"{A}endParaRPr")
        if each.get("sz", "").isdecimal() and len(each.get("sz", "")) < 7
    ]
    return max(map(int, sizes), default=FONT_SIZE) / 100
