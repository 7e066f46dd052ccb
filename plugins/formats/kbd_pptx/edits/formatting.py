"""Formatting of runs and paragraphs as operations give it, in the words of DrawingML."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd.office.formatting import (
    COLOR,
    FLAG,
    FormattingField,
    choice,
    font_name,
    number,
    read_formatting,
    read_runs,
    underline,
)
from kbd_pptx.edits.warnings import DeckWarnings
from kbd_pptx.operations import AddSlide, AppendBullets, SetSlideText

__all__ = [
    "PptxParagraphFormatting",
    "PptxRunFormatting",
    "SlideTextPiece",
    "read_paragraph",
    "read_pieces",
]

_MAX_NAME_CHARACTERS = 100
_MAX_FONT_PT = 4000
"""ECMA-376, part 1, 20.1.10.68."""
_MAX_SPACE_PT = 1584
"""20.1.10.78."""

_ALIGNMENTS = {"left": "l", "center": "ctr", "right": "r", "justify": "just", "distribute": "dist"}
"""20.1.10.59."""

_UNDERLINES = {
    "none": "none", "single": "sng", "double": "dbl", "words": "words", "thick": "heavy",
    "dotted": "dotted", "dash": "dash", "wave": "wavy",
}  # fmt: skip
"""20.1.10.82, by their names in documents (17.18.99)."""


class PptxRunFormatting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What changes in a run; None leaves it as it is. Sizes are in points, colors RRGGBB."""

    font_name: str | None = None
    font_size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: str | None = None
    font_color: str | None = None
    highlight_color: str | None = None


class SlideTextPiece(msgspec.Struct, frozen=True):
    """A text with its formatting."""

    text: str
    formatting: PptxRunFormatting = PptxRunFormatting()


class PptxParagraphFormatting(msgspec.Struct, frozen=True, omit_defaults=True):
    """What changes in a paragraph; None leaves it as it is.

    Spaces are in points, `line_spacing` in lines; the word for the alignment is the format's.
    """

    alignment: str | None = None
    space_before: float | None = None
    space_after: float | None = None
    line_spacing: float | None = None


def read_pieces(
    runs: Sequence[Mapping[str, Any]], field: str, notices: DeckWarnings
) -> tuple[SlideTextPiece, ...]:
    """Return runs as an operation gives them; what is wrong in their formatting is skipped.

    Raises:
        ValidationFailed: A run has no text.
    """
    return tuple(
        SlideTextPiece(notices.writable(text), PptxRunFormatting(**found))
        for text, found in read_runs(runs, _RUN_FIELDS, notices.warn, field)
    )


def read_paragraph(
    operation: AddSlide | SetSlideText | AppendBullets, notices: DeckWarnings
) -> PptxParagraphFormatting:
    """Return how an operation sets its paragraphs; what is wrong is skipped and warned of."""
    given = msgspec.structs.asdict(operation)
    named = {key: given[key] for key in _PARAGRAPH_FIELDS}
    return PptxParagraphFormatting(**read_formatting(named, _PARAGRAPH_FIELDS, notices.warn))


_RUN_FIELDS: Mapping[str, FormattingField] = {
    "font_name": font_name(_MAX_NAME_CHARACTERS),
    "font_size": number(1, _MAX_FONT_PT, "pt"),
    "bold": FLAG,
    "italic": FLAG,
    "underline": underline(_UNDERLINES),
    "font_color": COLOR,
    "highlight_color": COLOR,
}

_SPACE = number(0, _MAX_SPACE_PT, "pt")
_PARAGRAPH_FIELDS: Mapping[str, FormattingField] = {
    "alignment": choice(_ALIGNMENTS),
    "space_before": _SPACE,
    "space_after": _SPACE,
    "line_spacing": number(0.1, 10),
}
