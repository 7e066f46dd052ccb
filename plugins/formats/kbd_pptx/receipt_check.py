"""What decks hold, for the checker of receipts: the standard library alone.

It shares nothing with what edits decks or makes their receipts; see `docs/reference/receipts`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["TYPES", "part_titles", "read_part"]

_OFFICE = "application/vnd.openxmlformats-officedocument.presentationml."

TYPES = {
    _OFFICE + "slide+xml": "slide",
    _OFFICE + "notesSlide+xml": "slide",
    _OFFICE + "slideLayout+xml": "slide",
    _OFFICE + "slideMaster+xml": "slide",
    _OFFICE + "notesMaster+xml": "slide",
    _OFFICE + "handoutMaster+xml": "slide",
}
"""The parts that are taken apart, with what they are called."""

_SPACES = (
    "{http://schemas.openxmlformats.org/presentationml/2006/main}",
    "{http://purl.oclc.org/ooxml/presentationml/main}",
)
_SHAPES = frozenset(
    space + name for space in _SPACES for name in ("cxnSp", "graphicFrame", "grpSp", "pic", "sp")
)
_DRAWN = (
    "{http://schemas.openxmlformats.org/drawingml/2006/main}",
    "{http://purl.oclc.org/ooxml/drawingml/main}",
)


def read_part(kind: str, package: Any, name: str, markup: Any) -> dict[str, Any]:
    """Return the lists of a part: what an item is called, the items, None for a sequence."""
    del kind

    def describe(shape: Any) -> dict[str, Any]:
        pieces: list[str] = []
        shown: dict[str, Any] = {"shape": markup.local_name(shape.tag)}
        place: dict[str, str] = {}
        for element in shape.iter():
            if element is shape:
                continue
            space, _, word = element.tag.rpartition("}")
            if word == "cNvPr" and "id" not in shown:
                shown.update(markup.cut_text("id", element.get("id", "")))
                shown.update(markup.cut_text("name", element.get("name", "")))
            elif word == "xfrm" and not place:
                place.update(_place(element))
            elif space + "}" in _DRAWN:
                if word == "t":
                    pieces.append(element.text or "")
                elif word == "br" or (word == "p" and pieces):
                    pieces.append("\n")
        shown.update(markup.cut_text("text", "".join(pieces)))
        shown["geometry"] = place
        return shown

    read = markup.item_sequence(package.blocks(name), _SHAPES, describe)
    return {
        "shapes": ("shape", read["items"], None),
        "elements": ("element", read["elements"], None),
    }


def _place(element: Any) -> dict[str, str]:
    """Return where a shape stands and how large it is, as written."""
    found: dict[str, str] = {}
    for child in element:
        if child.tag.rpartition("}")[2] in ("off", "ext"):
            for name in ("x", "y", "cx", "cy"):
                value = child.get(name)
                if value is not None:
                    found[name] = value[:20]
    return found


def part_titles(package: Any, markup: Any) -> dict[str, str]:
    """Return what parts are called in the file: here nothing."""
    del package, markup
    return {}
