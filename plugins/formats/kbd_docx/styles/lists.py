"""The lists of a document: how items of each level are numbered.

A paragraph names a list by its number (`num`), which names how it is built (`abstractNum`); several
numbers share one build. A build may be told by a numbering style instead.
"""

from typing import Any

from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.styles.description import inches
from kbd_docx.styles.document import DocxParts
from kbd_docx.styles.stylesheet import value_of

__all__ = ["ListDefinitions", "read_lists"]

_SHOWN_LEVELS = 3
_MOST_LINKS = 5


class ListDefinitions:
    """The lists of one document.

    Args:
        root: The root of their part; None for a document without.
    """

    def __init__(self, root: etree._Element | None) -> None:
        self.root = root
        self._numbers: dict[str, etree._Element] = {}
        self._builds: dict[str, etree._Element] = {}
        self._styles: dict[str, etree._Element] = {}
        for element in root.iterchildren(f"{W}num") if root is not None else ():
            self._numbers.setdefault(element.get(f"{W}numId", ""), element)
        for element in root.iterchildren(f"{W}abstractNum") if root is not None else ():
            self._builds.setdefault(element.get(f"{W}abstractNumId", ""), element)
            if style := value_of(element, "styleLink"):
                self._styles.setdefault(style, element)

    @property
    def numbers(self) -> dict[str, etree._Element]:
        """The lists by their numbers."""
        return self._numbers

    def build(self, number: str) -> etree._Element | None:
        """Return how a list is built, None if that is not told."""
        element = self._numbers.get(number)
        if element is None:
            return None
        found = self._builds.get(value_of(element, "abstractNumId"))
        for _ in range(_MOST_LINKS):
            link = value_of(found, "numStyleLink") if found is not None else ""
            if not link:
                break
            found = self._styles.get(link)
        return found

    def level(self, number: str, level: str) -> etree._Element | None:
        """Return what tells a level of a list, None if nothing does."""
        build = self.build(number)
        for each in build.iterchildren(f"{W}lvl") if build is not None else ():
            if each.get(f"{W}ilvl", "0") == (level or "0"):
                return each
        return None

    def described(self, number: str) -> list[dict[str, Any]]:
        """Return the first levels of a list in words."""
        build = self.build(number)
        levels = list(build.iterchildren(f"{W}lvl")) if build is not None else []
        return [_level(each) for each in levels[:_SHOWN_LEVELS]]


def read_lists(document: DocxParts) -> ListDefinitions:
    """Return a document's lists."""
    return ListDefinitions(document.one("numbering"))


def _level(level: etree._Element) -> dict[str, Any]:
    found: dict[str, Any] = {"format": value_of(level, "numFmt") or "decimal"}
    if text := value_of(level, "lvlText"):
        found["text"] = text[:40]
    if (start := value_of(level, "start")) not in ("", "1"):
        found["start"] = start[:12]
    if style := value_of(level, "pStyle"):
        found["style"] = style
    indents = level.find(f"{W}pPr/{W}ind")
    if indents is not None:
        left = inches(indents.get(f"{W}left") or indents.get(f"{W}start"))
        if left is not None:
            found["indent_left"] = left
    return found
