"""Values of cells as a chart stores them, so that programs that do not calculate show it.

A reference of a chart holds the range and a copy of what its cells show: numbers with the number
format, or texts. A cell that holds nothing has no point; a formula without a result has none, too.
"""

from collections.abc import Set as AbstractSet
from typing import Literal

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd_xlsx.drawings.cell_ranges import CellRange, RangeReader, ReadCell

__all__ = ["PointCache", "announced", "cached", "fill_caches", "reference_element"]

_CACHES = ("numCache", "strCache", "multiLvlStrCache")


class PointCache(msgspec.Struct, frozen=True):
    """What a chart stores of a range.

    Args:
        kind: "str" where a cell holds a text, else "num".
        code: The number format of the first number.
        count: How many cells the range has.
        points: The cells that hold something, by their place in the range from 0.
    """

    kind: Literal["num", "str"]
    code: str
    count: int
    points: tuple[tuple[int, str], ...]


def announced(reader: RangeReader, found: CellRange, *, as_text: bool | None = None) -> PointCache:
    """Return what a chart stores of a range, yet without its points: `fill_caches` writes them.

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
    first = next((cell for cell in cells if cell.kind == "number"), None)
    code = "General" if first is None else reader.number_code(found.sheet, first.row, first.column)
    return PointCache("str" if as_text else "num", code, found.count, ())


def cached(reader: RangeReader, found: CellRange, *, as_text: bool) -> PointCache:
    """Return what a chart stores of a range, with its points; where not `as_text`, of numbers.

    Raises:
        ValidationFailed, FileReadFailed: The cells cannot be read.
    """
    wanted = ("number", "text", "other") if as_text else ("number",)
    cells = [cell for cell in reader.cells(found) if cell.kind in wanted and cell.text]
    first = next((cell for cell in cells if cell.kind == "number"), None)
    code = "General" if first is None else reader.number_code(found.sheet, first.row, first.column)
    points = tuple((_index(found, cell), cell.text) for cell in cells)
    return PointCache("str" if as_text else "num", code, found.count, points)


def _index(found: CellRange, cell: ReadCell) -> int:
    area = found.area
    width = area.right - area.left + 1
    return (cell.row - area.top) * width + cell.column - area.left


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
    for index, text in cache.points:
        point = etree.SubElement(made, f"{{{space}}}pt")
        point.set("idx", str(index))
        etree.SubElement(point, f"{{{space}}}v").text = text
    return made


def fill_caches(
    root: etree._Element, reader: RangeReader, formulas: AbstractSet[str] | None
) -> None:
    """Bring up to date what a chart stores of some ranges.

    Args:
        root: The chart.
        reader: Of the workbook as it will be.
        formulas: The ranges, as the chart names them; None for all. One that cannot be found by
            now stays as it is.

    Raises:
        FileReadFailed: The cells cannot be read.
    """
    known: dict[tuple[str, str], PointCache] = {}
    space = namespace_of(str(root.tag))
    for reference in list(root.iter("{*}numRef", "{*}strRef")):
        formula = (reference.findtext("{*}f") or "").strip()
        if formulas is not None and formula not in formulas:
            continue
        key = formula, local_name(reference)
        if key not in known:
            # Values stay numbers, whatever the cells hold by now.
            as_text = local_name(reference) == "strRef"
            try:
                known[key] = cached(reader, reader.find(formula, ""), as_text=as_text)
            except ValidationFailed:
                continue
        for child in list(reference):
            if local_name(child) in _CACHES:
                reference.remove(child)
        # The schema has the range first, then the values, then extensions.
        reference.insert(1, _cache_element(space, known[key]))
