"""Facts for receipts of documents: which paragraphs of its texts differ, and what else in them."""

from collections.abc import Mapping
from typing import Any

from lxml import etree

from kbd.formats import Source
from kbd.formats.receipts import cut_text
from kbd.office.receipts import ItemReader, package_facts
from kbd.opc.element_names import local_name

__all__ = ["receipt_facts"]

_TYPES = tuple(
    f"application/vnd.{word}+xml"
    for word in (
        "openxmlformats-officedocument.wordprocessingml.document.main",
        "openxmlformats-officedocument.wordprocessingml.template.main",
        "ms-word.document.macroEnabled.main",
        "ms-word.template.macroEnabledTemplate.main",
        "openxmlformats-officedocument.wordprocessingml.header",
        "openxmlformats-officedocument.wordprocessingml.footer",
        "openxmlformats-officedocument.wordprocessingml.footnotes",
        "openxmlformats-officedocument.wordprocessingml.endnotes",
        "openxmlformats-officedocument.wordprocessingml.comments",
        "openxmlformats-officedocument.wordprocessingml.document.glossary",
    )
)
_SPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_PARAGRAPH = frozenset(f"{{{space}}}p" for space in _SPACES)
_MAIN = frozenset(f"{{{space}}}" for space in _SPACES)


def receipt_facts(
    versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
) -> dict[str, Any]:
    """Return what differs between versions of a document: parts, paragraphs, what is around them.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    reader = ItemReader("story", "paragraphs", _PARAGRAPH, _describe)
    return package_facts(versions, steps, limit, dict.fromkeys(_TYPES, reader))


def _describe(paragraph: etree._Element) -> Mapping[str, Any]:
    """Return a paragraph's text and the id of its style."""
    pieces: list[str] = []
    style = ""
    waiting = list(reversed(paragraph))
    while waiting:
        element = waiting.pop()
        if not isinstance(element.tag, str) or element.tag in _PARAGRAPH:
            continue
        space, _, name = str(element.tag).rpartition("}")
        if f"{space}}}" in _MAIN:
            if name == "t":
                pieces.append(element.text or "")
            elif name == "tab" and local_name(element.getparent()) == "r":  # type: ignore[arg-type]
                pieces.append("\t")
            elif name in ("br", "cr"):
                pieces.append("\n")
            elif name == "pStyle" and not style:
                style = element.get(f"{space}}}val", "")
        waiting.extend(reversed(element))
    return {**cut_text("text", "".join(pieces)), **(cut_text("style", style) if style else {})}
