"""Operations that put something into or behind a paragraph: pictures, links, notes, fields."""

from typing import Annotated, Literal

from msgspec import Meta

from kbd.formats import FilePath
from kbd_docx.operations.base import DocxOperation, Number, Place, TrackedOperation

__all__ = [
    "AddBookmark",
    "AddDocumentImage",
    "AddEndnote",
    "AddField",
    "AddFootnote",
    "AddHyperlink",
    "FieldName",
]

FieldName = Literal[
    "PAGE", "NUMPAGES", "SECTIONPAGES", "DATE", "TIME", "CREATEDATE", "SAVEDATE", "AUTHOR",
    "TITLE", "FILENAME", "REF", "PAGEREF", "SEQ", "TOC",
]  # fmt: skip

_Paragraph = Annotated[Number, Meta(description="From 1, as the map counts.")]
_Words = Annotated[str, Meta(min_length=1, max_length=10_000)]
_Behind = Annotated[
    _Words | None,
    Meta(description="The words of the paragraph behind which it goes; else at its end."),
]
_Short = Annotated[str, Meta(min_length=1, max_length=2_000)]
_Level = Annotated[int, Meta(ge=1, le=9)]
_Inches = Annotated[float, Meta(gt=0, le=22)]
_Note = Annotated[
    str, Meta(description="A line break begins a paragraph.", min_length=1, max_length=100_000)
]


class AddDocumentImage(TrackedOperation, frozen=True, kw_only=True, tag="add_image"):
    """Put in a picture of the workbench (PNG, JPEG, GIF, BMP), as a paragraph or at its end."""

    image: FilePath
    after: Annotated[
        Place | None,
        Meta(
            description="The paragraph after which it goes as a new one, from 1; 0: at the "
            "beginning. Without it and paragraph: at the end of the document."
        ),
    ] = None
    paragraph: Annotated[
        Number | None, Meta(description="The paragraph whose line it ends, in place of after.")
    ] = None
    width: Annotated[
        _Inches | None,
        Meta(description="Inches; with one side the other keeps the proportions. Else as it is, "
                         "no wider than the text."),
    ] = None  # fmt: skip
    height: Annotated[_Inches | None, Meta(description="Inches.")] = None
    alt_text: Annotated[_Short | None, Meta(description="For people who do not see it.")] = None
    alignment: Annotated[
        Literal["left", "center", "right"] | None, Meta(description="Of a new paragraph.")
    ] = None
    caption: Annotated[
        _Short | None,
        Meta(description='Text of a paragraph below a new one, behind "Figure" and its number.'),
    ] = None


class AddHyperlink(TrackedOperation, frozen=True, kw_only=True, tag="add_hyperlink"):
    """Make words of a paragraph a link, or add a link at its end."""

    paragraph: _Paragraph
    search: Annotated[_Words | None, Meta(description="The words that become the link.")] = None
    text: Annotated[
        _Words | None, Meta(description="In place of search: what is added at the end.")
    ] = None
    address: Annotated[_Short | None, Meta(description="Where it leads: https://…, mailto:….")] = (
        None
    )
    bookmark: Annotated[
        _Short | None, Meta(description="In place of address: a bookmark of the document.")
    ] = None


class AddFootnote(TrackedOperation, frozen=True, kw_only=True, tag="add_footnote"):
    """Add a footnote."""

    paragraph: _Paragraph
    text: _Note
    search: _Behind = None


class AddEndnote(TrackedOperation, frozen=True, kw_only=True, tag="add_endnote"):
    """Add an endnote."""

    paragraph: _Paragraph
    text: _Note
    search: _Behind = None


class AddBookmark(DocxOperation, frozen=True, kw_only=True, tag="add_bookmark"):
    """Give a paragraph, or words of it, a name that links and fields lead to."""

    paragraph: _Paragraph
    name: Annotated[str, Meta(description="Begins with a letter; letters, digits and _, up to 40.")]
    search: Annotated[
        _Words | None, Meta(description="The words of the paragraph; else all of it.")
    ] = None


class AddField(TrackedOperation, frozen=True, kw_only=True, tag="add_field"):
    """Add a field, which programs compute: into a paragraph; TOC as paragraphs after it."""

    paragraph: _Paragraph
    field: FieldName
    search: _Behind = None
    format: Annotated[
        _Short | None,
        Meta(description='Of dates ("d MMMM yyyy"), or of numbers ("roman").'),
    ] = None
    bookmark: Annotated[
        _Short | None, Meta(description="Of REF and PAGEREF: the bookmark that it shows.")
    ] = None
    label: Annotated[_Short | None, Meta(description="Of SEQ: what is numbered (Figure).")] = None
    levels: Annotated[
        _Level | None, Meta(description="Of TOC: down to which heading level; else 3.")
    ] = None
    text: Annotated[
        _Short | None,
        Meta(description="What it shows until a program computes it."),
    ] = None
