"""Writer of titles and bodies, into the places that a slide has for them.

A place that the slide lacks and its layout has is brought back; where there is none at all a text
box takes the text, and the warnings say so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from lxml import etree
from pptx.parts.slide import SlidePart

from kbd.errors import ValidationFailed
from kbd_pptx.edits.deck import DeckEdit, parents_of
from kbd_pptx.edits.fit_warnings import fit_text
from kbd_pptx.edits.formatting import (
    PptxParagraphFormatting,
    SlideTextPiece,
    format_paragraph,
    read_paragraph,
    read_pieces,
)
from kbd_pptx.edits.found_shapes import SlideEdit
from kbd_pptx.edits.placeholders import (
    body_box,
    body_placeholders,
    copy_placeholder,
    find_text_box,
    overlaps_others,
    text_body,
    title_box,
    title_placeholder,
)
from kbd_pptx.edits.textbody import (
    Line,
    append_lines,
    paragraphs_of,
    rewrite,
    split_at_empty,
    split_lines,
    text_of,
)
from kbd_pptx.operations import AddSlide, AppendBullets, SetSlideText
from kbd_pptx.presentation import P

__all__ = ["SlideTexts", "append_bullets", "read_texts", "set_slide_text", "write_texts"]

_BULLETS = ("• ", "- ", "* ", "– ")


class SlideTexts(msgspec.Struct, frozen=True):
    """Texts that an operation writes; None leaves one as it is."""

    title: tuple[Line, ...] | None
    body: tuple[Line, ...] | None
    formatting: PptxParagraphFormatting


def read_texts(operation: AddSlide | SetSlideText, deck: DeckEdit) -> SlideTexts:
    """Read the texts that an operation writes.

    Raises:
        ValidationFailed: A text is given twice, or a run has none.
    """
    warnings = deck.warnings
    for name, text, runs in (
        ("title", operation.title, operation.title_runs),
        ("body", operation.body, operation.body_runs),
    ):
        if text is not None and runs is not None:
            raise ValidationFailed(f"give {name} or {name}_runs, not both")
    title = _pieces(operation.title, operation.title_runs, "title_runs", deck)
    body = _pieces(operation.body, operation.body_runs, "body_runs", deck)
    return SlideTexts(
        None if title is None else split_lines(title, levels=False),
        None if body is None else split_lines(body, levels=True),
        read_paragraph(operation, warnings),
    )


def set_slide_text(deck: DeckEdit, operation: SetSlideText) -> str:
    """Replace a slide's title or body, or both, and return what changed."""
    texts = read_texts(operation, deck)
    if texts.title is None and texts.body is None:
        raise ValidationFailed("set_slide_text: give a title, a body, or both")
    changed = write_texts(deck, operation.index, deck.slide(operation.index), texts)
    return f"slide {operation.index}: {', '.join(changed)}"


def append_bullets(deck: DeckEdit, operation: AppendBullets) -> str:
    """Add paragraphs to a slide's body, and return what changed."""
    slide = _slide(operation.index, deck.slide(operation.index))
    formatting = read_paragraph(operation, deck.warnings)
    lines = [
        Line(line.pieces, line.level if operation.level is None else operation.level)
        for bullet in operation.bullets
        for line in split_lines((SlideTextPiece(deck.warnings.clean_text(bullet)),), levels=True)
    ]
    shape = _body_shapes(deck, slide, both=False, appending=True)[0]
    for paragraph in append_lines(text_body(shape), lines):
        format_paragraph(paragraph, formatting, strict=deck.is_strict)
    _warn_of_bullets(deck, slide, lines)
    fit_text(deck, slide, shape, "body", grown=True)
    count = f"{len(lines)} paragraphs" if len(lines) != 1 else "1 paragraph"
    return f"slide {operation.index}: {count} appended"


def write_texts(deck: DeckEdit, index: int, part: SlidePart, texts: SlideTexts) -> list[str]:
    """Write title and body on a slide, and return what was written."""
    slide = _slide(index, part)
    changed = []
    if texts.title is not None:
        _write(deck, slide, _title_shape(deck, slide), texts.title, texts.formatting, "title")
        changed.append("title")
    if texts.body is not None:
        _write_body(deck, slide, texts.body, texts.formatting)
        changed.append("body")
    return changed


def _write_body(
    deck: DeckEdit, slide: SlideEdit, lines: tuple[Line, ...], formatting: PptxParagraphFormatting
) -> None:
    left, right = split_at_empty(lines)
    shapes = _body_shapes(deck, slide, both=bool(right))
    _warn_of_bullets(deck, slide, lines)
    if len(shapes) == 1:
        # All lines: with one place, an empty line is a paragraph like any other.
        _write(deck, slide, shapes[0], lines, formatting, "body")
        return
    _write(deck, slide, shapes[0], left, formatting, "left side")
    if right:
        _write(deck, slide, shapes[1], right, formatting, "right side")
    elif any(map(text_of, paragraphs_of(text_body(shapes[1])))):
        deck.warnings.warn(
            f"Slide {slide.index} has two contents: the body went to the left one, the right one "
            "is as it was. An empty line in the body parts left from right."
        )


def _write(
    deck: DeckEdit,
    slide: SlideEdit,
    shape: etree._Element,
    lines: Sequence[Line],
    formatting: PptxParagraphFormatting,
    what: str,
) -> None:
    for paragraph in rewrite(text_body(shape), lines):
        format_paragraph(paragraph, formatting, strict=deck.is_strict)
    fit_text(deck, slide, shape, what, grown=False)


def _title_shape(deck: DeckEdit, slide: SlideEdit) -> etree._Element:
    """Return the shape that a slide's title goes into."""
    placeholder = title_placeholder(slide.root)
    if placeholder is not None:
        return placeholder.shape
    wanted = title_placeholder(slide.parents[0]) if slide.parents else None
    if wanted is not None:
        return copy_placeholder(wanted, slide.root)
    deck.warnings.warn(
        f"Slide {slide.index} has a layout without a title: the title stands in a text box."
    )
    return title_box(slide.root, deck.size)


def _body_shapes(
    deck: DeckEdit, slide: SlideEdit, *, both: bool, appending: bool = False
) -> tuple[etree._Element, ...]:
    """Return the shape that a slide's body goes into, or the two of two contents.

    One that has to be made is told if it covers what else is on the slide.

    Args:
        deck: The deck.
        slide: The slide.
        both: Whether the second of two contents is brought back, too, if the slide lacks it.
        appending: Whether what is there stays; then any one text box will do.
    """
    found = body_placeholders(slide.root, *slide.parents)
    wanted = body_placeholders(slide.parents[0], *slide.parents[1:]) if slide.parents else ()
    shapes = {each.idx: each.shape for each in found}
    # Else the slide has a place that the layout does not: its own body, which needs no other.
    if shapes.keys() <= {each.idx for each in wanted}:
        # What is there as a picture or a table has its idx, too, and is not to be covered.
        taken = {ph.get("idx", "0") for ph in slide.root.iter(f"{P}ph")}
        for placeholder in wanted:
            if placeholder.idx not in taken and (both or not shapes):
                shapes[placeholder.idx] = copy_placeholder(placeholder, slide.root)
                _warn_of_overlap(deck, slide, shapes[placeholder.idx])
        found = tuple(each for each in wanted if each.idx in shapes)
    if found:
        return tuple(shapes[placeholder.idx] for placeholder in found)
    box = find_text_box(slide.root, filled=appending)
    if box is not None:
        return (box,)
    deck.warnings.warn(
        f"Slide {slide.index} has a layout without a place for a body: it stands in a text box."
    )
    box = body_box(slide.root, slide.parents, deck.size)
    _warn_of_overlap(deck, slide, box)
    return (box,)


def _warn_of_overlap(deck: DeckEdit, slide: SlideEdit, shape: etree._Element) -> None:
    if overlaps_others(shape, slide.root, slide.parents):
        deck.warnings.warn(
            f"Slide {slide.index}: the text was put where other things stand; look at the slide."
        )


def _warn_of_bullets(deck: DeckEdit, slide: SlideEdit, lines: Sequence[Line]) -> None:
    if any(line.text.startswith(_BULLETS) for line in lines):
        deck.warnings.warn(
            f"Slide {slide.index}: lines begin with a bullet or a dash, which were kept; layouts "
            "draw bullets themselves, so leave them out."
        )


def _slide(index: int, part: SlidePart) -> SlideEdit:
    return SlideEdit(index, part, part.slide.element, parents_of(part))


def _pieces(
    text: str | None, runs: Sequence[Mapping[str, Any]] | None, field: str, deck: DeckEdit
) -> tuple[SlideTextPiece, ...] | None:
    if runs is not None:
        return read_pieces(runs, field, deck.warnings)
    return None if text is None else (SlideTextPiece(deck.warnings.clean_text(text)),)
