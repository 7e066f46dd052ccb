"""Operations on templates."""

from typing import Annotated, Literal

from msgspec import Meta

from kbd.formats import FilePath
from kbd_docx.operations.base import Cell, DocxRecord, TrackedOperation

__all__ = ["FillTemplate", "TemplateList", "TemplatePicture", "TemplateValue"]

_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class TemplateValue(DocxRecord, frozen=True):
    """The text of a placeholder."""

    name: Annotated[_Name, Meta(description='"client" of {{client}}, or of a merge field.')]
    value: Cell


class TemplateList(DocxRecord, frozen=True):
    """What a row or paragraph is repeated for."""

    name: Annotated[_Name, Meta(description='"items" of {{items.price}}.')]
    columns: Annotated[
        tuple[_Name, ...],
        Meta(description='"price" of {{items.price}}, and so on.', min_length=1, max_length=200),
    ]
    rows: Annotated[
        tuple[tuple[Cell, ...], ...],
        Meta(description="A value for each column; no rows: nothing is left.", max_length=5_000),
    ]


class TemplatePicture(DocxRecord, frozen=True):
    """A picture in the place of a placeholder."""

    name: Annotated[_Name, Meta(description='"logo" of {{logo}}, alone in its paragraph.')]
    image: FilePath


class FillTemplate(TrackedOperation, frozen=True, tag="fill_template"):
    """Fill placeholders in all of the document, headers and text boxes, too."""

    values: Annotated[tuple[TemplateValue, ...], Meta(max_length=2_000)] = ()
    lists: Annotated[
        tuple[TemplateList, ...],
        Meta(
            description="The table row (or paragraph) with {{items.name}} and {{items.price}} is "
            "repeated for each row of the list items.",
            max_length=100,
        ),
    ] = ()
    pictures: Annotated[
        tuple[TemplatePicture, ...],
        Meta(description="Each is as wide as it is, or as its paragraph.", max_length=100),
    ] = ()
    missing: Annotated[
        Literal["refuse", "keep", "blank"],
        Meta(description="What is done with placeholders that have no value."),
    ] = "refuse"
