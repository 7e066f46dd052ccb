"""Description of the formatting of text, in the words of operations: points, RRGGBB."""

from typing import Any

from lxml import etree

from kbd.office.theme import parse_share
from kbd_pptx.reader.boxes import EMU_PER_INCH
from kbd_pptx.slides import A
from kbd_pptx.styles.deck import flag, short
from kbd_pptx.styles.levels import letters, local
from kbd_pptx.styles.theme import PptxTheme

__all__ = ["describe_fill", "describe_letters", "describe_level"]

_ALIGNMENTS = {
    "l": "left", "ctr": "center", "r": "right", "just": "justify", "justLow": "justify",
    "dist": "distribute", "thaiDist": "distribute",
}  # fmt: skip
_DEFAULT_SIZE = 18.0
"""What letters measure that nothing gives a size (21.1.2.3.9)."""


def describe_letters(look: etree._Element, palette: PptxTheme) -> dict[str, Any]:
    """Return the font, its size and color as a look has them."""
    inner = letters(look)
    latin = inner.find(f"{A}latin")
    found: dict[str, Any] = {
        "font_name": palette.font(short(latin.get("typeface"))) if latin is not None else "",
        "font_size": _points(inner.get("sz")) or _DEFAULT_SIZE,
        "bold": bool(flag(inner.get("b"))),
        "italic": bool(flag(inner.get("i"))),
    }
    if not found["font_name"]:
        found["font_name"] = palette.font("+mn-lt")
    if inner.get("u", "none") != "none":
        found["underline"] = True
    if inner.get("cap", "none") != "none":
        found["caps"] = short(inner.get("cap"))
    fill = inner.find(f"{A}solidFill")
    if fill is None:
        # A run of colors is told by its first; what has no fill has the theme's text color.
        fill = inner.find(f"{A}gradFill/{A}gsLst/{A}gs")
    if fill is None:
        fill = etree.Element(f"{A}solidFill")
        etree.SubElement(fill, f"{A}schemeClr", val="tx1")
    found["font_color"] = palette.rgb(fill)
    if slot := palette.slot(fill):
        found["theme_color"] = slot
    return found


def describe_level(look: etree._Element, palette: PptxTheme) -> dict[str, Any]:
    """Return how a paragraph of a level looks, with its letters."""
    found = describe_letters(look, palette)
    found["alignment"] = _ALIGNMENTS.get(look.get("algn", "l"), "left")
    for key, name in (
        ("line_spacing", "lnSpc"),
        ("space_before", "spcBef"),
        ("space_after", "spcAft"),
    ):
        value = _spacing(look.find(f"{A}{name}"))
        if value is not None:
            found[key] = value
    bullet = _bullet(look)
    if bullet:
        found["bullet"] = bullet
    for key, name in (("indent_left", "marL"), ("indent_first_line", "indent")):
        text = look.get(name, "")
        if text.lstrip("-").isdigit() and len(text) < 10 and int(text):
            found[key] = round(int(text) / EMU_PER_INCH, 4)
    return found


def describe_fill(element: etree._Element | None, palette: PptxTheme) -> dict[str, Any]:
    """Return what fills a background (`p:bgPr` or `p:bgRef`): its kind, and a color if it has one.

    Of a picture the kind alone is told.
    """
    if element is None:
        return {}
    if local(element) == "bgRef":
        rgb = palette.rgb(element)
        return {"kind": "theme", **({"color": rgb} if rgb else {})}
    for child in element:
        match local(child):
            case "solidFill":
                return {"kind": "color", "color": palette.rgb(child)}
            case "gradFill":
                stops = child.findall(f"{A}gsLst/{A}gs")[:10]
                return {"kind": "gradient", "colors": [palette.rgb(stop) for stop in stops]}
            case "blipFill":
                return {"kind": "picture"}
            case "pattFill":
                return {"kind": "pattern"}
            case _:
                continue
    return {"kind": "none"}


def _points(text: str | None) -> float:
    text = text or ""
    return int(text) / 100 if text.isascii() and text.isdigit() and len(text) < 7 else 0.0


def _spacing(element: etree._Element | None) -> float | str | None:
    """Return a spacing: points, or a share of the line as text ("90%")."""
    if element is None:
        return None
    points, share = element.find(f"{A}spcPts"), element.find(f"{A}spcPct")
    if points is not None:
        return _points(points.get("val"))
    return f"{parse_share(share.get('val')):.0%}" if share is not None else None


def _bullet(look: etree._Element) -> str:
    """Return a bullet's sign, or the kind of numbering; "" for none."""
    char, auto = look.find(f"{A}buChar"), look.find(f"{A}buAutoNum")
    if char is not None:
        return short(char.get("char"))
    if auto is not None:
        return short(auto.get("type"))
    return "picture" if look.find(f"{A}buBlip") is not None else ""
