"""Fonts, fills, borders and cell formats as elements, changed in what a look says.

Each function takes the element as it is, which stays as it is, and returns a changed copy. What is
not named is kept: unknown children, extension lists, alternative contents. The order of children
is that of ECMA-376 part 1, 18.8 and A.2.
"""

from collections.abc import Sequence
from copy import deepcopy

from lxml import etree

from kbd_xlsx.parts.looks import Look, Side
from kbd_xlsx.parts.pool import local_name

__all__ = [
    "aligned",
    "bordered",
    "filled",
    "new_element",
    "placed",
    "translated",
    "with_font",
]

_FONT_ORDER = (
    *("b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz"),
    *("color", "name", "family", "charset", "scheme"),
)
_BORDER_ORDER = (
    *("start", "end", "left", "right", "top", "bottom", "diagonal", "vertical", "horizontal"),
)
_XF_ORDER = ("alignment", "protection", "extLst")

_STRICT_SIDES = {"left": "start", "right": "end"}
"""What the strict variant calls two of the sides."""


def new_element(like: etree._Element, name: str) -> etree._Element:
    """Return an element of the same namespace, and with the same prefix, as another one."""
    nsmap = {like.prefix: etree.QName(like).namespace}
    return etree.Element(f"{{{etree.QName(like).namespace}}}{name}", nsmap=nsmap)


def placed(parent: etree._Element, name: str, order: Sequence[str]) -> etree._Element:
    """Return a child by its name, made in its place if there is none.

    Args:
        parent: The element.
        name: The child's name, one of `order`.
        order: The names of all children in the order that the format wants.
    """
    rank = order.index(name)
    for child in parent:
        own = local_name(child)
        if own == name:
            return child
        if own in order and order.index(own) > rank:
            made = new_element(parent, name)
            child.addprevious(made)
            return made
    made = new_element(parent, name)
    parent.append(made)
    return made


def with_font(font: etree._Element, look: Look) -> etree._Element:
    """Return a font changed as a look says."""
    font = deepcopy(font)
    for name, flag in (("b", look.font_bold), ("i", look.font_italic)):
        if flag is not None:
            _remove(font, name)
        if flag:
            placed(font, name, _FONT_ORDER)
    if look.font_underline is not None:
        _remove(font, "u")
        if look.font_underline != "none":
            line = placed(font, "u", _FONT_ORDER)
            if look.font_underline != "single":
                line.set("val", look.font_underline)
    if look.font_size is not None:
        _refreshed(font, "sz", _FONT_ORDER).set("val", f"{look.font_size:g}")
    if look.font_color is not None:
        _refreshed(font, "color", _FONT_ORDER).set("rgb", f"FF{look.font_color}")
    if look.font_name is not None:
        _refreshed(font, "name", _FONT_ORDER).set("val", look.font_name)
        # These say more of the old name: a scheme would win over the new one.
        for name in ("scheme", "family", "charset"):
            _remove(font, name)
    return font


def filled(fill: etree._Element, look: Look) -> etree._Element:
    """Return a fill changed as a look says; a gradient gives way to a pattern."""
    old = next((child for child in fill if local_name(child) == "patternFill"), None)
    before = old.get("patternType", "none") if old is not None else "none"
    kind = look.fill_pattern or (before if before != "none" else "solid")
    made = new_element(fill, "fill")
    pattern = deepcopy(old) if old is not None else new_element(fill, "patternFill")
    made.append(pattern)
    pattern.set("patternType", kind)
    order = ("fgColor", "bgColor")
    if kind == "none":
        for name in order:
            _remove(pattern, name)
    if look.fill_color is not None and kind != "none":
        _refreshed(pattern, "fgColor", order).set("rgb", f"FF{look.fill_color}")
    if kind == "solid":
        # The system's window colour: programs expect one, and do not show it.
        _refreshed(pattern, "bgColor", order).set("indexed", "64")
    return made


def bordered(border: etree._Element, look: Look, *, strict: bool) -> etree._Element:
    """Return a border changed as a look says."""
    border = deepcopy(border)
    sides: dict[str, Side | None] = {
        "left": look.border_left,
        "right": look.border_right,
        "top": look.border_top,
        "bottom": look.border_bottom,
    }
    names = {local_name(child) for child in border}
    for name, side in sides.items():
        if side is None:
            continue
        other = _STRICT_SIDES.get(name, name)
        if other in names or (strict and name not in names):
            name = other
        element = _refreshed(border, name, _BORDER_ORDER)
        if side.style:
            element.set("style", side.style)
            colour = new_element(element, "color")
            colour.set("rgb", f"FF{side.color}")
            element.append(colour)
    return border


def aligned(xf: etree._Element, look: Look) -> None:
    """Change the alignment of a cell format in place."""
    element = placed(xf, "alignment", _XF_ORDER)
    settings = (
        ("horizontal", look.h_align, "general"),
        ("vertical", look.v_align, "bottom"),
        ("wrapText", None if look.wrap_text is None else str(int(look.wrap_text)), "0"),
    )
    for name, value, default in settings:
        if value == default:
            element.attrib.pop(name, "")
        elif value is not None:
            element.set(name, value)
    if not element.attrib and not len(element):
        xf.remove(element)


def translated(element: etree._Element, like: etree._Element) -> etree._Element:
    """Return a copy of an element of another style sheet in the namespace of this one.

    Attributes of foreign namespaces are left out: they are ids of revisions, and a style sheet
    that does not announce them as ignorable would be damaged by them.

    Args:
        element: A font, fill, border, cell format or the like.
        like: Any element of the style sheet that it is for.
    """
    old, new = etree.QName(element).namespace, etree.QName(like).namespace
    back = {strict: plain for plain, strict in _STRICT_SIDES.items()} if old != new else {}
    name = local_name(element)
    made = new_element(like, back.get(name, name))
    for key, value in element.attrib.items():
        if not str(key).startswith("{"):
            made.set(key, value)
    made.text = element.text
    for child in element:
        own = isinstance(child.tag, str) and etree.QName(child).namespace == old
        made.append(translated(child, like) if own else deepcopy(child))
    return made


def _refreshed(parent: etree._Element, name: str, order: Sequence[str]) -> etree._Element:
    """Return a child without contents, made in its place if there is none."""
    element = placed(parent, name, order)
    element.attrib.clear()
    element.text = None
    del element[:]
    return element


def _remove(parent: etree._Element, name: str) -> None:
    for child in list(parent):
        if local_name(child) == name:
            parent.remove(child)
