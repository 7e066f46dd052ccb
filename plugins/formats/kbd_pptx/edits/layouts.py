"""The layouts of a deck, and the one that a label means in it.

A label is the name of a layout, or one of six kinds, which are found by the layout's type in decks
of any language, else by the placeholders that it has (ECMA-376, part 1, 19.7.15).
"""

import difflib
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_pptx.edits.placeholders import FOOTERS, body_spots, spots, title_spot
from kbd_pptx.edits.warnings import brief, listed

__all__ = ["Layout", "choose"]

_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "title_slide": ("title",),
    "title_and_content": ("obj", "tx"),
    "section_header": ("secHead",),
    "title_only": ("titleOnly",),
    "blank": ("blank",),
    "two_content": ("twoObj", "twoColTx", "objAndTx", "txAndObj"),
})  # fmt: skip

_NEXT_BEST: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "title_slide": ("title_and_content", "title_only"),
    "title_and_content": ("two_content", "section_header", "title_slide", "title_only"),
    "section_header": ("title_slide", "title_and_content", "title_only"),
    "title_only": ("title_and_content", "title_slide"),
    "blank": ("title_only", "title_and_content"),
    "two_content": ("title_and_content", "title_only"),
})  # fmt: skip
"""What comes nearest where a deck has no layout of a kind."""


class Layout(msgspec.Struct, frozen=True):
    """A layout of a deck: its name, its root and its master's, its part as python-pptx has it."""

    name: str
    root: etree._Element
    master: etree._Element
    part: Any


def choose(layouts: Sequence[Layout], wanted: str) -> tuple[Layout, str]:
    """Return the layout that a label means, and a warning, "" if it is just the one.

    Args:
        layouts: All of them, those that are to be taken first in front.
        wanted: The label.

    Raises:
        ValidationFailed: There is none at all.
    """
    if not layouts:
        raise ValidationFailed("The deck has no layouts, so no slide can be added to it.")
    exact = next((layout for layout in layouts if layout.name == wanted), None)
    if exact is not None:
        return exact, ""
    plain = _plain(wanted)
    named = next((layout for layout in layouts if _plain(layout.name) == plain), None)
    if named is not None:
        return named, ""
    label = next((label for label in _TYPES if _plain(label) == plain), "")
    meant = _of_kind(layouts, label) if label else None
    if meant is not None:
        return meant, ""
    for next_best in _NEXT_BEST[label] if label else ("title_and_content", *_TYPES):
        found = _of_kind(layouts, next_best)
        if found is not None:
            return found, _told(layouts, wanted, label, found)
    return layouts[0], _told(layouts, wanted, label, layouts[0])


def _told(layouts: Sequence[Layout], wanted: str, label: str, taken: Layout) -> str:
    if label:
        return f'The deck has no layout for {label}; "{brief(taken.name)}" was taken.'
    names = list(dict.fromkeys(layout.name for layout in layouts))
    plain = {_plain(name): name for name in names}
    near = [plain[each] for each in difflib.get_close_matches(_plain(wanted), list(plain))]
    hint = f"Near it: {listed(near)}." if near else f"There are: {listed(names)}."
    return f'There is no layout "{brief(wanted)}"; "{brief(taken.name)}" was taken. {hint}'


def _of_kind(layouts: Sequence[Layout], label: str) -> Layout | None:
    """Return the layout of a kind: by its type, else by what it has room for."""
    for type_ in _TYPES[label]:
        for layout in layouts:
            if layout.root.get("type") == type_:
                return layout
    for layout in layouts:
        # A type says more than what can be seen, and it is none of this kind's.
        if layout.root.get("type", "cust") in {"cust", ""} and _fits(layout, label):
            return layout
    return None


def _fits(layout: Layout, label: str) -> bool:
    root = layout.root
    title, bodies = title_spot(root), body_spots(root, layout.master)
    is_opening = any(spot.type in {"ctrTitle", "subTitle"} for spot in spots(root))
    if label == "title_slide":
        return is_opening
    if label == "blank":
        return all(spot.type in FOOTERS for spot in spots(root))
    if title is None or is_opening:
        return False
    if label == "title_only":
        return not bodies
    if label == "two_content":
        return len(bodies) == 2
    return label == "title_and_content" and len(bodies) == 1


def _plain(name: str) -> str:
    """Return a name without what people vary: case, blanks, dashes, widths of characters."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(each for each in folded if each.isalnum())
