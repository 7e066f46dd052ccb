"""Formatting of runs and paragraphs as operations give it, in the words of Word's own model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from docx.enum.text import WD_COLOR_INDEX, WD_PARAGRAPH_ALIGNMENT, WD_UNDERLINE

from kbd.office.formatting import (
    COLOR,
    FLAG,
    FormattingField,
    choice,
    folded,
    font_name,
    number,
    parse_color,
    read_formatting,
    read_runs,
    underline,
)
from kbd_docx.operations import ParagraphFields

__all__ = ["DocxParagraphFormatting", "DocxRunFormatting", "read_paragraph", "read_text_runs"]

MAX_FONT_NAME_CHARACTERS = 31
MAX_FONT_SIZE = 1638
MAX_SPACE_POINTS = 1584
MAX_LINES = 10
"""Beyond it points were meant, which `line_spacing` does not take."""
MAX_INDENT_INCHES = 22
"""These are the limits of Word's dialogs."""

_ALIGNMENTS = {
    "left": WD_PARAGRAPH_ALIGNMENT.LEFT,
    "center": WD_PARAGRAPH_ALIGNMENT.CENTER,
    "right": WD_PARAGRAPH_ALIGNMENT.RIGHT,
    "justify": WD_PARAGRAPH_ALIGNMENT.JUSTIFY,
    "distribute": WD_PARAGRAPH_ALIGNMENT.DISTRIBUTE,
}

_MARKERS = {
    "black": (WD_COLOR_INDEX.BLACK, 0x000000),
    "blue": (WD_COLOR_INDEX.BLUE, 0x0000FF),
    "cyan": (WD_COLOR_INDEX.TURQUOISE, 0x00FFFF),
    "green": (WD_COLOR_INDEX.BRIGHT_GREEN, 0x00FF00),
    "magenta": (WD_COLOR_INDEX.PINK, 0xFF00FF),
    "red": (WD_COLOR_INDEX.RED, 0xFF0000),
    "yellow": (WD_COLOR_INDEX.YELLOW, 0xFFFF00),
    "white": (WD_COLOR_INDEX.WHITE, 0xFFFFFF),
    "darkblue": (WD_COLOR_INDEX.DARK_BLUE, 0x000080),
    "darkcyan": (WD_COLOR_INDEX.TEAL, 0x008080),
    "darkgreen": (WD_COLOR_INDEX.GREEN, 0x008000),
    "darkmagenta": (WD_COLOR_INDEX.VIOLET, 0x800080),
    "darkred": (WD_COLOR_INDEX.DARK_RED, 0x800000),
    "darkyellow": (WD_COLOR_INDEX.DARK_YELLOW, 0x808000),
    "darkgray": (WD_COLOR_INDEX.GRAY_50, 0x808080),
    "lightgray": (WD_COLOR_INDEX.GRAY_25, 0xC0C0C0),
}
"""The colors that a marker has, by their names in files, with what they look like (ECMA-376,
part 1, 17.18.40)."""

_MARKERS_NAMED_ELSE = {
    "turquoise": "cyan", "brightgreen": "green", "pink": "magenta", "fuchsia": "magenta",
    "lime": "green", "aqua": "cyan", "teal": "darkcyan", "violet": "darkmagenta",
    "purple": "darkmagenta", "navy": "darkblue", "maroon": "darkred", "olive": "darkyellow",
    "gray50": "darkgray", "gray25": "lightgray", "gray": "darkgray", "silver": "lightgray",
}  # fmt: skip


class DocxRunFormatting(msgspec.Struct, frozen=True):
    """Formatting of a run; None leaves it to the style. Sizes are in points.

    A highlight is "none", the name of a marker, or RRGGBB, for which the nearest is taken.
    """

    font_name: str | None = None
    font_size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: WD_UNDERLINE | None = None
    font_color: str | None = None
    highlight_color: WD_COLOR_INDEX | None = None


class DocxParagraphFormatting(msgspec.Struct, frozen=True):
    """Formatting of a paragraph; None leaves it to the style.

    Spaces are in points, `line_spacing` in lines, indents in inches.
    """

    alignment: WD_PARAGRAPH_ALIGNMENT | None = None
    space_before: float | None = None
    space_after: float | None = None
    line_spacing: float | None = None
    indent_left: float | None = None
    indent_right: float | None = None
    indent_first_line: float | None = None


def read_text_runs(
    runs: Sequence[Mapping[str, Any]], warn: Callable[[str], None]
) -> Iterator[tuple[str, DocxRunFormatting]]:
    """Return the text and the formatting of runs; what is wrong is skipped and warned of.

    Raises:
        ValidationFailed: A run has no text.
    """
    for text, found in read_runs(runs, _RUN_FIELDS, warn):
        if "highlight_color" in found:
            found["highlight_color"] = _marker(found["highlight_color"], warn)
        yield text, DocxRunFormatting(**found)


def read_paragraph(
    paragraph: ParagraphFields, warn: Callable[[str], None]
) -> DocxParagraphFormatting:
    """Return the formatting of a paragraph; what is wrong is skipped and warned of."""
    given = msgspec.structs.asdict(paragraph)
    named = {key: given[key] for key in _PARAGRAPH_FIELDS}
    return DocxParagraphFormatting(**read_formatting(named, _PARAGRAPH_FIELDS, warn))


def _parse_highlight(value: Any) -> str | None:
    name = folded(value)
    name = _MARKERS_NAMED_ELSE.get(name, name)
    return name if name == "none" or name in _MARKERS else parse_color(value)


def _marker(name: str, warn: Callable[[str], None]) -> WD_COLOR_INDEX | None:
    """Return the marker of a name, or the one nearest to RRGGBB."""
    if name == "none":
        return None
    if name in _MARKERS:
        return _MARKERS[name][0]
    wanted = int(name, 16)
    nearest = min(_MARKERS, key=lambda each: _distance(_MARKERS[each][1], wanted))
    if _MARKERS[nearest][1] != wanted:
        warn(f"highlight_color #{name} is none that a marker has; {nearest} is the nearest")
    return _MARKERS[nearest][0]


def _distance(one: int, other: int) -> int:
    """Return how far two colors are apart, as the square of the way between them."""
    return sum(((one >> bits & 255) - (other >> bits & 255)) ** 2 for bits in (0, 8, 16))


_RUN_FIELDS: Mapping[str, FormattingField] = {
    "font_name": font_name(MAX_FONT_NAME_CHARACTERS),
    "font_size": number(1, MAX_FONT_SIZE, "pt"),
    "bold": FLAG,
    "italic": FLAG,
    "underline": underline({
        member.xml_value: member for member in WD_UNDERLINE if member.xml_value
    }),
    "font_color": COLOR,
    "highlight_color": FormattingField(_parse_highlight, "none, #RRGGBB or a color's name"),
}  # fmt: skip

_SPACE = number(0, MAX_SPACE_POINTS, "pt")
_INDENT = number(-MAX_INDENT_INCHES, MAX_INDENT_INCHES, "in")
_PARAGRAPH_FIELDS: Mapping[str, FormattingField] = {
    "alignment": choice(_ALIGNMENTS),
    "space_before": _SPACE,
    "space_after": _SPACE,
    "line_spacing": number(0.06, MAX_LINES),
    "indent_left": _INDENT,
    "indent_right": _INDENT,
    "indent_first_line": _INDENT,
}
