"""Operations on pictures, text boxes and other shapes of slides."""

from typing import Annotated, Any

import msgspec

from kbd.formats import FilePath
from kbd_pptx.operations.base import (
    ParagraphedPlacedOperation,
    PlacedOperation,
    PptxOperation,
    Runs,
    ShapeName,
    SlideIndex,
)

__all__ = ["AddShape", "AddSlideImage", "AddTextbox", "ReplaceImage", "SetShape"]

_Color = Annotated[
    Any,
    msgspec.Meta(
        description='#RRGGBB, a color of the theme ("accent1", "text2") or "none".',
        extra_json_schema={"type": "string"},
    ),
]
_Points = Annotated[Any, msgspec.Meta(description="Points.", extra_json_schema={"type": "number"})]
_FontSize = Annotated[float, msgspec.Meta(ge=1, le=4000, description="Points, of all text.")]


class AddSlideImage(PlacedOperation, frozen=True, tag="add_image"):
    """Put a picture of the workbench (PNG, JPEG, GIF, BMP) onto a slide.

    With one side given the other keeps the proportions; without a place it takes an empty
    placeholder, else free room. `description` is for people who do not see it.
    """

    index: SlideIndex
    image: FilePath
    description: str | None = None


class ReplaceImage(PptxOperation, frozen=True, tag="replace_image"):
    """Put another picture in the place of one; of other proportions, it is cropped to fit there."""

    index: SlideIndex
    image: FilePath
    shape: Annotated[
        int | str | None,
        msgspec.Meta(description="The picture's id or name; not needed where it is the only."),
    ] = None
    description: str | None = None


class AddTextbox(ParagraphedPlacedOperation, frozen=True, tag="add_textbox"):
    """Add a text box."""

    index: SlideIndex
    text: str | None = None
    runs: Runs | None = None
    font_size: _FontSize | None = None


class AddShape(ParagraphedPlacedOperation, frozen=True, tag="add_shape"):
    """Add a shape of a kind ("rectangle", "rightArrow", "chevron"), with a text if given."""

    index: SlideIndex
    shape: Annotated[str, msgspec.Meta(description="Its preset geometry by name.")]
    text: str | None = None
    runs: Runs | None = None
    fill: _Color = None
    line: _Color = None
    line_width: _Points = None
    font_size: _FontSize | None = None
    description: str | None = None


class SetShape(PlacedOperation, frozen=True, tag="set_shape"):
    """Move or resize a shape of a slide, or describe it; what is not given stays.

    Inches, as the map tells them.
    """

    index: SlideIndex
    shape: ShapeName
    description: str | None = None
