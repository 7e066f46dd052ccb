"""What an element says, apart from how it is written.

As canonical XML 2.0 with prefixes rewritten: the order of attributes, prefixes, comments, and
blanks between elements do not count; blanks in an element that holds nothing else do. Beyond it,
values that name namespaces by prefix are compared by the namespaces.
"""

from collections.abc import Iterator
from hashlib import blake2b

from lxml import etree

from judging.package import Element, local

__all__ = ["attributes", "content", "meanings", "own_text", "said"]

_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_PREFIXED = frozenset(
    (
        f"{_COMPATIBILITY}Ignorable",
        f"{_COMPATIBILITY}MustUnderstand",
        f"{_COMPATIBILITY}ProcessContent",
        f"{_COMPATIBILITY}PreserveElements",
        f"{_COMPATIBILITY}PreserveAttributes",
        "{http://www.w3.org/2001/XMLSchema-instance}type",
    )
)
"""Attributes whose value is a list of prefixes, or of names with a prefix."""


def attributes(element: Element) -> dict[str, str]:
    """The attributes by name, prefixes in values replaced by what they stand for."""
    found = {}
    for key, value in element.attrib.items():
        name, text = str(key), str(value)
        is_choice = name == "Requires" and element.tag == f"{_COMPATIBILITY}Choice"
        if name in _PREFIXED or is_choice:
            spaces = element.nsmap
            text = " ".join(sorted(_resolved(word, spaces) for word in text.split()))
        found[name] = text
    return found


def _resolved(word: str, spaces: dict[str | None, str]) -> str:
    prefix, colon, name = word.partition(":")
    return f"{{{spaces.get(prefix, f'? {prefix}')}}}{name if colon else ''}"


def content(element: Element) -> Iterator[str | Element]:
    """Yield the children, and between them the texts that count."""
    has_children = any(local(child) for child in element)
    text = element.text or ""
    for child in element:
        if local(child):
            if text.strip():
                yield text
            yield child
            text = child.tail or ""
        else:
            # Of what is no element, comments say nothing.
            text += str(child) if isinstance(child, etree._ProcessingInstruction) else ""
            text += child.tail or ""
    if text and (text.strip() or not has_children):
        yield text


def own_text(element: Element) -> str:
    """The texts of an element that are not in its children."""
    return "".join(piece for piece in content(element) if isinstance(piece, str))


def meanings(root: Element) -> dict[Element, bytes]:
    """What each element of a tree says with all that is in it, as a short sum."""
    found: dict[Element, bytes] = {}
    for _, element in etree.iterwalk(root, events=("end",)):
        if not local(element):
            continue
        total = blake2b(digest_size=16)
        total.update(_framed(str(element.tag)))
        for name, value in sorted(attributes(element).items()):
            total.update(b"@" + _framed(name) + _framed(value))
        for piece in content(element):
            total.update(_framed(piece) if isinstance(piece, str) else b"<" + found[piece])
        found[element] = total.digest()
    return found


def said(element: Element) -> bytes:
    """What one element says with all that is in it."""
    return meanings(element)[element]


def _framed(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return b"%d:" % len(data) + data
