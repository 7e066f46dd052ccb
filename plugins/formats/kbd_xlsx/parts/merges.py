"""The element `mergeCells`."""

import re

from kbd_xlsx.parts.markup import (
    Tag,
    area_of,
    attribute,
    element,
    opened,
    start_tag,
    with_attributes,
)
from kbd_xlsx.references import Area

__all__ = ["merged_areas", "with_merges"]


def merged_areas(text: bytes, prefix: str) -> list[Area]:
    """Return the areas of an element `mergeCells` in order."""
    found = (area_of(ref) for ref, _ in _entries(text, prefix))
    return [area for area in found if area is not None]


def with_merges(text: bytes, prefix: str, areas: list[Area]) -> bytes:
    """Return the element with just these areas, b"" for none; those that stay keep their bytes."""
    missing = dict.fromkeys(areas)
    kept = []
    for ref, entry in _entries(text, prefix):
        area = area_of(ref)
        if area is None or area in missing:
            kept.append(entry)
            if area is not None:
                del missing[area]
    name = f"{prefix}mergeCell"
    kept += [f'<{name} ref="{area}"/>'.encode() for area in missing]
    if not kept:
        return b""
    tag = opened(text) if text else Tag(f"{name}s".encode(), b"", b"")
    attributes = with_attributes(tag.attributes, {b"count": b"%d" % len(kept)})
    return element(Tag(tag.name, attributes, b"".join(kept)))


def _entries(text: bytes, prefix: str) -> list[tuple[str, bytes]]:
    """Return the areas as written and the elements that hold them."""
    name = f"{prefix}mergeCell".encode()
    close = b"</" + re.escape(name) + rb"\s*>"
    found = re.finditer(start_tag(name) + rb"(?:(?<=/>)|[^<]*" + close + b")", text)
    return [(attribute(entry[1], b"ref") or "", entry[0]) for entry in found]
