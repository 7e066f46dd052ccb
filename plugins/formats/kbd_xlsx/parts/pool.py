"""A section of a style sheet: entries that are known by their position and never move."""

from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed

__all__ = ["Pool", "canonical", "local_name"]


def local_name(element: etree._Element) -> str:
    """Return an element's name without its namespace, "" for a comment."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def canonical(element: etree._Element) -> tuple[Any, ...]:
    """Return a value that is equal for elements of equal content, whatever their prefixes."""
    children = tuple(canonical(child) for child in element if isinstance(child.tag, str))
    text = (element.text or "").strip()
    return element.tag, tuple(sorted(element.attrib.items())), text, children


class Pool:
    """The entries of one section, found by content and only ever appended.

    Args:
        section: The element that holds them, with a `count`.
        entry: The name of an entry, without its namespace.
        limit: How many there may be.

    Raises:
        ValidationFailed: The positions of its entries cannot be told.
    """

    def __init__(self, section: etree._Element, entry: str, limit: int) -> None:
        self.section = section
        self._entry = entry
        self._limit = limit
        self.entries = [child for child in section if local_name(child) == entry]
        self._places: dict[tuple[Any, ...], int] | None = None
        if any(local_name(child) == "AlternateContent" for child in section):
            name = local_name(section)
            raise ValidationFailed(
                f"The styles cannot be changed: {name} has alternative contents."
            )

    def get(self, index: int) -> etree._Element | None:
        """Return an entry; where there is none at that position the first, if there is one."""
        if not 0 <= index < len(self.entries):
            index = 0
        return self.entries[index] if self.entries else None

    def find(self, element: etree._Element) -> int | None:
        """Return the position of an entry with this content, if there is one."""
        if self._places is None:
            self._places = {}
            for index, entry in enumerate(self.entries):
                self._places.setdefault(canonical(entry), index)
        return self._places.get(canonical(element))

    def add(self, element: etree._Element) -> int:
        """Return the position of an entry with this content, which is appended if it is new.

        Raises:
            ValidationFailed: There are too many.
        """
        known = self.find(element)
        return self.append(element) if known is None else known

    def append(self, element: etree._Element) -> int:
        """Append an entry and return its position.

        Raises:
            ValidationFailed: There are too many.
        """
        if len(self.entries) >= self._limit:
            raise ValidationFailed(
                f"The workbook has {len(self.entries):,} {local_name(self.section)} already; "
                f"{self._limit:,} is the limit. Use fewer different styles."
            )
        if self.entries:
            self.entries[-1].addnext(element)
        else:
            self.section.insert(0, element)
        self.entries.append(element)
        self.section.set("count", str(len(self.entries)))
        if self._places is not None:
            self._places.setdefault(canonical(element), len(self.entries) - 1)
        return len(self.entries) - 1
