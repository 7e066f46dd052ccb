"""Texts that the cells of a workbook share, as elements of their part, read only."""

from lxml import etree

from kbd.opc.rewriter import Rewriting
from kbd_xlsx.reader.fallback_parser import text_of_item

__all__ = ["SharedItems"]


class SharedItems:
    """The shared texts of a workbook.

    Args:
        rewriting: The package.
        main: The workbook part.

    Raises:
        FileReadFailed: The part is damaged.
    """

    def __init__(self, rewriting: Rewriting, main: str) -> None:
        part = next((r.target for r in rewriting.relations(main) if r.kind == "sharedStrings"), "")
        root = rewriting.root(part) if part and part in rewriting else None
        self._items = [] if root is None else list(root.iterfind("{*}si"))

    def element(self, number: str) -> etree._Element | None:
        """Return the element of a text by its number as cells write it, None if there is none."""
        index = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else -1
        return self._items[index] if 0 <= index < len(self._items) else None

    def text(self, number: str) -> str:
        """Return a text by its number, "" if there is none."""
        found = self.element(number)
        return "" if found is None else text_of_item(found)
