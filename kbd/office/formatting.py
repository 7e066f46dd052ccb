"""Lenient reader of formatting: fonts, sizes, colors and alignments as operations give them.

A model writes formatting by hand. What can be understood is taken, whatever its form: 14, "14" and
"14 pt"; "#FF0000", "ff0000" and "red"; "center" and "Centre". What cannot be is skipped, and a
warning names it with what would do. A null leaves a thing as it is.

A format says which keys its objects have, by a table of `FormattingField`, and hands the values
that come back to records of its own:

    FIELDS = {"font_size": number(1, 409, "pt"), "font_color": COLOR, "bold": FLAG}
    values = read_formatting({"font_size": "14"}, FIELDS, warnings.append)   # {"font_size": 14.0}
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from kbd.errors import ValidationFailed

__all__ = [
    "COLOR",
    "COLORS",
    "FLAG",
    "FormattingField",
    "choice",
    "folded",
    "font_name",
    "number",
    "parse_color",
    "read_formatting",
    "read_runs",
    "underline",
]

_MAX_QUOTED_CHARACTERS = 60
_MAX_QUOTED_WORDS = 9
_RGB = re.compile(r"#?([0-9A-Fa-f]{6})")
_BLANKS = re.compile(r"[\s_-]+")

COLORS = MappingProxyType({
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF",
    "red": "FF0000", "yellow": "FFFF00", "white": "FFFFFF", "darkblue": "00008B",
    "darkcyan": "008B8B", "darkgreen": "006400", "darkmagenta": "800080", "darkred": "8B0000",
    "darkyellow": "808000", "darkgray": "A9A9A9", "lightgray": "D3D3D3",
    "aqua": "00FFFF", "brown": "A52A2A", "fuchsia": "FF00FF", "gold": "FFD700", "gray": "808080",
    "indigo": "4B0082", "lightblue": "ADD8E6", "lightgreen": "90EE90", "lime": "00FF00",
    "maroon": "800000", "navy": "000080", "olive": "808000", "orange": "FFA500", "pink": "FFC0CB",
    "purple": "800080", "silver": "C0C0C0", "teal": "008080", "turquoise": "40E0D0",
    "violet": "EE82EE",
})  # fmt: skip
"""RRGGBB by name: first the colors of highlighting (ECMA-376 part 1, 17.18.40), then those of the
web (CSS Color 4, 6.1)."""

_SYNONYMS = MappingProxyType({
    "centre": "center", "centered": "center", "centred": "center",
    "start": "left", "end": "right", "justified": "justify", "both": "justify",
    "distribute": "distributed", "distributed": "distribute", "dashed": "dash", "wavy": "wave",
})  # fmt: skip
"""Other words for a choice, where a format has not the word itself."""

_FLAGS = MappingProxyType({"true": True, "false": False})

Value = TypeVar("Value")


class FormattingField(msgspec.Struct, frozen=True):
    """A key of a formatting object.

    Args:
        parse: Returns the value that is meant, None for what cannot be understood.
        wanted: What would do, for the warning ("points from 1 to 409").
    """

    parse: Callable[[Any], Any]
    wanted: str


def read_formatting(
    given: Mapping[str, Any],
    fields: Mapping[str, FormattingField],
    warn: Callable[[str], None],
    where: str = "",
) -> dict[str, Any]:
    """Read a formatting object.

    Args:
        given: The object as an operation gives it; "colour" in a key is "color", and that alone
            is the color of the font.
        fields: The keys that there are.
        warn: Gets a warning for each thing that is skipped.
        where: What the warnings' keys are preceded by ("runs[2].").

    Returns:
        The values that were understood, by the keys of `fields`.
    """
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("colour", "color")
        field = fields.get("font_color" if name == "color" else name)
        if field is None:
            known = ", ".join(fields)
            warn(
                f"{where}{key[:_MAX_QUOTED_CHARACTERS]} is unknown and was skipped; known: {known}"
            )
        elif value is not None:
            parsed = field.parse(value)
            if parsed is None:
                shown = _brief(value)
                warn(f"{where}{key} cannot be {shown} and was skipped; it takes {field.wanted}")
            else:
                found["font_color" if name == "color" else name] = parsed
    return found


def read_runs(
    runs: Sequence[Mapping[str, Any]],
    fields: Mapping[str, FormattingField],
    warn: Callable[[str], None],
    where: str = "runs",
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read runs, `{"text": ..., formatting}`; return each one's text and what was understood.

    Args:
        runs: The runs as an operation gives them.
        fields: The keys that there are beside the text.
        warn: Gets a warning for each thing that is skipped.
        where: The name of their list, for messages.

    Raises:
        ValidationFailed: A run has no text.
    """
    for place, run in enumerate(runs):
        text = run.get("text")
        if not isinstance(text, str):
            raise ValidationFailed(
                f'{where}[{place}] has no text; a run is {{"text": "...", "bold": true}}'
            )
        formatting = {key: value for key, value in run.items() if key != "text"}
        yield text, read_formatting(formatting, fields, warn, f"{where}[{place}].")


def number(least: float, most: float, unit: str = "") -> FormattingField:
    """Return a field of numbers within bounds; a text of one, with its unit or without, will do.

    Args:
        least: The smallest.
        most: The largest.
        unit: "pt" or "in", "" for a plain number.
    """

    def parse(value: Any) -> float | None:
        if isinstance(value, str):
            try:
                # The blank that "14 pt" leaves before its unit does not disturb `float`.
                value = float(value.strip().lower().removesuffix(unit))
            except ValueError:
                return None
        # True is an int to Python and would be taken for 1.
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        # `float` takes "nan" and "inf", too; neither is between any bounds.
        return value if least <= value <= most else None

    words = {"pt": "points", "in": "inches"}.get(unit, "a number")
    return FormattingField(parse, f"{words} from {least:g} to {most:g}")


def font_name(most_characters: int) -> FormattingField:
    """Return a field of names of fonts."""

    def parse(value: Any) -> str | None:
        # Not printable are the control characters, which XML does not allow in a part.
        if not isinstance(value, str) or not value.isprintable():
            return None
        name = value.strip()
        return name if 0 < len(name) <= most_characters else None

    return FormattingField(parse, f"the name of a font, at most {most_characters} characters")


def choice(words: Mapping[str, Value]) -> FormattingField:
    """Return a field that takes one of some words; case, blanks, hyphens and underscores are free.

    Args:
        words: What each word means to the format; warnings name the first ones.
    """
    meanings = {folded(word): meaning for word, meaning in words.items()}

    def parse(value: Any) -> Value | None:
        word = folded(value)
        # The format's own words first: "distribute" is one in decks, and a synonym in workbooks.
        return meanings.get(word, meanings.get(_SYNONYMS.get(word, "")))

    shown = ", ".join(list(words)[:_MAX_QUOTED_WORDS])
    more = " and the like" if len(words) > _MAX_QUOTED_WORDS else ""
    return FormattingField(parse, f"one of {shown}{more}")


def underline(words: Mapping[str, Value]) -> FormattingField:
    """Return a field of underlines: a word, or true for "single" and false for "none".

    Args:
        words: What each word means to the format, these two among them.
    """
    plain = choice(words)

    def parse(value: Any) -> Value | None:
        flag = _flag(value)
        if flag is not None:
            return words["single" if flag else "none"]
        meant: Value | None = plain.parse(value)
        return meant

    return FormattingField(parse, f"true, false or {plain.wanted}")


def parse_color(value: Any) -> str | None:
    """Return a color as RRGGBB, from #RRGGBB, RRGGBB or a name; None for what is none."""
    found = _RGB.fullmatch(value.strip()) if isinstance(value, str) else None
    return found[1].upper() if found else COLORS.get(folded(value))


def folded(value: Any) -> str:
    """Return a word without case, blanks, hyphens and underscores; "" for what is no word."""
    if not isinstance(value, str):
        return ""
    return _BLANKS.sub("", value).casefold().replace("grey", "gray")


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else _FLAGS.get(folded(value))


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_QUOTED_CHARACTERS else f"{text[:_MAX_QUOTED_CHARACTERS]}…"


COLOR = FormattingField(parse_color, "#RRGGBB or a color's name")
FLAG = FormattingField(_flag, "true or false")
