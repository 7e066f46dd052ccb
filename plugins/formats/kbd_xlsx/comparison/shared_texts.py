"""Texts of cells: those that a workbook's cells share, and those that stand in the cell itself.

The shared ones are cut, not parsed; each is read when it is asked for.
"""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from lxml import etree

from kbd.opc.package import Package, free_element, reading_errors
from kbd_xlsx.comparison.sheet_rows import plain_markup
from kbd_xlsx.reader.fallback_parser import text_of_item, without_escapes
from kbd_xlsx.reader.parts import declared_encoding

__all__ = ["CellText", "SharedTexts", "read_text"]

_ITEM = re.compile(rb"<si(?:\s[^>]*)?(?:/>|>(.*?)</si>)", re.DOTALL)
_ITEM_TAG = re.compile(rb"<(?:[\w.-]+:)?si[\s/>]")
_PLAIN = re.compile(rb'\s*<t(?:\s+(xml:space="preserve"))?>([^<]*)</t>\s*')
_SPACE = " \t\r\n"
_TRUE = frozenset((("val", "1"), ("val", "true")))
_SWITCHES = frozenset(("b", "i", "strike", "outline", "shadow", "condense", "extend"))
_UNSEEN = frozenset(("family", "charset", "scheme", "extLst"))

CellText = tuple[str, bytes]
"""A text, and what its runs look like if that says more than the text."""


_NO_TEXT: CellText = ("", b"")


def read_text(markup: bytes) -> CellText:
    """Return the text of what is inside of `si` or `is`."""
    found = _PLAIN.fullmatch(markup)
    if found is not None:
        text = found[2].decode("utf-8", "replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not found[1]:
            text = text.strip(_SPACE)
        if "&" in text:
            text = unescape(text)
        return without_escapes(text), b""
    if not markup.strip():
        return "", b""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True,
        remove_pis=True, huge_tree=True,
    )  # fmt: skip
    root = etree.fromstring(b"<si>" + markup + b"</si>", parser)
    if root is None:
        return "", markup
    rich = any(child.tag != "t" for child in root)
    return text_of_item(root), _runs(root) if rich else b""


def _runs(item: etree._Element) -> bytes:
    """Return what runs look like and what is written beside a text; b"" for nothing.

    Runs that look alike are one, however many a program made of them.
    """
    found: list[tuple[str, tuple[Any, ...]]] = []
    beside = []
    for part in item:
        text = part.findtext("t") or ""
        if part.tag == "rPh":
            beside.append((part.get("sb"), part.get("eb"), text))
        if part.tag not in ("r", "t"):
            continue
        text = text if part.tag == "r" else part.text or ""
        look = tuple(sorted(_look(each) for each in part.iterfind("rPr/*") if _is_seen(each)))
        if found and found[-1][1] == look:
            text = found.pop()[0] + text
        if text:
            found.append((text, look))
    if not beside and all(not look for _, look in found):
        return b""
    return repr((found, beside)).encode("utf-8", "replace")


def _look(element: etree._Element) -> tuple[str, tuple[tuple[str, str], ...]]:
    attributes = sorted((str(key), str(value)) for key, value in element.attrib.items())
    return str(element.tag), tuple(
        (key, value) for key, value in attributes if (key, value) not in _TRUE
    )


def _is_seen(element: etree._Element) -> bool:
    is_off = element.get("val") in ("0", "false") and element.tag in _SWITCHES
    return not is_off and element.tag not in _UNSEEN


class SharedTexts:
    """The texts that the cells of a workbook share.

    Args:
        package: The workbook, None for none.
        part: The part that holds them, "" if there is none.

    Raises:
        FileReadFailed: The part is damaged.
    """

    def __init__(self, package: Package | None, part: str) -> None:
        self._items = _items(package, part) if package is not None and part else []
        self._known: dict[int, CellText] = {}

    def __len__(self) -> int:
        return len(self._items)

    @property
    def markup(self) -> Sequence[bytes]:
        """The markup of all."""
        return self._items

    def get(self, index: int) -> CellText:
        """Return a text; "" for one that there is not."""
        found = self._known.get(index)
        if found is None:
            there = 0 <= index < len(self._items)
            found = self._known[index] = read_text(self._items[index]) if there else ("", b"")
        return found

    def emptied(self, other: "SharedTexts") -> tuple[set[int], set[int]] | None:
        """Return the numbers of texts that only one has empty: of this one, and of the other.

        None if any text differs otherwise. Numbers that only one of the two has do not count.
        """
        own, others = set[int](), set[int]()
        for place, (one, two) in enumerate(zip(self._items, other.markup, strict=False)):
            if one == two or self.get(place) == other.get(place):
                continue
            if other.get(place) == _NO_TEXT:
                others.add(place)
            elif self.get(place) == _NO_TEXT:
                own.add(place)
            else:
                return None
        return own, others


def _items(package: Package, part: str) -> list[bytes]:
    data = package.read(part)
    if b"<!" not in data and not declared_encoding(data):
        found = _ITEM.findall(data)
        if len(found) == len(_ITEM_TAG.findall(data)):
            return found
    del data
    parsed = []
    with package.open(part) as file, reading_errors(package.name):
        # The trial versions before the standard wrote sstItem.
        for _, item in etree.iterparse(
            file, tag=("{*}si", "{*}sstItem"), resolve_entities=False, no_network=True,
            remove_comments=True, remove_pis=True,
        ):  # fmt: skip
            written = "".join(plain_markup(child) for child in item)
            parsed.append(written.encode("utf-8", "replace"))
            free_element(item)
    return parsed
