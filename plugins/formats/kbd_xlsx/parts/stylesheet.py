"""The looks of a workbook: its style sheet, which only ever grows.

A cell names its look by a position among the cell formats (`cellXfs`); each of these names a font,
a fill, a border and a number format by positions again. What exists never moves and never
changes: a look that is not there yet is appended, one that is there is found by its content.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import msgspec
from lxml import etree

from kbd.opc.rewriter import xml_bytes
from kbd_xlsx.parts.adoption import adopt_format, adopt_name
from kbd_xlsx.parts.blankstyles import blank_styles
from kbd_xlsx.parts.formatting import CellFormatting, read_cell_formatting
from kbd_xlsx.parts.numberformats import shows_date
from kbd_xlsx.parts.style_elements import aligned, bordered, filled, with_font
from kbd_xlsx.parts.styletables import StyleTables, number_of

__all__ = ["XlsxStyleSheet"]


class XlsxStyleSheet:
    """The styles part of one workbook.

    Args:
        root: The root of the part, which is changed in place; None makes a new one.
        strict: Whether a new one is of the strict variant.

    Attributes:
        tables: Its sections.
        warnings: What was skipped, each once, in order.

    Raises:
        ValidationFailed: The root is of no form that can be changed.
    """

    def __init__(self, root: etree._Element | None, *, strict: bool = False) -> None:
        self.tables = StyleTables(blank_styles(strict=strict) if root is None else root)
        self.warnings: dict[str, None] = {}
        self._is_new = root is None
        self._known: dict[tuple[int, int], int] = {}
        self._kept: dict[int, Mapping[str, Any]] = {}
        self._by_text: dict[tuple[int, str], int] = {}
        self._looks: dict[str, CellFormatting] = {}
        self._dates: dict[int, bool] = {}

    @property
    def is_changed(self) -> bool:
        """Whether `xml` differs from what was there."""
        return self._is_new or self.tables.is_changed

    def styled(self, base: int, style: Mapping[str, Any]) -> int:
        """Return the position of the cell format that is `base` changed as a style object says.

        Args:
            base: A cell format; one that does not exist counts as the first.
            style: As in operations; it must not change afterwards. What is wrong in it is
                skipped and told in `warnings`.

        Raises:
            ValidationFailed: There are too many formats.
        """
        # A cell's style is mostly the very object of many other cells.
        known = self._known.get((base, id(style)))
        if known is None:
            known = self._styled(base, style)
            self._known[base, id(style)] = known
            # Held, so that no other object gets its id.
            self._kept[id(style)] = style
        return known

    def formatted(self, base: int, code: str) -> int:
        """Return the position of the format that is `base` with another number format.

        Raises:
            ValidationFailed: There are too many formats.
        """
        return self._dressed(base, CellFormatting(number_format=code))

    def is_date(self, index: int) -> bool:
        """Tell whether a cell format shows dates or times."""
        known = self._dates.get(index)
        if known is None:
            number = number_of(self.tables.entry("cellXfs", index), "numFmtId")
            known = shows_date(number, self.tables.custom_codes().get(number))
            self._dates[index] = known
        return known

    def adopt(self, other: "XlsxStyleSheet", index: int) -> int:
        """Return the position of a cell format with the look of another workbook's.

        Its named style comes along, unless there is one of that name: that one is kept, and
        `warnings` tell if it looks different. Colors of the theme stay names of its slots.

        Raises:
            ValidationFailed: There are too many formats.
        """
        adopted, kept = adopt_format(self.tables, other.tables, index)
        if kept:
            self.warnings.setdefault(
                f"named style {kept} looks different in this workbook and was kept so"
            )
        return adopted

    def adopt_name(self, other: "XlsxStyleSheet", name: str) -> int:
        """Return the position of a cell format that follows a named style of another workbook.

        Raises:
            ValidationFailed: There is no such style, or here is one that looks different.
        """
        return adopt_name(self.tables, other.tables, name)

    def xml(self) -> bytes:
        """Return the part as it is now."""
        return xml_bytes(self.tables.root)

    def _styled(self, base: int, style: Mapping[str, Any]) -> int:
        text = repr(style)
        known = self._by_text.get((base, text))
        if known is None:
            look = self._looks.get(text)
            if look is None:
                look, warnings = read_cell_formatting(style)
                self._looks[text] = look
                self.warnings.update(dict.fromkeys(warnings))
            known = self._dressed(base, look)
            self._by_text[base, text] = known
        return known

    def _dressed(self, base: int, look: CellFormatting) -> int:
        tables = self.tables
        formats = tables.pool("cellXfs")
        if not formats.entries:
            # The first format is that of every cell without one, so it must be a plain one.
            tables.add("cellXfs", tables.plain_format())
        if look == CellFormatting():
            return base if 0 <= base < len(formats.entries) else 0
        xf = deepcopy(tables.entry("cellXfs", base))
        if _names(look, "font_"):
            font = with_font(tables.entry("fonts", number_of(xf, "fontId")), look)
            _point(xf, "fontId", tables.add("fonts", font), "applyFont")
        if _names(look, "fill_"):
            fill = filled(tables.entry("fills", number_of(xf, "fillId")), look)
            _point(xf, "fillId", tables.add("fills", fill), "applyFill")
        if _names(look, "border_"):
            border = tables.entry("borders", number_of(xf, "borderId"))
            border = bordered(border, look, strict=tables.is_strict)
            _point(xf, "borderId", tables.add("borders", border), "applyBorder")
        if look.number_format is not None:
            _point(xf, "numFmtId", tables.number_format(look.number_format), "applyNumberFormat")
        if _names(look, "h_align", "v_align", "wrap_text"):
            aligned(xf, look)
            xf.set("applyAlignment", "1")
        return tables.add("cellXfs", xf)


def _point(xf: etree._Element, name: str, index: int, flag: str) -> None:
    """Have a format name a part of its look, and say that it is its own."""
    xf.set(name, str(index))
    xf.set(flag, "1")


def _names(look: CellFormatting, *beginnings: str) -> bool:
    """Tell whether a look changes a field whose name begins so."""
    fields = msgspec.structs.asdict(look)
    return any(value is not None for key, value in fields.items() if key.startswith(beginnings))
