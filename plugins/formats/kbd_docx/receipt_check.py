"""What documents hold, for the checker of receipts: the standard library alone.

It shares nothing with what edits documents or makes their receipts; see `docs/reference/receipts`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["TYPES", "part_titles", "read_part"]

_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_MICROSOFT = "application/vnd.ms-word."

TYPES = {
    _OFFICE + "document.main+xml": "story",
    _OFFICE + "template.main+xml": "story",
    _MICROSOFT + "document.macroEnabled.main+xml": "story",
    _MICROSOFT + "template.macroEnabledTemplate.main+xml": "story",
    _OFFICE + "header+xml": "story",
    _OFFICE + "footer+xml": "story",
    _OFFICE + "footnotes+xml": "story",
    _OFFICE + "endnotes+xml": "story",
    _OFFICE + "comments+xml": "story",
    _OFFICE + "document.glossary+xml": "story",
}
"""The parts that are taken apart, with what they are called."""

_SPACES = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
_PARAGRAPHS = frozenset(space + "p" for space in _SPACES)


def read_part(kind: str, package: Any, name: str, markup: Any) -> dict[str, Any]:
    """Return the lists of a part: what an item is called, the items, None for a sequence."""
    del kind

    def describe(paragraph: Any) -> dict[str, Any]:
        pieces: list[str] = []
        styles: list[str] = []
        _gather(paragraph, pieces, styles)
        shown: dict[str, Any] = markup.cut_text("text", "".join(pieces))
        if styles and styles[0]:
            shown.update(markup.cut_text("style", styles[0]))
        return shown

    read = markup.item_sequence(package.blocks(name), _PARAGRAPHS, describe)
    return {
        "paragraphs": ("paragraph", read["items"], None),
        "elements": ("element", read["elements"], None),
    }


def _gather(element: Any, pieces: list[str], styles: list[str]) -> None:
    """Gather the text below an element, and the styles that are named there."""
    for child in element:
        tag = child.tag
        for space in _SPACES:
            if tag == space + "t":
                pieces.append(child.text or "")
            elif tag == space + "tab" and element.tag.rpartition("}")[2] == "r":
                pieces.append("\t")
            elif tag in (space + "br", space + "cr"):
                pieces.append("\n")
            elif tag == space + "pStyle" and not (styles and styles[0]):
                styles[:] = [child.get(space + "val", "")]
        _gather(child, pieces, styles)


def part_titles(package: Any, markup: Any) -> dict[str, str]:
    """Return what parts are called in the file: here nothing."""
    del package, markup
    return {}
