"""Fonts that are installed: how wide a text is in one.

They measure what is told, never what is written: another machine has other fonts.
"""

import os
import re
from functools import lru_cache
from pathlib import Path

from lxml import etree
from PIL import ImageFont
from pptx.opc.constants import RELATIONSHIP_TYPE as RT

from kbd_pptx.edits.deck import related_part
from kbd_pptx.edits.found_shapes import SlideEdit
from kbd_pptx.presentation import A

__all__ = ["FontMeasure", "font_measure"]

_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts",
    "/Library/Fonts", "/System/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
_MAX_FILES = 5_000
_KINDS = (".ttf", ".otf", ".ttc")
_PLAIN = re.compile(r"[^a-z0-9]")
_POINTS = 100
"""In which a text is measured: its width in hundredths of the font's size."""
_MAX_CHARACTERS = 5_000
"""Of a longer text the first ones tell how wide its letters are."""

# Metrically the same, so that one stands for the other ("Carlito" was drawn for it).
_ALIKE = {
    "calibri": "carlito", "cambria": "caladea", "arial": "liberationsans",
    "helvetica": "liberationsans", "timesnewroman": "liberationserif",
    "couriernew": "liberationmono",
}  # fmt: skip


class FontMeasure:
    """Measure of texts in the fonts of a theme, or others by name.

    Args:
        major: The theme's font for titles.
        minor: That for all else.
    """

    def __init__(self, major: str, minor: str) -> None:
        self._theme = {"+mj-lt": major, "+mn-lt": minor, "": minor}

    def __call__(self, text: str, name: str) -> float | None:
        """Return how wide a text is in font sizes; None if the font is not installed."""
        font = _font(self._theme.get(name, name))
        shown = text[:_MAX_CHARACTERS]
        if font is None or not shown:
            return None
        # Breaks are counted apart.
        width = font.getlength(shown.replace("\v", "").replace("\n", "")) / _POINTS
        return width * len(text) / len(shown)


def font_measure(slide: SlideEdit) -> FontMeasure:
    """Return the measure of a slide's texts."""
    names = ["", ""]
    layout = related_part(slide.part, RT.SLIDE_LAYOUT)
    master = related_part(layout, RT.SLIDE_MASTER) if layout is not None else None
    theme = related_part(master, RT.THEME) if master is not None else None
    if theme is not None:
        try:
            root = etree.fromstring(theme.blob)
        except etree.LxmlError:
            return FontMeasure("", "")
        for place, kind in enumerate(("majorFont", "minorFont")):
            for latin in root.iterfind(f".//{A}fontScheme/{A}{kind}/{A}latin"):
                names[place] = latin.get("typeface", "")
    return FontMeasure(*names)


@lru_cache(maxsize=32)
def _font(name: str) -> ImageFont.FreeTypeFont | None:
    plain = _PLAIN.sub("", name.casefold())
    files = _files()
    path = files.get(plain) or files.get(_ALIKE.get(plain, ""))
    if not plain or path is None:
        return None
    try:
        return ImageFont.truetype(str(path), _POINTS)
    except OSError:
        return None


@lru_cache(maxsize=1)
def _files() -> dict[str, Path]:
    """Return the files of upright fonts by the names that their files have."""
    found: dict[str, Path] = {}
    seen = 0
    for folder in _FOLDERS:
        for where, folders, names in os.walk(Path(folder).expanduser()):
            folders.sort()
            for name in sorted(names):
                seen += 1
                stem, suffix = os.path.splitext(name.casefold())
                if suffix in _KINDS:
                    plain = _PLAIN.sub("", stem).removesuffix("regular")
                    found.setdefault(plain, Path(where, name))
            if seen > _MAX_FILES:
                return found
    return found
