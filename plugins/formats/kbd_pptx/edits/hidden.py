"""Where a deck holds a text that replacing does not reach: told, so that nobody thinks it gone."""

import re
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any

from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import XmlPart
from pptx.parts.slide import SlidePart

from kbd_pptx.edits.deck import DeckEdit, related
from kbd_pptx.edits.warnings import numbered
from kbd_pptx.slides import A, P

__all__ = ["tell_of_other_places"]

_KINDS = MappingProxyType({
    "chart": "Charts",
    "chartEx": "Charts",
    "diagramData": "SmartArt drawings",
    "comments": "Comments",
})  # fmt: skip
"""What holds text beside a slide, by the last word of the relation's type."""


def tell_of_other_places(
    deck: DeckEdit, slides: Sequence[tuple[int, SlidePart]], pattern: re.Pattern[str]
) -> None:
    """Warn where a text stands that was searched for and was not replaced."""
    found: dict[str, list[int]] = {}
    checked: dict[int, bool] = {}
    for index, part in slides:
        for relation in part.rels.values():
            kind = _KINDS.get(relation.reltype.rpartition("/")[2])
            if kind is None or relation.is_external:
                continue
            target = relation.target_part
            if id(target) not in checked:
                checked[id(target)] = _holds(_texts(_root_of(target)), pattern)
            if checked[id(target)]:
                found.setdefault(kind, []).append(index)
        layout = related(part, RT.SLIDE_LAYOUT)
        for holder in (layout, related(layout, RT.SLIDE_MASTER) if layout is not None else None):
            if holder is not None:
                if id(holder) not in checked:
                    checked[id(holder)] = _holds(_drawn(_root_of(holder)), pattern)
                if checked[id(holder)]:
                    found.setdefault("Layouts", []).append(index)
    for kind, places in found.items():
        where = numbered(sorted(set(places)))
        deck.notices.warn(f"{kind}{where} hold the text, too; they are not reached.")


def _holds(texts: Iterator[str], pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(text) for text in texts)


def _texts(root: etree._Element | None) -> Iterator[str]:
    """Yield the texts of a part: of each paragraph, and of each value."""
    if root is None:
        return
    for element in root.iter(f"{A}p"):
        yield "".join(each.text or "" for each in element.iter(f"{A}t"))
    for element in root.iter("{*}v", "{*}text"):
        yield element.text or ""


def _drawn(root: etree._Element | None) -> Iterator[str]:
    """Yield the texts that a layout or master shows on slides: those of no placeholder."""
    for shape in () if root is None else root.iter(f"{P}sp", f"{P}graphicFrame"):
        if next(shape.iter(f"{P}ph"), None) is None:
            yield from _texts(shape)


def _root_of(part: Any) -> etree._Element | None:
    if isinstance(part, XmlPart):
        return part._element  # noqa: SLF001 - python-pptx has no other way
    try:
        return etree.fromstring(part.blob)
    except etree.LxmlError:
        return None
