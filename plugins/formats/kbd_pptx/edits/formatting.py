"""Formatting of runs and paragraphs: read from operations, written into DrawingML's properties.

What operations do not name of properties is kept. The order of children is that of ECMA-376 part 1,
A.4.1 (CT_TextCharacterProperties and CT_TextParagraphProperties). The strict variant writes
percentages as "62.5%", the other one as 62500 (ISO/IEC 29500-1 against 29500-4, 12.1 and 20.1.10.40
and following).
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from lxml import etree

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
from kbd_pptx.operations import ParagraphedOperation
from kbd_pptx.presentation import DGM, A

__all__ = [
    "PptxParagraphFormatting",
    "PptxRunFormatting",
    "SlideTextPiece",
    "ensure_child",
    "format_paragraph",
    "format_run",
    "percent",
    "read_paragraph",
    "read_pieces",
    "set_level",
    "write_strict_percentages",
    "write_usual_percentages",
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
    """Formatting of a run; None leaves it as it is. Sizes are in points, colors RRGGBB."""

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
    """Formatting of a paragraph; None leaves it as it is.

    Spaces are in points, `line_spacing` in lines; the word for the alignment is the format's.
    """

    alignment: str | None = None
    space_before: float | None = None
    space_after: float | None = None
    line_spacing: float | None = None


def read_pieces(
    runs: Sequence[Mapping[str, Any]], field: str, warnings: DeckWarnings
) -> tuple[SlideTextPiece, ...]:
    """Return runs as an operation gives them; what is wrong in their formatting is skipped.

    Raises:
        ValidationFailed: A run has no text.
    """
    return tuple(
        SlideTextPiece(warnings.clean_text(text), PptxRunFormatting(**found))
        for text, found in read_runs(runs, _RUN_FIELDS, warnings.warn, field)
    )


def read_paragraph(
    operation: ParagraphedOperation, warnings: DeckWarnings
) -> PptxParagraphFormatting:
    """Return how an operation sets its paragraphs; what is wrong is skipped and warned of."""
    given = msgspec.structs.asdict(operation)
    named = {key: given[key] for key in _PARAGRAPH_FIELDS}
    return PptxParagraphFormatting(**read_formatting(named, _PARAGRAPH_FIELDS, warnings.warn))


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


_COLOR_CHANGES = (
    "tint", "shade", "alpha", "alphaMod", "alphaOff", "hueMod", "sat", "satMod", "satOff", "lum",
    "lumMod", "lumOff", "red", "redMod", "redOff", "green", "greenMod", "greenOff", "blue",
    "blueMod", "blueOff",
)  # fmt: skip
_RECTANGLES = ("fillToRect", "fillRect", "tileRect", "srcRect")

_ATTRIBUTES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    **{f"{A}{name}": ("val",) for name in (*_COLOR_CHANGES, "spcPct", "buSzPct")},
    **{f"{A}{name}": ("l", "t", "r", "b") for name in _RECTANGLES},
    **{f"{A}{name}": ("sx", "sy") for name in ("tile", "outerShdw", "xfrm")},
    f"{A}alphaBiLevel": ("thresh",),
    f"{A}alphaModFix": ("amt",),
    f"{A}alphaRepl": ("a",),
    f"{A}biLevel": ("thresh",),
    f"{A}ds": ("d", "sp"),
    f"{A}gs": ("pos",),
    f"{A}hsl": ("sat", "lum"),
    f"{A}hslClr": ("sat", "lum"),
    # These two are changes of a color and effects of a picture, by one name.
    f"{A}lum": ("val", "bright", "contrast"),
    f"{A}tint": ("val", "amt"),
    f"{A}miter": ("lim",),
    f"{A}normAutofit": ("fontScale", "lnSpcReduction"),
    f"{A}reflection": ("stA", "stPos", "endA", "endPos", "sx", "sy"),
    f"{A}relOff": ("tx", "ty"),
    f"{A}scrgbClr": ("r", "g", "b"),
    f"{DGM}prSet": (
        "custScaleX", "custScaleY", "custLinFactX", "custLinFactY", "custLinFactNeighborX",
        "custLinFactNeighborY", "custRadScaleRad", "custRadScaleInc",
    ),
})  # fmt: skip
"""All that hold a share: others may look like one, as the words for a picture do."""

_SHARE = re.compile(r"-?\d{1,6}(\.\d{1,6})?%")


def write_strict_percentages(root: etree._Element) -> None:
    """Write the percentages of a new part as the strict variant does."""
    for element in root.iter(*_ATTRIBUTES):
        for key in _ATTRIBUTES[str(element.tag)]:
            value = element.get(key, "")
            # What comes from a strict deck has its sign already and is left as it is.
            if value.lstrip("-").isdecimal():
                element.set(key, f"{int(value) / 1000:g}%")


def write_usual_percentages(root: etree._Element) -> None:
    """Write the percentages of a part of a strict deck as all others do."""
    for element in root.iter(*_ATTRIBUTES):
        for key in _ATTRIBUTES[str(element.tag)]:
            value = element.get(key, "")
            if _SHARE.fullmatch(value):
                element.set(key, str(round(float(value[:-1]) * 1000)))


# The schema's order of children (CT_TextCharacterProperties and CT_TextParagraphProperties), kept
# by hand: elements are made here without python-pptx, and appending does not keep it.
_RUN_ORDER = (
    "ln", "noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill", "effectLst",
    "effectDag", "highlight", "uLnTx", "uLn", "uFillTx", "uFill", "latin", "ea", "cs", "sym",
    "hlinkClick", "hlinkMouseOver", "rtl", "extLst",
)  # fmt: skip
_FILLS = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_PARAGRAPH_ORDER = (
    "lnSpc", "spcBef", "spcAft", "buClrTx", "buClr", "buSzTx", "buSzPct", "buSzPts", "buFontTx",
    "buFont", "buNone", "buAutoNum", "buChar", "buBlip", "tabLst", "defRPr", "extLst",
)  # fmt: skip
_BULLETS = tuple(name for name in _PARAGRAPH_ORDER if name.startswith("bu"))


def format_run(properties: etree._Element, formatting: PptxRunFormatting) -> None:
    """Change the properties of a run."""
    if formatting.font_size is not None:
        properties.set("sz", _hundredths(formatting.font_size))
    for key, flag in (("b", formatting.bold), ("i", formatting.italic)):
        if flag is not None:
            properties.set(key, str(int(flag)))
    if formatting.underline is not None:
        properties.set("u", formatting.underline)
    if formatting.font_color is not None:
        # Of the fills only one may stand.
        _remove(properties, _FILLS)
        _color(ensure_child(properties, "solidFill", _RUN_ORDER), formatting.font_color)
    if formatting.highlight_color is not None:
        _remove(properties, ("highlight",))
        _color(ensure_child(properties, "highlight", _RUN_ORDER), formatting.highlight_color)
    if formatting.font_name is not None:
        # One name for all scripts, or text in another one keeps the old font.
        for name in ("latin", "ea", "cs"):
            # Made anew: panose and pitch of the old one describe another typeface.
            _remove(properties, (name,))
            ensure_child(properties, name, _RUN_ORDER).set("typeface", formatting.font_name)


def format_paragraph(
    paragraph: etree._Element, formatting: PptxParagraphFormatting, *, strict: bool
) -> None:
    """Change a paragraph's properties; `strict` tells how percents are written."""
    # Else a paragraph that nothing is asked of would get an empty a:pPr.
    if formatting == PptxParagraphFormatting():
        return
    properties = ensure_child(paragraph, "pPr", ("pPr",))
    if formatting.alignment is not None:
        properties.set("algn", formatting.alignment)
    for name, points in (("spcBef", formatting.space_before), ("spcAft", formatting.space_after)):
        if points is not None:
            _set_spacing(properties, name, "spcPts", _hundredths(points))
    if formatting.line_spacing is not None:
        _set_spacing(
            properties,
            "lnSpc",
            "spcPct",
            percent(round(formatting.line_spacing * 100_000), strict=strict),
        )


def set_level(properties: etree._Element, level: int) -> None:
    """Set a paragraph's level, whose indents and bullets then hold."""
    for key in ("marL", "indent", "lvl"):
        properties.attrib.pop(key, "")
    _remove(properties, _BULLETS)
    if level:
        properties.set("lvl", str(level))


def percent(thousandths: int, *, strict: bool) -> str:
    """Return a percentage as a part holds it: the strict variant writes 62.5 % as "62.5%"."""
    return f"{thousandths / 1000:g}%" if strict else str(thousandths)


def ensure_child(parent: etree._Element, name: str, order: Sequence[str]) -> etree._Element:
    """Return a child by its local name, created in its place among `order` if missing.

    Where `order` is only its name it is made as the first child.
    """
    later = {f"{A}{each}" for each in order[order.index(name) + 1 :]}
    found = parent.find(f"{A}{name}")
    if found is not None:
        return found
    made = etree.Element(f"{A}{name}")
    if order == (name,):
        parent.insert(0, made)
        return made
    for child in parent:
        if child.tag in later:
            child.addprevious(made)
            return made
    parent.append(made)
    return made


def _hundredths(points: float) -> str:
    """Return points as the format counts them."""
    return str(round(points * 100))


def _set_spacing(properties: etree._Element, name: str, unit: str, value: str) -> None:
    # Replaced whole: inside, either a share or points may stand (CT_TextSpacing).
    _remove(properties, (name,))
    etree.SubElement(ensure_child(properties, name, _PARAGRAPH_ORDER), f"{A}{unit}", {"val": value})


def _color(fill: etree._Element, color: str) -> None:
    etree.SubElement(fill, f"{A}srgbClr", {"val": color})


def _remove(parent: etree._Element, names: Sequence[str]) -> None:
    for name in names:
        for child in parent.findall(f"{A}{name}"):
            parent.remove(child)
