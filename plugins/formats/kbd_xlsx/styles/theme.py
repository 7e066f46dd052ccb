"""Theme, color list and other parts that a workbook has one of, and the colors they resolve.

A color in a workbook is RGB, a slot of the theme with a tint, or a number of a fixed or custom
list (ECMA-376 part 1, 18.8.3, 18.8.19 and 18.8.27). People and models want RRGGBB.
"""

import math
import posixpath

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.theme import SLOTS, parse_rgb, read_theme, with_lightness
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_xlsx.parts.stylesheet import StyleTables

__all__ = [
    "SLOT_NAMES",
    "SlotColor",
    "XlsxTheme",
    "ensure_theme",
    "fix_colors",
    "read_workbook_theme",
    "style_tables",
    "workbook_parts",
]

# A workbook numbers light before dark, although the theme part has dk1 before lt1.
_SLOTS = (
    *("lt1", "dk1", "lt2", "dk2", "accent1", "accent2", "accent3", "accent4"),
    *("accent5", "accent6", "hlink", "folHlink"),
)
SLOT_NAMES = tuple(SLOTS[slot] for slot in _SLOTS)
"""The slots of a theme in the order in which a workbook numbers them."""

# What programs take where a workbook has no theme: the theme of Office 2007.
_OFFICE = (
    *("FFFFFF", "000000", "EEECE1", "1F497D", "4F81BD", "C0504D", "9BBB59", "8064A2"),
    *("4BACC6", "F79646", "0000FF", "800080"),
)
_USUAL = tuple(zip(_SLOTS, _OFFICE, strict=True))
_FIRST_EIGHT = ("000000", "FFFFFF", "FF0000", "00FF00", "0000FF", "FFFF00", "FF00FF", "00FFFF")
# The numbers 8 to 15 repeat 0 to 7 (ECMA-376 part 1, 18.8.27).
_INDEXED = (
    *_FIRST_EIGHT,
    *_FIRST_EIGHT,
    *("800000", "008000", "000080", "808000", "800080", "008080", "C0C0C0", "808080"),
    *("9999FF", "993366", "FFFFCC", "CCFFFF", "660066", "FF8080", "0066CC", "CCCCFF"),
    *("000080", "FF00FF", "FFFF00", "00FFFF", "800080", "800000", "008080", "0000FF"),
    *("00CCFF", "CCFFFF", "CCFFCC", "FFFF99", "99CCFF", "FF99CC", "CC99FF", "FFCC99"),
    *("3366FF", "33CCCC", "99CC00", "FFCC00", "FF9900", "FF6600", "666699", "969696"),
    *("003366", "339966", "003300", "333300", "993300", "993366", "333399", "333333"),
)
_SYSTEM = {64: "000000", 65: "FFFFFF"}
"""The colors of text and window of the system, which nearly all have so."""


class SlotColor(msgspec.Struct, frozen=True):
    """Resolved color: RRGGBB, and the theme's slot if it names one ("accent1 +40%")."""

    rgb: str
    slot: str = ""


class XlsxTheme(msgspec.Struct, frozen=True):
    """A workbook's theme and list of colors.

    Args:
        name: The theme's name, "" without a theme.
        colors: RRGGBB by slot, in the order of `SLOT_NAMES`.
        major: The font of headings, "" where there is no theme.
        minor: The font of other text.
        indexed: RRGGBB by number.
    """

    name: str = ""
    colors: tuple[str, ...] = _OFFICE
    major: str = ""
    minor: str = ""
    indexed: tuple[str, ...] = _INDEXED

    def color(self, element: etree._Element | None) -> SlotColor | None:
        """Return what a color element comes to; None for an automatic or a broken one."""
        if element is None:
            return None
        slot = ""
        rgb = ""
        if _is_number(element.get("theme")):
            index = int(element.get("theme", ""))
            if index < len(self.colors):
                slot, rgb = SLOT_NAMES[index], self.colors[index]
        elif written := parse_rgb(element.get("rgb"), alpha=True):
            rgb = written
        elif _is_number(element.get("indexed")):
            index = int(element.get("indexed", ""))
            rgb = self.indexed[index] if index < len(self.indexed) else _SYSTEM.get(index, "")
        if not rgb:
            return None
        tint = _tint(element.get("tint"))
        if slot and tint:
            slot = f"{slot} {tint:+.0%}"
        return SlotColor(_tinted(rgb, tint), slot)


def read_workbook_theme(
    package: Package | Rewriting, theme: str, styles: etree._Element | None
) -> XlsxTheme:
    """Read a workbook's theme and list of colors.

    Args:
        package: The workbook.
        theme: The part that holds its theme, "" if there is none.
        styles: The root of its style sheet, if it has one.

    Raises:
        FileReadFailed: The theme is damaged.
    """
    indexed = list(_INDEXED)
    if styles is not None:
        custom = styles.findall("{*}colors/{*}indexedColors/{*}rgbColor")
        # A custom list replaces the colors of the fixed one from the first on.
        for index, entry in enumerate(custom[: len(indexed)]):
            indexed[index] = parse_rgb(entry.get("rgb"), alpha=True) or indexed[index]
    if theme not in package:
        return XlsxTheme(indexed=tuple(indexed))
    found = read_theme(package.root(theme))
    return XlsxTheme(
        name=found.name,
        colors=tuple(found.colors.get(slot, usual) for slot, usual in _USUAL),
        major=found.fonts.get("major-latin", ""),
        minor=found.fonts.get("minor-latin", ""),
        indexed=tuple(indexed),
    )


def fix_colors(styles: etree._Element, old: XlsxTheme, new: XlsxTheme) -> None:
    """Have the colors and fonts of a style sheet look in another workbook as they do in theirs.

    What both themes have alike stays a slot of the theme; the rest becomes RGB, in place.

    Args:
        styles: The root of the style sheet.
        old: The theme of its own workbook.
        new: The theme of the other one.
    """
    for element in styles.iter():
        names_theme = element.get("theme") is not None and old.colors != new.colors
        names_list = element.get("indexed") is not None and old.indexed != new.indexed
        color = old.color(element) if names_theme or names_list else None
        if color is not None:
            for name in ("theme", "indexed", "tint"):
                element.attrib.pop(name, "")
            element.set("rgb", f"FF{color.rgb}")
    if (old.major, old.minor) != (new.major, new.minor):
        # A font with a scheme follows the theme, whatever name it carries.
        for font in styles.iter("{*}font"):
            for scheme in font.findall("{*}scheme"):
                font.remove(scheme)


def _tinted(rgb: str, tint: float) -> str:
    """Return a color made lighter (to 1) or darker (to -1), by the rule of 18.8.19."""
    if not tint:
        return rgb
    white = max(tint, 0.0)
    return with_lightness(rgb, lambda light: light * (1 - abs(tint)) + white)


def _tint(text: str | None) -> float:
    try:
        tint = float(text or 0)
    except ValueError:
        return 0.0
    return max(-1.0, min(1.0, tint)) if math.isfinite(tint) else 0.0


def _is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) < 6


def workbook_parts(package: Package) -> dict[str, str]:
    """Return the parts that a workbook has one of ("styles", "theme"), by the relation's kind."""
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    relations = package.relations(main)
    return {r.kind: r.target for r in relations if not r.external and r.target in package}


def style_tables(package: Package, part: str) -> StyleTables | None:
    """Return a workbook's style sheet, None where it has none or one of an unknown form."""
    if not part:
        return None
    try:
        return StyleTables(package.root(part))
    except ValidationFailed:
        return None


_THEME_TYPE = "application/vnd.openxmlformats-officedocument.theme+xml"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_FILLS = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>' * 3
_LINES = '<a:ln w="9525"><a:solidFill><a:schemeClr val="phClr"/></a:solidFill></a:ln>' * 3
_EFFECTS = "<a:effectStyle><a:effectLst/></a:effectStyle>" * 3
_OTHERS = '<a:ea typeface=""/><a:cs typeface=""/>'


def ensure_theme(rewriting: Rewriting, main: str) -> None:
    """Give a workbook without a theme the one that programs take where there is none.

    LibreOffice takes none: what has a color of the theme, as the series of charts, is not drawn.

    Args:
        rewriting: The package.
        main: The workbook part.
    """
    if any(relation.kind == "theme" for relation in rewriting.relations(main)):
        return
    by_slot = dict(_USUAL)
    # The part has dark before light.
    order = ("dk1", "lt1", "dk2", "lt2", *_SLOTS[4:])
    colors = "".join(f'<a:{slot}><a:srgbClr val="{by_slot[slot]}"/></a:{slot}>' for slot in order)
    text = (
        f'<a:theme xmlns:a="{_DRAWING}" name="Office"><a:themeElements>'
        f'<a:clrScheme name="Office">{colors}</a:clrScheme><a:fontScheme name="Office">'
        f'<a:majorFont><a:latin typeface="Cambria"/>{_OTHERS}</a:majorFont>'
        f'<a:minorFont><a:latin typeface="Calibri"/>{_OTHERS}</a:minorFont></a:fontScheme>'
        f'<a:fmtScheme name="Office"><a:fillStyleLst>{_FILLS}</a:fillStyleLst>'
        f"<a:lnStyleLst>{_LINES}</a:lnStyleLst><a:effectStyleLst>{_EFFECTS}</a:effectStyleLst>"
        f"<a:bgFillStyleLst>{_FILLS}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )
    part = rewriting.free_name(posixpath.join(posixpath.dirname(main), "theme/theme{}.xml"))
    rewriting.add(part, xml_bytes(etree.fromstring(text)), _THEME_TYPE)
    rewriting.relate(main, "theme", part)
