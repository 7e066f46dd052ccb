"""Values of cells as a chart stores them, so that programs that do not calculate show it.

A reference of a chart holds the range and a copy of what its cells show: numbers with the number
format, or texts. A cell that holds nothing has no point; a formula without a result has none, too.
"""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Literal

import msgspec
from lxml import etree

from kbd_xlsx.drawings.cell_ranges import CellRange, RangeReader, ReadCell

__all__ = ["PointCache", "announced", "number_code", "reference_element", "shown_text"]


_BOOLEANS = MappingProxyType({"0": "FALSE", "1": "TRUE"})


class PointCache(msgspec.Struct, frozen=True):
    """What a chart stores of a range.

    Args:
        kind: "str" where a cell holds a text, else "num".
        code: The number format of the first number.
        count: How many cells the range has.
    """

    kind: Literal["num", "str"]
    code: str
    count: int


def announced(reader: RangeReader, found: CellRange, *, as_text: bool | None = None) -> PointCache:
    """Return what a chart stores of a range but for its points, which `refreshed_points` writes.

    Args:
        reader: Of the workbook.
        found: The range.
        as_text: Whether it is stored as texts; None looks at the first rows.

    Raises:
        ValidationFailed, FileReadFailed: The cells cannot be read.
    """
    cells = reader.first_cells(found)
    if as_text is None:
        as_text = any(cell.kind == "text" for cell in cells)
    code = number_code(reader, found.sheet, cells)
    return PointCache("str" if as_text else "num", code, found.count)


def shown_text(reader: RangeReader, sheet: str, cell: ReadCell, *, as_text: bool) -> str | None:
    """Return what a chart stores of a cell, None for nothing; where not `as_text`, a number."""
    if not cell.text or cell.kind == "pending" or not (as_text or cell.kind == "number"):
        return None
    if as_text and cell.kind == "number" and reader.is_date(sheet, cell.row, cell.column):
        return reader.moment(cell.text)
    # A boolean is stored as a digit, and shown as a word; no text of an error is one.
    return _BOOLEANS.get(cell.text, cell.text) if cell.kind == "other" else cell.text


def number_code(reader: RangeReader, sheet: str, cells: Iterable[ReadCell]) -> str:
    """Return the number format of the first number among cells of a sheet."""
    first = next((cell for cell in cells if cell.kind == "number"), None)
    return "General" if first is None else reader.number_code(sheet, first.row, first.column)


def reference_element(space: str, formula: str, cache: PointCache) -> etree._Element:
    """Return the element that names a range and holds what its cells show.

    Args:
        space: The namespace of charts.
        formula: The range as charts name it.
        cache: What its cells show.
    """
    made = etree.Element(f"{{{space}}}{cache.kind}Ref")
    etree.SubElement(made, f"{{{space}}}f").text = formula
    made.append(_cache_element(space, cache))
    return made


def _cache_element(space: str, cache: PointCache) -> etree._Element:
    made = etree.Element(f"{{{space}}}{cache.kind}Cache")
    if cache.kind == "num":
        etree.SubElement(made, f"{{{space}}}formatCode").text = cache.code
    etree.SubElement(made, f"{{{space}}}ptCount").set("val", str(cache.count))
    return made
