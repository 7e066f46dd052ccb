"""Looks of runs and paragraphs as operations give them, read leniently: what is wrong is skipped.

The keys are those of the contract, section 4. Lengths here are in the format's own units: fonts and
spaces in hundredths of a point, spacing of lines in thousandths of a percent.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd_pptx.edits.noticing import Notices, brief
from kbd_pptx.operations import AddSlide, AppendBullets, SetSlideText

__all__ = ["ParagraphLook", "Piece", "RunLook", "read_paragraph_look", "read_runs"]

_MAX_NAME_CHARACTERS = 100
_MIN_FONT_PT, _MAX_FONT_PT = 1, 4000
"""ECMA-376, part 1, 20.1.10.68."""
_MAX_SPACE_PT = 1584
"""20.1.10.78."""
_MIN_LINES, _MAX_LINES = 0.1, 10

_ALIGNMENTS = MappingProxyType({
    "left": "l", "center": "ctr", "centre": "ctr", "centered": "ctr", "right": "r",
    "justify": "just", "justified": "just", "both": "just", "distribute": "dist",
})  # fmt: skip
"""20.1.10.59."""

_COLOUR = re.compile(r"#?([0-9A-Fa-f]{6})")
_COLOURS = MappingProxyType({
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF",
    "red": "FF0000", "yellow": "FFFF00", "white": "FFFFFF", "darkblue": "00008B",
    "darkcyan": "008B8B", "darkgreen": "006400", "darkmagenta": "800080", "darkred": "8B0000",
    "darkyellow": "808000", "darkgray": "A9A9A9", "lightgray": "D3D3D3",
})  # fmt: skip
"""Names that documents have for highlighting (17.18.40), which models carry over to slides."""


class RunLook(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a run's look changes; None leaves it as it is."""

    font_name: str | None = None
    font_size: int | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    font_color: str | None = None
    highlight_color: str | None = None


class Piece(msgspec.Struct, frozen=True):
    """A text with its look."""

    text: str
    look: RunLook = RunLook()


class ParagraphLook(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a paragraph's look changes; None leaves it as it is. The words are the format's."""

    alignment: str | None = None
    space_before: int | None = None
    space_after: int | None = None
    line_spacing: int | None = None


def read_runs(runs: Sequence[Mapping[str, Any]], field: str, notices: Notices) -> tuple[Piece, ...]:
    """Return runs as an operation gives them; what is wrong in a look is skipped and told.

    Raises:
        ValidationFailed: A run has no text.
    """
    found = []
    for place, run in enumerate(runs):
        where = f"{field}[{place}]"
        text = run.get("text")
        if not isinstance(text, str):
            raise ValidationFailed(f'{where} has no text; a run is {{"text": "…", "bold": true}}.')
        fields = {}
        for key, value in run.items():
            if key == "text" or value is None:
                continue
            read = _RUN.get(key)
            if read is None:
                known = ", ".join(("text", *_RUN))
                notices.warn(f"{where}: there is no {brief(key)}, it was skipped; known: {known}.")
                continue
            taken = read(value)
            if taken is None:
                _skipped(notices, f"{where}.{key}", value, _WANTED[key])
            fields[key] = taken
        found.append(Piece(notices.writable(text), RunLook(**fields)))
    return tuple(found)


def read_paragraph_look(
    operation: AddSlide | SetSlideText | AppendBullets, notices: Notices
) -> ParagraphLook:
    """Return how an operation sets its paragraphs; what is wrong is skipped and told."""
    given = {
        "alignment": (operation.alignment, _alignment),
        "space_before": (operation.space_before, _space),
        "space_after": (operation.space_after, _space),
        "line_spacing": (operation.line_spacing, _spacing),
    }
    fields: dict[str, Any] = {}
    for key, (value, read) in given.items():
        if value is None:
            continue
        fields[key] = read(value)
        if fields[key] is None:
            _skipped(notices, key, value, _WANTED[key])
    return ParagraphLook(**fields)


def _skipped(notices: Notices, where: str, value: object, wanted: str) -> None:
    shown = brief(json.dumps(value, ensure_ascii=False, default=str))
    notices.warn(f"{where}: {shown} was skipped; it must be {wanted}.")


def _number(value: object, least: float, most: float) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if least <= value <= most else None


def _font_name(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > _MAX_NAME_CHARACTERS or not value.isprintable():
        return None
    return value.strip() or None


def _font_size(value: object) -> int | None:
    points = _number(value, _MIN_FONT_PT, _MAX_FONT_PT)
    return None if points is None else round(points * 100)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _colour(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    found = _COLOUR.fullmatch(value.strip())
    if found:
        return found[1].upper()
    return _COLOURS.get(value.replace("_", "").replace(" ", "").lower())


def _alignment(value: object) -> str | None:
    return _ALIGNMENTS.get(value.strip().lower()) if isinstance(value, str) else None


def _space(value: object) -> int | None:
    points = _number(value, 0, _MAX_SPACE_PT)
    return None if points is None else round(points * 100)


def _spacing(value: object) -> int | None:
    lines = _number(value, _MIN_LINES, _MAX_LINES)
    return None if lines is None else round(lines * 100_000)


_RUN: Mapping[str, Callable[[object], Any]] = MappingProxyType({
    "font_name": _font_name, "font_size": _font_size, "bold": _flag, "italic": _flag,
    "underline": _flag, "font_color": _colour, "highlight_color": _colour,
})  # fmt: skip

_WANTED = MappingProxyType({
    "font_name": "a font's name",
    "font_size": f"points from {_MIN_FONT_PT} to {_MAX_FONT_PT}",
    "bold": "true or false",
    "italic": "true or false",
    "underline": "true or false",
    "font_color": "a colour as #RRGGBB",
    "highlight_color": "a colour as #RRGGBB",
    "alignment": "left, center, right or justify",
    "space_before": f"points from 0 to {_MAX_SPACE_PT}",
    "space_after": f"points from 0 to {_MAX_SPACE_PT}",
    "line_spacing": f"lines from {_MIN_LINES} to {_MAX_LINES}, such as 1.15",
})  # fmt: skip
