"""Texts of cells as elements, read only: those that cells share, those that stand in a cell."""

from lxml import etree

from kbd.opc.rewriter import Rewriting
from kbd_xlsx.parts.stylesheet import MAIN
from kbd_xlsx.reader.fallback_parser import text_of_item

__all__ = ["SharedItems", "inline_item", "inline_text"]


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

    def folded(self) -> set[str]:
        """Return all texts without regard to case."""
        return {text_of_item(item).casefold() for item in self._items}


def inline_item(inner: bytes, prefix: str) -> etree._Element | None:
    """Return the element `is` of what is inside a cell, None if there is none.

    Args:
        inner: The markup.
        prefix: The prefix of the part's names.
    """
    space = f'xmlns:{prefix[:-1]}="{MAIN}"' if prefix else f'xmlns="{MAIN}"'
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True, huge_tree=True
    )
    root = etree.fromstring(f"<cell {space}>".encode() + inner + b"</cell>", parser)
    return None if root is None else root.find("{*}is")


def inline_text(inner: bytes, prefix: str) -> str:
    """Return the text that stands in a cell itself, "" for none."""
    found = inline_item(inner, prefix)
    return "" if found is None else text_of_item(found)
