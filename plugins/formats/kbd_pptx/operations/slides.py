"""Operations on whole slides."""

from kbd_pptx.operations.base import (
    Body,
    Layout,
    ParagraphedOperation,
    PptxOperation,
    Runs,
    SlideIndex,
)

__all__ = ["AddSlide", "DeleteSlide", "DuplicateSlide", "MoveSlide", "SetLayout"]


class AddSlide(ParagraphedOperation, frozen=True, tag="add_slide"):
    """Add a slide in one of the deck's layouts, at `index` or at the end.

    Placeholders that get no text are left out; a later set_slide_text or append_bullets brings
    them back.
    """

    layout: Layout = "title_and_content"
    title: str | None = None
    body: Body | None = None
    title_runs: Runs | None = None
    body_runs: Runs | None = None
    index: SlideIndex | None = None
    notes: str | None = None


class DeleteSlide(PptxOperation, frozen=True, tag="delete_slide"):
    """Delete a slide with its notes; links of other slides to it are taken off their texts."""

    index: SlideIndex


class MoveSlide(PptxOperation, frozen=True, tag="move_slide"):
    """Move a slide; `to` is its index afterwards."""

    index: SlideIndex
    to: SlideIndex


class DuplicateSlide(PptxOperation, frozen=True, tag="duplicate_slide"):
    """Copy a slide with its notes, pictures and charts; `to` is the copy's index, else behind it.

    Charts of the copy have data of their own. Comments are not copied.
    """

    index: SlideIndex
    to: SlideIndex | None = None


class SetLayout(PptxOperation, frozen=True, tag="set_layout"):
    """Give a slide another layout; texts go to the places of their kind, and none is lost."""

    index: SlideIndex
    layout: Layout
