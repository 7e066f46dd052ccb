"""Facts for receipts of decks: which shapes of slides and notes differ, and what else in them."""

from collections.abc import Mapping
from typing import Any

from lxml import etree

from kbd.formats import Source
from kbd.formats.receipts import cut_text
from kbd.office.receipts import ItemReader, package_facts
from kbd.opc.element_names import local_name

__all__ = ["receipt_facts"]

_TYPES = tuple(
    f"application/vnd.openxmlformats-officedocument.presentationml.{word}+xml"
    for word in (
        "slide", "notesSlide", "slideLayout", "slideMaster", "notesMaster", "handoutMaster",
    )
)  # fmt: skip
_SPACES = (
    "http://schemas.openxmlformats.org/presentationml/2006/main",
    "http://purl.oclc.org/ooxml/presentationml/main",
)
_SHAPES = frozenset(
    f"{{{space}}}{name}"
    for space in _SPACES
    for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp")
)
_DRAWING = frozenset(
    {
        "http://schemas.openxmlformats.org/drawingml/2006/main",
        "http://purl.oclc.org/ooxml/drawingml/main",
    }
)


def receipt_facts(
    versions: tuple[Source | None, ...], steps: tuple[int, ...], limit: int
) -> dict[str, Any]:
    """Return what differs between versions of a deck: parts, shapes, what is around them.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    reader = ItemReader("slide", "shapes", _SHAPES, _describe)
    return package_facts(versions, steps, limit, dict.fromkeys(_TYPES, reader))


def _describe(shape: etree._Element) -> Mapping[str, Any]:
    """Return what a shape is, its number and name, its text, and where it stands."""
    facts: dict[str, Any] = {"shape": local_name(shape)}
    pieces: list[str] = []
    geometry: dict[str, str] = {}
    waiting = list(reversed(shape))
    while waiting:
        element = waiting.pop()
        if not isinstance(element.tag, str) or element.tag in _SHAPES:
            continue
        space, _, name = str(element.tag)[1:].rpartition("}")
        if name == "cNvPr" and "id" not in facts:
            facts |= cut_text("id", element.get("id", ""))
            facts |= cut_text("name", element.get("name", ""))
        elif name == "xfrm" and not geometry:
            for child in element:
                if isinstance(child.tag, str) and local_name(child) in ("off", "ext"):
                    geometry |= {
                        key: child.get(key, "")[:20]
                        for key in ("x", "y", "cx", "cy") if key in child.attrib
                    }  # fmt: skip
        elif space in _DRAWING:
            if (name == "p" and pieces) or name == "br":
                pieces.append("\n")
            elif name == "t":
                pieces.append(element.text or "")
        waiting.extend(reversed(element))
    return {**facts, **cut_text("text", "".join(pieces)), "geometry": geometry}
