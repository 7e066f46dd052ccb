"""From whom a shape has its looks: its layout's placeholder, its master's, the styles of both.

A placeholder finds the one that it follows by its index in a layout, by its kind in a master
(ECMA-376 part 1, 19.3.1.36).
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from lxml import etree

from kbd_pptx.reader.boxes import Box, box_of
from kbd_pptx.slides import A, P
from kbd_pptx.styles.deck import DeckParts, Master, short
from kbd_pptx.styles.levels import level_of, local
from kbd_pptx.styles.theme import PptxTheme, read_deck_theme

__all__ = [
    "FormattingScope",
    "PlaceholderKey",
    "box_above",
    "place_of",
    "placeholders",
    "scope",
    "shapes",
]

_SHAPES = frozenset(("sp", "pic", "graphicFrame", "cxnSp"))
_KINDS = {
    "title": "title", "ctrTitle": "title", "dt": "dt", "ftr": "ftr", "sldNum": "sldNum",
    "hdr": "hdr",
}  # fmt: skip
"""The kind of a master's placeholder that follows from a kind elsewhere; else it is the body."""

_STYLES = {"title": "titleStyle", "body": "bodyStyle"}


class PlaceholderKey(msgspec.Struct, frozen=True):
    """What a shape is a placeholder for: its kind and index."""

    kind: str
    index: str

    @property
    def style(self) -> str:
        """The kind of text style that it follows: "title", "body" or "other"."""
        found = _KINDS.get(self.kind, "body")
        return found if found in _STYLES else "other"


class ParentPlaceholders(msgspec.Struct, frozen=True):
    """The placeholders of a layout or master by their kinds and by their indices; first ones."""

    by_kind: Mapping[str, etree._Element]
    by_index: Mapping[str, etree._Element]

    def followed(self, place: PlaceholderKey) -> etree._Element | None:
        """Return the placeholder that one below follows, None if there is none."""
        kind = _KINDS.get(place.kind, "body")
        if kind != "body" or not self.by_index:
            return self.by_kind.get(kind)
        return self.by_index.get(place.index)


class FormattingScope(msgspec.Struct, frozen=True):
    """What the shapes of a slide, a layout or a master have their looks from.

    Args:
        above: What is followed, the nearest first: layout and master, or master.
        styles: The master's styles of text, None without a master.
        default: The presentation's style of text.
        palette: Its colors and fonts.
    """

    above: tuple[ParentPlaceholders, ...]
    styles: etree._Element | None
    default: etree._Element | None
    palette: PptxTheme

    def chain(self, shape: etree._Element) -> list[etree._Element]:
        """Return a shape and the placeholders that it follows, the nearest first."""
        found, place = [shape], place_of(shape)
        for above in self.above if place is not None else ():
            followed = above.followed(place) if place is not None else None
            if followed is not None:
                found.append(followed)
                # A layout's placeholder may be of another kind than the slide says.
                place = place_of(followed) or place
        return found

    def looks(self, shape: etree._Element, level: int) -> list[etree._Element | None]:
        """Return what tells of a level of a shape's text, the nearest first."""
        chain = self.chain(shape)
        found = [level_of(each.find(f"{P}txBody/{A}lstStyle"), level) for each in chain]
        place = place_of(chain[-1])
        if place is not None:
            found.append(level_of(self.style(place.style), level))
        found.append(level_of(self.default, level))
        return found

    def style(self, kind: str) -> etree._Element | None:
        """Return a master's style of text by its kind: "title", "body" or "other"."""
        name = _STYLES.get(kind, "otherStyle")
        return self.styles.find(f"{P}{name}") if self.styles is not None else None


def scope(parts: DeckParts, master: Master | None, layout: str = "", *, of: str) -> FormattingScope:
    """Return the scope of the shapes of a part.

    Args:
        parts: The deck.
        master: The master that it follows, or that it is; None if there is none.
        layout: The part of the layout that it follows, or that it is; "" if there is none.
        of: "slide", "layout" or "master".
    """
    default = parts.root(parts.main).find(f"{P}defaultTextStyle")
    if master is None:
        return FormattingScope((), None, default, PptxTheme())
    root = parts.root(master.part)
    theme = parts.root(master.theme) if master.theme else None
    palette = read_deck_theme(theme, root.find(f"{P}clrMap"))
    above = []
    if layout:
        palette = palette.mapped(parts.root(layout).find(f"{P}clrMapOvr"))
        if of == "slide":
            above.append(_above(parts.root(layout), by_index=True))
    if of != "master":
        above.append(_above(root, by_index=False))
    return FormattingScope(tuple(above), root.find(f"{P}txStyles"), default, palette)


def shapes(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the shapes of a slide, layout or master, groups looked into, in order.

    Of what is there in a newer and an older form only the first is yielded.
    """
    tree = root.find(f"{P}cSld/{P}spTree")
    waiting = list(reversed(tree)) if tree is not None else []
    while waiting:
        element = waiting.pop()
        name = local(element)
        if name in _SHAPES:
            yield element
        elif name in ("grpSp", "AlternateContent", "Choice"):
            inner = list(element)
            waiting.extend(inner[:1] if name == "AlternateContent" else reversed(inner))


def placeholders(root: etree._Element) -> Iterator[tuple[etree._Element, PlaceholderKey]]:
    """Yield the placeholders of a slide, layout or master in order."""
    for shape in shapes(root):
        place = place_of(shape)
        if place is not None:
            yield shape, place


def place_of(shape: etree._Element) -> PlaceholderKey | None:
    """Return what a shape is a placeholder for, None if it is none."""
    found = shape.find(f"./*/{P}nvPr/{P}ph")
    if found is None:
        return None
    return PlaceholderKey(short(found.get("type")) or "obj", short(found.get("idx")) or "0")


def box_above(chain: Sequence[etree._Element]) -> Box | None:
    """Return where a shape stands, by whom it follows if need be; None if nothing tells."""
    for shape in chain:
        frame = shape.find(f"{P}xfrm")
        found = box_of(frame if frame is not None else shape.find(f"{P}spPr/{A}xfrm"))
        if found is not None:
            return found
    return None


def _above(root: etree._Element, *, by_index: bool) -> ParentPlaceholders:
    """Return the placeholders that those below follow; in a master these follow kinds alone."""
    kinds: dict[str, etree._Element] = {}
    indices: dict[str, etree._Element] = {}
    for shape, place in placeholders(root):
        kinds.setdefault(_KINDS.get(place.kind, "body"), shape)
        if by_index:
            indices.setdefault(place.index, shape)
    return ParentPlaceholders(kinds, indices)
