"""Operations on templates."""

from typing import Annotated, Literal

from msgspec import Meta

from kbd.formats import FilePath
from kbd_pptx.operations.base import PptxOperation, PptxRecord, TableCell

__all__ = ["DeckTemplateList", "DeckTemplatePicture", "DeckTemplateValue", "FillDeckTemplate"]

_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class DeckTemplateValue(PptxRecord, frozen=True):
    """The text of a placeholder."""

    name: Annotated[_Name, Meta(description='"client" of {{client}}.')]
    value: TableCell


class DeckTemplateList(PptxRecord, frozen=True):
    """What a row of a table or a paragraph is repeated for."""

    name: Annotated[_Name, Meta(description='"items" of {{items.price}}.')]
    columns: Annotated[
        tuple[_Name, ...],
        Meta(description='"price" of {{items.price}}, and so on.', min_length=1, max_length=200),
    ]
    rows: Annotated[
        tuple[tuple[TableCell, ...], ...],
        Meta(description="A value for each column; no rows: nothing is left.", max_length=5_000),
    ]


class DeckTemplatePicture(PptxRecord, frozen=True):
    """A picture in the place of a shape."""

    name: Annotated[_Name, Meta(description='"logo" of {{logo}}, which is all of its shape.')]
    image: FilePath


class FillDeckTemplate(PptxOperation, frozen=True, tag="fill_template"):
    """Fill placeholders on all slides, in tables, groups and notes, too."""

    values: Annotated[tuple[DeckTemplateValue, ...], Meta(max_length=2_000)] = ()
    lists: Annotated[
        tuple[DeckTemplateList, ...],
        Meta(
            description="The table row (or bullet) with {{items.name}} and {{items.price}} is "
            "repeated for each row of the list items.",
            max_length=100,
        ),
    ] = ()
    pictures: Annotated[
        tuple[DeckTemplatePicture, ...],
        Meta(description="Each is as large as its shape, proportions kept.", max_length=100),
    ] = ()
    missing: Annotated[
        Literal["refuse", "keep", "blank"],
        Meta(description="What is done with placeholders that have no value."),
    ] = "refuse"
