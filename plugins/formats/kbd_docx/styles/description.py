"""Description of formatting in the words of operations: names, points, inches, #RRGGBB."""

import re
from typing import Any

from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.styles.properties import Properties
from kbd_docx.styles.stylesheet import StyleFormatting

__all__ = ["described", "inches", "page_setup"]

_TWIPS_PER_INCH, _TWIPS_PER_POINT = 1440, 20
_UNITS = {"in": 1440, "pt": 20, "pc": 240, "pi": 240, "cm": 1440 / 2.54, "mm": 1440 / 25.4}
_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,6})?)(in|pt|pc|pi|cm|mm)?")
_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_ALIGNMENTS = {"left": "left", "center": "center", "right": "right", "both": "justify",
               "distribute": "distribute"}  # fmt: skip
_EFFECTS = {"caps": "all_caps", "smallCaps": "small_caps", "strike": "strike", "vanish": "hidden"}
_PARAGRAPH_SWITCHES = {
    "keepNext": "keep_with_next",
    "keepLines": "keep_lines_together",
    "pageBreakBefore": "page_break_before",
}
_LINE = 240
"""A line's height where it is told as a share of the font's."""

_SHOWN = 100
"""How many characters of a font's name or another word are shown."""


def described(looks: StyleFormatting, *, has_paragraph: bool) -> dict[str, Any]:
    """Return what looks come to, in words.

    Args:
        looks: What is described.
        has_paragraph: Whether what paragraphs come to belongs to it.
    """
    return _run_words(looks.run) | (_paragraph_words(looks.paragraph) if has_paragraph else {})


def inches(text: str | None) -> float | None:
    """Return a document's length (twips, or with a unit) in inches, None if it is none."""
    twips = _twips(text or "")
    return None if twips is None else _rounded(twips / _TWIPS_PER_INCH)


def page_setup(section: etree._Element) -> dict[str, Any]:
    """Return the size, orientation, margins (in inches) and columns of a section (sectPr)."""
    found: dict[str, Any] = {}
    size = section.find(f"{W}pgSz")
    if size is not None:
        for key, name in (("width", "w"), ("height", "h")):
            if (length := inches(size.get(f"{W}{name}"))) is not None:
                found[key] = length
        is_wide = found.get("width", 0) > found.get("height", 0)
        found["orientation"] = size.get(f"{W}orient") or ("landscape" if is_wide else "portrait")
    margins = section.find(f"{W}pgMar")
    if margins is not None:
        names = ("top", "bottom", "left", "right", "header", "footer", "gutter")
        told = {name: inches(margins.get(f"{W}{name}")) for name in names}
        found["margins"] = {name: value for name, value in told.items() if value is not None}
    columns = section.find(f"{W}cols")
    if columns is not None and _number(columns.get(f"{W}num", "")) not in (None, 1):
        found["columns"] = int(_number(columns.get(f"{W}num", "")) or 1)
    return found


def _run_words(run: Properties) -> dict[str, Any]:
    found: dict[str, Any] = {}
    font = _text(run, "rFonts/ascii") or _text(run, "rFonts/hAnsi")
    if font:
        found["font_name"] = font[:_SHOWN]
    size = _number(_text(run, "sz"))
    if size is not None:
        found["font_size"] = size / 2
    for key, word in (("b", "bold"), ("i", "italic")):
        if key in run:
            found[word] = _text(run, key) == "1"
    if "u" in run:
        found["underline"] = _text(run, "u") not in ("none", "")
    if _HEX.fullmatch(_text(run, "color")):
        found["font_color"] = f"#{_text(run, 'color').upper()}"
    if _text(run, "highlight") not in ("", "none"):
        found["highlight_color"] = _text(run, "highlight")[:_SHOWN]
    fill = dict(run.get("shd", ())).get("fill", "")
    if _HEX.fullmatch(fill):
        found["fill_color"] = f"#{fill.upper()}"
    found |= {word: True for key, word in _EFFECTS.items() if _text(run, key) == "1"}
    if _text(run, "vertAlign") in ("superscript", "subscript"):
        found[_text(run, "vertAlign")] = True
    return found


def _paragraph_words(paragraph: Properties) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if _text(paragraph, "jc") in _ALIGNMENTS:
        found["alignment"] = _ALIGNMENTS[_text(paragraph, "jc")]
    for key, word in (("spacing/before", "space_before"), ("spacing/after", "space_after")):
        twips = _twips(_text(paragraph, key))
        if twips is not None:
            found[word] = _rounded(twips / _TWIPS_PER_POINT)
    found |= _line_words(paragraph)
    for key, word in (
        ("ind/left", "indent_left"),
        ("ind/right", "indent_right"),
        ("ind/firstLine", "indent_first_line"),
    ):
        length = inches(_text(paragraph, key))
        if length:
            found[word] = length
    level = _number(_text(paragraph, "outlineLvl"))
    if level is not None and 0 <= level < 9:
        found["outline_level"] = int(level) + 1
    for key, word in _PARAGRAPH_SWITCHES.items():
        if _text(paragraph, key) == "1":
            found[word] = True
    fill = dict(paragraph.get("shd", ())).get("fill", "")
    if _HEX.fullmatch(fill):
        found["paragraph_fill_color"] = f"#{fill.upper()}"
    sides = [key.partition("/")[2] for key, value in paragraph.items() if key.startswith("pBdr/")
             and dict(value).get("val") not in ("nil", "none")]  # fmt: skip
    return found | ({"borders": sorted(sides)} if sides else {})


def _line_words(paragraph: Properties) -> dict[str, Any]:
    """Return how far lines are apart: as a multiple, or in points where it is a length."""
    line = _twips(_text(paragraph, "spacing/line"))
    if line is None:
        return {}
    match _text(paragraph, "spacing/lineRule"):
        case "exact":
            return {"line_spacing_exactly_pt": _rounded(line / _TWIPS_PER_POINT)}
        case "atLeast":
            return {"line_spacing_at_least_pt": _rounded(line / _TWIPS_PER_POINT)}
        case _:
            return {"line_spacing": _rounded(line / _LINE)}


def _text(properties: Properties, key: str) -> str:
    """Return a property's value, "" if it is not said."""
    value = dict(properties.get(key, ()))
    return value.get("val", value.get("", ""))


def _number(text: str) -> float | None:
    """Return a number of half points or the like, None if it is none."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        return None
    if found[2]:
        # Sizes with a unit are lengths; two half points are a point.
        return float(found[1]) * _UNITS[found[2]] / _TWIPS_PER_POINT * 2
    return _rounded(float(found[1]))


def _twips(text: str) -> float | None:
    found = _LENGTH.fullmatch(text.strip())
    return float(found[1]) * _UNITS.get(found[2] or "", 1) if found else None


def _rounded(number: float) -> float:
    """Return a number without needless digits; 1.0 stays a float, as fields of it are floats."""
    return round(number, 3)
