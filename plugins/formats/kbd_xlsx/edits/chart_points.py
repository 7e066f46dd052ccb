"""Charts over cells that hold something else: what they store of these follows.

Programs that do not calculate (viewers, converters) draw what a chart stores of its cells.
"""

from collections.abc import Iterator
from functools import partial

from kbd.errors import FileReadFailed, ValidationFailed
from kbd_xlsx.drawings.cell_ranges import RangeReader
from kbd_xlsx.drawings.point_refresh import refreshed_points
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import AreaIndex
from kbd_xlsx.parts.markup import utf8

__all__ = ["keep_charts"]


def keep_charts(book: BookEdit) -> None:
    """Have the charts of a workbook follow its cells whenever it is saved."""
    book.last.append(partial(_follow, book))


def _follow(book: BookEdit) -> None:
    changed = book.results.take_renewed()
    if not changed:
        return
    indexes = {title: AreaIndex(areas) for title, areas in changed.items()}
    reader = RangeReader(book)
    for part in sorted(set(_chart_parts(book))):
        try:
            data = utf8(book.rewriting.read(part), part)
            before = book.rewriting.original(part) or b""
            # Rows that came or went took copies out; a chart that never had any needs none.
            makes = book.rewriting.is_changed(part) and b"Cache>" in before
            new = refreshed_points(data, reader, indexes, makes=makes)
        except (FileReadFailed, ValidationFailed):
            # A damaged chart stays as it is, and keeps no cell from its value.
            continue
        if new != data:
            book.rewriting.put(part, new)


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
