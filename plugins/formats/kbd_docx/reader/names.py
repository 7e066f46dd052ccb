"""The names of elements and attributes, as lxml names them, and how their values are read.

ECMA-376, part 1: 17 (documents), 20 (drawings), 22.1 (math); part 4, 14 and 19 (VML).
"""

import re

from lxml import etree

from kbd_docx.blocks import W

__all__ = ["MC", "PIC", "VAL", "WP", "A", "M", "O", "R", "V", "is_on", "number"]

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741 - the prefix that every producer uses
PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
V = "{urn:schemas-microsoft-com:vml}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"

VAL = f"{W}val"

_WHOLE = re.compile(r"\s*([+-]?\d{1,15})(\.\d*)?\s*")
_OFF = ("0", "false", "off", "none")


def is_on(element: etree._Element | None) -> bool:
    """Whether a property that is on by being there is there and not switched off."""
    return element is not None and element.get(VAL, "1") not in _OFF


def number(text: str | None, default: int, least: int, most: int) -> int:
    """Return a whole number that stands in an attribute, within bounds.

    What is no number, or has more digits than any that mean something, is the default.
    """
    found = _WHOLE.fullmatch(text or "")
    return min(max(int(found[1]), least), most) if found else default
