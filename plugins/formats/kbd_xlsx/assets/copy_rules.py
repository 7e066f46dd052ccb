"""Conditional formats entered into a sheet of another workbook."""

import re
from collections.abc import Sequence
from typing import Any

from lxml import etree

from kbd_xlsx.assets.insertion import with_element
from kbd_xlsx.parts.blankstyles import MAIN, STRICT_MAIN
from kbd_xlsx.parts.style_elements import translated
from kbd_xlsx.parts.stylesheet import StyleSheet
from kbd_xlsx.parts.styletables import number_of

__all__ = ["RuleCopy"]

_PRIORITY = re.compile(rb"<(?:[\w.-]+:)?cfRule\s[^>]*?\bpriority=[\"'](\d{1,9})[\"']")


class RuleCopy:
    """Copies conditional formats with the looks that they give.

    Args:
        styles: Of the workbook that gets them.
        other: Of the one that has them.

    Attributes:
        count: How many rules were copied.
        reaching: Their formulas that refer to other sheets.
    """

    def __init__(self, styles: StyleSheet, other: StyleSheet) -> None:
        self.count = 0
        self.reaching: dict[str, None] = {}
        self._styles, self._other = styles, other

    def added(self, blocks: Sequence[etree._Element], data: bytes, title: str) -> bytes:
        """Return a sheet's part with copies of rules, which come after those that it has.

        Args:
            blocks: `conditionalFormatting` elements of the other workbook.
            data: The part.
            title: The sheet's title, for messages.

        Raises:
            ValidationFailed: The part cannot be changed safely.
        """
        after = max(map(int, _PRIORITY.findall(data)), default=0)

        def made(prefix: str) -> str:
            return "".join(self._copied(block, prefix, after) for block in blocks)

        return with_element(data, title, "conditionalFormatting", made)

    def _copied(self, block: etree._Element, prefix: str, after: int) -> str:
        space = STRICT_MAIN if self._styles.tables.is_strict else MAIN
        # The stubs do not know that the plain namespace's prefix is None.
        nsmap: Any = {prefix.rstrip(":") or None: space}
        made = translated(block, etree.Element(f"{{{space}}}worksheet", nsmap=nsmap))
        for rule in made.iterchildren("{*}cfRule"):
            self.count += 1
            rule.set("priority", str(after + number_of(rule, "priority")))
            if rule.get("dxfId") is not None:
                rule.set("dxfId", str(self._look(number_of(rule, "dxfId"))))
            for formula in rule.iterchildren("{*}formula"):
                if "!" in (formula.text or ""):
                    self.reaching.setdefault(formula.text or "")
        return etree.tostring(made, encoding="unicode", with_tail=False)

    def _look(self, index: int) -> int:
        """Enter a differential format and return its position."""
        tables = self._styles.tables
        entries = self._other.tables.pool("dxfs").entries
        if index >= len(entries):
            return tables.add("dxfs", etree.SubElement(etree.Element("none"), _named(tables.root)))
        made = translated(entries[index], tables.root)
        for entry in made.iterchildren("{*}numFmt"):
            entry.set("numFmtId", str(tables.number_format(entry.get("formatCode", "General"))))
        return tables.add("dxfs", made)


def _named(root: etree._Element) -> str:
    return f"{{{etree.QName(root).namespace}}}dxf"
