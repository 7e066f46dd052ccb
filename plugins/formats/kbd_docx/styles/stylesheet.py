"""Styles and lists of a document: found by id or name, with what they come to after inheriting.

A style rests on the one it is based on, the first of a chain on the document's defaults. A program
takes the first of several styles of one id; styles without an id cannot be used.

A paragraph names a list by its number (`num`), which names its abstract definition (`abstractNum`);
several numbers share one. A numbering style may hold the definition instead.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from lxml import etree

from kbd_docx.document import OFF, DocxParts, W
from kbd_docx.styles.properties import Kind, Properties, inches, read_properties
from kbd_docx.styles.theme import DocxTheme

__all__ = [
    "STYLE_TYPES",
    "DocxStyleSheet",
    "ListDefinitions",
    "Style",
    "StyleFormatting",
    "StyleType",
    "folded",
    "read_lists",
    "value_of",
]


StyleType = Literal["paragraph", "character", "table", "numbering"]

STYLE_TYPES: Mapping[str, StyleType] = {
    "paragraph": "paragraph",
    "character": "character",
    "table": "table",
    "numbering": "numbering",
}

_MAX_BASES = 100
"""Longer chains are cut; programs allow about ten."""


class Style(msgspec.Struct, frozen=True):
    """A style: its element, its id, its kind and its name (the id where it has none)."""

    element: etree._Element
    id: str
    type: StyleType
    name: str

    @property
    def is_default(self) -> bool:
        """Whether it is the default style of its type."""
        return self.element.get(f"{W}default", "0") not in OFF

    def named(self, what: str) -> str:
        """Return the id of the style that it names ("basedOn", "next", "link"), or ""."""
        return value_of(self.element, what)


class StyleFormatting(msgspec.Struct, frozen=True):
    """Formatting that a style gives paragraphs and runs, with what it inherits."""

    paragraph: Properties
    run: Properties


class DocxStyleSheet:
    """The styles of one document.

    Args:
        root: The root of their part; None for a document without.
        theme: What references to a theme mean.
    """

    def __init__(self, root: etree._Element | None, theme: DocxTheme) -> None:
        self.root, self.theme = root, theme
        self._styles: dict[tuple[StyleType, str], Style] = {}
        self._names: dict[tuple[StyleType, str], Style] = {}
        self._defaults: dict[StyleType, Style] = {}
        self._own: dict[tuple[StyleType, str], StyleFormatting] = {}
        for element in root.iterchildren(f"{W}style") if root is not None else ():
            self.add(element)

    def __iter__(self) -> Iterator[Style]:
        return iter(self._styles.values())

    def add(self, element: etree._Element) -> None:
        """Add a style by its element."""
        type_ = STYLE_TYPES.get(element.get(f"{W}type", "paragraph"))
        id_ = element.get(f"{W}styleId", "")
        if type_ is None or not id_:
            return
        style = Style(element, id_, type_, value_of(element, "name") or id_)
        self._styles.setdefault((type_, id_), style)
        self._names.setdefault((type_, folded(style.name)), style)
        if style.is_default:
            self._defaults.setdefault(type_, style)

    def discard(self, style: Style) -> None:
        """Remove a style whose element was removed."""
        self._styles.pop((style.type, style.id), None)
        self._own.pop((style.type, style.id), None)
        self._names.pop((style.type, folded(style.name)), None)
        if self._defaults.get(style.type) is style:
            del self._defaults[style.type]

    def has_id(self, id_: str) -> bool:
        """Tell whether a style of any kind has an id."""
        return any((type_, id_) in self._styles for type_ in STYLE_TYPES.values())

    def get(self, type_: StyleType, id_: str) -> Style | None:
        """Return the style of exactly this id."""
        return self._styles.get((type_, id_))

    def named(self, type_: StyleType, name: str) -> Style | None:
        """Return the style of a name, blanks and case ignored."""
        return self._names.get((type_, folded(name)))

    def find(self, type_: StyleType, text: str) -> Style | None:
        """Find a style by its id, else by its name, blanks and case ignored."""
        exact = self.get(type_, text) or self.named(type_, text)
        wanted = folded(text)
        return exact or next((each for each in self if each.type == type_
                              and folded(each.id) == wanted), None)  # fmt: skip

    def default(self, type_: StyleType) -> Style | None:
        """Return the default style of a type."""
        return self._defaults.get(type_)

    def base_chain(self, style: Style) -> list[Style]:
        """Return a style and those it is based on, itself first."""
        found = {style.id: style}
        last = style
        while len(found) < _MAX_BASES:
            base = self.get(style.type, last.named("basedOn"))
            # Styles may be based on each other in a circle.
            if base is None or base.id in found:
                break
            last = found[base.id] = base
        return list(found.values())

    def formatting(self, style: Style | None, type_: StyleType) -> StyleFormatting:
        """Return a style's formatting with inheritance; None is for no style, not even a default.

        A paragraph style rests on the document's defaults; others on nothing, since they lie over
        what the paragraph has.
        """
        paragraph: Properties = {}
        run: Properties = {}
        if type_ == "paragraph":
            paragraph |= self._defaults_of("pPr", "p")
            run |= self._defaults_of("rPr", "r")
        for each in reversed(self.base_chain(style) if style else []):
            key = (each.type, each.id)
            if key not in self._own:
                self._own[key] = StyleFormatting(
                    read_properties(each.element.find(f"{W}pPr"), "p", self.theme),
                    read_properties(each.element.find(f"{W}rPr"), "r", self.theme),
                )
            paragraph |= self._own[key].paragraph
            run |= self._own[key].run
        return StyleFormatting(paragraph, run)

    def _defaults_of(self, name: str, kind: Kind) -> Properties:
        """Return what the document's defaults say of paragraphs or of runs."""
        path = f"{W}docDefaults/{W}{name}Default/{W}{name}"
        return read_properties(
            self.root.find(path) if self.root is not None else None, kind, self.theme
        )

    def numbering(self, style: Style | None) -> tuple[str, str]:
        """Return the number (numId) and the level that a style comes to, each "" if none."""
        level = ""
        for each in self.base_chain(style) if style else ():
            found = each.element.find(f"{W}pPr/{W}numPr")
            if found is not None:
                # A style may tell the level alone, and have its list from a base.
                level = level or value_of(found, "ilvl")
                if value_of(found, "numId"):
                    return value_of(found, "numId"), level
        return "", level


def folded(name: str) -> str:
    """Return what two spellings of a name have in common: no blanks, no case."""
    return "".join(name.split()).casefold()


def value_of(parent: etree._Element, name: str) -> str:
    """Return the `val` of an element's child, "" if there is none."""
    found = parent.find(f"{W}{name}")
    return found.get(f"{W}val", "") if found is not None else ""


_SHOWN_LEVELS = 3
_MAX_LINKS = 5


class ListDefinitions:
    """The lists of one document.

    Args:
        root: The root of their part; None for a document without.
    """

    def __init__(self, root: etree._Element | None) -> None:
        self.root = root
        self._numbers: dict[str, etree._Element] = {}
        self._abstracts: dict[str, etree._Element] = {}
        self._styles: dict[str, etree._Element] = {}
        for element in root.iterchildren(f"{W}num") if root is not None else ():
            self._numbers.setdefault(element.get(f"{W}numId", ""), element)
        for element in root.iterchildren(f"{W}abstractNum") if root is not None else ():
            self._abstracts.setdefault(element.get(f"{W}abstractNumId", ""), element)
            if style := value_of(element, "styleLink"):
                self._styles.setdefault(style, element)

    @property
    def numbers(self) -> dict[str, etree._Element]:
        """The lists by their numbers."""
        return self._numbers

    def abstract_numbering(self, number: str) -> etree._Element | None:
        """Return how a list is built, None if that is not told."""
        element = self._numbers.get(number)
        if element is None:
            return None
        found = self._abstracts.get(value_of(element, "abstractNumId"))
        # Bounded, since styles and lists may name each other in a circle.
        for _ in range(_MAX_LINKS):
            link = value_of(found, "numStyleLink") if found is not None else ""
            if not link:
                break
            found = self._styles.get(link)
        return found

    def level(self, number: str, level: str) -> etree._Element | None:
        """Return what tells a level of a list, None if nothing does."""
        abstract = self.abstract_numbering(number)
        for each in abstract.iterchildren(f"{W}lvl") if abstract is not None else ():
            if each.get(f"{W}ilvl", "0") == (level or "0"):
                return each
        return None

    def describe_levels(self, number: str) -> list[dict[str, Any]]:
        """Return the first levels of a list in words."""
        abstract = self.abstract_numbering(number)
        levels = list(abstract.iterchildren(f"{W}lvl")) if abstract is not None else []
        return [_level(each) for each in levels[:_SHOWN_LEVELS]]


def read_lists(document: DocxParts) -> ListDefinitions:
    """Return a document's lists."""
    return ListDefinitions(document.part_root("numbering"))


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
