"""Operations on the sections of pages: paper, margins, columns, headers and footers."""

from typing import Annotated, Literal

from msgspec import Meta

from kbd_docx.operations.base import DocxRecord, Number, Place, TrackedOperation

__all__ = ["InsertSectionBreak", "Margins", "SetSection"]

_Inches = Annotated[float, Meta(ge=0, le=22)]
_HeaderText = Annotated[str, Meta(max_length=10_000)]
_Start = Annotated[int, Meta(ge=0, le=32_767)]
_Columns = Annotated[int, Meta(ge=1, le=45)]
_Align = Literal["left", "center", "right"]


class Margins(DocxRecord, frozen=True):
    """Margins in inches; those that are not given stay."""

    top: _Inches | None = None
    bottom: _Inches | None = None
    left: _Inches | None = None
    right: _Inches | None = None
    header: _Inches | None = None
    footer: _Inches | None = None
    gutter: _Inches | None = None


class SetSection(TrackedOperation, frozen=True, kw_only=True, tag="set_section"):
    """Set up pages; what is not given stays.

    Headers and footers are texts with {page}, {pages} and {date} for fields, tabs for the middle
    and the right; "" is an empty one.
    """

    section: Annotated[
        Place | None, Meta(description="The index of a section of pages, from 0; else all.")
    ] = None
    page_size: Annotated[
        str | None, Meta(description='A4, Letter, Legal … or inches: "8.5x11".')
    ] = None
    orientation: Literal["portrait", "landscape"] | None = None
    margins: Margins | None = None
    columns: _Columns | None = None
    column_spacing: Annotated[_Inches | None, Meta(description="Inches.")] = None
    header: _HeaderText | None = None
    footer: _HeaderText | None = None
    first_header: Annotated[
        _HeaderText | None, Meta(description="Of the first page, which then has its own.")
    ] = None
    first_footer: _HeaderText | None = None
    even_header: Annotated[
        _HeaderText | None, Meta(description="Of even pages, which then have their own.")
    ] = None
    even_footer: _HeaderText | None = None
    header_alignment: _Align | None = None
    footer_alignment: _Align | None = None
    page_number_start: _Start | None = None
    page_number_format: (
        Literal["decimal", "upperRoman", "lowerRoman", "upperLetter", "lowerLetter"] | None
    ) = None


class InsertSectionBreak(TrackedOperation, frozen=True, kw_only=True, tag="insert_section_break"):
    """End a section of pages after a paragraph; both halves look as it does until set otherwise."""

    after: Annotated[Number, Meta(description="The paragraph, from 1, as the map counts.")]
    kind: Annotated[
        Literal["next_page", "continuous", "even_page", "odd_page"],
        Meta(description="Where what follows begins."),
    ] = "next_page"
