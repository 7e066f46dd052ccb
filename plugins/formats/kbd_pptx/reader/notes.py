"""Notes, comments and links of a slide: what belongs to it and is not shown on it."""

from collections.abc import Iterator, Mapping

import msgspec
from lxml import etree

from kbd.opc.package import Relation
from kbd_pptx.presentation import P188, A, P, R
from kbd_pptx.reader.deck import NO_LAYOUT, DeckReader
from kbd_pptx.reader.shapes import FOOTERS, shapes_of
from kbd_pptx.reader.text import plain_text

__all__ = [
    "Comment",
    "PptxExternal",
    "SlideLink",
    "externals",
    "notes_text",
    "read_comments",
    "read_links",
]


_NOT_NOTES = ("sldImg", "hdr", *FOOTERS)


class Comment(msgspec.Struct, frozen=True):
    """A comment: who wrote it and when, as far as that is told; `is_reply` to the one before."""

    author: str
    date: str
    text: str
    is_reply: bool = False


def notes_text(root: etree._Element) -> str:
    """Return the text of a page of notes, from its root."""
    tree = root.find(f"{P}cSld/{P}spTree")
    shapes = () if tree is None else shapes_of(tree, NO_LAYOUT)
    texts = (plain_text(shape.body) for shape in shapes if shape.placeholder not in _NOT_NOTES)
    return "\n".join(text for text in texts if text.strip()).strip("\n")


def read_comments(deck: DeckReader, part: str) -> list[Comment]:
    """Return the comments on a slide, of the usual kind and of the later, threaded one."""
    found: list[Comment] = []
    for relation in deck.parts.relations(part).values():
        if relation.kind != "comments" or not deck.parts.has(relation):
            continue
        with deck.skip_unreadable("A comment"):
            root = deck.parts.root(relation.target)
            # The types of both relations end in "comments"; only the root tells which kind it is.
            if root.tag == f"{P188}cmLst":
                found += _threaded_comments(root, _authors(deck, "authors"))
            else:
                found += _legacy_comments(root, _authors(deck, "commentAuthors"))
    return found


def _authors(deck: DeckReader, kind: str) -> dict[str, str]:
    part = deck.parts.target(deck.part, kind)
    if not part:
        return {}
    return {each.get("id", ""): each.get("name", "") for each in deck.parts.root(part)}


def _legacy_comments(root: etree._Element, authors: dict[str, str]) -> list[Comment]:
    return [
        Comment(
            authors.get(each.get("authorId", ""), ""),
            each.get("dt", ""),
            each.findtext(f"{P}text", ""),
        )
        for each in root.iterchildren(f"{P}cm")
    ]


def _threaded_comments(root: etree._Element, authors: dict[str, str]) -> list[Comment]:
    return [
        Comment(
            authors.get(each.get("authorId", ""), ""),
            each.get("created", ""),
            plain_text(each.find(f"{P188}txBody")),
            each.tag == f"{P188}reply",
        )
        for each in root.iter(f"{P188}cm", f"{P188}reply")
    ]


# Pointing is hlinkHover on a shape and hlinkMouseOver in a text (CT_NonVisualDrawingProps,
# CT_TextCharacterProperties).
_CLICK, _HOVER, _OVER = f"{A}hlinkClick", f"{A}hlinkHover", f"{A}hlinkMouseOver"
_ACTION = "ppaction://"


class SlideLink(msgspec.Struct, frozen=True):
    """A link: the text or shape that carries it, where it leads, whether hovering is enough."""

    text: str
    target: str
    on_hover: bool


class PptxExternal(msgspec.Struct, frozen=True):
    """External target of a part: what it is for, and its address."""

    kind: str
    target: str


def externals(relations: Mapping[str, Relation]) -> tuple[PptxExternal, ...]:
    """Return the external targets of a part."""
    return tuple(
        PptxExternal(relation.kind, relation.target)
        for relation in relations.values()
        if relation.external
    )


def read_links(
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
            yield SlideLink(_link_text(element), target, element.tag != _CLICK)


def _target(
    element: etree._Element, relations: Mapping[str, Relation], numbers: Mapping[str, int]
) -> str:
    """Return the target of a link, "" if it leads nowhere outside of its slide's own show."""
    action = element.get("action", "")
    relation = relations.get(element.get(f"{R}id", ""))
    # First, as the action of a jump to a slide (hlinksldjump) does not say to which one.
    if relation is not None and relation.target in numbers:
        return f"slide {numbers[relation.target] + 1} (slide_index {numbers[relation.target]})"
    if relation is not None and relation.external:
        return relation.target
    is_action = action.startswith(_ACTION) and not action.startswith(f"{_ACTION}noaction")
    return action.removeprefix(_ACTION) if is_action else ""


def _link_text(element: etree._Element) -> str:
    """Return the text that carries a link, else the name of the shape that does."""
    properties = element.getparent()
    run = None if properties is None else properties.getparent()
    if properties is None or run is None:
        return ""
    if properties.tag == f"{A}rPr":
        return (run.findtext(f"{A}t") or "").strip()
    return properties.get("descr") or properties.get("name") or ""
