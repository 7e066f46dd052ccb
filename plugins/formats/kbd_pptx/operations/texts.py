"""Operations on texts of slides: titles, bodies, notes."""

from typing import Annotated

import msgspec

from kbd_pptx.operations.base import (
    MAX_PARTS,
    Body,
    ParagraphedOperation,
    PptxOperation,
    Runs,
    SlideIndex,
)

__all__ = ["AppendBullets", "ReplaceText", "SetNotes", "SetSlideText"]


class SetSlideText(ParagraphedOperation, frozen=True, tag="set_slide_text"):
    """Replace the title or the body of a slide, or both; its formatting stays.

    Other text of the slide (tables, text boxes) is reached by replace_text.
    """

    index: SlideIndex
    title: str | None = None
    body: Body | None = None
    title_runs: Runs | None = None
    body_runs: Runs | None = None


class AppendBullets(ParagraphedOperation, frozen=True, tag="append_bullets"):
    """Add paragraphs to the end of a slide's body; they look like its last one of that level."""

    index: SlideIndex
    bullets: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTS)]
    level: Annotated[int, msgspec.Meta(ge=0, le=8, description="0 is the outermost.")] | None = None


class ReplaceText(PptxOperation, frozen=True, tag="replace_text"):
    """Replace a text on slides (tables, groups, text boxes too) and in notes, and count the hits.

    Each hit keeps the formatting of its first character. Charts, SmartArt, comments and what
    layouts show are not reached, but told.
    """

    search: Annotated[str, msgspec.Meta(min_length=1)]
    replace: str
    match_case: bool = False
    index: SlideIndex | None = None


class SetNotes(PptxOperation, frozen=True, tag="set_notes"):
    """Replace the speaker notes of a slide."""

    index: SlideIndex
    text: str
