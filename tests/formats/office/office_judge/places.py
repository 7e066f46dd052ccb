"""Where the texts of a document or a deck are, and its slides and titles."""

from collections.abc import Iterator
from typing import NamedTuple

from judging.package import Element, Parts, children, local

__all__ = [
    "TitlePlace",
    "is_deck",
    "paragraph_places",
    "paragraphs",
    "slides",
    "title_place",
    "title_shape",
]

_READ = ("header", "footer", "footnotes", "endnotes")
"""The kinds of parts beside the main one of a document in which people read texts."""
_UNREAD = frozenset(("Fallback", "del", "moveFrom"))
"""What holds texts that are another's double, or not there any more."""
_FRAMES = frozenset(("body", "hdr", "ftr", "footnotes", "endnotes", "txBody"))


class TitlePlace(NamedTuple):
    """The part of a slide, and the shape in it that is its title."""

    part: str
    shape: Element


def is_deck(parts: Parts) -> bool:
    """Whether it is a deck and no document."""
    return local(parts.root(parts.workbook)) == "presentation"


def paragraphs(root: Element) -> list[Element]:
    """All paragraphs of a part, in order; those in text boxes after the one that holds them."""
    return [element for element in root.iter() if local(element) == "p"]


def paragraph_places(parts: Parts) -> Iterator[tuple[str, int, Element]]:
    """Yield the paragraphs that people read: part, place among all of the part, and the element."""
    main = parts.workbook
    if is_deck(parts):
        names = [name for name in slides(parts) if name]
        names += [note for name in names for note in parts.of_kind(name, "notesSlide")]
    else:
        names = [main, *(part for kind in _READ for part in parts.of_kind(main, kind))]
    for part in dict.fromkeys(names):
        for number, paragraph in enumerate(paragraphs(parts.root(part))):
            around = {local(element) for element in paragraph.iterancestors()}
            if around & _FRAMES and not around & _UNREAD:
                yield part, number, paragraph


def slides(parts: Parts) -> list[str]:
    """The parts of the slides in order; one that is not there is ""."""
    main = parts.workbook
    found = []
    for group in children(parts.root(main), "sldIdLst"):
        for element in children(group, "sldId"):
            named = [str(v) for k, v in element.attrib.items() if "/relationships}" in str(k)]
            link = parts.linked(main, named[0] if named else None)
            is_there = link is not None and not link.external and link.target in parts
            found.append(link.target if link is not None and is_there else "")
    return found


def title_shape(slide: Element) -> Element | None:
    """The first shape of a slide that is its title."""
    for content in children(slide, "cSld"):
        for tree in children(content, "spTree"):
            for shape in children(tree, "sp"):
                kinds = [e.get("type") for e in shape.iter() if local(e) == "ph"]
                if set(kinds) & {"title", "ctrTitle"}:
                    return shape
    return None


def title_place(parts: Parts, index: int) -> TitlePlace:
    """The title of a slide, by its place from 0; LookupError if it has none."""
    part = slides(parts)[index]
    shape = title_shape(parts.root(part)) if part else None
    if shape is None:
        raise LookupError(index)
    return TitlePlace(part, shape)
