"""Pictures made of markup (svg): read as text, never drawn, nothing in them followed."""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_image.kinds import misnamed

__all__ = ["vector_facts"]

MOST_ELEMENTS = 200_000
"""Elements that are looked at."""

MOST_NAMED = 5
"""References that a warning names."""

_PIXELS = {
    "": 1.0, "px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "pt": 96 / 72, "pc": 16.0, "em": 16.0, "rem": 16.0, "ex": 8.0,
}  # fmt: skip
"""Pixels of a unit (CSS Values 4, section 6), letters of 16 pixels."""

_NUMBER = r"[+-]?(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})(?:[eE][+-]?\d{1,3})?"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*([a-zA-Z%]*)\s*")
_OUTSIDE = re.compile(r"url\(\s*['\"]?\s*([a-z][a-z0-9+.-]*:|//)[^)'\"]{0,200}", re.IGNORECASE)


def vector_facts(source: Source) -> dict[str, Any]:
    """Return the facts: the size in pixels by width and height, else by the view box.

    Raises:
        FileReadFailed: It is no svg file.
    """
    told: dict[str, Any] = {"format": "SVG", "size_bytes": source.path.stat().st_size}
    dangers: dict[str, None] = {}
    outside: dict[str, None] = {}
    warnings = list(misnamed(source, "SVG"))
    try:
        for place, element in enumerate(_elements(source)):
            if place == 0:
                if etree.QName(element).localname != "svg":
                    raise FileReadFailed(f"{source.name} is markup, but no svg picture.")
                told |= _size(element)
            if place == MOST_ELEMENTS:
                warnings.append(f"Only its first {MOST_ELEMENTS:,} elements were looked at.")
                break
            _look(element, dangers, outside)
    except (etree.LxmlError, OSError, ValueError) as error:
        if "width" not in told:
            raise FileReadFailed(f"{source.name} is damaged, or no svg picture.") from error
        warnings.append("Its markup is damaged; only its beginning was looked at.")
    if told.get("width") is None:
        warnings.append("It does not say how large it is.")
    if dangers:
        warnings.append(f"It holds {', '.join(dangers)}, of which nothing is run here.")
    if outside:
        named = ", ".join(list(outside)[:MOST_NAMED])
        more = ", …" if len(outside) > MOST_NAMED else ""
        warnings.append(f"It refers to what is outside of it, which is not fetched: {named}{more}.")
    return {**told, "warnings": warnings} if warnings else told


def _elements(source: Source) -> Iterator[etree._Element]:
    """Yield each element as it begins, and forget those that have ended."""
    with source.path.open("rb") as file:
        parsed = etree.iterparse(
            file, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False
        )
        for event, element in parsed:
            if event == "start":
                yield element
                continue
            element.clear(keep_tail=False)
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]


def _size(root: etree._Element) -> dict[str, Any]:
    box = [float(each) for each in re.findall(_NUMBER, root.get("viewBox", "")[:200])]
    box_width, box_height = (box[2], box[3]) if len(box) == 4 else (None, None)
    width = _pixels(root.get("width"), box_width)
    height = _pixels(root.get("height"), box_height)
    if width and height is None and box_width and box_height:
        height = width * box_height / box_width
    if height and width is None and box_width and box_height:
        width = height * box_width / box_height
    told: dict[str, Any] = {
        "width": _rounded(box_width if width is None else width),
        "height": _rounded(box_height if height is None else height),
    }
    declared = {name: root.get(name, "")[:40] for name in ("width", "height") if root.get(name)}
    if declared:
        told["declared"] = declared
    if len(box) == 4:
        told["view_box"] = [_rounded(each) for each in box]
    return told


def _pixels(length: str | None, whole: float | None) -> float | None:
    found = _LENGTH.fullmatch(length or "")
    if found is None:
        return None
    number, unit = float(found[1]), found[2].lower()
    if unit == "%":
        return None if whole is None else whole * number / 100
    return number * _PIXELS[unit] if unit in _PIXELS else None


def _rounded(number: float | None) -> float | int | None:
    if number is None or not abs(number) < 1e15:
        return None
    return int(number) if number == int(number) else round(number, 2)


def _look(element: etree._Element, dangers: dict[str, None], outside: dict[str, None]) -> None:
    """Note what would run, and what would be fetched."""
    if not isinstance(element.tag, str):
        return
    match etree.QName(element).localname:
        case "script":
            dangers["scripts"] = None
        case "foreignObject" | "iframe" | "object" | "embed":
            dangers["other documents"] = None
    for name, value in element.attrib.items():
        attribute = etree.QName(name).localname.lower()
        text = str(value)
        if attribute.startswith("on"):
            dangers["scripts"] = None
        elif attribute in ("href", "src"):
            target = text.strip()
            if target[:11].lower() == "javascript:":
                dangers["scripts"] = None
            elif target and not target.startswith("#") and target[:5].lower() != "data:":
                outside[target[:200]] = None
        elif (found := _OUTSIDE.search(text[:10_000])) and found[1].lower() != "data:":
            outside[found[0][4:].strip(" '\"")[:200]] = None
