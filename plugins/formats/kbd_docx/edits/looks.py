"""How runs and paragraphs look, as operations say it, read leniently: what is wrong is skipped."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from docx.enum.text import WD_COLOR_INDEX, WD_PARAGRAPH_ALIGNMENT, WD_UNDERLINE

from kbd_docx.operations import ParagraphFields, Run

__all__ = ["ParagraphLook", "RunLook", "read_paragraph_look", "read_run_look"]

MAX_FONT_NAME_CHARACTERS = 31
MAX_FONT_SIZE = 1638
MAX_SPACE_POINTS = 1584
MAX_LINES = 10
"""Beyond it points were meant, which `line_spacing` does not take."""
MAX_INDENT_INCHES = 22
"""These are the limits of Word's dialogs."""

_SHOWN_CHARACTERS = 60
_COLOUR = re.compile(r"#?([0-9A-Fa-f]{6})")
_BLANKS = re.compile(r"[\s_-]+")

_ALIGNMENTS = {
    "left": WD_PARAGRAPH_ALIGNMENT.LEFT,
    "start": WD_PARAGRAPH_ALIGNMENT.LEFT,
    "center": WD_PARAGRAPH_ALIGNMENT.CENTER,
    "centre": WD_PARAGRAPH_ALIGNMENT.CENTER,
    "right": WD_PARAGRAPH_ALIGNMENT.RIGHT,
    "end": WD_PARAGRAPH_ALIGNMENT.RIGHT,
    "justify": WD_PARAGRAPH_ALIGNMENT.JUSTIFY,
    "justified": WD_PARAGRAPH_ALIGNMENT.JUSTIFY,
    "both": WD_PARAGRAPH_ALIGNMENT.JUSTIFY,
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
"""The colours that a marker has, by their names in files, with what they look like (ECMA-376,
part 1, 17.18.40)."""

_MARKERS_NAMED_ELSE = {
    "turquoise": "cyan", "brightgreen": "green", "pink": "magenta", "fuchsia": "magenta",
    "lime": "green", "aqua": "cyan", "teal": "darkcyan", "violet": "darkmagenta",
    "purple": "darkmagenta", "navy": "darkblue", "maroon": "darkred", "olive": "darkyellow",
    "gray50": "darkgray", "gray25": "lightgray", "gray": "darkgray", "silver": "lightgray",
}  # fmt: skip

_UNDERLINES = {member.xml_value.casefold(): member for member in WD_UNDERLINE if member.xml_value}


class RunLook(msgspec.Struct, frozen=True):
    """What a run says of its look; None leaves it to the style. Sizes are in points."""

    font_name: str | None = None
    font_size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: WD_UNDERLINE | None = None
    font_color: str | None = None
    highlight_color: WD_COLOR_INDEX | None = None


class ParagraphLook(msgspec.Struct, frozen=True):
    """What a paragraph says of its look; None leaves it to the style.

    Spaces are in points, `line_spacing` in lines, indents in inches.
    """

    alignment: WD_PARAGRAPH_ALIGNMENT | None = None
    space_before: float | None = None
    space_after: float | None = None
    line_spacing: float | None = None
    indent_left: float | None = None
    indent_right: float | None = None
    indent_first_line: float | None = None


def read_run_look(run: Run, warn: Callable[[str], None]) -> RunLook:
    """Return how a run looks; what is wrong is skipped and warned of."""
    found = dict(_read(run, _RUN_READERS, warn))
    marker = run.highlight_color
    if marker is not None:
        found["highlight_color"] = _marker(marker, warn)
    return RunLook(**found)


def read_paragraph_look(paragraph: ParagraphFields, warn: Callable[[str], None]) -> ParagraphLook:
    """Return how a paragraph looks; what is wrong is skipped and warned of."""
    return ParagraphLook(**dict(_read(paragraph, _PARAGRAPH_READERS, warn)))


def _read(
    given: Run | ParagraphFields,
    readers: Mapping[str, Callable[[Any], Any]],
    warn: Callable[[str], None],
) -> Iterator[tuple[str, Any]]:
    values = msgspec.structs.asdict(given)
    for name, parse in readers.items():
        value = values[name]
        if value is None:
            continue
        parsed = parse(value)
        if parsed is None:
            warn(f"{name} cannot be {_brief(value)} and was skipped")
        else:
            yield name, parsed


def _brief(value: Any) -> str:
    return json.dumps(value, default=str)[:_SHOWN_CHARACTERS]


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _colour(value: Any) -> str | None:
    found = _COLOUR.fullmatch(value.strip()) if isinstance(value, str) else None
    return found[1].upper() if found else None


def _font_name(value: Any) -> str | None:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_FONT_NAME_CHARACTERS:
        return None
    return value if value.isprintable() else None


def _within(lowest: float, highest: float) -> Callable[[Any], float | None]:
    def parse(value: Any) -> float | None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return value if lowest <= value <= highest else None

    return parse


def _folded(value: Any) -> str:
    """Return a word without case, blanks, hyphens and underscores; "" for what is no word."""
    return _BLANKS.sub("", value).casefold() if isinstance(value, str) else ""


def _underline(value: Any) -> WD_UNDERLINE | None:
    if isinstance(value, bool):
        return WD_UNDERLINE.SINGLE if value else WD_UNDERLINE.NONE
    return _UNDERLINES.get(_folded(value))


def _marker(value: Any, warn: Callable[[str], None]) -> WD_COLOR_INDEX | None:
    """Return a marker's colour: by name, or the nearest to #RRGGBB."""
    name = _folded(value).replace("grey", "gray")
    if name == "none":
        return None
    name = _MARKERS_NAMED_ELSE.get(name, name)
    if name in _MARKERS:
        return _MARKERS[name][0]
    colour = _colour(value)
    if colour is None:
        warn(f"highlight_color cannot be {_brief(value)} and was skipped")
        return None
    wanted = int(colour, 16)
    name = min(_MARKERS, key=lambda each: _distance(_MARKERS[each][1], wanted))
    if _MARKERS[name][1] != wanted:
        warn(f"highlight_color #{colour} is none that a marker has; {name} is the nearest")
    return _MARKERS[name][0]


def _distance(one: int, other: int) -> int:
    """Return how far two colours are apart, as the square of the way between them."""
    return sum(((one >> bits & 255) - (other >> bits & 255)) ** 2 for bits in (0, 8, 16))


_RUN_READERS: Mapping[str, Callable[[Any], Any]] = {
    "font_name": _font_name,
    "font_size": _within(1, MAX_FONT_SIZE),
    "bold": _flag,
    "italic": _flag,
    "underline": _underline,
    "font_color": _colour,
}

_PARAGRAPH_READERS: Mapping[str, Callable[[Any], Any]] = {
    "alignment": lambda value: _ALIGNMENTS.get(_folded(value)),
    "space_before": _within(0, MAX_SPACE_POINTS),
    "space_after": _within(0, MAX_SPACE_POINTS),
    "line_spacing": _within(0.06, MAX_LINES),
    "indent_left": _within(-MAX_INDENT_INCHES, MAX_INDENT_INCHES),
    "indent_right": _within(-MAX_INDENT_INCHES, MAX_INDENT_INCHES),
    "indent_first_line": _within(-MAX_INDENT_INCHES, MAX_INDENT_INCHES),
}
