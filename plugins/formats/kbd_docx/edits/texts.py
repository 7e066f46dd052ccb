"""Text as documents hold it: breaks and tabs are elements, and some characters cannot be held."""

import re
from collections.abc import Callable, Iterator

from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.operations import Cell

__all__ = ["SPACE", "T", "clean", "set_text", "shown", "text_node", "text_nodes"]

T = f"{W}t"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"

_LINE_ENDS = re.compile(r"\r\n?|[\v\u2028]")
_CANNOT_STAND = re.compile(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
"""What XML has no way to say (XML 1.0, 2.2); CR is taken for a line's end before."""

_XML_BLANKS = " \t\r\n"
_PARTS = re.compile(r"([\n\t])")
_ELEMENTS = {"\n": f"{W}br", "\t": f"{W}tab"}


def clean(text: str, warn: Callable[[str], None]) -> str:
    """Return a text with plain line ends, without what a document cannot hold, which is told."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    cleaned, count = _CANNOT_STAND.subn("", text)
    if count:
        warn(f"{count} control character(s) that a document cannot hold were left out.")
    return cleaned


def shown(value: Cell) -> str:
    """Return a cell's value as text; a whole number has no fraction."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)


def text_nodes(text: str) -> Iterator[etree._Element]:
    """Yield the elements of a run that say a text: line breaks and tabs are their own."""
    for part in _PARTS.split(text):
        if part in _ELEMENTS:
            yield etree.Element(_ELEMENTS[part])
        elif part:
            yield text_node(part)


def text_node(text: str) -> etree._Element:
    """Return a `t` with a text that has no breaks."""
    node = etree.Element(T)
    set_text(node, text)
    return node


def set_text(node: etree._Element, text: str) -> None:
    """Set the text of a `t`; blanks at its ends are kept."""
    node.text = text
    if text != text.strip(_XML_BLANKS):
        node.set(SPACE, "preserve")
