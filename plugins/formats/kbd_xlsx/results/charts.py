"""Charts over results: what they store of the cells that they show follows these."""

from collections.abc import Iterable, Iterator, Sequence

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.opc.rewriter import xml_bytes
from kbd.sheets.areas import Area
from kbd_xlsx.calculation.operand_ranges import Place
from kbd_xlsx.drawings.cell_ranges import RangeReader
from kbd_xlsx.drawings.point_caches import fill_caches
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import AreaIndex

__all__ = ["refresh_charts"]


def refresh_charts(book: BookEdit, places: Iterable[Place], titles: Sequence[str]) -> None:
    """Bring up to date what charts store of cells whose results are new.

    Args:
        book: The workbook, its results written.
        places: The cells.
        titles: Of the sheets.
    """
    cells: dict[str, list[Area]] = {}
    for sheet, row, column in places:
        cells.setdefault(titles[sheet], []).append(Area(row, column, row, column))
    indexes = {title: AreaIndex(areas) for title, areas in cells.items()}
    reader = RangeReader(book)
    for part in _chart_parts(book):
        try:
            root = book.rewriting.root(part)
        except FileReadFailed:
            # A damaged chart stays as it is, and keeps no cell from its result.
            continue
        formulas = set()
        for reference in root.iter("{*}numRef", "{*}strRef"):
            formula = (reference.findtext("{*}f") or "").strip()
            try:
                found = reader.find(formula, "")
            except ValidationFailed:
                # Literal values, several ranges, or a name that is gone.
                continue
            index = indexes.get(found.sheet)
            if index is not None and index.overlapping(found.area):
                formulas.add(formula)
        if formulas:
            fill_caches(root, reader, formulas)
            book.rewriting.put(part, xml_bytes(root))


def _chart_parts(book: BookEdit) -> Iterator[str]:
    """Yield the parts of the charts on sheets."""
    rewriting = book.rewriting
    for title in book.titles:
        sheet = book.part(title)
        for drawing in rewriting.relations(sheet) if sheet else ():
            if drawing.kind == "drawing" and drawing.target in rewriting:
                for relation in rewriting.relations(drawing.target):
                    if relation.kind == "chart" and relation.target in rewriting:
                        yield relation.target
