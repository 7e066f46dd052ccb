"""The labels of a text's lists, counted as the program shows them."""

from lxml import etree

from kbd_odt.names import TEXT, XML, count
from kbd_odt.styles import ListLevel, Styles, label

__all__ = ["Lists"]

_MOST_COUNT = 1_000_000
_INDENT = "  "
_MOST_INDENTED = 10


class Lists:
    """The lists that are open, one in the other, and how far those that are closed have counted.

    Use: `enter` and `leave` lists, `begin` their items, and ask for the `label` of each paragraph.
    """

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._open: list[tuple[str, str]] = []
        self._levels: list[ListLevel] = []
        self._numbers: list[int] = []
        self._is_due = False
        self._counted: dict[str, int] = {}

    def enter(self, element: etree._Element) -> None:
        """Begin a list, which may go on counting where another one ended."""
        around = self._open[-1][0] if self._open else ""
        style = element.get(f"{TEXT}style-name", around)
        self._open.append((style, element.get(f"{XML}id", "")))
        level = self._styles.level(style, len(self._open))
        continued = element.get(f"{TEXT}continue-list", "")
        if not continued and element.get(f"{TEXT}continue-numbering") == "true":
            continued = f"style {style}"
        self._levels.append(level)
        self._numbers.append(self._counted.get(continued, level.start - 1))
        self._is_due = False

    def begin(self, element: etree._Element) -> None:
        """Begin an item; a header of a list is none."""
        if not self._numbers or element.tag != f"{TEXT}list-item":
            self._is_due = False
            return
        start = element.get(f"{TEXT}start-value")
        number = self._numbers[-1] + 1
        self._numbers[-1] = number if start is None else count(start, _MOST_COUNT, number)
        self._is_due = True

    def leave(self) -> None:
        """End the innermost list."""
        if not self._open:
            return
        style, identity = self._open.pop()
        number = self._numbers.pop()
        self._levels.pop()
        self._counted[f"style {style}"] = number
        if identity:
            self._counted[identity] = number
        self._is_due = False

    def label(self) -> str:
        """Return what stands before the next paragraph: indent, label and a blank; "" for none."""
        if not self._open:
            return ""
        indent = _INDENT * (min(len(self._open), _MOST_INDENTED) - 1)
        if not self._is_due:
            return f"{indent}{_INDENT}"
        self._is_due = False
        shown = label(self._levels, self._numbers)
        return f"{indent}{shown} " if shown else f"{indent}{_INDENT}"
