"""Text and values as documents hold them: breaks and tabs as elements, words of the strict variant.

The strict variant spells some values otherwise. Names of namespaces are changed with the whole
part; these few words are not: ISO/IEC 29500-1, 17.18.44 (ST_Jc), 17.3.1.12 (ind), 17.4.38 and
17.4.42 (sides of tables), against 29500-4, 14.11.2 and on. Programs read either spelling in some
places only.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd_docx.document import W
from kbd_docx.operations import Cell

__all__ = [
    "SPACE",
    "T",
    "apply_variant",
    "cell_text",
    "clean_text",
    "set_text",
    "text_node",
    "text_nodes",
    "written_date",
]


T = f"{W}t"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"

# Word's own text has \v for a line break inside of a paragraph.
_LINE_ENDS = re.compile(r"\r\n?|[\v\u2028]")
_UNWRITABLE = re.compile(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
"""What XML has no way to say (XML 1.0, 2.2); CR is taken for a line's end before."""

_XML_BLANKS = " \t\r\n"
_PARTS = re.compile(r"([\n\t])")
_ELEMENTS = {"\n": f"{W}br", "\t": f"{W}tab"}


def clean_text(text: str, warn: Callable[[str], None]) -> str:
    """Return a text with plain line ends, without unwritable characters, with a warning."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    cleaned, count = _UNWRITABLE.subn("", text)
    if count:
        warn(f"{count} control character(s) that a document cannot hold were left out.")
    return cleaned


def cell_text(value: Cell) -> str:
    """Return a cell's value as text; a whole number has no fraction."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        # Below 2**53, up to which a float holds every whole number.
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case _:
            return str(value)


def written_date(text: str) -> str:
    """Return a date as comments and tracked changes have it ("2026-03-01T09:30:00Z").

    Raises:
        ValidationFailed: It is none in ISO form.
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValidationFailed(
            f"{text[:40]!r} is no date in ISO form, such as 2026-03-01T09:30:00"
        ) from None
    if found.tzinfo is not None:
        found = found.astimezone(UTC)
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


def text_nodes(text: str) -> Iterator[etree._Element]:
    """Yield the run elements of a text: line breaks and tabs are elements of their own."""
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
    """Set the text of a `t`; blanks at its ends are preserved."""
    node.text = text
    # XML has these four as white space; `strip()` alone would take more.
    if text != text.strip(_XML_BLANKS):
        node.set(SPACE, "preserve")


_TO_STRICT = {"left": "start", "right": "end", "leftChars": "startChars", "rightChars": "endChars"}
_TO_TRANSITIONAL = {strict: usual for usual, strict in _TO_STRICT.items()}
_ALIGNED = frozenset(("jc", "lvlJc", "tab"))
_SIDED = frozenset(("tblBorders", "tcBorders", "tblCellMar", "tcMar"))
_FIFTIETHS = 50


def apply_variant(element: etree._Element, *, is_strict: bool) -> None:
    """Convert the values in a new element, and all in it, to a variant's spelling."""
    words = _TO_STRICT if is_strict else _TO_TRANSITIONAL
    for each in element.iter(f"{W}*"):
        name = local_name(each)
        if name in _ALIGNED:
            _respell_value(each, "val", words)
        elif name == "ind":
            for old, new in words.items():
                value = each.attrib.pop(f"{W}{old}", "")
                if value:
                    each.set(f"{W}{new}", value)
        elif name in _SIDED:
            for side in each.iterchildren(f"{W}*"):
                side.tag = W + words.get(local_name(side), local_name(side))
        elif name == "tblLook" and is_strict:
            # Its bits are attributes of their own there.
            each.attrib.pop(f"{W}val", "")
        if is_strict and each.get(f"{W}type") == "pct":
            # The usual variant has shares in fiftieths of a percent.
            share = each.get(f"{W}w", "")
            if re.fullmatch(r"\d{1,6}", share):
                each.set(f"{W}w", f"{int(share) / _FIFTIETHS:g}%")


def _respell_value(element: etree._Element, key: str, words: dict[str, str]) -> None:
    value = element.get(f"{W}{key}", "")
    if value in words:
        element.set(f"{W}{key}", words[value])
