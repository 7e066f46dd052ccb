"""Elements of a style sheet: the sections that hold them, and changed copies of them.

A section's entries are known by their position and never move.

Each function takes a font, a fill, a border or a cell format, which stays as it is, and returns a
changed copy. What formatting does not name is preserved: unknown children, extension lists,
alternative contents. The order of children is that of ECMA-376 part 1, 18.8 and A.2.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd_xlsx.parts.formatting import BorderSide, CellFormatting

__all__ = [
    "EntryPool",
    "aligned",
    "bordered",
    "canonical",
    "differential",
    "filled",
    "new_element",
    "placed",
    "translated",
    "with_font",
]


def canonical(element: etree._Element) -> tuple[Any, ...]:
    """Return a value that is equal for elements of equal content, whatever their prefixes."""
    children = tuple(canonical(child) for child in element if isinstance(child.tag, str))
    text = (element.text or "").strip()
    return element.tag, tuple(sorted(element.attrib.items())), text, children


class EntryPool:
    """The entries of one section, found by content and only ever appended.

    Args:
        section: The element that holds them, with a `count`.
        entry: The name of an entry, without its namespace.
        limit: How many there may be.

    Raises:
        ValidationFailed: The positions of its entries cannot be told.
    """

    def __init__(self, section: etree._Element, entry: str, limit: int) -> None:
        self.section = section
        self._entry = entry
        self._limit = limit
        self.entries = [child for child in section if local_name(child) == entry]
        self._places: dict[tuple[Any, ...], int] | None = None
        # Programs take different alternatives, so positions after them cannot be known.
        if any(local_name(child) == "AlternateContent" for child in section):
            name = local_name(section)
            raise ValidationFailed(f"the styles cannot be changed: {name} has alternative contents")

    def get(self, index: int) -> etree._Element | None:
        """Return an entry; where there is none at that position the first, if there is one."""
        if not 0 <= index < len(self.entries):
            index = 0
        return self.entries[index] if self.entries else None

    def find(self, element: etree._Element) -> int | None:
        """Return the position of an entry with this content, if there is one."""
        if self._places is None:
            self._places = {}
            for index, entry in enumerate(self.entries):
                self._places.setdefault(canonical(entry), index)
        return self._places.get(canonical(element))

    def add(self, element: etree._Element) -> int:
        """Return the position of an entry with this content, which is appended if it is new.

        Raises:
            ValidationFailed: There are too many.
        """
        known = self.find(element)
        return self.append(element) if known is None else known

    def append(self, element: etree._Element) -> int:
        """Append an entry and return its position.

        Raises:
            ValidationFailed: There are too many.
        """
        if len(self.entries) >= self._limit:
            raise ValidationFailed(
                f"the workbook has {len(self.entries):,} {local_name(self.section)} already, "
                f"and {self._limit:,} is the limit; use fewer different styles"
            )
        if self.entries:
            # Behind the last entry, as the section may end with an extension list.
            self.entries[-1].addnext(element)
        else:
            self.section.insert(0, element)
        self.entries.append(element)
        self.section.set("count", str(len(self.entries)))
        if self._places is not None:
            self._places.setdefault(canonical(element), len(self.entries) - 1)
        return len(self.entries) - 1


_FONT_ORDER = (
    *("b", "i", "strike", "condense", "extend", "outline", "shadow", "u", "vertAlign", "sz"),
    *("color", "name", "family", "charset", "scheme"),
)
_BORDER_ORDER = (
    *("start", "end", "left", "right", "top", "bottom", "diagonal", "vertical", "horizontal"),
)
_XF_ORDER = ("alignment", "protection", "extLst")

_STRICT_SIDES = {"left": "start", "right": "end"}
"""Names of two sides in the strict variant."""


def new_element(like: etree._Element, name: str) -> etree._Element:
    """Return an element of the same namespace, and with the same prefix, as another one."""
    nsmap = {like.prefix: namespace_of(like.tag)}
    return etree.Element(f"{{{namespace_of(like.tag)}}}{name}", nsmap=nsmap)


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


def with_font(font: etree._Element, formatting: CellFormatting) -> etree._Element:
    """Return a font with formatting applied."""
    font = deepcopy(font)
    for name, flag in (("b", formatting.font_bold), ("i", formatting.font_italic)):
        if flag is not None:
            _remove(font, name)
        if flag:
            placed(font, name, _FONT_ORDER)
    if formatting.font_underline is not None:
        _remove(font, "u")
        if formatting.font_underline != "none":
            line = placed(font, "u", _FONT_ORDER)
            if formatting.font_underline != "single":
                line.set("val", formatting.font_underline)
    if formatting.font_size is not None:
        _refreshed(font, "sz", _FONT_ORDER).set("val", f"{formatting.font_size:g}")
    if formatting.font_color is not None:
        # Colors are ARGB, and FF is opaque.
        _refreshed(font, "color", _FONT_ORDER).set("rgb", f"FF{formatting.font_color}")
    if formatting.font_name is not None:
        _refreshed(font, "name", _FONT_ORDER).set("val", formatting.font_name)
        # These say more of the old name: a scheme would win over the new one.
        for name in ("scheme", "family", "charset"):
            _remove(font, name)
    return font


def filled(fill: etree._Element, formatting: CellFormatting) -> etree._Element:
    """Return a fill with formatting applied; a gradient gives way to a pattern."""
    old = next((child for child in fill if local_name(child) == "patternFill"), None)
    before = old.get("patternType", "none") if old is not None else "none"
    # A color alone would not show without a pattern.
    kind = formatting.fill_pattern or (before if before != "none" else "solid")
    made = new_element(fill, "fill")
    pattern = deepcopy(old) if old is not None else new_element(fill, "patternFill")
    made.append(pattern)
    pattern.set("patternType", kind)
    order = ("fgColor", "bgColor")
    if kind == "none":
        for name in order:
            _remove(pattern, name)
    if formatting.fill_color is not None and kind != "none":
        _refreshed(pattern, "fgColor", order).set("rgb", f"FF{formatting.fill_color}")
    if kind == "solid":
        # The system's window color: programs expect one, and do not show it.
        _refreshed(pattern, "bgColor", order).set("indexed", "64")
    return made


def bordered(border: etree._Element, formatting: CellFormatting, *, strict: bool) -> etree._Element:
    """Return a border with formatting applied."""
    border = deepcopy(border)
    sides: dict[str, BorderSide | None] = {
        "left": formatting.border_left,
        "right": formatting.border_right,
        "top": formatting.border_top,
        "bottom": formatting.border_bottom,
    }
    names = {local_name(child) for child in border}
    for name, side in sides.items():
        if side is None:
            continue
        # The names that the border already uses win over those of its variant.
        other = _STRICT_SIDES.get(name, name)
        if other in names or (strict and name not in names):
            name = other
        element = _refreshed(border, name, _BORDER_ORDER)
        if side.style:
            element.set("style", side.style)
            color = new_element(element, "color")
            color.set("rgb", f"FF{side.color}")
            element.append(color)
    return border


def aligned(xf: etree._Element, formatting: CellFormatting) -> None:
    """Change the alignment of a cell format in place."""
    element = placed(xf, "alignment", _XF_ORDER)
    settings = (
        ("horizontal", formatting.h_align, "general"),
        ("vertical", formatting.v_align, "bottom"),
        ("wrapText", None if formatting.wrap_text is None else str(int(formatting.wrap_text)), "0"),
    )
    for name, value, default in settings:
        if value == default:
            element.attrib.pop(name, "")
        elif value is not None:
            element.set(name, value)
    if not element.attrib and not len(element):
        xf.remove(element)


def differential(
    like: etree._Element, formatting: CellFormatting, number_id: int, *, strict: bool
) -> etree._Element:
    """Return a differential format: what a rule changes of the cells that it applies to.

    Args:
        like: Any element of the style sheet that it is for.
        formatting: What it changes; fonts' names and sizes and alignments no rule can change.
        number_id: The number of its number format, if it has one.
        strict: Whether the style sheet is of the strict variant.
    """
    made = new_element(like, "dxf")
    font = with_font(new_element(like, "font"), formatting)
    # A font of a rule takes bold off by saying so: to leave it out keeps what the cell has.
    for name, flag in (("b", formatting.font_bold), ("i", formatting.font_italic)):
        if flag is False:
            placed(font, name, _FONT_ORDER).set("val", "0")
    if formatting.font_underline == "none":
        placed(font, "u", _FONT_ORDER).set("val", "none")
    if len(font):
        made.append(font)
    if formatting.number_format is not None:
        number = new_element(like, "numFmt")
        number.set("numFmtId", str(number_id))
        number.set("formatCode", formatting.number_format)
        made.append(number)
    if formatting.fill_color is not None or formatting.fill_pattern is not None:
        made.append(_differential_fill(like, formatting))
    border = bordered(new_element(like, "border"), formatting, strict=strict)
    if len(border):
        made.append(border)
    return made


def _differential_fill(like: etree._Element, formatting: CellFormatting) -> etree._Element:
    """Return the fill of a rule, whose plain color is that of the background (18.8.32)."""
    fill, pattern = new_element(like, "fill"), new_element(like, "patternFill")
    fill.append(pattern)
    kind = formatting.fill_pattern or "solid"
    if kind != "solid":
        pattern.set("patternType", kind)
    if formatting.fill_color is not None and kind != "none":
        color = new_element(like, "bgColor" if kind == "solid" else "fgColor")
        color.set("rgb", f"FF{formatting.fill_color}")
        pattern.append(color)
    return fill


def translated(element: etree._Element, like: etree._Element) -> etree._Element:
    """Return a copy of an element of another style sheet in the namespace of this one.

    Attributes of foreign namespaces are left out: they are ids of revisions, and a style sheet
    that does not announce them as ignorable would be damaged by them.

    Args:
        element: A font, fill, border, cell format or the like.
        like: Any element of the style sheet that it is for.
    """
    old, new = namespace_of(element.tag), namespace_of(like.tag)
    back = {strict: plain for plain, strict in _STRICT_SIDES.items()} if old != new else {}
    name = local_name(element)
    made = new_element(like, back.get(name, name))
    for key, value in element.attrib.items():
        if not str(key).startswith("{"):
            made.set(key, value)
    made.text = element.text
    for child in element:
        own = isinstance(child.tag, str) and namespace_of(child.tag) == old
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
