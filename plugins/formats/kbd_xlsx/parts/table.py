"""The part of a table on a sheet: its range, the names of its columns, its filter."""

from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import xml_bytes
from kbd_xlsx.references import Area, parse_area, whole_number

__all__ = ["TablePart"]

_EVERYWHERE = Area(1, 1, 1_048_576, 16_384)


class TablePart:
    """A table, read and changed.

    Args:
        part: The name of its part.
        root: Its root element, which is changed in place.
    """

    def __init__(self, part: str, root: etree._Element) -> None:
        self.part = part
        self._root = root
        self.is_changed = False

    @property
    def name(self) -> str:
        """The name by which formulas call it."""
        return self._root.get("displayName") or self._root.get("name") or ""

    @property
    def area(self) -> Area:
        """Its cells, the rows of its header and its totals among them."""
        return parse_area(self._root.get("ref", "A1"), _EVERYWHERE)

    @property
    def header_rows(self) -> int:
        """How many rows of names it has: 1 or 0."""
        return _count(self._root.get("headerRowCount", "1"))

    @property
    def totals_rows(self) -> int:
        """How many rows of totals it has: 0 or 1."""
        return _count(self._root.get("totalsRowCount", "0"))

    @property
    def columns(self) -> list[str]:
        """The names of its columns, as cells hold them."""
        return [_plain(column.get("name", "")) for column in self._columns()]

    def rename(self, column: int, name: str) -> None:
        """Rename a column, counted from 0.

        Raises:
            ValidationFailed: The name is empty or another column's.
        """
        folded = [known.casefold() for known in self.columns]
        if not name or name.casefold() in folded[:column] + folded[column + 1 :]:
            raise ValidationFailed(
                f"The header of table {self.name} needs a text that no other column has."
            )
        element = self._columns()[column]
        if _plain(element.get("name", "")) != name:
            element.set("name", name.replace("\n", "_x000a_"))
            self.is_changed = True

    def resize(self, bottom: int) -> None:
        """Have the table, and its filter, end at another row of the sheet."""
        old = self.area
        if bottom == old.bottom:
            return
        self._root.set("ref", _ref(Area(old.top, old.left, bottom, old.right)))
        found = self._root.find("{*}autoFilter")
        if found is not None:
            filtered = Area(old.top, old.left, bottom - self.totals_rows, old.right)
            found.set("ref", _ref(filtered))
        # How it was sorted last is of the old rows; an order that reaches past them is damage.
        for order in list(self._root.iter("{*}sortState")):
            parent = order.getparent()
            if parent is not None:
                parent.remove(order)
        self.is_changed = True

    def xml(self) -> bytes:
        """Return the part's bytes."""
        return xml_bytes(self._root)

    def _columns(self) -> list[Any]:
        return list(self._root.iterfind("{*}tableColumns/{*}tableColumn"))


def _ref(area: Area) -> str:
    """Write a range with both ends, as tables have it."""
    text = str(area)
    return text if ":" in text else f"{text}:{text}"


def _plain(name: str) -> str:
    return name.replace("_x000a_", "\n").replace("_x000A_", "\n")


def _count(text: str) -> int:
    return whole_number(text) if text.isdigit() else 1
