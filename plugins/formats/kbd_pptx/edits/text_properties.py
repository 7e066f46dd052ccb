"""Formatting written into the properties of runs and paragraphs; the rest of them is kept.

The order of children is that of ECMA-376 part 1, A.4.1 (CT_TextCharacterProperties and
CT_TextParagraphProperties).
"""

from collections.abc import Sequence

from lxml import etree

from kbd_pptx.edits.formatting import PptxParagraphFormatting, PptxRunFormatting
from kbd_pptx.slides import A

__all__ = ["at_level", "dress_paragraph", "dress_run", "percent", "placed"]

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


def dress_run(properties: etree._Element, formatting: PptxRunFormatting) -> None:
    """Change the properties of a run."""
    if formatting.font_size is not None:
        properties.set("sz", _hundredths(formatting.font_size))
    for key, flag in (("b", formatting.bold), ("i", formatting.italic)):
        if flag is not None:
            properties.set(key, str(int(flag)))
    if formatting.underline is not None:
        properties.set("u", formatting.underline)
    if formatting.font_color is not None:
        _remove(properties, _FILLS)
        _color(placed(properties, "solidFill", _RUN_ORDER), formatting.font_color)
    if formatting.highlight_color is not None:
        _remove(properties, ("highlight",))
        _color(placed(properties, "highlight", _RUN_ORDER), formatting.highlight_color)
    if formatting.font_name is not None:
        # One name for all scripts, or text in another one keeps the old font.
        for name in ("latin", "ea", "cs"):
            _remove(properties, (name,))
            placed(properties, name, _RUN_ORDER).set("typeface", formatting.font_name)


def dress_paragraph(
    paragraph: etree._Element, formatting: PptxParagraphFormatting, *, strict: bool
) -> None:
    """Change a paragraph's properties; `strict` tells how percents are written."""
    if formatting == PptxParagraphFormatting():
        return
    properties = placed(paragraph, "pPr", ("pPr",))
    if formatting.alignment is not None:
        properties.set("algn", formatting.alignment)
    for name, points in (("spcBef", formatting.space_before), ("spcAft", formatting.space_after)):
        if points is not None:
            _spaced(properties, name, "spcPts", _hundredths(points))
    if formatting.line_spacing is not None:
        _spaced(
            properties,
            "lnSpc",
            "spcPct",
            percent(round(formatting.line_spacing * 100_000), strict=strict),
        )


def at_level(properties: etree._Element, level: int) -> None:
    """Put a paragraph's properties at another level, whose indents and bullets then hold."""
    for key in ("marL", "indent", "lvl"):
        properties.attrib.pop(key, "")
    _remove(properties, _BULLETS)
    if level:
        properties.set("lvl", str(level))


def percent(thousandths: int, *, strict: bool) -> str:
    """Return a percentage as a part holds it: the strict variant writes 62.5 % as "62.5%"."""
    return f"{thousandths / 1000:g}%" if strict else str(thousandths)


def placed(parent: etree._Element, name: str, order: Sequence[str]) -> etree._Element:
    """Return a child by its local name, made in its place among `order` if there is none.

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


def _spaced(properties: etree._Element, name: str, unit: str, value: str) -> None:
    _remove(properties, (name,))
    etree.SubElement(placed(properties, name, _PARAGRAPH_ORDER), f"{A}{unit}", {"val": value})


def _color(fill: etree._Element, color: str) -> None:
    etree.SubElement(fill, f"{A}srgbClr", {"val": color})


def _remove(parent: etree._Element, names: Sequence[str]) -> None:
    for name in names:
        for child in parent.findall(f"{A}{name}"):
            parent.remove(child)
