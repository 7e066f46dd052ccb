"""What the styles of a document say that matters for reading: headings, lists, hidden text.

A style inherits from the one that it is based on. Names of built-in styles are English in every
language of the program; other programs tell headings by an outline level alone.
"""

import re
from collections.abc import Iterator

import msgspec
from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.reader.names import VAL, is_on, number

__all__ = ["NO_HEADING", "StyleFacts", "StyleIndex", "heading_level"]

NO_HEADING = 0
"""The level of what is no heading."""

_BODY_LEVEL = 9
"""The outline level, counted from 0, that says "body text"."""

_HEADING_NAME = re.compile(r"heading ?([1-9])", re.IGNORECASE)


class StyleFacts(msgspec.Struct, frozen=True):
    """What counts of a style, with what it inherits.

    Args:
        name: As people see it.
        level: Of headings from 1 to 9; NO_HEADING.
        list_id: The list that its paragraphs belong to, "" for none.
        list_level: Which level of it, None where the list tells.
        is_hidden: Whether its text is not shown.
    """

    name: str = ""
    level: int = NO_HEADING
    list_id: str = ""
    list_level: int | None = None
    is_hidden: bool = False


_PLAIN = StyleFacts()


class StyleIndex:
    """The styles of a document by id.

    Args:
        root: The root of the part with the styles; None if there is none.
    """

    def __init__(self, root: etree._Element | None) -> None:
        self._elements: dict[str, etree._Element] = {}
        self._found: dict[str, StyleFacts] = {}
        self.default = _PLAIN
        default_id = ""
        for element in root.iterchildren(f"{W}style") if root is not None else ():
            key = element.get(f"{W}styleId", "")
            self._elements.setdefault(key, element)
            if element.get(f"{W}type") == "paragraph" and element.get(f"{W}default") in _TRUE:
                default_id = default_id or key
        if default_id:
            self.default = self.style(default_id)
        self.may_hide = root is not None and next(root.iter(f"{W}vanish"), None) is not None

    def style(self, key: str) -> StyleFacts:
        """Return a style; if there is none of that id, what the id alone tells."""
        found = self._found.get(key)
        if found is not None:
            return found
        chain = list(self._chain(key))
        style = self._found.get(self._base(chain[-1]), _PLAIN) if chain else _missing(key)
        for name in reversed(chain):
            style = self._found[name] = _own(self._elements[name], style)
        self._found.setdefault(key, style)
        return style

    def _chain(self, key: str) -> Iterator[str]:
        """Yield the ids of a style and of those that it is based on, as far as they are new."""
        seen: set[str] = set()
        while key in self._elements and key not in self._found and key not in seen:
            seen.add(key)
            yield key
            key = self._base(key)

    def _base(self, key: str) -> str:
        based = self._elements[key].find(f"{W}basedOn")
        return "" if based is None else based.get(VAL, "")


_TRUE = ("1", "true", "on")


def heading_level(outline: etree._Element) -> int:
    """Return the heading level that an outline level stands for."""
    level = number(outline.get(VAL), _BODY_LEVEL, 0, _BODY_LEVEL)
    return NO_HEADING if level == _BODY_LEVEL else level + 1


def _missing(key: str) -> StyleFacts:
    """Return what is known of a style that the document uses and does not define.

    Programs that write documents without styles name headings by the built-in ids all the same.
    """
    heading = _HEADING_NAME.fullmatch(key)
    return StyleFacts(key, int(heading[1])) if heading else _PLAIN


def _own(element: etree._Element, base: StyleFacts) -> StyleFacts:
    """Return a style from its element and from what it is based on."""
    named = element.find(f"{W}name")
    name = named.get(VAL, "") if named is not None else element.get(f"{W}styleId", "")
    level, list_id, list_level = base.level, base.list_id, base.list_level
    properties = element.find(f"{W}pPr")
    if properties is not None:
        outline = properties.find(f"{W}outlineLvl")
        if outline is not None:
            level = heading_level(outline)
        found = properties.find(f"{W}numPr/{W}numId")
        list_id = list_id if found is None else found.get(VAL, "")
        depth = properties.find(f"{W}numPr/{W}ilvl")
        list_level = list_level if depth is None else number(depth.get(VAL), 0, 0, 8)
    heading = _HEADING_NAME.fullmatch(name)
    if heading and element.get(f"{W}type", "paragraph") == "paragraph":
        level = int(heading[1])
    hidden = element.find(f"{W}rPr/{W}vanish")
    is_hidden = base.is_hidden if hidden is None else is_on(hidden)
    return StyleFacts(name, level, list_id, list_level, is_hidden)
