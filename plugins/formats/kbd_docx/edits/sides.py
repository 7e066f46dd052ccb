"""How the strict variant of the format names the sides of a page: start and end.

The names of namespaces are changed with the whole part; these few words are not (ISO/IEC 29500-1,
17.3.1.12, 17.4.38, 17.4.42 and 17.18.44).
"""

from lxml import etree

from kbd_docx.blocks import W

__all__ = ["name_sides"]

_SIDES = {"left": "start", "right": "end"}
_VALUE = f"{W}val"
_WORDED = (f"{W}jc", f"{W}lvlJc", f"{W}tab")
_FRAMES = (f"{W}tblBorders", f"{W}tcBorders", f"{W}tblCellMar", f"{W}tcMar")


def name_sides(element: etree._Element) -> None:
    """Name the sides in a new element as the strict variant does."""
    for each in element.iter(*_WORDED):
        word = each.get(_VALUE, "")
        if word in _SIDES:
            each.set(_VALUE, _SIDES[word])
    for each in element.iter(f"{W}ind"):
        for usual, strict in _SIDES.items():
            value = each.get(f"{W}{usual}")
            if value is not None:
                each.set(f"{W}{strict}", value)
                del each.attrib[f"{W}{usual}"]
    for frame in element.iter(*_FRAMES):
        for usual, strict in _SIDES.items():
            for side in frame.findall(f"{W}{usual}"):
                side.tag = f"{W}{strict}"
    for look in element.iter(f"{W}tblLook"):
        # Its bits are attributes of their own there.
        if _VALUE in look.attrib:
            del look.attrib[_VALUE]
