"""Text replaced in a flow: each hit once, in the run where it begins."""

from collections.abc import Iterator, Sequence

from lxml import etree

from kbd_docx.edits.flow import Piece
from kbd_docx.edits.texts import T, set_text, text_node, text_nodes

__all__ = ["folded", "hits", "put_in_place", "replaced", "touched"]

Hit = tuple[int, int]
"""Where what was found begins and ends."""


def folded(text: str) -> str:
    """Return a text without case, character by character, so that places in it stay."""
    if text.isascii():
        return text.lower()
    whole = text.casefold()
    if len(whole) == len(text):
        return whole
    return "".join(_folded_sign(sign) for sign in text)


def _folded_sign(sign: str) -> str:
    found = sign.casefold()
    return found if len(found) == 1 else sign


def hits(text: str, search: str) -> Iterator[Hit]:
    """Yield where a text occurs in another one, from the left, none over another."""
    start = text.find(search)
    while start >= 0:
        end = start + len(search)
        yield start, end
        start = text.find(search, end)


def replaced(text: str, found: Sequence[Hit], replacement: str) -> str:
    """Return a text with hits in it replaced."""
    kept_from = 0
    parts = []
    for start, end in found:
        parts += [text[kept_from:start], replacement]
        kept_from = end
    return "".join((*parts, text[kept_from:]))


def touched(pieces: Sequence[Piece], found: Sequence[Hit]) -> list[tuple[Piece, Sequence[Hit]]]:
    """Return the pieces that hits lie in, each with its hits."""
    touching = []
    first = 0
    for piece in pieces:
        start, end = piece.start, piece.start + len(piece.text)
        while first < len(found) and found[first][1] <= start:
            first += 1
        last = first
        # Where there is no text, such as a soft hyphen, a hit may lie around it.
        while last < len(found) and found[last][0] < max(start, end):
            last += 1
        if last > first:
            touching.append((piece, found[first:last]))
    return touching


def put_in_place(piece: Piece, over: Sequence[Hit], replacement: str) -> None:
    """Give a piece the text that is left of it, with replacements of the hits that begin in it.

    What is left of a hit in later pieces goes; an element that nothing is left of is taken out,
    runs stay.
    """
    text = piece.element.text or "" if piece.element.tag == T else piece.text
    kept_from = 0
    parts: list[tuple[str, bool]] = []
    for start, end in over:
        parts.append((text[kept_from : max(start - piece.start, 0)], False))
        if start >= piece.start:
            parts.append((replacement, True))
        kept_from = end - piece.start
    parts.append((text[kept_from:], False))
    _fill(piece.element, [part for part in parts if part[0]])


def _fill(element: etree._Element, parts: Sequence[tuple[str, bool]]) -> None:
    """Put texts in an element's place; of new ones, breaks and tabs become elements."""
    nodes: list[etree._Element] = []
    for text, is_new in parts:
        made = list(text_nodes(text)) if is_new else [text_node(text)]
        if nodes and made and nodes[-1].tag == made[0].tag == T:
            set_text(nodes[-1], (nodes[-1].text or "") + (made.pop(0).text or ""))
        nodes += made
    if element.tag == T and len(nodes) == 1 and nodes[0].tag == T:
        set_text(element, nodes[0].text or "")
        return
    for node in nodes:
        element.addprevious(node)
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
