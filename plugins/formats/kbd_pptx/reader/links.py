"""What a slide points to: addresses, other slides, files beside it, macros."""

from collections.abc import Iterator, Mapping

import msgspec
from lxml import etree

from kbd.opc.package import Relation
from kbd_pptx.reader.names import A, R

__all__ = ["PptxExternal", "SlideLink", "externals", "links"]

_CLICK, _HOVER, _OVER = f"{A}hlinkClick", f"{A}hlinkHover", f"{A}hlinkMouseOver"
_ACTION = "ppaction://"


class SlideLink(msgspec.Struct, frozen=True):
    """A link: the text or shape that carries it, where it leads, whether hovering is enough."""

    text: str
    target: str
    on_hover: bool


class PptxExternal(msgspec.Struct, frozen=True):
    """Something outside of the file that a part of it names: what it is for, and its address."""

    kind: str
    target: str


def externals(relations: Mapping[str, Relation]) -> tuple[PptxExternal, ...]:
    """Return what a part names outside of the file."""
    return tuple(
        PptxExternal(relation.kind, relation.target)
        for relation in relations.values()
        if relation.external
    )


def links(
    root: etree._Element, relations: Mapping[str, Relation], numbers: Mapping[str, int]
) -> Iterator[SlideLink]:
    """Yield the links of a slide in the order of its file.

    Args:
        root: The slide.
        relations: Its relations by id.
        numbers: The index of each slide by its part.
    """
    for element in root.iter(_CLICK, _HOVER, _OVER):
        target = _target(element, relations, numbers)
        if target:
            yield SlideLink(_carrier(element), target, element.tag != _CLICK)


def _target(
    element: etree._Element, relations: Mapping[str, Relation], numbers: Mapping[str, int]
) -> str:
    """Say where a link leads, "" if nowhere outside of its slide's own show."""
    action = element.get("action", "")
    relation = relations.get(element.get(f"{R}id", ""))
    if relation is not None and relation.target in numbers:
        return f"slide {numbers[relation.target] + 1} (slide_index {numbers[relation.target]})"
    if relation is not None and relation.external:
        return relation.target
    is_told = action.startswith(_ACTION) and not action.startswith(f"{_ACTION}noaction")
    return action.removeprefix(_ACTION) if is_told else ""


def _carrier(element: etree._Element) -> str:
    """Return the text that carries a link, else the name of the shape that does."""
    properties = element.getparent()
    run = None if properties is None else properties.getparent()
    if properties is None or run is None:
        return ""
    if properties.tag == f"{A}rPr":
        return (run.findtext(f"{A}t") or "").strip()
    return properties.get("descr") or properties.get("name") or ""
