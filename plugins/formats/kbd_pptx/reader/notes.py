"""What belongs to a slide and is not shown on it: notes and comments."""

import msgspec
from lxml import etree

from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.reader.layouts import NO_LAYOUT
from kbd_pptx.reader.names import P188, P
from kbd_pptx.reader.order import FOOTERS
from kbd_pptx.reader.shapes import shapes_of
from kbd_pptx.reader.text import plain_text

__all__ = ["Comment", "comments", "notes"]

_NOT_NOTES = ("sldImg", "hdr", *FOOTERS)


class Comment(msgspec.Struct, frozen=True):
    """A comment: who wrote it and when, as far as that is told; `is_reply` to the one before."""

    author: str
    date: str
    text: str
    is_reply: bool = False


def notes(root: etree._Element) -> str:
    """Return the text of a page of notes, from its root."""
    tree = root.find(f"{P}cSld/{P}spTree")
    shapes = () if tree is None else shapes_of(tree, NO_LAYOUT)
    texts = (plain_text(shape.body) for shape in shapes if shape.placeholder not in _NOT_NOTES)
    return "\n".join(text for text in texts if text.strip()).strip("\n")


def comments(deck: DeckReader, part: str) -> list[Comment]:
    """Return the comments on a slide, of the usual kind and of the later, threaded one."""
    found: list[Comment] = []
    for relation in deck.parts.relations(part).values():
        if relation.kind != "comments" or not deck.parts.has(relation):
            continue
        with deck.spared("A comment"):
            root = deck.parts.root(relation.target)
            if root.tag == f"{P188}cmLst":
                found += _threaded(root, _authors(deck, "authors"))
            else:
                found += _usual(root, _authors(deck, "commentAuthors"))
    return found


def _authors(deck: DeckReader, kind: str) -> dict[str, str]:
    part = deck.parts.target(deck.part, kind)
    if not part:
        return {}
    return {each.get("id", ""): each.get("name", "") for each in deck.parts.root(part)}


def _usual(root: etree._Element, authors: dict[str, str]) -> list[Comment]:
    return [
        Comment(
            authors.get(each.get("authorId", ""), ""),
            each.get("dt", ""),
            each.findtext(f"{P}text", ""),
        )
        for each in root.iterchildren(f"{P}cm")
    ]


def _threaded(root: etree._Element, authors: dict[str, str]) -> list[Comment]:
    return [
        Comment(
            authors.get(each.get("authorId", ""), ""),
            each.get("created", ""),
            plain_text(each.find(f"{P188}txBody")),
            each.tag == f"{P188}reply",
        )
        for each in root.iter(f"{P188}cm", f"{P188}reply")
    ]
