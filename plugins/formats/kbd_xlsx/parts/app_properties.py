"""The application properties of a workbook, which list its sheets and names a second time."""

from collections.abc import Callable
from typing import Any

from kbd.opc.element_names import local_name

__all__ = ["rename_parts"]


def rename_parts(root: Any, renamed: Callable[[str], str | None]) -> bool:
    """Rename the parts that the properties list, in place, and return whether any was.

    Args:
        root: The root element of the properties.
        renamed: Returns what a title becomes, None for one that is taken out.
    """
    titles = root.find("{*}TitlesOfParts/{*}vector")
    if titles is None:
        return False
    fates = [(entry, entry.text or "", renamed(entry.text or "")) for entry in _entries(titles)]
    if all(new == old for _, old, new in fates):
        return False
    pairs = root.find("{*}HeadingPairs/{*}vector")
    counts = [] if pairs is None else _counts(pairs)
    is_clear = sum(counts) == len(fates) == _size(titles)
    if not is_clear or all(new is None for _, _, new in fates):
        # Both are optional; lists that do not agree cannot be brought up to date, and an empty
        # list is against the schema.
        for child in list(root):
            if local_name(child) in ("TitlesOfParts", "HeadingPairs"):
                root.remove(child)
        return True
    group, left = 0, counts[0]
    for entry, _, new in fates:
        while not left:
            group += 1
            left = counts[group]
        left -= 1
        if new is None:
            titles.remove(entry)
            counts[group] -= 1
        else:
            entry.text = new
    titles.set("size", str(sum(counts)))
    _set_counts(pairs, counts)
    return True


def _entries(vector: Any) -> list[Any]:
    return [child for child in vector if isinstance(child.tag, str)]


def _size(vector: Any) -> int:
    size = vector.get("size", "")
    return int(size) if size.isdecimal() else -1


def _counts(pairs: Any) -> list[int]:
    """Return how many parts there are under each heading; [] if that is unclear."""
    texts = [element.text or "" for element in _number_elements(pairs)]
    return [int(text) for text in texts] if all(text.isdecimal() for text in texts) else []


def _number_elements(pairs: Any) -> list[Any]:
    return list(pairs.iterfind("{*}variant/{*}i4"))


def _set_counts(pairs: Any, counts: list[int]) -> None:
    """Set the numbers of parts; a heading without any goes with its number."""
    for element, count in zip(_number_elements(pairs), counts, strict=True):
        element.text = str(count)
        variant = element.getparent()
        if not count:
            heading = variant.getprevious()
            if heading is not None:
                pairs.remove(heading)
            pairs.remove(variant)
    pairs.set("size", str(len(_entries(pairs))))
