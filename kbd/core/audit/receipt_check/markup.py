"""Markup as text in which two elements are equal if they say the same, read as a stream.

`<{namespace}name {namespace}attribute="value">`, attributes sorted, then text and elements, then
`</>`. `&`, `<` and in values `"` are escaped. Comments and processing instructions are left out.
What is told by itself stands as `<?item?>`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Callable, Dict, Tuple
from xml.etree import ElementTree as ET
from xml.parsers import expat

from .packages import Damaged

__all__ = [
    "Damaged", "Element", "Item", "cut_text", "element_items", "item_sequence", "local_name",
    "read_markup", "sha256_text", "write_element", "write_start",
]  # fmt: skip

MAX_DEPTH = 400
MAX_TEXT_CHARACTERS = 200
MAX_ITEMS = 3_000_000
"""What is held of one version of a part; more would take the memory."""

MARK = "?item"
"""The tag of what stands in the place of an item."""

Element = ET.Element
Item = Tuple[str, Dict[str, Any]]
"""A digest, and what is shown."""


def read_markup(
    blocks: Iterable[bytes],
    is_item: Callable[[str, str], bool],
    opened: Callable[[], int],
    closed: Callable[[int, Element], None],
) -> Element:
    """Read a part; return its root, with a mark in the place of each item.

    Args:
        blocks: Its bytes.
        is_item: Whether a tag, in an element of another one, is of an item.
        opened: Called where an item begins; what it returns names it.
        closed: Called where an item ends, with it; items in it are marks.

    Raises:
        Damaged: It is not valid XML, declares a document type, or is nested too deeply.
    """
    reading = _Reading(is_item, opened, closed)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = reading.start, reading.end
    parser.CharacterDataHandler = reading.pieces.append
    parser.StartDoctypeDeclHandler = _refuse
    try:
        for block in blocks:
            parser.Parse(block)
        parser.Parse(b"", True)  # noqa: FBT003 - it takes no names
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise Damaged("a part is not valid XML") from error
    return reading.top[0]


class _Reading:
    """What a part holds, while it is read.

    Args:
        is_item: Whether a tag, in an element of another one, is of an item.
        opened: Called where an item begins.
        closed: Called where an item ends.
    """

    def __init__(
        self,
        is_item: Callable[[str, str], bool],
        opened: Callable[[], int],
        closed: Callable[[int, Element], None],
    ) -> None:
        self._is_item, self._opened, self._closed = is_item, opened, closed
        self.top = Element("top")
        self._stack: list[tuple[Element, int]] = [(self.top, -1)]
        # Comments part a text: joined piece by piece it would take the square of the time.
        self.pieces: list[str] = []

    def _settle(self) -> None:
        """Put the text that was read where it stands."""
        if self.pieces:
            within = self._stack[-1][0]
            if len(within):
                within[-1].tail = "".join(self.pieces)
            else:
                within.text = "".join(self.pieces)
            self.pieces.clear()

    def start(self, name: str, attributes: list[str]) -> None:
        """Begin an element."""
        self._settle()
        if len(self._stack) > MAX_DEPTH:
            raise Damaged("a part is nested too deeply")
        pairs = {_tag(attributes[at]): attributes[at + 1] for at in range(0, len(attributes), 2)}
        tag = _tag(name)
        parent = self._stack[-1][0]
        child = ET.SubElement(parent, tag, pairs)
        number = self._opened() if self._is_item(tag, parent.tag) else -1
        self._stack.append((child, number))

    def end(self, _: str) -> None:
        """End an element; an item becomes a mark in its parent."""
        self._settle()
        element, number = self._stack.pop()
        if number >= 0:
            self._closed(number, element)
            self._stack[-1][0][-1] = Element(MARK)


def _refuse(*_: object) -> None:
    raise Damaged("a part has a document type declaration")


def _tag(name: str) -> str:
    return "{" + name if "}" in name else name


def item_sequence(
    blocks: Iterable[bytes],
    tags: frozenset[str],
    describe: Callable[[Element], dict[str, Any]],
) -> dict[str, list[Item]]:
    """Return the items of a part, in the order in which they begin, and what is around them.

    Args:
        blocks: The bytes of the part.
        tags: The tags of items.
        describe: What is shown of one.

    Raises:
        Damaged: It cannot be read.
    """
    items: list[Any] = []

    def opened() -> int:
        if len(items) >= MAX_ITEMS:
            raise Damaged("a part holds more than is read here")
        items.append(None)
        return len(items) - 1

    def closed(number: int, element: Element) -> None:
        items[number] = (sha256_text(write_element(element)), describe(element))

    root = read_markup(blocks, lambda tag, _: tag in tags, opened, closed)
    return {"items": items, "elements": element_items(root)}


def element_items(root: Element, hollow: frozenset[str] = frozenset()) -> list[Item]:
    """Return the root's own begin and the elements in it.

    Args:
        root: The root.
        hollow: Names of elements of which only the begin counts.
    """
    texts = [root.text or ""] + [child.tail or "" for child in root]
    own = "".join(text for text in texts if text.strip())
    found = [(sha256_text(write_start(root) + _escaped(own)), {"element": local_name(root.tag)})]
    for child in root:
        name = local_name(child.tag)
        told = write_start(child) if name in hollow else write_element(child)
        found.append((sha256_text(told), {"element": name}))
    return found


def local_name(tag: str) -> str:
    """Return a tag without its namespace."""
    return tag.rpartition("}")[2]


def sha256_text(*texts: str) -> str:
    """Return the hash of texts in UTF-8."""
    return hashlib.sha256("".join(texts).encode("utf-8", "replace")).hexdigest()


def write_start(element: Element, without: str = "") -> str:
    """Return the begin of an element, but for one attribute."""
    pairs = sorted(element.items())
    told = [
        ' {}="{}"'.format(name, _escaped(value).replace('"', "&quot;"))
        for name, value in pairs
        if name != without
    ]
    return "<" + element.tag + "".join(told) + ">"


def write_element(element: Element, without: str = "") -> str:
    """Return an element as text."""
    if element.tag == MARK:
        return "<?item?>"
    pieces = [write_start(element, without), _escaped(element.text or "")]
    for child in element:
        pieces.append(write_element(child))
        pieces.append(_escaped(child.tail or ""))
    pieces.append("</>")
    return "".join(pieces)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def cut_text(name: str, text: str) -> dict[str, Any]:
    """Return a text as a receipt shows it: of a long one the beginning and its length."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= MAX_TEXT_CHARACTERS:
        return {name: text}
    return {name: text[:MAX_TEXT_CHARACTERS], name + "_characters": len(text)}
